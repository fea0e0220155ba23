// SPDX-License-Identifier: MIT
// Describes an element-wise step that is joined with a step of another family: the program, the types, the loops, and
// the operand that connects the two steps. Each backend turns it into its own code: the CPU into kernels over tiles,
// CUDA into the source of a class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/element.h"
#include "ops/elementwise/element_step.h"

namespace anydml {

struct JoinedElements {
  ElementStep step;       // its loops visit the elements of `operand` in packed order
  std::uint32_t operand;  // has no slot. The step consumes its elements if it is a load, and otherwise produces them

  [[nodiscard]] bool produces() const { return operand >= step.loads; }
};

// Sorts the loops so that they visit the elements of this operand in packed order, the order in which elements are
// passed between the steps. Returns false if sorting would change the innermost loop.
[[nodiscard]] inline bool order_loops(LoopNest& nest, std::uint32_t by) {
  for (std::uint32_t i = 0; i < nest.rank; ++i) {
    Loop& loop = nest.loops[i];
    for (std::uint32_t operand = 0; loop.strides[by] < 0 && operand < nest.operands; ++operand) {
      if (operand != by) {
        nest.offsets[operand] += (loop.size - 1) * loop.strides[operand];
        loop.strides[operand] = -loop.strides[operand];
      }
    }
    loop.strides[by] = std::abs(loop.strides[by]);
  }
  nest.offsets[by] = 0;
  std::sort(nest.loops, nest.loops + nest.rank - 1,
            [&](const Loop& a, const Loop& b) { return a.strides[by] > b.strides[by]; });
  for (std::uint32_t i = 0; i + 1 < nest.rank; ++i) {
    const Loop& inner = nest.loops[i + 1];
    if (nest.loops[i].strides[by] != inner.size * inner.strides[by]) {
      return false;
    }
  }
  return true;
}

// Reads a prologue or an epilogue. Returns no value if the step cannot pass its elements in this order. May throw
// std::bad_alloc.
[[nodiscard]] inline std::optional<JoinedElements> read_joined_elements(const Step& flat) {
  const auto joined = std::ranges::find(flat.operands, kForwardedSlot, &Operand::slot);
  if (joined == flat.operands.end()) {
    return std::nullopt;
  }
  JoinedElements read{.step = read_element_step(flat),
                      .operand = static_cast<std::uint32_t>(joined - flat.operands.begin())};
  if (!order_loops(read.step.nest, read.operand)) {
    return std::nullopt;
  }
  return read;
}

// The number of elements that the step can produce at a time: a full vector, if every operand is contiguous or constant
// within a vector and needs only one access; otherwise 0.
[[nodiscard]] inline std::uint32_t vector_elements(const JoinedElements& joined, std::uint32_t vector_bytes) {
  const ElementStep& step = joined.step;
  const LoopNest& nest = step.nest;
  const auto elements = static_cast<std::uint32_t>(vector_bytes / element_size(step.types[joined.operand]));
  bool good = joined.produces() && nest.innermost().size % elements == 0;
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    const auto bytes = static_cast<std::int64_t>(element_size(step.types[operand]));
    const std::int64_t along = nest.innermost().strides[operand];
    const bool stays = along == 0 && operand < step.loads;
    good = good && (stays || (along == bytes && bytes * elements <= vector_bytes));
    for (std::uint32_t loop = 0; loop + 1 < nest.rank; ++loop) {
      good = good && (stays || nest.loops[loop].strides[operand] % (bytes * elements) == 0);
    }
  }
  return good ? elements : 0;
}

// The checks on a joined step's operands that need their addresses.
class JoinedOperands {
 public:
  // vector: the number of elements that the step produces at a time, or 0 if it produces no vectors.
  JoinedOperands(const JoinedElements& joined, std::uint32_t vector)
      : count_(joined.step.nest.operands), has_vectors_(vector != 0) {
    const LoopNest& nest = joined.step.nest;
    for (std::uint32_t i = 0; i < count_; ++i) {
      OperandLayout& layout = layouts_[i];
      layout.offset = static_cast<std::uint64_t>(nest.offsets[i]);
      layout.bytes = i == joined.operand ? 1 : element_size(joined.step.types[i]);  // it has no address
      for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
        layout.strides |= static_cast<std::uint64_t>(nest.loops[loop].strides[i]);
      }
      const bool stays = nest.innermost().strides[i] == 0;
      layout.vector_bytes = stays || i == joined.operand ? layout.bytes : layout.bytes * vector;
    }
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  // The address of the first element visited, from the device address of an operand.
  [[nodiscard]] std::uint64_t first_element(std::uint32_t operand, std::uint64_t base) const {
    return base + layouts_[operand].offset;
  }
  // Whether the address of every element of an operand is a multiple of its size.
  [[nodiscard]] bool is_aligned(std::uint32_t operand, std::uint64_t base) const {
    const OperandLayout& layout = layouts_[operand];
    return (first_element(operand, base) | layout.strides) % layout.bytes == 0;
  }
  // Whether the step can produce vectors: each operand can be read or written in one access per vector.
  [[nodiscard]] bool fits_vectors(std::uint32_t operand, std::uint64_t base) const {
    const OperandLayout& layout = layouts_[operand];
    return has_vectors_ && first_element(operand, base) % layout.vector_bytes == 0 &&
           layout.strides % layout.bytes == 0;
  }

 private:
  struct OperandLayout {
    std::uint64_t offset = 0;        // from the operand's address to the first element
    std::uint64_t bytes = 1;         // size of an element
    std::uint64_t vector_bytes = 1;  // read or written at a time, if the step produces vectors
    std::uint64_t strides = 0;       // all strides combined with OR; only the low bits matter
  };

  std::uint32_t count_;
  bool has_vectors_;
  OperandLayout layouts_[kMaxOperands];
};

}  // namespace anydml
