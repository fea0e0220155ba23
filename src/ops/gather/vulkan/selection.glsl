// SPDX-License-Identifier: MIT
// The loops of gathers, scatters and ONE_HOT, and how they read indices. An index never refers to an element outside its
// dimension (ops/gather/scalar/index.h).
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/strided.glsl"

struct Loop {
  FastDivisor size;
  uint unused;
  int64_t table;  // for ONE_HOT: the position along the axis
  int64_t indices;
  int64_t slices;
  int64_t item;
  int64_t number;
};
struct Coordinate {
  int64_t size;
  int64_t stride;
  int64_t number;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Selection {
  int64_t coordinate_stride;
  int64_t on_offset;
  uint rank;
  uint coordinates;
  uint index_bytes;
  uint index_is_signed;
  Coordinate table[8];
  Loop loops[9];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;
  uint rank;  // of the loops that are visited
  uint indices_are_aligned;
  uint elements_are_aligned;
  FastDivisor run;
} push;

struct Position {
  int64_t table;
  int64_t indices;
  int64_t slices;
  int64_t item;
  int64_t number;
};

Position position_of(Selection selection, uint n, uint word) {
  uint index;
  n = divide(n, push.run, index);
  Position at = Position(int64_t(index) * word, 0, int64_t(index) * word, 0, 0);
  for (uint loop = push.rank; loop-- > 0;) {
    n = divide(n, selection.loops[loop].size, index);
    at.table += int64_t(index) * selection.loops[loop].table;
    at.indices += int64_t(index) * selection.loops[loop].indices;
    at.slices += int64_t(index) * selection.loops[loop].slices;
    at.item += int64_t(index) * selection.loops[loop].item;
    at.number += int64_t(index) * selection.loops[loop].number;
  }
  return at;
}

// The position in a dimension, or -1 if the index is out of range. If is_nearest, it is clamped instead.
int64_t load_index(Selection selection, uint64_t address, int64_t size, bool is_nearest) {
  const uint64_t bits = load_bits(address, selection.index_bytes, push.indices_are_aligned != 0);
  if (selection.index_is_signed == 0) {
    return bits < uint64_t(size) ? int64_t(bits) : is_nearest ? size - 1 : int64_t(-1);
  }
  int64_t index = selection.index_bytes == 4 ? int64_t(int(uint(bits))) : int64_t(bits);
  index += index < 0 ? size : 0;
  if (is_nearest) {
    return clamp(index, int64_t(0), size - 1);
  }
  return index >= 0 && index < size ? index : int64_t(-1);
}
