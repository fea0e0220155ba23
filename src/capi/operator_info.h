// SPDX-License-Identifier: MIT
// The C API's information about DirectML's operators, implemented or not.
#pragma once

#include <span>

#include "anydml/anydml.h"

namespace anydml {

// In the order of their numbers, as in facts::operators(). They live as long as the process.
[[nodiscard]] std::span<const anydml_operator_info> operator_infos();

}  // namespace anydml
