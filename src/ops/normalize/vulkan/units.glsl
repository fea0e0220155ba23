// SPDX-License-Identifier: MIT
// A team of threads (shaders/row_sums.glsl) works on a unit: a block of a row, or the results of all blocks of a row.
#include "backend/vulkan/shaders/axis_loops.glsl"
#include "backend/vulkan/shaders/row_sums.glsl"

// Threads without a unit have no elements, but take part in barriers.
struct Unit {
  bool exists;
  uint lane;  // the thread's number in its team
  uint row;
  uint block;
  uint first;  // of the elements
  uint count;  // of the elements, or of the blocks
};
// group: the number of this group. is_row: whether the units are rows. units: of the dispatch. blocks: of a row.
Unit unit_of_team(AxisLoops loops, uint group, bool is_row, uint units, uint blocks) {
  const uint number = group * (kThreads / kTeam) + gl_LocalInvocationIndex / kTeam;
  Unit unit;
  unit.exists = number < units;
  unit.lane = gl_LocalInvocationIndex % kTeam;
  if (is_row) {
    unit.row = number;
    unit.block = 0;
    unit.first = 0;
    unit.count = unit.exists ? blocks : 0;
    return unit;
  }
  // If a thread works alone, its neighbors work on neighboring rows.
  unit.row = kTeam == 1 ? number % loops.outputs : number / blocks;
  unit.block = kTeam == 1 ? number / loops.outputs : number % blocks;
  unit.first = unit.block * kBlock;
  unit.count = unit.exists ? min(loops.count - unit.first, kBlock) : 0;
  return unit;
}
