// SPDX-License-Identifier: MIT
// The files that the build writes to compile the kernels of the rows (cmake/kernel_files.cmake), a few rows in each.
#pragma once

#include <cstddef>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"

namespace anydml {

inline constexpr std::size_t kRowFiles = ANYDML_ROW_FILES;

[[nodiscard]] constexpr bool is_modulus(RowId id) {
  return id == RowId::ELEMENT_WISE_MODULUS_FLOOR || id == RowId::ELEMENT_WISE_MODULUS_TRUNCATE;
}

// Whether the vector kernels of a row are written by hand, in vector_kernels.cpp or quantize.cpp.
[[nodiscard]] constexpr bool has_own_vectors(RowId id) {
  return is_modulus(id) || id == RowId::ELEMENT_WISE_QUANTIZE_LINEAR || id == RowId::QUANTIZE_LINEAR_FROM_ZERO;
}

// Puts the plain loops of a file's rows into the table.
template <std::size_t kFile>
void put_generic_rows(KernelTable& table);

}  // namespace anydml
