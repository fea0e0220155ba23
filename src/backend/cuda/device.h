// SPDX-License-Identifier: MIT
// The plugin's state for a GPU, and the conversion of CUDA errors to statuses. Nothing here creates a context, because
// that takes tenths of a second. The first allocation, queue or launch creates it.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/cuda/gpu_properties.h"
#include "backend/cuda/on_device.h"
#include "base/buffer_memory.h"

namespace anydml {

namespace cuda {
extern const PageHooks kPinnedPages;  // CPU memory that GPUs can access
inline constexpr std::uint64_t kPinnedBlock = std::uint64_t{4} << 20;
}  // namespace cuda

struct BackendDevice {
  int index = 0;
  BackendDeviceInfo info = {};
  cuda::GpuProperties gpu;

  std::atomic<std::uint64_t> buffer_bytes{0};  // in the GPU's own memory
  std::mutex memory_mutex;                     // guards the members below
  cudaStream_t memory_stream = nullptr;        // for allocating and freeing memory
  cudaMemPool_t pool = nullptr;                // null if the GPU has no pool
  std::map<void*, void*> allocations;          // maps aligned addresses to the original addresses from CUDA
  BufferMemory host_buffers{&cuda::kPinnedPages, cuda::kPinnedBlock};
  std::mutex events_mutex;  // guards the members below
  std::vector<cudaEvent_t> spare_events;
};

namespace cuda {

inline constexpr BackendStatus kOk{BackendCode::ok, nullptr};
inline constexpr BackendStatus kOutOfMemory{BackendCode::out_of_memory, "the CUDA device has no memory for this"};

// Converts an error. Also clears the thread's last error, so that other code does not mistake it for its own.
[[nodiscard]] BackendStatus status_of(cudaError_t error) noexcept;

// A handle is the address of the block's first byte, and is never 0.
[[nodiscard]] inline MemoryBlock block_at(void* address, bool is_host) {
  return {.handle = static_cast<BackendMemory*>(address),
          .address = reinterpret_cast<std::uintptr_t>(address),
          .host = is_host ? static_cast<std::byte*>(address) : nullptr};
}
[[nodiscard]] inline std::byte* address_of(MemoryLocation location) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(location.block) + location.offset);
}

[[nodiscard]] std::uint32_t device_count();
// The reason why CUDA cannot be used on this machine, or null if it can.
[[nodiscard]] const char* why_no_device();
BackendStatus open_device(std::uint32_t index, BackendDevice** device) noexcept;

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block);
void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle);
Access access(BackendDevice* device, const void* address);

}  // namespace cuda
}  // namespace anydml
