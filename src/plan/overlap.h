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

enum class Sharing {
  disjoint,   // no byte in common
  identical,  // the same elements at the same indices: an element-wise operator may work in place
  partial,    // anything else, or not shown to be disjoint
};

// For two tensors of the same sizes; an address is that of the element at index 0.
[[nodiscard]] Sharing find_sharing(const TensorDesc& a, std::uintptr_t a_address, const TensorDesc& b,
                                   std::uintptr_t b_address);

}  // namespace anydml
