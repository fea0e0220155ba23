// SPDX-License-Identifier: MIT
// The family of sums of products. GEMM is decomposed into two operators private to this family: PRODUCT_PACK, which
// packs B for the kernels, and PRODUCT. The fused activation is an element-wise operator that follows. CONVOLUTION,
// integer products, products of weights in codes, FLOAT64 products and FLOAT16 products that are not bit-exact have
// their own files.
#include "ops/family.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "ops/arguments.h"
#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "ops/product/integer.h"
#include "ops/product/internal.h"
#include "ops/product/step.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_PRODUCT_ENTRY(op) #op,
#include "ops/product/product.def"
};

constexpr facts::Operator kPack = products::internal_operator("PRODUCT_PACK");
constexpr facts::Operator kProduct = products::internal_operator("PRODUCT");

using products::kA;
using products::kB;
using products::kC;

// Up to this number of rows, packing a B that is not known in advance takes longer than multiplying.
constexpr std::int64_t kFewRows = 16;

// The parameters of the two internal operators.
struct ProductParameters {
  std::uint32_t transposed_a;
  std::uint32_t transposed_b;
  std::uint32_t panel;      // as in ProductStep
  std::uint32_t exchanged;  // compute the transposed output, as the product of the transposed operands
  ProductScale scale;
};

ProductParameters parameters_of(const OpDesc& internal) {
  ProductParameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

Status check(const OpDesc& desc) {
  if (products::is_convolution(desc)) {
    return products::check_convolution(desc);
  }
  const TensorDesc& output = desc.output().tensor;
  if (output.rank < 2) {
    return invalid(
        desc, desc.output(),
        format_text("has {} dimension{}; expected rows and columns", output.rank, output.rank == 1 ? "" : "s"));
  }
  return {};
}

}  // namespace

namespace products {

// ---- Steps ----------------------------------------------------------------------------------------------------------

MatrixStrides strides_of(const TensorDesc& tensor, bool transposed) {
  const auto stride = [&](std::uint32_t dimension) { return step_of(tensor, dimension); };
  MatrixStrides strides{};
  const std::uint32_t batch_rank = tensor.rank - 2;
  strides.row = stride(batch_rank + (transposed ? 1 : 0));
  strides.column = stride(batch_rank + (transposed ? 0 : 1));
  for (std::uint32_t i = 0; i < batch_rank; ++i) {
    strides.batch[i] = stride(i);
  }
  return strides;
}

ProductStep make_matrices(const TensorDesc& a, bool transposed_a, const TensorDesc& b, bool transposed_b,
                          const TensorDesc* c, const TensorDesc& output) {
  ProductStep step{};
  step.rows = output.sizes[output.rank - 2];
  step.columns = output.sizes[output.rank - 1];
  step.depth = a.sizes[a.rank - (transposed_a ? 2 : 1)];
  step.a = strides_of(a, transposed_a);
  step.b = strides_of(b, transposed_b);
  step.c = c != nullptr ? strides_of(*c, false) : MatrixStrides{};
  step.output = strides_of(output, false);
  set_batches(std::span(output.sizes, output.rank - 2), step);
  return step;
}

void join_rows(ProductStep& step) {
  MatrixStrides* const others[] = {&step.a, &step.c, &step.output};
  while (step.batch_rank != 0) {
    const std::uint32_t last = step.batch_rank - 1;
    if (step.b.batch[last] != 0 || !std::ranges::all_of(others, [&](const MatrixStrides* one) {
          return step.rows == 1 || one->batch[last] == step.rows * one->row;
        })) {
      return;
    }
    for (MatrixStrides* one : others) {
      one->row = step.rows == 1 ? one->batch[last] : one->row;
    }
    step.rows *= step.batch_sizes[last];
    step.batches /= step.batch_sizes[last];
    --step.batch_rank;
  }
}

void exchange(ProductStep& step) {
  std::swap(step.a, step.b);
  std::swap(step.rows, step.columns);
  step.halves = ((step.halves & kHalfA) != 0 ? kHalfB : 0) | ((step.halves & kHalfB) != 0 ? kHalfA : 0);
  for (MatrixStrides* one : {&step.a, &step.b, &step.c, &step.output}) {
    std::swap(one->row, one->column);
  }
}

}  // namespace products

namespace {

bool is_half(const TensorDesc& tensor) { return tensor.type == DataType::FLOAT16; }

ProductStep make_product(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const ProductParameters parameters = parameters_of(desc);
  const TensorDesc& a = tensors[kA].tensor;
  const TensorDesc& b = tensors[kB].tensor;
  ProductStep step =
      products::make_matrices(a, parameters.transposed_a != 0, b, parameters.transposed_b != 0,
                              desc.tensors[kC].present ? &tensors[kC].tensor : nullptr, tensors.back().tensor);
  step.kind = ProductKind::product;
  step.halves = (is_half(a) ? kHalfA : 0) | (is_half(b) ? kHalfB : 0);
  step.panel = parameters.panel;
  step.scale = parameters.scale;
  if (parameters.exchanged != 0) {
    products::exchange(step);
  } else {
    products::join_rows(step);
  }
  return step;
}

ProductStep make_pack(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const ProductParameters parameters = parameters_of(desc);
  const TensorDesc& b = tensors[0].tensor;
  const TensorDesc& packed = tensors[1].tensor;
  ProductStep step{};
  step.kind = ProductKind::pack;
  step.halves = is_half(b) ? kHalfB : 0;
  step.panel = parameters.panel;
  step.columns = b.sizes[b.rank - (parameters.transposed_b != 0 ? 2 : 1)];
  step.depth = b.sizes[b.rank - (parameters.transposed_b != 0 ? 1 : 2)];
  step.b = products::strides_of(b, parameters.transposed_b != 0);
  step.output = products::strides_of(packed, false);
  products::set_batches(std::span(packed.sizes, packed.rank - 2), step);
  return step;
}

void lower(const OpDesc& desc, const DeviceTraits& device, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (products::is_convolution_part(desc)) {
    products::lower_convolution_part(desc, device, tensors, plan);
    return;
  }
  if (is_integer_product(*desc.op)) {
    lower_integer_product(desc, tensors, plan);
    return;
  }
  if (products::is_coded_part(desc)) {
    products::lower_coded_part(desc, tensors, plan);
    return;
  }
  if (products::is_half_product(desc)) {
    products::lower_half_product(desc, tensors, plan);
    return;
  }
  if (products::is_double_part(desc)) {
    products::lower_double_part(desc, tensors, plan);
    return;
  }
  const ProductStep step = desc.op == &kPack ? make_pack(desc, tensors) : make_product(desc, tensors);
  Operand operands[4];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  if (desc.op == &kProduct && parameters_of(desc).exchanged != 0) {
    std::swap(operands[kA], operands[kB]);
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

// The output is passed on as tiles of rows, so its rows must be contiguous.
Joins joins(const OpDesc& desc, const DeviceTraits& device) {
  if (products::is_convolution_part(desc)) {
    return products::convolution_joins(desc, device);
  }
  if (is_integer_product(*desc.op)) {
    return integer_product_joins(desc);
  }
  if (products::is_coded_part(desc)) {
    return {.inputs = 0, .outputs = products::passes_coded_tiles(desc) ? 1U : 0U};
  }
  const bool forwards = desc.op == &kProduct && parameters_of(desc).exchanged == 0 && is_packed(desc.output().tensor);
  return {.inputs = 0, .outputs = forwards ? 1U : 0U};
}

// ---- Decomposition --------------------------------------------------------------------------------------------------

// The packed form of B, in its type: FLOAT16 weights take half the memory, and a single row needs half the time.
// Repeated batches are packed only once.
Result<TensorDesc> packed_form(const OpDesc& desc, const TensorDesc& b, std::int64_t columns, std::int64_t depth,
                               std::uint32_t panel) {
  TensorDesc packed = products::without_repeats(b);
  packed.sizes[b.rank - 2] = (columns + panel - 1) / panel;
  if (__builtin_mul_overflow(depth, std::int64_t{panel}, &packed.sizes[b.rank - 1]) || !set_packed_strides(packed)) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: {} is too large to be packed", desc.op->name, desc.tensors[kB].name)};
  }
  return packed;
}

Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits& device, const KnownInputs& known) {
  if (is_integer_product(*desc.op)) {
    return decompose_integer_product(desc, device, known);
  }
  if (!desc.internal.empty()) {
    return Decomposition();
  }
  if (desc.output().tensor.type == DataType::FLOAT64) {
    return products::double_parts(desc);
  }
  if (products::is_convolution(desc)) {
    return products::decompose_convolution(desc, device);
  }
  if (auto coded = products::coded_parts(desc, device, known); coded.has_value()) {
    return std::move(*coded);
  }
  if (device.half_products) {
    if (auto built = products::half_parts(desc); built.has_value()) {
      return std::move(*built);
    }
  }
  const TensorDesc& output = desc.output().tensor;
  const TensorDesc& given_b = desc.tensors[kB].tensor;
  const std::uint32_t rank = output.rank;
  ProductParameters parameters{
      .transposed_a = number_of(desc, "TransA").as<u32>(),
      .transposed_b = number_of(desc, "TransB").as<u32>(),
      .panel = 0,
      .exchanged = 0,
      .scale = {.alpha = number_of(desc, "Alpha").as<f32>(), .beta = number_of(desc, "Beta").as<f32>()}};
  const std::int64_t columns = output.sizes[rank - 1];
  const std::int64_t depth = given_b.sizes[rank - (parameters.transposed_b != 0 ? 1 : 2)];
  std::int64_t rows = output.sizes[rank - 2];  // rows that are multiplied by one B
  for (std::uint32_t i = 0; i + 2 < rank; ++i) {
    rows *= given_b.strides[i] == 0 ? output.sizes[i] : 1;
  }

  DecompositionBuilder list(desc);
  // Kernels that pack factors also convert them to FLOAT32.
  const bool packs = device.packs_weights() && depth != 0;
  const std::uint32_t a = packs ? kA : products::widened(list, desc, kA);
  std::uint32_t b = packs ? kB : products::widened(list, desc, kB);
  const std::uint32_t c = desc.tensors[kC].present ? products::widened(list, desc, kC) : kNoValue;
  if (const std::uint32_t panel = panel_columns(device.vector_bytes); panel != 0 && depth != 0) {
    parameters.exchanged = columns <= kFewRows && columns < rows ? 1 : 0;
    if (parameters.exchanged == 0 && (known[kB] || rows > kFewRows)) {
      parameters.panel = panel;
      const auto packed = packed_form(desc, list.tensor(b), columns, depth, panel);
      ANYDML_TRY(packed);
      list.see(b, products::without_repeats(list.tensor(b)));
      b = list.add_internal(kPack, {b}, std::span(&packed.value(), 1), std::as_bytes(std::span(&parameters, 1)), true);
      parameters.transposed_b = 0;
    }
  }
  const auto result = products::product_result(desc);
  ANYDML_TRY(result);
  const std::uint32_t value =
      list.add_internal(kProduct, {a, b, c}, std::span(&result.value(), 1), std::as_bytes(std::span(&parameters, 1)));
  return products::finished(list, desc, value);
}

}  // namespace

namespace products {

TensorDesc without_repeats(TensorDesc matrices) {
  for (std::uint32_t i = 0; i + 2 < matrices.rank; ++i) {
    matrices.sizes[i] = matrices.strides[i] == 0 ? 1 : matrices.sizes[i];
  }
  return matrices;
}

std::uint32_t widened(DecompositionBuilder& list, const OpDesc& desc, std::uint32_t value) {
  return desc.output().tensor.type == DataType::FLOAT16
             ? list.add("CAST", {value}, DataType::FLOAT32, list.tensor(value))
             : value;
}

Result<TensorDesc> product_result(const OpDesc& desc) {
  TensorDesc result = desc.output().tensor;
  const bool is_last = result.type != DataType::FLOAT16 && fused_activation(desc) == nullptr;
  result.type = result.type == DataType::FLOAT16 ? DataType::FLOAT32 : result.type;
  if (!is_last && !set_packed_strides(result)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
  }
  return result;
}

Result<Decomposition> finished(DecompositionBuilder& list, const OpDesc& desc, std::uint32_t value) {
  const bool is_half = desc.output().tensor.type == DataType::FLOAT16;
  const schema::Described* fused = fused_activation(desc);
  if (is_half && fused == nullptr) {
    list.add_output("CAST", {value}, 0);
  } else if (fused != nullptr) {
    value = is_half ? list.add("CAST", {value}, DataType::FLOAT16, desc.output().tensor) : value;
    list.add_nested_output(*fused, {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

void set_batches(std::span<const std::int64_t> sizes, ProductStep& step) {
  MatrixStrides* const all[] = {&step.a, &step.b, &step.c, &step.output};
  step.batches = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    step.batches *= size;
    if (size == 1) {
      continue;
    }
    const std::uint32_t next = step.batch_rank;
    if (next != 0 && std::ranges::all_of(
                         all, [&](const MatrixStrides* one) { return one->batch[next - 1] == size * one->batch[i]; })) {
      step.batch_sizes[next - 1] *= size;
      for (MatrixStrides* one : all) {
        one->batch[next - 1] = one->batch[i];
      }
      continue;
    }
    step.batch_sizes[next] = size;
    for (MatrixStrides* one : all) {
      one->batch[next] = one->batch[i];
    }
    ++step.batch_rank;
  }
}

}  // namespace products

extern const Family product_family;
const Family product_family = {
    .id = FamilyId::product,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types =
        [](const facts::Operator& op, std::size_t position) {
          if (is_integer_product(op)) {
            return integer_product_types(op, position);
          }
          return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16) | type_bit(DataType::FLOAT64);
        },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = joins,
    .decompose = decompose,
};

}  // namespace anydml
