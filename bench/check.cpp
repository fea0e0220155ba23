// SPDX-License-Identifier: MIT
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "elements.h"

namespace anydml::bench {
namespace {

// The remainder is exact in every format; what floor adds to it is rounded once, in that format.
template <class T>
T expected(T a, T b, Operator op) {
  const bool floor = op == Operator::modulus_floor;
  if constexpr (std::is_same_v<T, Half>) {
    // A sum of two of them is exact as a double.
    const double divisor = to_double(b);
    double m = std::fmod(to_double(a), divisor);
    if (floor) {
      m = m == 0 ? std::copysign(0.0, divisor) : std::signbit(m) != std::signbit(divisor) ? m + divisor : m;
    }
    return to_half(m);
  } else if constexpr (is_float<T>) {
    const T m = std::fmod(a, b);
    if (!floor) {
      return m;
    }
    return m == 0 ? std::copysign(T{0}, b) : std::signbit(m) != std::signbit(b) ? m + b : m;
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const Wide divisor = b;
    if (divisor == 0 || (std::is_signed_v<T> && divisor == static_cast<Wide>(-1))) {  // MIN % -1 would trap
      return 0;
    }
    Wide m = static_cast<Wide>(a) % divisor;
    if (floor && m != 0 && (m < 0) != (divisor < 0)) {
      m += divisor;
    }
    return static_cast<T>(m);
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return (value.bits & 0x7fff) > 0x7c00;
  } else if constexpr (is_float<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <class T>
std::string show(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return fmt::format("{} (0x{:04x})", to_double(value), value.bits);
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
T read(const void* from, std::int64_t element) {
  T value;
  std::memcpy(&value, static_cast<const T*>(from) + element, sizeof(T));
  return value;
}

}  // namespace

Check check(const Case& of, const Placement& placement, const void* a, const void* b, const void* out,
            std::int64_t samples) {
  Check result;
  with_type(of.type, [&]<class T>() {
    const auto look = [&](std::int64_t element) {
      const T x = read<T>(a, placement.offset(placement.strides_a, element));
      const T y = read<T>(b, placement.offset(placement.strides_b, element));
      const T actual = read<T>(out, placement.offset(placement.strides_out, element));
      const T right = expected(x, y, of.op);
      ++result.checked;
      if ((is_nan(actual) && is_nan(right)) || std::memcmp(&actual, &right, sizeof(T)) == 0) {
        return;
      }
      if (result.wrong++ == 0) {
        result.first_wrong = fmt::format("element {}: {} of {} and {} is {}, expected {}", element, name_of(of.op),
                                         show(x), show(y), show(actual), show(right));
      }
    };
    // An odd step meets every lane of a vector and every place in a chunk.
    const std::int64_t step = std::max<std::int64_t>(1, placement.elements / std::max<std::int64_t>(1, samples)) | 1;
    for (std::int64_t element = 0; element < placement.elements; element += step) {
      look(element);
    }
    if (step > 1) {
      constexpr std::int64_t kEnd = 64;
      for (std::int64_t element = std::max<std::int64_t>(0, placement.elements - kEnd); element < placement.elements;
           ++element) {
        look(element);
      }
    }
  });
  return result;
}

}  // namespace anydml::bench
