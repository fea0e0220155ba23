// SPDX-License-Identifier: MIT
// Formats types for messages.
#pragma once

#include <string>

#include "base/element.h"

namespace anydml {

// Lists the types: "FLOAT32, INT8".
[[nodiscard]] std::string type_names(TypeSet types);

}  // namespace anydml
