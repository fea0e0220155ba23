// SPDX-License-Identifier: MIT
// Plain loops, which the compiler makes vectors of. Include it inside a namespace; no include guard: it is read again
// for each target.

// Elements are at any alignment, and a stride that is a constant makes the loads vectors.
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

template <class Key>
__attribute__((flatten, noinline)) void make_minima(const void* keys, std::int64_t blocks, void* to) noexcept {
  const Key* block = static_cast<const Key*>(keys);
  auto* const minima = static_cast<Key*>(to);
  for (std::int64_t i = 0; i < blocks; ++i, block += kSortBlock) {
    Key least = block[0];
    for (std::int64_t k = 1; k < kSortBlock; ++k) {
      least = block[k] < least ? block[k] : least;
    }
    minima[i] = least;
  }
}

inline SortKernels find_kernels(DataType type) {
  return visit_type(type, []<class T>() { return SortKernels{make_keys<T>, make_minima<sort_key_t<T>>}; });
}
