// SPDX-License-Identifier: MIT
// Functions of one element that are correctly rounded: the nearest FLOAT32 or FLOAT16 to the true value, ties to even,
// for every input. A function is a class `Of` that returns a FLOAT64 so close to the true value that rounding it once
// yields the correct result. tests/functions proves this for every FLOAT32, which includes every FLOAT16.
//
//   f64 ordinary(f32 x) const   branch-free, so that compilers can vectorize it (cpu/function_loops-inl.h)
//   bool is_hard(f32 x) const   optional: whether x needs `hard` instead of `ordinary`
//   f64 hard(f32 x) const       branch-free too; hard elements are gathered and processed together
//
// kIsLong, optional: the function has so many constants and intermediate values that Arm's registers can hold only two
// vectors at a time instead of four.
//
// A function of two arguments has two parameters, and its is_hard(x, y, result) may use the result of `ordinary`.
// is_hard<T>(result) uses only this result, for results of type T. A function is constructed from the operator's
// attributes if it has any.
//
// A function of two arguments may have a fast path for FLOAT16, since there are too many pairs for a table:
//
//   f32 quick(f32 x, f32 y) const           close enough to the true value that rounding it is correct
//   bool is_unclear(f32 result) const       whether it is too close to a midpoint: then the functions above decide
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

// Converts a FLOAT64 to a FLOAT32 whose last bit is set if any nonzero digit follows (rounding to odd). Rounding this
// FLOAT32 to FLOAT16 has the same effect as a single rounding, since nothing is mistaken for a tie.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 round_to_odd(f64 y) {
  constexpr u64 kRest = (u64{1} << 29) - 1;
  const u64 bits = to_bits(y);
  const u64 odd = ((bits & kRest) + kRest) & ~kRest;
  return static_cast<f32>(from_bits<f64>((bits & ~kRest) | odd));
}

// Converts a FLOAT64 to FLOAT32 or FLOAT16 with a single rounding.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T narrow_once(f64 y) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    return static_cast<f32>(y);
  } else {
    return narrow<T>(round_to_odd(y));
  }
}

// The sum of two FLOAT64 values, also rounded to odd, so that a value close to the midpoint between two FLOAT32 values
// is not mistaken for that midpoint. The second number must be less than the last place of the first number.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 sum_to_odd(f64 y, f64 more) {
  const u64 follows = more != 0.0;
  const u64 below = follows & ((to_bits(y) ^ to_bits(more)) >> 63);
  return from_bits<f64>((to_bits(y) - below) | follows);
}

template <class Of, class... Inputs>
concept HasHard = requires(const Of& of, Inputs... inputs) {
  of.hard(inputs...);
};

// The ways in which a definition can detect hard elements. These are concepts because nvcc does not accept these
// requires expressions inside a function.
template <class Of, class T>
concept IsHardByType = requires(const Of& of, f64 result) {
  of.template is_hard<T>(result);
};
template <class Of, class... Inputs>
concept IsHardByResult = requires(const Of& of, f64 result, Inputs... inputs) {
  of.is_hard(inputs..., result);
};

template <class Of>
inline constexpr bool kIsLongFunction = requires {
  requires Of::kIsLong;
};

template <class Of, class... Inputs>
concept IsHardByInput = requires(const Of& of, Inputs... inputs) {
  of.is_hard(inputs...);
};

template <class T, class Of, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool asks_for_more(const Of& of, f64 result, Inputs... inputs) {
  if constexpr (IsHardByType<Of, T>) {
    return of.template is_hard<T>(result);
  } else if constexpr (IsHardByResult<Of, Inputs...>) {
    return of.is_hard(inputs..., result);
  } else {
    return of.is_hard(inputs...);
  }
}

// Computes an element of type T in FLOAT64.
template <class T, class Of, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T decided_slowly(const Of& of, Inputs... inputs) {
  const f64 result = of.ordinary(inputs...);
  if constexpr (HasHard<Of, Inputs...>) {
    if (asks_for_more<T>(of, result, inputs...)) {
      return narrow_once<T>(of.hard(inputs...));
    }
  }
  return narrow_once<T>(result);
}

// Whether a FLOAT32 result with a relative error below `part` does not determine which FLOAT16 is nearest to the true
// value. Both ends of the error interval are rounded to FLOAT16's last place by adding a number so large that the sum
// has no smaller digits. The result is ambiguous if the two sums differ. True for NaN.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_rounding_ambiguous(f32 result, f32 part) {
  constexpr u32 kMin = to_bits(f32{0x1p-14f});  // the smallest normal FLOAT16
  const f32 size = magnitude_of(result);
  const u32 bits = to_bits(size) < kMin ? kMin : to_bits(size);
  const f32 large = from_bits<f32>((bits & 0x7f800000) + (u32{13} << 23));
  return !(fused(size, 1.0f - part, large) == fused(size, 1.0f + part, large));
}

template <class Of, class... Inputs>
concept HasQuick = requires(const Of& of, Inputs... inputs) {
  of.is_unclear(of.quick(inputs...));
};
template <class T, class Of, class... Inputs>
inline constexpr bool kIsQuick = sizeof(T) < sizeof(f32) && HasQuick<Of, Inputs...>;

// For code that processes several elements together. first_of computes a first result, rounded converts it to T, and
// asks_after returns whether the element needs more work. In that case, after_all computes the final result.
template <class T, class Of, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr auto first_of(const Of& of, Inputs... inputs) {
  if constexpr (kIsQuick<T, Of, Inputs...>) {
    return of.quick(inputs...);
  } else {
    return of.ordinary(inputs...);
  }
}
template <class T, class First>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T rounded(First first) {
  if constexpr (sizeof(First) == sizeof(f32)) {
    return narrow<T>(first);
  } else {
    return narrow_once<T>(first);
  }
}
template <class T, class Of, class First, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool asks_after(const Of& of, First first, Inputs... inputs) {
  if constexpr (kIsQuick<T, Of, Inputs...>) {
    return of.is_unclear(first);
  } else if constexpr (HasHard<Of, Inputs...>) {
    return asks_for_more<T>(of, first, inputs...);
  } else {
    return false;
  }
}
template <class T, class Of, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T after_all(const Of& of, Inputs... inputs) {
  if constexpr (kIsQuick<T, Of, Inputs...>) {
    return decided_slowly<T>(of, inputs...);
  } else {
    return narrow_once<T>(of.hard(inputs...));
  }
}

// Computes an element of type T.
template <class T, class Of, class... Inputs>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T decided(const Of& of, Inputs... inputs) {
  const auto first = first_of<T>(of, inputs...);
  if constexpr (HasHard<Of, Inputs...>) {
    if (asks_after<T>(of, first, inputs...)) {
      return after_all<T>(of, inputs...);
    }
  }
  return rounded<T>(first);
}

// The members that functions of one and of two arguments share.
template <class Of_>
struct FunctionOf {
  using Of = Of_;
  Of of;

  constexpr FunctionOf() requires(!std::is_constructible_v<Of, const Attributes&>) = default;
  ANYDML_HOST_DEVICE constexpr explicit FunctionOf(const Attributes& attributes) requires(
      std::is_constructible_v<Of, const Attributes&>)
      : of(attributes) {}
};

// Whether a definition is a function, and therefore more expensive than a few basic operations.
template <class Scalar>
inline constexpr bool kIsFunction = requires {
  typename Scalar::Of;
};

template <class T, class Of>
struct Function : FunctionOf<Of> {
  using FunctionOf<Of>::FunctionOf;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires(is_float<T> && sizeof(T) <= sizeof(f32)) {
    return decided<T>(this->of, widen(x));
  }
};

template <class T, class Of>
struct FunctionOfTwo : FunctionOf<Of> {
  using FunctionOf<Of>::FunctionOf;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, T y) const
      requires(is_float<T> && sizeof(T) <= sizeof(f32)) {
    return decided<T>(this->of, widen(x), widen(y));
  }
};

// Maps a definition to the Function or FunctionOfTwo that computes the same results, or to itself if there is none.
template <class Scalar>
struct FunctionLike {
  using type = Scalar;
};

// Whether the definition is a Function or FunctionOfTwo and some of its elements are hard.
template <class Scalar>
inline constexpr bool kMayBeHard = false;
template <class T, class Of>
inline constexpr bool kMayBeHard<Function<T, Of>> = HasHard<Of, f32>;
template <class T, class Of>
inline constexpr bool kMayBeHard<FunctionOfTwo<T, Of>> = HasHard<Of, f32, f32>;

}  // namespace anydml
