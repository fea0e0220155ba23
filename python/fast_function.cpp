// SPDX-License-Identifier: MIT
#include "fast_function.h"

#include <structmember.h>

#include <memory>
#include <new>
#include <string>

#include "gil.h"

namespace anydml::python {

int FastFunction::visit(visitproc visit, void* arg) const {
  Py_VISIT(slow_path_.ptr());
  return 0;
}

void FastFunction::check_count(const std::string& name, std::size_t count, std::size_t expected) {
  if (count != expected) {
    raise(PyExc_TypeError,
          name + ": the number of arguments is " + std::to_string(count) + "; expected " + std::to_string(expected));
  }
}

nb::object FastFunction::call_slow_path(PyObject* const* values, std::size_t count) const {
  if (!slow_path_.is_valid()) {
    raise(PyExc_RuntimeError, "the function is called while Python is destroying it");
  }
  const nb::object function = slow_path_;
  PyObject* const result = in_python([&] { return PyObject_Vectorcall(function.ptr(), values, count, nullptr); });
  if (result == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(result);
}

namespace {

// Defined with Python's C API, because objects of nanobind's types cannot be called without a tuple of arguments.
struct FastFunctionObject {
  PyObject base;
  vectorcallfunc entry;
  FastFunction* function;
};

PyObject* call_fast_function(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) noexcept {
  try {
    if (names != nullptr && PyTuple_GET_SIZE(names) > 0) {
      raise(PyExc_TypeError, "keyword arguments are given; expected positional arguments only");
    }
    return reinterpret_cast<FastFunctionObject*>(self)
        ->function->call(values, static_cast<std::size_t>(PyVectorcall_NARGS(count)))
        .release()
        .ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace

nb::object make_callable(std::unique_ptr<FastFunction> function) {
  static PyTypeObject* const type = [] {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(FastFunctionObject, entry), READONLY, nullptr}, {}};
    const auto visit_all = [](PyObject* self, visitproc visit, void* arg) {
      Py_VISIT(Py_TYPE(self));
      const FastFunction* const function = reinterpret_cast<FastFunctionObject*>(self)->function;
      return function == nullptr ? 0 : function->visit(visit, arg);
    };
    const auto clear = [](PyObject* self) {
      if (FastFunction* const function = reinterpret_cast<FastFunctionObject*>(self)->function; function != nullptr) {
        function->clear();
      }
      return 0;
    };
    const auto release = [](PyObject* self) {
      PyTypeObject* const kind = Py_TYPE(self);
      PyObject_GC_UnTrack(self);
      delete reinterpret_cast<FastFunctionObject*>(self)->function;
      kind->tp_free(self);
      Py_DECREF(kind);
    };
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(static_cast<destructor>(release))},
                                  {Py_tp_traverse, reinterpret_cast<void*>(static_cast<traverseproc>(visit_all))},
                                  {Py_tp_clear, reinterpret_cast<void*>(static_cast<inquiry>(clear))},
                                  {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                  {Py_tp_members, members},
                                  {0, nullptr}};
    static PyType_Spec spec = {"anydml._core.FastFunction", sizeof(FastFunctionObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC, slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  if (type == nullptr) {
    throw nb::python_error();
  }
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) {
    throw nb::python_error();
  }
  auto* const self = reinterpret_cast<FastFunctionObject*>(object);
  self->entry = call_fast_function;
  self->function = function.release();
  return nb::steal(object);
}

}  // namespace anydml::python
