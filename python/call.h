// SPDX-License-Identifier: MIT
// What calls of the C API have in common, whatever the arrays are: devices by name, attributes, errors as exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <anydml/anydml.h>

#include <new>
#include <string>
#include <vector>

namespace anydml::python {

namespace nb = nanobind;

[[noreturn]] inline void raise(PyObject* kind, const std::string& message) {
  PyErr_SetString(kind, message.c_str());
  throw nb::python_error();
}

[[noreturn]] inline void raise_last(int code) {
  const std::string message = anydml_last_error();
  if (code == ANYDML_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code == ANYDML_INVALID_ARGUMENT) {
    const bool about_type = message.find(": type is ") != std::string::npos;
    throw about_type ? nb::type_error(message.c_str()) : nb::value_error(message.c_str());
  }
  raise(code == ANYDML_UNSUPPORTED ? PyExc_NotImplementedError : PyExc_RuntimeError, message);
}

inline const anydml_device* find_device(nb::handle name) {
  if (name.is_none()) {
    return nullptr;
  }
  const anydml_device* device = anydml_find_device(nb::cast<std::string>(name).c_str());
  if (device == nullptr) {
    throw nb::value_error(anydml_last_error());
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
      anydml_attribute attribute{};
      names.push_back(nb::cast<std::string>(name));
      attribute.name = names.back().c_str();
      if (PyLong_Check(value.ptr()) != 0) {
        int overflow = 0;
        attribute.type = ANYDML_INT64;
        attribute.value.i64 = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
        if (overflow > 0) {
          attribute.type = ANYDML_UINT64;
          attribute.value.u64 = PyLong_AsUnsignedLongLong(value.ptr());
        }
        if (overflow < 0 || PyErr_Occurred() != nullptr) {
          PyErr_Clear();
          throw nb::value_error((names.back() + " is an integer beyond 64 bits").c_str());
        }
      } else if (PyFloat_Check(value.ptr()) == 0) {
        throw nb::type_error((names.back() + " is no number").c_str());
      } else {
        attribute.type = ANYDML_FLOAT64;
        attribute.value.f64 = nb::cast<double>(value);
      }
      all.push_back(attribute);
    }
  }
  Attributes(const Attributes&) = delete;  // all points into names
  Attributes& operator=(const Attributes&) = delete;
};

}  // namespace anydml::python
