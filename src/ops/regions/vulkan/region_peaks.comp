#version 460
// SPDX-License-Identifier: MIT
// Finds the maximum sample of each bin for the gradient of maxima.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/peaks.glsl"

layout(local_size_x = 128) in;

void main() {
  const uint thread = group_index() * 128 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const Bin bin = bin_of(step, thread, 1);
  const int64_t batch = batch_of(step, bin.region);
  PeakTaps taps = PeakTaps(-1, 0, 0, 0);
  if (batch >= 0) {
    const Grid grid = grid_of(step, bin.region);
    const Ranges ranges = inside_both(grid, bin.row, bin.column);
    const Peak peak = peak_of(grid, ranges, bin.row, bin.column, plane_of(step, batch, bin.channel));
    if (peak.exists) {
      const Tap y = tap_of(grid.rows, bin.row, peak.row);
      const Tap x = tap_of(grid.columns, bin.column, peak.column);
      taps = PeakTaps(int(y.first), int(x.first), y.second, x.second);
    }
  }
  PeakOfBin(operand_address(5) + uint64_t(thread) * 16).taps = taps;
}
