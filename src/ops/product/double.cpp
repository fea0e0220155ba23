// SPDX-License-Identifier: MIT
// FLOAT64 GEMM and CONVOLUTION, which the C API supports but DirectML does not. They are decomposed into DOUBLE_PRODUCT
// and DOUBLE_CONVOLUTION, operators private to this family. The fused activation is an element-wise operator that
// follows. The order of the sums is the same as for FLOAT32.
#include "ops/product/double.h"

#include <cstring>
#include <span>
#include <utility>

#include "ops/arguments.h"
#include "ops/product/internal.h"

namespace anydml::products {
namespace {

constexpr facts::Operator kDoubleProduct = internal_operator("DOUBLE_PRODUCT");
constexpr facts::Operator kDoubleConvolution = internal_operator("DOUBLE_CONVOLUTION");

// Vectors run along the columns of the output, or along its rows if there are fewer columns than this.
constexpr std::int64_t kFewColumns = 8;

struct DoubleParameters {
  std::uint32_t transposed_a;
  std::uint32_t transposed_b;
  ProductScaleOf<f64> scale;
};

}  // namespace

Result<Decomposition> double_parts(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const auto result = product_result(desc);
  ANYDML_TRY(result);
  // The third tensor is C or the bias.
  const std::uint32_t c = desc.tensors[kC].present ? static_cast<std::uint32_t>(kC) : kNoValue;
  const auto add = [&](const facts::Operator& op, const auto& parameters) {
    return list.add_internal(op, {kA, kB, c}, std::span(&result.value(), 1), std::as_bytes(std::span(&parameters, 1)));
  };
  if (is_convolution(desc)) {
    return finished(list, desc, add(kDoubleConvolution, convolution_parameters(desc)));
  }
  const DoubleParameters parameters{
      .transposed_a = number_of(desc, "TransA").as<u32>(),
      .transposed_b = number_of(desc, "TransB").as<u32>(),
      .scale = {.alpha = number_of(desc, "Alpha").as<f64>(), .beta = number_of(desc, "Beta").as<f64>()}};
  return finished(list, desc, add(kDoubleProduct, parameters));
}

bool is_double_part(const OpDesc& desc) { return desc.op == &kDoubleProduct || desc.op == &kDoubleConvolution; }

namespace {

void lower_double_convolution(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  ConvolutionParameters parameters;
  std::memcpy(&parameters, desc.internal.data(), sizeof(parameters));
  ConvolutionStep step =
      make_convolution_step(parameters, &tensors[kA].tensor, &tensors[kB].tensor,
                            desc.tensors[kC].present ? &tensors[kC].tensor : nullptr, &tensors.back().tensor);
  step.kind = ProductKind::double_convolution;
  const Operand operands[] = {tensors[kA].operand(), tensors[kB].operand(), tensors[kC].operand(),
                              tensors.back().operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::product), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

void lower_double_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (desc.op == &kDoubleConvolution) {
    lower_double_convolution(desc, tensors, plan);
    return;
  }
  DoubleParameters parameters;
  std::memcpy(&parameters, desc.internal.data(), sizeof(parameters));
  DoubleStep step{
      .product = make_matrices(tensors[kA].tensor, parameters.transposed_a != 0, tensors[kB].tensor,
                               parameters.transposed_b != 0, desc.tensors[kC].present ? &tensors[kC].tensor : nullptr,
                               tensors.back().tensor),
      .scale = parameters.scale};
  step.product.kind = ProductKind::double_product;
  Operand operands[4];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  join_rows(step.product);
  if (step.product.columns < kFewColumns && step.product.columns < step.product.rows) {
    exchange(step.product);
    std::swap(operands[kA], operands[kB]);
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

}  // namespace anydml::products
