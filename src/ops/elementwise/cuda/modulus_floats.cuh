// SPDX-License-Identifier: MIT
// Tuned kernels of the two modulus operators on floats packed in 32-bit words. The results have the same bits as the
// results of the scalar definitions.
//
// Each quotient is an estimate that is either proven to be correct or verified using its remainder. Fused operations,
// directed rounding and the approximate reciprocal are written explicitly, because the proofs rely on them.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"

namespace anydml::cuda {

// The relative error is at most 2^-23. Subnormal results are flushed to 0; subnormal operands give infinity.
[[nodiscard]] __device__ inline f32 approximate_reciprocal(f32 y) {
  f32 result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(y));
  return result;
}

// At least 1 / y, with a relative error of at most 2^-21. If y has no normal reciprocal, the result is too small, or
// NaN.
[[nodiscard]] __device__ inline f32 reciprocal_above(f32 y) {
  return __uint_as_float(__float_as_uint(approximate_reciprocal(y)) + 2);
}

// The relative error is at most 2^-51.
[[nodiscard]] __device__ inline f64 near_reciprocal(f64 y) {
  f64 estimate;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(y));  // about 20 bits; each of the two steps doubles that
  estimate = __fma_rn(estimate, __fma_rn(-y, estimate, 1.0), estimate);
  return __fma_rn(estimate, __fma_rn(-y, estimate, 1.0), estimate);
}

[[nodiscard]] __device__ inline f64 reciprocal_above(f64 y) {
  const f64 near = near_reciprocal(y);
  return __fma_rn(near, 0x1p-51, near);
}

template <class F>
struct Real;
template <>
struct Real<f32> {
  static constexpr f32 kInteger = 0x1p23f;  // adding this, rounded toward zero, drops the fraction
  static constexpr int kStepBits = 21;      // quotient bits that the reciprocal determines to within one unit
  static __device__ f32 fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
  static __device__ f32 fma_toward_zero(f32 a, f32 b, f32 c) { return __fmaf_rz(a, b, c); }
  static __device__ u32 bits(f32 x) { return __float_as_uint(x); }
  static __device__ f32 from(u32 bits) { return __uint_as_float(bits); }
};
template <>
struct Real<f64> {
  static constexpr f64 kInteger = 0x1p52;
  static constexpr int kStepBits = 48;
  static __device__ f64 fma(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
  static __device__ f64 fma_toward_zero(f64 a, f64 b, f64 c) { return __fma_rz(a, b, c); }
  static __device__ u64 bits(f64 x) { return static_cast<u64>(__double_as_longlong(x)); }
  static __device__ f64 from(u64 bits) { return __longlong_as_double(static_cast<long long>(bits)); }
};

// Computes x mod y for magnitudes. If the bits of the result are not below the bits of y, the remainder is not known
// yet.
//
// If x >= y, then x, y and x - q * y for every integer q are multiples of y's last place u. If the rounded value r of
// this difference is below y, then the exact value is below y < 2^24 u, and r is exact. If -y <= r < 0, r is exact too,
// and the answer is r + y. The estimate is biased upward, so that an error usually leads to this second case, which
// costs nothing extra. If the quotient is too small, the difference can reach 2^25 u, may be inexact and is rejected.
// If x < y, q is 0, or 1 for an x just below y; in both cases the difference is exact. Infinities, NaN, zero and
// subnormal divisors yield NaN, whose bits are above every y.
template <class F>
[[nodiscard]] __device__ inline F try_remainder(F x, F y, F reciprocal) {
  using R = Real<F>;
  const F quotient = R::fma_toward_zero(x, reciprocal, R::kInteger) - R::kInteger;
  const F low = R::fma(-quotient, y, x);
  const F high = low + y;
  // Compared as integers, negative numbers are the largest.
  const auto low_bits = R::bits(low);
  const auto high_bits = R::bits(high);
  return R::from(low_bits < high_bits ? low_bits : high_bits);
}

// Computes x mod y for the elements in todo, which try_remainder left unfinished, one after another. This is a long
// division of significands in [1, 2), with kStepBits of the quotient at a time. The lanes of a warp step together
// although their elements need different numbers of steps: a lane that has finished an element executes a few more
// steps that change nothing, and then starts its next element.
template <class F, int kElements>
__device__ inline void finish_remainders(u32 todo, const F (&xs)[kElements], const F (&ys)[kElements],
                                         F (&results)[kElements]) {
  using R = Real<F>;
  using P = FloatParts<F>;
  using Bits = typename P::Bits;
  constexpr Bits kOne = static_cast<Bits>(P::kBias) << P::kFractionBits;
  constexpr int kStepsTogether = 6;
  constexpr F kNormal = 4 * R::kInteger;  // a subnormal times this is normal
  constexpr int kNormalBits = P::kFractionBits + 2;

  int gap = 0;
  F remainder = 0;
  F divisor = 1;
  F reciprocal = 0;
  F scale = 1;
  int element = 0;
  bool fresh = true;
#pragma unroll 1
  while (todo != 0) {
    if (fresh) {
      element = __ffs(static_cast<int>(todo)) - 1;
      const F x = xs[element];
      const F y = ys[element];
      const Bits x_bits = R::bits(x);
      const Bits y_bits = R::bits(y);
      const bool undefined = y_bits == 0 || x_bits >= P::kInfinity || y_bits > P::kInfinity;
      gap = 0;
      if (undefined || x_bits < y_bits) {
        remainder = undefined ? quiet_nan<F>() : x;
        divisor = 1;
        reciprocal = 0;
        scale = 1;
      } else {
        const bool x_small = x_bits < P::kHidden;
        const bool y_small = y_bits < P::kHidden;
        const Bits x_normal = x_small ? R::bits(x * kNormal) : x_bits;
        const Bits y_normal = y_small ? R::bits(y * kNormal) : y_bits;
        const int x_exponent = static_cast<int>(x_normal >> P::kFractionBits) - (x_small ? kNormalBits : 0);
        const int y_exponent = static_cast<int>(y_normal >> P::kFractionBits) - (y_small ? kNormalBits : 0);
        gap = x_exponent - y_exponent;
        divisor = R::from((y_normal & P::kFraction) | kOne);
        reciprocal = reciprocal_above(divisor);
        // 2^(y_exponent - bias), which is subnormal if y is, or nearly so.
        scale = y_exponent > 0 ? R::from(static_cast<Bits>(y_exponent) << P::kFractionBits)
                               : R::from(static_cast<Bits>(P::kHidden >> (1 - y_exponent)));
        const F significand = R::from((x_normal & P::kFraction) | kOne);
        const Bits less = R::bits(significand - divisor);
        remainder = R::from(less < R::bits(significand) ? less : R::bits(significand));
      }
    }
#pragma unroll
    for (int step = 0; step < kStepsTogether; ++step) {
      const int bits = min(gap, R::kStepBits);
      const F shifted = remainder * R::from(kOne + (static_cast<Bits>(bits) << P::kFractionBits));
      remainder = try_remainder(shifted, divisor, reciprocal);
      gap -= bits;
    }
    fresh = gap == 0;
    if (fresh) {
      results[element] = remainder * scale;
      todo &= todo - 1;
    }
  }
}

// Whether this GPU multiplies FLOAT64 at half the FLOAT32 rate. On other GPUs, a FLOAT64 multiplication takes at least
// 32 times as long as a FLOAT32 multiplication.
#if defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 700 || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
inline constexpr bool kFastDoubles = true;
#else
inline constexpr bool kFastDoubles = false;
#endif

// x mod y in FLOAT64, 48 bits of the quotient at a time: for each power of 2^48, from the largest power that any lane
// needs down to 1, the largest multiple of y times this power that fits is subtracted. For a lane with a smaller x, the
// first quotients are 0. The quotient, below 2^50, may be off by one: it is rounded down from an estimate whose error
// is less than one half. The remainder is then between -1 and 2 divisors; the next power corrects it, and a final step
// corrects the last one. Every difference is exact: it is a multiple of the last place of that divisor, or of x if x is
// smaller, and less than two 24-bit divisors.
//
// Processes two elements at the same time, since their steps are independent. An element that needed no steps is
// unaffected.
__device__ inline void finish_in_doubles(const f32 (&x)[2], const f32 (&y)[2], f32 (&results)[2]) {
  constexpr int kStep = 48;
  constexpr int kMaxSteps = 5;        // 277 bits lie between the largest and the smallest number
  constexpr int kExponent = 1 << 20;  // adds one to the exponent, in the upper half of a FLOAT64
  constexpr f64 kInteger = 0x1.8p52;  // adding this, rounded toward zero, rounds down to an integer
  f64 divisor[2];
  f64 inverse[2];
  f64 remainder[2];
  int gap = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    divisor[i] = static_cast<f64>(y[i]);
    inverse[i] = near_reciprocal(divisor[i]);
    remainder[i] = static_cast<f64>(x[i]);
    gap = max(gap, __double2hiint(remainder[i]) - __double2hiint(divisor[i]));
  }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  gap = __reduce_max_sync(__activemask(), gap);
#endif
  const int steps = min(gap / (kStep * kExponent), kMaxSteps);
#pragma unroll 1
  for (int scale = steps * kStep * kExponent; scale >= 0; scale -= kStep * kExponent) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const f64 scaled = __hiloint2double(__double2hiint(divisor[i]) + scale, __double2loint(divisor[i]));
      const f64 unscaled = __hiloint2double(__double2hiint(inverse[i]) - scale, __double2loint(inverse[i]));
      const f64 quotient = __fma_rz(remainder[i], unscaled, kInteger) - kInteger;
      remainder[i] = __fma_rn(-quotient, scaled, remainder[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    f64 last = remainder[i];
    last = __double2hiint(last) < 0 ? last + divisor[i] : last;
    last = last >= divisor[i] ? last - divisor[i] : last;
    const u32 x_bits = __float_as_uint(x[i]);
    const u32 y_bits = __float_as_uint(y[i]);
    const u32 infinity = FloatParts<f32>::kInfinity;
    const f32 finite = x_bits < y_bits ? x[i] : static_cast<f32>(last);
    results[i] = y_bits == 0 || x_bits >= infinity || y_bits > infinity ? quiet_nan<f32>() : finite;
  }
}

// The operator's result from r = |a| mod |b|.
template <bool kFloor, class F>
[[nodiscard]] __device__ inline F with_sign(F r, float_bits_t<F> a, float_bits_t<F> b, F y) {
  using R = Real<F>;
  constexpr auto kSign = FloatParts<F>::kSign;
  if constexpr (kFloor) {
    const F other = y - r;  // rounded once, like m + b
    const F magnitude = ((a ^ b) & kSign) != 0 && r != 0 ? other : r;
    return R::from(R::bits(magnitude) | (b & kSign));
  } else {
    return R::from(R::bits(r) | (a & kSign));
  }
}

// Computes the modulus of elements of one type, packed in words. Divisor: precomputed properties of a divisor that is
// used for many dividends.
template <bool kFloor, class T>
struct Modulus;

// FLOAT32 and FLOAT64.
template <bool kFloor, class T>
requires(is_float<T> && sizeof(T) >= 4) struct Modulus<kFloor, T> {
  using R = Real<T>;
  using Bits = bits_t<T>;
  static constexpr Bits kMagnitude = FloatParts<T>::kMagnitude;

  struct Divisor {
    Bits bits;
    T reciprocal;
  };
  static __device__ Divisor prepare(Bits b) { return {b, reciprocal_above(R::from(b & kMagnitude))}; }

  template <int kWords, class GetDivisor>
  static __device__ void run(const u32 (&a)[kWords], GetDivisor&& get_divisor, u32 (&out)[kWords]) {
    constexpr int kElements = kWords * 4 / static_cast<int>(sizeof(T));
    T results[kElements];
    u32 todo = 0;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const Divisor divisor = get_divisor(i);
      const T y = R::from(divisor.bits & kMagnitude);
      results[i] = try_remainder(R::from(extract<T>(a, i) & kMagnitude), y, divisor.reciprocal);
      todo |= R::bits(results[i]) < R::bits(y) ? 0 : 1u << i;
    }
    if constexpr (kFastDoubles && sizeof(T) == 4 && kElements % 2 == 0) {
      if (todo != 0) {
#pragma unroll
        for (int i = 0; i < kElements; i += 2) {
          if ((todo >> i & 3) != 0) {
            const T xs[2] = {R::from(extract<T>(a, i) & kMagnitude), R::from(extract<T>(a, i + 1) & kMagnitude)};
            const T ys[2] = {R::from(get_divisor(i).bits & kMagnitude), R::from(get_divisor(i + 1).bits & kMagnitude)};
            T finished[2];
            finish_in_doubles(xs, ys, finished);
            results[i] = finished[0];
            results[i + 1] = finished[1];
          }
        }
      }
    } else if (todo != 0) {
      T xs[kElements];
      T ys[kElements];
      T finished[kElements];
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        xs[i] = R::from(extract<T>(a, i) & kMagnitude);
        ys[i] = R::from(get_divisor(i).bits & kMagnitude);
        finished[i] = results[i];
      }
      finish_remainders(todo, xs, ys, finished);
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        results[i] = finished[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = 0;
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const Bits b = get_divisor(i).bits;
      insert<T>(out, i, R::bits(with_sign<kFloor, T>(results[i], extract<T>(a, i), b, R::from(b & kMagnitude))));
    }
  }

  template <int kWords>
  static __device__ void many(const u32 (&a)[kWords], const u32 (&b)[kWords], u32 (&out)[kWords]) {
    run(
        a, [&b](int i) { return prepare(extract<T>(b, i)); }, out);
  }
  template <int kWords>
  static __device__ void by_one(const u32 (&a)[kWords], const Divisor& divisor, u32 (&out)[kWords]) {
    run(
        a, [&divisor](int) { return divisor; }, out);
  }
};

__device__ inline void widen_halves(u32 word, f32& low, f32& high) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
      : "=f"(low), "=f"(high)
      : "r"(word));
}

[[nodiscard]] __device__ inline u32 narrow_halves(f32 low, f32 high) {
  u32 word;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  asm("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
      : "=r"(word)
      : "f"(low), "f"(high));
#endif
  return word;
}

// FLOAT16, computed in FLOAT32, where every divisor except 0 is normal.
template <bool kFloor>
struct Modulus<kFloor, f16> {
  struct Divisor {
    f32 y;
    f32 reciprocal;
    u32 word;  // the divisor, twice
  };
  static __device__ Divisor prepare(u16 b) {
    f32 y;
    f32 again;
    widen_halves(b & 0x7fffu, y, again);
    return {y, reciprocal_above(y), b * 0x00010001u};
  }

  // A quotient is below 2^40: at most 2^21 for the divisor times 2^19, and then at most 2^19 for the divisor itself.
  static __device__ f32 finish(f32 x, f32 y, f32 reciprocal) {
    const f32 first = try_remainder(x, y * 0x1p19f, reciprocal * 0x1p-19f);
    const f32 second = try_remainder(first, y, reciprocal);
    const u32 infinity = FloatParts<f32>::kInfinity;
    const f32 finite = __float_as_uint(y) == infinity ? x : second;
    return y == 0 || __float_as_uint(x) >= infinity ? quiet_nan<f32>() : finite;
  }

  template <class GetDivisor>
  static __device__ u32 word(u32 a, u32 b, GetDivisor&& get_divisor) {
    f32 x[2];
    f32 y[2];
    f32 reciprocal[2];
    f32 r[2];
    widen_halves(a & 0x7fff7fff, x[0], x[1]);
    get_divisor(y, reciprocal);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      r[i] = try_remainder(x[i], y[i], reciprocal[i]);
    }
    if (__float_as_uint(r[0]) >= __float_as_uint(y[0]) || __float_as_uint(r[1]) >= __float_as_uint(y[1])) {
      r[0] = finish(x[0], y[0], reciprocal[0]);
      r[1] = finish(x[1], y[1], reciprocal[1]);
    }
    if constexpr (kFloor) {
      const u32 differ = a ^ b;
      r[0] = (differ & 0x8000) != 0 && r[0] != 0 ? y[0] - r[0] : r[0];
      r[1] = (differ & 0x80000000) != 0 && r[1] != 0 ? y[1] - r[1] : r[1];
    }
    return narrow_halves(r[0], r[1]) | ((kFloor ? b : a) & 0x80008000);
  }

  template <int kWords>
  static __device__ void many(const u32 (&a)[kWords], const u32 (&b)[kWords], u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = word(a[i], b[i], [&](f32(&y)[2], f32(&reciprocal)[2]) {
        widen_halves(b[i] & 0x7fff7fff, y[0], y[1]);
        reciprocal[0] = reciprocal_above(y[0]);
        reciprocal[1] = reciprocal_above(y[1]);
      });
    }
  }
  template <int kWords>
  static __device__ void by_one(const u32 (&a)[kWords], const Divisor& divisor, u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = word(a[i], divisor.word, [&](f32(&y)[2], f32(&reciprocal)[2]) {
        y[0] = y[1] = divisor.y;
        reciprocal[0] = reciprocal[1] = divisor.reciprocal;
      });
    }
  }
};

}  // namespace anydml::cuda
