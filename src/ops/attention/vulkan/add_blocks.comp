#version 460
// SPDX-License-Identifier: MIT
// Each thread computes one result from the sums of the blocks.
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/vulkan/weigh.glsl"

void main() {
  AttentionStep step = AttentionStep(push.header.parameters);
  const uint64_t number = uint64_t(group_index()) * kThreads + gl_LocalInvocationIndex;
  if (number >= uint64_t(step.batches * step.heads * step.rows * step.width)) {
    return;
  }
  const int64_t column = int64_t(number) % step.width;
  const int64_t row = int64_t(number) / step.width;
  const int64_t batch = row / step.rows / step.heads;
  const KeyRange seen =
      seen_keys(step, operand_address(kMask), operand_address(kLengths), batch, step.first + row % step.rows);
  uint total = 0;
  for (int64_t block = seen.first / kBlock; block * kBlock < seen.end; ++block) {
    const uint sum = sum_of_block(step, row, block, column).bits;
    total = block == seen.first / kBlock ? sum : add_floats(total, sum);
  }
  store_result(step, row, column, total);
}
