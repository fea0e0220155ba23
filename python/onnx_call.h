// SPDX-License-Identifier: MIT
// Calls into the ONNX library: without the GIL, and with its errors as Python exceptions.
#pragma once

#include <anydml/anydml.h>

#include <string>

#include "base/float_environment.h"
#include "errors.h"
#include "gil.h"
#include "onnx/values/errors.h"
#include "python_api.h"

namespace anydml::python {

// Runs a function without the GIL, and raises the library's errors as Python exceptions.
template <class Function>
void call_onnx(const Function& function) {
  try {
    {
      const GilReleased released;
      const DefaultFloatEnvironment environment;
      function();
    }
    if (PyErr_Occurred() != nullptr) {
      throw nb::python_error();  // a signal handler raised it after the last part of the work
    }
  } catch (const onnx::Unsupported& error) {
    nb::list needs;
    for (const std::string& need : error.needs()) {
      needs.append(nb::steal(PyUnicode_DecodeUTF8(need.data(), static_cast<Py_ssize_t>(need.size()), "replace")));
    }
    const std::string message = error.what();
    const nb::object text =
        nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
    PyErr_SetObject(PyExc_NotImplementedError, nb::make_tuple(text, needs).ptr());
    throw nb::python_error();
  } catch (const onnx::Invalid& error) {
    raise(PyExc_ValueError, error.what());
  } catch (const onnx::WrongType& error) {
    raise(PyExc_TypeError, error.what());
  } catch (const onnx::NoMemory& error) {
    raise(PyExc_MemoryError, error.what());
  } catch (const onnx::DeviceFailure& error) {
    if (error.status() == ANYDML_INTERRUPTED && PyErr_Occurred() != nullptr) {
      throw nb::python_error();  // raised by a signal handler
    }
    raise(error.status() == ANYDML_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError, error.what());
  }
}

// The bytes of a path in the file system.
inline std::string path_of(nb::handle path) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!bytes.is_valid()) {
    throw nb::python_error();
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace anydml::python
