#version 460
// SPDX-License-Identifier: MIT
// Sets the first state of each element, and writes it as the last state if there are no time steps.
#extension GL_GOOGLE_include_directive : require
#include "ops/recurrent/vulkan/network.glsl"

layout(local_size_x = 256) in;

void main() {
  Network network = Network(push.header.parameters);
  const int64_t i = int64_t(group_index()) * 256 + int64_t(gl_LocalInvocationIndex);
  if (i >= int64_t(network.directions) * network.rows * network.units) {
    return;
  }
  const Element at =
      Element(i / network.units / network.rows, i / network.units % network.rows, i % network.units);
  const uint hidden = has(kHiddenInit) ? load(network, kHiddenInit, 0, at) : 0;
  const uint cell = has(kCellInit) ? load(network, kCellInit, 0, at) : 0;
  kept(network, network.hidden[0], at).bits = hidden;
  if (network.kind == kLstm) {
    kept(network, network.cell, at).bits = cell;
  }
  if (network.steps == 0) {
    end_network(network, at, hidden, cell);
  }
}
