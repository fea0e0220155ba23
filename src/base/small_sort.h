// SPDX-License-Identifier: MIT
// A stable sort for small arrays that, unlike std::stable_sort, never allocates.
#pragma once

#include <cstddef>
#include <utility>

namespace anydml {

template <class T, class Before>
void small_sort(T* elements, std::size_t count, Before before) {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t j = i; j > 0 && before(elements[j], elements[j - 1]); --j) {
      std::swap(elements[j], elements[j - 1]);
    }
  }
}

}  // namespace anydml
