#version 460
// SPDX-License-Identifier: MIT
// The sum of each element's neighbors in a window, or of their squares, in row-major order. A thread computes one sum.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;  // of an element
layout(constant_id = 1) const bool kSquares = true;

struct Dimension {
  uint size;
  uint is_windowed;
  int64_t stride;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint count;
  uint rank;
  uint before;  // at most the longest dimension
  uint after;
  Dimension dimensions[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint input_is_aligned;
  uint output_is_aligned;
} push;

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= parameters.count) {
    return;
  }
  uint first[8];
  uint last[8];
  uint at[8];
  uint64_t from = operand_address(0);
  uint rest = number;
  for (uint i = parameters.rank; i-- > 0;) {
    const uint size = parameters.dimensions[i].size;
    const uint coordinate = rest % size;
    rest /= size;
    const bool is_windowed = parameters.dimensions[i].is_windowed != 0;
    first[i] = is_windowed ? coordinate - min(parameters.before, coordinate) : coordinate;
    last[i] = is_windowed ? coordinate + min(parameters.after, size - 1 - coordinate) : coordinate;
    at[i] = first[i];
    from += uint64_t(int64_t(first[i]) * parameters.dimensions[i].stride);
  }
  uint sum = kSignOfValue;  // -0
  bool has_more = true;
  while (has_more) {
    const uint x = value_of(load_bits(from, kBytes, push.input_is_aligned != 0), kBytes);
    sum = import_f32_add(sum, kSquares ? import_f32_multiply(x, x) : x);
    has_more = false;
    for (uint i = parameters.rank; i-- > 0 && !has_more;) {
      const int64_t stride = parameters.dimensions[i].stride;
      has_more = at[i] < last[i];
      if (has_more) {
        ++at[i];
        from += uint64_t(stride);
      } else {
        from -= uint64_t(int64_t(at[i] - first[i]) * stride);
        at[i] = first[i];
      }
    }
  }
  store_bits(operand_address(1) + uint64_t(number) * 4, uint64_t(sum), 4, push.output_is_aligned != 0);
}
