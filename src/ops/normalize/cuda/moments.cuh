// SPDX-License-Identifier: MIT
// The mean and variance of rows on a GPU. A warp walks along a block of 4,096 elements, 64 at a time: thread t
// processes elements 2t and 2t + 1 of each group of 64, and therefore owns lanes 2t and 2t + 1 of the sum. A row of up
// to eight blocks stays in registers, or in shared memory if it has 1,025 to 8,192 elements. A longer row, or one with
// a complicated layout, is read three times; the second and third reads come from the L2 cache. If sums have no lanes,
// one thread computes each row as a single chain of additions.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/normalize/cuda/moments.h"
#include "ops/normalize/cuda/quads.cuh"
#include "ops/normalize/scalar/moments.h"

namespace anydml::cuda {

inline constexpr u32 kAllThreads = 0xffffffff;
inline constexpr u32 kBlockElements = static_cast<u32>(kReduceBlock);
inline constexpr u32 kStepElements = static_cast<u32>(kReduceLanes);  // per warp
static_assert(kStepElements == 64);

struct TwoOffsets {
  std::int64_t first;
  std::int64_t second;
};

[[nodiscard]] __device__ inline TwoOffsets offsets_at(u32 index, const DeviceLoops& loops) {
  TwoOffsets offsets{0, 0};
#pragma unroll 1
  for (u32 loop = loops.rank; loop-- > 1;) {
    const Quotient parts = divide(index, loops.sizes[loop]);
    offsets.first += static_cast<std::int64_t>(parts.remainder) * loops.first[loop];
    offsets.second += static_cast<std::int64_t>(parts.remainder) * loops.second[loop];
    index = parts.quotient;
  }
  offsets.first += static_cast<std::int64_t>(index) * loops.first[0];
  offsets.second += static_cast<std::int64_t>(index) * loops.second[0];
  return offsets;
}

struct Pair {
  f32 a;
  f32 b;
};

template <class T>
[[nodiscard]] __device__ inline f32 load_one(const std::byte* from, bool is_aligned) {
  return widen(__builtin_bit_cast(T, load_element<T>(from, is_aligned)));
}

// Two elements, aligned to their total size.
template <class T>
[[nodiscard]] __device__ inline Pair load_pair(const std::byte* from) {
  u32 words[4];
  load_access<2 * static_cast<int>(sizeof(T)), false>(from, words);
  return {widen(__builtin_bit_cast(T, extract<T>(words, 0))), widen(__builtin_bit_cast(T, extract<T>(words, 1)))};
}
template <class T>
__device__ inline void store_pair(std::byte* to, const Pair& values) {
  u32 words[4] = {};
  insert<T>(words, 0, __builtin_bit_cast(bits_t<T>, narrow<T>(values.a)));
  insert<T>(words, 1, __builtin_bit_cast(bits_t<T>, narrow<T>(values.b)));
  store_access<2 * static_cast<int>(sizeof(T)), false>(to, words);
}

// A row and the data needed to compute its results.
template <class T>
struct MomentRow {
  const MomentLaunch& launch;
  const std::byte* from;
  std::byte* to;
  const std::byte* scale;
  const std::byte* bias;
  f32 mean = 0;
  f32 root = 1;
  f32 factor = kNoScale;  // used if the whole row has the same factor; the same applies to the bias
  f32 one_bias = kNoBias;

  __device__ MomentRow(const MomentLaunch& of, u32 row) : launch(of) {
    const TwoOffsets own = offsets_at(row, of.kept);
    const TwoOffsets affine = offsets_at(row, of.kept_affine);
    from = of.input + own.first;
    to = of.output + own.second;
    scale = of.scale == nullptr ? nullptr : of.scale + affine.first;
    bias = of.bias == nullptr ? nullptr : of.bias + affine.second;
  }

  [[nodiscard]] __device__ f32 load(u32 i) const {
    return load_one<T>(from + offsets_at(i, launch.reduced).first, launch.input_is_aligned);
  }

  // Called after mean and root have been computed.
  __device__ void set_factor() {
    if (launch.scale_reading == Reading::one) {
      factor = (scale == nullptr ? kNoScale : load_one<T>(scale, launch.affine_is_aligned)) / root;
    }
    if (launch.bias_reading == Reading::one && bias != nullptr) {
      one_bias = load_one<T>(bias, launch.affine_is_aligned);
    }
  }

  [[nodiscard]] __device__ f32 result(u32 i, f32 x) const {
    f32 own_factor = factor;
    f32 own_bias = one_bias;
    if (launch.scale_reading != Reading::one) {
      own_factor = load_one<T>(scale + offsets_at(i, launch.reduced_affine).first, launch.affine_is_aligned) / root;
    }
    if (launch.bias_reading != Reading::one) {
      own_bias = load_one<T>(bias + offsets_at(i, launch.reduced_affine).second, launch.affine_is_aligned);
    }
    return normalized(x, mean, own_factor, own_bias);
  }

  // The results for two elements of a row with a single factor and bias.
  [[nodiscard]] __device__ Pair results(const Pair& x) const {
    return {normalized(x.a, mean, factor, one_bias), normalized(x.b, mean, factor, one_bias)};
  }
  // These functions return the scales or the biases of two elements. If the row has a single scale, `factor` already
  // includes it, and scales_at returns kNoScale.
  [[nodiscard]] __device__ Pair scales_at(u32 i) const {
    return launch.scale_reading == Reading::one ? Pair{kNoScale, kNoScale} : load_pair<T>(scale + u64{i} * sizeof(T));
  }
  [[nodiscard]] __device__ Pair biases_at(u32 i) const {
    return launch.bias_reading == Reading::one ? Pair{one_bias, one_bias} : load_pair<T>(bias + u64{i} * sizeof(T));
  }
  [[nodiscard]] __device__ Pair results(u32 i, const Pair& x) const {
    Pair factors{factor, factor};
    if (launch.scale_reading != Reading::one) {
      const Pair loaded = scales_at(i);
      factors = {loaded.a / root, loaded.b / root};
    }
    const Pair biases = biases_at(i);
    return {normalized(x.a, mean, factors.a, biases.a), normalized(x.b, mean, factors.b, biases.b)};
  }
  [[nodiscard]] __device__ bool has_one_factor() const {
    return launch.scale_reading == Reading::one && launch.bias_reading == Reading::one;
  }
};

// Folds the lanes by repeated halving, first between threads, then within a thread, which has two lanes. All threads
// get the same sum, because addition is commutative.
[[nodiscard]] __device__ inline f32 fold_lanes(Pair sums) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    sums.a = added(sums.a, __shfl_xor_sync(kAllThreads, sums.a, distance));
    sums.b = added(sums.b, __shfl_xor_sync(kAllThreads, sums.b, distance));
  }
  return added(sums.a, sums.b);
}

// Combines the sums of a row's blocks of elements. Each warp passes the sum of one block.
[[nodiscard]] __device__ inline f32 combine_warps(f32 own, u32 blocks, f32* shared) {
  __syncthreads();  // wait until the previous contents have been read
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = own;
  }
  __syncthreads();
  BlockTree<f32> tree;
#pragma unroll 1
  for (u32 i = 0; i < blocks; ++i) {
    tree.add(shared[i], added);
  }
  return tree.total(added);
}

// Rows in registers: kSteps times 64 elements per warp.
template <class T, u32 kSteps>
__global__ void __launch_bounds__(kSteps == kBlockElements / kStepElements ? kMomentThreads : kRegisterRowThreads)
    moments_in_registers(const __grid_constant__ MomentLaunch launch) {
  __shared__ f32 shared[kMaxWarpsOfRow];
  const u32 warp = threadIdx.x / 32;
  const bool is_shared = launch.warps_of_row > 1;  // the whole block of threads shares one row
  const u32 number = is_shared ? blockIdx.x : blockIdx.x * (blockDim.x / 32) + warp;
  if (number >= launch.rows) {
    return;  // the whole warp returns
  }
  const u32 first = is_shared ? warp * kBlockElements : 0;
  const u32 begin = first + 2 * (threadIdx.x % 32);
  MomentRow<T> row(launch, number);
  Pair x[kSteps];
#pragma unroll
  for (u32 k = 0; k < kSteps; ++k) {
    const u32 i = begin + k * kStepElements;
    x[k] = {kNothing<f32>, kNothing<f32>};
    if (i < launch.count) {  // the count is even
      x[k] = load_pair<T>(row.from + u64{i} * sizeof(T));
    }
  }
  if (launch.uses_mean) {
    Pair sums{kNothing<f32>, kNothing<f32>};
#pragma unroll
    for (u32 k = 0; k < kSteps; ++k) {
      sums = {added(sums.a, x[k].a), added(sums.b, x[k].b)};
    }
    f32 total = fold_lanes(sums);
    total = is_shared ? combine_warps(total, launch.warps_of_row, shared) : total;
    row.mean = total / launch.divisor;
  }
  if (launch.uses_variance) {
    Pair sums{kNothing<f32>, kNothing<f32>};
#pragma unroll
    for (u32 k = 0; k < kSteps; ++k) {
      if (begin + k * kStepElements < launch.count) {
        sums = {added(sums.a, square_of_difference(x[k].a, row.mean)),
                added(sums.b, square_of_difference(x[k].b, row.mean))};
      }
    }
    f32 total = fold_lanes(sums);
    total = is_shared ? combine_warps(total, launch.warps_of_row, shared) : total;
    row.root = root_of_variance(total / launch.divisor, launch.epsilon);
  }
  row.set_factor();
  if (row.has_one_factor()) {
#pragma unroll
    for (u32 k = 0; k < kSteps; ++k) {
      const u32 i = begin + k * kStepElements;
      if (i < launch.count) {
        store_pair<T>(row.to + u64{i} * sizeof(T), row.results(x[k]));
      }
    }
    return;
  }
  // Load several scales and biases at a time, so that the loads overlap, and divide without a branch for each element.
  constexpr u32 kGroup = kSteps > 16 ? 1 : kSteps < 4 ? kSteps : 4;  // limited by the number of registers
  const bool has_scales = launch.scale_reading != Reading::one;
  const OrdinaryDivisor by = OrdinaryDivisor::of(row.root);
#pragma unroll
  for (u32 first_step = 0; first_step < kSteps; first_step += kGroup) {
    const u32 i = begin + first_step * kStepElements;
    Pair factors[kGroup];
    Pair biases[kGroup];
#pragma unroll
    for (u32 k = 0; k < kGroup; ++k) {
      const bool exists = i + k * kStepElements < launch.count;
      factors[k] = exists ? row.scales_at(i + k * kStepElements) : Pair{kNoScale, kNoScale};
      biases[k] = exists ? row.biases_at(i + k * kStepElements) : Pair{kNoBias, kNoBias};
    }
    bool all_ordinary = is_ordinary(row.root);
#pragma unroll
    for (u32 k = 0; k < kGroup; ++k) {
      all_ordinary = all_ordinary && is_ordinary(factors[k].a) && is_ordinary(factors[k].b);
    }
    if (has_scales && all_ordinary) {
#pragma unroll
      for (u32 k = 0; k < kGroup; ++k) {
        factors[k] = {by.quotient(factors[k].a), by.quotient(factors[k].b)};
      }
    } else {
#pragma unroll
      for (u32 k = 0; k < kGroup; ++k) {
        factors[k] = has_scales ? Pair{factors[k].a / row.root, factors[k].b / row.root} : Pair{row.factor, row.factor};
      }
    }
#pragma unroll
    for (u32 k = 0; k < kGroup; ++k) {
      if (i + k * kStepElements < launch.count) {
        const Pair& own = x[first_step + k];
        store_pair<T>(row.to + u64{i + k * kStepElements} * sizeof(T),
                      {normalized(own.a, row.mean, factors[k].a, biases[k].a),
                       normalized(own.b, row.mean, factors[k].b, biases[k].b)});
      }
    }
  }
}

// Computes the sum of a row in shared memory, or of its squared differences from the mean, with one warp per block of
// elements. The sum of a missing block is -0, which does not change the total.
template <bool kSquares>
[[nodiscard]] __device__ inline f32 sum_shared(const float2* pairs, u32 count, f32 mean, f32* of_blocks) {
  const u32 warp = threadIdx.x / 32;
  const u32 lane = threadIdx.x % 32;
  if (warp < kMaxWarpsOfRow) {
    const u32 end = min(count, (warp + 1) * kBlockElements);
    Pair sums{kNothing<f32>, kNothing<f32>};
#pragma unroll 16
    for (u32 i = warp * kBlockElements + 2 * lane; i < end; i += kStepElements) {
      const float2 x = pairs[i / 2];
      sums = {added(sums.a, kSquares ? square_of_difference(x.x, mean) : x.x),
              added(sums.b, kSquares ? square_of_difference(x.y, mean) : x.y)};
    }
    const f32 sum = fold_lanes(sums);
    if (lane == 0) {
      of_blocks[warp] = sum;
    }
  }
  __syncthreads();
  static_assert(kMaxWarpsOfRow == 8 && kMomentThreads == 32 * kMaxWarpsOfRow);
  return added(added(added(of_blocks[0], of_blocks[1]), added(of_blocks[2], of_blocks[3])),
               added(added(of_blocks[4], of_blocks[5]), added(of_blocks[6], of_blocks[7])));
}

// Rows in shared memory, four elements at a time. All threads take part in loading and storing a row. Only a few warps
// compute its sums; meanwhile, other rows use the multiprocessor.
template <class T>
__global__ void __launch_bounds__(kMomentThreads) moments_in_shared(const __grid_constant__ MomentLaunch launch) {
  extern __shared__ float4 quads[];
  __shared__ f32 of_blocks[2][kMaxWarpsOfRow];
  MomentRow<T> row(launch, blockIdx.x);
  constexpr u32 kStep = kTogether * kMomentThreads;
  // Issue several loads before the first store. The compiler does not reorder them, because it cannot prove that loads
  // and stores access different memory.
  constexpr u32 kLoads = 4;
#pragma unroll 1
  for (u32 first = kTogether * threadIdx.x; first < launch.count; first += kLoads * kStep) {
    f32 x[kLoads][kTogether];
#pragma unroll
    for (u32 k = 0; k < kLoads; ++k) {
      if (const u32 i = first + k * kStep; i < launch.count) {
        load_four<T>(row.from + u64{i} * sizeof(T), x[k]);
      }
    }
#pragma unroll
    for (u32 k = 0; k < kLoads; ++k) {
      if (const u32 i = first + k * kStep; i < launch.count) {
        quads[i / kTogether] = make_float4(x[k][0], x[k][1], x[k][2], x[k][3]);
      }
    }
  }
  __syncthreads();
  const auto* const pairs = reinterpret_cast<const float2*>(quads);
  if (launch.uses_mean) {
    row.mean = sum_shared<false>(pairs, launch.count, 0, of_blocks[0]) / launch.divisor;
  }
  if (launch.uses_variance) {
    const f32 total = sum_shared<true>(pairs, launch.count, row.mean, of_blocks[1]);
    row.root = root_of_variance(total / launch.divisor, launch.epsilon);
  }
  row.set_factor();
  const bool has_scales = launch.scale_reading != Reading::one;
  const bool has_biases = launch.bias_reading != Reading::one;
  const OrdinaryDivisor by = OrdinaryDivisor::of(row.root);
  constexpr u32 kStores = 2;
#pragma unroll 1
  for (u32 first = kTogether * threadIdx.x; first < launch.count; first += kStores * kStep) {
    f32 factors[kStores][kTogether];
    f32 biases[kStores][kTogether];
#pragma unroll
    for (u32 k = 0; k < kStores; ++k) {
      const u32 i = first + k * kStep;
#pragma unroll
      for (u32 n = 0; n < kTogether; ++n) {
        factors[k][n] = row.factor;
        biases[k][n] = row.one_bias;
      }
      if (has_scales && i < launch.count) {
        load_four<T>(row.scale + u64{i} * sizeof(T), factors[k]);
      }
      if (has_biases && i < launch.count) {
        load_four<T>(row.bias + u64{i} * sizeof(T), biases[k]);
      }
    }
    if (has_scales) {
      bool all_ordinary = is_ordinary(row.root);
#pragma unroll
      for (u32 k = 0; k < kStores * kTogether; ++k) {
        all_ordinary = all_ordinary && is_ordinary(factors[k / kTogether][k % kTogether]);
      }
#pragma unroll
      for (u32 k = 0; k < kStores * kTogether; ++k) {
        f32& factor = factors[k / kTogether][k % kTogether];
        factor = all_ordinary ? by.quotient(factor) : factor / row.root;
      }
    }
#pragma unroll
    for (u32 k = 0; k < kStores; ++k) {
      if (const u32 i = first + k * kStep; i < launch.count) {
        const float4 x = quads[i / kTogether];
        const f32 results[kTogether] = {normalized(x.x, row.mean, factors[k][0], biases[k][0]),
                                        normalized(x.y, row.mean, factors[k][1], biases[k][1]),
                                        normalized(x.z, row.mean, factors[k][2], biases[k][2]),
                                        normalized(x.w, row.mean, factors[k][3], biases[k][3])};
        store_four<T>(row.to + u64{i} * sizeof(T), results);
      }
    }
  }
}

// Computes the sum of one block of a row, or of its squared differences from the mean, with one warp.
template <class T, bool kSquares>
[[nodiscard]] __device__ inline f32 sum_block(const MomentRow<T>& row, u32 first) {
  const u32 length = min(row.launch.count - first, kBlockElements);
  Pair sums{kNothing<f32>, kNothing<f32>};
  const auto add = [&row](f32 sum, f32 x) { return added(sum, kSquares ? square_of_difference(x, row.mean) : x); };
  if (row.launch.is_plain) {
#pragma unroll 8
    for (u32 i = 2 * (threadIdx.x % 32); i < length; i += kStepElements) {
      const Pair x = load_pair<T>(row.from + u64{first + i} * sizeof(T));
      sums = {add(sums.a, x.a), add(sums.b, x.b)};
    }
  } else {
#pragma unroll 4
    for (u32 i = 2 * (threadIdx.x % 32); i < length; i += kStepElements) {
      sums.a = add(sums.a, row.load(first + i));
      if (i + 1 < length) {
        sums.b = add(sums.b, row.load(first + i + 1));
      }
    }
  }
  return fold_lanes(sums);
}

// Computes the sum of a row, with one warp or with all warps of the block of threads. Each warp processes one block of
// elements at a time.
template <class T, bool kSquares>
[[nodiscard]] __device__ inline f32 sum_row(const MomentRow<T>& row, f32* shared) {
  if (row.launch.warps_of_row == 1) {
    return sum_block<T, kSquares>(row, 0);
  }
  constexpr u32 kWarps = kMomentThreads / 32;
  BlockTree<f32> tree;  // one per thread
  const u32 warp = threadIdx.x / 32;
  const u32 blocks = (row.launch.count - 1) / kBlockElements + 1;
#pragma unroll 1
  for (u32 first = 0; first < blocks; first += kWarps) {
    const f32 own = first + warp < blocks ? sum_block<T, kSquares>(row, (first + warp) * kBlockElements) : 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      shared[warp] = own;
    }
    __syncthreads();
#pragma unroll 1
    for (u32 i = 0; i < min(kWarps, blocks - first); ++i) {
      tree.add(shared[i], added);
    }
  }
  return tree.total(added);
}

// Rows that stay in global memory, with any layout.
template <class T>
__global__ void __launch_bounds__(kMomentThreads) moments_in_memory(const __grid_constant__ MomentLaunch launch) {
  __shared__ f32 shared[kMomentThreads / 32];
  const bool is_shared = launch.warps_of_row > 1;
  const u32 number = is_shared ? blockIdx.x : blockIdx.x * (kMomentThreads / 32) + threadIdx.x / 32;
  if (number >= launch.rows) {
    return;  // the whole warp returns, and no other warp shares the row
  }
  MomentRow<T> row(launch, number);
  if (launch.uses_mean) {
    row.mean = sum_row<T, false>(row, shared) / launch.divisor;
  }
  if (launch.uses_variance) {
    row.root = root_of_variance(sum_row<T, true>(row, shared) / launch.divisor, launch.epsilon);
  }
  row.set_factor();
  const u32 thread = is_shared ? threadIdx.x : threadIdx.x % 32;
  const u32 threads = is_shared ? kMomentThreads : 32;
  if (launch.is_plain) {
#pragma unroll 4
    for (u64 i = 2 * thread; i < launch.count; i += 2 * threads) {
      const Pair x = load_pair<T>(row.from + i * sizeof(T));
      const u32 at = static_cast<u32>(i);
      store_pair<T>(row.to + i * sizeof(T),
                    launch.reads_pairs ? row.results(at, x) : Pair{row.result(at, x.a), row.result(at + 1, x.b)});
    }
    return;
  }
#pragma unroll 4
  for (u64 i = thread; i < launch.count; i += threads) {
    const TwoOffsets offsets = offsets_at(static_cast<u32>(i), launch.reduced);
    const f32 x = load_one<T>(row.from + offsets.first, launch.input_is_aligned);
    store_element<T>(row.to + offsets.second,
                     __builtin_bit_cast(bits_t<T>, narrow<T>(row.result(static_cast<u32>(i), x))),
                     launch.output_is_aligned);
  }
}

// Computes the sum of a row as a single chain of additions for each block of elements.
template <class T, bool kSquares>
[[nodiscard]] __device__ inline f32 sum_chain(const MomentRow<T>& row) {
  BlockTree<f32> tree;
#pragma unroll 1
  for (u64 block = 0; block < row.launch.count; block += kBlockElements) {
    const u32 end = static_cast<u32>(min(u64{row.launch.count}, block + kBlockElements));
    f32 sum = kNothing<f32>;
#pragma unroll 8
    for (u32 i = static_cast<u32>(block); i < end; ++i) {
      const f32 x = row.load(i);
      sum = added(sum, kSquares ? square_of_difference(x, row.mean) : x);
    }
    tree.add(sum, added);
  }
  return tree.total(added);
}

// One row per thread; adjacent threads process adjacent rows.
template <class T>
__global__ void __launch_bounds__(kMomentThreads) moments_in_chains(const __grid_constant__ MomentLaunch launch) {
  const u64 number = u64{blockIdx.x} * kMomentThreads + threadIdx.x;
  if (number >= launch.rows) {
    return;
  }
  MomentRow<T> row(launch, static_cast<u32>(number));
  if (launch.uses_mean) {
    row.mean = sum_chain<T, false>(row) / launch.divisor;
  }
  if (launch.uses_variance) {
    row.root = root_of_variance(sum_chain<T, true>(row) / launch.divisor, launch.epsilon);
  }
  row.set_factor();
#pragma unroll 4
  for (u32 i = 0; i < launch.count; ++i) {
    const TwoOffsets offsets = offsets_at(i, launch.reduced);
    const f32 x = load_one<T>(row.from + offsets.first, launch.input_is_aligned);
    store_element<T>(row.to + offsets.second, __builtin_bit_cast(bits_t<T>, narrow<T>(row.result(i, x))),
                     launch.output_is_aligned);
  }
}

[[nodiscard]] inline u32 groups_of(u32 rows, u32 of_group) { return rows / of_group + (rows % of_group != 0 ? 1 : 0); }

template <class T, u32 kSteps>
void start_in_registers(const MomentLaunch& launch, cudaStream_t stream) {
  const bool is_shared = launch.warps_of_row > 1;
  const u32 threads = is_shared ? 32 * launch.warps_of_row : kRegisterRowThreads;
  const u32 groups = is_shared ? launch.rows : groups_of(launch.rows, kRegisterRowThreads / 32);
  moments_in_registers<T, kSteps><<<groups, threads, 0, stream>>>(launch);
}

template <class T>
[[nodiscard]] cudaError_t start_moments_of(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream) {
  switch (kernel) {
    case MomentKernel::registers:
      if (launch.count <= kStepElements) {
        start_in_registers<T, 1>(launch, stream);
      } else if (launch.count <= 4 * kStepElements) {
        start_in_registers<T, 4>(launch, stream);
      } else if (launch.count <= 8 * kStepElements) {
        start_in_registers<T, 8>(launch, stream);
      } else if (launch.count <= 16 * kStepElements) {
        start_in_registers<T, 16>(launch, stream);
      } else if (launch.count <= 32 * kStepElements) {
        start_in_registers<T, 32>(launch, stream);
      } else {
        start_in_registers<T, kBlockElements / kStepElements>(launch, stream);
      }
      break;
    case MomentKernel::shared_memory:
      moments_in_shared<T><<<launch.rows, kMomentThreads, launch.count * sizeof(f32), stream>>>(launch);
      break;
    case MomentKernel::memory: {
      const bool is_shared = launch.warps_of_row > 1;
      const u32 groups = is_shared ? launch.rows : groups_of(launch.rows, kMomentThreads / 32);
      moments_in_memory<T><<<groups, kMomentThreads, 0, stream>>>(launch);
      break;
    }
    case MomentKernel::chains:
      moments_in_chains<T><<<groups_of(launch.rows, kMomentThreads), kMomentThreads, 0, stream>>>(launch);
      break;
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
