// SPDX-License-Identifier: MIT
// Resize and Upsample: expresses ONNX's coordinate transformations as the scales and offsets of DirectML's RESAMPLE3.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "onnx/rows/regions.h"
#include "onnx/rows/resize.h"
#include "onnx/rows/row.h"
#include "onnx/rows/samples.h"
#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

constexpr double kFar = std::numeric_limits<float>::max();  // a scale that maps every output to the first element

// ---- Coordinates ----------------------------------------------------------------------------------------------------

// A dimension's scale, and its input and output offsets.
struct SampledAxis {
  double scale = 1;
  double before = 0.5;
  double after = -0.5;
};

// math.isclose with rel_tol=1e-6.
bool are_close(double a, double b) {
  return a == b ||
         (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)));
}

SampledAxis half_pixel(std::int64_t, const ResizedAxis& to) { return {to.scale, 0.5, -0.5}; }

SampledAxis pytorch_half_pixel(std::int64_t, const ResizedAxis& to) {
  return to.size > 1 ? SampledAxis{to.scale, 0.5, -0.5} : SampledAxis{kFar, 0, 0};
}

SampledAxis half_pixel_symmetric(std::int64_t size, const ResizedAxis& to) {
  const auto from = static_cast<double>(size);
  return {to.scale, 0.5 - from / 2 * (1 - static_cast<double>(to.size) / (to.scale * from)), -0.5};
}

SampledAxis align_corners(std::int64_t size, const ResizedAxis& to) {
  if (std::min(size, to.size) < 2) {
    return {kFar, 0, 0};
  }
  const double scaled = to.scale * static_cast<double>(size);
  const auto rounded = static_cast<double>(to.size);
  const double length = are_close(scaled, rounded) ? rounded : scaled;  // ONNX's own tests use it before rounding
  return {(length - 1) / static_cast<double>(size - 1), 0, 0};
}

SampledAxis asymmetric(std::int64_t, const ResizedAxis& to) { return {to.scale, 0, 0}; }

SampledAxis tf_half_pixel_for_nn(std::int64_t, const ResizedAxis& to) { return {to.scale, 0, -0.5}; }

SampledAxis tf_crop_and_resize(std::int64_t size, const ResizedAxis& to) {
  const auto last = static_cast<double>(size - 1);
  const double length = (to.end - to.start) * last;
  if (to.size < 2) {
    return {kFar, -0.5 * (to.start + to.end) * last, 0};
  }
  return {length <= 0 ? kFar : std::min(kFar, static_cast<double>(to.size - 1) / length), -to.start * last, 0};
}

using FindCoordinates = SampledAxis (*)(std::int64_t size, const ResizedAxis& to);

FindCoordinates coordinates_of(const std::string& transformation) {
  static constexpr std::pair<std::string_view, FindCoordinates> kAll[] = {
      {"half_pixel", half_pixel},
      {"pytorch_half_pixel", pytorch_half_pixel},
      {"half_pixel_symmetric", half_pixel_symmetric},
      {"align_corners", align_corners},
      {"asymmetric", asymmetric},
      {"tf_half_pixel_for_nn", tf_half_pixel_for_nn},
      {"tf_crop_and_resize", tf_crop_and_resize},
  };
  return std::find_if(std::begin(kAll), std::end(kAll), [&](const auto& one) { return one.first == transformation; })
      ->second;
}

// The rounding direction of a coordinate, and the offset that is added to it before rounding.
struct NearestMode {
  const char* direction;
  double shift;
};

NearestMode nearest_mode(const std::string& name) {
  if (name == "round_prefer_floor") {
    return {"INCREASING", 0.5};
  }
  if (name == "round_prefer_ceil") {
    return {"DECREASING", -0.5};
  }
  return {name == "ceil" ? "INCREASING" : "DECREASING", 0};
}

// ---- The node -------------------------------------------------------------------------------------------------------

enum class ResizeMode { kNearest, kLinear, kCubic };

struct ResizeNode {
  ResizeMode mode = ResizeMode::kNearest;
  bool is_old = false;  // Upsample, and Resize before opset 11
  bool is_antialiased = false;
  std::string transformation;
  NearestMode nearest{};
  std::optional<Sizes> axes;
  std::string policy;
  std::vector<double> scales;  // of the opsets in which they are attributes
  CubicOptions cubic;
};

ResizeMode resize_mode(const Node& node, bool is_old) {
  if (is_old) {  // these have no attributes for cubic
    check_choice(node, "mode", {"nearest", "linear", "bilinear"});
  } else {
    check_choice(node, "mode", {"nearest", "linear", "bilinear", "cubic"});
  }
  const std::string mode = node.text("mode", "nearest");
  return mode == "nearest" ? ResizeMode::kNearest : mode == "cubic" ? ResizeMode::kCubic : ResizeMode::kLinear;
}

void check_resize_kind(const Node& node, ResizeMode mode) {
  constexpr KindSet kMeans = kRoundedKinds | KindSet{Kind::kInt8, Kind::kUint8};
  const Kind kind = node.kinds[0];
  if (mode == ResizeMode::kCubic && !kRoundedKinds.contains(kind)) {
    refuse(node, format_text("of {} with mode 'cubic'", kind_name(kind)), "it is a product of float16 or float");
  }
  if (mode == ResizeMode::kLinear && !kMeans.contains(kind)) {
    refuse(node, format_text("of {} with mode 'linear'", kind_name(kind)),
           "DirectML interpolates only float16, float, int8 and uint8");
  }
}

ResizeNode resize_node(const Node& node) {
  ResizeNode result;
  result.is_old = node.op == "Upsample" || node.since < 11;  // these have only asymmetric coordinates
  result.mode = resize_mode(node, result.is_old);
  check_resize_kind(node, result.mode);
  result.is_antialiased = result.mode == ResizeMode::kLinear && node.integer("antialias") != 0;
  if (result.is_antialiased && node.integer("exclude_outside") != 0) {
    refuse(node, "with antialias and exclude_outside", "DirectML repeats the elements at the edges");
  }
  check_choice(node, "coordinate_transformation_mode",
               {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric",
                "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  check_choice(node, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  check_choice(node, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  result.transformation = result.is_old ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
  result.nearest = nearest_mode(result.is_old ? "floor" : node.text("nearest_mode", "round_prefer_floor"));
  result.axes = attribute_sizes(node, "axes");
  result.policy = node.text("keep_aspect_ratio_policy", "stretch");
  result.scales = node.declares("scales")
                      ? node.numbers("scales")
                      : std::vector<double>{1, 1, node.number("height_scale", 1), node.number("width_scale", 1)};
  result.cubic = {result.transformation, node.number("cubic_coeff_a", -0.75), node.integer("antialias") != 0,
                  node.integer("exclude_outside") != 0, node.number("extrapolation_value")};
  return result;
}

// ---- Sizes and scales -----------------------------------------------------------------------------------------------

std::int64_t floored_size(double size) {
  if (!(size < 0x1p62)) {
    throw NoMemory(
        format_text("the result would have a size of {}, which is more than can be addressed", number_text(size)));
  }
  return static_cast<std::int64_t>(std::floor(size));
}

void resize_by_scales(const Array& x, const std::vector<double>& scales, std::vector<ResizedAxis>& axes) {
  if (scales.size() != axes.size()) {
    fail("scales has {} numbers, but {} axes need one each", scales.size(), axes.size());
  }
  if (!std::all_of(scales.begin(), scales.end(), [](double scale) { return scale > 0 && std::isfinite(scale); })) {
    fail("scales is {}; expected numbers above 0", listed(scales));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].scale = scales[i];
    axes[i].size = floored_size(static_cast<double>(x.size(axes[i].axis)) * scales[i]);
  }
}

// Gives all axes the smallest or largest scale.
void keep_aspect_ratio(const Array& x, bool is_smallest, std::vector<ResizedAxis>& axes) {
  double scale = axes.front().scale;
  for (const ResizedAxis& one : axes) {
    scale = is_smallest ? std::min(scale, one.scale) : std::max(scale, one.scale);
  }
  for (ResizedAxis& one : axes) {
    one.scale = scale;
    one.size = floored_size(scale * static_cast<double>(x.size(one.axis)) + 0.5);
  }
}

void resize_to_sizes(const Array& x, const Sizes& sizes, const std::string& policy, std::vector<ResizedAxis>& axes) {
  if (sizes.size() != axes.size()) {
    fail("sizes has {} numbers, but {} axes need one each", sizes.size(), axes.size());
  }
  bool is_empty = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].size = sizes[i];
    const std::int64_t old = x.size(axes[i].axis);
    is_empty = is_empty || old == 0;
    if (old == 0 && sizes[i] != 0) {
      fail("sizes is {}, but the tensor has the shape {}: there is nothing to sample", listed(sizes),
           listed(x.shape()));
    }
  }
  if (is_empty) {
    return;
  }
  for (ResizedAxis& one : axes) {
    one.scale = static_cast<double>(one.size) / static_cast<double>(x.size(one.axis));
  }
  if (policy != "stretch" && !axes.empty()) {
    keep_aspect_ratio(x, policy == "not_larger", axes);
  }
}

Array unless_empty(const Array& list) { return list && list.count() != 0 ? list : Array(); }

// The axes that are resized, without their regions.
std::vector<ResizedAxis> resized_axes(const ResizeNode& node, std::span<const Array> inputs) {
  const Array& x = inputs[0];
  const auto all_of = [&] {
    std::vector<ResizedAxis> axes;
    for (const int axis : node.axes ? axes_of(*node.axes, x.rank()) : all_axes(x.rank())) {
      axes.push_back({.axis = axis});
    }
    return axes;
  };
  if (node.is_old) {
    const std::vector<double> scales = inputs.size() > 1 ? inputs[1].to_numbers() : node.scales;
    std::vector<ResizedAxis> axes = all_of();
    resize_by_scales(x, scales, axes);
    return axes;
  }
  const Array scales = unless_empty(input(inputs, 2));
  const Array sizes = unless_empty(input(inputs, 3));
  if (static_cast<bool>(scales) == static_cast<bool>(sizes)) {
    fail("expected either scales or sizes, but not both");
  }
  const std::vector<double> numbers = scales ? scales.to_numbers() : std::vector<double>();
  const Sizes wanted = sizes ? sizes_of(sizes, "sizes") : Sizes();
  std::vector<ResizedAxis> axes = all_of();
  if (scales) {
    resize_by_scales(x, numbers, axes);
  } else {
    resize_to_sizes(x, wanted, node.policy, axes);
  }
  return axes;
}

void take_regions(const Array& roi, std::vector<ResizedAxis>& axes) {
  const std::vector<double> numbers = roi ? roi.to_numbers() : std::vector<double>();
  if (numbers.size() != 2 * axes.size()) {
    fail("roi has {} numbers, but {} axes need {}", numbers.size(), axes.size(), 2 * axes.size());
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].start = numbers[i];
    axes[i].end = numbers[axes.size() + i];
    if (!std::isfinite(axes[i].start) || !std::isfinite(axes[i].end)) {
      fail("roi has {} and {} for axis {}; expected finite numbers", number_text(axes[i].start),
           number_text(axes[i].end), axes[i].axis);
    }
  }
}

// ---- Resampling -----------------------------------------------------------------------------------------------------

Array resampled(const ResizeNode& node, const Array& x, const std::vector<ResizedAxis>& axes) {
  const FindCoordinates find = coordinates_of(node.transformation);
  Sizes shape = x.shape();
  std::vector<SampledAxis> dimensions(shape.size());
  for (const ResizedAxis& to : axes) {
    const auto axis = static_cast<std::size_t>(to.axis);
    if (shape[axis] != 0) {
      dimensions[axis] = find(shape[axis], to);
    }
    shape[axis] = to.size;
  }
  if (has_no_elements(shape)) {
    return Array::empty(x.kind(), shape);
  }
  const double moved = node.mode == ResizeMode::kNearest ? node.nearest.shift : 0;
  std::vector<double> scales, before, after;
  for (const SampledAxis& one : dimensions) {
    scales.push_back(static_cast<double>(static_cast<float>(one.scale)));
    before.push_back(one.before + moved);
    after.push_back(one.after);
  }
  return dispatch("RESAMPLE3", {x},
                  {{"InterpolationMode", node.mode == ResizeMode::kLinear ? "LINEAR" : "NEAREST_NEIGHBOR"},
                   {"RoundingDirection", node.nearest.direction},
                   {"Scales", scales},
                   {"InputPixelOffsets", before},
                   {"OutputPixelOffsets", after},
                   {"Antialiased", node.is_antialiased ? 1 : 0}},
                  {.shape = shape});
}

// Reverses the axes whose region begins behind its end. A region may be reversed, but a scale may not be negative.
Array with_regions_forward(Array x, std::vector<ResizedAxis>& axes) {
  for (ResizedAxis& to : axes) {
    const std::int64_t size = x.size(to.axis);
    if (to.start > to.end && size != 0) {
      x = x.slice(to.axis, size - 1, size, -1);
      to.start = 1 - to.start;
      to.end = 1 - to.end;
    }
  }
  return x;
}

// Replaces the elements of a result whose coordinates are outside the tensor; the operator repeats the edges there.
Array extrapolated(Array y, std::span<const std::int64_t> sizes, const std::vector<ResizedAxis>& axes, double value) {
  for (const ResizedAxis& to : axes) {
    const auto last = static_cast<double>(sizes[static_cast<std::size_t>(to.axis)] - 1);
    Array is_outside = Array::zeros(Kind::kUint8, {to.size});
    auto* const flags = static_cast<std::uint8_t*>(is_outside.writable());
    bool is_needed = false;
    for (std::int64_t i = 0; i < to.size; ++i) {
      const double length = (to.end - to.start) * last;
      const double position = to.size > 1
                                  ? to.start * last + static_cast<double>(i) * length / static_cast<double>(to.size - 1)
                                  : 0.5 * (to.start + to.end) * last;
      flags[i] = position < 0 || position > last ? 1 : 0;
      is_needed = is_needed || flags[i] != 0;
    }
    if (is_needed) {
      Sizes shape(y.shape().size(), 1);
      shape[static_cast<std::size_t>(to.axis)] = to.size;
      y = dispatch("ELEMENT_WISE_IF",
                   {is_outside.reshape(std::move(shape)).broadcast_to(y.shape()), Array::scalar(y.kind(), value), y});
    }
  }
  return y;
}

Array resize_region(const ResizeNode& node, const Array& x, std::vector<ResizedAxis>& axes) {
  const Array forward = with_regions_forward(x, axes);
  return extrapolated(resampled(node, forward, axes), forward.shape(), axes, node.cubic.extrapolation_value);
}

Compute make_resize(const Node& node) {
  return [resize = resize_node(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    std::vector<ResizedAxis> axes = resized_axes(resize, inputs);
    const bool has_regions = resize.transformation == "tf_crop_and_resize";
    if (has_regions) {
      take_regions(unless_empty(input(inputs, 1)), axes);
    }
    const bool has_elements =
        x.count() != 0 && std::all_of(axes.begin(), axes.end(), [](const ResizedAxis& to) { return to.size != 0; });
    if (resize.mode == ResizeMode::kCubic && has_elements) {
      return one(resize_cubic(x, resize.cubic, axes));
    }
    return one(has_regions && has_elements ? resize_region(resize, x, axes) : resampled(resize, x, axes));
  };
}

constexpr Row kImageRows[] = {
    {.op = "GridSample",
     .make = make_grid_sample,
     .uses =
         "ABS ADD CAST CLIP FLOOR GATHER_ELEMENTS IF LOGICAL_AND LOGICAL_EQUALS MODULUS_FLOOR MULTIPLY ROUND SUBTRACT",
     .kinds = kRoundedKinds},
    {.op = "MaxRoiPool", .make = make_max_roi_pool, .uses = "ROI_POOLING", .kinds = kRoundedKinds},
    {.op = "Resize", .make = make_resize, .uses = "RESAMPLE3 GEMM ADD IDENTITY IF"},
    {.op = "RoiAlign",
     .make = make_roi_align,
     .uses = "ROI_ALIGN1 MULTIPLY SUBTRACT MAX ADD JOIN",
     .kinds = kRoundedKinds},
    {.op = "Upsample", .make = make_resize, .uses = "RESAMPLE3"},
};

}  // namespace

std::span<const Row> image_rows() { return kImageRows; }

}  // namespace anydml::onnx
