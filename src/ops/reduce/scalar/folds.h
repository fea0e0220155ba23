// SPDX-License-Identifier: MIT
// The operations of reductions: how an element becomes an accumulator, and how two accumulators are combined.
//
//   Loaded         the loaded form of an element: itself, a FLOAT16 widened to FLOAT32, or the bits of a float
//   Accumulator    combining with its neutral value changes nothing, so empty lanes do not affect the result
//   kOrdered       the result's bits depend on the order of combining
//   kWidens        Loaded is a widened FLOAT16
#pragma once

#include <limits>
#include <type_traits>

#include "base/float_bits.h"
#include "ops/reduce/functions.h"

namespace anydml {

enum class FoldId : u32 { sum, absolute_sum, square_sum, product, max, min, argmax, argmin };

// Integers wrap in the unsigned type of their width. FLOAT16 uses FLOAT64 if the result must be exact: a FLOAT16 is a
// multiple of 2^-24 below 2^16, so 53 bits are enough for the sum of a block of 2^12, in any order. Infinities and NaN
// propagate as in any IEEE sum.
template <class T, bool kExactHalves>
struct FoldTypes {
  using Element = T;
  using Loaded = compute_t<T>;
  using Accumulator = std::conditional_t<std::is_same_v<T, f16>, std::conditional_t<kExactHalves, f64, f32>, Loaded>;
  static constexpr bool kWidens = std::is_same_v<T, f16>;
  static constexpr bool kOrdered = is_float<T> && !(kWidens && kExactHalves);
};

template <class A>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr A add(A a, A b) {
  return static_cast<A>(a + b);
}

template <class A>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr A multiply(A a, A b) {
  if constexpr (is_float<A>) {
    return a * b;
  } else {
    return static_cast<A>(static_cast<wrapping_t<A>>(a) * static_cast<wrapping_t<A>>(b));
  }
}

template <class T>  // a float or an unsigned integer
struct SumFold : FoldTypes<T, true> {
  using typename FoldTypes<T, true>::Loaded;
  using typename FoldTypes<T, true>::Accumulator;
  static constexpr Accumulator kNeutral = kNothing<Accumulator>;
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator lift(Loaded x) { return x; }
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator combine(Accumulator a, Accumulator b) {
    return add(a, b);
  }
};

template <class T>
struct Unsigned {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Unsigned<T> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using unsigned_t = typename Unsigned<T>::type;  // floating-point types stay unchanged

template <class T>  // a float or a signed integer
struct AbsoluteSumFold : FoldTypes<T, true> {
  using typename FoldTypes<T, true>::Loaded;
  using Accumulator = unsigned_t<typename FoldTypes<T, true>::Accumulator>;
  static constexpr Accumulator kNeutral = kNothing<Accumulator>;
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator lift(Loaded x) {
    if constexpr (is_float<T>) {
      return from_bits<Loaded>(to_bits(x) & FloatParts<Loaded>::kMagnitude);
    } else {
      const auto bits = static_cast<Accumulator>(x);
      return x < 0 ? static_cast<Accumulator>(Accumulator{0} - bits) : bits;
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator combine(Accumulator a, Accumulator b) {
    return add(a, b);
  }
};

template <class T>  // a float, or unsigned
struct SquareSumFold : FoldTypes<T, false> {
  using typename FoldTypes<T, false>::Loaded;
  using typename FoldTypes<T, false>::Accumulator;
  static constexpr Accumulator kNeutral = kNothing<Accumulator>;
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator lift(Loaded x) { return multiply(x, x); }
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator combine(Accumulator a, Accumulator b) {
    return add(a, b);
  }
};

template <class T>  // a float, or unsigned
struct ProductFold : FoldTypes<T, false> {
  using typename FoldTypes<T, false>::Loaded;
  using typename FoldTypes<T, false>::Accumulator;
  static constexpr Accumulator kNeutral = 1;
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator lift(Loaded x) { return x; }
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator combine(Accumulator a, Accumulator b) {
    return multiply(a, b);
  }
};

// Extremes use integers with the same order as the elements, so that float comparisons need no special cases for NaN
// and zeros. NaN becomes the largest integer for a maximum and the smallest for a minimum, so it always wins. For MAX
// and MIN, +0 is above -0; for the index of an extreme (kIsArg: ARGMAX, ARGMIN), +0 and -0 are equal.
template <class T, bool kMax, bool kIsArg>
struct ExtremeFold {
  static constexpr bool kIsFloat = is_float<T>;
  using Element = T;
  using Loaded =
      std::conditional_t<!kIsFloat, T,
                         std::conditional_t<sizeof(T) == 2, i16, std::conditional_t<sizeof(T) == 4, i32, i64>>>;
  using Accumulator = Loaded;
  static constexpr bool kOrdered = false;
  static constexpr bool kWidens = false;
  static constexpr Accumulator kMin = std::numeric_limits<Accumulator>::min();
  static constexpr Accumulator kMaximum = std::numeric_limits<Accumulator>::max();
  static constexpr Accumulator kNeutral = kMax ? kMin : kMaximum;
  static constexpr Accumulator kNan = kMax ? kMaximum : kMin;

  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator lift(Loaded x) {
    if constexpr (kIsFloat) {
      constexpr auto kMagnitude = static_cast<Loaded>(FloatParts<T>::kMagnitude);
      constexpr auto kInfinity = static_cast<Loaded>(FloatParts<T>::kInfinity);
      const auto sign = static_cast<Loaded>(x >> (sizeof(T) * 8 - 1));  // all bits, or none
      const auto magnitude = static_cast<Loaded>(x & kMagnitude);
      const auto key = kIsArg ? static_cast<Loaded>((magnitude ^ sign) - sign)
                              : static_cast<Loaded>(x ^ static_cast<Loaded>(sign & kMagnitude));
      // Computed with bits, because g++ 13 fails when it merges a selection and a minimum into one masked instruction.
      const auto is_nan = static_cast<Loaded>(Loaded{0} - static_cast<Loaded>(magnitude > kInfinity));
      return static_cast<Loaded>((key & static_cast<Loaded>(~is_nan)) | (kNan & is_nan));
    } else {
      return x;
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr Accumulator combine(Accumulator a, Accumulator b) {
    return kMax ? (a < b ? b : a) : (b < a ? b : a);
  }
  // Converts a key back to the element. With kIsArg, zeros become +0.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr T lower(Accumulator key) {
    if constexpr (kIsFloat) {
      if (key == kNan) {
        return quiet_nan<T>();
      }
      constexpr auto kMagnitude = static_cast<Loaded>(FloatParts<T>::kMagnitude);
      const auto sign = static_cast<Loaded>(key >> (sizeof(T) * 8 - 1));
      const auto bits = kIsArg ? static_cast<Loaded>(static_cast<Loaded>((key ^ sign) - sign) |
                                                     static_cast<Loaded>(sign & static_cast<Loaded>(~kMagnitude)))
                               : static_cast<Loaded>(key ^ static_cast<Loaded>(sign & kMagnitude));
      return from_bits<T>(static_cast<float_bits_t<T>>(bits));
    } else {
      return key;
    }
  }
};

[[nodiscard]] constexpr FoldId fold_of(ReduceFunction function) {
  switch (function) {
    case ReduceFunction::ARGMAX:
      return FoldId::argmax;
    case ReduceFunction::ARGMIN:
      return FoldId::argmin;
    case ReduceFunction::L1:
      return FoldId::absolute_sum;
    case ReduceFunction::L2:
    case ReduceFunction::SUM_SQUARE:
      return FoldId::square_sum;
    case ReduceFunction::MAX:
      return FoldId::max;
    case ReduceFunction::MIN:
      return FoldId::min;
    case ReduceFunction::MULTIPLY:
      return FoldId::product;
    case ReduceFunction::SUM:
    case ReduceFunction::AVERAGE:
      break;
  }
  return FoldId::sum;
}

// The fold for elements of type T. Folds that do not depend on an integer's sign use the unsigned type's fold.
template <FoldId id, class T>
struct FoldOf;
template <class T>
struct FoldOf<FoldId::sum, T> {
  using type = SumFold<unsigned_t<T>>;
};
template <class T>
struct FoldOf<FoldId::absolute_sum, T> {
  using type = std::conditional_t<std::is_unsigned_v<T>, SumFold<unsigned_t<T>>, AbsoluteSumFold<T>>;
};
template <class T>
struct FoldOf<FoldId::square_sum, T> {
  using type = SquareSumFold<unsigned_t<T>>;
};
template <class T>
struct FoldOf<FoldId::product, T> {
  using type = ProductFold<unsigned_t<T>>;
};
template <class T>
struct FoldOf<FoldId::max, T> {
  using type = ExtremeFold<T, true, false>;
};
template <class T>
struct FoldOf<FoldId::min, T> {
  using type = ExtremeFold<T, false, false>;
};
template <class T>
struct FoldOf<FoldId::argmax, T> {
  using type = ExtremeFold<T, true, is_float<T>>;  // integers have one zero
};
template <class T>
struct FoldOf<FoldId::argmin, T> {
  using type = ExtremeFold<T, false, is_float<T>>;
};
template <FoldId id, class T>
using fold_t = typename FoldOf<id, T>::type;

// Each of these functions calls visitor.template operator()<Fold>() for folds of one kind.
template <FoldId first, FoldId second, class Visitor>
constexpr decltype(auto) visit_either(FoldId fold, DataType type, Visitor&& visitor) {
  return visit_type(type, [&]<class T>() -> decltype(auto) {
    if (fold == first) {
      return visitor.template operator()<fold_t<first, T>>();
    }
    return visitor.template operator()<fold_t<second, T>>();
  });
}

[[nodiscard]] constexpr bool is_sum(FoldId fold) { return fold == FoldId::sum || fold == FoldId::absolute_sum; }
template <class Visitor>
constexpr decltype(auto) visit_sum(FoldId fold, DataType type, Visitor&& visitor) {
  return visit_either<FoldId::sum, FoldId::absolute_sum>(fold, type, visitor);
}

[[nodiscard]] constexpr bool is_product(FoldId fold) { return fold == FoldId::square_sum || fold == FoldId::product; }
template <class Visitor>
constexpr decltype(auto) visit_product(FoldId fold, DataType type, Visitor&& visitor) {
  return visit_either<FoldId::square_sum, FoldId::product>(fold, type, visitor);
}

[[nodiscard]] constexpr bool is_extreme(FoldId fold) { return fold == FoldId::max || fold == FoldId::min; }
template <class Visitor>
constexpr decltype(auto) visit_extreme(FoldId fold, DataType type, Visitor&& visitor) {
  return visit_either<FoldId::max, FoldId::min>(fold, type, visitor);
}

template <class Visitor>
constexpr decltype(auto) visit_arg_extreme(FoldId fold, DataType type, Visitor&& visitor) {
  return visit_either<FoldId::argmax, FoldId::argmin>(fold, type, visitor);
}

template <class Visitor>
constexpr decltype(auto) visit_fold(FoldId fold, DataType type, Visitor&& visitor) {
  if (is_sum(fold)) {
    return visit_sum(fold, type, visitor);
  }
  if (is_product(fold)) {
    return visit_product(fold, type, visitor);
  }
  return is_extreme(fold) ? visit_extreme(fold, type, visitor) : visit_arg_extreme(fold, type, visitor);
}

}  // namespace anydml
