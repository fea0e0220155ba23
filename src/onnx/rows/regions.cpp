// SPDX-License-Identifier: MIT
#include "onnx/rows/regions.h"

#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

constexpr std::int64_t kAnyNumber = 0xffffffff;  // no limit on the samples

void check_region_shapes(const Array& x, const Array& rois, std::int64_t numbers) {
  if (x.rank() != 4 || rois.rank() != 2 || rois.size(1) != numbers) {
    fail("the tensor has the sizes {} and the regions {}; expected four dimensions, and rows of {} numbers",
         listed(x.shape()), listed(rois.shape()), numbers);
  }
}

// Scales the boxes and extends their sides to at least 1, as ONNX does without half_pixel.
Array boxes_of_one(const Array& rois, double scale) {
  const Array boxes = scale == 1 ? rois : multiply(rois, Array::scalar(rois.kind(), scale));
  const Array first = boxes.slice(1, 0, 2);
  const Array second = boxes.slice(1, 2, 2);
  const Array sides = dispatch("ELEMENT_WISE_MAX", {subtract(second, first), Array::scalar(rois.kind(), 1)});
  return dispatch("JOIN", {first, add(first, sides)}, {{"Axis", 1}}, {.shape = rois.shape()});
}

}  // namespace

Compute make_roi_align(const Node& node) {
  check_choice(node, "mode", {"avg", "max"});
  check_choice(node, "coordinate_transformation_mode", {"half_pixel", "output_half_pixel"});
  check_minimum(node, "sampling_ratio", 0);
  check_minimum(node, "output_height", 1);
  check_minimum(node, "output_width", 1);
  if (node.text("mode") == "max") {
    refuse(node, "with mode 'max'", "ONNX returns the largest weighted element, but DirectML the largest sample");
  }
  const bool is_half = node.text("coordinate_transformation_mode") == "half_pixel";
  return [is_half, ratio = node.integer("sampling_ratio"), scale = node.number("spatial_scale", 1),
          height = node.integer("output_height", 1),
          width = node.integer("output_width", 1)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& rois = inputs[1];
    check_region_shapes(x, rois, 4);
    const Sizes shape{rois.size(0), x.size(1), height, width};
    if (has_no_elements(shape)) {
      return one(Array::empty(x.kind(), shape));
    }
    const Array boxes = is_half ? rois : boxes_of_one(rois, scale);
    const double used_scale = is_half ? scale : 1.0;
    return one(dispatch("ROI_ALIGN1", {x, boxes, inputs[2]},
                        {{"ReductionFunction", "AVERAGE"},
                         {"InterpolationMode", "LINEAR"},
                         {"SpatialScaleX", used_scale},
                         {"SpatialScaleY", used_scale},
                         {"InputPixelOffset", is_half ? 0.5 : 0.0},
                         {"OutputPixelOffset", -0.5},
                         {"OutOfBoundsInputValue", 0.0},
                         {"MinimumSamplesPerOutput", ratio != 0 ? ratio : 1},
                         {"MaximumSamplesPerOutput", ratio != 0 ? ratio : kAnyNumber},
                         {"AlignRegionsToCorners", 0}},
                        {.shape = shape}));
  };
}

Compute make_max_roi_pool(const Node& node) {
  check_minimum(node, "pooled_shape", 1);
  const Sizes pooled = node.integers("pooled_shape");
  if (pooled.size() != 2) {
    wrong(node, "pooled_shape", "two numbers");
  }
  return
      [height = pooled[0], width = pooled[1], scale = node.number("spatial_scale", 1)](std::span<const Array> inputs) {
        const Array& x = inputs[0];
        const Array& rois = inputs[1];
        check_region_shapes(x, rois, 5);
        const Sizes shape{rois.size(0), x.size(1), height, width};
        if (has_no_elements(shape)) {
          return one(Array::empty(x.kind(), shape));
        }
        return one(dispatch("ROI_POOLING", {x, rois.reshape({1, 1, rois.size(0), rois.size(1)})},
                            {{"SpatialScale", scale}, {"PooledSize", Sizes{width, height}}}));
      };
}

}  // namespace anydml::onnx
