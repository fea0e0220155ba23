// SPDX-License-Identifier: MIT
// ONNX's schemas: the inputs, outputs, attributes and types of each version of each operator that anydml runs. The
// table is generated (data/onnx) from the onnx package.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "onnx/values/kind.h"

namespace anydml::onnx {

enum class Presence : std::uint8_t { kSingle, kOptional, kVariadic };

struct FormalTensor {
  std::string_view name;
  std::string_view type_variable;  // "T"; tensors with the same variable have the same type
  KindSet kinds;                   // the tensor types that ONNX allows
  Presence presence = Presence::kSingle;
  bool is_homogeneous = true;  // of a variadic parameter: whether all tensors have one type
};

struct FormalAttribute {
  std::string_view name;
  std::int32_t type;  // AttributeType
  bool is_required = false;
  bool has_default = false;
  double number = 0;  // the default, by type
  std::int64_t integer = 0;
  std::string_view text = {};
  std::span<const std::int64_t> integers = {};
  std::span<const double> numbers = {};
  std::span<const std::string_view> texts = {};
};

// The operators of classical machine learning have a domain of their own, which has its own opsets.
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";

struct Schema {
  std::string_view op;  // "Conv"; of another domain with the domain: "ai.onnx.ml.Scaler"
  int since = 1;
  bool is_deprecated = false;
  int min_inputs = 0, max_inputs = 0;  // INT_MAX: no limit
  int min_outputs = 0, max_outputs = 0;
  std::span<const FormalTensor> inputs;
  std::span<const FormalTensor> outputs;
  std::span<const FormalAttribute> attributes;
};

// The newest version of an operator that an opset contains; null if the opset has no such operator.
[[nodiscard]] const Schema* find_schema(std::string_view op, int opset);
// The newest opsets in the table: of ONNX's own operators, and of ai.onnx.ml.
[[nodiscard]] int newest_opset();
[[nodiscard]] int newest_ml_opset();
// The name of a type of attributes by its number in AttributeProto.AttributeType: "INTS".
[[nodiscard]] std::string attribute_type_name(std::int32_t type);

}  // namespace anydml::onnx
