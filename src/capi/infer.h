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

}  // namespace anydml
