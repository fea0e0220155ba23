#version 460
// SPDX-License-Identifier: MIT
// Repeats a pattern of four words. Each thread writes four of them, which begin at any word.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Word { uint bits; };
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint64_t to;
  uint64_t words;
  uint pattern[4];
} push;

void main() {
  const uint64_t first = (uint64_t(group_index()) * 256 + gl_LocalInvocationIndex) * 4;
  for (uint i = 0; i < 4; ++i) {
    if (first + i < push.words) {
      Word(push.to + 4 * (first + i)).bits = push.pattern[i];
    }
  }
}
