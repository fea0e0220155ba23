// SPDX-License-Identifier: MIT
// Pools small windows over contiguous rows. Each thread computes kPoolStrip outputs of a column and reads each required
// input element once; neighboring threads read the adjacent columns. Rows are visited from top to bottom, so each
// output combines its elements in row-major order.
#include "backend/cuda/kernels/device.cuh"
#include "ops/pool/cuda/launch.h"
#include "ops/pool/scalar/pool.h"

namespace anydml::cuda {
namespace {

// NaN wins, and +0 is above -0. FLOAT16 elements are compared as FLOAT32.
struct ColumnMax {
  static constexpr bool kIsMax = true;
  static constexpr f32 kNeutral = from_bits<f32>(0xff800000);
  [[nodiscard]] __device__ static f32 combine(f32 a, f32 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    f32 greater = 0;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
    return greater;
#else
    return greater_of(a, b);
#endif
  }
};

struct ColumnSum {
  static constexpr bool kIsMax = false;
  static constexpr f32 kNeutral = kNothing<f32>;
  [[nodiscard]] __device__ static f32 combine(f32 a, f32 b) { return a + b; }
};

template <class T, class Op, int kWindow, int kStride>
__global__ void __launch_bounds__(kPoolThreads) pool_columns(const __grid_constant__ PoolColumns launch) {
  constexpr int kOutputs = static_cast<int>(kPoolStrip);
  constexpr int kRows = (kOutputs - 1) * kStride + kWindow;
  const u64 thread = u64{blockIdx.x} * kPoolThreads + threadIdx.x;
  if (thread >= launch.threads) {
    return;
  }
  const Quotient column = divide(static_cast<u32>(thread), launch.width);
  const Quotient strip = divide(column.quotient, launch.strips);
  const Quotient channel = divide(strip.quotient, launch.channels);
  const u32 first = strip.remainder * kPoolStrip;
  const i32 x = static_cast<i32>(column.remainder) * kStride - launch.padding[1];
  const i32 y = static_cast<i32>(first) * kStride - launch.padding[0];
  const std::byte* from = launch.input + channel.remainder * launch.input_channel +
                          channel.quotient * launch.input_batch + y * launch.input_row +
                          x * static_cast<std::int64_t>(sizeof(T));
  bool exists[kWindow];
  i32 columns = 0;
#pragma unroll
  for (int k = 0; k < kWindow; ++k) {
    exists[k] = x + k >= 0 && x + k < launch.input_width;
    columns += exists[k] ? 1 : 0;
  }
  f32 totals[kOutputs];
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    totals[i] = Op::kNeutral;
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const bool has_row = y + row >= 0 && y + row < launch.input_height;
    f32 values[kWindow];
#pragma unroll
    for (int k = 0; k < kWindow; ++k) {
      values[k] = Op::kNeutral;
      if (has_row && exists[k]) {
        const f32 element = widen(__builtin_bit_cast(T, load_element<T>(from + k * sizeof(T), true)));
        values[k] = Op::kIsMax ? element : pool_lifted(launch.function, element);
      }
    }
    from += launch.input_row;
    if constexpr (Op::kIsMax) {
#pragma unroll
      for (int k = 1; k < kWindow; ++k) {
        values[0] = Op::combine(values[0], values[k]);
      }
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      if (row >= i * kStride && row < i * kStride + kWindow) {
#pragma unroll
        for (int k = 0; k < (Op::kIsMax ? 1 : kWindow); ++k) {
          totals[i] = Op::combine(totals[i], values[k]);
        }
      }
    }
  }
  std::byte* to = launch.output + channel.remainder * launch.output_channel + channel.quotient * launch.output_batch +
                  first * launch.output_row + column.remainder * static_cast<std::int64_t>(sizeof(T));
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    if (first + static_cast<u32>(i) < launch.height) {
      f32 result = totals[i];
      if constexpr (!Op::kIsMax) {
        const i32 top = max(y + i * kStride, 0);
        const i32 bottom = min(y + i * kStride + kWindow, launch.input_height);
        const i32 elements = max(bottom - top, 0) * columns;
        result = pool_finished(launch.function, result,
                               static_cast<f32>(launch.counts_padding != 0 ? kWindow * kWindow : elements));
      }
      store_element<T>(to, __builtin_bit_cast(bits_t<T>, narrow<T>(result)), true);
    }
    to += launch.output_row;
  }
}

template <class T, class Op>
cudaError_t start(PoolShape shape, const PoolColumns& launch, cudaStream_t stream) {
  const auto blocks = static_cast<u32>((u64{launch.threads} + kPoolThreads - 1) / kPoolThreads);
  switch (shape) {
    case PoolShape::two_by_two:
      pool_columns<T, Op, 2, 2><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
    case PoolShape::three_by_one:
      pool_columns<T, Op, 3, 1><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
    case PoolShape::three_by_two:
      pool_columns<T, Op, 3, 2><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_pool_columns(DataType type, PoolShape shape, const PoolColumns& launch, cudaStream_t stream) {
  const bool is_half = type == DataType::FLOAT16;
  if (launch.function == PoolFunction::max) {
    return is_half ? start<f16, ColumnMax>(shape, launch, stream) : start<f32, ColumnMax>(shape, launch, stream);
  }
  return is_half ? start<f16, ColumnSum>(shape, launch, stream) : start<f32, ColumnSum>(shape, launch, stream);
}

}  // namespace anydml::cuda
