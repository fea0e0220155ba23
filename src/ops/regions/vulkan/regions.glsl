// SPDX-License-Identifier: MIT
// What the kernels for regions share: the step, its operands, and comparisons of FLOAT32.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

// As in family.cpp.
layout(constant_id = 0) const uint kBytes = 4;       // of an element
layout(constant_id = 1) const uint kIndexBytes = 4;  // of a batch index
layout(constant_id = 2) const bool kIndexIsSigned = false;

// RegionStep and RegionAxis (ops/regions)
struct Axis {
  int64_t size;
  int64_t bins;
  uint scale;
  uint input_offset;
  uint output_offset;
  uint minimum;
  uint limit;
  uint to_corners;
  uint nearest;
  uint padding;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Step {
  uint kind;
  uint type;
  uint index_type;
  uint is_max;
  uint outside;
  uint unused;
  Axis axes[2];
  int64_t regions;
  int64_t batches;
  int64_t channels;
  int64_t image[4];
  int64_t bins[4];
  int64_t boxes[2];
  int64_t indices;
  int64_t result[4];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;  // of threads
  uint image_is_aligned;
  uint boxes_are_aligned;
  uint indices_are_aligned;
  uint bins_are_aligned;
  uint result_is_aligned;
  uint first_region;  // the regions whose terms this part of the step adds to the image's gradient
  uint end_region;
  uint64_t sums_offset;  // in the workspace
} push;

uint import_f32_round_up(const in uint x) { return x; }

const uint kMagnitude = 0x7fffffffu;
const uint kMinusInfinity = 0xff800000u;

bool is_finite(uint x) { return (x & kMagnitude) < kInfinityOfValue; }
bool is_nan(uint x) { return (x & kMagnitude) > kInfinityOfValue; }
bool is_zero(uint x) { return (x & kMagnitude) == 0; }
uint negated(uint x) { return x ^ 0x80000000u; }
// A NaN wins, and +0 is above -0.
uint greater_of(uint a, uint b) {
  if (is_nan(a) || is_nan(b)) {
    return kNanOfValue;
  }
  const uint key_a = int(a) < 0 ? ~a : a | 0x80000000u;
  const uint key_b = int(b) < 0 ? ~b : b | 0x80000000u;
  return key_a >= key_b ? a : b;
}

// The batch of a region, or -1 if the image has no such batch.
int64_t batch_of(Step step, int64_t region) {
  const uint64_t bits =
      load_bits(operand_address(2) + uint64_t(region * step.indices), kIndexBytes, push.indices_are_aligned != 0);
  const int64_t index = kIndexIsSigned && kIndexBytes == 4 ? int64_t(int(uint(bits))) : int64_t(bits);
  return index >= 0 && index < step.batches ? index : int64_t(-1);
}

uint box_number(Step step, int64_t region, uint i) {
  const uint64_t at = operand_address(1) + uint64_t(region * step.boxes[0] + int64_t(i) * step.boxes[1]);
  return value_of(load_bits(at, kBytes, push.boxes_are_aligned != 0), kBytes);
}

uint load_image(uint64_t at) { return value_of(load_bits(at, kBytes, push.image_is_aligned != 0), kBytes); }
uint load_bin(uint64_t at) { return value_of(load_bits(at, kBytes, push.bins_are_aligned != 0), kBytes); }
void store_bin(uint64_t at, uint value) {
  store_bits(at, element_of(value, kBytes), kBytes, push.bins_are_aligned != 0);
}
void store_result(uint64_t at, uint value) {
  store_bits(at, element_of(value, kBytes), kBytes, push.result_is_aligned != 0);
}

// The channels of a thread, which computes the positions of samples once for all of them. If there are fewer, the last one
// is computed again, so that the loops over channels can be unrolled.
const uint kChannels = 4;

// The place of a thread among the bins of all regions, with `together` channels for each thread.
struct Bin {
  int64_t region;
  int64_t channel;  // the first one
  uint channels;
  int64_t row;
  int64_t column;
};
Bin bin_of(Step step, uint number, uint together) {
  const uint columns = uint(step.axes[1].bins);
  const uint rows = uint(step.axes[0].bins);
  const uint groups = (uint(step.channels) + together - 1) / together;
  Bin bin;
  bin.column = int64_t(number % columns);
  number /= columns;
  bin.row = int64_t(number % rows);
  number /= rows;
  const uint channel = number % groups * together;
  bin.channel = int64_t(channel);
  bin.channels = min(together, uint(step.channels) - channel);
  bin.region = int64_t(number / groups);
  return bin;
}
uint64_t address_of_bin(Step step, Bin bin) {
  return operand_address(3) + uint64_t(bin.region * step.bins[0] + bin.channel * step.bins[1] +
                                       bin.row * step.bins[2] + bin.column * step.bins[3]);
}

// The place of a thread among the elements of the image's gradient.
struct Place {
  int64_t batch;
  int64_t channel;
  uint channels;
  int64_t row;
  int64_t column;
};
Place place_of(Step step, uint number, uint together) {
  const uint columns = uint(step.axes[1].size);
  const uint rows = uint(step.axes[0].size);
  const uint groups = (uint(step.channels) + together - 1) / together;
  Place place;
  place.column = int64_t(number % columns);
  number /= columns;
  place.row = int64_t(number % rows);
  number /= rows;
  const uint channel = number % groups * together;
  place.channel = int64_t(channel);
  place.channels = min(together, uint(step.channels) - channel);
  place.batch = int64_t(number / groups);
  return place;
}
// Sums that are passed from one part of the step to the next.
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Sum { uint bits; };
Sum sum_of_part(uint64_t number) { return Sum(operand_address(5) + push.sums_offset + number * 4); }
bool is_last_part(Step step) { return int64_t(push.end_region) == step.regions; }

uint64_t address_of_result(Step step, Place place) {
  return operand_address(4) + uint64_t(place.batch * step.result[0] + place.channel * step.result[1] +
                                       place.row * step.result[2] + place.column * step.result[3]);
}
