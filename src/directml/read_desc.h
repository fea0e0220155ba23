// SPDX-License-Identifier: MIT
// Converts any of the 177 desc structs to the form that the schema checks, according to the facts about its members.
#pragma once

#include "base/result.h"
#include "directml/headers.h"
#include "schema/described.h"

namespace anydml {

// Reads as far as the struct's own contents allow, and no further; the schema reports any mistake. Fails only where
// reading on would be unsafe or meaningless: a null Desc, an array that is impossibly long, or a nested operator that
// is not an operator.
[[nodiscard]] Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op);

// Finds an operator by its number; null if DirectML has no such operator.
[[nodiscard]] const facts::Operator* find_operator(DML_OPERATOR_TYPE type);

}  // namespace anydml
