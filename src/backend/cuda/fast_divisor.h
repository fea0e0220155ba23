// SPDX-License-Identifier: MIT
// Divides an index by a size that is known in advance: the host prepares the divisor, and kernels only multiply.
#pragma once

#include <cstdint>

namespace anydml::cuda {

struct FastDivisor {
  std::uint32_t divisor;
  std::uint32_t multiplier;
  std::uint32_t shift;
};

// 1 + multiplier / 2^32 equals 2^shift / divisor, rounded up. This yields the exact quotient for every 32-bit index.
[[nodiscard]] constexpr FastDivisor make_divisor(std::uint32_t divisor) {
  std::uint32_t shift = 0;
  while ((std::uint64_t{1} << shift) < divisor) {
    ++shift;
  }
  const std::uint64_t rest = (std::uint64_t{1} << shift) - divisor;
  return {divisor, static_cast<std::uint32_t>((rest << 32) / divisor + 1), shift};
}

}  // namespace anydml::cuda
