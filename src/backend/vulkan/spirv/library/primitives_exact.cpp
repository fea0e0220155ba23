// SPDX-License-Identifier: MIT
// Primitives that are composed of others, for devices whose own version is not exact but whose FLOAT64 is. They are
// named exact_NAME, and are used if the primitives that they import are the device's own.
#include "backend/vulkan/spirv/primitive_list.h"

using namespace anydml;

#define ANYDML_IMPORT(result, name, parameters) extern "C" __attribute__((const)) result import_##name parameters;
ANYDML_IMPORTED_PRIMITIVES(ANYDML_IMPORT)
#undef ANYDML_IMPORT

namespace {

constexpr u64 kSign = u64{1} << 63;
constexpr u64 kInfinity = 0x7ff0000000000000;

#define ANYDML_INLINE __attribute__((always_inline)) inline

ANYDML_INLINE u64 add(u64 a, u64 b) { return import_f64_add(a, b); }
ANYDML_INLINE u64 subtract(u64 a, u64 b) { return import_f64_subtract(a, b); }
ANYDML_INLINE u64 multiply(u64 a, u64 b) { return import_f64_multiply(a, b); }

// The rounding error of sum = a + b.
ANYDML_INLINE u64 error_of(u64 a, u64 b, u64 sum) {
  const u64 part = subtract(sum, a);
  return add(subtract(a, subtract(sum, part)), subtract(b, part));
}

// a + b, rounded to odd: if the sum is not exact, the result is the neighbor of the exact sum with an odd last bit.
// Infinities and NaN stay as they are.
ANYDML_INLINE u64 add_to_odd(u64 a, u64 b) {
  const u64 sum = add(a, b);
  const u64 error = error_of(a, b, sum);
  const bool is_finite = (sum & ~kSign) < kInfinity;
  const bool is_inexact = is_finite && (error & ~kSign) != 0 && (sum & 1) == 0;
  const bool is_away = ((sum ^ error) >> 63) == 0;
  return is_inexact ? (is_away ? sum | 1 : sum - 1) : sum;
}

// The upper half of a number's digits (Veltkamp).
ANYDML_INLINE u64 upper_half(u64 x) {
  constexpr u64 kSplit = 0x41a0000002000000;  // 2^27 + 1
  const u64 scaled = multiply(kSplit, x);
  return add(subtract(x, scaled), scaled);
}

// x = significand * 2^exponent with 1 <= |significand| < 2, for finite numbers other than 0.
struct Scaled {
  u64 significand;
  i32 exponent;
};
ANYDML_INLINE Scaled scaled(u64 x) {
  constexpr u64 kOne = 0x3ff0000000000000;
  constexpr u64 k2To54 = 0x4350000000000000;
  const bool is_subnormal = (x & kInfinity) == 0;
  const u64 larger = multiply(x, is_subnormal ? k2To54 : kOne);
  const i32 exponent = static_cast<i32>((larger >> 52) & 0x7ff) - 1023;
  return {(larger & ~kInfinity) | kOne, is_subnormal ? exponent - 54 : exponent};
}

}  // namespace

// There are devices whose conversion makes subnormal numbers zero. The digits of a FLOAT32 are those of a FLOAT64 that
// is 2^896 times less, so one exact product of FLOAT64 converts zeros, subnormal and normal numbers.
extern "C" u64 exact_f64_of_f32(u32 x) {
  constexpr u32 kMagnitude = 0x7fffffff;
  constexpr u32 kInfinityOf32 = 0x7f800000;
  constexpr u64 k2To896 = 0x77f0000000000000;
  const u64 digits = static_cast<u64>(x & kMagnitude) << 29;
  const u64 finite = multiply(digits, k2To896);
  const u64 magnitude = (x & kInfinityOf32) == kInfinityOf32 ? digits | kInfinity : finite;
  return magnitude | (static_cast<u64>(x >> 31) << 63);
}

// FLOAT64 has more than twice the digits of FLOAT32 and two more, so rounding its results once more changes nothing.
extern "C" u32 exact_f32_divide(u32 a, u32 b) {
  return import_f32_of_f64(import_f64_divide(import_f64_of_f32(a), import_f64_of_f32(b)));
}
extern "C" u32 exact_f32_square_root(u32 x) { return import_f32_of_f64(import_f64_square_root(import_f64_of_f32(x))); }
// The product is exact in FLOAT64; the sum is rounded to odd, so that rounding it again does not mistake it for a tie.
extern "C" u32 exact_f32_fused(u32 a, u32 b, u32 c) {
  return import_f32_of_f64(add_to_odd(multiply(import_f64_of_f32(a), import_f64_of_f32(b)), import_f64_of_f32(c)));
}

// The device's own operation, if it is fused but turns subnormal numbers into zeros: exact if no argument is subnormal
// and the result is not near these numbers. import_f32_slowly_fused is one of the versions that are always exact.
extern "C" __attribute__((const)) u32 native_f32_fused(u32 a, u32 b, u32 c);
extern "C" __attribute__((const)) u32 import_f32_slowly_fused(u32 a, u32 b, u32 c);
extern "C" u32 quick_f32_fused(u32 a, u32 b, u32 c) {
  constexpr u32 kDoubled = 2;                     // without the sign
  constexpr u32 kNormal = 0x00800000 * kDoubled;  // the least normal number, doubled
  // 0 wraps around.
  const auto is_subnormal = [](u32 x) { return x * kDoubled - 1 < kNormal - 1; };
  const u32 quick = native_f32_fused(a, b, c);
  if (quick * kDoubled < 2 * kNormal || is_subnormal(a) || is_subnormal(b) || is_subnormal(c)) {
    return import_f32_slowly_fused(a, b, c);
  }
  return quick;
}

// S. Boldo and G. Melquiond: Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd
// (2008). The product and the sums are pairs without an error; only the last sum is rounded. The factors are scaled to
// [1, 2) and the addend with them, so that nothing overflows or underflows, and the sum is scaled back as bits. There
// are few branches, because drivers inline this function wherever it is called.
extern "C" u64 exact_f64_fused(u64 x, u64 y, u64 z) {
  const Scaled a = scaled(x);
  const Scaled b = scaled(y);
  const Scaled c = scaled(z);
  const i32 exponent = a.exponent + b.exponent;
  const i32 distance = c.exponent - exponent;
  // An addend that is much less than the product only decides ties, so it may be larger than it is.
  constexpr i32 kFar = 130;
  const i32 moved = distance < -kFar ? -kFar : distance > kFar ? kFar : distance;
  const u64 addend = c.significand + (static_cast<u64>(static_cast<i64>(moved)) << 52);

  const u64 a_high = upper_half(a.significand);
  const u64 b_high = upper_half(b.significand);
  const u64 a_low = subtract(a.significand, a_high);
  const u64 b_low = subtract(b.significand, b_high);
  const u64 product = multiply(a.significand, b.significand);
  const u64 near = subtract(multiply(a_high, b_high), product);
  const u64 rest = add(add(add(near, multiply(a_high, b_low)), multiply(a_low, b_high)), multiply(a_low, b_low));
  const u64 low = add(addend, rest);
  const u64 low_error = error_of(addend, rest, low);
  const u64 high = add(product, low);
  const u64 high_error = error_of(product, low, high);
  const u64 odd = add_to_odd(low_error, high_error);
  const u64 sum = add(high, odd);

  // A normal result, or infinity.
  const i32 of_sum = static_cast<i32>((sum & ~kSign) >> 52) + exponent;
  const u64 normal = sum + (static_cast<u64>(static_cast<i64>(exponent)) << 52);
  const u64 scaled_back = (sum & ~kSign) == 0 ? sum : of_sum >= 0x7ff ? (sum & kSign) | kInfinity : normal;
  // A subnormal result: the number whose last place is the least subnormal is added, and subtracted as bits.
  const u64 unit = (sum & kSign) | (static_cast<u64>(static_cast<i64>(1 - exponent)) << 52);
  const u64 aligned = add(unit, high);
  const u64 rounded = add(aligned, add_to_odd(error_of(unit, high, aligned), odd));
  const u64 subnormal = (sum & kSign) | ((rounded & ~kSign) - (unit & ~kSign));
  const u64 ordinary = (sum & ~kSign) != 0 && of_sum < 1 ? subnormal : scaled_back;
  const u64 result = distance > kFar ? z : ordinary;

  // Zeros, infinities and NaN. A product of finite factors is a zero of its sign beside an infinite addend.
  const u64 plain = multiply(x, y);
  const bool has_finite_factors = (x & ~kSign) < kInfinity && (y & ~kSign) < kInfinity;
  const bool has_product = has_finite_factors && (x & ~kSign) != 0 && (y & ~kSign) != 0;
  const bool has_finite_addend = (z & ~kSign) < kInfinity;
  const u64 beside = add(has_finite_factors && !has_finite_addend ? plain & kSign : plain, z);
  const u64 special = has_product && (z & ~kSign) == 0 ? plain : beside;
  return has_product && has_finite_addend && (z & ~kSign) != 0 ? result : special;
}
