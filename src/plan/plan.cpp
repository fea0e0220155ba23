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

// The row applied to the step's inputs, in order, but for its first source.
void add_instruction(Step& step, RowId row, std::uint32_t variant, const Attributes& attributes,
                     std::size_t first_source) {
  Instruction& instruction = step.program[step.instruction_count++];
  instruction.row = row;
  instruction.variant = static_cast<std::uint16_t>(variant);
  instruction.attributes = attributes;
  for (std::uint8_t i = 0; i < kMaxInputs; ++i) {
    instruction.sources[i] = i;
  }
  instruction.sources[0] = static_cast<std::uint8_t>(first_source);
}

}  // namespace

StagedInputs inputs_to_stage(const OpDesc& desc, const std::uintptr_t* addresses) {
  StagedInputs staged = 0;
  const std::uint32_t output = desc.input_count;
  for (std::uint32_t i = 0; i < desc.input_count; ++i) {
    if (ranges_meet(addresses[i], desc.reaches[i], addresses[output], desc.reaches[output]) &&
        find_sharing(desc.tensors[i], addresses[i], desc.output(), addresses[output]) == Sharing::partial) {
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

Plan make_plan(const OpDesc& desc, StagedInputs staged) {
  Plan plan;
  plan.input_count = desc.input_count;
  if (desc.element_count == 0) {
    return plan;
  }
  TensorDesc tensors[kMaxOperands];
  std::copy_n(desc.tensors, desc.input_count + 1, tensors);

  Step main;
  for (std::uint32_t i = 0; i <= desc.input_count; ++i) {
    main.types[i] = desc.tensors[i].type;
    main.slots[i] = i;
  }
  for (std::uint32_t i = 0; i < desc.input_count; ++i) {
    if ((staged >> i & 1) == 0) {
      continue;
    }
    tensors[i] = packed_copy(desc.tensors[i]);
    main.slots[i] = plan.temporary_slot();
    main.slot_offsets[i] = plan.temporary_bytes;

    Step copy = make_copy(without_repeats(desc.tensors[i]), without_repeats(tensors[i]));
    copy.slots[0] = i;
    copy.slots[1] = plan.temporary_slot();
    copy.slot_offsets[1] = plan.temporary_bytes;
    const auto bytes = static_cast<std::uint64_t>(reach_of(tensors[i]).end);
    plan.temporary_bytes += (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
    plan.steps.push_back(copy);
  }
  main.nest = normalise(std::span(tensors, desc.input_count + 1));

  if (desc.has_scale_bias) {
    const std::uint32_t scaled = find_variant(row(RowId::SCALE_BIAS), desc.tensors[0].type);
    add_instruction(main, RowId::SCALE_BIAS, scaled, desc.scale_bias, 0);
    add_instruction(main, desc.row->id, desc.variant, desc.attributes, kMaxOperands);  // the result of the first
  } else {
    add_instruction(main, desc.row->id, desc.variant, desc.attributes, 0);
  }
  plan.steps.push_back(main);
  return plan;
}

}  // namespace anydml
