// SPDX-License-Identifier: MIT
// An element-wise step that forms one piece of work with a step of another family, as data: the program, the types, the
// loops, and the operand through which the two are joined. Each backend turns it into code of its own: the CPU into
// kernels over tiles, CUDA into the source of a class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/element.h"
#include "ops/elementwise/element_step.h"

namespace anydml {

struct JoinedElements {
  ElementStep step;       // its loops follow the elements of that operand in the order in which they lie packed
  std::uint32_t operand;  // the one without a slot. A load: the step consumes the elements; a store: it produces them

  [[nodiscard]] bool produces() const { return operand >= step.loads; }
};

// The loops in the order in which the elements of this operand are passed on, packed. False: not possible, because the
// innermost loop is another.
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

// Of a prologue or an epilogue; nothing: it cannot pass its elements on in their order. May throw std::bad_alloc.
[[nodiscard]] inline std::optional<JoinedElements> read_joined_elements(const Step& flat) {
  const auto joined = std::ranges::find(flat.operands, kNoSlot, &Operand::slot);
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

// How many elements a step may produce at a time: as many as fill a vector, if every operand has them beside each other
// or stays at one, in one access each; otherwise 0.
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

// What has to be known of the operands of a joined step when their addresses are there.
class JoinedOperands {
 public:
  // vector: how many elements the step produces at a time; 0: it makes no vectors.
  JoinedOperands(const JoinedElements& joined, std::uint32_t vector)
      : count_(joined.step.nest.operands), has_vectors_(vector != 0) {
    const LoopNest& nest = joined.step.nest;
    for (std::uint32_t i = 0; i < count_; ++i) {
      Place& place = places_[i];
      place.offset = static_cast<std::uint64_t>(nest.offsets[i]);
      place.bytes = i == joined.operand ? 1 : element_size(joined.step.types[i]);  // it has no address
      for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
        place.strides |= static_cast<std::uint64_t>(nest.loops[loop].strides[i]);
      }
      const bool stays = nest.innermost().strides[i] == 0;
      place.vector_bytes = stays || i == joined.operand ? place.bytes : place.bytes * vector;
    }
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  // From a device's address of an operand to that of the first element visited.
  [[nodiscard]] std::uint64_t first_element(std::uint32_t operand, std::uint64_t base) const {
    return base + places_[operand].offset;
  }
  // Whether every element of an operand lies at a multiple of its size.
  [[nodiscard]] bool is_aligned(std::uint32_t operand, std::uint64_t base) const {
    const Place& place = places_[operand];
    return (first_element(operand, base) | place.strides) % place.bytes == 0;
  }
  // Whether vectors may be made: each operand has them where one access reads or writes them.
  [[nodiscard]] bool fits_vectors(std::uint32_t operand, std::uint64_t base) const {
    const Place& place = places_[operand];
    return has_vectors_ && first_element(operand, base) % place.vector_bytes == 0 && place.strides % place.bytes == 0;
  }

 private:
  struct Place {
    std::uint64_t offset = 0;        // from the operand's address to the first element
    std::uint64_t bytes = 1;         // of an element
    std::uint64_t vector_bytes = 1;  // read or written at a time, if vectors are made
    std::uint64_t strides = 0;       // all of them together; only the lowest bits count
  };

  std::uint32_t count_;
  bool has_vectors_;
  Place places_[kMaxOperands];
};

}  // namespace anydml
