// SPDX-License-Identifier: MIT
// Converts elements to and from text. An element is represented by its bits, in the low bytes of 64 bits.
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

// Finds a type by DirectML's name, with or without DML_TENSOR_DATA_TYPE_. `any_case` also accepts lower case
// ("float16") and NumPy's names ("f2", "half", "uint8").
[[nodiscard]] std::optional<DataType> parse_type(std::string_view name, bool any_case = false);

// Reads a number of the type; floats are rounded once, to nearest even. The text is a JSON number or, for float types,
// nan, inf or infinity in any case, with an optional sign. The error gives the reason without the location: "300 is not
// a UINT8 (0 to 255)".
[[nodiscard]] Result<ElementBits> parse_element(std::string_view text, DataType type);

// Formats a value as DxDispatch does if six digits suffice, or else with enough digits to distinguish it from its
// neighbors.
[[nodiscard]] std::string element_text(ElementBits element, DataType type);

// Formats all bits of the element as hexadecimal: 0x3C00.
[[nodiscard]] std::string element_hex(ElementBits element, DataType type);

// Adds two elements in their type: integers wrap around, floats are rounded.
[[nodiscard]] ElementBits add_elements(ElementBits a, ElementBits b, DataType type);

[[nodiscard]] ElementBits load_element(const std::byte* from, DataType type);
void store_element(ElementBits element, DataType type, std::byte* to);

// Both functions fill whole elements: with one value, or with first, first + step, first + step + step, ..., each added
// in the type.
void fill_constant(std::span<std::byte> to, ElementBits value, DataType type);
void fill_sequence(std::span<std::byte> to, ElementBits first, ElementBits step, DataType type);

}  // namespace anydml::dmlrun
