// SPDX-License-Identifier: MIT
// Arrays from other libraries, on GPUs or in CPU memory: finds the device of an array, and converts the array to a
// tensor for the C API.
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

// Whether our work on an array must wait for its library's pending work. Work on the library's own stream need not
// wait.
enum class Order { none, after_pending };

// ---- Array libraries -----------------------------------------------------------------------------------------------

// Interned attribute names, which are never released because the interpreter may shut down before the module is
// unloaded.
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
  nb::object self;  // shared by all types of one library
  std::string name;
  bool immutable;
  bool is_torch;
  bool is_subclass;  // a subclass of PyTorch's tensors, which may override functions
  bool tells_stream;
  nb::object capsule, empty_like, empty, number, stream, adopt, written;
  const dlpack::Exchange* exchange = nullptr;  // if null, capsules are used
  nb::object modes;    // PyTorch's module dict that shows whether a mode intercepts every operator
  nb::object forward;  // PyTorch's module dict for forward-mode derivatives

  // Whether PyTorch currently intercepts operations on all of its tensors.
  [[nodiscard]] bool is_watched() const;
};

// Returns null for objects that are not arrays from another library: numbers, lists, NumPy arrays.
const Library* library_of(PyObject* object);

// Reports to a library which of its arrays a call has written. PyTorch counts the changes to a tensor, so that autograd
// can detect that a value it needs was overwritten.
void tell_written(const Library* library, const nb::handle* arrays, std::size_t count);

// ---- Operands ------------------------------------------------------------------------------------------------------

// An operand of a call: the caller's object and, after read(), its tensor.
struct DeviceOperand {
  nb::handle given;
  const Library* library = nullptr;
  dlpack::Device device{};  // {0, 0} if the object is not an array from a library
  bool viewed = false;
  bool fresh = false;         // created for this call
  bool takes_truths = false;  // accepts bool arrays as byte arrays
  dlpack::Tensor view{};
  nb::object kept;      // owns the memory, in addition to the caller's object
  nb::object resolved;  // the values of a lazily negated tensor, in place of the caller's object
  Operand operand;

  [[nodiscard]] bool reached() const { return find_device_type(device.type) != nullptr; }
  // Pinned CPU memory counts as GPU memory if the call has an array on a GPU that can access it, and as CPU memory
  // otherwise.
  [[nodiscard]] bool is_pinned() const { return reached() && find_device_type(device.type)->is_pinned; }
  [[nodiscard]] bool on_gpu() const { return reached() && !is_pinned(); }
  [[nodiscard]] bool may_be_number() const;

  // Finds the array's device. If the array does not report a device, the CPU path handles the array and reports the
  // error.
  void locate(nb::handle array);

  // Like locate(), but views only CPU tensors of PyTorch's own type whose memory contains exactly their values.
  void locate_plain(nb::handle array);

  [[nodiscard]] void* memory() const;

  // Views report pinned memory as ordinary CPU memory, so this asks the array itself.
  void locate_pinned();

  // Reads the tensor through DLPack.
  void read(Order order, bool writes);

  // Describes the tensor with the same sizes and strides as the view.
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

  // CuPy 14 converts strides from bytes with an unsigned division, so negative strides lose their upper bits.
  [[nodiscard]] std::int64_t signed_stride(std::int64_t stride) const;

  // Checks properties that PyTorch's DLPack views do not report. A lazily negated input is replaced by its values.
  void check_torch(bool writes);

  void read_capsule(Order order, bool writes);
};

std::string type_text(DataType type);

// Returns unknown for an empty name.
DataType type_named(const std::string& name);

inline std::string type_of_object(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

// Converts a number to the type of the arrays in the call, and returns its bits as an integer of the same width.
// Returns nullopt if the object is not a number.
std::optional<std::int64_t> number_bits(DeviceOperand& number, DataType type);

}  // namespace anydml::python
