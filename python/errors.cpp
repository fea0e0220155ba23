// SPDX-License-Identifier: MIT
#include "errors.h"

#include <anydml/anydml.h>

#include <new>
#include <string>

#include "gil.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

void raise(PyObject* kind, const std::string& message) {
  const nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  if (text.is_valid()) {
    PyErr_SetObject(kind, text.ptr());
  }
  throw nb::python_error();
}

void raise_last(int code) {
  if (code == ANYDML_INTERRUPTED && PyErr_Occurred() != nullptr) {
    throw nb::python_error();  // raised by a signal handler
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

std::string plain_text(nb::handle of) {
  const nb::object text = nb::steal(in_python([&] { return PyObject_Str(of.ptr()); }));
  const nb::object bytes =
      nb::steal(text.is_valid() ? PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace") : nullptr);
  if (!bytes.is_valid()) {
    throw nb::python_error();
  }
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

std::string text_of(nb::handle given) {
  constexpr std::size_t kMax = 80;
  const nb::object shown = nb::steal(in_python([&] { return PyObject_ASCII(given.ptr()); }));
  if (!shown.is_valid()) {
    PyErr_Clear();
  }
  const std::string kind = Py_TYPE(given.ptr())->tp_name;
  const std::string text = shown.is_valid() ? PyUnicode_AsUTF8(shown.ptr()) : "";
  return text.empty() || text.size() > kMax ? "of type " + kind : text + " (" + kind + ")";
}

std::string wrong_array_text(nb::handle given) {
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
  if (PyArray_NDIM(array) > kMaxDimensions) {
    return kind + " with " + std::to_string(PyArray_NDIM(array)) + " dimensions; expected at most " +
           std::to_string(kMaxDimensions);
  }
  return kind + " with the strides " + plain_text(given.attr("strides")) +
         "; expected strides of whole elements: convert it with copy()";
}

}  // namespace anydml::python
