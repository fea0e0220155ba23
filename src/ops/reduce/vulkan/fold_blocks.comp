#version 460
// SPDX-License-Identifier: MIT
// Combines the results of an output's blocks: a thread for each output, in pairs of neighbors as BlockTree does
// (ops/scalar/fold_order.h).
#extension GL_GOOGLE_include_directive : require
#include "ops/reduce/vulkan/fold.glsl"

layout(local_size_x = 64) in;

Total load_partial(uint64_t number) {
  if (is_arg()) {
    const uint64_t address = operand_address(0) + number * 16;
    return Total(Bits64(address).bits, uint(Bits64(address + 8).bits));
  }
  return Total(Bits64(operand_address(0) + number * 8).bits, 0);
}

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  const uint output_number = group_index() * 64 + gl_LocalInvocationIndex;
  if (output_number >= push.units) {
    return;
  }
  const uint64_t first = uint64_t(output_number) * push.blocks;
  const uint64_t to = operand_address(1) + uint64_t(row_offsets(loops, output_number).to);
#if !FLOATS
  if (is_exact_half()) {
    int64_t high = 0;
    uint64_t low = 0;
    uint flags = 0;
    for (uint i = 0; i < push.blocks; ++i) {
      const uint64_t partial = load_partial(first + i).bits;
      const int64_t units = int64_t(partial) >> 4;
      const uint64_t total = low + uint64_t(units);
      high += (units >> 63) + (total < low ? 1 : 0);
      low = total;
      flags |= uint(partial) & 15;
    }
    store_result(to, element_of_units(high, low, flags, kFinish == kAverage ? loops.count : 1));
    return;
  }
#endif
  Total held[32];
  uint depth = 0;
  for (uint i = 0; i < push.blocks; ++i) {
    Total total = load_partial(first + i);
    for (uint rest = i; (rest & 1) != 0; rest >>= 1) {
      --depth;
      total = combine(held[depth], total);
    }
    held[depth] = total;
    ++depth;
  }
  Total total = held[depth - 1];
  for (uint i = depth - 1; i-- > 0;) {
    total = combine(held[i], total);
  }
  store_result(to, result_of(total, loops.count));
}
