// SPDX-License-Identifier: MIT
// The facts about a device that lowering may use, so that plans fit the device that runs them. Plain data: a backend
// fills it in once. Each trait controls one decision, made by the part of the library named in parentheses. A backend
// sets the traits to what its kernels need. The defaults require the least from kernels: weights in their original
// layout, operators decomposed into small steps, nothing joined.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"

namespace anydml {

struct DeviceTraits {
  // The number of pieces of work that run at once: CPU threads, or a GPU's multiprocessors. If there are at most half
  // as many rows, and the rows are long, mean and variance become reductions, in which threads share a row (normalize).
  std::uint32_t threads = 1;

  // The smallest element count at which plans may have operands without a slot; 0: never (graph).
  std::uint32_t joins_from = 0;
  // Bit i: kernels of family i can be joined with the steps before and after them. Ignored if joins_from is 0 (graph).
  std::uint64_t joined_families = ~0ULL;
  // A kernel passes joined elements on as tiles of rows with consecutive elements, so an operator that computes its
  // outputs in another order joins nothing. Otherwise elements are passed on one by one, in any order (product).
  bool forwards_tiles = false;

  // The vector size for which kernels want their weights packed: the matrices of products, filters, keys and values,
  // and the matrix of a recurrence. 0: kernels read weights in their original layout, and the panel of a recurrence
  // contains all of its units (product, attention, recurrent).
  std::uint32_t vector_bytes = 0;

  // Attention is one step, which keeps the scores of a few queries in a cache. Otherwise it is two products with a step
  // between them (attention).
  bool has_fused_attention = false;
  // The mean and variance of rows, and the sums of their gradient, are one step each, which reads a row a second time
  // from a cache. Otherwise they are reductions, in which many threads share a row (normalize).
  bool has_row_moments = false;

  // Plans may contain FLOAT16 products whose bits differ from the CPU's (product).
  bool half_products = false;

  [[nodiscard]] constexpr bool packs_weights() const { return vector_bytes != 0; }
  [[nodiscard]] constexpr bool joins_family(std::uint32_t number) const {
    return number >= 64 || (joined_families >> number & 1) != 0;
  }
};

// Describes an operator that has its own steps, to ask a device whether it has kernels for the operator.
struct AskedOperator {
  std::string_view name;            // without DML_OPERATOR_; may be internal to the family: "PRODUCT"
  std::string_view part_of;         // the operator that the caller described, possibly this one
  std::uint32_t family;             // its position in ops/families.def
  std::span<const DataType> types;  // of its inputs, then of its outputs; unknown: the tensor is absent
};

}  // namespace anydml
