// SPDX-License-Identifier: MIT
// One unit of a recurrent network at one time step. Everything is computed in FLOAT32, and each operation is rounded. x
// is the sum of products with the input, h is the sum of products with the hidden state, and wb and rb are their
// biases.
#pragma once

#include <cstdint>

#include "base/scalar.h"
#include "ops/scalar/quantize.h"

namespace anydml {

enum class RecurrentFunction : std::uint32_t {
#define ANYDML_RECURRENT_ACTIVATION(op, definition) definition,
#include "ops/recurrent/recurrent.def"
};

// An activation and its attributes, in the order of its struct.
struct RecurrentActivation {
  RecurrentFunction function;
  f32 values[2];

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Attributes attributes() const {
    return {{Scalar(f64{values[0]}), Scalar(f64{values[1]}), Scalar(), Scalar()}};
  }
};

// The sum that is passed to the activation of a gate: ((x + h) + peephole * cell) + (wb + rb). Absent tensors are left
// out.
struct GateSum {
  bool has_peephole;
  bool has_bias;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 operator()(f32 x, f32 h, f32 peephole, f32 cell, f32 bias) const {
    f32 sum = x + h;
    if (has_peephole) {
      const f32 product = peephole * cell;
      sum = sum + product;
    }
    return has_bias ? sum + bias : sum;
  }
};

// The sum for the last gate of a GRU whose LinearBeforeReset is set: (x + reset * (h + rb)) + wb.
struct ResetSum {
  bool has_bias;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 operator()(f32 x, f32 reset, f32 h, f32 wb, f32 rb) const {
    const f32 inner = has_bias ? h + rb : h;
    const f32 product = reset * inner;
    const f32 sum = x + product;
    return has_bias ? sum + wb : sum;
  }
};

// The bounds -threshold and threshold, in the form that ELEMENT_WISE_CLIP uses.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Attributes clip_bounds(f32 threshold) {
  return {{Scalar(-f64{threshold}), Scalar(f64{threshold}), Scalar(), Scalar()}};
}

// The scale and the zero point that round a row of hidden states to 8 bits, as DYNAMIC_QUANTIZE_LINEAR computes them
// from the smallest and the largest element. They are NaN if an element is.
struct StateScale {
  f32 scale;
  u8 zero;
};
[[nodiscard]] ANYDML_HOST_DEVICE constexpr StateScale state_scale(f32 lowest, f32 highest) {
  constexpr f32 kMost = 255;
  const f32 low = lowest > 0.0F ? 0.0F : lowest;
  const f32 high = highest < 0.0F ? 0.0F : highest;
  const f32 range = high - low;
  const f32 scale = range / kMost;
  const f32 below = low / scale;
  const f32 zero = 0.0F - below;
  const f32 bounded = zero < 0.0F ? 0.0F : zero > kMost ? kMost : zero;
  // Adding and subtracting 1.5 * 2^23 leaves the nearest integer, ties to even. NaN counts as 0.
  const f32 shifted = (bounded == bounded ? bounded : 0.0F) + 12582912.0F;
  return {.scale = scale, .zero = static_cast<u8>(shifted - 12582912.0F)};
}
// The code of an element, as QUANTIZE_LINEAR computes it.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 state_code(f32 element, StateScale scale) {
  const i32 code = quantized_quotient(element, scale.scale) + scale.zero;
  return code < 0 ? 0 : code > 255 ? 255 : code;
}

// The next cell of an LSTM.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 next_cell(f32 forget, f32 cell, f32 input, f32 candidate) {
  const f32 kept = forget * cell;
  const f32 added = input * candidate;
  return kept + added;
}

// The next hidden state of a GRU.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 next_hidden(f32 update, f32 candidate, f32 hidden) {
  const f32 rest = 1.0F - update;
  const f32 added = rest * candidate;
  const f32 kept = update * hidden;
  return added + kept;
}

}  // namespace anydml
