// SPDX-License-Identifier: MIT
// The facts about a device that lowering may use, so that plans fit the device that runs them. The struct is plain data
// that a backend fills in once, according to the needs of its kernels. Each trait controls one decision in the part of
// the library named in parentheses. The defaults require the least from kernels: weights have their original layout,
// operators are decomposed into small steps, and no steps are joined.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"

namespace anydml {

struct DeviceTraits {
  // The number of pieces of work that run at the same time: CPU threads, or a GPU's multiprocessors. If there are at
  // most half as many rows as this, and the rows are long, mean and variance become reductions, in which threads share
  // a row (normalize).
  std::uint32_t threads = 1;

  // The smallest element count at which plans may have operands without a slot; 0 if plans never have such operands
  // (graph).
  std::uint32_t joins_from = 0;
  // Bit i: kernels of family i can be joined with the steps before and after them. Ignored if joins_from is 0 (graph).
  std::uint64_t joined_families = ~0ULL;
  // Kernels pass joined elements on as tiles: rows of consecutive elements. An operator that computes its outputs in a
  // different order is then not joined. If false, elements are passed on one by one, in any order (product).
  bool forwards_tiles = false;

  // The vector size, in bytes, for which kernels need their weights packed: the matrices of products, filters, keys and
  // values, and the matrix of a recurrence. If 0, kernels read weights in their original layout, and the panel of a
  // recurrence contains all of its units (product, attention, recurrent).
  std::uint32_t vector_bytes = 0;

  // If true, products read known weights in codes of four or eight bits. If false, such weights are converted to floats
  // by separate steps (product).
  bool reads_codes = false;
  // If true, products of known weights in codes of four bits also round their activations to codes of eight bits, which
  // changes the result (product).
  bool integer_activations = false;

  // If true, attention is one step, which keeps the scores of a few queries in a cache. If false, attention is two
  // products with a step between them (attention).
  bool has_fused_attention = false;
  // If true, the mean and variance of rows are one step, and the sums of their gradient are another step. Each step
  // reads a row a second time, from a cache. If false, they are reductions, in which many threads share a row
  // (normalize).
  bool has_row_moments = false;

  // Plans may contain FLOAT16 products whose bits differ from the CPU's (product).
  bool half_products = false;

  [[nodiscard]] constexpr bool packs_weights() const { return vector_bytes != 0; }
  [[nodiscard]] constexpr bool joins_family(std::uint32_t number) const {
    return number >= 64 || (joined_families >> number & 1) != 0;
  }
};

// Describes an operator that has its own steps. Used to ask a device whether it has kernels for the operator.
struct AskedOperator {
  std::string_view name;            // without DML_OPERATOR_; may be internal to the family: "PRODUCT"
  std::string_view part_of;         // the operator that the caller described, which may be this one
  std::uint32_t family;             // its position in ops/families.def
  std::span<const DataType> types;  // for its inputs, then its outputs; unknown if the tensor is absent
};

}  // namespace anydml
