#version 460
// SPDX-License-Identifier: MIT
// Converts ticks of the device's clock to nanoseconds. The clock may have fewer than 64 bits: the last ticks and the
// number of times that it wrapped are kept.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Raw { uint64_t ticks, last, wrapped; };
layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer Result { uint64_t nanoseconds; };
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  Raw raw;
  Result to;
  uint64_t mask;
  uint64_t period_whole;
  uint64_t period_fraction;
} push;

void main() {
  const uint64_t ticks = push.raw.ticks & push.mask;
  uint64_t wrapped = push.raw.wrapped;
  if (ticks < push.raw.last) {
    wrapped += push.mask + 1;  // 0 for a clock of 64 bits
    push.raw.wrapped = wrapped;
  }
  push.raw.last = ticks;
  const uint64_t all = wrapped + ticks;
  // all * fraction / 2^32 has more than 64 bits, so both halves of the ticks are multiplied separately.
  const uint64_t high = (all >> 32) * push.period_fraction;
  const uint64_t low = ((all & 0xffffffffUL) * push.period_fraction) >> 32;
  push.to.nanoseconds = all * push.period_whole + high + low;
}
