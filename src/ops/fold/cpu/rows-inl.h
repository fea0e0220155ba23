// SPDX-License-Identifier: MIT
// The FOLD kernels, compiled once per target and once as portable code. This file is included inside each target's
// namespace, so it has no include guard.

// Loads elements at any alignment.
template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// The type of sums. Integers must wrap, so they are unsigned.
template <class T>
using sum_t = std::conditional_t<is_float<T>, compute_t<T>, T>;

template <class T>
sum_t<T> sum_of(sum_t<T> a, sum_t<T> b) {
  return static_cast<sum_t<T>>(a + b);
}

// Adds count elements that already have the type of the sums.
template <class T, std::int64_t kStep>
void add_elements(sum_t<T>* sums, std::int64_t step, const std::byte* from, std::int64_t count) {
  const std::int64_t apart = kStep != 0 ? kStep : step;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i * apart] =
        sum_of<T>(sums[i * apart], load<sum_t<T>>(from + i * static_cast<std::int64_t>(sizeof(sum_t<T>))));
  }
}

// Adds the elements of an input row to every `step`-th sum.
template <class T>
void add_row(sum_t<T>* sums, std::int64_t step, const std::byte* from, std::int64_t stride, std::int64_t count,
             sum_t<T>* widened) {
  if (stride != static_cast<std::int64_t>(sizeof(T))) {
    for (std::int64_t i = 0; i < count; ++i) {
      sums[i * step] = sum_of<T>(sums[i * step], widen(load<T>(from + i * stride)));
    }
    return;
  }
  if constexpr (std::is_same_v<T, f16>) {
    widen_halves(from, count, widened);
    from = reinterpret_cast<const std::byte*>(widened);
  }
  switch (step) {
    case 1:
      return add_elements<T, 1>(sums, step, from, count);
    case 2:
      return add_elements<T, 2>(sums, step, from, count);
    default:
      return add_elements<T, 0>(sums, step, from, count);
  }
}

// The first block that starts at or after `first`, which may be negative.
inline std::int64_t block_from(std::int64_t first, std::int64_t stride) {
  return first <= 0 ? 0 : (first + stride - 1) / stride;
}

// The elements that one window position along the last dimension adds to a unit.
struct FoldRow {
  std::int64_t first_sum;  // index of the first sum
  std::int64_t block;      // the first block
  std::int64_t blocks;
  std::int64_t in_window;
};

template <class T>
struct FoldUnit {
  const FoldStep& step;
  std::int64_t first;  // positions along the last dimension
  std::int64_t count;
  sum_t<T>* sums;
  sum_t<T>* widened;
  sum_t<T>* begins;  // initial values of the sums
  const std::byte* from;
  std::int64_t position[kMaxFoldRank];
  bool covered;
  // The number of `rows`, which are the same for all units that start at `first`. It is -1 if the window has more than
  // kFoldKnownRows positions; then the rows are recomputed each time.
  std::int64_t known_rows;
  FoldRow rows[kFoldKnownRows];

  template <class Use>
  void for_each_row(Use use) const {
    for (std::int64_t i = 0; i < known_rows; ++i) {
      use(rows[i]);
    }
    if (known_rows < 0) {
      find_rows(use);
    }
  }

  template <class Use>
  void find_rows(Use use) const {
    const FoldDimension& last = step.dimensions[step.rank - 1];
    for (std::int64_t in_window = 0; in_window < last.window; ++in_window) {
      const std::int64_t at = in_window * last.dilation - last.padding;
      const std::int64_t block = block_from(first - at, last.stride);
      const std::int64_t end = std::min(last.blocks, block_from(first + count - at, last.stride));
      if (block < end) {
        use(FoldRow{block * last.stride + at - first, block, end - block, in_window});
      }
    }
  }

  // If a block covers the position, the sum starts at -0, which leaves the first addend unchanged; otherwise it starts
  // at +0. Integers have only one zero.
  void set_first(std::int64_t at) {
    const FoldDimension& last = step.dimensions[step.rank - 1];
    first = at;
    count = std::min(kFoldPositions, last.size - first);
    known_rows = -1;
    if (last.window <= kFoldKnownRows) {
      std::int64_t found = 0;
      find_rows([&](const FoldRow& row) { rows[found++] = row; });
      known_rows = found;
    }
    std::fill_n(begins, count, sum_t<T>{0});
    if constexpr (is_float<T>) {
      for_each_row([&](const FoldRow& row) {
        for (std::int64_t i = 0; i < row.blocks; ++i) {
          begins[row.first_sum + i * last.stride] = -sum_t<T>{0};
        }
      });
    }
  }

  // Adds the elements for `dimension` and all later dimensions. The dimensions before it are fixed at a window position
  // and a block, both numbered in row-major order.
  void add(std::uint32_t dimension, std::int64_t in_window, std::int64_t block) {
    const FoldDimension& along = step.dimensions[dimension];
    if (dimension + 1 == step.rank) {
      covered = true;
      const std::byte* const blocks =
          from + in_window * along.window * step.input_window + block * along.blocks * step.input_block;
      for_each_row([&](const FoldRow& row) {
        add_row<T>(sums + row.first_sum, along.stride,
                   blocks + row.in_window * step.input_window + row.block * step.input_block, step.input_block,
                   row.blocks, widened);
      });
      return;
    }
    for (std::int64_t at = 0; at < along.window; ++at) {
      const std::int64_t behind = position[dimension] + along.padding - at * along.dilation;
      if (behind >= 0 && behind % along.stride == 0 && behind / along.stride < along.blocks) {
        add(dimension + 1, in_window * along.window + at, block * along.blocks + behind / along.stride);
      }
    }
  }

  void store(std::byte* to) const {
    const std::int64_t stride = step.dimensions[step.rank - 1].output;
    if (stride == static_cast<std::int64_t>(sizeof(T))) {
      if constexpr (std::is_same_v<T, f16>) {
        narrow_halves(sums, count, to);
      } else {
        std::memcpy(to, sums, static_cast<std::size_t>(count) * sizeof(T));
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = narrow<T>(sums[i]);
      std::memcpy(to + i * stride, &value, sizeof(value));
    }
  }
};

template <class T>
void fold_units(const FoldStep& step, std::int64_t first, std::int64_t end, const std::byte* from, std::byte* to,
                std::byte* scratch) noexcept {
  const FoldDimension& last = step.dimensions[step.rank - 1];
  const std::int64_t tiles = (last.size + kFoldPositions - 1) / kFoldPositions;
  auto* const sums = reinterpret_cast<sum_t<T>*>(scratch);
  FoldUnit<T> work{step, -1, 0, sums, sums + kFoldPositions, sums + 2 * kFoldPositions, nullptr, {}, false, 0, {}};
  for (std::int64_t unit = first; unit < end; ++unit) {
    std::int64_t rest = unit / tiles;
    if (const std::int64_t at = unit % tiles * kFoldPositions; at != work.first) {
      work.set_first(at);
    }
    std::byte* row = to + work.first * last.output;
    for (std::uint32_t i = step.rank - 1; i-- > 0;) {
      work.position[i] = rest % step.dimensions[i].size;
      rest /= step.dimensions[i].size;
      row += work.position[i] * step.dimensions[i].output;
    }
    row += rest % step.channels * step.output_channel + rest / step.channels * step.output_batch;
    work.from = from + rest % step.channels * step.input_channel + rest / step.channels * step.input_batch;
    work.covered = false;
    std::copy_n(work.begins, work.count, sums);
    work.add(0, 0, 0);
    if (!work.covered) {
      std::fill_n(sums, work.count, sum_t<T>{0});
    }
    work.store(row);
  }
}

// Integers of the same size share a kernel.
inline FoldRun find_run(DataType type) {
  switch (type) {
    case DataType::FLOAT16:
      return fold_units<f16>;
    case DataType::FLOAT32:
      return fold_units<f32>;
    case DataType::FLOAT64:
      return fold_units<f64>;
    default:
      break;
  }
  switch (element_size(type)) {
    case 1:
      return fold_units<u8>;
    case 2:
      return fold_units<u16>;
    case 4:
      return fold_units<u32>;
    default:
      return fold_units<u64>;
  }
}
