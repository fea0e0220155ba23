// SPDX-License-Identifier: MIT
// The variants of each entry as lists of types, in the order that numbers them, so that tables are made by expanding
// them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/elementwise/cuda/variant_lists.h"
#include "ops/elementwise/entries.h"
#include "ops/scalar/scalars.h"

namespace anydml::cuda {

// VariantsOf<EntryId::X>: the variants of an entry.
template <EntryId entry>
struct VariantsOfEntry;
#define ANYDML_ENTRY(op, Definition)                              \
  template <>                                                     \
  struct VariantsOfEntry<EntryId::op> {                           \
    using Type = decltype(variants_over<Definition>(AllTypes{})); \
  };
#include "ops/elementwise/elementwise.def"
template <EntryId entry>
using VariantsOf = typename VariantsOfEntry<entry>::Type;

// The variants of all entries, in order; a variant's number is its position here.
#define ANYDML_ENTRY(op, Definition) , VariantsOf<EntryId::op>
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

// The variant of an entry that is Definition<T>.
template <EntryId entry, class Scalar>
inline constexpr std::uint32_t kVariantOf = place_in<Scalar>(VariantsOf<entry>{});

}  // namespace anydml::cuda
