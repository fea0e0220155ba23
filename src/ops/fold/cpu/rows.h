// SPDX-License-Identifier: MIT
// The FOLD kernels for each CPU target. A unit of work is a part of an output row: consecutive positions along the last
// dimension.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/fold/step.h"

namespace anydml {

inline constexpr std::int64_t kFoldPositions = 2048;  // maximum per unit; its sums stay in the L1 cache
inline constexpr std::int64_t kFoldKnownRows = 32;    // maximum number of rows that FoldUnit keeps
// The sums of a unit, their initial values, and a widened row of the input: 8 bytes per element.
inline constexpr std::size_t kFoldScratch = 3 * kFoldPositions * sizeof(std::uint64_t);

// Runs units [first, end), numbered along the last dimension first.
using FoldRun = void (*)(const FoldStep& step, std::int64_t first, std::int64_t end, const std::byte* from,
                         std::byte* to, std::byte* scratch) noexcept;

[[nodiscard]] FoldRun find_fold_run(DataType type, cpu::Target target);
[[nodiscard]] FoldRun generic_fold_run(DataType type);  // portable

}  // namespace anydml
