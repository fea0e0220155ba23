// SPDX-License-Identifier: MIT
// The parameters of a step of the trial family (trial_family.h), as its kernels read them.
#pragma once

#include <cstdint>

#include "base/shape.h"

namespace anydml::test {

// The family's number in plans; it comes after the numbers in ops/families.def.
inline constexpr std::uint32_t kTrialFamily = 0
#define ANYDML_FAMILY(name) +1
#include "ops/families.def"
    ;

// The strides of each tensor follow, in bytes: kMaxRank numbers for each input and each output. The operands are the
// inputs, the two outputs, and the sums in the temporary buffer.
struct TrialStep {
  std::int64_t count;
  std::uint32_t inputs;
  std::uint32_t rank;
  std::int64_t sizes[kMaxRank];
};

}  // namespace anydml::test
