// SPDX-License-Identifier: MIT
// Loops over words, whose indices are found by fast division (fast_divisor.h).
#ifndef ANYDML_STRIDED_GLSL
#define ANYDML_STRIDED_GLSL

// WORD: the bytes of a word.
#if WORD == 1
#define Bits uint8_t
#elif WORD == 2
#define Bits uint16_t
#elif WORD == 4
#define Bits uint
#elif WORD == 8
#define Bits uint64_t
#else
#define Bits uvec4
#endif
layout(buffer_reference, scalar, buffer_reference_align = WORD) buffer Word { Bits bits; };

struct FastDivisor {
  uint divisor;
  uint multiplier;
  uint shift;
};

// Returns the quotient and sets the remainder.
uint divide(uint dividend, FastDivisor by, out uint remainder) {
  uint high = dividend;
  if (by.multiplier != 0) {
    uint low;
    umulExtended(dividend, by.multiplier, high, low);
    high >>= by.shift;
  }
  remainder = dividend - high * by.divisor;
  return high;
}

#endif
