#version 460
// SPDX-License-Identifier: MIT
// The gradient of a box: a group computes one region. Each thread adds up the channels of its lane, and then the lanes are
// added in halves.
#extension GL_GOOGLE_include_directive : require
#include "ops/regions/vulkan/sampling.glsl"

const uint kLanes = 32;  // kRegionLanes
layout(local_size_x = 32) in;
shared uint s_sums[4][kLanes];

void add_sample(Samples rows, Samples columns, int64_t bin_row, int64_t bin_column, int64_t row, int64_t column,
                uint gradient, Plane plane, inout uint sums[4]) {
  const Tap y = tap_of(rows, bin_row, row);
  const Tap x = tap_of(columns, bin_column, column);
  if (!is_zero(x.second)) {
    const uint slope = multiply_floats(slope_along_columns(plane, y, x), gradient);
    const uint share = share_of(columns, bin_column, column);
    sums[0] = add_floats(sums[0], multiply_floats(slope, subtract_floats(kOneOfValue, share)));
    sums[2] = add_floats(sums[2], multiply_floats(slope, share));
  }
  if (!is_zero(y.second)) {
    const uint slope = multiply_floats(slope_along_rows(plane, y, x), gradient);
    const uint share = share_of(rows, bin_row, row);
    sums[1] = add_floats(sums[1], multiply_floats(slope, subtract_floats(kOneOfValue, share)));
    sums[3] = add_floats(sums[3], multiply_floats(slope, share));
  }
}

void main() {
  Step step = Step(push.header.parameters);
  const int64_t region = int64_t(group_index());
  const uint lane = gl_LocalInvocationIndex;
  const int64_t batch = batch_of(step, region);
  uint sums[4] = uint[4](0, 0, 0, 0);
  if (batch >= 0) {
    const Grid grid = grid_of(step, region);
    const Samples rows = grid.rows;
    const Samples columns = grid.columns;
    const uint count = float_of_integer(rows.count * columns.count);
    for (int64_t channel = int64_t(lane); channel < step.channels; channel += kLanes) {
      const Plane plane = plane_of(step, batch, channel);
      for (int64_t bin_row = 0; bin_row < step.axes[0].bins; ++bin_row) {
        for (int64_t bin_column = 0; bin_column < step.axes[1].bins; ++bin_column) {
          uint gradient = load_bin(operand_address(3) + uint64_t(region * step.bins[0] + channel * step.bins[1] +
                                                                 bin_row * step.bins[2] + bin_column * step.bins[3]));
          // The samples of the bin that take part: one for maxima.
          const Ranges ranges = inside_both(grid, bin_row, bin_column);
          Range down = ranges.rows;
          Range across = ranges.columns;
          if (step.is_max != 0) {
            const Peak peak = peak_of(grid, ranges, bin_row, bin_column, plane);
            down = Range(peak.row, peak.row + (peak.exists ? 1 : 0));
            across = Range(peak.column, peak.column + 1);
          } else {
            gradient = divide_floats(gradient, count);
          }
          for (int64_t row = down.first; row < down.end; ++row) {
            for (int64_t column = across.first; column < across.end; ++column) {
              add_sample(rows, columns, bin_row, bin_column, row, column, gradient, plane, sums);
            }
          }
        }
      }
    }
  }
  for (uint i = 0; i < 4; ++i) {
    s_sums[i][lane] = sums[i];
  }
  for (uint lanes = kLanes / 2; lanes > 0; lanes /= 2) {
    barrier();
    if (lane < lanes) {
      for (uint i = 0; i < 4; ++i) {
        s_sums[i][lane] = add_floats(s_sums[i][lane], s_sums[i][lane + lanes]);
      }
    }
  }
  if (lane == 0) {
    for (uint i = 0; i < 4; ++i) {
      store_result(operand_address(4) + uint64_t(region * step.result[0] + int64_t(i) * step.result[1]),
                   multiply_floats(s_sums[i][0], step.axes[i % 2 == 0 ? 1 : 0].scale));
    }
  }
}
