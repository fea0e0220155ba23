// SPDX-License-Identifier: MIT
// An operator's desc, read by the facts about its struct: the same code for all 177.
#pragma once

#include <optional>
#include <string_view>

#include "cursor.h"
#include "model.h"

namespace anydml::dmlrun {

// One of the two ways a model writes a name; both at once are reported.
[[nodiscard]] std::optional<Cursor> either(Members& members, std::string_view name, std::string_view other_name);

// "; did you mean 'X'?" for what is not an operator of DirectML, or nothing. Prefixes of names may be left out.
[[nodiscard]] std::string operator_suggestion(std::string_view name);

// The operator a model's type names; reported, with what was probably meant, where DirectML has none of that name.
[[nodiscard]] const facts::Operator* read_operator_type(const Cursor& at);

// The desc struct's members out of an object that may hold others besides; the caller finishes it.
[[nodiscard]] OperatorModel read_operator_fields(Members& members, const facts::Operator& op);

// Flags as a string or an array of strings, with or without the prefix.
[[nodiscard]] std::uint32_t read_flags(const Cursor& at, std::string_view enumeration);

}  // namespace anydml::dmlrun
