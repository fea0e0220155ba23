// SPDX-License-Identifier: MIT
// What the C API says of DirectML's operators, built or not.
#pragma once

#include <span>

#include "anydml/anydml.h"

namespace anydml {

// In the order of their numbers, which is that of facts::operators(). They live as long as the process.
[[nodiscard]] std::span<const anydml_operator_info> operator_infos();

}  // namespace anydml
