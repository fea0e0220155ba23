// SPDX-License-Identifier: MIT
// Reads the rules of the documentation as equations, and computes the unknown parts of a described operator from the
// known parts, for any of the 177 operators. check.h checks a complete description against the same rules.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// The unknown parts of a tensor: its type if it is 0, its rank if has_sizes is false, and each size with this value.
inline constexpr std::int64_t kUnknownSize = std::numeric_limits<std::int64_t>::min();
[[nodiscard]] GivenTensor unknown_tensor();

// How sizes that must be equal are combined: exactly, as in DirectML; or by NumPy's rule, which the C API uses for
// element-wise families, so that the output gets the sizes that all inputs broadcast to.
enum class SizeRule : std::uint8_t { same, broadcast };

struct Inference {
  Described described;             // with everything that could be determined
  std::vector<Violation> unknown;  // the parts of outputs that no rule determines, or that are left to the caller
  // Why a part could not be inferred: a rule gave a number that is not a valid size, or the inputs do not broadcast.
  std::vector<Violation> faults;
};

// The outputs may be unknown or partly known. A required output that is absent counts as unknown; an optional one that
// is absent stays absent. An array of outputs must contain its final number of tensors. An attribute that should have a
// single number, but is present without one, is unknown too: this is how the type of a scalar union is inferred from
// the output's type. Nothing is checked: if inputs contradict each other, the first rule wins, and check.h reports the
// mistake.
[[nodiscard]] Inference infer_outputs(Described partial, facts::FeatureLevel level, SizeRule sizes = SizeRule::same);

// Whether any part of the tensor is unknown.
[[nodiscard]] bool is_unknown(const GivenTensor& tensor);

}  // namespace anydml::schema
