// SPDX-License-Identifier: MIT
// The kernels of FOLD on the CPU, by target. A unit of work is a part of a row of the output: positions that follow one
// another along the last dimension.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/fold/step.h"

namespace anydml {

inline constexpr std::int64_t kFoldPositions = 2048;  // of a unit at most: its sums stay in the nearest cache
inline constexpr std::int64_t kFoldKnownRows = 32;    // positions of a window along the last dimension
// The sums of a unit, how they begin, and a row of the input that was widened: 8 bytes for each element.
inline constexpr std::size_t kFoldScratch = 3 * kFoldPositions * sizeof(std::uint64_t);

// Units [first, end), counted along the last dimension first.
using FoldRun = void (*)(const FoldStep& step, std::int64_t first, std::int64_t end, const std::byte* from,
                         std::byte* to, std::byte* scratch) noexcept;

[[nodiscard]] FoldRun find_fold_run(DataType type, cpu::Target target);
[[nodiscard]] FoldRun generic_fold_run(DataType type);  // for an unknown machine

}  // namespace anydml
