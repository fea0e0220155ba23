// SPDX-License-Identifier: MIT
// The element types in C++. It uses none of the library's internals, because code that checks the library should not
// share its code.
#pragma once

#include <anydml/anydml.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anydml::bench {

// IEEE binary16. This is not _Float16, because g++ 12 lacks that type on x86-64.
struct Half {
  std::uint16_t bits;
};

inline double to_double(Half value) {
  const int exponent = value.bits >> 10 & 31;
  const int fraction = value.bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Rounds to nearest, ties to even.
inline Half to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    return {static_cast<std::uint16_t>(sign | 0x7e00)};
  }
  if (magnitude >= 65520) {  // halfway between the largest number and the next step
    return {static_cast<std::uint16_t>(sign | 0x7c00)};
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  // The unit in the last place, which stops shrinking below the smallest normal number.
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto units = static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A carry out of the fraction increments the exponent automatically.
  return {static_cast<std::uint16_t>(sign | (units == 0 ? 0 : units + ((unit + 24) << 10)))};
}

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

// Calls f.operator()<T>(), where T is the C++ type for an element type.
template <class F>
decltype(auto) with_type(anydml_type type, F&& f) {
  switch (type) {
    case ANYDML_FLOAT16:
      return f.template operator()<Half>();
    case ANYDML_UINT32:
      return f.template operator()<std::uint32_t>();
    case ANYDML_UINT16:
      return f.template operator()<std::uint16_t>();
    case ANYDML_UINT8:
      return f.template operator()<std::uint8_t>();
    case ANYDML_INT32:
      return f.template operator()<std::int32_t>();
    case ANYDML_INT16:
      return f.template operator()<std::int16_t>();
    case ANYDML_INT8:
      return f.template operator()<std::int8_t>();
    case ANYDML_FLOAT64:
      return f.template operator()<double>();
    case ANYDML_UINT64:
      return f.template operator()<std::uint64_t>();
    case ANYDML_INT64:
      return f.template operator()<std::int64_t>();
    default:
      return f.template operator()<float>();
  }
}

inline bool is_float_type(anydml_type type) {
  return with_type(type, []<class T>() { return is_float<T>; });
}

}  // namespace anydml::bench
