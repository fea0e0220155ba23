// SPDX-License-Identifier: MIT
// The unsigned type with the size of an element.
#pragma once

#include "base/element.h"

namespace anydml::cuda {

template <std::size_t kBytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = u8;
};
template <>
struct UnsignedOfSize<2> {
  using type = u16;
};
template <>
struct UnsignedOfSize<4> {
  using type = u32;
};
template <>
struct UnsignedOfSize<8> {
  using type = u64;
};
template <class T>
using bits_t = typename UnsignedOfSize<sizeof(T)>::type;

}  // namespace anydml::cuda
