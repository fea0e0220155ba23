// SPDX-License-Identifier: MIT
// Combines the tables of all files into one: tuned kernels replace the kernels generated from the definitions.
#include "ops/elementwise/cuda/tables.h"

#include <type_traits>
#include <utility>

#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {
namespace {

using FindInFile = const KernelSet* (*)(EntryId entry, bool scaled, std::uint32_t variant) noexcept;

template <std::size_t... kNumbers>
const KernelSet* find_in_files(std::index_sequence<kNumbers...>, EntryId entry, bool scaled, std::uint32_t variant) {
  static constexpr FindInFile kFind[] = {find_in_file<kNumbers>...};
  for (const FindInFile find : kFind) {
    if (const KernelSet* const found = find(entry, scaled, variant); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

// For unsigned types the two operators are identical.
template <class... Types>
const KernelSet* find_modulus(Variants<Types...>, bool floor, std::uint32_t variant) {
  using Find = const KernelSet& (*)() noexcept;
  static constexpr Find kFind[][2] = {
      {modulus_kernels<false, Types>, modulus_kernels<!std::is_unsigned_v<Types>, Types>}...};
  return variant < sizeof...(Types) ? &kFind[variant][floor ? 1 : 0]() : nullptr;
}

}  // namespace

const KernelSet* find_kernels(EntryId entry, std::uint32_t variant) noexcept {
  switch (entry) {
    case EntryId::ELEMENT_WISE_MODULUS_FLOOR:
    case EntryId::ELEMENT_WISE_MODULUS_TRUNCATE:
      return find_modulus(AllTypes{}, entry == EntryId::ELEMENT_WISE_MODULUS_FLOOR, variant);
    default:
      return find_in_files(std::make_index_sequence<kKernelFiles>{}, entry, false, variant);
  }
}

const KernelSet* find_scaled_kernels(EntryId entry, std::uint32_t variant) noexcept {
  return find_in_files(std::make_index_sequence<kKernelFiles>{}, entry, true, variant);
}

bool takes_small_tasks(EntryId entry) noexcept {
  switch (entry) {
#define ANYDML_ENTRY(op, Definition) \
  case EntryId::op:                  \
    return is_small<Definition>();
#include "ops/elementwise/elementwise.def"
    case EntryId::count_:
      break;
  }
  return false;
}

}  // namespace anydml::cuda
