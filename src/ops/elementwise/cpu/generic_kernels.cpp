// SPDX-License-Identifier: MIT
// The table of plain loops, collected from the files that define them.
#include <atomic>
#include <memory>
#include <utility>

#include "ops/elementwise/cpu/entry_files.h"

namespace anydml {
namespace {

template <std::size_t... kFiles>
void put_files(KernelTable& table, std::index_sequence<kFiles...>) {
  (put_generic_entries<kFiles>(table), ...);
}

KernelTable make_table() {
  KernelTable table{.target = "generic", .kernels = {}};
  table.kernels.resize(variant_count());
  put_files(table, std::make_index_sequence<kEntryFiles>{});
  return table;
}

}  // namespace

// Built on the first call, without a lock, because a fork could leave a lock held in the child. If several threads
// build the table at the same time, the first one to publish it wins. Never destroyed.
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
