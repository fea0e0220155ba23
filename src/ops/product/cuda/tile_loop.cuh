// SPDX-License-Identifier: MIT
// The loop that all tiled FLOAT32 products use. A thread block computes a tile of outputs, and each of its threads
// computes 4 x 8, 8 x 8 or 8 x 16 outputs. The factors pass through shared memory in stages of 16 values of k, copied
// asynchronously while earlier stages are multiplied. The sums of a block of k are kept in registers. The totals are
// needed only once every 256 values of k, so they are kept in shared memory. This leaves enough registers for several
// thread blocks on a multiprocessor.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

// Outputs that are written to memory.
struct alignas(16) ToMemory {};
template <class After>
inline constexpr bool kIsForwarded = !std::is_same_v<After, ToMemory>;

// A launch together with the following step that runs in the same kernel (backend/cuda/family.h).
template <class Launch, class After>
struct JoinedLaunch : Launch {
  After after;
};
template <class Launch, class After>
using launch_t = std::conditional_t<kIsForwarded<After>, JoinedLaunch<Launch, After>, Launch>;

#if defined(__CUDACC__)

extern __shared__ uint4 g_product_shared[];  // tile_bytes

[[nodiscard]] __device__ inline f32 load_number(const std::byte* from, bool aligned) {
  return __builtin_bit_cast(f32, load_element<f32>(from, aligned));
}

// Starts copying 4 or 16 aligned bytes to shared memory, or writing zeros if the source does not exist. The data is
// available after wait_for_copies and a barrier.
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
// Groups the copies that this thread has started since the last call.
__device__ inline void end_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all groups of this thread except the last kLast.
template <u32 kLast>
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLast) : "memory");
#endif
}

// The position of a thread's outputs in a tile. A warp covers 32 rows, and 128 columns of a wide tile, 64 of a large
// tile or 32 of a small tile. A warp's rows and columns are divided into parts, and a thread has four adjacent rows and
// columns in each part. Half a warp reads each bank of shared memory once.
template <u32 kTile>
class ThreadPosition {
 public:
  static constexpr u32 kRowParts = thread_rows(kTile) / 4;
  static constexpr u32 kLanesAlong = kRowParts == 2 ? 8 : 4;
  static constexpr u32 kRowPart = 32 / kLanesAlong * 4;  // rows in a part of a warp
  static constexpr u32 kColumnPart = kLanesAlong * 4;

  __device__ ThreadPosition() {
    constexpr u32 kWarpColumns = kColumnPart * thread_columns(kTile) / 4;
    constexpr u32 kWarpsAlong = tile_columns(kTile) / kWarpColumns;
    const u32 warp = threadIdx.x / 32;
    const u32 lane = threadIdx.x % 32;
    row_ = warp / kWarpsAlong * 32 + (lane / (2 * kLanesAlong) * 2 + lane % 2) * 4;
    column_ = warp % kWarpsAlong * kWarpColumns + lane / 2 % kLanesAlong * 4;
  }
  [[nodiscard]] __device__ u32 row(u32 i) const { return row_ + i / 4 * kRowPart + i % 4; }
  [[nodiscard]] __device__ u32 column(u32 j) const { return column_ + j / 4 * kColumnPart + j % 4; }

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

template <u32 kTile>
using ThreadSums = f32[thread_rows(kTile)][thread_columns(kTile)];

// The totals of the thread block's outputs, stored separately for each thread.
template <u32 kTile>
class SharedTotals {
 public:
  __device__ SharedTotals()
      : mine_(reinterpret_cast<float4*>(g_product_shared) +
              kTileStages * kTileStep * (tile_row(tile_rows(kTile)) + tile_row(tile_columns(kTile))) / 4 +
              threadIdx.x) {}

  // Adds the sums of a block of k. After the last block, `sums` contains the totals; after any other block it is reset
  // to +0.
  __device__ void add(ThreadSums<kTile>& sums, bool is_first, bool is_last) const {
#pragma unroll
    for (u32 i = 0; i < thread_rows(kTile); ++i) {
#pragma unroll
      for (u32 j = 0; j < thread_columns(kTile); j += 4) {
        float4& four = mine_[(i * thread_columns(kTile) + j) / 4 * tile_threads(kTile)];
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

// Writes the sums of a block of k to memory and resets them to +0. The tile's first output has index `first`, its rows
// are row_step apart, and this many rows and columns remain, starting with that output. If row_step is a multiple of 4,
// the other numbers are multiples of 4 too.
template <u32 kTile>
__device__ inline void write_sums(const SplitLaunch& split, const ThreadPosition<kTile>& position, u32 block, u32 first,
                                  u32 rows, u32 columns, u32 row_step, ThreadSums<kTile>& sums) {
  f32* const to = split.sums + u64{block} * split.outputs + first;
#pragma unroll
  for (u32 i = 0; i < thread_rows(kTile); ++i) {
    f32* const row = to + u64{position.row(i)} * row_step;
#pragma unroll
    for (u32 j = 0; j < thread_columns(kTile); j += 4) {
      if (position.row(i) < rows && row_step % 4 == 0) {
        if (position.column(j) < columns) {
          *reinterpret_cast<float4*>(row + position.column(j)) = {sums[i][j], sums[i][j + 1], sums[i][j + 2],
                                                                  sums[i][j + 3]};
        }
      } else if (position.row(i) < rows) {
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          if (position.column(j + n) < columns) {
            row[position.column(j + n)] = sums[i][j + n];
          }
        }
      }
      sums[i][j] = sums[i][j + 1] = sums[i][j + 2] = sums[i][j + 3] = 0.0f;
    }
  }
}

// The total of one output.
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

// Multiplies `depth` values of k, the first of which begins a block. The factors provide these functions:
//   begin()              called once, before the other functions
//   copy(a, b, step)     starts copying a stage, [k][side] with rows of tile_row; all threads call it, in step order
//   prepare(step)        called after stage step - kTileStages + 1 has arrived, some time before copy(..., step)
// End(sums, block, is_last) is called after each block of k. If there is no k, it is not called, and the sums are +0.
template <u32 kTile, class Factors, class End>
__device__ inline void multiply_tile(Factors& factors, const ThreadPosition<kTile>& position, u32 depth,
                                     ThreadSums<kTile>& sums, const End& end) {
  constexpr u32 kRows = thread_rows(kTile);
  constexpr u32 kColumns = thread_columns(kTile);
  constexpr u32 kRowOfA = tile_row(tile_rows(kTile));
  constexpr u32 kRowOfB = tile_row(tile_columns(kTile));
  constexpr u32 kBlockSteps = static_cast<u32>(kProductBlock) / kTileStep;
  static_assert(kProductBlock % kTileStep == 0);
  auto* const of_a = reinterpret_cast<f32*>(g_product_shared);
  f32* const of_b = of_a + kTileStages * kTileStep * kRowOfA;
#pragma unroll
  for (u32 i = 0; i < kRows; ++i) {
#pragma unroll
    for (u32 j = 0; j < kColumns; ++j) {
      sums[i][j] = 0.0f;
    }
  }
  const u32 steps = (depth + kTileStep - 1) / kTileStep;
  if (steps == 0) {
    return;
  }
  factors.begin();
#pragma unroll 1
  for (u32 step = 0; step < kTileStages - 1; ++step) {
    if (step < steps) {
      factors.copy(of_a + step * kTileStep * kRowOfA, of_b + step * kTileStep * kRowOfB, step);
    }
    end_copy_group();
  }
  // Loads the factors of the next k while the current factors are multiplied, even across stages.
  f32 rows[2][kRows];
  f32 columns[2][kColumns];
  const auto load = [&](u32 stage, u32 k) {
    const f32* const from_a = of_a + (stage * kTileStep + k) * kRowOfA + position.row(0);
    const f32* const from_b = of_b + (stage * kTileStep + k) * kRowOfB + position.column(0);
#pragma unroll
    for (u32 i = 0; i < kRows; i += 4) {
      load_four(from_a + i / 4 * ThreadPosition<kTile>::kRowPart, rows[k % 2] + i);
    }
#pragma unroll
    for (u32 j = 0; j < kColumns; j += 4) {
      load_four(from_b + j / 4 * ThreadPosition<kTile>::kColumnPart, columns[k % 2] + j);
    }
  };
  static_assert(kTileStep % 2 == 0);
  wait_for_copies<kTileStages - 2>();
  __syncthreads();
  load(0, 0);
  u32 stage = 0;
  u32 free_stage = kTileStages - 1;
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
#pragma unroll
    for (u32 k = 0; k < kTileStep; ++k) {
      if (k + 1 == kTileStep) {
        wait_for_copies<kTileStages - 2>();
        __syncthreads();  // the next stage has arrived, and no thread needs this stage anymore
        stage = stage + 1 == kTileStages ? 0 : stage + 1;
      }
      load(stage, (k + 1) % kTileStep);  // unused in the last stage
      if (k == 0) {
        if (const u32 ahead = step + kTileStages - 1; ahead < steps) {
          factors.copy(of_a + free_stage * kTileStep * kRowOfA, of_b + free_stage * kTileStep * kRowOfB, ahead);
          factors.prepare(ahead + 1);
        }
        end_copy_group();
        free_stage = free_stage + 1 == kTileStages ? 0 : free_stage + 1;
      }
#pragma unroll
      for (u32 i = 0; i < kRows; ++i) {
#pragma unroll
        for (u32 n = 0; n < kColumns; ++n) {
          const u32 j = i % 2 == 0 ? n : kColumns - 1 - n;  // zigzag, so that registers are reused at each turn
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
