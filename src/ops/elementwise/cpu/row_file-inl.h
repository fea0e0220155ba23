// SPDX-License-Identifier: MIT
// The kernels of a few rows. A file that the build writes defines ANYDML_ROW_FILE, its number, and
// ANYDML_ROWS_OF_FILE(ROW), which calls ROW(operator, Definition) for each of its rows, and includes this. Highway then
// compiles the vector kernels once for each target.
#include <cstddef>

#include "ops/elementwise/cpu/row_files.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/row_file-inl.h"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/row_files-inl.h"
#include "ops/elementwise/cpu/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Sanitizer builds compile the vector kernels of a few files only (ANYDML_PLAIN_ROWS): the other rows are the same
// loops over other definitions and would take minutes.
template <>
void replace_rows<ANYDML_ROW_FILE>([[maybe_unused]] KernelTable& table) {
#if !defined(ANYDML_PLAIN_ROWS)
#define ANYDML_REPLACE_ROW(op, Definition)                                                     \
  if constexpr (!has_own_vectors(RowId::op)) {                                                 \
    replace_row(table, RowId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
  ANYDML_ROWS_OF_FILE(ANYDML_REPLACE_ROW)
#undef ANYDML_REPLACE_ROW
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

#include "ops/elementwise/cpu/generic_loops-inl.h"

namespace anydml {

template <>
void put_generic_rows<ANYDML_ROW_FILE>(KernelTable& table) {
#define ANYDML_PUT_ROW(op, Definition) \
  put_generic_row(table, RowId::op, [](const auto& use) { for_each_variant<Definition>(use); });
  ANYDML_ROWS_OF_FILE(ANYDML_PUT_ROW)
#undef ANYDML_PUT_ROW
}

}  // namespace anydml

#endif
