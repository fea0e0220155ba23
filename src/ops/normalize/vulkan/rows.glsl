// SPDX-License-Identifier: MIT
// The rows of softmax, log softmax and hardmax. A team of threads (shaders/row_sums.glsl) works on a block of a row. Rows
// of one block need one dispatch, others one for each pass: results of blocks are kept in the workspace, so that many
// groups share a row.
#extension GL_GOOGLE_include_directive : require
#include "ops/normalize/vulkan/units.glsl"

// As in family.cpp.
layout(constant_id = 1) const uint kBytes = 4;  // of an element
layout(constant_id = 2) const uint kPass = 0;
const uint kWhole = 0;     // rows of one block
const uint kExtremes = 1;  // the maximum of each block
const uint kRows = 2;      // the maximum of each row
const uint kSums = 3;      // the sum of each block
const uint kTotals = 4;    // the total of each row, by one thread
const uint kResults = 5;

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint units;   // of teams: rows, or blocks of rows
  uint blocks;  // of a row
  uint input_is_aligned;
  uint output_is_aligned;
} push;

Unit unit_of_team(AxisLoops loops) {
  return unit_of_team(loops, group_index(), kPass == kRows || kPass == kTotals, push.units, push.blocks);
}

// The workspace: an extreme and a sum for each block, then for each row.
uint64_t block_number(AxisLoops loops, Unit unit) { return uint64_t(unit.row) * push.blocks + unit.block; }
uint64_t row_number(AxisLoops loops, Unit unit) { return uint64_t(loops.outputs) * push.blocks + unit.row; }
Bits64 extreme_at(uint64_t number) { return Bits64(operand_address(2) + number * 16); }
Bits32 sum_at(uint64_t number) { return Bits32(operand_address(2) + number * 16 + 8); }

uint load_element(uint64_t row, Offsets at) {
  return value_of(load_bits(row + uint64_t(at.from), kBytes, push.input_is_aligned != 0), kBytes);
}
void store_element(uint64_t row, Offsets at, uint value) {
  store_bits(row + uint64_t(at.to), element_of(value, kBytes), kBytes, push.output_is_aligned != 0);
}

// A number whose order is the order of floats.
uint key_of(uint x) { return (x & kSignOfValue) != 0 ? ~x : x | kSignOfValue; }
uint float_of_key(uint key) { return (key & kSignOfValue) != 0 ? key ^ kSignOfValue : ~key; }
bool is_nan(uint x) { return (x & ~kSignOfValue) > kInfinityOfValue; }

// The maximum over a team, for all of its threads. All threads of the group call this.
shared uint64_t shared_extremes[kThreads];
uint64_t extreme_of_team(uint64_t value) {
  const uint thread = gl_LocalInvocationIndex;
  for (uint distance = kTeam / 2; distance > 0; distance /= 2) {
    shared_extremes[thread] = value;
    barrier();
    value = max(value, shared_extremes[thread ^ distance]);
    barrier();
  }
  return value;
}
uint64_t extreme_of_blocks(AxisLoops loops, Unit unit) {
  uint64_t extreme = 0;
  for (uint i = unit.lane; i < unit.count; i += kTeam) {
    extreme = max(extreme, extreme_at(block_number(loops, unit) + i).bits);
  }
  return extreme_of_team(extreme);
}
