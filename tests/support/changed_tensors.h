// SPDX-License-Identifier: MIT
// Changes to one tensor of a valid operator, each of which the library must either reject with a message or compute
// without accesses outside the tensor: one element more or fewer, a different rank, absence, four-bit types, strides
// that are negative or very large, and no elements.
#pragma once

#include <string>
#include <vector>

#include "schema/described.h"

namespace anydml::test {

struct ChangedOperator {
  std::string change;  // "OutputTensor.Sizes[1] + 1"
  schema::Described described;
};

// Whether strides may be negative, as in the C API. DirectML's strides are unsigned 32-bit numbers.
enum class Strides { any, unsigned_32_bits };

// All changes to each tensor and number of the operator. Array counts are adjusted.
[[nodiscard]] std::vector<ChangedOperator> changed_tensors(const schema::Described& described, Strides strides);

// Returns the operator with every input marked OWNED_BY_DML.
[[nodiscard]] schema::Described with_owned_inputs(schema::Described described);

// Returns the operator's tensors and attributes as one line of text.
[[nodiscard]] std::string case_text(const schema::Described& described);

}  // namespace anydml::test
