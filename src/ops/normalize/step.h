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

// Softmax and related operators: one step per operator, from the input to the output.
struct NormalizeStep {
  NormalizeFunction function;
  DataType type;    // type of input and output
  AxisLoops loops;  // rows extend along the reduced loops; the kept loops enumerate the rows
};

// Normalizes rows by mean and variance: from the input, the scale and the bias to the output. An absent scale or bias
// has a null address. Alternatively, the step outputs the FLOAT32 mean and variance themselves. In this case they take
// the operand positions of the scale and the bias, and there is no other output.
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

// Sums for the gradient of a batch: from the input and its gradient, which have the same type, to the mean of the
// input, the sum of the gradient, and the sum of the gradient times the input minus its mean. These outputs are
// FLOAT32. The mean may be an input instead of an output.
struct GradientStep {
  NormalizeFunction function;
  DataType type;
  std::uint32_t takes_mean;
  std::uint32_t unused;
  AxisLoops loops;       // rows of the input and of the gradient
  AxisLoops statistics;  // loops for the mean and the two sums, which have equal strides
};

// The sums of an element's neighbors or of their squares, as packed FLOAT32. The window of an element extends along
// some dimensions from `before` elements before it to `after` elements after it, clipped to the tensor.
struct WindowStep {
  NormalizeFunction function;
  DataType type;           // type of the input; FLOAT32 for sums of elements that are not squared
  std::uint32_t rank;      // at least 1
  std::uint32_t windowed;  // bit i: along dimension i
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
