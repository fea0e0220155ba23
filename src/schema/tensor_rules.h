// SPDX-License-Identifier: MIT
// Rules for the tensors of all operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace anydml {

// The number of bits in an element of a DML_TENSOR_DATA_TYPE, including UINT4 and INT4; 0 for a value that is not a
// type.
[[nodiscard]] std::uint32_t element_bits(std::uint32_t type);

// The smallest valid TotalTensorSizeInBytes, as in DirectML's DMLCalcBufferTensorSize: the bytes up to the last
// element, rounded up to a multiple of 4. Strides are in elements; null means packed. No value if the size does not fit
// into 63 bits.
[[nodiscard]] std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::uint32_t> sizes,
                                                         const std::uint32_t* strides);
// Sizes and strides must not be negative.
[[nodiscard]] std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::int64_t> sizes,
                                                         const std::int64_t* strides);

}  // namespace anydml
