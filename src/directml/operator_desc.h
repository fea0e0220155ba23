// SPDX-License-Identifier: MIT
// Converts a DML_OPERATOR_DESC to a validated operator, according to the operator's facts and the device's level. The
// schema defines the rules; the first broken rule is reported.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "directml/headers.h"
#include "facts/facts.h"
#include "ops/op_desc.h"

namespace anydml {

// A tensor's requirements for its buffer.
struct TensorBinding {
  std::string name;
  bool present = false;         // false if the tensor is absent or never read
  std::uint64_t bytes = 0;      // TotalTensorSizeInBytes
  std::uint64_t alignment = 1;  // for the offset; an absent tensor has no requirement
  bool owned = false;           // bound when the operator is initialized, and kept
  bool has_gaps = false;        // the strides skip some of the bytes
};

struct OperatorDef {
  OpDesc desc;
  std::vector<TensorBinding> tensors;  // in the order of desc.tensors

  [[nodiscard]] std::uint32_t input_count() const { return desc.input_count; }
  [[nodiscard]] std::uint32_t output_count() const { return desc.output_count; }
  [[nodiscard]] std::uint32_t tensor_count() const { return desc.input_count + desc.output_count; }
  [[nodiscard]] bool is_output(std::size_t tensor) const { return tensor >= desc.input_count; }
};

// The tensors to bind for a compiled object: the inputs, then the outputs.
struct Surface {
  std::string_view kind;  // its name in messages
  std::uint32_t input_count = 0;
  std::vector<TensorBinding> tensors;
  std::shared_ptr<const OperatorDef> def;  // for a single operator, which may work in place; null for a graph

  [[nodiscard]] std::uint32_t tensor_count() const { return static_cast<std::uint32_t>(tensors.size()); }
  [[nodiscard]] std::uint32_t output_count() const { return tensor_count() - input_count; }
};

Result<std::shared_ptr<const OperatorDef>> make_operator(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level);

}  // namespace anydml
