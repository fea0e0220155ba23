// SPDX-License-Identifier: MIT
// Whether tensors share memory. Both questions are answered exactly or on the safe side.
#pragma once

#include <cstdint>

#include "plan/tensor.h"

namespace anydml {

enum class SelfOverlap {
  none,
  found,
  undecided,  // the search gave up; only contrived layouts of many dimensions get here
};

// Whether two different indices of the tensor name the same element, so that writing it would depend on the order.
[[nodiscard]] SelfOverlap find_self_overlap(const TensorDesc& tensor);

// Whether the bytes that two tensors touch lie within reach of one another.
[[nodiscard]] inline bool ranges_meet(std::uintptr_t a_address, Reach a, std::uintptr_t b_address, Reach b) {
  const std::uintptr_t a_first = a_address + static_cast<std::uintptr_t>(a.first);
  const std::uintptr_t a_end = a_address + static_cast<std::uintptr_t>(a.end);
  const std::uintptr_t b_first = b_address + static_cast<std::uintptr_t>(b.first);
  const std::uintptr_t b_end = b_address + static_cast<std::uintptr_t>(b.end);
  return a_first != a_end && b_first != b_end && a_first < b_end && b_first < a_end;
}

enum class Sharing {
  disjoint,   // no byte in common
  identical,  // the same elements at the same indices: an element-wise operator may work in place
  partial,    // anything else, or not shown to be disjoint
};

// For two tensors of the same sizes; an address is that of the element at index 0.
[[nodiscard]] Sharing find_sharing(const TensorDesc& a, std::uintptr_t a_address, const TensorDesc& b,
                                   std::uintptr_t b_address);

}  // namespace anydml
