// SPDX-License-Identifier: MIT
#include "backend/vulkan/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "backend/vulkan/queue.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint64_t kChunkUnits = 256;                         // of a chunk that blocks share: 16 MiB
constexpr std::uint64_t kMaxSharedBytes = std::uint64_t{1} << 20;  // larger blocks have their own chunk
constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 47;

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
// Memory with other properties has costs or rules that the backend does not expect.
constexpr VkMemoryPropertyFlags kKnown = kLocal | kMapped | kCached;

std::uint64_t units_of(std::uint64_t bytes) {
  return std::max(whole_units(bytes) / kBufferAlignment, std::uint64_t{1});
}

}  // namespace

Memory::Memory(BackendDevice& device) : device_(device) {
  std::string why;
  instance(why)->GetPhysicalDeviceMemoryProperties(device.candidate.handle, &properties_);
  bool all_local = true;
  for (std::uint32_t i = 0; i < properties_.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = properties_.memoryHeaps[i];
    const bool is_local = (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    all_local = all_local && is_local;
    total_ = is_local ? std::max<std::uint64_t>(total_, heap.size) : total_;
  }
  is_shared_ = all_local || device.candidate.type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
               device.candidate.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

Memory::~Memory() {
  for (auto& chunks : shared_) {
    for (auto& chunk : chunks) {
      destroy(*chunk);
    }
  }
}

// Returns the number of types if none fits.
std::uint32_t Memory::type_of(Placement placement, std::uint32_t allowed) const {
  // For each purpose the properties that are needed and wanted, and those that are not wanted, best first.
  struct Wish {
    VkMemoryPropertyFlags has;
    VkMemoryPropertyFlags lacks;
  };
  const auto find = [&](std::initializer_list<Wish> wishes) {
    for (const Wish& wish : wishes) {
      for (std::uint32_t i = 0; i < properties_.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = properties_.memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) != 0 && (flags & wish.has) == wish.has && (flags & wish.lacks) == 0 &&
            (flags & ~kKnown) == 0) {
          return i;
        }
      }
    }
    return properties_.memoryTypeCount;
  };
  switch (placement) {
    case Placement::device:
      return is_shared_ ? find({{kLocal | kMapped | kCached, 0}, {kLocal | kMapped, 0}, {kLocal, 0}, {kMapped, 0}})
                        : find({{kLocal, kMapped}, {kLocal, 0}});
    case Placement::upload:
      return find({{kMapped, kLocal | kCached}, {kMapped, kLocal}, {kMapped, 0}});
    case Placement::readback:
      return find({{kMapped | kCached, kLocal}, {kMapped | kCached, 0}, {kMapped, kLocal}, {kMapped, 0}});
    case Placement::table:
      break;
  }
  return find({{kLocal | kMapped, kCached}, {kLocal | kMapped, 0}, {kMapped, 0}});
}

VkResult Memory::create(Chunk& chunk, std::uint64_t bytes, void* imported) {
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkBufferCreateInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  buffer.pNext = imported != nullptr ? &external : nullptr;
  // Room to move the first unit to a multiple of kBufferAlignment.
  buffer.size = imported != nullptr ? bytes : bytes + kBufferAlignment;
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (const VkResult result = device_.vk.CreateBuffer(device_.handle, &buffer, nullptr, &chunk.buffer);
      result != VK_SUCCESS) {
    return result;
  }
  VkBufferMemoryRequirementsInfo2 asked{};
  asked.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2;
  asked.buffer = chunk.buffer;
  VkMemoryRequirements2 needs{};
  needs.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2;
  device_.vk.GetBufferMemoryRequirements2(device_.handle, &asked, &needs);
  std::uint32_t allowed = needs.memoryRequirements.memoryTypeBits;

  VkImportMemoryHostPointerInfoEXT import{};
  VkMemoryDedicatedAllocateInfo dedicated{};
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = needs.memoryRequirements.size;
  if (imported != nullptr) {
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    import.pHostPointer = imported;
    flags.pNext = &import;
    info.allocationSize = bytes;
    VkMemoryHostPointerPropertiesEXT pointer{};
    pointer.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    if (const VkResult result =
            device_.vk.GetMemoryHostPointerPropertiesEXT(device_.handle, import.handleType, imported, &pointer);
        result != VK_SUCCESS) {
      destroy(chunk);
      return result;
    }
    allowed &= pointer.memoryTypeBits;
    info.memoryTypeIndex = type_of(Placement::readback, allowed);
  } else {
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.buffer = chunk.buffer;
    flags.pNext = &dedicated;
    info.memoryTypeIndex = type_of(chunk.placement, allowed);
  }
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (info.memoryTypeIndex < properties_.memoryTypeCount) {
    // Some drivers promise more memory than the heap has.
    chunk.heap = properties_.memoryTypes[info.memoryTypeIndex].heapIndex;
    const std::uint64_t counted = imported == nullptr ? info.allocationSize : 0;
    if (allocated_[chunk.heap].fetch_add(counted) + counted > properties_.memoryHeaps[chunk.heap].size) {
      allocated_[chunk.heap].fetch_sub(counted);
    } else {
      chunk.allocated = counted;
      result = device_.vk.AllocateMemory(device_.handle, &info, nullptr, &chunk.memory);
    }
  }
  if (result == VK_SUCCESS) {
    result = device_.vk.BindBufferMemory(device_.handle, chunk.buffer, chunk.memory, 0);
  }
  const bool is_mapped = info.memoryTypeIndex < properties_.memoryTypeCount &&
                         (properties_.memoryTypes[info.memoryTypeIndex].propertyFlags & kMapped) == kMapped;
  if (result == VK_SUCCESS && is_mapped && imported == nullptr) {
    void* host = nullptr;
    result = device_.vk.MapMemory(device_.handle, chunk.memory, 0, VK_WHOLE_SIZE, 0, &host);
    chunk.host = static_cast<std::byte*>(host);
  }
  if (result != VK_SUCCESS) {
    destroy(chunk);
    return result;
  }
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = chunk.buffer;
  chunk.address = device_.vk.GetBufferDeviceAddress(device_.handle, &address);
  if (imported == nullptr) {
    chunk.first = (kBufferAlignment - chunk.address % kBufferAlignment) % kBufferAlignment;
  }
  return VK_SUCCESS;
}

void Memory::destroy(Chunk& chunk) noexcept {
  if (!was_forked()) {
    device_.vk.DestroyBuffer(device_.handle, chunk.buffer, nullptr);
    device_.vk.FreeMemory(device_.handle, chunk.memory, nullptr);
  }
  chunk.buffer = VK_NULL_HANDLE;
  chunk.memory = VK_NULL_HANDLE;
  allocated_[chunk.heap].fetch_sub(std::exchange(chunk.allocated, 0));
}

// If there is not enough memory, frees empty chunks and tries once more. Called with the mutex held.
VkResult Memory::create_freeing(Chunk& chunk, std::uint64_t bytes) {
  VkResult result = create(chunk, bytes, nullptr);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS) {
    bool freed = false;
    for (auto& chunks : shared_) {
      std::erase_if(chunks, [&](const std::unique_ptr<Chunk>& one) {
        if (one->used_units == 0) {
          destroy(*one);
          freed = true;
        }
        return one->used_units == 0;
      });
    }
    result = freed ? create(chunk, bytes, nullptr) : result;
  }
  return result;
}

BackendStatus Memory::place(Chunk& chunk, std::uint64_t offset, std::uint64_t bytes, BackendMemory** block) {
  auto made = std::make_unique<BackendMemory>();
  made->chunk = &chunk;
  made->buffer = chunk.buffer;
  made->offset = offset;
  made->bytes = bytes;
  made->address = chunk.address + offset;
  made->host = chunk.host != nullptr ? chunk.host + offset : nullptr;
  if (made->host != nullptr) {
    const std::unique_lock lock(hosts_mutex_);
    hosts_[made->host] = made.get();
  }
  *block = made.release();
  return kOk;
}

BackendStatus Memory::allocate(Placement placement, std::uint64_t bytes, BackendMemory** block) {
  if (bytes > kAddressSpace || (placement == Placement::device && bytes > total_)) {
    return kOutOfMemory;
  }
  const std::uint64_t units = units_of(bytes);
  const std::scoped_lock lock(mutex_);
  if (units * kBufferAlignment > kMaxSharedBytes) {
    auto chunk = std::make_unique<Chunk>();
    chunk->placement = placement;
    if (const VkResult result = create_freeing(*chunk, units * kBufferAlignment); result != VK_SUCCESS) {
      return status_of(device_, result);
    }
    try {
      const BackendStatus status = place(*chunk, chunk->first, units * kBufferAlignment, block);
      static_cast<void>(chunk.release());  // the block owns it
      return status;
    } catch (...) {
      destroy(*chunk);
      throw;
    }
  }
  auto& chunks = shared_[static_cast<std::size_t>(placement)];
  Chunk* fitting = nullptr;
  std::vector<bool>::iterator gap;
  for (auto& chunk : chunks) {
    gap = std::search_n(chunk->used.begin(), chunk->used.end(), static_cast<std::ptrdiff_t>(units), false);
    if (gap != chunk->used.end()) {
      fitting = chunk.get();
      break;
    }
  }
  if (fitting == nullptr) {
    auto chunk = std::make_unique<Chunk>();
    chunk->placement = placement;
    chunk->used.resize(kChunkUnits);
    chunks.reserve(chunks.size() + 1);
    if (const VkResult result = create_freeing(*chunk, kChunkUnits * kBufferAlignment); result != VK_SUCCESS) {
      return status_of(device_, result);
    }
    chunks.push_back(std::move(chunk));
    fitting = chunks.back().get();
    gap = fitting->used.begin();
  }
  const auto first = static_cast<std::uint64_t>(gap - fitting->used.begin());
  const BackendStatus status =
      place(*fitting, fitting->first + first * kBufferAlignment, units * kBufferAlignment, block);
  std::fill_n(gap, static_cast<std::ptrdiff_t>(units), true);
  fitting->used_units += units;
  return status;
}

void Memory::release(BackendMemory* block) noexcept {
  if (block->host != nullptr) {
    const std::unique_lock lock(hosts_mutex_);
    hosts_.erase(block->host);
  }
  Chunk* const chunk = block->chunk;
  const std::uint64_t units = block->bytes / kBufferAlignment;
  const std::uint64_t first = (block->offset - chunk->first) / kBufferAlignment;
  delete block;
  const std::scoped_lock lock(mutex_);
  if (chunk->used.empty()) {
    destroy(*chunk);
    delete chunk;
    return;
  }
  std::fill_n(chunk->used.begin() + static_cast<std::ptrdiff_t>(first), static_cast<std::ptrdiff_t>(units), false);
  chunk->used_units -= units;
  auto& chunks = shared_[static_cast<std::size_t>(chunk->placement)];
  // One empty chunk is kept for later blocks.
  if (chunk->used_units == 0 &&
      std::ranges::any_of(chunks, [&](const auto& one) { return one.get() != chunk && one->used_units == 0; })) {
    destroy(*chunk);
    std::erase_if(chunks, [&](const auto& one) { return one.get() == chunk; });
  }
}

BackendStatus Memory::import(void* host, std::uint64_t bytes, BackendMemory** block) {
  const std::uint64_t unit = device_.candidate.import_alignment;
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  if (unit == 0 || device_.vk.GetMemoryHostPointerPropertiesEXT == nullptr) {
    return {BackendCode::failed, "Vulkan: the driver cannot use the CPU's memory (VK_EXT_external_memory_host)"};
  }
  if (address % 4 != 0) {
    return {BackendCode::failed, "the address of the CPU's memory is not a multiple of 4; expected one that is"};
  }
  // Whole units of memory are imported.
  const std::uint64_t before = address % unit;
  const std::uint64_t whole = (before + std::max<std::uint64_t>(bytes, 1) + unit - 1) / unit * unit;
  auto chunk = std::make_unique<Chunk>();
  const VkResult result = create(*chunk, whole, reinterpret_cast<void*>(address - before));
  if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
    return {BackendCode::failed, "Vulkan: the driver cannot use this part of the CPU's memory"};
  }
  if (result != VK_SUCCESS) {
    return status_of(device_, result);
  }
  chunk->host = static_cast<std::byte*>(host) - before;
  chunk->first = before;
  try {
    const BackendStatus status = place(*chunk, before, std::max<std::uint64_t>(bytes, 1), block);
    static_cast<void>(chunk.release());
    return status;
  } catch (...) {
    destroy(*chunk);
    throw;
  }
}

bool Memory::find(const std::byte* host, std::uint64_t bytes, MemoryLocation& location) const {
  const std::shared_lock lock(hosts_mutex_);
  auto next = hosts_.upper_bound(host);
  if (next == hosts_.begin()) {
    return false;
  }
  const auto& [begin, block] = *--next;
  const auto offset = static_cast<std::uint64_t>(host - begin);
  if (offset >= block->bytes || bytes > block->bytes - offset) {
    return false;
  }
  location = {block, offset};
  return true;
}

// ---- The table's functions ----

namespace {

bool is_counted(const BackendDevice& device, MemoryKind kind) {
  return kind == MemoryKind::device_buffer || (kind != MemoryKind::temporary && device.memory->is_shared());
}

Placement placement_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::upload_buffer:
      return Placement::upload;
    case MemoryKind::readback_buffer:
      return Placement::readback;
    default:
      return Placement::device;
  }
}

}  // namespace

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) noexcept {
  *block = {};
  if (const BackendStatus state = state_of(*device); state.code != BackendCode::ok) {
    return state;
  }
  BackendMemory* made = nullptr;
  try {
    BackendStatus status = device->memory->allocate(placement_of(kind), bytes, &made);
    if (status.code == BackendCode::ok && kind != MemoryKind::temporary) {
      if (made->host != nullptr) {
        std::memset(made->host, 0, made->bytes);
      } else {
        status = clear(*device, *made);
      }
    }
    if (status.code != BackendCode::ok) {
      if (made != nullptr) {
        device->memory->release(made);
      }
      return status;
    }
  } catch (...) {
    if (made != nullptr) {
      device->memory->release(made);
    }
    return kOutOfMemory;
  }
  if (is_counted(*device, kind)) {
    device->buffer_bytes.fetch_add(whole_units(bytes), std::memory_order_relaxed);
  }
  *block = {.handle = made, .address = made->address, .host = made->host};
  return kOk;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) noexcept {
  if (is_counted(*device, kind)) {
    device->buffer_bytes.fetch_sub(whole_units(bytes), std::memory_order_relaxed);
  }
  device->memory->release(handle);
}

BackendStatus import_host(BackendDevice* device, void* host, std::uint64_t bytes, MemoryBlock* block) noexcept {
  *block = {};
  if (const BackendStatus state = state_of(*device); state.code != BackendCode::ok) {
    return state;
  }
  try {
    BackendMemory* made = nullptr;
    const BackendStatus status = device->memory->import(host, bytes, &made);
    if (status.code == BackendCode::ok) {
      *block = {.handle = made, .address = made->address, .host = made->host};
    }
    return status;
  } catch (...) {
    return kOutOfMemory;
  }
}

void forget_host(BackendDevice* device, BackendMemory* handle) noexcept { device->memory->release(handle); }

std::uint64_t buffer_bytes(const BackendDevice* device) noexcept {
  return device->buffer_bytes.load(std::memory_order_relaxed);
}

}  // namespace anydml::vulkan
