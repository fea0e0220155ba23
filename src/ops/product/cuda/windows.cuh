// SPDX-License-Identifier: MIT
// FLOAT32 convolutions. The columns of the second factor are the windows of pixels, which are never materialized: each
// thread tracks the position of its column in the image, and the thread block keeps a small table of the taps of the
// next values of k. A tap outside the image has the factor +0.
#pragma once

#include "ops/product/cuda/tile_loop.cuh"
#include "ops/product/cuda/window_launch.h"

namespace anydml::cuda {

#if defined(__CUDACC__)

// The classes, rows and columns that a thread block processes.
struct WindowBlock {
  const ClassLaunch* classes[kLaunchAxes];
  u32 group;
  u32 row_part;
  u32 column_part;
  u32 columns;  // in the class
  u32 depth;

  __device__ WindowBlock(const ConvolutionLaunch& launch, u32 block) {
    Quotient parts = divide(block, launch.across);
    column_part = parts.remainder;
    parts = divide(parts.quotient, launch.down);
    row_part = parts.remainder;
    parts = divide(parts.quotient, launch.groups);
    group = parts.remainder;
    columns = launch.images;
    depth = launch.channels;
#pragma unroll
    for (u32 i = kLaunchAxes; i-- > 0;) {
      parts = divide(parts.quotient, launch.axes[i].classes);
      classes[i] = &launch.axes[i].of_class[parts.remainder];
      columns *= classes[i]->outputs.divisor;
      depth *= classes[i]->tap_count;
    }
  }
};

// A pixel of a class: its image and its indices along the dimensions.
struct WindowPixel {
  u32 image;
  u32 number[kLaunchAxes];

  __device__ WindowPixel(const WindowBlock& block, u32 column) {
    Quotient parts{.quotient = column, .remainder = 0};
#pragma unroll
    for (u32 i = kLaunchAxes; i-- > 0;) {
      parts = divide(parts.quotient, block.classes[i]->outputs);
      number[i] = parts.remainder;
    }
    image = parts.quotient;
  }
};

// The input position of a pixel's first tap, which may be outside the image.
struct WindowPosition {
  const std::byte* from;  // of the group's first channel
  i32 position[kLaunchAxes];

  __device__ WindowPosition(const ConvolutionLaunch& launch, const WindowBlock& block, u32 column) {
    const WindowPixel pixel(block, column);
    from = launch.input + static_cast<std::int64_t>(pixel.image) * launch.input_image +
           static_cast<std::int64_t>(block.group) * launch.channels * launch.input_channel;
#pragma unroll
    for (u32 i = 0; i < kLaunchAxes; ++i) {
      const ClassLaunch& along = *block.classes[i];
      position[i] = along.first + static_cast<i32>(pixel.number[i]) * along.output_move;
      from += position[i] * launch.axes[i].input_step;
    }
  }

  // Whether this tap is inside the image.
  [[nodiscard]] __device__ bool meets(const ConvolutionLaunch& launch, const i32 (&tap)[kLaunchAxes]) const {
    bool is_inside = true;
#pragma unroll
    for (u32 i = 0; i < kLaunchAxes; ++i) {
      is_inside &= static_cast<u32>(position[i] + tap[i]) < launch.axes[i].input;  // branch-free
    }
    return is_inside;
  }
};

// The offset of the output at this pixel from the channel's first output, in bytes and including the offset of its
// image, and the pixel's index in the image.
struct PixelPosition {
  std::int64_t offset;
  u32 image;
  u32 number;

  __device__ PixelPosition(const ConvolutionLaunch& launch, const WindowBlock& block, u32 column) : number(0) {
    const WindowPixel pixel(block, column);
    image = pixel.image;
    offset = static_cast<std::int64_t>(image) * launch.output_image;
#pragma unroll
    for (u32 i = 0; i < kLaunchAxes; ++i) {
      const ClassLaunch& along = *block.classes[i];
      const u32 there = along.first_output + pixel.number[i] * along.output_stride;
      offset += static_cast<std::int64_t>(there) * launch.axes[i].output_step;
      number = number * launch.axes[i].output + there;
    }
  }
  // Finds a pixel from its position in the output, for two dimensions and one class.
  __device__ PixelPosition(const ConvolutionLaunch& launch, u32 of_image, u32 row, u32 column)
      : offset(static_cast<std::int64_t>(of_image) * launch.output_image + row * launch.axes[1].output_step +
               column * launch.axes[2].output_step),
        image(of_image),
        number(row * launch.axes[2].output + column) {}
};

[[nodiscard]] __device__ inline f32 with_bias(const ConvolutionLaunch& launch, u32 channel, f32 total) {
  constexpr ProductScale kScale{.alpha = 1, .beta = 1};
  if (launch.bias == nullptr) {
    return kScale(total);
  }
  return kScale(total, load_number(launch.bias + static_cast<std::int64_t>(channel) * launch.bias_channel,
                                   launch.bias_is_aligned));
}

// Writes the bits of one output, whose channel is counted across all groups.
template <class After, class Launch>
__device__ inline void put_bits(const Launch& launch, u32 channel, const PixelPosition& pixel, u32 bits) {
  if constexpr (kIsForwarded<After>) {
    const u32 channels = launch.groups.divisor * launch.rows.divisor;
    launch.after((pixel.image * channels + channel) * launch.pixels + pixel.number, bits);
  } else {
    store_element<f32>(launch.output + static_cast<std::int64_t>(channel) * launch.output_channel + pixel.offset, bits,
                       launch.output_is_aligned);
  }
}
// Writes four contiguous outputs, if launch.has_vectors.
template <class After, class Launch>
__device__ inline void put_four(const Launch& launch, u32 channel, const PixelPosition& pixel, const u32 (&words)[4]) {
  if constexpr (kIsForwarded<After>) {
    const u32 channels = launch.groups.divisor * launch.rows.divisor;
    launch.after.some((pixel.image * channels + channel) * launch.pixels + pixel.number, words, 4u);
  } else {
    store_access<16, false>(launch.output + static_cast<std::int64_t>(channel) * launch.output_channel + pixel.offset,
                            words);
  }
}
template <class After, class Launch>
__device__ inline void put_output(const Launch& launch, u32 channel, const PixelPosition& pixel, f32 value) {
  put_bits<After>(launch, channel, pixel, __builtin_bit_cast(u32, value));
}

// A value of k, shared by all threads: a tap of one channel, or of some consecutive channels.
struct alignas(16) WindowTap {
  std::int64_t input;   // bytes from the first tap of the first channel
  std::int64_t filter;  // bytes from the start of the row
  i32 displacement[kLaunchAxes];
  u32 channels;  // number of channels; 0 beyond the last k
};

// Describes tap number `number` of `count`; each tap has up to kChannels channels.
template <u32 kChannels>
__device__ inline void describe_tap(const ConvolutionLaunch& launch, const WindowBlock& block, u32 number, u32 count,
                                    WindowTap& tap) {
  Quotient parts{.quotient = number, .remainder = 0};
  std::int64_t input = 0;
  std::int64_t filter = 0;
#pragma unroll
  for (u32 i = kLaunchAxes; i-- > 0;) {
    const ClassLaunch& along = *block.classes[i];
    const AxisLaunch& axis = launch.axes[i];
    parts = divide(parts.quotient, along.taps);
    tap.displacement[i] = static_cast<i32>(parts.remainder) * along.tap_move;
    input += tap.displacement[i] * axis.input_step;
    filter += static_cast<std::int64_t>(along.first_tap + parts.remainder * along.tap_step) * axis.filter_step;
  }
  const u32 channel = parts.quotient * kChannels;
  tap.input = input + static_cast<std::int64_t>(channel) * launch.input_channel;
  tap.filter = filter + static_cast<std::int64_t>(channel) * launch.filter_channel;
  tap.channels = number < count ? min(launch.channels - channel, kChannels) : 0;
}

template <u32 kTile>
class WindowFactors {
 public:
  // table: kTileStages * kTileStep entries in shared memory.
  __device__ WindowFactors(const ConvolutionLaunch& launch, const WindowBlock& block, WindowTap* table, u32 first_k,
                           u32 first_row, u32 first_column)
      : launch_(launch),
        block_(block),
        table_(table),
        first_k_(first_k),
        rows_(launch.rows.divisor - first_row),
        is_column_(first_column + threadIdx.x % tile_columns(kTile) < block.columns),
        window_(launch, block, is_column_ ? first_column + threadIdx.x % tile_columns(kTile) : 0),
        filter_(launch.filter + static_cast<std::int64_t>(block.group) * launch.filter_group +
                (static_cast<std::int64_t>(first_row) + threadIdx.x / kTileStep) * launch.filter_row) {}

  __device__ void begin() {
    static_assert(kTileStages * kTileStep <= tile_threads(kTile));
    if (threadIdx.x < kTileStages * kTileStep) {
      describe(threadIdx.x);
    }
    __syncthreads();
  }
  // The warps take turns filling the table.
  __device__ void prepare(u32 step) {
    constexpr u32 kWarps = tile_threads(kTile) / 32;
    if (threadIdx.x / 32 == step % kWarps && threadIdx.x % 32 < kTileStep) {
      describe(step * kTileStep + threadIdx.x % 32);
    }
  }

  __device__ void copy(f32* to_a, f32* to_b, u32 step) {
    constexpr u32 kRowOfA = tile_row(tile_rows(kTile));
    constexpr u32 kRowOfB = tile_row(tile_columns(kTile));
    constexpr u32 kRowStep = tile_threads(kTile) / kTileStep;
    constexpr u32 kDepthStep = tile_threads(kTile) / tile_columns(kTile);
    const WindowTap* const taps = table_ + step % kTileStages * kTileStep;
    {
      const u32 k = threadIdx.x % kTileStep;
      const u32 first = threadIdx.x / kTileStep;
      const bool is_there = taps[k].channels != 0;
      const std::byte* from = filter_ + taps[k].filter;
      f32* const to = to_a + k * kRowOfA + first;
      if (launch_.filter_is_aligned) {
#pragma unroll
        for (u32 row = 0; row < tile_rows(kTile); row += kRowStep, from += kRowStep * launch_.filter_row) {
          start_copy<4>(to + row, from, is_there && first + row < rows_);
        }
      } else {
#pragma unroll 1
        for (u32 row = 0; row < tile_rows(kTile); row += kRowStep, from += kRowStep * launch_.filter_row) {
          to[row] = is_there && first + row < rows_ ? load_number(from, false) : 0.0f;
        }
      }
    }
    const u32 first = threadIdx.x / tile_columns(kTile);
    f32* const to = to_b + first * kRowOfB + threadIdx.x % tile_columns(kTile);
    if (launch_.input_is_aligned && taps[kTileStep - 1].channels != 0) {
#pragma unroll
      for (u32 k = 0; k < kTileStep; k += kDepthStep) {
        const WindowTap& tap = taps[first + k];
        start_copy<4>(to + k * kRowOfB, window_.from + tap.input, meets(tap));
      }
    } else {
#pragma unroll 1
      for (u32 k = 0; k < kTileStep; k += kDepthStep) {
        const WindowTap& tap = taps[first + k];
        f32 value = tap.channels != 0 ? 0.0f : -0.0f;  // the filter has +0 beyond the last k, so no sum changes
        if (tap.channels != 0 && meets(tap)) {
          value = load_number(window_.from + tap.input, launch_.input_is_aligned);
        }
        to[k * kRowOfB] = value;
      }
    }
  }

 private:
  // Whether this tap is inside the image for this thread's pixel.
  [[nodiscard]] __device__ bool meets(const WindowTap& tap) const {
    return is_column_ && window_.meets(launch_, tap.displacement);
  }
  // Writes a tap to the table. number: the value of k, counted from the first value.
  __device__ void describe(u32 number) {
    describe_tap<1>(launch_, block_, first_k_ + number, block_.depth, table_[number % (kTileStages * kTileStep)]);
  }

  const ConvolutionLaunch& launch_;
  const WindowBlock& block_;
  WindowTap* table_;
  u32 first_k_;
  u32 rows_;  // number of rows starting with the tile's first row
  bool is_column_;
  WindowPosition window_;  // of this thread's column
  const std::byte* filter_;
};

template <u32 kTile, class After>
__global__ void __launch_bounds__(tile_threads(kTile), tiles_at_a_time(kTile))
    convolution_tiles(const __grid_constant__ launch_t<ConvolutionLaunch, After> launch) {
  __shared__ WindowTap table[kTileStages * kTileStep];
  const WindowBlock block(launch, blockIdx.x);
  const u32 first_row = block.row_part * tile_rows(kTile);
  const u32 first_column = block.column_part * tile_columns(kTile);
  if (first_column >= block.columns) {
    return;  // this class has no columns here, although other classes do
  }
  const u32 rows = launch.rows.divisor;
  const u32 first_block = blockIdx.y * launch.split.blocks_of_split;
  const u32 first_k = first_block * static_cast<u32>(kProductBlock);
  const u32 depth = min(block.depth - first_k, launch.split.blocks_of_split * static_cast<u32>(kProductBlock));

  const ThreadPosition<kTile> position;
  ThreadSums<kTile> sums;
  WindowFactors<kTile> factors(launch, block, table, first_k, first_row, first_column);
  const SharedTotals<kTile> totals;
  multiply_tile<kTile>(factors, position, depth, sums, [&](ThreadSums<kTile>& computed, u32 number, bool is_last) {
    if (launch.split.sums == nullptr) {
      totals.add(computed, number == 0, is_last);
    } else {
      write_sums(launch.split, position, first_block + number,
                 (block.group * rows + first_row) * block.columns + first_column, rows - first_row,
                 block.columns - first_column, block.columns, computed);
    }
  });
  if (launch.split.sums != nullptr) {
    return;
  }

#pragma unroll
  for (u32 j = 0; j < thread_columns(kTile); j += 4) {
    const u32 column = first_column + position.column(j);
    if (column >= block.columns) {
      continue;
    }
    if (launch.has_vectors) {
      const PixelPosition pixel(launch, block, column);
#pragma unroll
      for (u32 i = 0; i < thread_rows(kTile); ++i) {
        if (const u32 row = first_row + position.row(i); row < rows) {
          const u32 channel = block.group * rows + row;
          u32 words[4];
#pragma unroll
          for (u32 n = 0; n < 4; ++n) {
            const f32 value = with_bias(launch, channel, sums[i][j + n]);
            words[n] = __builtin_bit_cast(u32, value);
          }
          put_four<After>(launch, channel, pixel, words);
        }
      }
      continue;
    }
#pragma unroll
    for (u32 n = 0; n < 4; ++n) {
      if (column + n < block.columns) {
        const PixelPosition pixel(launch, block, column + n);
#pragma unroll
        for (u32 i = 0; i < thread_rows(kTile); ++i) {
          if (const u32 row = first_row + position.row(i); row < rows) {
            const u32 channel = block.group * rows + row;
            put_output<After>(launch, channel, pixel, with_bias(launch, channel, sums[i][j + n]));
          }
        }
      }
    }
  }
}

// Computes the outputs if k is split, one per thread. There is only one class.
template <class After>
__global__ void __launch_bounds__(kSumThreads)
    convolution_sums(const __grid_constant__ launch_t<ConvolutionLaunch, After> launch) {
  const u32 number = blockIdx.x * kSumThreads + threadIdx.x;
  if (number >= launch.split.outputs) {
    return;
  }
  const WindowBlock block(launch, 0);
  const Quotient parts = divide(number, launch.columns);
  const u32 channel = parts.quotient;  // across all groups
  const f32 total = added_sums(launch.split, number);
  put_output<After>(launch, channel, PixelPosition(launch, block, parts.remainder), with_bias(launch, channel, total));
}

// Some pixels of one channel that a thread computes without tiles, mainly for depthwise convolutions. A warp processes
// neighboring pixels.
struct DirectPixels {
  u32 first_column;
  u32 channel;  // across all groups
  const std::byte* from[kDirectPixels];
  i32 positions[kDirectPixels][kLaunchAxes];

  // The first column must be in the block.
  __device__ DirectPixels(const ConvolutionLaunch& launch, const WindowBlock& block, u32 first)
      : first_column(first), channel(block.group * launch.rows.divisor + block.row_part) {
#pragma unroll
    for (u32 j = 0; j < kDirectPixels; ++j) {
      const u32 column = column_of(j);
      const WindowPosition window(launch, block, column < block.columns ? column : first_column);
      from[j] = window.from;
#pragma unroll
      for (u32 i = 0; i < kLaunchAxes; ++i) {
        positions[j][i] = window.position[i];
      }
    }
  }
  [[nodiscard]] __device__ static u32 first_of_thread(const WindowBlock& block) {
    return block.column_part * (blockDim.x * kDirectPixels) + threadIdx.x;
  }
  [[nodiscard]] __device__ u32 column_of(u32 j) const { return first_column + j * blockDim.x; }

  // Calls next(weight, offset, is_inside) for every k in order. If is_inside[j] is true, the pixel's element is at
  // from[j] + offset.
  template <class Next>
  __device__ void for_each_k(const ConvolutionLaunch& launch, const WindowBlock& block, const Next& next) const {
    u32 counts[kLaunchAxes];
    i32 moves[kLaunchAxes];  // distance between taps
    std::int64_t steps[kLaunchAxes];
    std::int64_t weight_steps[kLaunchAxes];
    const std::byte* filter = launch.filter + static_cast<std::int64_t>(block.group) * launch.filter_group +
                              static_cast<std::int64_t>(block.row_part) * launch.filter_row;
#pragma unroll
    for (u32 i = 0; i < kLaunchAxes; ++i) {
      const ClassLaunch& along = *block.classes[i];
      counts[i] = along.tap_count;
      moves[i] = along.tap_move;
      steps[i] = along.tap_move * launch.axes[i].input_step;
      weight_steps[i] = along.tap_step * launch.axes[i].filter_step;
      filter += along.first_tap * launch.axes[i].filter_step;
    }
#pragma unroll 1
    for (u32 k = 0; k < launch.channels; ++k) {
#pragma unroll 1
      for (u32 t0 = 0; t0 < counts[0]; ++t0) {
#pragma unroll 1
        for (u32 t1 = 0; t1 < counts[1]; ++t1) {
          std::int64_t offset = static_cast<std::int64_t>(k) * launch.input_channel +
                                static_cast<std::int64_t>(t0) * steps[0] + static_cast<std::int64_t>(t1) * steps[1];
          const std::byte* weight = filter + static_cast<std::int64_t>(k) * launch.filter_channel +
                                    static_cast<std::int64_t>(t0) * weight_steps[0] +
                                    static_cast<std::int64_t>(t1) * weight_steps[1];
          bool is_row[kDirectPixels];
#pragma unroll
          for (u32 j = 0; j < kDirectPixels; ++j) {
            is_row[j] = static_cast<u32>(positions[j][0] + static_cast<i32>(t0) * moves[0]) < launch.axes[0].input &&
                        static_cast<u32>(positions[j][1] + static_cast<i32>(t1) * moves[1]) < launch.axes[1].input;
          }
          i32 move = 0;
#pragma unroll 1
          for (u32 t2 = 0; t2 < counts[2]; ++t2) {
            bool is_inside[kDirectPixels];
#pragma unroll
            for (u32 j = 0; j < kDirectPixels; ++j) {
              is_inside[j] = is_row[j] && static_cast<u32>(positions[j][2] + move) < launch.axes[2].input;
            }
            next(weight, offset, is_inside);
            offset += steps[2];
            weight += weight_steps[2];
            move += moves[2];
          }
        }
      }
    }
  }
};

template <class After>
__global__ void __launch_bounds__(256)
    convolution_direct(const __grid_constant__ launch_t<ConvolutionLaunch, After> launch) {
  const WindowBlock block(launch, blockIdx.x);
  if (DirectPixels::first_of_thread(block) >= block.columns) {
    return;
  }
  const DirectPixels pixels(launch, block, DirectPixels::first_of_thread(block));
  f32 sums[kDirectPixels];
  f32 totals[kDirectPixels];
#pragma unroll
  for (u32 j = 0; j < kDirectPixels; ++j) {
    sums[j] = 0.0f;
    totals[j] = block.depth == 0 ? 0.0f : -0.0f;  // adding a sum to -0 leaves the sum unchanged
  }
  const auto end_block = [&] {
#pragma unroll
    for (u32 j = 0; j < kDirectPixels; ++j) {
      totals[j] = totals[j] + sums[j];
      sums[j] = 0.0f;
    }
  };
  u32 in_block = 0;
  pixels.for_each_k(launch, block,
                    [&](const std::byte* weight, std::int64_t offset, const bool(&is_inside)[kDirectPixels]) {
                      const f32 factor = load_number(weight, launch.filter_is_aligned);
#pragma unroll
                      for (u32 j = 0; j < kDirectPixels; ++j) {
                        f32 element = 0.0f;
                        if (is_inside[j]) {
                          element = load_number(pixels.from[j] + offset, launch.input_is_aligned);
                        }
                        sums[j] = fused(element, factor, sums[j]);
                      }
                      if (++in_block == static_cast<u32>(kProductBlock)) {
                        end_block();
                        in_block = 0;
                      }
                    });
  if (in_block != 0) {
    end_block();
  }
#pragma unroll
  for (u32 j = 0; j < kDirectPixels; ++j) {
    if (const u32 column = pixels.column_of(j); column < block.columns) {
      put_output<After>(launch, pixels.channel, PixelPosition(launch, block, column),
                        with_bias(launch, pixels.channel, totals[j]));
    }
  }
}

#endif

}  // namespace anydml::cuda
