// SPDX-License-Identifier: MIT
// What the kernels of the second product share.
#include "ops/attention/vulkan/pairs.glsl"

const uint kExponentials = 0, kTotals = 1, kValues = 2, kMask = 3, kLengths = 4, kOutput = 5, kWorkspace = 6;

Bits32 sum_of_block(AttentionStep step, int64_t row, int64_t block, int64_t column) {
  return Bits32(operand_address(kWorkspace) +
                uint64_t((row * int64_t(push.blocks) + block) * step.width + column) * 4);
}

void store_result(AttentionStep step, int64_t row, int64_t column, uint sum) {
  const uint total = Bits32(operand_address(kTotals) + uint64_t(row) * 4).bits;
  const int64_t head_number = row / step.rows;
  const uint64_t to = element_at(operand_address(kOutput), step.result, head_number / step.heads,
                                 head_number % step.heads, row % step.rows, column);
  store_bits(to, element_of(divide_floats(sum, total), bytes_of(step)), bytes_of(step), push.output_is_aligned != 0);
}
