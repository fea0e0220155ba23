// SPDX-License-Identifier: MIT
// Runs programs that have no compiled kernel: the interpreter executes them instruction by instruction for each
// element, with all values in thread-local memory. It supports any entries, any types and several stores, but is slower
// than a kernel for one entry.
#pragma once

#include <vector>

#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/element_step.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kMaxSlots = 64;  // values that are live at the same time

struct CodeInstruction {
  std::uint16_t function;  // the number of the variant among the variants of all entries
  std::uint16_t result;    // a slot
  std::uint16_t scalar;    // the offset of its definition among the scalars
  std::uint16_t sources[kMaxInputs];
};

// A value that is loaded or stored: its operand and its slot.
struct CodeAccess {
  std::uint16_t operand;
  std::uint16_t slot;
  std::uint16_t bytes;  // size of an element
};

struct Code {
  std::vector<CodeAccess> loads;
  std::vector<CodeAccess> stores;
  std::vector<CodeInstruction> instructions;
  std::vector<std::uint64_t> scalars;
};
inline constexpr std::size_t kMaxInstructions = 512;  // they are passed as a kernel parameter
inline constexpr std::size_t kMaxScalars = 1024;

// The interpreter's data for a variant.
struct CodeFunction {
  std::uint16_t number;
  std::uint8_t inputs;
  std::uint8_t element_sizes[kMaxInputs + 1];  // the inputs in order, then the output
  std::uint16_t scalar_words;                  // 0 if the definition has no attributes
  void (*make_scalar)(const Attributes& attributes, std::uint64_t* words);
};
// Returns false if the entry has no such variant.
[[nodiscard]] bool find_function(EntryId entry, std::uint32_t variant, CodeFunction& function) noexcept;

// Returns null, or the reason why the program cannot be run.
[[nodiscard]] const char* make_code(const ElementStep& step, Code& code);

// `launch` contains all operands of the step.
[[nodiscard]] cudaError_t launch_code(const Code& code, const KernelLaunch& launch, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
