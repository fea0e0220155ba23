// SPDX-License-Identifier: MIT
// The kernels as plain loops that the compiler vectorizes. This file is included once per target, inside the namespace
// of the target. Compilers vectorize FLOAT16 conversions badly, so the namespace must already define widen_halves and
// narrow_halves.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors may have any alignment
};
using Floats = typename Unaligned<f32>::type;

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

template <class T>
inline f32 load_one(const std::byte* from) {
  T element;
  std::memcpy(&element, from, sizeof(T));
  return to_resample(element);
}

template <class T>
inline void load_run(const std::byte* from, std::int64_t count, f32* to) {
  if constexpr (std::is_same_v<T, f16>) {
    widen_halves(from, count, to);
  } else if constexpr (std::is_same_v<T, f32>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(f32));
  } else {
    const auto* const elements = reinterpret_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<f32>(elements[i]);
    }
  }
}

inline constexpr std::int64_t kSome = 256;
inline constexpr std::int64_t kShortRun = 4;  // in elements; longer runs are processed one by one

template <class T>
ANYDML_FLATTEN void load(const std::byte* from, std::int64_t stride, std::int64_t columns, std::int64_t run,
                         f32* to) noexcept {
  if (stride == run * static_cast<std::int64_t>(sizeof(T))) {
    load_run<T>(from, columns * run, to);
  } else if (run >= kShortRun) {
    for (std::int64_t c = 0; c < columns; ++c) {
      load_run<T>(from + c * stride, run, to + c * run);
    }
  } else {
    T some[kSome];
    const std::int64_t together = kSome / run;
    for (std::int64_t first = 0; first < columns; first += together) {
      const std::int64_t part = std::min(together, columns - first);
      for (std::int64_t c = 0; c < part; ++c) {
        for (std::int64_t k = 0; k < run; ++k) {
          std::memcpy(some + c * run + k, from + (first + c) * stride + k * static_cast<std::int64_t>(sizeof(T)),
                      sizeof(T));
        }
      }
      load_run<T>(reinterpret_cast<const std::byte*>(some), part * run, to + first * run);
    }
  }
}

template <class T>
inline void store_run(const f32* from, std::int64_t count, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    narrow_halves(from, count, to);
  } else if constexpr (std::is_same_v<T, f32>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(f32));
  } else {
    auto* const elements = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < count; ++i) {
      elements[i] = resampled<T>(from[i]);
    }
  }
}

template <class T>
ANYDML_FLATTEN void store(const f32* from, std::int64_t columns, std::int64_t run, std::byte* to,
                          std::int64_t stride) noexcept {
  if (stride == run * static_cast<std::int64_t>(sizeof(T))) {
    store_run<T>(from, columns * run, to);
  } else if (run >= kShortRun) {
    for (std::int64_t c = 0; c < columns; ++c) {
      store_run<T>(from + c * run, run, to + c * stride);
    }
  } else {
    T some[kSome];
    const std::int64_t together = kSome / run;
    for (std::int64_t first = 0; first < columns; first += together) {
      const std::int64_t part = std::min(together, columns - first);
      store_run<T>(from + first * run, part * run, reinterpret_cast<std::byte*>(some));
      for (std::int64_t c = 0; c < part; ++c) {
        for (std::int64_t k = 0; k < run; ++k) {
          std::memcpy(to + (first + c) * stride + k * static_cast<std::int64_t>(sizeof(T)), some + c * run + k,
                      sizeof(T));
        }
      }
    }
  }
}

// ---- Means of rows --------------------------------------------------------------------------------------------------

ANYDML_FLATTEN void mean(const std::byte* x, f32 a, const std::byte* y, f32 b, std::int64_t count,
                         std::byte* to) noexcept {
  const auto* const first = reinterpret_cast<const Floats*>(x);
  const auto* const second = reinterpret_cast<const Floats*>(y);
  auto* const sums = reinterpret_cast<Floats*>(to);
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] = first[i] * a + second[i] * b;
  }
}
ANYDML_FLATTEN void scale(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept {
  const auto* const first = reinterpret_cast<const Floats*>(x);
  auto* const products = reinterpret_cast<Floats*>(to);
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    products[i] = first[i] * a;
  }
}
ANYDML_FLATTEN void add(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept {
  const auto* const first = reinterpret_cast<const Floats*>(x);
  auto* const sums = reinterpret_cast<Floats*>(to);
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] = sums[i] + first[i] * a;
  }
}

// ---- Means along a row ----------------------------------------------------------------------------------------------

// Computes the columns [begin, end), each of which is a single element.
ANYDML_FLATTEN void interpolate_singly(const Columns& columns, const Floats* from, std::int64_t begin, std::int64_t end,
                                       f32* to) noexcept {
  const f32* const first = columns.weights;
  const f32* const second = columns.weights + columns.count;
  for (std::int64_t c = begin; c < end; ++c) {
    const Floats* const x = from + columns.first[c];
    const bool copies = second[c] == 0.0F;
    const f32 sum = x[0] * first[c] + x[copies ? 0 : 1] * second[c];
    to[c] = copies ? f32{x[0]} : sum;
  }
}

// Computes two columns for each input element, as in images scaled to twice the size.
ANYDML_FLATTEN void interpolate_doubled(const Columns& columns, const Floats* __restrict from,
                                        f32* __restrict to) noexcept {
  const std::int64_t begin = columns.regular.begin;
  const Floats* const x = from + columns.first[begin];
  const Floats* const y = from + columns.first[begin + 1];
  const f32 x0 = columns.weights[begin];
  const f32 x1 = columns.weights[columns.count + begin];
  const f32 y0 = columns.weights[begin + 1];
  const f32 y1 = columns.weights[columns.count + begin + 1];
  const std::int64_t pairs = (columns.regular.end - begin) / 2;
  f32* __restrict const pair = to + begin;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < pairs; ++i) {
    pair[2 * i] = x[i] * x0 + x[i + 1] * x1;
    pair[2 * i + 1] = y[i] * y0 + y[i + 1] * y1;
  }
}
// Computes one column for every two input elements.
ANYDML_FLATTEN void interpolate_halved(const Columns& columns, const Floats* __restrict from,
                                       f32* __restrict to) noexcept {
  const std::int64_t begin = columns.regular.begin;
  const Floats* const x = from + columns.first[begin];
  const f32 x0 = columns.weights[begin];
  const f32 x1 = columns.weights[columns.count + begin];
  const std::int64_t count = columns.regular.end - begin;
  f32* __restrict const one = to + begin;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    one[i] = x[2 * i] * x0 + x[2 * i + 1] * x1;
  }
}

// Processes several columns at a time, whose sums are independent chains of additions.
ANYDML_FLATTEN void interpolate_stretched(const Columns& columns, const Floats* from, f32* to) noexcept {
  constexpr std::int64_t kTogether = 4;
  std::int64_t c = 0;
  for (; c + kTogether <= columns.count; c += kTogether) {
    const std::int32_t* const taps = columns.taps + c;
    const Floats* x[kTogether];
    f32 sums[kTogether];
    std::int32_t common = taps[0];
    for (std::int64_t i = 0; i < kTogether; ++i) {
      common = std::min(common, taps[i]);
      x[i] = from + columns.first[c + i];
      sums[i] = x[i][0] * columns.weights[c + i];
    }
    for (std::int32_t t = 1; t < common; ++t) {
      const f32* const weights = columns.weights + t * columns.count + c;
      for (std::int64_t i = 0; i < kTogether; ++i) {
        sums[i] = sums[i] + x[i][t] * weights[i];
      }
    }
    for (std::int64_t i = 0; i < kTogether; ++i) {
      for (std::int32_t t = common; t < taps[i]; ++t) {
        sums[i] = sums[i] + x[i][t] * columns.weights[t * columns.count + c + i];
      }
      to[c + i] = sums[i];
    }
  }
  for (; c < columns.count; ++c) {
    const Floats* const x = from + columns.first[c];
    f32 sum = x[0] * columns.weights[c];
    for (std::int32_t t = 1; t < columns.taps[c]; ++t) {
      sum = sum + x[t] * columns.weights[t * columns.count + c];
    }
    to[c] = sum;
  }
}

ANYDML_FLATTEN void interpolate(const Columns& columns, const std::byte* from, std::int64_t run, f32* to) noexcept {
  const auto* const row = reinterpret_cast<const Floats*>(from);
  if (run == 1 && columns.taps != nullptr) {
    interpolate_stretched(columns, row, to);
    return;
  }
  if (run == 1) {
    const RegularColumns& regular = columns.regular;
    interpolate_singly(columns, row, 0, regular.begin, to);
    if (regular.period == 2) {
      interpolate_doubled(columns, row, to);
    } else if (regular.period == 1) {
      interpolate_halved(columns, row, to);
    }
    interpolate_singly(columns, row, regular.end, columns.count, to);
    return;
  }
  const auto bytes = run * static_cast<std::int64_t>(sizeof(f32));
  for (std::int64_t c = 0; c < columns.count; ++c) {
    const std::byte* const x = from + columns.first[c] * bytes;
    auto* const column = reinterpret_cast<std::byte*>(to + c * run);
    const f32 second = columns.weights[columns.count + c];
    if (columns.taps == nullptr && second != 0.0F) {
      mean(x, columns.weights[c], x + bytes, second, run, column);
    } else if (columns.taps == nullptr || columns.taps[c] == 1) {
      std::memcpy(column, x, static_cast<std::size_t>(bytes));
    } else {
      scale(x, columns.weights[c], run, column);
      for (std::int32_t t = 1; t < columns.taps[c]; ++t) {
        add(x + t * bytes, columns.weights[t * columns.count + c], run, column);
      }
    }
  }
}

template <class T>
ANYDML_FLATTEN void interpolate_far(const Columns& columns, const ResampleRow& row, f32* to) noexcept {
  for (std::int64_t c = 0; c < columns.count; ++c) {
    const std::byte* const x = row.at + columns.first[c] * row.stride;
    const std::int32_t taps = columns.taps != nullptr                      ? columns.taps[c]
                              : columns.weights[columns.count + c] == 0.0F ? 1
                                                                           : 2;
    for (std::int64_t k = 0; k < row.run; ++k) {
      const std::byte* const element = x + k * static_cast<std::int64_t>(sizeof(T));
      f32 sum = load_one<T>(element) * columns.weights[c];
      for (std::int32_t t = 1; t < taps; ++t) {
        sum = sum + load_one<T>(element + t * row.stride) * columns.weights[t * columns.count + c];
      }
      to[c * row.run + k] = sum;
    }
  }
}

// ---- Nearest elements -----------------------------------------------------------------------------------------------

// T: an unsigned integer with the size of the element.
template <class T>
ANYDML_FLATTEN void move_singly(const Columns& columns, const ResampleRow& row, std::int64_t begin, std::int64_t end,
                                std::byte* to, std::int64_t to_stride) noexcept {
  using Element = typename Unaligned<T>::type;
  if (row.stride == sizeof(T) && to_stride == sizeof(T)) {
    const auto* const from = reinterpret_cast<const Element*>(row.at);
    auto* const elements = reinterpret_cast<Element*>(to);
    for (std::int64_t c = begin; c < end; ++c) {
      elements[c] = from[columns.first[c]];
    }
    return;
  }
  for (std::int64_t c = begin; c < end; ++c) {
    *reinterpret_cast<Element*>(to + c * to_stride) =
        *reinterpret_cast<const Element*>(row.at + columns.first[c] * row.stride);
  }
}

template <class T>
ANYDML_FLATTEN void move_doubled(const Columns& columns, const std::byte* from, std::byte* to) noexcept {
  using Element = typename Unaligned<T>::type;
  const std::int64_t begin = columns.regular.begin;
  const auto* __restrict const x = reinterpret_cast<const Element*>(from) + columns.first[begin];
  const auto* __restrict const y = reinterpret_cast<const Element*>(from) + columns.first[begin + 1];
  auto* __restrict const pair = reinterpret_cast<Element*>(to) + begin;
  const std::int64_t pairs = (columns.regular.end - begin) / 2;
  std::int64_t i = 0;
#if defined(HWY_NAMESPACE)
  // Explicit vectors, because compilers would use Arm's interleaving store of two vectors, which is slow.
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Full128<u8> d_bytes;  // wider vectors interleave within 128 bits
  const hn::Repartition<T, decltype(d_bytes)> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + lanes <= pairs; i += lanes) {
    const auto first = hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(x + i)));
    const auto second = hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(y + i)));
    const auto lower = hn::BitCast(d_bytes, hn::InterleaveLower(d, first, second));
    const auto upper = hn::BitCast(d_bytes, hn::InterleaveUpper(d, first, second));
    auto* const at = reinterpret_cast<u8*>(pair + 2 * i);
    hn::StoreU(lower, d_bytes, at);
    hn::StoreU(upper, d_bytes, at + hn::Lanes(d_bytes));
  }
#endif
  ANYDML_INDEPENDENT
  for (; i < pairs; ++i) {
    pair[2 * i] = x[i];
    pair[2 * i + 1] = y[i];
  }
}
template <class T>
ANYDML_FLATTEN void move_halved(const Columns& columns, const std::byte* from, std::byte* to) noexcept {
  using Element = typename Unaligned<T>::type;
  const std::int64_t begin = columns.regular.begin;
  const auto* __restrict const x = reinterpret_cast<const Element*>(from) + columns.first[begin];
  auto* __restrict const one = reinterpret_cast<Element*>(to) + begin;
  const std::int64_t count = columns.regular.end - begin;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    one[i] = x[2 * i];
  }
}

template <class T>
ANYDML_FLATTEN void move(const Columns& columns, const ResampleRow& given, const NearestRows& to) noexcept {
  const auto bytes = given.run * static_cast<std::int64_t>(sizeof(T));
  const bool lies_beside = given.run == 1 && given.stride == sizeof(T) && to.stride == sizeof(T);
  const RegularColumns regular = lies_beside ? columns.regular : RegularColumns();
  ResampleRow row = given;
  for (std::int64_t r = 0; r < to.rows; ++r) {
    std::byte* const at = to.at + r * to.row_stride;
    if (to.taps != nullptr) {
      row.at = given.at + to.taps[r].first * to.tap_stride;
    }
    if (regular.period == 0 && to.stride == bytes && r != 0 && to.taps[r].first == to.taps[r - 1].first) {
      std::memcpy(at, at - to.row_stride, static_cast<std::size_t>(columns.count * bytes));  // repeat the previous row
      continue;
    }
    if (row.run > 1) {
      for (std::int64_t c = 0; c < columns.count; ++c) {
        std::memcpy(at + c * to.stride, row.at + columns.first[c] * row.stride, static_cast<std::size_t>(bytes));
      }
      continue;
    }
    move_singly<T>(columns, row, 0, regular.begin, at, to.stride);
    if (regular.period == 2) {
      move_doubled<T>(columns, row.at, at);
    } else if (regular.period == 1) {
      move_halved<T>(columns, row.at, at);
    }
    move_singly<T>(columns, row, regular.end, columns.count, at, to.stride);
  }
}

template <class T>
inline ResampleKernels kernels_of() {
  return {.load = load<T>,
          .store = store<T>,
          .interpolate = interpolate,
          .interpolate_far = interpolate_far<T>,
          .mean = mean,
          .scale = scale,
          .add = add};
}

inline ResampleKernels find_kernels(DataType type) {
  switch (type) {
    case DataType::FLOAT16:
      return kernels_of<f16>();
    case DataType::INT8:
      return kernels_of<i8>();
    case DataType::UINT8:
      return kernels_of<u8>();
    default:
      return kernels_of<f32>();
  }
}
inline MoveNearest find_move(std::size_t element_bytes) {
  return element_bytes == 1 ? move<u8> : element_bytes == 2 ? move<u16> : element_bytes == 4 ? move<u32> : move<u64>;
}

#undef ANYDML_FLATTEN
