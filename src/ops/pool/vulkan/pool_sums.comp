#version 460
// SPDX-License-Identifier: MIT
// Sums, averages and norms of windows, as in ops/pool/scalar.
#extension GL_GOOGLE_include_directive : require
#include "ops/pool/vulkan/windows.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kFunction = 0;  // PoolFunction
const uint kAverage = 1, kL1 = 3, kL2 = 4;

Value total = kSignOfValue;

void take(uint64_t bits, int64_t) {
  Value value = value_of(bits, kBytes);
  if (kFunction == kL1) {
    value &= ~kSignOfValue;
  } else if (kFunction == kL2) {
    value = multiply_floats(value, value);
  }
  total = add_floats(total, value);
}

void main() {
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= push.outputs) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Window window = visit_window(step, number);
  if (kFunction == kAverage) {
    const Value divisor = step.counts_padding != 0 ? Value(push.window_size) : float_of_integer(window.elements);
    total = divide_floats(total, divisor);
  } else if (window.elements == 0) {
    total = kNanOfValue;
  } else if (kFunction == kL2) {
    total = root_of_float(total);
  }
  store_bits(operand_address(1) + uint64_t(window.to), element_of(total, kBytes), kBytes, push.output_is_aligned != 0);
}
