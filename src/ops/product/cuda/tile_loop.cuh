// SPDX-License-Identifier: MIT
// The loop that every product of FLOAT32 by tiles is made of. A block of threads has a square tile of outputs and each
// thread 8 x 8 of them. The factors come through shared memory in stages of 8 values of k, copied by the hardware while
// earlier stages are multiplied. The sums of a block of k are in registers. The totals are needed once in 256 values of
// k: they lie in shared memory, so that two blocks of threads fit a multiprocessor.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

// Outputs that go to memory.
struct alignas(16) ToMemory {};
template <class After>
inline constexpr bool kIsHandedOn = !std::is_same_v<After, ToMemory>;

// A launch with the step after it that is one kernel with it (backend/cuda/family.h).
template <class Launch, class After>
struct JoinedLaunch : Launch {
  After after;
};
template <class Launch, class After>
using launch_t = std::conditional_t<kIsHandedOn<After>, JoinedLaunch<Launch, After>, Launch>;

#if defined(__CUDACC__)

extern __shared__ uint4 g_product_shared[];  // tile_bytes

[[nodiscard]] __device__ inline f32 load_number(const std::byte* from, bool aligned) {
  return __builtin_bit_cast(f32, load_element<f32>(from, aligned));
}

// Starts to copy 4 or 16 bytes to shared memory, at a multiple of as many; where they are not there, zeros. They are
// there when wait_for_copies and a barrier say so.
template <u32 kBytes>
__device__ inline void start_copy(f32* to, const std::byte* from, bool is_there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<u32>(__cvta_generic_to_shared(to));
  const u32 bytes = is_there ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
  }
#else
  if constexpr (kBytes == 16) {
    *reinterpret_cast<uint4*>(to) = is_there ? *reinterpret_cast<const uint4*>(from) : uint4{};
  } else {
    *to = is_there ? *reinterpret_cast<const f32*>(from) : 0.0f;
  }
#endif
}
// The copies that this thread has started since the last call are a group.
__device__ inline void end_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all groups of this thread but the last ones.
template <u32 kLast>
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLast) : "memory");
#endif
}

// The place of a thread's outputs in a tile. A warp has 32 rows and 64 columns. A thread has four rows in each half of
// its warp's and four columns in each half, and half a warp reads each bank of shared memory once.
template <u32 kTile>
class ThreadPlace {
 public:
  __device__ ThreadPlace() {
    constexpr u32 kWarpsAlong = kTile / 64;
    const u32 warp = threadIdx.x / 32;
    const u32 lane = threadIdx.x % 32;
    row_ = warp / kWarpsAlong * 32 + (lane / 16 * 2 + lane % 2) * 4;
    column_ = warp % kWarpsAlong * 64 + lane % 16 / 2 * 4;
  }
  [[nodiscard]] __device__ u32 row(u32 i) const { return row_ + i / 4 * 16 + i % 4; }
  [[nodiscard]] __device__ u32 column(u32 j) const { return column_ + j / 4 * 32 + j % 4; }

 private:
  u32 row_;
  u32 column_;
};

__device__ inline void load_four(const f32* shared, f32* values) {
  const float4 four = *reinterpret_cast<const float4*>(shared);
  values[0] = four.x;
  values[1] = four.y;
  values[2] = four.z;
  values[3] = four.w;
}

using ThreadSums = f32[kThreadSide][kThreadSide];

// The totals of this block's threads, each thread's apart.
template <u32 kTile>
class SharedTotals {
 public:
  __device__ SharedTotals()
      : mine_(reinterpret_cast<float4*>(g_product_shared) + kTileStages * kTileStep * tile_row(kTile) / 2 +
              threadIdx.x) {}

  // Takes the sums of a block of k. After the last block the totals are in `sums`, and after any other they are +0.
  __device__ void add(ThreadSums& sums, bool is_first, bool is_last) const {
#pragma unroll
    for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
      for (u32 j = 0; j < kThreadSide; j += 4) {
        float4& four = mine_[(i * 2 + j / 4) * product_threads(kTile)];
        if (!is_first) {
          const float4 before = four;
          sums[i][j] = before.x + sums[i][j];
          sums[i][j + 1] = before.y + sums[i][j + 1];
          sums[i][j + 2] = before.z + sums[i][j + 2];
          sums[i][j + 3] = before.w + sums[i][j + 3];
        }
        if (!is_last) {
          four = {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]};
          sums[i][j] = sums[i][j + 1] = sums[i][j + 2] = sums[i][j + 3] = 0.0f;
        }
      }
    }
  }

 private:
  float4* mine_;
};

// Writes the sums of a block of k to memory and makes them +0. The tile's first output has the number `first`, its rows
// are row_step apart, and so many rows and columns are left from there. Where row_step is a multiple of 4, so is
// everything else.
template <u32 kTile>
__device__ inline void write_sums(const SplitLaunch& split, const ThreadPlace<kTile>& place, u32 block, u32 first,
                                  u32 rows, u32 columns, u32 row_step, ThreadSums& sums) {
  f32* const to = split.sums + u64{block} * split.outputs + first;
#pragma unroll
  for (u32 i = 0; i < kThreadSide; ++i) {
    f32* const row = to + u64{place.row(i)} * row_step;
#pragma unroll
    for (u32 j = 0; j < kThreadSide; j += 4) {
      if (place.row(i) < rows && row_step % 4 == 0) {
        if (place.column(j) < columns) {
          *reinterpret_cast<float4*>(row + place.column(j)) = {sums[i][j], sums[i][j + 1], sums[i][j + 2],
                                                               sums[i][j + 3]};
        }
      } else if (place.row(i) < rows) {
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          if (place.column(j + n) < columns) {
            row[place.column(j + n)] = sums[i][j + n];
          }
        }
      }
      sums[i][j] = sums[i][j + 1] = sums[i][j + 2] = sums[i][j + 3] = 0.0f;
    }
  }
}

// One output's total.
[[nodiscard]] __device__ inline f32 added_sums(const SplitLaunch& split, u32 number) {
  const f32* from = split.sums + number;
  f32 total = *from;
#pragma unroll 8
  for (u32 block = 1; block < split.blocks; ++block) {
    from += split.outputs;
    total = total + *from;
  }
  return total;
}

// Multiplies `depth` values of k, of which the first begins a block. The factors have
//   begin()              called once before any other
//   copy(a, b, step)     starts to copy a stage, [k][side] with rows of tile_row; steps come in order, by all threads
//   prepare(step)        called when stage step - kTileStages + 1 has come, some time before copy(..., step)
// End(sums, block, is_last) is called after each block of k; without any k it is not called, and the sums are +0.
template <u32 kTile, class Factors, class End>
__device__ inline void multiply_tile(Factors& factors, const ThreadPlace<kTile>& place, u32 depth, ThreadSums& sums,
                                     const End& end) {
  constexpr u32 kRow = tile_row(kTile);
  constexpr u32 kStage = kTileStep * kRow;
  constexpr u32 kBlockSteps = static_cast<u32>(kProductBlock) / kTileStep;
  static_assert(kProductBlock % kTileStep == 0);
  auto* const of_a = reinterpret_cast<f32*>(g_product_shared);
  f32* const of_b = of_a + kTileStages * kStage;
#pragma unroll
  for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
    for (u32 j = 0; j < kThreadSide; ++j) {
      sums[i][j] = 0.0f;
    }
  }
  const u32 steps = (depth + kTileStep - 1) / kTileStep;
  factors.begin();
#pragma unroll 1
  for (u32 step = 0; step < kTileStages - 1; ++step) {
    if (step < steps) {
      factors.copy(of_a + step * kStage, of_b + step * kStage, step);
    }
    end_copy_group();
  }
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    wait_for_copies<kTileStages - 2>();
    __syncthreads();  // this stage is there, and nobody needs the one before it
    if (const u32 ahead = step + kTileStages - 1; ahead < steps) {
      const u32 stage = ahead % kTileStages * kStage;
      factors.copy(of_a + stage, of_b + stage, ahead);
      factors.prepare(ahead + 1);
    }
    end_copy_group();
    const f32* const now_a = of_a + step % kTileStages * kStage + place.row(0);
    const f32* const now_b = of_b + step % kTileStages * kStage + place.column(0);
    f32 rows[2][kThreadSide];
    f32 columns[2][kThreadSide];
    const auto load = [&](u32 k) {
      load_four(now_a + k * kRow, rows[k % 2]);
      load_four(now_a + k * kRow + 16, rows[k % 2] + 4);
      load_four(now_b + k * kRow, columns[k % 2]);
      load_four(now_b + k * kRow + 32, columns[k % 2] + 4);
    };
    load(0);
#pragma unroll
    for (u32 k = 0; k < kTileStep; ++k) {
      if (k + 1 < kTileStep) {
        load(k + 1);
      }
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
        for (u32 j = 0; j < kThreadSide; ++j) {
          sums[i][j] = fused(rows[k % 2][i], columns[k % 2][j], sums[i][j]);
        }
      }
    }
    if (const bool is_last = step + 1 == steps; is_last || (step + 1) % kBlockSteps == 0) {
      end(sums, step / kBlockSteps, is_last);
    }
  }
}

#endif

}  // namespace anydml::cuda
