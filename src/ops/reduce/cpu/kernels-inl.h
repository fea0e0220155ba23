// SPDX-License-Identifier: MIT
// The kernels as plain loops that the compiler vectorizes. This file is included once per target, inside the namespace
// of the target. Compilers vectorize FLOAT16 conversions badly, so the namespace must already define widen_halves. This
// file must not use lambdas or call templates from other files unless they are inlined, because they would not be
// compiled for the target.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors may have any alignment
};

template <class T>
using unaligned_t = typename Unaligned<T>::type;

inline constexpr std::int64_t kRowsAtOnce = 8;
inline constexpr std::int64_t kWideColumns = 64;

// Adds one cache line from each of several rows. Each line is read completely before the next row's line, because the
// lines of all rows may map to the same few cache sets.
template <class Fold, std::size_t kRows>
inline void add_lines(typename Fold::Accumulator* __restrict accumulators, const std::byte* rows, std::int64_t stride) {
  using Element = unaligned_t<typename Fold::Loaded>;
  constexpr std::size_t kLine = 64 / sizeof(Element);
  typename Fold::Accumulator sums[kLine];
  for (std::size_t i = 0; i < kLine; ++i) {
    sums[i] = accumulators[i];
  }
#pragma GCC unroll 8
  for (std::size_t k = 0; k < kRows; ++k) {
    const auto* row = reinterpret_cast<const Element*>(rows + static_cast<std::int64_t>(k) * stride);
    for (std::size_t i = 0; i < kLine; ++i) {
      sums[i] = Fold::combine(sums[i], Fold::lift(row[i]));
    }
  }
  for (std::size_t i = 0; i < kLine; ++i) {
    accumulators[i] = sums[i];
  }
}

template <class Fold, std::size_t kRows>
inline void add_rows(typename Fold::Accumulator* __restrict accumulators, const std::byte* rows, std::int64_t stride,
                     std::int64_t columns) {
  using Element = unaligned_t<typename Fold::Loaded>;
  const Element* row[kRows];
  for (std::size_t k = 0; k < kRows; ++k) {
    row[k] = reinterpret_cast<const Element*>(rows + static_cast<std::int64_t>(k) * stride);
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    typename Fold::Accumulator sum = accumulators[j];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < kRows; ++k) {
      sum = Fold::combine(sum, Fold::lift(row[k][j]));
    }
    accumulators[j] = sum;
  }
}

#if defined(ANYDML_REDUCE_NEON)
// Arm's FMAX and FMIN match the definition of extremes: a NaN wins, and +0 is above -0. Therefore several rows are
// combined as floats, and only the result is converted to a key.
template <bool kMax>
inline float32x4_t native_extreme(float32x4_t a, float32x4_t b) {
  return kMax ? vmaxq_f32(a, b) : vminq_f32(a, b);
}
template <bool kMax>
inline float64x2_t native_extreme(float64x2_t a, float64x2_t b) {
  return kMax ? vmaxq_f64(a, b) : vminq_f64(a, b);
}

template <class Vector>
inline Vector load_vector(const std::byte* from) {
  Vector loaded;
  __builtin_memcpy(&loaded, from, sizeof(loaded));
  return loaded;
}

template <class Fold, std::size_t kRows>
inline void add_native_rows(typename Fold::Accumulator* accumulators, const std::byte* rows, std::int64_t stride,
                            std::int64_t columns) {
  using Loaded = typename Fold::Loaded;
  using Vector = std::conditional_t<sizeof(Loaded) == 4, float32x4_t, float64x2_t>;
  constexpr bool kMax = Fold::kNeutral == Fold::kMin;
  constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(Loaded));
  constexpr std::int64_t kSome = 8 * kLine;
  alignas(64) Loaded best[static_cast<std::size_t>(kSome)];
  std::int64_t column = 0;
  while (column + kLine <= columns) {
    std::int64_t some = 0;
    for (; some < kSome && column + some + kLine <= columns; some += kLine) {  // as in add_lines
      const std::byte* from = rows + (column + some) * static_cast<std::int64_t>(sizeof(Loaded));
      auto first = load_vector<Vector>(from);
      auto second = load_vector<Vector>(from + 16);
      auto third = load_vector<Vector>(from + 32);
      auto fourth = load_vector<Vector>(from + 48);
#pragma GCC unroll 8
      for (std::size_t k = 1; k < kRows; ++k) {
        from += stride;
        first = native_extreme<kMax>(first, load_vector<Vector>(from));
        second = native_extreme<kMax>(second, load_vector<Vector>(from + 16));
        third = native_extreme<kMax>(third, load_vector<Vector>(from + 32));
        fourth = native_extreme<kMax>(fourth, load_vector<Vector>(from + 48));
      }
      const Vector all[] = {first, second, third, fourth};
      __builtin_memcpy(best + some, all, sizeof(all));
    }
    add_rows<Fold, 1>(accumulators + column, reinterpret_cast<const std::byte*>(best), 0, some);
    column += some;
  }
  if (column < columns) {
    add_rows<Fold, kRows>(accumulators + column, rows + column * static_cast<std::int64_t>(sizeof(Loaded)), stride,
                          columns - column);
  }
}

template <class Fold>
inline constexpr bool kHasNative = false;
template <class T, bool kMax, bool kIsArg>
inline constexpr bool kHasNative<ExtremeFold<T, kMax, kIsArg>> = is_float<T> && sizeof(T) >= 4;
#endif

// How to process rows: one at a time; several together, which saves accesses to the accumulators; or several together,
// one cache line at a time, if they are far apart. Rows of bytes are short and close together.
enum class Taken { singly, together, by_lines };

template <class Fold, Taken kTaken>
inline void add_several(typename Fold::Accumulator* accumulators, const std::byte* rows, std::int64_t stride,
                        std::int64_t columns) {
  constexpr auto kRows = static_cast<std::size_t>(kRowsAtOnce);
#if defined(ANYDML_REDUCE_NEON)
  if constexpr (kHasNative<Fold>) {
    add_native_rows<Fold, kRows>(accumulators, rows, stride, columns);
    return;
  }
#endif
  if constexpr (kTaken == Taken::by_lines && sizeof(typename Fold::Loaded) > 1) {
    constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(typename Fold::Loaded));
    for (; columns >= kLine; columns -= kLine, accumulators += kLine, rows += 64) {
      add_lines<Fold, kRows>(accumulators, rows, stride);
    }
  }
  add_rows<Fold, kRows>(accumulators, rows, stride, columns);
}

template <class Fold, Taken kTaken>
inline void add_loaded(typename Fold::Accumulator* accumulators, const std::byte* rows, std::int64_t stride,
                       std::int64_t count, std::int64_t columns) {
  std::int64_t row = 0;
  for (; kTaken != Taken::singly && row + kRowsAtOnce <= count; row += kRowsAtOnce) {
    add_several<Fold, kTaken>(accumulators, rows + row * stride, stride, columns);
  }
  for (; row < count; ++row) {
    add_rows<Fold, 1>(accumulators, rows + row * stride, stride, columns);
  }
}

template <class Fold, Taken kTaken>
inline void add_all(typename Fold::Accumulator* accumulators, const std::byte* rows, std::int64_t stride,
                    std::int64_t count, std::int64_t columns) {
  if constexpr (Fold::kWidens) {
    alignas(64) f32 wide[kRowsAtOnce * kWideColumns];
    for (std::int64_t row = 0; row < count; row += kRowsAtOnce) {
      const std::int64_t high = count - row < kRowsAtOnce ? count - row : kRowsAtOnce;
      for (std::int64_t column = 0; column < columns; column += kWideColumns) {
        const std::int64_t some = columns - column < kWideColumns ? columns - column : kWideColumns;
        for (std::int64_t k = 0; k < high; ++k) {
          widen_halves(rows + (row + k) * stride + column * 2, some, wide + k * kWideColumns);
        }
        add_loaded<Fold, Taken::together>(accumulators + column, reinterpret_cast<const std::byte*>(wide),
                                          kWideColumns * 4, high, some);
      }
    }
  } else {
    add_loaded<Fold, kTaken>(accumulators, rows, stride, count, columns);
  }
}

template <class Fold>
void accumulate(typename Fold::Accumulator* accumulators, const std::byte* rows, std::int64_t stride,
                std::int64_t count, std::int64_t columns) {
  add_all<Fold, Taken::by_lines>(accumulators, rows, stride, count, columns);
}

// A block is treated as rows of 64 elements; the columns are the lanes. If there are fewer elements, the number of
// lanes is rounded up to a power of two, because additional lanes would be empty. If the order does not affect the
// result, a row is one cache line, and several rows are processed at a time.
template <class Fold>
void along(const std::byte* input, std::int64_t stride, std::int64_t outputs, std::int64_t count,
           typename Fold::Accumulator* results) {
  using Accumulator = typename Fold::Accumulator;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(typename Fold::Element));
  constexpr bool kNear = Fold::kOrdered || std::is_same_v<typename Fold::Element, f16>;
  constexpr std::int64_t kLanes = kNear ? kReduceLanes : 64 / kBytes;
  constexpr std::int64_t kRowBytes = kLanes * kBytes;
  alignas(64) Accumulator lanes[static_cast<std::size_t>(kLanes)];
  std::int64_t used = 1;
  while (used < count && used < kLanes) {
    used *= 2;
  }
  const std::int64_t rows = count / kLanes;
  for (std::int64_t output = 0; output < outputs; ++output) {
    const std::byte* x = input + output * stride;
    for (std::int64_t i = 0; i < used; ++i) {
      lanes[i] = Fold::kNeutral;
    }
    add_all<Fold, kNear ? Taken::singly : Taken::together>(lanes, x, kRowBytes, rows, kLanes);
    add_all<Fold, Taken::singly>(lanes, x + rows * kRowBytes, 0, count % kLanes == 0 ? 0 : 1, count % kLanes);
    if (used == kLanes) {
#pragma GCC unroll 8
      for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t i = 0; i < half; ++i) {
          lanes[i] = Fold::combine(lanes[i], lanes[i + half]);
        }
      }
    } else {
      for (std::int64_t half = used / 2; half > 0; half /= 2) {
        for (std::int64_t i = 0; i < half; ++i) {
          lanes[i] = Fold::combine(lanes[i], lanes[i + half]);
        }
      }
    }
    results[output] = lanes[0];
  }
}

template <class Fold>
inline bool has_key(const std::byte* from, std::int64_t count, typename Fold::Accumulator key) {
  using T = typename Fold::Element;
  using Accumulator = typename Fold::Accumulator;
  Accumulator found = 0;
  if constexpr (is_float<T> && sizeof(T) >= 4) {
    // Compares elements as floats, which needs fewer instructions. NaN does not equal itself, so it is searched for
    // separately.
    const auto* x = reinterpret_cast<const unaligned_t<T>*>(from);
    const T value = Fold::lower(key);
    if (key != Fold::kNan) {
      for (std::int64_t i = 0; i < count; ++i) {
        found |= x[i] == value ? Accumulator{1} : Accumulator{0};
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        found |= x[i] != x[i] ? Accumulator{1} : Accumulator{0};
      }
    }
  } else {
    const auto* x = reinterpret_cast<const unaligned_t<typename Fold::Loaded>*>(from);
    for (std::int64_t i = 0; i < count; ++i) {
      found = static_cast<Accumulator>(found | (Fold::lift(x[i]) == key ? Accumulator{1} : Accumulator{0}));
    }
  }
  return found != 0;
}

// Checks whether a group of several elements contains the key before searching the group.
template <class Fold>
std::int64_t find(const std::byte* input, std::int64_t count, typename Fold::Accumulator key, bool last) {
  constexpr std::int64_t kSome = 128;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(typename Fold::Loaded));
  const auto* x = reinterpret_cast<const unaligned_t<typename Fold::Loaded>*>(input);
  const std::int64_t whole = count - count % kSome;
  if (last) {
    std::int64_t i = count - 1;
    while (i >= whole && Fold::lift(x[i]) != key) {
      --i;
    }
    while (i < whole && i >= kSome && !has_key<Fold>(input + (i + 1 - kSome) * kBytes, kSome, key)) {
      i -= kSome;
    }
    while (i > 0 && Fold::lift(x[i]) != key) {
      --i;
    }
    return i;
  }
  std::int64_t i = 0;
  while (i < whole && !has_key<Fold>(input + i * kBytes, kSome, key)) {
    i += kSome;
  }
  while (i < count - 1 && Fold::lift(x[i]) != key) {
    ++i;
  }
  return i;
}

template <class Fold>
inline constexpr ReduceKernels<Fold> kKernels = {accumulate<Fold>, along<Fold>, nullptr};
template <class T, bool kMax, bool kIsArg>
inline constexpr ReduceKernels<ExtremeFold<T, kMax, kIsArg>> kKernels<ExtremeFold<T, kMax, kIsArg>> = {
    accumulate<ExtremeFold<T, kMax, kIsArg>>, along<ExtremeFold<T, kMax, kIsArg>>, find<ExtremeFold<T, kMax, kIsArg>>};

const void* find_kernels(FoldId fold, DataType type) {
  return visit_fold(fold, type, []<class Fold>() -> const void* { return &kKernels<Fold>; });
}
