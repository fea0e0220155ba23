// SPDX-License-Identifier: MIT
// Kernels that pool windows on the CPU, one output row at a time (compiled once for each target) or element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/family.h"
#include "backend/cpu/target.h"
#include "ops/pool/step.h"

namespace anydml {

// How a step is split. A unit is a row of the output, or a tile of some of its columns. The rows of a tile are
// processed in sequence, because they share rows of the input.
//
// A column is one element or, if channels are adjacent in memory, one element of each channel. It has `inner` elements.
//
// A row of the input is converted to a form that includes padding elements: `span` columns. With a stride it is split
// into phases, the columns with the same remainder modulo the stride, so that a tap reads adjacent elements for
// adjacent outputs: element j of a phase is column j * stride + rest.
struct PoolCut {
  std::int64_t inner;
  std::int64_t planes;  // rows of different planes share nothing
  std::int64_t rows;    // per output plane
  std::int64_t tile;    // in columns
  std::int64_t tiles;
  std::int64_t units;
  std::int64_t units_of_piece;
  std::int64_t span;
  std::int64_t kept_rows;             // input rows kept for each row of a window; may be 0
  std::int64_t window_rows;           // rows of a window, over all axes but the last
  std::int64_t phase;                 // elements of a phase, including elements after its end that a vector may read
  std::int64_t ready_length;          // elements of a row that taps read
  std::vector<std::int64_t> rests;    // remainders of the required phases
  std::vector<std::int64_t> taps_at;  // the start of each tap of the last axis in that row
  // Regions of the scratch memory, in bytes.
  std::int64_t held;      // kept input rows
  std::int64_t folded;    // an input row, or the combined rows of a window
  std::int64_t ready;     // the same row with padding, split into phases
  std::int64_t totals;    // a row of the output
  std::int64_t divisors;  // one per column
  std::int64_t gathered;  // strided elements of a tensor
  std::int64_t numbers;   // taps from which indices are computed
  std::int64_t tags;      // the numbers of the kept rows
  std::int64_t results;   // elements for a joined step
  std::int64_t bytes;
};

inline constexpr std::int64_t kPoolSlack = 64;      // elements after a buffer that vectors may access
inline constexpr std::int64_t kPoolResults = 2048;  // elements passed to a joined step at a time if rows are shorter
inline constexpr std::uint64_t kMaxTaps = 64;       // maximum number of taps processed at a time

struct PoolAddresses {
  const std::byte* input;
  std::byte* output;   // null if a joined step consumes the elements
  std::byte* indices;  // null if absent
  const cpu::Neighbor* after;
  std::byte* const* operands;
};

// Runs units [first, end).
using PoolRun = void (*)(const PoolStep& step, const PoolCut& cut, std::int64_t first, std::int64_t end,
                         const PoolAddresses& at, std::byte* scratch) noexcept;

[[nodiscard]] PoolRun generic_pool_run(const PoolStep& step);
// Null if this target was not compiled.
[[nodiscard]] PoolRun vector_pool_run(cpu::Target target, const PoolStep& step);

// Computes the outputs [first, end), counted in row-major order, directly from the definition. Supports any window and
// ignores the cut.
[[nodiscard]] PoolRun element_pool_run(const PoolStep& step);

// Prepares a MAX_UNPOOLING step.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_unpooling(const UnpoolStep& step);

// Prepares a step for the gradient of max pooling.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_max_gradient(const PoolStep& step, std::int64_t threads);

}  // namespace anydml
