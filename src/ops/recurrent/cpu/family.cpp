// SPDX-License-Identifier: MIT
// Recurrent networks on the CPU. A time step has one phase, or two phases for a GRU that multiplies after the reset. A
// tile consists of some rows of one panel of units, in one direction. Its products with the hidden state, its gates and
// its new state are computed together. Therefore a phase needs only one thing from other tiles: the hidden state of the
// previous phase. A piece is a sequence of tiles.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/element.h"
#include "base/float_bits.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/tile.h"
#include "ops/recurrent/cpu/codes.h"
#include "ops/recurrent/cpu/cut.h"
#include "ops/recurrent/cpu/kernels.h"
#include "ops/recurrent/cpu/pack.h"
#include "ops/recurrent/step.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
class RecurrentRun final : public cpu::PreparedStep {
 public:
  // `products` is null to compute products directly from their definition.
  RecurrentRun(const RecurrentStep& step, const RecurrentCut& cut, const cpu::StepContext& context,
               const ProductKernels* products, const RecurrentKernels& kernels)
      : PreparedStep(static_cast<std::uint64_t>(cut.pieces), cut.is_alone ? 1 : phases_of(step),
                     buffer_bytes(step, cut) + coded_bytes(step, cut, context, kernels)),
        step_(step),
        cut_(cut),
        memory_(memory_of(step)),
        products_(products),
        kernels_(kernels),
        target_(context.target) {
    if (step.codes != RecurrentCodes::none) {
      coded_.emplace(step, context.target, kernels, cut.rows);
    }
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    if (!cut_.is_alone) {
      run_tiles(cut_.tiles * number / cut_.pieces, cut_.tiles * (number + 1) / cut_.pieces, piece, operands);
      return;
    }
    // Only the matrix of one direction has to stay in a cache.
    for (std::int64_t tile = 0; tile < cut_.tiles; tile += step_.panels()) {
      for (std::uint32_t phase = 0; phase < phases_of(step_); ++phase) {
        run_tiles(tile, tile + step_.panels(), {.number = 0, .phase = phase, .scratch = piece.scratch}, operands);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%lld time steps, tiles of %lld x %u, %s kernel", static_cast<long long>(step_.steps),
                  static_cast<long long>(cut_.rows), step_.panel,
                  cpu::target_name(products_ != nullptr ? target_ : cpu::Target::generic));
  }

 private:
  static std::uint32_t phases_of(const RecurrentStep& step) {
    return static_cast<std::uint32_t>(1 + step.steps * (step.has_two_products() ? 2 : 1));
  }

  void run_tiles(std::int64_t begin_tile, std::int64_t end_tile, const cpu::Piece& piece,
                 std::byte* const* operands) const noexcept {
    // Reverse the order of the tiles at every other time step, because the factors that were read last are still
    // cached.
    const bool is_forwards = time_of_phase(piece.phase) % 2 == 0;
    std::int64_t of_codes = -1;  // the number of the rows whose codes are in the scratch memory
    for (std::int64_t i = begin_tile; i < end_tile; ++i) {
      const std::int64_t tile_number = is_forwards ? i : begin_tile + end_tile - 1 - i;
      const Tile tile = tile_of(tile_number, operands, piece);
      if (const std::int64_t rows = tile_number / step_.panels(); coded_ && piece.phase != 0 && rows != of_codes) {
        coded_->quantize(hidden(tile) + tile.row * step_.units, tile.size.rows, tile.codes);
        of_codes = rows;
      }
      if (piece.phase == 0) {
        begin(tile);
      } else if (step_.kind == RecurrentKind::rnn) {
        run_rnn(tile);
      } else if (step_.kind == RecurrentKind::lstm) {
        run_lstm(tile);
      } else if (step_.has_two_products()) {
        tile.is_second ? run_gru_hidden(tile) : run_gru_reset(tile);
      } else {
        run_gru(tile);
      }
    }
  }

  static constexpr std::int64_t kBuffers = 2 * kMaxGates + 1;  // in tiles: sums and inputs of all gates, a new state
  static std::size_t buffer_bytes(const RecurrentStep& step, const RecurrentCut& cut) {
    return static_cast<std::size_t>(ceil_div(kBuffers * cut.rows * step.panel * kBytes, std::int64_t{64}) * 64);
  }
  static std::size_t coded_bytes(const RecurrentStep& step, const RecurrentCut& cut, const cpu::StepContext& context,
                                 const RecurrentKernels& kernels) {
    return step.codes == RecurrentCodes::none ? 0
                                              : CodedStates(step, context.target, kernels, cut.rows).scratch_bytes();
  }

  struct Tile {
    std::byte* const* operands;
    f32* memory;  // memory of the tile's direction
    f32* scratch;
    std::byte* codes;  // scratch memory for the codes of the rows
    std::int64_t direction;
    std::int64_t row;  // the first row
    std::int64_t panel;
    std::int64_t columns;  // columns of the panel that are units
    std::int64_t step;     // number of earlier time steps
    TileSize size;
    bool is_second;  // second phase of a time step

    // The offset of this tile among all tiles of a state.
    [[nodiscard]] std::int64_t at(std::int64_t all_rows) const { return (panel * all_rows + row) * size.panel; }
    [[nodiscard]] f32* sums(std::int64_t gate) const { return scratch + gate * size.count(); }
    [[nodiscard]] f32* inputs(std::int64_t gate) const { return sums(kMaxGates + gate); }
    [[nodiscard]] f32* new_state() const { return sums(2 * kMaxGates); }
  };

  [[nodiscard]] Tile tile_of(std::int64_t number, std::byte* const* operands, const cpu::Piece& piece) const {
    const std::int64_t panels = step_.panels();
    Tile tile{};
    tile.operands = operands;
    tile.direction = number / (cut_.down * panels);
    tile.memory = reinterpret_cast<f32*>(operands[kRecurrentMemory]) + tile.direction * memory_.elements;
    tile.scratch = reinterpret_cast<f32*>(piece.scratch);
    tile.codes = piece.scratch + buffer_bytes(step_, cut_);
    tile.row = number / panels % cut_.down * cut_.rows;
    tile.panel = number % panels;
    tile.size = {.rows = std::min(cut_.rows, step_.rows - tile.row), .panel = step_.panel};
    tile.columns = std::min(tile.size.panel, step_.units - tile.panel * tile.size.panel);
    tile.step = time_of_phase(piece.phase);
    tile.is_second = step_.has_two_products() && piece.phase % 2 == 0;
    return tile;
  }

  // Phase 0 comes before the first time step.
  [[nodiscard]] std::int64_t time_of_phase(std::uint32_t phase) const {
    return (std::int64_t{phase} - 1) / (step_.has_two_products() ? 2 : 1);
  }

  // ---- Tensors ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::byte* address_of(const Tile& tile, RecurrentOperand operand, std::int64_t time, std::int64_t row,
                                      std::int64_t unit) const {
    const RecurrentStrides& strides = step_.strides[operand];
    return tile.operands[operand] + time * strides.time + tile.direction * strides.direction + row * strides.row +
           unit * strides.unit;
  }

  // Loads elements of a tensor that are `stride` bytes apart, as FLOAT32.
  void load(const std::byte* from, std::int64_t stride, std::int64_t count, f32* to) const {
    if (step_.is_half != 0) {
      constexpr auto kHalf = static_cast<std::int64_t>(sizeof(f16));
      if (stride == kHalf) {
        kernels_.widen(from, count, to);
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        f16 half;
        std::memcpy(&half, from + i * stride, sizeof(half));
        to[i] = widen(half);
      }
      return;
    }
    if (stride == kBytes) {
      std::memcpy(to, from, static_cast<std::size_t>(count * kBytes));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i, from + i * stride, sizeof(f32));
    }
  }

  void store(const f32* from, std::int64_t count, std::int64_t stride, std::byte* to) const {
    if (step_.is_half != 0) {
      constexpr auto kHalf = static_cast<std::int64_t>(sizeof(f16));
      if (stride == kHalf) {
        kernels_.narrow(from, count, to);
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const f16 half = narrow<f16>(from[i]);
        std::memcpy(to + i * stride, &half, sizeof(half));
      }
      return;
    }
    if (stride == kBytes) {
      std::memcpy(to, from, static_cast<std::size_t>(count * kBytes));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * stride, from + i, sizeof(f32));
    }
  }

  [[nodiscard]] bool has(const Tile& tile, RecurrentOperand operand) const { return tile.operands[operand] != nullptr; }

  // The number of time steps of a row.
  [[nodiscard]] std::int64_t length_of(const Tile& tile, std::int64_t row) const {
    if (!has(tile, kRecurrentLengths)) {
      return step_.steps;
    }
    u32 length;
    std::memcpy(&length, tile.operands[kRecurrentLengths] + row * step_.strides[kRecurrentLengths].row, sizeof(length));
    return std::min<std::int64_t>(length, step_.steps);
  }
  // The index of a row's current time step. If the index is not below the row's length, the row has no time steps left.
  [[nodiscard]] std::int64_t time_of(const Tile& tile, std::int64_t row) const {
    const std::int64_t length = length_of(tile, row);
    return tile.step < length && (step_.backward >> tile.direction & 1) != 0 ? length - 1 - tile.step : tile.step;
  }
  [[nodiscard]] bool is_active(const Tile& tile, std::int64_t row) const { return tile.step < length_of(tile, row); }
  [[nodiscard]] bool has_active_rows(const Tile& tile) const {
    for (std::int64_t i = 0; i < tile.size.rows; ++i) {
      if (is_active(tile, tile.row + i)) {
        return true;
      }
    }
    return false;
  }

  // ---- The state before the first time step -------------------------------------------------------------------------

  void load_state(const Tile& tile, RecurrentOperand operand, f32* to) const {
    std::fill(to, to + tile.size.count(), 0.0F);
    for (std::int64_t i = 0; has(tile, operand) && i < tile.size.rows; ++i) {
      load(address_of(tile, operand, 0, tile.row + i, tile.panel * tile.size.panel), step_.strides[operand].unit,
           tile.columns, to + i * tile.size.panel);
    }
  }

  // Loads one number for each unit of the panel, for this gate, from a tensor that contains all gates in one row.
  void load_gate(const Tile& tile, RecurrentOperand operand, std::int64_t gate, f32* to) const {
    std::fill(to, to + tile.size.panel, 0.0F);
    load(address_of(tile, operand, 0, 0, gate * step_.units + tile.panel * tile.size.panel),
         step_.strides[operand].unit, tile.columns, to);
  }

  void begin(const Tile& tile) const {
    f32* const state = tile.memory + memory_.state + tile.at(step_.rows);
    load_state(tile, kRecurrentHiddenInit, state);
    hand_on(tile, state, tile.memory + memory_.hidden[0]);
    if (step_.kind == RecurrentKind::lstm) {
      load_state(tile, kRecurrentCellInit, tile.memory + memory_.cell + tile.at(step_.rows));
    }
    if (step_.steps == 0) {
      end(tile);
    }
    if (tile.row != 0) {
      return;
    }
    const std::int64_t unit = tile.panel * tile.size.panel;
    for (std::int64_t i = 0; has(tile, kRecurrentBias) && i < step_.gates; ++i) {
      f32* const bias = tile.memory + memory_.biases + i * step_.width() + unit;
      f32* const other = tile.memory + memory_.biases + step_.gates * step_.width() + unit;
      f32* const of_recurrence = step_.kind == RecurrentKind::gru ? other : tile.scratch;
      load_gate(tile, kRecurrentBias, i, bias);
      load_gate(tile, kRecurrentBias, step_.gates + i, of_recurrence);
      if (step_.kind == RecurrentKind::gru && step_.linear_before_reset != 0 && i == kGruHidden) {
        continue;  // the two biases are added separately
      }
      for (std::int64_t k = 0; k < tile.size.panel; ++k) {
        bias[k] = bias[k] + of_recurrence[k];
      }
    }
    for (std::int64_t i = 0; has(tile, kRecurrentPeephole) && i < 3; ++i) {
      load_gate(tile, kRecurrentPeephole, i, tile.memory + memory_.peepholes + i * step_.width() + unit);
    }
    for (std::int64_t i = 0; coded_ && i < step_.gates; ++i) {
      const std::int64_t at = i * step_.width() + unit;
      load_gate(tile, kRecurrentScale, i, tile.memory + memory_.scales + at);
      coded_->load_zeros(
          has(tile, kRecurrentZero) ? address_of(tile, kRecurrentZero, 0, 0, i * step_.units + unit) : nullptr,
          step_.strides[kRecurrentZero].unit, tile.columns, zeros_of(tile) + i * step_.width());
    }
  }

  // The zero points of the first gate's integers, for the units of a tile.
  [[nodiscard]] u32* zeros_of(const Tile& tile) const {
    return reinterpret_cast<u32*>(tile.memory + memory_.zeros) + tile.panel * tile.size.panel;
  }

  // ---- Products and gates -------------------------------------------------------------------------------------------

  // Multiplies the tile's rows by the matrices of some gates and writes the sums. strips: the hidden states of all
  // rows.
  void multiply(const Tile& tile, const f32* strips, std::int64_t gate, std::int64_t gates) const {
    if (coded_) {
      const std::int64_t number = (tile.direction * step_.panels() + tile.panel) * step_.gates;
      const f32* const scales = tile.memory + memory_.scales + tile.panel * tile.size.panel;
      coded_->multiply(tile.size, tile.operands[kRecurrentPacked] + number * code_bytes(step_), gates,
                       {.scales = scales, .zeros = zeros_of(tile), .step = step_.width()}, tile.sums(0),
                       tile.size.count(), tile.codes);
      return;
    }
    const std::int64_t gate_step = step_.packed_rows() * tile.size.panel;
    const f32* const panels = reinterpret_cast<const f32*>(tile.operands[kRecurrentPacked]) +
                              ((tile.direction * step_.panels() + tile.panel) * step_.gates + gate) * gate_step;
    const f32* const rows = strips + tile.row * step_.units;
    if (products_ == nullptr) {
      multiply_by_definition(tile, strips, panels, gate, gates);
      return;
    }
    if (tile.size.rows == 1 && kernels_.multiply_row != nullptr) {
      kernels_.multiply_row(rows, panels, gate_step, gates, step_.units, tile.sums(gate), tile.size.count());
      return;
    }
    PackedStrips a{.first = rows, .depth = step_.units};
    for (std::int64_t first = 0; first < step_.units; first += kProductBlock) {
      const std::int64_t depth = std::min(kProductBlock, step_.units - first);
      for (std::int64_t i = 0; i < gates; ++i) {
        Panel panel{.first = panels + i * gate_step + first * tile.size.panel, .step = tile.size.panel};
        if (i + 1 < gates) {
          panel.next = panel.first + gate_step;
        } else if (first + 2 * kProductBlock <= step_.units) {
          panel.next = panels + (first + kProductBlock) * tile.size.panel;
        }
        add_panel(*products_, a, panel, tile.columns, i == 0, first, depth, tile.size.rows, tile.sums(gate + i),
                  tile.size.panel);
      }
    }
  }

  void multiply_by_definition(const Tile& tile, const f32* strips, const f32* panels, std::int64_t gate,
                              std::int64_t gates) const {
    for (std::int64_t i = 0; i < gates; ++i) {
      const f32* const panel = panels + i * step_.packed_rows() * tile.size.panel;
      for (std::int64_t row = 0; row < tile.size.rows; ++row) {
        for (std::int64_t column = 0; column < tile.columns; ++column) {
          tile.sums(gate + i)[row * tile.size.panel + column] = sum_of_products(
              step_.units,
              [&](std::int64_t k) {
                return packed_factor(strips, step_.rows, step_.strip, step_.units, tile.row + row, k);
              },
              [&](std::int64_t k) { return panel[k * tile.size.panel + column]; });
        }
      }
    }
  }

  // The products of the inputs and the weights. Each row is copied separately, since rows may be at different time
  // steps; a single row is read in place.
  const f32* gather_inputs(const Tile& tile, std::int64_t gate) const {
    const bool is_in_place = tile.size.rows == 1 && tile.columns == tile.size.panel;
    for (std::int64_t i = 0; i < tile.size.rows; ++i) {
      const std::byte* const products =
          address_of(tile, kRecurrentProduct, time_of(tile, tile.row + i), tile.row + i, 0);
      const f32* const from =
          reinterpret_cast<const f32*>(products) + gate * step_.units + tile.panel * tile.size.panel;
      if (is_in_place) {
        return from;
      }
      f32* const to = tile.inputs(gate) + i * tile.size.panel;
      std::copy_n(from, tile.columns, to);
      std::fill(to + tile.columns, to + tile.size.panel, 0.0F);
    }
    return tile.inputs(gate);
  }

  [[nodiscard]] const f32* bias_of(const Tile& tile, std::int64_t number) const {
    return has(tile, kRecurrentBias)
               ? tile.memory + memory_.biases + number * step_.width() + tile.panel * tile.size.panel
               : nullptr;
  }
  // peephole: the number of the gate's peephole, or -1 if it has none.
  [[nodiscard]] GateTerms terms_of(const Tile& tile, std::int64_t gate, std::int64_t peephole, const f32* cell) const {
    const bool has_peephole = peephole >= 0 && has(tile, kRecurrentPeephole);
    return {.x = gather_inputs(tile, gate),
            .peephole = has_peephole
                            ? tile.memory + memory_.peepholes + peephole * step_.width() + tile.panel * tile.size.panel
                            : nullptr,
            .cell = cell,
            .bias = bias_of(tile, gate)};
  }

  void apply(const Tile& tile, std::int64_t number, f32* values) const {
    const RecurrentActivation& activation = step_.activations[tile.direction][number];
    switch (activation.function) {
      case RecurrentFunction::Sigmoid:
        return kernels_.sigmoid(tile.size.count(), values);
      case RecurrentFunction::Tanh:
        return kernels_.tanh(tile.size.count(), values);
      default:
        return activate(activation, tile.size.count(), values);
    }
  }

  // Replaces the products of a gate with its clipped and activated sum.
  void finish_gate(const Tile& tile, std::int64_t gate, std::int64_t activation, std::int64_t peephole = -1,
                   const f32* cell = nullptr) const {
    f32* const sums = tile.sums(gate);
    kernels_.add_gate(tile.size, terms_of(tile, gate, peephole, cell), sums);
    if (step_.clips != 0) {
      kernels_.clip(tile.size.count(), step_.clip, sums);
    }
    apply(tile, activation, sums);
  }

  void round(const Tile& tile, f32* values) const {
    if (step_.is_half != 0) {
      kernels_.round_halves(tile.size.count(), values);
    }
  }

  // ---- Time steps ---------------------------------------------------------------------------------------------------

  [[nodiscard]] const f32* hidden(const Tile& tile) const { return tile.memory + memory_.hidden[tile.step % 2]; }
  [[nodiscard]] f32* state_of(const Tile& tile) const { return tile.memory + memory_.state + tile.at(step_.rows); }

  void run_rnn(const Tile& tile) const {
    if (has_active_rows(tile)) {
      multiply(tile, hidden(tile), 0, 1);
      finish_gate(tile, 0, 0);
      round(tile, tile.sums(0));
    }
    keep(tile, tile.sums(0));
  }

  void run_lstm(const Tile& tile) const {
    f32* const cell = tile.memory + memory_.cell + tile.at(step_.rows);
    if (has_active_rows(tile)) {
      constexpr std::int64_t kPeepholeInput = 0;
      constexpr std::int64_t kPeepholeOutput = 1;
      constexpr std::int64_t kPeepholeForget = 2;
      multiply(tile, hidden(tile), 0, step_.gates);
      finish_gate(tile, kLstmInput, 0, kPeepholeInput, cell);
      if (step_.couples == 0) {
        finish_gate(tile, kLstmForget, 0, kPeepholeForget, cell);
      }
      finish_gate(tile, kLstmCell, 1);
      f32* const new_state = tile.new_state();
      kernels_.next_cells(tile.size.count(), tile.sums(kLstmInput),
                          step_.couples == 0 ? tile.sums(kLstmForget) : nullptr, tile.sums(kLstmCell), cell, new_state);
      round(tile, new_state);
      finish_gate(tile, kLstmOutput, 0, kPeepholeOutput, new_state);
      copy_active(tile, new_state, cell);
      apply(tile, 2, new_state);
      kernels_.multiply(tile.size.count(), tile.sums(kLstmOutput), new_state);
      round(tile, new_state);
    }
    keep(tile, tile.new_state());
  }

  // A GRU in which the product of the last gate is multiplied by the reset gate.
  void run_gru(const Tile& tile) const {
    if (has_active_rows(tile)) {
      multiply(tile, hidden(tile), 0, step_.gates);
      finish_gate(tile, kGruUpdate, 0);
      finish_gate(tile, kGruReset, 0);
      kernels_.add_reset(tile.size,
                         {.x = gather_inputs(tile, kGruHidden),
                          .reset = tile.sums(kGruReset),
                          .wb = bias_of(tile, kGruHidden),
                          .rb = bias_of(tile, step_.gates)},
                         tile.sums(kGruHidden));
      apply(tile, 1, tile.sums(kGruHidden));
      kernels_.next_hiddens(tile.size.count(), tile.sums(kGruUpdate), tile.sums(kGruHidden), state_of(tile),
                            tile.new_state());
      round(tile, tile.new_state());
    }
    keep(tile, tile.new_state());
  }

  // The first of two phases: computes the update gate and the hidden state after the reset gate.
  void run_gru_reset(const Tile& tile) const {
    if (!has_active_rows(tile)) {
      return;
    }
    multiply(tile, hidden(tile), 0, 2);
    finish_gate(tile, kGruUpdate, 0);
    finish_gate(tile, kGruReset, 0);
    std::copy_n(tile.sums(kGruUpdate), tile.size.count(), tile.memory + memory_.update + tile.at(step_.rows));
    kernels_.multiply(tile.size.count(), state_of(tile), tile.sums(kGruReset));
    hand_on(tile, tile.sums(kGruReset), tile.memory + memory_.reset);
  }
  void run_gru_hidden(const Tile& tile) const {
    if (has_active_rows(tile)) {
      multiply(tile, tile.memory + memory_.reset, kGruHidden, 1);
      finish_gate(tile, kGruHidden, 1);
      kernels_.next_hiddens(tile.size.count(), tile.memory + memory_.update + tile.at(step_.rows),
                            tile.sums(kGruHidden), state_of(tile), tile.new_state());
      round(tile, tile.new_state());
    }
    keep(tile, tile.new_state());
  }

  // ---- The new state ------------------------------------------------------------------------------------------------

  void copy_active(const Tile& tile, const f32* from, f32* to) const {
    for (std::int64_t i = 0; i < tile.size.rows; ++i) {
      if (is_active(tile, tile.row + i)) {
        std::copy_n(from + i * tile.size.panel, tile.size.panel, to + i * tile.size.panel);
      }
    }
  }

  // Copies a tile of hidden states to the strips, which all tiles use in their products.
  void hand_on(const Tile& tile, const f32* from, f32* strips) const {
    const std::int64_t unit = tile.panel * tile.size.panel;
    for (std::int64_t i = 0; i < tile.size.rows; ++i) {
      const std::int64_t row = tile.row + i;
      const std::int64_t first = row / step_.strip * step_.strip;
      const std::int64_t width = std::min<std::int64_t>(step_.strip, step_.rows - first);
      f32* const to = strips + first * step_.units + unit * width + (row - first);
      for (std::int64_t k = 0; k < tile.columns; ++k) {
        to[k * width] = from[i * tile.size.panel + k];
      }
    }
  }

  // Stores the new hidden state of the rows that have this time step. All other rows keep their hidden state, and their
  // outputs are 0.
  void keep(const Tile& tile, const f32* new_state) const {
    f32* const state = state_of(tile);
    copy_active(tile, new_state, state);
    hand_on(tile, state, tile.memory + memory_.hidden[(tile.step + 1) % 2]);
    if (has(tile, kRecurrentSequence)) {
      const std::int64_t stride = step_.strides[kRecurrentSequence].unit;
      f32* const zeros = tile.inputs(0);
      std::fill(zeros, zeros + tile.size.panel, 0.0F);
      for (std::int64_t i = 0; i < tile.size.rows; ++i) {
        const std::int64_t row = tile.row + i;
        store(is_active(tile, row) ? state + i * tile.size.panel : zeros, tile.columns, stride,
              address_of(tile, kRecurrentSequence, time_of(tile, row), row, tile.panel * tile.size.panel));
      }
    }
    if (tile.step + 1 == step_.steps) {
      end(tile);
    }
  }

  // Writes the state after the last time step.
  void end(const Tile& tile) const {
    store_state(tile, state_of(tile), kRecurrentSingle);
    if (step_.kind == RecurrentKind::lstm) {
      store_state(tile, tile.memory + memory_.cell + tile.at(step_.rows), kRecurrentCellSingle);
    }
  }
  void store_state(const Tile& tile, const f32* state, RecurrentOperand operand) const {
    for (std::int64_t i = 0; has(tile, operand) && i < tile.size.rows; ++i) {
      store(state + i * tile.size.panel, tile.columns, step_.strides[operand].unit,
            address_of(tile, operand, 0, tile.row + i, tile.panel * tile.size.panel));
    }
  }

  RecurrentStep step_;
  RecurrentCut cut_;
  RecurrentMemory memory_;
  const ProductKernels* products_;
  const RecurrentKernels& kernels_;
  cpu::Target target_;
  std::optional<CodedStates> coded_;  // if the recurrence matrix consists of integers
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  RecurrentStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.kind == RecurrentKind::pack) {
    return prepare_recurrent_pack(step, context);
  }
  const ProductKernels* products = product_kernels(context.target);
  const RecurrentKernels* kernels = vector_recurrent_kernels(context.target);
  if (step.codes != RecurrentCodes::none) {
    kernels = kernels != nullptr ? kernels : &generic_recurrent_kernels();
  } else if (products == nullptr) {
    kernels = step.panel % kRecurrentColumns == 0 ? &generic_recurrent_kernels() : &plain_recurrent_kernels();
  } else if (products->panel != step.panel || products->strip != step.strip) {
    products = nullptr;  // the step was planned for a device that packs differently or not at all
    kernels = &plain_recurrent_kernels();
  }
  return std::make_unique<RecurrentRun>(step, cut_of(step, context.threads), context, products, *kernels);
}

}  // namespace

namespace cpu {
extern const FamilyKernels recurrent_family;
const FamilyKernels recurrent_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
