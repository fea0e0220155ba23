// SPDX-License-Identifier: MIT
// Infers the outputs of a call before they exist, from the inputs and attributes, with the schema.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "capi/call.h"
#include "schema/infer.h"

namespace anydml {

// The parts of an output that the caller knows.
struct WantedOutput {
  bool present = true;                  // false: an optional output that is absent
  std::uint32_t type = 0;               // 0: unknown
  bool has_sizes = false;               // false: unknown
  std::span<const std::int64_t> sizes;  // kMaxRank at most
};

// `outputs` has the order of the operator's outputs, with arrays expanded. An absent output has type 0 and no sizes.
struct InferredOutputs {
  std::vector<schema::GivenTensor> outputs;
  const facts::Operator* op = nullptr;
  std::vector<schema::Violation> unknown;  // as in schema::Inference
  std::vector<schema::Violation> faults;
};

// call.outputs is ignored. A wrong attribute or a wrong number of tensors is an error; nothing else is checked.
[[nodiscard]] Result<InferredOutputs> infer_outputs(const Call& call, std::span<const WantedOutput> wanted);

// The position, among all outputs, of the output that a violation concerns.
[[nodiscard]] std::size_t output_position(const facts::Operator& op, const schema::Location& location);

// Like infer_outputs, for a caller of the C API: completes the shapes, or reports the unknown parts and changes
// nothing.
[[nodiscard]] Status complete_outputs(const Call& call, std::span<anydml_shape> outputs);

}  // namespace anydml
