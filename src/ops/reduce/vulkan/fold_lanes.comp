#version 460
// SPDX-License-Identifier: MIT
// Folds blocks along the innermost axis. A group folds one block: a thread for each lane.
#extension GL_GOOGLE_include_directive : require
#include "ops/reduce/vulkan/fold.glsl"

layout(local_size_x = 64) in;
shared uint64_t s_bits[64];
shared uint s_more[64];

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint unit = group_index();
  const uint lane = gl_LocalInvocationIndex;
  const uint output_number = unit / parameters.blocks;
  const uint block = unit - output_number * parameters.blocks;
  const uint first = block * kBlock;
  const uint count = min(parameters.count - first, kBlock);
  const uint64_t from = operand_address(0) + uint64_t(input_position(parameters, output_number));
  Value value = neutral();
  for (uint i = lane; i < count; i += 64) {
    const uint64_t bits = load_bits(from + uint64_t(element_position(parameters, first + i)));
    value = combine(value, lift(bits, first + i, parameters.count));
  }
  s_bits[lane] = value.bits;
  s_more[lane] = value.more;
  for (uint lanes = 32; lanes > 0; lanes /= 2) {
    barrier();
    if (lane < lanes) {
      value = combine(value, Value(s_bits[lane + lanes], s_more[lane + lanes]));
      s_bits[lane] = value.bits;
      s_more[lane] = value.more;
    }
  }
  if (lane == 0) {
    put(parameters, output_number, block, value);
  }
}
