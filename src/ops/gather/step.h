// SPDX-License-Identifier: MIT
// The parameters of the family's steps. The first member of each identifies it.
//
// A gather reads a table at indices and writes slices; a scatter reads slices and writes a table. Both are loops over
// the dimensions of the slices. The coordinates of an item are consecutive indices.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/tensor.h"

namespace anydml {

enum class GatherKind : std::uint32_t { gather, scatter, one_hot, nonzero };

// Strides are in bytes.
struct GatherLoop {
  std::int64_t size;
  std::int64_t table;
  std::int64_t indices;
  std::int64_t slices;
  std::int64_t number;  // the distance between numbers of places; 0: the loop stays at one place
};

struct GatherCoordinate {
  std::int64_t size;    // of the dimension of the table
  std::int64_t stride;  // of the table
  std::int64_t number;  // as above
};

// Operands: the table, the indices, the slices. If several items of a scatter have the same target, the last one in
// row-major order of the indices wins. An item with an index out of range is skipped.
struct GatherStep {
  GatherKind kind;  // gather or scatter
  DataType index_type;
  std::uint32_t rank;
  std::uint32_t item_rank;  // of a scatter: the number of leading loops that are over items; the others are over slices
  std::uint32_t coordinates;       // of an item
  std::uint32_t element;           // bytes
  std::int64_t coordinate_stride;  // of the indices
  std::int64_t run;                // bytes that are contiguous in the table and in the slices, for each iteration
  std::int64_t places;             // their number; a place is a run, or all the runs of a slice
  GatherLoop loops[kMaxRank];      // outermost first; none is of size 1
  GatherCoordinate table[kMaxRank];

  [[nodiscard]] std::int64_t iterations(std::uint32_t of_rank) const {
    std::int64_t all = 1;
    for (std::uint32_t i = 0; i < of_rank; ++i) {
      all *= loops[i].size;
    }
    return all;
  }
};

struct OneHotLoop {
  std::int64_t size;
  std::int64_t indices;  // strides in bytes
  std::int64_t output;
};

// Operands: the indices, the values, the output.
struct OneHotStep {
  GatherKind kind;  // one_hot
  DataType index_type;
  std::uint32_t rank;
  std::uint32_t element;     // bytes
  std::int64_t depth;        // the size of the axis
  std::int64_t axis_stride;  // of the output, in bytes
  std::int64_t on_offset;    // in bytes, from the address of the values; the off value is there
  OneHotLoop loops[kMaxRank];
};

// Operands: the input, the count, the coordinates, and 4 bytes of working memory for each block of the input.
inline constexpr std::int64_t kNonzeroBlock = 1 << 15;  // elements of the input
struct NonzeroStep {
  GatherKind kind;        // nonzero
  std::uint32_t element;  // bytes
  std::uint64_t mask;     // the bits of an element of which at least one is set if it counts
  std::uint32_t rank;     // of the input: all its dimensions, or one of size 1
  std::uint32_t columns;  // of the coordinates, which belong to the last dimensions
  std::int64_t count;     // of elements; it fits into 32 bits
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // in bytes
  std::int64_t row_stride;         // of the coordinates, in bytes
  std::int64_t column_stride;

  [[nodiscard]] std::int64_t blocks() const { return (count + kNonzeroBlock - 1) / kNonzeroBlock; }
};

}  // namespace anydml
