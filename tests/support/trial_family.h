// SPDX-License-Identifier: MIT
// An operator of the tests' own that uses all that the interfaces of families offer and no built operator uses at once:
// an array of inputs, a second output that is optional, two phases, scratch memory and room in the temporary.
//
// MIRRORED_SUM has 1 to 1,000 FLOAT32 inputs of the same sizes. With s as the sum of the inputs, element by element and
// in order, output 0 is s[i] + s[count - 1 - i], with elements numbered row-major. Output 1 (UINT32) is the number of
// the first input that has the greatest element at i.
//
// A program that links trial_family.cpp has the CPU kernels of all families and, behind them, those of this one.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "ops/op_desc.h"
#include "support/trial_step.h"

namespace anydml::test {

// greatest: nothing if output 1 is absent.
[[nodiscard]] std::shared_ptr<const OpDesc> mirrored_sum(std::span<const TensorDesc> inputs, const TensorDesc& sums,
                                                         const std::optional<TensorDesc>& greatest);

}  // namespace anydml::test
