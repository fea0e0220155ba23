// SPDX-License-Identifier: MIT
// Kernels that move a block of units, which are runs of bytes, by target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"

namespace anydml {

// columns x rows units of as many bytes as `unit` says. Strides are in bytes.
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
  rows,        // a unit is a row of many bytes: column and unit are one
  filled,      // the same of a constant: `from` is kPatternBytes of it over and over, and the unit is a row
  strided,     // any strides; rows that are contiguous or repeated are served well
  transposed,  // the source is contiguous along the rows, the destination along the columns
};
[[nodiscard]] const char* shape_name(MoveShape shape);

inline constexpr std::size_t kPatternBytes = 64;
// A run of so many bytes or more is a row.
inline constexpr std::int64_t kLeastRow = 64;
// The units that can be transposed.
[[nodiscard]] constexpr bool can_transpose(std::int64_t unit) {
  return unit == 1 || unit == 2 || unit == 4 || unit == 8;
}

[[nodiscard]] MoveKernel find_move_kernel(MoveShape shape, std::int64_t unit, cpu::Target target);

}  // namespace anydml
