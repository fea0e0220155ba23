// SPDX-License-Identifier: MIT
// Combines the results of an output's blocks into one.
#pragma once

#include "ops/reduce/cuda/values.cuh"

namespace anydml::cuda {

// Combines adjacent pairs of partial results until one is left. Missing values at the end are neutral, so an unpaired
// value is passed on unchanged. A team is a warp or a block of threads. If there are many partial results, each team
// combines 4,096 of them and replaces the first one with their combination.
template <class W>
__device__ inline void combine_partials(const typename W::Launch& launch) {
  using Value = typename W::Value;
  __shared__ Value of_warps[kReduceThreads / 32];
  const u32 unit = blockIdx.x * (kReduceThreads >> launch.team_shift) + (threadIdx.x >> launch.team_shift);
  const u32 thread = threadIdx.x & (launch.team - 1);
  const bool exists = unit < launch.units;
  const Quotient split = divide(exists ? unit : 0, launch.columns);  // the output, and the index of its part
  const u32 first = split.remainder * kPartialsAtOnce;
  auto* const partials =
      reinterpret_cast<Value*>(const_cast<std::byte*>(launch.input)) + u64{split.quotient} * launch.blocks.divisor;
  Value values[kPartialsOfThread];
#pragma unroll
  for (u32 i = 0; i < kPartialsOfThread; ++i) {
    const u32 number = first + thread * launch.of_thread + i;
    const bool is_there = exists && i < launch.of_thread && number < launch.left;
    values[i] = is_there ? partials[u64{number} * launch.apart] : W::neutral();
  }
#pragma unroll
  for (u32 step = 1; step < kPartialsOfThread; step *= 2) {
#pragma unroll
    for (u32 i = 0; i < kPartialsOfThread; i += 2 * step) {
      values[i] = W::combine(values[i], values[i + step]);
    }
  }
  Value value = values[0];
#pragma unroll 1
  for (u32 distance = 1; distance < 32; distance *= 2) {
    value = W::combine(value, W::from_other(value, distance));
  }
  if (launch.team == kReduceThreads) {
    if (threadIdx.x % 32 == 0) {
      of_warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      constexpr u32 kWarps = kReduceThreads / 32;
      Value warps[kWarps];
#pragma unroll
      for (u32 i = 0; i < kWarps; ++i) {
        warps[i] = of_warps[i];
      }
#pragma unroll
      for (u32 step = 1; step < kWarps; step *= 2) {
#pragma unroll
        for (u32 i = 0; i < kWarps; i += 2 * step) {
          warps[i] = W::combine(warps[i], warps[i + step]);
        }
      }
      value = warps[0];
    }
  }
  if (thread == 0 && exists) {
    if (launch.to_partials) {
      partials[u64{first} * launch.apart] = value;
    } else {
      store_result<W>(launch, split.quotient, value);
    }
  }
}

// Exact sums of FLOAT16: a team adds all partial sums of an output, in any order.
template <class W>
__device__ inline void combine_halves(const typename W::Launch& launch) {
  alignas(HalfSum) __shared__ std::byte memory[kReduceThreads * sizeof(HalfSum)];
  auto* const sums = reinterpret_cast<HalfSum*>(memory);
  const u32 output = blockIdx.x * (kReduceThreads >> launch.team_shift) + (threadIdx.x >> launch.team_shift);
  const u32 thread = threadIdx.x & (launch.team - 1);
  const u32 blocks = launch.blocks.divisor;
  const bool exists = output < launch.units;
  const auto* const partials = reinterpret_cast<const f64*>(launch.input) + u64{output} * blocks;
  HalfSum sum;
#pragma unroll 4
  for (u32 i = thread; exists && i < blocks; i += launch.team) {
    sum.add(partials[i]);
  }
  sums[threadIdx.x] = sum;
#pragma unroll 1
  for (u32 half = launch.team / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      sum.add(sums[threadIdx.x + half]);
      sums[threadIdx.x] = sum;
    }
  }
  if (thread == 0 && exists) {
    store_bits<W>(launch, output, sum.over(launch.function == ReduceFunction::AVERAGE ? launch.count : 1).bits);
  }
}

template <class W>
__global__ void __launch_bounds__(kReduceThreads) combine(const __grid_constant__ typename W::Launch launch) {
  if constexpr (W::kHalfSums) {
    combine_halves<W>(launch);
  } else {
    combine_partials<W>(launch);
  }
}

}  // namespace anydml::cuda
