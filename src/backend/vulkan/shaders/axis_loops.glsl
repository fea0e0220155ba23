// SPDX-License-Identifier: MIT
// Rows of elements in two tensors (axis_loops.h): the kept loops number the rows, the reduced ones a row's elements.
#ifndef ANYDML_AXIS_LOOPS_GLSL
#define ANYDML_AXIS_LOOPS_GLSL
#include "backend/vulkan/shaders/kernel.glsl"

struct AxisLoop {
  uint size;
  uint unused;
  int64_t from;
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AxisLoops {
  int64_t from_offset;
  int64_t to_offset;
  uint outputs;
  uint count;
  uint kept_rank;
  uint reduced_rank;
  AxisLoop kept[8];
  AxisLoop reduced[8];
};
const uint kAxisLoopsBytes = 416;

struct Offsets {
  int64_t from;
  int64_t to;
};

// From the operands' addresses to the first element of a row.
Offsets row_offsets(AxisLoops loops, uint row) {
  Offsets at = Offsets(loops.from_offset, loops.to_offset);
  for (uint loop = loops.kept_rank; loop-- > 0;) {
    const int64_t index = int64_t(row % loops.kept[loop].size);
    row /= loops.kept[loop].size;
    at.from += index * loops.kept[loop].from;
    at.to += index * loops.kept[loop].to;
  }
  return at;
}

// From the first element of a row to another.
Offsets element_offsets(AxisLoops loops, uint element) {
  Offsets at = Offsets(0, 0);
  for (uint loop = loops.reduced_rank; loop-- > 1;) {
    const int64_t index = int64_t(element % loops.reduced[loop].size);
    element /= loops.reduced[loop].size;
    at.from += index * loops.reduced[loop].from;
    at.to += index * loops.reduced[loop].to;
  }
  at.from += int64_t(element) * loops.reduced[0].from;
  at.to += int64_t(element) * loops.reduced[0].to;
  return at;
}

#endif
