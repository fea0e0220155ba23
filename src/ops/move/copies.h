// SPDX-License-Identifier: MIT
// Reduces copies to their simplest form and adds them to steps.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ops/move/step.h"
#include "plan/plan.h"

namespace anydml {

// A movement of elements from one location to another. Loops are in any order, strides have any sign, and no loop is
// empty.
struct Movement {
  std::int64_t element = 0;  // in bytes
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::uint32_t rank = 0;
  MoveLoop loops[kMaxMoveRank] = {};

  void add(std::int64_t size, std::int64_t from, std::int64_t to) { loops[rank++] = {size, from, to}; }
};

// Drops loops of size 1, makes all destination strides non-negative, sorts the loops so that the largest destination
// stride is outermost, merges adjacent loops that are contiguous on both sides, and turns a contiguous innermost loop
// into the run. Then orders the loops around the innermost one by the smaller of their two strides, which improves
// cache locality.
void simplify(Movement& movement, std::int64_t& run, bool from_constant);

// Collects copies and splits them into steps that do not exceed the maximum number of operands.
class CopyList {
 public:
  explicit CopyList(Plan& plan) : plan_(plan) {}

  void copy(const Operand& from, const Operand& to, const Movement& movement) { add(&from, to, movement, 0); }
  // constant: the bits of an element.
  void fill(const Operand& to, const Movement& movement, std::uint64_t constant) {
    add(nullptr, to, movement, constant);
  }
  // Adds a step with all copies since the previous step. Later copies see their results.
  void finish();
  // Adds a step of another kind, which sees the results of all copies so far.
  void add_step(std::span<const Operand> operands, std::span<const std::byte> parameters);

 private:
  void add(const Operand* from, const Operand& to, Movement movement, std::uint64_t constant);
  std::uint32_t number_of(const Operand& operand);

  Plan& plan_;
  std::vector<Operand> operands_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers_;  // keyed by slot and offset
  std::vector<MoveCopy> copies_;
  std::vector<MoveLoop> loops_;
};

}  // namespace anydml
