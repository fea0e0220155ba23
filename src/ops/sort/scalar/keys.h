// SPDX-License-Identifier: MIT
// Maps elements to signed integers that have the same order: 64-bit keys for 8-byte elements, and 32-bit keys for all
// other elements. NaN is greater than every number, regardless of its bits, and -0 equals +0. Equal keys are ordered by
// their indices.
#pragma once

#include <type_traits>

#include "base/float_bits.h"

namespace anydml {

template <class T>
using sort_key_t = std::conditional_t<sizeof(T) == 8, i64, i32>;

template <class Key>
inline constexpr Key kMaxKey = static_cast<Key>(~std::make_unsigned_t<Key>{0} >> 1);

// The key for increasing order.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr sort_key_t<T> increasing_key(T element) {
  using Key = sort_key_t<T>;
  if constexpr (is_float<T>) {
    using Parts = FloatParts<T>;
    constexpr Key kInfinity = static_cast<Key>(Parts::kInfinity);
    const auto bits = to_bits(element);
    const auto magnitude = static_cast<Key>(bits & Parts::kMagnitude);
    const Key key = (bits & Parts::kSign) != 0 ? -magnitude : magnitude;  // both zeros become 0
    return magnitude > kInfinity ? kInfinity + 1 : key;
  } else if constexpr (std::is_signed_v<T> || sizeof(T) < sizeof(Key)) {
    return element;
  } else {
    return static_cast<Key>(element ^ (T{1} << (8 * sizeof(T) - 1)));
  }
}

// The key, inverted if the largest elements come first.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr sort_key_t<T> sort_key(T element, bool largest) {
  const sort_key_t<T> key = increasing_key(element);
  return largest ? ~key : key;
}

}  // namespace anydml
