// SPDX-License-Identifier: MIT
// The loops over all elements of a row, compiled once for each target. Keys are i32, or i64 for 8-byte elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "base/element.h"

namespace anydml {

inline constexpr std::int64_t kSortChunk = 4096;  // elements processed together; they fit the L1 cache
inline constexpr std::int64_t kSortGroup = 16;    // elements per group whose minimum key is found
inline constexpr std::int64_t kFewSorted = 64;    // maximum number of keys whose ranks are counted

struct SortKernels {
  // Computes the keys of `count` elements that are `stride` bytes apart, at any alignment.
  void (*keys)(const std::byte* from, std::int64_t stride, std::int64_t count, bool largest, void* to) noexcept;
  // Finds the minimum key of each group of contiguous elements, in at most one chunk. A stretch of lanes * kSortGroup
  // elements has `lanes` groups: element i of group g is at i * lanes + g.
  void (*minima)(const std::byte* from, std::int64_t stretches, bool largest, void* to) noexcept;
  // Returns the K-th of at most kFewSorted keys, counted from 1.
  std::int64_t (*kth)(const void* keys, std::int64_t count, std::int64_t k) noexcept;
  // Finds the indices of the first K of at most kFewSorted keys.
  void (*rank)(const void* keys, std::int64_t count, std::int64_t k, u32* order) noexcept;
  std::int64_t lanes;
  // Indexed by `largest`. `minima` does not distinguish NaN from infinity, so a minimum key equal to `vague` may
  // represent a greater key, up to `loose`.
  std::int64_t vague[2];
  std::int64_t loose[2];
};

[[nodiscard]] SortKernels generic_sort_kernels(DataType type);
// Returns the generic kernels if the target was not compiled.
[[nodiscard]] SortKernels vector_sort_kernels(cpu::Target target, DataType type);

}  // namespace anydml
