// SPDX-License-Identifier: MIT
// Treats the documented rules as equations, and computes the unknown parts of a described operator from the known
// parts, for any of the 177 operators. check.h checks a complete description against the same rules.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// A tensor's type is unknown if it is 0, its rank is unknown if has_sizes is false, and a size is unknown if it has
// this value.
inline constexpr std::int64_t kUnknownSize = std::numeric_limits<std::int64_t>::min();
[[nodiscard]] GivenTensor unknown_tensor();

// The way to combine sizes that must be equal: exactly, as in DirectML, or under NumPy's rule, in which the output has
// the sizes to which all inputs broadcast. The C API uses NumPy's rule for element-wise families.
enum class SizeRule : std::uint8_t { same, broadcast };

struct Inference {
  Described described;             // contains everything that could be determined
  std::vector<Violation> unknown;  // parts of outputs that no rule determines, or that the caller must choose
  // Reasons why a part could not be inferred: a rule produced a number that is not a valid size, or the inputs do not
  // broadcast.
  std::vector<Violation> faults;
};

// The outputs may be unknown or partly known. An absent required output counts as unknown; an absent optional output
// stays absent. An array of outputs must contain its final number of tensors. An attribute that should be a single
// number but is present without one is also unknown; this is how the type of a scalar union is inferred from the
// output's type. Nothing is checked. If inputs contradict each other, the first rule wins, and check.h reports the
// mistake.
[[nodiscard]] Inference infer_outputs(Described partial, facts::FeatureLevel level, SizeRule sizes = SizeRule::same);

// Whether any part of the tensor is unknown.
[[nodiscard]] bool is_unknown(const GivenTensor& tensor);

}  // namespace anydml::schema
