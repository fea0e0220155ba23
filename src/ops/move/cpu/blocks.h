// SPDX-License-Identifier: MIT
// Per-target kernels that move a block of units; a unit is a run of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"

namespace anydml {

// columns x rows units of `unit` bytes each. Strides are in bytes.
struct MoveBlock {
  const std::byte* from;
  std::byte* to;
  std::int64_t unit;
  std::int64_t columns;
  std::int64_t from_column;
  std::int64_t to_column;
  std::int64_t rows;
  std::int64_t from_row;
  std::int64_t to_row;
};
using MoveKernel = void (*)(const MoveBlock& block) noexcept;

enum class MoveShape : std::uint8_t {
  rows,        // each row is one run of `columns` bytes
  filled,      // rows of a constant; `from` is a buffer of kPatternBytes that repeats it
  strided,     // any strides; contiguous and repeated rows are fast
  transposed,  // the source is contiguous along the rows, the destination along the columns
};
[[nodiscard]] const char* shape_name(MoveShape shape);

inline constexpr std::size_t kPatternBytes = 64;
// A run of at least this many bytes is treated as a row.
inline constexpr std::int64_t kMinRow = 64;
// Whether a kernel can transpose units of this size.
[[nodiscard]] constexpr bool can_transpose(std::int64_t unit) {
  return unit == 1 || unit == 2 || unit == 4 || unit == 8;
}

[[nodiscard]] MoveKernel find_move_kernel(MoveShape shape, std::int64_t unit, cpu::Target target);

}  // namespace anydml
