// SPDX-License-Identifier: MIT
// The outputs of a call before there are any: what the schema infers from its inputs and attributes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "capi/call.h"
#include "schema/infer.h"

namespace anydml {

// An output, as far as the caller knows it.
struct WantedOutput {
  bool present = true;                  // false: an optional one that is absent
  std::uint32_t type = 0;               // 0: unknown
  bool has_sizes = false;               // false: unknown
  std::span<const std::int64_t> sizes;  // kMaxRank at most
};

// In the order of the outputs, an array of them expanded; an absent one has type 0 and no sizes.
struct InferredOutputs {
  std::vector<schema::GivenTensor> outputs;
  const facts::Operator* op = nullptr;
  std::vector<schema::Violation> unknown;  // as schema::Inference has them
  std::vector<schema::Violation> faults;
};

// call.outputs is ignored. A wrong attribute or number of tensors is an error; nothing else is checked.
[[nodiscard]] Result<InferredOutputs> infer_outputs(const Call& call, std::span<const WantedOutput> wanted);

// The position, among all outputs, of the one that a violation is about.
[[nodiscard]] std::size_t output_position(const facts::Operator& op, const schema::Place& place);

// The same for a caller of the C API: completes the shapes, or says what cannot be inferred and leaves them alone.
[[nodiscard]] Status complete_outputs(const Call& call, std::span<anydml_shape> outputs);

}  // namespace anydml
