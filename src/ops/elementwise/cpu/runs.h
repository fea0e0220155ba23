// SPDX-License-Identifier: MIT
// Runs: instructions of a program that follow one another over FLOAT32, so cheap that handing their results over by
// memory would cost as much as they do. A block of eight vectors goes from one instruction to the next in registers;
// other operands come from memory, and what somebody else needs is stored on the way. runs.cpp has them, for each
// target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/scalar.h"

namespace anydml {

// What a step does with the block: its type is each target's own, since it takes that target's registers.
using RunFunction = void (*)();

// One step of a run, over the elements that `data` begins with.
struct RunStep {
  RunFunction function;
  std::byte* data;      // the operand that is not in registers, or where they go; null: there is none
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
  std::array<RunFunction, kRunInputs> functions;  // of one input there is the first. Null: no part of runs
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
