// SPDX-License-Identifier: MIT
// ops/regions/scalar/sampling.h over primitives.
#include "ops/regions/vulkan/regions.glsl"

const int64_t kMaxRegionSamples = 65536;

struct Samples {
  Axis axis;
  uint start;
  uint offset;
  uint step;
  uint spaces;
  int64_t count;  // in a bin
  bool exists;
};
Samples samples_of(Axis axis, uint from, uint to) {
  Samples samples;
  samples.axis = axis;
  samples.start = multiply_floats(from, axis.scale);
  samples.offset = axis.output_offset;
  const uint size = subtract_floats(multiply_floats(to, axis.scale), samples.start);
  const uint wanted = import_f32_round_up(divide_floats(size, float_of_integer(axis.bins)));
  const int64_t limit = max(min(int64_t(axis.limit), kMaxRegionSamples), int64_t(1));
  const int64_t minimum = max(min(int64_t(axis.minimum), limit), int64_t(1));
  samples.count = minimum;  // also if the box has a NaN
  if (is_less_float(float_of_integer(minimum), wanted)) {
    samples.count = is_less_float(wanted, float_of_integer(limit)) ? integer_of_float(wanted) : limit;
  }
  int64_t spaces = axis.bins * samples.count;
  if (axis.to_corners != 0) {
    if (spaces == 1) {
      samples.offset = 0xbf000000u;  // a single sample is in the middle: -0.5
    } else {
      spaces -= 1;
    }
  }
  samples.spaces = float_of_integer(spaces);
  samples.step = divide_floats(size, samples.spaces);
  samples.exists = is_finite(samples.start) && is_finite(samples.step);
  return samples;
}
// The samples of rows and columns. Drivers inline functions, and these have many operations, so what happens to both axes
// is a loop: it appears in a kernel once.
struct Grid {
  Samples rows;
  Samples columns;
};
Samples samples_along(Grid grid, uint axis) {
  if (axis == 0) {
    return grid.rows;
  }
  return grid.columns;
}
Grid grid_of(Step step, int64_t region) {
  Grid grid;
  [[dont_unroll]] for (uint axis = 0; axis < 2; ++axis) {
    const Samples samples =
        samples_of(step.axes[axis], box_number(step, region, 1 - axis), box_number(step, region, 3 - axis));
    if (axis == 0) {
      grid.rows = samples;
    } else {
      grid.columns = samples;
    }
  }
  return grid;
}

uint from_origin(Samples samples, int64_t bin, int64_t number) {
  const int64_t number_of_sample =
      bin * samples.count + (is_less_float(samples.step, 0) ? samples.count - 1 - number : number);
  return subtract_floats(float_of_integer(number_of_sample), samples.offset);
}
uint coordinate_of(Samples samples, int64_t bin, int64_t number) {
  const uint distance = multiply_floats(from_origin(samples, bin, number), samples.step);
  return subtract_floats(add_floats(distance, samples.start), samples.axis.input_offset);
}
uint share_of(Samples samples, int64_t bin, int64_t number) {
  return divide_floats(from_origin(samples, bin, number), samples.spaces);
}

// The samples [first, end) of a bin that are inside the image.
struct Range {
  int64_t first;
  int64_t end;
};
Range inside(Samples samples, int64_t bin) {
  if (!samples.exists) {
    return Range(0, 0);
  }
  const uint margin = samples.axis.to_corners != 0 ? 0u : kOneOfValue;
  const uint last = add_floats(float_of_integer(samples.axis.size - 1), margin);
  // The first sample that is not before the image, and then the first one that is behind it.
  Range range = Range(0, 0);
  [[dont_unroll]] for (uint side = 0; side < 2; ++side) {
    int64_t first = range.first;
    for (int64_t end = samples.count; first < end;) {
      const int64_t middle = first + (end - first) / 2;
      const uint coordinate = coordinate_of(samples, bin, middle);
      if (is_less_float(side == 0 ? coordinate : last, side == 0 ? negated(margin) : coordinate) == (side == 0)) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    if (side == 0) {
      range.first = first;
    } else {
      range.end = first;
    }
  }
  return range;
}
struct Ranges {
  Range rows;
  Range columns;
};
Ranges inside_both(Grid grid, int64_t bin_row, int64_t bin_column) {
  Ranges ranges;
  [[dont_unroll]] for (uint axis = 0; axis < 2; ++axis) {
    const Range range = inside(samples_along(grid, axis), axis == 0 ? bin_row : bin_column);
    if (axis == 0) {
      ranges.rows = range;
    } else {
      ranges.columns = range;
    }
  }
  return ranges;
}
int64_t count_of(Range range) { return range.end - range.first; }

struct Tap {
  int64_t first;
  uint second;
};
Tap tap_of(Samples samples, int64_t bin, int64_t number) {
  const uint x = coordinate_of(samples, bin, number);
  const uint at = samples.axis.nearest != 0 ? import_f32_round_up(subtract_floats(x, 0x3f000000u)) : x;
  const uint within = is_less_float(0, at) ? at : 0;
  const uint below = round_down_float(within);
  const int64_t first = integer_of_float(below);
  if (first >= samples.axis.size - 1) {
    return Tap(samples.axis.size - 1, 0);
  }
  return Tap(first, subtract_floats(within, below));
}

// RegionSamples::for_each_element, one element after another.
struct Walk {
  int64_t bin;
  int64_t number;
  int64_t end;
  int64_t at;  // the element whose weight is `here`, or -1
  uint here;
  uint next;    // the weight of the element after it
  int64_t due;  // an element that is returned before any other, or -1
  uint weight_of_due;
};
Walk walk_of(int64_t bin, Range range) { return Walk(bin, range.first, range.end, int64_t(-1), 0, 0, int64_t(-1), 0); }

bool go_on(inout Walk walk, Samples samples, out int64_t element, out uint weight) {
  element = walk.due;
  weight = walk.weight_of_due;
  if (walk.due >= 0) {
    walk.due = -1;
    return true;
  }
  while (walk.number < walk.end) {
    const Tap tap = tap_of(samples, walk.bin, walk.number);
    bool is_found = false;
    if (tap.first != walk.at) {
      const bool is_next = walk.at >= 0 && tap.first == walk.at + 1;
      if (walk.at >= 0) {
        is_found = true;
        element = walk.at;
        weight = walk.here;
        if (!is_zero(walk.next) && !is_next) {
          walk.due = walk.at + 1;
          walk.weight_of_due = walk.next;
        }
      }
      walk.here = is_next ? walk.next : 0;
      walk.next = 0;
      walk.at = tap.first;
    }
    walk.here = add_floats(walk.here, subtract_floats(kOneOfValue, tap.second));
    walk.next = add_floats(walk.next, tap.second);
    walk.number += 1;
    if (is_found) {
      return true;
    }
  }
  if (walk.at < 0) {
    return false;
  }
  element = walk.at;
  weight = walk.here;
  if (!is_zero(walk.next)) {
    walk.due = walk.at + 1;
    walk.weight_of_due = walk.next;
  }
  walk.at = -1;
  return true;
}

// A channel's plane of the image.
struct Plane {
  uint64_t at;
  int64_t row;
  int64_t column;
};
Plane plane_of(Step step, int64_t batch, int64_t channel) {
  return Plane(operand_address(0) + uint64_t(batch * step.image[0] + channel * step.image[1]), step.image[2],
               step.image[3]);
}
uint element_at(Plane plane, int64_t row, int64_t column) {
  return load_image(plane.at + uint64_t(row * plane.row + column * plane.column));
}

uint mean_of(uint first, uint second, uint weight) {
  return add_floats(multiply_floats(first, subtract_floats(kOneOfValue, weight)), multiply_floats(second, weight));
}

uint sample_of_row(Plane plane, int64_t row, Tap x) {
  const uint first = element_at(plane, row, x.first);
  return is_zero(x.second) ? first : mean_of(first, element_at(plane, row, x.first + 1), x.second);
}
uint sample_of(Plane plane, Tap y, Tap x) {
  const uint above = sample_of_row(plane, y.first, x);
  return is_zero(y.second) ? above : mean_of(above, sample_of_row(plane, y.first + 1, x), y.second);
}

uint slope_of_row(Plane plane, int64_t row, Tap x) {
  return subtract_floats(element_at(plane, row, x.first + 1), element_at(plane, row, x.first));
}
uint slope_along_columns(Plane plane, Tap y, Tap x) {
  const uint above = slope_of_row(plane, y.first, x);
  return is_zero(y.second) ? above : mean_of(above, slope_of_row(plane, y.first + 1, x), y.second);
}
uint slope_of_column(Plane plane, Tap y, int64_t column) {
  return subtract_floats(element_at(plane, y.first + 1, column), element_at(plane, y.first, column));
}
uint slope_along_rows(Plane plane, Tap y, Tap x) {
  const uint left = slope_of_column(plane, y, x.first);
  return is_zero(x.second) ? left : mean_of(left, slope_of_column(plane, y, x.first + 1), x.second);
}

// find_region_peak
struct Peak {
  bool exists;
  int64_t row;
  int64_t column;
};
Peak peak_of(Grid grid, Ranges ranges, int64_t bin_row, int64_t bin_column, Plane plane) {
  const Samples rows = grid.rows;
  const Samples columns = grid.columns;
  const Range y = ranges.rows;
  const Range x = ranges.columns;
  Peak peak = Peak(false, 0, 0);
  uint best = 0;
  for (int64_t i = y.first; i < y.end; ++i) {
    const Tap row = tap_of(rows, bin_row, i);
    for (int64_t j = x.first; j < x.end; ++j) {
      const uint value = sample_of(plane, row, tap_of(columns, bin_column, j));
      if (!peak.exists || is_less_float(best, value) || (is_nan(value) && !is_nan(best))) {
        peak = Peak(true, i, j);
        best = value;
      }
    }
  }
  const bool all_inside = count_of(y) == rows.count && count_of(x) == columns.count;
  peak.exists = peak.exists && (all_inside || !is_less_float(best, 0));
  return peak;
}

// Whether a region's samples are too far from an element to depend on it.
bool is_far(Samples samples, int64_t element) {
  const uint low = float_of_integer(element - 1);
  const uint high = float_of_integer(element + 1);
  bool is_above = true;
  bool is_below = true;
  [[dont_unroll]] for (uint i = 0; i < 2; ++i) {
    const int64_t bin = i == 0 ? int64_t(0) : samples.axis.bins - 1;
    is_above = is_above && is_less_float(high, coordinate_of(samples, bin, 0));
    is_below = is_below && is_less_float(coordinate_of(samples, bin, samples.count - 1), low);
  }
  return is_above || is_below;
}
bool is_far(Grid grid, int64_t row, int64_t column) {
  bool is_any = false;
  [[dont_unroll]] for (uint axis = 0; axis < 2; ++axis) {
    is_any = is_any || is_far(samples_along(grid, axis), axis == 0 ? row : column);
  }
  return is_any;
}
