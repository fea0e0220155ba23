// SPDX-License-Identifier: MIT
// The numbers that an attribute accepts. The C API passes all numbers as 64-bit values. The attribute's field may be
// narrower, or the number may become an element of a narrower tensor. DirectML's own structs have typed fields, so they
// do not need these checks.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "base/element.h"
#include "base/scalar.h"
#include "facts/facts.h"
#include "text/format.h"

namespace anydml {

// Whether the field is a clipping bound. A bound outside the range of the element type has no effect, so it need not
// fit.
inline bool is_bound(const facts::Field& field) { return field.name == "Min" || field.name == "Max"; }

// Whether the number becomes an element of the output.
inline bool is_element(const facts::Field& field) {
  return !is_bound(field) && (field.type == facts::FieldType::scalar_union || field.name == "PaddingValue" ||
                              field.name == "Value" || field.name == "OutOfBoundsInputValue");
}

inline std::string number_text(const Scalar& number) {
  const f64 value = number.as<f64>();
  return std::trunc(value) == value && std::abs(value) < 1e15 ? format_text("{}", number.as<i64>())
                                                              : format_text("{}", value);
}

template <class T>
bool is_same(const Scalar& number) {
  const Scalar element(static_cast<std::conditional_t<std::is_signed_v<T>, i64, u64>>(number.as<T>()));
  return element.as<f64>() == number.as<f64>() && element.as<i64>() == number.as<i64>() &&
         element.as<u64>() == number.as<u64>();
}

// Returns the expected range if this number would become an infinity. Infinities themselves are valid in every float
// type.
inline std::optional<std::string> beyond_float(const Scalar& number, DataType type) {
  const f64 value = std::abs(number.as<f64>());
  const f32 maximum = type == DataType::FLOAT16 ? 65504 : std::numeric_limits<f32>::max();
  const bool rounds_to_infinity = type == DataType::FLOAT16 ? value >= 65520 : std::isinf(number.as<f32>());
  if (type == DataType::FLOAT64 || std::isinf(value) || !rounds_to_infinity) {
    return std::nullopt;
  }
  return format_text("a number of {}, from {} to {}", type_name(type), -maximum, maximum);
}

// Returns the expected range if the field cannot represent this number. `type` is the output's type, which may be
// missing or wrong.
inline std::optional<std::string> beyond_range(const facts::Field& field, const Scalar& number, DataType type) {
  if (!is_element_type(type)) {
    return std::nullopt;
  }
  if (is_bound(field) && !is_float_type(type)) {
    const f64 value = number.as<f64>();
    return std::trunc(value) == value ? std::nullopt
                                      : std::optional(format_text("a whole number for {}", type_name(type)));
  }
  if (!is_element(field)) {
    return std::nullopt;
  }
  return visit_type(type, [&]<class T>() -> std::optional<std::string> {
    if constexpr (is_float<T>) {
      return beyond_float(number, type);
    } else if (is_same<T>(number)) {
      return std::nullopt;
    } else {
      return format_text("a whole number from {} to {} for {}", +std::numeric_limits<T>::min(),
                         +std::numeric_limits<T>::max(), type_name(type));
    }
  });
}

}  // namespace anydml
