// SPDX-License-Identifier: MIT
// Reduces across outputs whose elements are adjacent. Each thread computes one output, or a vector of outputs, and
// visits the rows of a block. If the order allows it, several groups of threads share the rows.
#pragma once

#include "ops/reduce/cuda/along.cuh"

namespace anydml::cuda {

// kColumns: the number of outputs per thread. kLanes: whether the fold has an order and lanes.
template <class W, u32 kColumns, bool kLanes>
struct Across {
  using T = typename W::T;
  using Value = typename W::Value;
  static constexpr u32 kLanesOfThread = kLanes ? static_cast<u32>(kReduceLanes) / kLaneGroups : 1;
  // The number of loads in flight. Each load has its own copy of the code that computes the elements.
  static constexpr u32 kRows = kLanes ? 8 : W::kIsComputed ? (kColumns == 1 ? 4 : 2) : kColumns == 1 ? 16 : 8;
  static_assert(!kLanes || kRows == kLanesOfThread);

  struct Row {
    u32 words[4];
    bits_t<T> bits;
  };

  // The thread belongs to one of `groups` groups. Row i belongs to group i % groups.
  __device__ Across(const typename W::Launch& launch_, u64 number, u32 group_, u32 groups_)
      : launch(launch_), group(group_), groups(groups_) {
    const bool exists = number < launch.units;
    const Quotient split = divide(exists ? static_cast<u32>(number) : 0, launch.columns);
    const Quotient above = divide(split.quotient, launch.blocks);
    const u32 output = (above.quotient * launch.columns.divisor + split.remainder) * kColumns;
    elements = elements_of(launch, output, above.remainder, exists);
    from = launch.input + input_offset(launch, output);
#pragma unroll
    for (u32 lane = 0; lane < kLanesOfThread; ++lane) {
#pragma unroll
      for (u32 column = 0; column < kColumns; ++column) {
        values[lane][column] = W::neutral();
      }
    }
    if constexpr (W::kIsArg) {
      rank = first_rank(launch, elements);
      if (group < elements.count) {
#pragma unroll
        for (u32 column = 0; column < kColumns; ++column) {
          values[0][column].rank = rank + group;
        }
      }
    }
  }

  [[nodiscard]] __device__ Row load(u32 i) const {
    const u32 element = W::kIsArg ? element_at(launch, elements, i) : elements.first + i;
    const std::byte* const at = from + element_offset(launch, element);
    Row row;
    if constexpr (kColumns == 1) {
      row.bits = W::element(launch, at);
    } else {
      static_assert(kColumns == W::kVector);
      W::vector(launch, at, row.words);
    }
    return row;
  }

  __device__ void add(u32 i, u32 lane, const Row& row) {
#pragma unroll
    for (u32 column = 0; column < kColumns; ++column) {
      bits_t<T> bits;
      if constexpr (kColumns == 1) {
        bits = row.bits;
      } else {
        bits = extract<T>(row.words, static_cast<int>(column));
      }
      Value& value = values[kLanes ? lane : 0][column];
      if constexpr (W::kIsArg) {
        W::take(value, W::lift(bits), rank + i);
      } else {
        value = W::combine(value, W::lift(bits));
      }
    }
  }

  __device__ void add_rows() {
    u32 i = group;
#pragma unroll 1
    for (; i + (kRows - 1) * groups < elements.count; i += kRows * groups) {
      Row rows[kRows];
#pragma unroll
      for (u32 k = 0; k < kRows; ++k) {
        rows[k] = load(i + k * groups);
      }
#pragma unroll
      for (u32 k = 0; k < kRows; ++k) {
        add(i + k * groups, k, rows[k]);
      }
    }
    if constexpr (kLanes) {
#pragma unroll
      for (u32 k = 0; k < kRows; ++k) {
        if (i + k * groups < elements.count) {
          add(i + k * groups, k, load(i + k * groups));
        }
      }
      // The thread's lanes are 8 * k + group, so three of the six halvings combine lanes of the same thread.
#pragma unroll
      for (u32 half = kLanesOfThread / 2; half > 0; half /= 2) {
#pragma unroll
        for (u32 lane = 0; lane < half; ++lane) {
#pragma unroll
          for (u32 column = 0; column < kColumns; ++column) {
            values[lane][column] = W::combine(values[lane][column], values[lane + half][column]);
          }
        }
      }
    } else {
#pragma unroll 1
      for (; i < elements.count; i += groups) {
        add(i, 0, load(i));
      }
    }
  }

  __device__ void put_all() const {
    if (elements.count != 0) {
#pragma unroll 1
      for (u32 column = 0; column < kColumns; ++column) {
        Value value = values[0][0];
#pragma unroll
        for (u32 i = 1; i < kColumns; ++i) {  // registers cannot be indexed with a variable
          value = i == column ? values[0][i] : value;
        }
        put<W>(launch, elements.output + column, elements.block, value);
      }
    }
  }

  const typename W::Launch& launch;
  u32 group;
  u32 groups;
  Elements elements;
  const std::byte* from;
  u32 rank = 0;  // rank of the first visited row
  Value values[kLanesOfThread][kColumns];
};

// launch.team groups of threads share the rows.
template <class W, u32 kColumns, bool kLanes>
__global__ void __launch_bounds__(kReduceThreads) across(const __grid_constant__ typename W::Launch launch) {
  using Value = typename W::Value;
  __shared__ Value shared[kColumns][kReduceThreads];
  const u32 groups = launch.team;
  const u32 width = blockDim.x >> launch.team_shift;
  const u32 group = threadIdx.x / width;
  Across<W, kColumns, kLanes> part(launch, u64{blockIdx.x} * width + threadIdx.x % width, group, groups);
  part.add_rows();
  if (groups > 1) {
#pragma unroll
    for (u32 column = 0; column < kColumns; ++column) {
      shared[column][threadIdx.x] = part.values[0][column];
    }
    __syncthreads();
#pragma unroll 1
    for (u32 half = groups / 2; half > 0; half /= 2) {
      if (group < half) {
#pragma unroll
        for (u32 column = 0; column < kColumns; ++column) {
          Value& value = part.values[0][column];
          value = W::combine(value, shared[column][threadIdx.x + half * width]);
          shared[column][threadIdx.x] = value;
        }
      }
      __syncthreads();
    }
  }
  if (group == 0) {
    part.put_all();
  }
}

// For an ordered fold without lanes, one thread processes each output of a block. If there are few outputs, additional
// warps load the rows into shared memory, so that enough loads are in flight.
template <class W>
__global__ void __launch_bounds__(kReduceThreads) across_staged(const __grid_constant__ typename W::Launch launch) {
  using T = typename W::T;
  constexpr u32 kWarps = kReduceThreads / kStagedColumns;
  constexpr u32 kRows = W::kIsComputed ? 4 : sizeof(T) == 8 ? 8 : 16;  // per warp, in a tile
  constexpr u32 kTile = kWarps * kRows;
  __shared__ bits_t<T> tiles[2][kTile][kStagedColumns];
  const u32 column = threadIdx.x % kStagedColumns;
  const u32 warp = threadIdx.x / kStagedColumns;
  Across<W, 1, false> part(launch, u64{blockIdx.x} * kStagedColumns + column, 0, 1);
  const u32 count = part.elements.count;
  const u32 maximum = launch.count < kReduceBlock ? launch.count : static_cast<u32>(kReduceBlock);
  bits_t<T> bits[kRows];
  const auto load = [&](u32 first) {
#pragma unroll
    for (u32 k = 0; k < kRows; ++k) {
      const u32 i = first + k * kWarps + warp;
      bits[k] = i < count ? part.load(i).bits : bits_t<T>{0};
    }
  };
  const auto store = [&](u32 which) {
#pragma unroll
    for (u32 k = 0; k < kRows; ++k) {
      tiles[which][k * kWarps + warp][column] = bits[k];
    }
  };
  load(0);
  store(0);
  __syncthreads();
  u32 which = 0;
#pragma unroll 1
  for (u32 first = 0; first < maximum; first += kTile) {
    const bool more = first + kTile < maximum;
    if (more) {
      load(first + kTile);  // in flight while the first warp adds
    }
    if (warp == 0) {
      if (first + kTile <= count) {
#pragma unroll 16
        for (u32 row = 0; row < kTile; ++row) {
          part.values[0][0] = W::combine(part.values[0][0], W::lift(tiles[which][row][column]));
        }
      } else {
#pragma unroll 1
        for (u32 row = 0; first + row < count; ++row) {
          part.values[0][0] = W::combine(part.values[0][0], W::lift(tiles[which][row][column]));
        }
      }
    }
    which ^= 1;
    if (more) {
      store(which);
    }
    __syncthreads();
  }
  if (warp == 0) {
    part.put_all();
  }
}

}  // namespace anydml::cuda
