// SPDX-License-Identifier: MIT
// The parameter and result types of a scalar definition, deduced from its call operator. Works in host C++ and CUDA.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "base/element.h"
#include "base/scalar.h"

namespace anydml {

// Whether a definition supports its types: a requires clause may exclude them.
template <class Scalar>
concept Defined = requires {
  &Scalar::operator();
};

template <class CallOperator>
struct SignatureOf;
template <class Scalar, class Result, class... Inputs>
struct SignatureOf<Result (Scalar::*)(Inputs...) const> {
  using Output = Result;
  template <std::size_t i>
  using Input = std::tuple_element_t<i, std::tuple<Inputs...>>;
  static constexpr std::size_t kInputs = sizeof...(Inputs);
};

template <Defined Scalar>
using Signature = SignatureOf<decltype(&Scalar::operator())>;

// Constructs the scalar from the operator's attributes, or default-constructs it if it has no attributes.
template <class Scalar>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Scalar make_scalar(const Attributes& attributes) {
  if constexpr (std::is_constructible_v<Scalar, const Attributes&>) {
    return Scalar(attributes);
  } else {
    return Scalar{};
  }
}

// The number of inputs of a scalar whose tensors all have type T, or 0 if it is not defined for that type.
template <class Scalar, class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr std::size_t scalar_inputs() {
  if constexpr (Defined<Scalar>) {
    return Signature<Scalar>::kInputs;
  } else {
    return 0;
  }
}

// Calls use.template operator()<Definition<T>>() for every type, or pair of types, that the definition supports. The
// order is always the same and determines the variant numbers.
template <template <class> class Definition, class Use>
constexpr void for_each_variant(Use&& use) {
#define ANYDML_VISIT(T, name, value)          \
  if constexpr (Defined<Definition<T>>) {     \
    use.template operator()<Definition<T>>(); \
  }
  ANYDML_FOR_EACH_TYPE(ANYDML_VISIT)
#undef ANYDML_VISIT
}

template <template <class, class> class Definition, class First>
struct WithFirst {
  template <class Second>
  using Type = Definition<First, Second>;
};
template <template <class, class> class Definition, class Use>
constexpr void for_each_variant(Use&& use) {
#define ANYDML_VISIT(T, name, value) for_each_variant<WithFirst<Definition, T>::template Type>(use);
  ANYDML_FOR_EACH_TYPE(ANYDML_VISIT)
#undef ANYDML_VISIT
}

}  // namespace anydml
