// SPDX-License-Identifier: MIT
// The two products of attention that hides keys. Only the keys that a query sees are read and multiplied, so the work
// depends on the lengths, which are in the device's memory, and not on the sizes of the tensors: groups whose keys no
// query sees return at once.
//
// Pairs are the queries of the heads that share a head of keys and values: pair i of `rows` queries is query i / group
// of head i modulo group. A group of threads processes some pairs together, because they read the same keys and values.
#include "ops/attention/vulkan/step.glsl"
#define FUSED_CONSTANT 1
#include "backend/vulkan/shaders/quick_fused.glsl"

layout(constant_id = 0) const uint kPairs = 16;
const uint kMaxPairs = 16;
const uint kThreads = 128;
layout(local_size_x = 128) in;  // kThreads
const int64_t kBlock = 256;

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint tiles;        // groups for the keys, or for the columns of values
  uint pair_groups;  // groups for the pairs
  uint blocks;       // of all keys
  uint is_split;     // whether each block of keys has a group
  uint factors_are_aligned;
  uint output_is_aligned;
} push;

shared int64_t firsts[kMaxPairs];  // an empty range if the query sees no key, or if there is no such pair
shared int64_t ends[kMaxPairs];
shared int64_t rows_of_pairs[kMaxPairs];  // the row among the scores of all heads; -1 if there is no such pair
shared int64_t lowest_first;
shared int64_t highest_end;

uint bytes_of(AttentionStep step) { return step.type == kFloat16 ? 2 : 4; }
uint load_factor(AttentionStep step, uint64_t at) {
  return value_of(load_bits(at, bytes_of(step), push.factors_are_aligned != 0), bytes_of(step));
}

// head_number counts the heads of keys and values of all batches. All threads call this.
void find_pairs(AttentionStep step, uint64_t mask, uint64_t lengths, int64_t head_number, int64_t first_pair) {
  const uint thread = gl_LocalInvocationIndex;
  if (thread < kPairs) {
    const int64_t shared_heads = step.heads / step.group;
    const int64_t batch = head_number / shared_heads;
    const int64_t pair = first_pair + int64_t(thread);
    const int64_t query = pair / step.group;
    const bool is_pair = query < step.rows;
    const int64_t head = head_number % shared_heads * step.group + pair % step.group;
    KeyRange seen = KeyRange(0, 0);
    if (is_pair) {
      seen = seen_keys(step, mask, lengths, batch, step.first + query);
    }
    firsts[thread] = seen.first;
    ends[thread] = seen.end;
    rows_of_pairs[thread] = is_pair ? (batch * step.heads + head) * step.rows + query : int64_t(-1);
  }
  barrier();
  if (thread == 0) {
    bool is_any = false;
    lowest_first = 0;
    highest_end = 0;
    for (uint i = 0; i < kPairs; ++i) {
      if (ends[i] != 0) {
        lowest_first = is_any ? min(lowest_first, firsts[i]) : firsts[i];
        highest_end = max(highest_end, ends[i]);
        is_any = true;
      }
    }
  }
  barrier();
}

// The guards of the factors in shared memory, one for each pair (quick_fused.glsl). A chain of sums goes over several
// stages of such factors. After a stage whose guard failed, the sums may be subnormal, so the rest of the chain is
// computed with fused_floats too: bit `pair` of `slow`.
shared uint least_of_pairs[kMaxPairs];
void clear_guards() {
  if (needs_guard()) {
    if (gl_LocalInvocationIndex < kPairs) {
      least_of_pairs[gl_LocalInvocationIndex] = kNoFactor;
    }
    barrier();
  }
}
void guard_factor(uint pair, uint factor) {
  if (needs_guard()) {
    atomicMin(least_of_pairs[pair], factor_key(factor));
  }
}
// least: the guard of the other side.
uint slow_pairs(uint slow, uint least) {
  if (needs_guard()) {
    for (uint pair = 0; pair < kPairs; ++pair) {
      slow |= is_guard_passed(least_of_pairs[pair], least) ? 0 : 1u << pair;
    }
  }
  return slow;
}
