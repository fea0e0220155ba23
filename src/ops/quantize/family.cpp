// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE. Their scales and zero points belong to blocks of the input, and the codes may be four-bit.
// The element-wise operators with similar names support neither blocks nor four-bit codes.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/op_desc.h"
#include "ops/quantize/scalar/codes.h"
#include "ops/quantize/step.h"
#include "plan/reshape.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_QUANTIZE_ENTRY(op) #op,
#include "ops/quantize/quantize.def"
};

constexpr TypeSet kNumbers = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
constexpr TypeSet kCodes =
    type_bit(DataType::INT8) | type_bit(DataType::UINT8) | type_bit(DataType::INT4) | type_bit(DataType::UINT4);

bool is_quantize(const facts::Operator& op) { return op.name == "QUANTIZE"; }

// Position 1 is the scale. Position 2 is the zero point or, if there is none, the output.
TypeSet types(const facts::Operator& op, std::size_t position) {
  switch (position) {
    case 0:
      return is_quantize(op) ? kNumbers : kCodes;
    case 1:
      return kNumbers;
    case 2:
      return is_quantize(op) ? kCodes : kCodes | kNumbers;
    default:
      return is_quantize(op) ? kCodes : kNumbers;
  }
}

// The number of tensors, their types and their ranks have already been checked against the rules in the documentation
// and in data/facts/rules.txt.
Status check(const OpDesc& desc) {
  const OpTensor& output = desc.output();
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& scale = desc.tensors[1].tensor;
  if (((is_quantize(*desc.op) ? kCodes : kNumbers) & type_bit(output.tensor.type)) == 0) {
    return invalid(desc, output,
                   format_text("type is {}; expected {}", type_name(output.tensor.type),
                               type_names(is_quantize(*desc.op) ? kCodes : kNumbers)));
  }
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    if (scale.sizes[i] == 0 ? input.sizes[i] != 0 : input.sizes[i] % scale.sizes[i] != 0) {
      return invalid({desc.op->name, "QuantizationTensors[0]"},
                     format_text("sizes are {}; expected sizes that divide {}, the sizes of InputTensor, so that each "
                                 "element applies to a block of the input",
                                 shape_text(scale.sizes, scale.rank), shape_text(input.sizes, input.rank)));
    }
  }
  if (is_four_bits(output.tensor.type) && !is_packed(output.tensor)) {
    return invalid(desc, output,
                   format_text("strides are {}; expected none, or those of packed elements: two elements of {} share "
                               "a byte, which is written as a whole",
                               shape_text(output.tensor.strides, output.tensor.rank), type_name(output.tensor.type)));
  }
  return {};
}

void add_loop(QuantizeStep& step, const QuantizeLoop& loop) {
  if (loop.size == 1) {
    return;
  }
  if (step.rank != 0) {
    QuantizeLoop& outer = step.loops[step.rank - 1];
    bool continues = true;
    for (std::uint32_t i = 0; i < kQuantizeOperands; ++i) {
      continues = continues && checked_multiply(loop.strides[i], loop.size) == outer.strides[i];
    }
    if (continues) {
      std::ranges::copy(loop.strides, outer.strides);
      outer.size *= loop.size;
      return;
    }
  }
  step.loops[step.rank++] = loop;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const bool has_zero = desc.input_count == 3;
  const PlacedTensor& input = tensors[0];
  const PlacedTensor& scale = tensors[1];
  const PlacedTensor& zero = has_zero ? tensors[2] : tensors[1];
  const PlacedTensor& output = tensors[desc.input_count];
  QuantizeStep step{};
  step.is_quantize = is_quantize(*desc.op) ? 1 : 0;
  step.codes = (step.is_quantize != 0 ? output : input).tensor.type;
  step.numbers = (step.is_quantize != 0 ? input : output).tensor.type;
  step.scales = scale.tensor.type;
  step.has_zero = has_zero ? 1 : 0;
  step.zero = default_zero_point(step.codes);
  step.count = element_count(output.tensor);
  for (std::uint32_t i = 0; i < output.tensor.rank; ++i) {
    const std::int64_t size = output.tensor.sizes[i];
    const std::int64_t blocks = scale.tensor.sizes[i];
    const std::int64_t block = size / blocks;
    // The stride of a dimension of size 1 has no meaning and must not overflow.
    const std::int64_t from = size == 1 ? 0 : input.tensor.strides[i];
    const std::int64_t to = size == 1 ? 0 : output.tensor.strides[i];
    add_loop(step, {.size = blocks,
                    .strides = {blocks == 1 ? 0 : from * block, blocks == 1 ? 0 : scale.tensor.strides[i],
                                blocks == 1 || !has_zero ? 0 : zero.tensor.strides[i], blocks == 1 ? 0 : to * block}});
    add_loop(step, {.size = block, .strides = {from, 0, 0, to}});
  }
  if (step.rank == 0) {  // a single element
    step.loops[step.rank++] = {.size = 1, .strides = {1, 0, 0, 1}};
  }
  const Operand absent{.slot = kAbsentSlot, .type = step.codes, .offset = 0};
  const Operand operands[] = {input.operand(), scale.operand(), has_zero ? zero.operand() : absent, output.operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::quantize), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family quantize_family;
const Family quantize_family = {
    .id = FamilyId::quantize,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
