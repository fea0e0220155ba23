// SPDX-License-Identifier: MIT
// Declarations for the files that the build generates (cmake/kernel_files.cmake). Each file compiles the kernels of a
// few entries.
#pragma once

#include <cstddef>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/entries.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"

namespace anydml {

inline constexpr std::size_t kEntryFiles = ANYDML_ENTRY_FILES;

[[nodiscard]] constexpr bool is_modulus(EntryId id) {
  return id == EntryId::ELEMENT_WISE_MODULUS_FLOOR || id == EntryId::ELEMENT_WISE_MODULUS_TRUNCATE;
}

// Whether the vector kernels of an entry are written by hand, in vector_kernels.cpp or quantize.cpp.
[[nodiscard]] constexpr bool has_own_vectors(EntryId id) {
  return is_modulus(id) || id == EntryId::ELEMENT_WISE_QUANTIZE_LINEAR || id == EntryId::QUANTIZE_LINEAR_FROM_ZERO;
}

// Puts the plain loops of a file's entries into the table.
template <std::size_t kFile>
void put_generic_entries(KernelTable& table);

}  // namespace anydml
