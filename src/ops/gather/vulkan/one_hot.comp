#version 460
// SPDX-License-Identifier: MIT
// ONE_HOT: each thread writes one element, which is the value for on or for off.
#extension GL_GOOGLE_include_directive : require
#define WORD 1
#include "ops/gather/vulkan/selection.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;

void main() {
  Selection selection = Selection(push.header.parameters);
  const uint n = group_index() * 256 + gl_LocalInvocationIndex;
  if (n >= push.count) {
    return;
  }
  const Position at = position_of(selection, n, 0);
  const int64_t hot =
      load_index(selection, operand_address(0) + uint64_t(at.indices), selection.table[0].size, false);
  const uint64_t from = operand_address(1) + uint64_t(hot == at.table ? selection.on_offset : int64_t(0));
  const uint64_t to = operand_address(2) + uint64_t(at.slices);
  const bool is_aligned = push.elements_are_aligned != 0;
  store_bits(to, load_bits(from, kBytes, is_aligned), kBytes, is_aligned);
}
