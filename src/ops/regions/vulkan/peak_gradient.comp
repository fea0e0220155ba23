#version 460
// SPDX-License-Identifier: MIT
// The image's gradient for maxima: a thread adds up the terms of one element, region after region and bin after bin.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/peaks.glsl"

layout(local_size_x = 128) in;

void main() {
  const uint thread = group_index() * 128 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Place place = place_of(step, thread, 1);
  const uint columns = uint(step.axes[1].bins);
  const uint bins = uint(step.axes[0].bins) * columns;
  uint total = push.first_region == 0 ? 0 : sum_of_part(uint64_t(thread)).bits;
  const int64_t end = bins == 0 ? int64_t(0) : int64_t(push.end_region);
  for (int64_t region = int64_t(push.first_region); region < end; ++region) {
    if (batch_of(step, region) != place.batch || is_far(grid_of(step, region), place.row, place.column)) {
      continue;
    }
    const uint64_t peaks = operand_address(5) + uint64_t((region * step.channels + place.channel) * int64_t(bins)) * 16;
    const uint64_t from = operand_address(3) + uint64_t(region * step.bins[0] + place.channel * step.bins[1]);
    for (uint bin = 0; bin < bins; ++bin) {
      const PeakTaps taps = PeakOfBin(peaks + uint64_t(bin) * 16).taps;
      const int down = int(place.row) - taps.row;
      const int across = int(place.column) - taps.column;
      if (taps.row < 0 || down < 0 || down > 1 || across < 0 || across > 1) {
        continue;
      }
      const uint row_weight = down == 0 ? subtract_floats(kOneOfValue, taps.second_row) : taps.second_row;
      const uint column_weight = across == 0 ? subtract_floats(kOneOfValue, taps.second_column) : taps.second_column;
      if (!is_zero(row_weight) && !is_zero(column_weight)) {
        const uint value = load_bin(from + uint64_t(int64_t(bin / columns) * step.bins[2] +
                                                    int64_t(bin % columns) * step.bins[3]));
        total = add_floats(total, multiply_floats(multiply_floats(value, row_weight), column_weight));
      }
    }
  }
  if (!is_last_part(step)) {
    sum_of_part(uint64_t(thread)).bits = total;
    return;
  }
  store_result(address_of_result(step, place), total);
}
