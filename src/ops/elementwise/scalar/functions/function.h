// SPDX-License-Identifier: MIT
// Functions of one element that are correctly rounded: the nearest FLOAT32 or FLOAT16 to the true value, ties to even,
// for every input. A function is a class `Of` that gives a FLOAT64 so near to the true value that rounding it once
// gives the right result; tests/functions proves that for every FLOAT32, of which every FLOAT16 is one.
//
//   f64 ordinary(f32 x) const   without a branch, since compilers make vectors of it (row_loops-inl.h)
//   bool is_hard(f32 x) const   optional: inputs that `ordinary` leaves to
//   f64 hard(f32 x) const       which has no branch either. Hard elements are taken together.
//
// It is made from the operator's attributes if it has any.
#pragma once

#include "base/scalar.h"
#include "ops/elementwise/scalar/lanes.h"

namespace anydml {

// A FLOAT64 in FLOAT32 or FLOAT16, rounded once.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T narrow_once(f64 y) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    return static_cast<f32>(y);
  } else {
    // Through a FLOAT32 whose last bit says whether anything follows: so it is not taken for a tie that it was not.
    constexpr u64 kRest = (u64{1} << 29) - 1;
    const u64 bits = to_bits(y);
    const u64 rest = (((bits & kRest) + kRest) >> 29) << 29;
    return narrow<T>(static_cast<f32>(from_bits<f64>((bits & ~kRest) | rest)));
  }
}

template <class Of>
concept HasHard = requires(const Of& of, f32 x) {
  of.is_hard(x);
};

template <class T, class Of_>
struct Function {
  using Of = Of_;
  Of of;

  constexpr Function() requires(!std::is_constructible_v<Of, const Attributes&>) = default;
  ANYDML_HOST_DEVICE constexpr explicit Function(const Attributes& attributes) requires(
      std::is_constructible_v<Of, const Attributes&>)
      : of(attributes) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 precise(f32 x) const {
    if constexpr (HasHard<Of>) {
      if (of.is_hard(x)) {
        return of.hard(x);
      }
    }
    return of.ordinary(x);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires(is_float<T> && sizeof(T) <= sizeof(f32)) {
    return narrow_once<T>(precise(widen(x)));
  }
};

}  // namespace anydml
