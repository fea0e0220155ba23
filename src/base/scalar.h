// SPDX-License-Identifier: MIT
// A number that is passed in addition to the tensors (an operator's attribute). It keeps its original form until the
// tensor's type is known. This file depends only on the standard library and compiles as host C++ and as CUDA.
#pragma once

#include <limits>

#include "base/float_bits.h"

namespace anydml {

class Scalar {
 public:
  constexpr Scalar() = default;
  ANYDML_HOST_DEVICE constexpr explicit Scalar(f64 value) : kind_(Kind::real), bits_(to_bits(value)) {}
  ANYDML_HOST_DEVICE constexpr explicit Scalar(i64 value) : kind_(Kind::integer), bits_(static_cast<u64>(value)) {}
  ANYDML_HOST_DEVICE constexpr explicit Scalar(u64 value) : kind_(Kind::natural), bits_(value) {}

  // Converts the number to T: floats round once to nearest even; integers drop the fraction and are clamped; NaN
  // becomes 0.
  template <class T>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T as() const {
    if constexpr (is_float<T>) {
      if constexpr (sizeof(T) == 8) {
        return real();
      } else if (sizeof(T) == 4 && kind_ != Kind::real) {
        // Convert directly, because going through FLOAT64 would round twice.
        return narrow<T>(kind_ == Kind::integer ? static_cast<f32>(static_cast<i64>(bits_)) : static_cast<f32>(bits_));
      } else {
        return round_to<T>(real());
      }
    } else {
      switch (kind_) {
        case Kind::integer:
          return clamp_integer<T>(static_cast<i64>(bits_));
        case Kind::natural:
          return bits_ > static_cast<u64>(kMax<T>) ? kMax<T> : static_cast<T>(bits_);
        case Kind::real:
          break;
      }
      return truncate_real<T>(real());
    }
  }

 private:
  enum class Kind : u8 { real, integer, natural };

  // These are constants because CUDA device code may not call numeric_limits.
  template <class T>
  static constexpr T kMin = std::numeric_limits<T>::min();
  template <class T>
  static constexpr T kMax = std::numeric_limits<T>::max();

  // Integers beyond 2^53 are rounded here. FLOAT16 is the only narrower type that converts integers through this
  // function, and it turns such large integers into infinities anyway.
  ANYDML_HOST_DEVICE constexpr f64 real() const {
    switch (kind_) {
      case Kind::integer:
        return static_cast<f64>(static_cast<i64>(bits_));
      case Kind::natural:
        return static_cast<f64>(bits_);
      case Kind::real:
        break;
    }
    return from_bits<f64>(bits_);
  }

  template <class T>
  ANYDML_HOST_DEVICE static constexpr T clamp_integer(i64 value) {
    if (value < 0) {
      return std::is_signed_v<T> && value >= static_cast<i64>(kMin<T>) ? static_cast<T>(value) : kMin<T>;
    }
    return static_cast<u64>(value) > static_cast<u64>(kMax<T>) ? kMax<T> : static_cast<T>(value);
  }

  template <class T>
  ANYDML_HOST_DEVICE static constexpr T truncate_real(f64 value) {
    if (is_nan(value)) {
      return T{0};
    }
    // The number one above T's maximum is a power of two, so FLOAT64 can represent it even if it cannot represent the
    // maximum.
    constexpr f64 kLimit = from_bits<f64>(static_cast<u64>(FloatParts<f64>::kBias + std::numeric_limits<T>::digits)
                                          << FloatParts<f64>::kFractionBits);
    if (value >= kLimit) {
      return kMax<T>;
    }
    if (value <= static_cast<f64>(kMin<T>)) {
      return kMin<T>;
    }
    return static_cast<T>(value);
  }

  Kind kind_ = Kind::real;
  u64 bits_ = 0;
};

// The attributes of one operator, in the order of its desc struct.
struct Attributes {
  static constexpr std::size_t kMax = 4;
  Scalar values[kMax];
};

}  // namespace anydml
