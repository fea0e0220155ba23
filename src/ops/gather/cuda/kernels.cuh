// SPDX-License-Identifier: MIT
// The kernels for gathers, scatters, ONE_HOT and NONZERO_COORDINATES. Iteration numbers are 32-bit, and offsets are
// 64-bit. An index never refers to an element outside its dimension (scalar/index.h).
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/gather/scalar/index.h"
#include "ops/gather/step.h"

namespace anydml::cuda {

inline constexpr u32 kGatherThreads = 256;
inline constexpr u32 kGatherLoops = kMaxRank + 1;  // the last one is over the words of a run

// The values that a loop advances: offsets in bytes into the table, the indices and the slices, item numbers and target
// numbers.
enum GatherChannel : u32 { kTable, kIndices, kSlices, kItem, kNumber, kChannels };

// Loops and their starting offsets.
struct GatherNest {
  u32 count;  // iterations
  u32 rank;
  FastDivisor sizes[kGatherLoops];
  i64 strides[kGatherLoops][kChannels];
  i64 base[kChannels];
};

struct GatherTask {
  std::byte* table;
  const std::byte* indices;
  std::byte* slices;
  u32* winners;  // scatter: 1 + the number of the item that each target keeps; null if there is only one item
  DataType index_type;
  u32 indices_aligned;
  u32 coordinates;
  i64 coordinate_stride;
  GatherCoordinate dimensions[kMaxRank];
  GatherNest nest;
};

struct OneHotTask {
  const std::byte* indices;
  const std::byte* off;
  const std::byte* on;
  std::byte* output;
  DataType index_type;
  u32 indices_aligned;
  u32 elements_aligned;
  i64 depth;
  GatherNest nest;  // kTable: the position along the axis; kSlices: bytes of the output
};

inline constexpr u32 kNonzeroEach = 8;
inline constexpr u32 kNonzeroTile = kGatherThreads * kNonzeroEach;

struct NonzeroTask {
  const std::byte* input;
  std::byte* total;        // address of the count; null if not requested
  std::byte* coordinates;  // null if not requested
  u32* counts;             // one per tile
  u64 mask;
  u32 count;
  u32 tiles;
  u32 rank;
  u32 columns;
  u32 input_aligned;
  u32 total_aligned;
  u32 coordinates_aligned;
  FastDivisor sizes[kMaxRank];
  i64 strides[kMaxRank];
  i64 row_stride;
  i64 column_stride;
};

#if defined(__CUDACC__)

struct GatherOffsets {
  i64 at[kChannels];
};
[[nodiscard]] __device__ inline GatherOffsets offsets_of(const GatherNest& nest, u32 n) {
  GatherOffsets offsets;
#pragma unroll
  for (u32 channel = 0; channel < kChannels; ++channel) {
    offsets.at[channel] = nest.base[channel];
  }
  for (u32 loop = nest.rank; loop-- > 0;) {
    const Quotient parts = divide(n, nest.sizes[loop]);
#pragma unroll
    for (u32 channel = 0; channel < kChannels; ++channel) {
      offsets.at[channel] += i64{parts.remainder} * nest.strides[loop][channel];
    }
    n = parts.quotient;
  }
  return offsets;
}

// The position that an index refers to, or -1 if it is out of range. With kNearest, the index is instead clamped, as in
// gathers.
template <bool kNearest>
[[nodiscard]] __device__ inline i64 load_index(const std::byte* from, DataType type, bool aligned, i64 size) {
  const auto resolve = [size]<class Index>(Index index) {
    return kNearest ? nearest_index(index, size) : resolve_index(index, size);
  };
  switch (type) {
    case DataType::UINT32:
      return resolve(load_element<u32>(from, aligned));
    case DataType::INT32:
      return resolve(static_cast<i32>(load_element<u32>(from, aligned)));
    case DataType::UINT64:
      return resolve(load_element<u64>(from, aligned));
    default:
      return resolve(static_cast<i64>(load_element<u64>(from, aligned)));
  }
}

template <class Word>
__global__ void __launch_bounds__(kGatherThreads) gather_words(const __grid_constant__ GatherTask task) {
  constexpr u32 kEach = 4;
  const u32 first = blockIdx.x * (kGatherThreads * kEach) + threadIdx.x;
  const Word* from[kEach];
  Word* to[kEach];
  Word words[kEach];
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    const u32 n = first + i * kGatherThreads;
    if (n < task.nest.count) {
      const GatherOffsets offsets = offsets_of(task.nest, n);
      i64 at = offsets.at[kTable];
      for (u32 k = 0; k < task.coordinates; ++k) {
        const GatherCoordinate& dimension = task.dimensions[k];
        const std::byte* const index = task.indices + offsets.at[kIndices] + k * task.coordinate_stride;
        at += load_index<true>(index, task.index_type, task.indices_aligned != 0, dimension.size) * dimension.stride;
      }
      from[i] = reinterpret_cast<const Word*>(task.table + at);
      to[i] = reinterpret_cast<Word*>(task.slices + offsets.at[kSlices]);
    }
  }
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    if (first + i * kGatherThreads < task.nest.count) {
      words[i] = *from[i];
    }
  }
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    if (first + i * kGatherThreads < task.nest.count) {
      *to[i] = words[i];
    }
  }
}

// The target of a scatter's item.
struct ScatterTarget {
  bool is_inside;
  i64 table;   // bytes
  i64 number;  // number of the target
};
[[nodiscard]] __device__ inline ScatterTarget find_target(const GatherTask& task, const GatherOffsets& offsets) {
  ScatterTarget found{true, offsets.at[kTable], offsets.at[kNumber]};
  for (u32 k = 0; k < task.coordinates; ++k) {
    const GatherCoordinate& dimension = task.dimensions[k];
    const std::byte* const index = task.indices + offsets.at[kIndices] + k * task.coordinate_stride;
    const i64 resolved = load_index<false>(index, task.index_type, task.indices_aligned != 0, dimension.size);
    found.is_inside = found.is_inside && resolved >= 0;
    found.table += resolved * dimension.stride;
    found.number += resolved * dimension.number;
  }
  return found;
}

// Finds the item that each target keeps. kClears: instead resets `winners` for the targets of all items, in preparation
// for that pass.
template <bool kClears>
__global__ void __launch_bounds__(kGatherThreads) find_winners(const __grid_constant__ GatherTask task) {
  const u32 n = blockIdx.x * kGatherThreads + threadIdx.x;
  if (n < task.nest.count) {
    const GatherOffsets offsets = offsets_of(task.nest, n);
    const ScatterTarget target = find_target(task, offsets);
    if (target.is_inside) {
      if constexpr (kClears) {
        task.winners[target.number] = 0;
      } else {
        atomicMax(task.winners + target.number, n + 1);
      }
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kGatherThreads) scatter_words(const __grid_constant__ GatherTask task) {
  constexpr u32 kEach = 4;
  const u32 first = blockIdx.x * (kGatherThreads * kEach) + threadIdx.x;
  const Word* from[kEach];
  Word* to[kEach];
  Word words[kEach];
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    const u32 n = first + i * kGatherThreads;
    to[i] = nullptr;
    if (n < task.nest.count) {
      const GatherOffsets offsets = offsets_of(task.nest, n);
      const ScatterTarget target = find_target(task, offsets);
      if (target.is_inside &&
          (task.winners == nullptr || task.winners[target.number] == static_cast<u32>(offsets.at[kItem]) + 1)) {
        from[i] = reinterpret_cast<const Word*>(task.slices + offsets.at[kSlices]);
        to[i] = reinterpret_cast<Word*>(task.table + target.table);
      }
    }
  }
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    if (to[i] != nullptr) {
      words[i] = *from[i];
    }
  }
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    if (to[i] != nullptr) {
      *to[i] = words[i];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kGatherThreads) fill_one_hot(const __grid_constant__ OneHotTask task) {
  constexpr u32 kEach = 4;
  const bool aligned = task.elements_aligned != 0;
  const T off = load_element<T>(task.off, aligned);
  const T on = load_element<T>(task.on, aligned);
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    const u32 n = blockIdx.x * (kGatherThreads * kEach) + i * kGatherThreads + threadIdx.x;
    if (n < task.nest.count) {
      const GatherOffsets offsets = offsets_of(task.nest, n);
      const i64 resolved = load_index<false>(task.indices + offsets.at[kIndices], task.index_type,
                                             task.indices_aligned != 0, task.depth);
      store_element<T>(task.output + offsets.at[kSlices], resolved == offsets.at[kTable] ? on : off, aligned);
    }
  }
}

template <class T>
[[nodiscard]] __device__ inline bool is_nonzero(const NonzeroTask& task, u32 n) {
  i64 offset = 0;
  for (u32 i = task.rank; i-- > 0;) {
    const Quotient parts = divide(n, task.sizes[i]);
    offset += i64{parts.remainder} * task.strides[i];
    n = parts.quotient;
  }
  return (load_element<T>(task.input + offset, task.input_aligned != 0) & static_cast<T>(task.mask)) != 0;
}

template <class T>
__global__ void __launch_bounds__(kGatherThreads) count_nonzero(const __grid_constant__ NonzeroTask task) {
  u32 found = 0;
  for (u32 i = 0; i < kNonzeroEach; ++i) {
    const u64 n = u64{blockIdx.x} * kNonzeroTile + i * kGatherThreads + threadIdx.x;
    const bool counts = n < task.count && is_nonzero<T>(task, static_cast<u32>(n));
    found += static_cast<u32>(__syncthreads_count(counts ? 1 : 0));
  }
  if (threadIdx.x == 0) {
    task.counts[blockIdx.x] = found;
  }
}

// Computes prefix sums: counts[t] becomes the number of nonzero elements up to the end of tile t. Runs in a single
// block.
inline constexpr u32 kSumThreads = 1024;
inline __global__ void __launch_bounds__(kSumThreads) add_up_nonzero(const __grid_constant__ NonzeroTask task) {
  __shared__ u32 sums[kSumThreads];
  const u32 each = task.tiles / kSumThreads + 1;
  const u32 begin = min(task.tiles, threadIdx.x * each);
  const u32 end = min(task.tiles, begin + each);
  u32 own = 0;
  for (u32 tile = begin; tile < end; ++tile) {
    own += task.counts[tile];
  }
  sums[threadIdx.x] = own;
  __syncthreads();
  for (u32 step = 1; step < kSumThreads; step *= 2) {
    const u32 before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  u32 total = sums[threadIdx.x] - own;
  for (u32 tile = begin; tile < end; ++tile) {
    total += task.counts[tile];
    task.counts[tile] = total;
  }
  if (threadIdx.x == kSumThreads - 1 && task.total != nullptr) {
    store_element<u32>(task.total, sums[kSumThreads - 1], task.total_aligned != 0);
  }
}

// Each element writes one row: its own if it is nonzero, otherwise one of the zero rows at the end.
template <class T>
__global__ void __launch_bounds__(kGatherThreads) write_nonzero(const __grid_constant__ NonzeroTask task) {
  constexpr u32 kWarps = kGatherThreads / 32;
  __shared__ u32 found[kWarps];
  const bool aligned = task.coordinates_aligned != 0;
  const u32 all = task.counts[task.tiles - 1];
  u32 before = blockIdx.x == 0 ? 0 : task.counts[blockIdx.x - 1];  // rows before these elements
  for (u32 i = 0; i < kNonzeroEach; ++i) {
    const u64 n = u64{blockIdx.x} * kNonzeroTile + i * kGatherThreads + threadIdx.x;
    const bool counts = n < task.count && is_nonzero<T>(task, static_cast<u32>(n));
    const u32 votes = __ballot_sync(0xffffffff, counts);
    const u32 warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
      found[warp] = static_cast<u32>(__popc(votes));
    }
    __syncthreads();
    u32 row = before + static_cast<u32>(__popc(votes & ((1U << threadIdx.x % 32) - 1)));
    for (u32 w = 0; w < kWarps; ++w) {
      row += w < warp ? found[w] : 0;
      before += found[w];
    }
    __syncthreads();
    if (n < task.count) {
      // Of the n elements before this one, n - row are zero.
      auto rest = static_cast<u32>(n);
      std::byte* to = task.coordinates + (counts ? i64{row} : i64{all} + (i64{rest} - row)) * task.row_stride;
      for (u32 column = task.columns; column-- > 0;) {
        const Quotient parts = divide(rest, task.sizes[task.rank - task.columns + column]);
        store_element<u32>(to + column * task.column_stride, counts ? parts.remainder : 0, aligned);
        rest = parts.quotient;
      }
    }
  }
}

#endif

}  // namespace anydml::cuda
