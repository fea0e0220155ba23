// SPDX-License-Identifier: MIT
// Room in a vector for elements that are added one by one, made before anything is changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace anydml {

// Makes room for `count` elements in all, so that adding them cannot fail. The capacity at least doubles: reserve alone
// may allocate exactly `count`, and then a vector that grows by one is copied for each element.
template <class T>
void reserve_total(std::vector<T>& vector, std::size_t count) {
  if (count > vector.capacity()) {
    vector.reserve(std::max(count, std::min(2 * vector.capacity(), vector.max_size())));
  }
}

// Makes room for `count` more elements.
template <class T>
void reserve_more(std::vector<T>& vector, std::size_t count) {
  reserve_total(vector, vector.size() + count);
}

}  // namespace anydml
