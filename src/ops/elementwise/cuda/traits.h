// SPDX-License-Identifier: MIT
// Properties of a definition that kernels may exploit, beyond its call operator. An entry that is not listed here still
// works correctly, but has separate kernels for each type and is launched alone.
#pragma once

#include "backend/cuda/kernels/bits.h"
#include "ops/scalar/scalars.h"

namespace anydml::cuda {

// Definitions that depend only on bits, so that types of the same width share kernels.
template <template <class> class Definition>
inline constexpr bool kMovesBits = false;
template <>
inline constexpr bool kMovesBits<Identity> = true;
template <>
inline constexpr bool kMovesBits<If> = true;
template <>
inline constexpr bool kMovesBits<BitAnd> = true;
template <>
inline constexpr bool kMovesBits<BitOr> = true;
template <>
inline constexpr bool kMovesBits<BitXor> = true;
template <>
inline constexpr bool kMovesBits<BitNot> = true;

// The definition whose kernels Scalar uses.
template <class Scalar>
struct KernelScalarOf {
  using Type = Scalar;
};
template <template <class> class Definition, class T>
requires(kMovesBits<Definition>) struct KernelScalarOf<Definition<T>> {
  using Type = Definition<bits_t<T>>;
};
template <class Scalar>
using KernelScalar = typename KernelScalarOf<Scalar>::Type;

// Definitions that small tasks may use: a single kernel contains all of them, for every type, and needs the registers
// of the most demanding one. Each of them must therefore have only a few instructions, one type, and no attributes.
template <template <class> class Definition>
inline constexpr bool kIsSmall = false;
template <>
inline constexpr bool kIsSmall<ModulusFloor> = true;
template <>
inline constexpr bool kIsSmall<ModulusTruncate> = true;
template <>
inline constexpr bool kIsSmall<Identity> = true;
template <>
inline constexpr bool kIsSmall<Add> = true;
template <>
inline constexpr bool kIsSmall<Subtract> = true;
template <>
inline constexpr bool kIsSmall<Multiply> = true;
template <>
inline constexpr bool kIsSmall<Divide> = true;
template <>
inline constexpr bool kIsSmall<Abs> = true;
template <>
inline constexpr bool kIsSmall<Negate> = true;
template <>
inline constexpr bool kIsSmall<Floor> = true;
template <>
inline constexpr bool kIsSmall<Ceil> = true;

template <template <class> class Definition>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_small() {
  return kIsSmall<Definition>;
}
template <template <class, class> class Definition>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_small() {
  return false;
}

// Definitions with tuned kernels (modulus_kernels.cuh).
template <class Scalar>
inline constexpr bool kIsTuned = false;
template <class T>
inline constexpr bool kIsTuned<ModulusFloor<T>> = true;
template <class T>
inline constexpr bool kIsTuned<ModulusTruncate<T>> = true;

}  // namespace anydml::cuda
