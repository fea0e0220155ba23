// SPDX-License-Identifier: MIT
// The key of a call in the call cache (call_cache.h), as a sequence of words. Arrays contribute their types, sizes and
// strides; all other arguments contribute their types and values. Two calls with the same key differ only in the memory
// of their operands. Objects of unknown classes, and objects that may change unnoticed, cannot be part of a key.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "errors.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

enum class Tag : std::uint8_t {
  nothing = 1,
  yes,
  no,
  integer,
  real,
  text,
  list,
  tuple,
  array,
  tensor,
  number,  // a number among the operands, whose value is not part of the key
  scalar,
  type,
  element_type,
  nested_operator,
};

class CallKey {
 public:
  static constexpr std::size_t kCapacity = 256;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const std::uint64_t* words() const { return words_; }

  [[nodiscard]] bool operator==(const CallKey& other) const { return is(other.words_, other.count_); }
  [[nodiscard]] bool is(const std::uint64_t* words, std::size_t count) const {
    return count == count_ && std::memcmp(words, words_, count * sizeof(*words)) == 0;
  }
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t hash = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      hash = (hash ^ words_[i]) * 0x9e37'79b9'7f4a'7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }

  [[nodiscard]] bool add(Tag tag, std::uint64_t more = 0) {
    return add_word(static_cast<std::uint64_t>(tag) | more << 8);
  }

  // Adds an array of NumPy's own class in native byte order.
  [[nodiscard]] bool add_array(PyArrayObject* array) {
    const int type = PyArray_TYPE(array);
    const int rank = PyArray_NDIM(array);
    if (!is_taken(type) || rank > kMaxDimensions || !PyArray_ISNOTSWAPPED(array) ||
        !has_room(1 + 2 * static_cast<std::size_t>(rank)) || !has_whole_strides(array)) {
      return false;
    }
    words_[count_++] = static_cast<std::uint64_t>(Tag::array) | static_cast<std::uint64_t>(type) << 8 |
                       static_cast<std::uint64_t>(rank) << 16;
    add_numbers(PyArray_DIMS(array), rank);
    add_numbers(PyArray_STRIDES(array), rank);
    return true;
  }

  // Adds a tensor from another library, with strides in elements.
  [[nodiscard]] bool add_tensor(DataType type, int rank, const std::int64_t* sizes, const std::int64_t* strides) {
    if (type == DataType::unknown || rank < 0 || rank > kMaxDimensions ||
        !has_room(1 + 2 * static_cast<std::size_t>(rank))) {
      return false;
    }
    words_[count_++] = static_cast<std::uint64_t>(Tag::tensor) | static_cast<std::uint64_t>(type) << 8 |
                       static_cast<std::uint64_t>(rank) << 16;
    add_numbers(sizes, rank);
    add_numbers(strides, rank);
    return true;
  }

  // Adds any other object by its type and value. Returns false for an object that may change before the next call.
  [[nodiscard]] bool add_value(PyObject* value, int depth = 0) {
    if (value == Py_None) {
      return add(Tag::nothing);
    }
    if (PyLong_CheckExact(value)) {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
      return overflow == 0 && add(Tag::integer) && add_word(static_cast<std::uint64_t>(number));
    }
    if (PyFloat_CheckExact(value)) {
      return add(Tag::real) && add_word(std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(value)));
    }
    if (PyUnicode_CheckExact(value)) {
      return add_text(value);
    }
    if (PyBool_Check(value)) {
      return add(value == Py_True ? Tag::yes : Tag::no);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
      const Py_ssize_t count = Py_SIZE(value);
      bool taken =
          depth < kDepth && add(PyList_CheckExact(value) ? Tag::list : Tag::tuple, static_cast<std::uint64_t>(count));
      for (Py_ssize_t i = 0; i < count && taken; ++i) {
        taken = add_value(PySequence_Fast_GET_ITEM(value, i), depth + 1);
      }
      return taken;
    }
    return add_other(value, depth);
  }

  // Reads the type, sizes and strides of an array or a tensor from the words at an offset. A bool counts as a byte.
  void read(std::size_t at, Operand& operand) const;

 private:
  static constexpr int kDepth = 4;
  static constexpr std::uint64_t kTaken = [] {
    std::uint64_t mask = std::uint64_t{1} << NPY_BOOL;
    for (const TypePair& pair : kTypes) {
      mask |= std::uint64_t{1} << pair.numpy;
    }
    return mask;
  }();
  [[nodiscard]] static bool is_taken(int numpy) {  // negative type numbers become large unsigned numbers
    return static_cast<unsigned>(numpy) < 64 && (kTaken >> numpy & 1) != 0;
  }

  // Fields of packed structures may have strides that are not whole elements. Only the slow path copies them.
  [[nodiscard]] static bool has_whole_strides(PyArrayObject* array) {
    const npy_intp size = PyArray_ITEMSIZE(array);
    for (int i = 0; i < PyArray_NDIM(array); ++i) {
      if (PyArray_DIM(array, i) > 1 && PyArray_STRIDE(array, i) % size != 0) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool has_room(std::size_t words) const { return count_ + words <= kCapacity; }
  [[nodiscard]] bool add_word(std::uint64_t word) {
    const bool fits = has_room(1);
    if (fits) {
      words_[count_++] = word;
    }
    return fits;
  }
  template <class T>
  void add_numbers(const T* numbers, int count) {
    for (int i = 0; i < count; ++i) {
      words_[count_++] = static_cast<std::uint64_t>(numbers[i]);
    }
  }

  [[nodiscard]] bool add_bytes(const void* bytes, std::size_t size) {
    const std::size_t words = (size + 7) / 8;
    if (!has_room(words)) {
      return false;
    }
    if (words > 0) {
      words_[count_ + words - 1] = 0;
      std::memcpy(words_ + count_, bytes, size);
    }
    count_ += words;
    return true;
  }

  [[nodiscard]] bool add_text(PyObject* text) {
    if (!PyUnicode_IS_COMPACT_ASCII(text)) {
      return false;
    }
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
    return add(Tag::text, size) && add_bytes(PyUnicode_DATA(text), size);
  }

  [[nodiscard]] bool add_other(PyObject* value, int depth);

  // Adds an anydml.Operator: its name and its attributes.
  [[nodiscard]] bool add_operator(PyObject* value, int depth);

  // Objects of this class have two slots, which are read directly from memory.
  struct OperatorType {
    PyTypeObject* type = nullptr;
    Py_ssize_t name = 0;
    Py_ssize_t attributes = 0;
  };

  // This is never released. The type is null until the package has defined the class.
  static const OperatorType& operator_type();

  std::size_t count_ = 0;
  std::uint64_t words_[kCapacity];  // the words after the first count_ are uninitialized
};

}  // namespace anydml::python
