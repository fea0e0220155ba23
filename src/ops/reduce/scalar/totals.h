// SPDX-License-Identifier: MIT
// Turns the accumulators of an output's blocks into the output element.
#pragma once

#include <cmath>
#include <cstring>

#include "ops/reduce/scalar/folds.h"

namespace anydml {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

// The exact sum of FLOAT16s over any number of blocks: 2^32 elements below 2^16 in units of 2^-24 need 73 bits.
class HalfSum {
 public:
  // Adds the exact sum of a block of at most 4,096 elements.
  ANYDML_HOST_DEVICE void add(f64 block) {
    constexpr f64 kUnits = 0x1p24;
    if ((to_bits(block) & FloatParts<f64>::kInfinity) == FloatParts<f64>::kInfinity) {
      not_finite_ += block;
      return;
    }
    only_negative_zeros_ = only_negative_zeros_ && to_bits(block) == FloatParts<f64>::kSign;
    units_ += static_cast<i64>(block * kUnits);
  }

  // Adds another part of the same sum.
  ANYDML_HOST_DEVICE void add(const HalfSum& other) {
    units_ += other.units_;
    not_finite_ += other.not_finite_;
    only_negative_zeros_ = only_negative_zeros_ && other.only_negative_zeros_;
  }

  // The sum divided by count and rounded once.
  [[nodiscard]] ANYDML_HOST_DEVICE f16 over(u64 count) const {
    if (to_bits(not_finite_) != 0) {
      return round_to<f16>(not_finite_);
    }
    const bool negative = units_ < 0 || only_negative_zeros_;
    // The quotient keeps two more bits than the last place of any FLOAT16. The lower of these bits is also set if any
    // bit below it is nonzero, so rounding this number to nearest gives the correctly rounded quotient. Values that do
    // not fit in 53 bits are infinite in FLOAT16 anyway.
    const u128 quarters = static_cast<u128>(units_ < 0 ? -units_ : units_) * 4;
    f64 rounded = 0;
    if (static_cast<u64>(quarters >> 64) == 0) {
      rounded = in_quarters<u64>(static_cast<u64>(quarters), count);  // 128-bit division is slow, especially on GPUs
    } else {
      rounded = in_quarters<u128>(quarters, count);
    }
    return round_to<f16>(negative ? -rounded : rounded);
  }

 private:
  template <class Integer>
  [[nodiscard]] ANYDML_HOST_DEVICE static f64 in_quarters(Integer quarters, u64 count) {
    const Integer quotient = quarters / count;
    const bool inexact = quotient * count != quarters;
    return static_cast<f64>(quotient | (inexact ? 1U : 0U)) * 0x1p-26;
  }

  i128 units_ = 0;
  f64 not_finite_ = 0;
  bool only_negative_zeros_ = true;
};

// Combines the partial results of blocks, in order.
template <class Fold, class Accumulator>
Accumulator combine_blocks(const Accumulator* blocks, std::int64_t count) {
  constexpr auto kCombine = [](Accumulator a, Accumulator b) { return Fold::combine(a, b); };
  BlockTree<Accumulator> tree;
  for (std::int64_t i = 0; i < count; ++i) {
    tree.add(blocks[i], kCombine);
  }
  return tree.total(kCombine);
}

// total: the combination of all blocks. Returns an element of the input's type.
template <class Fold>
[[nodiscard]] ANYDML_HOST_DEVICE typename Fold::Element element_of_total(ReduceFunction function, u64 count,
                                                                         typename Fold::Accumulator total) {
  using T = typename Fold::Element;
  using A = typename Fold::Accumulator;
  if constexpr (requires { Fold::lower(total); }) {
    return Fold::lower(total);
  } else if constexpr (!is_float<T>) {
    return static_cast<T>(total);
  } else if constexpr (std::is_same_v<T, f16> && !Fold::kOrdered) {
    if (function != ReduceFunction::AVERAGE) {
      return round_to<f16>(total);  // the sum of one block, so it is exact
    }
    HalfSum sum;
    sum.add(total);
    return sum.over(count);
  } else {
    if (function == ReduceFunction::AVERAGE) {
      total /= static_cast<A>(count);
    } else if (function == ReduceFunction::L2) {
      total = std::sqrt(total);
    }
    return narrow<T>(total);
  }
}

}  // namespace anydml
