// SPDX-License-Identifier: MIT
// The C API's memory objects.
#include <cstring>
#include <string>
#include <utility>

#include "anydml/anydml.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/device_memory.h"
#include "capi/devices.h"
#include "text/format.h"

struct anydml_memory {
  std::shared_ptr<anydml::DeviceMemory> memory;
};

namespace anydml {
namespace {

// Checks the common arguments of the functions that create memory, and stores the memory if make(device) succeeds.
template <class Make>
int create_memory(const char* function, const anydml_device* device, anydml_memory** memory, const Make& make) {
  return boundary([&]() -> Status {
    if (memory == nullptr) {
      return bad_call(function, "memory is null; expected a pointer to store the result");
    }
    *memory = nullptr;
    const auto chosen = choose_device(device);
    ANYDML_TRY(chosen);
    auto created = make(*chosen.value());
    ANYDML_TRY(created);
    *memory = new anydml_memory{std::move(created.value())};
    return {};
  });
}

// Checks that the memory object is not null, then copies.
Status copy_checked(const char* function, const anydml_memory* memory, std::uint64_t offset, void* data,
                    std::uint64_t bytes, bool to_memory) {
  if (memory == nullptr) {
    return bad_call(function, "memory is null; expected an object from anydml_memory_create");
  }
  return copy_bytes(function, *memory->memory, offset, data, bytes, to_memory);
}

}  // namespace
}  // namespace anydml

using anydml::bad_call;
using anydml::boundary;
using anydml::DeviceMemory;
using anydml::format_text;
using anydml::MemoryKind;
using anydml::Status;

int anydml_memory_create(const anydml_device* device, size_t bytes, uint64_t flags, anydml_memory** memory) {
  constexpr const char* kName = "anydml_memory_create";
  return anydml::create_memory(
      kName, device, memory, [&](const anydml::Device& on) -> anydml::Result<std::shared_ptr<DeviceMemory>> {
        if ((flags & ~std::uint64_t{ANYDML_MEMORY_MAPPABLE}) != 0) {
          return bad_call(kName, format_text("flags is {}; expected 0 or ANYDML_MEMORY_MAPPABLE (1)", flags));
        }
        const bool mappable = (flags & ANYDML_MEMORY_MAPPABLE) != 0;
        return DeviceMemory::allocate(on, kName, bytes, DeviceMemory::Named::yes,
                                      mappable ? MemoryKind::readback_buffer : MemoryKind::device_buffer);
      });
}

int anydml_memory_wrap(const anydml_device* device, void* data, size_t bytes, anydml_memory** memory) {
  constexpr const char* kName = "anydml_memory_wrap";
  return anydml::create_memory(kName, device, memory,
                               [&](const anydml::Device& on) -> anydml::Result<std::shared_ptr<DeviceMemory>> {
                                 if (data == nullptr) {
                                   return bad_call(kName, "data is null; expected the address of the memory");
                                 }
                                 return DeviceMemory::wrap(on, kName, data, bytes);
                               });
}

void anydml_memory_release(anydml_memory* memory) {
  const anydml::CancellationDeferred deferred;
  delete memory;
}

void* anydml_memory_pointer(const anydml_memory* memory) {
  return memory != nullptr ? memory->memory->pointer() : nullptr;
}

size_t anydml_memory_bytes(const anydml_memory* memory) { return memory != nullptr ? memory->memory->bytes() : 0; }

int anydml_memory_map(anydml_memory* memory, void** data) {
  return boundary([&]() -> Status {
    constexpr const char* kName = "anydml_memory_map";
    if (memory == nullptr || data == nullptr) {
      return bad_call(kName, memory == nullptr ? "memory is null; expected an object from anydml_memory_create"
                                               : "data is null; expected a pointer to store the address");
    }
    *data = memory->memory->block().host;
    if (*data == nullptr) {
      return bad_call(kName, format_text("the CPU cannot access this memory of device {}; expected memory created with "
                                         "ANYDML_MEMORY_MAPPABLE, or anydml_memory_read and anydml_memory_write",
                                         memory->memory->device().info.name));
    }
    return {};
  });
}

int anydml_memory_find(const anydml_device* device, const void* data, size_t bytes, int* is_on_device) {
  return boundary([&]() -> Status {
    constexpr const char* kName = "anydml_memory_find";
    if (is_on_device == nullptr) {
      return bad_call(kName, "is_on_device is null; expected a pointer to store the result");
    }
    *is_on_device = 0;
    const auto chosen = anydml::choose_device(device);
    ANYDML_TRY(chosen);
    const auto found = anydml::find_on_device(kName, "data", *chosen.value(), data, bytes);
    ANYDML_TRY(found);
    *is_on_device = found.value() ? 1 : 0;
    return {};
  });
}

int anydml_memory_copy(const anydml_device* device, void* to, const void* from, size_t bytes) {
  return boundary([&]() -> Status {
    const auto chosen = anydml::choose_device(device);
    ANYDML_TRY(chosen);
    return anydml::copy_between("anydml_memory_copy", *chosen.value(), to, from, bytes);
  });
}

int anydml_memory_write(anydml_memory* memory, size_t offset, const void* from, size_t bytes) {
  return boundary([&] {
    return anydml::copy_checked("anydml_memory_write", memory, offset, const_cast<void*>(from), bytes, true);
  });
}

int anydml_memory_read(const anydml_memory* memory, size_t offset, void* to, size_t bytes) {
  return boundary([&] { return anydml::copy_checked("anydml_memory_read", memory, offset, to, bytes, false); });
}
