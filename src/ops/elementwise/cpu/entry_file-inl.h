// SPDX-License-Identifier: MIT
// Defines the kernels of a few entries. The build generates files that define ANYDML_ENTRY_FILE (the file's number) and
// ANYDML_ENTRIES_OF_FILE(ENTRY), which calls ENTRY(operator, Definition) for each of the file's entries, and then
// include this header. Highway compiles the vector kernels once for each target.
#include <cstddef>

#include "ops/elementwise/cpu/entry_files.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/entry_file-inl.h"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/entry_files-inl.h"
#include "ops/elementwise/cpu/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Builds with sanitizers compile the vector kernels of only the first file (ANYDML_PLAIN_ENTRIES in the others): the
// remaining entries use the same loops with different definitions and would take minutes to compile. With the option
// ANYDML_SANITIZE_ALL_ENTRIES, as in ./test --sanitizers, all of them are compiled.
template <>
void replace_entries<ANYDML_ENTRY_FILE>([[maybe_unused]] KernelTable& table) {
#if !defined(ANYDML_PLAIN_ENTRIES)
#define ANYDML_REPLACE_ENTRY(op, Definition)                                                       \
  if constexpr (!has_own_vectors(EntryId::op)) {                                                   \
    replace_entry(table, EntryId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
  ANYDML_ENTRIES_OF_FILE(ANYDML_REPLACE_ENTRY)
#undef ANYDML_REPLACE_ENTRY
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
void put_generic_entries<ANYDML_ENTRY_FILE>(KernelTable& table) {
#define ANYDML_PUT_ENTRY(op, Definition) \
  put_generic_entry(table, EntryId::op, [](const auto& use) { for_each_variant<Definition>(use); });
  ANYDML_ENTRIES_OF_FILE(ANYDML_PUT_ENTRY)
#undef ANYDML_PUT_ENTRY
}

}  // namespace anydml

#endif
