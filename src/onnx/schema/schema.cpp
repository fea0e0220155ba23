// SPDX-License-Identifier: MIT
// The generated tables of ONNX's schemas, and the search for a schema.
#include "onnx/schema/schema.h"

#include <algorithm>
#include <climits>
#include <iterator>

namespace anydml::onnx {

namespace {

// ---- Inputs and outputs ---------------------------------------------------------------------------------------------

constexpr FormalTensor schema_tensor(Presence presence, std::string_view name, std::string_view variable,
                                     std::uint32_t kinds, bool is_homogeneous = true) {
  return {name, variable, KindSet::of_bits(kinds), presence, is_homogeneous};
}

#define SINGLE(name, variable, kinds) schema_tensor(Presence::kSingle, name, variable, kinds)
#define OPTIONAL(name, variable, kinds) schema_tensor(Presence::kOptional, name, variable, kinds)
#define VARIADIC(name, variable, kinds) schema_tensor(Presence::kVariadic, name, variable, kinds)
#define MIXED(presence, name, variable, kinds) schema_tensor(MIXED_##presence, name, variable, kinds, false)
#define MIXED_SINGLE Presence::kSingle
#define MIXED_OPTIONAL Presence::kOptional
#define MIXED_VARIADIC Presence::kVariadic
#define ANYDML_TENSORS(list, ...) constexpr FormalTensor list[] = {__VA_ARGS__};
#include "onnx/schema/tensors.inc"
#undef ANYDML_TENSORS
#undef MIXED_VARIADIC
#undef MIXED_OPTIONAL
#undef MIXED_SINGLE
#undef MIXED
#undef VARIADIC
#undef OPTIONAL
#undef SINGLE

// ---- Attributes -----------------------------------------------------------------------------------------------------

// The numbers are those of AttributeProto.AttributeType.
#define REQUIRED(attribute, kind) \
  FormalAttribute { .name = attribute, .type = kind, .is_required = true }
#define ABSENT(attribute, kind) \
  FormalAttribute { .name = attribute, .type = kind }
#define NUMBER(attribute, value) \
  FormalAttribute { .name = attribute, .type = 1, .has_default = true, .number = value }
#define INTEGER(attribute, value) \
  FormalAttribute { .name = attribute, .type = 2, .has_default = true, .integer = value }
#define TEXT(attribute, value) \
  FormalAttribute { .name = attribute, .type = 3, .has_default = true, .text = value }
#define INTEGERS(attribute, value) \
  FormalAttribute { .name = attribute, .type = 7, .has_default = true, .integers = value }
#define TEXTS(attribute, value) \
  FormalAttribute { .name = attribute, .type = 8, .has_default = true, .texts = value }
#define ANYDML_INTEGERS(list, ...) constexpr std::int64_t list[] = {__VA_ARGS__};
#define ANYDML_TEXTS(list, ...) constexpr std::string_view list[] = {__VA_ARGS__};
#define ANYDML_ATTRIBUTES(list, ...) constexpr FormalAttribute list[] = {__VA_ARGS__};
#include "onnx/schema/attributes.inc"
#undef ANYDML_ATTRIBUTES
#undef ANYDML_TEXTS
#undef ANYDML_INTEGERS
#undef TEXTS
#undef INTEGERS
#undef TEXT
#undef INTEGER
#undef NUMBER
#undef ABSENT
#undef REQUIRED

// ---- Schemas --------------------------------------------------------------------------------------------------------

#define NONE \
  {}
#define ANYDML_NEWEST_OPSET(opset) constexpr int kNewestOpset = opset;
#define ANYDML_NEWEST_ML_OPSET(opset) constexpr int kNewestMlOpset = opset;
#define ANYDML_NEWEST_DATA_TYPE(number) static_assert(number == kMaxDataType, "add ONNX's new types to kind.h");
#define ANYDML_SCHEMA(...)
#define ANYDML_DEPRECATED_SCHEMA(...)
#include "onnx/schema/schemas.inc"
#undef ANYDML_DEPRECATED_SCHEMA
#undef ANYDML_SCHEMA
#undef ANYDML_NEWEST_DATA_TYPE
#undef ANYDML_NEWEST_ML_OPSET
#undef ANYDML_NEWEST_OPSET

#define ANYDML_NEWEST_OPSET(opset)
#define ANYDML_NEWEST_ML_OPSET(opset)
#define ANYDML_NEWEST_DATA_TYPE(number)
#define ANYDML_SCHEMA(op, since, min_inputs, max_inputs, min_outputs, max_outputs, inputs, outputs, attributes) \
  {op, since, false, min_inputs, max_inputs, min_outputs, max_outputs, inputs, outputs, attributes},
#define ANYDML_DEPRECATED_SCHEMA(op, since, min_inputs, max_inputs, min_outputs, max_outputs, inputs, outputs, \
                                 attributes)                                                                   \
  {op, since, true, min_inputs, max_inputs, min_outputs, max_outputs, inputs, outputs, attributes},
constexpr Schema kSchemas[] = {
#include "onnx/schema/schemas.inc"
};
#undef ANYDML_DEPRECATED_SCHEMA
#undef ANYDML_SCHEMA
#undef ANYDML_NEWEST_DATA_TYPE
#undef ANYDML_NEWEST_ML_OPSET
#undef ANYDML_NEWEST_OPSET
#undef NONE

// The order of the table: by name, then by opset.
struct SchemaKey {
  std::string_view op;
  int opset;
};
constexpr bool schema_comes_after(const SchemaKey& key, const Schema& schema) {
  const int order = key.op.compare(schema.op);
  return order < 0 || (order == 0 && key.opset < schema.since);
}

}  // namespace

const Schema* find_schema(std::string_view op, int opset) {
  const auto* after =
      std::upper_bound(std::begin(kSchemas), std::end(kSchemas), SchemaKey{op, opset}, schema_comes_after);
  if (after == std::begin(kSchemas)) {
    return nullptr;
  }
  const Schema& found = *std::prev(after);
  return found.op == op ? &found : nullptr;
}

int newest_opset() { return kNewestOpset; }

int newest_ml_opset() { return kNewestMlOpset; }

std::string attribute_type_name(std::int32_t type) {
  static constexpr std::string_view kNames[] = {
      "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
      "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  const bool is_known = type >= 0 && static_cast<std::size_t>(type) < std::size(kNames);
  return is_known ? std::string(kNames[type]) : std::to_string(type);
}

}  // namespace anydml::onnx
