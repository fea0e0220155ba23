#version 460
// SPDX-License-Identifier: MIT
// Reverses the beginnings of lines. Each thread writes one word of the output; its source depends on the length of its
// line.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"
#include "backend/vulkan/shaders/strided.glsl"

layout(local_size_x = 256) in;

struct Loop {
  FastDivisor size;
  uint unused;
  int64_t from;
  int64_t to;
  int64_t lengths;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Lines {
  int64_t from_offset;
  int64_t to_offset;
  int64_t lengths_offset;
  int64_t axis_from;
  uint64_t axis_size;
  uint rank;
  uint axis;  // among the loops
  uint length_bytes;
  uint unused;
  Loop loops[9];
};
layout(buffer_reference, scalar, buffer_reference_align = 1) readonly buffer Byte { uint8_t bits; };
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;  // in words
  FastDivisor run;
} push;

void main() {
  const uint n = group_index() * 256 + gl_LocalInvocationIndex;
  if (n >= push.count) {
    return;
  }
  Lines lines = Lines(push.header.parameters);
  uint index;
  uint rest = divide(n, push.run, index);
  int64_t from = lines.from_offset + int64_t(index) * WORD;
  int64_t to = lines.to_offset + int64_t(index) * WORD;
  int64_t length_at = lines.lengths_offset;
  uint64_t position = 0;
  for (uint loop = lines.rank; loop-- > 0;) {
    rest = divide(rest, lines.loops[loop].size, index);
    position = loop == lines.axis ? uint64_t(index) : position;
    from += int64_t(index) * lines.loops[loop].from;
    to += int64_t(index) * lines.loops[loop].to;
    length_at += int64_t(index) * lines.loops[loop].lengths;
  }
  const uint64_t number = operand_address(1) + uint64_t(length_at);
  uint64_t length = 0;
  for (uint i = 0; i < lines.length_bytes; ++i) {
    length |= uint64_t(Byte(number + i).bits) << (8 * i);
  }
  length = min(length, lines.axis_size);
  const uint64_t source = position < length ? length - 1 - position : position;
  from += int64_t(source) * lines.axis_from;
  Word(operand_address(2) + uint64_t(to)).bits = Word(operand_address(0) + uint64_t(from)).bits;
}
