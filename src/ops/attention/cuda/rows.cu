// SPDX-License-Identifier: MIT
// Computes exponentials of scores and their sums on a GPU, one row per thread block. Everything except the sum can be
// split freely among threads. The sum has a fixed order, in which each of 64 threads computes one chain of additions.
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/attention/cuda/launch.h"
#include "ops/attention/scalar/masks.h"
#include "ops/attention/scalar/scores.h"

namespace anydml::cuda {
namespace {

constexpr u32 kBlock = static_cast<u32>(kReduceBlock);
constexpr u32 kLanes = static_cast<u32>(kReduceLanes);

// Adds bias and mask to the score of a key.
template <class T>
[[nodiscard]] __device__ f32 finished_score(const RowsLaunch& launch, f32 score, const std::byte* bias,
                                            const std::byte* mask, KeyRange range, i64 key) {
  const AttentionStep& step = launch.step;
  if (bias != nullptr) {
    score += widen(__builtin_bit_cast(T, load_element<T>(bias + key * step.bias.column, launch.bias_is_aligned)));
  }
  bool is_masked = key < range.first || key >= range.end;
  if (mask != nullptr) {
    is_masked = load_element<u32>(mask + key * step.mask.column, launch.mask_is_aligned) == 0;
  }
  if (is_masked) {
    score += step.filter;
  }
  return score;
}

template <class T>
__global__ void __launch_bounds__(kMaxRowThreads) raise_rows(const __grid_constant__ RowsLaunch launch) {
  __shared__ f32 of_warps[kMaxRowThreads / 32];
  __shared__ f32 some[kBlock];
  __shared__ f32 lanes[kLanes];
  const AttentionStep& step = launch.step;
  const i64 head_number = blockIdx.x / static_cast<u32>(step.rows);
  const i64 query = step.first + blockIdx.x % static_cast<u32>(step.rows);
  const i64 batch = head_number / step.heads;
  const i64 head = head_number % step.heads;
  const f32* const scores = launch.scores + blockIdx.x * step.keys;
  f32* const exponentials = launch.exponentials + blockIdx.x * step.keys;
  const bool is_boolean = step.mask_kind == MaskKind::boolean;
  const std::byte* const bias = launch.bias == nullptr ? nullptr : launch.bias + step.bias.at(batch, head, query, 0);
  const std::byte* const mask = is_boolean ? launch.mask + step.mask.at(batch, head, query, 0) : nullptr;
  KeyRange range{0, step.keys};
  if (launch.mask != nullptr && !is_boolean && step.hides_masked == 0) {
    range = unmasked_keys(step, launch.mask, batch, query);
  }
  const KeyRange seen = seen_keys(step, launch.mask, launch.lengths, batch, query);
  if (seen.end == 0) {  // so that the result is 0 / 0
    if (threadIdx.x == 0) {
      launch.totals[blockIdx.x] = 0;
    }
    return;
  }

  f32 maximum = kMinScore;
  for (i64 key = threadIdx.x; key < seen.end; key += blockDim.x) {
    const f32 score = key < seen.first ? kMinScore : finished_score<T>(launch, scores[key], bias, mask, range, key);
    exponentials[key] = score;  // read back by the same thread
    maximum = greater_score(maximum, score);
  }
  for (u32 distance = 16; distance > 0; distance /= 2) {
    maximum = greater_score(maximum, __shfl_xor_sync(0xffffffff, maximum, distance));
  }
  if (threadIdx.x % 32 == 0) {
    of_warps[threadIdx.x / 32] = maximum;
  }
  __syncthreads();
  for (u32 warp = 0; warp < blockDim.x / 32; ++warp) {
    maximum = greater_score(maximum, of_warps[warp]);
  }

  BlockTree<f32> tree;  // only used by the first thread
  for (i64 first = 0; first < seen.end; first += kBlock) {
    const u32 count = static_cast<u32>(seen.end - first < kBlock ? seen.end - first : kBlock);
    // The number of threads divides kBlock, so each thread reads back the scores that it wrote itself.
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
      const f32 exponential = exponential_of_score(exponentials[first + i] - maximum);
      exponentials[first + i] = exponential;
      some[i] = exponential;
    }
    __syncthreads();
    if (threadIdx.x < kLanes) {
      f32 sum = kNothing<f32>;
      for (u32 i = threadIdx.x; i < count; i += kLanes) {
        sum = sum_exponentials(sum, some[i]);
      }
      lanes[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      f32 sum = sum_exponentials(lanes[threadIdx.x], lanes[threadIdx.x + 32]);
      for (u32 distance = 16; distance > 0; distance /= 2) {
        sum = sum_exponentials(sum, __shfl_down_sync(0xffffffff, sum, distance));
      }
      if (threadIdx.x == 0) {
        tree.add(sum, sum_exponentials);
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    launch.totals[blockIdx.x] = tree.total(sum_exponentials);
  }
}

// Each thread writes some of the elements: of the past, unless it is there already, then of the new rows, and then of
// the rows that become 0. Thread blocks with nothing to write return at once.
template <class Bits>
__global__ void __launch_bounds__(kAppendThreads)
    append_rows(const __grid_constant__ AppendLaunch launch, const u64 elements) {
  const AttentionStep& step = launch.step;
  const u64 all_threads = u64{gridDim.x} * kAppendThreads;
  for (u64 number = u64{blockIdx.x} * kAppendThreads + threadIdx.x; number < elements; number += all_threads) {
    const bool is_past = number < launch.past_elements;
    const bool is_new = !is_past && number < launch.past_elements + launch.new_elements;
    const u64 of_part = number - (is_past  ? 0
                                  : is_new ? launch.past_elements
                                           : launch.past_elements + launch.new_elements);
    const i64 rows = is_past ? step.past_keys : is_new ? step.new_keys : step.rows;
    const i64 column = static_cast<i64>(of_part % static_cast<u64>(step.width));
    const u64 row_number = of_part / static_cast<u64>(step.width);
    const i64 row = static_cast<i64>(row_number % static_cast<u64>(rows));
    const i64 head_number = static_cast<i64>(row_number / static_cast<u64>(rows));
    const i64 batch = head_number / step.heads;
    const i64 head = head_number % step.heads;
    const i64 past = past_length(step, launch.lengths, batch);
    const i64 target = is_new ? past + row : row;
    if (target >= step.rows || (is_past && row >= past) || (!is_past && !is_new && row < past + step.new_keys)) {
      continue;
    }
    Bits bits = 0;
    if (is_past) {
      bits = load_element<Bits>(launch.past + step.q.at(batch, head, row, column), launch.is_aligned);
    } else if (is_new) {
      bits = load_element<Bits>(launch.fresh + step.k.at(batch, head, row, column), launch.is_aligned);
    }
    store_element<Bits>(launch.all + step.output.at(batch, head, target, column), bits, launch.is_aligned);
  }
}

}  // namespace

cudaError_t start_rows(const RowsLaunch& launch, u32 rows, u32 threads, cudaStream_t stream) {
  if (launch.step.type == DataType::FLOAT16) {
    raise_rows<f16><<<rows, threads, 0, stream>>>(launch);
  } else {
    raise_rows<f32><<<rows, threads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

cudaError_t start_append(const AppendLaunch& launch, cudaStream_t stream) {
  const AttentionStep& step = launch.step;
  const u64 zeros = step.has_zeros != 0 ? static_cast<u64>(step.batches * step.heads * step.rows * step.width) : 0;
  const u64 elements = launch.past_elements + launch.new_elements + zeros;
  if (elements == 0) {
    return cudaSuccess;
  }
  constexpr u64 kMaxBlocks = 1 << 16;
  const u64 blocks = (elements - 1) / kAppendThreads + 1;
  const auto grid = static_cast<u32>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
  if (launch.step.type == DataType::FLOAT16) {
    append_rows<u16><<<grid, kAppendThreads, 0, stream>>>(launch, elements);
  } else {
    append_rows<u32><<<grid, kAppendThreads, 0, stream>>>(launch, elements);
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
