// SPDX-License-Identifier: MIT
// Converts NumPy arrays and Python numbers to tensors for the C API. All of this is inline, because small calls use it.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/element.h"
#include "base/float_bits.h"
#include "elements.h"
#include "python_api.h"

namespace anydml::python {

inline constexpr int kMaxDimensions = 8;
inline constexpr std::size_t kMaxInputs = 4;  // more than any operator accepts; the C API checks the exact number

// NumPy's type numbers; LONG and LONGLONG are equivalent here.
struct TypePair {
  int numpy;
  DataType type;
};
inline constexpr TypePair kTypes[] = {
    {NPY_INT8, DataType::INT8},        {NPY_UINT8, DataType::UINT8},  {NPY_INT16, DataType::INT16},
    {NPY_UINT16, DataType::UINT16},    {NPY_INT, DataType::INT32},    {NPY_UINT, DataType::UINT32},
    {NPY_LONG, DataType::INT64},       {NPY_ULONG, DataType::UINT64}, {NPY_LONGLONG, DataType::INT64},
    {NPY_ULONGLONG, DataType::UINT64}, {NPY_HALF, DataType::FLOAT16}, {NPY_FLOAT, DataType::FLOAT32},
    {NPY_DOUBLE, DataType::FLOAT64},
};
inline constexpr std::size_t kTypeCount = std::size(kTypes);

inline DataType type_of(int numpy) {
  for (const TypePair& pair : kTypes) {
    if (pair.numpy == numpy) {
      return pair.type;
    }
  }
  return DataType::unknown;
}

inline PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// The tensor of an array, with strides in elements.
struct Operand {
  anydml_tensor tensor{};
  std::int64_t sizes[kMaxDimensions] = {};
  std::int64_t strides[kMaxDimensions] = {};
  alignas(8) char scalar[8] = {};

  // Returns false if the core cannot represent the array as a tensor.
  bool take(PyArrayObject* array) {
    const DataType type = type_of(PyArray_TYPE(array));
    const int rank = PyArray_NDIM(array);
    if (type == DataType::unknown || rank > kMaxDimensions || !PyArray_ISNOTSWAPPED(array)) {
      return false;
    }
    const auto size = static_cast<npy_intp>(element_size(type));
    bool odd = false;
    bool empty = false;
    for (int i = 0; i < rank; ++i) {
      sizes[i] = PyArray_DIM(array, i);
      // Nothing steps along a dimension of size 1, so its stride in NumPy may be any number.
      const npy_intp step = sizes[i] == 1 ? 0 : PyArray_STRIDE(array, i);
      odd |= step % size != 0;
      empty |= sizes[i] == 0;
      strides[i] = step / size;
    }
    if (empty) {
      std::fill_n(strides, rank, 0);  // nothing steps along an empty array either
    } else if (odd) {
      return false;
    }
    tensor = {static_cast<anydml_type>(type), rank, sizes, strides, PyArray_DATA(array)};
    return true;
  }

  // Describes new elements in C order, without gaps.
  void set_packed(DataType type, int rank, const std::int64_t* shape, void* data = nullptr) {
    std::int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      sizes[i] = shape[i];
      strides[i] = stride;
      stride *= shape[i];
    }
    tensor = {static_cast<anydml_type>(type), rank, sizes, strides, data};
  }

  // Accepts packed four-bit elements. _four_bits.py has checked that the number of bytes matches the shape.
  void take_four_bits(DataType type, const std::vector<std::int64_t>& shape, PyArrayObject* bytes) {
    const std::size_t rank = std::min<std::size_t>(shape.size(), kMaxDimensions);
    std::copy_n(shape.begin(), rank, sizes);
    tensor = {static_cast<anydml_type>(type), static_cast<int>(shape.size()), sizes, nullptr, PyArray_DATA(bytes)};
  }

  // Converts a Python number to the type of the arrays that it is combined with, if the number fits.
  bool take_number(PyObject* number, DataType type) {
    tensor = {static_cast<anydml_type>(type), 0, nullptr, nullptr, scalar};
    if (is_float_type(type)) {
      double value = 0;
      if (PyFloat_CheckExact(number)) {
        value = PyFloat_AS_DOUBLE(number);
      } else if (PyLong_CheckExact(number)) {
        value = PyLong_AsDouble(number);
        if (PyErr_Occurred() != nullptr) {
          PyErr_Clear();
          return false;
        }
      } else {
        return false;
      }
      return visit_type(type, [&]<class T>() {
        if constexpr (is_float<T>) {
          T element;
          if constexpr (sizeof(T) == sizeof(double)) {
            element = value;
          } else {
            element = round_to<T>(value);
          }
          std::memcpy(scalar, &element, sizeof(element));
          return !is_infinite(element) || std::isinf(value);  // NumPy warns if a finite number becomes infinite
        } else {
          return false;
        }
      });
    }
    if (!PyLong_CheckExact(number)) {
      return false;
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow != 0) {
      return false;
    }
    return visit_type(type, [&]<class T>() {
      if constexpr (!is_float<T>) {
        const auto element = static_cast<T>(value);
        std::memcpy(scalar, &element, sizeof(element));
        return static_cast<long long>(element) == value && (std::is_signed_v<T> || value >= 0);
      } else {
        return false;
      }
    });
  }
};

}  // namespace anydml::python
