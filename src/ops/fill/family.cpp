// SPDX-License-Identifier: MIT
// The family of operators without an input: they fill their output.
#include "ops/family.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/scalar.h"
#include "ops/fill/step.h"
#include "ops/op_desc.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_FILL_ROW(op) #op,
#include "ops/fill/fill.def"
};

// The number in the tensor's type, as attributes become it.
std::uint64_t bits_of(const Scalar& value, DataType type) {
  return visit_type(type, [&]<class T>() {
    const T element = value.as<T>();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(element));
    return bits;
  });
}

// What was given for the operator's scalar union.
const schema::Argument& value_of(const OpDesc& desc) {
  const auto found = std::ranges::find(desc.op->fields, facts::FieldType::scalar_union, &facts::Field::type);
  return desc.arguments[static_cast<std::size_t>(found - desc.op->fields.begin())];
}

Status check(const OpDesc& desc) {
  if (value_of(desc).numbers.size() != 1) {
    return invalid({desc.op->name, "Value"}, "is missing; expected a number");
  }
  return {};
}

void lower(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const PlacedTensor& output = tensors.back();
  const FillStep step{.nest = normalise(std::span(&output.tensor, 1)),
                      .bits = bits_of(value_of(desc).numbers.front(), output.tensor.type),
                      .element_bytes = static_cast<std::uint32_t>(element_size(output.tensor.type)),
                      .reserved = 0};
  const Operand operand[] = {output.operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::fill), operand, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family fill_family;
const Family fill_family = {
    .name = "fill",
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types =
        [](const facts::Operator&, std::size_t) {
          TypeSet all = 0;
#define ANYDML_ADD(T, name, value) all |= type_bit(DataType::name);
          ANYDML_FOR_EACH_TYPE(ANYDML_ADD)
#undef ANYDML_ADD
          return all;
        },
    .by_element = false,
    .check = check,
    .lower = lower,
};

}  // namespace anydml
