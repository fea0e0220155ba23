// SPDX-License-Identifier: MIT
// Operators that several entries compute one after another.
#pragma once

#include "ops/elementwise/program.h"
#include "ops/op_desc.h"

namespace anydml {

// For each input of an operator its value in a program, and kAbsentValue for an absent one.
inline constexpr std::uint16_t kAbsentValue = 0xffff;
using InputValues = std::span<const std::uint16_t>;

// Adds the operator to the program and returns the value of its result.
using Recipe = std::uint16_t (*)(const OpDesc& desc, InputValues inputs, ElementwiseProgram& program);

// Null if the operator has none.
[[nodiscard]] Recipe find_recipe(const facts::Operator& op);

}  // namespace anydml
