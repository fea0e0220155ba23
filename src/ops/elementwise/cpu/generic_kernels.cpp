// SPDX-License-Identifier: MIT
// The table of plain loops, put together from the groups' parts. The modulus belongs to no group.
#include <atomic>
#include <memory>
#include <utility>

#include "ops/elementwise/cpu/generic_loops-inl.h"
#include "ops/elementwise/cpu/row_groups.h"

namespace anydml {
namespace {

template <std::size_t... kGroups>
void put_groups(KernelTable& table, std::index_sequence<kGroups...>) {
  (put_generic_rows<kGroups>(table), ...);
}

KernelTable make_table() {
  KernelTable table{.target = "generic", .kernels = {}};
  table.kernels.resize(variant_count());
  put_groups(table, std::make_index_sequence<kRowGroups>{});
#define ANYDML_ROW(op, Definition, ulp)                                                            \
  if constexpr (row_group(RowId::op) == kNoRowGroup) {                                             \
    put_generic_row(table, RowId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
#include "ops/elementwise/elementwise.def"
  return table;
}

}  // namespace

// Made at the first call, without a lock, which a fork could leave held in the child: of threads that make it at once
// the first one's counts. Never destroyed.
const KernelTable& generic_kernels() {
  static constinit std::atomic<const KernelTable*> process = nullptr;
  const KernelTable* known = process.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto mine = std::make_unique<const KernelTable>(make_table());
    if (process.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel)) {
      known = mine.release();
    }
  }
  return *known;
}

}  // namespace anydml
