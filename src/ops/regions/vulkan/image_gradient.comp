#version 460
// SPDX-License-Identifier: MIT
// The image's gradient for averages: a thread adds up the terms of one element in several channels, region after region
// and bin after bin.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/sampling.glsl"

layout(local_size_x = 128) in;

// The sum of the element's weights in the bin's samples. Only samples within one element of it can contribute.
uint weight_in_bin(Samples samples, int64_t bin, int64_t element) {
  const uint low = subtract_floats(float_of_integer(element), kOneOfValue);
  const uint high = add_floats(float_of_integer(element), kOneOfValue);
  if (is_less_float(coordinate_of(samples, bin, samples.count - 1), low) ||
      is_less_float(high, coordinate_of(samples, bin, 0))) {
    return 0;
  }
  const Range range = inside(samples, bin);
  int64_t first = range.first;
  for (int64_t end = range.end; first < end;) {
    const int64_t middle = first + (end - first) / 2;
    if (is_less_float(coordinate_of(samples, bin, middle), low)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  uint weight = 0;
  for (int64_t number = first; number < range.end && !is_less_float(high, coordinate_of(samples, bin, number));
       ++number) {
    const Tap tap = tap_of(samples, bin, number);
    if (tap.first == element) {
      weight = add_floats(weight, subtract_floats(kOneOfValue, tap.second));
    } else if (tap.first + 1 == element) {
      weight = add_floats(weight, tap.second);
    }
  }
  return weight;
}

void main() {
  const uint thread = group_index() * 128 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Place place = place_of(step, thread, kChannels);
  uint sums[kChannels];
  for (uint c = 0; c < kChannels; ++c) {
    sums[c] = push.first_region == 0 ? 0 : sum_of_part(uint64_t(thread) * kChannels + c).bits;
  }
  for (int64_t region = int64_t(push.first_region); region < int64_t(push.end_region); ++region) {
    if (batch_of(step, region) != place.batch) {
      continue;
    }
    const Grid grid = grid_of(step, region);
    if (!grid.rows.exists || !grid.columns.exists || is_far(grid, place.row, place.column)) {
      continue;
    }
    const uint count = float_of_integer(grid.rows.count * grid.columns.count);
    for (int64_t y = 0; y < step.axes[0].bins; ++y) {
      uint row_weight = kOneOfValue;
      // The weight along the rows, and then those along the columns.
      for (int64_t x = -1; !is_zero(row_weight) && x < step.axes[1].bins; ++x) {
        const uint weight =
            weight_in_bin(samples_along(grid, x < 0 ? 0 : 1), x < 0 ? y : x, x < 0 ? place.row : place.column);
        if (x < 0) {
          row_weight = weight;
          continue;
        }
        const uint column_weight = weight;
        if (is_zero(column_weight)) {
          continue;
        }
        const uint64_t at = operand_address(3) + uint64_t(region * step.bins[0] + place.channel * step.bins[1] +
                                                          y * step.bins[2] + x * step.bins[3]);
        for (uint c = 0; c < kChannels; ++c) {
          const uint64_t from = at + uint64_t(int64_t(min(c, place.channels - 1)) * step.bins[1]);
          const uint share = divide_floats(load_bin(from), count);
          sums[c] = add_floats(sums[c], multiply_floats(multiply_floats(share, row_weight), column_weight));
        }
      }
    }
  }
  if (!is_last_part(step)) {
    for (uint c = 0; c < kChannels; ++c) {
      sum_of_part(uint64_t(thread) * kChannels + c).bits = sums[c];
    }
    return;
  }
  const uint64_t to = address_of_result(step, place);
  for (uint c = 0; c < kChannels; ++c) {
    if (c < place.channels) {
      store_result(to + uint64_t(int64_t(c) * step.result[1]), sums[c]);
    }
  }
}
