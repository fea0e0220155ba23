// SPDX-License-Identifier: MIT
// Puts element-wise steps into plans.
#pragma once

#include <span>
#include <vector>

#include "ops/elementwise/entries.h"
#include "ops/elementwise/step.h"
#include "plan/plan.h"

namespace anydml {

// A program over the elements of some tensors, of any length.
class ElementwiseProgram {
 public:
  explicit ElementwiseProgram(std::uint32_t loads) : loads_(loads) {}

  // The value that the entry makes of these; variant is one of the entry's.
  std::uint16_t add(EntryId entry, std::uint32_t variant, std::span<const std::uint16_t> sources,
                    const Attributes& attributes = {});

  [[nodiscard]] std::uint32_t loads() const { return loads_; }
  [[nodiscard]] std::span<const Instruction> instructions() const { return instructions_; }

 private:
  std::uint32_t loads_;
  std::vector<Instruction> instructions_;
};

// The program over tensors of equal sizes: those it loads, then, for each of `stored`, the one that this value goes to.
// A tensor that is stored may be one that is loaded, at the same place with the same layout. Nothing for tensors
// without elements.
void add_elementwise(Plan& plan, const ElementwiseProgram& program, std::span<const PlacedTensor> tensors,
                     std::span<const std::uint16_t> stored);

// Of the type that has these bits and no other meaning: what entries that only move bits are run as.
[[nodiscard]] DataType bits_type(DataType type);

}  // namespace anydml
