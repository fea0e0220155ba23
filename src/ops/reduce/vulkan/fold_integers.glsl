// SPDX-License-Identifier: MIT
// Integers and the keys of extremes in 64 bits, and exact sums of FLOAT16 in units of 2^-24.

bool is_extreme() { return kFold >= kMax; }
bool is_maximum() { return kFold == kMax || kFold == kArgMax; }

// The flags of exact sums: which elements there were.
const uint kPlusInfinity = 1, kMinusInfinity = 2, kNotANumber = 4, kNotMinusZero = 8;
const uint64_t kMiddle = uint64_t(1) << 63;

Total neutral() {
  if (is_extreme()) {
    return Total(is_maximum() ? 0 : ~uint64_t(0), 0xffffffffu);
  }
  if (is_exact_half()) {
    return Total(0, 0);
  }
  return Total(kFold == kProduct ? uint64_t(1) : uint64_t(0), 0);
}

int64_t extended(uint64_t bits) {
  const uint unused_bits = 64 - 8 * kBytes;
  return int64_t(bits << unused_bits) >> unused_bits;
}

// Extremes are compared as unsigned keys. NaN is the extreme; +0 is above -0, or equal for the index of an extreme.
uint64_t key_of(uint64_t bits) {
  if (kKind == kUnsigned) {
    return bits;
  }
  if (kKind == kSigned) {
    return uint64_t(extended(bits)) ^ kMiddle;
  }
  const uint64_t sign = uint64_t(1) << (8 * kBytes - 1);
  const uint64_t magnitude = bits & (sign - 1);
  const uint64_t infinity = kBytes == 2 ? uint64_t(0x7c00u) : kBytes == 4 ? uint64_t(0x7f800000u) : uint64_t(0x7ff) << 52;
  if (magnitude > infinity) {
    return is_maximum() ? ~uint64_t(0) : uint64_t(0);
  }
  if ((bits & sign) == 0) {
    return kMiddle + magnitude;
  }
  return is_arg() ? kMiddle - magnitude : kMiddle - 1 - magnitude;
}

uint64_t element_of_key(uint64_t key) {
  if (kKind == kUnsigned) {
    return key;
  }
  if (kKind == kSigned) {
    return key ^ kMiddle;
  }
  if (key == (is_maximum() ? ~uint64_t(0) : uint64_t(0))) {
    return kBytes == 2 ? uint64_t(0x7e00u) : kBytes == 4 ? uint64_t(0x7fc00000u) : uint64_t(0x7ff8) << 48;
  }
  return key >= kMiddle ? key - kMiddle : (kMiddle - 1 - key) | uint64_t(1) << (8 * kBytes - 1);
}

// element: its number among the reduced ones.
Total lift(uint64_t bits, uint element, uint count) {
  if (is_extreme()) {
    return Total(key_of(bits), kTakesLast ? count - 1 - element : element);
  }
  if (is_exact_half()) {
    const uint x = uint(bits) & (kFold == kAbsoluteSum ? 0x7fffu : 0xffffu);
    const uint magnitude = x & 0x7fffu;
    const bool is_negative = x >= 0x8000u;
    if (magnitude >= 0x7c00u) {
      return Total(0, magnitude > 0x7c00u ? kNotANumber : is_negative ? kMinusInfinity : kPlusInfinity);
    }
    const uint exponent = magnitude >> 10;
    const uint64_t units =
        exponent == 0 ? uint64_t(magnitude) : uint64_t((magnitude & 0x3ffu) | 0x400u) << (exponent - 1);
    return Total(is_negative ? uint64_t(0) - units : units, x == 0x8000u ? 0 : kNotMinusZero);
  }
  uint64_t x = kKind == kSigned ? uint64_t(extended(bits)) : bits;
  x = kFold == kAbsoluteSum && kKind == kSigned && int64_t(x) < 0 ? uint64_t(0) - x : x;
  return Total(kFold == kSquareSum ? x * x : x, 0);
}

Total combine(Total a, Total b) {
  if (is_arg()) {
    const bool beyond = is_maximum() ? b.bits > a.bits : b.bits < a.bits;
    if (beyond || (a.bits == b.bits && b.more < a.more)) {
      return b;
    }
    return a;
  }
  if (is_extreme()) {
    return Total(is_maximum() ? max(a.bits, b.bits) : min(a.bits, b.bits), 0);
  }
  if (is_exact_half()) {
    return Total(a.bits + b.bits, a.more | b.more);
  }
  return Total(kFold == kProduct ? a.bits * b.bits : a.bits + b.bits, 0);
}

uint highest_bit(uint64_t x) {  // x != 0
  const uint high = uint(x >> 32);
  return high != 0 ? 32 + uint(findMSB(high)) : uint(findMSB(uint(x)));
}

// Rounds m * 2^e to FLOAT16. 0 < m < 2^63, and the lowest bit of m is also set if bits below it were. The result has no
// sign.
uint round_half(int e, uint64_t m) {
  const int fraction_bits = 10;
  const int least = -14;  // of the exponents of normal numbers
  const int top = int(highest_bit(m));
  const int exponent = e + top;
  const int below = exponent < least ? least - exponent : 0;
  const int dropped = top - fraction_bits + below;
  uint64_t kept;
  if (dropped <= 0) {
    kept = m << uint(-dropped);
  } else if (dropped > 63) {
    kept = 0;
  } else {
    kept = m >> uint(dropped);
    const uint64_t rest = m & ((uint64_t(1) << uint(dropped)) - 1);
    const uint64_t half_unit = uint64_t(1) << uint(dropped - 1);
    if (rest > half_unit || (rest == half_unit && (kept & 1) != 0)) {
      kept += 1;
    }
  }
  // The leading bit of a normal number adds 1 to its exponent.
  kept += exponent < least ? uint64_t(0) : uint64_t(exponent - least) << uint(fraction_bits);
  return uint(min(kept, uint64_t(0x7c00u)));
}

// An exact sum of FLOAT16 in units of 2^-24, divided by a count and rounded once. high and low are a signed number.
uint64_t element_of_units(int64_t high, uint64_t low, uint flags, uint count) {
  if ((flags & kNotANumber) != 0 || (flags & (kPlusInfinity | kMinusInfinity)) == (kPlusInfinity | kMinusInfinity)) {
    return uint64_t(0x7e00u);
  }
  if ((flags & (kPlusInfinity | kMinusInfinity)) != 0) {
    return uint64_t((flags & kMinusInfinity) != 0 ? 0xfc00u : 0x7c00u);
  }
  const bool is_negative = high < 0;
  if (is_negative) {
    low = uint64_t(0) - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const uint sign = is_negative || (flags & kNotMinusZero) == 0 ? 0x8000u : 0u;
  // Two bits more than the last place of any FLOAT16, the lower of which is also set if any bit below it is.
  const uint64_t top = (uint64_t(high) << 2) | (low >> 62);
  low <<= 2;
  const uint64_t rest = top % count;
  if (top / count != 0) {
    return uint64_t(sign | 0x7c00u);  // above 2^38
  }
  const uint64_t upper = (rest << 32) | (low >> 32);
  const uint64_t lower = ((upper % count) << 32) | (low & 0xffffffffUL);
  uint64_t quotient = ((upper / count) << 32) | (lower / count);
  const bool is_exact = lower % count == 0;
  if (quotient >= (uint64_t(1) << 62)) {
    return uint64_t(sign | 0x7c00u);
  }
  quotient |= uint64_t(is_exact ? 0 : 1);
  return uint64_t(quotient == 0 ? sign : sign | round_half(-26, quotient));
}

// The bits of the result for the combination of all elements, except for exact sums of several blocks.
uint64_t result_of(Total total, uint count) {
  if (is_arg()) {
    return uint64_t(kTakesLast ? count - 1 - total.more : total.more);
  }
  return is_extreme() ? element_of_key(total.bits) : total.bits;
}
uint64_t result_of_block(Total total, uint count) {
  return is_exact_half() ? element_of_units(int64_t(total.bits) >> 63, total.bits, total.more,
                                            kFinish == kAverage ? count : 1)
                         : result_of(total, count);
}
