// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cursor.h"
#include "values.h"

namespace anydml::dmlrun {

// A number in the type, or one of the words that JSON has no number for; reported, and nothing, where it is not one.
[[nodiscard]] std::optional<ElementBits> read_element(const Cursor& at, DataType type);

}  // namespace anydml::dmlrun
