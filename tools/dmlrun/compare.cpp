// SPDX-License-Identifier: MIT
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/float_bits.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

template <class T>
f64 widened(T value) {
  if constexpr (std::is_same_v<T, f64> || !is_float<T>) {
    return static_cast<f64>(value);
  } else {
    return widen_to<f64>(value);
  }
}

constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();

// How many representable values apart two elements are; for integers, their difference.
template <class T>
std::uint64_t ulps_between(T a, T b) {
  if constexpr (is_float<T>) {
    using Parts = FloatParts<T>;
    const auto position = [](T value) {
      const auto bits = to_bits(value);
      const auto magnitude = static_cast<std::int64_t>(bits & Parts::kMagnitude);
      return (bits & Parts::kSign) != 0 ? -magnitude : magnitude;
    };
    const std::int64_t x = position(a);
    const std::int64_t y = position(b);
    return x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
                 : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
  } else {
    return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                 : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  }
}

struct Apart {
  bool right;
  double distance;
  std::uint64_t ulps;
};

template <class T>
Apart judge(T value, T expected, const Tolerance& tolerance) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  bool same = false;
  if constexpr (is_float<T>) {
    if (is_nan(value) || is_nan(expected)) {
      const bool both = is_nan(value) && is_nan(expected);
      return {both, both ? 0 : kInfinite, both ? 0 : kFar};
    }
    same = to_bits(value) == to_bits(expected);
    const f64 wide = widened(value);
    const f64 wanted = widened(expected);
    if (std::isinf(wide) || std::isinf(wanted)) {
      return {same, same ? 0 : kInfinite, same ? 0 : kFar};
    }
    const std::uint64_t ulps = ulps_between(value, expected);
    const double distance = std::fabs(wide - wanted);
    const double maximum = tolerance.absolute.value_or(0) + tolerance.relative.value_or(0) * std::fabs(wanted);
    const bool close = (tolerance.absolute || tolerance.relative) && distance <= maximum;
    return {same || close || (tolerance.ulps && ulps <= *tolerance.ulps), distance, ulps};
  } else {
    const std::uint64_t ulps = ulps_between(value, expected);
    const auto distance = static_cast<double>(ulps);
    const double maximum =
        tolerance.absolute.value_or(0) + tolerance.relative.value_or(0) * std::fabs(widened(expected));
    return {ulps == 0 || distance <= maximum || (tolerance.ulps && ulps <= *tolerance.ulps), distance, ulps};
  }
}

}  // namespace

Comparison compare_elements(std::span<const std::byte> values, std::span<const std::byte> expected, DataType type,
                            const Tolerance& tolerance) {
  Comparison comparison;
  visit_type(type, [&]<class T>() {
    comparison.elements = values.size() / sizeof(T);
    for (std::size_t i = 0; i < comparison.elements; ++i) {
      T value{};
      T wanted{};
      std::memcpy(&value, values.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&wanted, expected.data() + i * sizeof(T), sizeof(T));
      const Apart apart = judge(value, wanted, tolerance);
      comparison.largest_distance = std::max(comparison.largest_distance, apart.distance);
      comparison.largest_ulps = std::max(comparison.largest_ulps, apart.ulps);
      if (apart.right) {
        continue;
      }
      const Difference difference{.index = i,
                                  .value = load_element(values.data() + i * sizeof(T), type),
                                  .expected = load_element(expected.data() + i * sizeof(T), type),
                                  .distance = apart.distance,
                                  .ulps = apart.ulps};
      if (comparison.different++ == 0) {
        comparison.first = difference;
        comparison.worst = difference;
      } else if (difference.distance > comparison.worst.distance) {
        comparison.worst = difference;
      }
    }
  });
  return comparison;
}

std::string tolerance_text(const Tolerance& tolerance) {
  if (tolerance.is_exact()) {
    return "bit by bit";
  }
  std::string text;
  if (tolerance.absolute || tolerance.relative) {
    text = format_text("within {}", tolerance.absolute.value_or(0));
    if (tolerance.relative) {
      text += format_text(" + {} * |expected|", *tolerance.relative);
    }
  }
  if (tolerance.ulps) {
    text += format_text("{}{} ULP", text.empty() ? "within " : " or ", *tolerance.ulps);
  }
  return text;
}

}  // namespace anydml::dmlrun
