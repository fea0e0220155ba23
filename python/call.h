// SPDX-License-Identifier: MIT
// Helpers for all calls of the C API, for any kind of array: operators and devices by name, errors as exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <anydml/anydml.h>

#include <new>
#include <string>

#include "gil.h"
#include "operand.h"

namespace anydml::python {

namespace nb = nanobind;

// The message may quote an argument that was cut in the middle of a character.
[[noreturn]] inline void raise(PyObject* kind, const std::string& message) {
  const nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  if (text.is_valid()) {
    PyErr_SetObject(kind, text.ptr());
  }
  throw nb::python_error();
}

// NumPy's floats are FLOAT64 unless somebody asks for others, and many operators have none of it.
inline constexpr const char* kOfDoubles = ": type is FLOAT64; expected FLOAT32";
inline constexpr const char* kWayOut = "; convert it to float32";  // _messages.py replaces it by a call

[[noreturn]] inline void raise_last(int code) {
  if (code == ANYDML_INTERRUPTED && PyErr_Occurred() != nullptr) {
    throw nb::python_error();  // the exception of a signal's handler
  }
  std::string message = anydml_last_error();
  if (code == ANYDML_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code == ANYDML_INVALID_ARGUMENT) {
    const bool about_type = message.find(": type is ") != std::string::npos;
    if (const std::size_t at = message.find(kOfDoubles);
        at != std::string::npos && message.rfind("Output", at) == std::string::npos) {
      message += kWayOut;
    }
    raise(about_type ? PyExc_TypeError : PyExc_ValueError, message);
  }
  raise(code == ANYDML_UNSUPPORTED ? PyExc_NotImplementedError : PyExc_RuntimeError, message);
}

// Returns str() of an object, whatever characters it contains.
inline std::string plain_text(nb::handle of) {
  const nb::object text = nb::steal(in_python([&] { return PyObject_Str(of.ptr()); }));
  const nb::object bytes =
      nb::steal(text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (!bytes.is_valid()) {
    throw nb::python_error();
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// Describes an argument for a message: "5 (int)".
inline std::string text_of(nb::handle given) {
  constexpr std::size_t kMost = 80;
  const nb::object shown = nb::steal(in_python([&] { return PyObject_ASCII(given.ptr()); }));
  if (!shown.is_valid()) {
    PyErr_Clear();
  }
  const std::string kind = Py_TYPE(given.ptr())->tp_name;
  const std::string text = shown.is_valid() ? PyUnicode_AsUTF8(shown.ptr()) : "";
  return text.empty() || text.size() > kMost ? "of type " + kind : text + " (" + kind + ")";
}

// Says why the C API does not accept an object as an array, and what it accepts.
inline std::string wrong_array_text(nb::handle given) {
  if (PyArray_Check(given.ptr()) == 0) {
    return text_of(given) + "; expected a NumPy array";
  }
  auto* const array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const std::string kind = "an array of " + plain_text(given.attr("dtype"));
  if (type_of(PyArray_TYPE(array)) == DataType::unknown) {
    return kind + "; expected float16/32/64, int8 to int64 or uint8 to uint64" +
           (PyArray_TYPE(array) == NPY_BOOL ? ": convert it with astype('uint8') or astype('float32')" : "");
  }
  if (!PyArray_ISNOTSWAPPED(array)) {
    return kind + "; expected native byte order: convert it with astype('" +
           plain_text(given.attr("dtype").attr("name")) + "')";
  }
  if (PyArray_NDIM(array) > kMostDimensions) {
    return kind + " with " + std::to_string(PyArray_NDIM(array)) + " dimensions; expected at most " +
           std::to_string(kMostDimensions);
  }
  return kind + " with the strides " + plain_text(given.attr("strides")) +
         "; expected strides of whole elements: convert it with copy()";
}

// Converts a name for the C API. `argument` and `expected` are used in the error message.
inline std::string name_of(nb::handle given, const std::string& argument, const char* expected) {
  if (PyUnicode_Check(given.ptr()) == 0) {
    raise(PyExc_TypeError, argument + " is " + text_of(given) + "; expected " + expected);
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    raise(PyExc_ValueError, argument + " is " + text_of(given) + ", which is no Unicode text; expected " + expected);
  }
  std::string name(text, static_cast<std::size_t>(size));
  if (name.find('\0') != std::string::npos) {
    raise(PyExc_ValueError,
          argument + " is " + text_of(given) + ", which has a NUL character in it; expected " + expected);
  }
  return name;
}

inline std::string operator_name(nb::handle op) {
  return name_of(op, "op", "the name of an operator, a str such as 'ELEMENT_WISE_CLIP'");
}

inline const anydml_device* find_device(nb::handle name) {
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

}  // namespace anydml::python
