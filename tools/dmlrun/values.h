// SPDX-License-Identifier: MIT
// Elements as people write and read them. An element is its bits, in the low bytes of 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/element.h"
#include "base/result.h"

namespace anydml::dmlrun {

using ElementBits = std::uint64_t;

// A type by DirectML's name, with or without DML_TENSOR_DATA_TYPE_; any case with `any_case` ("float16"), which also
// knows NumPy's names ("f2", "half", "uint8").
[[nodiscard]] std::optional<DataType> parse_type(std::string_view name, bool any_case = false);

// The number in the type, rounded once to nearest even where it is a float type. Text as JSON writes numbers, and for
// float types nan, inf, infinity with a sign, in any case. The error is a reason without the place: "300 is not a UINT8
// (0 to 255)".
[[nodiscard]] Result<ElementBits> parse_element(std::string_view text, DataType type);

// As DxDispatch prints it wherever six digits say it all, with as many more as tell the value from its neighbours.
[[nodiscard]] std::string element_text(ElementBits element, DataType type);

// All the type's bits: 0x3C00.
[[nodiscard]] std::string element_hex(ElementBits element, DataType type);

// The sum in the type: integers wrap around, floats are rounded.
[[nodiscard]] ElementBits add_elements(ElementBits a, ElementBits b, DataType type);

[[nodiscard]] ElementBits load_element(const std::byte* from, DataType type);
void store_element(ElementBits element, DataType type, std::byte* to);

// Fill the bytes, whole elements, with one value; or with first, first + step, first + step + step, ... each added in
// the type.
void fill_constant(std::span<std::byte> to, ElementBits value, DataType type);
void fill_sequence(std::span<std::byte> to, ElementBits first, ElementBits step, DataType type);

}  // namespace anydml::dmlrun
