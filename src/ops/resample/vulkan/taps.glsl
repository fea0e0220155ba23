// SPDX-License-Identifier: MIT
// The loops over the elements of the written tensor, and the tables of taps along the sampled dimensions, which are
// computed on the CPU when a step is prepared. One thread for each element, with neighbors along the smallest stride.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

// As in family.cpp.
layout(constant_id = 0) const uint kBytes = 4;  // of an element
const uint kCopied = 0xffffffffu;
const uint kMaxLevels = 9;

struct Loop {
  uint size;
  uint level;  // the sampled dimension, or kCopied
  int64_t from;
  int64_t to;
};
struct Level {
  int64_t stride;  // of the tensor that is read
  uint spans;      // where its tables begin in `words`
  uint weights;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint rank;
  uint levels;  // at least 2
  Loop loops[kMaxLevels];
  Level level[kMaxLevels];
  uint words[];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;
  uint input_is_aligned;
  uint output_is_aligned;
  uint divisor;  // the bits of a number; this and what follows is only for gradients
  uint first_tap;  // the taps along the last level that this part of the step adds
  uint end_tap;
  uint is_last_part;
} push;

// at: by level; those of `row` and `column` are not stored there, so that most kernels need no array.
struct Position {
  int64_t from;
  int64_t to;
  uint row;
  uint column;
  uint at[kMaxLevels];
};

Position position_of(Parameters parameters, uint number, uint row_level, uint column_level) {
  Position position;
  position.from = 0;
  position.to = 0;
  position.row = 0;
  position.column = 0;
  for (uint i = parameters.rank; i-- > 0;) {
    const uint size = parameters.loops[i].size;
    const uint at = number % size;
    number /= size;
    position.to += int64_t(at) * parameters.loops[i].to;
    const uint level = parameters.loops[i].level;
    if (level == kCopied) {
      position.from += int64_t(at) * parameters.loops[i].from;
    } else if (level == row_level) {
      position.row = at;
    } else if (level == column_level) {
      position.column = at;
    } else {
      position.at[level] = at;
    }
  }
  return position;
}
