#version 460
// SPDX-License-Identifier: MIT
// Computes chains of additions or multiplications. A chain is serial, so each thread of a group computes one. All threads
// together move tiles of the elements between memory and shared memory, with neighbors at neighboring addresses.
#extension GL_GOOGLE_include_directive : require
#include "ops/scan/vulkan/scan.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 3) const bool kAcross = false;     // neighboring rows are closer than the elements of a row
layout(constant_id = 4) const bool kToTotals = false;   // only the chains' totals are stored
layout(constant_id = 5) const bool kHasCarries = false;  // of earlier blocks, in the place of the totals

const uint kChains = 64;
const uint kBlock = 4096;
const uint kColumns = DOUBLE != 0 ? 16 : 32;  // of a tile
const uint kPitch = kColumns + 1;

shared Value s_tile[kChains * kPitch];
shared uint64_t s_from[kChains];
shared uint64_t s_to[kChains];
shared uint64_t s_length[kChains];  // 0 if the chain does not exist

Value value_of_element(uint64_t bits) { return kIsFloat ? value_of(bits, kBytes) : Value(bits); }
uint64_t bits_of(Value value) { return kIsFloat ? element_of(value, kBytes) : uint64_t(value); }

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint thread = gl_LocalInvocationIndex;
  const uint64_t chain = uint64_t(group_index()) * kChains + thread;
  const uint blocks = parameters.chains_of_row;
  const bool exists = chain < uint64_t(parameters.rows) * blocks;
  uint row = 0;
  uint block = 0;
  uint64_t length = 0;
  if (exists) {
    row = uint(kAcross ? chain % parameters.rows : chain / blocks);
    block = uint(kAcross ? chain / parameters.rows : chain % blocks);
    const uint64_t first = uint64_t(block) * kBlock;
    length = blocks == 1 ? parameters.count : min(parameters.count - first, uint64_t(kBlock));
    int64_t from = parameters.input_offset + int64_t(first) * parameters.along_input;
    int64_t to = parameters.output_offset + int64_t(first) * parameters.along_output;
    uint rest = row;
    for (uint i = parameters.kept_rank; i-- > 0;) {
      const uint size = uint(parameters.kept[i].size);
      const int64_t at = int64_t(rest % size);
      rest /= size;
      from += at * parameters.kept[i].from;
      to += at * parameters.kept[i].to;
    }
    s_from[thread] = operand_address(0) + uint64_t(from);
    s_to[thread] = operand_address(1) + uint64_t(to);
  }
  s_length[thread] = length;
  Total total = Total(operand_address(2) + (uint64_t(row) * blocks + block) * 8);
  Value carry = identity();
  if (kHasCarries && exists) {
    carry = total.bits;
  }
  Value sum = identity();
  const uint64_t longest = blocks == 1 ? parameters.count : min(parameters.count, uint64_t(kBlock));
  for (uint64_t first = 0; first < longest; first += kColumns) {
    barrier();
    for (uint i = thread; i < kChains * kColumns; i += kChains) {
      const uint of_chain = kAcross ? i % kChains : i / kColumns;
      const uint column = kAcross ? i / kChains : i % kColumns;
      const uint64_t at = first + column;
      if (at < s_length[of_chain]) {
        s_tile[of_chain * kPitch + column] = value_of_element(
            load_bits(s_from[of_chain] + at * uint64_t(parameters.along_input), kBytes, push.input_is_aligned != 0));
      }
    }
    barrier();
    if (first != 0 && first % kBlock == 0) {
      carry = combined(carry, sum);
      sum = identity();
    }
    const uint columns = first >= length ? 0 : uint(min(length - first, uint64_t(kColumns)));
    for (uint column = 0; column < columns; ++column) {
      const Value after = combined(sum, s_tile[thread * kPitch + column]);
      if (!kToTotals) {
        Value result = combined(carry, parameters.is_exclusive != 0 ? sum : after);
        if (kIsFloat && !kIsProduct && parameters.is_exclusive != 0 && block == 0 && first == 0 && column == 0) {
          result = 0;  // an empty sum is +0
        }
        s_tile[thread * kPitch + column] = result;
      }
      sum = after;
    }
    if (!kToTotals) {
      barrier();
      for (uint i = thread; i < kChains * kColumns; i += kChains) {
        const uint of_chain = kAcross ? i % kChains : i / kColumns;
        const uint column = kAcross ? i / kChains : i % kColumns;
        const uint64_t at = first + column;
        if (at < s_length[of_chain]) {
          store_bits(s_to[of_chain] + at * uint64_t(parameters.along_output), bits_of(s_tile[of_chain * kPitch + column]),
                     kBytes, push.output_is_aligned != 0);
        }
      }
    }
  }
  if (kToTotals && exists) {
    total.bits = sum;
  }
}
