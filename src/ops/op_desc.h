// SPDX-License-Identifier: MIT
// From what a caller asked for to a validated operator. Everything is checked here, once; what lies below trusts it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/scalar.h"
#include "ops/rows.h"
#include "plan/tensor.h"
#include "schema/check.h"

namespace anydml {

struct NamedScalar {
  std::string_view name;
  Scalar value;
};

struct OpRequest {
  const Row* row;
  std::span<const TensorSpec> inputs;
  const TensorSpec* output;
  std::span<const NamedScalar> attributes;
};

// A validated operator over tensors of one shape. Immutable once made; holds no pointer of the caller's.
struct OpDesc {
  const Row* row = nullptr;
  std::uint32_t variant = 0;  // of the row, by the tensors' types
  std::uint32_t input_count = 0;
  TensorDesc tensors[kMaxOperands];  // the inputs, broadcast to the output's sizes, then the output
  Reach reaches[kMaxOperands];       // of the tensors
  Attributes attributes;             // in the order of the operator's desc struct
  bool has_scale_bias = false;
  Attributes scale_bias;
  std::int64_t element_count = 0;

  [[nodiscard]] const TensorDesc& output() const { return tensors[input_count]; }
};

// The first of an operator's violations, as an error.
[[nodiscard]] Error invalid(const facts::Operator& op, const schema::Violation& violation);

// Sizes follow NumPy's rule: an input is aligned to the output at the last dimension, and a size of 1 or a missing
// dimension repeats. DirectML's, all sizes the same, is among the facts (schema/check.h), and what keeps it never
// repeats.
Result<OpDesc> make_op_desc(const OpRequest& request);

// The line of a dispatch in the log, whichever API it came through.
[[nodiscard]] std::string dispatch_text(const OpDesc& desc, std::string_view device, std::string_view kernels);

}  // namespace anydml
