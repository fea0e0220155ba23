// SPDX-License-Identifier: MIT
// Maps elements to integers that sort in the same order, so that comparisons need not treat NaN and zeros specially: +0
// is above -0, and NaN is above all other values. Integers are unchanged.
#pragma once

#include <limits>
#include <type_traits>

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Ordered {
  using Key = std::conditional_t<!is_float<T>, T,
                                 std::conditional_t<sizeof(T) == 2, i16, std::conditional_t<sizeof(T) == 4, i32, i64>>>;
  static constexpr Key kNan = std::numeric_limits<Key>::max();

  // of: the element, or its bits if it is a float.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Key key(Key of) {
    if constexpr (is_float<T>) {
      constexpr auto kMagnitude = static_cast<Key>(FloatParts<T>::kMagnitude);
      constexpr auto kInfinity = static_cast<Key>(FloatParts<T>::kInfinity);
      const auto sign = static_cast<Key>(of >> (sizeof(T) * 8 - 1));  // all bits set, or none
      const auto ordered = static_cast<Key>(of ^ static_cast<Key>(sign & kMagnitude));
      const auto is_nan = static_cast<Key>(Key{0} - static_cast<Key>(static_cast<Key>(of & kMagnitude) > kInfinity));
      return static_cast<Key>((ordered & static_cast<Key>(~is_nan)) | (kNan & is_nan));
    } else {
      return of;
    }
  }
  // Converts a key back to the element or its bits. For kNan these are the bits of a NaN.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Key element(Key key) {
    if constexpr (is_float<T>) {
      const auto sign = static_cast<Key>(key >> (sizeof(T) * 8 - 1));
      return static_cast<Key>(key ^ static_cast<Key>(sign & static_cast<Key>(FloatParts<T>::kMagnitude)));
    } else {
      return key;
    }
  }
  // The key of the smallest element: -infinity, or the smallest integer.
  static constexpr Key kMin = [] {
    if constexpr (is_float<T>) {
      return static_cast<Key>(~static_cast<Key>(FloatParts<T>::kInfinity));
    } else {
      return std::numeric_limits<Key>::min();
    }
  }();
};

}  // namespace anydml
