#version 460
// SPDX-License-Identifier: MIT
// Copies words between two nests of loops, or repeats a constant in one (strided.h).
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"
#include "backend/vulkan/shaders/strided.glsl"

layout(local_size_x = 256) in;

struct Loop {
  FastDivisor size;
  uint unused;
  int64_t from;
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Copy {
  int64_t from_offset;
  int64_t to_offset;
  uint64_t constant;
  uint from;
  uint to;
  uint rank;
  uint unused;
  Loop loops[16];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint copy;   // the offset of its parameters
  uint count;  // in words
  FastDivisor run;
} push;

const uint kFromConstant = 0xffffffff;

Bits constant_bits(uint64_t constant) {
#if WORD == 16
  return uvec4(uint(constant), uint(constant >> 32), uint(constant), uint(constant >> 32));
#else
  return Bits(constant);
#endif
}

void main() {
  const uint n = group_index() * 256 + gl_LocalInvocationIndex;
  if (n >= push.count) {
    return;
  }
  Copy copy = Copy(push.header.parameters + push.copy);
  uint index;
  uint rest = divide(n, push.run, index);
  int64_t from = copy.from_offset + int64_t(index) * WORD;
  int64_t to = copy.to_offset + int64_t(index) * WORD;
  for (uint loop = copy.rank; loop-- > 0;) {
    rest = divide(rest, copy.loops[loop].size, index);
    from += int64_t(index) * copy.loops[loop].from;
    to += int64_t(index) * copy.loops[loop].to;
  }
  const Bits value = copy.from == kFromConstant ? constant_bits(copy.constant)
                                                : Word(operand_address(copy.from) + uint64_t(from)).bits;
  Word(operand_address(copy.to) + uint64_t(to)).bits = value;
}
