// SPDX-License-Identifier: MIT
// The two products of attention that hides keys, on a GPU. Only the keys that a query sees are read and multiplied, so
// the work depends on the lengths, which are in the device's memory, and not on the sizes of the tensors: thread blocks
// whose keys no query sees return at once.
//
// Pairs are the queries of the heads that share a head of keys and values: pair i of `rows` queries is query i / group
// of head i modulo group. A thread block processes some pairs together, because they read the same keys and values.
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/attention/cuda/launch.h"
#include "ops/attention/scalar/masks.h"
#include "ops/attention/scalar/scores.h"

namespace anydml::cuda {
namespace {

constexpr u32 kFactors = 32;  // of a key that a thread block loads at once
constexpr u32 kBlock = static_cast<u32>(kProductBlock);

template <class T>
[[nodiscard]] __device__ f32 load_wide(const std::byte* from, bool is_aligned) {
  return widen(__builtin_bit_cast(T, load_element<T>(from, is_aligned)));
}

// The pairs of a thread block, and the keys that they see. In shared memory.
template <u32 kPairs>
struct Pairs {
  i64 firsts[kPairs];  // an empty range if the query sees no key, or if there is no such pair
  i64 ends[kPairs];
  i64 rows[kPairs];  // the row among the scores of all heads; -1 if there is no such pair
  i64 lowest_first;
  i64 highest_first;
  i64 lowest_end;
  i64 highest_end;
};

// head_number counts the heads of keys and values of all batches. Called by all threads.
template <u32 kPairs>
__device__ void find_pairs(const AttentionStep& step, const std::byte* mask, const std::byte* lengths, i64 head_number,
                           i64 first_pair, Pairs<kPairs>& pairs) {
  const i64 shared_heads = step.heads / step.group;
  const i64 batch = head_number / shared_heads;
  if (threadIdx.x < kPairs) {
    const i64 pair = first_pair + threadIdx.x;
    const i64 query = pair / step.group;
    const bool is_pair = query < step.rows;
    const i64 head = head_number % shared_heads * step.group + pair % step.group;
    const KeyRange seen = is_pair ? seen_keys(step, mask, lengths, batch, step.first + query) : KeyRange{0, 0};
    pairs.firsts[threadIdx.x] = seen.first;
    pairs.ends[threadIdx.x] = seen.end;
    pairs.rows[threadIdx.x] = is_pair ? (batch * step.heads + head) * step.rows + query : -1;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    bool is_any = false;
    pairs.lowest_first = pairs.highest_first = pairs.lowest_end = pairs.highest_end = 0;
    for (u32 i = 0; i < kPairs; ++i) {
      const i64 first = pairs.firsts[i];
      const i64 end = pairs.ends[i];
      if (end != 0) {
        pairs.lowest_first = is_any && pairs.lowest_first < first ? pairs.lowest_first : first;
        pairs.highest_first = pairs.highest_first > first ? pairs.highest_first : first;
        pairs.lowest_end = is_any && pairs.lowest_end < end ? pairs.lowest_end : end;
        pairs.highest_end = pairs.highest_end > end ? pairs.highest_end : end;
        is_any = true;
      }
    }
  }
  __syncthreads();
}

// Each thread multiplies one key by the queries of all pairs.
template <class T, u32 kPairs>
__global__ void __launch_bounds__(kKeysAtOnce)
    multiply_keys(const __grid_constant__ ScoresLaunch launch, const u32 tiles, const u32 pair_groups) {
  __shared__ Pairs<kPairs> pairs;
  __shared__ f32 keys[kKeysAtOnce][kFactors + 1];
  __shared__ f32 queries[kFactors][kPairs];
  const AttentionStep& step = launch.step;
  const i64 first_key = static_cast<i64>(blockIdx.x % tiles) * kKeysAtOnce;
  const i64 first_pair = static_cast<i64>(blockIdx.x / tiles % pair_groups) * kPairs;
  const i64 head_number = blockIdx.x / tiles / pair_groups;
  find_pairs(step, launch.mask, launch.lengths, head_number, first_pair, pairs);
  if (first_key >= pairs.highest_end || first_key + kKeysAtOnce <= pairs.lowest_first) {
    return;
  }
  const i64 shared_heads = step.heads / step.group;
  const i64 batch = head_number / shared_heads;
  const std::byte* const key_rows = launch.keys + step.k.at(batch, head_number % shared_heads, first_key, 0);
  const i64 seen_here = pairs.highest_end - first_key;
  f32 totals[kPairs] = {};
  f32 sums[kPairs] = {};
  for (i64 first = 0; first < step.depth; first += kFactors) {
    const u32 count = static_cast<u32>(step.depth - first < kFactors ? step.depth - first : kFactors);
    __syncthreads();
    for (u32 i = threadIdx.x; i < kKeysAtOnce * kFactors; i += kKeysAtOnce) {
      const u32 key = i / kFactors;
      const u32 k = i % kFactors;
      keys[key][k] = key < seen_here && k < count
                         ? load_wide<T>(key_rows + key * step.k.row + (first + k) * step.k.column, launch.is_aligned)
                         : 0.0F;
    }
    for (u32 i = threadIdx.x; i < kPairs * kFactors; i += kKeysAtOnce) {
      const u32 pair = i / kFactors;
      const u32 k = i % kFactors;
      const i64 query = (first_pair + pair) / step.group;
      const i64 head = head_number % shared_heads * step.group + (first_pair + pair) % step.group;
      queries[k][pair] =
          pairs.rows[pair] >= 0 && k < count
              ? load_wide<T>(launch.queries + step.q.at(batch, head, query, first + k), launch.is_aligned)
              : 0.0F;
    }
    __syncthreads();
    if (first % kBlock == 0) {
      for (u32 pair = 0; pair < kPairs; ++pair) {
        sums[pair] = 0;
      }
    }
    for (u32 k = 0; k < count; ++k) {
      const f32 factor = keys[threadIdx.x][k];
#pragma unroll
      for (u32 pair = 0; pair < kPairs; ++pair) {
        sums[pair] = __fmaf_rn(queries[k][pair], factor, sums[pair]);
      }
    }
    if ((first + count) % kBlock == 0 || first + count == step.depth) {
      const bool is_first = first < kBlock;
#pragma unroll
      for (u32 pair = 0; pair < kPairs; ++pair) {
        totals[pair] = is_first ? sums[pair] : totals[pair] + sums[pair];
      }
    }
  }
  const i64 key = first_key + threadIdx.x;
#pragma unroll
  for (u32 pair = 0; pair < kPairs; ++pair) {
    if (key >= pairs.firsts[pair] && key < pairs.ends[pair]) {
      launch.scores[pairs.rows[pair] * step.keys + key] = totals[pair] * step.scale;
    }
  }
}

template <class T>
__device__ void store_result(const WeighLaunch& launch, i64 row, i64 column, f32 sum) {
  const AttentionStep& step = launch.step;
  const i64 head_number = row / step.rows;
  const T result = narrow<T>(sum / launch.totals[row]);
  store_element<T>(
      launch.output + step.output.at(head_number / step.heads, head_number % step.heads, row % step.rows, column),
      __builtin_bit_cast(bits_t<T>, result), launch.output_is_aligned);
}

// Each thread sums one column of the values for all pairs. If the blocks of keys are split, a thread block computes the
// sums of one of them; add_blocks adds these. Otherwise it computes all of them, and the results.
template <class T, u32 kPairs>
__global__ void __launch_bounds__(kColumnsAtOnce)
    multiply_values(const __grid_constant__ WeighLaunch launch, const u32 column_tiles, const u32 pair_groups) {
  __shared__ Pairs<kPairs> pairs;
  __shared__ f32 exponentials[kBlock][kPairs];
  const AttentionStep& step = launch.step;
  u32 index = blockIdx.x;
  const bool is_split = launch.sums != nullptr;
  const i64 own_block = is_split ? index % launch.blocks : 0;
  index /= is_split ? launch.blocks : 1;
  const i64 column = static_cast<i64>(index % column_tiles) * blockDim.x + threadIdx.x;
  index /= column_tiles;
  const i64 first_pair = static_cast<i64>(index % pair_groups) * kPairs;
  const i64 head_number = index / pair_groups;
  find_pairs(step, launch.mask, launch.lengths, head_number, first_pair, pairs);
  i64 first_block = pairs.lowest_first / kBlock;
  i64 end_block = (pairs.highest_end + kBlock - 1) / kBlock;
  if (is_split) {
    first_block = first_block > own_block ? first_block : own_block;
    end_block = end_block < own_block + 1 ? end_block : own_block + 1;
  }
  const i64 shared_heads = step.heads / step.group;
  const std::byte* const values =
      launch.values + step.v.at(head_number / shared_heads, head_number % shared_heads, 0, column);
  f32 totals[kPairs] = {};
  for (i64 block = first_block; block < end_block; ++block) {
    const i64 base = block * kBlock;
    __syncthreads();
    for (u32 i = threadIdx.x; i < kPairs * kBlock; i += blockDim.x) {
      const u32 pair = i / kBlock;
      const i64 key = base + i % kBlock;
      exponentials[i % kBlock][pair] = key >= pairs.firsts[pair] && key < pairs.ends[pair]
                                           ? launch.exponentials[pairs.rows[pair] * step.keys + key]
                                           : 0.0F;
    }
    __syncthreads();
    if (column >= step.width) {
      continue;
    }
    const auto clamp = [&](i64 key) {
      return static_cast<u32>(key < base ? 0 : key - base < kBlock ? key - base : kBlock);
    };
    const u32 first = clamp(pairs.lowest_first);
    const u32 end = clamp(pairs.highest_end);
    // The keys that all pairs see. Between `end` and these, each pair checks each key.
    const u32 first_shared = clamp(pairs.highest_first);
    const u32 end_shared = clamp(pairs.lowest_end);
    constexpr u32 kAtOnce = kPairs == kManyPairs ? 4 : 16;  // loads in flight
    f32 sums[kPairs] = {};
    const auto multiply_some = [&](u32 from, u32 to) {
      for (u32 i = from; i < to; ++i) {
        const f32 value = load_wide<T>(values + (base + i) * step.v.row, launch.values_are_aligned);
#pragma unroll
        for (u32 pair = 0; pair < kPairs; ++pair) {
          const f32 sum = __fmaf_rn(exponentials[i][pair], value, sums[pair]);
          sums[pair] = base + i >= pairs.firsts[pair] && base + i < pairs.ends[pair] ? sum : sums[pair];
        }
      }
    };
    if (first_shared < end_shared) {
      multiply_some(first, first_shared);
#pragma unroll kAtOnce
      for (u32 i = first_shared; i < end_shared; ++i) {
        const f32 value = load_wide<T>(values + (base + i) * step.v.row, launch.values_are_aligned);
#pragma unroll
        for (u32 pair = 0; pair < kPairs; ++pair) {
          sums[pair] = __fmaf_rn(exponentials[i][pair], value, sums[pair]);
        }
      }
      multiply_some(end_shared, end);
    } else {
      multiply_some(first, end);
    }
#pragma unroll
    for (u32 pair = 0; pair < kPairs; ++pair) {
      if (base < pairs.ends[pair] && base + kBlock > pairs.firsts[pair]) {
        if (is_split) {
          launch.sums[(pairs.rows[pair] * launch.blocks + block) * step.width + column] = sums[pair];
        }
        totals[pair] = block == pairs.firsts[pair] / kBlock ? sums[pair] : totals[pair] + sums[pair];
      }
    }
  }
  if (is_split || column >= step.width) {
    return;
  }
#pragma unroll
  for (u32 pair = 0; pair < kPairs; ++pair) {
    if (pairs.rows[pair] >= 0) {
      store_result<T>(launch, pairs.rows[pair], column, totals[pair]);
    }
  }
}

// Each thread computes one result from the sums of the blocks.
template <class T>
__global__ void __launch_bounds__(kColumnsAtOnce)
    add_blocks(const __grid_constant__ WeighLaunch launch, const u64 results) {
  const AttentionStep& step = launch.step;
  const u64 number = u64{blockIdx.x} * kColumnsAtOnce + threadIdx.x;
  if (number >= results) {
    return;
  }
  const i64 column = static_cast<i64>(number % static_cast<u64>(step.width));
  const i64 row = static_cast<i64>(number / static_cast<u64>(step.width));
  const i64 batch = row / step.rows / step.heads;
  const KeyRange seen = seen_keys(step, launch.mask, launch.lengths, batch, step.first + row % step.rows);
  f32 total = 0;
  for (i64 block = seen.first / kBlock; block * kBlock < seen.end; ++block) {
    const f32 sum = launch.sums[(row * launch.blocks + block) * step.width + column];
    total = block == seen.first / kBlock ? sum : total + sum;
  }
  store_result<T>(launch, row, column, total);
}

template <class T, u32 kPairs>
void start_keys(const ScoresLaunch& launch, cudaStream_t stream) {
  const SeenGrid& grid = launch.grid;
  multiply_keys<T, kPairs>
      <<<grid.tiles * grid.pair_groups * grid.heads, kKeysAtOnce, 0, stream>>>(launch, grid.tiles, grid.pair_groups);
}

template <class T, u32 kPairs>
void start_values(const WeighLaunch& launch, cudaStream_t stream) {
  const SeenGrid& grid = launch.grid;
  const u32 thread_blocks =
      grid.tiles * grid.pair_groups * grid.heads * (launch.sums != nullptr ? static_cast<u32>(launch.blocks) : 1);
  multiply_values<T, kPairs><<<thread_blocks, grid.threads, 0, stream>>>(launch, grid.tiles, grid.pair_groups);
  if (launch.sums != nullptr) {
    const u64 results = static_cast<u64>(launch.step.batches * launch.step.heads * launch.step.rows) *
                        static_cast<u64>(launch.step.width);
    add_blocks<T><<<static_cast<u32>((results - 1) / kColumnsAtOnce + 1), kColumnsAtOnce, 0, stream>>>(launch, results);
  }
}

// Calls start with the type of the elements and the pairs of a thread block.
template <class Start>
cudaError_t start_for(const AttentionStep& step, u32 pairs, const Start& start) {
  const auto of_type = [&]<class T>() {
    pairs == kManyPairs ? start.template operator()<T, kManyPairs>() : start.template operator()<T, kFewPairs>();
  };
  step.type == DataType::FLOAT16 ? of_type.template operator()<f16>() : of_type.template operator()<f32>();
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_scores(const ScoresLaunch& launch, cudaStream_t stream) {
  return start_for(launch.step, launch.grid.pairs,
                   [&]<class T, u32 kPairs>() { start_keys<T, kPairs>(launch, stream); });
}

cudaError_t start_weigh(const WeighLaunch& launch, cudaStream_t stream) {
  return start_for(launch.step, launch.grid.pairs,
                   [&]<class T, u32 kPairs>() { start_values<T, kPairs>(launch, stream); });
}

}  // namespace anydml::cuda
