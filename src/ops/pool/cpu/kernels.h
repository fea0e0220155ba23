// SPDX-License-Identifier: MIT
// Windows pooled on the CPU, a row of the output at a time, compiled once for each target; and element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/family.h"
#include "backend/cpu/target.h"
#include "ops/pool/step.h"

namespace anydml {

// How a step is cut. A unit is a row of the output, or a tile of some of its columns. The rows of a tile follow one
// another, because they share rows of the input.
//
// A column is one element, or, where channels lie beside each other, one element of each channel: `inner` of them.
//
// A row of the input is brought into a form that includes the elements of padding: `span` columns. With a stride it is
// split into phases, the columns with the same remainder modulo the stride, so that a tap of neighbouring outputs reads
// neighbouring elements: element j of a phase is column j * stride + rest.
struct PoolCut {
  std::int64_t inner;
  std::int64_t planes;  // whose rows have nothing in common
  std::int64_t rows;    // of an output plane
  std::int64_t tile;    // columns
  std::int64_t tiles;
  std::int64_t units;
  std::int64_t units_of_piece;
  std::int64_t span;
  std::int64_t kept_rows;             // rows of the input that are held for each row of a window; 0: none is held
  std::int64_t window_rows;           // of a window, over all axes but the last
  std::int64_t phase;                 // elements of a phase, with the elements behind it that a vector may read
  std::int64_t ready_length;          // elements of a row that taps read
  std::vector<std::int64_t> rests;    // of the phases that are needed
  std::vector<std::int64_t> taps_at;  // where each tap of the last axis begins in such a row
  // Regions of the scratch memory, in bytes.
  std::int64_t held;      // rows of the input
  std::int64_t folded;    // a row of the input, or the combined rows of a window
  std::int64_t ready;     // the same, ready for taps
  std::int64_t totals;    // a row of the output
  std::int64_t divisors;  // for each column
  std::int64_t gathered;  // elements that lie apart in a tensor
  std::int64_t numbers;   // of the taps that indices come from
  std::int64_t tags;      // the numbers of the rows that are held
  std::int64_t made;      // elements for a neighbour
  std::int64_t bytes;
};

inline constexpr std::int64_t kPoolSlack = 64;   // elements after a buffer that vectors may touch
inline constexpr std::int64_t kPoolMade = 2048;  // elements that a neighbour gets at a time, if rows are shorter
inline constexpr std::uint64_t kMostTaps = 64;   // that are taken at a time

struct PoolAddresses {
  const std::byte* input;
  std::byte* output;   // null: the elements go to a neighbour
  std::byte* indices;  // null: absent
  const cpu::Neighbour* after;
  std::byte* const* operands;
};

// The units [first, end).
using PoolRun = void (*)(const PoolStep& step, const PoolCut& cut, std::int64_t first, std::int64_t end,
                         const PoolAddresses& at, std::byte* scratch) noexcept;

[[nodiscard]] PoolRun generic_pool_run(const PoolStep& step);
// Null: no such target was compiled.
[[nodiscard]] PoolRun vector_pool_run(cpu::Target target, const PoolStep& step);

// The outputs [first, end), counted in row-major order: the definition, for any window. The cut is ignored.
[[nodiscard]] PoolRun element_pool_run(const PoolStep& step);

// A step of MAX_UNPOOLING.
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_unpooling(const UnpoolStep& step);

// A step of the gradient of the greatest.
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_max_gradient(const PoolStep& step, std::int64_t threads);

}  // namespace anydml
