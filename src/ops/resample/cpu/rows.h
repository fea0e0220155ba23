// SPDX-License-Identifier: MIT
// The division of a resampling step into rows. A row consists of columns along the last sampled dimension, and each
// column is a run of elements that are contiguous in both tensors. A unit of work is a tile of one output row.
#pragma once

#include <vector>

#include "backend/cpu/family.h"
#include "ops/resample/cpu/kernels.h"

namespace anydml {

inline constexpr std::int64_t kMaxResampleSlots = 64;

struct ResampleRows {
  ResampleStep step{};
  std::int64_t element = 0;  // bytes
  std::int64_t run = 1;      // elements
  ResampleDimension column{};
  std::vector<ResampleDimension> copied;   // the other copied dimensions, outermost first
  std::vector<ResampleDimension> sampled;  // the other sampled dimensions, outermost first
  bool packed_input = false;               // the runs of an input row are contiguous
  bool packed_output = false;
  bool in_place = false;  // the rows of the input are already contiguous FLOAT32
  bool is_far = false;    // rows must be loaded, but taps are too far apart to load everything between them

  std::int64_t tile_columns = 0;
  std::int64_t tile_run = 0;
  std::int64_t column_tiles = 0;
  std::int64_t run_tiles = 0;
  std::int64_t rows = 1;  // rows of the sampled dimensions; these units share rows of the input
  std::int64_t units = 0;
  std::int64_t units_of_piece = 0;

  // The columns of all tiles; empty if there are too many, in which case each piece computes its own.
  std::vector<std::byte> column_memory;
  std::vector<Columns> columns;

  // The taps of all outputs of a sampled dimension; empty for stretched and long dimensions.
  std::vector<std::vector<LinearTaps>> taps;

  // Layout of the scratch memory, in bytes.
  std::int64_t slots = 0;  // kept rows of means along the columns
  std::size_t columns_at = 0;
  std::size_t loaded_at = 0;
  std::size_t slots_at = 0;
  std::size_t levels_at = 0;
  std::size_t output_at = 0;
  std::vector<std::size_t> weights_at;  // offsets of the stretched dimensions' weights
  std::size_t scratch_bytes = 0;

  [[nodiscard]] std::int64_t tile_elements() const { return tile_columns * tile_run; }
};

// forwards: whether a joined step consumes the outputs.
[[nodiscard]] ResampleRows cut_rows(const ResampleStep& step, unsigned threads, bool forwards);

}  // namespace anydml
