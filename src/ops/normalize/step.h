// SPDX-License-Identifier: MIT
// The parameters of steps that normalize. Each struct begins with the function, which determines the type of the
// struct.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "base/element.h"
#include "plan/axis_loops.h"

namespace anydml {

enum class NormalizeFunction : std::uint32_t {
  softmax,
  log_softmax,
  hardmax,
  moments,
  row_gradients,
  window_squares,
  window_sums
};

// Softmax and related operators. Each operator is one step that reads the input and writes the output.
struct NormalizeStep {
  NormalizeFunction function;
  DataType type;    // type of input and output
  AxisLoops loops;  // rows extend along the reduced loops; the kept loops enumerate the rows
};

// Normalizes rows by mean and variance. The operands are the input, the scale, the bias and the output. An absent scale
// or bias has a null address. Alternatively, the step outputs only the FLOAT32 mean and variance; its operands are then
// the input, the mean and the variance.
struct MomentStep {
  NormalizeFunction function;
  DataType type;  // type of all tensors except the moments
  std::uint32_t uses_mean;
  std::uint32_t uses_variance;
  f32 epsilon;
  std::uint32_t gives_moments;
  AxisLoops loops;   // rows of the input and of the output
  AxisLoops affine;  // the corresponding loops for the scale and the bias
};

// Computes the sums for the gradient of batch normalization. The step reads the input and the gradient, which have the
// same type. It writes the mean of the input, the sum of the gradient, and the sum of the gradient times (input -
// mean), all as FLOAT32. The mean may be an input instead of an output.
struct GradientStep {
  NormalizeFunction function;
  DataType type;
  std::uint32_t takes_mean;
  std::uint32_t unused;
  AxisLoops loops;       // rows of the input and of the gradient
  AxisLoops statistics;  // loops for the mean and the two sums, which have equal strides
};

// For each element, computes the sum of its neighbors or of their squares, as packed FLOAT32. The window of an element
// extends along some dimensions from `before` elements before it to `after` elements after it, clipped to the tensor.
struct WindowStep {
  NormalizeFunction function;
  DataType type;           // type of the input; FLOAT32 for sums of elements that are not squared
  std::uint32_t rank;      // at least 1
  std::uint32_t windowed;  // bit i: windows extend along dimension i
  std::int64_t before;
  std::int64_t after;
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // strides of the input, in bytes
};

[[nodiscard]] inline bool has_windows(NormalizeFunction function) {
  return function == NormalizeFunction::window_squares || function == NormalizeFunction::window_sums;
}

[[nodiscard]] inline NormalizeFunction function_of(std::span<const std::byte> parameters) {
  NormalizeFunction function;
  std::memcpy(&function, parameters.data(), sizeof(function));
  return function;
}

}  // namespace anydml
