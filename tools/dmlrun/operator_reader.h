// SPDX-License-Identifier: MIT
// Reads an operator's desc according to the facts about its struct, with the same code for all 177 operators.
#pragma once

#include <optional>
#include <string_view>

#include "cursor.h"
#include "model.h"

namespace anydml::dmlrun {

// Finds a member under either of its two spellings; reports an error if both are present.
[[nodiscard]] std::optional<Cursor> either(Members& members, std::string_view name, std::string_view other_name);

// Returns "; did you mean 'X'?" for a name that is not a DirectML operator, or an empty string. Names may lack
// prefixes.
[[nodiscard]] std::string operator_suggestion(std::string_view name);

// Finds the operator that a model's type names. If DirectML does not have it, reports an error with a suggestion.
[[nodiscard]] const facts::Operator* read_operator_type(const Cursor& at);

// Reads the desc struct's members from an object that may contain other members too; the caller finishes the object.
[[nodiscard]] OperatorModel read_operator_fields(Members& members, const facts::Operator& op);

// Reads flags from a string or an array of strings, with or without the prefix.
[[nodiscard]] std::uint32_t read_flags(const Cursor& at, std::string_view enumeration);

}  // namespace anydml::dmlrun
