// SPDX-License-Identifier: MIT
// Computes window sums of the elements, or of their squares, on a GPU. Each thread computes one output element, or
// several adjacent elements if windows extend along a single dimension that is not the last.
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/normalize/cuda/moments.h"
#include "ops/normalize/scalar/sum.h"

namespace anydml::cuda {
namespace {

template <class T, bool kSquares>
__global__ void __launch_bounds__(kMomentThreads) sum_windows(const __grid_constant__ WindowLaunch launch) {
  const u64 number = u64{blockIdx.x} * kMomentThreads + threadIdx.x;
  if (number >= launch.count) {
    return;
  }
  u32 first[kMaxRank];
  u32 last[kMaxRank];
  u32 at[kMaxRank];
  const std::byte* from = launch.input;
  u32 index = static_cast<u32>(number);
#pragma unroll 1
  for (u32 i = launch.rank; i-- > 0;) {
    const Quotient parts = divide(index, launch.sizes[i]);
    const u32 coordinate = parts.remainder;
    index = parts.quotient;
    const bool is_windowed = (launch.windowed >> i & 1) != 0;
    const u32 after = min(launch.after, launch.sizes[i].divisor - 1 - coordinate);
    first[i] = is_windowed ? coordinate - min(launch.before, coordinate) : coordinate;
    last[i] = is_windowed ? coordinate + after : coordinate;
    at[i] = first[i];
    from += static_cast<std::int64_t>(first[i]) * launch.strides[i];
  }
  f32 sum = kNothing<f32>;
  while (true) {
    const f32 x = widen(__builtin_bit_cast(T, load_element<T>(from, launch.input_is_aligned)));
    sum = added(sum, kSquares ? x * x : x);
    u32 i = launch.rank;
    while (i > 0) {
      --i;
      if (at[i] < last[i]) {
        ++at[i];
        from += launch.strides[i];
        break;
      }
      from -= static_cast<std::int64_t>(at[i] - first[i]) * launch.strides[i];
      at[i] = first[i];
      if (i == 0) {
        launch.output[number] = sum;
        return;
      }
    }
  }
}

// Windows along the middle of three dimensions. kTogether adjacent elements have windows over the same range.
template <class T, bool kSquares, u32 kTogether>
__global__ void __launch_bounds__(kMomentThreads) sum_middle_windows(const __grid_constant__ MiddleWindows launch) {
  const u64 number = u64{blockIdx.x} * kMomentThreads + threadIdx.x;
  if (number >= launch.threads) {
    return;
  }
  const Quotient rest = divide(static_cast<u32>(number), launch.inner);
  const Quotient outer = divide(rest.quotient, launch.middle);
  const u32 coordinate = outer.remainder;
  const u32 first = coordinate - min(launch.before, coordinate);
  const u32 last = coordinate + min(launch.after, launch.middle.divisor - 1 - coordinate);
  const std::byte* from = launch.input + static_cast<std::int64_t>(outer.quotient) * launch.outer_stride +
                          static_cast<std::int64_t>(first) * launch.middle_stride +
                          static_cast<std::int64_t>(rest.remainder) * launch.inner_stride;
  f32 sums[kTogether];
#pragma unroll
  for (u32 k = 0; k < kTogether; ++k) {
    sums[k] = kNothing<f32>;
  }
#pragma unroll 4
  for (u32 i = first; i <= last; ++i, from += launch.middle_stride) {
    u32 words[4];
    load_access<static_cast<int>(kTogether * sizeof(T)), false>(from, words);
#pragma unroll
    for (u32 k = 0; k < kTogether; ++k) {
      const f32 x = widen(__builtin_bit_cast(T, extract<T>(words, static_cast<int>(k))));
      sums[k] = added(sums[k], kSquares ? x * x : x);
    }
  }
  u32 words[4] = {};
#pragma unroll
  for (u32 k = 0; k < kTogether; ++k) {
    words[k] = to_bits(sums[k]);
  }
  store_access<static_cast<int>(kTogether * sizeof(f32)), false>(
      reinterpret_cast<std::byte*>(launch.output + number * kTogether), words);
}

template <class T, bool kSquares>
[[nodiscard]] cudaError_t start_middle(const MiddleWindows& launch, cudaStream_t stream) {
  const u32 blocks = (launch.threads - 1) / kMomentThreads + 1;
  if (launch.together == 1) {
    sum_middle_windows<T, kSquares, 1><<<blocks, kMomentThreads, 0, stream>>>(launch);
  } else {
    sum_middle_windows<T, kSquares, kWindowsTogether><<<blocks, kMomentThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

template <class T, bool kSquares>
[[nodiscard]] cudaError_t start(const WindowLaunch& launch, cudaStream_t stream) {
  sum_windows<T, kSquares><<<(launch.count - 1) / kMomentThreads + 1, kMomentThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_windows(const WindowStep& step, const WindowLaunch& launch, cudaStream_t stream) {
  if (step.function == NormalizeFunction::window_sums) {
    return start<f32, false>(launch, stream);
  }
  return step.type == DataType::FLOAT16 ? start<f16, true>(launch, stream) : start<f32, true>(launch, stream);
}

cudaError_t start_middle_windows(const WindowStep& step, const MiddleWindows& launch, cudaStream_t stream) {
  if (step.function == NormalizeFunction::window_sums) {
    return start_middle<f32, false>(launch, stream);
  }
  return step.type == DataType::FLOAT16 ? start_middle<f16, true>(launch, stream)
                                        : start_middle<f32, true>(launch, stream);
}

}  // namespace anydml::cuda
