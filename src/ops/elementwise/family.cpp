// SPDX-License-Identifier: MIT
// The element-wise family: an operator is a row, and its plan one step, with a ScaleBias as a first instruction.
#include "ops/family.h"

#include <algorithm>

#include "ops/elementwise/program.h"
#include "ops/elementwise/rows.h"
#include "ops/op_desc.h"
#include "text/format.h"

namespace anydml {
namespace {

// The numbers of the operator's attributes, in the order of its desc struct; a ScaleBias apart.
struct Numbers {
  Attributes own;
  const std::vector<Scalar>* scale_bias = nullptr;
};

Numbers numbers_of(const OpDesc& desc) {
  Numbers numbers;
  std::size_t position = 0;
  for (std::size_t field = 0; field < desc.op->fields.size(); ++field) {
    const schema::Argument& argument = desc.arguments[field];
    if (!facts::is_attribute(desc.op->fields[field].kind)) {
      continue;
    }
    if (desc.op->fields[field].type == facts::FieldType::scale_bias) {
      numbers.scale_bias = argument.present ? &argument.numbers : nullptr;
    } else if (argument.present) {
      numbers.own.values[position++] = argument.numbers.front();
    } else {
      ++position;
    }
  }
  return numbers;
}

std::uint32_t variant_of(const OpDesc& desc) {
  Variant types{};
  for (std::size_t i = 0; i < desc.tensors.size(); ++i) {
    types[i] = desc.tensors[i].tensor.type;
  }
  return find_variant(*find_row(*desc.op), types);
}

Status check(const OpDesc& desc) {
  if (variant_of(desc) == kNoVariant) {
    return Error{ErrorKind::unsupported, format_text("{}: these types together are not built here", desc.op->name)};
  }
  const DataType type = desc.output().tensor.type;
  if (numbers_of(desc).scale_bias != nullptr && !is_float_type(type)) {
    return invalid(
        {desc.op->name, {}},
        format_text("attributes Scale and Bias are given for {}; expected a float type with them", type_name(type)));
  }
  return {};
}

void lower(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  ElementwiseProgram program(desc.input_count);
  std::uint16_t sources[kMaxInputs];
  for (std::uint16_t i = 0; i < desc.input_count; ++i) {
    sources[i] = i;
  }
  const Numbers numbers = numbers_of(desc);
  if (numbers.scale_bias != nullptr) {
    Attributes scale_bias;
    std::ranges::copy(*numbers.scale_bias, scale_bias.values);
    const std::uint32_t variant = find_variant(row(RowId::SCALE_BIAS), desc.tensors[0].tensor.type);
    sources[0] = program.add(RowId::SCALE_BIAS, variant, std::span(sources, 1), scale_bias);
  }
  const std::uint16_t result[] = {
      program.add(find_row(*desc.op)->id, variant_of(desc), std::span(sources, desc.input_count), numbers.own)};
  add_elementwise(plan, program, tensors, result);
}

}  // namespace

extern const Family elementwise_family;
const Family elementwise_family = {
    .name = "elementwise",
    .has = [](const facts::Operator& op) { return find_row(op) != nullptr; },
    .types = [](const facts::Operator& op, std::size_t position) { return find_row(op)->types[position]; },
    .by_element = true,
    .check = check,
    .lower = lower,
};

}  // namespace anydml
