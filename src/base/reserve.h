// SPDX-License-Identifier: MIT
// Reserves vector capacity in advance, so that adding elements later cannot fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace anydml {

// Reserves capacity for `count` elements in total, so that adding them cannot fail. The capacity at least doubles:
// reserve may allocate exactly `count`, and growing one element at a time would then copy the vector for each element.
template <class T>
void reserve_total(std::vector<T>& vector, std::size_t count) {
  if (count > vector.capacity()) {
    vector.reserve(std::max(count, std::min(2 * vector.capacity(), vector.max_size())));
  }
}

// Reserves capacity for `count` more elements.
template <class T>
void reserve_more(std::vector<T>& vector, std::size_t count) {
  reserve_total(vector, vector.size() + count);
}

}  // namespace anydml
