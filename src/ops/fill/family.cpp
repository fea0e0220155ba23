// SPDX-License-Identifier: MIT
// The family of operators that fill their output and have no input.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/scalar.h"
#include "ops/arguments.h"
#include "ops/fill/step.h"
#include "ops/op_desc.h"

namespace anydml {
namespace {

struct FillEntry {
  std::string_view name;
  std::size_t numbers;
};

constexpr FillEntry kEntries[] = {
#define ANYDML_FILL_ENTRY(op, numbers) {#op, numbers},
#include "ops/fill/fill.def"
};

// The values of the operator's scalar unions, in field order.
std::vector<Scalar> numbers_of(const OpDesc& desc) {
  std::vector<Scalar> numbers;
  for (std::size_t i = 0; i < desc.op->fields.size(); ++i) {
    if (desc.op->fields[i].type == facts::FieldType::scalar_union && !desc.arguments[i].numbers.empty()) {
      numbers.push_back(desc.arguments[i].numbers.front());
    }
  }
  return numbers;
}

Status check(const OpDesc& desc) {
  if (numbers_of(desc).size() != std::ranges::find(kEntries, desc.op->name, &FillEntry::name)->numbers) {
    return invalid({desc.op->name, {}}, "a number is missing");
  }
  return {};
}

// Returns a packed tensor of bytes with the output's sizes, in which the offset of an element is its row-major index.
TensorDesc index_of(const TensorDesc& output) {
  TensorDesc index = output;
  index.type = DataType::UINT8;
  static_cast<void>(set_packed_strides(index));  // cannot overflow for a valid tensor
  return index;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const PlacedTensor& output = tensors.back();
  const auto numbers = numbers_of(desc);
  const bool is_sequence = numbers.size() > 1;
  const TensorDesc walked[] = {index_of(output.tensor), output.tensor};
  const FillStep step{.nest = make_loop_nest(std::span(walked).subspan(is_sequence ? 0 : 1)),
                      .bits = bits_of(numbers.front(), output.tensor.type),
                      .delta = bits_of(numbers.back(), output.tensor.type),
                      .type = output.tensor.type,
                      .is_sequence = is_sequence ? 1U : 0U};
  const Operand operand[] = {output.operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::fill), operand, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family fill_family;
const Family fill_family = {
    .id = FamilyId::fill,
    .has =
        [](const facts::Operator& op) {
          return std::ranges::find(kEntries, op.name, &FillEntry::name) != std::end(kEntries);
        },
    .types = [](const facts::Operator&, std::size_t) { return all_types(); },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
