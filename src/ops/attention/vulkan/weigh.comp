#version 460
// SPDX-License-Identifier: MIT
// The sums of the values of the keys that queries see, divided by the totals. Each thread sums one column of the values
// for all pairs. If the blocks of keys are split, a group computes the sums of one of them, and add_blocks.comp adds
// these. Otherwise it computes all of them, and the results.
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/vulkan/weigh.glsl"

const uint kAtOnce = 128;  // keys whose exponentials are in shared memory at a time

shared uint exponentials[kAtOnce * kMaxPairs];

void main() {
  AttentionStep step = AttentionStep(push.header.parameters);
  const uint thread = gl_LocalInvocationIndex;
  uint index = group_index();
  const bool is_split = push.is_split != 0;
  const int64_t own_block = is_split ? int64_t(index % push.blocks) : int64_t(0);
  index /= is_split ? push.blocks : 1;
  const int64_t column = int64_t(index % push.tiles) * int64_t(kThreads) + int64_t(thread);
  index /= push.tiles;
  const int64_t first_pair = int64_t(index % push.pair_groups) * int64_t(kPairs);
  const int64_t head_number = int64_t(index / push.pair_groups);
  find_pairs(step, operand_address(kMask), operand_address(kLengths), head_number, first_pair);
  int64_t first_block = lowest_first / kBlock;
  int64_t end_block = (highest_end + kBlock - 1) / kBlock;
  if (is_split) {
    first_block = max(first_block, own_block);
    end_block = min(end_block, own_block + 1);
  }
  const int64_t shared_heads = step.heads / step.group;
  const uint64_t values = element_at(operand_address(kValues), step.v, head_number / shared_heads,
                                     head_number % shared_heads, 0, min(column, step.width - 1));
  uint totals[kMaxPairs];
  for (uint pair = 0; pair < kPairs; ++pair) {
    totals[pair] = 0;
  }
  for (int64_t block = first_block; block < end_block; ++block) {
    uint sums[kMaxPairs];
    for (uint pair = 0; pair < kPairs; ++pair) {
      sums[pair] = 0;
    }
    uint slow = 0;
    for (int64_t base = block * kBlock; base < (block + 1) * kBlock; base += int64_t(kAtOnce)) {
      clear_guards();
      for (uint i = thread; i < kPairs * kAtOnce; i += kThreads) {
        const uint pair = i / kAtOnce;
        const int64_t key = base + int64_t(i % kAtOnce);
        uint exponential = 0;
        if (key >= firsts[pair] && key < ends[pair]) {
          exponential = Bits32(operand_address(kExponentials) + uint64_t(rows_of_pairs[pair] * step.keys + key) * 4).bits;
        }
        exponentials[i % kAtOnce * kMaxPairs + pair] = exponential;
        guard_factor(pair, exponential);
      }
      barrier();
      const int64_t first = max(base, lowest_first);
      const int64_t end = min(base + int64_t(kAtOnce), highest_end);
      uint before[kMaxPairs];
      for (uint pair = 0; pair < kPairs; ++pair) {
        before[pair] = sums[pair];
      }
      uint least = kNoFactor;
      for (int64_t key = first; key < end; ++key) {
        const uint value = load_factor(step, values + uint64_t(key * step.v.row));
        least = min(least, factor_key(value));
        for (uint pair = 0; pair < kPairs; ++pair) {
          if (key >= firsts[pair] && key < ends[pair]) {
            sums[pair] = quick_fused(exponentials[uint(key - base) * kMaxPairs + pair], value, sums[pair]);
          }
        }
      }
      slow = slow_pairs(slow, least);
      if (slow != 0) {
        for (uint pair = 0; pair < kPairs; ++pair) {
          sums[pair] = before[pair];
        }
        [[dont_unroll]] for (int64_t key = first; key < end; ++key) {
          const uint value = load_factor(step, values + uint64_t(key * step.v.row));
          for (uint pair = 0; pair < kPairs; ++pair) {
            if (key >= firsts[pair] && key < ends[pair]) {
              sums[pair] = fused_floats(exponentials[uint(key - base) * kMaxPairs + pair], value, sums[pair]);
            }
          }
        }
      }
      barrier();
    }
    for (uint pair = 0; pair < kPairs; ++pair) {
      if (column < step.width && block * kBlock < ends[pair] && (block + 1) * kBlock > firsts[pair]) {
        if (is_split) {
          sum_of_block(step, rows_of_pairs[pair], block, column).bits = sums[pair];
        }
        totals[pair] = block == firsts[pair] / kBlock ? sums[pair] : add_floats(totals[pair], sums[pair]);
      }
    }
  }
  if (is_split || column >= step.width) {
    return;
  }
  for (uint pair = 0; pair < kPairs; ++pair) {
    if (rows_of_pairs[pair] >= 0) {
      store_result(step, rows_of_pairs[pair], column, totals[pair]);
    }
  }
}
