// SPDX-License-Identifier: MIT
// Moves items that consist of one element and have one index each, without storing their offsets first.
#include <algorithm>
#include <cstring>

#include "ops/gather/cpu/rows.h"
#include "ops/gather/scalar/index.h"

namespace anydml {
namespace {

// kPacked: indices and slices are contiguous.
template <class Index, class Unit, GatherKind kKind, bool kPacked>
void move_row(const IndexRow& indices, const RunRow& row, std::int64_t count) {
  const std::int64_t size = indices.table[0].size;
  const std::int64_t stride = indices.table[0].stride;
  const std::int64_t first = indices.first_number;
  const auto width = static_cast<std::uint64_t>(indices.end_number - first);
  const std::int64_t index_step = kPacked ? static_cast<std::int64_t>(sizeof(Index)) : indices.step;
  const std::int64_t slices_step = kPacked ? static_cast<std::int64_t>(sizeof(Unit)) : row.slices_step;
  std::byte* table = row.table;
  for (std::int64_t i = 0; i < count; ++i, table += row.table_step) {
    Index index;
    std::memcpy(&index, indices.first + i * index_step, sizeof(index));
    if constexpr (kKind == GatherKind::gather) {
      std::memcpy(row.slices + i * slices_step, table + nearest_index(index, size) * stride, sizeof(Unit));
    } else {
      const std::int64_t resolved = resolve_index(index, size);
      if (static_cast<std::uint64_t>(resolved - first) < width) {  // also skips -1, since `first` is never negative
        std::memcpy(table + resolved * stride, row.slices + i * slices_step, sizeof(Unit));
      }
    }
  }
}

template <class Index, class Unit, GatherKind kKind>
void move_elements(const IndexRow& indices, const RunRow& row, std::int64_t count) noexcept {
  if (indices.step == static_cast<std::int64_t>(sizeof(Index)) &&
      row.slices_step == static_cast<std::int64_t>(sizeof(Unit))) {
    move_row<Index, Unit, kKind, true>(indices, row, count);
  } else {
    move_row<Index, Unit, kKind, false>(indices, row, count);
  }
}

template <class Index, GatherKind kKind>
MoveElements find_of(std::int64_t run) {
  switch (run) {
    case 1:
      return move_elements<Index, u8, kKind>;
    case 2:
      return move_elements<Index, u16, kKind>;
    case 4:
      return move_elements<Index, u32, kKind>;
    case 8:
      return move_elements<Index, u64, kKind>;
    default:
      return nullptr;
  }
}

template <GatherKind kKind>
MoveElements find(const GatherStep& step) {
  switch (step.index_type) {
    case DataType::UINT32:
      return find_of<u32, kKind>(step.run);
    case DataType::INT32:
      return find_of<i32, kKind>(step.run);
    case DataType::UINT64:
      return find_of<u64, kKind>(step.run);
    default:
      return find_of<i64, kKind>(step.run);
  }
}

}  // namespace

MoveElements find_move_elements(const GatherStep& step) {
  if (step.coordinates != 1) {
    return nullptr;
  }
  return step.kind == GatherKind::gather ? find<GatherKind::gather>(step) : find<GatherKind::scatter>(step);
}

}  // namespace anydml
