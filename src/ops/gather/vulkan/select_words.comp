#version 460
// SPDX-License-Identifier: MIT
// Gathers and scatters. If several items of a scatter have the same target, the last one wins: the first pass resets the
// winners of all targets, the second finds them, the third moves the words.
#extension GL_GOOGLE_include_directive : require
#include "ops/gather/vulkan/selection.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kPass = 0;
const uint kGather = 0, kReset = 1, kFindWinners = 2, kScatterWinners = 3, kScatter = 4;

layout(buffer_reference, scalar, buffer_reference_align = 4) coherent buffer Winner { uint item; };

void main() {
  Selection selection = Selection(push.header.parameters);
  const uint n = group_index() * 256 + gl_LocalInvocationIndex;
  if (n >= push.count) {
    return;
  }
  const Position at = position_of(selection, n, WORD);
  int64_t table = at.table;
  int64_t number = at.number;
  for (uint k = 0; k < selection.coordinates; ++k) {
    const uint64_t index = operand_address(1) + uint64_t(at.indices + int64_t(k) * selection.coordinate_stride);
    const int64_t resolved = load_index(selection, index, selection.table[k].size, kPass == kGather);
    if (resolved < 0) {
      return;
    }
    table += resolved * selection.table[k].stride;
    number += resolved * selection.table[k].number;
  }
  Word slices = Word(operand_address(2) + uint64_t(at.slices));
  Word target = Word(operand_address(0) + uint64_t(table));
  if (kPass == kGather) {
    slices.bits = target.bits;
    return;
  }
  if (kPass == kScatter) {
    target.bits = slices.bits;
    return;
  }
  Winner winner = Winner(operand_address(3) + uint64_t(number) * 4);
  if (kPass == kReset) {
    winner.item = 0;
  } else if (kPass == kFindWinners) {
    atomicMax(winner.item, n + 1);
  } else if (winner.item == uint(at.item) + 1) {
    target.bits = slices.bits;
  }
}
