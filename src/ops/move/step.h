// SPDX-License-Identifier: MIT
// The parameters of a step that moves elements: a table of copies, or a reversal. Copies do not depend on types: they
// move runs of bytes that are contiguous on both sides, and loops locate the runs. The copies of a step may run in any
// order or concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/shape.h"

namespace anydml {

// The maximum number of loops of a copy: an operator may split each dimension in two.
inline constexpr std::uint32_t kMaxMoveRank = 2 * kMaxRank;

struct MoveLoop {
  std::int64_t size;
  std::int64_t from;  // strides in bytes
  std::int64_t to;
};

inline constexpr std::uint32_t kFromConstant = 0xffffffff;

struct MoveCopy {
  std::uint32_t from;  // the operand to read, or kFromConstant
  std::uint32_t to;
  std::uint32_t first_loop;  // index into the table's loops
  std::uint32_t rank;        // the number of its loops, outermost first; no loop has size 1
  std::int64_t from_offset;  // in bytes, from the operand's address to the first run
  std::int64_t to_offset;
  std::int64_t run;        // bytes
  std::uint64_t constant;  // a repeated element, first byte lowest; the strides of `from` are then 0
};

// The first member of every step's parameters.
enum class MoveKind : std::uint32_t { copies, reversal };

// This struct is followed by the copies, then by the loops of all copies.
struct MoveStep {
  MoveKind kind;
  std::uint32_t copies;
  std::uint32_t loops;
  std::uint32_t unused;
};

// A reversal processes lines, which are sequences of runs. The first runs of each line are written in reverse order,
// and the remaining runs keep their positions. The operands are the input, the number of runs to reverse in each line,
// and the output. Strides are in bytes.
struct ReversalLoop {
  std::int64_t size;
  std::int64_t from;
  std::int64_t to;
  std::int64_t lengths;
};
struct ReversalStep {
  MoveKind kind;
  std::uint32_t rank;          // the number of loops over lines, outermost first; no loop has size 1
  std::uint32_t length_bytes;  // 4 or 8
  std::uint32_t unused;
  std::int64_t run;  // bytes
  MoveLoop axis;     // along a line
  std::int64_t from_offset;
  std::int64_t to_offset;
  std::int64_t lengths_offset;
  ReversalLoop loops[kMaxRank];
};

[[nodiscard]] inline MoveKind kind_of(std::span<const std::byte> parameters) {
  return *reinterpret_cast<const MoveKind*>(parameters.data());
}

// Reads a step's parameters.
class MoveTable {
 public:
  explicit MoveTable(std::span<const std::byte> parameters)
      : step_(reinterpret_cast<const MoveStep*>(parameters.data())) {}

  [[nodiscard]] std::span<const MoveCopy> copies() const {
    return {reinterpret_cast<const MoveCopy*>(step_ + 1), step_->copies};
  }
  [[nodiscard]] std::span<const MoveLoop> loops(const MoveCopy& copy) const {
    return {reinterpret_cast<const MoveLoop*>(copies().data() + step_->copies) + copy.first_loop, copy.rank};
  }

 private:
  const MoveStep* step_;
};

}  // namespace anydml
