// SPDX-License-Identifier: MIT
// The accumulators of pooling, and conversions of rows of elements to and from them. This file is included like
// rows-inl.h, before it.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors may have any alignment
};

// ---- Accumulators ---------------------------------------------------------------------------------------------------

// FLOAT32 or FLOAT64 sums.
template <class T>
struct Sum {
  using Value = compute_t<T>;
  static constexpr bool kIsMax = false;
  static constexpr Value kNeutral = kNothing<Value>;
  static Value combine(Value a, Value b) { return a + b; }
#if defined(HWY_NAMESPACE)
  template <class V>
  static HWY_INLINE V combine_vectors(V a, V b) {
    return hwy::HWY_NAMESPACE::Add(a, b);
  }
#endif
};

// The maximum of the keys of T's elements. If the target's own maximum instruction has the same order, the key of a
// float is the float itself.
#if defined(HWY_NAMESPACE) && defined(__aarch64__)
template <class T>
inline constexpr bool kOrdersFloats = std::is_same_v<T, f32> || std::is_same_v<T, f64>;
#else
template <class T>
inline constexpr bool kOrdersFloats = false;
#endif

template <class T, bool kIsOwnKey>
struct Maximum {
  using Value = std::conditional_t<kIsOwnKey, T, typename Ordered<T>::Key>;
  static constexpr bool kIsMax = true;
  static constexpr Value kNeutral = [] {
    if constexpr (kIsOwnKey && is_float<T>) {
      return from_bits<T>(static_cast<float_bits_t<T>>(FloatParts<T>::kInfinity | FloatParts<T>::kSign));
    } else {
      return Ordered<T>::kMin;
    }
  }();
  static Value combine(Value a, Value b) {
    if constexpr (kIsOwnKey && is_float<T>) {
      return greater_of(a, b);
    } else {
      return a < b ? b : a;
    }
  }
#if defined(HWY_NAMESPACE)
  template <class V>
  static HWY_INLINE V combine_vectors(V a, V b) {
#if defined(__aarch64__)
    if constexpr (kIsOwnKey && std::is_same_v<T, f32>) {
      return V(vmaxq_f32(a.raw, b.raw));  // a NaN wins, and +0 is above -0
    } else if constexpr (kIsOwnKey && std::is_same_v<T, f64>) {
      return V(vmaxq_f64(a.raw, b.raw));
    } else
#endif
    {
      return hwy::HWY_NAMESPACE::Max(a, b);
    }
  }
#endif
};

#if defined(HWY_NAMESPACE)
// Processes the whole vectors of a few taps and returns the number of processed elements. The addresses of the taps
// stay in registers. Each combination starts with the first tap instead of the neutral value, which would give the same
// result.
template <class Op, int kCount>
std::int64_t fold_few(const typename Op::Value* const* taps, typename Op::Value* totals, std::int64_t columns) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<typename Op::Value> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const typename Op::Value* const first = taps[0];
  const typename Op::Value* const second = taps[1];
  const typename Op::Value* const third = taps[kCount - 1];
  std::int64_t i = 0;
  for (; i + lanes <= columns; i += lanes) {
    auto a = Op::combine_vectors(hn::LoadU(d, first + i), hn::LoadU(d, second + i));
    if constexpr (kCount == 3) {
      a = Op::combine_vectors(a, hn::LoadU(d, third + i));
    }
    hn::StoreU(a, d, totals + i);
  }
  return i;
}

// Processes the elements from `i` on, which do not fill a vector, with vectors of 16 bytes: a row of bytes would
// otherwise end with up to 63 single elements. The last vector may begin at elements that are done already: a maximum
// stays the same. Returns the index after the last processed element.
template <class Op>
std::int64_t fold_rest(const typename Op::Value* const* taps, std::uint64_t count, bool begins,
                       typename Op::Value* totals, std::int64_t i, std::int64_t columns) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full128<typename Op::Value> d;
  constexpr auto kLanes = static_cast<std::int64_t>(16 / sizeof(typename Op::Value));
  if (!Op::kIsMax || columns < kLanes) {
    return i;
  }
  while (i < columns) {
    const std::int64_t at = std::min(i, columns - kLanes);
    auto a = begins ? hn::Set(d, Op::kNeutral) : hn::LoadU(d, totals + at);
    for (std::uint64_t tap = 0; tap < count; ++tap) {
      a = Op::combine_vectors(a, hn::LoadU(d, taps[tap] + at));
    }
    hn::StoreU(a, d, totals + at);
    i = at + kLanes;
  }
  return i;
}
#endif

// totals[i] = the combination of taps[0][i], taps[1][i], ... in this order, starting with totals[i] itself unless
// `begins`.
template <class Op>
void fold(const typename Op::Value* const* taps, std::uint64_t count, bool begins, typename Op::Value* totals,
          std::int64_t columns) {
  using Value = typename Op::Value;
  std::int64_t i = 0;
#if defined(HWY_NAMESPACE)
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Value> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto neutral = hn::Set(d, Op::kNeutral);
  if (begins && (count == 2 || count == 3)) {
    i = count == 2 ? fold_few<Op, 2>(taps, totals, columns) : fold_few<Op, 3>(taps, totals, columns);
  }
  for (; i + 4 * lanes <= columns; i += 4 * lanes) {
    Value* const to = totals + i;
    auto a = begins ? neutral : hn::LoadU(d, to);
    auto b = begins ? neutral : hn::LoadU(d, to + lanes);
    auto c = begins ? neutral : hn::LoadU(d, to + 2 * lanes);
    auto e = begins ? neutral : hn::LoadU(d, to + 3 * lanes);
    for (std::uint64_t tap = 0; tap < count; ++tap) {
      const Value* const from = taps[tap] + i;
      a = Op::combine_vectors(a, hn::LoadU(d, from));
      b = Op::combine_vectors(b, hn::LoadU(d, from + lanes));
      c = Op::combine_vectors(c, hn::LoadU(d, from + 2 * lanes));
      e = Op::combine_vectors(e, hn::LoadU(d, from + 3 * lanes));
    }
    hn::StoreU(a, d, to);
    hn::StoreU(b, d, to + lanes);
    hn::StoreU(c, d, to + 2 * lanes);
    hn::StoreU(e, d, to + 3 * lanes);
  }
  for (; i + lanes <= columns; i += lanes) {
    auto a = begins ? neutral : hn::LoadU(d, totals + i);
    for (std::uint64_t tap = 0; tap < count; ++tap) {
      a = Op::combine_vectors(a, hn::LoadU(d, taps[tap] + i));
    }
    hn::StoreU(a, d, totals + i);
  }
  i = fold_rest<Op>(taps, count, begins, totals, i, columns);
#endif
  for (; i < columns; ++i) {
    Value a = begins ? Op::kNeutral : totals[i];
    for (std::uint64_t tap = 0; tap < count; ++tap) {
      a = Op::combine(a, taps[tap][i]);
    }
    totals[i] = a;
  }
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

// Converts contiguous elements to the values that are accumulated.
template <class T, class Op>
void lift(PoolFunction function, const std::byte* from, std::int64_t count, typename Op::Value* to) {
  if constexpr (Op::kIsMax) {
    using Value = typename Op::Value;
    const auto* const elements = reinterpret_cast<const typename Unaligned<Value>::type*>(from);
    if constexpr (std::is_integral_v<Value>) {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) { to[i] = Ordered<T>::key(elements[i]); }
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    }
  } else {
    using Value = typename Op::Value;
    using UnalignedValue = typename Unaligned<Value>::type;
    const UnalignedValue* elements = reinterpret_cast<const UnalignedValue*>(from);
    if constexpr (std::is_same_v<T, f16>) {
      widen_halves(from, count, to);
      elements = to;
    }
    if (function == PoolFunction::l1) {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) { to[i] = magnitude_of<Value>(elements[i]); }
    } else if (function == PoolFunction::l2) {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) { to[i] = elements[i] * elements[i]; }
    } else if constexpr (!std::is_same_v<T, f16>) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    }
  }
}

// Converts totals back to elements. totals may be overwritten.
template <class T, class Op>
void finish(PoolFunction function, typename Op::Value* totals, const typename Op::Value* divisors, std::int64_t count,
            std::byte* to) {
  if constexpr (Op::kIsMax) {
    using Value = typename Op::Value;
    if constexpr (std::is_integral_v<Value>) {
      auto* const elements = reinterpret_cast<typename Unaligned<Value>::type*>(to);
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) { elements[i] = Ordered<T>::element(totals[i]); }
    } else {
      std::memcpy(to, totals, static_cast<std::size_t>(count) * sizeof(T));
    }
  } else {
    // The type is spelled out, because the common type of the two pointers would be a pointer to aligned values.
    using UnalignedValue = typename Unaligned<typename Op::Value>::type;
    UnalignedValue* const elements =
        reinterpret_cast<UnalignedValue*>(std::is_same_v<T, f16> ? reinterpret_cast<std::byte*>(totals) : to);
    if (function == PoolFunction::average) {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) {
        elements[i] = pool_finished<typename Op::Value>(PoolFunction::average, totals[i], divisors[i]);
      }
    } else if (function == PoolFunction::l2) {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) {
        elements[i] = pool_finished<typename Op::Value>(PoolFunction::l2, totals[i], divisors[i]);
      }
    } else {
      ANYDML_INDEPENDENT for (std::int64_t i = 0; i < count; ++i) {
        elements[i] = pool_finished<typename Op::Value>(PoolFunction::sum, totals[i], divisors[i]);
      }
    }
    if constexpr (std::is_same_v<T, f16>) {
      narrow_halves(totals, count, to);
    }
  }
}

// Gathers columns of `inner` strided elements into contiguous rows, and scatters them back.
template <std::size_t kBytes>
void gather(const std::byte* from, std::int64_t columns, std::int64_t column, std::int64_t inner, std::int64_t step,
            std::byte* to) {
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < inner; ++j, to += kBytes) {
      std::memcpy(to, from + i * column + j * step, kBytes);
    }
  }
}
template <std::size_t kBytes>
void scatter(const std::byte* from, std::int64_t columns, std::int64_t column, std::int64_t inner, std::int64_t step,
             std::byte* to) {
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < inner; ++j, from += kBytes) {
      std::memcpy(to + i * column + j * step, from, kBytes);
    }
  }
}

// Splits a row of `columns` columns into its phases.
template <class Value>
void split(const PoolCut& cut, std::int64_t stride, const Value* row, std::int64_t columns, Value* to) {
  if (cut.inner == 1 && stride == 2 && cut.rests.size() == 2) {
    Value* const odd = to + cut.phase;
    const std::int64_t pairs = columns / 2;
    std::int64_t i = 0;
#if defined(HWY_NAMESPACE)
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<Value> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + lanes <= pairs; i += lanes) {
      hn::Vec<decltype(d)> a;
      hn::Vec<decltype(d)> b;
      hn::LoadInterleaved2(d, row + 2 * i, a, b);
      hn::StoreU(a, d, to + i);
      hn::StoreU(b, d, odd + i);
    }
#endif
    for (; i < pairs; ++i) {
      to[i] = row[2 * i];
      odd[i] = row[2 * i + 1];
    }
    if (columns % 2 != 0) {
      to[pairs] = row[columns - 1];
    }
    return;
  }
  for (const std::int64_t rest : cut.rests) {
    Value* out = to;
    for (std::int64_t i = rest; i < columns; i += stride) {
      for (std::int64_t j = 0; j < cut.inner; ++j) {
        *out++ = row[i * cut.inner + j];
      }
    }
    to += cut.phase;
  }
}
