// SPDX-License-Identifier: MIT
// Arithmetic on sizes and strides that reports overflow instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>

namespace anydml {

[[nodiscard]] inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::nullopt;
  }
  return sum;
}

[[nodiscard]] inline std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return std::nullopt;
  }
  return difference;
}

[[nodiscard]] inline std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

// Byte sizes are unsigned.
[[nodiscard]] inline std::optional<std::uint64_t> checked_add_bytes(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::nullopt;
  }
  return sum;
}

[[nodiscard]] inline std::optional<std::uint64_t> checked_multiply_bytes(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

// Rounds up to a multiple of the alignment, which must not be 0.
[[nodiscard]] inline std::optional<std::uint64_t> checked_align_bytes(std::uint64_t bytes, std::uint64_t alignment) {
  const auto sum = checked_add_bytes(bytes, alignment - 1);
  return sum ? std::optional(*sum / alignment * alignment) : std::nullopt;
}

// The absolute value, without overflow for INT64_MIN.
[[nodiscard]] constexpr std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

}  // namespace anydml
