// SPDX-License-Identifier: MIT
// Hardmax on a GPU: finds the index of the maximum, then writes zeros and a one.
#include "ops/normalize/cuda/elements.cuh"

namespace anydml::cuda {
namespace {

struct Found {
  f32 value;
  u32 index;
};
inline constexpr u32 kNoIndex = 0xffffffff;

// If elements are equal, the first one wins. All NaNs count as equal here.
[[nodiscard]] __device__ inline Found better(const Found& a, const Found& b) {
  const bool equal = a.value == b.value || (a.value != a.value && b.value != b.value);
  return is_beyond(b.value, a.value) || (equal && b.index < a.index) ? b : a;
}

__device__ inline void look(Found& found, f32 x, u32 index) {
  if (is_beyond(x, found.value) || found.index == kNoIndex) {
    found = {x, index};
  }
}

// Processes one row per warp or per block of threads.
template <class T>
__global__ void __launch_bounds__(kNormalizeThreads) hardmax_along(const __grid_constant__ NormalizeLaunch launch) {
  __shared__ Found of_warps[kNormalizeThreads / 32];
  const u32 number = blockIdx.x * (kNormalizeThreads / launch.team) + threadIdx.x / launch.team;
  const u32 thread = threadIdx.x % launch.team;
  const bool exists = number < launch.rows;
  const DeviceRow<T> row(launch, exists ? number : 0);
  Found found{kMinElement, kNoIndex};
#pragma unroll 4
  for (u32 i = thread; exists && i < launch.count; i += launch.team) {
    look(found, row.load(i), i);
  }
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    found = better(found, {shuffle(found.value, distance), __shfl_xor_sync(kAllOfWarp, found.index, distance)});
  }
  if (launch.team == kNormalizeThreads) {
    if (threadIdx.x % 32 == 0) {
      of_warps[threadIdx.x / 32] = found;
    }
    __syncthreads();
    found = of_warps[0];
#pragma unroll
    for (u32 i = 1; i < kNormalizeThreads / 32; ++i) {
      found = better(found, of_warps[i]);
    }
  }
#pragma unroll 4
  for (u32 i = thread; exists && i < launch.count; i += launch.team) {
    row.store(i, i == found.index ? 1.0f : 0.0f);
  }
}

// Processes 32 rows whose elements are adjacent. Eight warps share the elements.
template <class T>
__global__ void __launch_bounds__(kNormalizeThreads) hardmax_across(const __grid_constant__ NormalizeLaunch launch) {
  constexpr u32 kWarps = kNormalizeThreads / 32;
  __shared__ Found of_warps[kWarps][32];
  const u32 column = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u32 number = blockIdx.x * kWarpColumns + column;
  const bool exists = number < launch.rows;
  const DeviceRow<T> row(launch, exists ? number : 0);
  Found found{kMinElement, kNoIndex};
#pragma unroll 4
  for (u32 i = warp; i < launch.count; i += kWarps) {
    look(found, row.load(i), i);
  }
  of_warps[warp][column] = found;
  __syncthreads();
  found = of_warps[0][column];
#pragma unroll
  for (u32 i = 1; i < kWarps; ++i) {
    found = better(found, of_warps[i][column]);
  }
#pragma unroll 4
  for (u32 i = warp; exists && i < launch.count; i += kWarps) {
    row.store(i, i == found.index ? 1.0f : 0.0f);
  }
}

template <class T>
[[nodiscard]] cudaError_t start(NormalizeKernel kernel, NormalizeLaunch launch, cudaStream_t stream) {
  const auto blocks = [&](u32 of_block) { return launch.rows / of_block + (launch.rows % of_block != 0 ? 1 : 0); };
  if (kernel == NormalizeKernel::warps || kernel == NormalizeKernel::blocks) {
    launch.team = kernel == NormalizeKernel::warps ? 32 : kNormalizeThreads;
    hardmax_along<T><<<blocks(kNormalizeThreads / launch.team), kNormalizeThreads, 0, stream>>>(launch);
  } else {
    hardmax_across<T><<<blocks(kWarpColumns), kNormalizeThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_hardmax(DataType type, NormalizeKernel kernel, const NormalizeLaunch& launch, cudaStream_t stream) {
  return type == DataType::FLOAT16 ? start<f16>(kernel, launch, stream) : start<f32>(kernel, launch, stream);
}

}  // namespace anydml::cuda
