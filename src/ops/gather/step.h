// SPDX-License-Identifier: MIT
// The parameters of the gather family's steps. The first member of each struct identifies the kind of step.
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
  std::int64_t number;  // the distance between target numbers; 0 if the loop does not change the target
};

struct GatherCoordinate {
  std::int64_t size;    // size of the table's dimension
  std::int64_t stride;  // stride in the table
  std::int64_t number;  // see GatherLoop
};

// Operands: the table, the indices, the slices. If several items of a scatter have the same target, the last one in
// row-major order of the indices wins. An item with an index out of range is skipped.
struct GatherStep {
  GatherKind kind;  // gather or scatter
  DataType index_type;
  std::uint32_t rank;
  std::uint32_t item_rank;         // scatter: number of leading loops over items; the remaining loops are over slices
  std::uint32_t coordinates;       // per item
  std::uint32_t element;           // bytes
  std::int64_t coordinate_stride;  // stride in the indices
  std::int64_t run;                // bytes that are contiguous in the table and in the slices, per iteration
  std::int64_t targets;            // number of targets; a target is a run, or all the runs of a slice
  GatherLoop loops[kMaxRank];      // outermost first; no loop has size 1
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
  std::int64_t axis_stride;  // stride of the axis in the output, in bytes
  std::int64_t on_offset;    // in bytes from the off value, which is at the address of the values
  OneHotLoop loops[kMaxRank];
};

// Operands: the input, the count, the coordinates, and 4 bytes of working memory for each block of the input.
inline constexpr std::int64_t kNonzeroBlock = 1 << 15;  // elements of the input
struct NonzeroStep {
  GatherKind kind;        // nonzero
  std::uint32_t element;  // bytes
  std::uint64_t mask;     // an element is nonzero if any of these bits is set
  std::uint32_t rank;     // all dimensions of the input, or one of size 1
  std::uint32_t columns;  // number of coordinates per row, one for each of the last dimensions
  std::int64_t count;     // number of elements; fits in 32 bits
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // in bytes
  std::int64_t row_stride;         // in bytes
  std::int64_t column_stride;

  [[nodiscard]] std::int64_t blocks() const { return (count + kNonzeroBlock - 1) / kNonzeroBlock; }
};

}  // namespace anydml
