// SPDX-License-Identifier: MIT
// The innermost loops of recurrent networks, by target. A tile has some rows of a panel's units, one row after another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/recurrent/step.h"

namespace anydml {

// Columns that loops take together: every panel that is made for vectors has a multiple of them.
inline constexpr std::int64_t kRecurrentColumns = 16;

struct TileSize {
  std::int64_t rows;
  std::int64_t panel;

  [[nodiscard]] std::int64_t count() const { return rows * panel; }
};

// Of all that is null, nothing takes part in the sum. peephole and bias: one number for each unit.
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

struct RecurrentKernels {
  // The products of one row with the panels of `gates` gates, which are gate_step elements apart: the totals of a gate
  // are totals_step elements after those of the previous gate. Null: not available.
  void (*multiply_row)(const f32* hidden, const f32* panels, std::int64_t gate_step, std::int64_t gates,
                       std::int64_t depth, f32* totals, std::int64_t totals_step) noexcept;
  // In place of the products with the hidden state.
  void (*add_gate)(const TileSize& size, const GateTerms& terms, f32* sums) noexcept;
  void (*add_reset)(const TileSize& size, const ResetTerms& terms, f32* sums) noexcept;
  void (*clip)(std::int64_t count, f32 threshold, f32* values) noexcept;
  // The next cells; forget: null where it is 1 less the input gate.
  void (*next_cells)(std::int64_t count, const f32* input, const f32* forget, const f32* candidate, const f32* cell,
                     f32* to) noexcept;
  void (*next_hiddens)(std::int64_t count, const f32* update, const f32* candidate, const f32* hidden,
                       f32* to) noexcept;
  void (*multiply)(std::int64_t count, const f32* factors, f32* values) noexcept;
  // FLOAT32 to the nearest FLOAT16, in FLOAT32.
  void (*round_halves)(std::int64_t count, f32* values) noexcept;
  // FLOAT32 to FLOAT16 and back, at any alignment.
  void (*narrow)(const f32* from, std::int64_t count, std::byte* to) noexcept;
  void (*widen)(const std::byte* from, std::int64_t count, f32* to) noexcept;
  // The two activations that nearly every network has.
  void (*sigmoid)(std::int64_t count, f32* values) noexcept;
  void (*tanh)(std::int64_t count, f32* values) noexcept;
};

// For an unknown machine.
[[nodiscard]] const RecurrentKernels& generic_recurrent_kernels();
// For panels of any width, which plans for devices that pack no weights have.
[[nodiscard]] const RecurrentKernels& plain_recurrent_kernels();
// Null: none for this target.
[[nodiscard]] const RecurrentKernels* vector_recurrent_kernels(cpu::Target target);

// Any activation, by its definition.
void activate(const RecurrentActivation& activation, std::int64_t count, f32* values) noexcept;

}  // namespace anydml
