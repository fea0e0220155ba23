// SPDX-License-Identifier: MIT
// Sums windows that are inside the rows of the input, which are read in place. With a stride of 1, the taps of adjacent
// outputs form a vector; with a stride of 2, they are every second element of two vectors. This file is included like
// rows-inl.h, before it.

#if defined(HWY_NAMESPACE)

// The input rows of a window and its number of columns. kSize below is both the number of rows and the number of
// columns, or 0 if it is not known at compile time.
template <class Value>
struct DirectWindow {
  const Value* const* rows;
  std::int64_t row_count;
  std::int64_t width;
};

template <std::int64_t kStride, class D, class Value>
HWY_INLINE void load_pair(D d, const Value* from, hwy::HWY_NAMESPACE::Vec<D>& even, hwy::HWY_NAMESPACE::Vec<D>& odd) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (kStride == 1) {
    even = hn::LoadU(d, from);
    odd = hn::LoadU(d, from + 1);
  } else {
    const auto lower = hn::LoadU(d, from);
    const auto upper = hn::LoadU(d, from + hn::Lanes(d));
    even = hn::ConcatEven(d, upper, lower);
    odd = hn::ConcatOdd(d, upper, lower);
  }
}

// Computes the sums of a vector of outputs, in row-major order of the taps. The first window begins at column `at`.
template <class Op, std::int64_t kStride, int kSize, class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> add_window(D d, const DirectWindow<typename Op::Value>& window, std::int64_t at) {
  namespace hn = hwy::HWY_NAMESPACE;
  const std::int64_t row_count = kSize != 0 ? kSize : window.row_count;
  const std::int64_t width = kSize != 0 ? kSize : window.width;
  auto total = hn::Set(d, Op::kNeutral);
  for (std::int64_t row = 0; row < row_count; ++row) {
    for (std::int64_t tap = 0; tap < width; tap += 2) {
      auto even = hn::Zero(d);
      auto odd = hn::Zero(d);
      load_pair<kStride>(d, window.rows[row] + at + tap, even, odd);
      total = Op::combine_vectors(total, even);
      total = tap + 1 < width ? Op::combine_vectors(total, odd) : total;
    }
  }
  return total;
}

// Computes the outputs [0, count) whose first window begins at column 0 of the rows; `readable` columns may be read.
// The last vector may repeat outputs of the previous one. Returns the number of computed outputs, which is less than
// count if a vector would read too far. divisor: the divisor of the sums, or 1 if they are not divided. For a power of
// two, multiplying by its inverse gives the same number.
template <class Op, std::int64_t kStride, int kSize>
std::int64_t pool_directly(const DirectWindow<typename Op::Value>& window, std::int64_t readable, std::int64_t count,
                           std::int64_t divisor, typename Op::Value* to) {
  using Value = typename Op::Value;
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Value> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Taps are read two at a time, so an odd width needs one more column.
  const std::int64_t width = (kSize != 0 ? kSize : window.width) + 1;
  const std::int64_t reach = (width - width % 2 - 2) + (kStride == 1 ? lanes + 1 : 2 * lanes);
  const std::int64_t last = std::min(count - lanes, (readable - reach) / kStride);
  if (readable < reach || last < 0) {
    return 0;
  }
  for (std::int64_t i = 0;; i = std::min(i + lanes, last)) {
    auto total = add_window<Op, kStride, kSize>(d, window, i * kStride);
    if ((divisor & (divisor - 1)) != 0) {
      total = hn::Div(total, hn::Set(d, static_cast<Value>(divisor)));
    } else if (divisor != 1) {
      total = hn::Mul(total, hn::Set(d, Value{1} / static_cast<Value>(divisor)));
    }
    hn::StoreU(total, d, to + i);
    if (i == last) {
      return last + lanes;
    }
  }
}

template <class Op, std::int64_t kStride>
std::int64_t pool_directly(const DirectWindow<typename Op::Value>& window, std::int64_t readable, std::int64_t count,
                           std::int64_t divisor, typename Op::Value* to) {
  if (window.row_count == window.width && window.width == 2) {
    return pool_directly<Op, kStride, 2>(window, readable, count, divisor, to);
  }
  if (window.row_count == window.width && window.width == 3) {
    return pool_directly<Op, kStride, 3>(window, readable, count, divisor, to);
  }
  return pool_directly<Op, kStride, 0>(window, readable, count, divisor, to);
}

#endif
