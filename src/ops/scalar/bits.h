// SPDX-License-Identifier: MIT
// ELEMENT_WISE_BIT_AND, OR, XOR, NOT and COUNT, for the bits of any type; ELEMENT_WISE_BIT_SHIFT_LEFT and RIGHT for
// unsigned integers, where shifting by the width or more yields 0.
#pragma once

#include "base/float_bits.h"

namespace anydml {

// The bits of an element as an unsigned integer, and back.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr auto bits_in(T x) {
  if constexpr (is_float<T>) {
    return to_bits(x);
  } else {
    return static_cast<std::make_unsigned_t<T>>(x);
  }
}
template <class T, class Bits>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T of_bits(Bits bits) {
  if constexpr (is_float<T>) {
    return from_bits<T>(static_cast<float_bits_t<T>>(bits));
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
struct BitAnd {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return of_bits<T>(bits_in(a) & bits_in(b));
  }
};

template <class T>
struct BitOr {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return of_bits<T>(bits_in(a) | bits_in(b));
  }
};

template <class T>
struct BitXor {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return of_bits<T>(bits_in(a) ^ bits_in(b));
  }
};

template <class T>
struct BitNot {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return of_bits<T>(~bits_in(x)); }
};

template <class T, class Count>
struct BitCount {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Count operator()(T x) const
      requires(std::is_same_v<Count, u8> || std::is_same_v<Count, u32>) {
    // Counts the bits in pairs, then in nibbles, then in bytes. Compilers can vectorize this even if the CPU's popcount
    // instruction is scalar. It uses no more bits than necessary, so that a vector holds more elements.
    using Wide = std::conditional_t<sizeof(T) == 8, u64, u32>;
    Wide bits = bits_in(x);
    bits -= bits >> 1 & static_cast<Wide>(0x5555555555555555U);
    bits = (bits & static_cast<Wide>(0x3333333333333333U)) + (bits >> 2 & static_cast<Wide>(0x3333333333333333U));
    bits = (bits + (bits >> 4)) & static_cast<Wide>(0x0f0f0f0f0f0f0f0fU);
    // Compilers recognize the multiplication as a popcount. That is a vector instruction for bytes but a scalar
    // instruction for wider elements, so the counts of their bytes are added without a multiplication.
    if constexpr (sizeof(T) == 1) {
      return static_cast<Count>(static_cast<u32>(bits * 0x01010101U) >> 24);
    }
    bits += bits >> 8;
    bits += bits >> 16;
    if constexpr (sizeof(Wide) == 8) {
      bits += bits >> 32;
    }
    return static_cast<Count>(bits & 0x7f);
  }
};

template <class T>
struct BitShiftLeft {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const requires std::is_unsigned_v<T> {
    constexpr T kBits = sizeof(T) * 8;
    return b < kBits ? static_cast<T>(wrapping_t<T>{a} << (b % kBits)) : T{0};
  }
};

template <class T>
struct BitShiftRight {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const requires std::is_unsigned_v<T> {
    constexpr T kBits = sizeof(T) * 8;
    return b < kBits ? static_cast<T>(a >> (b % kBits)) : T{0};
  }
};

}  // namespace anydml
