// SPDX-License-Identifier: MIT
// Integer products and convolutions: the functions that the family calls, and their shared declarations.
#pragma once

#include <span>

#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "ops/product/integer_step.h"

namespace anydml {

[[nodiscard]] bool is_integer_product(const facts::Operator& op);  // DirectML's operators and the internal operators
[[nodiscard]] TypeSet integer_product_types(const facts::Operator& op, std::size_t position);
[[nodiscard]] Result<Decomposition> decompose_integer_product(const OpDesc& desc, const DeviceTraits& device,
                                                              const KnownInputs& known);
[[nodiscard]] Joins integer_product_joins(const OpDesc& desc);
void lower_integer_product(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

namespace products {

// The positions of an operator's tensors among its inputs, in the order of IntegerOperand. The output comes last.
inline constexpr std::size_t kNoInput = ~std::size_t{0};
struct IntegerLayout {
  std::string_view name;
  IntegerFinish finish;
  std::size_t inputs[kIntegerOperands - 1];
  std::size_t count;
  bool is_convolution = false;

  [[nodiscard]] std::size_t of(IntegerOperand operand) const { return inputs[static_cast<std::size_t>(operand)]; }
  // The operand as a value of the operator's decomposition.
  [[nodiscard]] std::uint32_t value(const OpDesc& desc, IntegerOperand operand) const {
    const std::size_t position = of(operand);
    return position == kNoInput || !desc.tensors[position].present ? kNoValue : static_cast<std::uint32_t>(position);
  }
};

[[nodiscard]] constexpr bool is_signed_byte(DataType type) { return type == DataType::INT8; }

// The convolutions, in integer_convolution.cpp.
[[nodiscard]] bool is_integer_convolution_part(const facts::Operator& op);
[[nodiscard]] Result<Decomposition> decompose_integer_convolution(const OpDesc& desc, const IntegerLayout& layout,
                                                                  const DeviceTraits& device);
[[nodiscard]] Joins integer_convolution_joins(const OpDesc& desc);
void lower_integer_convolution_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace products

}  // namespace anydml
