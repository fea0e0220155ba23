// SPDX-License-Identifier: MIT
// Products by tiles. A block of threads has a square tile of outputs and each thread 8 x 8 of them. Factors come
// through shared memory, 8 values of k at a time, the next ones while these are multiplied. The sums of a block of 256
// and the totals are in registers.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

// Outputs that go to memory.
struct alignas(16) ToMemory {};

// With the step after it that is one kernel with it (backend/cuda/family.h).
template <class After>
struct JoinedProduct : ProductLaunch {
  After after;
};
template <class After>
inline constexpr bool kIsHandedOn = !std::is_same_v<After, ToMemory>;
template <class After>
using product_launch_t = std::conditional_t<kIsHandedOn<After>, JoinedProduct<After>, ProductLaunch>;

// Where the matrices of a batch are.
[[nodiscard]] __device__ inline std::int64_t batch_offset(const ProductLaunch& launch, u32 batch,
                                                          const std::int64_t (&strides)[kProductBatchRank]) {
  std::int64_t offset = 0;
  for (u32 i = launch.batch_rank; i-- > 0;) {
    const Quotient parts = divide(batch, launch.batch_sizes[i]);
    offset += static_cast<std::int64_t>(parts.remainder) * strides[i];
    batch = parts.quotient;
  }
  return offset;
}

// A thread's part of the factors that one of the two matrices has in a tile.
template <u32 kTile>
class FactorLoader {
 public:
  static constexpr u32 kThreads = product_threads(kTile);
  static constexpr u32 kLoads = kTile * kTileStep / kThreads;
  // Padded, so that threads which go along k write to different banks; a multiple of 16 bytes.
  static constexpr u32 kRow = kTile + 4;

  // Neighbouring threads take neighbours in memory. k is filled up with `fill`, which is +0 for one matrix and -0 for
  // the other: then a sum does not change, not even that of a zero.
  __device__ FactorLoader(const FactorLaunch& factors, std::int64_t batch, u32 depth, u32 first_side, f32 fill)
      : stride_(factors.side_stride),
        k_stride_(factors.k_stride),
        depth_(depth),
        fill_(fill),
        is_aligned_(factors.is_aligned),
        k_is_near_(factors.k_is_near) {
    k_ = k_is_near_ ? threadIdx.x % kTileStep : threadIdx.x / kTile;
    side_ = k_is_near_ ? threadIdx.x / kTileStep : threadIdx.x % kTile;
    left_ = factors.side - first_side;
    from_ = factors.from + batch + static_cast<std::int64_t>(first_side) * stride_;
  }

  __device__ void load(u32 first_k) {
#pragma unroll
    for (u32 n = 0; n < kLoads; ++n) {
      const u32 k = first_k + k_of(n);
      const u32 side = side_of(n);
      loaded_[n] = fill_;
      if (k < depth_ && side < left_) {
        const std::byte* const at =
            from_ + static_cast<std::int64_t>(side) * stride_ + static_cast<std::int64_t>(k) * k_stride_;
        loaded_[n] = __builtin_bit_cast(f32, load_element<f32>(at, is_aligned_));
      }
    }
  }
  __device__ void put(f32* shared) const {
#pragma unroll
    for (u32 n = 0; n < kLoads; ++n) {
      shared[k_of(n) * kRow + side_of(n)] = loaded_[n];
    }
  }

 private:
  [[nodiscard]] __device__ u32 k_of(u32 n) const { return k_is_near_ ? k_ : k_ + n * (kThreads / kTile); }
  [[nodiscard]] __device__ u32 side_of(u32 n) const { return k_is_near_ ? side_ + n * (kThreads / kTileStep) : side_; }

  const std::byte* from_;
  std::int64_t stride_;
  std::int64_t k_stride_;
  u32 depth_;
  u32 left_;  // of the side, from the tile's first
  u32 k_;
  u32 side_;
  f32 fill_;
  bool is_aligned_;
  bool k_is_near_;
  f32 loaded_[kLoads];
};

// Four of a thread's eight rows or columns lie in each half of the tile, so that a warp reads shared memory without
// conflicts.
template <u32 kTile>
[[nodiscard]] __device__ constexpr u32 place_of(u32 thread, u32 index) {
  return index / 4 * (kTile / 2) + thread * 4 + index % 4;
}

template <u32 kTile>
__device__ inline void load_eight(const f32* shared, u32 thread, f32 (&values)[kThreadSide]) {
#pragma unroll
  for (u32 half = 0; half < 2; ++half) {
    const float4 four = *reinterpret_cast<const float4*>(shared + place_of<kTile>(thread, half * 4));
    values[half * 4] = four.x;
    values[half * 4 + 1] = four.y;
    values[half * 4 + 2] = four.z;
    values[half * 4 + 3] = four.w;
  }
}

[[nodiscard]] __device__ inline f32 load_number(const std::byte* from, bool aligned) {
  return __builtin_bit_cast(f32, load_element<f32>(from, aligned));
}

template <u32 kTile, class After>
__global__ void __launch_bounds__(product_threads(kTile))
    product_tiles(const __grid_constant__ product_launch_t<After> launch) {
  using Loader = FactorLoader<kTile>;
  constexpr u32 kSide = kTile / kThreadSide;  // threads
  constexpr u32 kBlockSteps = static_cast<u32>(kProductBlock) / kTileStep;
  static_assert(kProductBlock % kTileStep == 0);
  __shared__ alignas(16) f32 of_a[2][kTileStep * Loader::kRow];
  __shared__ alignas(16) f32 of_b[2][kTileStep * Loader::kRow];
  const Quotient matrix = divide(blockIdx.x, launch.tiles);
  const Quotient tile = divide(matrix.remainder, launch.across);
  const u32 batch = matrix.quotient;
  const u32 first_row = tile.quotient * kTile;
  const u32 first_column = tile.remainder * kTile;
  const u32 down = threadIdx.x / kSide;
  const u32 along = threadIdx.x % kSide;

  f32 totals[kThreadSide][kThreadSide];
  f32 sums[kThreadSide][kThreadSide];
#pragma unroll
  for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
    for (u32 j = 0; j < kThreadSide; ++j) {
      totals[i][j] = launch.depth == 0 ? 0.0f : -0.0f;  // -0 and a sum is that sum
      sums[i][j] = 0.0f;
    }
  }
  Loader a(launch.a, batch_offset(launch, batch, launch.a.batch), launch.depth, first_row, 0.0f);
  Loader b(launch.b, batch_offset(launch, batch, launch.b.batch), launch.depth, first_column, -0.0f);
  const u32 steps = (launch.depth + kTileStep - 1) / kTileStep;
  if (steps != 0) {
    a.load(0);
    b.load(0);
    a.put(of_a[0]);
    b.put(of_b[0]);
  }
  __syncthreads();
  for (u32 step = 0; step < steps; ++step) {
    const bool has_next = step + 1 < steps;
    if (has_next) {
      a.load((step + 1) * kTileStep);
      b.load((step + 1) * kTileStep);
    }
    const f32* const now_a = of_a[step % 2];
    const f32* const now_b = of_b[step % 2];
#pragma unroll
    for (u32 k = 0; k < kTileStep; ++k) {
      f32 rows[kThreadSide];
      f32 columns[kThreadSide];
      load_eight<kTile>(now_a + k * Loader::kRow, down, rows);
      load_eight<kTile>(now_b + k * Loader::kRow, along, columns);
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
        for (u32 j = 0; j < kThreadSide; ++j) {
          sums[i][j] = fused(rows[i], columns[j], sums[i][j]);
        }
      }
    }
    if (has_next) {
      a.put(of_a[(step + 1) % 2]);
      b.put(of_b[(step + 1) % 2]);
    }
    if ((step + 1) % kBlockSteps == 0 || !has_next) {
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
        for (u32 j = 0; j < kThreadSide; ++j) {
          totals[i][j] = totals[i][j] + sums[i][j];
          sums[i][j] = 0.0f;
        }
      }
    }
    __syncthreads();
  }

  const u32 rows = launch.a.side;
  const u32 columns = launch.b.side;
  const std::byte* const c =
      launch.c.at == nullptr ? nullptr : launch.c.at + batch_offset(launch, batch, launch.c.batch);
  std::byte* const output =
      launch.output.at + (kIsHandedOn<After> ? 0 : batch_offset(launch, batch, launch.output.batch));
#pragma unroll
  for (u32 i = 0; i < kThreadSide; ++i) {
    const u32 row = first_row + place_of<kTile>(down, i);
    if (row >= rows) {
      continue;
    }
#pragma unroll
    for (u32 j = 0; j < kThreadSide; j += 4) {
      const u32 column = first_column + place_of<kTile>(along, j);
      u32 words[4];
#pragma unroll
      for (u32 n = 0; n < 4; ++n) {
        f32 value = totals[i][j + n];
        if (c == nullptr) {
          value = launch.scale(value);
        } else if (column + n < columns) {
          value = launch.scale(value, load_number(c + static_cast<std::int64_t>(row) * launch.c.row_stride +
                                                      static_cast<std::int64_t>(column + n) * launch.c.column_stride,
                                                  launch.c.is_aligned));
        }
        words[n] = __builtin_bit_cast(u32, value);
      }
      if constexpr (kIsHandedOn<After>) {
        const u32 number = (batch * rows + row) * columns + column;
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          if (column + n < columns) {
            launch.after(number + n, words[n]);
          }
        }
      } else {
        std::byte* const to = output + static_cast<std::int64_t>(row) * launch.output.row_stride +
                              static_cast<std::int64_t>(column) * launch.output.column_stride;
        if (launch.output.has_vectors && column < columns) {
          store_access<16, false>(to, words);
          continue;
        }
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          if (column + n < columns) {
            store_element<f32>(to + static_cast<std::int64_t>(n) * launch.output.column_stride, words[n],
                               launch.output.is_aligned);
          }
        }
      }
    }
  }
}

}  // namespace anydml::cuda
