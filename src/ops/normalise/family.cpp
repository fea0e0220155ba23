// SPDX-License-Identifier: MIT
// The family of operators that normalise rows: softmax and its kin. No operator of it joins others yet: an element of
// a row depends on all of the row, which is read more than once.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/normalise/step.h"
#include "ops/op_desc.h"
#include "text/format.h"

namespace anydml {
namespace {

struct NormaliseEntry {
  std::string_view name;
  NormaliseFunction function;
};

constexpr NormaliseEntry kEntries[] = {
#define ANYDML_NORMALISE_ENTRY(op, function) {#op, NormaliseFunction::function},
#include "ops/normalise/normalise.def"
};

const NormaliseEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &NormaliseEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

// The numbers of the field Axes; null if the operator has no such field.
const std::vector<Scalar>* axes_given(const OpDesc& desc) {
  const auto field = std::ranges::find(desc.op->fields, "Axes", &facts::Field::name);
  return field == desc.op->fields.end()
             ? nullptr
             : &desc.arguments[static_cast<std::size_t>(field - desc.op->fields.begin())].numbers;
}

// Bit i: rows run along axis i.
std::uint32_t axes_of(const OpDesc& desc) {
  const std::uint32_t rank = desc.tensors[0].tensor.rank;
  const std::vector<Scalar>* const given = axes_given(desc);
  if (given == nullptr) {
    return rank == 0 ? 0 : 1U << (rank - 1);
  }
  std::uint32_t axes = 0;
  for (const Scalar& axis : *given) {
    axes |= 1U << axis.as<u32>();
  }
  return axes;
}

// The rules of the documents ask for axes that exist, and for tensors of one type and the same sizes.
Status check(const OpDesc& desc) {
  const std::vector<Scalar>* const given = axes_given(desc);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
    const auto axis = (*given)[i].as<u32>();
    if (axis >= desc.tensors[0].tensor.rank) {
      return invalid({desc.op->name, "Axes"}, format_text("Axes[{}] is {}; expected less than {}, the dimensions of {}",
                                                          i, axis, desc.tensors[0].tensor.rank, desc.tensors[0].name));
    }
    if ((seen >> axis & 1) != 0) {
      return invalid({desc.op->name, "Axes"}, format_text("Axes[{}] is {} again; expected each axis once", i, axis));
    }
    seen |= 1U << axis;
  }
  return {};
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const NormaliseStep step{.function = find_entry(desc.op->name)->function,
                           .type = tensors[0].tensor.type,
                           .loops = split_axes(tensors[0].tensor, tensors[1].tensor, axes_of(desc))};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalise), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family normalise_family;
const Family normalise_family = {
    .id = FamilyId::normalise,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr; },
    .types = [](const facts::Operator&,
                std::size_t) { return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16); },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .parts = nullptr,
};

}  // namespace anydml
