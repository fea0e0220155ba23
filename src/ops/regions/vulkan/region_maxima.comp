#version 460
// SPDX-License-Identifier: MIT
// ROI_ALIGN: the maximum of each bin's samples.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/sampling.glsl"

layout(local_size_x = 128) in;

void main() {
  const uint thread = group_index() * 128 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Bin bin = bin_of(step, thread, kChannels);
  const int64_t batch = batch_of(step, bin.region);
  const Grid grid = grid_of(step, bin.region);
  const Samples rows = grid.rows;
  const Samples columns = grid.columns;
  const Ranges ranges = inside_both(grid, bin.row, bin.column);
  const Range in_rows = ranges.rows;
  const Range in_columns = ranges.columns;
  const int64_t found = batch < 0 ? int64_t(0) : count_of(in_rows) * count_of(in_columns);
  uint maxima[kChannels];
  for (uint c = 0; c < kChannels; ++c) {
    maxima[c] = found == 0 ? step.outside : kMinusInfinity;
  }
  for (int64_t i = in_rows.first; found != 0 && i < in_rows.end; ++i) {
    const Tap y = tap_of(rows, bin.row, i);
    for (int64_t j = in_columns.first; j < in_columns.end; ++j) {
      const Tap x = tap_of(columns, bin.column, j);
      for (uint c = 0; c < kChannels; ++c) {
        const int64_t channel = bin.channel + int64_t(min(c, bin.channels - 1));
        maxima[c] = greater_of(maxima[c], sample_of(plane_of(step, batch, channel), y, x));
      }
    }
  }
  const bool has_outside = found != 0 && found != rows.count * columns.count;
  const uint64_t to = address_of_bin(step, bin);
  for (uint c = 0; c < kChannels; ++c) {
    if (c < bin.channels) {
      store_bin(to + uint64_t(int64_t(c) * step.bins[1]),
                has_outside ? greater_of(maxima[c], step.outside) : maxima[c]);
    }
  }
}
