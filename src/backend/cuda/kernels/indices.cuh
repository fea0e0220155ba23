// SPDX-License-Identifier: MIT
// Computes elements from their indices, for outputs with any strides.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/device.cuh"
#include "plan/loop_nest.h"

namespace anydml::cuda {

struct Indices {
  std::byte* to;
  u32 count;
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank][2];  // strides of the index and of the output
  std::int64_t first;                 // the first index
};

// The nest's first operand contains the indices, and its second operand is the output.
[[nodiscard]] inline Indices indices_of(const LoopNest& nest) {
  Indices indices{};
  indices.count = static_cast<u32>(nest.count);
  indices.rank = nest.rank;
  indices.first = nest.offsets[0];
  for (u32 loop = 0; loop < nest.rank; ++loop) {
    indices.sizes[loop] = make_divisor(static_cast<u32>(nest.loops[loop].size));
    std::copy_n(nest.loops[loop].strides, 2, indices.strides[loop]);
  }
  return indices;
}

[[nodiscard]] inline bool are_aligned(const Indices& indices, std::size_t element_bytes) {
  u64 all = reinterpret_cast<std::uintptr_t>(indices.to);
  for (u32 loop = 0; loop < indices.rank; ++loop) {
    all |= static_cast<u64>(indices.strides[loop][1]);
  }
  return all % element_bytes == 0;
}

struct ElementLocation {
  std::int64_t index;
  std::byte* to;
};

[[nodiscard]] inline __device__ ElementLocation locate(const Indices& indices, u32 number) {
  std::int64_t index = indices.first;
  std::int64_t offset = 0;
  for (u32 loop = indices.rank; loop-- > 0;) {
    const Quotient parts = divide(number, indices.sizes[loop]);
    index += static_cast<std::int64_t>(parts.remainder) * indices.strides[loop][0];
    offset += static_cast<std::int64_t>(parts.remainder) * indices.strides[loop][1];
    number = parts.quotient;
  }
  return {index, indices.to + offset};
}

}  // namespace anydml::cuda
