// SPDX-License-Identifier: MIT
#include "device_arrays.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda_streams.h"
#include "elements.h"
#include "errors.h"
#include "gil.h"
#include "python_api.h"

namespace anydml::python {

const Names& names() {
  static const Names all;
  return all;
}

bool Library::is_watched() const {
  PyObject* const is_mode = modes.is_valid() ? PyDict_GetItem(modes.ptr(), names().is_mode) : nullptr;
  PyObject* const level = forward.is_valid() ? PyDict_GetItem(forward.ptr(), names().current_level) : nullptr;
  return (is_mode != nullptr && is_mode != Py_False) ||
         (level != nullptr && PyLong_CheckExact(level) && PyLong_AsLong(level) >= 0);
}

namespace {

std::unique_ptr<Library> make_library(PyTypeObject* type) {
  const nb::object found = in_python(
      [&] { return nb::object(nb::module_::import_("anydml._libraries").attr("library_of")(nb::handle(type))); });
  const nb::object self = found[0];
  const nb::object exchange = found[1];
  auto created = std::make_unique<Library>();
  created->type = type;
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  created->self = self;
  created->name = nb::cast<std::string>(self.attr("name"));
  created->immutable = nb::cast<bool>(self.attr("immutable"));
  created->is_torch = created->name == "torch";
  created->is_subclass = created->is_torch && !nb::module_::import_("torch").attr("Tensor").is(nb::handle(type));
  created->capsule = self.attr("capsule");
  created->empty_like = self.attr("empty_like");
  created->empty = self.attr("empty");
  created->number = self.attr("number");
  created->stream = self.attr("stream");
  created->adopt = self.attr("adopt");
  created->written = self.attr("written");
  if (created->is_torch && !created->is_subclass) {
    const nb::object modules = nb::module_::import_("sys").attr("modules");
    const auto dict_of = [&](const char* name) {
      const nb::object module = modules.attr("get")(name);
      return module.is_none() ? nb::object() : nb::object(module.attr("__dict__"));
    };
    created->modes = dict_of("torch.utils._python_dispatch");
    created->forward = dict_of("torch.autograd.forward_ad");
  }
  constexpr const char* kExchange = "dlpack_exchange_api";
  if (PyCapsule_IsValid(exchange.ptr(), kExchange) != 0) {
    const auto* offered = static_cast<const dlpack::Exchange*>(PyCapsule_GetPointer(exchange.ptr(), kExchange));
    while (offered != nullptr && offered->version.major > 1) {
      offered = offered->older;
    }
    if (offered != nullptr && offered->version.major == 1 && offered->view != nullptr) {
      created->exchange = offered;
    }
  }
  created->tells_stream = created->exchange != nullptr || !created->stream.is_none();
  return created;
}

}  // namespace

const Library* library_of(PyObject* object) {
  static auto* const known = new std::vector<std::unique_ptr<Library>>;
  PyTypeObject* const type = Py_TYPE(object);
  for (const auto& library : *known) {
    if (library->type == type) {
      return library.get();
    }
  }
  if (type == &PyArray_Type || type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
      type == &PyList_Type || type == &PyTuple_Type || object == Py_None || PyArray_Check(object) != 0 ||
      PyArray_CheckScalar(object) != 0) {
    return nullptr;
  }
  if (in_python([&] { return PyObject_HasAttr(reinterpret_cast<PyObject*>(type), names().dlpack_device); }) == 0) {
    return nullptr;
  }
  known->push_back(make_library(type));
  return known->back().get();
}

void tell_written(const Library* library, const nb::handle* arrays, std::size_t count) {
  if (library == nullptr || count == 0 || library->written.is_none()) {
    return;
  }
  const nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!all.is_valid()) {
    throw nb::python_error();
  }
  for (std::size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i), arrays[i].inc_ref().ptr());
  }
  if (!nb::steal(in_python([&] { return PyObject_CallOneArg(library->written.ptr(), all.ptr()); })).is_valid()) {
    throw nb::python_error();
  }
}

bool DeviceOperand::may_be_number() const {
  return (library != nullptr && device.type == dlpack::kCpu) || PyLong_Check(given.ptr()) != 0 ||
         PyFloat_Check(given.ptr()) != 0 || PyArray_CheckScalar(given.ptr()) != 0;
}

void DeviceOperand::locate(nb::handle array) {
  given = array;
  library = library_of(array.ptr());
  if (library == nullptr) {
    return;
  }
  if (library->exchange != nullptr) {
    viewed = in_python([&] { return library->exchange->view(array.ptr(), &view); }) == 0;
    if (viewed) {
      device = view.device;
      copy_layout();  // this must happen before another thread changes the array
    }
  } else {
    ask();
  }
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    device = {};
  }
}

void DeviceOperand::locate_plain(nb::handle array) {
  given = array;
  library = library_of(array.ptr());
  if (library == nullptr || !library->is_torch || library->is_subclass || library->exchange == nullptr) {
    return;
  }
  const bool shown = in_python([&] { return library->exchange->view(array.ptr(), &view); }) == 0;
  if (!shown) {
    PyErr_Clear();
    return;
  }
  device = view.device;
  copy_layout();
  viewed = device.type == dlpack::kCpu && is_plain_torch();
}

void* DeviceOperand::memory() const {
  return view.data == nullptr ? nullptr : static_cast<char*>(view.data) + view.byte_offset;
}

void DeviceOperand::locate_pinned() {
  if (library != nullptr && library->exchange != nullptr && device.type == dlpack::kCpu) {
    ask();
    PyErr_Clear();
  }
}

void DeviceOperand::read(Order order, bool writes) {
  if (!fresh) {
    check_torch(writes);
  }
  if (!viewed || order != Order::none) {
    read_capsule(order, writes);
  }
  const DataType type = element_type();
  if (type == DataType::unknown || view.rank > kMaxDimensions) {
    const std::string what =
        type == DataType::unknown
            ? "elements of " +
                  plain_text(in_python([&] { return nb::getattr(given, "dtype", nb::str("a type without a name")); }))
            : std::to_string(view.rank) + " dimensions";
    refuse("it has " + what +
           "; expected float16/32/64, int8 to int64 or uint8 to uint64 and at most eight dimensions");
  }
  read_plain();
}

void DeviceOperand::read_plain() {
  operand.tensor = {static_cast<anydml_type>(element_type()), view.rank, operand.sizes, operand.strides, memory()};
}

bool DeviceOperand::is_of_truths() const {
  return view.type.code == dlpack::kBool && view.type.bits == 8 && view.type.lanes == 1;
}

bool DeviceOperand::is_plain_torch() const {
  const auto is_false = [](PyObject* answer) {
    const nb::object held = nb::steal(answer);
    if (answer == nullptr) {
      PyErr_Clear();
    }
    return answer == Py_False;
  };
  return is_false(in_python([&] { return PyObject_GetAttr(given.ptr(), names().requires_grad); })) &&
         (view.type.code != dlpack::kFloat || is_false(call_method(names().is_neg)));
}

void DeviceOperand::refuse(const std::string& why) const {
  raise(PyExc_TypeError, "cannot use an array of " + library->name + ": " + why);
}

DataType DeviceOperand::element_type() const {
  return takes_truths && is_of_truths() ? DataType::UINT8 : dlpack::type_of(view.type);
}

PyObject* DeviceOperand::call_method(PyObject* name) const {
  return in_python([&] { return PyObject_CallMethodNoArgs(given.ptr(), name); });
}

void DeviceOperand::ask() {
  if (const nb::object where = nb::steal(call_method(names().dlpack_device));
      where.is_valid() && PyTuple_Check(where.ptr()) != 0 && PyTuple_GET_SIZE(where.ptr()) == 2) {
    device = {static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(where.ptr(), 0))),
              static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(where.ptr(), 1)))};
  }
}

void DeviceOperand::copy_layout() {
  std::int64_t packed = 1;
  for (int i = view.rank - 1; i >= 0 && view.rank <= kMaxDimensions; --i) {
    operand.sizes[i] = view.sizes[i];
    operand.strides[i] = view.strides != nullptr ? signed_stride(view.strides[i]) : packed;
    packed *= view.sizes[i];
  }
}

std::int64_t DeviceOperand::signed_stride(std::int64_t stride) const {
  const int missing = view.type.bits >= 64 ? 3 : view.type.bits >= 32 ? 2 : view.type.bits >= 16 ? 1 : 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) << missing) >> missing;
}

void DeviceOperand::check_torch(bool writes) {
  if (!library->is_torch) {
    return;
  }
  const auto is_true = [](PyObject* answer) {
    const nb::object held = nb::steal(answer);
    if (answer == nullptr) {
      throw nb::python_error();
    }
    return answer == Py_True;
  };
  if (is_true(in_python([&] { return PyObject_GetAttr(given.ptr(), names().requires_grad); }))) {
    refuse("it requires a gradient, which is not computed here; use tensor.detach()");
  }
  if ((!viewed || view.type.code == dlpack::kFloat) && is_true(call_method(names().is_neg))) {
    if (writes) {
      refuse("its negative bit is set, so its memory does not contain its values; use tensor.resolve_neg()");
    }
    resolved = nb::steal(call_method(names().resolve_neg));
    if (!resolved.is_valid()) {
      throw nb::python_error();
    }
    locate(resolved);
  }
}

void DeviceOperand::read_capsule(Order order, bool writes) {
  try {
    const nb::object stream = has_streams(device) ? cuda_streams::argument(order != Order::none) : nb::none();
    kept = in_python([&] { return library->capsule(given, stream); });
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_RuntimeError) && !error.matches(PyExc_BufferError)) {
      throw;
    }
    refuse(plain_text(error.value()));
  }
  if (PyCapsule_IsValid(kept.ptr(), "dltensor_versioned") != 0) {
    const auto* managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(kept.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1) {
      refuse("its DLPack version is not supported; expected 1");
    }
    if (writes && (managed->flags & dlpack::kReadOnly) != 0) {
      raise(PyExc_ValueError, "output array is read-only");
    }
    view = managed->tensor;
  } else if (PyCapsule_IsValid(kept.ptr(), "dltensor") != 0) {
    view = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(kept.ptr(), "dltensor"))->tensor;
  } else {
    refuse("its __dlpack__ did not return a DLPack capsule");
  }
  viewed = true;
  copy_layout();
}

std::string type_text(DataType type) {
  std::string text = anydml_type_name(static_cast<anydml_type>(type));
  std::ranges::transform(text, text.begin(), [](char letter) { return letter < 'A' ? letter : char(letter | 0x20); });
  return text;
}

DataType type_named(const std::string& name) {
  for (std::uint32_t type = 1; type < kDataTypeLimit; ++type) {
    if (const auto found = static_cast<DataType>(type); type_text(found) == name) {
      return found;
    }
  }
  if (!name.empty()) {
    raise(PyExc_TypeError, "dtype is " + name + "; expected float16/32/64, int8 to int64 or uint8 to uint64");
  }
  return DataType::unknown;
}

std::optional<std::int64_t> number_bits(DeviceOperand& number, DataType type) {
  char bytes[8] = {};
  const std::size_t size = element_size(type);
  const auto same_type = [&](DataType found) {
    if (found != type) {
      raise(PyExc_TypeError, "a number of " + type_text(found) + " is used with arrays of " + type_text(type) +
                                 "; expected the same type, or a Python number, which takes the type of the arrays");
    }
  };
  PyObject* object = number.given.ptr();
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object)) {
    if (PyFloat_CheckExact(object) && !is_float_type(type)) {
      raise(PyExc_TypeError,
            "a float is used with arrays of " + type_text(type) + "; expected an int, or arrays of floats");
    }
    const nb::object plain = nb::steal(is_float_type(type) ? PyNumber_Float(object) : PyNumber_Long(object));
    if (!plain.is_valid()) {
      throw nb::python_error();
    }
    Operand taken;
    if (taken.take_number(plain.ptr(), type) || is_float_type(type)) {  // a float that is too large becomes infinite
      std::memcpy(bytes, taken.scalar, size);
    } else {
      const unsigned long long large = type == DataType::UINT64 ? PyLong_AsUnsignedLongLong(plain.ptr()) : 0;
      if (type != DataType::UINT64 || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise(PyExc_OverflowError, "Python integer " + plain_text(plain) + " out of bounds for " + type_text(type));
      }
      std::memcpy(bytes, &large, sizeof(large));
    }
  } else if (PyArray_CheckScalar(object)) {  // a NumPy scalar, or an array without dimensions
    const nb::object array = nb::steal(PyArray_FROM_O(object));
    Operand taken;
    if (!array.is_valid()) {
      throw nb::python_error();
    }
    if (!taken.take(as_array(array.ptr()))) {
      return std::nullopt;
    }
    same_type(static_cast<DataType>(taken.tensor.type));
    std::memcpy(bytes, taken.tensor.data, size);
  } else if (number.library != nullptr && number.device.type == dlpack::kCpu) {
    number.read(Order::none, false);
    if (number.operand.tensor.rank != 0) {
      return std::nullopt;
    }
    same_type(static_cast<DataType>(number.operand.tensor.type));
    std::memcpy(bytes, number.operand.tensor.data, size);
  } else {
    return std::nullopt;
  }
  return visit_type(type, [&]<class T>() {
    std::make_signed_t<Unsigned<T>> bits;
    std::memcpy(&bits, bytes, sizeof(bits));
    return std::optional<std::int64_t>(bits);
  });
}

}  // namespace anydml::python
