// SPDX-License-Identifier: MIT
// The base class of every element-wise step on the CPU: a loop nest cut into tiles, which threads claim a few at a
// time.
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

// The distance between rows of an operand, in bytes.
[[nodiscard]] inline std::int64_t stride_of_rows(const LoopNest& nest, std::uint32_t operand) {
  return nest.rank >= 2 ? nest.loops[nest.rank - 2].strides[operand] : 0;
}

// The division of the loop nest into pieces.
struct Division {
  Tiling tiling;
  std::vector<std::int64_t> begins;  // the first tile of each piece, followed by the number of tiles

  [[nodiscard]] std::uint64_t pieces() const { return begins.size() - 1; }
};

// `vectors`: whether the kernels are vectorized, which makes them about ten times as fast.
[[nodiscard]] Division divide(const Step& step, const LoopNest& nest, bool vectors, unsigned threads);

// The step either runs on its own, or is joined with a step of another family. The other step then passes it the tiles
// to process.
class TiledStep : public cpu::PreparedStep, public cpu::JoinedStep {
 public:
  TiledStep(const ElementwiseStep& step, Division division, cpu::Target target)
      : PreparedStep(division.pieces()), nest_(*step.nest), division_(std::move(division)), target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept final {
    for_each_tile(nest_, division_.tiling, division_.begins[piece.number], division_.begins[piece.number + 1],
                  [&](const Block& block) { run_block(operands, block); });
  }

  void run(const cpu::StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept final {
    std::byte* addresses[kMaxOperands];
    std::copy_n(operands, nest_.operands, addresses);
    const std::int64_t bytes = nest_.innermost().strides[forwarded_];
    // Consecutive rows that are contiguous in both the operand and the buffer are processed as one row.
    const bool is_one = tile.row_step == tile.columns && tile.buffer_row_step == tile.columns * bytes;
    const std::int64_t rows = is_one ? 1 : tile.rows;
    const std::int64_t columns = is_one ? tile.rows * tile.columns : tile.columns;
    for (std::int64_t row = 0; row < rows; ++row) {
      addresses[forwarded_] = buffer + row * tile.buffer_row_step;
      std::int64_t done = 0;
      for_each_part(nest_, tile.first + row * tile.row_step, columns, [&](Block& block) {
        block.offsets[forwarded_] = done * bytes;
        run_block(addresses, block);
        done += block.rows * block.columns;
      });
    }
  }

  // For joined steps: the operand that has no slot.
  void set_forwarded(std::uint32_t operand) { forwarded_ = operand; }

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
  std::uint32_t forwarded_ = 0;
};

}  // namespace anydml
