// SPDX-License-Identifier: MIT
// What every element-wise step on the CPU is: a nest that is cut into tiles, of which threads take some at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "backend/cpu/family.h"
#include "ops/elementwise/step.h"
#include "plan/tiling.h"

namespace anydml {

// From row to row of an operand, in bytes.
[[nodiscard]] inline std::int64_t stride_of_rows(const LoopNest& nest, std::uint32_t operand) {
  return nest.rank >= 2 ? nest.loops[nest.rank - 2].strides[operand] : 0;
}

// How the nest is divided among pieces.
struct Division {
  Tiling tiling;
  std::vector<std::int64_t> begins;  // of each piece the first tile; then how many tiles there are

  [[nodiscard]] std::uint64_t pieces() const { return begins.size() - 1; }
};

// `vectors`: whether the kernels have any, which makes them some ten times as fast.
[[nodiscard]] Division divide(const Step& step, const LoopNest& nest, bool vectors, unsigned threads);

// It stands alone, or is a stream of elements beside a step of another family, which says where its elements are.
class TiledStep : public cpu::Prepared, public cpu::ElementStream {
 public:
  TiledStep(const ElementwiseStep& step, Division division, cpu::Target target)
      : Prepared(division.pieces()), nest_(*step.nest), division_(std::move(division)), target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept final {
    for_each_tile(nest_, division_.tiling, division_.begins[piece.number], division_.begins[piece.number + 1],
                  [&](const Block& block) { run_block(operands, block); });
  }

  void run(std::int64_t first, std::int64_t count, std::byte* buffer, std::byte* const* operands) const noexcept final {
    std::byte* places[kMaxOperands];
    std::copy_n(operands, nest_.operands, places);
    places[handed_] = buffer;
    std::int64_t done = 0;
    for_each_part(nest_, first, count, [&](Block& block) {
      block.offsets[handed_] = done * nest_.innermost().strides[handed_];
      run_block(places, block);
      done += block.rows * block.columns;
    });
  }

  // As a stream: which operand has no slot.
  void set_handed(std::uint32_t operand) { handed_ = operand; }

 protected:
  [[nodiscard]] const LoopNest& nest() const { return nest_; }

  virtual void run_block(std::byte* const* operands, const Block& block) const noexcept = 0;

  void explain_as(InnerLayout layout, char* text, std::size_t capacity) const noexcept {
    std::snprintf(text, capacity, "%s, %u loop%s, %s kernel", layout_name(layout), nest_.rank,
                  nest_.rank == 1 ? "" : "s", cpu::target_name(target_));
  }

 private:
  LoopNest nest_;
  Division division_;
  cpu::Target target_;
  std::uint32_t handed_ = 0;
};

}  // namespace anydml
