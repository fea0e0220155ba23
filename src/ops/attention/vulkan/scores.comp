#version 460
// SPDX-License-Identifier: MIT
// The scores of the keys that queries see. Each thread multiplies one key by the queries of all pairs.
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/vulkan/pairs.glsl"

const uint kQueries = 0, kKeys = 1, kMask = 2, kLengths = 3, kScores = 4;
const uint kFactors = 16;  // of a key that are in shared memory at a time

shared uint keys[kThreads * (kFactors + 1)];
shared uint queries[kFactors * kMaxPairs];

void main() {
  AttentionStep step = AttentionStep(push.header.parameters);
  const uint thread = gl_LocalInvocationIndex;
  const uint group = group_index();
  const int64_t first_key = int64_t(group % push.tiles) * int64_t(kThreads);
  const int64_t first_pair = int64_t(group / push.tiles % push.pair_groups) * int64_t(kPairs);
  const int64_t head_number = int64_t(group / push.tiles / push.pair_groups);
  find_pairs(step, operand_address(kMask), operand_address(kLengths), head_number, first_pair);
  if (first_key >= highest_end || first_key + int64_t(kThreads) <= lowest_first) {
    return;
  }
  const int64_t shared_heads = step.heads / step.group;
  const int64_t batch = head_number / shared_heads;
  const int64_t seen_here = highest_end - first_key;
  uint totals[kMaxPairs];
  uint sums[kMaxPairs];
  for (uint pair = 0; pair < kPairs; ++pair) {
    totals[pair] = 0;
    sums[pair] = 0;
  }
  uint slow = 0;
  for (int64_t first = 0; first < step.depth; first += int64_t(kFactors)) {
    clear_guards();
    const uint count = uint(min(step.depth - first, int64_t(kFactors)));
    for (uint i = thread; i < kThreads * kFactors; i += kThreads) {
      const uint key = i / kFactors;
      const uint k = i % kFactors;
      uint factor = 0;
      if (int64_t(key) < seen_here && k < count) {
        factor = load_factor(step, element_at(operand_address(kKeys), step.k, batch, head_number % shared_heads,
                                              first_key + int64_t(key), first + int64_t(k)));
      }
      keys[key * (kFactors + 1) + k] = factor;
    }
    for (uint i = thread; i < kPairs * kFactors; i += kThreads) {
      const uint pair = i / kFactors;
      const uint k = i % kFactors;
      const int64_t query = (first_pair + int64_t(pair)) / step.group;
      const int64_t head = head_number % shared_heads * step.group + (first_pair + int64_t(pair)) % step.group;
      uint factor = 0;
      if (rows_of_pairs[pair] >= 0 && k < count) {
        factor = load_factor(step,
                             element_at(operand_address(kQueries), step.q, batch, head, query, first + int64_t(k)));
      }
      queries[k * kMaxPairs + pair] = factor;
      guard_factor(pair, factor);
    }
    barrier();
    uint least = kNoFactor;
    for (uint k = 0; needs_guard() && k < count; ++k) {
      least = min(least, factor_key(keys[thread * (kFactors + 1) + k]));
    }
    slow = slow_pairs(slow, least);
    if (slow == 0) {
      for (uint k = 0; k < count; ++k) {
        const uint factor = keys[thread * (kFactors + 1) + k];
        for (uint pair = 0; pair < kPairs; ++pair) {
          sums[pair] = quick_fused(queries[k * kMaxPairs + pair], factor, sums[pair]);
        }
      }
    } else {
      [[dont_unroll]] for (uint k = 0; k < count; ++k) {
        const uint factor = keys[thread * (kFactors + 1) + k];
        for (uint pair = 0; pair < kPairs; ++pair) {
          sums[pair] = fused_floats(queries[k * kMaxPairs + pair], factor, sums[pair]);
        }
      }
    }
    barrier();
    const int64_t next = first + int64_t(kFactors);
    if (next % kBlock == 0 || next >= step.depth) {
      const bool is_first = first < kBlock;
      for (uint pair = 0; pair < kPairs; ++pair) {
        totals[pair] = is_first ? sums[pair] : add_floats(totals[pair], sums[pair]);
        sums[pair] = 0;
      }
      slow = 0;
    }
  }
  const int64_t key = first_key + int64_t(thread);
  for (uint pair = 0; pair < kPairs; ++pair) {
    if (key >= firsts[pair] && key < ends[pair]) {
      Bits32(operand_address(kScores) + uint64_t(rows_of_pairs[pair] * step.keys + key) * 4).bits =
          multiply_floats(totals[pair], step.scale);
    }
  }
}
