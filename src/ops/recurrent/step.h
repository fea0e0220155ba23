// SPDX-License-Identifier: MIT
// The parameters of recurrent network steps. A network consists of a product of the inputs of all time steps and the
// weights, which the product family computes, and one step that runs the time steps. A separate step packs the
// recurrence matrix, and runs once if the matrix is known in advance.
//
// The packed form: the units of each direction are split into panels. A panel contains its gates one after another, and
// a gate contains the factors of the panel's units for k = 0, then for k = 1, and so on. Missing units in the last
// panel are +0. If the device packs weights, a gate has a compact form too, which takes half the bytes: the scale, or 0
// if there is no such form, and after panel elements the factors divided by this scale, as BFLOAT16, two k in each
// word. Dequantized weights have such a form: all their factors are integers of at most 256, multiplied by the scale
// and rounded.
//
// If the recurrence matrix consists of 8-bit integers, the hidden states are rounded to 8 bits in each time step, and
// the products are exact sums of integers. A gate of a panel is then packed like the columns of an integer product
// (product/integer_step.h): in panels of the width that the kernels use, whose sums of columns follow. The hidden
// states are not packed into strips.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/element.h"
#include "ops/recurrent/scalar/recurrent.h"

namespace anydml {

enum class RecurrentKind : std::uint32_t { pack, rnn, lstm, gru };

// The gates are in the order of DirectML's weights.
inline constexpr std::uint32_t kLstmInput = 0;
inline constexpr std::uint32_t kLstmOutput = 1;
inline constexpr std::uint32_t kLstmForget = 2;
inline constexpr std::uint32_t kLstmCell = 3;
inline constexpr std::uint32_t kGruUpdate = 0;
inline constexpr std::uint32_t kGruReset = 1;
inline constexpr std::uint32_t kGruHidden = 2;
inline constexpr std::uint32_t kMaxGates = 4;
inline constexpr std::uint32_t kMaxActivations = 3;
inline constexpr std::uint32_t kMaxDirections = 2;

// The operands of the step that runs the time steps. The product of the inputs has the sizes {directions, steps, rows,
// gates * units} and is packed.
enum RecurrentOperand : std::size_t {
  kRecurrentProduct,
  kRecurrentPacked,
  kRecurrentBias,
  kRecurrentHiddenInit,
  kRecurrentCellInit,
  kRecurrentLengths,
  kRecurrentPeephole,
  kRecurrentSequence,
  kRecurrentSingle,
  kRecurrentCellSingle,
  kRecurrentMemory,
  kRecurrentScale,  // of the integers of the recurrence matrix
  kRecurrentZero,
  kRecurrentOperands
};

// The least width of a panel whose recurrence matrix consists of integers. All integer kernels of such a device have
// panels whose width divides that of a panel.
inline constexpr std::uint32_t kMinCodePanel = 16;

// The elements of the recurrence matrix.
enum class RecurrentCodes : std::uint32_t { none, unsigned_bytes, signed_bytes };

// Strides in bytes. If a tensor lacks a dimension, the stride of that dimension has no meaning.
struct RecurrentStrides {
  std::int64_t time;
  std::int64_t direction;
  std::int64_t row;
  std::int64_t unit;
};

struct RecurrentStep {
  RecurrentKind kind;
  std::uint32_t gates;
  std::uint32_t is_half;  // whether all tensors except the product and the packed matrix are FLOAT16 instead of FLOAT32
  std::uint32_t panel;    // units per panel
  std::uint32_t strip;    // rows per strip of hidden states, which kernels process together
  std::uint32_t directions;
  std::uint32_t backward;  // bit i is set if direction i runs from the last time step to the first
  std::uint32_t clips;
  f32 clip;
  std::uint32_t couples;              // LSTM: whether the forget gate is 1 minus the input gate
  std::uint32_t linear_before_reset;  // GRU
  RecurrentCodes codes;
  RecurrentActivation activations[kMaxDirections][kMaxActivations];
  std::int64_t steps;
  std::int64_t rows;  // batch size
  std::int64_t units;
  RecurrentStrides strides[kRecurrentOperands];  // pack: strides[0] describes the input, whose factors are along `time`

  [[nodiscard]] std::int64_t panels() const { return (units + panel - 1) / panel; }
  // The number of units in all panels, including missing units.
  [[nodiscard]] std::int64_t width() const { return panels() * panel; }
  // The elements of a gate of a panel in the packed form are this many times `panel`.
  [[nodiscard]] std::int64_t packed_rows() const { return strip > 1 ? units + 1 + (units + 1) / 2 : units; }
  // A GRU that multiplies the hidden state after the reset needs two consecutive products.
  [[nodiscard]] bool has_two_products() const { return kind == RecurrentKind::gru && linear_before_reset == 0; }
  [[nodiscard]] std::uint32_t biases() const { return kind == RecurrentKind::gru ? gates + 1 : gates; }
};

// The memory that one direction keeps between its time steps, as offsets in FLOAT32 elements. Tiles contain the rows of
// a panel's units, one panel after another.
struct RecurrentMemory {
  std::int64_t hidden[2];  // strips of hidden states for the previous and the next time step
  std::int64_t reset;      // strips of the hidden states after a reset gate
  std::int64_t state;      // tiles of the hidden state
  std::int64_t cell;       // tiles
  std::int64_t update;     // tiles of an update gate
  std::int64_t biases;     // {biases(), width()}; the last bias of a GRU is the recurrence bias
  std::int64_t peepholes;  // {3, width()}
  std::int64_t scales;     // of integers: {gates, width()}
  std::int64_t zeros;      // likewise, as UINT32
  std::int64_t elements;   // per direction
};

[[nodiscard]] inline RecurrentMemory memory_of(const RecurrentStep& step) {
  constexpr std::int64_t kOfLine = 16;
  RecurrentMemory memory{};
  const auto take = [&](bool is_wanted, std::int64_t count) {
    const std::int64_t at = memory.elements;
    memory.elements += is_wanted ? (count + kOfLine - 1) / kOfLine * kOfLine : 0;
    return at;
  };
  const std::int64_t strips = step.rows * step.units;
  const std::int64_t tiles = step.rows * step.width();
  memory.hidden[0] = take(true, strips);
  memory.hidden[1] = take(true, strips);
  memory.reset = take(step.has_two_products(), strips);
  memory.state = take(true, tiles);
  memory.cell = take(step.kind == RecurrentKind::lstm, tiles);
  memory.update = take(step.has_two_products(), tiles);
  memory.biases = take(true, step.biases() * step.width());
  memory.peepholes = take(step.kind == RecurrentKind::lstm, 3 * step.width());
  memory.scales = take(step.codes != RecurrentCodes::none, step.gates * step.width());
  memory.zeros = take(step.codes != RecurrentCodes::none, step.gates * step.width());
  return memory;
}

}  // namespace anydml
