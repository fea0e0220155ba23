// SPDX-License-Identifier: MIT
// The kernels that normalize rows, compiled once for each target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/normalize/step.h"

namespace anydml {

// The division of a step into units. Along: a unit is one row. Across: a unit is several rows with adjacent elements,
// which are columns in memory.
struct NormalizeCut {
  bool across;
  std::int64_t width;  // columns per unit
  std::int64_t tiles;  // units in the innermost kept loop
  std::int64_t units;
  std::int64_t units_of_piece;
  bool has_room;  // whether all elements of a unit (a row longer than a stage, or a tile) fit into scratch memory
};

inline constexpr std::int64_t kNormalizeStage = 4096;  // elements of a buffer: one block of a sum; fits in the L1 cache
inline constexpr std::int64_t kNormalizePadding = 16;  // elements after a buffer that kernels may overwrite
inline constexpr std::int64_t kMaxColumns = 256;       // across: maximum per unit
inline constexpr std::int64_t kMaxLaneColumns = 64;    // maximum per unit if sums have lanes
inline constexpr std::int64_t kFewElements = 16;       // rows this short use fewer lanes and more columns
inline constexpr std::int64_t kMinColumns = 16;        // fewer columns are not worth a unit
inline constexpr std::int64_t kMaxTreeColumns = 64;    // maximum per unit if sums have more than one block

// Runs units [first, end). scratch: a stage, followed by a second stage or by space for all elements of a unit, each
// with padding.
using NormalizeRun = void (*)(const NormalizeStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
                              const std::byte* input, std::byte* output, f32* scratch) noexcept;

[[nodiscard]] NormalizeRun generic_normalize_run(const NormalizeStep& step, bool across);
// Null if this target was not compiled.
[[nodiscard]] NormalizeRun vector_normalize_run(cpu::Target target, const NormalizeStep& step, bool across);

}  // namespace anydml
