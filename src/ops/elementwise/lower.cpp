// SPDX-License-Identifier: MIT
#include "ops/elementwise/lower.h"

#include <algorithm>

namespace anydml {
namespace {

// The row applied to the step's inputs, in order, but for its first source.
void add_instruction(Step& step, RowId row, std::uint32_t variant, const Attributes& attributes,
                     std::size_t first_source) {
  Instruction& instruction = step.program[step.instruction_count++];
  instruction.row = static_cast<std::uint16_t>(row);
  instruction.variant = static_cast<std::uint16_t>(variant);
  instruction.attributes = attributes;
  for (std::uint8_t i = 0; i < kMaxInputs; ++i) {
    instruction.sources[i] = i;
  }
  instruction.sources[0] = static_cast<std::uint8_t>(first_source);
}

}  // namespace

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
    if ((staged >> i & 1) != 0) {
      const StagedCopy copy = add_staging(plan, i, desc.tensors[i]);
      tensors[i] = copy.tensor;
      main.slots[i] = plan.temporary_slot();
      main.slot_offsets[i] = copy.offset;
    }
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
