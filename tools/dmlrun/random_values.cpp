// SPDX-License-Identifier: MIT
#include "random_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/float_bits.h"
#include "echo.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// The output of the SplitMix64 generator at a position.
std::uint64_t bits_at(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t bits = seed + (position + 1) * 0x9e37'79b9'7f4a'7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58'476d'1ce4'e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d0'49bb'1331'11eb;
  return bits ^ (bits >> 31);
}

f64 unit(std::uint64_t bits) { return static_cast<f64>(bits >> 11) * 0x1p-53; }

template <class T>
T element_of(ElementBits element) {
  if constexpr (is_float<T>) {
    return from_bits<T>(static_cast<float_bits_t<T>>(element));
  } else {
    return static_cast<T>(element);
  }
}

template <class T>
f64 wide_number(ElementBits element) {
  const T value = element_of<T>(element);
  if constexpr (std::is_same_v<T, f64> || !is_float<T>) {
    return static_cast<f64>(value);
  } else {
    return widen_to<f64>(value);
  }
}

template <class T>
bool less(ElementBits a, ElementBits b) {
  if constexpr (is_float<T>) {
    return wide_number<T>(a) < wide_number<T>(b);
  } else {
    return element_of<T>(a) < element_of<T>(b);  // FLOAT64 cannot represent all integers
  }
}

template <class T>
T narrowed(f64 value) {
  if constexpr (std::is_same_v<T, f64>) {
    return value;
  } else {
    return round_to<T>(value);
  }
}

// The upper half of the product: maps 64 random bits to a number below `range`.
std::uint64_t below(std::uint64_t bits, std::uint64_t range) {
  const std::uint64_t low = (bits & 0xffff'ffff) * (range & 0xffff'ffff);
  const std::uint64_t left = (bits >> 32) * (range & 0xffff'ffff);
  const std::uint64_t right = (bits & 0xffff'ffff) * (range >> 32) + (low >> 32) + (left & 0xffff'ffff);
  return (bits >> 32) * (range >> 32) + (left >> 32) + (right >> 32);
}

template <class T>
T random_element(const RandomValues& random, std::uint64_t position) {
  if constexpr (is_float<T>) {
    const f64 first = wide_number<T>(random.first);
    const f64 second = wide_number<T>(random.second);
    if (random.distribution == RandomValues::Distribution::uniform) {
      const f64 part = unit(bits_at(random.seed, position));
      return narrowed<T>(first * (1 - part) + second * part);
    }
    constexpr std::uint64_t kSummands = 12;
    f64 sum = -6;
    for (std::uint64_t i = 0; i < kSummands; ++i) {
      sum += unit(bits_at(random.seed, kSummands * position + i));
    }
    return narrowed<T>(first + second * sum);
  } else {
    const auto first = static_cast<std::uint64_t>(element_of<T>(random.first));
    const std::uint64_t range = static_cast<std::uint64_t>(element_of<T>(random.second)) - first + 1;
    const std::uint64_t bits = bits_at(random.seed, position);
    return static_cast<T>(first + (range == 0 ? bits : below(bits, range)));
  }
}

}  // namespace

RandomValues default_random(RandomValues::Distribution distribution, DataType type) {
  RandomValues random;
  random.distribution = distribution;
  const bool uniform = distribution == RandomValues::Distribution::uniform;
  const auto number = [type](const char* text) { return parse_element(text, type).value(); };
  random.first = number(uniform && is_float_type(type) ? "-1" : "0");
  random.second = number(uniform && !is_float_type(type) ? "9" : "1");
  return random;
}

Status check_random(const RandomValues& random, DataType type) {
  return visit_type(type, [&]<class T>() -> Status {
    const bool uniform = random.distribution == RandomValues::Distribution::uniform;
    if (!uniform && !is_float<T>) {
      return invalid(
          format_text("random is normal, but the type is {}; expected uniform, or a float type", type_name(type)));
    }
    const std::string_view names[] = {uniform ? "low" : "mean", uniform ? "high" : "deviation"};
    const ElementBits numbers[] = {random.first, random.second};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!std::isfinite(wide_number<T>(numbers[i]))) {
        return invalid(format_text("{} is {}; expected a finite number", names[i], element_text(numbers[i], type)));
      }
    }
    if (uniform && less<T>(random.second, random.first)) {
      return invalid(format_text("high is {}; expected at least {}, the value of low",
                                 element_text(random.second, type), element_text(random.first, type)));
    }
    return {};
  });
}

void fill_random(std::span<std::byte> to, const RandomValues& random, DataType type) {
  visit_type(type, [&]<class T>() {
    std::uint64_t position = 0;
    for (std::size_t at = 0; to.size() - at >= sizeof(T); at += sizeof(T)) {
      const T value = random_element<T>(random, position++);
      std::memcpy(to.data() + at, &value, sizeof(T));
    }
  });
}

}  // namespace anydml::dmlrun
