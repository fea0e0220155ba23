#version 460
// SPDX-License-Identifier: MIT
// Writes an arithmetic sequence, as in ops/fill/scalar. Each thread writes one element. FLOATS: 1 for FLOAT32 and FLOAT16,
// 2 for FLOAT64, 0 for integers.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#if FLOATS
#define DOUBLE (FLOATS == 2)
#include "backend/vulkan/shaders/floats.glsl"
#endif

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;

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
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint is_aligned;
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
#if FLOATS  // the index, the product and the sum are rounded
  const Value product = multiply_floats(float_of_integer(index), value_of(parameters.delta, kBytes));
  const uint64_t bits = element_of(add_floats(value_of(parameters.start, kBytes), product), kBytes);
#else
  const uint64_t bits = parameters.start + uint64_t(index) * parameters.delta;
#endif
  store_bits(operand_address(0) + uint64_t(to), bits, kBytes, push.is_aligned != 0);
}
