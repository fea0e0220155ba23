// SPDX-License-Identifier: MIT
// Tiled FLOAT32 matrix products.
#pragma once

#include "ops/product/cuda/tile_loop.cuh"

namespace anydml::cuda {

#if defined(__CUDACC__)

// The offset of a batch element's matrices.
template <class Launch>
[[nodiscard]] __device__ inline std::int64_t batch_offset(const Launch& launch, u32 batch,
                                                          const std::int64_t (&strides)[kProductBatchRank]) {
  std::int64_t offset = 0;
  for (u32 i = launch.batch_rank; i-- > 0;) {
    const Quotient parts = divide(batch, launch.batch_sizes[i]);
    offset += static_cast<std::int64_t>(parts.remainder) * strides[i];
    batch = parts.quotient;
  }
  return offset;
}

// A thread's share of one matrix's factors in a tile. Neighboring threads read neighboring memory. Missing values of k
// are filled with +0 in one matrix and -0 in the other, so that their products do not change any sum, not even a zero.
template <u32 kSide, u32 kThreads, bool kFillsWithMinus, u32 kOrder>
class FactorLoader {
 public:
  __device__ FactorLoader(const FactorLaunch& factors, std::int64_t batch, u32 first_k, u32 depth, u32 first_side)
      : factors_(factors), depth_(depth), left_(factors.side - first_side) {
    if (has_vectors()) {
      k_ = threadIdx.x / (kSide / 4);
      side_ = threadIdx.x % (kSide / 4) * 4;
    } else if (is_near()) {
      k_ = threadIdx.x % kTileStep;
      side_ = threadIdx.x / kTileStep;
    } else {
      k_ = threadIdx.x / kSide;
      side_ = threadIdx.x % kSide;
    }
    from_ = factors.from + batch + (static_cast<std::int64_t>(first_side) + side_) * factors.side_stride +
            (static_cast<std::int64_t>(first_k) + k_) * factors.k_stride;
  }

  // Copies the stages in order.
  __device__ void copy(f32* stage, u32 step) {
    const u32 left = depth_ - step * kTileStep;  // remaining values of k
    const std::byte* from = from_;
    if (left < kTileStep || !is_aligned()) {
      copy_slowly(stage, left);
    } else if (has_vectors()) {
      constexpr u32 kStep = kThreads / (kSide / 4);
#pragma unroll
      for (u32 k = 0; k < kTileStep; k += kStep, from += kStep * factors_.k_stride) {
        start_copy<16>(stage + (k_ + k) * kRow + side_, from, side_ < left_);
      }
    } else if (is_near()) {
      constexpr u32 kStep = kThreads / kTileStep;
#pragma unroll
      for (u32 side = 0; side < kSide; side += kStep, from += kStep * factors_.side_stride) {
        start_copy<4>(stage + k_ * kRow + side_ + side, from, side_ + side < left_);
      }
    } else {
      constexpr u32 kStep = kThreads / kSide;
#pragma unroll
      for (u32 k = 0; k < kTileStep; k += kStep, from += kStep * factors_.k_stride) {
        start_copy<4>(stage + (k_ + k) * kRow + side_, from, side_ < left_);
      }
    }
    from_ += kTileStep * factors_.k_stride;
  }

 private:
  static constexpr u32 kRow = tile_row(kSide);
  static constexpr f32 kFill = kFillsWithMinus ? -0.0f : 0.0f;

  [[nodiscard]] __device__ bool has_vectors() const {
    return kOrder == kVectorFactor || (kOrder == kAnyFactor && factors_.has_vectors);
  }
  [[nodiscard]] __device__ bool is_near() const {
    return kOrder == kNearFactor || (kOrder == kAnyFactor && factors_.k_is_near);
  }
  [[nodiscard]] __device__ bool is_aligned() const { return kOrder != kAnyFactor || factors_.is_aligned; }

  // The slow path for the last values of k and for misaligned elements.
  __device__ void copy_slowly(f32* stage, u32 left) const {
    const bool goes_along_k = !has_vectors() && is_near();
    const u32 together = has_vectors() ? 4 : 1;
    const u32 k_step = goes_along_k ? kTileStep : kThreads * together / kSide;
    const u32 side_step = goes_along_k ? kThreads / kTileStep : kSide;
#pragma unroll 1
    for (u32 k = k_; k < kTileStep; k += k_step) {
#pragma unroll 1
      for (u32 side = side_; side < kSide; side += side_step) {
#pragma unroll 1
        for (u32 n = 0; n < together; ++n) {
          f32 value = kFill;
          if (k < left && side + n < left_) {
            value = load_number(from_ + static_cast<std::int64_t>(k - k_) * factors_.k_stride +
                                    static_cast<std::int64_t>(side + n - side_) * factors_.side_stride,
                                is_aligned());
          }
          stage[k * kRow + side + n] = value;
        }
      }
    }
  }

  const FactorLaunch& factors_;
  const std::byte* from_;
  u32 depth_;
  u32 left_;  // number of elements from the tile's first element to the end of the side
  u32 k_;
  u32 side_;
};

// The two matrices of a batch element, for some values of k.
template <u32 kTile, u32 kOrderOfA, u32 kOrderOfB>
struct MatrixFactors {
  FactorLoader<tile_rows(kTile), tile_threads(kTile), false, kOrderOfA> a;
  FactorLoader<tile_columns(kTile), tile_threads(kTile), true, kOrderOfB> b;

  __device__ void begin() const {}
  __device__ void prepare(u32) const {}
  __device__ void copy(f32* to_a, f32* to_b, u32 step) {
    a.copy(to_a, step);
    b.copy(to_b, step);
  }
};

// The addresses of the matrices of an output's batch element.
struct OutputAddresses {
  const std::byte* c;  // null if absent
  std::byte* output;   // null if outputs are passed on

  template <class Launch>
  __device__ OutputAddresses(const Launch& launch, u32 batch)
      : c(launch.c.at == nullptr ? nullptr : launch.c.at + batch_offset(launch, batch, launch.c.batch)),
        output(launch.output.at == nullptr ? nullptr
                                           : launch.output.at + batch_offset(launch, batch, launch.output.batch)) {}
};

[[nodiscard]] __device__ inline f32 scaled_output(const ProductLaunch& launch, const OutputAddresses& addresses,
                                                  u32 row, u32 column, f32 total) {
  if (addresses.c == nullptr) {
    return launch.scale(total);
  }
  return launch.scale(total, load_number(addresses.c + static_cast<std::int64_t>(row) * launch.c.row_stride +
                                             static_cast<std::int64_t>(column) * launch.c.column_stride,
                                         launch.c.is_aligned));
}

template <u32 kTile, u32 kOrderOfA, u32 kOrderOfB, class After>
__global__ void __launch_bounds__(tile_threads(kTile), tiles_at_a_time(kTile))
    product_tiles(const __grid_constant__ launch_t<ProductLaunch, After> launch) {
  const Quotient matrix = divide(blockIdx.x, launch.tiles);
  const Quotient tile = divide(matrix.remainder, launch.across);
  const u32 batch = matrix.quotient;
  const u32 first_row = tile.quotient * tile_rows(kTile);
  const u32 first_column = tile.remainder * tile_columns(kTile);
  const u32 rows = launch.a.side;
  const u32 columns = launch.b.side;
  const u32 first_block = blockIdx.y * launch.split.blocks_of_split;
  const u32 first_k = first_block * static_cast<u32>(kProductBlock);
  const u32 depth = min(launch.depth - first_k, launch.split.blocks_of_split * static_cast<u32>(kProductBlock));

  const ThreadPosition<kTile> position;
  ThreadSums<kTile> sums;
  MatrixFactors<kTile, kOrderOfA, kOrderOfB> factors{
      .a = {launch.a, batch_offset(launch, batch, launch.a.batch), first_k, depth, first_row},
      .b = {launch.b, batch_offset(launch, batch, launch.b.batch), first_k, depth, first_column}};
  const SharedTotals<kTile> totals;
  multiply_tile<kTile>(factors, position, depth, sums, [&](ThreadSums<kTile>& computed, u32 block, bool is_last) {
    if (launch.split.sums == nullptr) {
      totals.add(computed, block == 0, is_last);
    } else {
      write_sums(launch.split, position, first_block + block, (batch * rows + first_row) * columns + first_column,
                 rows - first_row, columns - first_column, columns, computed);
    }
  });
  if (launch.split.sums != nullptr) {
    return;
  }

  const OutputAddresses outputs(launch, batch);
#pragma unroll
  for (u32 i = 0; i < thread_rows(kTile); ++i) {
    const u32 row = first_row + position.row(i);
    if (row >= rows) {
      continue;
    }
#pragma unroll
    for (u32 j = 0; j < thread_columns(kTile); j += 4) {
      const u32 column = first_column + position.column(j);
      u32 words[4];
#pragma unroll
      for (u32 n = 0; n < 4; ++n) {
        f32 value = 0.0f;
        if (column + n < columns) {
          value = scaled_output(launch, outputs, row, column + n, sums[i][j + n]);
        }
        words[n] = __builtin_bit_cast(u32, value);
      }
      if constexpr (kIsForwarded<After>) {
        if (column < columns) {
          launch.after.some((batch * rows + row) * columns + column, words, min(columns - column, 4u));
        }
      } else {
        std::byte* const to = outputs.output + static_cast<std::int64_t>(row) * launch.output.row_stride +
                              static_cast<std::int64_t>(column) * launch.output.column_stride;
        if (launch.output.has_vectors) {
          if (column < columns) {
            store_access<16, false>(to, words);
          }
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

// The sums of a thin product, which has up to kFew rows or columns: a tile would be almost empty, and reading the
// larger factor dominates. A thread block computes one block of k. Each thread multiplies one row or column of the
// larger factor by all rows or columns of the smaller factor.
template <u32 kFew>
__global__ void __launch_bounds__(kThinThreads) product_thin(const __grid_constant__ ProductLaunch launch) {
  constexpr u32 kTogether = 16;
  constexpr auto kBlock = static_cast<u32>(kProductBlock);
  __shared__ alignas(16) f32 few_factors[kBlock][kFew];
  const bool has_few_rows = launch.a.side <= launch.b.side;
  const FactorLaunch& few = has_few_rows ? launch.a : launch.b;
  const FactorLaunch& many = has_few_rows ? launch.b : launch.a;
  const Quotient parts = divide(blockIdx.x, launch.across);
  const u32 batch = parts.quotient;
  const u32 first_k = blockIdx.y * kBlock;
  const u32 depth = min(launch.depth - first_k, kBlock);
  const std::byte* const from_few =
      few.from + batch_offset(launch, batch, few.batch) + static_cast<std::int64_t>(first_k) * few.k_stride;
  for (u32 i = threadIdx.x; i < depth * kFew; i += kThinThreads) {
    f32 factor = 0.0f;
    if (i % kFew < few.side) {
      factor = load_number(from_few + static_cast<std::int64_t>(i / kFew) * few.k_stride +
                               static_cast<std::int64_t>(i % kFew) * few.side_stride,
                           few.is_aligned);
    }
    few_factors[i / kFew][i % kFew] = factor;
  }
  __syncthreads();
  const u32 number = parts.remainder * kThinThreads + threadIdx.x;
  if (number >= many.side) {
    return;
  }
  const std::int64_t k_stride = many.k_stride;
  const std::byte* from = many.from + batch_offset(launch, batch, many.batch) +
                          static_cast<std::int64_t>(number) * many.side_stride +
                          static_cast<std::int64_t>(first_k) * k_stride;
  const bool has_vectors = many.has_k_vectors;
  const bool is_aligned = many.is_aligned;
  f32 sums[kFew];
#pragma unroll
  for (u32 n = 0; n < kFew; ++n) {
    sums[n] = 0.0f;
  }
  u32 k = 0;
#pragma unroll 1
  for (; k + kTogether <= depth; k += kTogether, from += kTogether * k_stride) {
    f32 factors[kTogether];
    if (has_vectors) {
#pragma unroll
      for (u32 i = 0; i < kTogether; i += 4) {
        load_four(reinterpret_cast<const f32*>(from) + i, factors + i);
      }
    } else {
#pragma unroll
      for (u32 i = 0; i < kTogether; ++i) {
        factors[i] = load_number(from + i * k_stride, is_aligned);
      }
    }
#pragma unroll
    for (u32 i = 0; i < kTogether; ++i) {
#pragma unroll
      for (u32 n = 0; n < kFew; ++n) {
        sums[n] = fused(few_factors[k + i][n], factors[i], sums[n]);
      }
    }
  }
#pragma unroll 1
  for (; k < depth; ++k, from += k_stride) {
    const f32 factor = load_number(from, is_aligned);
#pragma unroll
    for (u32 n = 0; n < kFew; ++n) {
      sums[n] = fused(few_factors[k][n], factor, sums[n]);
    }
  }
  f32* const to = launch.split.sums + u64{blockIdx.y} * launch.split.outputs;
  const u32 rows = launch.a.side;
  const u32 columns = launch.b.side;
#pragma unroll
  for (u32 n = 0; n < kFew; ++n) {
    if (n < few.side) {
      to[has_few_rows ? (batch * rows + n) * columns + number : (batch * rows + number) * columns + n] = sums[n];
    }
  }
}

// Computes the outputs if k is split, one per thread.
template <class After>
__global__ void __launch_bounds__(kSumThreads)
    product_sums(const __grid_constant__ launch_t<ProductLaunch, After> launch) {
  const u32 number = blockIdx.x * kSumThreads + threadIdx.x;
  if (number >= launch.split.outputs) {
    return;
  }
  const Quotient row = divide(number, launch.columns);
  const Quotient matrix = divide(row.quotient, launch.rows);
  const OutputAddresses addresses(launch, matrix.quotient);
  const f32 total = added_sums(launch.split, number);
  const f32 value = scaled_output(launch, addresses, matrix.remainder, row.remainder, total);
  const auto bits = __builtin_bit_cast(u32, value);
  if constexpr (kIsForwarded<After>) {
    launch.after(number, bits);
  } else {
    store_element<f32>(addresses.output + static_cast<std::int64_t>(matrix.remainder) * launch.output.row_stride +
                           static_cast<std::int64_t>(row.remainder) * launch.output.column_stride,
                       bits, launch.output.is_aligned);
  }
}

#endif

}  // namespace anydml::cuda
