#version 460
// SPDX-License-Identifier: MIT
// Normalizes rows by mean and variance, as in ops/normalize/scalar/moments.h. A team of threads works on a block of a
// row. Rows of one block need one dispatch, others one for each pass: sums of blocks are kept in the workspace, so that
// many groups share a row.
#extension GL_GOOGLE_include_directive : require
#include "ops/normalize/vulkan/units.glsl"

// As in moments.cpp.
layout(constant_id = 1) const uint kBytes = 4;  // of an element
layout(constant_id = 2) const bool kUsesMean = true;
layout(constant_id = 3) const bool kUsesVariance = true;
layout(constant_id = 4) const bool kHasScale = true;
layout(constant_id = 5) const bool kHasBias = true;
layout(constant_id = 6) const bool kScaleVaries = true;  // within a row
layout(constant_id = 7) const uint kPass = 0;
const uint kWhole = 0;    // rows of one block
const uint kSums = 1;     // the sum of each block
const uint kMeans = 2;    // the mean of each row, by one thread
const uint kSquares = 3;  // the sum of the squares of each block
const uint kRoots = 4;    // the root of each row's variance, by one thread
const uint kResults = 5;

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint units;    // of teams: rows, or blocks of rows
  uint blocks;   // of a row
  uint divisor;  // the number of a row's elements as FLOAT32
  uint epsilon;
  uint input_is_aligned;
  uint affine_is_aligned;
  uint output_is_aligned;
} push;

uint load_at(uint64_t address, bool is_aligned) { return value_of(load_bits(address, kBytes, is_aligned), kBytes); }

// The workspace: a sum for each block, then a mean and a root for each row.
Bits32 sum_at(Unit unit) {
  return Bits32(operand_address(4) + (uint64_t(unit.row) * push.blocks + unit.block) * 4);
}
uint64_t row_at(AxisLoops loops, Unit unit) {
  return operand_address(4) + uint64_t(loops.outputs) * push.blocks * 4 + uint64_t(unit.row) * 8;
}
Bits32 mean_at(AxisLoops loops, Unit unit) { return Bits32(row_at(loops, unit)); }
Bits32 root_at(AxisLoops loops, Unit unit) { return Bits32(row_at(loops, unit) + 4); }

// The sum of a block's elements, or of the squares of their distances from the mean.
uint sum_of_block(AxisLoops loops, Unit unit, uint64_t from, bool squares, uint mean) {
  uint sum = kSignOfValue;  // -0
  for (uint i = unit.lane; i < unit.count; i += kTeam) {
    uint x = load_at(from + uint64_t(element_offsets(loops, unit.first + i).from), push.input_is_aligned != 0);
    if (squares) {
      x = import_f32_subtract(x, mean);
      x = import_f32_multiply(x, x);
    }
    sum = import_f32_add(sum, x);
  }
  return fold_team(sum);
}

uint mean_of(uint sum) { return import_f32_divide(sum, push.divisor); }
uint root_of(uint squares) { return import_f32_square_root(import_f32_add(mean_of(squares), push.epsilon)); }

// The passes of one thread for each row.
void finish_row(AxisLoops loops, Unit unit) {
  clear_tree();
  for (uint i = 0; i < push.blocks; ++i) {
    unit.block = i;
    add_to_tree(sum_at(unit).bits);
  }
  if (kPass == kMeans) {
    mean_at(loops, unit).bits = mean_of(total_of_tree());
  } else {
    root_at(loops, unit).bits = root_of(total_of_tree());
  }
}

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  AxisLoops affine = AxisLoops(push.header.parameters + kAxisLoopsBytes);
  const bool is_row = kPass == kMeans || kPass == kRoots;
  const Unit unit = unit_of_team(loops, group_index(), is_row, push.units, push.blocks);
  if (is_row) {
    if (unit.exists) {
      finish_row(loops, unit);
    }
    return;
  }
  const Offsets offsets = row_offsets(loops, unit.row);
  const uint64_t from = operand_address(0) + uint64_t(offsets.from);
  uint mean = 0;
  uint root = kOneOfValue;
  if (kPass == kWhole) {
    for (uint round = kUsesMean ? 0 : 1; round < (kUsesVariance ? 2 : 1); ++round) {
      const uint sum = sum_of_block(loops, unit, from, round == 1, mean);
      if (round == 0) {
        mean = mean_of(sum);
      } else {
        root = root_of(sum);
      }
    }
  } else if (unit.exists) {
    mean = kUsesMean && kPass != kSums ? mean_at(loops, unit).bits : mean;
    root = kUsesVariance && kPass == kResults ? root_at(loops, unit).bits : root;
  }
  if (kPass == kSums || kPass == kSquares) {
    const uint sum = sum_of_block(loops, unit, from, kPass == kSquares, mean);
    if (unit.exists && unit.lane == 0) {
      sum_at(unit).bits = sum;
    }
    return;
  }
  const Offsets affine_offsets = row_offsets(affine, unit.row);
  const uint64_t scales = operand_address(1) + uint64_t(affine_offsets.from);
  const uint64_t biases = operand_address(2) + uint64_t(affine_offsets.to);
  const uint64_t to = operand_address(3) + uint64_t(offsets.to);
  uint factor = 0;
  bool has_factor = false;
  for (uint i = unit.lane; i < unit.count; i += kTeam) {
    const Offsets at = element_offsets(loops, unit.first + i);
    const Offsets affine_at = element_offsets(affine, unit.first + i);
    if (!has_factor) {
      uint scale = kOneOfValue;
      if (kHasScale) {
        scale = load_at(scales + uint64_t(affine_at.from), push.affine_is_aligned != 0);
      }
      factor = import_f32_divide(scale, root);
      has_factor = !kScaleVaries;
    }
    uint bias = kSignOfValue;  // -0 changes nothing
    if (kHasBias) {
      bias = load_at(biases + uint64_t(affine_at.to), push.affine_is_aligned != 0);
    }
    const uint x = load_at(from + uint64_t(at.from), push.input_is_aligned != 0);
    const uint result = import_f32_fused(import_f32_subtract(x, mean), factor, bias);
    store_bits(to + uint64_t(at.to), element_of(result, kBytes), kBytes, push.output_is_aligned != 0);
  }
}
