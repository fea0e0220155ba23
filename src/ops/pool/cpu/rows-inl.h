// SPDX-License-Identifier: MIT
// Pools windows one output row at a time. This file is included once per target, inside the namespace of the target,
// which must already define widen_halves and narrow_halves. It must not use lambdas or call templates from other files
// unless they are inlined, because they would not be compiled for the target.
//
// The maximum of a window does not depend on the order of its elements, so its rows are first combined into one row,
// which is then combined along its columns. Sums have a fixed order, so each output adds its taps one by one.

// ---- A tile ---------------------------------------------------------------------------------------------------------

template <class T, class Op>
class Tile {
 public:
  using Value = typename Op::Value;

  Tile(const PoolStep& step, const PoolCut& cut, const PoolAddresses& at, std::byte* scratch)
      : step_(step),
        cut_(cut),
        at_(at),
        last_(step.axes[step.rank - 1]),
        element_(static_cast<std::int64_t>(sizeof(T))),
        inner_input_(cut.inner > 1 ? step.channel.input_step : 0),
        inner_output_(cut.inner > 1 ? step.channel.output_step : 0),
        inner_index_(cut.inner > 1 ? step.channel.index_step : 0),
        reads_rows_(lies_together(last_.input, last_.input_step, inner_input_)),
        writes_rows_(lies_together(last_.output, last_.output_step, inner_output_)),
        held_(reinterpret_cast<Value*>(scratch + cut.held)),
        folded_(reinterpret_cast<Value*>(scratch + cut.folded)),
        ready_(reinterpret_cast<Value*>(scratch + cut.ready)),
        totals_(reinterpret_cast<Value*>(scratch + cut.totals)),
        divisors_(reinterpret_cast<Value*>(scratch + cut.divisors)),
        gathered_(scratch + cut.gathered),
        numbers_(reinterpret_cast<u32*>(scratch + cut.numbers)),
        tags_(reinterpret_cast<std::int64_t*>(scratch + cut.tags)),
        results_(scratch + cut.results) {}

  // Starts a tile of a plane. The caller then passes the rows of the tile to `row`.
  void begin(std::int64_t plane, std::int64_t tile) {
    const std::int64_t channel = cut_.inner > 1 ? 0 : plane % step_.channel.output;
    const std::int64_t batch = cut_.inner > 1 ? plane : plane / step_.channel.output;
    plane_ = plane;
    input_ = at_.input + batch * step_.batch.input_step + channel * step_.channel.input_step;
    output_ = batch * step_.batch.output_step + channel * step_.channel.output_step;
    index_ = batch * step_.batch.index_step + channel * step_.channel.index_step;
    first_ = tile * cut_.tile;
    columns_ = std::min(cut_.tile, last_.output - first_);
    span_ = (columns_ - 1) * last_.stride + (last_.window - 1) * last_.dilation + 1;
    start_ = first_ * last_.stride - last_.padding;
    filled_ = std::clamp<std::int64_t>(-start_, 0, span_);
    filled_end_ = std::clamp<std::int64_t>(last_.input - start_, filled_, span_);
    divided_by_ = -1;
    for (std::int64_t i = 0; i < cut_.kept_rows * (cut_.window_rows / height()); ++i) {
      tags_[i] = -1;
    }
  }

  void row(std::int64_t number) {
    set_row(number);
    if (accumulate()) {
      return;
    }
    if (Op::kIsMax && at_.indices == nullptr) {
      fold_rows();
      fold_columns();
    } else if (Op::kIsMax) {
      find_indices();
    } else {
      fold_taps();
    }
    hand_out(number);
  }

  // Passes the remaining elements to the joined step.
  void flush() {
    if (computed_count_ != 0) {
      at_.after->run(computed_first_, computed_count_, results_, at_.operands);
      computed_count_ = 0;
    }
  }

 private:
  [[nodiscard]] bool lies_together(std::int64_t columns, std::int64_t column, std::int64_t inner) const {
    return (columns == 1 || column == cut_.inner * element_) && (cut_.inner == 1 || inner == element_);
  }
  // Window size along the second to last axis, along which input rows are kept.
  [[nodiscard]] std::int64_t height() const { return step_.rank > 1 ? step_.axes[step_.rank - 2].window : 1; }

  void set_row(std::int64_t number) {
    output_row_ = 0;
    index_row_ = 0;
    row_count_ = 1;
    for (std::uint32_t i = step_.rank - 1; i-- > 0;) {
      const PoolAxis& axis = step_.axes[i];
      const std::int64_t coordinate = number % axis.output;
      number /= axis.output;
      taps_[i] = pool_taps(axis, coordinate);
      row_count_ *= taps_[i].count();
      output_row_ += coordinate * axis.output_step;
      index_row_ += coordinate * axis.index_step;
    }
    restart();
  }

  // One of the row_count_ input rows of a window, which are visited in order.
  struct InputRow {
    const std::byte* from;   // address of column 0
    std::int64_t number;     // index among the rows of a plane
    std::int64_t in_window;  // index among the rows of a window
    std::int64_t held_at;    // first of the slots in which such rows are kept
    std::int64_t height;     // position along the second to last axis
  };
  InputRow next_row() {
    InputRow row{.from = input_, .number = 0, .in_window = 0, .held_at = 0, .height = 0};
    for (std::uint32_t i = 0; i + 1 < step_.rank; ++i) {
      const PoolAxis& axis = step_.axes[i];
      const std::int64_t coordinate = taps_[i].start + coordinates_[i] * axis.dilation;
      row.from += coordinate * axis.input_step;
      row.number = row.number * axis.input + coordinate;
      const bool is_height = i + 2 == step_.rank;
      row.height = coordinate;
      row.held_at = is_height ? row.in_window * cut_.kept_rows : row.in_window * axis.window + coordinates_[i];
      row.in_window = row.in_window * axis.window + coordinates_[i];
    }
    for (std::uint32_t i = step_.rank - 1; i-- > 0;) {
      if (++coordinates_[i] < taps_[i].end) {
        break;
      }
      coordinates_[i] = taps_[i].first;
    }
    return row;
  }

  // Writes the columns of a row that exist in the input to `to`.
  void lift_row(const InputRow& row, Value* to) {
    const std::byte* from = row.from + (start_ + filled_) * last_.input_step;
    const std::int64_t columns = filled_end_ - filled_;
    if (!reads_rows_) {
      gather<sizeof(T)>(from, columns, last_.input_step, cut_.inner, inner_input_, gathered_);
      from = gathered_;
    }
    lift<T, Op>(step_.function, from, columns * cut_.inner, to);
  }

  void fill_padding(Value* row) {
    std::fill(row, row + filled_ * cut_.inner, Op::kNeutral);
    std::fill(row + filled_end_ * cut_.inner, row + span_ * cut_.inner, Op::kNeutral);
  }

  // Returns a row without padding, to be combined with other rows.
  const Value* plain_row(const InputRow& row) {
    if constexpr (std::is_same_v<Value, T>) {
      if (reads_rows_ && can_read_directly(row.from)) {
        return reinterpret_cast<const Value*>(row.from + (start_ + filled_) * last_.input_step);
      }
    }
    Value* const to = held_row(row);
    if (to != nullptr) {
      lift_row(row, to);
    }
    return last_held_;
  }

  // Returns a row with padding, split into phases, from which taps are read.
  const Value* ready_row(const InputRow& row) {
    if constexpr (std::is_same_v<Value, T>) {
      const bool is_plain = step_.function != PoolFunction::l1 && step_.function != PoolFunction::l2;
      if (is_plain && reads_rows_ && cut_.rests.empty() && filled_ == 0 && filled_end_ == span_ &&
          can_read_directly(row.from)) {
        return reinterpret_cast<const Value*>(row.from + start_ * last_.input_step);
      }
    }
    Value* const to = held_row(row);
    if (to != nullptr) {
      Value* const whole = cut_.rests.empty() ? to : folded_;
      fill_padding(whole);
      lift_row(row, whole + filled_ * cut_.inner);
      if (!cut_.rests.empty()) {
        split(cut_, last_.stride, whole, span_, to);
      }
    }
    return last_held_;
  }

  // Returns null if the row has already been loaded. In both cases, the row is at last_held_.
  Value* held_row(const InputRow& row) {
    const std::int64_t at = cut_.kept_rows != 0 ? row.held_at + row.height % cut_.kept_rows : 0;
    Value* const to = held_ + at * cut_.ready_length;
    last_held_ = to;
    if (cut_.kept_rows != 0) {
      if (tags_[at] == row.number) {
        return nullptr;
      }
      tags_[at] = row.number;
    }
    return to;
  }

  static bool can_read_directly(const std::byte* from) {
    return reinterpret_cast<std::uintptr_t>(from) % alignof(Value) == 0;
  }

  // The divisor for the sum of a window with this many columns.
  [[nodiscard]] std::int64_t divisor_of(std::int64_t columns) const {
    return step_.counts_padding != 0 ? cut_.window_rows * last_.window : row_count_ * columns;
  }

  // Computes an output row of sums directly from the input's rows. Returns false if elements have to be gathered first.
  bool accumulate() {
#if defined(HWY_NAMESPACE)
    if constexpr (!Op::kIsMax && std::is_same_v<Value, T>) {
      const bool is_plain = step_.function != PoolFunction::l1 && step_.function != PoolFunction::l2;
      std::byte* const output = at_.output + output_ + output_row_;
      if (!is_plain || cut_.inner != 1 || last_.stride > 2 || last_.dilation != 1 || row_count_ == 0 ||
          row_count_ > static_cast<std::int64_t>(kMaxTaps) || at_.output == nullptr || !reads_rows_ || !writes_rows_ ||
          !can_read_directly(output)) {
        return false;
      }
      const Value* rows[kMaxTaps];
      for (std::int64_t i = 0; i < row_count_; ++i) {
        const std::byte* const from = next_row().from;
        if (!can_read_directly(from)) {
          restart();
          return false;
        }
        rows[i] = reinterpret_cast<const Value*>(from);
      }
      auto* const to = reinterpret_cast<Value*>(output);
      // The columns whose windows do not overlap the padding.
      const std::int64_t begin =
          std::clamp((last_.padding + last_.stride - 1) / last_.stride, first_, first_ + columns_);
      const std::int64_t room = last_.input + last_.padding - last_.window;
      const std::int64_t end = std::clamp(room < 0 ? begin : room / last_.stride + 1, begin, first_ + columns_);
      add_one_by_one(rows, first_, begin, to);
      const std::int64_t start = begin * last_.stride - last_.padding;
      const Value* shifted[kMaxTaps];
      for (std::int64_t i = 0; i < row_count_; ++i) {
        shifted[i] = rows[i] + (begin < end ? start : 0);
      }
      const DirectWindow<Value> window{.rows = shifted, .row_count = row_count_, .width = last_.window};
      const std::int64_t divisor = step_.function == PoolFunction::average ? divisor_of(last_.window) : 1;
      const std::int64_t computed_count =
          begin == end        ? 0
          : last_.stride == 1 ? pool_directly<Op, 1>(window, last_.input - start, end - begin, divisor, to + begin)
                              : pool_directly<Op, 2>(window, last_.input - start, end - begin, divisor, to + begin);
      add_one_by_one(rows, begin + computed_count, first_ + columns_, to);
      return true;
    }
#endif
    return false;
  }

  // Starts again from the first row of the window.
  void restart() {
    for (std::uint32_t i = 0; i + 1 < step_.rank; ++i) {
      coordinates_[i] = taps_[i].first;
    }
  }

  void add_one_by_one(const Value* const* rows, std::int64_t begin, std::int64_t end, Value* to) {
    for (std::int64_t column = begin; column < end; ++column) {
      const PoolTaps taps = pool_taps(last_, column);
      Value total = Op::kNeutral;
      for (std::int64_t i = 0; i < row_count_; ++i) {
        for (std::int64_t tap = taps.first; tap < taps.end; ++tap) {
          total = Op::combine(total, rows[i][taps.start + tap]);
        }
      }
      to[column] = pool_finished<Value>(step_.function, total, static_cast<Value>(divisor_of(taps.count())));
    }
  }

  void fold_rows() {
    const std::int64_t count = (filled_end_ - filled_) * cut_.inner;
    Value* const to = folded_ + filled_ * cut_.inner;
    const Value* taps[kMaxTaps];
    std::uint64_t some = 0;
    bool begins = true;
    for (std::int64_t i = 0; i < row_count_; ++i) {
      taps[some++] = plain_row(next_row());
      if (some == kMaxTaps || cut_.kept_rows == 0) {
        fold<Op>(taps, some, begins, to, count);
        begins = false;
        some = 0;
      }
    }
    if (some != 0 || begins) {
      fold<Op>(taps, some, begins, to, count);
    }
    fill_padding(folded_);
  }

  // The destination for the results of a row: the output itself if its elements have the type of the values.
  [[nodiscard]] Value* results() {
    if constexpr (Op::kIsMax && std::is_same_v<Value, T>) {
      if (at_.output != nullptr && writes_rows_) {
        std::byte* const to = at_.output + output_ + output_row_ + first_ * last_.output_step;
        return can_read_directly(to) ? reinterpret_cast<Value*>(to) : totals_;
      }
    }
    return totals_;
  }

  void fold_columns() {
    Value* const to = results();
    const Value* row = folded_;
    if (!cut_.rests.empty()) {
      split(cut_, last_.stride, folded_, span_, ready_);
      row = ready_;
    }
    const Value* taps[kMaxTaps];
    for (std::size_t tap = 0; tap < cut_.taps_at.size(); tap += kMaxTaps) {
      const std::size_t some = std::min<std::size_t>(kMaxTaps, cut_.taps_at.size() - tap);
      for (std::size_t i = 0; i < some; ++i) {
        taps[i] = row + cut_.taps_at[tap + i];
      }
      fold<Op>(taps, some, tap == 0, to, columns_ * cut_.inner);
    }
  }

  void fold_taps() {
    const Value* taps[kMaxTaps];
    std::uint64_t some = 0;
    bool begins = true;
    const std::int64_t count = columns_ * cut_.inner;
    for (std::int64_t i = 0; i < row_count_; ++i) {
      const Value* const row = ready_row(next_row());
      for (const std::int64_t at : cut_.taps_at) {
        taps[some++] = row + at;
        if (some == kMaxTaps) {
          fold<Op>(taps, some, begins, totals_, count);
          begins = false;
          some = 0;
        }
      }
      if (cut_.kept_rows == 0 && some != 0) {
        fold<Op>(taps, some, begins, totals_, count);
        begins = false;
        some = 0;
      }
    }
    if (some != 0 || begins) {
      fold<Op>(taps, some, begins, totals_, count);
    }
    set_divisors();
  }

  // Sets each column's divisor: the number of elements or of positions in its window.
  void set_divisors() {
    if (divided_by_ == row_count_) {
      return;
    }
    divided_by_ = row_count_;
    Value* to = divisors_;
    for (std::int64_t i = 0; i < columns_; ++i) {
      std::fill(to, to + cut_.inner, static_cast<Value>(divisor_of(pool_taps(last_, first_ + i).count())));
      to += cut_.inner;
    }
  }

  // Finds the first tap with the maximum: a later tap must be greater to replace it, and padding taps are never
  // greater. A tap is identified by its distance from the column at which its window begins in the first row of the
  // plane.
  void find_indices() {
    const std::int64_t count = columns_ * cut_.inner;
    std::fill(totals_, totals_ + count, Op::kNeutral);
    for (std::int64_t i = 0; i < row_count_; ++i) {
      const InputRow input_row = next_row();
      const Value* const row = ready_row(input_row);
      const std::int64_t line = input_row.number * last_.input;
      if (i == 0) {
        u32* to = numbers_;
        for (std::int64_t column = 0; column < columns_; ++column) {
          const std::int64_t tap = line + pool_taps(last_, first_ + column).first * last_.dilation;
          std::fill(to, to + cut_.inner, static_cast<u32>(tap));
          to += cut_.inner;
        }
      }
      for (std::size_t tap = 0; tap < cut_.taps_at.size(); ++tap) {
        mark_greater(row + cut_.taps_at[tap], static_cast<u32>(line + static_cast<std::int64_t>(tap) * last_.dilation),
                     count);
      }
    }
    write_indices();
  }

  void mark_greater(const Value* from, u32 tap, std::int64_t count) {
    Value* const totals = totals_;
    u32* const numbers = numbers_;
    ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) {
      const bool is_greater = from[i] > totals[i];
      totals[i] = is_greater ? from[i] : totals[i];
      numbers[i] = is_greater ? tap : numbers[i];
    }
  }

  void write_indices() {
    std::int64_t plane_size = 1;
    for (std::uint32_t i = 0; i < step_.rank; ++i) {
      plane_size *= step_.axes[i].input;
    }
    std::byte* const to = at_.indices + index_ + index_row_ + first_ * last_.index_step;
    if (element_size(step_.index_type) == sizeof(u64)) {
      write_indices_as<u64>(plane_size, to);
    } else {
      write_indices_as<u32>(plane_size, to);
    }
  }

  template <class Index>
  void write_indices_as(std::int64_t plane_size, std::byte* to) {
    using UnalignedValue = typename Unaligned<Index>::type;
    const auto first = static_cast<Index>(plane_ * cut_.inner * plane_size + start_);
    const auto stride = static_cast<Index>(last_.stride);
    const u32* const numbers = numbers_;
    // The columns whose windows begin and end inside the input. The other columns are handled one by one.
    const std::int64_t reach = (last_.window - 1) * last_.dilation;
    const std::int64_t begin = std::clamp((last_.stride - 1 - start_) / last_.stride, std::int64_t{0}, columns_);
    const std::int64_t room = last_.input - 1 - reach - start_;
    std::int64_t end = std::clamp(room < 0 ? 0 : room / last_.stride + 1, begin, columns_);
    if (cut_.inner == 1 && last_.index_step == sizeof(Index) && row_count_ != 0) {
      auto* const indices = reinterpret_cast<UnalignedValue*>(to);
      ANYDML_INDEPENDENT for (std::int64_t column = begin; column < end; ++column) {
        indices[column] = first + static_cast<Index>(column) * stride + numbers[column];
      }
    } else {
      end = begin;
    }
    for (std::int64_t column = 0; column < columns_; ++column) {
      if (column == begin) {
        column = end;
        if (column == columns_) {
          break;
        }
      }
      const bool has_one = row_count_ != 0 && pool_taps(last_, first_ + column).count() != 0;
      for (std::int64_t i = 0; i < cut_.inner; ++i) {
        const Index index = first + static_cast<Index>(i * plane_size) + static_cast<Index>(column) * stride +
                            numbers[column * cut_.inner + i];
        *reinterpret_cast<UnalignedValue*>(to + column * last_.index_step + i * inner_index_) =
            has_one ? index : ~Index{0};
      }
    }
  }

  void hand_out(std::int64_t number) {
    if (at_.indices == nullptr && results() != totals_) {
      return;  // already written in place
    }
    const std::int64_t count = columns_ * cut_.inner;
    if (at_.output == nullptr) {
      const std::int64_t first = (plane_ * cut_.rows + number) * last_.output + first_;
      if (computed_count_ != 0 &&
          (computed_first_ + computed_count_ != first || computed_count_ + count > kPoolResults)) {
        flush();
      }
      computed_first_ = computed_count_ == 0 ? first : computed_first_;
      finish<T, Op>(step_.function, totals_, divisors_, count, results_ + computed_count_ * element_);
      computed_count_ += count;
      return;
    }
    std::byte* const to = at_.output + output_ + output_row_ + first_ * last_.output_step;
    finish<T, Op>(step_.function, totals_, divisors_, count, writes_rows_ ? to : gathered_);
    if (!writes_rows_) {
      scatter<sizeof(T)>(gathered_, columns_, last_.output_step, cut_.inner, inner_output_, to);
    }
  }

  const PoolStep& step_;
  const PoolCut& cut_;
  const PoolAddresses& at_;
  const PoolAxis& last_;
  const std::int64_t element_;
  const std::int64_t inner_input_;
  const std::int64_t inner_output_;
  const std::int64_t inner_index_;
  const bool reads_rows_;
  const bool writes_rows_;
  Value* const held_;
  Value* const folded_;
  Value* const ready_;
  Value* const totals_;
  Value* const divisors_;
  std::byte* const gathered_;
  u32* const numbers_;
  std::int64_t* const tags_;  // the number of each kept row
  std::byte* const results_;

  std::int64_t plane_ = 0;
  const std::byte* input_ = nullptr;
  std::int64_t output_ = 0;
  std::int64_t index_ = 0;
  std::int64_t first_ = 0;  // first column of the output
  std::int64_t columns_ = 0;
  std::int64_t span_ = 0;    // columns of the input, with padding
  std::int64_t start_ = 0;   // their first position in the input
  std::int64_t filled_ = 0;  // the first of them that exists
  std::int64_t filled_end_ = 0;
  std::int64_t divided_by_ = -1;
  PoolTaps taps_[kPoolAxes] = {};
  std::int64_t coordinates_[kPoolAxes] = {};
  std::int64_t row_count_ = 0;
  std::int64_t output_row_ = 0;
  std::int64_t index_row_ = 0;
  Value* last_held_ = nullptr;
  std::int64_t computed_first_ = 0;
  std::int64_t computed_count_ = 0;
};

template <class T, class Op>
void run_units(const PoolStep& step, const PoolCut& cut, std::int64_t first, std::int64_t end, const PoolAddresses& at,
               std::byte* scratch) noexcept {
  Tile<T, Op> tile(step, cut, at, scratch);
  for (std::int64_t unit = first; unit < end;) {
    const std::int64_t strip = unit / cut.rows;
    std::int64_t row = unit % cut.rows;
    tile.begin(strip / cut.tiles, strip % cut.tiles);
    for (; row < cut.rows && unit < end; ++row, ++unit) {
      tile.row(row);
    }
  }
  tile.flush();
}

template <class T>
PoolRun find_run(const PoolStep& step) {
  if constexpr (is_float<T>) {
    if (step.function != PoolFunction::max) {
      return run_units<T, Sum<T>>;
    }
  }
  if constexpr (kOrdersFloats<T>) {
    if (step.index_type == DataType::unknown) {
      return run_units<T, Maximum<T, true>>;
    }
  }
  return run_units<T, Maximum<T, !is_float<T>>>;
}

PoolRun find_run(const PoolStep& step) {
  switch (step.type) {
#define ANYDML_CASE(type, name, value) \
  case DataType::name:                 \
    return find_run<type>(step);
    ANYDML_FOR_EACH_TYPE(ANYDML_CASE)
#undef ANYDML_CASE
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return nullptr;
}
