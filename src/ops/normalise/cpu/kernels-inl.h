// SPDX-License-Identifier: MIT
// The kernels in plain loops that the compiler makes vectors of. Included once for each target, in its namespace, which
// has widen_halves and narrow_halves already: compilers do those badly.
// No lambdas and no calls of templates from elsewhere that are not inlined: those would not be the target's.
//
// A row is gone through three times: for its greatest element, for the exponentials and their sum, and for the results.
// Rows of up to a stage stay in the first-level cache meanwhile, and several are taken at a time if they are shorter.
// The exponentials of a longer row wait in the output if they can lie there, in scratch memory if that has room, and
// are computed twice otherwise.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors lie at any address
};
using Elements = typename Unaligned<f32>::type;

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

inline constexpr std::int64_t kPowersTogether = 16;  // elements whose instructions are mixed
inline constexpr std::int64_t kShortRow = 64;        // elements: shorter ones are taken together
inline constexpr std::int64_t kMostRows = 256;
inline constexpr std::int64_t kHalvesTogether = 256;
static_assert(kPowersTogether <= kNormalisePadding);

// EXP(x) of each element. Their number is rounded up to a multiple of kPowersTogether.
ANYDML_FLATTEN void powers_in_place(f32* values, std::int64_t count) {
  for (std::int64_t first = 0; first < count; first += kPowersTogether) {
    for (std::int64_t i = first; i < first + kPowersTogether; ++i) {
      values[i] = power_of(values[i]);
    }
  }
}

// EXP(x - greatest) of each element.
ANYDML_FLATTEN void powers(const Elements* __restrict x, f32 greatest, std::int64_t count, Elements* __restrict to) {
  const std::int64_t whole = count - count % kPowersTogether;
  for (std::int64_t first = 0; first < whole; first += kPowersTogether) {
    for (std::int64_t i = first; i < first + kPowersTogether; ++i) {
      to[i] = power_of(x[i] - greatest);
    }
  }
  if (whole < count) {
    alignas(64) f32 rest[kPowersTogether] = {};
    for (std::int64_t i = whole; i < count; ++i) {
      rest[i - whole] = x[i] - greatest;
    }
    for (std::int64_t i = 0; i < kPowersTogether; ++i) {
      rest[i] = power_of(rest[i]);
    }
    for (std::int64_t i = whole; i < count; ++i) {
      to[i] = rest[i - whole];
    }
  }
}

ANYDML_FLATTEN f32 greatest_of(const Elements* x, std::int64_t count, f32 before) {
  constexpr std::int64_t kAtOnce = 32;
  if (count < kAtOnce) {
    for (std::int64_t i = 0; i < count; ++i) {
      before = greater_element(before, x[i]);
    }
    return before;
  }
  alignas(64) f32 best[kAtOnce];
  for (std::int64_t i = 0; i < kAtOnce; ++i) {
    best[i] = before;
  }
  std::int64_t first = 0;
  for (; first + kAtOnce <= count; first += kAtOnce) {
    for (std::int64_t i = 0; i < kAtOnce; ++i) {
      best[i] = greater_element(best[i], x[first + i]);
    }
  }
  for (std::int64_t i = 0; first + i < count; ++i) {
    best[i] = greater_element(best[i], x[first + i]);
  }
  for (std::int64_t half = kAtOnce / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) {
      best[i] = greater_element(best[i], best[i + half]);
    }
  }
  return best[0];
}

// Of at most a block. Lanes beyond the next power of two would be empty and change nothing.
ANYDML_FLATTEN f32 sum_block(const Elements* x, std::int64_t count, bool has_lanes) {
  if (!has_lanes) {
    f32 sum = kNothing<f32>;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += x[i];
    }
    return sum;
  }
  alignas(64) f32 lanes[kReduceLanes];
  std::int64_t used = 1;
  while (used < count && used < kReduceLanes) {
    used *= 2;
  }
  for (std::int64_t i = 0; i < used; ++i) {
    lanes[i] = kNothing<f32>;
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
  for (std::int64_t half = used / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) {
      lanes[i] += lanes[i + half];
    }
  }
  return lanes[0];
}

// The results of a stretch of a row. powers: EXP(x - greatest), which softmax alone needs; `to` may be the same.
template <NormaliseFunction kFunction>
ANYDML_FLATTEN void finish(const Elements* x, const Elements* powers, f32 greatest, f32 total, std::int64_t count,
                           Elements* to) {
  if constexpr (kFunction == NormaliseFunction::softmax) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = powers[i] / total;
    }
  } else {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = (x[i] - greatest) - total;  // its logarithm
    }
  }
}

// What `finish` takes as the total.
template <NormaliseFunction kFunction>
inline f32 finished_total(f32 sum) {
  return kFunction == NormaliseFunction::log_softmax ? logarithm_of(sum) : sum;
}

// Elements in memory to FLOAT32 that lie beside each other, and back.
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

// Rows along their elements.
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

  // A stretch of a row, where it is or gathered in the buffer.
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

  // Where the results of a stretch are to be written: in the output itself, or in the buffer, for `store`.
  Elements* place(const LoopWalk& row, std::int64_t first, f32* buffer) const {
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
  [[nodiscard]] bool reads() const { return reads_; }
  [[nodiscard]] bool writes() const { return writes_; }
  [[nodiscard]] LoopWalk walk(std::int64_t row) const { return {loops_.kept, loops_.kept_rank, row}; }

 private:
  const AxisLoops& loops_;
  const std::byte* input_;
  std::byte* output_;
  bool reads_;   // an element is where and as kernels take it
  bool writes_;  // the same of results
};

// Rows of a stage at most, as many as a stage holds.
template <class T, NormaliseFunction kFunction>
void short_rows(const AxisLoops& loops, const AlongRows<T>& rows, LoopWalk& row, std::int64_t count_of_rows,
                f32* scratch) {
  f32* const gathered = scratch;
  f32* const made = scratch + kNormaliseStage + kNormalisePadding;
  const Elements* x[kMostRows];
  f32 greatest[kMostRows];
  const std::int64_t count = loops.count;
  LoopWalk later = row;
  for (std::int64_t i = 0; i < count_of_rows; ++i, row.next()) {
    x[i] = rows.load(row, 0, count, gathered + i * count);
    greatest[i] = greatest_of(x[i], count, kLeastElement);
    if (count >= kShortRow) {
      powers(x[i], greatest[i], count, made + i * count);
      continue;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      made[i * count + k] = x[i][k] - greatest[i];
    }
  }
  if (count < kShortRow) {
    const std::int64_t all = count_of_rows * count;
    std::fill_n(made + all, kPowersTogether, 0.0F);
    powers_in_place(made, all);
  }
  for (std::int64_t i = 0; i < count_of_rows; ++i, later.next()) {
    f32* const own = made + i * count;
    const f32 total = finished_total<kFunction>(sum_block(own, count, loops.has_lanes != 0));
    finish<kFunction>(x[i], own, greatest[i], total, count, rows.place(later, 0, own));
    rows.store(later, 0, count, own);
  }
}

template <class T, NormaliseFunction kFunction>
void long_row(const AxisLoops& loops, const AlongRows<T>& rows, const LoopWalk& row, bool has_room, f32* scratch) {
  static_assert(kNormaliseStage == kReduceBlock);
  constexpr bool kIsSoftmax = kFunction == NormaliseFunction::softmax;
  f32* const made = scratch;
  f32* const held = scratch + kNormaliseStage + kNormalisePadding;  // a whole row, or a block of one
  const std::int64_t step = has_room ? 1 : 0;
  f32 greatest = kLeastElement;
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    greatest = greatest_of(rows.load(row, first, count, held + step * first), count, greatest);
  }
  const bool loads = rows.reads() || !has_room;  // otherwise the row is in scratch memory now
  BlockTree<f32> tree;
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    f32* const own = held + step * first;
    const Elements* const x = loads ? rows.load(row, first, count, own) : own;
    Elements* const to = !kIsSoftmax ? made : rows.writes() ? rows.place(row, first, made) : has_room ? own : made;
    if (x == to) {
      for (std::int64_t i = 0; i < count; ++i) {
        own[i] -= greatest;
      }
      std::fill_n(own + count, (kPowersTogether - count % kPowersTogether) % kPowersTogether, 0.0F);
      powers_in_place(own, count);
    } else {
      powers(x, greatest, count, to);
    }
    tree.add(sum_block(to, count, loops.has_lanes != 0), added);
  }
  const f32 total = finished_total<kFunction>(tree.total(added));
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    f32* const own = held + step * first;
    Elements* const to = rows.place(row, first, made);
    if (kIsSoftmax && rows.writes()) {
      finish<kFunction>(to, to, greatest, total, count, to);
      continue;
    }
    const Elements* x = own;
    if (kIsSoftmax ? !has_room : loads) {
      x = rows.load(row, first, count, own);
    }
    if (kIsSoftmax && !has_room) {
      powers(x, greatest, count, made);
      x = made;
    }
    finish<kFunction>(x, x, greatest, total, count, to);
    rows.store(row, first, count, made);
  }
}

ANYDML_FLATTEN bool has_nan(const Elements* x, std::int64_t count) {
  u32 any = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    any |= x[i] != x[i] ? 1U : 0U;
  }
  return any != 0;
}

template <class T>
void hardmax_row(const AxisLoops& loops, const AlongRows<T>& rows, const LoopWalk& row, f32* buffer) {
  f32 greatest = kLeastElement;
  std::int64_t block = 0;  // that has the first of the greatest
  for (std::int64_t first = 0; first < loops.count; first += kNormaliseStage) {
    const std::int64_t count = std::min(kNormaliseStage, loops.count - first);
    const Elements* const x = rows.load(row, first, count, buffer);
    if (has_nan(x, count)) {
      greatest = quiet_nan<f32>();
      block = first;
      break;
    }
    const f32 here = greatest_of(x, count, kLeastElement);
    block = here > greatest ? first : block;
    greatest = greater_element(greatest, here);
  }
  const Elements* const x = rows.load(row, block, std::min(kNormaliseStage, loops.count - block), buffer);
  std::int64_t index = 0;
  while (greatest == greatest ? x[index] != greatest : x[index] == x[index]) {
    ++index;
  }
  index += block;
  for (std::int64_t first = 0; first < loops.count; first += kNormaliseStage) {
    const std::int64_t count = std::min(kNormaliseStage, loops.count - first);
    Elements* const to = rows.place(row, first, buffer);
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = 0.0F;
    }
    if (index >= first && index < first + count) {
      to[index - first] = 1.0F;
    }
    rows.store(row, first, count, buffer);
  }
}

template <class T, NormaliseFunction kFunction>
void run_along(const NormaliseStep& step, const NormaliseCut& cut, std::int64_t first, std::int64_t end,
               const std::byte* input, std::byte* output, f32* scratch) noexcept {
  const AxisLoops& loops = step.loops;
  const AlongRows<T> rows(loops, input, output);
  LoopWalk row = rows.walk(first);
  if constexpr (kFunction == NormaliseFunction::hardmax) {
    for (; first < end; ++first, row.next()) {
      hardmax_row<T>(loops, rows, row, scratch);
    }
  } else if (loops.count > kNormaliseStage) {
    for (; first < end; ++first, row.next()) {
      long_row<T, kFunction>(loops, rows, row, cut.has_room, scratch);
    }
  } else {
    const std::int64_t most = std::min(kMostRows, kNormaliseStage / loops.count);
    for (; first < end; first += most) {
      short_rows<T, kFunction>(loops, rows, row, std::min(most, end - first), scratch);
    }
  }
}

// Rows across: `width` of them are the columns of a tile, whose lines are their elements.
template <class T>
struct Tile {
  const AxisLoops& loops;
  const std::byte* input;
  std::byte* output;
  std::int64_t width;
  std::int64_t input_stride;  // from column to column
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
  Elements* place(const LoopWalk& line, f32* buffer) const {
    return writes() ? reinterpret_cast<Elements*>(output + line.output()) : buffer;
  }
  void store(const LoopWalk& line, const f32* buffer) const {
    if (!writes()) {
      scatter<T>(buffer, width, output + line.output(), output_stride);
    }
  }
  [[nodiscard]] LoopWalk walk() const { return {loops.reduced, loops.reduced_rank, 0}; }
};

ANYDML_FLATTEN void take_greater(const Elements* x, std::int64_t width, f32* greatest) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    greatest[i] = greater_element(greatest[i], x[i]);
  }
}
ANYDML_FLATTEN void subtract_columns(const Elements* x, const f32* greatest, std::int64_t width, f32* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    to[i] = x[i] - greatest[i];
  }
}
ANYDML_FLATTEN void add_columns(const Elements* x, std::int64_t width, f32* sums) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    sums[i] += x[i];
  }
}
template <NormaliseFunction kFunction>
ANYDML_FLATTEN void finish_columns(const Elements* x, const Elements* powers, const f32* greatest, const f32* totals,
                                   std::int64_t width, Elements* to) {
  if constexpr (kFunction == NormaliseFunction::softmax) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = powers[i] / totals[i];
    }
  } else {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = (x[i] - greatest[i]) - totals[i];
    }
  }
}

// Lanes of columns, by halves.
ANYDML_FLATTEN void fold_columns(f32* sums, std::int64_t lanes, std::int64_t width) {
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half * width; ++i) {
      sums[i] += sums[i + half * width];
    }
  }
}

// The lines of a tile: packed in scratch memory if that has room for all of them, and where they are otherwise.
template <class T>
struct Lines {
  const Tile<T>& tile;
  f32* packed;  // null: there is no room
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

// The exponentials of some lines, to `made`, which may be where the lines are packed. Their number is a multiple of
// kPowersTogether, or they are the last.
template <class T>
void powers_of_lines(Lines<T>& lines, std::int64_t count, const f32* greatest, f32* made) {
  alignas(64) f32 gathered[kMostColumns];
  const std::int64_t width = lines.tile.width;
  const bool is_last = lines.number + count == lines.tile.loops.count;
  for (std::int64_t i = 0; i < count; ++i, lines.next()) {
    subtract_columns(lines.load(gathered), greatest, width, made + i * width);
  }
  if (is_last) {
    std::fill_n(made + count * width, kPowersTogether, 0.0F);
  }
  powers_in_place(made, count * width);
}

inline std::int64_t lines_at_once(std::int64_t width) {
  return kNormaliseStage / width / kPowersTogether * kPowersTogether;
}

// The totals of a tile. The exponentials stay where packed lines were if `replaces` says so, and go to the output too
// if `kept` does.
template <class T>
void sum_tile(Lines<T> lines, const f32* greatest, bool replaces, bool kept, f32* stage, f32* totals) {
  alignas(64) f32 sums[kReduceLanes * kMostLaneColumns];
  static_assert(kMostColumns * kFewElements <= kReduceLanes * kMostLaneColumns);
  BlockTree<f32> trees[kMostTreeColumns];
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
      f32* const made = replaces ? lines.own() : stage;
      LoopWalk written = lines.line;
      powers_of_lines(lines, some, greatest, made);
      for (std::int64_t i = 0; i < some; ++i) {
        add_columns(made + i * width, width, sums + (first + i) % lanes * width);
      }
      for (std::int64_t i = 0; kept && i < some; ++i, written.next()) {
        std::memcpy(tile.place(written, nullptr), made + i * width, static_cast<std::size_t>(width) * sizeof(f32));
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

template <class T, NormaliseFunction kFunction>
void normalise_tile(const Tile<T>& tile, bool has_room, f32* scratch) {
  constexpr bool kIsSoftmax = kFunction == NormaliseFunction::softmax;
  alignas(64) f32 gathered[kMostColumns];
  alignas(64) f32 greatest[kMostColumns];
  alignas(64) f32 totals[kMostColumns];
  f32* const stage = scratch;
  f32* const packed = has_room ? scratch + kNormaliseStage + kNormalisePadding : nullptr;
  const std::int64_t count = tile.loops.count;
  const std::int64_t width = tile.width;
  std::fill_n(greatest, width, kLeastElement);
  const Lines<T> all(tile, packed);
  for (Lines<T> lines = all; lines.number < count; lines.next()) {
    if (has_room) {
      gather<T>(tile.input + lines.line.input(), tile.input_stride, width, lines.own());
    }
    take_greater(lines.load(gathered), width, greatest);
  }
  const bool replaces = kIsSoftmax && has_room;
  const bool kept = kIsSoftmax && !has_room && tile.writes();
  sum_tile(all, greatest, replaces, kept, stage, totals);
  for (std::int64_t i = 0; i < width; ++i) {
    totals[i] = finished_total<kFunction>(totals[i]);
  }
  const std::int64_t at_once = lines_at_once(width);
  Lines<T> ahead = all;
  Lines<T> lines = all;
  for (std::int64_t first = 0; first < count; first += at_once) {
    const std::int64_t some = std::min(at_once, count - first);
    if (kIsSoftmax && !replaces && !kept) {
      powers_of_lines(ahead, some, greatest, stage);
    }
    for (std::int64_t i = 0; i < some; ++i, lines.next()) {
      Elements* const to = tile.place(lines.line, gathered);
      const Elements* x = nullptr;
      if constexpr (kIsSoftmax) {
        x = replaces ? lines.own() : kept ? to : stage + i * width;
      } else {
        x = lines.load(gathered);
      }
      finish_columns<kFunction>(x, x, greatest, totals, width, to);
      tile.store(lines.line, gathered);
    }
  }
}

ANYDML_FLATTEN void find_columns(const Elements* x, std::int64_t number, std::int64_t width, f32* greatest,
                                 std::int64_t* places) {
  for (std::int64_t i = 0; i < width; ++i) {
    const bool beyond = is_beyond(x[i], greatest[i]);
    greatest[i] = select(beyond, static_cast<f32>(x[i]), greatest[i]);
    places[i] = beyond ? number : places[i];
  }
}

template <class T>
void hardmax_tile(const Tile<T>& tile) {
  alignas(64) f32 buffer[kMostColumns];
  alignas(64) f32 greatest[kMostColumns];
  alignas(64) std::int64_t places[kMostColumns] = {};
  const std::int64_t width = tile.width;
  std::fill_n(greatest, width, kLeastElement);
  LoopWalk line = tile.walk();
  for (std::int64_t i = 0; i < tile.loops.count; ++i, line.next()) {
    find_columns(tile.load(line, buffer), i, width, greatest, places);
  }
  line = tile.walk();
  for (std::int64_t i = 0; i < tile.loops.count; ++i, line.next()) {
    Elements* const to = tile.place(line, buffer);
    for (std::int64_t column = 0; column < width; ++column) {
      to[column] = places[column] == i ? 1.0F : 0.0F;
    }
    tile.store(line, buffer);
  }
}

template <class T, NormaliseFunction kFunction>
void run_across(const NormaliseStep& step, const NormaliseCut& cut, std::int64_t first, std::int64_t end,
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
    if constexpr (kFunction == NormaliseFunction::hardmax) {
      hardmax_tile<T>(tile);
    } else {
      normalise_tile<T, kFunction>(tile, cut.has_room, scratch);
    }
  }
}

template <NormaliseFunction kFunction>
NormaliseRun find_run(DataType type, bool across) {
  if (type == DataType::FLOAT16) {
    return across ? run_across<f16, kFunction> : run_along<f16, kFunction>;
  }
  return across ? run_across<f32, kFunction> : run_along<f32, kFunction>;
}

NormaliseRun find_run(const NormaliseStep& step, bool across) {
  switch (step.function) {
    case NormaliseFunction::softmax:
      return find_run<NormaliseFunction::softmax>(step.type, across);
    case NormaliseFunction::log_softmax:
      return find_run<NormaliseFunction::log_softmax>(step.type, across);
    case NormaliseFunction::hardmax:
      break;
  }
  return find_run<NormaliseFunction::hardmax>(step.type, across);
}

#undef ANYDML_FLATTEN
