// SPDX-License-Identifier: MIT
// The table of operators that are built, made from the rows in elementwise.def and the facts about them. It says what
// they are called and which types they take; what they mean is in the definitions, which are not included here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"
#include "facts/facts.h"
#include "ops/elementwise/step.h"

namespace anydml {

enum class RowId : std::uint16_t {
#define ANYDML_ROW(op, Scalar) op,
#include "ops/elementwise/elementwise.def"
  count_,
};
inline constexpr std::size_t kRowCount = static_cast<std::size_t>(RowId::count_);

// The row that an instruction of a step of ours names.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr RowId row_of(const Instruction& instruction) {
  return static_cast<RowId>(instruction.row);
}

// Types that a row takes together: those of its inputs in order, then the output's.
using Variant = std::array<DataType, kMaxInputs + 1>;

struct Row {
  RowId id;
  std::string_view name;
  const facts::Operator* facts;  // null for an internal row
  std::span<const Variant> variants;
  std::uint32_t first_variant;  // how many the rows before it have
  std::uint8_t inputs;
  std::array<TypeSet, kMaxInputs + 1> types;             // of each tensor, in any variant: the inputs, the output
  std::array<std::string_view, kMaxInputs + 1> tensors;  // what DirectML calls them: the inputs in order, the output
};

[[nodiscard]] std::span<const Row> rows();
[[nodiscard]] const Row& row(RowId id);
[[nodiscard]] std::uint32_t variant_count();  // of all rows

// Null when the operator is no row here.
[[nodiscard]] const Row* find_row(const facts::Operator& op);
// The row that the operator is without its last input; null when it needs it.
[[nodiscard]] const Row* find_row_without_last(const facts::Operator& op);

// Which variant of the row takes these types, the inputs' and the output's; kNoVariant: none.
inline constexpr std::uint32_t kNoVariant = 0xffff;
[[nodiscard]] std::uint32_t find_variant(const Row& row, const Variant& types);
// The one in which all tensors have this type.
[[nodiscard]] std::uint32_t find_variant(const Row& row, DataType type);

}  // namespace anydml
