// SPDX-License-Identifier: MIT
// Integers for sizes that are computed from a model's attributes, which may be any numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {

// An int64 number whose arithmetic raises Invalid instead of overflowing.
class Exact {
 public:
  constexpr Exact(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): mixes with numbers
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  friend Exact operator+(Exact a, Exact b) { return checked(checked_add(a.value_, b.value_)); }
  friend Exact operator-(Exact a, Exact b) { return checked(checked_subtract(a.value_, b.value_)); }
  friend Exact operator*(Exact a, Exact b) { return checked(checked_multiply(a.value_, b.value_)); }

 private:
  static Exact checked(std::optional<std::int64_t> result) {
    if (!result) {
      fail("a size that follows from the attributes is too large");
    }
    return *result;
  }
  std::int64_t value_;
};

// Rounds up. The number is 0 or more, and the divisor 1 or more.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t number, std::int64_t divisor) {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

}  // namespace anydml::onnx
