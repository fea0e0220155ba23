// SPDX-License-Identifier: MIT
// Converts any of the 177 desc structs to the form that the schema checks, using the facts about the struct's members.
#pragma once

#include "base/result.h"
#include "directml/headers.h"
#include "schema/described.h"

namespace anydml {

// Reads only as far as the struct's own contents allow; the schema reports any mistake. Fails only if reading further
// would be unsafe or meaningless: a null Desc, an impossibly long array, or a nested operator that is not an operator.
[[nodiscard]] Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op);

// Finds an operator by its type number; returns null if DirectML has no such operator.
[[nodiscard]] const facts::Operator* find_operator(DML_OPERATOR_TYPE type);

}  // namespace anydml
