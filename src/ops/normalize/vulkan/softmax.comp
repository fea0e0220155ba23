#version 460
// SPDX-License-Identifier: MIT
// Softmax, or log softmax if LOGARITHM is 1, as in ops/normalize/scalar/softmax.h.
#extension GL_GOOGLE_include_directive : require
#include "ops/normalize/vulkan/rows.glsl"

uint import_ELEMENT_WISE_EXP_0(const in uint x) { return x; }
uint import_ELEMENT_WISE_LOG_0(const in uint x) { return x; }

const uint kKeyOfMinusInfinity = 0x007fffffu;

uint finished_total(uint sum) {
#if LOGARITHM
  return import_ELEMENT_WISE_LOG_0(sum);
#else
  return sum;
#endif
}

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  const Unit unit = unit_of_team(loops);
  if (kPass == kTotals) {
    if (unit.exists) {
      clear_tree();
      for (uint i = 0; i < push.blocks; ++i) {
        add_to_tree(sum_at(block_number(loops, unit) + i).bits);
      }
      sum_at(row_number(loops, unit)).bits = finished_total(total_of_tree());
    }
    return;
  }
  if (kPass == kRows) {
    const uint64_t extreme = extreme_of_blocks(loops, unit);
    if (unit.exists && unit.lane == 0) {
      extreme_at(row_number(loops, unit)).bits = extreme;
    }
    return;
  }
  const Offsets offsets = row_offsets(loops, unit.row);
  const uint64_t from = operand_address(0) + uint64_t(offsets.from);
  const uint64_t to = operand_address(1) + uint64_t(offsets.to);
  // No NaN is the maximum: the sum becomes NaN even so.
  uint64_t extreme = uint64_t(kKeyOfMinusInfinity);
  if (kPass == kWhole || kPass == kExtremes) {
    for (uint i = unit.lane; i < unit.count; i += kTeam) {
      const uint x = load_element(from, element_offsets(loops, unit.first + i));
      extreme = max(extreme, uint64_t(is_nan(x) ? kKeyOfMinusInfinity : key_of(x)));
    }
    extreme = extreme_of_team(extreme);
    if (kPass == kExtremes) {
      if (unit.exists && unit.lane == 0) {
        extreme_at(block_number(loops, unit)).bits = extreme;
      }
      return;
    }
  } else if (unit.exists) {
    extreme = extreme_at(row_number(loops, unit)).bits;
  }
  const uint maximum = float_of_key(uint(extreme));
  uint total = kPass == kResults && unit.exists ? sum_at(row_number(loops, unit)).bits : 0;
  // The first round adds exponentials, the second one writes results.
  const uint first_round = kPass == kResults ? 1 : 0;
  const uint last_round = kPass == kSums ? 0 : 1;
  for (uint round = first_round; round <= last_round; ++round) {
    uint sum = kSignOfValue;  // -0
    for (uint i = unit.lane; i < unit.count; i += kTeam) {
      const Offsets at = element_offsets(loops, unit.first + i);
      const uint difference = import_f32_subtract(load_element(from, at), maximum);
#if LOGARITHM
      if (round == 0) {
        sum = import_f32_add(sum, import_ELEMENT_WISE_EXP_0(difference));
      } else {
        store_element(to, at, import_f32_subtract(difference, total));
      }
#else
      const uint exponential = import_ELEMENT_WISE_EXP_0(difference);
      if (round == 0) {
        sum = import_f32_add(sum, exponential);
      } else {
        store_element(to, at, import_f32_divide(exponential, total));
      }
#endif
    }
    if (round == 0) {
      sum = fold_team(sum);
      if (kPass == kSums) {
        if (unit.exists && unit.lane == 0) {
          sum_at(block_number(loops, unit)).bits = sum;
        }
      } else {
        total = finished_total(sum);
      }
    }
  }
}
