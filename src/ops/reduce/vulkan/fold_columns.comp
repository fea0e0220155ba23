#version 460
// SPDX-License-Identifier: MIT
// Folds blocks along outer axes. A thread folds one block, element by element; its neighbors fold the neighboring outputs.
#extension GL_GOOGLE_include_directive : require
#include "ops/reduce/vulkan/fold.glsl"

layout(local_size_x = 64) in;

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint unit = group_index() * 64 + gl_LocalInvocationIndex;
  if (unit >= push.units) {
    return;
  }
  const uint block = unit / parameters.outputs;
  const uint output_number = unit - block * parameters.outputs;
  const uint first = block * kBlock;
  const uint count = min(parameters.count - first, kBlock);
  const uint64_t from = operand_address(0) + uint64_t(input_position(parameters, output_number));
  Value value = neutral();
  for (uint i = 0; i < count; ++i) {
    const uint64_t bits = load_bits(from + uint64_t(element_position(parameters, first + i)));
    value = combine(value, lift(bits, first + i, parameters.count));
  }
  put(parameters, output_number, block, value);
}
