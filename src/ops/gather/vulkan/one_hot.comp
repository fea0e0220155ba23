#version 460
// SPDX-License-Identifier: MIT
// ONE_HOT: each thread writes one element, which is the value for on or for off.
#extension GL_GOOGLE_include_directive : require
#define WORD 1
#include "ops/gather/vulkan/selection.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;

layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Bits16 { uint16_t bits; };

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
  if (push.elements_are_aligned == 0) {
    for (uint i = 0; i < kBytes; ++i) {
      Bits8(to + i).bits = Bits8(from + i).bits;
    }
  } else if (kBytes == 1) {
    Bits8(to).bits = Bits8(from).bits;
  } else if (kBytes == 2) {
    Bits16(to).bits = Bits16(from).bits;
  } else if (kBytes == 4) {
    Bits32(to).bits = Bits32(from).bits;
  } else {
    Bits64(to).bits = Bits64(from).bits;
  }
}
