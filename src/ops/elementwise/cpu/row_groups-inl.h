// SPDX-License-Identifier: MIT
// What each row_group_N.cpp has, for each of Highway's targets.
#if defined(ANYDML_ROW_GROUPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_ROW_GROUPS_INL
#undef ANYDML_ROW_GROUPS_INL
#else
#define ANYDML_ROW_GROUPS_INL
#endif

#include "ops/elementwise/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Puts the vector kernels of the group's rows over those of a generic table.
template <std::size_t kGroup>
void replace_rows(KernelTable& table);
// quantize.cpp, and so does this.
void replace_quantize(KernelTable& table);
// runs.cpp.
void put_runs(KernelTable& table);

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
