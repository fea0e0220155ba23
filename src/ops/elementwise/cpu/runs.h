// SPDX-License-Identifier: MIT
// Runs: consecutive FLOAT32 instructions of a program, so cheap that passing their results through memory would cost as
// much as the instructions. A block of eight vectors passes from one instruction to the next in registers; other
// operands come from memory, and results that other code needs are stored on the way. runs.cpp has them, for each
// target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/scalar.h"

namespace anydml {

// The operation of a step on the block: the block's type differs by target, since it takes that target's registers.
using RunFunction = void (*)();

// One step of a run, over the elements that `data` begins with.
struct RunStep {
  RunFunction function;
  std::byte* data;      // the operand that is not in registers, or the destination; null: absent
  std::size_t mask;     // of the distance from there: all bits, or none where every block has the same memory
  const void* scalar;   // the definition with its attributes
  std::int32_t tensor;  // which the data is of, below kMaxOperands; -1: it has room for whole blocks
  bool stores;
};

// Which inputs of an instruction are in registers, and whether the other is one number for all elements.
enum class RunInputs : std::uint8_t { first, second, both, first_and_number, second_and_number };
inline constexpr std::size_t kRunInputs = 5;

// The FLOAT32 variant of an entry, as part of a run.
struct RunEntry {
  std::uint32_t variant;
  std::array<RunFunction, kRunInputs> functions;  // with one input only the first is used. Null: not part of runs
  void (*prepare)(const Attributes& attributes, void* scalar);  // makes the definition, which needs no destructor
};
inline constexpr std::size_t kRunScalarBytes = 16;  // that it takes at most

inline constexpr std::size_t kMostOfRunBlock = 128;  // elements of a block, whatever the target

// One target's.
struct RunKernels {
  std::size_t block = 0;  // elements; 0: it has no runs
  RunFunction load = nullptr;
  RunFunction store = nullptr;
  RunFunction end = nullptr;  // the last step of every run
  // Runs the steps, `count` of them, over so many elements; they are changed.
  void (*run)(RunStep* steps, std::size_t count, std::size_t elements) noexcept = nullptr;
};

}  // namespace anydml
