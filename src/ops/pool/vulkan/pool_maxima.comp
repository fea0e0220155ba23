#version 460
// SPDX-License-Identifier: MIT
// The maxima of windows and their positions, as in ops/pool/scalar. Elements are compared as unsigned keys: NaN is above
// everything, and +0 is above -0.
#extension GL_GOOGLE_include_directive : require
#include "ops/pool/vulkan/windows.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kKind = 0;
const uint kUnsigned = 0, kSigned = 1, kFloat = 2;

const uint kBits = 8 * kBytes;
const uint64_t kSign = uint64_t(1) << (kBits - 1);
const uint64_t kInfinity =
    kBytes == 2 ? uint64_t(0x7c00u) : kBytes == 4 ? uint64_t(0x7f800000u) : uint64_t(0x7ff) << 52;

uint64_t key_of(uint64_t bits) {
  if (kKind == kUnsigned) {
    return bits;
  }
  if (kKind == kSigned) {
    return bits ^ kSign;
  }
  const uint64_t magnitude = bits & (kSign - 1);
  if (magnitude > kInfinity) {
    return kSign + (kSign - 1);
  }
  return (bits & kSign) == 0 ? kSign + magnitude : kSign - 1 - magnitude;
}

uint64_t element_of_key(uint64_t key) {
  return kKind == kUnsigned ? key : kKind == kSigned ? key ^ kSign : key >= kSign ? key - kSign : kSign + (kSign - 1 - key);
}

uint64_t maximum = kKind == kFloat ? kSign - 1 - kInfinity : uint64_t(0);
int64_t found = -1;

void take(uint64_t bits, int64_t index) {
  const uint64_t key = key_of(bits);
  if (found < 0 || key > maximum) {
    maximum = key;
    found = index;
  }
}

void main() {
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= push.outputs) {
    return;
  }
  const Window window = visit_window(Step(push.header.parameters), number);
  store_bits(operand_address(1) + uint64_t(window.to), element_of_key(maximum), kBytes, push.output_is_aligned != 0);
  if (push.index_bytes != 0) {
    store_bits(operand_address(2) + uint64_t(window.index_to), uint64_t(found), push.index_bytes,
               push.indices_are_aligned != 0);
  }
}
