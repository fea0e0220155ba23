// SPDX-License-Identifier: MIT
// One unit of a recurrent network at one time step. Everything is computed in FLOAT32, and each operation is rounded. x
// is the sum of products with the input, h is the sum of products with the hidden state, and wb and rb are their
// biases.
#pragma once

#include <cstdint>

#include "base/scalar.h"

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
