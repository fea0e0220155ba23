// SPDX-License-Identifier: MIT
// The CPU kernels of the element-wise family: the signature of a kernel, and the table in which the backend looks it
// up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/scalar.h"
#include "ops/elementwise/cpu/runs.h"
#include "ops/elementwise/entries.h"
#include "plan/inner_layout.h"

namespace anydml {

// Two nested loops over elements. Strides are in bytes and may have any sign; addresses may have any alignment. A
// kernel never writes to the bytes between elements. The output may be one of the inputs if it has the same address and
// strides.
struct KernelArguments {
  struct Input {
    const std::byte* data;
    std::int64_t row_stride;
    std::int64_t stride;
  };
  struct Output {
    std::byte* data;
    std::int64_t row_stride;
    std::int64_t stride;
  };
  std::size_t rows;
  std::size_t columns;
  Input inputs[kMaxInputs];
  Output output;
  const Attributes* attributes;
};

using Kernel = void (*)(const KernelArguments&) noexcept;

// One target's kernels, for each variant of each entry. The generic table is complete. The table of a faster target
// replaces some generic kernels and keeps the rest.
struct KernelTable {
  const char* target;
  std::vector<std::array<Kernel, kInnerLayouts>> kernels;
  // QUANTIZED_LINEAR_ADD for UINT8 and INT8 as a single step, for scales and zero points with stride 0; null if there
  // is no such kernel.
  std::array<Kernel, 2> quantized_add = {};
  RunKernels runs = {};
  std::array<RunEntry, kEntryCount> run_entries = {};  // indexed by EntryId

  // The kernels of a variant, indexed by layout. The variant must belong to the entry.
  [[nodiscard]] std::array<Kernel, kInnerLayouts>& at(const Entry& entry, std::uint32_t variant) {
    return kernels[entry.first_variant + variant];
  }
  // Null if the entry has no such variant.
  [[nodiscard]] Kernel find(EntryId id, std::uint32_t variant, InnerLayout layout) const {
    const Entry& of = entry(id);
    return variant < of.variants.size() ? kernels[of.first_variant + variant][static_cast<std::size_t>(layout)]
                                        : nullptr;
  }
  // Null if the entry cannot be part of runs.
  [[nodiscard]] const RunEntry* find_run(EntryId id, std::uint32_t variant) const {
    const RunEntry& of = run_entries[static_cast<std::size_t>(id)];
    return of.functions[0] != nullptr && of.variant == variant ? &of : nullptr;
  }
};

// The scalar definitions in plain loops: correct on every machine, and the reference for every other kernel.
[[nodiscard]] const KernelTable& generic_kernels();

}  // namespace anydml
