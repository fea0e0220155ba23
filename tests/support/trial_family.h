// SPDX-License-Identifier: MIT
// An operator defined by the tests, which uses every feature of the family interfaces that no real operator combines:
// an array of inputs, an optional second output, two phases, scratch memory and space in the temporary buffer.
//
// MIRRORED_SUM has 1 to 1,000 FLOAT32 inputs of the same sizes. With s as the sum of the inputs, element by element and
// in order, output 0 is s[i] + s[count - 1 - i], with elements numbered in row-major order. Output 1 (UINT32) is the
// index of the first input with the largest element at i.
//
// A program that links trial_family.cpp has the CPU kernels of all families, followed by the trial family's kernels.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "ops/op_desc.h"
#include "support/trial_step.h"

namespace anydml::test {

// maximum: empty if output 1 is absent.
[[nodiscard]] std::shared_ptr<const OpDesc> mirrored_sum(std::span<const TensorDesc> inputs, const TensorDesc& sums,
                                                         const std::optional<TensorDesc>& maximum);

}  // namespace anydml::test
