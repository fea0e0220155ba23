// SPDX-License-Identifier: MIT
// The wording of types in messages.
#pragma once

#include <string>

#include "base/element.h"

namespace anydml {

// "FLOAT32, INT8"
[[nodiscard]] std::string type_names(TypeSet types);

}  // namespace anydml
