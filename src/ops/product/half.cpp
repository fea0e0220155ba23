// SPDX-License-Identifier: MIT
// FLOAT16 GEMM, if the caller allows results that differ from the defined bits (DeviceTraits::half_products). It is
// decomposed into HALF_PRODUCT, an operator private to this family that a device runs with a matrix library. The fused
// activation is an element-wise operator that follows. If the library does not support C, adding C is an element-wise
// operator too: the product is then computed in FLOAT32 and rounded to FLOAT16 after the addition.
#include "ops/product/half.h"

#include <cstring>
#include <span>
#include <utility>

#include "ops/arguments.h"
#include "ops/product/internal.h"
#include "plan/reshape.h"

namespace anydml::products {
namespace {

constexpr facts::Operator kHalfProduct = internal_operator("HALF_PRODUCT");

struct HalfParameters {
  std::uint32_t transposed_a;
  std::uint32_t transposed_b;
  ProductScale scale;
};

// `c` is null if absent.
ProductStep make_step(const HalfParameters& parameters, const TensorDesc& a, const TensorDesc& b, const TensorDesc* c,
                      const TensorDesc& output) {
  ProductStep apart = make_matrices(a, parameters.transposed_a != 0, b, parameters.transposed_b != 0, c, output);
  apart.kind = ProductKind::half_product;
  apart.halves = kHalfA | kHalfB | (output.type == DataType::FLOAT16 ? kHalfOutput : 0);
  apart.scale = parameters.scale;
  // One matrix with more rows is faster than a batch. However, its rows might not be equally spaced, even if the rows
  // of each matrix in the batch are.
  ProductStep joined = apart;
  join_rows(joined);
  return fits_half_product(joined, c != nullptr) ? joined : apart;
}

}  // namespace

std::optional<Result<Decomposition>> half_parts(const OpDesc& desc) {
  const TensorDesc& output = desc.output().tensor;
  const HalfParameters parameters{
      .transposed_a = number_of(desc, "TransA").as<u32>(),
      .transposed_b = number_of(desc, "TransB").as<u32>(),
      .scale = {.alpha = number_of(desc, "Alpha").as<f32>(), .beta = number_of(desc, "Beta").as<f32>()}};
  // Libraries skip the product if alpha is 0 and ignore C if beta is 0, so they would lose infinities and NaNs.
  if (output.type != DataType::FLOAT16 || parameters.scale.alpha == 0) {
    return std::nullopt;
  }
  const TensorDesc& a = desc.tensors[kA].tensor;
  const TensorDesc& b = desc.tensors[kB].tensor;
  const TensorDesc* const c = desc.tensors[kC].present ? &desc.tensors[kC].tensor : nullptr;
  const schema::Described* const fused = fused_activation(desc);
  TensorDesc result = output;
  if (fused != nullptr && !set_packed_strides(result)) {
    return std::nullopt;
  }
  const bool takes_c =
      c != nullptr && parameters.scale.beta != 0 && fits_half_product(make_step(parameters, a, b, c, result), true);
  const bool adds_c = c != nullptr && !takes_c;
  if (adds_c) {
    result.type = DataType::FLOAT32;
    if (!set_packed_strides(result)) {
      return std::nullopt;
    }
  }
  if (!takes_c && !fits_half_product(make_step(parameters, a, b, nullptr, result), false)) {
    return std::nullopt;
  }
  DecompositionBuilder list(desc);
  std::uint32_t value = list.add_internal(kHalfProduct, {kA, kB, takes_c ? static_cast<std::uint32_t>(kC) : kNoValue},
                                          std::span(&result, 1), std::as_bytes(std::span(&parameters, 1)));
  if (adds_c) {
    std::uint32_t added = widened(list, desc, kC);
    if (parameters.scale.beta != 1) {
      added = list.add("ELEMENT_WISE_IDENTITY", {added}, DataType::FLOAT32, result,
                       {{.field = "ScaleBias", .numbers = {Scalar(f64{parameters.scale.beta}), Scalar(f64{0})}}});
    }
    value = list.add("ELEMENT_WISE_ADD", {value, added}, DataType::FLOAT32, result);
    return finished(list, desc, value);
  }
  if (fused != nullptr) {
    list.add_nested_output(*fused, {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

bool is_half_product(const OpDesc& desc) { return desc.op == &kHalfProduct; }

void lower_half_product(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  HalfParameters parameters;
  std::memcpy(&parameters, desc.internal.data(), sizeof(parameters));
  const ProductStep step = make_step(parameters, tensors[kA].tensor, tensors[kB].tensor,
                                     desc.tensors[kC].present ? &tensors[kC].tensor : nullptr, tensors.back().tensor);
  Operand operands[4];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

}  // namespace anydml::products
