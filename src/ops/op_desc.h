// SPDX-License-Identifier: MIT
// A checked operator, the form that families and graphs use. operators.h creates it from a description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/family.h"
#include "plan/plan.h"
#include "plan/tensor.h"
#include "schema/check.h"
#include "schema/described.h"

namespace anydml {

struct OpTensor {
  std::string_view name;  // the name in messages: "ATensor", "InputTensors[1]"
  bool present = false;   // false if an optional tensor is absent; it keeps its position
  TensorDesc tensor;
  Reach reach;
};

// A checked operator. It is immutable once created and contains no pointers to the caller's memory.
struct OpDesc {
  const facts::Operator* op = nullptr;
  const Family* family = nullptr;
  std::uint32_t input_count = 0;
  std::uint32_t output_count = 0;
  std::vector<OpTensor> tensors;            // the inputs, then the outputs
  std::vector<schema::Argument> arguments;  // indexed by field: the described attributes; empty for tensors
  std::vector<std::byte> internal;          // private parameters of a family-internal operator (decomposition.h)
  bool prepares = false;  // its output is a different representation of its inputs, worth keeping even if it is larger
  bool empty = false;     // no output has an element, so there is no work

  [[nodiscard]] std::span<const OpTensor> inputs() const { return std::span(tensors).first(input_count); }
  [[nodiscard]] std::span<const OpTensor> outputs() const { return std::span(tensors).subspan(input_count); }
  [[nodiscard]] const OpTensor& output() const { return tensors[input_count]; }  // the first output
};

// Converts the first violation that was found in an operator to an error.
[[nodiscard]] Error invalid(const facts::Operator& op, const schema::Violation& violation);
[[nodiscard]] Error invalid(const OpDesc& desc, const OpTensor& tensor, std::string text);

// Whether an output may be the same tensor as this input (same address, strides and element size): always for
// element-wise operators, otherwise only if DirectML's documentation allows it.
[[nodiscard]] bool may_be_in_place(const OpDesc& desc, std::size_t input);

// The log line for a dispatch, identical for every API.
[[nodiscard]] std::string dispatch_text(const OpDesc& desc, std::string_view device, std::string_view kernels);

}  // namespace anydml
