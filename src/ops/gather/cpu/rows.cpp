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

template <class Index>
void resolve_nearest(const IndexRow& row, std::int64_t count, std::int64_t* offsets) noexcept {
  const std::byte* from = row.first;
  if (row.coordinates == 1) {
    const auto [size, stride, number] = row.table[0];
    for (std::int64_t i = 0; i < count; ++i, from += row.step) {
      offsets[i] = nearest_place(load<Index>(from), size) * stride;
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, from += row.step) {
    std::int64_t offset = 0;
    for (std::uint32_t k = 0; k < row.coordinates; ++k) {
      const Index index = load<Index>(from + k * row.coordinate_stride);
      offset += nearest_place(index, row.table[k].size) * row.table[k].stride;
    }
    offsets[i] = offset;
  }
}

template <class Index>
void resolve_places(const IndexRow& row, std::int64_t count, std::int64_t* offsets) noexcept {
  const std::byte* from = row.first;
  if (row.coordinates == 1) {
    const auto [size, stride, number] = row.table[0];
    for (std::int64_t i = 0; i < count; ++i, from += row.step) {
      const std::int64_t place = place_of(load<Index>(from), size);  // -1 is below every first number
      offsets[i] = place >= row.first_number && place < row.end_number ? place * stride : kNowhere;
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, from += row.step) {
    std::int64_t offset = 0;
    std::int64_t number = 0;
    bool is_inside = true;
    for (std::uint32_t k = 0; k < row.coordinates; ++k) {
      const std::int64_t place = place_of(load<Index>(from + k * row.coordinate_stride), row.table[k].size);
      is_inside = is_inside && place >= 0;
      offset += place * row.table[k].stride;
      number += place * row.table[k].number;
    }
    offsets[i] = is_inside && number >= row.first_number && number < row.end_number ? offset : kNowhere;
  }
}

// Rows of a table lie anywhere, so the processor is told early which it will need: so many bytes before.
constexpr std::int64_t kBytesAhead = 4096;
constexpr std::int64_t kMostFetched = 1024;  // of a run; what follows is read one after another
constexpr std::int64_t kLine = 64;

void fetch(const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLine) {
    __builtin_prefetch(from + at);
  }
}

// kRun: the bytes of a run; 0: any number of them.
template <std::int64_t kRun>
void gather_runs(const RunRow& row, const std::int64_t* offsets, std::int64_t count) noexcept {
  const auto run = static_cast<std::size_t>(kRun == 0 ? row.run : kRun);
  const std::byte* from = row.table;
  std::byte* to = row.slices;
  if (kRun == 0 && row.run >= kLine) {
    const std::int64_t ahead = std::clamp<std::int64_t>(kBytesAhead / row.run, 1, 16);
    const std::int64_t fetched = std::min(row.run, kMostFetched);
    for (std::int64_t i = 0; i < count; ++i) {
      if (i + ahead < count) {
        fetch(row.table + (i + ahead) * row.table_step + offsets[i + ahead], fetched);
      }
      std::memcpy(to + i * row.slices_step, from + i * row.table_step + offsets[i], run);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, from += row.table_step, to += row.slices_step) {
    std::memcpy(to, from + offsets[i], run);
  }
}

template <std::int64_t kRun>
void scatter_runs(const RunRow& row, const std::int64_t* offsets, std::int64_t count) noexcept {
  const auto run = static_cast<std::size_t>(kRun == 0 ? row.run : kRun);
  std::byte* to = row.table;
  const std::byte* from = row.slices;
  for (std::int64_t i = 0; i < count; ++i, to += row.table_step, from += row.slices_step) {
    if (offsets[i] != kNowhere) {
      std::memcpy(to + offsets[i], from, run);
    }
  }
}

}  // namespace

ResolveItems find_resolve(DataType index_type, GatherKind kind) {
  const auto choose = [kind]<class Index>(Index) {
    return kind == GatherKind::gather ? resolve_nearest<Index> : resolve_places<Index>;
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
