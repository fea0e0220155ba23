// SPDX-License-Identifier: MIT
// The inner loops of recurrent networks for each target. A tile contains some rows of a panel's units, one row after
// another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/recurrent/step.h"

namespace anydml {

// The number of columns that loops process together. The panel width of vector kernels is a multiple of this number.
inline constexpr std::int64_t kRecurrentColumns = 16;

struct TileSize {
  std::int64_t rows;
  std::int64_t panel;

  [[nodiscard]] std::int64_t count() const { return rows * panel; }
};

// Terms whose pointers are null are left out of the sum. peephole and bias: one number for each unit.
struct GateTerms {
  const f32* x;
  const f32* peephole;
  const f32* cell;
  const f32* bias;
};
struct ResetTerms {
  const f32* x;
  const f32* reset;
  const f32* wb;
  const f32* rb;
};

// The sums of products of the codes of a row and those of some units, for consecutive gates. They become FLOAT32 after
// a correction for the zero points, as in IntegerRow (product/cpu/integer_kernels.h). The members for the first gate
// are followed by those for the others, `step` elements apart.
struct CodedTotals {
  const u32* totals;
  std::int64_t totals_step;
  const std::byte* column_sums;   // UINT32
  std::int64_t column_sums_step;  // in bytes
  const f32* scales;
  const u32* zeros;
  std::int64_t step;  // of scales and zeros
  f32 scale;          // of the row
  u32 zero;
  u32 rest;
  std::int64_t gates;
  std::int64_t units;
  f32* to;
  std::int64_t to_step;
};

struct RecurrentKernels {
  // Multiplies one row by the panels of `gates` gates, which are gate_step elements apart, in the compact form if all
  // of them have it. The totals of a gate are totals_step elements after those of the previous gate. Null if not
  // available.
  void (*multiply_row)(const f32* hidden, const f32* panels, std::int64_t gate_step, std::int64_t gates,
                       std::int64_t depth, f32* totals, std::int64_t totals_step) noexcept;
  // Replaces the products in `sums`, which were computed from the hidden state, with the sums of all terms.
  void (*add_gate)(const TileSize& size, const GateTerms& terms, f32* sums) noexcept;
  void (*add_reset)(const TileSize& size, const ResetTerms& terms, f32* sums) noexcept;
  void (*clip)(std::int64_t count, f32 threshold, f32* values) noexcept;
  // Computes the next cells. forget: null if the forget gate is 1 minus the input gate.
  void (*next_cells)(std::int64_t count, const f32* input, const f32* forget, const f32* candidate, const f32* cell,
                     f32* to) noexcept;
  void (*next_hiddens)(std::int64_t count, const f32* update, const f32* candidate, const f32* hidden,
                       f32* to) noexcept;
  void (*multiply)(std::int64_t count, const f32* factors, f32* values) noexcept;
  // Rounds each FLOAT32 value to the nearest value that FLOAT16 can represent.
  void (*round_halves)(std::int64_t count, f32* values) noexcept;
  // Convert FLOAT32 to FLOAT16 and back, at any alignment.
  void (*narrow)(const f32* from, std::int64_t count, std::byte* to) noexcept;
  void (*widen)(const std::byte* from, std::int64_t count, f32* to) noexcept;
  // The smallest and the largest element of a row of hidden states; both are NaN if an element is.
  void (*find_range)(std::int64_t count, const f32* values, f32& lowest, f32& highest) noexcept;
  // Computes the codes of a row, and returns their sum.
  u32 (*quantize)(std::int64_t count, const f32* values, const StateScale& scale, u8* codes) noexcept;
  void (*finish_codes)(const CodedTotals& totals) noexcept;
  // The two activations that nearly every network uses.
  void (*sigmoid)(std::int64_t count, f32* values) noexcept;
  void (*tanh)(std::int64_t count, f32* values) noexcept;
};

// Portable kernels for machines without a vector target.
[[nodiscard]] const RecurrentKernels& generic_recurrent_kernels();
// Kernels for panels of any width, which occur in plans for devices that do not pack weights.
[[nodiscard]] const RecurrentKernels& plain_recurrent_kernels();
// Returns null if this target has no vector kernels.
[[nodiscard]] const RecurrentKernels* vector_recurrent_kernels(cpu::Target target);

// Applies any activation directly from its definition.
void activate(const RecurrentActivation& activation, std::int64_t count, f32* values) noexcept;

}  // namespace anydml
