// SPDX-License-Identifier: MIT
#include "plan/plan.h"

#include <algorithm>

#include "plan/overlap.h"

namespace anydml {
namespace {

// The input with each repeated element once: what its copy in the temporary holds.
TensorDesc packed_copy(const TensorDesc& input) {
  TensorDesc copy = input;
  std::int64_t stride = 1;
  for (std::uint32_t i = input.rank; i-- > 0;) {
    if (input.strides[i] == 0) {
      copy.strides[i] = 0;
    } else {
      copy.strides[i] = stride;
      stride *= input.sizes[i];
    }
  }
  return copy;
}

// A copy visits each element of the packed tensor once, so its repeated dimensions shrink to one.
TensorDesc without_repeats(const TensorDesc& tensor) {
  TensorDesc distinct = tensor;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.strides[i] == 0) {
      distinct.sizes[i] = 1;
    }
  }
  return distinct;
}

}  // namespace

StagedInputs inputs_to_stage(std::span<const TensorDesc> tensors, const Reach* reaches,
                             const std::uintptr_t* addresses) {
  StagedInputs staged = 0;
  const std::size_t output = tensors.size() - 1;
  for (std::size_t i = 0; i < output; ++i) {
    if (ranges_meet(addresses[i], reaches[i], addresses[output], reaches[output]) &&
        find_sharing(tensors[i], addresses[i], tensors[output], addresses[output]) == Sharing::partial) {
      staged |= StagedInputs{1} << i;
    }
  }
  return staged;
}

Step make_copy(const TensorDesc& from, const TensorDesc& to) {
  Step copy;
  copy.kind = StepKind::copy;
  copy.types[0] = from.type;
  copy.types[1] = to.type;
  copy.slots[1] = 1;
  const TensorDesc operands[] = {from, to};
  copy.nest = normalise(operands);
  return copy;
}

StagedCopy add_staging(Plan& plan, std::uint32_t slot, const TensorDesc& input) {
  const StagedCopy staged{.tensor = packed_copy(input), .offset = plan.temporary_bytes};
  Step copy = make_copy(without_repeats(input), without_repeats(staged.tensor));
  copy.slots[0] = slot;
  copy.slots[1] = plan.temporary_slot();
  copy.slot_offsets[1] = staged.offset;
  const auto bytes = static_cast<std::uint64_t>(reach_of(staged.tensor).end);
  plan.temporary_bytes += (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
  plan.steps.push_back(copy);
  return staged;
}

}  // namespace anydml
