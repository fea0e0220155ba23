// SPDX-License-Identifier: MIT
// The family of operators that normalize: softmax and related operators, which have one step each, and operators that
// are decomposed (decomposition.cpp). None of them can be joined with other operators yet, because each result depends
// on a whole row and the row is read more than once.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/arguments.h"
#include "ops/normalize/decomposition.h"
#include "ops/normalize/step.h"
#include "text/format.h"

namespace anydml {
namespace {

struct NormalizeEntry {
  std::string_view name;
  NormalizeFunction function;
};

constexpr NormalizeEntry kEntries[] = {
#define ANYDML_NORMALIZE_ENTRY(op, function) {#op, NormalizeFunction::function},
#include "ops/normalize/normalize.def"
};

constexpr std::string_view kComposed[] = {
#define ANYDML_NORMALIZE_ENTRY(op, function)
#define ANYDML_COMPOSED_NORMALIZE_ENTRY(op) #op,
#include "ops/normalize/normalize.def"
};

bool is_composed(const facts::Operator& op) { return std::ranges::find(kComposed, op.name) != std::end(kComposed); }

const NormalizeEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &NormalizeEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

// Bit i is set if rows extend along axis i. The older operators have no axes; their rows extend along the last
// dimension.
std::uint32_t row_axes(const OpDesc& desc) {
  const std::uint32_t rank = desc.tensors[0].tensor.rank;
  const bool has_axes = std::ranges::find(desc.op->fields, "Axes", &facts::Field::name) != desc.op->fields.end();
  return has_axes ? axes_of(desc) : rank == 0 ? 0 : 1U << (rank - 1);
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (is_internal(desc)) {
    lower_internal(desc, tensors, plan);
    return;
  }
  const NormalizeStep step{.function = find_entry(desc.op->name)->function,
                           .type = tensors[0].tensor.type,
                           .loops = split_axes(tensors[0].tensor, tensors[1].tensor, row_axes(desc))};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalize), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family normalize_family;
const Family normalize_family = {
    .id = FamilyId::normalize,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr || is_composed(op); },
    .types = [](const facts::Operator&,
                std::size_t) { return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16); },
    .by_element = false,
    // The documented rules already require equal types and matching sizes.
    .check = [](const OpDesc& desc) { return is_composed(*desc.op) ? check_composed(desc) : check_axes(desc); },
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose =
        [](const OpDesc& desc, const DeviceTraits& device, const KnownInputs&) {
          return is_composed(*desc.op) ? decompose_composed(desc, device) : Result<Decomposition>(Decomposition());
        },
};

}  // namespace anydml
