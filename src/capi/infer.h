// SPDX-License-Identifier: MIT
// Uses the schema to infer the outputs of a call from its inputs and attributes, before the outputs exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "capi/call.h"
#include "schema/infer.h"

namespace anydml {

// The known parts of an output.
struct WantedOutput {
  bool present = true;                  // false if an optional output is absent
  std::uint32_t type = 0;               // 0 if unknown
  bool has_sizes = false;               // false if unknown
  std::span<const std::int64_t> sizes;  // at most kMaxRank
};

// `outputs` is in the order of the operator's outputs, with arrays expanded. An absent output has type 0 and no sizes.
struct InferredOutputs {
  std::vector<schema::GivenTensor> outputs;
  const facts::Operator* op = nullptr;
  std::vector<schema::Violation> unknown;  // as in schema::Inference
  std::vector<schema::Violation> faults;
};

// call.outputs is ignored. A wrong attribute or a wrong number of tensors is an error. No other checks are made.
[[nodiscard]] Result<InferredOutputs> infer_outputs(const Call& call, std::span<const WantedOutput> wanted);

// Finds the output that a violation concerns, and returns its position among all outputs.
[[nodiscard]] std::size_t output_position(const facts::Operator& op, const schema::Location& location);

// Like infer_outputs, but for callers of the C API: completes the shapes, or reports the unknown parts and changes
// nothing.
[[nodiscard]] Status complete_outputs(const Call& call, std::span<anydml_shape> outputs);

}  // namespace anydml
