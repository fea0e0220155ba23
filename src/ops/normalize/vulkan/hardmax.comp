#version 460
// SPDX-License-Identifier: MIT
// Hardmax: 1 for the first maximum of a row, 0 for the others. The first NaN counts as the maximum; both zeros are equal.
#extension GL_GOOGLE_include_directive : require
#include "ops/normalize/vulkan/rows.glsl"

// Greater for a greater element, or for an earlier one among equals.
uint64_t candidate(uint x, uint index) {
  const uint key = is_nan(x) ? 0xffffffffu : key_of(x == kSignOfValue ? 0 : x);
  return (uint64_t(key) << 32) | uint64_t(~index);
}

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  const Unit unit = unit_of_team(loops);
  uint64_t found = 0;
  if (kPass == kRows) {
    found = extreme_of_blocks(loops, unit);
    if (unit.exists && unit.lane == 0) {
      extreme_at(row_number(loops, unit)).bits = found;
    }
    return;
  }
  const Offsets offsets = row_offsets(loops, unit.row);
  const uint64_t from = operand_address(0) + uint64_t(offsets.from);
  const uint64_t to = operand_address(1) + uint64_t(offsets.to);
  if (kPass == kWhole || kPass == kExtremes) {
    for (uint i = unit.lane; i < unit.count; i += kTeam) {
      const uint x = load_element(from, element_offsets(loops, unit.first + i));
      found = max(found, candidate(x, unit.first + i));
    }
    found = extreme_of_team(found);
    if (kPass == kExtremes) {
      if (unit.exists && unit.lane == 0) {
        extreme_at(block_number(loops, unit)).bits = found;
      }
      return;
    }
  } else if (unit.exists) {
    found = extreme_at(row_number(loops, unit)).bits;
  }
  const uint index = ~uint(found);
  for (uint i = unit.lane; i < unit.count; i += kTeam) {
    store_element(to, element_offsets(loops, unit.first + i), unit.first + i == index ? kOneOfValue : 0);
  }
}
