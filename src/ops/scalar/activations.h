// SPDX-License-Identifier: MIT
// Activations that need no transcendental function. FLOAT16 is computed in FLOAT32, each operation is rounded, and
// parameters are used unrounded. Every condition is false for NaN, so NaN selects the second branch, as in the
// documented formulas.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Linear {
  compute_t<T> alpha;
  compute_t<T> beta;

  ANYDML_HOST_DEVICE constexpr explicit Linear(const Attributes& attributes)
      : alpha(attributes.values[0].as<compute_t<T>>()), beta(attributes.values[1].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> product = alpha * x;
    return product + beta;
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

// x >= 0 ? x : Alpha * x
template <class T>
struct LeakyRelu {
  compute_t<T> alpha;

  ANYDML_HOST_DEVICE constexpr explicit LeakyRelu(const Attributes& attributes)
      : alpha(attributes.values[0].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    return select(x >= compute_t<T>{0}, x, alpha * x);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

// x >= 0 ? x : slope * x; integers wrap.
template <class T>
struct ParameterizedRelu {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x, compute_t<T> slope) const {
    if constexpr (is_float<T>) {
      return select(x >= compute_t<T>{0}, x, slope * x);
    } else {
      return x >= T{0} ? x : static_cast<T>(static_cast<wrapping_t<T>>(slope) * static_cast<wrapping_t<T>>(x));
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, T slope) const
      requires(is_float<T> || std::is_signed_v<T>) {
    return narrow<T>(compute(widen(x), widen(slope)));
  }
};

// x > Alpha ? x : 0
template <class T>
struct ThresholdedRelu {
  compute_t<T> alpha;

  ANYDML_HOST_DEVICE constexpr explicit ThresholdedRelu(const Attributes& attributes)
      : alpha(attributes.values[0].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    return select(x > alpha, x, compute_t<T>{0});
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

// max(0, min(x, 1)); a NaN fails both comparisons and passes through.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T within_unit(T x) {
  const T below = select(x >= T{1}, T{1}, x);
  return select(below <= T{0}, T{0}, below);
}

// max(0, min(Alpha * x + Beta, 1))
template <class T>
struct HardSigmoid {
  compute_t<T> alpha;
  compute_t<T> beta;

  ANYDML_HOST_DEVICE constexpr explicit HardSigmoid(const Attributes& attributes)
      : alpha(attributes.values[0].as<compute_t<T>>()), beta(attributes.values[1].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> product = alpha * x;
    return within_unit(product + beta);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

// x * HardSigmoid(x)
template <class T>
struct HardSwish {
  compute_t<T> alpha;
  compute_t<T> beta;

  ANYDML_HOST_DEVICE constexpr explicit HardSwish(const Attributes& attributes)
      : alpha(attributes.values[0].as<compute_t<T>>()), beta(attributes.values[1].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> product = alpha * x;
    return x * within_unit(product + beta);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

// x > Threshold ? x - Bias : (x < -Threshold ? x + Bias : 0). For integers, Bias, Threshold and -Threshold are
// converted to the tensor's type, so -Threshold saturates at 0 for unsigned types; sums wrap.
template <class T>
struct Shrink {
  compute_t<T> bias;
  compute_t<T> above;
  compute_t<T> below;

  ANYDML_HOST_DEVICE constexpr explicit Shrink(const Attributes& attributes)
      : bias(attributes.values[0].as<compute_t<T>>()),
        above(attributes.values[1].as<compute_t<T>>()),
        below(Scalar(-attributes.values[1].as<f64>()).as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    if constexpr (is_float<T>) {
      return select(x > above, x - bias, select(x < below, x + bias, compute_t<T>{0}));
    } else {
      const auto less = static_cast<T>(static_cast<wrapping_t<T>>(x) - static_cast<wrapping_t<T>>(bias));
      const auto more = static_cast<T>(static_cast<wrapping_t<T>>(x) + static_cast<wrapping_t<T>>(bias));
      return x > above ? less : x < below ? more : T{0};
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

}  // namespace anydml
