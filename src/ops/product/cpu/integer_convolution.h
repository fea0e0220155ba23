// SPDX-License-Identifier: MIT
// Functions that prepare integer convolutions on the CPU.
#pragma once

#include "backend/cpu/family.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/integer_step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_convolution(const Step& flat,
                                                                             const cpu::StepContext& context,
                                                                             cpu::Neighbor after);
// Prepares the convolution with an unpacked filter (integer_definition.cpp).
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_definition(const IntegerConvolutionStep& step,
                                                                            cpu::Neighbor after);
// Prepares a convolution with single channels whose kernels read the image in place (integer_row_convolution.cpp); null
// if the kernels or its shape do not suit, and then `after` is unchanged.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_row_convolution(const IntegerConvolutionStep& step,
                                                                         const IntegerKernels& kernels,
                                                                         cpu::Neighbor& after);
// Prepares a convolution with few channels per group (integer_depthwise.cpp); null if its shape does not suit these
// kernels, and then `after` is unchanged.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_depthwise(const IntegerConvolutionStep& step,
                                                                           const cpu::StepContext& context,
                                                                           cpu::Neighbor& after);
// Prepares a convolution by quads, or the packing of its filter (integer_quad_convolution.cpp); null if the kernels or
// the filter do not suit, and then `after` is unchanged.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_quad_convolution(const IntegerConvolutionStep& step,
                                                                          const IntegerKernels& kernels,
                                                                          const cpu::StepContext& context,
                                                                          cpu::Neighbor& after);

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_quad_filter(const IntegerConvolutionStep& step,
                                                                     const QuadKernels& kernels);

}  // namespace anydml
