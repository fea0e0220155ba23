#version 460
// SPDX-License-Identifier: MIT
// Exponentials of scores and their totals: a team of 64 threads (shaders/row_sums.glsl) for each row of scores. The
// exponentials are computed as in softmax. A NaN score makes the total NaN, so it can be ignored in the maximum.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/row_sums.glsl"
#include "ops/attention/vulkan/step.glsl"

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint rows;  // of all heads
  uint bias_is_aligned;
  uint mask_is_aligned;
} push;

const uint kScores = 0, kBias = 1, kMask = 2, kLengths = 3, kExponentials = 4, kTotals = 5;
const uint kMinScore = 0xff800000u;  // -infinity
const uint kKeyOfMinScore = 0x007fffffu;

uint import_ELEMENT_WISE_EXP_0(const in uint x) { return x; }

// A number whose order is the order of floats.
uint key_of(uint x) {
  if ((x & 0x7fffffffu) > 0x7f800000u) {
    return kKeyOfMinScore;
  }
  return x >= 0x80000000u ? ~x : x | 0x80000000u;
}

shared uint shared_keys[kThreads];
uint greatest_of_team(uint value) {
  const uint thread = gl_LocalInvocationIndex;
  for (uint distance = kTeam / 2; distance > 0; distance /= 2) {
    shared_keys[thread] = value;
    barrier();
    value = max(value, shared_keys[thread ^ distance]);
    barrier();
  }
  return value;
}

void main() {
  AttentionStep step = AttentionStep(push.header.parameters);
  const uint row = group_index() * (kThreads / kTeam) + gl_LocalInvocationIndex / kTeam;
  const uint lane = gl_LocalInvocationIndex % kTeam;
  const bool exists = row < push.rows;
  const uint64_t mask = operand_address(kMask);
  const uint64_t lengths = operand_address(kLengths);
  const int64_t head_number = int64_t(row) / step.rows;
  const int64_t query = step.first + int64_t(row) % step.rows;
  const int64_t batch = head_number / step.heads;
  const int64_t head = head_number % step.heads;
  const bool is_boolean = step.mask_kind == kBoolean;
  KeyRange unmasked = KeyRange(0, step.keys);
  KeyRange seen = KeyRange(0, 0);
  if (exists) {
    if (mask != 0 && !is_boolean && step.hides_masked == 0) {
      unmasked = unmasked_keys(step, mask, batch, query);
    }
    seen = seen_keys(step, mask, lengths, batch, query);
  }
  const uint64_t scores = operand_address(kScores) + uint64_t(int64_t(row) * step.keys) * 4;
  const uint64_t exponentials = operand_address(kExponentials) + uint64_t(int64_t(row) * step.keys) * 4;

  uint greatest = kKeyOfMinScore;
  for (int64_t key = int64_t(lane); key < seen.end; key += int64_t(kTeam)) {
    uint score = kMinScore;
    if (key >= seen.first) {
      score = Bits32(scores + uint64_t(key) * 4).bits;
      if (operand_address(kBias) != 0) {
        const uint bytes = step.type == kFloat16 ? 2 : 4;
        const uint64_t at = element_at(operand_address(kBias), step.bias, batch, head, query, key);
        score = add_floats(score, value_of(load_bits(at, bytes, push.bias_is_aligned != 0), bytes));
      }
      bool is_masked = key < unmasked.first || key >= unmasked.end;
      if (is_boolean && mask != 0) {
        const uint64_t at = element_at(mask, step.mask, batch, head, query, key);
        is_masked = load_bits(at, 4, push.mask_is_aligned != 0) == 0;
      }
      if (is_masked) {
        score = add_floats(score, step.filter_value);
      }
    }
    Bits32(exponentials + uint64_t(key) * 4).bits = score;  // read back by the same thread
    greatest = max(greatest, key_of(score));
  }
  greatest = greatest_of_team(greatest);
  const uint maximum = greatest >= 0x80000000u ? greatest ^ 0x80000000u : ~greatest;

  clear_tree();
  for (int64_t first = 0; first < step.keys; first += int64_t(kBlock)) {
    uint sum = kSignOfValue;  // -0
    const int64_t end = min(seen.end, first + int64_t(kBlock));
    for (int64_t key = first + int64_t(lane); key < end; key += int64_t(kTeam)) {
      const uint64_t at = exponentials + uint64_t(key) * 4;
      const uint exponential = import_ELEMENT_WISE_EXP_0(import_f32_subtract(Bits32(at).bits, maximum));
      Bits32(at).bits = exponential;
      sum = add_floats(sum, exponential);
    }
    sum = fold_team(sum);
    if (first < seen.end) {
      add_to_tree(sum);
    }
  }
  if (exists && lane == 0) {
    uint total = 0;  // without a key, the result is 0 / 0
    if (seen.end != 0) {
      total = total_of_tree();
    }
    Bits32(operand_address(kTotals) + uint64_t(row) * 4).bits = total;
  }
}
