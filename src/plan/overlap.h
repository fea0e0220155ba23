// SPDX-License-Identifier: MIT
// Detects tensors that share memory. The results are exact or conservative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/tensor.h"

namespace anydml {

enum class SelfOverlap {
  none,
  found,
  undecided,  // the search gave up, which happens only for contrived layouts with many dimensions
};

// Whether two different indices of the tensor refer to the same element, so that the result of a write depends on the
// order.
[[nodiscard]] SelfOverlap find_self_overlap(const TensorDesc& tensor);

// Whether the byte ranges of two tensors overlap.
[[nodiscard]] inline bool ranges_meet(std::uintptr_t a_address, Reach a, std::uintptr_t b_address, Reach b) {
  const std::uintptr_t a_first = a_address + static_cast<std::uintptr_t>(a.first);
  const std::uintptr_t a_end = a_address + static_cast<std::uintptr_t>(a.end);
  const std::uintptr_t b_first = b_address + static_cast<std::uintptr_t>(b.first);
  const std::uintptr_t b_end = b_address + static_cast<std::uintptr_t>(b.end);
  return a_first != a_end && b_first != b_end && a_first < b_end && b_first < a_end;
}

enum class Sharing {
  disjoint,   // the tensors share no byte
  identical,  // the same elements at the same indices: an element-wise operator may work in place
  partial,    // anything else, or not proven to be disjoint
};

// The two tensors must have the same sizes. An address points to the element at index 0.
[[nodiscard]] Sharing find_sharing(const TensorDesc& a, std::uintptr_t a_address, const TensorDesc& b,
                                   std::uintptr_t b_address);

// The bytes [first, end) of a buffer. An empty range overlaps nothing.
struct ByteRange {
  std::uint64_t buffer = 0;  // ranges in different buffers do not overlap
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  bool written = false;
};

// Up to this number, it is best to compare ranges or tensors pair by pair, which allocates nothing and is faster than
// sorting.
inline constexpr std::size_t kFewRanges = 16;

// Finds, for each range, whether it overlaps a different range and at least one of the two is written. Takes O(n log n)
// time.
[[nodiscard]] std::vector<bool> find_conflicts(std::span<const ByteRange> ranges);

struct TensorAt {
  const TensorDesc* tensor;  // null if the tensor is absent
  std::uintptr_t address;    // of the element at index 0
};

// Finds, for each tensor, whether find_sharing must compare it with other tensors. The remaining tensors share no bytes
// with any tensor. Takes O(n log n) time.
[[nodiscard]] std::vector<bool> find_sharing_candidates(std::span<const TensorAt> tensors);

}  // namespace anydml
