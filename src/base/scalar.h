// SPDX-License-Identifier: MIT
// A number given beside the tensors (an attribute of an operator), kept as it was given until the type of the tensor
// is known. Standard library only, usable from host C++ and CUDA.
#pragma once

#include <limits>

#include "base/float_bits.h"

namespace anydml {

class Scalar {
 public:
  ANYDML_HOST_DEVICE constexpr Scalar() = default;
  ANYDML_HOST_DEVICE constexpr explicit Scalar(f64 value) : kind_(Kind::real), bits_(to_bits(value)) {}
  ANYDML_HOST_DEVICE constexpr explicit Scalar(i64 value) : kind_(Kind::integer), bits_(static_cast<u64>(value)) {}
  ANYDML_HOST_DEVICE constexpr explicit Scalar(u64 value) : kind_(Kind::natural), bits_(value) {}

  // The number in T: floats round once to nearest even; integers drop the fraction and stop at T's limits; NaN is 0.
  template <class T>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T as() const {
    if constexpr (is_float<T>) {
      if constexpr (sizeof(T) == 8) {
        return real();
      } else {
        return round_to<T>(real());
      }
    } else {
      switch (kind_) {
        case Kind::integer:
          return clamp_integer<T>(static_cast<i64>(bits_));
        case Kind::natural:
          return bits_ > static_cast<u64>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
                                                                         : static_cast<T>(bits_);
        case Kind::real:
          break;
      }
      return truncate_real<T>(real());
    }
  }

 private:
  enum class Kind : u8 { real, integer, natural };

  // Integers beyond 2^53 round here; no float attribute of DirectML is given as such an integer.
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
    if constexpr (std::is_signed_v<T>) {
      return value < std::numeric_limits<T>::min()   ? std::numeric_limits<T>::min()
             : value > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max()
                                                     : static_cast<T>(value);
    } else {
      return value < 0                                                 ? T{0}
             : static_cast<u64>(value) > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max()
                                                                       : static_cast<T>(value);
    }
  }

  template <class T>
  ANYDML_HOST_DEVICE static constexpr T truncate_real(f64 value) {
    if (is_nan(value)) {
      return T{0};
    }
    // One past T's greatest value is a power of two, so it is exact in FLOAT64 where the value itself may not be.
    constexpr f64 kLimit = 2.0 * static_cast<f64>(u64{1} << (std::numeric_limits<T>::digits - 1));
    constexpr f64 kLowest = static_cast<f64>(std::numeric_limits<T>::min());
    if (value >= kLimit) {
      return std::numeric_limits<T>::max();
    }
    if (value <= kLowest) {
      return std::numeric_limits<T>::min();
    }
    return static_cast<T>(value);
  }

  Kind kind_ = Kind::real;
  u64 bits_ = 0;
};

// Attributes of one operator, in the order of its desc struct.
struct Attributes {
  static constexpr std::size_t kMost = 4;
  Scalar values[kMost];
};

}  // namespace anydml
