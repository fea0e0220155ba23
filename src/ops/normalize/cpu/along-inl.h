// SPDX-License-Identifier: MIT
// Processes rows one at a time, or several short rows at a time. Included by kernels-inl.h.

// Normalizes several rows that together fit into one stage.
template <class T, NormalizeFunction kFunction>
void short_rows(const AxisLoops& loops, const AlongRows<T>& rows, LoopWalk& row, std::int64_t count_of_rows,
                f32* scratch) {
  f32* const gathered = scratch;
  f32* const computed = scratch + kNormalizeStage + kNormalizePadding;
  const Elements* x[kMaxRows];
  f32 maximum[kMaxRows];
  const std::int64_t count = loops.count;
  LoopWalk later = row;
  for (std::int64_t i = 0; i < count_of_rows; ++i, row.next()) {
    x[i] = rows.load(row, 0, count, gathered + i * count);
    maximum[i] = max_of(x[i], count, kMinElement);
    if (count >= kShortRow) {
      exponentials(x[i], maximum[i], count, computed + i * count);
      continue;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      computed[i * count + k] = x[i][k] - maximum[i];
    }
  }
  if (count < kShortRow) {
    const std::int64_t all = count_of_rows * count;
    std::fill_n(computed + all, kExponentialsTogether, 0.0F);
    exponentials_in_place(computed, all);
  }
  for (std::int64_t i = 0; i < count_of_rows; ++i, later.next()) {
    f32* const own = computed + i * count;
    const f32 total = finished_total<kFunction>(sum_block(own, count, loops.has_lanes != 0));
    finish<kFunction>(x[i], own, maximum[i], total, count, rows.destination(later, 0, own));
    rows.store(later, 0, count, own);
  }
}

template <class T, NormalizeFunction kFunction>
void long_row(const AxisLoops& loops, const AlongRows<T>& rows, const LoopWalk& row, bool has_room, f32* scratch) {
  static_assert(kNormalizeStage == kReduceBlock);
  constexpr bool kIsSoftmax = kFunction == NormalizeFunction::softmax;
  f32* const computed = scratch;
  f32* const held = scratch + kNormalizeStage + kNormalizePadding;  // a whole row or one of its blocks
  const std::int64_t step = has_room ? 1 : 0;
  f32 maximum = kMinElement;
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    maximum = max_of(rows.load(row, first, count, held + step * first), count, maximum);
  }
  const bool loads = rows.reads() || !has_room;  // otherwise the row is now in scratch memory
  BlockTree<f32> tree;
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    f32* const own = held + step * first;
    const Elements* const x = loads ? rows.load(row, first, count, own) : own;
    Elements* const to = !kIsSoftmax     ? computed
                         : rows.writes() ? rows.destination(row, first, computed)
                         : has_room      ? own
                                         : computed;
    if (x == to) {
      for (std::int64_t i = 0; i < count; ++i) {
        own[i] -= maximum;
      }
      std::fill_n(own + count, (kExponentialsTogether - count % kExponentialsTogether) % kExponentialsTogether, 0.0F);
      exponentials_in_place(own, count);
    } else {
      exponentials(x, maximum, count, to);
    }
    tree.add(sum_block(to, count, loops.has_lanes != 0), added);
  }
  const f32 total = finished_total<kFunction>(tree.total(added));
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    f32* const own = held + step * first;
    Elements* const to = rows.destination(row, first, computed);
    if (kIsSoftmax && rows.writes()) {
      finish<kFunction>(to, to, maximum, total, count, to);
      continue;
    }
    const Elements* x = own;
    if (kIsSoftmax ? !has_room : loads) {
      x = rows.load(row, first, count, own);
    }
    if (kIsSoftmax && !has_room) {
      exponentials(x, maximum, count, computed);
      x = computed;
    }
    finish<kFunction>(x, x, maximum, total, count, to);
    rows.store(row, first, count, computed);
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
  f32 maximum = kMinElement;
  std::int64_t block = 0;  // the block with the first maximum
  for (std::int64_t first = 0; first < loops.count; first += kNormalizeStage) {
    const std::int64_t count = std::min(kNormalizeStage, loops.count - first);
    const Elements* const x = rows.load(row, first, count, buffer);
    if (has_nan(x, count)) {
      maximum = quiet_nan<f32>();
      block = first;
      break;
    }
    const f32 here = max_of(x, count, kMinElement);
    block = here > maximum ? first : block;
    maximum = greater_element(maximum, here);
  }
  const Elements* const x = rows.load(row, block, std::min(kNormalizeStage, loops.count - block), buffer);
  std::int64_t index = 0;
  while (maximum == maximum ? x[index] != maximum : x[index] == x[index]) {
    ++index;
  }
  index += block;
  for (std::int64_t first = 0; first < loops.count; first += kNormalizeStage) {
    const std::int64_t count = std::min(kNormalizeStage, loops.count - first);
    Elements* const to = rows.destination(row, first, buffer);
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = 0.0F;
    }
    if (index >= first && index < first + count) {
      to[index - first] = 1.0F;
    }
    rows.store(row, first, count, buffer);
  }
}

template <class T, NormalizeFunction kFunction>
void run_along(const NormalizeStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
               const std::byte* input, std::byte* output, f32* scratch) noexcept {
  const AxisLoops& loops = step.loops;
  const AlongRows<T> rows(loops, input, output);
  LoopWalk row = rows.walk(first);
  if constexpr (kFunction == NormalizeFunction::hardmax) {
    for (; first < end; ++first, row.next()) {
      hardmax_row<T>(loops, rows, row, scratch);
    }
  } else if (loops.count > kNormalizeStage) {
    for (; first < end; ++first, row.next()) {
      long_row<T, kFunction>(loops, rows, row, cut.has_room, scratch);
    }
  } else {
    const std::int64_t limit = std::min(kMaxRows, kNormalizeStage / loops.count);
    for (; first < end; first += limit) {
      short_rows<T, kFunction>(loops, rows, row, std::min(limit, end - first), scratch);
    }
  }
}
