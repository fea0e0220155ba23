// SPDX-License-Identifier: MIT
// Resampling on the CPU. First, means along the columns are computed for whole rows of the input. They are kept for
// other output rows that need them. Then the means of these rows are computed.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "ops/resample/cpu/gradient.h"
#include "ops/resample/cpu/kernels.h"
#include "ops/resample/cpu/rows.h"

namespace anydml {
namespace {

constexpr std::int64_t kNoRow = std::numeric_limits<std::int64_t>::min();

// The taps of one output along a sampled dimension other than the dimension of the columns.
struct LevelTaps {
  std::int64_t index = -1;  // index of the output
  std::int64_t first = 0;
  std::int64_t count = 1;
  const f32* weights = nullptr;
  f32 pair[2] = {1.0F, 0.0F};
};

// kept: the taps of all outputs, or empty. memory: space for the weights of a stretched dimension.
void set_taps(const ResampleDimension& dimension, const std::vector<LinearTaps>& kept, std::int64_t index, f32* memory,
              LevelTaps& taps) {
  taps.index = index;
  if (dimension.kind == ResampleKind::stretched) {
    const StretchedTaps stretched(dimension, index);
    taps.first = stretched.first();
    taps.count = stretched.count();
    taps.weights = memory;
    for (std::int64_t t = 0; t < taps.count; ++t) {
      memory[t] = stretched.weight(t);
    }
    return;
  }
  const LinearTaps linear = kept.empty() ? few_taps(dimension, index) : kept[static_cast<std::size_t>(index)];
  taps.first = linear.first;
  taps.count = linear.second == 0.0F ? 1 : 2;
  taps.weights = taps.pair;
  taps.pair[0] = 1.0F - linear.second;
  taps.pair[1] = linear.second;
}

// The state of a running piece: the position of the unit, and the rows that are kept.
class RowWork {
 public:
  RowWork(const ResampleRows& cut, const ResampleKernels& kernels, MoveNearest move, std::byte* scratch)
      : cut_(cut), kernels_(kernels), move_(move), scratch_(scratch) {}

  // Moves to a unit and its tile of columns.
  void seek(std::int64_t unit) {
    std::int64_t row = unit % cut_.rows;
    plane_ = unit / cut_.rows;
    for (std::size_t d = cut_.sampled.size(); d-- > 0;) {
      set_index(d, row % cut_.sampled[d].output_size);
      row /= cut_.sampled[d].output_size;
    }
    enter_plane();
  }
  // Moves `step` units forward; all but the last differ only in the last sampled dimension.
  void next(std::int64_t step = 1) {
    for (std::size_t d = cut_.sampled.size(); d-- > 0; step = 1) {
      const std::int64_t index = levels_[d].index + step;
      output_ += step * cut_.sampled[d].output_stride;
      if (index < cut_.sampled[d].output_size) {
        set_index(d, index);
        return;
      }
      output_ -= index * cut_.sampled[d].output_stride;
      set_index(d, 0);
    }
    ++plane_;
    enter_plane();
  }
  // The number of units, starting with this one, that can be copied together as rows of nearest elements; at most
  // `maximum`.
  [[nodiscard]] std::int64_t rows_together(std::int64_t maximum) const {
    if (cut_.step.interpolates != 0 || cut_.sampled.empty() || cut_.taps.back().empty()) {
      return 1;
    }
    return std::min(maximum, cut_.sampled.back().output_size - levels_[cut_.sampled.size() - 1].index);
  }

  [[nodiscard]] std::int64_t output() const { return output_; }  // offset of the unit in bytes
  [[nodiscard]] std::int64_t columns() const { return columns_.count; }
  [[nodiscard]] std::int64_t run() const { return run_; }

  // Computes the outputs of the unit and of the units that are copied together with it. stride: the distance between
  // columns.
  void make(const std::byte* input, std::byte* to, std::int64_t stride, std::int64_t rows) {
    if (cut_.step.interpolates == 0) {
      const std::size_t levels = cut_.sampled.size() - (rows > 1 ? 1 : 0);
      std::int64_t offset = plane_input_;
      for (std::size_t d = 0; d < levels; ++d) {
        offset += levels_[d].first * cut_.sampled[d].input_stride;
      }
      NearestRows target{.at = to, .stride = stride, .rows = rows, .row_stride = 0, .taps = nullptr, .tap_stride = 0};
      if (rows > 1) {
        target.row_stride = cut_.sampled.back().output_stride;
        target.taps = cut_.taps.back().data() + levels_[levels].index;
        target.tap_stride = cut_.sampled.back().input_stride;
      }
      move_(columns_, {.at = input + offset, .stride = cut_.column.input_stride, .run = run_}, target);
      return;
    }
    input_ = input;
    count_ = columns_.count * run_;
    const bool writes = cut_.step.type == DataType::FLOAT32 &&
                        stride == run_ * static_cast<std::int64_t>(sizeof(f32)) &&
                        reinterpret_cast<std::uintptr_t>(to) % sizeof(f32) == 0;
    f32* const own = writes ? reinterpret_cast<f32*>(to) : level_row(0);
    const f32* const computed = mean_of(0, plane_input_, own);
    if (!writes || computed != own) {
      kernels_.store(computed, columns_.count, run_, to, stride);
    }
  }

 private:
  void set_index(std::size_t level, std::int64_t index) {
    f32* const memory = cut_.weights_at.empty() ? nullptr : reinterpret_cast<f32*>(scratch_ + cut_.weights_at[level]);
    set_taps(cut_.sampled[level], cut_.taps[level], index, memory, levels_[level]);
  }

  // Enters a group of units that differ only in the sampled dimensions: they share rows of the input.
  void enter_plane() {
    std::int64_t rest = plane_;
    std::fill_n(kept_, cut_.slots, kNoRow);
    const std::int64_t column_tile = rest % cut_.column_tiles;
    rest /= cut_.column_tiles;
    const std::int64_t first_column = column_tile * cut_.tile_columns;
    const std::int64_t first_run = rest % cut_.run_tiles * cut_.tile_run;
    rest /= cut_.run_tiles;
    run_ = std::min(cut_.tile_run, cut_.run - first_run);
    if (column_tile != column_tile_) {
      column_tile_ = column_tile;
      columns_ = cut_.columns.empty()
                     ? make_columns(cut_.column, first_column,
                                    std::min(cut_.tile_columns, cut_.column.output_size - first_column),
                                    scratch_ + cut_.columns_at)
                     : cut_.columns[static_cast<std::size_t>(column_tile)];
    }
    plane_input_ = columns_.base * cut_.column.input_stride + first_run * cut_.element;
    output_ = first_column * cut_.column.output_stride + first_run * cut_.element;
    for (std::size_t d = cut_.copied.size(); d-- > 0;) {
      const ResampleDimension& dimension = cut_.copied[d];
      plane_input_ += rest % dimension.output_size * dimension.input_stride;
      output_ += rest % dimension.output_size * dimension.output_stride;
      rest /= dimension.output_size;
    }
    for (std::size_t d = 0; d < cut_.sampled.size(); ++d) {
      output_ += levels_[d].index * cut_.sampled[d].output_stride;
    }
  }

  [[nodiscard]] f32* level_row(std::size_t level) const {
    return reinterpret_cast<f32*>(scratch_ + cut_.levels_at) + static_cast<std::int64_t>(level) * row_elements();
  }
  [[nodiscard]] std::int64_t row_elements() const { return (cut_.tile_elements() + 15) / 16 * 16; }

  // Computes the means along the columns of the input row at this offset.
  void make_columns_of(std::int64_t offset, f32* to) const {
    const std::byte* const row = input_ + offset;
    const std::int64_t stride = cut_.column.input_stride;
    if (cut_.in_place) {
      kernels_.interpolate(columns_, row, run_, to);
    } else if (cut_.is_far) {
      kernels_.interpolate_far(columns_, {.at = row, .stride = stride, .run = run_}, to);
    } else {
      auto* const loaded = reinterpret_cast<f32*>(scratch_ + cut_.loaded_at);
      kernels_.load(row, stride, columns_.span, run_, loaded);
      kernels_.interpolate(columns_, reinterpret_cast<const std::byte*>(loaded), run_, to);
    }
  }

  // Like make_columns_of, but keeps the row. `beside`: a kept row that is still needed.
  const f32* kept_row(std::int64_t offset, const f32* beside) {
    auto* const first = reinterpret_cast<f32*>(scratch_ + cut_.slots_at);
    for (std::int64_t slot = 0; slot < cut_.slots; ++slot) {
      if (kept_[slot] == offset) {
        return first + slot * row_elements();
      }
    }
    next_ = first + next_ * row_elements() == beside ? (next_ + 1) % cut_.slots : next_;
    f32* const row = first + next_ * row_elements();
    kept_[next_] = offset;
    next_ = (next_ + 1) % cut_.slots;
    make_columns_of(offset, row);
    return row;
  }

  // Returns the means along dimension `level` and all later dimensions, which are either in `own` or in a kept row.
  const f32* mean_of(std::size_t level, std::int64_t offset, f32* own) {
    if (level == cut_.sampled.size()) {
      if (level == 0) {
        make_columns_of(offset, own);
        return own;
      }
      return kept_row(offset, nullptr);
    }
    const LevelTaps& taps = levels_[level];
    const std::int64_t stride = cut_.sampled[level].input_stride;
    offset += taps.first * stride;
    if (taps.count == 1) {
      return mean_of(level + 1, offset, own);
    }
    auto* const to = reinterpret_cast<std::byte*>(own);
    if (taps.count == 2 && level + 1 == cut_.sampled.size()) {
      const f32* const first = kept_row(offset, nullptr);
      const f32* const second = kept_row(offset + stride, first);
      kernels_.mean(reinterpret_cast<const std::byte*>(first), taps.weights[0],
                    reinterpret_cast<const std::byte*>(second), taps.weights[1], count_, to);
      return own;
    }
    for (std::int64_t t = 0; t < taps.count; ++t) {
      const f32* const computed = mean_of(level + 1, offset + t * stride, level_row(level + 1));
      (t == 0 ? kernels_.scale : kernels_.add)(reinterpret_cast<const std::byte*>(computed), taps.weights[t], count_,
                                               to);
    }
    return own;
  }

  const ResampleRows& cut_;
  const ResampleKernels& kernels_;
  MoveNearest move_;
  std::byte* scratch_;
  const std::byte* input_ = nullptr;
  LevelTaps levels_[kMaxRank];
  Columns columns_;
  std::int64_t plane_ = -1;
  std::int64_t column_tile_ = -1;
  std::int64_t run_ = 0;
  std::int64_t count_ = 0;
  std::int64_t plane_input_ = 0;
  std::int64_t output_ = 0;
  std::int64_t next_ = 0;
  std::int64_t kept_[kMaxResampleSlots];
};

class Resampling final : public cpu::PreparedStep {
 public:
  Resampling(ResampleRows cut, cpu::Target target, cpu::Neighbors neighbors)
      : PreparedStep(static_cast<std::uint64_t>((cut.units + cut.units_of_piece - 1) / cut.units_of_piece), 1,
                     cut.scratch_bytes),
        cut_(std::move(cut)),
        after_(std::move(neighbors.after)),
        kernels_(resample_kernels(target, cut_.step.type)),
        move_(move_nearest(target, static_cast<std::size_t>(cut_.element))),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    RowWork work(cut_, kernels_, move_, piece.scratch);
    work.seek(first);
    for (std::int64_t unit = first; unit < end;) {
      std::int64_t rows = 1;
      if (after_.step == nullptr) {
        rows = work.rows_together(end - unit);
        work.make(operands[0], operands[1] + work.output(), cut_.column.output_stride, rows);
      } else {
        std::byte* const row = piece.scratch + cut_.output_at;
        const std::int64_t bytes = work.run() * cut_.element;
        work.make(operands[0], row, bytes, rows);
        after_.run({.first = work.output() / cut_.element,
                    .rows = work.columns(),
                    .columns = work.run(),
                    .row_step = cut_.column.output_stride / cut_.element,
                    .buffer_row_step = bytes},
                   row, operands);
      }
      unit += rows;
      if (unit < end) {
        work.next(rows);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %zu+1 dimensions, %s kernel", cut_.step.interpolates != 0 ? "means" : "nearest",
                  cut_.sampled.size(), cpu::target_name(target_));
  }

 private:
  ResampleRows cut_;
  cpu::Neighbor after_;
  ResampleKernels kernels_;
  MoveNearest move_;
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context,
                                           cpu::Neighbors neighbors) {
  ResampleWay way{};
  std::memcpy(&way, flat.parameters.data(), sizeof(way));
  if (way == ResampleWay::gradient) {
    GradientStep step;
    std::memcpy(&step, flat.parameters.data(), sizeof(step));
    return prepare_gradient(step, context);
  }
  ResampleStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const bool forwards = neighbors.after.step != nullptr;
  return std::make_unique<Resampling>(cut_rows(step, context.threads, forwards), context.target, std::move(neighbors));
}

}  // namespace

namespace cpu {
extern const FamilyKernels resample_family;
const FamilyKernels resample_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
