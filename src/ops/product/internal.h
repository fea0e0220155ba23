// SPDX-License-Identifier: MIT
// Declarations shared by the files of this family: its private operators and their steps.
#pragma once

#include <optional>
#include <span>

#include "ops/decomposition.h"
#include "ops/family.h"
#include "ops/op_desc.h"
#include "ops/product/step.h"

namespace anydml::products {

// The tensors of GEMM.
inline constexpr std::size_t kA = 0;
inline constexpr std::size_t kB = 1;
inline constexpr std::size_t kC = 2;

[[nodiscard]] constexpr facts::Operator internal_operator(std::string_view name) {
  facts::Operator op{};
  op.name = name;
  return op;
}

// The stride of a dimension in bytes; a dimension of size 1 has no meaningful stride.
[[nodiscard]] inline std::int64_t step_of(const TensorDesc& tensor, std::uint32_t dimension) {
  return tensor.sizes[dimension] == 1
             ? 0
             : tensor.strides[dimension] * static_cast<std::int64_t>(element_size(tensor.type));
}

// Converts an input that has the output's type to FLOAT32 if that type is FLOAT16.
[[nodiscard]] std::uint32_t widened(DecompositionBuilder& list, const OpDesc& desc, std::uint32_t value);
// Reduces the tensor to the matrices that are distinct in memory, so that the packed form does not depend on the sizes
// of the other operand.
[[nodiscard]] TensorDesc without_repeats(TensorDesc matrices);
// The tensor that the product itself computes: the output, or a packed tensor with the type of the sums if more
// operators follow.
[[nodiscard]] Result<TensorDesc> product_result(const OpDesc& desc);
// The operators after the product: rounding to FLOAT16, and the fused activation.
[[nodiscard]] Result<Decomposition> finished(DecompositionBuilder& list, const OpDesc& desc, std::uint32_t value);

// For any product: the strides of a tensor's matrices, whose rows and columns are its last two dimensions.
[[nodiscard]] MatrixStrides strides_of(const TensorDesc& tensor, bool transposed);
// Joins matrices that share one B, and whose rows are consecutive in all other operands, into one matrix with more
// rows.
void join_rows(ProductStep& step);
// Makes the step compute the transposed output, as the product of the transposed operands.
void exchange(ProductStep& step);
// Drops loops over a single matrix, and merges loops that are contiguous in every operand.
void set_batches(std::span<const std::int64_t> sizes, ProductStep& step);

// The sizes and strides of a matrix product, with batches joined. `c` is null if absent.
[[nodiscard]] ProductStep make_matrices(const TensorDesc& a, bool transposed_a, const TensorDesc& b, bool transposed_b,
                                        const TensorDesc* c, const TensorDesc& output);

// FLOAT16 products without conversion, in half.cpp. If the operator's layouts or attributes are not supported, returns
// no value, and the operator is decomposed in the same way as on all other devices.
[[nodiscard]] std::optional<Result<Decomposition>> half_parts(const OpDesc& desc);
[[nodiscard]] bool is_half_product(const OpDesc& desc);
void lower_half_product(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

// Products that read B in codes, in coded.cpp. If B is not in known codes, or the kernels cannot read them, returns no
// value, and B is computed by a separate operator.
[[nodiscard]] std::optional<Result<Decomposition>> coded_parts(const OpDesc& desc, const DeviceTraits& device,
                                                               const KnownInputs& known);
[[nodiscard]] bool is_coded_part(const OpDesc& desc);
[[nodiscard]] bool passes_coded_tiles(const OpDesc& desc);
void lower_coded_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

// FLOAT64 products and convolutions, in double.cpp.
[[nodiscard]] Result<Decomposition> double_parts(const OpDesc& desc);
[[nodiscard]] bool is_double_part(const OpDesc& desc);
void lower_double_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

// Convolutions, in convolution.cpp: CONVOLUTION, and the geometry and the checks that integer convolutions share.
[[nodiscard]] bool is_convolution(const OpDesc& desc);
[[nodiscard]] Status check_convolution(const OpDesc& desc);

// The parameters that internal operators inherit from the whole operator. They contain no strides, because each
// internal operator sees only its own tensors.
struct ConvolutionParameters {
  std::uint32_t strip;
  std::uint32_t unused;
  std::int64_t groups;
  Windows windows;
  std::uint32_t rank;  // of the windows
  std::uint32_t unused_too;
};
[[nodiscard]] ConvolutionParameters convolution_parameters(const OpDesc& desc);
// The parameters of the operator that packs the filter. They do not depend on the sizes of the images, so that graphs
// for images of different sizes pack a filter only once.
[[nodiscard]] ConvolutionParameters filter_parameters(ConvolutionParameters parameters);

// The step of an internal operator, for the tensors of that operator. Absent tensors are null.
[[nodiscard]] ConvolutionStep make_convolution_step(const ConvolutionParameters& parameters, const TensorDesc* input,
                                                    const TensorDesc* filter, const TensorDesc* bias,
                                                    const TensorDesc* output);

// The distance in bytes between pixels, if each input pixel corresponds to one output pixel and the pixels are equally
// spaced in the input and in the output.
struct PixelSteps {
  std::int64_t input;
  std::int64_t output;
};
[[nodiscard]] std::optional<PixelSteps> without_windows(const ConvolutionStep& step);

[[nodiscard]] Result<Decomposition> decompose_convolution(const OpDesc& desc, const DeviceTraits& device);
[[nodiscard]] bool is_convolution_part(const OpDesc& desc);
void lower_convolution_part(const OpDesc& desc, const DeviceTraits& device, std::span<const PlacedTensor> tensors,
                            Plan& plan);
[[nodiscard]] Joins convolution_joins(const OpDesc& desc, const DeviceTraits& device);

}  // namespace anydml::products
