// SPDX-License-Identifier: MIT
// The parameters of a product's steps. A product is one step over A, B, C and the output, in this order; C may be
// absent. B is in its original form, or packed by a separate step, which runs once if B is known in advance.
//
// The packed form depends only on B and on the device's vectors, and has the type of B. The columns are cut into
// panels. A panel contains the elements of its columns for k = 0, then for k = 1, and so on; missing columns in the
// last panel are +0. Panels and matrices are stored without gaps.
//
// A convolution is one step over the input, the filter, the bias and the output; the bias may be absent. Its output
// channels are the rows of a product, and the pixels of an image are its columns. The packed filter has the rows of
// each group of channels in strips: the factors of a strip's rows for k = 0, then for k = 1, and so on. The last strip
// has fewer rows. A convolution that needs no windows is a product whose A is such a filter. In filters with many taps,
// the factors are followed by one number for each strip: 0 if all of its factors are finite, and 1 otherwise. A kernel
// may leave out products of finite factors and padding if these products do not change a sum.
#pragma once

#include <cstdint>

#include "ops/product/scalar/product.h"
#include "ops/product/window.h"
#include "plan/tensor.h"

namespace anydml {

// A step begins with its kind. The parameters of an integer product are an IntegerStep (integer_step.h), the parameters
// of a FLOAT64 product are a DoubleStep (double.h), and those of a product with weights in codes are a CodedStep
// (coded.h); all of them begin with a ProductStep. The parameters of an
// integer convolution are an IntegerConvolutionStep, which begins with a ConvolutionStep.
enum class ProductKind : std::uint32_t {
  pack,
  product,
  filter,
  convolution,
  integer_pack,
  integer_product,
  integer_filter,
  integer_convolution,
  coded_pack,  // weights in codes: coded.h
  coded_product,
  half_product,    // not bit-identical to the CPU: half.h
  double_product,  // FLOAT64: double.h
  double_convolution
};

inline constexpr std::size_t kBatchRank = kMaxRank - 2;

// The strides of an operand in bytes. Rows and columns refer to the matrices as they are multiplied, so they are
// swapped for a transposed operand.
struct MatrixStrides {
  std::int64_t row;
  std::int64_t column;
  std::int64_t batch[kBatchRank];
};

inline constexpr std::uint32_t kHalfA = 1;
inline constexpr std::uint32_t kHalfB = 2;
inline constexpr std::uint32_t kHalfOutput = 4;  // only for a half_product; C has the same type

struct ProductStep {
  ProductKind kind;
  std::uint32_t panel;   // columns of a panel of B; 0 if B is not packed, because no kernel needs it packed
  std::uint32_t strip;   // rows of a strip of A; 0 if A is in its original form
  std::uint32_t halves;  // a bit for each operand that is FLOAT16 instead of FLOAT32
  std::uint32_t batch_rank;
  ProductScale scale;
  std::int64_t rows;                     // of A and the output
  std::int64_t columns;                  // of B and the output
  std::int64_t depth;                    // columns of A and rows of B
  std::int64_t batches;                  // the product of batch_sizes
  std::int64_t batch_sizes[kBatchRank];  // row-major
  MatrixStrides a;
  MatrixStrides b;  // for a packed B, only the batch strides have a meaning
  MatrixStrides c;
  MatrixStrides output;  // for a step that packs B: strides of the packed form

  [[nodiscard]] std::int64_t panels() const { return (columns + panel - 1) / panel; }
};

// The columns of a panel for vectors of this size: four 16-byte vectors, or two 32-byte or 64-byte vectors. 0 without
// vectors.
[[nodiscard]] constexpr std::uint32_t panel_columns(std::uint32_t vector_bytes) {
  return vector_bytes == 0 ? 0 : vector_bytes <= 32 ? 16 : 32;
}

// The rows of a strip for these vectors: the maximum that fits into registers together with a panel's columns. 0
// without vectors.
[[nodiscard]] constexpr std::uint32_t strip_rows(std::uint32_t vector_bytes) {
  return vector_bytes == 0 ? 0 : vector_bytes <= 32 ? 6 : 14;
}

// A convolution, or the packing of its filter. Strides are in bytes.
struct ConvolutionStep {
  ProductKind kind;
  std::uint32_t strip;  // rows of a strip of the packed filter; 0 if it is unpacked
  Windows windows;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t rows;      // output channels of a group
  std::int64_t channels;  // input channels of a group
  std::int64_t input_image;
  std::int64_t input_channel;
  std::int64_t filter_group;
  std::int64_t filter_row;
  std::int64_t filter_channel;
  std::int64_t bias_channel;
  std::int64_t output_image;
  std::int64_t output_channel;

  [[nodiscard]] std::int64_t taps() const { return windows.axes[0].taps * windows.axes[1].taps * windows.axes[2].taps; }
  [[nodiscard]] std::int64_t pixels() const {
    return windows.axes[0].output * windows.axes[1].output * windows.axes[2].output;
  }
};

inline constexpr std::int64_t kManyTaps = 64;

// The number of elements that follow the factors of a packed filter.
[[nodiscard]] constexpr std::int64_t filter_flags(std::int64_t taps, std::int64_t groups, std::int64_t rows,
                                                  std::int64_t strip) {
  return taps < kManyTaps ? 0 : groups * ((rows + strip - 1) / strip);
}

// The offset of the matrices of batch number `batch` in an operand, in bytes.
[[nodiscard]] inline std::int64_t batch_offset(const ProductStep& step, const MatrixStrides& strides,
                                               std::int64_t batch) {
  std::int64_t offset = 0;
  for (std::uint32_t i = step.batch_rank; i-- > 0; batch /= step.batch_sizes[i]) {
    offset += batch % step.batch_sizes[i] * strides.batch[i];
  }
  return offset;
}

}  // namespace anydml
