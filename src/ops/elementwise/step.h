// SPDX-License-Identifier: MIT
// The parameters of an element-wise step: loops over its operands, and a program that runs once for each element. They
// are flat, plain data for the kernels of any backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/scalar.h"
#include "plan/loop_nest.h"
#include "plan/plan.h"

namespace anydml {

enum class EntryId : std::uint16_t;  // entries.h

inline constexpr std::size_t kMaxInputs = 8;  // maximum for one entry

// One entry applied to values. A value is identified by a number: a number below the step's number of loads refers to
// the element of that operand, any other number to the result of an earlier instruction.
struct Instruction {
  EntryId entry;
  std::uint16_t variant;  // variant of the entry; determines its types
  std::uint16_t sources[kMaxInputs];
  Attributes attributes;
};

// The header of the parameters. The instructions follow, and then, for each store, the value it stores. The operands
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

}  // namespace anydml
