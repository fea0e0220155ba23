// SPDX-License-Identifier: MIT
#include "device_memory.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "capi/arguments.h"
#include "dlpack_devices.h"
#include "errors.h"
#include "gil.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

DeviceMemory::DeviceMemory(const anydml_device* device, DataType type, int rank, const std::int64_t* sizes,
                           bool is_of_truths)
    : where_(dlpack_device(device)), type_(type), is_of_truths_(is_of_truths), sizes_(sizes, sizes + rank) {
  std::uint64_t bytes = element_size(type);
  for (const std::int64_t size : sizes_) {
    bytes *= static_cast<std::uint64_t>(size);
  }
  const auto chosen = choose_device(device);
  auto created =
      chosen ? anydml::DeviceMemory::allocate(*chosen.value(), "a new array", bytes, anydml::DeviceMemory::Named::yes)
             : Result<std::shared_ptr<anydml::DeviceMemory>>(chosen.error());
  if (!created) {
    raise(created.error().kind == ErrorKind::out_of_memory ? PyExc_MemoryError : PyExc_RuntimeError,
          created.error().message);
  }
  memory_ = std::move(created.value());
}

bool DeviceMemory::is_shareable() const {
  return where_.type != dlpack::kExtension && memory_->device().info.shares_addresses != 0;
}

nb::object DeviceMemory::capsule() const {
  struct Export {
    dlpack::Managed managed;
    std::vector<std::int64_t> sizes;
    std::shared_ptr<anydml::DeviceMemory> memory;
  };
  auto* created = new Export{{}, sizes_, memory_};
  created->managed.tensor = {memory_->pointer(),
                             where_,
                             static_cast<std::int32_t>(sizes_.size()),
                             is_of_truths_ ? dlpack::ElementType{dlpack::kBool, 8, 1} : dlpack::element_type(type_),
                             created->sizes.data(),
                             nullptr,
                             0};
  created->managed.context = created;
  created->managed.deleter = [](dlpack::Managed* managed) { delete static_cast<Export*>(managed->context); };
  PyObject* capsule = PyCapsule_New(&created->managed, "dltensor", [](PyObject* unused) {
    if (PyCapsule_IsValid(unused, "dltensor") != 0) {
      auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(unused, "dltensor"));
      managed->deleter(managed);
    }
  });
  if (capsule == nullptr) {
    delete created;
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

DeviceMemory DeviceMemory::reshaped(std::vector<std::int64_t> sizes) const {
  DeviceMemory created(*this);
  created.sizes_ = std::move(sizes);
  return created;
}

void DeviceMemory::set_to_zero() {
  std::vector<std::byte> zeros(memory_->bytes());
  copy_all(zeros.data(), true);
}

void DeviceMemory::copy(nb::handle array, bool to_memory) const {
  if (PyArray_Check(array.ptr()) == 0 || PyArray_IS_C_CONTIGUOUS(as_array(array.ptr())) == 0 ||
      static_cast<std::uint64_t>(PyArray_NBYTES(as_array(array.ptr()))) != memory_->bytes()) {
    raise(PyExc_ValueError, "expected a packed array with as many bytes as the memory");
  }
  copy_all(PyArray_DATA(as_array(array.ptr())), to_memory);
}

void DeviceMemory::copy_all(void* data, bool to_memory) const {
  Status copied;
  {
    const GilReleased released;
    copied = copy_bytes("a copy of an array", *memory_, 0, data, memory_->bytes(), to_memory);
  }
  if (!copied.ok()) {
    raise(PyExc_RuntimeError, copied.error().message);
  }
}

}  // namespace anydml::python
