// SPDX-License-Identifier: MIT
// The device's memory, and the CPU memory that it can access. Memory is allocated and freed on a separate stream, so
// that these operations do not wait for unrelated work.
#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/queue.h"

namespace anydml::cuda {
namespace {

// The number of bytes that the driver's pool keeps for later allocations instead of returning them to the system.
constexpr std::uint64_t kKeptBytes = std::uint64_t{32} << 20;

// Creates a separate pool, because the default pool belongs to the process, and other code may have changed its
// settings.
cudaError_t prepare_memory(BackendDevice& device) {
  const std::scoped_lock lock(device.memory_mutex);
  if (device.memory_stream != nullptr) {
    return cudaSuccess;
  }
  int supported = 0;
  static_cast<void>(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device.index));
  if (supported != 0 && device.pool == nullptr) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device.index;
    if (const cudaError_t error = cudaMemPoolCreate(&device.pool, &properties); error != cudaSuccess) {
      return error;
    }
    std::uint64_t kept = kKeptBytes;
    static_cast<void>(cudaMemPoolSetAttribute(device.pool, cudaMemPoolAttrReleaseThreshold, &kept));
  }
  return cudaStreamCreateWithFlags(&device.memory_stream, cudaStreamNonBlocking);
}

cudaError_t allocate_on_device(BackendDevice& device, std::uint64_t bytes, bool zeros, void** address) {
  const auto try_once = [&] {
    return device.pool != nullptr ? cudaMallocFromPoolAsync(address, bytes, device.pool, device.memory_stream)
                                  : cudaMalloc(address, bytes);
  };
  cudaError_t error = try_once();
  if (error == cudaErrorMemoryAllocation && device.pool != nullptr) {
    // The pool may still contain released memory.
    static_cast<void>(cudaGetLastError());
    static_cast<void>(cudaStreamSynchronize(device.memory_stream));
    static_cast<void>(cudaMemPoolTrimTo(device.pool, 0));
    error = try_once();
  }
  if (error != cudaSuccess) {
    return error;
  }
  if (zeros) {
    error = cudaMemsetAsync(*address, 0, bytes, device.memory_stream);
  }
  return error == cudaSuccess ? cudaStreamSynchronize(device.memory_stream) : error;
}

// ---- CPU memory that the device can access ----

std::atomic<std::uint64_t> g_pinned_bytes{0};

// Several threads create the pages if there are many, because a single thread needs tens of seconds for tens of GiB.
// New pages already contain zeros.
void populate(std::byte* start, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kShare = std::uint64_t{128} << 20;
  if (bytes < 2 * kShare) {
    return;  // pinning also creates them
  }
  static_cast<void>(madvise(start, bytes, MADV_HUGEPAGE));
#if defined(MADV_POPULATE_WRITE)
  std::atomic<std::uint64_t> next{0};
  const auto work = [&]() noexcept {
    for (std::uint64_t at = next.fetch_add(kShare); at < bytes; at = next.fetch_add(kShare)) {
      static_cast<void>(madvise(start + at, std::min(kShare, bytes - at), MADV_POPULATE_WRITE));
    }
  };
  const std::uint64_t maximum = std::min<std::uint64_t>(std::thread::hardware_concurrency(), 8);
  std::vector<std::thread> threads;
  sigset_t all;  // signals belong to the application, so the threads start with all of them blocked
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (std::uint64_t i = 1; i < std::min(maximum, bytes / kShare); ++i) {
      threads.emplace_back(work);
    }
  } catch (...) {  // continue with the threads that were created
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
#endif
}

void unpin(void* start, std::uint64_t bytes) noexcept {
  static_cast<void>(cudaHostUnregister(start));
  static_cast<void>(cudaGetLastError());
  g_pinned_bytes.fetch_sub(bytes);
}

bool pin(void* start, std::uint64_t bytes) noexcept {
  // Pinned pages are unavailable to other processes, and the system kills processes instead of refusing a request.
  // Therefore this never requests more than half of the machine's memory, or more than is available.
  const MemoryState memory_state = read_memory_state();
  if (g_pinned_bytes.fetch_add(bytes) + bytes > memory_state.limit / 2 || bytes > memory_state.available) {
    g_pinned_bytes.fetch_sub(bytes);
    return false;
  }
  populate(static_cast<std::byte*>(start), bytes);
  if (cudaHostRegister(start, bytes, cudaHostRegisterPortable) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    g_pinned_bytes.fetch_sub(bytes);
    return false;
  }
  return true;
}

BackendStatus allocate_on_host(BackendDevice& device, std::uint64_t bytes, void** address) {
  try {
    *address = device.host_buffers.allocate(bytes);
  } catch (...) {
  }
  if (*address != nullptr) {
    return kOk;
  }
  const cudaError_t error = cudaFree(nullptr);  // distinguishes a failed device from a device without free memory
  return error != cudaSuccess ? status_of(error) : kOutOfMemory;
}

bool is_host(MemoryKind kind) { return kind == MemoryKind::upload_buffer || kind == MemoryKind::readback_buffer; }

void free_on_device(BackendDevice& device, void* base) {
  static_cast<void>(device.pool != nullptr ? cudaFreeAsync(base, device.memory_stream) : cudaFree(base));
  static_cast<void>(cudaGetLastError());
}

}  // namespace

const PageHooks kPinnedPages{.prepare = pin, .forget = unpin};

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) {
  *block = {};
  constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 47;
  if (bytes > kAddressSpace || (!is_host(kind) && bytes > device->info.memory_bytes)) {
    return kOutOfMemory;
  }
  const OnDevice scope(*device);
  if (const cudaError_t error = scope.error() != cudaSuccess ? scope.error() : prepare_memory(*device);
      error != cudaSuccess) {
    return status_of(error);
  }
  void* base = nullptr;
  if (kind == MemoryKind::temporary) {
    const cudaError_t error = allocate_on_device(*device, bytes != 0 ? bytes : 1, false, &base);
    *block = block_at(base, false);
    return status_of(error);
  }
  if (is_host(kind)) {
    const BackendStatus status = allocate_on_host(*device, bytes, &base);
    *block = block_at(base, true);
    return status;
  }
  // CUDA's alignment is smaller than the alignment that D3D12 requires.
  const std::uint64_t whole = whole_units(bytes);
  if (const cudaError_t error = allocate_on_device(*device, whole + kBufferAlignment, true, &base);
      error != cudaSuccess) {
    return status_of(error);
  }
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(base) % kBufferAlignment;
  void* const aligned = static_cast<std::byte*>(base) + (past == 0 ? 0 : kBufferAlignment - past);
  try {
    const std::scoped_lock lock(device->memory_mutex);
    device->allocations.emplace(aligned, base);
  } catch (const std::bad_alloc&) {
    free_on_device(*device, base);
    return kOutOfMemory;
  }
  device->buffer_bytes.fetch_add(whole, std::memory_order_relaxed);
  *block = block_at(aligned, false);
  return kOk;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) {
  const OnDevice scope(*device);
  if (is_host(kind)) {
    device->host_buffers.release(handle, bytes);
    return;
  }
  void* base = handle;
  if (kind != MemoryKind::temporary) {
    const std::scoped_lock lock(device->memory_mutex);
    const auto known = device->allocations.find(handle);
    if (known == device->allocations.end()) {
      return;
    }
    base = known->second;
    device->allocations.erase(known);
    device->buffer_bytes.fetch_sub(whole_units(bytes), std::memory_order_relaxed);
  }
  free_on_device(*device, base);
}

BackendStatus allocate_in_order(BackendQueue* queue, std::uint64_t bytes, MemoryBlock* block) {
  *block = {};
  BackendDevice& device = *queue->device;
  if (bytes > device.info.memory_bytes) {
    return kOutOfMemory;
  }
  const OnDevice scope(device);
  cudaError_t error = scope.error() != cudaSuccess ? scope.error() : prepare_memory(device);
  if (error != cudaSuccess || device.pool == nullptr) {
    return status_of(error);
  }
  void* address = nullptr;
  error = cudaMallocFromPoolAsync(&address, bytes != 0 ? bytes : 1, device.pool, queue->stream);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return kOk;  // no handle: allocate() first frees the pool's spare memory
  }
  *block = block_at(error == cudaSuccess ? address : nullptr, false);
  return status_of(error);
}

void release_in_order(BackendQueue* queue, BackendMemory* handle) {
  const OnDevice scope(*queue->device);
  static_cast<void>(queue->small.launch(queue->stream));  // collected tasks may use the memory
  static_cast<void>(cudaFreeAsync(handle, queue->stream));
  static_cast<void>(cudaGetLastError());
}

Access access(BackendDevice* device, const void* address) {
  const OnDevice scope(*device);
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return Access::by_copy;
  }
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      return attributes.device == device->index ? Access::direct : Access::none;
    case cudaMemoryTypeHost:
    case cudaMemoryTypeManaged:
      return Access::direct;
    default:
      return Access::by_copy;
  }
}

}  // namespace anydml::cuda
