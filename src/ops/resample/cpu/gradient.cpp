// SPDX-License-Identifier: MIT
// Gradients on the CPU, one row of the output gradient at a time. Rows of the input gradient are added first, along
// each dimension, starting with the outermost. The columns of the resulting row are added last. This way, most of the
// data is read along rows, and the columns are added only once for each row of the output.
#include "ops/resample/cpu/gradient.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/resample/cpu/kernels.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kTileElements = 4096;    // part of an output row
constexpr std::int64_t kChunkElements = 16384;  // part of an input gradient row in memory at a time
constexpr std::int64_t kMinColumns = 16;        // per tile
constexpr std::int64_t kMaxKept = 1 << 20;      // elements of a dimension whose taps are kept with the step
constexpr std::int64_t kMinRegular = 8;         // columns that are worth a separate loop
constexpr std::int32_t kMaxAdvance = 4;
constexpr std::int64_t kMaxSlots = 64;
constexpr std::int64_t kMinSlots = 2 * kGradientRows;
constexpr std::int64_t kMaxSlotBytes = 256 << 10;
constexpr std::int64_t kMinOfPiece = 64 << 10;  // elements read or written
constexpr std::int64_t kPiecesOfThread = 8;

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A dimension, with its taps if it is not too long.
class GradientAxis {
 public:
  explicit GradientAxis(const GradientDimension& dimension) : dimension_(dimension) {
    if (outputs() > kMaxKept || inputs() > kMaxKept) {
      return;
    }
    if (dimension.forward.kind == ResampleKind::window || dimension.forward.kind == ResampleKind::copied) {
      for (std::int64_t p = 0; p < outputs(); ++p) {
        taps_.push_back(gradient_taps(dimension, p));
      }
    } else {
      walk();
    }
  }

  [[nodiscard]] const GradientDimension& dimension() const { return dimension_; }
  // The sizes of the output and input gradients, and their strides in bytes.
  [[nodiscard]] std::int64_t outputs() const { return dimension_.forward.input_size; }
  [[nodiscard]] std::int64_t inputs() const { return dimension_.forward.output_size; }
  [[nodiscard]] std::int64_t output_stride() const { return dimension_.forward.input_stride; }
  [[nodiscard]] std::int64_t input_stride() const { return dimension_.forward.output_stride; }
  [[nodiscard]] bool is_kept() const { return !taps_.empty(); }

  [[nodiscard]] GradientTaps taps(std::int64_t p) const {
    return taps_.empty() ? gradient_taps(dimension_, p) : taps_[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] f32 weight(std::int64_t o, bool to_second) const {
    if (seconds_.empty()) {
      return gradient_weight(dimension_, o, to_second);
    }
    const f32 second = seconds_[static_cast<std::size_t>(o)];
    return to_second ? second : 1.0F - second;
  }

 private:
  // Computes the result of gradient_taps for each element while visiting every element of the input gradient once.
  void walk() {
    std::vector<std::int64_t> firsts;
    for (std::int64_t o = 0; o < inputs(); ++o) {
      const LinearTaps linear = few_taps(dimension_.forward, o);
      firsts.push_back(linear.first);
      seconds_.push_back(linear.second);
    }
    GradientTaps taps{};
    const auto first_of = [&](std::int64_t o) { return firsts[static_cast<std::size_t>(o)]; };
    const auto last_of = [&](std::int64_t o) {
      return first_of(o) + (seconds_[static_cast<std::size_t>(o)] != 0.0F ? 1 : 0);
    };
    for (std::int64_t p = 0; p < outputs(); ++p) {
      while (taps.first < inputs() && last_of(taps.first) < p) {
        ++taps.first;
      }
      while (taps.second < inputs() && first_of(taps.second) < p) {
        ++taps.second;
      }
      taps.end = std::max(taps.end, taps.second);
      while (taps.end < inputs() && first_of(taps.end) <= p) {
        ++taps.end;
      }
      taps_.push_back(taps);
    }
  }

  GradientDimension dimension_;
  std::vector<GradientTaps> taps_;
  std::vector<f32> seconds_;  // the weight of each element's second tap, or 0 if there is none
};

// A tile of columns, which depends on the elements [base, base + span) of the input gradient.
struct GradientTile {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t base = 0;
  std::int64_t span = 0;
  GradientTable table;  // refers to these elements; absent if columns have too many taps
  std::vector<std::int32_t> index;
  std::vector<f32> weights;
};

// Finds the longest range of columns that have the same weights and whose taps advance evenly.
void find_regular(const GradientAxis& axis, GradientTile& tile) {
  GradientTable& table = tile.table;
  const auto goes_on = [&](std::int64_t c, std::int64_t advance) {
    const GradientTaps here = axis.taps(tile.first + c);
    const GradientTaps next = axis.taps(tile.first + c + 1);
    if (next.first - here.first != advance || next.second - here.second != advance || next.end - here.end != advance ||
        here.first == here.end) {
      return false;
    }
    for (std::int32_t t = 0; t < table.taps; ++t) {
      const std::int64_t at = t * tile.count + c;
      if (t < here.end - here.first && table.weights[at] != table.weights[at + 1]) {
        return false;
      }
    }
    return true;
  };
  for (std::int64_t begin = 0; begin + 1 < tile.count;) {
    const GradientTaps taps = axis.taps(tile.first + begin);
    const std::int64_t advance = axis.taps(tile.first + begin + 1).first - taps.first;
    std::int64_t c = begin;
    while (advance >= 1 && advance <= kMaxAdvance && c + 1 < tile.count && goes_on(c, advance)) {
      ++c;
    }
    if (c > begin && c + 1 - begin > std::max(table.end - table.begin, kMinRegular - 1)) {
      table.begin = begin;
      table.end = c + 1;
      table.advance = static_cast<std::int32_t>(advance);
      table.regular_taps = static_cast<std::int32_t>(taps.end - taps.first);
      table.regular_first = static_cast<std::int32_t>(taps.first - tile.base);
    }
    begin = c + 1;
  }
  for (std::int32_t t = 0; t < table.regular_taps; ++t) {
    table.regular[t] = table.weights[t * tile.count + table.begin];
  }
}

// Puts the taps of columns into a table, so that kernels read them without a branch for each column.
void make_table(const GradientAxis& axis, GradientTile& tile) {
  std::int64_t maximum = 0;
  for (std::int64_t c = 0; c < tile.count; ++c) {
    const GradientTaps taps = axis.taps(tile.first + c);
    maximum = std::max(maximum, taps.end - taps.first);
  }
  if (maximum == 0 || maximum > kMaxGradientTaps) {
    return;
  }
  GradientTable& table = tile.table;
  table.count = tile.count;
  table.taps = static_cast<std::int32_t>(maximum);
  tile.index.assign(static_cast<std::size_t>(table.taps * tile.count), static_cast<std::int32_t>(tile.span));
  tile.weights.assign(tile.index.size(), 0.0F);
  for (std::int64_t c = 0; c < tile.count; ++c) {
    const GradientTaps taps = axis.taps(tile.first + c);
    for (std::int64_t o = taps.first; o < taps.end; ++o) {
      const auto at = static_cast<std::size_t>((o - taps.first) * tile.count + c);
      tile.index[at] = static_cast<std::int32_t>(o - tile.base);
      tile.weights[at] = axis.weight(o, o < taps.second);
    }
  }
  table.index = tile.index.data();
  table.weights = tile.weights.data();
  find_regular(axis, tile);
}

// The division of a step into units. A unit is a tile of one row of the output gradient.
struct GradientCut {
  GradientStep step{};
  std::int64_t element = 0;  // bytes
  std::int64_t run = 1;      // elements that are contiguous in both tensors
  std::vector<GradientDimension> copied;
  std::vector<GradientAxis> levels;  // all dimensions of sums except the columns', outermost first
  std::vector<GradientAxis> column;  // exactly one
  bool in_place = false;             // rows of the input gradient are contiguous FLOAT32, and nothing is divided
  std::int64_t tile_columns = 1;
  std::int64_t tile_run = 1;
  std::int64_t run_tiles = 1;
  std::int64_t chunk = 1;  // columns of the input gradient in memory at a time
  std::int64_t column_tiles = 1;
  std::vector<GradientTile> tiles;  // empty if the dimension is long
  std::int64_t rows = 1;            // rows of the output, over the levels
  std::int64_t units = 0;
  std::int64_t units_of_piece = 1;
  // Layout of the scratch memory, in bytes.
  std::int64_t slots = 0;
  std::int64_t row_bytes = 0;  // size of a kept row of the input gradient
  std::int64_t slots_at = 0;
  std::int64_t levels_at = 0;
  std::int64_t divisors_at = 0;
  std::int64_t sums_at = 0;
  std::int64_t scratch = 0;
};

// Column tiles of long dimensions have no table and are computed on demand.
GradientTile make_tile(const GradientCut& cut, std::int64_t number) {
  const GradientAxis& column = cut.column.front();
  GradientTile tile;
  tile.first = number * cut.tile_columns;
  tile.count = std::min(cut.tile_columns, column.outputs() - tile.first);
  tile.base = column.taps(tile.first).first;
  tile.span = column.taps(tile.first + tile.count - 1).end - tile.base;
  return tile;
}

void choose_tiles(GradientCut& cut) {
  const GradientAxis& column = cut.column.front();
  cut.tile_run = std::min(cut.run, kTileElements);
  cut.run_tiles = ceil_div(cut.run, cut.tile_run);
  cut.chunk = std::max<std::int64_t>(1, kChunkElements / cut.tile_run);
  // Most tiles depend on no more than one chunk.
  const auto fitting = static_cast<std::int64_t>(static_cast<f64>(cut.chunk) / 2 * static_cast<f64>(column.outputs()) /
                                                 static_cast<f64>(std::max<std::int64_t>(1, column.inputs())));
  cut.tile_columns =
      std::min(column.outputs(), std::clamp(fitting, kMinColumns, std::max(kMinColumns, kTileElements / cut.tile_run)));
  cut.column_tiles = ceil_div(column.outputs(), cut.tile_columns);
  for (std::int64_t number = 0; column.is_kept() && number < cut.column_tiles; ++number) {
    cut.tiles.push_back(make_tile(cut, number));
    if (cut.run == 1 && cut.tiles.back().span <= cut.chunk) {
      make_table(column, cut.tiles.back());
    }
  }
}

GradientCut make_cut(const GradientStep& step, std::int64_t threads) {
  GradientCut cut;
  cut.step = step;
  cut.element = static_cast<std::int64_t>(element_size(step.type));
  cut.copied.assign(step.dimensions, step.dimensions + step.copied);
  if (!cut.copied.empty() && cut.copied.back().forward.input_stride == cut.element &&
      cut.copied.back().forward.output_stride == cut.element) {
    cut.run = cut.copied.back().forward.input_size;
    cut.copied.pop_back();
  }
  for (std::uint32_t i = step.copied; i < step.rank; ++i) {
    (i + 1 < step.rank ? cut.levels : cut.column).emplace_back(step.dimensions[i]);
  }
  choose_tiles(cut);
  const GradientAxis& column = cut.column.front();
  cut.in_place = step.type == DataType::FLOAT32 && step.divisor == GradientDivisor::none && cut.tile_run == cut.run &&
                 (column.inputs() <= 1 || column.input_stride() == cut.run * cut.element);
  std::int64_t inputs = cut.run * column.inputs();
  for (const GradientAxis& level : cut.levels) {
    cut.rows *= level.outputs();
    inputs *= level.inputs();
  }
  std::int64_t planes = 1;
  for (const GradientDimension& dimension : cut.copied) {
    planes *= dimension.forward.input_size;
  }
  cut.units = planes * cut.run_tiles * cut.column_tiles * cut.rows;
  const std::int64_t outputs = cut.rows * column.outputs() * cut.run;
  const std::int64_t cost = std::max<std::int64_t>(1, (inputs + outputs) * planes / cut.units);
  cut.units_of_piece = std::max(ceil_div(cut.units, threads * kPiecesOfThread), ceil_div(kMinOfPiece, cost));
  if (cut.units_of_piece > cut.rows) {  // whole planes, whose rows are loaded once
    cut.units_of_piece = ceil_div(cut.units_of_piece, cut.rows) * cut.rows;
  }
  const auto take = [&cut](std::int64_t bytes) { return std::exchange(cut.scratch, cut.scratch + aligned(bytes)); };
  std::int64_t held = cut.tiles.empty() ? cut.chunk : 1;  // columns of the input gradient
  for (const GradientTile& tile : cut.tiles) {
    held = std::max(held, std::min(tile.span, cut.chunk));
  }
  cut.row_bytes = aligned((held * cut.tile_run + 1) * static_cast<std::int64_t>(sizeof(f32)));
  cut.slots = cut.in_place ? 0 : std::clamp(kMaxSlotBytes / cut.row_bytes, kMinSlots, kMaxSlots);
  cut.slots_at = take(cut.slots * cut.row_bytes);
  cut.levels_at = take(static_cast<std::int64_t>(cut.levels.size() + 1) * cut.row_bytes);
  cut.divisors_at = take(step.divisor != GradientDivisor::none ? cut.row_bytes : 0);
  cut.sums_at = take(cut.tile_columns * cut.tile_run * static_cast<std::int64_t>(sizeof(f32)));
  return cut;
}

// A kept row of the input gradient.
struct KeptRow {
  std::int64_t offset = 0;
  std::int64_t elements = -1;  // elements of its windows along the levels; -1 if no row is kept
  std::int64_t chunk = 0;

  bool operator==(const KeptRow&) const = default;
};

// The state of a running piece.
class GradientWork {
 public:
  GradientWork(const GradientCut& cut, const ResampleKernels& elements, const GradientKernels& kernels,
               std::byte* const* operands, std::byte* scratch)
      : cut_(cut),
        elements_(elements),
        kernels_(kernels),
        input_(operands[0]),
        output_(operands[1]),
        scratch_(scratch) {}

  void make(std::int64_t unit) {
    const std::int64_t plane = unit / cut_.rows;
    if (plane != plane_) {
      enter(plane);
    }
    std::int64_t row = unit % cut_.rows;
    std::byte* to = output_ + plane_output_;
    for (std::size_t i = cut_.levels.size(); i-- > 0;) {
      const GradientAxis& level = cut_.levels[i];
      taps_[i] = level.taps(row % level.outputs());
      to += row % level.outputs() * level.output_stride();
      row /= level.outputs();
    }
    const GradientAxis& column = cut_.column.front();
    const bool writes = cut_.step.type == DataType::FLOAT32 &&
                        column.output_stride() == run_ * static_cast<std::int64_t>(sizeof(f32)) &&
                        reinterpret_cast<std::uintptr_t>(to) % sizeof(f32) == 0;
    f32* const sums = writes ? reinterpret_cast<f32*>(to) : floats(cut_.sums_at);
    const bool has_table = tile_->table.taps != 0;
    if (!has_table) {
      std::fill_n(sums, tile_->count * run_, 0.0F);
    }
    for (std::int64_t at = 0; at < tile_->span; at += cut_.chunk) {
      chunk_first_ = tile_->base + at;
      chunk_ = std::min(cut_.chunk, tile_->span - at);
      f32* const computed = level_row(cut_.levels.size());
      add_levels(cut_.levels.size(), plane_input_ + chunk_first_ * column.input_stride(), 1, computed);
      if (has_table) {
        computed[chunk_ * run_] = 0.0F;
        kernels_.add_columns(tile_->table, computed, sums);
      } else {
        add_columns(computed, sums);
      }
    }
    if (!writes) {
      elements_.store(sums, tile_->count, run_, to, column.output_stride());
    }
  }

 private:
  [[nodiscard]] f32* floats(std::int64_t at) const { return reinterpret_cast<f32*>(scratch_ + at); }
  [[nodiscard]] f32* level_row(std::size_t level) const {
    return floats(cut_.levels_at + static_cast<std::int64_t>(level) * cut_.row_bytes);
  }

  // Enters a group of units that differ only in their row.
  void enter(std::int64_t plane) {
    plane_ = plane;
    if (cut_.tiles.empty()) {
      own_ = make_tile(cut_, plane % cut_.column_tiles);
    } else {
      tile_ = &cut_.tiles[static_cast<std::size_t>(plane % cut_.column_tiles)];
    }
    plane /= cut_.column_tiles;
    const std::int64_t run_first = plane % cut_.run_tiles * cut_.tile_run;
    plane /= cut_.run_tiles;
    run_ = std::min(cut_.tile_run, cut_.run - run_first);
    plane_input_ = run_first * cut_.element;
    plane_output_ = plane_input_ + tile_->first * cut_.column.front().output_stride();
    for (std::size_t i = cut_.copied.size(); i-- > 0;) {
      const ResampleDimension& dimension = cut_.copied[i].forward;
      plane_input_ += plane % dimension.input_size * dimension.output_stride;
      plane_output_ += plane % dimension.input_size * dimension.input_stride;
      plane /= dimension.input_size;
    }
    std::fill_n(kept_, cut_.slots, KeptRow{});
    next_ = 0;
    divided_by_ = -1;
  }

  // The divisors of a row. elements: the number of elements in its windows along the levels.
  const f32* divisors(std::int64_t elements) {
    f32* const row = floats(cut_.divisors_at);
    if (divided_by_ == elements && divided_at_ == chunk_first_) {
      return row;
    }
    divided_by_ = elements;
    divided_at_ = chunk_first_;
    for (std::int64_t c = 0; c < chunk_; ++c) {
      const f32 divisor =
          cut_.step.divisor == GradientDivisor::taps
              ? cut_.step.taps
              : static_cast<f32>(elements * window_elements(cut_.column.front().dimension(), chunk_first_ + c));
      std::fill_n(row + c * run_, run_, divisor);
    }
    return row;
  }

  // The chunk of the input gradient's row at `offset`, as FLOAT32. used: rows that must be kept.
  const std::byte* row_at(std::int64_t offset, std::int64_t elements, const std::byte* const* used,
                          std::int32_t count) {
    if (cut_.in_place) {
      return input_ + offset;
    }
    std::byte* const first = scratch_ + cut_.slots_at;
    // If a stride is 0, rows at the same offset may have different divisors.
    const KeptRow wanted{.offset = offset, .elements = elements, .chunk = chunk_first_};
    for (std::int64_t slot = 0; slot < cut_.slots; ++slot) {
      if (kept_[slot] == wanted) {
        return first + slot * cut_.row_bytes;
      }
    }
    while (std::find(used, used + count, first + next_ * cut_.row_bytes) != used + count) {
      next_ = (next_ + 1) % cut_.slots;
    }
    std::byte* const row = first + next_ * cut_.row_bytes;
    kept_[next_] = wanted;
    next_ = (next_ + 1) % cut_.slots;
    auto* const values = reinterpret_cast<f32*>(row);
    elements_.load(input_ + offset, cut_.column.front().input_stride(), chunk_, run_, values);
    if (cut_.step.divisor != GradientDivisor::none) {
      kernels_.divide(divisors(elements), chunk_ * run_, values);
    }
    return row;
  }

  // Adds the sums along the first `levels` levels. elements: the number of elements in the windows along the later
  // levels.
  void add_levels(std::size_t levels, std::int64_t offset, std::int64_t elements, f32* to) {
    const std::int64_t length = chunk_ * run_;
    constexpr f32 kOne = 1.0F;
    if (levels == 0) {
      const std::byte* const row = row_at(offset, elements, nullptr, 0);
      kernels_.add_rows(&row, &kOne, 1, true, length, to);
      return;
    }
    const GradientAxis& level = cut_.levels[levels - 1];
    const GradientTaps& taps = taps_[levels - 1];
    if (taps.first == taps.end) {
      std::fill_n(to, length, 0.0F);
    }
    const std::byte* rows[kGradientRows];
    f32 weights[kGradientRows];
    std::int32_t count = 0;
    bool begins = true;
    for (std::int64_t o = taps.first; o < taps.end; ++o) {
      const std::int64_t at = offset + o * level.input_stride();
      const std::int64_t of_window = elements * window_elements(level.dimension(), o);
      if (levels == 1) {
        rows[count] = row_at(at, of_window, rows, count);
      } else {
        add_levels(levels - 1, at, of_window, level_row(levels - 1));
        rows[count] = reinterpret_cast<const std::byte*>(level_row(levels - 1));
      }
      weights[count++] = level.weight(o, o < taps.second);
      if (count == kGradientRows || levels > 1 || o + 1 == taps.end) {
        kernels_.add_rows(rows, weights, count, begins, length, to);
        begins = false;
        count = 0;
      }
    }
  }

  // Adds columns that have no table, because their runs are longer or they have many taps.
  void add_columns(const f32* from, f32* sums) const {
    const GradientAxis& column = cut_.column.front();
    for (std::int64_t c = 0; c < tile_->count; ++c) {
      const GradientTaps taps = column.taps(tile_->first + c);
      const std::int64_t end = std::min(taps.end, chunk_first_ + chunk_);
      std::int64_t o = std::max(taps.first, chunk_first_);
      f32* const sum = sums + c * run_;
      if (run_ == 1) {
        f32 total = *sum;
        for (; o < end; ++o) {
          total = total + from[o - chunk_first_] * column.weight(o, o < taps.second);
        }
        *sum = total;
        continue;
      }
      while (o < end) {
        const std::byte* rows[kGradientRows];
        f32 weights[kGradientRows];
        std::int32_t count = 0;
        for (; o < end && count < kGradientRows; ++o, ++count) {
          rows[count] = reinterpret_cast<const std::byte*>(from + (o - chunk_first_) * run_);
          weights[count] = column.weight(o, o < taps.second);
        }
        kernels_.add_rows(rows, weights, count, false, run_, sum);
      }
    }
  }

  const GradientCut& cut_;
  const ResampleKernels& elements_;
  const GradientKernels& kernels_;
  const std::byte* input_;
  std::byte* output_;
  std::byte* scratch_;
  GradientTile own_;
  const GradientTile* tile_ = &own_;
  GradientTaps taps_[kMaxRank] = {};
  std::int64_t plane_ = -1;
  std::int64_t plane_input_ = 0;
  std::int64_t plane_output_ = 0;
  std::int64_t run_ = 1;
  std::int64_t chunk_first_ = 0;
  std::int64_t chunk_ = 0;
  std::int64_t divided_by_ = -1;
  std::int64_t divided_at_ = 0;
  std::int64_t next_ = 0;
  KeptRow kept_[kMaxSlots];
};

class Gradient final : public cpu::PreparedStep {
 public:
  Gradient(GradientCut cut, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1,
                     static_cast<std::size_t>(cut.scratch)),
        cut_(std::move(cut)),
        elements_(resample_kernels(target, cut_.step.type)),
        kernels_(gradient_kernels(target)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    GradientWork work(cut_, elements_, kernels_, operands, piece.scratch);
    for (std::int64_t unit = first; unit < end; ++unit) {
      work.make(unit);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "gradient, %zu+1 dimensions, %s kernel", cut_.levels.size(),
                  cpu::target_name(target_));
  }

 private:
  GradientCut cut_;
  ResampleKernels elements_;
  GradientKernels kernels_;
  cpu::Target target_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_gradient(const GradientStep& step, const cpu::StepContext& context) {
  return std::make_unique<Gradient>(make_cut(step, context.threads), context.target);
}

}  // namespace anydml
