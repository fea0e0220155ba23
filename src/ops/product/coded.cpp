// SPDX-License-Identifier: MIT
// GEMM with weights in codes (coded.h). It is decomposed into CODED_PACK, which reads the inputs of DEQUANTIZE, and
// CODED_PRODUCT. The operators that follow a product are the same as after other weights.
#include "ops/product/coded.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/arguments.h"
#include "ops/product/internal.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml::products {
namespace {

constexpr facts::Operator kPack = internal_operator("CODED_PACK");
constexpr facts::Operator kProduct = internal_operator("CODED_PRODUCT");

struct PackParameters {
  CodedForm form;
  std::uint32_t flip;
  std::uint32_t k_dimension;  // of the codes, scales and zero points
  std::uint32_t column_dimension;
  std::uint32_t unused;
};

struct ProductParameters {
  CodedForm form;
  std::uint32_t transposed_a;
  std::uint32_t unused;
  ProductScale scale;
};

template <class Parameters>
Parameters parameters_of(const OpDesc& internal) {
  Parameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

// The dimensions of DEQUANTIZE's output along which k and the columns of B run.
struct MatrixDimensions {
  std::uint32_t k;
  std::uint32_t column;
};

std::optional<std::uint32_t> dimension_with(const TensorDesc& whole, std::int64_t size, std::int64_t stride,
                                            std::optional<std::uint32_t> taken) {
  for (std::uint32_t i = whole.rank; i-- > 0;) {
    if (i != taken && whole.sizes[i] >= size && (size == 1 || whole.strides[i] == stride)) {
      return i;
    }
  }
  return std::nullopt;
}

// Nothing if B is not a matrix at the beginning of the output, or if there are several matrices.
std::optional<MatrixDimensions> find_matrix(const TensorDesc& whole, const TensorDesc& b, bool transposed) {
  const TensorDesc matrix = without_repeats(b);
  if (!std::all_of(matrix.sizes, matrix.sizes + matrix.rank - 2, [](std::int64_t size) { return size == 1; })) {
    return std::nullopt;
  }
  const std::uint32_t of_k = matrix.rank - (transposed ? 1 : 2);
  const std::uint32_t of_column = matrix.rank - (transposed ? 2 : 1);
  const auto find = [&](std::uint32_t dimension, std::optional<std::uint32_t> taken) {
    return dimension_with(whole, matrix.sizes[dimension], matrix.strides[dimension], taken);
  };
  // A single row or column may run along any dimension, so it comes second.
  const bool k_is_first = matrix.sizes[of_k] > 1;
  const auto first = find(k_is_first ? of_k : of_column, std::nullopt);
  const auto second = first.has_value() ? find(k_is_first ? of_column : of_k, first) : std::nullopt;
  if (!second.has_value()) {
    return std::nullopt;
  }
  return k_is_first ? MatrixDimensions{.k = *first, .column = *second}
                    : MatrixDimensions{.k = *second, .column = *first};
}

std::int64_t stride_of(const TensorDesc& tensor, std::uint32_t dimension) {
  return tensor.sizes[dimension] == 1 ? 0 : tensor.strides[dimension];
}

bool is_signed_code(DataType type) { return type == DataType::INT4 || type == DataType::INT8; }

// The parameters of the packed form; nothing if the kernels cannot read such codes.
std::optional<PackParameters> find_form(const OpDesc& desc, const OpDesc& maker, std::uint32_t vector_bytes) {
  const TensorDesc& b = desc.tensors[kB].tensor;
  const TensorDesc& whole = maker.output().tensor;
  const bool transposed = number_of(desc, "TransB").as<u32>() != 0;
  if (maker.op->name != "DEQUANTIZE" || whole.type != b.type || whole.rank < 2) {
    return std::nullopt;
  }
  const auto matrix = find_matrix(whole, b, transposed);
  if (!matrix.has_value()) {
    return std::nullopt;
  }
  const TensorDesc& codes = maker.tensors[0].tensor;
  const TensorDesc& scales = maker.tensors[1].tensor;
  const bool has_zeros = maker.input_count > 2 && maker.tensors[2].present;
  const std::uint32_t bits = is_four_bits(codes.type) ? 4 : 8;
  const std::uint32_t middle = 1U << (bits - 1);
  PackParameters parameters{.form = {.bits = bits,
                                     .width = coded_width(vector_bytes),
                                     .half_scales = scales.type == DataType::FLOAT16 ? 1U : 0U,
                                     .half_weights = b.type == DataType::FLOAT16 ? 1U : 0U,
                                     .has_zeros = has_zeros ? 1U : 0U,
                                     // Without zero points, that of signed codes is 0, and that of unsigned codes is
                                     // the middle of the range. Stored codes are unsigned.
                                     .zero = static_cast<std::int32_t>(middle),
                                     .activation_bits = 0,
                                     .unused = 0,
                                     .columns = b.sizes[b.rank - (transposed ? 2 : 1)],
                                     .depth = b.sizes[b.rank - (transposed ? 1 : 2)],
                                     .block = codes.sizes[matrix->k] / scales.sizes[matrix->k]},
                            .flip = is_signed_code(codes.type) ? middle : 0,
                            .k_dimension = matrix->k,
                            .column_dimension = matrix->column,
                            .unused = 0};
  const bool has_whole_words =
      parameters.form.block % kCodesOfWord == 0 || parameters.form.block >= parameters.form.depth;
  return has_whole_words && parameters.form.depth != 0 ? std::optional(parameters) : std::nullopt;
}

// Nothing if the packed form has too many bytes.
std::optional<TensorDesc> packed_bytes(const CodedForm& form) {
  const std::int64_t columns = form.panels() * form.width;
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(columns, form.depth + kCodesOfWord, &elements) || elements > INT64_MAX / 16) {
    return std::nullopt;
  }
  TensorDesc bytes{};
  bytes.type = DataType::UINT8;
  bytes.rank = 1;
  bytes.sizes[0] = form.bytes();
  bytes.strides[0] = 1;
  return bytes;
}

CodedPackStep make_pack(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const auto parameters = parameters_of<PackParameters>(desc);
  const auto strides = [&](std::size_t input) {
    const TensorDesc& tensor = tensors[input].tensor;
    return CodedPackStep::Strides{.k = stride_of(tensor, parameters.k_dimension),
                                  .column = stride_of(tensor, parameters.column_dimension)};
  };
  const TensorDesc& codes = tensors[coded_pack_operands::kCodes].tensor;
  const TensorDesc& scales = tensors[coded_pack_operands::kScales].tensor;
  return {.kind = ProductKind::coded_pack,
          .flip = parameters.flip,
          .form = parameters.form,
          .columns_of_scale = codes.sizes[parameters.column_dimension] / scales.sizes[parameters.column_dimension],
          .codes = strides(coded_pack_operands::kCodes),
          .scales = strides(coded_pack_operands::kScales),
          .zeros = parameters.form.has_zeros != 0 ? strides(coded_pack_operands::kZeros) : CodedPackStep::Strides{}};
}

CodedStep make_product(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const auto parameters = parameters_of<ProductParameters>(desc);
  const TensorDesc& a = tensors[kA].tensor;
  const TensorDesc& output = tensors.back().tensor;
  TensorDesc no_b = output;  // only its rank matters
  std::fill_n(no_b.sizes, no_b.rank, 1);
  CodedStep step{.product = make_matrices(a, parameters.transposed_a != 0, no_b, false,
                                          desc.tensors[kC].present ? &tensors[kC].tensor : nullptr, output),
                 .form = parameters.form};
  step.product.kind = ProductKind::coded_product;
  step.product.halves = a.type == DataType::FLOAT16 ? kHalfA : 0;
  step.product.scale = parameters.scale;
  join_rows(step.product);
  return step;
}

template <class Step>
void add_step(const Step& step, std::span<const PlacedTensor> tensors, Plan& plan) {
  Operand operands[4];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

}  // namespace

std::optional<Result<Decomposition>> coded_parts(const OpDesc& desc, const DeviceTraits& device,
                                                 const KnownInputs& known) {
  const OpDesc* const maker = known.maker(kB);
  if (!device.reads_codes || !device.packs_weights() || maker == nullptr) {
    return std::nullopt;
  }
  const auto pack = find_form(desc, *maker, device.vector_bytes);
  const auto bytes = pack.has_value() ? packed_bytes(pack->form) : std::nullopt;
  if (!bytes.has_value()) {
    return std::nullopt;
  }
  const auto result = product_result(desc);
  if (!result) {
    return result.error();
  }
  DecompositionBuilder list(desc, kB, *maker);
  const auto first = desc.input_count;  // the number of the value that has the codes
  const std::uint32_t zeros = pack->form.has_zeros != 0 ? first + 2 : kNoValue;
  const std::uint32_t packed = list.add_internal(kPack, {first, first + 1, zeros}, std::span(&*bytes, 1),
                                                 std::as_bytes(std::span(&*pack, 1)), true);
  CodedForm form = pack->form;
  constexpr std::int64_t kMaxSum = std::int64_t{1} << 20;  // products of codes whose sum certainly fits into 32 bits
  const bool fits = form.bits == 4 && std::min(form.block, form.depth) <= kMaxSum;
  form.activation_bits = device.integer_activations && fits ? 8 : 0;
  const ProductParameters parameters{
      .form = form,
      .transposed_a = number_of(desc, "TransA").as<u32>(),
      .unused = 0,
      .scale = {.alpha = number_of(desc, "Alpha").as<f32>(), .beta = number_of(desc, "Beta").as<f32>()}};
  const std::uint32_t c = desc.tensors[kC].present ? widened(list, desc, kC) : kNoValue;
  const std::uint32_t value = list.add_internal(kProduct, {kA, packed, c}, std::span(&result.value(), 1),
                                                std::as_bytes(std::span(&parameters, 1)));
  return finished(list, desc, value);
}

bool is_coded_part(const OpDesc& desc) { return desc.op == &kPack || desc.op == &kProduct; }

bool passes_coded_tiles(const OpDesc& desc) { return desc.op == &kProduct && is_packed(desc.output().tensor); }

void lower_coded_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (desc.op == &kPack) {
    add_step(make_pack(desc, tensors), tensors, plan);
  } else {
    add_step(make_product(desc, tensors), tensors, plan);
  }
}

}  // namespace anydml::products
