#version 460
// SPDX-License-Identifier: MIT
// ROI_ALIGN: the average of each bin's samples, as the weighted sum of the elements that contribute to them.
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
  const int64_t all = rows.count * columns.count;
  const int64_t found = batch < 0 ? int64_t(0) : count_of(in_rows) * count_of(in_columns);
  uint totals[kChannels];
  if (found != 0) {
    const Plane plane = plane_of(step, batch, bin.channel);
    Walk down = walk_of(bin.row, in_rows);
    int64_t row;
    uint row_weight;
    for (bool is_first_row = true; go_on(down, rows, row, row_weight); is_first_row = false) {
      uint sums[kChannels];
      Walk across = walk_of(bin.column, in_columns);
      int64_t column;
      uint column_weight;
      for (bool is_first = true; go_on(across, columns, column, column_weight); is_first = false) {
        const uint64_t at = plane.at + uint64_t(row * plane.row + column * plane.column);
        for (uint c = 0; c < kChannels; ++c) {
          const uint64_t from = at + uint64_t(int64_t(min(c, bin.channels - 1)) * step.image[1]);
          const uint product = multiply_floats(load_image(from), column_weight);
          sums[c] = is_first ? product : add_floats(sums[c], product);
        }
      }
      for (uint c = 0; c < kChannels; ++c) {
        const uint product = multiply_floats(sums[c], row_weight);
        totals[c] = is_first_row ? product : add_floats(totals[c], product);
      }
    }
  }
  const uint64_t to = address_of_bin(step, bin);
  for (uint c = 0; c < kChannels; ++c) {
    uint value = step.outside;
    if (found != 0) {
      value = totals[c];
      if (found != all) {
        value = add_floats(value, multiply_floats(float_of_integer(all - found), step.outside));
      }
      value = divide_floats(value, float_of_integer(all));
    }
    if (c < bin.channels) {
      store_bin(to + uint64_t(int64_t(c) * step.bins[1]), value);
    }
  }
}
