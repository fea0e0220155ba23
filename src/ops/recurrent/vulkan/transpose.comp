#version 460
// SPDX-License-Identifier: MIT
// Packs the matrix of a recurrence: for each direction and gate, the factors of all units for k = 0, then for k = 1 and
// so on. Operand 0 is the matrix, whose factors are along `time`, and operand 1 is the packed form.
#extension GL_GOOGLE_include_directive : require
#include "ops/recurrent/vulkan/network.glsl"

layout(local_size_x = 256) in;

void main() {
  Network network = Network(push.header.parameters);
  const int64_t i = int64_t(group_index()) * 256 + int64_t(gl_LocalInvocationIndex);
  const int64_t matrix = network.units * network.units;
  const int64_t gates = int64_t(network.gates);
  if (i >= int64_t(network.directions) * gates * matrix) {
    return;
  }
  const int64_t number = i / matrix;  // counts the gates of all directions
  const int64_t k = i % matrix / network.units;
  const int64_t unit = i % network.units;
  const Element at = Element(number / gates, 0, number % gates * network.units + unit);
  Bits32(operand_address(1) + uint64_t(i) * 4).bits = load(network, 0, k, at);
}
