#version 460
// SPDX-License-Identifier: MIT
// ROI_POOLING, as in ops/regions/scalar/pooling.h: the maximum of the image's elements in each bin.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/regions.glsl"

layout(local_size_x = 128) in;

uint import_f32_round_away(const in uint x) { return x; }

const uint kFar = 0x53800000u;  // 2^40

int64_t corner_of(uint corner, uint scale) {
  const uint rounded = import_f32_round_away(multiply_floats(corner, scale));
  return integer_of_float(is_less_float(kFar, rounded)            ? kFar
                          : is_less_float(negated(kFar), rounded) ? rounded
                                                                  : negated(kFar));
}

struct Elements {
  int64_t first;
  int64_t end;
};
Elements elements_of(int64_t from, int64_t to, int64_t bin, int64_t bins, int64_t size) {
  const int64_t length = to < from ? int64_t(1) : to - from + 1;
  const int64_t whole = length / bins;
  const uint64_t divisor = uint64_t(bins);
  const uint64_t rest = uint64_t(length % bins);
  const uint64_t number = uint64_t(bin);
  int64_t first = from + bin * whole + int64_t(number * rest / divisor);
  int64_t end = from + (bin + 1) * whole + int64_t(((number + 1) * rest + divisor - 1) / divisor);
  first = clamp(first, int64_t(0), size);
  end = clamp(end, first, size);
  return Elements(first, end);
}

int64_t pooled_batch(uint number, int64_t batches) {
  if (!is_less_float(0xbf800000u, number) || !is_less_float(number, float_of_integer(batches))) {
    return int64_t(-1);
  }
  const int64_t batch = integer_of_float(number);
  return batch < batches ? batch : int64_t(-1);
}

void main() {
  const uint thread = group_index() * 128 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Bin bin = bin_of(step, thread, 1);
  const int64_t batch = pooled_batch(box_number(step, bin.region, 0), step.batches);
  int64_t corners[4];
  for (uint i = 0; i < 4; ++i) {
    corners[i] = corner_of(box_number(step, bin.region, 1 + i), step.axes[0].scale);
  }
  const Elements y = elements_of(corners[1], corners[3], bin.row, step.axes[0].bins, step.axes[0].size);
  const Elements x = elements_of(corners[0], corners[2], bin.column, step.axes[1].bins, step.axes[1].size);
  uint value = 0;
  if (batch >= 0 && y.first < y.end && x.first < x.end) {
    const uint64_t plane = operand_address(0) + uint64_t(batch * step.image[0] + bin.channel * step.image[1]);
    value = kMinusInfinity;
    for (int64_t row = y.first; row < y.end; ++row) {
      for (int64_t column = x.first; column < x.end; ++column) {
        value = greater_of(value, load_image(plane + uint64_t(row * step.image[2] + column * step.image[3])));
      }
    }
  }
  store_bin(address_of_bin(step, bin), value);
}
