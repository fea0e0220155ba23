// SPDX-License-Identifier: MIT
// The kernels of some of the rows, as one file: row_group_N.cpp defines ANYDML_ROW_GROUP as N and includes this, which
// is then compiled once for each of Highway's targets. Rows are shared out by how many variants come before them, so
// that no file takes long to compile; a new row needs nothing here until the last group is full.
#include <cstddef>

#include "ops/elementwise/cpu/row_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/row_group-inl.h"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/row_groups-inl.h"
#include "ops/elementwise/cpu/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Builds with sanitizers have vectors of a few groups alone (ANYDML_PLAIN_ROWS): the other rows are the same loops over
// other definitions, and take minutes to compile.
template <>
void replace_rows<ANYDML_ROW_GROUP>([[maybe_unused]] KernelTable& table) {
#if !defined(ANYDML_PLAIN_ROWS)
#define ANYDML_ROW(op, Definition, ulp)                                                        \
  if constexpr (row_group(RowId::op) == ANYDML_ROW_GROUP && !has_own_vectors(RowId::op)) {     \
    replace_row(table, RowId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
#include "ops/elementwise/elementwise.def"
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
void put_generic_rows<ANYDML_ROW_GROUP>(KernelTable& table) {
#define ANYDML_ROW(op, Definition, ulp)                                                            \
  if constexpr (row_group(RowId::op) == ANYDML_ROW_GROUP) {                                        \
    put_generic_row(table, RowId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
#include "ops/elementwise/elementwise.def"
}

}  // namespace anydml

#endif
