// SPDX-License-Identifier: MIT
// A call of the C API: the operator that it describes, and the key under which it is remembered.
#pragma once

#include <span>

#include "anydml/anydml.h"
#include "base/result.h"
#include "capi/recent_calls.h"
#include "schema/described.h"

namespace anydml {

// What a caller passes to describe an operator, whether to run it or to compile it.
struct Call {
  const facts::Operator* op;
  std::span<const anydml_tensor> inputs;
  std::span<const anydml_tensor> outputs;
  std::span<const anydml_attribute> attributes;
};

// A tensor that is there although it may be left out, or not.
[[nodiscard]] inline bool is_absent(const anydml_tensor& tensor) { return tensor.type == ANYDML_NONE; }

[[nodiscard]] Result<schema::Described> describe(const Call& call);

// The type of an anydml_attribute that says most plainly what the field takes.
[[nodiscard]] std::uint32_t attribute_type(const facts::Field& field);
// Whether an attribute may be left out: DirectML says so, or something else that is given decides it.
[[nodiscard]] bool is_optional_attribute(const facts::Operator& op, std::size_t field);

// False when the call is wrong, which is left to who says so, or too long to be remembered.
[[nodiscard]] bool make_key(const anydml_device* wanted, const Call& call, CallKey& key);

}  // namespace anydml
