// SPDX-License-Identifier: MIT
// FLOAT32 depthwise convolutions with common small windows. A thread keeps a rectangle of a plane's outputs in
// registers and moves down the input rows that these outputs need, so that it reads each row once. Neighboring threads
// read neighboring elements. Each output adds its products in tap order, as in every other kernel.
#pragma once

#include "ops/product/cuda/windows.cuh"

namespace anydml::cuda {

#if defined(__CUDACC__)

// Computes the outputs of one thread. from: the address, possibly outside the image, of the first output's first tap.
template <u32 kTaps, u32 kStride, bool kHasVectors, bool kIsAligned>
__device__ inline void add_plane_taps(const ConvolutionLaunch& launch, const std::byte* from, i32 top, i32 left,
                                      const f32 (&weights)[kTaps][kTaps],
                                      f32 (&sums)[kPlaneRows][plane_columns(kStride)]) {
  constexpr u32 kRows = kPlaneRows;
  constexpr u32 kColumns = plane_columns(kStride);
  constexpr u32 kInputRows = (kRows - 1) * kStride + kTaps;
  constexpr u32 kElements = (kColumns - 1) * kStride + kTaps;
  constexpr u32 kMiddle = kTaps / 2;
  const AxisLaunch& down = launch.axes[1];
  const AxisLaunch& along = launch.axes[2];
#pragma unroll
  for (u32 i = 0; i < kRows; ++i) {
#pragma unroll
    for (u32 n = 0; n < kColumns; ++n) {
      sums[i][n] = 0.0f;
    }
  }
#pragma unroll
  for (u32 row = 0; row < kInputRows; ++row) {
    f32 elements[kElements];
    const std::byte* const from_row = from + row * down.input_step;
    const bool has_row = static_cast<u32>(top + static_cast<i32>(row)) < down.input;
#pragma unroll
    for (u32 j = 0; j < kElements; ++j) {
      elements[j] = 0.0f;
      const bool is_of_vector = kHasVectors && j >= kMiddle && j < kMiddle + 4;
      if (!is_of_vector && has_row && static_cast<u32>(left + static_cast<i32>(j)) < along.input) {
        elements[j] = load_number(from_row + j * along.input_step, kIsAligned);
      }
    }
    if constexpr (kHasVectors) {
      static_assert(kMiddle + 4 <= kElements);
      if (has_row && static_cast<u32>(left + static_cast<i32>(kMiddle)) < along.input) {
        load_four(reinterpret_cast<const f32*>(from_row) + kMiddle, elements + kMiddle);
      }
    }
#pragma unroll
    for (u32 i = 0; i < kRows; ++i) {
      if (row >= i * kStride && row < i * kStride + kTaps) {
#pragma unroll
        for (u32 n = 0; n < kColumns; ++n) {
#pragma unroll
          for (u32 j = 0; j < kTaps; ++j) {
            sums[i][n] = fused(elements[n * kStride + j], weights[row - i * kStride][j], sums[i][n]);
          }
        }
      }
    }
  }
}

// Windows of kTaps x kTaps with stride kStride in the last two dimensions. The grid's first dimension covers the
// threads of all images, and its second dimension covers the channels. launch.down and launch.across: the number of
// threads per plane in each direction.
template <u32 kTaps, u32 kStride, class After>
__global__ void __launch_bounds__(kPlaneThreads)
    convolution_planes(const __grid_constant__ launch_t<ConvolutionLaunch, After> launch) {
  constexpr u32 kRows = kPlaneRows;
  constexpr u32 kColumns = plane_columns(kStride);
  const AxisLaunch& down = launch.axes[1];
  const AxisLaunch& along = launch.axes[2];
  const ClassLaunch& of_rows = down.of_class[0];
  const ClassLaunch& of_columns = along.of_class[0];
  const Quotient parts = divide(blockIdx.x * kPlaneThreads + threadIdx.x, launch.across);
  const Quotient strip = divide(parts.quotient, launch.down);
  const u32 column = parts.remainder * kColumns;
  const u32 first_row = strip.remainder * kRows;
  const u32 image = strip.quotient;
  if (image >= launch.images) {
    return;
  }
  const u32 channel = blockIdx.y;  // across all groups
  const Quotient group = divide(channel, launch.rows);

  f32 weights[kTaps][kTaps];
  const std::byte* filter = launch.filter + static_cast<std::int64_t>(group.quotient) * launch.filter_group +
                            static_cast<std::int64_t>(group.remainder) * launch.filter_row +
                            of_rows.first_tap * down.filter_step + of_columns.first_tap * along.filter_step;
#pragma unroll
  for (u32 i = 0; i < kTaps; ++i) {
#pragma unroll
    for (u32 j = 0; j < kTaps; ++j) {
      const auto tap_row = static_cast<i32>(i * of_rows.tap_step);
      const auto tap_column = static_cast<i32>(j * of_columns.tap_step);
      weights[i][j] =
          load_number(filter + tap_row * down.filter_step + tap_column * along.filter_step, launch.filter_is_aligned);
    }
  }

  const i32 first_position = of_columns.first + static_cast<i32>(column * kStride);
  const i32 top = of_rows.first + static_cast<i32>(first_row * kStride);
  const std::byte* const from = launch.input + static_cast<std::int64_t>(image) * launch.input_image +
                                static_cast<std::int64_t>(group.quotient) * launch.input_channel +
                                top * down.input_step + first_position * along.input_step;
  f32 sums[kRows][kColumns];
  if (kColumns == 4 && launch.has_input_vectors) {
    add_plane_taps<kTaps, kStride, kColumns == 4, true>(launch, from, top, first_position, weights, sums);
  } else if (launch.input_is_aligned) {
    add_plane_taps<kTaps, kStride, false, true>(launch, from, top, first_position, weights, sums);
  } else {
    add_plane_taps<kTaps, kStride, false, false>(launch, from, top, first_position, weights, sums);
  }
#pragma unroll
  for (u32 i = 0; i < kRows; ++i) {
    const u32 row = first_row + i;
    if (row >= of_rows.outputs.divisor) {
      break;
    }
    if constexpr (kColumns == 4) {
      if (launch.has_vectors && of_columns.outputs.divisor % kColumns == 0) {
        u32 words[kColumns];
#pragma unroll
        for (u32 n = 0; n < kColumns; ++n) {
          words[n] = __builtin_bit_cast(u32, with_bias(launch, channel, sums[i][n]));
        }
        put_four<After>(launch, channel, PixelPosition(launch, image, row, column), words);
        continue;
      }
    }
#pragma unroll
    for (u32 n = 0; n < kColumns; ++n) {
      if (column + n < of_columns.outputs.divisor) {
        put_output<After>(launch, channel, PixelPosition(launch, image, row, column + n),
                          with_bias(launch, channel, sums[i][n]));
      }
    }
  }
}

#endif

}  // namespace anydml::cuda
