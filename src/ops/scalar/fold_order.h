// SPDX-License-Identifier: MIT
// Defines the order in which long sums and products are computed. It is the same for every family, device and number of
// threads (docs/numerics.md). Elements are counted in row-major order of the folded axes and processed in blocks. If
// the innermost axis is folded, element i of a block belongs to lane i mod kReduceLanes, each lane folds its elements
// in order, and the lanes are folded in halves. Otherwise a block is folded element by element. The results of the
// blocks are combined in a tree.
#pragma once

#include <cstdint>

#include "base/element.h"

namespace anydml {

inline constexpr std::int64_t kReduceBlock = 4096;
inline constexpr std::int64_t kReduceLanes = 64;

// Sums start from -0, because adding -0 does not change any number. A sum of -0s is therefore -0.
template <class T>
inline constexpr T kNothing = is_float<T> ? static_cast<T>(-0.0) : T{0};

// Combines the results of blocks, added in order, into one result. Neighbors are combined in pairs, level by level, and
// an odd last result moves up to the next level unchanged. A pair is combined as soon as both of its results are
// available, so that only a few values are stored for any number of blocks.
template <class Value>
class BlockTree {
 public:
  // combine(earlier, later)
  template <class Combine>
  ANYDML_HOST_DEVICE constexpr void add(Value value, Combine combine) {
    for (u64 rest = count_; (rest & 1) != 0; rest >>= 1) {
      value = combine(held_[--depth_], value);
    }
    held_[depth_++] = value;
    ++count_;
  }

  // Requires at least one block.
  template <class Combine>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Value total(Combine combine) const {
    Value value = held_[depth_ - 1];
    for (u32 i = depth_ - 1; i-- > 0;) {
      value = combine(held_[i], value);
    }
    return value;
  }

 private:
  static constexpr u32 kMaxLevels = 52;  // element counts fit into 63 bits

  Value held_[kMaxLevels];
  u32 depth_ = 0;
  u64 count_ = 0;
};

}  // namespace anydml
