// SPDX-License-Identifier: MIT
// The parameters of a step that pools windows, or that scatters elements according to their indices.
//
// The operands of a pooling step are the input, the output and, optionally, the indices. A step for the gradient of max
// pooling has the same parameters; its operands are the indices, the input gradient (with the sizes of the pooling's
// output) and the output gradient (with the sizes of its input). The operands of an unpooling step are the input, the
// indices, the output and the marks. Marks are bytes of temporary memory, one for each share of the work.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "base/shape.h"

namespace anydml {

enum class PoolFunction : std::uint32_t { max, average, sum, l1, l2, unpool, max_gradient };

inline constexpr std::uint32_t kPoolAxes = kMaxRank - 2;

// A dimension along which a window moves. Element k of window o is the input's element o * stride + k * dilation -
// padding, if the input has such an element.
struct PoolAxis {
  std::int64_t input;  // elements
  std::int64_t output;
  std::int64_t window;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t padding;
  std::int64_t input_step;  // strides, in bytes
  std::int64_t output_step;
  std::int64_t index_step;
};

struct PoolStep {
  PoolFunction function;
  DataType type;
  DataType index_type;  // unknown if there are no indices
  std::uint32_t counts_padding;
  std::uint32_t rank;  // number of window axes, at least 1
  std::uint32_t unused;
  PoolAxis batch;  // of these two, only the sizes and strides are used
  PoolAxis channel;
  PoolAxis axes[kPoolAxes];
};

// The range [first, end) of a window's elements that exist along an axis.
struct PoolTaps {
  std::int64_t first;
  std::int64_t end;
  std::int64_t start;  // the position of element 0 in the input, possibly outside it

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr std::int64_t count() const { return end - first; }
};

[[nodiscard]] ANYDML_HOST_DEVICE constexpr PoolTaps pool_taps(const PoolAxis& axis, std::int64_t output) {
  PoolTaps taps{};
  taps.start = output * axis.stride - axis.padding;
  taps.first = taps.start >= 0 ? 0 : -taps.start;
  taps.end = taps.start >= axis.input ? 0 : axis.input - taps.start;
  if (axis.dilation != 1) {
    taps.first = (taps.first + axis.dilation - 1) / axis.dilation;
    taps.end = (taps.end + axis.dilation - 1) / axis.dilation;
  }
  taps.end = taps.end < axis.window ? taps.end : axis.window;
  taps.end = taps.end < taps.first ? taps.first : taps.end;
  return taps;
}

// The range [first, end) of windows that may contain position p. If dilation leaves gaps, the range also includes
// windows that do not contain it.
struct PoolWindows {
  std::int64_t first;
  std::int64_t end;
};
[[nodiscard]] ANYDML_HOST_DEVICE constexpr PoolWindows pool_windows(const PoolAxis& axis, std::int64_t p) {
  const std::int64_t coordinate = p + axis.padding;
  const std::int64_t before = coordinate - (axis.window - 1) * axis.dilation;
  const std::int64_t first = before <= 0 ? 0 : (before + axis.stride - 1) / axis.stride;
  const std::int64_t end = coordinate / axis.stride + 1;
  return {first, end < axis.output ? end : axis.output};
}

inline constexpr std::uint32_t kUnpoolShares = 64;  // maximum

struct UnpoolStep {
  PoolFunction function;  // always `unpool`, to distinguish this struct from PoolStep
  DataType type;
  DataType index_type;
  std::uint32_t input_rank;
  std::uint32_t output_rank;
  std::uint32_t shares;  // number of marks
  std::int64_t inputs;   // elements
  std::int64_t outputs;
  std::int64_t input_sizes[kMaxRank];
  std::int64_t output_sizes[kMaxRank];
  std::int64_t input_steps[kMaxRank];  // strides, in bytes
  std::int64_t index_steps[kMaxRank];
  std::int64_t output_steps[kMaxRank];
};

}  // namespace anydml
