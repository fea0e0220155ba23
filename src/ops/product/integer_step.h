// SPDX-License-Identifier: MIT
// The parameters of integer product steps, which begin with the parameters of a product. A step has the operands of
// IntegerOperand; all except A, B and the output may be absent. B is in its original form, or packed by a separate
// step.
//
// The packed form depends only on B and on the device's vectors. The columns are cut into panels. A panel contains the
// bytes of its columns in groups of consecutive k: the first group of each column, then the second group of each
// column, and so on; the depth is padded to a multiple of kDepthUnit. The sums of its columns follow as UINT32. Missing
// columns in the last panel are 0. The kernels choose the length of a group and the signedness of the bytes.
//
// A convolution has the same operands: A is the filter, in its original form or packed by a separate step, and B is the
// input. The packed filter contains the rows of each group of channels, padded to a multiple of kFilterRowUnit, for one
// block of kFilterBlock values of k after another. A block consists of strips, and a strip has the number of rows that
// the kernels process together. A strip is laid out like a panel. The sums of the rows follow as UINT32. If there are
// at most kMaxLines rows, the bytes of each row are contiguous instead, in their original form. Some kernels have
// another form (cpu/integer_quads.h).
#pragma once

#include "ops/product/step.h"

namespace anydml {

enum class IntegerFinish : std::uint32_t { int32, quantized, float32 };

enum class IntegerOperand : std::uint32_t {
  a,
  b,
  a_zero,
  b_zero,
  a_scale,
  b_scale,
  bias,
  output_scale,
  output_zero,
  output,
};
inline constexpr std::size_t kIntegerOperands = 10;

inline constexpr std::int64_t kDepthUnit = 8;
inline constexpr std::int64_t kFilterBlock = 512;  // a multiple of kDepthUnit
inline constexpr std::int64_t kFilterRowUnit = 4;  // a multiple of every kernel's row_unit
inline constexpr std::int64_t kMaxLines = 2;
inline constexpr std::int64_t kMinQuadChannels = 3;  // fewer channels of a group are not padded to four

// The strides of a zero point or a scale in bytes: 0 if all rows, or all columns, share one value.
struct SideStrides {
  std::int64_t row;
  std::int64_t column;
};

struct IntegerStep {
  ProductStep product;  // its C is the bias; its scale has no meaning
  IntegerFinish finish;
  std::uint32_t signed_a;
  std::uint32_t signed_b;
  std::uint32_t signed_output;
  SideStrides a_zero;  // a_zero varies only along the rows, and b_zero only along the columns
  SideStrides b_zero;
  SideStrides a_scale;
  SideStrides b_scale;
  SideStrides output_scale;
  SideStrides output_zero;
};

// The columns of a panel for vectors of this size.
[[nodiscard]] constexpr std::uint32_t integer_panel_columns(std::uint32_t vector_bytes) { return vector_bytes / 2; }

[[nodiscard]] constexpr std::int64_t padded_depth(std::int64_t depth) {
  return (depth + kDepthUnit - 1) / kDepthUnit * kDepthUnit;
}
// The size of a panel in bytes. It is a multiple of 4, so that the sums are aligned if the whole packed form is
// aligned.
[[nodiscard]] constexpr std::int64_t integer_panel_bytes(std::int64_t panel, std::int64_t depth) {
  return panel * (padded_depth(depth) + static_cast<std::int64_t>(sizeof(std::uint32_t)));
}
// The number of rows of a packed filter, for this many rows per group of channels.
[[nodiscard]] constexpr std::int64_t padded_filter_rows(std::int64_t rows) {
  return (rows + kFilterRowUnit - 1) / kFilterRowUnit * kFilterRowUnit;
}
// The bytes of one group of a packed filter. Kernels may pad the channels to a multiple of four.
[[nodiscard]] constexpr std::int64_t integer_filter_bytes(std::int64_t rows, std::int64_t channels, std::int64_t taps) {
  const std::int64_t padded = channels < kMinQuadChannels ? channels : (channels + 3) / 4 * 4;
  return integer_panel_bytes(padded_filter_rows(rows), padded * taps);
}

// A byte convolution, or the packing of its filter.
struct IntegerConvolutionStep {
  ConvolutionStep convolution;  // its strip has no meaning
  IntegerFinish finish;
  std::uint32_t signed_filter;
  std::uint32_t signed_input;
  std::uint32_t signed_output;
  std::uint32_t has_windows;  // 0 if each k is a channel, and the pixels of a channel are equally spaced
  std::uint32_t is_packed;    // 1 if A is the packed filter; the strides of the filter then have no meaning
  std::int64_t pixel_step;    // the distance between pixels in the input, if has_windows is 0
  std::int64_t filter_zero;   // distance between the zero points of output channels; 0 if all share one zero point
  std::int64_t filter_scale;
};

}  // namespace anydml
