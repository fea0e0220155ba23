// SPDX-License-Identifier: MIT
// The variants of each row as lists of types, in the order that numbers them, so that tables are made by expanding
// them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/elementwise/rows.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"

namespace anydml::cuda {

template <class... Scalars>
struct Variants {
  static constexpr std::uint32_t kCount = sizeof...(Scalars);
};

template <class... Lists>
struct Joined;
template <>
struct Joined<> {
  using Type = Variants<>;
};
template <class... Scalars>
struct Joined<Variants<Scalars...>> {
  using Type = Variants<Scalars...>;
};
template <class... First, class... Second, class... Rest>
struct Joined<Variants<First...>, Variants<Second...>, Rest...> {
  using Type = typename Joined<Variants<First..., Second...>, Rest...>::Type;
};

template <class Scalar>
using IfDefined = std::conditional_t<Defined<Scalar>, Variants<Scalar>, Variants<>>;

// Every type of elements, in the order of for_each_variant.
using AllTypes = Variants<f32, f16, u32, u16, u8, i32, i16, i8, f64, u64, i64>;

template <template <class> class Definition, class... Types>
[[nodiscard]] auto variants_over(Variants<Types...>) -> typename Joined<IfDefined<Definition<Types>>...>::Type;
template <template <class, class> class Definition, class First, class... Types>
[[nodiscard]] auto variants_with(Variants<Types...>) -> typename Joined<IfDefined<Definition<First, Types>>...>::Type;
template <template <class, class> class Definition, class... Types>
[[nodiscard]] auto variants_over(Variants<Types...>) ->
    typename Joined<decltype(variants_with<Definition, Types>(AllTypes{}))...>::Type;

// VariantsOf<RowId::X>: those of a row.
template <RowId row>
struct VariantsOfRow;
#define ANYDML_ROW(op, Definition, ulp)                           \
  template <>                                                     \
  struct VariantsOfRow<RowId::op> {                               \
    using Type = decltype(variants_over<Definition>(AllTypes{})); \
  };
#include "ops/elementwise/elementwise.def"
template <RowId row>
using VariantsOf = typename VariantsOfRow<row>::Type;

// Those of all rows, in order; a variant's number is its place here.
#define ANYDML_ROW(op, Definition, ulp) , VariantsOf<RowId::op>
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
