// SPDX-License-Identifier: MIT
// The sums of squares of windows on a GPU: a thread has an element of the output.
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/normalise/cuda/moments.h"
#include "ops/normalise/scalar/sum.h"

namespace anydml::cuda {
namespace {

template <class T>
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
    const u32 place = parts.remainder;
    index = parts.quotient;
    const bool is_windowed = (launch.windowed >> i & 1) != 0;
    const u32 after = min(launch.after, launch.sizes[i].divisor - 1 - place);
    first[i] = is_windowed ? place - min(launch.before, place) : place;
    last[i] = is_windowed ? place + after : place;
    at[i] = first[i];
    from += static_cast<std::int64_t>(first[i]) * launch.strides[i];
  }
  f32 sum = kNothing<f32>;
  while (true) {
    const f32 x = widen(__builtin_bit_cast(T, load_element<T>(from, launch.input_is_aligned)));
    sum = added(sum, x * x);
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

template <class T>
[[nodiscard]] cudaError_t start(const WindowLaunch& launch, cudaStream_t stream) {
  sum_windows<T><<<(launch.count - 1) / kMomentThreads + 1, kMomentThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_windows(DataType type, const WindowLaunch& launch, cudaStream_t stream) {
  return type == DataType::FLOAT16 ? start<f16>(launch, stream) : start<f32>(launch, stream);
}

}  // namespace anydml::cuda
