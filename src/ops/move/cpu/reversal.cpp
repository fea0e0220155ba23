// SPDX-License-Identifier: MIT
// Runs reversals on the CPU. A unit of work is a part of one line, or of several adjacent lines if the output is
// contiguous across lines.
#include "ops/move/cpu/reversal.h"
#include "base/integers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/move/cpu/blocks.h"

namespace anydml {
namespace {

constexpr std::int64_t kUnitBytes = 64 << 10;
constexpr std::int64_t kMinOfPiece = 128 << 10;
constexpr std::int64_t kMaxOfPiece = 4 << 20;
constexpr std::int64_t kMaxLines = 64;       // adjacent lines
constexpr std::int64_t kCostOfLine = 64;     // overhead of a line, in bytes that could be moved in that time
constexpr std::int64_t kPartsOfThread = 16;  // pieces per thread

struct Cut {
  std::int64_t lines;      // per unit, along the innermost loop
  std::int64_t positions;  // per unit, along the axis
  std::int64_t line_tiles;
  std::int64_t axis_tiles;
  std::int64_t units;
  std::int64_t units_of_piece;
};

std::int64_t innermost_size(const ReversalStep& step) { return step.rank == 0 ? 1 : step.loops[step.rank - 1].size; }

Cut make_cut(const ReversalStep& step, unsigned threads) {
  const bool across = step.rank != 0 && step.run < kMinRow && step.loops[step.rank - 1].to < std::abs(step.axis.to);
  Cut cut{};
  cut.lines = across ? std::min(kMaxLines, innermost_size(step)) : 1;
  cut.positions = std::clamp<std::int64_t>(kUnitBytes / (step.run * cut.lines), 1, step.axis.size);
  cut.line_tiles = ceil_div(innermost_size(step), cut.lines);
  cut.axis_tiles = ceil_div(step.axis.size, cut.positions);
  cut.units = cut.line_tiles * cut.axis_tiles;
  for (std::uint32_t i = 0; i + 1 < step.rank; ++i) {
    cut.units *= step.loops[i].size;
  }
  const std::int64_t cost = cut.lines * (cut.positions * step.run * 2 + kCostOfLine);
  const std::int64_t wanted = std::clamp(cut.units * cost / (threads * kPartsOfThread), kMinOfPiece, kMaxOfPiece);
  cut.units_of_piece = std::max<std::int64_t>(1, wanted / cost);
  return cut;
}

// Moves adjacent lines with different lengths together: the runs at one position of every line, then the runs at the
// next position.
template <std::size_t kRun>
void move_across(const ReversalStep& step, const std::int64_t* lengths, std::int64_t lines, std::int64_t first,
                 std::int64_t end, const std::byte* from, std::byte* to) noexcept {
  const ReversalLoop& beside = step.loops[step.rank - 1];
  const auto run = kRun != 0 ? kRun : static_cast<std::size_t>(step.run);
  for (std::int64_t at = first; at < end; ++at) {
    std::byte* const row = to + at * step.axis.to;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t source = at < lengths[line] ? lengths[line] - 1 - at : at;
      std::memcpy(row + line * beside.to, from + line * beside.from + source * step.axis.from, run);
    }
  }
}

using MoveAcross = void (*)(const ReversalStep&, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                            const std::byte*, std::byte*) noexcept;

MoveAcross find_across(std::int64_t run) {
  switch (run) {
    case 1:
      return move_across<1>;
    case 2:
      return move_across<2>;
    case 4:
      return move_across<4>;
    case 8:
      return move_across<8>;
    default:
      return move_across<0>;
  }
}

class Reversal final : public cpu::PreparedStep {
 public:
  Reversal(const ReversalStep& step, const Cut& cut, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece))),
        step_(step),
        cut_(cut),
        rows_(find_move_kernel(MoveShape::rows, 1, target)),
        runs_(step.run < kMinRow ? find_move_kernel(MoveShape::strided, step.run, target) : nullptr),
        across_(find_across(step.run)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    for (std::int64_t unit = first; unit < end; ++unit) {
      run_unit(unit, operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "reversal, %s", cut_.lines > 1 ? "adjacent lines" : "line by line");
  }

 private:
  void run_unit(std::int64_t unit, std::byte* const* operands) const noexcept {
    const std::byte* from = operands[0] + step_.from_offset;
    const std::byte* numbers = operands[1] + step_.lengths_offset;
    std::byte* to = operands[2] + step_.to_offset;
    const std::int64_t first = unit % cut_.axis_tiles * cut_.positions;
    const std::int64_t end = std::min(first + cut_.positions, step_.axis.size);
    std::int64_t rest = unit / cut_.axis_tiles;
    const std::int64_t line = rest % cut_.line_tiles * cut_.lines;
    rest /= cut_.line_tiles;
    for (std::uint32_t i = step_.rank; i-- > 0;) {
      const ReversalLoop& loop = step_.loops[i];
      const bool innermost = i + 1 == step_.rank;
      const std::int64_t index = innermost ? line : rest % loop.size;
      rest = innermost ? rest : rest / loop.size;
      from += index * loop.from;
      to += index * loop.to;
      numbers += index * loop.lengths;
    }
    if (cut_.lines == 1) {
      move_line(length_at(numbers), first, end, from, to);
      return;
    }
    const std::int64_t lines = std::min(cut_.lines, innermost_size(step_) - line);
    std::int64_t lengths[kMaxLines];
    for (std::int64_t i = 0; i < lines; ++i) {
      lengths[i] = length_at(numbers + i * step_.loops[step_.rank - 1].lengths);
    }
    across_(step_, lengths, lines, first, end, from, to);
  }

  // The length of a line, clamped to the size of the axis.
  [[nodiscard]] std::int64_t length_at(const std::byte* at) const noexcept {
    std::uint64_t length = 0;
    if (step_.length_bytes == sizeof(length)) {
      std::memcpy(&length, at, sizeof(length));
    } else {
      std::uint32_t narrow = 0;
      std::memcpy(&narrow, at, sizeof(narrow));
      length = narrow;
    }
    return static_cast<std::int64_t>(std::min(length, static_cast<std::uint64_t>(step_.axis.size)));
  }

  void move_line(std::int64_t length, std::int64_t first, std::int64_t end, const std::byte* from,
                 std::byte* to) const noexcept {
    const std::int64_t reversed = std::clamp(length, first, end);
    move_runs(reversed - first, from + (length - 1 - first) * step_.axis.from, -step_.axis.from,
              to + first * step_.axis.to);
    move_runs(end - reversed, from + reversed * step_.axis.from, step_.axis.from, to + reversed * step_.axis.to);
  }

  // Moves count runs to consecutive positions.
  void move_runs(std::int64_t count, const std::byte* from, std::int64_t from_step, std::byte* to) const noexcept {
    if (count <= 0) {
      return;
    }
    const bool contiguous = from_step == step_.run && step_.axis.to == step_.run;
    if (contiguous || runs_ == nullptr) {
      rows_({.from = from,
             .to = to,
             .unit = 1,
             .columns = contiguous ? count * step_.run : step_.run,
             .from_column = 1,
             .to_column = 1,
             .rows = contiguous ? 1 : count,
             .from_row = from_step,
             .to_row = step_.axis.to});
      return;
    }
    runs_({.from = from,
           .to = to,
           .unit = step_.run,
           .columns = count,
           .from_column = from_step,
           .to_column = step_.axis.to,
           .rows = 1,
           .from_row = 0,
           .to_row = 0});
  }

  ReversalStep step_;
  Cut cut_;
  MoveKernel rows_;
  MoveKernel runs_;  // null if runs are rows
  MoveAcross across_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_reversal(const ReversalStep& step, const cpu::StepContext& context) {
  return std::make_unique<Reversal>(step, make_cut(step, context.threads), context.target);
}

}  // namespace anydml
