// SPDX-License-Identifier: MIT
// The C API's information about DirectML's operators, including those that are not implemented.
#pragma once

#include <span>

#include "anydml/anydml.h"
#include "facts/facts.h"

namespace anydml {

// Ordered by number, like facts::operators(). Valid until the process exits.
[[nodiscard]] std::span<const anydml_operator_info> operator_infos();
// The information about one operator, which may be one that this library adds to DirectML's.
[[nodiscard]] const anydml_operator_info& operator_info(const facts::Operator& op);

}  // namespace anydml
