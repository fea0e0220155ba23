// SPDX-License-Identifier: MIT
// The variants of each row as lists of types, in the order that numbers them, so that tables are made by expanding
// them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/elementwise/cuda/variant_lists.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/scalars.h"

namespace anydml::cuda {

// VariantsOf<RowId::X>: those of a row.
template <RowId row>
struct VariantsOfRow;
#define ANYDML_ROW(op, Definition)                                \
  template <>                                                     \
  struct VariantsOfRow<RowId::op> {                               \
    using Type = decltype(variants_over<Definition>(AllTypes{})); \
  };
#include "ops/elementwise/elementwise.def"
template <RowId row>
using VariantsOf = typename VariantsOfRow<row>::Type;

// Those of all rows, in order; a variant's number is its place here.
#define ANYDML_ROW(op, Definition) , VariantsOf<RowId::op>
using AllVariants = typename Joined<Variants<>
#include "ops/elementwise/elementwise.def"
                                    >::Type;

// The place of a definition among variants; their count when it is not one of them.
template <class Wanted, class... Scalars>
[[nodiscard]] constexpr std::uint32_t place_in(Variants<Scalars...>) {
  std::uint32_t place = 0;
  static_cast<void>(((std::is_same_v<Wanted, Scalars> || (++place, false)) || ...));
  return place;
}

// The variant of a row that is Definition<T>.
template <RowId row, class Scalar>
inline constexpr std::uint32_t kVariantOf = place_in<Scalar>(VariantsOf<row>{});

}  // namespace anydml::cuda
