// SPDX-License-Identifier: MIT
// FLOAT32 and FLOAT64 arithmetic implemented with integers, rounded once to nearest even, with subnormals, signed zeros
// and NaN. This file implements every primitive that a device may supply (base/primitives.h). A device uses the
// versions here if it has no exact operation of its own. No integer is wider than 64 bits, the maximum on GPUs.
#pragma once

#include <type_traits>

#include "base/float_formats.h"

namespace anydml {

// The properties of a machine, and its integer operations.
struct IntegerMachine {
  // Whether functions should minimize the number of operations or the length of the dependency chain
  // (ops/scalar/primitives.h).
  static constexpr bool kOnGpu = false;
  static constexpr bool kSubnormalsAreSlow = false;
  // Whether the machine can convert between the bits of FLOAT16 and FLOAT32. If not, the two functions are never
  // called.
  static constexpr bool kConvertsFloat16 = false;
  static u32 float32_of_float16(u16 bits);
  static u16 float16_of_float32(u32 bits);

  [[nodiscard]] static constexpr int leading_zeros(u64 value) {  // value must not be 0
    int zeros = 0;
    for (int half = 32; half != 0; half >>= 1) {
      const bool above = (value >> (64 - half)) == 0;
      zeros += above ? half : 0;
      value <<= above ? half : 0;
    }
    return zeros;
  }
};

// A 128-bit unsigned integer. Shift counts are 0 to 127.
struct TwoWords {
  u64 high;
  u64 low;

  constexpr TwoWords() = default;
  constexpr explicit TwoWords(u64 value) : high(0), low(value) {}
  constexpr TwoWords(u64 upper, u64 lower) : high(upper), low(lower) {}

  [[nodiscard]] friend constexpr TwoWords operator<<(TwoWords a, int by) {
    if (by >= 64) {
      return {a.low << (by - 64), 0};
    }
    return by == 0 ? a : TwoWords{(a.high << by) | (a.low >> (64 - by)), a.low << by};
  }
  [[nodiscard]] friend constexpr TwoWords operator>>(TwoWords a, int by) {
    if (by >= 64) {
      return TwoWords{a.high >> (by - 64)};
    }
    return by == 0 ? a : TwoWords{a.high >> by, (a.low >> by) | (a.high << (64 - by))};
  }
  [[nodiscard]] friend constexpr TwoWords operator|(TwoWords a, TwoWords b) { return {a.high | b.high, a.low | b.low}; }
  [[nodiscard]] friend constexpr TwoWords operator+(TwoWords a, TwoWords b) {
    const u64 low = a.low + b.low;
    return {a.high + b.high + static_cast<u64>(low < a.low), low};
  }
  [[nodiscard]] friend constexpr TwoWords operator-(TwoWords a, TwoWords b) {
    return {a.high - b.high - static_cast<u64>(a.low < b.low), a.low - b.low};
  }
  [[nodiscard]] friend constexpr bool operator==(TwoWords a, TwoWords b) {
    return ((a.high ^ b.high) | (a.low ^ b.low)) == 0;
  }
  [[nodiscard]] friend constexpr bool operator<(TwoWords a, TwoWords b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  [[nodiscard]] constexpr explicit operator u64() const { return low; }
};

template <class Format, class Machine>
struct IntegerFloat {
  using Bits = typename Format::Bits;
  using Literal = typename Format::Literal;

  [[nodiscard]] static constexpr Bits add(Bits a, Bits b) {
    if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_infinite(b) && a != b)) {
      return F::kQuietNan;
    }
    if (is_infinite(a) || is_infinite(b)) {
      return is_infinite(a) ? a : b;
    }
    return sum({sign(a), exponent(a), Twice{significand(a)}}, {sign(b), exponent(b), Twice{significand(b)}});
  }
  [[nodiscard]] static constexpr Bits subtract(Bits a, Bits b) { return add(a, b ^ F::kSign); }

  [[nodiscard]] static constexpr Bits multiply(Bits a, Bits b) {
    const Bits of_both = sign(a ^ b);
    if (is_nan(a) || is_nan(b)) {
      return F::kQuietNan;
    }
    if (is_infinite(a) || is_infinite(b)) {
      return is_zero(a) || is_zero(b) ? F::kQuietNan : of_both | F::kInfinity;
    }
    return rounded({of_both, exponent(a) + exponent(b), product(significand(a), significand(b))});
  }

  [[nodiscard]] static constexpr Bits divide(Bits a, Bits b) {
    const Bits of_both = sign(a ^ b);
    if (is_nan(a) || is_nan(b) || (is_infinite(a) && is_infinite(b)) || (is_zero(a) && is_zero(b))) {
      return F::kQuietNan;
    }
    if (is_infinite(a) || is_zero(b)) {
      return of_both | F::kInfinity;
    }
    if (is_infinite(b) || is_zero(a)) {
      return of_both;
    }
    const Normal above = normal(a);
    const Normal below = normal(b);
    // Long division. Each step computes the maximum number of quotient bits that fit into 64 bits. The quotient has at
    // least three more fraction bits than the result, followed by a sticky bit, which is set if the remainder is
    // nonzero.
    constexpr int kRoom = 63 - F::kFractionBits;
    constexpr int kSteps = (F::kFractionBits + 3 + kRoom - 1) / kRoom;
    u64 quotient = above.significand / below.significand;
    u64 rest = above.significand % below.significand;
    for (int i = 0; i < kSteps; ++i) {
      rest <<= kRoom;
      quotient = (quotient << kRoom) | (rest / below.significand);
      rest %= below.significand;
    }
    quotient = (quotient << 1) | static_cast<u64>(rest != 0);
    return rounded({of_both, above.exponent - below.exponent - kSteps * kRoom - 1, Twice{quotient}});
  }

  // a * b + c, rounded once.
  [[nodiscard]] static constexpr Bits fused(Bits a, Bits b, Bits c) {
    const Bits of_both = sign(a ^ b);
    if (is_nan(a) || is_nan(b) || is_nan(c)) {
      return F::kQuietNan;
    }
    if (is_infinite(a) || is_infinite(b)) {
      const bool without = is_zero(a) || is_zero(b) || (is_infinite(c) && sign(c) != of_both);
      return without ? F::kQuietNan : of_both | F::kInfinity;
    }
    if (is_infinite(c)) {
      return c;
    }
    return sum({of_both, exponent(a) + exponent(b), product(significand(a), significand(b))},
               {sign(c), exponent(c), Twice{significand(c)}});
  }

  [[nodiscard]] static constexpr Bits square_root(Bits x) {
    if (is_nan(x) || is_zero(x)) {
      return is_zero(x) ? x : F::kQuietNan;
    }
    if (sign(x) != 0 || is_infinite(x)) {
      return sign(x) != 0 ? F::kQuietNan : x;
    }
    const Normal of = normal(x);
    const int odd = of.exponent & 1;
    // Each step consumes two bits of the number and produces one bit of the root, which has three more bits than the
    // result.
    constexpr int kWidth = (F::kFractionBits + 3) / 2 * 2;
    constexpr int kDigits = F::kFractionBits + 4;
    u64 digits = static_cast<u64>(of.significand) << (64 - kWidth + odd);
    u64 root = 0;
    u64 rest = 0;
    for (int i = 0; i < kDigits; ++i) {
      rest = (rest << 2) | (digits >> 62);
      digits <<= 2;
      const u64 trial = (root << 2) | 1;
      const bool fits = rest >= trial;
      rest -= fits ? trial : 0;
      root = (root << 1) | static_cast<u64>(fits);
    }
    root = (root << 1) | static_cast<u64>(rest != 0);
    return rounded({0, (of.exponent - odd) / 2 - (kDigits - kWidth / 2) - 1, Twice{root}});
  }

  // Comparisons. Any comparison with NaN is false.
  [[nodiscard]] static constexpr bool equal(Bits a, Bits b) {
    return !is_nan(a) && !is_nan(b) && (a == b || is_zero(a | b));
  }
  [[nodiscard]] static constexpr bool less(Bits a, Bits b) { return !is_nan(a) && !is_nan(b) && order(a) < order(b); }
  [[nodiscard]] static constexpr bool less_or_equal(Bits a, Bits b) {
    return !is_nan(a) && !is_nan(b) && order(a) <= order(b);
  }

  // Rounding to integers, with the result as a float. Zeros, and numbers that round to zero, keep their sign.
  [[nodiscard]] static constexpr Bits round_down(Bits x) {
    return to_whole(x, sign(x) != 0 ? Whole::away_from_zero : Whole::towards_zero);
  }
  [[nodiscard]] static constexpr Bits round_up(Bits x) {
    return to_whole(x, sign(x) != 0 ? Whole::towards_zero : Whole::away_from_zero);
  }
  [[nodiscard]] static constexpr Bits round_towards_zero(Bits x) { return to_whole(x, Whole::towards_zero); }
  [[nodiscard]] static constexpr Bits round_away(Bits x) { return to_whole(x, Whole::nearest_half_away); }
  [[nodiscard]] static constexpr Bits round_even(Bits x) { return to_whole(x, Whole::nearest_half_to_even); }

  // Conversions from integers and from the other format, rounded once.
  [[nodiscard]] static constexpr Bits of_u64(u64 value) { return rounded({0, 0, Twice{value}}); }
  [[nodiscard]] static constexpr Bits of_i64(i64 value) {
    const bool negative = value < 0;
    return (negative ? F::kSign : Bits{0}) | of_u64(negative ? u64{0} - static_cast<u64>(value) : u64(value));
  }
  [[nodiscard]] static constexpr Bits of_u32(u32 value) { return of_u64(value); }
  [[nodiscard]] static constexpr Bits of_i32(i32 value) { return of_i64(value); }
  using OtherFormat = std::conditional_t<sizeof(Bits) == 4, Float64Format, Float32Format>;
  [[nodiscard]] static constexpr Bits of_float(typename OtherFormat::Bits other) {
    using Other = IntegerFloat<OtherFormat, Machine>;
    using OtherParts = FormatParts<OtherFormat>;
    const Bits of_other = Other::sign(other) != 0 ? F::kSign : Bits{0};
    if ((other & OtherParts::kMagnitude) >= OtherParts::kInfinity) {
      return Other::is_nan(other) ? F::kQuietNan : of_other | F::kInfinity;
    }
    return rounded({of_other, Other::exponent(other), Twice{Other::significand(other)}});
  }
  // Conversions to integers round toward 0. The number must be in the integer's range.
  [[nodiscard]] static constexpr u64 to_u64(Bits x) {
    const int by = exponent(x);
    const u64 whole = significand(x);
    return by >= 0 ? whole << (by & 63) : by > -64 ? whole >> -by : 0;
  }
  [[nodiscard]] static constexpr i64 to_i64(Bits x) {
    const u64 whole = to_u64(x);
    return static_cast<i64>(sign(x) != 0 ? u64{0} - whole : whole);
  }
  [[nodiscard]] static constexpr u32 to_u32(Bits x) { return static_cast<u32>(to_u64(x)); }
  [[nodiscard]] static constexpr i32 to_i32(Bits x) { return static_cast<i32>(to_i64(x)); }

  // Estimates, for which a machine may have cheaper instructions. ops/scalar/primitives.h specifies their accuracy.
  [[nodiscard]] static constexpr Bits inverse_estimate(Bits x) { return divide(kOne, x) & kUpperHalf; }
  [[nodiscard]] static constexpr Bits inverse_root_estimate(Bits x) {
    return divide(kOne, square_root(x)) & kUpperHalf;
  }
  [[nodiscard]] static constexpr Bits near_quotient(Bits a, Bits b) { return divide(a, b); }
  static constexpr bool kHasNearPowerOfTwo = false;
  static Bits near_power_of_two(Bits x);  // called only if kHasNearPowerOfTwo

 private:
  template <class, class>
  friend struct IntegerFloat;
  using F = FormatParts<Format>;
  // Wide enough for the product of two significands and a few extra bits.
  using Twice = std::conditional_t<sizeof(Bits) == 4, u64, TwoWords>;
  static constexpr int kTwiceBits = sizeof(Twice) * 8;
  static constexpr Bits kOne = static_cast<Bits>(F::kBias) << F::kFractionBits;
  static constexpr Bits kUpperHalf = static_cast<Bits>(~Bits{0} << (sizeof(Bits) * 4));

  // A number's sign and magnitude: |x| = significand * 2^exponent.
  struct Exact {
    Bits sign;
    int exponent;
    Twice significand;
  };
  // The significand's leading one is at the position of the hidden bit.
  struct Normal {
    int exponent;
    u64 significand;
  };

  [[nodiscard]] static constexpr bool is_nan(Bits x) { return (x & F::kMagnitude) > F::kInfinity; }
  [[nodiscard]] static constexpr bool is_infinite(Bits x) { return (x & F::kMagnitude) == F::kInfinity; }
  [[nodiscard]] static constexpr bool is_zero(Bits x) { return (x & F::kMagnitude) == 0; }
  [[nodiscard]] static constexpr Bits sign(Bits x) { return x & F::kSign; }
  [[nodiscard]] static constexpr int exponent(Bits x) {
    const int biased = static_cast<int>((x & F::kMagnitude) >> F::kFractionBits);
    return (biased == 0 ? 1 : biased) - F::kBias - F::kFractionBits;
  }
  [[nodiscard]] static constexpr Bits significand(Bits x) {
    return (x & F::kFraction) | ((x & F::kMagnitude) >= F::kHidden ? F::kHidden : Bits{0});
  }
  [[nodiscard]] static constexpr Normal normal(Bits x) {
    const u64 whole = significand(x);
    const int shift = Machine::leading_zeros(whole) - (63 - F::kFractionBits);
    return {exponent(x) - shift, whole << shift};
  }
  // Maps a number to an integer that sorts in the same order. Both zeros map to 0.
  [[nodiscard]] static constexpr auto order(Bits x) {
    using Signed = std::conditional_t<sizeof(Bits) == 4, i32, i64>;
    const auto magnitude = static_cast<Signed>(x & F::kMagnitude);
    return sign(x) != 0 ? static_cast<Signed>(-magnitude) : magnitude;
  }

  [[nodiscard]] static constexpr int zeros_before(u64 value) { return Machine::leading_zeros(value); }
  [[nodiscard]] static constexpr int zeros_before(TwoWords value) {
    return value.high != 0 ? Machine::leading_zeros(value.high) : 64 + Machine::leading_zeros(value.low);
  }
  [[nodiscard]] static constexpr u64 product(u32 a, u32 b) { return u64{a} * b; }
  [[nodiscard]] static constexpr TwoWords product(u64 a, u64 b) {
    constexpr u64 kLow = 0xffffffff;
    const u64 low = (a & kLow) * (b & kLow);
    const u64 first = (a >> 32) * (b & kLow) + (low >> 32);
    const u64 second = (a & kLow) * (b >> 32) + (first & kLow);
    return {(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32), (second << 32) | (low & kLow)};
  }

  // The sum of two numbers. If the smaller number loses bits when it is shifted, its last bit is set (a sticky bit).
  // That bit is far below the last bit of the result, because at most one leading bit cancels in this case.
  [[nodiscard]] static constexpr Bits sum(Exact a, Exact b) {
    if (a.significand == Twice{0} || b.significand == Twice{0}) {
      if (a.significand == b.significand) {
        return a.sign & b.sign;
      }
      return rounded(a.significand == Twice{0} ? b : a);
    }
    a = led(a);
    b = led(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
      const Exact lesser = a;
      a = b;
      b = lesser;
    }
    const int gap = a.exponent - b.exponent;
    Twice beside{1};
    if (gap < kTwiceBits) {
      beside = b.significand >> gap;
      beside = beside | Twice{static_cast<u64>(!((beside << gap) == b.significand))};
    }
    a.significand = a.sign == b.sign ? a.significand + beside : a.significand - beside;
    return a.significand == Twice{0} ? Bits{0} : rounded(a);
  }
  // Normalizes the significand so that its leading one is just below the highest bit.
  [[nodiscard]] static constexpr Exact led(Exact x) {
    const int shift = zeros_before(x.significand) - 1;
    return {x.sign, x.exponent - shift, x.significand << shift};
  }

  [[nodiscard]] static constexpr Bits rounded(Exact x) {
    if (x.significand == Twice{0}) {
      return x.sign;
    }
    const int zeros = zeros_before(x.significand);
    const Twice led = x.significand << zeros;
    const int top = x.exponent - zeros + kTwiceBits - 1;  // the exponent of the leading one
    constexpr int kMin = 1 - F::kBias;
    const int drop = kTwiceBits - (F::kFractionBits + 1) + (top < kMin ? kMin - top : 0);
    if (drop > kTwiceBits || top > F::kBias) {
      return drop > kTwiceBits ? x.sign : x.sign | F::kInfinity;
    }
    const Bits kept = drop == kTwiceBits ? Bits{0} : static_cast<Bits>(static_cast<u64>(led >> drop));
    const Twice rest = drop == kTwiceBits ? led : led << (kTwiceBits - drop);
    const Twice half = Twice{1} << (kTwiceBits - 1);
    const bool up = half < rest || (half == rest && (kept & 1) != 0);
    // The exponent field is one too small here. Adding the hidden bit corrects it, and a carry from rounding increments
    // it.
    const Bits before = top < kMin ? Bits{0} : static_cast<Bits>(top + F::kBias - 1) << F::kFractionBits;
    return x.sign | (before + kept + (up ? 1 : 0));
  }

  enum class Whole { towards_zero, away_from_zero, nearest_half_away, nearest_half_to_even };
  [[nodiscard]] static constexpr Bits to_whole(Bits x, Whole way) {
    const Bits magnitude = x & F::kMagnitude;
    const int fraction_bits = -exponent(x);  // the number of bits after the binary point
    if (fraction_bits <= 0 || magnitude == 0) {
      return is_nan(x) ? F::kQuietNan : x;
    }
    if (fraction_bits > F::kFractionBits) {  // below 1: the result is 0 or 1
      const bool half = fraction_bits == F::kFractionBits + 1;
      const bool up = way == Whole::away_from_zero || (way == Whole::nearest_half_away && half) ||
                      (way == Whole::nearest_half_to_even && half && (x & F::kFraction) != 0);
      return sign(x) | (up ? kOne : Bits{0});
    }
    const Bits mask = (Bits{1} << fraction_bits) - 1;
    const Bits half = Bits{1} << (fraction_bits - 1);
    const Bits odd = (magnitude >> fraction_bits) & 1;
    const Bits more = way == Whole::towards_zero        ? Bits{0}
                      : way == Whole::away_from_zero    ? mask
                      : way == Whole::nearest_half_away ? half
                                                        : half - 1 + odd;
    return sign(x) | ((magnitude + more) & ~mask);
  }
};

}  // namespace anydml
