#version 460
// SPDX-License-Identifier: MIT
// Replaces the totals of a row's blocks by the carries before them. A group processes a row: one thread combines what all
// threads have moved to shared memory.
#extension GL_GOOGLE_include_directive : require
#include "ops/scan/vulkan/scan.glsl"

layout(local_size_x = 64) in;
shared Value s_totals[64];

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint thread = gl_LocalInvocationIndex;
  const uint blocks = parameters.chains_of_row;
  const uint64_t totals = operand_address(2) + uint64_t(group_index()) * blocks * 8;
  Value carry = identity();
  for (uint first = 0; first < blocks; first += 64) {
    Total total = Total(totals + uint64_t(first + thread) * 8);
    const uint count = min(blocks - first, 64);
    barrier();
    if (thread < count) {
      s_totals[thread] = total.bits;
    }
    barrier();
    if (thread == 0) {
      for (uint i = 0; i < count; ++i) {
        const Value before = carry;
        carry = combined(carry, s_totals[i]);
        s_totals[i] = before;
      }
    }
    barrier();
    if (thread < count) {
      total.bits = s_totals[thread];
    }
  }
}
