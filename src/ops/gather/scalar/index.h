// SPDX-License-Identifier: MIT
// Interprets an index that comes from data. An index of any value never refers to an element outside its dimension. A
// negative index of a signed type counts from the end of the dimension.
#pragma once

#include <type_traits>

#include "base/element.h"

namespace anydml {

// The position of an index in a dimension of `size` elements, or -1 if it is out of range.
template <class Index>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 resolve_index(Index index, i64 size) {
  if constexpr (std::is_signed_v<Index>) {
    const i64 wide = index;
    const i64 resolved = wide < 0 ? wide + size : wide;
    return resolved >= 0 && resolved < size ? resolved : -1;
  } else {
    return u64{index} < static_cast<u64>(size) ? static_cast<i64>(index) : -1;
  }
}

// The position to read: an index out of range is clamped to the nearest element. The dimension is not empty.
template <class Index>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 nearest_index(Index index, i64 size) {
  if constexpr (std::is_signed_v<Index>) {
    const i64 wide = index;
    const i64 resolved = wide < 0 ? wide + size : wide;
    return resolved < 0 ? 0 : resolved < size ? resolved : size - 1;
  } else {
    return u64{index} < static_cast<u64>(size) ? static_cast<i64>(index) : size - 1;
  }
}

}  // namespace anydml
