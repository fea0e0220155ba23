// SPDX-License-Identifier: MIT
// Defines where a region is sampled along one axis, and which elements of the image contribute to a sample. This is the
// definition of ROI_ALIGN, ROI_ALIGN1 and ROI_ALIGN_GRAD for every device; docs/numerics.md contains it as a Python
// program.
#pragma once

#include "base/element.h"
#include "ops/scalar/lanes.h"

namespace anydml {

// The rows or the columns of an image and of a region's bins.
struct RegionAxis {
  i64 size;  // elements of the image
  i64 bins;
  f32 scale;
  f32 input_offset;
  f32 output_offset;
  u32 minimum;  // samples per bin
  u32 limit;
  u32 to_corners;
  u32 nearest;
};

// The maximum number of samples per bin along an axis, so that a huge box costs no more than a large one.
inline constexpr i64 kMaxRegionSamples = i64{1} << 16;

// One sample: element `first` with weight 1 - second, and the element after it with weight `second`. If `second` is 0,
// the element after `first` is not read.
struct RegionTap {
  i64 first;
  f32 second;
};

// The samples [first, end) of a bin that are inside the image, numbered in order of ascending coordinates.
struct RegionRange {
  i64 first;
  i64 end;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 count() const { return end - first; }
};

// The samples of one region along an axis. Each operation is rounded to FLOAT32.
class RegionSamples {
 public:
  // from, to: the box before scaling.
  ANYDML_HOST_DEVICE constexpr RegionSamples(const RegionAxis& axis, f32 from, f32 to)
      : axis_(axis), start_(from * axis.scale), offset_(axis.output_offset) {
    const f32 size = to * axis.scale - start_;
    const f32 wanted = round_up(size / static_cast<f32>(axis.bins));
    i64 limit = axis.limit < kMaxRegionSamples ? i64{axis.limit} : kMaxRegionSamples;
    limit = limit < 1 ? 1 : limit;
    i64 minimum = axis.minimum < limit ? i64{axis.minimum} : limit;
    minimum = minimum < 1 ? 1 : minimum;
    count_ = wanted > static_cast<f32>(minimum) ? limit : minimum;  // NaN selects the minimum
    if (wanted > static_cast<f32>(minimum) && wanted < static_cast<f32>(limit)) {
      count_ = static_cast<i64>(wanted);
    }
    i64 spaces = axis.bins * count_;
    if (axis.to_corners != 0) {
      if (spaces == 1) {
        offset_ = -0.5F;  // a single sample is in the middle
      } else {
        --spaces;
      }
    }
    spaces_ = static_cast<f32>(spaces);
    step_ = size / spaces_;
    exists_ = magnitude_of(start_) <= kMaxFinite && magnitude_of(step_) <= kMaxFinite;
  }

  // The number of samples per bin.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 count() const { return count_; }

  // The coordinate of a sample. Samples are numbered in order of ascending coordinates, so in an inverted region the
  // last sample comes first.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 coordinate(i64 bin, i64 number) const {
    const f32 distance = from_origin(bin, number) * step_;
    return distance + start_ - axis_.input_offset;
  }

  // The relative position of the sample between the start of the region and its end.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 share(i64 bin, i64 number) const {
    return from_origin(bin, number) / spaces_;
  }

  // Coordinates never decrease, so the samples inside the image are consecutive.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr RegionRange inside(i64 bin) const {
    if (!exists_) {
      return {0, 0};
    }
    const f32 margin = axis_.to_corners != 0 ? 0.0F : 1.0F;
    const f32 last = static_cast<f32>(axis_.size - 1) + margin;
    i64 first = 0;
    for (i64 end = count_; first < end;) {
      const i64 middle = first + (end - first) / 2;
      if (coordinate(bin, middle) < -margin) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    i64 beyond = first;
    for (i64 end = count_; beyond < end;) {
      const i64 middle = beyond + (end - beyond) / 2;
      if (coordinate(bin, middle) > last) {
        end = middle;
      } else {
        beyond = middle + 1;
      }
    }
    return {first, beyond};
  }

  // Must be called only for samples inside the image.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr RegionTap tap(i64 bin, i64 number) const {
    const f32 x = coordinate(bin, number);
    const f32 at = axis_.nearest != 0 ? round_up(x - 0.5F) : x;
    const f32 within = at > 0.0F ? at : 0.0F;
    const f32 below = round_down(within);
    const i64 first = static_cast<i64>(below);
    if (first >= axis_.size - 1) {
      return {axis_.size - 1, 0.0F};
    }
    return {first, within - below};
  }

  // Calls use(element, weight) for the elements that contribute to the bin's samples, in ascending order. The weight is
  // the sum of the element's weights in these samples, added in order of ascending coordinates, and is greater than 0.
  // Consecutive bins, in order of ascending coordinates, share at most two elements.
  template <class Use>
  ANYDML_HOST_DEVICE constexpr void for_each_element(i64 bin, const RegionRange& range, Use use) const {
    i64 at = -1;
    f32 here = 0.0F;
    f32 next = 0.0F;
    for (i64 number = range.first; number < range.end; ++number) {
      const RegionTap one = tap(bin, number);
      if (one.first != at) {
        if (at >= 0) {
          use(at, here);
          if (next != 0.0F && one.first != at + 1) {
            use(at + 1, next);
          }
        }
        here = at >= 0 && one.first == at + 1 ? next : 0.0F;
        next = 0.0F;
        at = one.first;
      }
      here += 1.0F - one.second;
      next += one.second;
    }
    if (at >= 0) {
      use(at, here);
      if (next != 0.0F) {
        use(at + 1, next);
      }
    }
  }

 private:
  static constexpr f32 kMaxFinite = 0x1.fffffep127F;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 from_origin(i64 bin, i64 number) const {
    const i64 sample = bin * count_ + (step_ < 0.0F ? count_ - 1 - number : number);
    return static_cast<f32>(sample) - offset_;
  }

  RegionAxis axis_;
  f32 start_;
  f32 offset_;
  f32 step_ = 0.0F;
  f32 spaces_ = 1.0F;
  i64 count_ = 1;
  bool exists_ = false;
};

// The maximum total number of elements in all bins of a region.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 max_region_elements(const RegionAxis& axis) {
  return axis.size + 2 * axis.bins;
}

// The weighted mean of two neighbors.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 region_mean(f32 first, f32 second, f32 weight) {
  return first * (1.0F - weight) + second * weight;
}

// The value of a sample: the mean along the columns, then along the rows. load(row, column): an element of the image.
template <class Load>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 region_sample(const RegionTap& y, const RegionTap& x, Load load) {
  const auto along = [&](i64 row) {
    const f32 first = load(row, x.first);
    return x.second == 0.0F ? first : region_mean(first, load(row, x.first + 1), x.second);
  };
  const f32 above = along(y.first);
  return y.second == 0.0F ? above : region_mean(above, along(y.first + 1), y.second);
}

// The derivatives of a sample's value along the columns and the rows. Elements that do not contribute to the sample are
// ignored.
template <class Load>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 slope_along_columns(const RegionTap& y, const RegionTap& x, Load load) {
  const auto along = [&](i64 row) { return load(row, x.first + 1) - load(row, x.first); };
  const f32 above = along(y.first);
  return y.second == 0.0F ? above : region_mean(above, along(y.first + 1), y.second);
}
template <class Load>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 slope_along_rows(const RegionTap& y, const RegionTap& x, Load load) {
  const auto along = [&](i64 column) { return load(y.first + 1, column) - load(y.first, column); };
  const f32 left = along(x.first);
  return x.second == 0.0F ? left : region_mean(left, along(x.first + 1), x.second);
}

// The maximum sample of a bin, for the gradient of MAX: the first of equal samples, or the first NaN. Samples outside
// the image count as 0; if 0 is above all samples inside the image, no sample is chosen.
struct RegionPeak {
  bool exists;
  i64 numbers[2];  // indices among the samples of the bin, along rows and columns
};
template <class Load>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr RegionPeak find_region_peak(const RegionSamples& rows,
                                                                       const RegionSamples& columns, i64 bin_row,
                                                                       i64 bin_column, Load load) {
  const RegionRange y = rows.inside(bin_row);
  const RegionRange x = columns.inside(bin_column);
  RegionPeak peak{false, {0, 0}};
  f32 best = 0.0F;
  for (i64 i = y.first; i < y.end; ++i) {
    const RegionTap row = rows.tap(bin_row, i);
    for (i64 j = x.first; j < x.end; ++j) {
      const f32 value = region_sample(row, columns.tap(bin_column, j), load);
      if (!peak.exists || value > best || (value != value && best == best)) {
        peak = {true, {i, j}};
        best = value;
      }
    }
  }
  const bool all_inside = y.count() == rows.count() && x.count() == columns.count();
  peak.exists = peak.exists && (all_inside || !(best < 0.0F));
  return peak;
}

// Adds the contribution of a sample to the gradient of a box (x1, y1, x2, y2), before this gradient is multiplied by
// the scales. gradient: the gradient of the sample. numbers: the indices of the sample in its bin, along rows and
// columns.
template <class Load>
ANYDML_HOST_DEVICE constexpr void add_box_gradient(const RegionSamples& rows, const RegionSamples& columns,
                                                   const i64 (&bins)[2], const i64 (&numbers)[2], f32 gradient,
                                                   Load load, f32 (&sums)[4]) {
  const RegionTap y = rows.tap(bins[0], numbers[0]);
  const RegionTap x = columns.tap(bins[1], numbers[1]);
  if (x.second != 0.0F) {
    const f32 slope = slope_along_columns(y, x, load) * gradient;
    const f32 share = columns.share(bins[1], numbers[1]);
    sums[0] += slope * (1.0F - share);
    sums[2] += slope * share;
  }
  if (y.second != 0.0F) {
    const f32 slope = slope_along_rows(y, x, load) * gradient;
    const f32 share = rows.share(bins[0], numbers[0]);
    sums[1] += slope * (1.0F - share);
    sums[3] += slope * share;
  }
}
// Adds the contributions of all samples of a bin. gradient: the gradient of the bin.
template <class Load>
ANYDML_HOST_DEVICE constexpr void add_bin_gradient(const RegionSamples& rows, const RegionSamples& columns,
                                                   const i64 (&bins)[2], bool is_max, f32 gradient, Load load,
                                                   f32 (&sums)[4]) {
  if (is_max) {
    const RegionPeak peak = find_region_peak(rows, columns, bins[0], bins[1], load);
    if (peak.exists) {
      add_box_gradient(rows, columns, bins, peak.numbers, gradient, load, sums);
    }
    return;
  }
  const RegionRange y = rows.inside(bins[0]);
  const RegionRange x = columns.inside(bins[1]);
  const f32 share = gradient / static_cast<f32>(rows.count() * columns.count());
  for (i64 i = y.first; i < y.end; ++i) {
    for (i64 j = x.first; j < x.end; ++j) {
      const i64 numbers[2] = {i, j};
      add_box_gradient(rows, columns, bins, numbers, share, load, sums);
    }
  }
}

// Computes the average of a bin from the sum of its samples inside the image, which are `inside` out of `all` samples.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 region_average(f32 sum, i64 inside, i64 all, f32 outside) {
  if (inside == 0) {
    return outside;
  }
  if (inside != all) {
    sum += static_cast<f32>(all - inside) * outside;
  }
  return sum / static_cast<f32>(all);
}

// The maximum sample of a bin: a NaN wins, and +0 is above -0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 region_max(f32 maximum, i64 inside, i64 all, f32 outside) {
  return inside == 0 ? outside : inside != all ? greater_of(maximum, outside) : maximum;
}

}  // namespace anydml
