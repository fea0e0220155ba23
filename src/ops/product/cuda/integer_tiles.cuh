// SPDX-License-Identifier: MIT
// Tiled products of 8-bit matrices. Words of four values of k pass through shared memory, and one instruction
// multiplies and adds four pairs of bytes. The bytes are multiplied as signed bytes: 128 is subtracted from unsigned
// bytes and from their zero points. The zero points are applied at the end, using the sums of rows and columns, since
// modulo 2^32
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * (sum(a) - depth * za).
#pragma once

#include "ops/product/cuda/integer_launch.h"
#include "ops/product/cuda/tiles.cuh"
#include "ops/product/scalar/integer.h"

namespace anydml::cuda {

#if defined(__CUDACC__)

// The position of a thread's outputs in a byte tile. A warp covers 32 rows and 64 columns. A thread has four rows in
// each half of the warp's rows and four columns in each half of the warp's columns, and half a warp reads each bank of
// shared memory once.
template <u32 kTile>
class BytePosition {
 public:
  __device__ BytePosition() {
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

// A thread's share of one factor's words in a tile: units of four words that are adjacent along the side. Bytes beyond
// the last k are 0.
template <u32 kTile>
class ByteLoader {
 public:
  static constexpr u32 kThreads = byte_threads(kTile);
  static constexpr u32 kUnits = kTile / 4 * kWordStep / kThreads;
  static constexpr u32 kRow = tile_row(kTile);

  __device__ ByteLoader(const ByteFactorLaunch& factors, std::int64_t batch, u32 depth, u32 first_side)
      : factors_(factors),
        from_(factors.from + batch + static_cast<std::int64_t>(first_side) * factors.side_stride),
        depth_(depth),
        left_(factors.side - first_side),
        flip_(factors.is_signed ? 0 : 0x80808080U) {}

  __device__ void load(u32 step) {
#pragma unroll
    for (u32 n = 0; n < kUnits; ++n) {
      load_unit(side_of(n), (step * kWordStep + word_of(n)) * 4, loaded_[n]);
    }
  }
  __device__ void put(u32* stage) const {
#pragma unroll
    for (u32 n = 0; n < kUnits; ++n) {
      *reinterpret_cast<uint4*>(stage + word_of(n) * kRow + side_of(n)) = {loaded_[n][0], loaded_[n][1], loaded_[n][2],
                                                                           loaded_[n][3]};
    }
  }

 private:
  // Neighboring threads read neighboring memory.
  [[nodiscard]] __device__ u32 side_of(u32 n) const {
    return factors_.order == ByteOrder::words_along_k ? (threadIdx.x / kWordStep + n * (kThreads / kWordStep)) * 4
                                                      : threadIdx.x % (kTile / 4) * 4;
  }
  [[nodiscard]] __device__ u32 word_of(u32 n) const {
    return factors_.order == ByteOrder::words_along_k ? threadIdx.x % kWordStep
                                                      : threadIdx.x / (kTile / 4) + n * (kThreads / (kTile / 4));
  }

  __device__ void load_unit(u32 side, u32 k, u32 (&words)[4]) const {
    const std::byte* const from = from_ + static_cast<std::int64_t>(side) * factors_.side_stride +
                                  static_cast<std::int64_t>(k) * factors_.k_stride;
    const auto word_at = [&](std::int64_t offset) { return *reinterpret_cast<const u32*>(from + offset) ^ flip_; };
    if (factors_.order == ByteOrder::words_along_k && k + 4 <= depth_) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        words[i] = side + i < left_ ? word_at(i * factors_.side_stride) : 0;
      }
    } else if (factors_.order == ByteOrder::words_along_side && side + 4 <= left_) {
      u32 rows[4];
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        rows[i] = k + i < depth_ ? word_at(i * factors_.k_stride) : 0;
      }
      const u32 low[] = {__byte_perm(rows[0], rows[1], 0x5140), __byte_perm(rows[2], rows[3], 0x5140)};
      const u32 high[] = {__byte_perm(rows[0], rows[1], 0x7362), __byte_perm(rows[2], rows[3], 0x7362)};
      words[0] = __byte_perm(low[0], low[1], 0x5410);
      words[1] = __byte_perm(low[0], low[1], 0x7632);
      words[2] = __byte_perm(high[0], high[1], 0x5410);
      words[3] = __byte_perm(high[0], high[1], 0x7632);
    } else {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        words[i] = 0;
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
          if (side + i < left_ && k + j < depth_) {
            const std::byte byte = from[i * factors_.side_stride + j * factors_.k_stride];
            words[i] |= ((static_cast<u32>(byte) ^ flip_) & 0xff) << (8 * j);
          }
        }
      }
    }
  }

  const ByteFactorLaunch& factors_;
  const std::byte* from_;
  u32 depth_;
  u32 left_;  // number of elements from the tile's first element to the end of the side
  u32 flip_;
  u32 loaded_[kUnits][4];
};

[[nodiscard]] __device__ inline i32 byte_value(std::byte byte, bool is_signed) {
  return is_signed ? static_cast<i32>(static_cast<i8>(byte)) : static_cast<i32>(byte);
}
// A zero point adjusted for the signed multiplication.
[[nodiscard]] __device__ inline u32 shifted_zero(i32 zero, bool is_signed) {
  return static_cast<u32>(is_signed ? zero : zero - 128);
}
[[nodiscard]] __device__ inline u32 zero_point(const ByteFactorLaunch& factors, u32 side) {
  i32 zero = 0;
  if (factors.zeros != nullptr) {
    zero = byte_value(factors.zeros[static_cast<std::int64_t>(side) * factors.zero_stride], factors.is_signed);
  }
  return shifted_zero(zero, factors.is_signed);
}

[[nodiscard]] __device__ inline const std::byte* number_at(const NumberLaunch& number, u32 row, u32 column) {
  return number.at + static_cast<std::int64_t>(row) * number.row_stride +
         static_cast<std::int64_t>(column) * number.column_stride;
}
[[nodiscard]] __device__ inline f32 scale_at(const NumberLaunch& number, u32 row, u32 column) {
  return load_number(number_at(number, row, column), number.is_aligned);
}
[[nodiscard]] __device__ inline i32 zero_at(const NumberLaunch& number, u32 row, u32 column, bool is_signed) {
  return number.at == nullptr ? 0 : byte_value(*number_at(number, row, column), is_signed);
}

[[nodiscard]] __device__ inline f32 quantized_factor_at(const IntegerFinishLaunch& launch, u32 row, u32 column) {
  return quantized_factor(scale_at(launch.a_scale, row, column), scale_at(launch.b_scale, row, column),
                          scale_at(launch.output_scale, row, column));
}
// The bits of a one-byte output.
[[nodiscard]] __device__ inline u32 quantized_bits(i32 total, f32 factor, i32 zero, bool is_signed) {
  return is_signed ? static_cast<u32>(static_cast<u8>(quantized_total<i8>(total, factor, zero)))
                   : static_cast<u32>(quantized_total<u8>(total, factor, zero));
}

// The bits of an output.
[[nodiscard]] __device__ inline u32 finished_total(const IntegerLaunch& launch, const OutputAddresses& addresses,
                                                   u32 row, u32 column, i32 total) {
  if (launch.finish == kFinishInt32) {
    return static_cast<u32>(total);
  }
  if (launch.finish == kFinishFloat32) {
    f32 value =
        scaled_total(total, float_factor(scale_at(launch.a_scale, row, column), scale_at(launch.b_scale, row, column)));
    if (addresses.c != nullptr) {
      const f32 added = load_number(addresses.c + static_cast<std::int64_t>(row) * launch.c.row_stride +
                                        static_cast<std::int64_t>(column) * launch.c.column_stride,
                                    launch.c.is_aligned);
      value = value + added;
    }
    return __builtin_bit_cast(u32, value);
  }
  return quantized_bits(total, quantized_factor_at(launch, row, column),
                        zero_at(launch.output_zero, row, column, launch.output_is_signed), launch.output_is_signed);
}

// The words of both factors that a thread block multiplies, and the sums of the tile's rows, followed by the sums of
// its columns.
template <u32 kTile>
struct ByteStages {
  alignas(16) u32 of_a[2][kWordStep * tile_row(kTile)];
  alignas(16) u32 of_b[2][kWordStep * tile_row(kTile)];
  u32 side_sums[2 * kTile];
};

using ByteSums = i32[kThreadSide][kThreadSide];

// Multiplies this many words of k, possibly none. The factors provide these functions:
//   begin()        called once, before the other functions
//   load(step)     loads kWordStep words of both factors into registers; all threads call it, in step order
//   put(a, b)      writes these words to a stage, [word][side] with rows of tile_row
//   prepare(step)  called between the barriers before and after load(step - 1)
// At the end all threads may read the sums of rows and columns.
template <u32 kTile, class Factors>
__device__ inline void multiply_bytes(Factors& factors, const BytePosition<kTile>& position, u32 words,
                                      ByteStages<kTile>& stages, ByteSums& sums) {
  constexpr u32 kThreads = byte_threads(kTile);
  constexpr u32 kRow = tile_row(kTile);
  constexpr u32 kOwn = 2 * kTile / kThreads;  // rows and columns that a thread sums
  i32 own[kOwn];
#pragma unroll
  for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
    for (u32 j = 0; j < kThreadSide; ++j) {
      sums[i][j] = 0;
    }
  }
#pragma unroll
  for (u32 n = 0; n < kOwn; ++n) {
    own[n] = 0;
  }
  const u32 steps = (words + kWordStep - 1) / kWordStep;
  factors.begin();
  if (steps != 0) {
    factors.load(0);
    factors.put(stages.of_a[0], stages.of_b[0]);
  }
  __syncthreads();
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    const bool has_next = step + 1 < steps;
    if (has_next) {
      factors.load(step + 1);
      factors.prepare(step + 2);
    }
    const u32* const now_a = stages.of_a[step % 2];
    const u32* const now_b = stages.of_b[step % 2];
#pragma unroll
    for (u32 word = 0; word < kWordStep; ++word) {
      i32 rows[kThreadSide];
      i32 columns[kThreadSide];
#pragma unroll
      for (u32 half = 0; half < kThreadSide; half += 4) {
        const int4 of_rows = *reinterpret_cast<const int4*>(now_a + word * kRow + position.row(half));
        const int4 of_columns = *reinterpret_cast<const int4*>(now_b + word * kRow + position.column(half));
        rows[half] = of_rows.x;
        rows[half + 1] = of_rows.y;
        rows[half + 2] = of_rows.z;
        rows[half + 3] = of_rows.w;
        columns[half] = of_columns.x;
        columns[half + 1] = of_columns.y;
        columns[half + 2] = of_columns.z;
        columns[half + 3] = of_columns.w;
      }
#pragma unroll
      for (u32 i = 0; i < kThreadSide; ++i) {
#pragma unroll
        for (u32 j = 0; j < kThreadSide; ++j) {
          sums[i][j] = __dp4a(rows[i], columns[j], sums[i][j]);
        }
      }
#pragma unroll
      for (u32 n = 0; n < kOwn; ++n) {
        const u32 side = threadIdx.x + n * kThreads;
        const u32 bytes = side < kTile ? now_a[word * kRow + side] : now_b[word * kRow + side - kTile];
        own[n] = __dp4a(static_cast<i32>(bytes), 0x01010101, own[n]);
      }
    }
    if (has_next) {
      factors.put(stages.of_a[(step + 1) % 2], stages.of_b[(step + 1) % 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (u32 n = 0; n < kOwn; ++n) {
    stages.side_sums[threadIdx.x + n * kThreads] = static_cast<u32>(own[n]);
  }
  __syncthreads();
}

// The two matrices of a batch element.
template <u32 kTile>
struct ByteFactors {
  ByteLoader<kTile> a;
  ByteLoader<kTile> b;

  __device__ void begin() const {}
  __device__ void prepare(u32) const {}
  __device__ void load(u32 step) {
    a.load(step);
    b.load(step);
  }
  __device__ void put(u32* to_a, u32* to_b) const {
    a.put(to_a);
    b.put(to_b);
  }
};

template <u32 kTile, class After>
__global__ void __launch_bounds__(byte_threads(kTile), kTile == kLargeTile ? 2 : 6)
    integer_tiles(const __grid_constant__ launch_t<IntegerLaunch, After> launch) {
  __shared__ ByteStages<kTile> stages;
  const Quotient matrix = divide(blockIdx.x, launch.tiles);
  const Quotient tile = divide(matrix.remainder, launch.across);
  const u32 batch = matrix.quotient;
  const u32 first_row = tile.quotient * kTile;
  const u32 first_column = tile.remainder * kTile;
  const BytePosition<kTile> position;
  ByteSums sums;
  ByteFactors<kTile> factors{.a = {launch.a, batch_offset(launch, batch, launch.a.batch), launch.depth, first_row},
                             .b = {launch.b, batch_offset(launch, batch, launch.b.batch), launch.depth, first_column}};
  multiply_bytes<kTile>(factors, position, (launch.depth + 3) / 4, stages, sums);

  const u32 rows = launch.a.side;
  const u32 columns = launch.b.side;
  const OutputAddresses outputs(launch, batch);
#pragma unroll 1
  for (u32 half = 0; half < 2; ++half) {
    u32 column_zeros[4];
    u32 column_sums[4];
#pragma unroll
    for (u32 n = 0; n < 4; ++n) {
      const u32 there = position.column(half * 4 + n);
      column_zeros[n] = first_column + there < columns ? zero_point(launch.b, first_column + there) : 0;
      column_sums[n] = stages.side_sums[kTile + there];
    }
    const u32 column = first_column + position.column(half * 4);
#pragma unroll
    for (u32 i = 0; i < kThreadSide; ++i) {
      const u32 row = first_row + position.row(i);
      if (row >= rows) {
        continue;
      }
      const u32 zero = zero_point(launch.a, row);
      const u32 rest = stages.side_sums[position.row(i)] - launch.depth * zero;
      u32 words[4];
#pragma unroll
      for (u32 n = 0; n < 4; ++n) {
        const i32 sum = half == 0 ? sums[i][n] : sums[i][n + 4];
        const u32 total = static_cast<u32>(sum) - zero * column_sums[n] - column_zeros[n] * rest;
        words[n] = 0;
        if (column + n < columns) {
          words[n] = finished_total(launch, outputs, row, column + n, static_cast<i32>(total));
        }
      }
      if constexpr (kIsForwarded<After>) {
        const u32 number = (batch * rows + row) * columns + column;
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          if (column + n < columns) {
            launch.after(number + n, words[n]);
          }
        }
      } else {
        std::byte* const to = outputs.output + static_cast<std::int64_t>(row) * launch.output.row_stride +
                              static_cast<std::int64_t>(column) * launch.output.column_stride;
        const bool has_bytes = launch.finish == kFinishQuantized;
        if (launch.output.has_vectors && !has_bytes) {
          if (column < columns) {
            store_access<16, false>(to, words);
          }
          continue;
        }
#pragma unroll
        for (u32 n = 0; n < 4; ++n) {
          std::byte* const element = to + static_cast<std::int64_t>(n) * launch.output.column_stride;
          if (column + n >= columns) {
            continue;
          }
          if (has_bytes) {
            *element = static_cast<std::byte>(words[n]);
          } else {
            store_element<u32>(element, words[n], launch.output.is_aligned);
          }
        }
      }
    }
  }
}

#endif

}  // namespace anydml::cuda
