// SPDX-License-Identifier: MIT
// The kernels, compiled once per target and once as portable code. This file has no include guard, because it is
// included inside each of these namespaces, which must already define widen_halves and narrow_halves. It must not use
// lambdas, because they would not be compiled for the target.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors may have any alignment
};
template <class T>
using Elements = typename Unaligned<T>::type;

template <class T>
void load_elements(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) noexcept {
  if constexpr (std::is_same_v<T, f16>) {
    alignas(64) std::byte packed[kMaxScanLoad * sizeof(f16)];
    if (stride != sizeof(f16)) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(packed + i * 2, from + i * stride, sizeof(f16));
      }
      from = packed;
    }
    widen_halves(from, count, reinterpret_cast<f32*>(to));
  } else {
    auto* const values = reinterpret_cast<scan_t<T>*>(to);
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (stride == kBytes || stride == -kBytes) {  // constants, so that the compiler vectorizes
      const auto* const elements = reinterpret_cast<const Elements<T>*>(from);
      if (stride == kBytes) {
        for (std::int64_t i = 0; i < count; ++i) {
          values[i] = elements[i];
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          values[i] = elements[-i];
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = *reinterpret_cast<const Elements<T>*>(from + i * stride);
    }
  }
}

template <class T>
void store_elements(const std::byte* from, std::int64_t count, std::byte* to, std::int64_t stride) noexcept {
  if constexpr (std::is_same_v<T, f16>) {
    alignas(64) std::byte packed[kMaxScanLoad * sizeof(f16)];
    const bool is_packed = stride == sizeof(f16);
    narrow_halves(reinterpret_cast<const f32*>(from), count, is_packed ? to : packed);
    for (std::int64_t i = 0; !is_packed && i < count; ++i) {
      std::memcpy(to + i * stride, packed + i * 2, sizeof(f16));
    }
  } else {
    const auto* const values = reinterpret_cast<const scan_t<T>*>(from);
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (stride == kBytes || stride == -kBytes) {
      auto* const elements = reinterpret_cast<Elements<T>*>(to);
      if (stride == kBytes) {
        for (std::int64_t i = 0; i < count; ++i) {
          elements[i] = static_cast<T>(values[i]);
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          elements[-i] = static_cast<T>(values[i]);
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Elements<T>*>(to + i * stride) = static_cast<T>(values[i]);
    }
  }
}

// How chains are processed: whether outputs are written, whether the scan is exclusive, and whether there is a carry
// that is not an identity.
struct ScanMode {
  bool stores;
  bool is_exclusive;
  bool carries;
};
inline constexpr ScanMode kTotals{.stores = false, .is_exclusive = false, .carries = false};

// Converts one element to a number, and back.
template <class T>
inline scan_t<T> load_number(const std::byte* from, std::int64_t i) {
  T element;
  std::memcpy(&element, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  if constexpr (std::is_same_v<T, f16>) {
    return widen(element);
  } else {
    return element;
  }
}
template <class T>
inline void store_number(scan_t<T> number, std::byte* to, std::int64_t i) {
  T element;
  if constexpr (std::is_same_v<T, f16>) {
    element = narrow<f16>(number);
  } else {
    element = number;
  }
  std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
}

// Processes kRows independent chains side by side, so that they do not wait for each other.
template <class T, ScanFunction kFunction, ScanMode kMode, std::size_t kRows>
void scan_rows(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t first, std::int64_t end,
               scan_t<T>* sums, const scan_t<T>* carries) {
  using C = scan_t<T>;
  if constexpr (!kMode.stores && !is_float<C> && kRows == 1) {  // so that the compiler vectorizes
    const auto* const numbers = reinterpret_cast<const Elements<C>*>(inputs[0]);
    C total = sums[0];
    for (std::int64_t i = first; i < end; ++i) {
      total = scanned<kFunction>(total, static_cast<C>(numbers[i]));
    }
    sums[0] = total;
    return;
  }
  const std::byte* from[kRows];
  std::byte* to[kRows];
  C own[kRows];
  C carry[kRows];
  for (std::size_t row = 0; row < kRows; ++row) {
    from[row] = inputs[row];
    to[row] = kMode.stores ? outputs[row] : nullptr;
    own[row] = sums[row];
    carry[row] = kMode.carries ? carries[row] : kScanIdentity<C, kFunction>;
  }
  for (std::int64_t i = first; i < end; ++i) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const C next = scanned<kFunction>(own[row], load_number<T>(from[row], i));
      if constexpr (kMode.stores) {
        const C result = kMode.is_exclusive ? own[row] : next;
        store_number<T>(kMode.carries ? scanned<kFunction>(carry[row], result) : result, to[row], i);
      }
      own[row] = next;
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    sums[row] = own[row];
  }
}

template <class T, ScanFunction kFunction, ScanMode kMode>
void scan_all_rows(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t first,
                   std::int64_t end, scan_t<T>* sums, const scan_t<T>* carries) {
  constexpr std::int64_t kSome = !std::is_same_v<T, u64> ? 4 : kFunction == ScanFunction::product ? 2 : 1;
  std::int64_t row = 0;
  for (; first < end && row + kSome <= rows; row += kSome) {
    scan_rows<T, kFunction, kMode, kSome>(inputs + row, kMode.stores ? outputs + row : nullptr, first, end, sums + row,
                                          kMode.carries ? carries + row : nullptr);
  }
  for (; first < end && kSome > 1 && row < rows; ++row) {
    scan_rows<T, kFunction, kMode, 1>(inputs + row, kMode.stores ? outputs + row : nullptr, first, end, sums + row,
                                      kMode.carries ? carries + row : nullptr);
  }
}

#if ANYDML_SCAN_VECTORS
// The number of elements in a 16-byte vector. A square with this many rows and columns is transposed by interleaving
// its halves log2(kSide) times, so that each vector contains the next element of every row.
template <class C>
inline constexpr std::size_t kSide = 16 / sizeof(C);
// Vectors are not used for 64-bit integers: processing their chains one by one is just as fast, and vectors cannot
// multiply them.
template <class C>
inline constexpr bool kHasVectors = !std::is_same_v<C, u64>;

template <class V, std::size_t kCount>
HWY_INLINE void transpose(V (&vectors)[kCount]) {
  const hn::DFromV<V> d;
  for (std::size_t zipped = 1; zipped < kCount; zipped *= 2) {
    V next[kCount];
    for (std::size_t i = 0; i < kCount / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + kCount / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + kCount / 2]);
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      vectors[i] = next[i];
    }
  }
}

template <ScanFunction kFunction, class V>
HWY_INLINE V scanned_vector(V before, V next) {
  if constexpr (kFunction == ScanFunction::product) {
    return hn::Mul(before, next);
  } else {
    return hn::Add(before, next);
  }
}

// Loads a vector of elements from memory, converting FLOAT16.
template <class T, class D>
HWY_INLINE hn::Vec<D> load_vector(D d, const std::byte* from) {
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<hwy::float16_t, D> d_half;
    const hn::Repartition<std::uint8_t, decltype(d_half)> d_bytes;
    const auto bytes = hn::LoadU(d_bytes, reinterpret_cast<const std::uint8_t*>(from));
    return hn::PromoteTo(d, hn::BitCast(d_half, bytes));
  } else {
    const hn::Repartition<std::uint8_t, D> d_bytes;
    return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const std::uint8_t*>(from)));
  }
}
template <class T, class D>
HWY_INLINE void store_vector(D, hn::Vec<D> vector, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<hwy::float16_t, D> d_half;
    const hn::Repartition<std::uint8_t, decltype(d_half)> d_bytes;
    hn::StoreU(hn::BitCast(d_bytes, hn::DemoteTo(d_half, vector)), d_bytes, reinterpret_cast<std::uint8_t*>(to));
  } else {
    const hn::Repartition<std::uint8_t, D> d_bytes;
    hn::StoreU(hn::BitCast(d_bytes, vector), d_bytes, reinterpret_cast<std::uint8_t*>(to));
  }
}

// Processes kSide rows and kSquares times as many columns, starting at a byte offset. The elements of a row are loaded
// together and stored together, because rows that are a power of two apart evict each other from the L1 cache.
template <class T, ScanFunction kFunction, ScanMode kMode, std::size_t kSquares>
HWY_INLINE void scan_squares(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t at,
                             scan_t<T>* sums, const scan_t<T>* carries) {
  using C = scan_t<T>;
  constexpr std::size_t kCount = kSide<C>;
  constexpr std::size_t kBytes = kCount * sizeof(T);
  const hn::FixedTag<C, kCount> d;
  using V = hn::Vec<decltype(d)>;
  V vectors[kSquares][kCount];
  for (std::size_t row = 0; row < kCount; ++row) {
    for (std::size_t square = 0; square < kSquares; ++square) {
      vectors[square][row] = load_vector<T>(d, inputs[row] + at + square * kBytes);
    }
  }
  V sum = hn::LoadU(d, sums);
  const V carry = kMode.carries ? hn::LoadU(d, carries) : hn::Zero(d);
  for (std::size_t square = 0; square < kSquares; ++square) {
    transpose(vectors[square]);
    for (std::size_t i = 0; i < kCount; ++i) {
      const V next = scanned_vector<kFunction>(sum, vectors[square][i]);
      if constexpr (kMode.stores) {
        const V result = kMode.is_exclusive ? sum : next;
        vectors[square][i] = kMode.carries ? scanned_vector<kFunction>(carry, result) : result;
      }
      sum = next;
    }
    if constexpr (kMode.stores) {
      transpose(vectors[square]);
    }
  }
  hn::StoreU(sum, d, sums);
  for (std::size_t row = 0; kMode.stores && row < kCount; ++row) {
    for (std::size_t square = 0; square < kSquares; ++square) {
      store_vector<T>(d, vectors[square][row], outputs[row] + at + square * kBytes);
    }
  }
}

// Processes kSide rows. The caches could not handle more simultaneous streams.
template <class T, ScanFunction kFunction, ScanMode kMode>
HWY_INLINE void scan_vectors(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t columns,
                             scan_t<T>* sums, const scan_t<T>* carries) {
  constexpr auto kRows = static_cast<std::int64_t>(kSide<scan_t<T>>);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kSquares = 4;
  std::int64_t column = 0;
  for (; column + kSquares * kRows <= columns; column += kSquares * kRows) {
    scan_squares<T, kFunction, kMode, kSquares>(inputs, outputs, column * kBytes, sums, carries);
  }
  for (; column + kRows <= columns; column += kRows) {
    scan_squares<T, kFunction, kMode, 1>(inputs, outputs, column * kBytes, sums, carries);
  }
  scan_all_rows<T, kFunction, kMode>(inputs, outputs, kRows, column, columns, sums, carries);
}
#endif

template <class T, ScanFunction kFunction, ScanMode kMode>
void scan_along(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
                scan_t<T>* sums, const scan_t<T>* carries) {
  std::int64_t row = 0;
#if ANYDML_SCAN_VECTORS
  if constexpr (kHasVectors<scan_t<T>>) {
    constexpr auto kRows = static_cast<std::int64_t>(kSide<scan_t<T>>);
    for (; row + kRows <= rows; row += kRows) {
      scan_vectors<T, kFunction, kMode>(inputs + row, kMode.stores ? outputs + row : nullptr, columns, sums + row,
                                        kMode.carries ? carries + row : nullptr);
    }
  }
#endif
  scan_all_rows<T, kFunction, kMode>(inputs + row, kMode.stores ? outputs + row : nullptr, rows - row, 0, columns,
                                     sums + row, kMode.carries ? carries + row : nullptr);
}

template <class T, ScanFunction kFunction, bool kExclusive>
void along(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
           std::byte* sums, const std::byte* carries) noexcept {
  auto* const own = reinterpret_cast<scan_t<T>*>(sums);
  const auto* const carry = reinterpret_cast<const scan_t<T>*>(carries);
  if (outputs == nullptr) {
    scan_along<T, kFunction, kTotals>(inputs, nullptr, rows, columns, own, nullptr);
  } else if (carries == nullptr) {
    scan_along<T, kFunction, ScanMode{true, kExclusive, false}>(inputs, outputs, rows, columns, own, nullptr);
  } else {
    scan_along<T, kFunction, ScanMode{true, kExclusive, true}>(inputs, outputs, rows, columns, own, carry);
  }
}

// Processes kLines lines, starting at these addresses.
template <class C, ScanFunction kFunction, ScanMode kMode, std::size_t kLines>
void scan_lines(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                std::int64_t width, C* sums, const C* carries) {
  const Elements<C>* from[kLines];
  Elements<C>* to[kLines];
  for (std::size_t line = 0; line < kLines; ++line) {
    from[line] = reinterpret_cast<const Elements<C>*>(input + static_cast<std::int64_t>(line) * input_step);
    to[line] =
        kMode.stores ? reinterpret_cast<Elements<C>*>(output + static_cast<std::int64_t>(line) * output_step) : nullptr;
  }
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    C own = sums[i];
    for (std::size_t line = 0; line < kLines; ++line) {
      const C next = scanned<kFunction>(own, static_cast<C>(from[line][i]));
      if constexpr (kMode.stores) {
        const C result = kMode.is_exclusive ? own : next;
        to[line][i] = kMode.carries ? scanned<kFunction>(carries[i], result) : result;
      }
      own = next;
    }
    sums[i] = own;
  }
}

#if ANYDML_SCAN_VECTORS
// Processes kLines lines of FLOAT16 elements.
template <ScanFunction kFunction, ScanMode kMode, std::size_t kLines>
void scan_half_lines(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                     std::int64_t width, f32* sums, const f32* carries) {
  const hn::ScalableTag<f32> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    V own = hn::LoadU(d, sums + i);
    const V carry = kMode.carries ? hn::LoadU(d, carries + i) : hn::Zero(d);
    for (std::size_t line = 0; line < kLines; ++line) {
      const auto number = static_cast<std::int64_t>(line);
      const V next = scanned_vector<kFunction>(own, load_vector<f16>(d, input + number * input_step + 2 * i));
      if constexpr (kMode.stores) {
        const V result = kMode.is_exclusive ? own : next;
        store_vector<f16>(d, kMode.carries ? scanned_vector<kFunction>(carry, result) : result,
                          output + number * output_step + 2 * i);
      }
      own = next;
    }
    hn::StoreU(own, d, sums + i);
  }
  for (; i < width; ++i) {
    const std::byte* from[1] = {input + 2 * i};
    std::byte* to[1] = {kMode.stores ? output + 2 * i : nullptr};
    for (std::size_t line = 0; line < kLines; ++line) {
      scan_rows<f16, kFunction, kMode, 1>(from, kMode.stores ? to : nullptr, 0, 1, sums + i,
                                          kMode.carries ? carries + i : nullptr);
      from[0] += input_step;
      to[0] = kMode.stores ? to[0] + output_step : nullptr;
    }
  }
}
#endif

template <class T, ScanFunction kFunction, ScanMode kMode, std::size_t kLines>
void scan_some_lines(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                     std::int64_t width, scan_t<T>* sums, const scan_t<T>* carries) {
#if ANYDML_SCAN_VECTORS
  if constexpr (std::is_same_v<T, f16>) {
    scan_half_lines<kFunction, kMode, kLines>(input, input_step, output, output_step, width, sums, carries);
    return;
  }
#endif
  scan_lines<scan_t<T>, kFunction, kMode, kLines>(input, input_step, output, output_step, width, sums, carries);
}

template <class T, ScanFunction kFunction, ScanMode kMode>
void scan_across(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                 std::int64_t lines, std::int64_t width, scan_t<T>* sums, const scan_t<T>* carries) {
  constexpr std::int64_t kSome = 4;
  std::int64_t line = 0;
  for (; line + kSome <= lines; line += kSome) {
    scan_some_lines<T, kFunction, kMode, kSome>(input + line * input_step, input_step,
                                                kMode.stores ? output + line * output_step : nullptr, output_step,
                                                width, sums, carries);
  }
  for (; line < lines; ++line) {
    scan_some_lines<T, kFunction, kMode, 1>(input + line * input_step, input_step,
                                            kMode.stores ? output + line * output_step : nullptr, output_step, width,
                                            sums, carries);
  }
}

template <class T, ScanFunction kFunction, bool kExclusive>
void across(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
            std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept {
  auto* const own = reinterpret_cast<scan_t<T>*>(sums);
  const auto* const carry = reinterpret_cast<const scan_t<T>*>(carries);
  if (output == nullptr) {
    scan_across<T, kFunction, kTotals>(input, input_step, nullptr, 0, lines, width, own, nullptr);
  } else if (carries == nullptr) {
    scan_across<T, kFunction, ScanMode{true, kExclusive, false}>(input, input_step, output, output_step, lines, width,
                                                                 own, nullptr);
  } else {
    scan_across<T, kFunction, ScanMode{true, kExclusive, true}>(input, input_step, output, output_step, lines, width,
                                                                own, carry);
  }
}

template <class C, ScanFunction kFunction>
void clear(std::byte* sums, std::int64_t count) noexcept {
  std::fill_n(reinterpret_cast<C*>(sums), count, kScanIdentity<C, kFunction>);
}

template <class C, ScanFunction kFunction>
void carry_on(std::byte* carries, const std::byte* totals, std::int64_t count) noexcept {
  auto* const carry = reinterpret_cast<C*>(carries);
  const auto* const total = reinterpret_cast<const C*>(totals);
  for (std::int64_t i = 0; i < count; ++i) {
    carry[i] = scanned<kFunction>(carry[i], total[i]);
  }
}

template <class C, ScanFunction kFunction>
void carry_along(std::byte* carry, const std::byte* totals, std::int64_t count, std::byte* each) noexcept {
  C own = *reinterpret_cast<const C*>(carry);
  const auto* const total = reinterpret_cast<const C*>(totals);
  for (std::int64_t i = 0; i < count; ++i) {
    if (each != nullptr) {
      reinterpret_cast<C*>(each)[i] = own;
    }
    own = scanned<kFunction>(own, total[i]);
  }
  *reinterpret_cast<C*>(carry) = own;
}

template <class T, ScanFunction kFunction>
void set_chains(ScanKernels& kernels, bool is_exclusive) {
  using C = scan_t<T>;
  kernels.wide_bytes = sizeof(C);
#if ANYDML_SCAN_VECTORS
  if constexpr (std::is_same_v<T, f16>) {
    kernels.elements_along = is_exclusive ? along<f16, kFunction, true> : along<f16, kFunction, false>;
    kernels.elements_across = is_exclusive ? across<f16, kFunction, true> : across<f16, kFunction, false>;
  }
#endif
  kernels.along = is_exclusive ? along<C, kFunction, true> : along<C, kFunction, false>;
  kernels.across = is_exclusive ? across<C, kFunction, true> : across<C, kFunction, false>;
  kernels.clear = clear<C, kFunction>;
  kernels.carry_on = carry_on<C, kFunction>;
  kernels.carry_along = carry_along<C, kFunction>;
}

template <class T>
ScanKernels kernels_of(const ScanStep& step) {
  using C = scan_t<T>;
  ScanKernels kernels{};
  kernels.loads = sizeof(T) != sizeof(C);
  kernels.load = load_elements<T>;
  kernels.store = store_elements<T>;
  if (step.function == ScanFunction::product) {
    set_chains<T, ScanFunction::product>(kernels, step.is_exclusive != 0);
  } else {
    set_chains<T, ScanFunction::sum>(kernels, step.is_exclusive != 0);
  }
  return kernels;
}

inline ScanKernels find_kernels(const ScanStep& step) {
  switch (step.type) {
    case DataType::FLOAT16:
      return kernels_of<f16>(step);
    case DataType::FLOAT32:
      return kernels_of<f32>(step);
    case DataType::FLOAT64:
      return kernels_of<f64>(step);
    default:
      break;
  }
  // Integers wrap, so their signs do not matter.
  switch (element_size(step.type)) {
    case 1:
      return kernels_of<u8>(step);
    case 2:
      return kernels_of<u16>(step);
    case 4:
      return kernels_of<u32>(step);
    default:
      return kernels_of<u64>(step);
  }
}
