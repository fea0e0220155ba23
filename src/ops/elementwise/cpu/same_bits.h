// SPDX-License-Identifier: MIT
// Identifies definitions that map the same input bits to the same output bits, so that several variants share one
// kernel: operations that only move bits depend on the width alone, and wrapping integer arithmetic does not depend on
// signedness. Also contains alternative formulas that give the same bits and that compilers can vectorize. The tests
// compare the kernels with the definitions themselves.
#pragma once

#include "ops/scalar/scalars.h"

namespace anydml {

template <class T>
struct BitsOf {
  using type = std::make_unsigned_t<T>;
};
template <class T>
requires is_float<T>
struct BitsOf<T> {
  using type = float_bits_t<T>;
};
template <class T>
using bits_t = typename BitsOf<T>::type;

// Divides integers of up to 16 bits as FLOAT32, and 32-bit integers as FLOAT64. A quotient of two integers that is not
// itself an integer differs from the next integer by at least 1 / b. That exceeds the rounding error of a / b as long
// as a has fewer bits than the float's significand.
template <class T>
struct DivideAsFloats {
  using Float = std::conditional_t<sizeof(T) <= 2, f32, f64>;
  using Whole = std::conditional_t<sizeof(T) <= 2, i32, i64>;  // MIN / -1 does not overflow it

  [[nodiscard]] constexpr T operator()(T a, T b) const {
    const Float quotient = static_cast<Float>(a) / static_cast<Float>(b == 0 ? T{1} : b);
    const T result = static_cast<T>(static_cast<Whole>(quotient));
    return b == 0 ? T{0} : result;
  }
};

template <class Scalar>
struct SameBitsAs {
  using type = Scalar;
};
template <class T>
struct SameBitsAs<Identity<T>> {
  using type = Identity<bits_t<T>>;
};
template <class T>
struct SameBitsAs<If<T>> {
  using type = If<bits_t<T>>;
};
template <class T>
requires std::is_integral_v<T>
struct SameBitsAs<Add<T>> {
  using type = Add<bits_t<T>>;
};
template <class T>
requires std::is_integral_v<T>
struct SameBitsAs<Subtract<T>> {
  using type = Subtract<bits_t<T>>;
};
template <class T>
requires std::is_integral_v<T>
struct SameBitsAs<Multiply<T>> {
  using type = Multiply<bits_t<T>>;
};
template <class T>
requires(std::is_integral_v<T> && sizeof(T) <= 4) struct SameBitsAs<Divide<T>> {
  using type = DivideAsFloats<T>;
};
template <class T>
requires std::is_integral_v<T>
struct SameBitsAs<Negate<T>> {
  using type = Negate<bits_t<T>>;
};
template <class T>
requires std::is_unsigned_v<T>
struct SameBitsAs<Abs<T>> {
  using type = Identity<T>;
};
template <class T, class Truth>
requires std::is_integral_v<T>
struct SameBitsAs<LogicalEquals<T, Truth>> {
  using type = LogicalEquals<bits_t<T>, Truth>;
};
template <class T>
struct SameBitsAs<BitAnd<T>> {
  using type = BitAnd<bits_t<T>>;
};
template <class T>
struct SameBitsAs<BitOr<T>> {
  using type = BitOr<bits_t<T>>;
};
template <class T>
struct SameBitsAs<BitXor<T>> {
  using type = BitXor<bits_t<T>>;
};
template <class T>
struct SameBitsAs<BitNot<T>> {
  using type = BitNot<bits_t<T>>;
};
template <class T, class Count>
struct SameBitsAs<BitCount<T, Count>> {
  using type = BitCount<bits_t<T>, Count>;
};
template <class T>
struct SameBitsAs<Cast<T, T>> {
  using type = Identity<bits_t<T>>;
};
// Among casts between integers, only widening ones depend on signedness.
template <class From, class To>
requires(std::is_integral_v<From>&& std::is_integral_v<To> &&
         !std::is_same_v<From, To>) struct SameBitsAs<Cast<From, To>> {
  using type =
      std::conditional_t<sizeof(From) == sizeof(To), Identity<bits_t<To>>,
                         Cast<std::conditional_t<(sizeof(From) > sizeof(To)), bits_t<From>, From>, bits_t<To>>>;
};

// Floating-point POW has vector kernels, as a function of two arguments.
template <class T>
requires is_float<T>
struct SameBitsAs<Pow<T, T>> {
  using type = typename FunctionLike<Pow<T, T>>::type;
};

template <class Scalar>
using SameBits = typename SameBitsAs<Scalar>::type;

// Whether a loop over the definition can be vectorized. An integer power is itself a loop, so it uses the plain
// kernels.
template <class Scalar>
inline constexpr bool kGainsByVectors = true;
template <class Base, class Exponent>
inline constexpr bool kGainsByVectors<Pow<Base, Exponent>> = is_float<Base>;

}  // namespace anydml
