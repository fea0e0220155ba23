// SPDX-License-Identifier: MIT
// What a backend runs: a list of steps over slots. A step is plain data without pointers, so that it can cross to a
// plugin. Nothing here knows an operator: an instruction names one by a number of the family that made the step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/scalar.h"
#include "plan/loop_nest.h"
#include "plan/tensor.h"

namespace anydml {

inline constexpr std::size_t kMaxInstructions = 2;
inline constexpr std::uint64_t kTemporaryAlignment = 64;

// One row of a family applied to values: operands of the step, or results of earlier instructions.
struct Instruction {
  std::uint16_t row;                       // the family's number for it
  std::uint16_t variant;                   // of the row: which types it takes and gives
  std::uint8_t sources[kMaxOperands - 1];  // below kMaxOperands: an operand; kMaxOperands + i: instruction i's result
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

// Which inputs share memory with the output, the last of the tensors, in a way that is not exactly in place. Each
// tensor has its reach and the address of its element at index 0.
[[nodiscard]] StagedInputs inputs_to_stage(std::span<const TensorDesc> tensors, const Reach* reaches,
                                           const std::uintptr_t* addresses);

// A step that copies slot 0 to slot 1, element by element; both of the same type and sizes.
[[nodiscard]] Step make_copy(const TensorDesc& from, const TensorDesc& to);

// Adds a step that copies input `slot` of the plan into its temporary, repeated elements once, and gives the copy, with
// where it begins.
struct StagedCopy {
  TensorDesc tensor;
  std::uint64_t offset;
};
[[nodiscard]] StagedCopy add_staging(Plan& plan, std::uint32_t slot, const TensorDesc& input);

}  // namespace anydml
