// SPDX-License-Identifier: MIT
// Adds element-wise steps to plans.
#pragma once

#include <span>
#include <vector>

#include "ops/elementwise/entries.h"
#include "ops/elementwise/step.h"
#include "plan/plan.h"

namespace anydml {

// A program of any length over the elements of some tensors.
class ElementwiseProgram {
 public:
  explicit ElementwiseProgram(std::uint32_t loads, std::size_t expected_instructions = 0) : loads_(loads) {
    instructions_.reserve(expected_instructions);
  }

  // Appends an instruction that applies the entry to these values, and returns the number of its result. The variant
  // must belong to the entry.
  std::uint16_t add(EntryId entry, std::uint32_t variant, std::span<const std::uint16_t> sources,
                    const Attributes& attributes = {});

  [[nodiscard]] std::uint32_t loads() const { return loads_; }
  [[nodiscard]] std::span<const Instruction> instructions() const { return instructions_; }

 private:
  std::uint32_t loads_;
  std::vector<Instruction> instructions_;
};

// Adds the program over tensors of equal sizes: first the tensors that it loads, then, for each value of `stored`, the
// tensor that receives it. A stored tensor may also be loaded, at the same address with the same layout. Adds nothing
// for tensors without elements.
void add_elementwise(Plan& plan, const ElementwiseProgram& program, std::span<const PlacedTensor> tensors,
                     std::span<const std::uint16_t> stored);

// The unsigned integer type of the same width: entries that only move bits use this type.
[[nodiscard]] DataType bits_type(DataType type);

}  // namespace anydml
