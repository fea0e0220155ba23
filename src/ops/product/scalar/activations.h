// SPDX-License-Identifier: MIT
// Activations in codes of eight bits, for products with weights in codes (docs/numerics.md). The values of k that share
// a scale of the weights are a block. Its codes are the numbers over a 127th of the largest magnitude, rounded to the
// nearest integer.
#pragma once

#include "base/float_bits.h"
#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

inline constexpr i32 kLargestActivation = 127;
// In a block without a larger magnitude, all codes are 0; otherwise the factor below might be infinite.
inline constexpr f32 kLeastActivation = 0x1p-100F;

// The bits of a magnitude are in the order of the magnitudes; those of NaN are the largest.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 magnitude_bits(f32 x) { return to_bits(x) & 0x7fffffffU; }
inline constexpr u32 kInfinityBits = 0x7f800000U;

// The scale of a block with this largest magnitude: NaN if it is infinite or NaN.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 activation_scale(u32 largest) {
  return largest < kInfinityBits ? from_bits<f32>(largest) / static_cast<f32>(kLargestActivation)
                                 : from_bits<f32>(kInfinityBits | 0x400000U);
}
// The number by which the elements of the block are multiplied before they are rounded. If it is 0, all codes are 0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 activation_factor(u32 largest) {
  const f32 magnitude = from_bits<f32>(largest);
  return largest < kInfinityBits && magnitude >= kLeastActivation ? static_cast<f32>(kLargestActivation) / magnitude
                                                                  : 0.0F;
}
// The magnitude of the product below is at most 127 and a little, where adding and subtracting 1.5 * 2^23 rounds to the
// nearest integer.
inline constexpr f32 kRoundingShift = 12582912.0F;
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 activation_code(f32 x, f32 factor) {
  const f32 shifted = x * factor + kRoundingShift;
  return static_cast<i32>(shifted - kRoundingShift);
}

// Adds a block to a total: the exact sum of the products of the codes, times both scales.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 add_block_of_codes(i32 sum, f32 activation, f32 weight, f32 total) {
  return fused(static_cast<f32>(sum), activation * weight, total);
}

}  // namespace anydml
