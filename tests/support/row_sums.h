// SPDX-License-Identifier: MIT
// An independent implementation of the summation order.
#pragma once

#include <algorithm>
#include <vector>

#include "base/scalar.h"

namespace anydml::test {

// Sums blocks of 4,096 elements. Within a block, elements are distributed over 64 lanes or added one after another. The
// upper half of the lanes is repeatedly added to the lower half, and blocks are added in pairs.
inline f32 sum_in_order(const std::vector<f32>& elements, bool lanes) {
  std::vector<f32> blocks;
  for (std::size_t first = 0; first < elements.size(); first += 4096) {
    std::vector<f32> sums(lanes ? 64 : 1, -0.0F);
    for (std::size_t i = first; i < std::min<std::size_t>(elements.size(), first + 4096); ++i) {
      sums[i % sums.size()] += elements[i];
    }
    for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
      for (std::size_t i = 0; i < sums.size() / 2; ++i) {
        sums[i] += sums[i + sums.size() / 2];
      }
    }
    blocks.push_back(sums[0]);
  }
  while (blocks.size() > 1) {
    std::vector<f32> next;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      next.push_back(i + 1 < blocks.size() ? blocks[i] + blocks[i + 1] : blocks[i]);
    }
    blocks = next;
  }
  return blocks[0];
}

}  // namespace anydml::test
