// SPDX-License-Identifier: MIT
// The parameters of a step that quantizes or dequantizes in blocks: QUANTIZE and DEQUANTIZE.
//
// The loops visit the elements of the output in row-major order. A dimension that is cut into blocks becomes two loops,
// one over the blocks and one within a block. Along the loop within a block, the scale and the zero point have stride
// 0. Scales and zero points are therefore broadcast within a block in the same way as along a whole dimension.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "base/shape.h"

namespace anydml {

inline constexpr std::uint32_t kMaxQuantizeLoops = 2 * kMaxRank;

// The operands of a step, in this order. The zero point may be absent.
enum QuantizeOperand : std::uint32_t { kQuantizeInput, kQuantizeScale, kQuantizeZero, kQuantizeOutput };
inline constexpr std::uint32_t kQuantizeOperands = 4;

struct QuantizeLoop {
  std::int64_t size;
  std::int64_t strides[kQuantizeOperands];  // in elements
};

struct QuantizeStep {
  DataType codes;    // INT8, UINT8, INT4 or UINT4: type of QUANTIZE's output or DEQUANTIZE's input
  DataType numbers;  // FLOAT32 or FLOAT16: type of the other tensor
  DataType scales;   // FLOAT32 or FLOAT16
  std::uint32_t is_quantize;
  std::uint32_t has_zero;  // whether there is a tensor of zero points
  std::int32_t zero;       // the zero point if has_zero is 0
  std::uint32_t rank;      // at least 1
  std::uint32_t unused;
  std::int64_t count;                     // elements
  QuantizeLoop loops[kMaxQuantizeLoops];  // the last is the innermost
};

// Whether the elements of an operand are consecutive in the order of the loops.
[[nodiscard]] inline bool is_in_order(const QuantizeStep& step, QuantizeOperand operand) {
  std::int64_t next = 1;
  for (std::uint32_t i = step.rank; i-- > 0; next *= step.loops[i].size) {
    if (step.loops[i].strides[operand] != next) {
      return false;
    }
  }
  return true;
}

}  // namespace anydml
