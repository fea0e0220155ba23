#version 460
// SPDX-License-Identifier: MIT
// Normalizes rows by mean and variance, as in ops/normalize/scalar/moments.h. A team of threads works on a row.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/axis_loops.glsl"
#include "backend/vulkan/shaders/row_sums.glsl"

// As in moments.cpp.
layout(constant_id = 1) const uint kBytes = 4;  // of an element
layout(constant_id = 2) const bool kUsesMean = true;
layout(constant_id = 3) const bool kUsesVariance = true;
layout(constant_id = 4) const bool kHasScale = true;
layout(constant_id = 5) const bool kHasBias = true;
layout(constant_id = 6) const bool kScaleVaries = true;  // within a row

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint divisor;  // the number of a row's elements as FLOAT32
  uint epsilon;
  uint input_is_aligned;
  uint affine_is_aligned;
  uint output_is_aligned;
} push;

uint load_at(uint64_t address, bool is_aligned) { return value_of(load_bits(address, kBytes, is_aligned), kBytes); }

void main() {
  AxisLoops loops = AxisLoops(push.header.parameters);
  AxisLoops affine = AxisLoops(push.header.parameters + kAxisLoopsBytes);
  const uint row = group_index() * (kThreads / kTeam) + gl_LocalInvocationIndex / kTeam;
  const uint lane = gl_LocalInvocationIndex % kTeam;
  const bool exists = row < loops.outputs;
  const uint count = exists ? loops.count : 0;
  const bool input_is_aligned = push.input_is_aligned != 0;
  const bool affine_is_aligned = push.affine_is_aligned != 0;
  const Offsets offsets = row_offsets(loops, row);
  const uint64_t from = operand_address(0) + uint64_t(offsets.from);
  uint mean = 0;
  uint root = kOneOfValue;
  for (uint round = kUsesMean ? 0 : 1; round < (kUsesVariance ? 2 : 1); ++round) {
    clear_tree();
    for (uint first = 0; first < loops.count; first += kBlock) {
      uint sum = kSignOfValue;  // -0
      const uint end = min(count, first + kBlock);
      for (uint i = first + lane; i < end; i += kTeam) {
        uint x = load_at(from + uint64_t(element_offsets(loops, i).from), input_is_aligned);
        if (round == 1) {
          x = import_f32_subtract(x, mean);
          x = import_f32_multiply(x, x);
        }
        sum = import_f32_add(sum, x);
      }
      add_to_tree(fold_team(sum));
    }
    const uint average = import_f32_divide(total_of_tree(), push.divisor);
    if (round == 0) {
      mean = average;
    } else {
      root = import_f32_square_root(import_f32_add(average, push.epsilon));
    }
  }
  if (!exists) {
    return;
  }
  const Offsets affine_offsets = row_offsets(affine, row);
  const uint64_t scales = operand_address(1) + uint64_t(affine_offsets.from);
  const uint64_t biases = operand_address(2) + uint64_t(affine_offsets.to);
  const uint64_t to = operand_address(3) + uint64_t(offsets.to);
  uint factor = 0;
  bool has_factor = false;
  for (uint i = lane; i < count; i += kTeam) {
    const Offsets at = element_offsets(loops, i);
    const Offsets affine_at = element_offsets(affine, i);
    if (!has_factor) {
      uint scale = kOneOfValue;
      if (kHasScale) {
        scale = load_at(scales + uint64_t(affine_at.from), affine_is_aligned);
      }
      factor = import_f32_divide(scale, root);
      has_factor = !kScaleVaries;
    }
    uint bias = kSignOfValue;  // -0 changes nothing
    if (kHasBias) {
      bias = load_at(biases + uint64_t(affine_at.to), affine_is_aligned);
    }
    const uint difference = import_f32_subtract(load_at(from + uint64_t(at.from), input_is_aligned), mean);
    const uint result = import_f32_fused(difference, factor, bias);
    store_bits(to + uint64_t(at.to), element_of(result, kBytes), kBytes, push.output_is_aligned != 0);
  }
}
