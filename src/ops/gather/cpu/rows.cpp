// SPDX-License-Identifier: MIT
#include "ops/gather/cpu/rows.h"

#include <algorithm>
#include <cstring>

#include "ops/gather/scalar/index.h"

namespace anydml {
namespace {

template <class Index>
Index load(const std::byte* from) {
  Index index;
  std::memcpy(&index, from, sizeof(index));
  return index;
}

// Calls use(index, i) for the indices of a row with one coordinate per item. The compiler vectorizes the contiguous
// case.
template <class Index, class Use>
void for_each_index(const IndexRow& row, std::int64_t count, Use use) {
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = const Index;
  if (row.step == static_cast<std::int64_t>(sizeof(Index))) {
    const auto* const indices = reinterpret_cast<Unaligned*>(row.first);
    for (std::int64_t i = 0; i < count; ++i) {
      use(Index{indices[i]}, i);
    }
    return;
  }
  const std::byte* from = row.first;
  for (std::int64_t i = 0; i < count; ++i, from += row.step) {
    use(load<Index>(from), i);
  }
}

template <class Index>
void resolve_nearest(const IndexRow& row, std::int64_t count, std::int64_t* __restrict offsets) noexcept {
  if (row.coordinates == 1) {
    const std::int64_t size = row.table[0].size;
    const std::int64_t stride = row.table[0].stride;
    for_each_index<Index>(row, count, [=](Index index, std::int64_t i) { offsets[i] = nearest_index(index, size); });
    for (std::int64_t i = 0; i < count; ++i) {
      offsets[i] *= stride;
    }
    return;
  }
  const std::byte* from = row.first;
  for (std::int64_t i = 0; i < count; ++i, from += row.step) {
    std::int64_t offset = 0;
    for (std::uint32_t k = 0; k < row.coordinates; ++k) {
      const Index index = load<Index>(from + k * row.coordinate_stride);
      offset += nearest_index(index, row.table[k].size) * row.table[k].stride;
    }
    offsets[i] = offset;
  }
}

template <class Index>
void resolve_indices(const IndexRow& row, std::int64_t count, std::int64_t* __restrict offsets) noexcept {
  if (row.coordinates == 1) {
    const std::int64_t size = row.table[0].size;
    const std::int64_t stride = row.table[0].stride;
    const std::int64_t first = row.first_number;
    const std::int64_t end = row.end_number;
    for_each_index<Index>(row, count, [=](Index index, std::int64_t i) { offsets[i] = resolve_index(index, size); });
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t resolved = offsets[i];  // this also skips -1, since `first` is never negative
      offsets[i] = resolved >= first && resolved < end ? resolved * stride : kNowhere;
    }
    return;
  }
  const std::byte* from = row.first;
  for (std::int64_t i = 0; i < count; ++i, from += row.step) {
    std::int64_t offset = 0;
    std::int64_t number = 0;
    bool is_inside = true;
    for (std::uint32_t k = 0; k < row.coordinates; ++k) {
      const std::int64_t resolved = resolve_index(load<Index>(from + k * row.coordinate_stride), row.table[k].size);
      is_inside = is_inside && resolved >= 0;
      offset += resolved * row.table[k].stride;
      number += resolved * row.table[k].number;
    }
    offsets[i] = is_inside && number >= row.first_number && number < row.end_number ? offset : kNowhere;
  }
}

// Runs can be anywhere in the table, so cache lines are prefetched into the L2 cache: whenever a line is copied, one
// line of a later run is prefetched. Prefetching all lines of a run together would stall the CPU.
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kBytesAhead = 6144;
constexpr std::int64_t kMaxAhead = 16;      // in runs
constexpr std::int64_t kMaxFetched = 4096;  // bytes of a run; the hardware prefetches the rest

void copy_line(std::byte* to, const std::byte* from) { std::memcpy(to, from, static_cast<std::size_t>(kLine)); }

// Copies a run and prefetches the same amount of the run at `later`.
void copy_and_fetch(std::byte* to, const std::byte* from, std::int64_t run, const std::byte* later) {
  const std::int64_t fetched = std::min(run, kMaxFetched);
  std::int64_t at = 0;
  for (; at + kLine <= fetched; at += kLine) {
    __builtin_prefetch(later + at, 0, 2);
    copy_line(to + at, from + at);
  }
  __builtin_prefetch(later + std::min(run, fetched + kLine) - 1, 0, 2);  // a run may start in the middle of a line
  if (at < run) {
    std::memcpy(to + at, from + at, static_cast<std::size_t>(run - at));
  }
}

// kRun: the number of bytes in a run, or 0 for any number. Short runs are not prefetched: enough of them are already in
// flight.
template <std::int64_t kRun>
void gather_runs(const RunRow& row, const std::int64_t* offsets, std::int64_t count) noexcept {
  const std::int64_t run = kRun == 0 ? row.run : kRun;
  const std::int64_t ahead = std::clamp<std::int64_t>(kBytesAhead / run, 1, kMaxAhead);
  const std::byte* from = row.table;
  std::byte* to = row.slices;
  for (std::int64_t i = 0; i < count; ++i, from += row.table_step, to += row.slices_step) {
    if constexpr (kRun == 0) {
      const std::int64_t later = std::min(i + ahead, count - 1);
      copy_and_fetch(to, from + offsets[i], run, row.table + later * row.table_step + offsets[later]);
    } else {
      std::memcpy(to, from + offsets[i], static_cast<std::size_t>(run));
    }
  }
}

// Runs to be written are prefetched in the same way, but only every fourth line: the hardware fetches the lines between
// them.
constexpr std::int64_t kWrittenAhead = 4096;  // bytes
constexpr std::int64_t kWrittenStep = 256;

template <std::int64_t kRun>
void scatter_runs(const RunRow& row, const std::int64_t* offsets, std::int64_t count) noexcept {
  const std::int64_t run = kRun == 0 ? row.run : kRun;
  const std::int64_t ahead = std::clamp<std::int64_t>(kWrittenAhead / run, 1, kMaxAhead);
  const std::int64_t fetched = std::min(run, kMaxFetched);
  std::byte* to = row.table;
  const std::byte* from = row.slices;
  for (std::int64_t i = 0; i < count; ++i, to += row.table_step, from += row.slices_step) {
    if (kRun == 0 && i + ahead < count && offsets[i + ahead] != kNowhere) {
      std::byte* const later = to + ahead * row.table_step + offsets[i + ahead];
      for (std::int64_t at = 0; at < fetched; at += kWrittenStep) {
        __builtin_prefetch(later + at, 1);
      }
    }
    if (offsets[i] != kNowhere) {
      std::memcpy(to + offsets[i], from, static_cast<std::size_t>(run));
    }
  }
}

}  // namespace

ResolveItems find_resolve(DataType index_type, GatherKind kind) {
  const auto choose = [kind]<class Index>(Index) {
    return kind == GatherKind::gather ? resolve_nearest<Index> : resolve_indices<Index>;
  };
  switch (index_type) {
    case DataType::UINT32:
      return choose(u32{});
    case DataType::INT32:
      return choose(i32{});
    case DataType::UINT64:
      return choose(u64{});
    default:
      return choose(i64{});
  }
}

MoveRuns find_move_runs(std::int64_t run, GatherKind kind) {
  const bool is_gather = kind == GatherKind::gather;
  switch (run) {
    case 1:
      return is_gather ? gather_runs<1> : scatter_runs<1>;
    case 2:
      return is_gather ? gather_runs<2> : scatter_runs<2>;
    case 4:
      return is_gather ? gather_runs<4> : scatter_runs<4>;
    case 8:
      return is_gather ? gather_runs<8> : scatter_runs<8>;
    case 16:
      return is_gather ? gather_runs<16> : scatter_runs<16>;
    default:
      return is_gather ? gather_runs<0> : scatter_runs<0>;
  }
}

}  // namespace anydml
