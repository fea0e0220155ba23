// SPDX-License-Identifier: MIT
// FLOAT32 or FLOAT64 as a class over its bits, for devices that supply their own arithmetic (base/primitives.h).
#pragma once

#include <type_traits>

#include "base/integers.h"

namespace anydml {

// Primitives provides functions over Bits, and Literal, the C++ floating-point type whose literals convert to this
// class.
template <class Primitives>
struct SuppliedFloat {
  using Bits = typename Primitives::Bits;
  using Literal = typename Primitives::Literal;

  Bits bits;

  SuppliedFloat() = default;
  [[nodiscard]] static constexpr SuppliedFloat of_bits(Bits bits) {
    SuppliedFloat number{};
    number.bits = bits;
    return number;
  }

  // Converts a literal. The compiler computes its bits, so the device need not support the type.
  template <class Number>
  requires std::is_same_v<Number, Literal>
  consteval SuppliedFloat(Number literal) : bits(__builtin_bit_cast(Bits, literal)) {}  // NOLINT: like the literal
  template <class Number>
  requires(!std::is_same_v<Number, Literal> &&
           (std::is_same_v<Number, float> ||
            std::is_same_v<Number, double>)) consteval explicit SuppliedFloat(Number literal)
      : bits(__builtin_bit_cast(Bits, static_cast<Literal>(literal))) {}

  // Conversions are rounded once to nearest even. Conversions to integers truncate, and the number must be in the
  // integer's range.
  template <class Integer>
  requires std::is_integral_v<Integer>
  constexpr explicit SuppliedFloat(Integer value) {
    if (__builtin_is_constant_evaluated() || __builtin_constant_p(value)) {  // the compiler can also compute this
      bits = __builtin_bit_cast(Bits, static_cast<Literal>(value));
    } else if constexpr (sizeof(Integer) == 8) {
      bits = std::is_signed_v<Integer> ? Primitives::of_i64(static_cast<i64>(value))
                                       : Primitives::of_u64(static_cast<u64>(value));
    } else if constexpr (std::is_same_v<Integer, u32>) {
      bits = Primitives::of_u32(value);
    } else {
      bits = Primitives::of_i32(static_cast<i32>(value));
    }
  }
  template <class Other>
  requires(!std::is_same_v<Other, Primitives>) constexpr explicit SuppliedFloat(SuppliedFloat<Other> other)
      : bits(Primitives::of_float(other.bits)) {}
  template <class Integer>
  requires std::is_integral_v<Integer>
  [[nodiscard]] constexpr explicit operator Integer() const {
    if constexpr (sizeof(Integer) == 8) {
      return std::is_signed_v<Integer> ? static_cast<Integer>(Primitives::to_i64(bits))
                                       : static_cast<Integer>(Primitives::to_u64(bits));
    } else if constexpr (std::is_same_v<Integer, u32>) {
      return Primitives::to_u32(bits);
    } else {
      return static_cast<Integer>(Primitives::to_i32(bits));
    }
  }

  [[nodiscard]] friend constexpr SuppliedFloat operator-(SuppliedFloat x) {
    constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
    return of_bits(x.bits ^ kSign);
  }
  [[nodiscard]] friend constexpr SuppliedFloat operator+(SuppliedFloat a, SuppliedFloat b) {
    return of_bits(Primitives::add(a.bits, b.bits));
  }
  [[nodiscard]] friend constexpr SuppliedFloat operator-(SuppliedFloat a, SuppliedFloat b) {
    return of_bits(Primitives::subtract(a.bits, b.bits));
  }
  [[nodiscard]] friend constexpr SuppliedFloat operator*(SuppliedFloat a, SuppliedFloat b) {
    return of_bits(Primitives::multiply(a.bits, b.bits));
  }
  [[nodiscard]] friend constexpr SuppliedFloat operator/(SuppliedFloat a, SuppliedFloat b) {
    return of_bits(Primitives::divide(a.bits, b.bits));
  }
  constexpr SuppliedFloat& operator+=(SuppliedFloat other) { return *this = *this + other; }
  constexpr SuppliedFloat& operator-=(SuppliedFloat other) { return *this = *this - other; }
  constexpr SuppliedFloat& operator*=(SuppliedFloat other) { return *this = *this * other; }
  constexpr SuppliedFloat& operator/=(SuppliedFloat other) { return *this = *this / other; }

  [[nodiscard]] friend constexpr bool operator==(SuppliedFloat a, SuppliedFloat b) {
    return Primitives::equal(a.bits, b.bits);
  }
  [[nodiscard]] friend constexpr bool operator<(SuppliedFloat a, SuppliedFloat b) {
    return Primitives::less(a.bits, b.bits);
  }
  [[nodiscard]] friend constexpr bool operator<=(SuppliedFloat a, SuppliedFloat b) {
    return Primitives::less_or_equal(a.bits, b.bits);
  }
  [[nodiscard]] friend constexpr bool operator>(SuppliedFloat a, SuppliedFloat b) { return b < a; }
  [[nodiscard]] friend constexpr bool operator>=(SuppliedFloat a, SuppliedFloat b) { return b <= a; }
};

}  // namespace anydml
