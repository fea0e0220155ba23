// SPDX-License-Identifier: MIT
// The rules of the documents read as equations: what a described operator leaves unknown is computed from the rest, for
// any of the 177 operators. check.h holds the same rules against a description that is complete.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// What is unknown of a tensor: its type where it is 0, its rank where has_sizes is false, a size where it is this.
inline constexpr std::int64_t kUnknownSize = std::numeric_limits<std::int64_t>::min();
[[nodiscard]] GivenTensor unknown_tensor();

// How sizes that must be the same go together: exactly, as DirectML has it; or by NumPy's rule, which the C API has
// where a family works by element, so that the output takes the sizes that all inputs broadcast to.
enum class SizeRule : std::uint8_t { same, broadcast };

struct Inference {
  Described described;             // with everything that could be found
  std::vector<Violation> unknown;  // the parts of outputs that nothing determines, or leaves to the caller
  // Why there can be none: a rule gave a number that is no size, or inputs do not broadcast.
  std::vector<Violation> faults;
};

// Outputs that are unknown or known in part. An output that is not optional and absent is taken for unknown; an
// optional one that is absent stays so. An array of outputs needs as many tensors as it has. A single attribute that is
// present without a number is unknown too: a union's type, which follows from the output's. Nothing is checked: where
// inputs contradict each other, the first rule wins, and check.h says what is wrong.
[[nodiscard]] Inference infer_outputs(Described partial, facts::FeatureLevel level, SizeRule sizes = SizeRule::same);

// Whether anything of the tensor is unknown.
[[nodiscard]] bool is_unknown(const GivenTensor& tensor);

}  // namespace anydml::schema
