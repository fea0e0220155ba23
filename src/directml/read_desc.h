// SPDX-License-Identifier: MIT
// From any of the 177 desc structs to the form that the schema judges, by the facts about its members.
#pragma once

#include "base/result.h"
#include "directml/headers.h"
#include "schema/described.h"

namespace anydml {

// Reads as far as the struct's own words allow, and no further: what is wrong with it the schema says. An error only
// where reading on would not be safe or has no meaning: a null Desc, an array longer than any can be, an operator
// within it that is none.
[[nodiscard]] Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op);

// By its number; null when DirectML has no such operator.
[[nodiscard]] const facts::Operator* find_operator(DML_OPERATOR_TYPE type);

}  // namespace anydml
