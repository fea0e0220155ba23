// SPDX-License-Identifier: MIT
// Runs gathers on the CPU. Threads share the iterations of all loops, in any order, and long runs are split into parts.
#include <algorithm>
#include <cstdio>

#include "ops/gather/cpu/rows.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

// In bytes read and written.
constexpr std::int64_t kMinOfPiece = 128 << 10;
constexpr std::int64_t kMaxOfPiece = 8 << 20;
constexpr std::int64_t kPiecesOfThread = 8;
constexpr std::int64_t kMaxRun = 256 << 10;  // longer runs are moved in parts
constexpr std::int64_t kCostOfItem = 24;     // the cost of an index, in bytes that could be moved in that time

class Gather final : public cpu::PreparedStep {
 public:
  Gather(const GatherStep& step, std::int64_t parts_of_run, std::int64_t units_of_piece)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.iterations(step.rank) * parts_of_run, units_of_piece))),
        step_(step),
        parts_of_run_(parts_of_run),
        units_of_piece_(units_of_piece),
        rows_(step, parts_of_run == 1) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * units_of_piece_;
    const std::int64_t end = std::min(first + units_of_piece_, step_.iterations(step_.rank) * parts_of_run_);
    if (parts_of_run_ == 1) {
      run_iterations(first, end, 0, step_.run, operands);
      return;
    }
    const std::int64_t length = ceil_div(step_.run, parts_of_run_);
    for (std::int64_t unit = first; unit < end; ++unit) {
      const std::int64_t iteration = unit / parts_of_run_;
      const std::int64_t begin = unit % parts_of_run_ * length;
      if (begin < step_.run) {
        run_iterations(iteration, iteration + 1, begin, std::min(length, step_.run - begin), operands);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u loop%s, runs of %lld bytes", step_.rank, step_.rank == 1 ? "" : "s",
                  static_cast<long long>(step_.run));
  }

 private:
  // Runs iterations [first, end) of all loops, moving the bytes [begin, begin + length) of each run.
  void run_iterations(std::int64_t first, std::int64_t end, std::int64_t begin, std::int64_t length,
                      std::byte* const* operands) const noexcept {
    const GatherLoop inner = innermost(step_);
    RowWalk walk(step_, first / inner.size);
    std::int64_t column = first % inner.size;
    while (first < end) {
      const std::int64_t count = std::min(end - first, inner.size - column);
      rows_.move({.first = operands[1] + walk.indices() + column * inner.indices,
                  .step = inner.indices,
                  .coordinate_stride = step_.coordinate_stride,
                  .coordinates = step_.coordinates,
                  .table = step_.table},
                 {.table = operands[0] + walk.table() + column * inner.table + begin,
                  .table_step = inner.table,
                  .slices = operands[2] + walk.slices() + column * inner.slices + begin,
                  .slices_step = inner.slices,
                  .run = length},
                 count);
      first += count;
      column += count;
      if (column == inner.size) {
        column = 0;
        walk.next();
      }
    }
  }

  GatherStep step_;
  std::int64_t parts_of_run_;
  std::int64_t units_of_piece_;
  ItemRows rows_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_gather(const GatherStep& step, unsigned threads) {
  const std::int64_t parts_of_run = ceil_div(step.run, kMaxRun);
  const std::int64_t cost = 2 * (step.run / parts_of_run) + kCostOfItem;
  const std::int64_t units = step.iterations(step.rank) * parts_of_run;
  const std::int64_t wanted = std::clamp(units / (threads * kPiecesOfThread), kMinOfPiece / cost, kMaxOfPiece / cost);
  return std::make_unique<Gather>(step, parts_of_run, std::max<std::int64_t>(1, wanted));
}

}  // namespace anydml
