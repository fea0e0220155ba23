// SPDX-License-Identifier: MIT
// How a definition's attributes are passed to its function in the SPIR-V library: as the words of an object of its
// class. The host constructs the object, and the function reads it. Compiles as host C++ and for SPIR-V.
#pragma once

#include "base/scalar.h"
#include "ops/elementwise/variant_lists.h"

namespace anydml::vulkan {

template <class Scalar>
struct alignas(alignof(Scalar) > 4 ? alignof(Scalar) : 4) PaddedScalar {
  Scalar scalar;
};

// The number of 32-bit words; 0 for a definition without attributes.
template <class Scalar>
inline constexpr u32 kScalarWords = std::is_constructible_v<Scalar, const Attributes&>
                                        ? static_cast<u32>(sizeof(PaddedScalar<Scalar>) / 4)
                                        : 0;

}  // namespace anydml::vulkan
