// SPDX-License-Identifier: MIT
// Rows that are normalised, compiled once for each target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/normalise/step.h"

namespace anydml {

// How a step is cut. Along: a unit is a row. Across: a unit is some neighbouring rows whose elements lie beside each
// other, which are columns in memory.
struct NormaliseCut {
  bool across;
  std::int64_t width;  // columns of a unit
  std::int64_t tiles;  // such units in the innermost kept loop
  std::int64_t units;
  std::int64_t units_of_piece;
  bool has_room;  // in scratch memory for all elements of a unit: of a row that is longer than a stage, or of a tile
};

inline constexpr std::int64_t kNormaliseStage =
    4096;  // elements of a buffer: a block of a sum, in the first-level cache
inline constexpr std::int64_t kNormalisePadding = 16;  // elements after a buffer that kernels may write
inline constexpr std::int64_t kMostColumns = 256;      // of a unit across
inline constexpr std::int64_t kMostLaneColumns = 64;   // of one with lanes
inline constexpr std::int64_t kFewElements = 16;       // of a row; then fewer lanes are used, and more columns
inline constexpr std::int64_t kLeastColumns = 16;      // that are worth a unit
inline constexpr std::int64_t kMostTreeColumns = 64;   // of one whose sums have more than one block

// The units [first, end). scratch: a stage, and another one or room for all elements of a unit, with padding each.
using NormaliseRun = void (*)(const NormaliseStep& step, const NormaliseCut& cut, std::int64_t first, std::int64_t end,
                              const std::byte* input, std::byte* output, f32* scratch) noexcept;

[[nodiscard]] NormaliseRun generic_normalise_run(const NormaliseStep& step, bool across);
// Null: no such target was compiled.
[[nodiscard]] NormaliseRun vector_normalise_run(cpu::Target target, const NormaliseStep& step, bool across);

}  // namespace anydml
