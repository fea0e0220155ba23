#version 460
// SPDX-License-Identifier: MIT
// Folds blocks along the innermost axis. A group folds one block: a thread for each lane.
#extension GL_GOOGLE_include_directive : require
#include "ops/reduce/vulkan/fold.glsl"

layout(local_size_x = 64) in;
shared uint64_t s_bits[64];
shared uint s_more[64];

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  const uint unit = group_index();
  const uint lane = gl_LocalInvocationIndex;
  const uint output_number = unit / push.blocks;
  const uint block = unit - output_number * push.blocks;
  const uint first = block * kBlock;
  const uint count = min(loops.count - first, kBlock);
  const uint64_t from = operand_address(0) + uint64_t(row_offsets(loops, output_number).from);
  Total total = neutral();
  for (uint i = lane; i < count; i += 64) {
    total = combine(total, load_element(from, loops, first + i));
  }
  s_bits[lane] = total.bits;
  s_more[lane] = total.more;
  for (uint lanes = 32; lanes > 0; lanes /= 2) {
    barrier();
    if (lane < lanes) {
      total = combine(total, Total(s_bits[lane + lanes], s_more[lane + lanes]));
      s_bits[lane] = total.bits;
      s_more[lane] = total.more;
    }
  }
  if (lane == 0) {
    put(loops, output_number, block, total);
  }
}
