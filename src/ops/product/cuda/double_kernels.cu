// SPDX-License-Identifier: MIT
// FLOAT64 products. DirectML does not support these, so one kernel handles all layouts: a thread block loads the
// factors of a tile into shared memory, some values of k at a time, and each thread keeps 4 x 4 outputs in registers.
#include "ops/product/cuda/double_memory.cuh"
#include "ops/product/cuda/kernel_set.h"

namespace anydml::cuda {
namespace {

constexpr u32 kSide = 4;                      // rows and columns per thread
constexpr u32 kAcross = kDoubleTile / kSide;  // threads per row of threads
constexpr u32 kRow = kDoubleTile + 2;  // row length in shared memory, padded so that adjacent k use different banks
constexpr u32 kPerThread = kDoubleTile * kDoubleStep / kDoubleThreads;
static_assert(kAcross * kAcross == kDoubleThreads && kProductBlock % kDoubleStep == 0);

__device__ i64 offset_of(const DoubleLaunch& launch, const DoubleMatrixLaunch& matrix, i64 batch) {
  i64 offset = 0;
  for (u32 i = launch.batch_rank; i-- > 0; batch /= launch.batch_sizes[i]) {
    offset += batch % launch.batch_sizes[i] * matrix.batch[i];
  }
  return offset;
}

// Loads some values of k from a tile's rows of A or columns of B. Threads advance along the dimension with the smaller
// stride. Elements beyond the matrix are 0, and no stored output depends on them.
__device__ void bring(f64 (*to)[kRow], const std::byte* from, i64 side_stride, i64 k_stride, i64 sides, u32 depth,
                      bool is_aligned) {
  const bool goes_along_k = k_stride < 0 ? -k_stride < (side_stride < 0 ? -side_stride : side_stride)
                                         : k_stride < (side_stride < 0 ? -side_stride : side_stride);
#pragma unroll
  for (u32 i = 0; i < kPerThread; ++i) {
    const u32 number = i * kDoubleThreads + threadIdx.x;
    const u32 side = goes_along_k ? number / kDoubleStep : number % kDoubleTile;
    const u32 k = goes_along_k ? number % kDoubleStep : number / kDoubleTile;
    to[k][side] = side < sides && k < depth ? read_double(from + side * side_stride + k * k_stride, is_aligned) : 0.0;
  }
}

__global__ void __launch_bounds__(kDoubleThreads, 2) product_of_doubles(const __grid_constant__ DoubleLaunch launch) {
  __shared__ f64 of_a[kDoubleStep][kRow];
  __shared__ f64 of_b[kDoubleStep][kRow];
  const i64 batch = blockIdx.x / launch.tiles;
  const i64 tile = blockIdx.x % launch.tiles;
  const i64 row = tile / launch.across * kDoubleTile;
  const i64 column = tile % launch.across * kDoubleTile;
  const std::byte* const a = launch.a.at + offset_of(launch, launch.a, batch) + row * launch.a.row_stride;
  const std::byte* const b = launch.b.at + offset_of(launch, launch.b, batch) + column * launch.b.column_stride;
  // A thread's rows and columns are kAcross apart, so that adjacent threads access adjacent elements.
  const u32 own_row = threadIdx.x / kAcross;
  const u32 own_column = threadIdx.x % kAcross;
  f64 totals[kSide][kSide] = {};
  for (i64 block = 0; block < launch.depth; block += kProductBlock) {
    const i64 end = launch.depth - block < kProductBlock ? launch.depth : block + kProductBlock;
    f64 sums[kSide][kSide] = {};
    for (i64 first = block; first < end; first += kDoubleStep) {
      const u32 depth = end - first < kDoubleStep ? static_cast<u32>(end - first) : kDoubleStep;
      bring(of_a, a + first * launch.a.column_stride, launch.a.row_stride, launch.a.column_stride, launch.rows - row,
            depth, launch.a.is_aligned);
      bring(of_b, b + first * launch.b.row_stride, launch.b.column_stride, launch.b.row_stride, launch.columns - column,
            depth, launch.b.is_aligned);
      __syncthreads();
      for (u32 k = 0; k < depth; ++k) {
        f64 left[kSide];
        f64 right[kSide];
#pragma unroll
        for (u32 i = 0; i < kSide; ++i) {
          left[i] = of_a[k][own_row + i * kAcross];
          right[i] = of_b[k][own_column + i * kAcross];
        }
#pragma unroll
        for (u32 i = 0; i < kSide; ++i) {
#pragma unroll
          for (u32 j = 0; j < kSide; ++j) {
            sums[i][j] = fused(left[i], right[j], sums[i][j]);
          }
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < kSide; ++i) {
#pragma unroll
      for (u32 j = 0; j < kSide; ++j) {
        totals[i][j] = block == 0 ? sums[i][j] : totals[i][j] + sums[i][j];
      }
    }
  }
  const i64 of_c = launch.c.at != nullptr ? offset_of(launch, launch.c, batch) : 0;
  const i64 of_output = offset_of(launch, launch.output, batch);
#pragma unroll
  for (u32 i = 0; i < kSide; ++i) {
#pragma unroll
    for (u32 j = 0; j < kSide; ++j) {
      const i64 at_row = row + own_row + i * kAcross;
      const i64 at_column = column + own_column + j * kAcross;
      if (at_row < launch.rows && at_column < launch.columns) {
        const auto address_of = [&](const DoubleMatrixLaunch& matrix, i64 offset) {
          return matrix.at + offset + at_row * matrix.row_stride + at_column * matrix.column_stride;
        };
        const f64 value =
            launch.c.at == nullptr
                ? launch.scale(totals[i][j])
                : launch.scale(totals[i][j], read_double(address_of(launch.c, of_c), launch.c.is_aligned));
        write_double(address_of(launch.output, of_output), value, launch.output.is_aligned);
      }
    }
  }
}

}  // namespace

cudaError_t start_double_product(const DoubleLaunch& launch, u32 blocks, cudaStream_t stream) {
  product_of_doubles<<<blocks, kDoubleThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
