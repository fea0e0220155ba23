// SPDX-License-Identifier: MIT
#include "call.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "python_api.h"

namespace anydml::python {

std::string name_of(nb::handle given, const std::string& argument, const char* expected) {
  if (PyUnicode_Check(given.ptr()) == 0) {
    raise(PyExc_TypeError, argument + " is " + text_of(given) + "; expected " + expected);
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    raise(PyExc_ValueError, argument + " is " + text_of(given) + ", which is not valid Unicode; expected " + expected);
  }
  std::string name(text, static_cast<std::size_t>(size));
  if (name.find('\0') != std::string::npos) {
    raise(PyExc_ValueError,
          argument + " is " + text_of(given) + ", which contains a NUL character; expected " + expected);
  }
  return name;
}

bool keeps_elements(const std::string& op) {
  const anydml_operator_info* const info = anydml_find_operator(op.c_str());
  return info != nullptr && info->keeps_elements != 0;
}

std::string operator_name(nb::handle op) {
  return name_of(op, "op", "the name of an operator, a str such as 'ELEMENT_WISE_CLIP'");
}

const anydml_device* find_device(nb::handle name) {
  if (name.is_none()) {
    return nullptr;
  }
  const std::string text = name_of(name, "device", "the name of one of adapters(), a str, or None");
  const anydml_device* device = anydml_find_device(text.c_str());
  if (device == nullptr) {
    raise(PyExc_ValueError, anydml_last_error());
  }
  return device;
}

std::vector<nb::object> list_of(nb::handle arrays) {
  std::vector<nb::object> all;
  all.reserve(nb::len(arrays));
  for (const nb::handle array : arrays) {
    all.push_back(nb::borrow(array));
  }
  return all;
}

DataType four_bits_named(nb::handle name) {
  return PyUnicode_Check(name.ptr()) == 0                             ? DataType::unknown
         : PyUnicode_CompareWithASCIIString(name.ptr(), "int4") == 0  ? DataType::INT4
         : PyUnicode_CompareWithASCIIString(name.ptr(), "uint4") == 0 ? DataType::UINT4
                                                                      : DataType::unknown;
}

namespace {

// Whether the object is an array of four-bit elements as packed by _four_bits.py.
bool is_packed(nb::handle array) {
  if (PyArray_Check(array.ptr()) != 0) {
    return false;
  }
  const nb::object kind = in_python([] { return nb::object(nb::module_::import_("anydml._core").attr("Packed")); });
  return reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) == kind.ptr();
}

}  // namespace

Call::Call(nb::handle given, nb::handle outs) : arrays(list_of(given)), inputs(arrays.size()) {
  std::ranges::copy(list_of(outs), std::back_inserter(arrays));
  operands.resize(arrays.size());
  read();
}

void Call::read() {
  tensors.clear();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].is_none()) {  // the type of an absent tensor is ANYDML_NONE
      take(operands[i], arrays[i], name(i));
      check_writable(i);
    }
    tensors.push_back(operands[i].tensor);
  }
}

std::string Call::name(std::size_t i) const {
  return i < inputs       ? "inputs[" + std::to_string(i) + "]"
         : outputs() == 1 ? "out"
                          : "out[" + std::to_string(i - inputs) + "]";
}

void Call::take(Operand& operand, nb::handle array, const std::string& name) {
  if (PyArray_Check(array.ptr()) != 0 && operand.take(as_array(array.ptr()))) {
    return;
  }
  if (is_packed(array)) {
    const nb::object bytes = array.attr("bytes");
    return operand.take_four_bits(four_bits_named(array.attr("name")), numbers_in(array.attr("shape")),
                                  as_array(bytes.ptr()));
  }
  raise(PyExc_TypeError, name + " is " + wrong_array_text(array));
}

void Call::check_writable(std::size_t i) const {
  if (i >= inputs && PyArray_Check(arrays[i].ptr()) != 0 && !PyArray_ISWRITEABLE(as_array(arrays[i].ptr()))) {
    raise(PyExc_ValueError, "output array is read-only");
  }
}

bool has_one_shape(const facts::Operator* op) {
  if (op == nullptr) {
    return false;
  }
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  for (std::size_t i = 0; i < op->fields.size(); ++i) {
    const facts::FieldKind kind = op->fields[i].kind;
    inputs |= facts::is_input(kind) ? 1U << i : 0;
    outputs |= facts::is_output(kind) ? 1U << i : 0;
  }
  return inputs != 0 && std::has_single_bit(outputs) &&
         std::ranges::any_of(op->same, [&](const facts::SameGroup& group) {
           return group.what == facts::Same::sizes && (group.fields & (inputs | outputs)) == (inputs | outputs);
         });
}

}  // namespace anydml::python
