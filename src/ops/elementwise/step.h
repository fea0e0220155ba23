// SPDX-License-Identifier: MIT
// The parameters of an element-wise step: loops over its operands, and a program that runs once for each element. Flat
// and plain, for the kernels of any backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/scalar.h"
#include "plan/loop_nest.h"
#include "plan/plan.h"

namespace anydml {

inline constexpr std::size_t kMaxInputs = 8;  // of one entry

// One entry applied to values. A value is a number: below the step's loads it is the element of that operand; from
// there on it is the result of an earlier instruction.
struct Instruction {
  std::uint16_t entry;    // EntryId
  std::uint16_t variant;  // of the entry: determines its types
  std::uint16_t sources[kMaxInputs];
  Attributes attributes;
};

// The beginning of the parameters; the instructions follow, and then, for each store, the value it stores. The operands
// are the loads, then the stores. Every stored value is the result of an instruction.
struct ElementwiseHeader {
  LoopNest nest;
  std::uint32_t loads;
  std::uint32_t stores;
  std::uint32_t instructions;
  std::uint32_t reserved;
};

struct ElementwiseStep {
  const LoopNest* nest;
  std::uint32_t loads;
  std::span<const Instruction> program;
  std::span<const std::uint16_t> stored;
};

[[nodiscard]] inline ElementwiseStep read_elementwise(const Step& step) {
  const auto& header = *reinterpret_cast<const ElementwiseHeader*>(step.parameters.data());
  const auto* program = reinterpret_cast<const Instruction*>(&header + 1);
  const auto* stored = reinterpret_cast<const std::uint16_t*>(program + header.instructions);
  return {.nest = &header.nest,
          .loads = header.loads,
          .program = {program, header.instructions},
          .stored = {stored, header.stores}};
}

// The operand without a slot, of a step before or after one of another family.
[[nodiscard]] inline std::uint32_t handed_operand(const Step& step) {
  return static_cast<std::uint32_t>(std::ranges::find(step.operands, kNoSlot, &Operand::slot) - step.operands.begin());
}

// The loops in the order in which the elements of this operand are passed on, packed. False: not possible, because the
// innermost loop is another.
[[nodiscard]] inline bool order_by(LoopNest& nest, std::uint32_t handed) {
  for (std::uint32_t i = 0; i < nest.rank; ++i) {
    Loop& loop = nest.loops[i];
    for (std::uint32_t operand = 0; loop.strides[handed] < 0 && operand < nest.operands; ++operand) {
      if (operand != handed) {
        nest.offsets[operand] += (loop.size - 1) * loop.strides[operand];
        loop.strides[operand] = -loop.strides[operand];
      }
    }
    loop.strides[handed] = std::abs(loop.strides[handed]);
  }
  nest.offsets[handed] = 0;
  std::sort(nest.loops, nest.loops + nest.rank - 1,
            [&](const Loop& a, const Loop& b) { return a.strides[handed] > b.strides[handed]; });
  for (std::uint32_t i = 0; i + 1 < nest.rank; ++i) {
    const Loop& inner = nest.loops[i + 1];
    if (nest.loops[i].strides[handed] != inner.size * inner.strides[handed]) {
      return false;
    }
  }
  return true;
}

}  // namespace anydml
