// SPDX-License-Identifier: MIT
// Resampling on a GPU: each thread finds the taps of its position in the sampled dimensions once, and uses them for
// several positions of a copied dimension.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/resample/step.h"

namespace anydml::cuda {

inline constexpr u32 kResampleThreads = 256;

// The taps of a stretched dimension in the workspace. Output o has counts[o] taps, starting at firsts[o], and its
// weights start at weights[o * most].
struct TapTable {
  i64* firsts;  // null if the dimension is not stretched
  i32* counts;
  f32* weights;
  i64 maximum;
};

struct ResampleLaunch {
  const std::byte* input;
  std::byte* output;
  u32 count;   // positions in a batch, one per thread
  u32 rank;    // loops over these positions, outermost first
  u32 levels;  // the sampled dimensions, outermost first
  u32 input_is_aligned;
  u32 output_is_aligned;
  FastDivisor sizes[kMaxRank];
  u32 level_of[kMaxRank];       // the sampled dimension of a loop, or kNoLevel for a copied dimension
  i64 input_strides[kMaxRank];  // strides of the copied loops
  i64 output_strides[kMaxRank];
  i64 batches;
  i64 batch_input;
  i64 batch_output;
  ResampleDimension dimensions[kMaxRank];  // by level
  TapTable tables[kMaxRank];               // by level
};

#if defined(__CUDACC__)

// The position of a thread. Its indices in the sampled dimensions are in registers if kLevels is known.
template <u32 kLevels>
struct ResamplePosition {
  i64 outputs[kLevels == 0 ? 1 : kLevels] = {};
  i64 from = 0;
  i64 to = 0;

  __device__ ResamplePosition(const ResampleLaunch& launch, u32 index) {
#pragma unroll 1
    for (u32 loop = launch.rank; loop-- > 0;) {
      const Quotient parts = divide(index, launch.sizes[loop]);
      index = parts.quotient;
      const auto at = static_cast<i64>(parts.remainder);
      to += at * launch.output_strides[loop];
      from += at * launch.input_strides[loop];
#pragma unroll
      for (u32 level = 0; level < kLevels; ++level) {
        outputs[level] = launch.level_of[loop] == level ? at : outputs[level];
      }
    }
  }
};

template <class T, u32 kLevels>
__global__ void __launch_bounds__(kResampleThreads) move_nearest(const __grid_constant__ ResampleLaunch launch) {
  const u32 index = blockIdx.x * kResampleThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  const ResamplePosition<kLevels> position(launch, index);
  i64 from = position.from;
#pragma unroll
  for (u32 level = 0; level < kLevels; ++level) {
    if (level < launch.levels) {
      from += nearest_of(launch.dimensions[level], position.outputs[level]) * launch.dimensions[level].input_stride;
    }
  }
  for (i64 batch = blockIdx.y; batch < launch.batches; batch += gridDim.y) {
    const bits_t<T> bits =
        load_element<T>(launch.input + from + batch * launch.batch_input, launch.input_is_aligned != 0);
    store_element<T>(launch.output + position.to + batch * launch.batch_output, bits, launch.output_is_aligned != 0);
  }
}

// The mean along dimension kLevel and all later dimensions.
template <class T, u32 kLevel, u32 kLevels>
[[nodiscard]] __device__ inline f32 linear_mean(const std::byte* from, const i64 (&strides)[kLevels],
                                                const f32 (&seconds)[kLevels], bool aligned) {
  if constexpr (kLevel == kLevels) {
    return to_resample(__builtin_bit_cast(T, load_element<T>(from, aligned)));
  } else {
    const f32 first = linear_mean<T, kLevel + 1, kLevels>(from, strides, seconds, aligned);
    if (seconds[kLevel] == 0.0F) {
      return first;
    }
    const f32 second = linear_mean<T, kLevel + 1, kLevels>(from + strides[kLevel], strides, seconds, aligned);
    return first * (1.0F - seconds[kLevel]) + second * seconds[kLevel];
  }
}

template <class T, u32 kLevels>
__global__ void __launch_bounds__(kResampleThreads) resample_linear(const __grid_constant__ ResampleLaunch launch) {
  const u32 index = blockIdx.x * kResampleThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  const ResamplePosition<kLevels> position(launch, index);
  i64 from = position.from;
  i64 strides[kLevels];
  f32 seconds[kLevels];
#pragma unroll
  for (u32 level = 0; level < kLevels; ++level) {
    const LinearTaps taps = linear_taps(launch.dimensions[level], position.outputs[level]);
    strides[level] = launch.dimensions[level].input_stride;
    from += taps.first * strides[level];
    seconds[level] = taps.second;
  }
  for (i64 batch = blockIdx.y; batch < launch.batches; batch += gridDim.y) {
    const f32 mean = linear_mean<T, 0, kLevels>(launch.input + from + batch * launch.batch_input, strides, seconds,
                                                launch.input_is_aligned != 0);
    store_element<T>(launch.output + position.to + batch * launch.batch_output,
                     __builtin_bit_cast(bits_t<T>, resampled<T>(mean)), launch.output_is_aligned != 0);
  }
}

// Handles any number of dimensions, including stretched ones.
template <class T>
__global__ void __launch_bounds__(kResampleThreads) resample_any(const __grid_constant__ ResampleLaunch launch) {
  const u32 index = blockIdx.x * kResampleThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  const ResamplePosition<kMaxRank> position(launch, index);
  i64 from = position.from;
  i32 counts[kMaxRank];
  f32 pairs[kMaxRank][2];
  const f32* weights[kMaxRank];
  for (u32 level = 0; level < launch.levels; ++level) {
    const ResampleDimension& dimension = launch.dimensions[level];
    const TapTable& table = launch.tables[level];
    const i64 o = position.outputs[level];
    if (table.firsts != nullptr) {
      from += table.firsts[o] * dimension.input_stride;
      counts[level] = table.counts[o];
      weights[level] = table.weights + o * table.maximum;
    } else {
      const LinearTaps taps = linear_taps(dimension, o);
      from += taps.first * dimension.input_stride;
      counts[level] = taps.second == 0.0F ? 1 : 2;
      pairs[level][0] = 1.0F - taps.second;
      pairs[level][1] = taps.second;
      weights[level] = pairs[level];
    }
  }
  for (i64 batch = blockIdx.y; batch < launch.batches; batch += gridDim.y) {
    const std::byte* at = launch.input + from + batch * launch.batch_input;
    i32 tap[kMaxRank] = {};
    f32 sums[kMaxRank];
    f32 value = 0.0F;
    for (bool done = false; !done;) {
      value = to_resample(__builtin_bit_cast(T, load_element<T>(at, launch.input_is_aligned != 0)));
      done = true;
      for (u32 level = launch.levels; level-- > 0;) {
        const f32 product = value * weights[level][tap[level]];
        sums[level] = tap[level] == 0 ? product : sums[level] + product;
        at += launch.dimensions[level].input_stride;
        if (++tap[level] < counts[level]) {
          done = false;
          break;
        }
        at -= tap[level] * launch.dimensions[level].input_stride;
        tap[level] = 0;
        value = sums[level];
      }
    }
    store_element<T>(launch.output + position.to + batch * launch.batch_output,
                     __builtin_bit_cast(bits_t<T>, resampled<T>(value)), launch.output_is_aligned != 0);
  }
}

__global__ void __launch_bounds__(kResampleThreads)
    fill_tap_table(const __grid_constant__ ResampleDimension dimension, const __grid_constant__ TapTable table) {
  const i64 step = static_cast<i64>(gridDim.x) * kResampleThreads;
  for (i64 o = static_cast<i64>(blockIdx.x) * kResampleThreads + threadIdx.x; o < dimension.output_size; o += step) {
    const StretchedTaps taps(dimension, o);
    table.firsts[o] = taps.first();
    table.counts[o] = static_cast<i32>(taps.count());
    for (i64 t = 0; t < taps.count(); ++t) {
      table.weights[o * table.maximum + t] = taps.weight(t);
    }
  }
}

#endif

}  // namespace anydml::cuda
