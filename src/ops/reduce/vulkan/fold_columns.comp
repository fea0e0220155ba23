#version 460
// SPDX-License-Identifier: MIT
// Folds blocks along outer axes. A thread folds one block, element by element; its neighbors fold the neighboring outputs.
#extension GL_GOOGLE_include_directive : require
#include "ops/reduce/vulkan/fold.glsl"

layout(local_size_x = 64) in;

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  const uint unit = group_index() * 64 + gl_LocalInvocationIndex;
  if (unit >= push.units) {
    return;
  }
  const uint block = unit / loops.outputs;
  const uint output_number = unit - block * loops.outputs;
  const uint first = block * kBlock;
  const uint count = min(loops.count - first, kBlock);
  const uint64_t from = operand_address(0) + uint64_t(row_offsets(loops, output_number).from);
  Total total = neutral();
  for (uint i = 0; i < count; ++i) {
    total = combine(total, load_element(from, loops, first + i));
  }
  put(loops, output_number, block, total);
}
