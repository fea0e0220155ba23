// SPDX-License-Identifier: MIT
#include "watch.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gil.h"
#include "operand.h"

namespace anydml::python {
namespace {

// ---- Fingerprints of arrays -----------------------------------------------------------------------------------------

// A hash of bytes in eight lanes. Each step and the final mixing map every word one to one, so a change to a single
// word always changes the hash. The rotation keeps two changes in the highest bits from canceling each other out.
class Fingerprint {
 public:
  void add(std::uint64_t word) { state_ = mixed(state_, word); }

  void add_bytes(const void* data, std::size_t bytes) {
    constexpr std::size_t kLanes = 8;
    std::uint64_t lanes[kLanes] = {};
    const auto* at = static_cast<const unsigned char*>(data);
    std::size_t left = bytes;
    for (; left >= sizeof(lanes); left -= sizeof(lanes), at += sizeof(lanes)) {
      std::uint64_t words[kLanes];
      std::memcpy(words, at, sizeof(words));
      for (std::size_t i = 0; i < kLanes; ++i) {
        lanes[i] = mixed(lanes[i], words[i]);
      }
    }
    for (const std::uint64_t lane : lanes) {
      add(lane);
    }
    for (; left > 0; --left, ++at) {
      add(*at);
    }
  }

  [[nodiscard]] std::uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  static std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
    return std::rotl((state ^ word) * 0x9e37'79b9'7f4a'7c15, 29);
  }

  std::uint64_t state_ = 0x2545'f491'4f6c'dd1d;
};

}  // namespace

std::uint64_t fingerprint(PyArrayObject* array) {
  constexpr std::size_t kMany = 1 << 16;  // the GIL is released for arrays of at least this many bytes
  Fingerprint created;
  created.add(static_cast<std::uint64_t>(PyArray_TYPE(array)));
  created.add(static_cast<std::uint64_t>(PyArray_DESCR(array)->byteorder));
  created.add(static_cast<std::uint64_t>(PyArray_NDIM(array)));
  for (int i = 0; i < PyArray_NDIM(array); ++i) {
    created.add(static_cast<std::uint64_t>(PyArray_DIM(array, i)));
    created.add(static_cast<std::uint64_t>(PyArray_STRIDE(array, i)));
  }
  nb::object packed = nb::borrow(reinterpret_cast<PyObject*>(array));
  if (!PyArray_ISONESEGMENT(array)) {
    packed = nb::steal(PyArray_NewCopy(array, NPY_CORDER));
    if (!packed.is_valid()) {
      throw nb::python_error();
    }
  }
  const void* const data = PyArray_DATA(as_array(packed.ptr()));
  const auto bytes = static_cast<std::size_t>(PyArray_NBYTES(as_array(packed.ptr())));
  if (bytes >= kMany) {
    const GilReleased released;
    created.add_bytes(data, bytes);
  } else {
    created.add_bytes(data, bytes);
  }
  return created.value();
}

namespace {

// ---- Comparison -----------------------------------------------------------------------------------------------------

// The kinds of descriptions; each is a tuple that starts with its kind. _watch.py lists them with their other entries.
enum class Watched { value, weak, again, sequence, mapping, object, names, cell, array, token };

class Watch {
 public:
  // `arguments` is the list of a call's arguments, or null. Numbers among the roots are indices into this list.
  // `contents` tells whether to compare the elements of arrays.
  Watch(PyObject* same, PyObject* arguments, bool contents) : same_(same), arguments_(arguments), contents_(contents) {}

  // `roots` has pairs of an object and its description. A weak reference stands for an object that may have been
  // destroyed, and a number stands for an argument.
  [[nodiscard]] bool holds(PyObject* roots) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(roots); ++i) {
      PyObject* const pair = PyTuple_GET_ITEM(roots, i);
      nb::object root = nb::borrow(PyTuple_GET_ITEM(pair, 0));
      if (PyWeakref_Check(root.ptr())) {
        root = referent(root.ptr());
        if (root.is_none()) {
          continue;
        }
      } else if (PyLong_CheckExact(root.ptr())) {
        if (arguments_ == nullptr) {
          return false;
        }
        root = nb::borrow(PyList_GetItem(arguments_, PyLong_AsSsize_t(root.ptr())));
      }
      if (!is(PyTuple_GET_ITEM(pair, 1), root.ptr())) {
        return false;
      }
    }
    return true;
  }

 private:
  static nb::object referent(PyObject* weak) {
    PyObject* const found = PyObject_CallNoArgs(weak);
    if (found == nullptr) {
      throw nb::python_error();
    }
    return nb::steal(found);
  }

  // `found` is the object, or null if it is absent. The description of an absent object is None.
  [[nodiscard]] bool is(PyObject* expected, PyObject* found) {
    if (found == nullptr || expected == Py_None) {
      return found == nullptr && expected == Py_None;
    }
    if (Py_EnterRecursiveCall(" while a graph looks for changes") != 0) {
      throw nb::python_error();
    }
    struct Leave {
      ~Leave() { Py_LeaveRecursiveCall(); }
    } const leave;
    PyObject* const first = PyTuple_GET_ITEM(expected, 1);
    switch (static_cast<Watched>(PyLong_AsLong(PyTuple_GET_ITEM(expected, 0)))) {
      case Watched::value:
        return first == found ||
               answers_yes(in_python([&] { return PyObject_CallFunctionObjArgs(same_, first, found, nullptr); }));
      case Watched::weak:
        return referent(first).ptr() == found;
      case Watched::again:
        return seen_.at(PyLong_AsSize_t(first)) == found;
      case Watched::sequence:
        return is_type(first, found) && is_sequence(PyTuple_GET_ITEM(expected, 2), found);
      case Watched::mapping:
        return is_type(first, found) && PyDict_GET_SIZE(found) == PyTuple_GET_SIZE(PyTuple_GET_ITEM(expected, 2)) &&
               has_items(PyTuple_GET_ITEM(expected, 2), PyTuple_GET_ITEM(expected, 3), found);
      case Watched::object:
        return is_type(first, found) && is_object(expected, found);
      case Watched::names:
        return has_items(first, PyTuple_GET_ITEM(expected, 2), found);
      case Watched::cell: {
        const nb::object content = nb::steal(PyCell_Get(found));
        return is(first, content.ptr());
      }
      case Watched::array:
        seen_.push_back(found);
        if (!PyArray_Check(found)) {
          return false;
        }
        return !contents_ || fingerprint(as_array(found)) == PyLong_AsUnsignedLongLong(first);
      case Watched::token: {
        const nb::object token = nb::steal(in_python([&] { return PyObject_CallOneArg(first, found); }));
        PyObject* const before = PyTuple_GET_ITEM(expected, 2);
        return answers_yes(
            !token.is_valid() ? nullptr : in_python([&] { return PyObject_RichCompare(token.ptr(), before, Py_EQ); }));
      }
    }
    return false;
  }

  // Compares the object's type, and registers the object, so that later descriptions can refer to it.
  [[nodiscard]] bool is_type(PyObject* type, PyObject* found) {
    if (!PyTuple_Check(found)) {  // a tuple need only be equal, not the same object
      seen_.push_back(found);
    }
    return reinterpret_cast<PyObject*>(Py_TYPE(found)) == type;
  }

  [[nodiscard]] bool is_sequence(PyObject* parts, PyObject* found) {
    const nb::object items = PyList_Check(found) ? nb::steal(PyList_AsTuple(found)) : nb::borrow(found);
    if (!items.is_valid()) {
      throw nb::python_error();
    }
    bool holds = PyTuple_GET_SIZE(parts) == PyTuple_GET_SIZE(items.ptr());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts) && holds; ++i) {
      holds = is(PyTuple_GET_ITEM(parts, i), PyTuple_GET_ITEM(items.ptr(), i));
    }
    return holds;
  }

  // Compares the items that have these keys in a dict or in the read-only mapping of a class.
  [[nodiscard]] bool has_items(PyObject* keys, PyObject* parts, PyObject* found) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i) {
      PyObject* const key = PyTuple_GET_ITEM(keys, i);
      nb::object item;
      if (PyDict_Check(found)) {
        item = nb::borrow(PyDict_GetItemWithError(found, key));
      } else {
        item = nb::steal(PyObject_GetItem(found, key));
      }
      if (!item.is_valid() && PyErr_Occurred() != nullptr) {
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) {
          throw nb::python_error();
        }
        PyErr_Clear();
      }
      if (!is(PyTuple_GET_ITEM(parts, i), item.ptr())) {
        return false;
      }
    }
    return true;
  }

  // The description of an object contains the number of attributes in its dict (-1 without a dict), their names and
  // their descriptions, then the names and descriptions of attributes stored elsewhere, such as in slots.
  [[nodiscard]] bool is_object(PyObject* expected, PyObject* found) {
    if (const Py_ssize_t count = PyLong_AsSsize_t(PyTuple_GET_ITEM(expected, 2)); count >= 0) {
      const nb::object dict = nb::steal(PyObject_GenericGetDict(found, nullptr));
      if (!dict.is_valid()) {
        throw nb::python_error();
      }
      if (PyDict_GET_SIZE(dict.ptr()) != count ||
          !has_items(PyTuple_GET_ITEM(expected, 3), PyTuple_GET_ITEM(expected, 4), dict.ptr())) {
        return false;
      }
    }
    PyObject* const names = PyTuple_GET_ITEM(expected, 5);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
      const nb::object attribute = nb::steal(PyObject_GenericGetAttr(found, PyTuple_GET_ITEM(names, i)));
      if (!attribute.is_valid()) {
        PyErr_Clear();
      }
      if (!is(PyTuple_GET_ITEM(PyTuple_GET_ITEM(expected, 6), i), attribute.ptr())) {
        return false;
      }
    }
    return true;
  }

  // Converts the result of a comparison in Python. An object that cannot be compared counts as changed.
  static bool answers_yes(PyObject* result) {
    const nb::object answer = nb::steal(result);
    const int truth = answer.is_valid() ? PyObject_IsTrue(answer.ptr()) : -1;
    if (truth < 0) {
      if (PyErr_ExceptionMatches(PyExc_Exception) == 0) {
        throw nb::python_error();
      }
      PyErr_Clear();
    }
    return truth > 0;
  }

  PyObject* same_;
  PyObject* arguments_;
  bool contents_;
  std::vector<PyObject*> seen_;  // only compared, never dereferenced
};

}  // namespace

bool watch_holds(nb::handle tree, PyObject* arguments, bool contents) {
  Watch watch(PyTuple_GET_ITEM(tree.ptr(), 0), arguments, contents);
  return watch.holds(PyTuple_GET_ITEM(tree.ptr(), 1));
}

}  // namespace anydml::python
