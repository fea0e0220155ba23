// SPDX-License-Identifier: MIT
// The table of operators that are built, made from the rows in elementwise.def and the facts about them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/scalar.h"
#include "facts/facts.h"

// The first inclusion brings in the scalar definitions, at file scope.
#define ANYDML_ROW(op, Scalar, ulp)
#include "ops/elementwise/elementwise.def"

namespace anydml {

enum class RowId : std::uint16_t {
#define ANYDML_ROW(op, Scalar, ulp) op,
#include "ops/elementwise/elementwise.def"
  count_,
};
inline constexpr std::size_t kRowCount = static_cast<std::size_t>(RowId::count_);
inline constexpr std::size_t kMaxInputs = 3;

// The scalar as it applies to T with the operator's attributes; one that takes none is made from nothing.
template <class ScalarOp>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr ScalarOp make_scalar(const Attributes& attributes) {
  if constexpr (std::is_constructible_v<ScalarOp, const Attributes&>) {
    return ScalarOp(attributes);
  } else {
    return ScalarOp{};
  }
}

// How many inputs the scalar takes for T: 0 when it is not defined for that type.
template <class ScalarOp, class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr std::size_t scalar_inputs() {
  if constexpr (std::is_invocable_r_v<T, const ScalarOp&, T>) {
    return 1;
  } else if constexpr (std::is_invocable_r_v<T, const ScalarOp&, T, T>) {
    return 2;
  } else if constexpr (std::is_invocable_r_v<T, const ScalarOp&, T, T, T>) {
    return 3;
  } else {
    return 0;
  }
}

template <template <class> class ScalarOp>
[[nodiscard]] constexpr TypeSet scalar_types() {
  TypeSet types = 0;
#define ANYDML_ADD_TYPE(T, name, value) types |= scalar_inputs<ScalarOp<T>, T>() != 0 ? type_bit(DataType::name) : 0;
  ANYDML_FOR_EACH_TYPE(ANYDML_ADD_TYPE)
#undef ANYDML_ADD_TYPE
  return types;
}

struct Row {
  RowId id;
  std::string_view name;
  const facts::Operator* facts;  // null for an internal row
  TypeSet types;                 // every type its scalar is defined for; the facts may admit fewer to DirectML
  std::uint8_t inputs;
  std::uint8_t ulp;
  std::array<std::string_view, kMaxInputs + 1> tensors;  // what DirectML calls them: the inputs in order, the output
};

[[nodiscard]] std::span<const Row> rows();
[[nodiscard]] const Row& row(RowId id);

// Null when the operator is not built here.
[[nodiscard]] const Row* find_row(const facts::Operator& op);

}  // namespace anydml
