// SPDX-License-Identifier: MIT
// The parameters of a step that orders the elements of rows and writes the first K elements of each row and their
// indices.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/tensor.h"

namespace anydml {

struct SortLoop {
  std::int64_t size;
  std::int64_t input;  // strides, in bytes
  std::int64_t values;
  std::int64_t indices;
};

// Operands: the input, the values, the indices.
struct SortStep {
  DataType type;             // type of the input and the values
  std::uint32_t index_size;  // bytes of an index: 4 or 8
  std::uint32_t largest;     // 1 if the largest elements come first, 0 if the smallest elements come first
  std::uint32_t rank;        // number of loops over rows, at least 1
  std::int64_t rows;
  std::int64_t k;
  std::int64_t input_offset;  // in bytes, from the operand's address to the first element
  std::int64_t values_offset;
  std::int64_t indices_offset;
  SortLoop axis;            // along a row; its size is the input's, which is below 2^32 like any element count
  SortLoop rest[kMaxRank];  // over rows, in any order; the smallest stride in the input is innermost
};

}  // namespace anydml
