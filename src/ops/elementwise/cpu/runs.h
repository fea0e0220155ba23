// SPDX-License-Identifier: MIT
// A run is a sequence of FLOAT32 instructions of a program that are so cheap that passing their results through memory
// would cost as much as the instructions themselves. A block of eight vectors passes from one instruction to the next
// in registers; other operands are loaded from memory, and results that other code needs are stored along the way.
// runs.cpp implements runs for each target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/scalar.h"

namespace anydml {

// Applies a step to the block. The type is erased, since the block's type depends on the target's registers.
using RunFunction = void (*)();

// One step of a run, over the elements that start at `data`.
struct RunStep {
  RunFunction function;
  std::byte* data;      // the operand that is not in registers, or the destination; may be null
  std::size_t mask;     // applied to the offset from `data`: all bits, or 0 if every block uses the same memory
  const void* scalar;   // the definition with its attributes
  std::int32_t tensor;  // the operand that `data` is in, below kMaxOperands; -1 for a buffer that fits whole blocks
  bool stores;
};

// Which inputs of an instruction are in registers, and whether the remaining input is a single number.
enum class RunInputs : std::uint8_t { first, second, both, first_and_number, second_and_number };
inline constexpr std::size_t kRunInputs = 5;

// The FLOAT32 variant of an entry, as part of a run.
struct RunEntry {
  std::uint32_t variant;
  std::array<RunFunction, kRunInputs> functions;  // one-input entries use only the first. Null if not allowed in runs
  void (*prepare)(const Attributes& attributes, void* scalar);  // constructs the definition; it needs no destructor
};
inline constexpr std::size_t kRunScalarBytes = 16;  // size of the largest definition

inline constexpr std::size_t kMaxOfRunBlock = 128;  // maximum number of elements in a block, for all targets

// The run kernels of one target.
struct RunKernels {
  std::size_t block = 0;  // elements; 0 if the target has no runs
  RunFunction load = nullptr;
  RunFunction store = nullptr;
  RunFunction end = nullptr;  // the last step of every run
  // Runs `count` steps over the given number of elements; it modifies the steps.
  void (*run)(RunStep* steps, std::size_t count, std::size_t elements) noexcept = nullptr;
};

}  // namespace anydml
