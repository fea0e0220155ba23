// SPDX-License-Identifier: MIT
// The kernels, once for each target and once for any machine: kernels.cpp includes this within a namespace of each,
// which has widen_halves and narrow_halves already. No include guard, and no lambdas: those would not be the target's.

template <class T>
struct Unaligned {
  typedef T type __attribute__((aligned(1), may_alias));  // tensors lie at any address
};
template <class T>
using Elements = typename Unaligned<T>::type;

template <class T>
void load_elements(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) noexcept {
  if constexpr (std::is_same_v<T, f16>) {
    alignas(64) std::byte packed[kMostScanLoad * sizeof(f16)];
    if (stride != sizeof(f16)) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(packed + i * 2, from + i * stride, sizeof(f16));
      }
      from = packed;
    }
    widen_halves(from, count, reinterpret_cast<f32*>(to));
  } else {
    auto* const made = reinterpret_cast<scan_t<T>*>(to);
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (stride == kBytes || stride == -kBytes) {  // constants, of which the compiler makes vectors
      const auto* const elements = reinterpret_cast<const Elements<T>*>(from);
      if (stride == kBytes) {
        for (std::int64_t i = 0; i < count; ++i) {
          made[i] = elements[i];
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          made[i] = elements[-i];
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      made[i] = *reinterpret_cast<const Elements<T>*>(from + i * stride);
    }
  }
}

template <class T>
void store_elements(const std::byte* from, std::int64_t count, std::byte* to, std::int64_t stride) noexcept {
  if constexpr (std::is_same_v<T, f16>) {
    alignas(64) std::byte packed[kMostScanLoad * sizeof(f16)];
    const bool is_packed = stride == sizeof(f16);
    narrow_halves(reinterpret_cast<const f32*>(from), count, is_packed ? to : packed);
    for (std::int64_t i = 0; !is_packed && i < count; ++i) {
      std::memcpy(to + i * stride, packed + i * 2, sizeof(f16));
    }
  } else {
    const auto* const made = reinterpret_cast<const scan_t<T>*>(from);
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (stride == kBytes || stride == -kBytes) {
      auto* const elements = reinterpret_cast<Elements<T>*>(to);
      if (stride == kBytes) {
        for (std::int64_t i = 0; i < count; ++i) {
          elements[i] = static_cast<T>(made[i]);
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          elements[-i] = static_cast<T>(made[i]);
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Elements<T>*>(to + i * stride) = static_cast<T>(made[i]);
    }
  }
}

// kRows chains side by side, so that one need not wait for another.
template <class C, ScanFunction kFunction, bool kExclusive, bool kStores, std::size_t kRows>
void scan_rows(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t first, std::int64_t end, C* sums,
               const C* carries) {
  const Elements<C>* from[kRows];
  Elements<C>* to[kRows];
  C own[kRows];
  C carry[kRows];
  for (std::size_t row = 0; row < kRows; ++row) {
    from[row] = reinterpret_cast<const Elements<C>*>(inputs[row]);
    to[row] = kStores ? reinterpret_cast<Elements<C>*>(outputs[row]) : nullptr;
    own[row] = sums[row];
    carry[row] = carries[row];
  }
  for (std::int64_t i = first; i < end; ++i) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const C next = scanned<kFunction>(own[row], static_cast<C>(from[row][i]));
      if (kStores) {
        to[row][i] = scanned<kFunction>(carry[row], kExclusive ? own[row] : next);
      }
      own[row] = next;
    }
  }
  for (std::size_t row = 0; row < kRows; ++row) {
    sums[row] = own[row];
  }
}

template <class C, ScanFunction kFunction, bool kExclusive, bool kStores>
void scan_all_rows(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t first,
                   std::int64_t end, C* sums, const C* carries) {
  constexpr std::int64_t kSome = 4;
  std::int64_t row = 0;
  for (; first < end && row + kSome <= rows; row += kSome) {
    scan_rows<C, kFunction, kExclusive, kStores, kSome>(inputs + row, kStores ? outputs + row : nullptr, first, end,
                                                        sums + row, carries + row);
  }
  for (; first < end && row < rows; ++row) {
    scan_rows<C, kFunction, kExclusive, kStores, 1>(inputs + row, kStores ? outputs + row : nullptr, first, end,
                                                    sums + row, carries + row);
  }
}

#if ANYDML_SCAN_VECTORS
// As many rows as a vector of 16 bytes has numbers, as many columns: zipping halves as often as the count has bits
// transposes them, so that a vector has the next number of each row.
template <class C>
inline constexpr std::size_t kSide = 16 / sizeof(C);
// Vectors have no product of 64-bit integers.
template <class C, ScanFunction kFunction>
inline constexpr bool kHasVectors = !(std::is_same_v<C, u64> && kFunction == ScanFunction::product);

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

// kSide rows, from one column on. squares: how many times kSide columns.
template <class C, ScanFunction kFunction, bool kExclusive, bool kStores>
HWY_INLINE void scan_squares(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t column,
                             std::int64_t squares, C* sums, const C* carries) {
  constexpr std::size_t kCount = kSide<C>;
  const hn::FixedTag<C, kCount> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d_bytes;
  using V = hn::Vec<decltype(d)>;
  V sum = hn::LoadU(d, sums);
  const V carry = hn::LoadU(d, carries);
  std::int64_t at = column * static_cast<std::int64_t>(sizeof(C));
  for (std::int64_t square = 0; square < squares; ++square, at += 16) {
    V vectors[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      vectors[i] = hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const std::uint8_t*>(inputs[i] + at)));
    }
    transpose(vectors);
    for (std::size_t i = 0; i < kCount; ++i) {
      const V next = scanned_vector<kFunction>(sum, vectors[i]);
      vectors[i] = scanned_vector<kFunction>(carry, kExclusive ? sum : next);
      sum = next;
    }
    if constexpr (kStores) {
      transpose(vectors);
      for (std::size_t i = 0; i < kCount; ++i) {
        hn::StoreU(hn::BitCast(d_bytes, vectors[i]), d_bytes, reinterpret_cast<std::uint8_t*>(outputs[i] + at));
      }
    }
  }
  hn::StoreU(sum, d, sums);
}

// A cache line of each row at a time: rows that are a power of two apart drive each other out of the nearest cache.
template <class C, ScanFunction kFunction, bool kExclusive, bool kStores>
void scan_vectors(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
                  C* sums, const C* carries) {
  constexpr auto kRows = static_cast<std::int64_t>(kSide<C>);
  constexpr std::int64_t kSquares = 4;  // of 16 bytes
  constexpr std::int64_t kAhead = 512;  // bytes
  const std::int64_t whole = columns - columns % kRows;
  for (std::int64_t column = 0; column < whole; column += kRows * kSquares) {
    const std::int64_t squares = std::min(kSquares, (whole - column) / kRows);
    for (std::int64_t row = 0; row < rows; row += kRows) {
      for (std::int64_t i = row; i < row + kRows; ++i) {
        // A hint, so that the address may lie beyond the tensor.
        const std::int64_t ahead = column * static_cast<std::int64_t>(sizeof(C)) + kAhead;
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(inputs[i]) +
                                                         static_cast<std::uintptr_t>(ahead)));
      }
      scan_squares<C, kFunction, kExclusive, kStores>(inputs + row, kStores ? outputs + row : nullptr, column, squares,
                                                      sums + row, carries + row);
    }
  }
  scan_all_rows<C, kFunction, kExclusive, kStores>(inputs, outputs, rows, whole, columns, sums, carries);
}
#endif

template <class C, ScanFunction kFunction, bool kExclusive, bool kStores>
void scan_along(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
                C* sums, const C* carries) {
  std::int64_t row = 0;
#if ANYDML_SCAN_VECTORS
  if constexpr (kHasVectors<C, kFunction>) {
    row = rows - rows % static_cast<std::int64_t>(kSide<C>);
    scan_vectors<C, kFunction, kExclusive, kStores>(inputs, outputs, row, columns, sums, carries);
  }
#endif
  scan_all_rows<C, kFunction, kExclusive, kStores>(inputs + row, kStores ? outputs + row : nullptr, rows - row, 0,
                                                   columns, sums + row, carries + row);
}

template <class C, ScanFunction kFunction, bool kExclusive>
void along(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
           std::byte* sums, const std::byte* carries) noexcept {
  auto* const own = reinterpret_cast<C*>(sums);
  const auto* const carry = reinterpret_cast<const C*>(carries);
  if (outputs == nullptr) {
    scan_along<C, kFunction, false, false>(inputs, nullptr, rows, columns, own, carry);
  } else {
    scan_along<C, kFunction, kExclusive, true>(inputs, outputs, rows, columns, own, carry);
  }
}

// kLines lines, of which the first is here.
template <class C, ScanFunction kFunction, bool kExclusive, bool kStores, std::size_t kLines>
void scan_lines(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                std::int64_t width, C* sums, const C* carries) {
  const Elements<C>* from[kLines];
  Elements<C>* to[kLines];
  for (std::size_t line = 0; line < kLines; ++line) {
    from[line] = reinterpret_cast<const Elements<C>*>(input + static_cast<std::int64_t>(line) * input_step);
    to[line] =
        kStores ? reinterpret_cast<Elements<C>*>(output + static_cast<std::int64_t>(line) * output_step) : nullptr;
  }
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    C own = sums[i];
    for (std::size_t line = 0; line < kLines; ++line) {
      const C next = scanned<kFunction>(own, static_cast<C>(from[line][i]));
      if (kStores) {
        to[line][i] = scanned<kFunction>(carries[i], kExclusive ? own : next);
      }
      own = next;
    }
    sums[i] = own;
  }
}

template <class C, ScanFunction kFunction, bool kExclusive, bool kStores>
void scan_across(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                 std::int64_t lines, std::int64_t width, C* sums, const C* carries) {
  constexpr std::int64_t kSome = 4;
  std::int64_t line = 0;
  for (; line + kSome <= lines; line += kSome) {
    scan_lines<C, kFunction, kExclusive, kStores, kSome>(input + line * input_step, input_step,
                                                         kStores ? output + line * output_step : nullptr, output_step,
                                                         width, sums, carries);
  }
  for (; line < lines; ++line) {
    scan_lines<C, kFunction, kExclusive, kStores, 1>(input + line * input_step, input_step,
                                                     kStores ? output + line * output_step : nullptr, output_step,
                                                     width, sums, carries);
  }
}

template <class C, ScanFunction kFunction, bool kExclusive>
void across(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
            std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept {
  auto* const own = reinterpret_cast<C*>(sums);
  const auto* const carry = reinterpret_cast<const C*>(carries);
  if (output == nullptr) {
    scan_across<C, kFunction, false, false>(input, input_step, nullptr, 0, lines, width, own, carry);
  } else {
    scan_across<C, kFunction, kExclusive, true>(input, input_step, output, output_step, lines, width, own, carry);
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

template <class C, ScanFunction kFunction>
void set_chains(ScanKernels& kernels, bool is_exclusive) {
  kernels.wide_bytes = sizeof(C);
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
    set_chains<C, ScanFunction::product>(kernels, step.is_exclusive != 0);
  } else {
    set_chains<C, ScanFunction::sum>(kernels, step.is_exclusive != 0);
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
  // Integers wrap, so that their signs do not matter.
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
