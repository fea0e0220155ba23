// SPDX-License-Identifier: MIT
// NEON kernels for the maxima and exponentials of scores. Included by kernels-inl.h. FLOAT64 vectors have half as many
// lanes as FLOAT32 vectors and therefore half the throughput. Apart from the products, attention spends most of its
// time here, so the steps of the definition (parts_of in ops/scalar/functions/exponential.h) are interleaved by hand
// for eight vectors, and the compiler is told to schedule them for a processor with several vector units.

inline constexpr int kExponentialVectors = 8;  // FLOAT64 vectors

#define ANYDML_EACH_VECTOR _Pragma("GCC unroll 8") for (int i = 0; i < kExponentialVectors; ++i)
#if defined(__clang__)
#define ANYDML_FOR_WIDE_MACHINES
#else
#define ANYDML_FOR_WIDE_MACHINES __attribute__((target("tune=neoverse-n1")))
#endif

ANYDML_FOR_WIDE_MACHINES ANYDML_FLATTEN void raise(f32* __restrict scores, std::int64_t count, f32 factor,
                                                   const f32* __restrict maximum, f32* __restrict sums,
                                                   std::int64_t period) noexcept {
  std::int64_t lane = 0;
  using namespace exponential;
  constexpr f64 kShift = 0x1.8p52 + 1023;
  const float32x4_t factors = vdupq_n_f32(factor);
  const float32x4_t minimum = vdupq_n_f32(-104.0F);  // its exponential is 0
  for (std::int64_t first = 0; first < count; first += 2 * kExponentialVectors) {
    const f32* const of_these = maximum + first % kScorePeriod;
    float64x2_t r[kExponentialVectors];
    float64x2_t k[kExponentialVectors];
    float64x2_t shifted[kExponentialVectors];
    float64x2_t r2[kExponentialVectors];
    float64x2_t r3[kExponentialVectors];
    float64x2_t r4[kExponentialVectors];
    float64x2_t high[kExponentialVectors];
    float64x2_t middle[kExponentialVectors];
    _Pragma("GCC unroll 8") for (int i = 0; i < kExponentialVectors; i += 2) {
      const float32x4_t scaled = vmulq_f32(vld1q_f32(scores + first + 2 * i), factors);
      const float32x4_t x = vmaxq_f32(vsubq_f32(scaled, vld1q_f32(of_these + 2 * i)), minimum);  // NaN is kept
      r[i] = vcvt_f64_f32(vget_low_f32(x));
      r[i + 1] = vcvt_high_f64_f32(x);
    }
    ANYDML_EACH_VECTOR shifted[i] = vfmaq_f64(vdupq_n_f64(kShift), r[i], vdupq_n_f64(kLog2OfE));
    ANYDML_EACH_VECTOR k[i] = vaddq_f64(shifted[i], vdupq_n_f64(-kShift));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], k[i], vdupq_n_f64(-kLn2High));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], k[i], vdupq_n_f64(-kLn2Low));
    ANYDML_EACH_VECTOR r2[i] = vmulq_f64(r[i], r[i]);
    ANYDML_EACH_VECTOR high[i] = vfmaq_f64(vdupq_n_f64(kExp8), r[i], vdupq_n_f64(kExp9));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(vdupq_n_f64(kExp4), r[i], vdupq_n_f64(kExp5));
    ANYDML_EACH_VECTOR r3[i] = vmulq_f64(r2[i], r[i]);
    ANYDML_EACH_VECTOR r4[i] = vmulq_f64(r2[i], r2[i]);
    ANYDML_EACH_VECTOR high[i] = vfmaq_f64(high[i], r2[i], vdupq_n_f64(kExp10));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r2[i], vdupq_n_f64(kExp6));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r2[i], vdupq_n_f64(kExp2));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r3[i], vdupq_n_f64(kExp7));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r3[i], vdupq_n_f64(kExp3));
    ANYDML_EACH_VECTOR middle[i] = vfmaq_f64(middle[i], r4[i], high[i]);
    ANYDML_EACH_VECTOR shifted[i] = vreinterpretq_f64_s64(vshlq_n_s64(vreinterpretq_s64_f64(shifted[i]), 52));
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(r[i], r4[i], middle[i]);
    ANYDML_EACH_VECTOR r[i] = vfmaq_f64(shifted[i], r[i], shifted[i]);
    float32x4_t computed[kExponentialVectors / 2];
    _Pragma("GCC unroll 4") for (int i = 0; i < kExponentialVectors / 2; ++i) {
      computed[i] = vcvt_high_f32_f64(vcvt_f32_f64(r[2 * i]), r[2 * i + 1]);
      vst1q_f32(scores + first + 4 * i, computed[i]);
    }
    if (sums != nullptr) {
      _Pragma("GCC unroll 4") for (int i = 0; i < kExponentialVectors / 2; ++i) {
        vst1q_f32(sums + lane + 4 * i, vaddq_f32(vld1q_f32(sums + lane + 4 * i), computed[i]));
      }
      lane = lane + 2 * kExponentialVectors == period ? 0 : lane + 2 * kExponentialVectors;
    }
  }
}

// NaN scores are ignored, as in greater_score. It does not matter whether +0 or -0 is chosen as the maximum.
ANYDML_FLATTEN void find_max(const f32* __restrict scores, std::int64_t count, f32* __restrict maximum) noexcept {
  constexpr int kVectors = 8;
  constexpr std::int64_t kAtOnce = 4 * kVectors;
  static_assert(kScorePeriod % kAtOnce == 0);
  float32x4_t best[kVectors];
  _Pragma("GCC unroll 8") for (int i = 0; i < kVectors; ++i) { best[i] = vld1q_f32(maximum + 4 * i); }
  std::int64_t first = 0;
  for (; first + kAtOnce <= count; first += kAtOnce) {
    _Pragma("GCC unroll 8") for (int i = 0; i < kVectors; ++i) {
      best[i] = vmaxnmq_f32(best[i], vld1q_f32(scores + first + 4 * i));
    }
  }
  _Pragma("GCC unroll 8") for (int i = 0; i < kVectors; ++i) { vst1q_f32(maximum + 4 * i, best[i]); }
  for (std::int64_t i = 0; first + i < count; ++i) {
    maximum[i] = greater_score(maximum[i], scores[first + i]);
  }
}

#undef ANYDML_EACH_VECTOR
#undef ANYDML_FOR_WIDE_MACHINES
