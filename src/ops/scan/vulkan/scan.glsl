// SPDX-License-Identifier: MIT
// What the kernels for scans share. Values have 64 bits for FLOAT64 and for 64-bit integers, and 32 bits for all other
// types.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

// As in family.cpp.
layout(constant_id = 0) const uint kBytes = 4;  // of an element
layout(constant_id = 1) const bool kIsFloat = false;
layout(constant_id = 2) const bool kIsProduct = false;

struct Loop {
  int64_t size;
  int64_t from;
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t input_offset;
  int64_t output_offset;
  int64_t along_input;
  int64_t along_output;
  uint64_t count;  // elements of a row
  uint rows;
  uint chains_of_row;
  uint kept_rank;
  uint is_exclusive;
  Loop kept[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint input_is_aligned;
  uint output_is_aligned;
} push;
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Total { Value bits; };

Value identity() {
  if (kIsProduct) {
    return kIsFloat ? kOneOfValue : Value(1);
  }
  return kIsFloat ? kSignOfValue : Value(0);
}

Value combined(Value before, Value next) {
  if (kIsFloat) {
    return kIsProduct ? multiply_floats(before, next) : add_floats(before, next);
  }
  return kIsProduct ? before * next : before + next;
}
