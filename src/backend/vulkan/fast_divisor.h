// SPDX-License-Identifier: MIT
// Division of numbers below 2^31 by a number that is known beforehand: a multiplication and a shift
// (shaders/strided.glsl).
#pragma once

#include <bit>
#include <cstdint>

namespace anydml::vulkan {

struct FastDivisor {
  std::uint32_t divisor;
  std::uint32_t multiplier;  // 0 for the divisor 1
  std::uint32_t shift;
};

inline constexpr std::uint64_t kMaxDividend = std::uint64_t{1} << 31;  // all dividends are less

// For 2^shift < divisor <= 2^(shift + 1), the multiplier m is the least integer above 2^(32 + shift) / divisor. Then
// m * divisor = 2^(32 + shift) + e with 0 < e <= divisor <= 2^(shift + 1), so for n < 2^31 the error n * e is less than
// 2^(32 + shift), and floor(n * m / 2^(32 + shift)) is the quotient. divisor: 1 to 2^31.
[[nodiscard]] constexpr FastDivisor make_divisor(std::uint32_t divisor) {
  if (divisor == 1) {
    return {1, 0, 0};
  }
  const auto shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1)) - 1;
  return {divisor, static_cast<std::uint32_t>((std::uint64_t{1} << (32 + shift)) / divisor + 1), shift};
}

}  // namespace anydml::vulkan
