// SPDX-License-Identifier: MIT
// The RANDOM_GENERATOR family.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/arguments.h"
#include "ops/op_desc.h"
#include "ops/random/step.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_RANDOM_ENTRY(op) #op,
#include "ops/random/random.def"
};

// The words of a state are along its last dimension.
i64 stride_of(const TensorDesc& state) {
  return state.strides[state.rank - 1] * static_cast<i64>(element_size(state.type));
}

Status check(const OpDesc& desc) {
  for (const OpTensor* const state : {&desc.tensors[0], &desc.tensors[2]}) {
    const TensorDesc& tensor = state->tensor;
    if (state->present && (tensor.rank == 0 || tensor.sizes[tensor.rank - 1] != kPhiloxStateWords ||
                           element_count(tensor) != kPhiloxStateWords)) {
      return invalid(desc, *state,
                     format_text("has {} elements; expected {} along the last dimension", element_count(tensor),
                                 kPhiloxStateWords));
    }
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
  const TensorDesc walked[] = {index_of(tensors[1].tensor), tensors[1].tensor};
  const RandomStep step{.nest = make_loop_nest(walked),
                        .from = stride_of(tensors[0].tensor),
                        .to = desc.tensors[2].present ? stride_of(tensors[2].tensor) : 0};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::random), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family random_family;
const Family random_family = {
    .id = FamilyId::random,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = [](const facts::Operator&, std::size_t) { return type_bit(DataType::UINT32); },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
