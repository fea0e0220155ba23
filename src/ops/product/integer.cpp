// SPDX-License-Identifier: MIT
// Products of 8-bit matrices are decomposed into two operators private to this family: INTEGER_PACK, which packs B for
// the kernels, and INTEGER_PRODUCT. Sums of wider integers can exceed the integer range, so their products are
// decomposed into differences converted to FLOAT32, a GEMM and element-wise operators.
#include "ops/product/integer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/product/integer_step.h"
#include "ops/product/internal.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

using products::exchange;
using products::internal_operator;
using products::is_signed_byte;
using products::join_rows;
using products::set_batches;
using products::strides_of;

constexpr facts::Operator kIntegerPack = products::internal_operator("INTEGER_PACK");
constexpr facts::Operator kIntegerProduct = products::internal_operator("INTEGER_PRODUCT");

// Up to this number of rows, packing a B that is not known in advance takes longer than multiplying.
constexpr std::int64_t kFewIntegerRows = 16;
// Up to this number of columns, most of a panel would be empty.
constexpr std::int64_t kFewColumns = 4;

constexpr std::size_t kNone = products::kNoInput;
using Layout = products::IntegerLayout;
constexpr Layout kLayouts[] = {
    {.name = "MATRIX_MULTIPLY_INTEGER",
     .finish = IntegerFinish::int32,
     .inputs = {0, 2, 1, 3, kNone, kNone, kNone, kNone, kNone},
     .count = 4},
    {.name = "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
     .finish = IntegerFinish::quantized,
     .inputs = {0, 3, 2, 5, 1, 4, kNone, 6, 7},
     .count = 8},
    {.name = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
     .finish = IntegerFinish::float32,
     .inputs = {0, 3, 2, 5, 1, 4, 6, kNone, kNone},
     .count = 7},
    {.name = "CONVOLUTION_INTEGER",
     .finish = IntegerFinish::int32,
     .inputs = {2, 0, 3, 1, kNone, kNone, kNone, kNone, kNone},
     .count = 4,
     .is_convolution = true},
    {.name = "QUANTIZED_LINEAR_CONVOLUTION",
     .finish = IntegerFinish::quantized,
     .inputs = {3, 0, 5, 2, 4, 1, 6, 7, 8},
     .count = 9,
     .is_convolution = true},
};

const Layout* find_layout(const facts::Operator& op) {
  const auto* found = std::ranges::find(kLayouts, op.name, &Layout::name);
  return found != std::end(kLayouts) ? found : nullptr;
}

// The parameters of the two internal operators.
struct IntegerParameters {
  std::uint32_t panel;      // as in ProductStep
  std::uint32_t exchanged;  // compute the transposed output, as the product of the transposed operands
  IntegerFinish finish;
};

IntegerParameters integer_parameters_of(const OpDesc& internal) {
  IntegerParameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

bool is_wide(DataType type) { return element_size(type) > 1; }

// ---- Steps ----------------------------------------------------------------------------------------------------------

// The tensor as a matrix formed by its last two dimensions. All other sizes must be 1; missing sizes count as 1.
TensorDesc matrix_of(const TensorDesc& tensor) {
  TensorDesc matrix = tensor;
  matrix.rank = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const bool is_there = tensor.rank + i >= 2;
    matrix.sizes[i] = is_there ? tensor.sizes[tensor.rank + i - 2] : 1;
    matrix.strides[i] = is_there ? tensor.strides[tensor.rank + i - 2] : 0;
  }
  return matrix;
}

SideStrides side_strides(const TensorDesc& tensor) {
  const MatrixStrides strides = strides_of(matrix_of(tensor), false);
  return {.row = strides.row, .column = strides.column};
}

void exchange_sides(IntegerStep& step) {
  exchange(step.product);
  std::swap(step.signed_a, step.signed_b);
  std::swap(step.a_zero, step.b_zero);
  std::swap(step.a_scale, step.b_scale);
  for (SideStrides* one :
       {&step.a_zero, &step.b_zero, &step.a_scale, &step.b_scale, &step.output_scale, &step.output_zero}) {
    std::swap(one->row, one->column);
  }
}

IntegerStep make_integer_product(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const IntegerParameters parameters = integer_parameters_of(desc);
  const auto tensor = [&](IntegerOperand operand) -> const TensorDesc& {
    return tensors[static_cast<std::size_t>(operand)].tensor;
  };
  const auto side = [&](IntegerOperand operand) {
    return desc.tensors[static_cast<std::size_t>(operand)].present ? side_strides(tensor(operand)) : SideStrides{};
  };
  const TensorDesc& a = tensor(IntegerOperand::a);
  const TensorDesc& output = tensor(IntegerOperand::output);
  IntegerStep step{};
  ProductStep& product = step.product;
  product.kind = ProductKind::integer_product;
  product.panel = parameters.panel;
  product.rows = output.sizes[output.rank - 2];
  product.columns = output.sizes[output.rank - 1];
  product.depth = a.sizes[a.rank - 1];
  product.a = strides_of(a, false);
  product.b = strides_of(tensor(IntegerOperand::b), false);
  if (desc.tensors[static_cast<std::size_t>(IntegerOperand::bias)].present) {
    product.c = strides_of(tensor(IntegerOperand::bias), false);
  }
  product.output = strides_of(output, false);
  step.finish = parameters.finish;
  step.signed_a = is_signed_byte(a.type) ? 1 : 0;
  step.signed_b = is_signed_byte(tensor(IntegerOperand::b).type) ? 1 : 0;
  step.signed_output = is_signed_byte(output.type) ? 1 : 0;
  step.a_zero = side(IntegerOperand::a_zero);
  step.b_zero = side(IntegerOperand::b_zero);
  step.a_scale = side(IntegerOperand::a_scale);
  step.b_scale = side(IntegerOperand::b_scale);
  step.output_scale = side(IntegerOperand::output_scale);
  step.output_zero = side(IntegerOperand::output_zero);
  set_batches(std::span(output.sizes, output.rank - 2), product);
  if (parameters.exchanged != 0) {
    exchange_sides(step);
  } else if (step.a_zero.row == 0 && step.a_scale.row == 0 && step.output_scale.row == 0 && step.output_zero.row == 0) {
    join_rows(product);
  }
  return step;
}

IntegerStep make_integer_pack(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const TensorDesc& b = tensors[0].tensor;
  IntegerStep step{};
  ProductStep& product = step.product;
  product.kind = ProductKind::integer_pack;
  product.panel = integer_parameters_of(desc).panel;
  product.columns = b.sizes[b.rank - 1];
  product.depth = b.sizes[b.rank - 2];
  product.b = strides_of(b, false);
  product.output = strides_of(tensors[1].tensor, false);
  step.signed_b = is_signed_byte(b.type) ? 1 : 0;
  set_batches(std::span(tensors[1].tensor.sizes, tensors[1].tensor.rank - 2), product);
  return step;
}

// ---- Decomposition --------------------------------------------------------------------------------------------------

// The packed form of B. It has B's type, so that the signedness is known. Repeated batches are packed only once.
Result<TensorDesc> packed_form(const OpDesc& desc, const TensorDesc& b, std::uint32_t panel) {
  TensorDesc packed = products::without_repeats(b);
  const std::int64_t depth = b.sizes[b.rank - 2];
  std::int64_t maximum = 0;  // upper limit for the bytes of a panel
  packed.sizes[b.rank - 2] = (b.sizes[b.rank - 1] + panel - 1) / panel;
  const bool fits = !__builtin_add_overflow(depth, 2 * kDepthUnit, &maximum) &&
                    !__builtin_mul_overflow(maximum, std::int64_t{panel}, &maximum);
  packed.sizes[b.rank - 1] = fits ? integer_panel_bytes(panel, depth) : 0;
  if (!fits || !set_packed_strides(packed)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: BTensor is too large to be packed", desc.op->name)};
  }
  return packed;
}

Error too_large(const OpDesc& desc) {
  return {ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
}

// The inputs of an operator as values of its decomposition.
class Inputs {
 public:
  Inputs(const OpDesc& desc, const Layout& layout, DecompositionBuilder& list)
      : desc_(desc), layout_(layout), list_(list) {}

  [[nodiscard]] std::uint32_t value(IntegerOperand operand) const { return layout_.value(desc_, operand); }
  // A scale or a bias in FLOAT32.
  [[nodiscard]] std::uint32_t wide_float(IntegerOperand operand) const {
    const std::uint32_t given = value(operand);
    return given == kNoValue || list_.tensor(given).type == DataType::FLOAT32 ? given : cast(given, DataType::FLOAT32);
  }
  [[nodiscard]] std::uint32_t cast(std::uint32_t given, DataType type) const {
    return list_.add("CAST", {given}, type, list_.tensor(given));
  }

 private:
  const OpDesc& desc_;
  const Layout& layout_;
  DecompositionBuilder& list_;
};

Result<Decomposition> narrow_parts(const OpDesc& desc, const Layout& layout, const DeviceTraits& device,
                                   const KnownInputs& known) {
  DecompositionBuilder list(desc);
  const Inputs inputs(desc, layout, list);
  const TensorDesc& output = desc.output().tensor;
  const std::size_t b_position = layout.of(IntegerOperand::b);
  const TensorDesc& given_b = desc.tensors[b_position].tensor;
  IntegerParameters parameters{.panel = 0, .exchanged = 0, .finish = layout.finish};
  const std::int64_t columns = output.sizes[output.rank - 1];
  const std::int64_t depth = given_b.sizes[given_b.rank - 2];
  std::int64_t rows = output.sizes[output.rank - 2];  // rows that are multiplied by one B
  parameters.exchanged = columns <= kFewColumns && columns < rows ? 1 : 0;
  for (std::uint32_t i = 0; i + 2 < output.rank; ++i) {
    rows *= given_b.strides[i] == 0 ? output.sizes[i] : 1;
  }
  std::uint32_t b = inputs.value(IntegerOperand::b);
  const std::uint32_t panel = integer_panel_columns(device.vector_bytes);
  if (panel != 0 && depth != 0 && parameters.exchanged == 0 && (known[b_position] || rows > kFewIntegerRows)) {
    parameters.panel = panel;
    const auto packed = packed_form(desc, given_b, panel);
    ANYDML_TRY(packed);
    list.see(b, products::without_repeats(list.tensor(b)));
    b = list.add_internal(kIntegerPack, {b}, std::span(&packed.value(), 1), std::as_bytes(std::span(&parameters, 1)),
                          true);
  }
  TensorDesc result = output;
  const bool is_half = output.type == DataType::FLOAT16;
  if (is_half) {
    result.type = DataType::FLOAT32;
    if (!set_packed_strides(result)) {
      return too_large(desc);
    }
  }
  const std::uint32_t value =
      list.add_internal(kIntegerProduct,
                        {inputs.value(IntegerOperand::a), b, inputs.value(IntegerOperand::a_zero),
                         inputs.value(IntegerOperand::b_zero), inputs.wide_float(IntegerOperand::a_scale),
                         inputs.wide_float(IntegerOperand::b_scale), inputs.wide_float(IntegerOperand::bias),
                         inputs.value(IntegerOperand::output_scale), inputs.value(IntegerOperand::output_zero)},
                        std::span(&result, 1), std::as_bytes(std::span(&parameters, 1)));
  if (is_half) {
    list.add_output("CAST", {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

Result<Decomposition> wide_parts(const OpDesc& desc, const Layout& layout) {
  DecompositionBuilder list(desc);
  const Inputs inputs(desc, layout, list);
  const TensorDesc& output = desc.output().tensor;
  // The difference of two 32-bit integers is exact in 64 bits.
  const auto factor = [&](IntegerOperand of, IntegerOperand zero_of) {
    const std::uint32_t given = inputs.value(of);
    const std::uint32_t zero = inputs.value(zero_of);
    if (zero == kNoValue) {
      return inputs.cast(given, DataType::FLOAT32);
    }
    list.see(zero, matrix_of(list.tensor(zero)));
    const std::uint32_t difference =
        list.add("ELEMENT_WISE_SUBTRACT", {inputs.cast(given, DataType::INT64), inputs.cast(zero, DataType::INT64)},
                 DataType::INT64, list.tensor(given));
    return inputs.cast(difference, DataType::FLOAT32);
  };
  const std::uint32_t a = factor(IntegerOperand::a, IntegerOperand::a_zero);
  const std::uint32_t b = factor(IntegerOperand::b, IntegerOperand::b_zero);
  const std::uint32_t total = list.add("GEMM", {a, b, kNoValue}, DataType::FLOAT32, output,
                                       {{.field = "TransA", .numbers = {Scalar(u64{0})}},
                                        {.field = "TransB", .numbers = {Scalar(u64{0})}},
                                        {.field = "Alpha", .numbers = {Scalar(1.0)}},
                                        {.field = "Beta", .numbers = {Scalar(1.0)}}});
  for (const IntegerOperand scale : {IntegerOperand::a_scale, IntegerOperand::b_scale}) {
    list.see(inputs.value(scale), matrix_of(list.tensor(inputs.value(scale))));
  }
  const std::uint32_t a_scale = inputs.wide_float(IntegerOperand::a_scale);
  const std::uint32_t b_scale = inputs.wide_float(IntegerOperand::b_scale);
  TensorDesc scales = list.tensor(a_scale);
  scales.sizes[1] = list.tensor(b_scale).sizes[1];
  const std::uint32_t product_of_scales =
      list.add("ELEMENT_WISE_MULTIPLY", {a_scale, b_scale}, DataType::FLOAT32, scales);
  const std::uint32_t bias = inputs.wide_float(IntegerOperand::bias);
  const bool is_half = output.type == DataType::FLOAT16;
  const std::vector<std::uint32_t> scaled = {total, product_of_scales};
  if (bias == kNoValue && !is_half) {
    list.add_output("ELEMENT_WISE_MULTIPLY", scaled, 0);
    return list.finish();
  }
  const std::uint32_t product = list.add("ELEMENT_WISE_MULTIPLY", scaled, DataType::FLOAT32, output);
  if (!is_half) {
    list.add_output("ELEMENT_WISE_ADD", {product, bias}, 0);
    return list.finish();
  }
  const std::uint32_t sum =
      bias == kNoValue ? product : list.add("ELEMENT_WISE_ADD", {product, bias}, DataType::FLOAT32, output);
  list.add_output("CAST", {sum}, 0);
  return list.finish();
}

}  // namespace

bool is_integer_product(const facts::Operator& op) {
  return &op == &kIntegerPack || &op == &kIntegerProduct || find_layout(op) != nullptr ||
         products::is_integer_convolution_part(op);
}

TypeSet integer_product_types(const facts::Operator& op, std::size_t position) {
  constexpr TypeSet kBytes = type_bit(DataType::INT8) | type_bit(DataType::UINT8);
  constexpr TypeSet kWide =
      type_bit(DataType::INT16) | type_bit(DataType::UINT16) | type_bit(DataType::INT32) | type_bit(DataType::UINT32);
  const Layout& layout = *find_layout(op);
  const bool is_to_float = layout.finish == IntegerFinish::float32;
  const TypeSet floats = type_bit(DataType::FLOAT32) | (is_to_float ? type_bit(DataType::FLOAT16) : 0);
  if (position == layout.count) {
    return is_to_float ? floats : layout.finish == IntegerFinish::int32 ? type_bit(DataType::INT32) : kBytes;
  }
  if (layout.is_convolution && layout.of(IntegerOperand::bias) == position) {
    return type_bit(DataType::INT32);
  }
  const auto is_at = [&](std::initializer_list<IntegerOperand> operands) {
    return std::ranges::any_of(operands, [&](IntegerOperand one) { return layout.of(one) == position; });
  };
  if (is_at({IntegerOperand::a_scale, IntegerOperand::b_scale, IntegerOperand::bias, IntegerOperand::output_scale})) {
    return floats;
  }
  return is_to_float ? kBytes | kWide : kBytes;
}

Result<Decomposition> decompose_integer_product(const OpDesc& desc, const DeviceTraits& device,
                                                const KnownInputs& known) {
  if (!desc.internal.empty()) {
    return Decomposition();
  }
  const Layout& layout = *find_layout(*desc.op);
  if (layout.is_convolution) {
    return products::decompose_integer_convolution(desc, layout, device);
  }
  return is_wide(desc.tensors[0].tensor.type) ? wide_parts(desc, layout) : narrow_parts(desc, layout, device, known);
}

// The output is passed on as tiles of rows, so its rows must be contiguous.
Joins integer_product_joins(const OpDesc& desc) {
  if (desc.op != &kIntegerProduct) {
    return products::integer_convolution_joins(desc);
  }
  const IntegerParameters parameters = integer_parameters_of(desc);
  const bool forwards =
      parameters.exchanged == 0 && parameters.finish != IntegerFinish::quantized && is_packed(desc.output().tensor);
  return {.inputs = 0, .outputs = forwards ? 1U : 0U};
}

void lower_integer_product(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (products::is_integer_convolution_part(*desc.op)) {
    products::lower_integer_convolution_part(desc, tensors, plan);
    return;
  }
  const IntegerStep step =
      desc.op == &kIntegerPack ? make_integer_pack(desc, tensors) : make_integer_product(desc, tensors);
  Operand operands[kIntegerOperands];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  if (desc.op == &kIntegerProduct && integer_parameters_of(desc).exchanged != 0) {
    std::swap(operands[0], operands[1]);
    std::swap(operands[2], operands[3]);
    std::swap(operands[4], operands[5]);
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

}  // namespace anydml
