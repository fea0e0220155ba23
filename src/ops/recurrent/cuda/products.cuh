// SPDX-License-Identifier: MIT
// Computes the products of hidden states and the recurrence matrix for the tile of one thread block. Threads with
// adjacent units read adjacent factors. One thread computes a chain of 256 products for each row of the tile. The
// chains of one sum are computed in parallel, up to `parts` chains in one pass, and added in order in shared memory.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/recurrent/cuda/launch.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {

inline constexpr u32 kChainProducts = static_cast<u32>(kProductBlock);

// The part of a network that a thread block computes.
struct RecurrentTile {
  std::int64_t direction;
  std::int64_t row;
  std::int64_t unit;
  u32 rows;  // up to kRows

  [[nodiscard]] static __device__ RecurrentTile of_block(const RecurrentLaunch& launch, u32 max_rows) {
    const std::int64_t row = std::int64_t{blockIdx.x / launch.unit_tiles % launch.row_tiles} * max_rows;
    const std::int64_t left = launch.step.rows - row;
    return {.direction = blockIdx.x / (launch.unit_tiles * launch.row_tiles),
            .row = row,
            .unit = std::int64_t{blockIdx.x % launch.unit_tiles} * launch.units,
            .rows = static_cast<u32>(left < max_rows ? left : max_rows)};
  }
};

// The chain that a thread computes in each pass.
struct ThreadChain {
  u32 column;       // its unit, counted from the tile's first unit
  u32 part;         // its position among the chains of the pass
  u32 gate;         // counted from the first gate of the phase
  bool multiplies;  // false for threads that only load states and finish elements

  [[nodiscard]] static __device__ __forceinline__ ThreadChain of_thread(const RecurrentLaunch& launch,
                                                                        const RecurrentMoment& now) {
    const u32 gate = threadIdx.x / launch.units / launch.parts;
    return {.column = threadIdx.x % launch.units,
            .part = threadIdx.x / launch.units % launch.parts,
            .gate = gate,
            .multiplies = gate < now.gates};
  }
  // The gate whose factors the thread reads.
  [[nodiscard]] __device__ __forceinline__ u32 used_gate(const RecurrentMoment& now) const {
    return now.first_gate + (multiplies ? gate : 0);
  }
};

// The shared memory of one phase.
template <u32 kRows>
struct PhaseMemory {
  u32 width;    // states of a row in one pass: parts * 256
  f32* states;  // {kRows, width}, at a multiple of 16 bytes
  f32* sums;    // {parts, gates, kRows, units}: the chains of one pass
  f32* totals;  // {gates, kRows, units}: the sum of all chains

  [[nodiscard]] static __device__ __forceinline__ PhaseMemory of(const RecurrentLaunch& launch,
                                                                 const RecurrentMoment& now, float4* shared) {
    const u32 width = launch.parts * kChainProducts;
    f32* const states = reinterpret_cast<f32*>(shared);
    f32* const sums = states + kRows * width;
    return {.width = width,
            .states = states,
            .sums = sums,
            .totals = sums + launch.parts * now.gates * kRows * launch.units};
  }
};

// The factors that a thread multiplies by hidden states. They are read from the packed matrix or, if a thread block
// walks through all time steps, from a copy in shared memory that every time step reuses.
template <bool kWalks>
struct RecurrentFactors;

template <>
struct RecurrentFactors<false> {
  const f32* matrix;  // the gate's matrix, at the thread's unit
  std::int64_t depth;

  [[nodiscard]] static __device__ __forceinline__ RecurrentFactors of(const RecurrentLaunch& launch,
                                                                      const RecurrentMoment& now,
                                                                      const RecurrentTile& tile,
                                                                      const ThreadChain& chain,
                                                                      const f32* /*kept_factors*/) {
    const RecurrentStep& step = launch.step;
    const std::int64_t depth = step.units;
    return {.matrix = reinterpret_cast<const f32*>(launch.operands[kRecurrentPacked]) +
                      (tile.direction * step.gates + chain.used_gate(now)) * depth * depth +
                      (tile.unit + chain.column < step.units ? tile.unit + chain.column : 0),
            .depth = depth};
  }
  [[nodiscard]] __device__ const f32* from(std::int64_t k) const { return matrix + k * depth; }
  [[nodiscard]] __device__ std::int64_t stride() const { return depth; }
};

template <>
struct RecurrentFactors<true> {
  const f32* matrix;  // the matrices of all gates
  KeptFactors kept;
  u32 gate;
  u32 column;

  [[nodiscard]] static __device__ __forceinline__ RecurrentFactors of(const RecurrentLaunch& launch,
                                                                      const RecurrentMoment& now,
                                                                      const RecurrentTile& /*tile*/,
                                                                      const ThreadChain& chain,
                                                                      const f32* kept_factors) {
    return {
        .matrix = kept_factors, .kept = KeptFactors::of(launch), .gate = chain.used_gate(now), .column = chain.column};
  }
  [[nodiscard]] __device__ const f32* from(std::int64_t k) const {
    return matrix + kept.offset_of(gate, static_cast<u32>(k / kProductBlock)) + column;
  }
  [[nodiscard]] __device__ u32 stride() const { return kept.units; }
};

// Loads the hidden states [first, first + width) of the tile's rows into shared memory, padded with zeros. Other blocks
// wrote the states, perhaps in this launch, so the loads must not hit a stale line in the L1 cache.
template <u32 kRows>
__device__ __forceinline__ void load_states(const f32* hidden, const RecurrentTile& tile, std::int64_t depth,
                                            std::int64_t first, const PhaseMemory<kRows>& memory) {
  const u32 width = memory.width;
  if (depth % 4 == 0 && reinterpret_cast<std::uintptr_t>(hidden) % sizeof(float4) == 0) {
    for (u32 i = threadIdx.x * 4; i < kRows * width; i += blockDim.x * 4) {
      const u32 of_row = i / width;
      const std::int64_t k = first + i % width;
      const bool is_there = of_row < tile.rows && k < depth;
      reinterpret_cast<float4*>(memory.states)[i / 4] =
          is_there ? __ldcg(reinterpret_cast<const float4*>(hidden + of_row * depth + k)) : float4{};
    }
  } else {
    for (u32 i = threadIdx.x; i < kRows * width; i += blockDim.x) {
      const u32 of_row = i / width;
      const std::int64_t k = first + i % width;
      memory.states[i] = of_row < tile.rows && k < depth ? __ldcg(hidden + of_row * depth + k) : 0.0F;
    }
  }
}

// Computes the thread's chain in the pass that begins at k = first, for all rows. Reads the states from shared memory
// and stores the sums in shared memory.
template <u32 kRows, bool kWalks>
__device__ __forceinline__ void multiply_chain(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                               const ThreadChain& chain, const RecurrentFactors<kWalks>& factors,
                                               std::int64_t depth, std::int64_t first,
                                               const PhaseMemory<kRows>& memory) {
  constexpr u32 kAtOnce = kRows == 1 ? 32 : 16;  // factors that are loaded together
  const std::int64_t begin = first + chain.part * kChainProducts;
  const auto count = static_cast<u32>(begin >= depth || !chain.multiplies ? 0
                                      : depth - begin < kChainProducts    ? depth - begin
                                                                          : kChainProducts);
  const f32* from = factors.from(count != 0 ? begin : 0);
  const auto stride = factors.stride();
  const f32* const own = memory.states + chain.part * kChainProducts;
  f32 sum[kRows] = {};
  u32 k = 0;
  for (; k + kAtOnce <= count; k += kAtOnce) {
    f32 some[kAtOnce];
#pragma unroll
    for (u32 i = 0; i < kAtOnce; ++i) {
      some[i] = from[i * stride];
    }
    from += kAtOnce * stride;
#pragma unroll
    for (u32 i = 0; i < kAtOnce; i += 4) {
      float4 four[kRows];
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) {
        four[r] = *reinterpret_cast<const float4*>(own + r * memory.width + k + i);
      }
#pragma unroll
      for (u32 r = 0; r < kRows; ++r) {
        sum[r] = fused(four[r].x, some[i], sum[r]);
        sum[r] = fused(four[r].y, some[i + 1], sum[r]);
        sum[r] = fused(four[r].z, some[i + 2], sum[r]);
        sum[r] = fused(four[r].w, some[i + 3], sum[r]);
      }
    }
  }
  for (; k < count; ++k, from += stride) {
    const f32 factor = *from;
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) {
      sum[r] = fused(own[r * memory.width + k], factor, sum[r]);
    }
  }
  if (chain.multiplies) {
#pragma unroll
    for (u32 r = 0; r < kRows; ++r) {
      memory.sums[((chain.part * now.gates + chain.gate) * kRows + r) * launch.units + chain.column] = sum[r];
    }
  }
}

// Adds the chains of the pass that begins at k = first to the totals, in the order of their products.
template <u32 kRows>
__device__ __forceinline__ void add_chains(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                           std::int64_t depth, std::int64_t first, const PhaseMemory<kRows>& memory) {
  const u32 elements = now.gates * kRows * launch.units;
  for (u32 i = threadIdx.x; i < elements; i += blockDim.x) {
    for (u32 p = 0; p < launch.parts && first + p * kChainProducts < depth; ++p) {
      const f32 of_chain = memory.sums[p * elements + i];
      memory.totals[i] = first == 0 && p == 0 ? of_chain : memory.totals[i] + of_chain;
    }
  }
}

}  // namespace anydml::cuda
