// SPDX-License-Identifier: MIT
// Accessors for the attributes of a checked operator.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/op_desc.h"

namespace anydml {

// All element types that tensors may have.
[[nodiscard]] constexpr TypeSet all_types() {
  TypeSet all = 0;
#define ANYDML_ADD(T, name, value) all |= type_bit(DataType::name);
  ANYDML_FOR_EACH_TYPE(ANYDML_ADD)
#undef ANYDML_ADD
  return all;
}

// The argument for a field; null if it was omitted, or if the operator has no such field.
[[nodiscard]] const schema::Argument* find_argument(const OpDesc& desc, std::string_view field);

// The number in a field, or the first number if the field has several; 0 if the field was omitted.
[[nodiscard]] Scalar number_of(const OpDesc& desc, std::string_view field);

// Converts an attribute to a tensor's type and returns its bits; the bits above the element's width are 0.
[[nodiscard]] std::uint64_t bits_of(const Scalar& value, DataType type);

// The FusedActivation field; null if it is absent. make_op_desc has already checked that the activation is implemented.
[[nodiscard]] const schema::Described* fused_activation(const OpDesc& desc);

// The Axes field as a bit mask: bit i represents axis i of the first input. check_axes has checked that each axis
// occurs once.
[[nodiscard]] std::uint32_t axes_of(const OpDesc& desc);
[[nodiscard]] Status check_axes(const OpDesc& desc);

}  // namespace anydml
