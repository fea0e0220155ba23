// SPDX-License-Identifier: MIT
// The kernels: plain loops that the compiler vectorizes, and explicit vectors where that is not enough. Include this
// file inside a namespace, after each_target.h if it is compiled for a target, and without it for the portable kernels.
// The file is included once per target, so it has no include guard.

// Elements may have any alignment, and a constant stride lets the compiler vectorize the loads.
template <class T>
struct __attribute__((packed)) Unaligned {
  T value;
};

template <class T, bool kContiguous>
__attribute__((flatten, noinline)) void keys_of(const std::byte* from, std::int64_t stride, std::int64_t count,
                                                sort_key_t<T> flip, sort_key_t<T>* to) {
  const auto* const packed = reinterpret_cast<const Unaligned<T>*>(from);
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (kContiguous) {
      to[i] = increasing_key<T>(packed[i].value) ^ flip;
    } else {
      to[i] = increasing_key<T>(reinterpret_cast<const Unaligned<T>*>(from + i * stride)->value) ^ flip;
    }
  }
}

template <class T>
void make_keys(const std::byte* from, std::int64_t stride, std::int64_t count, bool largest, void* to) noexcept {
  using Key = sort_key_t<T>;
  const Key flip = largest ? Key{-1} : Key{0};
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
    keys_of<T, true>(from, stride, count, flip, static_cast<Key*>(to));
  } else {
    keys_of<T, false>(from, stride, count, flip, static_cast<Key*>(to));
  }
}

// If keys are equal, the earlier key comes first.
template <class Key>
__attribute__((flatten, noinline)) void make_ranks(const void* from, std::int64_t count, std::int64_t k,
                                                   u32* order) noexcept {
  const auto* const keys = static_cast<const Key*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    const Key own = keys[i];
    Key before = 0;
    for (std::int64_t j = 0; j < i; ++j) {
      before += keys[j] <= own ? 1 : 0;
    }
    for (std::int64_t j = i + 1; j < count; ++j) {
      before += keys[j] < own ? 1 : 0;
    }
    if (before < k) {
      order[before] = static_cast<u32>(i);
    }
  }
}

template <class Key>
__attribute__((flatten, noinline)) std::int64_t make_kth(const void* from, std::int64_t count,
                                                         std::int64_t k) noexcept {
  const auto* const keys = static_cast<const Key*>(from);
  const auto wanted = static_cast<Key>(k);
  Key found = kMaxKey<Key>;
  for (std::int64_t i = 0; i < count; ++i) {
    const Key own = keys[i];
    Key up_to = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      up_to += keys[j] <= own ? 1 : 0;
    }
    found = up_to >= wanted && own < found ? own : found;
  }
  return found;
}

#if defined(HWY_NAMESPACE)

namespace hn = hwy::HWY_NAMESPACE;

// A vector element type with the order of T: 16-bit keys instead of FLOAT16.
template <class T>
using lane_t = std::conditional_t<std::is_same_v<T, f16>, i16, T>;

template <class T, class D>
HWY_INLINE hn::Vec<D> load_lanes(D d, const std::byte* from) {
  const hn::Repartition<u8, D> d_bytes;
  const auto x = hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from)));
  if constexpr (std::is_same_v<T, f16>) {
    constexpr auto kInfinity = static_cast<i16>(FloatParts<f16>::kInfinity);
    const auto magnitude = hn::And(x, hn::Set(d, static_cast<i16>(FloatParts<f16>::kMagnitude)));
    const auto key = hn::IfNegativeThenElse(x, hn::Neg(magnitude), magnitude);
    const auto nan = hn::Set(d, static_cast<i16>(kInfinity + 1));  // see increasing_key
    return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, kInfinity)), nan, key);
  } else if constexpr (is_float<T>) {
    return hn::IfThenElse(hn::Eq(x, x), x, hn::Set(d, std::numeric_limits<T>::infinity()));
  } else {
    return x;
  }
}

template <class T, bool kLargest>
HWY_NOINLINE void extremes(const std::byte* from, std::int64_t stretches, lane_t<T>* to) {
  const hn::ScalableTag<lane_t<T>> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto bytes = lanes * static_cast<std::int64_t>(sizeof(T));
  const auto better = [](auto a, auto b) HWY_ATTR { return kLargest ? hn::Max(a, b) : hn::Min(a, b); };
  for (std::int64_t i = 0; i < stretches; ++i, from += kSortGroup * bytes, to += lanes) {
    auto even = load_lanes<T>(d, from);
    auto odd = load_lanes<T>(d, from + bytes);
    for (std::int64_t k = 2; k < kSortGroup; k += 2) {
      even = better(even, load_lanes<T>(d, from + k * bytes));
      odd = better(odd, load_lanes<T>(d, from + (k + 1) * bytes));
    }
    hn::StoreU(better(even, odd), d, to);
  }
}

template <class T>
inline std::int64_t lanes_of() {
  return static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<lane_t<T>>()));
}

// NaN counts as infinity here.
template <class T>
inline constexpr bool kIsVague = is_float<T> && !std::is_same_v<T, f16>;

template <class T>
void make_minima(const std::byte* from, std::int64_t stretches, bool largest, void* to) noexcept {
  using Key = sort_key_t<T>;
  alignas(64) lane_t<T> best[kSortChunk / kSortGroup];
  if (largest) {
    extremes<T, true>(from, stretches, best);
  } else {
    extremes<T, false>(from, stretches, best);
  }
  const std::int64_t count = stretches * lanes_of<T>();
  auto* const keys = static_cast<Key*>(to);
  make_keys<lane_t<T>>(reinterpret_cast<const std::byte*>(best), sizeof(T), count, largest, keys);
  if constexpr (kIsVague<T>) {
    constexpr Key kLoose = ~static_cast<Key>(FloatParts<T>::kInfinity);
    for (std::int64_t i = 0; largest && i < count; ++i) {
      keys[i] = keys[i] == kLoose ? ~kMaxKey<Key> : keys[i];
    }
  }
}

#else

template <class T>
constexpr std::int64_t lanes_of() {
  return 1;
}
template <class T>
inline constexpr bool kIsVague = false;

template <class T>
void make_minima(const std::byte* from, std::int64_t stretches, bool largest, void* to) noexcept {
  using Key = sort_key_t<T>;
  Key keys[kSortGroup];
  for (std::int64_t i = 0; i < stretches; ++i) {
    make_keys<T>(from + i * kSortGroup * static_cast<std::int64_t>(sizeof(T)), sizeof(T), kSortGroup, largest, keys);
    static_cast<Key*>(to)[i] = *std::min_element(keys, keys + kSortGroup);
  }
}

#endif

template <class T>
SortKernels kernels_of() {
  using Key = sort_key_t<T>;
  SortKernels kernels{make_keys<T>, make_minima<T>, make_kth<Key>, make_ranks<Key>, lanes_of<T>(), {}, {}};
  if constexpr (kIsVague<T>) {
    constexpr auto kInfinity = static_cast<Key>(FloatParts<T>::kInfinity);
    kernels.vague[0] = kInfinity;
    kernels.loose[0] = kMaxKey<Key>;
    kernels.vague[1] = ~kMaxKey<Key>;
    kernels.loose[1] = ~kInfinity;
  }
  return kernels;
}

inline SortKernels find_kernels(DataType type) {
  return visit_type(type, []<class T>() { return kernels_of<T>(); });
}
