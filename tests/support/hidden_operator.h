// SPDX-License-Identifier: MIT
// Even when all operators are implemented, an unimplemented operator must still be rejected with a message that names
// it. A program that links hidden_operator.cpp has its own table of families, in which one operator is missing.
#pragma once

#include <string_view>

namespace anydml::test {

inline constexpr std::string_view kHiddenOperator = "ACTIVATION_RELU";
inline constexpr char kHiddenMessage[] = "ACTIVATION_RELU: this DirectML operator is not implemented yet";

}  // namespace anydml::test
