// SPDX-License-Identifier: MIT
// The FOLD family. FOLD computes sums, so it is not one of the operators that only move elements.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/arguments.h"
#include "ops/fold/step.h"
#include "ops/op_desc.h"
#include "ops/sliding_blocks.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_FOLD_ENTRY(op) #op,
#include "ops/fold/fold.def"
};

Status check(const OpDesc& desc) { return check_sliding_blocks(desc, desc.output()); }

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& from = tensors[0].tensor;
  const TensorDesc& to = tensors[1].tensor;
  const SlidingBlocks sliding = sliding_blocks_of(desc, desc.output());
  const auto bytes = static_cast<std::int64_t>(element_size(to.type));
  // The stride of a dimension of size 1 has no meaning, so it must not cause an overflow.
  const auto stride = [bytes](const TensorDesc& tensor, std::uint32_t dimension) {
    return tensor.sizes[dimension] > 1 ? tensor.strides[dimension] * bytes : 0;
  };
  FoldStep step{.type = to.type,
                .rank = sliding.rank,
                .batches = to.sizes[0],
                .channels = to.sizes[1],
                .input_batch = stride(from, 0),
                .input_channel = stride(from, 1),
                .input_window = stride(from, 1),
                .input_block = stride(from, 2),
                .output_batch = stride(to, 0),
                .output_channel = stride(to, 1),
                .dimensions = {}};
  for (std::uint32_t i = 0; i < sliding.rank; ++i) {
    const SlidingDimension& dimension = sliding.dimensions[i];
    step.dimensions[i] = {.size = dimension.size,
                          .window = dimension.window,
                          .stride = dimension.stride,
                          .dilation = dimension.dilation,
                          .padding = dimension.start,
                          .blocks = dimension.blocks,
                          .output = stride(to, i + 2)};
    step.input_channel *= to.sizes[1] > 1 ? dimension.window : 1;
  }
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::fold), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family fold_family;
const Family fold_family = {
    .id = FamilyId::fold,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = [](const facts::Operator&, std::size_t) { return all_types(); },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
