// SPDX-License-Identifier: MIT
// Lists of types: the variants of a definition, in numbering order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ops/scalar/signature.h"

namespace anydml {

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

// Every element type, in the order of for_each_variant.
using AllTypes = Variants<f32, f16, u32, u16, u8, i32, i16, i8, f64, u64, i64>;

template <template <class> class Definition, class... Types>
[[nodiscard]] auto variants_over(Variants<Types...>) -> typename Joined<IfDefined<Definition<Types>>...>::Type;
template <template <class, class> class Definition, class First, class... Types>
[[nodiscard]] auto variants_with(Variants<Types...>) -> typename Joined<IfDefined<Definition<First, Types>>...>::Type;
template <template <class, class> class Definition, class... Types>
[[nodiscard]] auto variants_over(Variants<Types...>) ->
    typename Joined<decltype(variants_with<Definition, Types>(AllTypes{}))...>::Type;

// The variant with a given number.
template <class List, std::uint32_t kNumber>
struct VariantAt;
template <class First, class... Rest, std::uint32_t kNumber>
struct VariantAt<Variants<First, Rest...>, kNumber> : VariantAt<Variants<Rest...>, kNumber - 1> {};
template <class First, class... Rest>
struct VariantAt<Variants<First, Rest...>, 0> {
  using Type = First;
};

}  // namespace anydml
