// SPDX-License-Identifier: MIT
// The definition of a scan (docs/numerics.md). The elements of a row are combined in order within blocks of kScanBlock.
// Each block starts from the identity, which leaves any number unchanged, and the carry before the first block is also
// the identity. The carry before each following block is the previous carry combined with the previous block's total.
// An output is the carry of its block combined with the block's result so far. Therefore a row of one block is a plain
// running sum or product.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/float_bits.h"
#include "ops/scan/step.h"

namespace anydml {

inline constexpr std::int64_t kScanBlock = 4096;

// The type in which a chain of additions or multiplications is computed. Integers wrap, so a wider integer, signed or
// unsigned, has the same lowest bits.
template <class T>
using scan_t =
    std::conditional_t<std::is_same_v<T, f16> || std::is_same_v<T, f32>, f32,
                       std::conditional_t<std::is_same_v<T, f64>, f64, std::conditional_t<sizeof(T) == 8, u64, u32>>>;

// The identity: -0 for sums of floats, because +0 would change a sum of -0s.
template <class C, ScanFunction kFunction>
inline constexpr C kScanIdentity = kFunction == ScanFunction::product ? C{1}
                                                                      : (is_float<C> ? static_cast<C>(-0.0) : C{0});

template <ScanFunction kFunction, class C>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr C scanned(C before, C next) {
  return kFunction == ScanFunction::product ? before * next : before + next;
}

// The first result of an exclusive scan is 0 or 1: an empty sum is +0, although sums start from -0.
[[nodiscard]] constexpr bool first_is_zero(const ScanStep& step) {
  return step.is_exclusive != 0 && step.function == ScanFunction::sum && is_float_type(step.type);
}

}  // namespace anydml
