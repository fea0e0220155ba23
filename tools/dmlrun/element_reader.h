// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cursor.h"
#include "values.h"

namespace anydml::dmlrun {

// Reads a number of the given type, or a word for a number that JSON cannot represent. Reports any other value and
// returns nothing.
[[nodiscard]] std::optional<ElementBits> read_element(const Cursor& at, DataType type);

}  // namespace anydml::dmlrun
