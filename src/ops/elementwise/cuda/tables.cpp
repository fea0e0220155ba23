// SPDX-License-Identifier: MIT
// One table out of those of all files: tuned kernels over those that are made of the definitions.
#include "ops/elementwise/cuda/tables.h"

#include <type_traits>
#include <utility>

#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {
namespace {

using FindInFile = const KernelSet* (*)(RowId row, bool scaled, std::uint32_t variant) noexcept;

template <std::size_t... kNumbers>
const KernelSet* find_in_files(std::index_sequence<kNumbers...>, RowId row, bool scaled, std::uint32_t variant) {
  static constexpr FindInFile kFind[] = {find_in_file<kNumbers>...};
  for (const FindInFile find : kFind) {
    if (const KernelSet* const found = find(row, scaled, variant); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

// For unsigned types the two operators are the same.
template <class... Types>
const KernelSet* find_modulus(Variants<Types...>, bool floor, std::uint32_t variant) {
  using Find = const KernelSet& (*)() noexcept;
  static constexpr Find kFind[][2] = {
      {modulus_kernels<false, Types>, modulus_kernels<!std::is_unsigned_v<Types>, Types>}...};
  return variant < sizeof...(Types) ? &kFind[variant][floor ? 1 : 0]() : nullptr;
}

}  // namespace

const KernelSet* find_kernels(RowId row, std::uint32_t variant) noexcept {
  switch (row) {
    case RowId::ELEMENT_WISE_MODULUS_FLOOR:
    case RowId::ELEMENT_WISE_MODULUS_TRUNCATE:
      return find_modulus(AllTypes{}, row == RowId::ELEMENT_WISE_MODULUS_FLOOR, variant);
    default:
      return find_in_files(std::make_index_sequence<kKernelFiles>{}, row, false, variant);
  }
}

const KernelSet* find_scaled_kernels(RowId row, std::uint32_t variant) noexcept {
  return find_in_files(std::make_index_sequence<kKernelFiles>{}, row, true, variant);
}

bool takes_small_tasks(RowId row) noexcept {
  switch (row) {
#define ANYDML_ROW(op, Definition) \
  case RowId::op:                  \
    return is_small<Definition>();
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return false;
}

}  // namespace anydml::cuda
