// SPDX-License-Identifier: MIT
// Byte convolutions that use the loop of integer products. The windows of pixels are never materialized: each thread
// tracks the position of its column in the image, and the thread block keeps a small table of the next words of k. A
// word is up to four adjacent channels at one tap, so that a single bounds check covers all its bytes. A tap outside
// the image reads the zero point of the input, so that its products cancel when the zero points are applied at the end.
#pragma once

#include "ops/product/cuda/integer_tiles.cuh"
#include "ops/product/cuda/windows.cuh"

namespace anydml::cuda {

#if defined(__CUDACC__)

inline constexpr u32 kWordChannels = 4;

// Loads a word with the bytes of some adjacent channels; the word's other bytes are 0. If kIsWord is set, there are
// either no channels or four channels whose bytes form one aligned word. The function has no branches, so that a thread
// can have many loads in flight.
template <bool kIsWord>
[[nodiscard]] __device__ inline u32 load_channels(const std::byte* from, std::int64_t channel_step, u32 channels) {
  if constexpr (kIsWord) {
    return channels != 0 ? *reinterpret_cast<const u32*>(from) : 0;
  } else {
    u32 word = 0;
#pragma unroll
    for (u32 i = 0; i < kWordChannels; ++i) {
      const u32 byte = i < channels ? static_cast<u32>(from[i * channel_step]) : 0;
      word |= byte << (8 * i);
    }
    return word;
  }
}
// The bit mask for this many channels in a word.
[[nodiscard]] __device__ inline u32 channel_mask(u32 channels) {
  return static_cast<u32>((u64{1} << (8 * channels)) - 1);
}

// A thread's share of the words in the filter and the windows.
template <u32 kTile>
class ByteWindows {
 public:
  static constexpr u32 kTableSteps = 2;

  // table: kTableSteps * kWordStep entries in shared memory.
  __device__ ByteWindows(const IntegerWindowLaunch& launch, const WindowBlock& block, WindowTap* table, u32 first_word,
                         u32 first_row, u32 first_column)
      : launch_(launch),
        block_(block),
        table_(table),
        first_word_(first_word),
        rows_(launch.rows.divisor - first_row),
        is_column_(first_column + threadIdx.x % kTile < block.columns),
        window_(launch, block, is_column_ ? first_column + threadIdx.x % kTile : 0),
        filter_(launch.filter + static_cast<std::int64_t>(block.group) * launch.filter_group +
                (static_cast<std::int64_t>(first_row) + threadIdx.x / kWordStep) * launch.filter_row),
        filter_flip_(launch.filter_is_signed ? 0 : 0x80808080U),
        input_flip_(launch.input_is_signed ? 0 : 0x80808080U),
        padding_(static_cast<u32>(zero_at(launch.input_zero, 0, 0, false)) * 0x01010101U) {}

  __device__ void begin() {
    static_assert(kTableSteps * kWordStep <= kThreads);
    if (threadIdx.x < kTableSteps * kWordStep) {
      describe(threadIdx.x);
    }
    __syncthreads();
  }
  // The warps take turns filling the table.
  __device__ void prepare(u32 step) {
    if (threadIdx.x / 32 == step % (kThreads / 32) && threadIdx.x % 32 < kWordStep) {
      describe(step * kWordStep + threadIdx.x % 32);
    }
  }

  __device__ void load(u32 step) {
    const WindowTap* const taps = table_ + step % kTableSteps * kWordStep;
    if (launch_.filter_has_words) {
      load_filter<true>(taps);
    } else {
      load_filter<false>(taps);
    }
    if (launch_.input_has_words) {
      load_windows<true>(taps);
    } else {
      load_windows<false>(taps);
    }
  }
  __device__ void put(u32* to_a, u32* to_b) const {
    constexpr u32 kRow = tile_row(kTile);
#pragma unroll
    for (u32 n = 0; n < kWords; ++n) {
      to_a[threadIdx.x % kWordStep * kRow + threadIdx.x / kWordStep + n * kRowStep] = of_a_[n];
      to_b[(threadIdx.x / kTile + n * kDepthStep) * kRow + threadIdx.x % kTile] = of_b_[n];
    }
  }

 private:
  static constexpr u32 kThreads = byte_threads(kTile);
  static constexpr u32 kWords = kTile * kWordStep / kThreads;  // per factor
  static constexpr u32 kRowStep = kThreads / kWordStep;
  static constexpr u32 kDepthStep = kThreads / kTile;

  // Neighboring threads read neighboring words of the filter.
  template <bool kIsWord>
  __device__ void load_filter(const WindowTap* taps) {
    const WindowTap& tap = taps[threadIdx.x % kWordStep];
    const std::byte* from = filter_ + tap.filter;
    const u32 mask = channel_mask(tap.channels);
#pragma unroll
    for (u32 n = 0; n < kWords; ++n, from += kRowStep * launch_.filter_row) {
      const u32 channels = threadIdx.x / kWordStep + n * kRowStep < rows_ ? tap.channels : 0;
      of_a_[n] = (load_channels<kIsWord>(from, launch_.filter_channel, channels) ^ filter_flip_) & mask;
    }
  }
  // Neighboring threads read neighboring pixels.
  template <bool kIsWord>
  __device__ void load_windows(const WindowTap* taps) {
#pragma unroll
    for (u32 n = 0; n < kWords; ++n) {
      const WindowTap& tap = taps[threadIdx.x / kTile + n * kDepthStep];
      const bool is_there = window_.meets(launch_, tap.displacement) && is_column_;
      const u32 word =
          load_channels<kIsWord>(window_.from + tap.input, launch_.input_channel, is_there ? tap.channels : 0);
      of_b_[n] = ((is_there ? word : padding_) ^ input_flip_) & channel_mask(tap.channels);
    }
  }

  // Writes a word to the table. number: the index of the word, counted from the first word.
  __device__ void describe(u32 number) {
    describe_tap<kWordChannels>(launch_, block_, first_word_ + number, launch_.words,
                                table_[number % (kTableSteps * kWordStep)]);
  }

  const IntegerWindowLaunch& launch_;
  const WindowBlock& block_;
  WindowTap* table_;
  u32 first_word_;
  u32 rows_;  // number of rows starting with the tile's first row
  bool is_column_;
  WindowPosition window_;  // of this thread's column
  const std::byte* filter_;
  u32 filter_flip_;
  u32 input_flip_;
  u32 padding_;
  u32 of_a_[kWords];
  u32 of_b_[kWords];
};

// The corrections for the totals of an output channel. The channel is counted across all groups.
struct ChannelNumbers {
  u32 bias;
  f32 factor;

  __device__ ChannelNumbers(const IntegerWindowLaunch& launch, u32 channel) : bias(0), factor(0) {
    if (launch.bias != nullptr) {
      bias = load_element<f32>(launch.bias + static_cast<std::int64_t>(channel) * launch.bias_channel,
                               launch.bias_is_aligned);
    }
    if (launch.finish == kFinishQuantized) {
      factor = quantized_factor_at(launch, channel, 0);
    }
  }
};

// The bits of a byte convolution's outputs.
class WindowFinish {
 public:
  __device__ explicit WindowFinish(const IntegerWindowLaunch& launch)
      : is_quantized_(launch.finish == kFinishQuantized),
        is_signed_(launch.output_is_signed),
        zero_(zero_at(launch.output_zero, 0, 0, launch.output_is_signed)) {}

  [[nodiscard]] __device__ bool is_quantized() const { return is_quantized_; }
  [[nodiscard]] __device__ u32 operator()(const ChannelNumbers& numbers, u32 total) const {
    const u32 with_bias = total + numbers.bias;
    return is_quantized_ ? quantized_bits(static_cast<i32>(with_bias), numbers.factor, zero_, is_signed_) : with_bias;
  }

 private:
  bool is_quantized_;
  bool is_signed_;
  i32 zero_;
};

// Writes one output.
template <class After, class Launch>
__device__ inline void put_finished(const Launch& launch, const WindowFinish& finish, u32 channel,
                                    const PixelPosition& pixel, u32 bits) {
  if (!kIsForwarded<After> && finish.is_quantized()) {
    launch.output[static_cast<std::int64_t>(channel) * launch.output_channel + pixel.offset] =
        static_cast<std::byte>(bits);
  } else {
    put_bits<After>(launch, channel, pixel, bits);
  }
}

// The zero point and the sum of a tile's row, adjusted for the signed multiplication.
struct RowNumbers {
  u32 zero;
  u32 rest;  // the sum without the zero point
  ChannelNumbers channel;
};

template <u32 kTile, class After>
__global__ void __launch_bounds__(byte_threads(kTile), kTile == kLargeTile ? 2 : 6)
    integer_convolution_tiles(const __grid_constant__ launch_t<IntegerWindowLaunch, After> launch) {
  using Windows = ByteWindows<kTile>;
  constexpr u32 kThreads = byte_threads(kTile);
  __shared__ ByteStages<kTile> stages;
  __shared__ WindowTap table[Windows::kTableSteps * kWordStep];
  __shared__ alignas(16) std::byte row_bytes[kTile * sizeof(RowNumbers)];
  const WindowBlock block(launch, blockIdx.x);
  const u32 first_row = block.row_part * kTile;
  const u32 first_column = block.column_part * kTile;
  const u32 rows = launch.rows.divisor;
  const u32 first_channel = block.group * rows;
  const u32 first_word = blockIdx.y * launch.words_of_part;
  const BytePosition<kTile> position;
  ByteSums sums;
  Windows factors(launch, block, table, first_word, first_row, first_column);
  multiply_bytes<kTile>(factors, position, min(launch.words - first_word, launch.words_of_part), stages, sums);

  auto* const row_numbers = reinterpret_cast<RowNumbers*>(row_bytes);
  for (u32 row = threadIdx.x; row < min(kTile, rows - first_row); row += kThreads) {
    const u32 channel = first_channel + first_row + row;
    const u32 zero =
        shifted_zero(zero_at(launch.filter_zero, channel, 0, launch.filter_is_signed), launch.filter_is_signed);
    // The first part of k adds the product of both zero points for all k.
    const u32 of_zeros = blockIdx.y == 0 ? block.depth * zero : 0;
    row_numbers[row] = {
        .zero = zero, .rest = stages.side_sums[row] - of_zeros, .channel = ChannelNumbers(launch, channel)};
  }
  __syncthreads();

  const u32 input_zero = shifted_zero(zero_at(launch.input_zero, 0, 0, launch.input_is_signed), launch.input_is_signed);
  const WindowFinish finish(launch);
  u32* const part = launch.totals + u64{blockIdx.y} * launch.split.outputs;  // if k is split
#pragma unroll 1
  for (u32 half = 0; half < 2; ++half) {
    const u32 near = position.column(half * 4);
    const u32 column = first_column + near;
    if (column >= block.columns) {
      continue;
    }
    const auto total = [&](const RowNumbers& row, u32 i, u32 n) {
      const i32 sum = half == 0 ? sums[i][n] : sums[i][n + 4];
      return static_cast<u32>(sum) - row.zero * stages.side_sums[kTile + near + n] - input_zero * row.rest;
    };
    if (!kIsForwarded<After> && launch.has_vectors && launch.totals == nullptr) {
      const PixelPosition pixel(launch, block, column);
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
        const u32 there = position.row(i);
        if (first_row + there >= rows) {
          continue;
        }
        const RowNumbers& row = row_numbers[there];
        u32 words[4];
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          words[n] = finish(row.channel, total(row, i, n));
        }
        std::byte* const to = launch.output +
                              static_cast<std::int64_t>(first_channel + first_row + there) * launch.output_channel +
                              pixel.offset;
        if (finish.is_quantized()) {
          *reinterpret_cast<u32*>(to) = words[0] | words[1] << 8 | words[2] << 16 | words[3] << 24;
        } else {
          store_access<16, false>(to, words);
        }
      }
      continue;
    }
#pragma unroll
    for (u32 n = 0; n < 4; ++n) {
      if (column + n >= block.columns) {
        continue;
      }
      const PixelPosition pixel(launch, block, column + n);
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
        const u32 there = position.row(i);
        if (first_row + there >= rows) {
          continue;
        }
        const RowNumbers& row = row_numbers[there];
        const u32 channel = first_channel + first_row + there;
        const u32 computed = total(row, i, n);
        if (launch.totals != nullptr) {
          part[u64{channel} * block.columns + column + n] = computed;
        } else {
          put_finished<After>(launch, finish, channel, pixel, finish(row.channel, computed));
        }
      }
    }
  }
}

// Computes the outputs if k is split, one per thread.
template <class After>
__global__ void __launch_bounds__(kSumThreads)
    integer_convolution_sums(const __grid_constant__ launch_t<IntegerWindowLaunch, After> launch) {
  const u32 number = blockIdx.x * kSumThreads + threadIdx.x;
  if (number >= launch.split.outputs) {
    return;
  }
  const u32* from = launch.totals + number;
  u32 total = *from;
#pragma unroll 4
  for (u32 part = 1; part < launch.parts; ++part) {
    from += launch.split.outputs;
    total += *from;
  }
  const WindowBlock block(launch, 0);
  const Quotient parts = divide(number, launch.columns);
  const u32 channel = parts.quotient;
  const WindowFinish finish(launch);
  put_finished<After>(launch, finish, channel, PixelPosition(launch, block, parts.remainder),
                      finish(ChannelNumbers(launch, channel), total));
}

// For groups with few output channels: a thread computes some pixels of one channel.
template <class After>
__global__ void __launch_bounds__(256, 4)
    integer_convolution_direct(const __grid_constant__ launch_t<IntegerWindowLaunch, After> launch) {
  const WindowBlock block(launch, blockIdx.x);
  if (DirectPixels::first_of_thread(block) >= block.columns) {
    return;
  }
  const DirectPixels pixels(launch, block, DirectPixels::first_of_thread(block));
  const u32 channel = pixels.channel;
  const i32 input_zero = zero_at(launch.input_zero, 0, 0, launch.input_is_signed);
  const i32 filter_zero = zero_at(launch.filter_zero, channel, 0, launch.filter_is_signed);
  u32 totals[kDirectPixels] = {};
  pixels.for_each_k(launch, block,
                    [&](const std::byte* weight, std::int64_t offset, const bool(&is_inside)[kDirectPixels]) {
                      const i32 factor = byte_value(*weight, launch.filter_is_signed) - filter_zero;
#pragma unroll
                      for (u32 j = 0; j < kDirectPixels; ++j) {
                        i32 element = 0;
                        if (is_inside[j]) {
                          element = byte_value(pixels.from[j][offset], launch.input_is_signed) - input_zero;
                        }
                        totals[j] += static_cast<u32>(factor * element);
                      }
                    });
  const WindowFinish finish(launch);
  const ChannelNumbers numbers(launch, channel);
#pragma unroll
  for (u32 j = 0; j < kDirectPixels; ++j) {
    if (const u32 column = pixels.column_of(j); column < block.columns) {
      put_finished<After>(launch, finish, channel, PixelPosition(launch, block, column), finish(numbers, totals[j]));
    }
  }
}

#endif

}  // namespace anydml::cuda
