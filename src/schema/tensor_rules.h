// SPDX-License-Identifier: MIT
// Rules for every tensor, whatever the operator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace anydml {

inline constexpr std::uint32_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = 0xffff'ffff;
// The most bytes that a tensor may reach or claim. No device addresses that much, and sums of many such sizes still fit
// into 64 bits.
inline constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{1} << 56;

// The error in the number of elements; no value if it is kMaxElements at most. A size of 0 makes it 0.
[[nodiscard]] std::optional<std::string> too_many_elements(std::span<const std::int64_t> sizes);

// The bits of an element of a DML_TENSOR_DATA_TYPE, including UINT4 and INT4; 0 for a value that is not a type.
[[nodiscard]] std::uint32_t element_bits(std::uint32_t type);

// The least TotalTensorSizeInBytes, as in DirectML's DMLCalcBufferTensorSize: up to the last element, rounded up to a
// multiple of 4. Strides are in elements; null: packed. No value if it does not fit into 63 bits.
[[nodiscard]] std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::uint32_t> sizes,
                                                         const std::uint32_t* strides);
// Sizes and strides that are not negative.
[[nodiscard]] std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::int64_t> sizes,
                                                         const std::int64_t* strides);

}  // namespace anydml
