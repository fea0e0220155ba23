// SPDX-License-Identifier: MIT
// Loads elements of any type from memory, and classifies them by their bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/element.h"
#include "base/float_bits.h"

namespace anydml::python {

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
using Unsigned =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
constexpr auto magnitude(T value) {
  return static_cast<Unsigned<T>>(to_bits(value) & FloatParts<T>::kMagnitude);
}
template <class T>
constexpr bool is_infinite(T value) {
  return magnitude(value) == FloatParts<T>::kInfinity;
}
template <class T>
constexpr bool is_zero(T value) {
  if constexpr (is_float<T>) {
    return magnitude(value) == 0;
  } else {
    return value == 0;
  }
}

}  // namespace anydml::python
