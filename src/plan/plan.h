// SPDX-License-Identifier: MIT
// What a backend runs: a list of steps over slots. A step is plain data without pointers, so that it can cross to a
// plugin.
#pragma once

#include <cstdint>
#include <vector>

#include "base/scalar.h"
#include "ops/rows.h"
#include "plan/loop_nest.h"
#include "plan/op_desc.h"

namespace anydml {

inline constexpr std::size_t kMaxInstructions = 2;
inline constexpr std::uint64_t kTemporaryAlignment = 64;

// One row applied to a value: an operand of the step, or the result of an earlier instruction.
struct Instruction {
  RowId row;
  std::uint16_t variant;             // of the row
  std::uint8_t sources[kMaxInputs];  // below kMaxOperands: an operand; kMaxOperands + i: the result of instruction i
  Attributes attributes;
};

enum class StepKind : std::uint32_t {
  copy,         // operand 0 to operand 1, byte for byte
  elementwise,  // the program, once for each element; the last instruction's result is the output
};

struct Step {
  StepKind kind = StepKind::elementwise;
  DataType types[kMaxOperands] = {};  // of the operands of the nest
  // Where each operand of the nest lies: the addresses given at run time are the inputs, the output, the temporary.
  std::uint32_t slots[kMaxOperands] = {};
  std::uint64_t slot_offsets[kMaxOperands] = {};
  LoopNest nest;
  std::uint32_t instruction_count = 0;
  Instruction program[kMaxInstructions] = {};

  [[nodiscard]] DataType output_type() const { return types[nest.operands - 1]; }
};

struct Plan {
  std::uint32_t input_count = 0;
  std::vector<Step> steps;  // in order; each sees what those before it wrote
  std::uint64_t temporary_bytes = 0;

  [[nodiscard]] std::uint32_t output_slot() const { return input_count; }
  [[nodiscard]] std::uint32_t temporary_slot() const { return input_count + 1; }
};

// Bit i: input i is copied to the temporary before the output is written.
using StagedInputs = std::uint32_t;

// Which inputs share memory with the output in a way that is not exactly in place. Addresses: the inputs, the output.
[[nodiscard]] StagedInputs inputs_to_stage(const OpDesc& desc, const std::uintptr_t* addresses);

// A step that copies slot 0 to slot 1, element by element; both of the same type and sizes.
[[nodiscard]] Step make_copy(const TensorDesc& from, const TensorDesc& to);

[[nodiscard]] Plan make_plan(const OpDesc& desc, StagedInputs staged = 0);

}  // namespace anydml
