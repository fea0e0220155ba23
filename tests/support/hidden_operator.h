// SPDX-License-Identifier: MIT
// All operators may be built, and still an operator that is not must be refused by name. A program that links
// hidden_operator.cpp has a table of families of its own, in which one operator is missing.
#pragma once

#include <string_view>

namespace anydml::test {

inline constexpr std::string_view kHiddenOperator = "ACTIVATION_RELU";
inline constexpr char kHiddenMessage[] = "ACTIVATION_RELU: this DirectML operator is not implemented yet";

}  // namespace anydml::test
