// SPDX-License-Identifier: MIT
// Tuned kernels of the two modulus operators on integers packed in 32-bit words. The results have the same bits as the
// results of the scalar definitions.
#pragma once

#include "ops/elementwise/cuda/modulus_floats.cuh"

namespace anydml::cuda {

// 16-bit integers, computed in FLOAT32 without conversions: a byte permutation places an element in the significand of
// 2^23, which adds its value to 2^23. Adding one half to the dividend keeps the quotient at least 1 / (2 |b|) away from
// every integer. For any dividend below 2^22, this distance exceeds the error caused by the reciprocal, |a / b| *
// 2^-23, so the quotient is always correct. The sign bits of signed elements are flipped, which adds 2^15, and the sign
// bits of the results are flipped back.
template <bool kFloor, class T>
requires(!is_float<T> && sizeof(T) == 2) struct Modulus<kFloor, T> {
  static constexpr bool kSigned = std::is_signed_v<T>;
  static constexpr u32 kTurn = kSigned ? 0x80008000 : 0;
  static constexpr f32 kMagic = 0x1p23f + (kSigned ? 32768.0f : 0.0f);

  struct Divisor {
    f32 value;  // not 0; the magnitude if the quotient truncates
    f32 reciprocal;
  };

  // 2^23 plus element i.
  static __device__ f32 in_significand(u32 word, int i) {
    return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7400 + (2 * i | (2 * i + 1) << 4)));
  }

  static __device__ Divisor divisor_of(f32 number) {
    if constexpr (kSigned && kFloor) {
      const f32 value = number == 0 ? 1.0f : number;
      return {value, approximate_reciprocal(value)};
    } else {
      const f32 value = fmaxf(fabsf(number), 1.0f);  // a divisor of 0 becomes 1, with remainder 0
      return {value, approximate_reciprocal(value)};
    }
  }
  static __device__ Divisor prepare(bits_t<T> b) { return divisor_of(static_cast<f32>(static_cast<T>(b))); }

  // Returns the result in the lowest bits.
  static __device__ u32 element(f32 a_in_significand, const Divisor& b) {
    if constexpr (!kSigned) {
      const f32 a = a_in_significand - (0x1p23f - 0.5f);
      const f32 quotient = __fmaf_rz(a, b.reciprocal, 0x1p23f) - 0x1p23f;
      return __float_as_uint(__fmaf_rn(-quotient, b.value, a_in_significand));
    } else if constexpr (kFloor) {
      const f32 a = a_in_significand - kMagic;
      const f32 half = __uint_as_float((__float_as_uint(b.value) & 0x80000000) | 0x3f000000);
      // Toward zero means down here, because the sum is positive.
      const f32 quotient = __fmaf_rz(a + half, b.reciprocal, 0x1.8p23f) - 0x1.8p23f;
      return __float_as_uint(__fmaf_rn(-quotient, b.value, a_in_significand));
    } else {
      const f32 a = a_in_significand - kMagic;
      const f32 quotient = __fmaf_rz(fabsf(a) + 0.5f, b.reciprocal, 0x1p23f) - 0x1p23f;
      const f32 divisor = __uint_as_float((__float_as_uint(a) & 0x80000000) | __float_as_uint(b.value));
      return __float_as_uint(__fmaf_rn(-quotient, divisor, a_in_significand));
    }
  }

  template <class GetDivisor>
  static __device__ u32 word(u32 a, GetDivisor&& get_divisor) {
    const u32 low = element(in_significand(a ^ kTurn, 0), get_divisor(0));
    const u32 high = element(in_significand(a ^ kTurn, 1), get_divisor(1));
    return __byte_perm(low, high, 0x5410) ^ kTurn;
  }

  template <int kWords>
  static __device__ void many(const u32 (&a)[kWords], const u32 (&b)[kWords], u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const u32 turned = b[i] ^ kTurn;
      out[i] = word(a[i], [turned](int j) { return divisor_of(in_significand(turned, j) - kMagic); });
    }
  }
  template <int kWords>
  static __device__ void by_one(const u32 (&a)[kWords], const Divisor& divisor, u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = word(a[i], [&divisor](int) { return divisor; });
    }
  }
};

// Two FLOAT16 numbers in a word.
namespace halves {
[[nodiscard]] __device__ inline u32 fma(u32 a, u32 b, u32 c) {
  u32 result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
[[nodiscard]] __device__ inline u32 add(u32 a, u32 b) {
  u32 result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
[[nodiscard]] __device__ inline u32 subtract(u32 a, u32 b) {
  u32 result;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
constexpr u32 kSigns = 0x80008000;
constexpr u32 kMinusHalf = 0xb800b800;
constexpr u32 kHalf = 0x38003800;
}  // namespace halves

// 8-bit integers, two at a time in FLOAT16: a byte permutation places a byte in the significand of 1024, which adds its
// value to 1024. The sign bits of signed bytes are flipped, which adds 128. The quotient is (|a| + 1/2) / |b| - 1/2,
// rounded to nearest: (|a| + 1/2) / |b| is 1 / (2 |b|) away from every integer, and the rounding errors of the
// reciprocal and of the product amount to less than 3/4 of that, even for 255. Therefore the quotient is always
// correct, and the remainder is exact.
template <bool kFloor, class T>
requires(!is_float<T> && sizeof(T) == 1) struct Modulus<kFloor, T> {
  static constexpr bool kSigned = std::is_signed_v<T>;
  static constexpr u32 kTurn = kSigned ? 0x80808080 : 0;
  static constexpr u32 kOffset = kSigned ? 0x64806480 : 0x64006400;   // 1024, or 1024 + 128
  static constexpr u32 kInteger = kSigned ? 0x66006600 : 0x65006500;  // adding this rounds to an integer

  // Each member contains two copies of its value. If the quotient truncates, the reciprocal and the nudge belong to the
  // divisor's magnitude.
  struct Divisor {
    u32 value;
    u32 reciprocal;
    u32 nudge;
  };

  // Two elements of a word, plus the offset.
  static __device__ u32 in_significands(u32 word, int pair) {
    return __byte_perm(word, 0x64646464, pair == 0 ? 0x4140 : 0x4342);
  }

  static __device__ Divisor divisor_of(u32 value) {
    f32 low;
    f32 high;
    widen_halves(kSigned && !kFloor ? value & ~halves::kSigns : value, low, high);
    const u32 reciprocal = narrow_halves(approximate_reciprocal(low), approximate_reciprocal(high));
    const u32 magnitude = kSigned && kFloor ? reciprocal & ~halves::kSigns : reciprocal;
    return {value, reciprocal, halves::fma(magnitude, halves::kHalf, halves::kMinusHalf)};
  }
  static __device__ Divisor prepare(u8 b) {
    const u32 divisor = b == 0 ? 1 : b;  // a divisor of 0 becomes 1, with remainder 0
    return divisor_of(halves::subtract(in_significands((divisor * 0x01010101) ^ kTurn, 0), kOffset));
  }

  // Two results in the low bytes.
  static __device__ u32 two(u32 a_in_significands, const Divisor& b) {
    const u32 a = halves::subtract(a_in_significands, kOffset);
    constexpr bool kTruncates = kSigned && !kFloor;
    const u32 dividend = kTruncates ? a & ~halves::kSigns : a;
    const u32 divisor = kTruncates ? (b.value & ~halves::kSigns) | (a & halves::kSigns) : b.value;
    const u32 rounded = halves::add(halves::fma(dividend, b.reciprocal, b.nudge), kInteger);
    return halves::fma(halves::subtract(kInteger, rounded), divisor, a_in_significands);
  }

  template <class GetDivisor>
  static __device__ u32 word(u32 a, GetDivisor&& get_divisor) {
    const u32 low = two(in_significands(a ^ kTurn, 0), get_divisor(0));
    const u32 high = two(in_significands(a ^ kTurn, 1), get_divisor(1));
    return __byte_perm(low, high, 0x6420) ^ kTurn;
  }

  // 255 for each byte of the word that is not 0.
  static __device__ u32 not_zero(u32 word) {
    const u32 carried = ((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word;
    u32 mask;
    asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(mask) : "r"(carried));  // each byte's highest bit, eight times
    return mask;
  }

  // Results for divisors of 0 are arbitrary at first and then replaced with 0.
  template <int kWords>
  static __device__ void many(const u32 (&a)[kWords], const u32 (&b)[kWords], u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const u32 turned = b[i] ^ kTurn;
      out[i] =
          word(a[i],
               [turned](int pair) { return divisor_of(halves::subtract(in_significands(turned, pair), kOffset)); }) &
          not_zero(b[i]);
    }
  }
  template <int kWords>
  static __device__ void by_one(const u32 (&a)[kWords], const Divisor& divisor, u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = word(a[i], [&divisor](int) { return divisor; });
    }
  }
};

[[nodiscard]] __device__ inline u32 multiply_high(u32 a, u32 b) { return __umulhi(a, b); }
[[nodiscard]] __device__ inline u64 multiply_high(u64 a, u64 b) { return __umul64hi(a, b); }

// 32-bit and 64-bit integers: unsigned division of the magnitudes. Division by a divisor that is used for many
// dividends is replaced with a multiplication: with m = (2^n - 1) / b rounded down, a * m / 2^n is at most one below a
// / b.
template <bool kFloor, class T>
requires(!is_float<T> && sizeof(T) >= 4) struct Modulus<kFloor, T> {
  using Bits = bits_t<T>;
  static constexpr bool kSigned = std::is_signed_v<T>;

  struct Divisor {
    Bits magnitude;  // a divisor of 0 becomes 1, with remainder 0
    Bits multiplier;
    bool negative;
  };
  static __device__ Bits magnitude_of(Bits bits) { return kSigned && static_cast<T>(bits) < 0 ? Bits{0} - bits : bits; }
  static __device__ Divisor prepare(Bits b) {
    const Bits magnitude = b == 0 ? Bits{1} : magnitude_of(b);
    return {magnitude, static_cast<Bits>(~Bits{0} / magnitude), kSigned && static_cast<T>(b) < 0};
  }
  static __device__ Bits with_sign(Bits r, Bits magnitude, bool a_negative, bool b_negative) {
    if constexpr (!kSigned) {
      return r;
    } else if constexpr (kFloor) {
      const Bits upward = a_negative != b_negative && r != 0 ? magnitude - r : r;
      return b_negative ? Bits{0} - upward : upward;
    } else {
      return a_negative ? Bits{0} - r : r;
    }
  }
  static __device__ bool is_negative(Bits bits) { return kSigned && static_cast<T>(bits) < 0; }

  template <int kWords>
  static __device__ void many(const u32 (&a)[kWords], const u32 (&b)[kWords], u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = 0;
    }
#pragma unroll
    for (int i = 0; i < kWords * 4 / static_cast<int>(sizeof(T)); ++i) {
      const Bits dividend = extract<T>(a, i);
      const Bits divisor = extract<T>(b, i);
      const Bits magnitude = divisor == 0 ? Bits{1} : magnitude_of(divisor);
      const Bits r = magnitude_of(dividend) % magnitude;
      insert<T>(out, i, with_sign(r, magnitude, is_negative(dividend), is_negative(divisor)));
    }
  }
  template <int kWords>
  static __device__ void by_one(const u32 (&a)[kWords], const Divisor& divisor, u32 (&out)[kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = 0;
    }
#pragma unroll
    for (int i = 0; i < kWords * 4 / static_cast<int>(sizeof(T)); ++i) {
      const Bits dividend = extract<T>(a, i);
      const Bits magnitude = magnitude_of(dividend);
      const Bits low = magnitude - multiply_high(magnitude, divisor.multiplier) * divisor.magnitude;
      const Bits less = low - divisor.magnitude;
      const Bits r = low < less ? low : less;
      insert<T>(out, i, with_sign(r, divisor.magnitude, is_negative(dividend), divisor.negative));
    }
  }
};

}  // namespace anydml::cuda
