#version 460
// SPDX-License-Identifier: MIT
// RANDOM_GENERATOR, as in ops/random/scalar: a thread computes the four words of one counter, or one element if the
// output is not contiguous. The first threads also write the next state.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kIsContiguous = true;
layout(constant_id = 1) const bool kHasNext = false;

struct Loop {
  int64_t size;
  int64_t index;  // strides of the index and of the output
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t index_offset;
  int64_t to_offset;
  int64_t state_stride;
  int64_t next_stride;
  uint64_t count;  // of elements
  uint rank;
  uint unused;
  Loop loops[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint output_is_aligned;
} push;

struct State {
  uint64_t low;
  uint64_t high;
  uvec2 key;
};
State after(State state, uint64_t blocks) {
  const uint64_t total = state.low + blocks;
  return State(total, state.high + (total < state.low ? 1 : 0), state.key);
}

uvec4 philox(State state) {
  uvec4 x = uvec4(uint(state.low), uint(state.low >> 32), uint(state.high), uint(state.high >> 32));
  uvec2 key = state.key;
  for (uint i = 0; i < 10; ++i) {
    uvec2 high;
    uvec2 low;
    umulExtended(x.xz, uvec2(0xd2511f53u, 0xcd9e8d57u), high, low);
    x = uvec4(high.y ^ x.y ^ key.x, low.y, high.x ^ x.w ^ key.y, low.x);
    key += uvec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return x;
}

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint64_t thread = uint64_t(group_index()) * 256 + gl_LocalInvocationIndex;
  uint words[6];
  for (uint i = 0; i < 6; ++i) {
    words[i] = uint(load_bits(operand_address(0) + uint64_t(int64_t(i) * parameters.state_stride), 4, false));
  }
  const State state = State(uint64_t(words[1]) << 32 | words[0], uint64_t(words[3]) << 32 | words[2],
                            uvec2(words[4], words[5]));
  const uint64_t blocks = (parameters.count + 3) / 4;
  if (kHasNext && thread < 6) {
    const State next = after(state, blocks);
    const uint word = thread == 0   ? uint(next.low)
                      : thread == 1 ? uint(next.low >> 32)
                      : thread == 2 ? uint(next.high)
                      : thread == 3 ? uint(next.high >> 32)
                                    : next.key[uint(thread) & 1];
    store_bits(operand_address(2) + uint64_t(int64_t(thread) * parameters.next_stride), uint64_t(word), 4, false);
  }
  if (thread >= (kIsContiguous ? blocks : parameters.count)) {
    return;
  }
  uint64_t index = thread * 4;
  int64_t to = parameters.to_offset + int64_t(thread) * 16;
  if (!kIsContiguous) {
    uint rest = uint(thread);
    int64_t at = parameters.index_offset;
    to = parameters.to_offset;
    for (uint i = parameters.rank; i-- > 0;) {
      const uint size = uint(parameters.loops[i].size);
      const int64_t position = int64_t(rest % size);
      rest /= size;
      at += position * parameters.loops[i].index;
      to += position * parameters.loops[i].to;
    }
    index = uint64_t(at);
  }
  const uvec4 four = philox(after(state, index / 4));
  const uint64_t address = operand_address(1) + uint64_t(to);
  if (!kIsContiguous) {
    store_bits(address, uint64_t(four[uint(index) & 3]), 4, push.output_is_aligned != 0);
    return;
  }
  for (uint i = 0; i < 4 && index + i < parameters.count; ++i) {
    store_bits(address + 4 * i, uint64_t(four[i]), 4, push.output_is_aligned != 0);
  }
}
