// SPDX-License-Identifier: MIT
// What calls of the C API have in common, whatever the arrays are: devices by name, attributes, errors as exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <anydml/anydml.h>

#include <new>
#include <string>
#include <vector>

#include "gil.h"

namespace anydml::python {

namespace nb = nanobind;

// The message may quote what was given, cut anywhere.
[[noreturn]] inline void raise(PyObject* kind, const std::string& message) {
  const nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  if (text.is_valid()) {
    PyErr_SetObject(kind, text.ptr());
  }
  throw nb::python_error();
}

[[noreturn]] inline void raise_last(int code) {
  const std::string message = anydml_last_error();
  if (code == ANYDML_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code == ANYDML_INVALID_ARGUMENT) {
    const bool about_type = message.find(": type is ") != std::string::npos;
    raise(about_type ? PyExc_TypeError : PyExc_ValueError, message);
  }
  raise(code == ANYDML_UNSUPPORTED ? PyExc_NotImplementedError : PyExc_RuntimeError, message);
}

// Its str(), whatever characters are in it.
inline std::string plain_text(nb::handle of) {
  const nb::object text = nb::steal(in_python([&] { return PyObject_Str(of.ptr()); }));
  const nb::object bytes =
      nb::steal(text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (!bytes.is_valid()) {
    throw nb::python_error();
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// What was given, for a message: "5 (int)".
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

// A name as the C API takes it. argument and expected are for the message.
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

struct Attributes {
  std::vector<std::string> names;
  std::vector<anydml_attribute> all;

  Attributes() = default;
  explicit Attributes(const nb::dict& given) {
    names.reserve(nb::len(given));
    for (const auto& [name, value] : given) {
      names.push_back(name_of(name, "an attribute's name", "a str"));
      all.push_back(make(names.back(), value));
    }
  }
  Attributes(const Attributes&) = delete;  // all points into names
  Attributes& operator=(const Attributes&) = delete;

 private:
  // A number is what Python takes for one: an integer by __index__, any other by __float__.
  static anydml_attribute make(const std::string& name, nb::handle value) {
    anydml_attribute attribute{};
    attribute.name = name.c_str();
    if (const nb::object integer = as_integer(value); integer.is_valid()) {
      int overflow = 0;
      attribute.type = ANYDML_INT64;
      attribute.value.i64 = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
      if (overflow > 0) {
        attribute.type = ANYDML_UINT64;
        attribute.value.u64 = PyLong_AsUnsignedLongLong(integer.ptr());
      }
      if (overflow < 0 || PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise(PyExc_ValueError, name + " is " + text_of(value) + ", an integer beyond 64 bits; expected one within");
      }
      return attribute;
    }
    attribute.type = ANYDML_FLOAT64;
    const PyNumberMethods* methods = Py_TYPE(value.ptr())->tp_as_number;
    if (methods != nullptr && methods->nb_float != nullptr && !is_complex(value)) {
      attribute.value.f64 = in_python([&] { return PyFloat_AsDouble(value.ptr()); });
      if (PyErr_Occurred() == nullptr) {
        return attribute;
      }
      leave_type_errors_aside();
    }
    raise(PyExc_TypeError, name + " is " + text_of(value) + "; expected a number");
  }

  static nb::object as_integer(nb::handle value) {
    if (PyFloat_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) {
      return {};
    }
    nb::object integer = nb::steal(in_python([&] { return PyNumber_Index(value.ptr()); }));
    if (!integer.is_valid()) {
      leave_type_errors_aside();  // arrays and tensors of floats have an __index__ that gives none
    }
    return integer;
  }

  // NumPy's complex numbers have a __float__, which drops a part.
  static bool is_complex(nb::handle value) {
    return PyArray_Check(value.ptr()) != 0 ? PyArray_ISCOMPLEX(reinterpret_cast<PyArrayObject*>(value.ptr()))
                                           : PyArray_IsScalar(value.ptr(), ComplexFloating);
  }

  static void leave_type_errors_aside() {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
      throw nb::python_error();
    }
    PyErr_Clear();
  }
};

}  // namespace anydml::python
