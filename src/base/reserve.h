// SPDX-License-Identifier: MIT
// Reserves capacity in a vector for elements that are added one by one, before anything changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace anydml {

// Reserves capacity for `count` elements in all, so that adding them cannot fail. The capacity at least doubles:
// reserve may allocate exactly `count`, and a vector that grows by one would then be copied for each element.
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
