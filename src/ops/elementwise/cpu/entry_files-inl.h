// SPDX-License-Identifier: MIT
// Declares the functions that put vector kernels into tables, for each of Highway's targets.
#if defined(ANYDML_ENTRY_FILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_ENTRY_FILES_INL
#undef ANYDML_ENTRY_FILES_INL
#else
#define ANYDML_ENTRY_FILES_INL
#endif

#include "ops/elementwise/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Replaces entries of a generic table with the vector kernels of a file's entries.
template <std::size_t kFile>
void replace_entries(KernelTable& table);
// Adds the kernels in quantize.cpp.
void replace_quantize(KernelTable& table);
// Adds the kernels in runs.cpp.
void put_runs(KernelTable& table);

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
