// SPDX-License-Identifier: MIT
// The facts about a device that lowering may use, so that plans fit the device that runs them. Plain data: a backend
// fills it in once. Each trait names one decision and who makes it. A backend sets a trait to what its own kernels
// want; the default asks the least of them: weights as they are, operators as small parts, nothing joined.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"

namespace anydml {

struct DeviceTraits {
  // Pieces of work that run at once: CPU threads, or multiprocessors of a GPU. If there are at most half as many rows,
  // and they are long, mean and variance become reductions, in which threads share a row (normalise).
  std::uint32_t threads = 1;

  // The fewest elements at which plans may have operands without a slot; 0: never (graph).
  std::uint32_t joins_from = 0;
  // Bit i: kernels of family i can be one with the steps before and after them. Counts only where joins_from is not 0
  // (graph).
  std::uint64_t joined_families = ~0ULL;
  // A kernel hands joined elements on as tiles of rows, whose elements follow one another, so that an operator whose
  // outputs are computed in another order joins nothing. Otherwise elements are handed on one by one, in any order
  // (product).
  bool hands_on_tiles = false;

  // The vectors for which kernels want their weights packed: the matrices of products, filters, keys and values, the
  // matrix of a recurrence. 0: kernels read weights in their original layout, and the panel of a recurrence has all of
  // its units (product, attention, recurrent).
  std::uint32_t vector_bytes = 0;

  // Attention is one step, which keeps the scores of some queries in a cache. Otherwise it is two products with a step
  // between them (attention).
  bool attends_at_once = false;
  // Mean and variance of rows, and the sums of their gradient, are one step each, which finds a row in a cache again.
  // Otherwise they are reductions, in which many threads share a row (normalise).
  bool has_row_moments = false;

  // Plans may contain FLOAT16 products with other bits than the CPU's (product).
  bool half_products = false;

  [[nodiscard]] constexpr bool packs_weights() const { return vector_bytes != 0; }
  [[nodiscard]] constexpr bool joins_family(std::uint32_t number) const {
    return number >= 64 || (joined_families >> number & 1) != 0;
  }
};

// An operator that has steps of its own, as a device is asked whether it has kernels for it.
struct AskedOperator {
  std::string_view name;            // DirectML's without DML_OPERATOR_, or one that only the family knows: "PRODUCT"
  std::string_view part_of;         // the operator that the caller described, of which it is a part, or itself
  std::uint32_t family;             // its position in ops/families.def
  std::span<const DataType> types;  // of its inputs, then of its outputs; unknown: the tensor is absent
};

}  // namespace anydml
