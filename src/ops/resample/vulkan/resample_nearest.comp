#version 460
// SPDX-License-Identifier: MIT
// Moves each output's only tap.
#extension GL_GOOGLE_include_directive : require
#include "ops/resample/vulkan/taps.glsl"

layout(local_size_x = 256) in;

void main() {
  const uint thread = group_index() * 256 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Parameters parameters = Parameters(push.header.parameters);
  uint number = thread;
  int64_t from = 0;
  int64_t to = 0;
  for (uint i = parameters.rank; i-- > 0;) {
    const uint size = parameters.loops[i].size;
    uint at = number % size;
    number /= size;
    to += int64_t(at) * parameters.loops[i].to;
    const uint level = parameters.loops[i].level;
    if (level != kCopied) {
      at = parameters.words[parameters.level[level].spans + at];
    }
    from += int64_t(at) * parameters.loops[i].from;
  }
  store_bits(operand_address(1) + uint64_t(to),
             load_bits(operand_address(0) + uint64_t(from), kBytes, push.input_is_aligned != 0), kBytes,
             push.output_is_aligned != 0);
}
