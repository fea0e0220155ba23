#version 460
// SPDX-License-Identifier: MIT
// MAX_UNPOOLING. If several elements have the same index, the last one wins: the first pass resets the winners of all
// outputs, the second finds them, and the third copies them, or writes 0.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kPass = 0;
layout(constant_id = 1) const uint kBytes = 4;       // of an element
layout(constant_id = 2) const uint kIndexBytes = 4;  // of an index
const uint kReset = 0, kFind = 1;

// UnpoolStep (ops/pool/step.h)
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Step {
  uint function;
  uint type;
  uint index_type;
  uint input_rank;
  uint output_rank;
  uint shares;
  int64_t inputs;
  int64_t outputs;
  int64_t input_sizes[8];
  int64_t output_sizes[8];
  int64_t input_steps[8];
  int64_t index_steps[8];
  int64_t output_steps[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;  // of the threads of this pass
  uint input_is_aligned;
  uint output_is_aligned;
  uint indices_are_aligned;
} push;
// 1 + the number of the last input that is written to an output, or 0.
layout(buffer_reference, scalar, buffer_reference_align = 4) coherent buffer Winner { uint number; };

void main() {
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const uint64_t winners = operand_address(4);
  uint rest = number;
  if (kPass == kReset) {
    Winner(winners + uint64_t(number) * 4).number = 0;
    return;
  }
  if (kPass == kFind) {
    uint64_t at = operand_address(1);
    for (uint i = step.input_rank; i-- > 0;) {
      const uint size = uint(step.input_sizes[i]);
      at += uint64_t(int64_t(rest % size) * step.index_steps[i]);
      rest /= size;
    }
    const uint64_t index = load_bits(at, kIndexBytes, push.indices_are_aligned != 0);
    if (index < uint64_t(step.outputs)) {
      atomicMax(Winner(winners + index * 4).number, number + 1);
    }
    return;
  }
  uint64_t to = operand_address(2);
  for (uint i = step.output_rank; i-- > 0;) {
    const uint size = uint(step.output_sizes[i]);
    to += uint64_t(int64_t(rest % size) * step.output_steps[i]);
    rest /= size;
  }
  uint winner = Winner(winners + uint64_t(number) * 4).number;
  uint64_t bits = 0;
  if (winner != 0) {
    winner -= 1;
    uint64_t from = operand_address(0);
    for (uint i = step.input_rank; i-- > 0;) {
      const uint size = uint(step.input_sizes[i]);
      from += uint64_t(int64_t(winner % size) * step.input_steps[i]);
      winner /= size;
    }
    bits = load_bits(from, kBytes, push.input_is_aligned != 0);
  }
  store_bits(to, bits, kBytes, push.output_is_aligned != 0);
}
