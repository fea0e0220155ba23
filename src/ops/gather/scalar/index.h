// SPDX-License-Identifier: MIT
// The meaning of one index that comes from data. It never leads outside its dimension, whatever it is. A negative index
// of a signed type counts from the end of the dimension.
#pragma once

#include <type_traits>

#include "base/element.h"

namespace anydml {

// The place of an index in a dimension of `size` elements; -1: it is out of range.
template <class Index>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 place_of(Index index, i64 size) {
  if constexpr (std::is_signed_v<Index>) {
    const i64 wide = index;
    const i64 place = wide < 0 ? wide + size : wide;
    return place >= 0 && place < size ? place : -1;
  } else {
    return u64{index} < static_cast<u64>(size) ? static_cast<i64>(index) : -1;
  }
}

// The same for reads: an index that is out of range takes the nearest element. The dimension has an element.
template <class Index>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 nearest_place(Index index, i64 size) {
  if constexpr (std::is_signed_v<Index>) {
    const i64 wide = index;
    const i64 place = wide < 0 ? wide + size : wide;
    return place < 0 ? 0 : place < size ? place : size - 1;
  } else {
    return u64{index} < static_cast<u64>(size) ? static_cast<i64>(index) : size - 1;
  }
}

}  // namespace anydml
