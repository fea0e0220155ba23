// SPDX-License-Identifier: MIT
// Runs scatters on the CPU. If several items have the same target, the last must win, so threads do not share the
// items: each thread reads all of them in order and writes only its own part of the table. That part is defined by a
// range of one of the following: the iterations of a loop that never share a target, the bytes of each run, or the
// target numbers.
#include <algorithm>
#include <cstdio>

#include "ops/gather/cpu/rows.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

// In bytes read and written.
constexpr std::int64_t kMinOfPiece = 64 << 10;
constexpr std::int64_t kPiecesOfThread = 4;
constexpr std::int64_t kMinOfRun = 512;   // bytes; a shorter part is not worth the cost of reading an index
constexpr std::int64_t kMinOfRow = 64;    // items of the innermost loop
constexpr std::int64_t kCostOfItem = 24;  // the cost of an index, in bytes that could be moved in that time

struct ScatterCut {
  std::uint32_t loop;       // the loop that is split
  std::int64_t loop_parts;  // all numbers of parts are at least 1
  std::int64_t run_parts;
  std::int64_t target_parts;
  std::int64_t targets;  // number of targets that the coordinates can address
};

ScatterCut cut(const GatherStep& step, std::int64_t threads) {
  ScatterCut result{.loop = kMaxRank, .loop_parts = 1, .run_parts = 1, .target_parts = 1, .targets = 1};
  for (std::uint32_t k = 0; k < step.coordinates; ++k) {
    result.targets *= step.table[k].size;
  }
  const std::int64_t all = step.iterations(step.rank) * (2 * step.run + kCostOfItem);
  std::int64_t wanted = std::clamp<std::int64_t>(all / kMinOfPiece, 1, threads * kPiecesOfThread);
  std::int64_t maximum = 1;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    const bool is_free = step.loops[i].number != 0 || i >= step.item_rank;
    const std::int64_t fitting = i + 1 < step.rank ? step.loops[i].size : ceil_div(step.loops[i].size, kMinOfRow);
    if (is_free && fitting > maximum) {
      result.loop = i;
      maximum = fitting;
      if (fitting >= wanted) {
        break;  // the outermost loop that is long enough
      }
    }
  }
  result.loop_parts = std::min(wanted, maximum);
  // Each part reads all indices again, so the number of parts is limited to the number of threads.
  wanted = ceil_div(std::min(wanted, threads), result.loop_parts);
  result.run_parts = std::clamp<std::int64_t>(step.run / kMinOfRun, 1, wanted);
  wanted = ceil_div(wanted, result.run_parts);
  result.target_parts = std::clamp<std::int64_t>(result.targets, 1, wanted);
  return result;
}

class Scatter final : public cpu::PreparedStep {
 public:
  Scatter(const GatherStep& step, const ScatterCut& cut)
      : PreparedStep(static_cast<std::uint64_t>(cut.loop_parts * cut.run_parts * cut.target_parts)),
        step_(step),
        cut_(cut),
        rows_(step, cut.run_parts == 1) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    auto number = static_cast<std::int64_t>(piece.number);
    const auto take = [&number](std::int64_t size, std::int64_t of_parts) {
      const std::int64_t part = number % of_parts;
      number /= of_parts;
      return Range{.begin = size / of_parts * part + std::min(part, size % of_parts),
                   .end = size / of_parts * (part + 1) + std::min(part + 1, size % of_parts)};
    };
    const Range numbers = take(cut_.targets, cut_.target_parts);
    const Range bytes = take(step_.run, cut_.run_parts);
    const GatherLoop inner = innermost(step_);
    const bool cuts_rows = cut_.loop + 1 == step_.rank;
    const Range items = take(cut_.loop == kMaxRank ? 1 : step_.loops[cut_.loop].size, cut_.loop_parts);
    const Range columns = cuts_rows ? items : Range{.begin = 0, .end = inner.size};
    RowWalk walk(step_, cut_.loop, items.begin, items.end);
    do {
      rows_.move({.first = operands[1] + walk.indices() + columns.begin * inner.indices,
                  .step = inner.indices,
                  .coordinate_stride = step_.coordinate_stride,
                  .coordinates = step_.coordinates,
                  .table = step_.table,
                  .first_number = numbers.begin,
                  .end_number = numbers.end},
                 {.table = operands[0] + walk.table() + columns.begin * inner.table + bytes.begin,
                  .table_step = inner.table,
                  .slices = operands[2] + walk.slices() + columns.begin * inner.slices + bytes.begin,
                  .slices_step = inner.slices,
                  .run = bytes.end - bytes.begin},
                 columns.end - columns.begin);
    } while (walk.next());
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u loop%s, runs of %lld bytes, %lld parts of targets", step_.rank,
                  step_.rank == 1 ? "" : "s", static_cast<long long>(step_.run),
                  static_cast<long long>(cut_.target_parts));
  }

 private:
  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };

  GatherStep step_;
  ScatterCut cut_;
  ItemRows rows_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_scatter(const GatherStep& step, unsigned threads) {
  return std::make_unique<Scatter>(step, cut(step, threads));
}

}  // namespace anydml
