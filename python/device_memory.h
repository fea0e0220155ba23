// SPDX-License-Identifier: MIT
// Device memory for new arrays in libraries that provide no writable memory, and for our own arrays (DeviceArray).
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/element.h"
#include "capi/device_memory.h"
#include "dlpack.h"
#include "python_api.h"

namespace anydml::python {

// Device memory for a new array, which a library adopts through DLPack. Libraries with immutable arrays, such as JAX,
// cannot create arrays that other code may write.
class DeviceMemory {
 public:
  DeviceMemory(const anydml_device* device, DataType type, int rank, const std::int64_t* sizes,
               bool is_of_truths = false);
  [[nodiscard]] void* address() const { return memory_->pointer(); }
  [[nodiscard]] nb::tuple device() const { return nb::make_tuple(where_.type, where_.id); }
  // Whether other libraries can use the memory: DLPack has a type for the device, and the pointer is its address.
  [[nodiscard]] bool is_shareable() const;

  // The work that wrote the memory is done, so no stream has to wait.
  [[nodiscard]] nb::object capsule() const;

  // The same memory with a different shape that has the same number of elements.
  [[nodiscard]] DeviceMemory reshaped(std::vector<std::int64_t> sizes) const;

  // Copies between the memory and a packed NumPy array with the same number of bytes.
  void write(nb::handle array) { copy(array, true); }
  void set_to_zero();
  void read(nb::handle array) const { copy(array, false); }

 private:
  void copy(nb::handle array, bool to_memory) const;
  void copy_all(void* data, bool to_memory) const;

  dlpack::Device where_;
  DataType type_;
  bool is_of_truths_;
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<anydml::DeviceMemory> memory_;
};

}  // namespace anydml::python
