// SPDX-License-Identifier: MIT
// The short way of both modulus functions: whole arrays are given to the core at once, where NumPy has nothing to see
// to. NumPy's arrays, and PyTorch's tensors in the CPU's memory, of one type, or one of them beside a Python number.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "device_arrays.h"
#include "device_call.h"
#include "faults.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"

namespace anydml::python {

inline constexpr npy_intp kWorthReleasing = 4096;  // elements from which others may run Python meanwhile

using ModulusFunction = int (*)(const anydml_tensor*, const anydml_tensor*, const anydml_tensor*);
inline constexpr ModulusFunction kFunctions[] = {anydml_modulus_floor, anydml_modulus_truncate};
inline constexpr const char* kNames[] = {"modulus_floor", "modulus_truncate"};
inline constexpr const char* kOperators[] = {"ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"};

inline bool numpy_two = false;  // before it, the value of a number took part in choosing the type

inline bool broadcast(const Operand& a, const Operand& b, int& rank, npy_intp* sizes) {
  rank = std::max(a.tensor.rank, b.tensor.rank);
  for (int i = 0; i < rank; ++i) {
    const auto size_of = [&](const Operand& of) {
      const int at = i - (rank - of.tensor.rank);
      return at < 0 ? std::int64_t{1} : of.sizes[at];
    };
    const std::int64_t x = size_of(a);
    const std::int64_t y = size_of(b);
    if (x != y && x != 1 && y != 1) {
      return false;
    }
    sizes[i] = x == 1 ? y : x;
  }
  return true;
}

inline int modulus_in_parts(int which, const Operand* operands) {
  Part whole;
  const anydml_tensor tensors[] = {operands[0].tensor, operands[1].tensor, operands[2].tensor};
  whole.take(tensors, 3);  // they were broadcast
  return whole.run([&](const anydml_tensor* part) { return kFunctions[which](&part[0], &part[1], &part[2]); });
}

inline nb::object not_here() { return nb::borrow(Py_NotImplemented); }

// Runs over a, b and the result's array, which was given or made. NotImplemented where the ufunc has to see to it; a
// tuple (result,) where NumPy is to be told of operands without an answer.
inline nb::object run_modulus(int which, const Operand* operands, npy_intp count, const nb::object& result,
                              bool given) {
  const auto type = static_cast<DataType>(operands[2].tensor.type);
  const bool large = is_too_large(count);
  if (given) {
    const bool over_a = share_memory(operands[2], operands[0]);
    const bool over_b = share_memory(operands[2], operands[1]);
    if ((over_a || over_b) && is_float_type(type)) {
      return not_here();  // which of the NaNs were there before could not be told
    }
    // A part must not be written where another is still to be read, or written. NumPy sees to it.
    if (large && ((over_a && !is_in_place(operands[0], operands[2])) ||
                  (over_b && !is_in_place(operands[1], operands[2])) || !has_nested_places(operands[2]))) {
      return not_here();
    }
  }
  bool suspicious = false;
  int code = ANYDML_OK;
  const auto run = [&] {
    suspicious = !is_float_type(type) && count > 0 && any_zero(operands[1]);
    code = large ? modulus_in_parts(which, operands)
                 : kFunctions[which](&operands[0].tensor, &operands[1].tensor, &operands[2].tensor);
    suspicious = suspicious || (is_float_type(type) && any_nan(operands[2]));
  };
  if (count >= kWorthReleasing) {
    const GilReleased released;
    run();
  } else {
    run();
  }
  if (code != ANYDML_OK) {
    if (large) {
      raise_last(code);  // a part may be written already, over an operand
    }
    return not_here();  // the ufunc says what NumPy would
  }
  return suspicious ? nb::object(nb::make_tuple(result)) : result;
}

// At least one is an array of NumPy's own type.
inline nb::object try_numpy(int which, nb::handle a, nb::handle b, nb::handle out) {
  Operand operands[3];
  const bool a_is_array = PyArray_CheckExact(a.ptr());
  const bool b_is_array = PyArray_CheckExact(b.ptr());
  if ((a_is_array && !operands[0].take(as_array(a.ptr()))) || (b_is_array && !operands[1].take(as_array(b.ptr())))) {
    return not_here();
  }
  const DataType type = static_cast<DataType>(operands[a_is_array ? 0 : 1].tensor.type);
  const int numpy_type = PyArray_TYPE(as_array(a_is_array ? a.ptr() : b.ptr()));
  if (a_is_array && b_is_array) {
    if (numpy_type != PyArray_TYPE(as_array(b.ptr()))) {
      return not_here();
    }
  } else if (!numpy_two || !operands[a_is_array ? 1 : 0].take_number(a_is_array ? b.ptr() : a.ptr(), type)) {
    return not_here();
  }
  int rank = 0;
  npy_intp sizes[kMostDimensions];
  if (!broadcast(operands[0], operands[1], rank, sizes) || rank == 0) {
    return not_here();
  }
  nb::object result;
  if (out.is_none()) {
    // Packed as the larger operand is, C order otherwise.
    PyArrayObject* like = as_array(a_is_array && operands[0].tensor.rank == rank ? a.ptr()
                                   : b_is_array                                  ? b.ptr()
                                                                                 : a.ptr());
    const bool same = PyArray_NDIM(like) == rank && PyArray_CompareLists(PyArray_DIMS(like), sizes, rank);
    const bool fortran = same && PyArray_IS_F_CONTIGUOUS(like) && !PyArray_IS_C_CONTIGUOUS(like);
    result = nb::steal(PyArray_EMPTY(rank, sizes, numpy_type, fortran ? 1 : 0));
    if (!result.is_valid()) {
      throw nb::python_error();
    }
  } else {
    PyArrayObject* given = as_array(out.ptr());
    if (!PyArray_CheckExact(out.ptr()) || PyArray_TYPE(given) != numpy_type || PyArray_NDIM(given) != rank ||
        !PyArray_CompareLists(PyArray_DIMS(given), sizes, rank) || !PyArray_ISWRITEABLE(given)) {
      return not_here();
    }
    result = nb::borrow(out);
  }
  if (!operands[2].take(as_array(result.ptr()))) {
    return not_here();
  }
  return run_modulus(which, operands, PyArray_SIZE(as_array(result.ptr())), result, !out.is_none());
}

// A tensor of PyTorch's own type that PyTorch shows as it lies in the CPU's memory. Others go the long way, which says
// what is wrong with them.
inline bool take_tensor(DeviceOperand& one) {
  if (one.library == nullptr || !one.library->is_torch || one.library->is_subclass || !one.viewed ||
      one.device.type != dlpack::kCpu || dlpack::type_of(one.view.type) == DataType::unknown ||
      one.view.rank > kMostDimensions || !(one.fresh || one.is_plain_torch())) {
    return false;
  }
  one.read_plain();
  return true;
}

// No array is NumPy's. The operands are located: a, b, out.
inline nb::object try_torch(int which, DeviceCall& call) {
  DeviceOperand& a = call.operand(0);
  DeviceOperand& b = call.operand(1);
  DeviceOperand& out = call.operand(2);
  const bool a_is_tensor = take_tensor(a);
  const bool b_is_tensor = take_tensor(b);
  if (!a_is_tensor && !b_is_tensor) {
    return not_here();
  }
  const DeviceOperand& first = a_is_tensor ? a : b;
  const auto type = static_cast<DataType>(first.operand.tensor.type);
  if (a_is_tensor && b_is_tensor) {
    if (type != static_cast<DataType>(b.operand.tensor.type)) {
      return not_here();
    }
  } else if (!numpy_two || !(a_is_tensor ? b : a).operand.take_number((a_is_tensor ? b : a).given.ptr(), type)) {
    return not_here();
  }
  int rank = 0;
  npy_intp sizes[kMostDimensions];
  if (!broadcast(a.operand, b.operand, rank, sizes)) {
    return not_here();
  }
  const auto has_shape = [&](const DeviceOperand& one) {
    return one.operand.tensor.rank == rank && std::equal(sizes, sizes + rank, one.operand.sizes);
  };
  nb::object result = nb::borrow(out.given);
  const bool given = !out.given.is_none();
  if (!given) {
    const DeviceOperand& like = b_is_tensor && !(a_is_tensor && has_shape(a)) ? b : first;
    result = has_shape(like) ? in_python([&] { return like.library->empty_like(like.given); })
                             : call.new_array(like, type, rank, sizes);
    out.fresh = true;
    out.locate(result);
  }
  if (!take_tensor(out) || static_cast<DataType>(out.operand.tensor.type) != type || !has_shape(out)) {
    return not_here();
  }
  Operand operands[3] = {a.operand, b.operand, out.operand};
  npy_intp count = 1;
  for (int i = 0; i < rank; ++i) {
    count *= sizes[i];
  }
  for (Operand& one : operands) {  // those of this copy of it
    one.tensor.sizes = one.sizes;
    one.tensor.strides = one.strides;
    one.tensor.data = one.tensor.rank == 0 && one.tensor.data == nullptr ? one.scalar : one.tensor.data;
  }
  return run_modulus(which, operands, count, result, given);
}

// The result; NotImplemented where the ufunc has to see to it; a tuple (result,) where NumPy is to be told of operands
// without an answer.
inline nb::object try_modulus(int which, nb::handle a, nb::handle b, nb::handle out) {
  if (which < 0 || which >= static_cast<int>(std::size(kFunctions))) {
    raise(PyExc_ValueError, "unknown modulus " + std::to_string(which));
  }
  if (PyArray_CheckExact(a.ptr()) || PyArray_CheckExact(b.ptr())) {
    return try_numpy(which, a, b, out);
  }
  const auto is_torch_subclass = [](nb::handle array) {  // which PyTorch has to be asked of first
    const Library* library = library_of(array.ptr());
    return library != nullptr && library->is_subclass;
  };
  if (is_torch_subclass(a) || is_torch_subclass(b) || is_torch_subclass(out)) {
    return not_here();
  }
  const nb::handle inputs[] = {a, b};
  DeviceCall call;
  return call.locate(inputs, 2, &out, 1) ? call.run(kOperators[which], Attributes(), nb::none())[0]
                                         : try_torch(which, call);
}

}  // namespace anydml::python
