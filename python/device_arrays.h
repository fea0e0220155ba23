// SPDX-License-Identifier: MIT
// Arrays of any library on GPUs: finds the device of an array, and converts arrays to tensors of the C API.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/element.h"
#include "dlpack.h"
#include "dlpack_devices.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// Whether work of ours on an array must come after the work on it that its library has pending. It need not if both go
// onto one stream.
enum class Order { none, after_pending };

// ---- Array libraries -----------------------------------------------------------------------------------------------

// Interned attribute names. They are never released, because Python may end before the module is unloaded.
struct Names {
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
  PyObject* is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* resolve_neg = PyUnicode_InternFromString("resolve_neg");
  PyObject* is_mode = PyUnicode_InternFromString("_is_in_torch_dispatch_mode");
  PyObject* current_level = PyUnicode_InternFromString("_current_level");
};
const Names& names();

// One array type and its library. The functions are defined in _libraries.py.
struct Library {
  PyTypeObject* type;
  nb::object self;  // the same for all types of one library
  std::string name;
  bool immutable;
  bool is_torch;
  bool is_subclass;  // a subclass of PyTorch's tensors, which may override functions
  bool tells_stream;
  nb::object capsule, empty_like, empty, number, stream, adopt, written;
  const dlpack::Exchange* exchange = nullptr;  // null: use capsules
  nb::object modes;    // PyTorch's module dict that says whether a mode intercepts every operator
  nb::object forward;  // PyTorch's module dict for forward-mode derivatives

  // Whether PyTorch currently intercepts operations on all of its tensors.
  [[nodiscard]] bool is_watched() const;
};

// Returns null for objects that are not arrays of another library: numbers, lists, NumPy arrays.
const Library* library_of(PyObject* object);

// Tells a library which of its arrays a call has written. PyTorch counts the changes of a tensor, so that derivatives
// notice if a value that they need is gone.
void tell_written(const Library* library, const nb::handle* arrays, std::size_t count);

// ---- Operands ------------------------------------------------------------------------------------------------------

// An operand of a call: the caller's object and, after read(), its tensor.
struct DeviceOperand {
  nb::handle given;
  const Library* library = nullptr;
  dlpack::Device device{};  // {0, 0}: not a library's array
  bool viewed = false;
  bool fresh = false;         // created for this call
  bool takes_truths = false;  // an array of bool counts as an array of bytes
  dlpack::Tensor view{};
  nb::object kept;      // owns the memory, in addition to the caller's object
  nb::object resolved;  // the values of a lazily negated tensor, in place of the caller's object
  Operand operand;

  [[nodiscard]] bool reached() const { return find_device_type(device.type) != nullptr; }
  // Pinned CPU memory counts as GPU memory beside an array on a GPU that reaches it, and otherwise as CPU memory.
  [[nodiscard]] bool is_pinned() const { return reached() && find_device_type(device.type)->is_pinned; }
  [[nodiscard]] bool on_gpu() const { return reached() && !is_pinned(); }
  [[nodiscard]] bool may_be_number() const;

  // Finds the array's device. If the array cannot tell, the CPU path handles it and reports the error.
  void locate(nb::handle array);

  // Views only tensors of PyTorch's own type whose elements lie in CPU memory exactly as PyTorch shows them.
  void locate_plain(nb::handle array);

  [[nodiscard]] void* memory() const;

  // A view reports pinned memory as CPU memory; only the array itself tells them apart.
  void locate_pinned();

  // Reads the tensor.
  void read(Order order, bool writes);

  // Reads the tensor exactly as the view shows it.
  void read_plain();

  [[nodiscard]] bool is_of_truths() const;

  // A PyTorch tensor may differ from its view if it requires a gradient or is lazily negated.
  [[nodiscard]] bool is_plain_torch() const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  [[nodiscard]] DataType element_type() const;

  [[nodiscard]] PyObject* call_method(PyObject* name) const;

  void ask();

  void copy_layout();

  // CuPy 14 computes strides from bytes by an unsigned division, so a negative stride lacks its upper bits.
  [[nodiscard]] std::int64_t signed_stride(std::int64_t stride) const;

  // Checks properties that PyTorch's DLPack views do not report. A lazily negated input is replaced by its values.
  void check_torch(bool writes);

  void read_capsule(Order order, bool writes);
};

std::string type_text(DataType type);

// unknown for an empty name.
DataType type_named(const std::string& name);

inline std::string type_of_object(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

// The bits of a number beside arrays of a type, as an integer of the same width; nothing if it is not a number.
std::optional<std::int64_t> number_bits(DeviceOperand& number, DataType type);

}  // namespace anydml::python
