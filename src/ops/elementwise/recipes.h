// SPDX-License-Identifier: MIT
// Builds operators that are sequences of several entries.
#pragma once

#include "ops/elementwise/program.h"
#include "ops/op_desc.h"

namespace anydml {

// The value of each operator input in a program; kAbsentValue for an absent one.
inline constexpr std::uint16_t kAbsentValue = 0xffff;
using InputValues = std::span<const std::uint16_t>;

// Adds the operator to the program and returns the value of its result.
using Recipe = std::uint16_t (*)(const OpDesc& desc, InputValues inputs, ElementwiseProgram& program);

// Null if the operator has no recipe.
[[nodiscard]] Recipe find_recipe(const facts::Operator& op);

}  // namespace anydml
