// SPDX-License-Identifier: MIT
#include "ops/move/copies.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/small_sort.h"
#include "ops/family.h"

namespace anydml {
namespace {

std::int64_t nearest_step(const MoveLoop& loop) {
  constexpr std::uint64_t kFar = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t from = loop.from == 0 ? kFar : magnitude(loop.from);
  return static_cast<std::int64_t>(std::min({from, magnitude(loop.to), kFar}));
}

}  // namespace

void simplify(Movement& movement, std::int64_t& run, bool from_constant) {
  MoveLoop* const loops = movement.loops;
  std::uint32_t rank = 0;
  for (std::uint32_t i = 0; i < movement.rank; ++i) {
    MoveLoop loop = loops[i];
    if (loop.size == 1) {
      continue;
    }
    if (loop.to < 0) {
      movement.from_offset += (loop.size - 1) * loop.from;
      movement.to_offset += (loop.size - 1) * loop.to;
      loop.from = -loop.from;
      loop.to = -loop.to;
    }
    loops[rank++] = loop;
  }
  small_sort(loops, rank, [](const MoveLoop& a, const MoveLoop& b) { return a.to > b.to; });

  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < rank; ++i) {
    const MoveLoop inner = loops[i];
    if (kept != 0) {
      MoveLoop& outer = loops[kept - 1];
      // The product may overflow: the offset of the inner loop's last iteration is known to fit, but not the offset
      // after it.
      if (checked_multiply(inner.from, inner.size) == outer.from &&
          checked_multiply(inner.to, inner.size) == outer.to) {
        outer = {.size = outer.size * inner.size, .from = inner.from, .to = inner.to};
        continue;
      }
    }
    loops[kept++] = inner;
  }

  run = movement.element;
  if (kept != 0 && loops[kept - 1].to == run && (from_constant || loops[kept - 1].from == run)) {
    run *= loops[--kept].size;
  }
  movement.rank = kept;
  if (kept > 1) {
    small_sort(loops, kept - 1, [](const MoveLoop& a, const MoveLoop& b) { return nearest_step(a) > nearest_step(b); });
  }
}

std::uint32_t CopyList::number_of(const Operand& operand) {
  const auto [found, added] =
      numbers_.try_emplace({operand.slot, operand.offset}, static_cast<std::uint32_t>(operands_.size()));
  if (added) {
    operands_.push_back(operand);
  }
  return found->second;
}

void CopyList::add(const Operand* from, const Operand& to, Movement movement, std::uint64_t constant) {
  if (operands_.size() + 2 > kMaxStepOperands) {
    finish();
  }
  std::uint64_t pattern = 0;
  for (std::int64_t at = 0; at < 8; at += movement.element) {
    std::memcpy(reinterpret_cast<std::byte*>(&pattern) + at, &constant, static_cast<std::size_t>(movement.element));
  }
  std::int64_t run = 0;
  simplify(movement, run, from == nullptr);
  copies_.push_back({.from = from != nullptr ? number_of(*from) : kFromConstant,
                     .to = number_of(to),
                     .first_loop = static_cast<std::uint32_t>(loops_.size()),
                     .rank = movement.rank,
                     .from_offset = movement.from_offset,
                     .to_offset = movement.to_offset,
                     .run = run,
                     .constant = pattern});
  loops_.insert(loops_.end(), movement.loops, movement.loops + movement.rank);
}

void CopyList::add_step(std::span<const Operand> operands, std::span<const std::byte> parameters) {
  finish();
  plan_.add(static_cast<std::uint32_t>(FamilyId::move), operands, parameters);
}

void CopyList::finish() {
  if (copies_.empty()) {
    return;
  }
  const MoveStep step{.kind = MoveKind::copies,
                      .copies = static_cast<std::uint32_t>(copies_.size()),
                      .loops = static_cast<std::uint32_t>(loops_.size()),
                      .unused = 0};
  std::vector<std::byte> parameters;
  const auto append = [&](std::span<const std::byte> bytes) {
    parameters.insert(parameters.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(&step, 1)));
  append(std::as_bytes(std::span(copies_)));
  append(std::as_bytes(std::span(loops_)));
  plan_.add(static_cast<std::uint32_t>(FamilyId::move), operands_, parameters);
  operands_.clear();
  numbers_.clear();
  copies_.clear();
  loops_.clear();
}

}  // namespace anydml
