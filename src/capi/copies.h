// SPDX-License-Identifier: MIT
// Operands that a run copies: because the device does not reach them, or because an output would be written over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "capi/addresses.h"
#include "capi/compiled.h"
#include "capi/run.h"

namespace anydml {

[[nodiscard]] inline std::uint64_t bytes_of(Reach reach) { return static_cast<std::uint64_t>(reach.end - reach.first); }

// Each element of a tensor once: an element repeated by a stride of 0 counts once.
[[nodiscard]] TensorDesc without_repeats(TensorDesc tensor);

// The address that the device's programs use for the element at index 0, if they reach the tensor.
[[nodiscard]] std::optional<DeviceAddress> address_on(const Device& device, const std::byte* pointer, Reach reach);

// A device's program that copies the elements of one tensor to the places of another.
class ElementCopy;

// Operands that are copied, with their locations in one block of memory after the program's own.
class Copies {
 public:
  Copies(const anydml_compiled& compiled, const anydml_compiled& program, const OperandSet& copied);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // All of it, each operand at a multiple of what any kernel asks for.
  [[nodiscard]] Result<std::uint64_t> place(std::uint64_t before);
  // The inputs, and where the operands are from then on.
  Status bring(Run& run, const Addresses& addresses, const Temporary& memory, Addresses& inside);
  // The outputs: those with gaps to memory of our own first.
  Status take_back(Run& run, const Addresses& addresses, const Temporary& memory);
  // When the work is done.
  Status spread(const Addresses& addresses) const;

 private:
  Status bring_input(Run& run, std::size_t i, const std::byte* from, const Temporary& memory);

  const Device& device_;
  const Surface& outside_;
  const Surface& inside_;
  const OperandSet& copied_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::unique_ptr<std::byte[]>> staged_;    // in the CPU's memory, without gaps
  std::vector<std::unique_ptr<ElementCopy>> gathered_;  // programs that are at work
};

}  // namespace anydml
