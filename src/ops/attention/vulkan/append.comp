#version 460
// SPDX-License-Identifier: MIT
// Writes the past rows, unless they are there already, then the new rows, and then the rows that become 0. A thread
// writes at most one element.
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/vulkan/step.glsl"

layout(local_size_x = 256) in;

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint64_t past_elements;  // at most; 0 if the past may be in the output already
  uint64_t new_elements;   // at most
  uint64_t elements;       // with those that become 0
  uint bytes;              // of an element
  uint is_aligned;
} push;

const uint kPast = 0, kNew = 1, kLengths = 2, kAll = 3;

void main() {
  AttentionStep step = AttentionStep(push.header.parameters);
  const uint64_t number = uint64_t(group_index()) * 256 + gl_LocalInvocationIndex;
  if (number >= push.elements) {
    return;
  }
  const bool is_past = number < push.past_elements;
  const bool is_new = !is_past && number < push.past_elements + push.new_elements;
  if (is_past && operand_address(kPast) == operand_address(kAll)) {
    return;
  }
  const uint64_t before = is_past ? uint64_t(0) : push.past_elements + (is_new ? uint64_t(0) : push.new_elements);
  const uint64_t of_part = number - before;
  const int64_t rows = is_past ? step.past_keys : is_new ? step.new_keys : step.rows;
  const int64_t column = int64_t(of_part % uint64_t(step.width));
  const uint64_t row_number = of_part / uint64_t(step.width);
  const int64_t row = int64_t(row_number % uint64_t(rows));
  const int64_t head_number = int64_t(row_number / uint64_t(rows));
  const int64_t batch = head_number / step.heads;
  const int64_t head = head_number % step.heads;
  const int64_t past = past_length(step, operand_address(kLengths), batch);
  const int64_t target = is_new ? past + row : row;
  if (target >= step.rows || (is_past && row >= past) || (!is_past && !is_new && row < past + step.new_keys)) {
    return;
  }
  const bool is_aligned = push.is_aligned != 0;
  uint64_t bits = 0;
  if (is_past) {
    bits = load_bits(element_at(operand_address(kPast), step.q, batch, head, row, column), push.bytes, is_aligned);
  } else if (is_new) {
    bits = load_bits(element_at(operand_address(kNew), step.k, batch, head, row, column), push.bytes, is_aligned);
  }
  store_bits(element_at(operand_address(kAll), step.result, batch, head, target, column), bits, push.bytes, is_aligned);
}
