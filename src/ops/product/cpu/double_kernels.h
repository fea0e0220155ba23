// SPDX-License-Identifier: MIT
// The inner loops of FLOAT64 products for each target, and functions that prepare the steps that use them.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/cpu/family.h"
#include "backend/cpu/target.h"
#include "ops/product/scalar/product.h"

namespace anydml {

// Multiplies a strip of rows by a panel of columns for one block of at most kProductBlock values of k, like
// ProductBlock (kernels.h) for FLOAT32.
using DoubleBlock = void (*)(const f64* a, const f64* b, std::int64_t b_step, std::int64_t depth, f64* totals,
                             std::int64_t totals_step, bool is_first) noexcept;
// Multiplies a row of factors by an unpacked matrix, like RowProduct (vector_kernels.h) for FLOAT32.
using DoubleRow = void (*)(const f64* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth,
                           std::int64_t count, f64* totals) noexcept;

struct DoubleKernels {
  std::int64_t strip;         // maximum number of rows in a strip
  std::int64_t panel;         // columns of a panel
  const DoubleBlock* blocks;  // indexed by the rows of the strip minus 1
  DoubleRow along;            // the elements of one k are adjacent
  DoubleRow across;           // the elements of one column are adjacent
};

// Returns null if the target has no kernels. The scalar definition is used instead.
[[nodiscard]] const DoubleKernels* double_kernels(cpu::Target target);

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_double_product(const Step& flat,
                                                                        const cpu::StepContext& context);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_double_convolution(const Step& flat,
                                                                            const cpu::StepContext& context);

}  // namespace anydml
