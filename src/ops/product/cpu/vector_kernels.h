// SPDX-License-Identifier: MIT
// Multiplies one row by an unpacked matrix. The matrix is read only once, so packing it would take longer than
// multiplying. Also converts factors from FLOAT16 to FLOAT32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/product/scalar/product.h"

namespace anydml {

// totals[i] = the sum of factors[k] times the element (k, i) of a matrix, for i below `count`, in the order of
// sum_of_products. The matrix may have any alignment.
using RowProduct = void (*)(const f32* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth,
                            std::int64_t count, f32* totals) noexcept;

// Like RowProduct, but for the columns of one packed panel of FLOAT16 elements. Writes a total for each column of the
// panel.
using PanelRow = void (*)(const f32* factors, const std::byte* panel, std::int64_t depth, f32* totals) noexcept;

struct RowKernels {
  RowProduct along;   // the elements of one k are adjacent, and the next k starts `stride` bytes later
  RowProduct across;  // the elements of one i are adjacent, and the next i starts `stride` bytes later
};

struct VectorKernels {
  RowKernels singles;
  RowKernels halves;  // for a FLOAT16 matrix
  PanelRow half_panel_row;
  // Converts FLOAT16 elements with any alignment to FLOAT32.
  void (*widen)(const std::byte* from, std::int64_t count, f32* to) noexcept;
};

// Returns null if the target has no kernels.
[[nodiscard]] const VectorKernels* vector_kernels(cpu::Target target);

}  // namespace anydml
