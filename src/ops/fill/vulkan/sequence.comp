#version 460
// SPDX-License-Identifier: MIT
// Writes an arithmetic sequence, as in ops/fill/scalar. Each thread writes the bytes of one element, at any alignment.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"
#include "backend/vulkan/shaders/soft_float.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;
layout(constant_id = 1) const bool kIsFloat = false;

struct Loop {
  int64_t size;
  int64_t index;
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t index_offset;
  int64_t to_offset;
  uint64_t start;
  uint64_t delta;
  uint count;
  uint rank;
  Loop loops[8];
};
layout(buffer_reference, scalar, buffer_reference_align = 1) writeonly buffer Byte { uint8_t bits; };
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
} push;

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint n = group_index() * 256 + gl_LocalInvocationIndex;
  if (n >= parameters.count) {
    return;
  }
  uint rest = n;
  int64_t index = parameters.index_offset;
  int64_t to = parameters.to_offset;
  for (uint loop = parameters.rank; loop-- > 0;) {
    const uint size = uint(parameters.loops[loop].size);
    const int64_t position = int64_t(rest % size);
    rest /= size;
    index += position * parameters.loops[loop].index;
    to += position * parameters.loops[loop].to;
  }
  uint64_t value;
  if (kIsFloat) {  // the index, the product and the sum are rounded
    const uint start = kBytes == 2 ? widen16(uint(parameters.start)) : uint(parameters.start);
    const uint delta = kBytes == 2 ? widen16(uint(parameters.delta)) : uint(parameters.delta);
    const uint total = add32(start, multiply32(of_integer32(uint64_t(index)), delta));
    value = uint64_t(kBytes == 2 ? narrow16(total) : total);
  } else {
    value = parameters.start + uint64_t(index) * parameters.delta;
  }
  const uint64_t address = operand_address(0) + uint64_t(to);
  for (uint i = 0; i < kBytes; ++i) {
    Byte(address + i).bits = uint8_t(value >> (8 * i));
  }
}
