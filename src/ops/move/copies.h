// SPDX-License-Identifier: MIT
// Copies reduced to their simplest form and added to steps.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ops/move/step.h"
#include "plan/plan.h"

namespace anydml {

// Elements that move from one location to another, in loops of any order and sign. No loop is empty.
struct Movement {
  std::int64_t element = 0;  // bytes
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::uint32_t rank = 0;
  MoveLoop loops[kMaxMoveRank] = {};

  void add(std::int64_t size, std::int64_t from, std::int64_t to) { loops[rank++] = {size, from, to}; }
};

// Loops of size 1 are dropped; the destination is walked upwards, with the largest stride outermost; neighbours that
// are contiguous on both sides become one loop, and a contiguous innermost loop becomes the run. The outer loops are
// then ordered by the smaller stride of the two sides, which suits the caches. The innermost loop stays.
void simplify(Movement& movement, std::int64_t& run, bool from_constant);

// Collects copies and adds steps with as many operands as a step may have.
class CopyList {
 public:
  explicit CopyList(Plan& plan) : plan_(plan) {}

  void copy(const Operand& from, const Operand& to, const Movement& movement) { add(&from, to, movement, 0); }
  // constant: the bits of an element.
  void fill(const Operand& to, const Movement& movement, std::uint64_t constant) {
    add(nullptr, to, movement, constant);
  }
  // Adds the step of the copies since the last one. The copies after it see their results.
  void finish();
  // Adds a step of another kind, which sees the results of the copies so far.
  void add_step(std::span<const Operand> operands, std::span<const std::byte> parameters);

 private:
  void add(const Operand* from, const Operand& to, Movement movement, std::uint64_t constant);
  std::uint32_t number_of(const Operand& operand);

  Plan& plan_;
  std::vector<Operand> operands_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers_;  // by slot and offset
  std::vector<MoveCopy> copies_;
  std::vector<MoveLoop> loops_;
};

}  // namespace anydml
