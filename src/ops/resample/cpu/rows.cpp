// SPDX-License-Identifier: MIT
#include "ops/resample/cpu/rows.h"
#include "base/integers.h"

#include <algorithm>

namespace anydml {
namespace {

constexpr std::int64_t kTileElements = 4096;     // part of a row; several parts fit in the L1 cache
constexpr std::int64_t kMaxLoaded = 16 << 10;    // elements of an input row loaded for a tile
constexpr std::int64_t kMinColumns = 16;         // minimum for a tile that loads everything between its taps
constexpr std::int64_t kMaxSpan = 1 << 30;       // elements that the taps of a tile may reach
constexpr std::int64_t kMaxKept = 1 << 20;       // columns whose taps are kept with the step
constexpr std::int64_t kMaxKeptTaps = 64 << 10;  // maximum for each of the other dimensions
constexpr std::int64_t kMaxSlotBytes = 256 << 10;
constexpr std::int64_t kMinOfPiece = 64 << 10;  // elements read or written
constexpr std::int64_t kPiecesOfThread = 8;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Chooses the dimensions of the run and of the columns; the remaining dimensions are left in `copied` and `sampled`.
void choose_row(ResampleRows& cut) {
  const ResampleStep& step = cut.step;
  const auto dimensions = std::span(step.dimensions, step.rank);
  cut.copied.assign(dimensions.begin(), dimensions.begin() + step.copied);
  cut.sampled.assign(dimensions.begin() + step.copied, dimensions.end());
  if (!cut.copied.empty() && cut.copied.back().input_stride == cut.element &&
      cut.copied.back().output_stride == cut.element) {
    cut.run = cut.copied.back().output_size;
    cut.copied.pop_back();
  }
  cut.column = {.input_size = 1,
                .output_size = 1,
                .input_stride = cut.run * cut.element,
                .output_stride = cut.run * cut.element,
                .kind = ResampleKind::copied,
                .scale = 1.0F,
                .input_offset = 0.0F,
                .output_offset = 0.0F};
  auto& left = cut.sampled.empty() ? cut.copied : cut.sampled;
  if (!left.empty()) {
    cut.column = left.back();
    left.pop_back();
  }
  cut.packed_input = cut.column.input_stride == cut.run * cut.element;
  cut.packed_output = cut.column.output_stride == cut.run * cut.element;
}

void choose_tiles(ResampleRows& cut, unsigned threads) {
  cut.tile_run = std::min(cut.run, kTileElements);
  cut.tile_columns = std::clamp<std::int64_t>(kTileElements / cut.tile_run, 1, cut.column.output_size);
  while (cut.tile_columns > 1 && max_span(cut.column, cut.tile_columns) > kMaxSpan) {
    cut.tile_columns = ceil_div(cut.tile_columns, 2);
  }
  // Split runs are not contiguous with each other.
  cut.in_place = cut.packed_input && cut.step.type == DataType::FLOAT32 && cut.tile_run == cut.run;
  if (cut.step.interpolates != 0 && !cut.in_place) {
    std::int64_t columns = cut.tile_columns;
    while (columns > kMinColumns && max_span(cut.column, columns) > kMaxLoaded / cut.tile_run) {
      columns = ceil_div(columns, 2);
    }
    cut.is_far = max_span(cut.column, columns) > kMaxLoaded / cut.tile_run;
    cut.tile_columns = cut.is_far ? cut.tile_columns : columns;
  }
  cut.column_tiles = ceil_div(cut.column.output_size, cut.tile_columns);
  cut.run_tiles = ceil_div(cut.run, cut.tile_run);
  for (const ResampleDimension& dimension : cut.sampled) {
    cut.rows *= dimension.output_size;
  }
  cut.units = cut.rows * cut.column_tiles * cut.run_tiles;
  for (const ResampleDimension& dimension : cut.copied) {
    cut.units *= dimension.output_size;
  }
  const std::int64_t cost =
      cut.tile_elements() + std::min(max_span(cut.column, cut.tile_columns), kMaxSpan) * cut.tile_run;
  cut.units_of_piece =
      std::max(ceil_div(cut.units, static_cast<std::int64_t>(threads) * kPiecesOfThread), ceil_div(kMinOfPiece, cost));
  if (cut.units_of_piece > cut.rows) {
    cut.units_of_piece = ceil_div(cut.units_of_piece, cut.rows) * cut.rows;
  }
}

void keep_columns(ResampleRows& cut) {
  if (cut.column.output_size > kMaxKept) {
    return;
  }
  const std::size_t bytes = aligned(column_bytes(cut.column, cut.tile_columns));
  cut.column_memory.resize(bytes * static_cast<std::size_t>(cut.column_tiles));
  for (std::int64_t tile = 0; tile < cut.column_tiles; ++tile) {
    const std::int64_t first = tile * cut.tile_columns;
    cut.columns.push_back(make_columns(cut.column, first, std::min(cut.tile_columns, cut.column.output_size - first),
                                       cut.column_memory.data() + static_cast<std::size_t>(tile) * bytes));
  }
}

void keep_taps(ResampleRows& cut) {
  for (const ResampleDimension& dimension : cut.sampled) {
    auto& taps = cut.taps.emplace_back();
    const bool keeps = dimension.kind != ResampleKind::stretched && dimension.output_size <= kMaxKeptTaps;
    taps.reserve(keeps ? static_cast<std::size_t>(dimension.output_size) : 0);
    for (std::int64_t output = 0; keeps && output < dimension.output_size; ++output) {
      taps.push_back(few_taps(dimension, output));
    }
  }
}

void lay_out_scratch(ResampleRows& cut, bool forwards) {
  const auto take = [&cut](std::size_t bytes) {
    const std::size_t at = cut.scratch_bytes;
    cut.scratch_bytes += aligned(bytes);
    return at;
  };
  const std::size_t row = aligned(static_cast<std::size_t>(cut.tile_elements()) * sizeof(f32));
  cut.columns_at = cut.columns.empty() ? take(column_bytes(cut.column, cut.tile_columns)) : 0;
  if (cut.step.interpolates != 0) {
    if (!cut.in_place && !cut.is_far) {
      cut.loaded_at =
          take(static_cast<std::size_t>(max_span(cut.column, cut.tile_columns) * cut.tile_run) * sizeof(f32));
    }
    std::int64_t needed = 1;
    for (const ResampleDimension& dimension : cut.sampled) {
      const std::int64_t taps = dimension.kind == ResampleKind::stretched ? max_stretched_taps(dimension) : 2;
      needed = std::min(needed * std::min(taps, kMaxResampleSlots), kMaxResampleSlots);
      cut.weights_at.push_back(
          dimension.kind == ResampleKind::stretched ? take(static_cast<std::size_t>(taps) * sizeof(f32)) : 0);
    }
    cut.slots =
        cut.sampled.empty() ? 0 : std::clamp<std::int64_t>(kMaxSlotBytes / static_cast<std::int64_t>(row), 2, needed);
    cut.slots_at = take(row * static_cast<std::size_t>(cut.slots));
    cut.levels_at = take(row * (cut.sampled.size() + 1));
  }
  cut.output_at =
      forwards ? take(static_cast<std::size_t>(cut.tile_elements()) * static_cast<std::size_t>(cut.element)) : 0;
}

}  // namespace

ResampleRows cut_rows(const ResampleStep& step, unsigned threads, bool forwards) {
  ResampleRows cut;
  cut.step = step;
  cut.element = static_cast<std::int64_t>(element_size(step.type));
  choose_row(cut);
  choose_tiles(cut, threads);
  keep_columns(cut);
  keep_taps(cut);
  lay_out_scratch(cut, forwards);
  return cut;
}

}  // namespace anydml
