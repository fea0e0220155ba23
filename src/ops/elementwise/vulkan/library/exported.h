// SPDX-License-Identifier: MIT
// The definitions as functions over bits, for the SPIR-V library. data/vulkan/make_functions.py writes one exported
// function for each variant of each entry, which calls exported_call with the variant's definition. Elements of up to
// 32 bits are passed in 32 bits, of which the upper ones are ignored in inputs and zero in the result; the words of the
// definition's attributes follow.
#pragma once

#define ANYDML_PRIMITIVES_HEADER "backend/vulkan/spirv/library/primitives.h"
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#include "ops/elementwise/vulkan/variants.h"
#include "ops/scalar/scalars.h"

namespace anydml::vulkan {

template <class T, class Carried>
[[nodiscard]] constexpr T element_of(Carried bits) {
  if constexpr (is_float<T>) {
    return from_bits<T>(static_cast<float_bits_t<T>>(bits));
  } else {
    return static_cast<T>(bits);
  }
}

template <class Carried, class T>
[[nodiscard]] constexpr Carried carried(T element) {
  if constexpr (is_float<T>) {
    return to_bits(element);
  } else {
    return static_cast<std::make_unsigned_t<T>>(element);
  }
}

// The definition whose object consists of these words.
template <class Scalar, class... Words>
[[nodiscard]] constexpr Scalar scalar_of(Words... words) {
  static_assert(sizeof...(Words) == kScalarWords<Scalar>);
  if constexpr (sizeof...(Words) == 0) {
    return Scalar{};
  } else {
    struct {
      u32 all[sizeof...(Words)];
    } bytes = {{words...}};
    return __builtin_bit_cast(PaddedScalar<Scalar>, bytes).scalar;
  }
}

// The type that carries an element: u64 for elements of 64 bits, otherwise u32.
template <class T>
using carrier_t = std::conditional_t<sizeof(T) == 8, u64, u32>;

}  // namespace anydml::vulkan
#pragma clang attribute pop
