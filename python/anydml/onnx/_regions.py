# SPDX-License-Identifier: MIT
"""Regions of interest: RoiAlign and MaxRoiPool."""
import numpy as np

from ._rows import check_choice, check_minimum, dispatch, number, refuse

_ANY_NUMBER = 2**32 - 1  # no limit on the samples


def _check_shapes(x, rois, numbers):
    if x.ndim != 4 or rois.ndim != 2 or rois.shape[1] != numbers:
        raise ValueError(f"the tensor has the sizes {list(x.shape)} and the regions {list(rois.shape)}; expected four "
                         f"dimensions, and rows of {numbers} numbers")


def _at_least_one(rois, scale):
    """Scales the boxes and extends their sides to at least 1, as ONNX does without half_pixel."""
    if scale != 1:
        rois = dispatch("ELEMENT_WISE_MULTIPLY", rois, number(scale, rois.dtype))
    first, second = rois[:, :2], rois[:, 2:]
    sides = dispatch("ELEMENT_WISE_MAX", dispatch("ELEMENT_WISE_SUBTRACT", second, first), number(1, rois.dtype))
    return dispatch("JOIN", first, dispatch("ELEMENT_WISE_ADD", first, sides), Axis=1, shape=tuple(rois.shape))


def roi_align(node):
    options = node.attributes
    check_choice(node, "mode", ("avg", "max"))
    check_choice(node, "coordinate_transformation_mode", ("half_pixel", "output_half_pixel"))
    for attribute, lowest in (("sampling_ratio", 0), ("output_height", 1), ("output_width", 1)):
        check_minimum(node, attribute, lowest)
    if options["mode"] == "max":
        refuse(node, "with mode 'max'", "ONNX returns the largest weighted element, but DirectML the largest sample")
    half = options.get("coordinate_transformation_mode") == "half_pixel"
    ratio = options["sampling_ratio"]

    def compute(x, rois, batch_indices):
        _check_shapes(x, rois, 4)
        shape = (rois.shape[0], x.shape[1], options["output_height"], options["output_width"])
        if 0 in shape:
            return np.empty(shape, x.dtype)
        scale = options["spatial_scale"]
        boxes, scale = (rois, scale) if half else (_at_least_one(rois, scale), 1.0)
        return dispatch("ROI_ALIGN1", x, boxes, batch_indices, ReductionFunction="AVERAGE", InterpolationMode="LINEAR",
                        SpatialScaleX=scale, SpatialScaleY=scale, InputPixelOffset=0.5 if half else 0.0,
                        OutputPixelOffset=-0.5, OutOfBoundsInputValue=0.0, MinimumSamplesPerOutput=ratio or 1,
                        MaximumSamplesPerOutput=ratio or _ANY_NUMBER, AlignRegionsToCorners=0, shape=shape)

    return compute


def max_roi_pool(node):
    check_minimum(node, "pooled_shape", 1)

    def compute(x, rois):
        _check_shapes(x, rois, 5)
        height, width = node.attributes["pooled_shape"]
        shape = (rois.shape[0], x.shape[1], height, width)
        if 0 in shape:
            return np.empty(shape, x.dtype)
        return dispatch("ROI_POOLING", x, rois.reshape(1, 1, *rois.shape), SpatialScale=node.attributes["spatial_scale"],
                        PooledSize=[width, height])

    return compute
