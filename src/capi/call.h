// SPDX-License-Identifier: MIT
// A call to the C API: the operator that it describes, and the key under which its compiled form is cached.
#pragma once

#include <span>
#include <string>

#include "anydml/anydml.h"
#include "base/result.h"
#include "capi/recent_calls.h"
#include "schema/described.h"

namespace anydml {

// The arguments that describe an operator to run or to compile.
struct Call {
  const facts::Operator* op;
  std::span<const anydml_tensor> inputs;
  std::span<const anydml_tensor> outputs;
  std::span<const anydml_attribute> attributes;
};

// Whether an optional tensor is absent.
[[nodiscard]] inline bool is_absent(const anydml_tensor& tensor) { return tensor.type == ANYDML_NONE; }

[[nodiscard]] Result<schema::Described> describe(const Call& call);

// The anydml_attribute type that best fits the field.
[[nodiscard]] std::uint32_t attribute_type(const facts::Field& field);
// Whether an attribute may be omitted, because DirectML makes it optional or other arguments determine it.
[[nodiscard]] bool is_optional_attribute(const facts::Operator& op, std::size_t field);

// Returns false if the call is invalid or too long to be cached. A different function reports errors.
[[nodiscard]] bool make_key(const anydml_device* wanted, const Call& call, CallKey& key);
// A key of any length for a call without a device; calls with the same key have the same description. Returns false if
// the call is invalid or has operators as attributes.
[[nodiscard]] bool make_text_key(const Call& call, std::string& key);

}  // namespace anydml
