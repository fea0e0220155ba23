// SPDX-License-Identifier: MIT
// The exponentials of scores for NEON; a part of kernels-inl.h. FLOAT64 has half the vectors of FLOAT32 and half their
// speed there, and it takes most of the time of attention after the products. So the part of it that FLOAT32 does
// exactly is done in FLOAT32, as on a GPU (parts_on_gpu in ops/scalar/functions/exponential.h), and the steps of eight
// vectors are mixed by hand. A test compares every difference with the definition.

inline constexpr int kPowerVectors = 8;  // of FLOAT64

#define ANYDML_EACH_VECTOR _Pragma("GCC unroll 8") for (int i = 0; i < kPowerVectors; ++i)

ANYDML_FLATTEN void raise(f32* __restrict scores, std::int64_t count, f32 factor,
                          const f32* __restrict greatest) noexcept {
  using namespace exponential;
  const float32x4_t factors = vdupq_n_f32(factor);
  const float32x4_t least = vdupq_n_f32(-104.0F);  // whose exponential is 0
  const float32x4_t shift = vdupq_n_f32(0x1.8p23F + 1023);
  const float32x4_t log2_of_e = vdupq_n_f32(static_cast<f32>(kLog2OfE));
  const float32x4_t ln2_short = vdupq_n_f32(-static_cast<f32>(kLn2Short));
  const uint32x4_t zero = vdupq_n_u32(0);
  const auto all = [](f64 value) { return vdupq_n_f64(value); };
  const float64x2_t ln2_rest = all(-kLn2Rest);
  for (std::int64_t first = 0; first < count; first += 2 * kPowerVectors) {
    const f32* const of_these = greatest + first % kScorePeriod;
    float64x2_t r[kPowerVectors];
    float64x2_t k[kPowerVectors];
    float64x2_t power[kPowerVectors];
    float64x2_t r2[kPowerVectors];
    float64x2_t r3[kPowerVectors];
    float64x2_t r4[kPowerVectors];
    float64x2_t high[kPowerVectors];
    float64x2_t middle[kPowerVectors];
    _Pragma("GCC unroll 8") for (int i = 0; i < kPowerVectors; i += 2) {
      const float32x4_t scaled = vmulq_f32(vld1q_f32(scores + first + 2 * i), factors);
      const float32x4_t x = vmaxq_f32(vsubq_f32(scaled, vld1q_f32(of_these + 2 * i)), least);  // NaN stays
      const float32x4_t shifted = vfmaq_f32(shift, x, log2_of_e);
      const float32x4_t turns = vsubq_f32(shifted, shift);
      const float32x4_t rest = vfmaq_f32(x, turns, ln2_short);
      const uint32x4_t exponent = vshlq_n_u32(vreinterpretq_u32_f32(shifted), 20);
      power[i] = vreinterpretq_f64_u32(vzip1q_u32(zero, exponent));
      power[i + 1] = vreinterpretq_f64_u32(vzip2q_u32(zero, exponent));
      r[i] = vcvt_f64_f32(vget_low_f32(rest));
      r[i + 1] = vcvt_high_f64_f32(rest);
      k[i] = vcvt_f64_f32(vget_low_f32(turns));
      k[i + 1] = vcvt_high_f64_f32(turns);
    }
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], k[i], ln2_rest);
    ANYDML_EACH_VECTOR r2[i] = vmulq_f64(r[i], r[i]);
    ANYDML_EACH_VECTOR high[i] = vfmaq_f64(all(kExp8), r[i], all(kExp9));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(all(kExp4), r[i], all(kExp5));
    ANYDML_EACH_VECTOR r3[i] = vmulq_f64(r2[i], r[i]);
    ANYDML_EACH_VECTOR r4[i] = vmulq_f64(r2[i], r2[i]);
    ANYDML_EACH_VECTOR high[i] = vfmaq_f64(high[i], r2[i], all(kExp10));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r2[i], all(kExp6));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r2[i], all(kExp2));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r3[i], all(kExp7));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r3[i], all(kExp3));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r4[i], high[i]);
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r4[i], middle[i]);
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(power[i], r[i], power[i]);
    _Pragma("GCC unroll 8") for (int i = 0; i < kPowerVectors; i += 2) {
      vst1q_f32(scores + first + 2 * i, vcvt_high_f32_f64(vcvt_f32_f64(r[i]), r[i + 1]));
    }
  }
}

#undef ANYDML_EACH_VECTOR
