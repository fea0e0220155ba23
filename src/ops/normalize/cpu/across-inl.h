// SPDX-License-Identifier: MIT
// Processes rows whose elements are not adjacent in memory, several rows at a time. Included by kernels-inl.h.

ANYDML_FLATTEN void take_greater(const Elements* x, std::int64_t width, f32* maxima) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    maxima[i] = greater_element(maxima[i], x[i]);
  }
}
ANYDML_FLATTEN void subtract_columns(const Elements* x, const f32* maxima, std::int64_t width, f32* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    to[i] = x[i] - maxima[i];
  }
}
template <NormalizeFunction kFunction>
ANYDML_FLATTEN void finish_columns(const Elements* x, const Elements* exponentials, const f32* maxima,
                                   const f32* totals, std::int64_t width, Elements* to) {
  if constexpr (kFunction == NormalizeFunction::softmax) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = exponentials[i] / totals[i];
    }
  } else {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = (x[i] - maxima[i]) - totals[i];
    }
  }
}

// Writes the exponentials of some lines to `computed`, which may be the packed lines themselves. The number of lines
// must be a multiple of kExponentialsTogether, unless they are the last lines of the tile.
template <class T>
void exponentials_of_lines(Lines<T>& lines, std::int64_t count, const f32* maxima, f32* computed) {
  alignas(64) f32 gathered[kMaxColumns];
  const std::int64_t width = lines.tile.width;
  const bool is_last = lines.number + count == lines.tile.loops.count;
  for (std::int64_t i = 0; i < count; ++i, lines.next()) {
    subtract_columns(lines.load(gathered), maxima, width, computed + i * width);
  }
  if (is_last) {
    std::fill_n(computed + count * width, kExponentialsTogether, 0.0F);
  }
  exponentials_in_place(computed, count * width);
}

inline std::int64_t lines_at_once(std::int64_t width) {
  return kNormalizeStage / width / kExponentialsTogether * kExponentialsTogether;
}

// Computes the totals of a tile. replaces: whether the exponentials replace the packed lines. kept: whether the
// exponentials are also written to the output.
template <class T>
void sum_tile(Lines<T> lines, const f32* maxima, bool replaces, bool kept, f32* stage, f32* totals) {
  alignas(64) f32 sums[kReduceLanes * kMaxLaneColumns];
  static_assert(kMaxColumns * kFewElements <= kReduceLanes * kMaxLaneColumns);
  BlockTree<f32> trees[kMaxTreeColumns];
  const Tile<T>& tile = lines.tile;
  const std::int64_t count = tile.loops.count;
  const std::int64_t width = tile.width;
  std::int64_t lanes = 1;
  while (tile.loops.has_lanes != 0 && lanes < count && lanes < kReduceLanes) {
    lanes *= 2;
  }
  const std::int64_t at_once = lines_at_once(width);
  for (std::int64_t block = 0; block < count; block += kReduceBlock) {
    const std::int64_t of_block = std::min(kReduceBlock, count - block);
    std::fill_n(sums, lanes * width, kNothing<f32>);
    for (std::int64_t first = 0; first < of_block; first += at_once) {
      const std::int64_t some = std::min(at_once, of_block - first);
      f32* const computed = replaces ? lines.own() : stage;
      LoopWalk written = lines.line;
      exponentials_of_lines(lines, some, maxima, computed);
      for (std::int64_t i = 0; i < some; ++i) {
        add_columns(computed + i * width, width, sums + (first + i) % lanes * width);
      }
      for (std::int64_t i = 0; kept && i < some; ++i, written.next()) {
        std::memcpy(tile.destination(written, nullptr), computed + i * width,
                    static_cast<std::size_t>(width) * sizeof(f32));
      }
    }
    fold_columns(sums, lanes, width);
    if (count <= kReduceBlock) {
      std::copy_n(sums, width, totals);
      return;
    }
    for (std::int64_t i = 0; i < width; ++i) {
      trees[i].add(sums[i], added);
    }
  }
  for (std::int64_t i = 0; i < width; ++i) {
    totals[i] = trees[i].total(added);
  }
}

template <class T, NormalizeFunction kFunction>
void normalize_tile(const Tile<T>& tile, bool has_room, f32* scratch) {
  constexpr bool kIsSoftmax = kFunction == NormalizeFunction::softmax;
  alignas(64) f32 gathered[kMaxColumns];
  alignas(64) f32 maxima[kMaxColumns];
  alignas(64) f32 totals[kMaxColumns];
  f32* const stage = scratch;
  f32* const packed = has_room ? scratch + kNormalizeStage + kNormalizePadding : nullptr;
  const std::int64_t count = tile.loops.count;
  const std::int64_t width = tile.width;
  std::fill_n(maxima, width, kMinElement);
  const Lines<T> all(tile, packed);
  for (Lines<T> lines = all; lines.number < count; lines.next()) {
    if (has_room) {
      gather<T>(tile.input + lines.line.input(), tile.input_stride, width, lines.own());
    }
    take_greater(lines.load(gathered), width, maxima);
  }
  const bool replaces = kIsSoftmax && has_room;
  const bool kept = kIsSoftmax && !has_room && tile.writes();
  sum_tile(all, maxima, replaces, kept, stage, totals);
  for (std::int64_t i = 0; i < width; ++i) {
    totals[i] = finished_total<kFunction>(totals[i]);
  }
  const std::int64_t at_once = lines_at_once(width);
  Lines<T> ahead = all;
  Lines<T> lines = all;
  for (std::int64_t first = 0; first < count; first += at_once) {
    const std::int64_t some = std::min(at_once, count - first);
    if (kIsSoftmax && !replaces && !kept) {
      exponentials_of_lines(ahead, some, maxima, stage);
    }
    for (std::int64_t i = 0; i < some; ++i, lines.next()) {
      Elements* const to = tile.destination(lines.line, gathered);
      const Elements* x = nullptr;
      if constexpr (kIsSoftmax) {
        x = replaces ? lines.own() : kept ? to : stage + i * width;
      } else {
        x = lines.load(gathered);
      }
      finish_columns<kFunction>(x, x, maxima, totals, width, to);
      tile.store(lines.line, gathered);
    }
  }
}

ANYDML_FLATTEN void find_columns(const Elements* x, std::int64_t number, std::int64_t width, f32* maxima,
                                 std::int64_t* indices) {
  for (std::int64_t i = 0; i < width; ++i) {
    const bool beyond = is_beyond(x[i], maxima[i]);
    maxima[i] = select(beyond, static_cast<f32>(x[i]), maxima[i]);
    indices[i] = beyond ? number : indices[i];
  }
}

template <class T>
void hardmax_tile(const Tile<T>& tile) {
  alignas(64) f32 buffer[kMaxColumns];
  alignas(64) f32 maxima[kMaxColumns];
  alignas(64) std::int64_t indices[kMaxColumns] = {};
  const std::int64_t width = tile.width;
  std::fill_n(maxima, width, kMinElement);
  LoopWalk line = tile.walk();
  for (std::int64_t i = 0; i < tile.loops.count; ++i, line.next()) {
    find_columns(tile.load(line, buffer), i, width, maxima, indices);
  }
  line = tile.walk();
  for (std::int64_t i = 0; i < tile.loops.count; ++i, line.next()) {
    Elements* const to = tile.destination(line, buffer);
    for (std::int64_t column = 0; column < width; ++column) {
      to[column] = indices[column] == i ? 1.0F : 0.0F;
    }
    tile.store(line, buffer);
  }
}

template <class T, NormalizeFunction kFunction>
void run_across(const NormalizeStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
                const std::byte* input, std::byte* output, f32* scratch) noexcept {
  const AxisLoops& loops = step.loops;
  const AxisLoop& column = loops.kept[loops.kept_rank - 1];
  for (; first < end; ++first) {
    const LoopWalk at(loops.kept, loops.kept_rank - 1, first / cut.tiles);
    const std::int64_t number = first % cut.tiles * cut.width;
    const Tile<T> tile{.loops = loops,
                       .input = input + loops.input_offset + at.input() + number * column.input,
                       .output = output + loops.output_offset + at.output() + number * column.output,
                       .width = std::min(cut.width, column.size - number),
                       .input_stride = column.input,
                       .output_stride = column.output};
    if constexpr (kFunction == NormalizeFunction::hardmax) {
      hardmax_tile<T>(tile);
    } else {
      normalize_tile<T, kFunction>(tile, cut.has_room, scratch);
    }
  }
}
