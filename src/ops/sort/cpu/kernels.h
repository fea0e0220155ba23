// SPDX-License-Identifier: MIT
// The loops over all elements of a row, compiled once for each target: the keys of elements, and the least key of each
// block. Keys are i32, or i64 for elements of 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "base/element.h"

namespace anydml {

inline constexpr std::int64_t kSortBlock = 32;  // keys

struct SortKernels {
  // The keys of `count` elements that lie `stride` bytes apart, at any alignment.
  void (*keys)(const std::byte* from, std::int64_t stride, std::int64_t count, bool largest, void* to) noexcept;
  // The least of each block of keys.
  void (*minima)(const void* keys, std::int64_t blocks, void* to) noexcept;
};

[[nodiscard]] SortKernels generic_sort_kernels(DataType type);
// For a target that was not compiled they are those above.
[[nodiscard]] SortKernels vector_sort_kernels(cpu::Target target, DataType type);

}  // namespace anydml
