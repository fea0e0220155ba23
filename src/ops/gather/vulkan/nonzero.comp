#version 460
// SPDX-License-Identifier: MIT
// NONZERO_COORDINATES in three passes: each group counts the nonzero elements of its tile, one group adds the counts up,
// and each group writes its rows. The rows after the last coordinate are 0: the element that is the n-th zero writes the
// n-th of them.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

const uint kThreads = 256;
layout(local_size_x = 256) in;
// As in nonzero.cpp.
layout(constant_id = 0) const uint kPass = 0;
layout(constant_id = 1) const uint kBytes = 4;  // of an element
const uint kCount = 0, kAddUp = 1, kWrite = 2;
const uint kEach = 8;  // elements of a thread
const uint kTile = kThreads * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint64_t mask;
  int64_t row_stride;
  int64_t column_stride;
  uint count;
  uint tiles;
  uint rank;
  uint columns;
  int64_t strides[8];
  uint sizes[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint has_total;
  uint elements_are_aligned;
  uint total_is_aligned;
  uint rows_are_aligned;
} push;

Bits32 count_of(uint tile) { return Bits32(operand_address(4) + uint64_t(tile) * 4); }

bool is_nonzero(Parameters parameters, uint element) {
  uint64_t from = operand_address(0);
  for (uint i = parameters.rank; i-- > 0;) {
    from += uint64_t(int64_t(element % parameters.sizes[i]) * parameters.strides[i]);
    element /= parameters.sizes[i];
  }
  return (load_bits(from, kBytes, push.elements_are_aligned != 0) & parameters.mask) != 0;
}

// The sum of the threads' values up to and including this one. All threads of the group call this.
shared uint shared_sums[kThreads];
uint sum_up_to(uint value) {
  const uint thread = gl_LocalInvocationIndex;
  for (uint distance = 1; distance < kThreads; distance *= 2) {
    shared_sums[thread] = value;
    barrier();
    value += thread >= distance ? shared_sums[thread - distance] : 0;
    barrier();
  }
  return value;
}

void add_up(Parameters parameters) {
  const uint each = parameters.tiles / kThreads + 1;
  const uint begin = min(parameters.tiles, gl_LocalInvocationIndex * each);
  const uint end = min(parameters.tiles, begin + each);
  uint own = 0;
  for (uint tile = begin; tile < end; ++tile) {
    own += count_of(tile).bits;
  }
  const uint up_to_here = sum_up_to(own);
  uint total = up_to_here - own;
  for (uint tile = begin; tile < end; ++tile) {
    total += count_of(tile).bits;
    count_of(tile).bits = total;
  }
  if (gl_LocalInvocationIndex == kThreads - 1 && push.has_total != 0) {
    store_bits(operand_address(1), uint64_t(up_to_here), 4, push.total_is_aligned != 0);
  }
}

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  if (kPass == kAddUp) {
    add_up(parameters);
    return;
  }
  const uint tile = group_index();
  // A thread has neighboring elements in turn with the others, so that they are read together.
  uint before = 0;  // the rows before these elements
  uint all = 0;
  if (kPass == kWrite) {
    before = tile == 0 ? 0 : count_of(tile - 1).bits;
    all = count_of(parameters.tiles - 1).bits;
  }
  for (uint i = 0; i < kEach; ++i) {
    const uint64_t number = uint64_t(tile) * kTile + i * kThreads + gl_LocalInvocationIndex;
    const bool exists = number < parameters.count;
    uint rest = uint(number);
    const bool counts = exists && is_nonzero(parameters, rest);
    if (kPass == kCount) {
      before += counts ? 1 : 0;
      continue;
    }
    const uint up_to_here = sum_up_to(counts ? 1 : 0);
    const uint row = before + up_to_here - (counts ? 1 : 0);
    shared_sums[gl_LocalInvocationIndex] = up_to_here;
    barrier();
    before += shared_sums[kThreads - 1];
    barrier();
    if (exists) {
      // Of the elements before this one, `row` are not zero.
      const int64_t to = (counts ? int64_t(row) : int64_t(all) + (int64_t(rest) - int64_t(row))) * parameters.row_stride;
      for (uint column = parameters.columns; column-- > 0;) {
        const uint size = parameters.sizes[parameters.rank - parameters.columns + column];
        const uint64_t address = operand_address(2) + uint64_t(to + int64_t(column) * parameters.column_stride);
        store_bits(address, uint64_t(counts ? rest % size : 0), 4, push.rows_are_aligned != 0);
        rest /= size;
      }
    }
  }
  if (kPass == kCount) {
    const uint total = sum_up_to(before);
    if (gl_LocalInvocationIndex == kThreads - 1) {
      count_of(tile).bits = total;
    }
  }
}
