// SPDX-License-Identifier: MIT
// Softmax and log-softmax on a GPU. The order of sums requires one chain of additions for each lane of a block. Nothing
// else has a fixed order: all threads compute exponentials, and the threads that own lanes add them up.
#pragma once

#include "ops/normalize/cuda/elements.cuh"
#include "ops/normalize/cuda/quads.cuh"

namespace anydml::cuda {

template <NormalizeFunction kFunction>
[[nodiscard]] __device__ inline f32 finished_total(f32 sum) {
  return kFunction == NormalizeFunction::log_softmax ? logarithm_of(sum) : sum;
}
// difference: x - maximum; exponential: EXP of the difference. Softmax uses only the exponential, and log-softmax uses
// only the difference.
template <NormalizeFunction kFunction>
[[nodiscard]] __device__ inline f32 finished(f32 difference, f32 exponential, f32 total) {
  return kFunction == NormalizeFunction::log_softmax ? difference - total : exponential / total;
}

// One warp per row. Thread t processes the elements t, t + 32, ..., which alternate between the lanes t and t + 32.
template <class T, NormalizeFunction kFunction, u32 kOfThread, bool kIsSimple>
__global__ void __launch_bounds__(kNormalizeThreads) in_warps(const __grid_constant__ NormalizeLaunch launch) {
  constexpr bool kKeepsExponentials = kFunction == NormalizeFunction::softmax;
  const u32 number = blockIdx.x * (kNormalizeThreads / 32) + threadIdx.x / 32;
  const u32 thread = threadIdx.x % 32;
  if (number >= launch.rows) {
    return;  // the whole warp returns
  }
  const DeviceRow<T, kIsSimple> row(launch, number);
  f32 values[kOfThread];
  f32 maximum = kMinElement;
#pragma unroll
  for (u32 k = 0; k < kOfThread; ++k) {
    const u32 i = thread + 32 * k;
    values[k] = i < launch.count ? row.load(i) : kMinElement;
  }
#pragma unroll
  for (u32 k = 0; k < kOfThread; ++k) {
    maximum = greater_here(maximum, values[k]);
  }
  maximum = max_of_warp(maximum);
  f32 sums[2] = {kNothing<f32>, kNothing<f32>};
#pragma unroll
  for (u32 k = 0; k < kOfThread; ++k) {
    const f32 difference = values[k] - maximum;
    const f32 exponential = exponential_here(difference);
    values[k] = kKeepsExponentials ? exponential : difference;
    sums[k % 2] = added(sums[k % 2], thread + 32 * k < launch.count ? exponential : kNothing<f32>);
  }
  const f32 total = finished_total<kFunction>(fold_warp(added(sums[0], sums[1])));
#pragma unroll
  for (u32 k = 0; k < kOfThread; ++k) {
    const u32 i = thread + 32 * k;
    if (i < launch.count) {
      row.store(i, finished<kFunction>(values[k], values[k], total));
    }
  }
}

// The maximum over a block of threads; `shared` has space for one number per warp.
[[nodiscard]] __device__ inline f32 max_of_block(f32 value, f32* shared) {
  value = max_of_warp(value);
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = shared[threadIdx.x % (kNormalizeThreads / 32)];
  return max_of_warp(value);
}

// One block of threads per row. Shared memory contains the exponentials of a few blocks of the row at a time. Each
// group of 64 threads owns the lanes of one block of elements. If a row has more blocks than fit into shared memory,
// its exponentials are computed twice.
template <class T, NormalizeFunction kFunction, bool kIsSimple>
__global__ void __launch_bounds__(kNormalizeThreads) in_blocks(const __grid_constant__ NormalizeLaunch launch) {
  constexpr u32 kBlock = static_cast<u32>(kReduceBlock);
  constexpr u32 kLanes = static_cast<u32>(kReduceLanes);
  constexpr u32 kGroups = kNormalizeThreads / kLanes;
  static_assert(kMaxBlocksHeld <= kGroups);
  extern __shared__ f32 exponentials[];  // held * kBlock
  __shared__ f32 of_warps[kNormalizeThreads / 32];
  __shared__ f32 lanes[kGroups][kLanes];
  __shared__ f32 of_blocks[kGroups];
  __shared__ f32 whole;
  const DeviceRow<T, kIsSimple> row(launch, blockIdx.x);
  f32 maximum = kMinElement;
#pragma unroll 8
  for (u32 i = threadIdx.x; i < launch.count; i += kNormalizeThreads) {
    maximum = greater_here(maximum, row.load(i));
  }
  maximum = max_of_block(maximum, of_warps);
  const u32 at_once = launch.held * kBlock;
  const u32 group = threadIdx.x / kLanes;
  BlockTree<f32> tree;
#pragma unroll 1
  for (u32 first = 0; first < launch.count; first += at_once) {
    const u32 some = min(at_once, launch.count - first);
#pragma unroll 4
    for (u32 i = threadIdx.x; i < some; i += kNormalizeThreads) {
      exponentials[i] = exponential_here(row.load(first + i) - maximum);
    }
    __syncthreads();
    f32 sum = kNothing<f32>;
    const u32 end = min(some, (group + 1) * kBlock);
#pragma unroll 8
    for (u32 i = group * kBlock + threadIdx.x % kLanes; i < end; i += kLanes) {
      sum = added(sum, exponentials[i]);
    }
    lanes[group][threadIdx.x % kLanes] = sum;
    __syncthreads();
    if (const u32 warp = threadIdx.x / 32; warp < kGroups) {
      const u32 lane = threadIdx.x % 32;
      const f32 of_block = fold_warp(added(lanes[warp][lane], lanes[warp][lane + 32]));
      if (lane == 0) {
        of_blocks[warp] = of_block;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (u32 block = 0; block * kBlock < some; ++block) {
        tree.add(of_blocks[block], added);
      }
    }
  }
  if (threadIdx.x == 0) {
    whole = finished_total<kFunction>(tree.total(added));
  }
  __syncthreads();
  const f32 total = whole;
  const bool has_exponentials = launch.count <= at_once;
#pragma unroll 4
  for (u32 i = threadIdx.x; i < launch.count; i += kNormalizeThreads) {
    f32 result = 0;
    if (kFunction == NormalizeFunction::softmax && has_exponentials) {
      result = finished<kFunction>(0, exponentials[i], total);
    } else {
      const f32 difference = row.load(i) - maximum;
      const f32 exponential = kFunction == NormalizeFunction::softmax ? exponential_here(difference) : 0;
      result = finished<kFunction>(difference, exponential, total);
    }
    row.store(i, result);
  }
}

// One block of threads per plain row. The row stays in the threads' registers. Shared memory contains only the
// exponentials for the sums: one warp adds up a block of 4,096 elements, with two lanes per thread. The remaining warps
// wait; meanwhile, other rows use the multiprocessor.
inline constexpr u32 kThreadsAtOnce = 1024;  // per multiprocessor, so that each thread has up to 64 registers
template <class T, NormalizeFunction kFunction, u32 kThreads, u32 kOfThread>
__global__ void __launch_bounds__(kThreads, kThreadsAtOnce / kThreads)
    in_registers(const __grid_constant__ NormalizeLaunch launch) {
  constexpr bool kKeepsExponentials = kFunction == NormalizeFunction::softmax;
  constexpr u32 kBlock = static_cast<u32>(kReduceBlock);
  constexpr u32 kLanes = static_cast<u32>(kReduceLanes);
  constexpr u32 kWarps = kThreads / 32;
  constexpr u32 kBlocks = (kThreads * kOfThread + kBlock - 1) / kBlock;
  static_assert(kLanes == 64 && kOfThread % kTogether == 0 && kBlocks <= 2);
  extern __shared__ float4 quads[];  // whole blocks
  __shared__ f32 of_warps[kWarps];
  __shared__ f32 of_blocks[kBlocks];
  __shared__ OrdinaryDivisor whole;
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const DeviceRow<T, true> row(launch, blockIdx.x);
  f32 values[kOfThread];
#pragma unroll
  for (u32 k = 0; k < kOfThread; k += kTogether) {
    const u32 i = k * kThreads + kTogether * threadIdx.x;
    if (i < launch.count) {
      load_four<T>(row.from + u64{i} * sizeof(T), values + k);
    } else {
      values[k] = values[k + 1] = values[k + 2] = values[k + 3] = kMinElement;
    }
  }
  f32 maximum = values[0];
#pragma unroll
  for (u32 k = 1; k < kOfThread; ++k) {
    maximum = greater_here(maximum, values[k]);
  }
  maximum = max_of_warp(maximum);
  if (lane == 0) {
    of_warps[warp] = maximum;
  }
  __syncthreads();
  maximum = of_warps[lane % kWarps];
#pragma unroll
  for (u32 distance = kWarps / 2; distance > 0; distance /= 2) {
    maximum = greater_here(maximum, shuffle(maximum, distance));
  }
#pragma unroll
  for (u32 k = 0; k < kOfThread; k += kTogether) {
    const u32 i = k * kThreads + kTogether * threadIdx.x;
    if (i < launch.count) {
      f32 four[kTogether];
#pragma unroll
      for (u32 n = 0; n < kTogether; ++n) {
        const f32 difference = values[k + n] - maximum;
        four[n] = exponential_here(difference);
        values[k + n] = kKeepsExponentials ? four[n] : difference;
      }
      quads[i / kTogether] = make_float4(four[0], four[1], four[2], four[3]);
    }
  }
  __syncthreads();
  if (warp < kBlocks) {
    const auto* const pairs = reinterpret_cast<const float2*>(quads) + warp * (kBlock / 2) + lane;
    const u32 end = min(launch.count, (warp + 1) * kBlock);
    f32 a = kNothing<f32>;
    f32 b = kNothing<f32>;
    u32 first = warp * kBlock + 2 * lane;
    const float2* from = pairs;
#pragma unroll 16
    for (; first < end; first += kLanes, from += kLanes / 2) {
      const float2 pair = *from;
      a = added(a, pair.x);
      b = added(b, pair.y);
    }
#pragma unroll
    for (u32 distance = 16; distance > 0; distance /= 2) {
      a = added(a, shuffle(a, distance));
      b = added(b, shuffle(b, distance));
    }
    f32 sum = added(a, b);
    if constexpr (kBlocks > 1) {
      if (lane == 0) {
        of_blocks[warp] = sum;
      }
      asm volatile("bar.sync 1, 64;" ::: "memory");  // only these two warps
      sum = launch.count > kBlock ? added(of_blocks[0], of_blocks[1]) : of_blocks[0];
    }
    if (threadIdx.x == 0) {
      whole = OrdinaryDivisor::of(finished_total<kFunction>(sum));
    }
  }
  __syncthreads();
  const OrdinaryDivisor total = whole;
  if constexpr (kKeepsExponentials) {
    bool is_tiny = false;
#pragma unroll
    for (u32 k = 0; k < kOfThread; ++k) {
      is_tiny = is_tiny || is_tiny_exponential(values[k]);
    }
    if (is_tiny) {
#pragma unroll
      for (u32 k = 0; k < kOfThread; ++k) {
        values[k] = values[k] / total.divisor;
      }
    } else {
#pragma unroll
      for (u32 k = 0; k < kOfThread; ++k) {
        values[k] = total.quotient(values[k]);
      }
    }
  } else {
#pragma unroll
    for (u32 k = 0; k < kOfThread; ++k) {
      values[k] = values[k] - total.divisor;
    }
  }
#pragma unroll
  for (u32 k = 0; k < kOfThread; k += kTogether) {
    const u32 i = k * kThreads + kTogether * threadIdx.x;
    if (i < launch.count) {
      store_four<T>(row.to + u64{i} * sizeof(T), values + k);
    }
  }
}

// 32 rows whose elements are adjacent: each warp has one thread per row, and eight warps share the rows' elements. With
// lanes, each warp owns eight lanes of 32 rows. Without lanes, a ninth warp adds up the exponentials one by one, while
// the eight warps compute the next ones.
inline constexpr u32 kColumnWarps = 8;
inline constexpr u32 kColumnLines = 128;  // elements of each row at a time
template <bool kHasLanes>
inline constexpr u32 kColumnThreads = 32 * (kColumnWarps + (kHasLanes ? 0 : 1));

template <class T, NormalizeFunction kFunction, bool kHasLanes, bool kIsSimple>
__global__ void __launch_bounds__(kColumnThreads<kHasLanes>)
    in_columns(const __grid_constant__ NormalizeLaunch launch) {
  constexpr u32 kBlock = static_cast<u32>(kReduceBlock);
  constexpr u32 kOfThread = kColumnLines / kColumnWarps;
  constexpr u32 kLanesOfThread = static_cast<u32>(kReduceLanes) / kColumnWarps;
  static_assert(kColumnLines % kReduceLanes == 0 && kBlock % kColumnLines == 0 && kOfThread % kLanesOfThread == 0);
  __shared__ f32 exponentials[2][kColumnLines][32];
  __shared__ f32 shared[kReduceLanes][32];
  const u32 column = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const bool computes = kHasLanes || warp < kColumnWarps;
  const u32 number = blockIdx.x * kWarpColumns + column;
  const bool exists = number < launch.rows;  // the other threads only take part in barriers
  const DeviceRow<T, kIsSimple> row(launch, exists ? number : 0);
  if (computes) {
    f32 own = kMinElement;
#pragma unroll 8
    for (u32 i = warp; i < launch.count; i += kColumnWarps) {
      own = greater_here(own, row.load(i));
    }
    shared[warp][column] = own;
  }
  __syncthreads();
  f32 maximum = shared[0][column];
#pragma unroll
  for (u32 i = 1; i < kColumnWarps; ++i) {
    maximum = greater_here(maximum, shared[i][column]);
  }
  __syncthreads();
  BlockTree<f32> tree;  // only used by the warp with the sums
  f32 total = kNothing<f32>;
#pragma unroll 1
  for (u32 block = 0; block < launch.count; block += kBlock) {
    const u32 end = min(launch.count, block + kBlock);
    if constexpr (kHasLanes) {
      f32 lanes[kLanesOfThread];
#pragma unroll
      for (u32 k = 0; k < kLanesOfThread; ++k) {
        lanes[k] = kNothing<f32>;
      }
#pragma unroll 1
      for (u32 first = block; first < end; first += static_cast<u32>(kReduceLanes)) {
#pragma unroll
        for (u32 k = 0; k < kLanesOfThread; ++k) {
          const u32 i = first + warp + k * kColumnWarps;
          if (i < end) {
            lanes[k] = added(lanes[k], exponential_here(row.load(i) - maximum));
          }
        }
      }
#pragma unroll
      for (u32 k = 0; k < kLanesOfThread; ++k) {
        shared[warp + k * kColumnWarps][column] = lanes[k];
      }
#pragma unroll 1
      for (u32 half = static_cast<u32>(kReduceLanes) / 2; half > 0; half /= 2) {
        __syncthreads();
        for (u32 i = warp; i < half; i += kColumnWarps) {
          shared[i][column] = added(shared[i][column], shared[i + half][column]);
        }
      }
      __syncthreads();
      if (warp == 0) {
        tree.add(shared[0][column], added);
      }
      __syncthreads();
    } else {
      f32 sum = kNothing<f32>;
#pragma unroll 1
      for (u32 first = block; first < end; first += kColumnLines) {
        auto& lines = exponentials[first / kColumnLines % 2];
        const u32 some = min(kColumnLines, end - first);
        if (computes) {
#pragma unroll 4
          for (u32 i = warp; i < some; i += kColumnWarps) {
            lines[i][column] = exponential_here(row.load(first + i) - maximum);
          }
        }
        __syncthreads();  // at this point, the previous lines have been added
        if (!computes) {
#pragma unroll 8
          for (u32 i = 0; i < some; ++i) {
            sum = added(sum, lines[i][column]);
          }
        }
      }
      if (!computes) {
        tree.add(sum, added);
      }
    }
  }
  if (warp == (kHasLanes ? 0 : kColumnWarps)) {
    shared[0][column] = finished_total<kFunction>(tree.total(added));
  }
  __syncthreads();
  total = shared[0][column];
  if (!computes || !exists) {
    return;
  }
  // Without lanes, the exponentials of a short row are still in shared memory.
  const bool has_exponentials =
      !kHasLanes && kFunction == NormalizeFunction::softmax && launch.count <= 2 * kColumnLines;
#pragma unroll 4
  for (u32 i = warp; i < launch.count; i += kColumnWarps) {
    f32 result = 0;
    if (has_exponentials) {
      result = finished<kFunction>(0, exponentials[i / kColumnLines][i % kColumnLines][column], total);
    } else {
      const f32 difference = row.load(i) - maximum;
      const f32 exponential = kFunction == NormalizeFunction::softmax ? exponential_here(difference) : 0;
      result = finished<kFunction>(difference, exponential, total);
    }
    row.store(i, result);
  }
}

[[nodiscard]] inline u32 blocks_of(u32 rows, u32 of_block) { return rows / of_block + (rows % of_block != 0 ? 1 : 0); }

template <class T, NormalizeFunction kFunction, bool kIsSimple>
[[nodiscard]] cudaError_t start_kernel(NormalizeKernel kernel, const NormalizeLaunch& launch, cudaStream_t stream) {
  const u32 by_warps = blocks_of(launch.rows, kNormalizeThreads / 32);
  const u32 by_columns = blocks_of(launch.rows, kWarpColumns);
  const std::size_t held = launch.held * kReduceBlock * sizeof(f32);
  switch (kernel) {
    case NormalizeKernel::warps:
      if (launch.count <= 32) {
        in_warps<T, kFunction, 1, kIsSimple><<<by_warps, kNormalizeThreads, 0, stream>>>(launch);
      } else if (launch.count <= 128) {
        in_warps<T, kFunction, 4, kIsSimple><<<by_warps, kNormalizeThreads, 0, stream>>>(launch);
      } else if (launch.count <= 512) {
        in_warps<T, kFunction, 16, kIsSimple><<<by_warps, kNormalizeThreads, 0, stream>>>(launch);
      } else {
        in_warps<T, kFunction, kMaxInWarp / 32, kIsSimple><<<by_warps, kNormalizeThreads, 0, stream>>>(launch);
      }
      break;
    case NormalizeKernel::blocks:
      in_blocks<T, kFunction, kIsSimple><<<launch.rows, kNormalizeThreads, held, stream>>>(launch);
      break;
    case NormalizeKernel::across_lanes:
      in_columns<T, kFunction, true, kIsSimple><<<by_columns, kColumnThreads<true>, 0, stream>>>(launch);
      break;
    case NormalizeKernel::across:
      in_columns<T, kFunction, false, kIsSimple><<<by_columns, kColumnThreads<false>, 0, stream>>>(launch);
      break;
  }
  return cudaGetLastError();
}

template <class T, NormalizeFunction kFunction>
[[nodiscard]] cudaError_t start_kernel(NormalizeKernel kernel, const NormalizeLaunch& launch, cudaStream_t stream) {
  if (kernel == NormalizeKernel::blocks && launch.is_plain && launch.count <= kMaxInRegisters) {
    const std::size_t held = launch.held * kReduceBlock * sizeof(f32);
    if (launch.count <= kReduceBlock / 2) {
      in_registers<T, kFunction, 128, 16><<<launch.rows, 128, held, stream>>>(launch);
    } else if (launch.count <= kReduceBlock) {
      in_registers<T, kFunction, 128, 32><<<launch.rows, 128, held, stream>>>(launch);
    } else {
      in_registers<T, kFunction, 256, 32><<<launch.rows, 256, held, stream>>>(launch);
    }
    return cudaGetLastError();
  }
  return launch.is_simple ? start_kernel<T, kFunction, true>(kernel, launch, stream)
                          : start_kernel<T, kFunction, false>(kernel, launch, stream);
}

}  // namespace anydml::cuda
