// SPDX-License-Identifier: MIT
// Quantizes vectors of totals with the results of quantized_total. This file is included inside the namespace of a
// target, where `hn` is Highway's namespace, after ops/product/scalar/integer.h; it has no include guard.

// The totals, scaled, rounded and offset by the zero points, as integers that saturate to the correct output.
template <class D>
HWY_INLINE hn::Vec<D> quantized_lanes(D d, hn::Vec<D> totals, hn::Vec<hn::RebindToFloat<D>> factors, hn::Vec<D> zeros) {
  const hn::RebindToFloat<D> d_float;
  const auto scaled = hn::Mul(hn::ConvertTo(d_float, totals), factors);
#if HWY_TARGET == HWY_NEON
  (void)d;
  const int32x4_t nearest = vcvtnq_s32_f32(scaled.raw);  // saturates, and converts NaN to 0
  return hn::Vec<D>(vqaddq_s32(nearest, zeros.raw));
#else
  // Clamps to values so large that no zero point could bring them back into range. Adding kRounder rounds to the
  // nearest integer, ties to even, which the last bits of the sum then contain.
  constexpr f32 kRounder = 12582912.0F;  // 1.5 * 2^23
  constexpr i32 kRounderBits = 0x4B400000;
  const auto number = hn::IfThenElseZero(hn::Eq(scaled, scaled), scaled);
  const auto bounded = hn::Min(hn::Max(number, hn::Set(d_float, -1024.0F)), hn::Set(d_float, 1024.0F));
  const auto rounded = hn::BitCast(d, hn::Add(bounded, hn::Set(d_float, kRounder)));
  return hn::Add(rounded, hn::Sub(zeros, hn::Set(d, kRounderBits)));
#endif
}
