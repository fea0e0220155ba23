// SPDX-License-Identifier: MIT
// All implemented operators, for the layers above the families. make_op_desc checks a description and turns it into an
// operator. The layers below rely on these checks.
//
// Families do not include this header. A composite operator lists the descriptions of its parts
// (decomposition.h), and the parts themselves are created here.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "schema/described.h"

namespace anydml {

// Null if the operator belongs to no family.
[[nodiscard]] const Family* find_family(const facts::Operator& op);

// Returns an error if the operator is not implemented. This is checked before the operator's fields, because correcting
// the fields of an operator that is not implemented would be wasted work.
[[nodiscard]] Status check_built(const facts::Operator& op);

// Whether a description was already checked against all of DirectML's documentation. If not, everything is checked
// except the tensor limits of a feature level, because the C API supports more types, ranks and sizes.
enum class SchemaState : std::uint8_t { checked, unchecked };

// The rule for the sizes in element-wise families. DirectML's rule, which requires equal sizes, is part of its
// documentation. The C API uses NumPy's rule: an input is aligned with the output at the last dimension, and the input
// is repeated along dimensions that have size 1 or are missing. A description that satisfies DirectML's rule also
// satisfies NumPy's.
[[nodiscard]] Result<OpDesc> make_op_desc(const schema::Described& described, SchemaState schema_state);

// Creates the operators of a decomposition that have only been described so far.
[[nodiscard]] Status build_decomposition(Decomposition& whole);

}  // namespace anydml
