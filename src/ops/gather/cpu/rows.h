// SPDX-License-Identifier: MIT
// Moves rows of items on the CPU: a batch of indices is first converted to offsets into the table, and then runs of
// bytes are moved. Thus the pairs of an index type and an element size do not need separate kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "backend/cpu/family.h"
#include "ops/gather/step.h"

namespace anydml {

inline constexpr std::int64_t kItemsAtOnce = 256;
// The offset that marks an item as skipped by a scatter.
inline constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::min();

// The coordinates of items in a row.
struct IndexRow {
  const std::byte* first;
  std::int64_t step;  // between items, in bytes
  std::int64_t coordinate_stride;
  std::uint32_t coordinates;
  const GatherCoordinate* table;
  std::int64_t first_number = 0;  // scatter: the range of targets to write, numbered by coordinates
  std::int64_t end_number = 0;
};
// `count` is at most kItemsAtOnce.
using ResolveItems = void (*)(const IndexRow& row, std::int64_t count, std::int64_t* offsets) noexcept;
[[nodiscard]] ResolveItems find_resolve(DataType index_type, GatherKind kind);

// The runs of a row's items, each `run` bytes long. Steps are in bytes.
struct RunRow {
  std::byte* table;
  std::int64_t table_step;
  std::byte* slices;
  std::int64_t slices_step;
  std::int64_t run;
};
using MoveRuns = void (*)(const RunRow& row, const std::int64_t* offsets, std::int64_t count) noexcept;
[[nodiscard]] MoveRuns find_move_runs(std::int64_t run, GatherKind kind);

// Resolves indices and moves elements in one pass, for any number of items with one coordinate and a run of one element
// each. Null for other steps.
using MoveElements = void (*)(const IndexRow& indices, const RunRow& row, std::int64_t count) noexcept;
[[nodiscard]] MoveElements find_move_elements(const GatherStep& step);

// Moves items of any kind, in batches.
class ItemRows {
 public:
  // whole_runs: whether runs must never be split.
  ItemRows(const GatherStep& step, bool whole_runs)
      : elements_(find_move_elements(step)),
        resolve_(find_resolve(step.index_type, step.kind)),
        move_(find_move_runs(whole_runs ? step.run : 0, step.kind)) {}

  void move(IndexRow indices, RunRow row, std::int64_t count) const noexcept {
    if (elements_ != nullptr) {
      elements_(indices, row, count);
      return;
    }
    std::int64_t offsets[kItemsAtOnce];
    while (count > 0) {
      const std::int64_t now = count < kItemsAtOnce ? count : kItemsAtOnce;
      resolve_(indices, now, offsets);
      move_(row, offsets, now);
      indices.first += now * indices.step;
      row.table += now * row.table_step;
      row.slices += now * row.slices_step;
      count -= now;
    }
  }

 private:
  MoveElements elements_;
  ResolveItems resolve_;
  MoveRuns move_;
};

// Walks the rows of a step: the iterations of all its loops except the innermost.
class RowWalk {
 public:
  // Walks only the iterations [begin, end) of one loop, and all iterations of the other loops.
  RowWalk(const GatherStep& step, std::uint32_t cut_loop, std::int64_t begin, std::int64_t end)
      : step_(step), cut_(cut_loop), begin_(begin), end_(end) {
    if (cut_ + 1 < step.rank) {
      indices_[cut_] = begin;
      move(cut_, begin);
    }
  }
  // Walks all loops, starting from this row.
  RowWalk(const GatherStep& step, std::int64_t row) : step_(step), cut_(kMaxRank), begin_(0), end_(0) {
    for (std::uint32_t i = step.rank; i-- > 1;) {
      const std::int64_t size = step.loops[i - 1].size;
      indices_[i - 1] = row % size;
      move(i - 1, row % size);
      row /= size;
    }
  }

  [[nodiscard]] std::int64_t table() const { return table_; }
  [[nodiscard]] std::int64_t indices() const { return items_; }
  [[nodiscard]] std::int64_t slices() const { return slices_; }

  // Returns false if no row is left.
  bool next() {
    for (std::uint32_t i = step_.rank; i-- > 1;) {
      const std::uint32_t loop = i - 1;
      const std::int64_t begin = loop == cut_ ? begin_ : 0;
      const std::int64_t end = loop == cut_ ? end_ : step_.loops[loop].size;
      if (++indices_[loop] < end) {
        move(loop, 1);
        return true;
      }
      indices_[loop] = begin;
      move(loop, begin - end + 1);
    }
    return false;
  }

 private:
  void move(std::uint32_t loop, std::int64_t by) {
    table_ += by * step_.loops[loop].table;
    items_ += by * step_.loops[loop].indices;
    slices_ += by * step_.loops[loop].slices;
  }

  const GatherStep& step_;
  std::uint32_t cut_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t indices_[kMaxRank] = {};
  std::int64_t table_ = 0;
  std::int64_t items_ = 0;
  std::int64_t slices_ = 0;
};

[[nodiscard]] inline GatherLoop innermost(const GatherStep& step) {
  return step.rank == 0 ? GatherLoop{.size = 1, .table = 0, .indices = 0, .slices = 0, .number = 0}
                        : step.loops[step.rank - 1];
}

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_gather(const GatherStep& step, unsigned threads);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_scatter(const GatherStep& step, unsigned threads);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_one_hot(const OneHotStep& step, unsigned threads);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_nonzero(const NonzeroStep& step);

}  // namespace anydml
