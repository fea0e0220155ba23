// SPDX-License-Identifier: MIT
// The wording of types and shapes in messages.
#pragma once

#include <cstdint>
#include <string>

#include "base/element.h"

namespace anydml {

// "FLOAT32, INT8"
[[nodiscard]] std::string type_names(TypeSet types);

// "[3, 4]"
[[nodiscard]] std::string shape_text(const std::int64_t* values, std::uint32_t rank);

}  // namespace anydml
