// SPDX-License-Identifier: MIT
// FLOAT32 and FLOAT16 in integers, exactly rounded on every device. All functions take and return bits; NaNs are quiet.
#ifndef ANYDML_SOFT_FLOAT_GLSL
#define ANYDML_SOFT_FLOAT_GLSL

const uint kNan32 = 0x7fc00000u;
const uint kInfinity32 = 0x7f800000u;
const uint kSign32 = 0x80000000u;

bool is_nan32(uint x) { return (x & 0x7fffffffu) > kInfinity32; }
bool is_infinite32(uint x) { return (x & 0x7fffffffu) == kInfinity32; }

uint highest_bit(uint64_t x) {  // x != 0
  const uint high = uint(x >> 32);
  return high != 0 ? 32 + uint(findMSB(high)) : uint(findMSB(uint(x)));
}

// Rounds m * 2^e to a format with this many fraction bits, whose least normal exponent is `least`. 0 < m < 2^63, and the
// lowest bit of m is also set if bits below it were. The result has no sign, and may be above infinity.
uint64_t round_bits(int e, uint64_t m, int fraction_bits, int least) {
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
  return exponent < least ? kept : kept + (uint64_t(exponent - least) << uint(fraction_bits));
}

uint pack32(uint sign, int e, uint64_t m) { return sign | uint(min(round_bits(e, m, 23, -126), uint64_t(kInfinity32))); }
uint pack16(uint sign, int e, uint64_t m) { return sign | uint(min(round_bits(e, m, 10, -14), uint64_t(0x7c00u))); }

// A finite number is m * 2^e.
uint64_t significand32(uint x) {
  return uint64_t((x & 0x7fffffu) | ((x & kInfinity32) != 0 ? 0x800000u : 0u));
}
int exponent32(uint x) { return max(int((x >> 23) & 255u), 1) - 150; }

uint add32(uint x, uint y) {
  if (is_nan32(x) || is_nan32(y)) {
    return kNan32;
  }
  if (is_infinite32(x)) {
    return is_infinite32(y) && x != y ? kNan32 : x;
  }
  if (is_infinite32(y)) {
    return y;
  }
  if ((x & 0x7fffffffu) < (y & 0x7fffffffu)) {
    const uint other = x;
    x = y;
    y = other;
  }
  const uint64_t m = significand32(x) << 38;
  uint64_t n = significand32(y) << 38;
  if (n == 0) {
    return m == 0 ? x & y : x;
  }
  const uint apart = uint(exponent32(x) - exponent32(y));
  if (apart > 62) {
    n = 1;
  } else if (apart != 0) {
    const uint64_t lost = n & ((uint64_t(1) << apart) - 1);
    n = (n >> apart) | uint64_t(lost != 0 ? 1 : 0);
  }
  const uint64_t total = ((x ^ y) & kSign32) == 0 ? m + n : m - n;
  return total == 0 ? 0u : pack32(x & kSign32, exponent32(x) - 38, total);
}

uint multiply32(uint x, uint y) {
  const uint sign = (x ^ y) & kSign32;
  const uint64_t m = significand32(x);
  const uint64_t n = significand32(y);
  if (is_nan32(x) || is_nan32(y)) {
    return kNan32;
  }
  if (is_infinite32(x) || is_infinite32(y)) {
    return m == 0 || n == 0 ? kNan32 : sign | kInfinity32;
  }
  return m == 0 || n == 0 ? sign : pack32(sign, exponent32(x) + exponent32(y), m * n);
}

// The quotient of a number and a positive integer that is a FLOAT32.
uint divide32(uint x, uint y) {
  const uint64_t m = significand32(x);
  if (is_nan32(x)) {
    return kNan32;
  }
  if (is_infinite32(x) || m == 0) {
    return x;
  }
  const uint up = 62 - highest_bit(m);
  const uint64_t n = significand32(y);
  const uint64_t quotient = (m << up) / n;  // more than 2^38
  const uint64_t rest = (m << up) - quotient * n;
  return pack32(x & kSign32, exponent32(x) - int(up) - exponent32(y), quotient | uint64_t(rest != 0 ? 1 : 0));
}

uint square_root32(uint x) {
  const uint64_t m = significand32(x);
  if (is_nan32(x) || ((x & kSign32) != 0 && m != 0)) {
    return kNan32;
  }
  if (is_infinite32(x) || m == 0) {
    return x;
  }
  int e = exponent32(x);
  int up = 61 - int(highest_bit(m));
  up -= ((e - up) & 1);  // the exponent becomes even
  const uint64_t scaled = m << uint(up);
  uint64_t root = 0;
  uint64_t rest = 0;
  for (int i = 31; i >= 0; --i) {
    rest = (rest << 2) | ((scaled >> uint(2 * i)) & 3);
    const uint64_t trial = (root << 2) | 1;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  // One more bit for what is left.
  return pack32(0u, (e - up) / 2 - 1, (root << 1) | uint64_t(rest != 0 ? 1 : 0));
}

// The FLOAT32 that is nearest to an integer below 2^63.
uint of_integer32(uint64_t x) { return x == 0 ? 0u : pack32(0u, 0, x); }

uint widen16(uint x) {
  const uint sign = (x & 0x8000u) << 16;
  const uint magnitude = x & 0x7fffu;
  if (magnitude > 0x7c00u) {
    return kNan32;
  }
  if (magnitude == 0x7c00u) {
    return sign | kInfinity32;
  }
  if (magnitude >= 0x400u) {
    return sign | ((magnitude << 13) + (112u << 23));
  }
  return magnitude == 0 ? sign : pack32(sign, -24, uint64_t(magnitude));
}

uint narrow16(uint x) {
  const uint sign = (x & kSign32) >> 16;
  if (is_nan32(x)) {
    return 0x7e00u;
  }
  if (is_infinite32(x)) {
    return sign | 0x7c00u;
  }
  const uint64_t m = significand32(x);
  return m == 0 ? sign : pack16(sign, exponent32(x), m);
}

#endif
