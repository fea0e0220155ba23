// SPDX-License-Identifier: MIT
// Loads rows of any layout as FLOAT32 and sums them, for all kernels of the family. This file is included once per
// target, inside the namespace of the target. Compilers vectorize FLOAT16 conversions badly, so the namespace must
// already define widen_halves and narrow_halves.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors may have any alignment
};
using Elements = typename Unaligned<f32>::type;

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

inline constexpr std::int64_t kHalvesTogether = 256;

// Folds the lanes by repeated halving. Empty lanes are -0, which does not change a sum.
template <std::int64_t kHalf>
inline f32 fold_lanes(f32* lanes) {
  for (std::int64_t i = 0; i < kHalf; ++i) {
    lanes[i] += lanes[i + kHalf];
  }
  if constexpr (kHalf == 1) {
    return lanes[0];
  } else {
    return fold_lanes<kHalf / 2>(lanes);
  }
}

// Sums at most one block.
ANYDML_FLATTEN f32 sum_block(const Elements* x, std::int64_t count, bool has_lanes) {
  if (!has_lanes) {
    f32 sum = kNothing<f32>;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += x[i];
    }
    return sum;
  }
  alignas(64) f32 lanes[kReduceLanes];
  for (f32& lane : lanes) {
    lane = kNothing<f32>;
  }
  std::int64_t first = 0;
  for (; first + kReduceLanes <= count; first += kReduceLanes) {
    for (std::int64_t i = 0; i < kReduceLanes; ++i) {
      lanes[i] += x[first + i];
    }
  }
  for (std::int64_t i = 0; first + i < count; ++i) {
    lanes[i] += x[first + i];
  }
  return fold_lanes<kReduceLanes / 2>(lanes);
}

// Converts elements in memory to contiguous FLOAT32 and back.
template <class T>
inline void gather(const std::byte* from, std::int64_t stride, std::int64_t count, f32* to) {
  if constexpr (std::is_same_v<T, f16>) {
    if (stride == sizeof(f16)) {
      widen_halves(from, count, to);
      return;
    }
    f16 some[kHalvesTogether];
    for (std::int64_t first = 0; first < count; first += kHalvesTogether) {
      const std::int64_t part = std::min(kHalvesTogether, count - first);
      for (std::int64_t i = 0; i < part; ++i) {
        std::memcpy(some + i, from + (first + i) * stride, sizeof(f16));
      }
      widen_halves(reinterpret_cast<const std::byte*>(some), part, to + first);
    }
  } else if (stride == sizeof(f32)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(f32));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i, from + i * stride, sizeof(f32));
    }
  }
}

template <class T>
inline void scatter(const f32* from, std::int64_t count, std::byte* to, std::int64_t stride) {
  if constexpr (std::is_same_v<T, f16>) {
    if (stride == sizeof(f16)) {
      narrow_halves(from, count, to);
      return;
    }
    f16 some[kHalvesTogether];
    for (std::int64_t first = 0; first < count; first += kHalvesTogether) {
      const std::int64_t part = std::min(kHalvesTogether, count - first);
      narrow_halves(from + first, part, reinterpret_cast<std::byte*>(some));
      for (std::int64_t i = 0; i < part; ++i) {
        std::memcpy(to + (first + i) * stride, some + i, sizeof(f16));
      }
    }
  } else if (stride == sizeof(f32)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(f32));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * stride, from + i, sizeof(f32));
    }
  }
}

// Rows that are processed one at a time.
template <class T>
class AlongRows {
 public:
  AlongRows(const AxisLoops& loops, const std::byte* input, std::byte* output)
      : loops_(loops), input_(input + loops.input_offset), output_(output + loops.output_offset) {
    const AxisLoop& inner = loops.reduced[loops.reduced_rank - 1];
    const bool is_plain = loops.reduced_rank == 1 && std::is_same_v<T, f32>;
    reads_ = is_plain && inner.input == sizeof(f32);
    writes_ = is_plain && inner.output == sizeof(f32);
  }

  // Returns a part of a row, in place or gathered in the buffer.
  const Elements* load(const LoopWalk& row, std::int64_t first, std::int64_t count, f32* buffer) const {
    const std::byte* const from = input_ + row.input();
    if (reads_) {
      return reinterpret_cast<const Elements*>(from) + first;
    }
    f32* to = buffer;
    for (RowRuns runs(loops_, first, count); !runs.done(); runs.next()) {
      gather<T>(from + runs.input(), loops_.reduced[loops_.reduced_rank - 1].input, runs.length(), to);
      to += runs.length();
    }
    return buffer;
  }

  // Where to write the results of a part of a row: the output itself, or the buffer, from which `store` copies them to
  // the output.
  Elements* destination(const LoopWalk& row, std::int64_t first, f32* buffer) const {
    return writes_ ? reinterpret_cast<Elements*>(output_ + row.output()) + first : buffer;
  }
  void store(const LoopWalk& row, std::int64_t first, std::int64_t count, const f32* buffer) const {
    if (writes_) {
      return;
    }
    for (RowRuns runs(loops_, first, count); !runs.done(); runs.next()) {
      scatter<T>(buffer, runs.length(), output_ + row.output() + runs.output(),
                 loops_.reduced[loops_.reduced_rank - 1].output);
      buffer += runs.length();
    }
  }
  // The location of the results of a part of a row if they are contiguous; null otherwise.
  [[nodiscard]] std::byte* packed_output(const LoopWalk& row, std::int64_t first) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    return loops_.reduced_rank == 1 && loops_.reduced[0].output == kBytes ? output_ + row.output() + first * kBytes
                                                                          : nullptr;
  }
  [[nodiscard]] bool reads() const { return reads_; }
  [[nodiscard]] bool writes() const { return writes_; }
  [[nodiscard]] LoopWalk walk(std::int64_t row) const { return {loops_.kept, loops_.kept_rank, row}; }

 private:
  const AxisLoops& loops_;
  const std::byte* input_;
  std::byte* output_;
  bool reads_;   // elements can be read in place
  bool writes_;  // results can be written in place
};

// Rows that are processed together. A tile contains `width` rows as its columns, and each line of the tile contains one
// element of each row.
template <class T>
struct Tile {
  const AxisLoops& loops;
  const std::byte* input;
  std::byte* output;
  std::int64_t width;
  std::int64_t input_stride;  // between columns
  std::int64_t output_stride;

  const Elements* load(const LoopWalk& line, f32* buffer) const {
    const std::byte* const from = input + line.input();
    if (std::is_same_v<T, f32> && input_stride == sizeof(f32)) {
      return reinterpret_cast<const Elements*>(from);
    }
    gather<T>(from, input_stride, width, buffer);
    return buffer;
  }
  [[nodiscard]] bool writes() const { return std::is_same_v<T, f32> && output_stride == sizeof(f32); }
  Elements* destination(const LoopWalk& line, f32* buffer) const {
    return writes() ? reinterpret_cast<Elements*>(output + line.output()) : buffer;
  }
  void store(const LoopWalk& line, const f32* buffer) const {
    if (!writes()) {
      scatter<T>(buffer, width, output + line.output(), output_stride);
    }
  }
  [[nodiscard]] LoopWalk walk() const { return {loops.reduced, loops.reduced_rank, 0}; }
};

ANYDML_FLATTEN void add_columns(const Elements* x, std::int64_t width, f32* sums) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    sums[i] += x[i];
  }
}
// Folds the lanes of columns by repeated halving.
ANYDML_FLATTEN void fold_columns(f32* sums, std::int64_t lanes, std::int64_t width) {
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half * width; ++i) {
      sums[i] += sums[i + half * width];
    }
  }
}

// The lines of a tile: packed in scratch memory if they all fit, and in place otherwise.
template <class T>
struct Lines {
  const Tile<T>& tile;
  f32* packed;  // null if the tile does not fit into scratch memory
  LoopWalk line;
  std::int64_t number = 0;

  Lines(const Tile<T>& of, f32* room) : tile(of), packed(room), line(of.walk()) {}

  const Elements* load(f32* buffer) const { return packed != nullptr ? own() : tile.load(line, buffer); }
  [[nodiscard]] f32* own() const { return packed + number * tile.width; }
  void next() {
    line.next();
    ++number;
  }
};
