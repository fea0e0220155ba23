// SPDX-License-Identifier: MIT
// Operands that a run copies, because the device cannot access them or because an output would overwrite them.
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

// Returns the tensor without repeated elements: dimensions with a stride of 0 get size 1.
[[nodiscard]] TensorDesc without_repeats(TensorDesc tensor);

// The address of the element at index 0, as used by the device's programs, if they can access the tensor.
[[nodiscard]] std::optional<DeviceAddress> address_on(const Device& device, const std::byte* pointer, Reach reach);

// A device program that copies the elements of one tensor to the locations of another tensor.
class ElementCopy;

// The copied operands, and their locations in one block of memory. They come after the memory that the program itself
// uses.
class Copies {
 public:
  Copies(const anydml_compiled& compiled, const anydml_compiled& program, const OperandSet& copied);
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Assigns the locations, aligns each operand for any kernel, and returns the total size. before: the size of the
  // program's own memory.
  [[nodiscard]] Result<std::uint64_t> assign_locations(std::uint64_t before);
  // Copies the inputs to the block, and outputs that the run may write only in part, and sets the operands' addresses
  // for the run.
  Status bring(Run& run, const Addresses& addresses, const Temporary& memory, Addresses& inside);
  // Copies the outputs back. Outputs with gaps are first copied to staging memory.
  Status take_back(Run& run, const Addresses& addresses, const Temporary& memory);
  // Writes the outputs with gaps to their final locations after the work is done.
  Status spread(const Addresses& addresses) const;

 private:
  Status bring_input(Run& run, std::size_t i, const std::byte* from, const Temporary& memory);

  const Device& device_;
  const Surface& outside_;
  const Surface& inside_;
  const OperandSet& copied_;
  const std::vector<std::uint32_t>& updated_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::unique_ptr<std::byte[]>> staged_;    // packed outputs in the CPU's memory
  std::vector<std::unique_ptr<ElementCopy>> gathered_;  // copy programs that are running
};

}  // namespace anydml
