// SPDX-License-Identifier: MIT
// Reads the arguments of a call for the call cache, which call_cache.h explains.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "call_key.h"
#include "device_arrays.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// Builds the key of a call and collects the addresses of its operands. The add functions return false for arguments
// that cannot be part of a key; the call then takes the slow path. All of this runs in every small call, so it stays
// inline.
struct CallArguments {
  static constexpr std::size_t kMax = 24;  // operands

  CallKey key;
  std::size_t count = 0;
  std::size_t inputs = 0;
  void* memory[kMax];
  PyObject* given[kMax];
  std::uint16_t at[kMax];            // each operand's offset in the key
  const Library* library = nullptr;  // set if the operands are PyTorch tensors
  bool has_arrays = false;           // whether any operand is a NumPy array
  nb::object held[2];                // tuples that keep copied list items alive

  // Adds an operand of an operator. A number gets the type of the arrays in its group. None means absent.
  [[nodiscard]] bool add_input(PyObject* one) {
    if (PyArray_CheckExact(one)) {
      return add_array(one);
    }
    if (one == Py_None) {
      return add_other(one, Tag::nothing);
    }
    if (PyFloat_CheckExact(one) || PyLong_CheckExact(one)) {
      return add_other(one, Tag::number, PyFloat_CheckExact(one) ? 1 : 0);
    }
    return add_tensor(one);
  }

  // Adds an argument of a graph: an array or a constant. The value of a constant becomes part of the key.
  [[nodiscard]] bool add_graph_argument(PyObject* one) {
    if (PyArray_CheckExact(one)) {
      return add_array(one);
    }
    if (one == Py_None || PyFloat_CheckExact(one) || PyLong_CheckExact(one) || PyBool_Check(one) ||
        PyUnicode_CheckExact(one)) {
      return key.add_value(one);
    }
    return add_tensor(one);
  }

  // None and True can request a new array. None may also stand for an absent output.
  [[nodiscard]] bool add_out(PyObject* one) {
    if (one == Py_None || one == Py_True) {
      return add_other(one, one == Py_None ? Tag::nothing : Tag::yes);
    }
    return PyArray_CheckExact(one) ? PyArray_ISWRITEABLE(as_array(one)) && add_array(one) : add_tensor(one);
  }

  // Adds one output, or a list of outputs.
  [[nodiscard]] bool add_outs(PyObject* out) {
    inputs = count;
    if (!PyList_CheckExact(out) && !PyTuple_CheckExact(out)) {
      return add_out(out);
    }
    return add_each(out, [&](PyObject* one) { return add_out(one); });
  }

  // Adds the items of a list or tuple. Another thread may change a list during the call, so its items are copied.
  template <class Take>
  [[nodiscard]] bool add_each(PyObject* all, Take take) {
    if (PyList_CheckExact(all)) {
      nb::object& items = held[held[0].is_valid() ? 1 : 0];
      items = nb::steal(PyList_AsTuple(all));
      if (!items.is_valid()) {
        throw nb::python_error();
      }
      all = items.ptr();
    }
    bool taken = key.add(Tag::tuple, static_cast<std::uint64_t>(PyTuple_GET_SIZE(all)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all) && taken; ++i) {
      taken = take(PyTuple_GET_ITEM(all, i));
    }
    return taken;
  }

  [[nodiscard]] Tag tag(std::size_t i) const { return static_cast<Tag>(key.words()[at[i]] & 0xff); }

 private:
  [[nodiscard]] bool add(PyObject* one, void* its_memory) {
    if (count == kMax) {
      return false;
    }
    memory[count] = its_memory;
    given[count] = one;
    at[count++] = static_cast<std::uint16_t>(key.size());
    return true;
  }
  [[nodiscard]] bool add_other(PyObject* one, Tag tag, std::uint64_t more = 0) {
    return add(one, nullptr) && key.add(tag, more);
  }
  [[nodiscard]] bool add_array(PyObject* one) {
    has_arrays = true;
    return library == nullptr && add(one, PyArray_DATA(as_array(one))) && key.add_array(as_array(one));
  }
  // Adds a CPU tensor of PyTorch's own type, if its memory contains exactly its values (no lazy negation).
  [[nodiscard]] bool add_tensor(PyObject* one) {
    if (has_arrays) {
      return false;
    }
    DeviceOperand operand;
    operand.locate_plain(one);
    if (!operand.viewed || (library == nullptr && operand.library->is_watched())) {
      return false;
    }
    library = operand.library;
    return add(one, operand.memory()) && key.add_tensor(dlpack::type_of(operand.view.type), operand.view.rank,
                                                        operand.operand.sizes, operand.operand.strides);
  }
};

}  // namespace anydml::python
