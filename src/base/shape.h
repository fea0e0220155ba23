// SPDX-License-Identifier: MIT
// Tensor sizes: their limits, and their format in messages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace anydml {

inline constexpr std::uint32_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = 0xffff'ffff;
// The maximum number of bytes that a tensor may address or request. No device has that much memory, and the sum of many
// tensor sizes still fits into 64 bits.
inline constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{1} << 56;

// Formats sizes or strides for messages: "[3, 4]".
[[nodiscard]] std::string shape_text(const std::int64_t* values, std::uint32_t rank);

// Returns an error message if there are more than kMaxElements elements, otherwise no value. If any size is 0, the
// tensor has no elements.
[[nodiscard]] std::optional<std::string> too_many_elements(std::span<const std::int64_t> sizes);

}  // namespace anydml
