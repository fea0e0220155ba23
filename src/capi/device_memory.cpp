// SPDX-License-Identifier: MIT
#include "capi/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/checked.h"
#include "capi/arguments.h"
#include "capi/devices.h"
#include "capi/run.h"
#include "text/format.h"

namespace anydml {

namespace {

// If the device's API has streams, the copy runs after the work that callers submitted to the default stream.
Status run_copy(std::string_view label, const Device& device, MemoryLocation to, MemoryLocation from,
                std::uint64_t bytes) {
  Run run(device, label);
  ANYDML_TRY(device.backend->create_queue_on != nullptr ? run.begin_on(nullptr) : run.begin());
  ANYDML_TRY(run.copy(to, from, bytes));
  return run.finish();
}

}  // namespace

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::allocate(const Device& device, std::string_view label,
                                                             std::uint64_t bytes, Named named, MemoryKind kind) {
  std::shared_ptr<DeviceMemory> created(new DeviceMemory(device, bytes, kind));
  ANYDML_TRY(
      from_backend(label, *device.backend, device.backend->allocate(device.handle, kind, bytes, &created->block_)));
  created->origin_ = Origin::allocated;
  if (named == Named::yes) {
    ANYDML_TRY(created->name(label));
  }
  return created;
}

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::wrap(const Device& device, std::string_view label, void* host,
                                                         std::uint64_t bytes) {
  std::shared_ptr<DeviceMemory> created(new DeviceMemory(device, bytes, MemoryKind::device_buffer));
  if (device.info.shares_addresses != 0) {
    if (device.info.unified_memory == 0 && device.backend->access(device.handle, host) != Access::direct) {
      return Error{ErrorKind::invalid_argument,
                   format_text("{}: device {} cannot access the memory; expected memory of its own, or memory that its "
                               "driver shares with the CPU",
                               label, device.info.name)};
    }
    created->origin_ = Origin::given;
    created->block_ = {.handle = nullptr,
                       .address = reinterpret_cast<std::uintptr_t>(host),
                       .host = device.info.unified_memory != 0 ? static_cast<std::byte*>(host) : nullptr};
    created->pointer_ = static_cast<std::byte*>(host);
    return created;
  }
  if (device.backend->import_host == nullptr) {
    return Error{ErrorKind::invalid_argument,
                 format_text("{}: device {} cannot use the CPU's memory in place; expected anydml_memory_create, and "
                             "anydml_memory_write",
                             label, device.info.name)};
  }
  ANYDML_TRY(
      from_backend(label, *device.backend, device.backend->import_host(device.handle, host, bytes, &created->block_)));
  created->origin_ = Origin::imported;
  ANYDML_TRY(created->name(label));
  return created;
}

// Reserves addresses for the memory and registers them, unless the device's own address can be used.
Status DeviceMemory::name(std::string_view label) {
  if (device_.info.shares_addresses != 0) {
    pointer_ = reinterpret_cast<std::byte*>(block_.address);
    return {};
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto whole = checked_align_bytes(std::max<std::uint64_t>(bytes_, 1), page);
  void* const reserved =
      whole ? mmap(nullptr, *whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (reserved == MAP_FAILED) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: no free range of {} addresses is left in the process", label, bytes_)};
  }
  pointer_ = static_cast<std::byte*>(reserved);
  reserved_bytes_ = *whole;
  const std::scoped_lock lock(device_.named.mutex_);
  device_.named.memory_.emplace(reinterpret_cast<std::uintptr_t>(pointer_), this);
  return {};
}

DeviceMemory::~DeviceMemory() {
  if (reserved_bytes_ != 0) {
    {
      const std::scoped_lock lock(device_.named.mutex_);
      device_.named.memory_.erase(reinterpret_cast<std::uintptr_t>(pointer_));
    }
    munmap(pointer_, reserved_bytes_);
  }
  if (origin_ == Origin::allocated) {
    device_.backend->release(device_.handle, kind_, bytes_, block_.handle);
  } else if (origin_ == Origin::imported) {
    device_.backend->forget_host(device_.handle, block_.handle);
  }
}

std::optional<NamedMemory::Found> NamedMemory::find(const void* pointer) const {
  const auto number = reinterpret_cast<std::uintptr_t>(pointer);
  const std::shared_lock lock(mutex_);
  const auto after = memory_.upper_bound(number);
  if (after == memory_.begin()) {
    return std::nullopt;
  }
  const auto& [first, memory] = *std::prev(after);
  const std::uint64_t offset = number - first;
  if (offset > memory->bytes() || (offset == memory->bytes() && offset != 0)) {
    return std::nullopt;
  }
  return Found{.location = memory->location(offset),
               .address = memory->address() + offset,
               .before = offset,
               .after = memory->bytes() - offset};
}

Result<bool> find_on_device(std::string_view label, std::string_view name, const Device& device, const void* data,
                            std::uint64_t bytes) {
  for (const Device* const other : opened_devices()) {
    const auto found = other->info.shares_addresses == 0 ? other->named.find(data) : std::nullopt;
    if (found && other != &device) {
      return bad_call(label, format_text("{} is memory of device {}; expected memory of device {}, or the CPU's", name,
                                         other->info.name, device.info.name));
    }
    if (found && found->after < bytes) {
      return bad_call(label, format_text("{} is memory of device {} with {} bytes from there on; expected {}", name,
                                         device.info.name, found->after, bytes));
    }
    if (found) {
      return true;
    }
  }
  if (device.info.unified_memory != 0 || device.info.shares_addresses == 0) {
    return false;
  }
  const Access access = device.backend->access(device.handle, data);
  if (access == Access::none) {
    return bad_call(label, format_text("{} is memory that device {} cannot access; expected its own, or the CPU's",
                                       name, device.info.name));
  }
  return access == Access::direct;
}

Status copy_between(std::string_view label, const Device& device, void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) {
    return {};
  }
  if (to == nullptr || from == nullptr) {
    return bad_call(label, format_text("{} is null; expected the address of {} byte{}", to == nullptr ? "to" : "from",
                                       bytes, bytes == 1 ? "" : "s"));
  }
  const auto to_device = find_on_device(label, "to", device, to, bytes);
  ANYDML_TRY(to_device);
  const auto from_device = find_on_device(label, "from", device, from, bytes);
  ANYDML_TRY(from_device);
  if (!to_device.value() && !from_device.value()) {
    std::memcpy(to, from, bytes);
    return {};
  }
  return run_copy(label, device, location_of(device, to), location_of(device, from), bytes);
}

Status copy_bytes(std::string_view label, const DeviceMemory& memory, std::uint64_t offset, void* data,
                  std::uint64_t bytes, bool to_memory) {
  if (offset > memory.bytes() || bytes > memory.bytes() - offset) {
    return bad_call(label, format_text("{} byte{} from byte {} on {} requested; the memory has {}", bytes,
                                       bytes == 1 ? "" : "s", offset, bytes == 1 ? "is" : "are", memory.bytes()));
  }
  if (bytes == 0) {
    return {};
  }
  if (data == nullptr) {
    return bad_call(label, format_text("{} is null; expected the address of {} byte{}", to_memory ? "from" : "to",
                                       bytes, bytes == 1 ? "" : "s"));
  }
  return to_memory ? run_copy(label, memory.device(), memory.location(offset), location_at(data), bytes)
                   : run_copy(label, memory.device(), location_at(data), memory.location(offset), bytes);
}

MemoryLocation location_of(const Device& device, const void* pointer) {
  if (device.info.shares_addresses == 0) {
    if (const auto found = device.named.find(pointer)) {
      return found->location;
    }
  }
  return location_at(pointer);
}

}  // namespace anydml
