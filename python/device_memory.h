// SPDX-License-Identifier: MIT
// GPU memory for new arrays of libraries that do not provide writable memory.
#pragma once

#include <nanobind/nanobind.h>

#include <anydml/anydml.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/core.h"
#include "base/element.h"
#include "call.h"
#include "dlpack.h"
#include "dlpack_devices.h"

namespace anydml::python {

// Device memory for a new array, which a library takes over through DLPack. A library with immutable arrays, such as
// JAX, has no function that creates an array for others to write to.
class DeviceMemory {
 public:
  DeviceMemory(const anydml_device* device, DataType type, int rank, const std::int64_t* sizes,
               bool is_of_truths = false)
      : where_(dlpack_device(device).value()), type_(type), is_of_truths_(is_of_truths), sizes_(sizes, sizes + rank) {
    std::uint64_t bytes = element_size(type);
    for (const std::int64_t size : sizes_) {
      bytes *= static_cast<std::uint64_t>(size);
    }
    const CoreTable& core = *anydml_private_core();
    for (std::uint32_t i = 0; i < core.device_count(); ++i) {
      if (anydml_device_at(i) == device) {
        memory_ = std::make_shared<Memory>(core.device(i), bytes);
      }
    }
  }
  [[nodiscard]] void* address() const { return memory_->address(); }
  [[nodiscard]] nb::tuple device() const { return nb::make_tuple(where_.type, where_.id); }

  // The work that wrote the memory is done, so no stream has to wait.
  [[nodiscard]] nb::object capsule() const {
    struct Export {
      dlpack::Managed managed;
      std::vector<std::int64_t> sizes;
      std::shared_ptr<Memory> memory;
    };
    auto* made = new Export{{}, sizes_, memory_};
    made->managed.tensor = {memory_->address(),
                            where_,
                            static_cast<std::int32_t>(sizes_.size()),
                            is_of_truths_ ? dlpack::ElementType{dlpack::kBool, 8, 1} : dlpack::element_type(type_),
                            made->sizes.data(),
                            nullptr,
                            0};
    made->managed.context = made;
    made->managed.deleter = [](dlpack::Managed* managed) { delete static_cast<Export*>(managed->context); };
    PyObject* capsule = PyCapsule_New(&made->managed, "dltensor", [](PyObject* unused) {
      if (PyCapsule_IsValid(unused, "dltensor") != 0) {
        auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(unused, "dltensor"));
        managed->deleter(managed);
      }
    });
    if (capsule == nullptr) {
      delete made;
      throw nb::python_error();
    }
    return nb::steal(capsule);
  }

 private:
  struct Memory {
    Memory(const CoreDevice* of, std::uint64_t count) : device(of), bytes(count) {
      const BackendStatus status = of->backend->allocate(of->handle, MemoryKind::temporary, bytes, &block);
      if (status.code != BackendCode::ok) {
        raise(status.code == BackendCode::out_of_memory ? PyExc_MemoryError : PyExc_RuntimeError, status.message);
      }
    }
    ~Memory() {
      if (block.handle != nullptr) {
        device->backend->release(device->handle, MemoryKind::temporary, bytes, block.handle);
      }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // GPUs whose arrays other libraries share have the process's addresses.
    [[nodiscard]] void* address() const { return reinterpret_cast<void*>(block.address); }

    const CoreDevice* device;
    std::uint64_t bytes;
    MemoryBlock block = {};
  };

  dlpack::Device where_;
  DataType type_;
  bool is_of_truths_;
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<Memory> memory_;
};

}  // namespace anydml::python
