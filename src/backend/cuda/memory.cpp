// SPDX-License-Identifier: MIT
// The device's memory and the CPU's that it reaches. Given and taken on a stream of its own, so that neither waits for
// work that has nothing to do with it.
#include "base/memory.h"

#include <cstring>
#include <new>

#include "backend/cuda/device.h"

namespace anydml::cuda {
namespace {

// What stays with the driver's pool for the next allocation instead of going back to the system.
constexpr std::uint64_t kKeptBytes = std::uint64_t{32} << 20;

std::uint64_t whole_units(std::uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// A pool of our own: the default one is the process's, and others have set it as they like.
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
    // What was released may still be with the pool.
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

cudaError_t allocate_on_host(std::uint64_t bytes, void** address) {
  // The system would rather end processes than refuse: it is not asked for more than there is.
  if (bytes > read_memory_state().available) {
    return cudaErrorMemoryAllocation;
  }
  const cudaError_t error = cudaHostAlloc(address, bytes, cudaHostAllocPortable);
  if (error == cudaSuccess) {
    std::memset(*address, 0, bytes);
  }
  return error;
}

bool is_host(MemoryKind kind) { return kind == MemoryKind::upload_buffer || kind == MemoryKind::readback_buffer; }

void free_base(BackendDevice& device, MemoryKind kind, void* base) {
  static_cast<void>(is_host(kind)            ? cudaFreeHost(base)
                    : device.pool != nullptr ? cudaFreeAsync(base, device.memory_stream)
                                             : cudaFree(base));
  static_cast<void>(cudaGetLastError());
}

}  // namespace

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void** address) {
  *address = nullptr;
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
    *address = base;
    return status_of(error);
  }
  // CUDA aligns to less than D3D12 asks for.
  const std::uint64_t whole = whole_units(bytes);
  const std::uint64_t padded = whole + kBufferAlignment;
  const cudaError_t error =
      is_host(kind) ? allocate_on_host(padded, &base) : allocate_on_device(*device, padded, true, &base);
  if (error != cudaSuccess) {
    return status_of(error);
  }
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(base) % kBufferAlignment;
  void* const aligned = static_cast<std::byte*>(base) + (past == 0 ? 0 : kBufferAlignment - past);
  try {
    const std::scoped_lock lock(device->memory_mutex);
    device->allocations.emplace(aligned, base);
  } catch (const std::bad_alloc&) {
    free_base(*device, kind, base);
    return kOutOfMemory;
  }
  device->buffer_bytes.fetch_add(is_host(kind) ? 0 : whole, std::memory_order_relaxed);
  *address = aligned;
  return kOk;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void* address) {
  const OnDevice scope(*device);
  void* base = address;
  if (kind != MemoryKind::temporary) {
    const std::scoped_lock lock(device->memory_mutex);
    const auto known = device->allocations.find(address);
    if (known == device->allocations.end()) {
      return;
    }
    base = known->second;
    device->allocations.erase(known);
    device->buffer_bytes.fetch_sub(is_host(kind) ? 0 : whole_units(bytes), std::memory_order_relaxed);
  }
  free_base(*device, kind, base);
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
