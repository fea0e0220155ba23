# SPDX-License-Identifier: MIT
"""Resize and Upsample: expresses ONNX's coordinate transformations as the scales and offsets of DirectML's
RESAMPLE3."""
import math

import numpy as np

from ._cubic import cubic
from ._rows import axes_of, check_choice, dispatch, refuse, sizes_of

_FAR = float(np.finfo(np.float32).max)  # a scale that maps every output to the first element
_MEANS = ("float16", "float", "int8", "uint8")
# The rounding direction of a coordinate, and the offset that is added to it before rounding.
_NEAREST = {"round_prefer_floor": ("INCREASING", 0.5), "round_prefer_ceil": ("DECREASING", -0.5),
            "floor": ("DECREASING", 0.0), "ceil": ("INCREASING", 0.0)}


def _half_pixel(scale, size, out_size, roi):
    return scale, 0.5, -0.5


def _align_corners(scale, size, out_size, roi):
    # ONNX's own tests use the length before it is rounded down.
    length = out_size if math.isclose(scale * size, out_size, rel_tol=1e-6) else scale * size
    return (_FAR if min(size, out_size) < 2 else (length - 1) / (size - 1)), 0.0, 0.0


def _crop(scale, size, out_size, roi):
    start, end = roi
    length = (end - start) * (size - 1)
    if out_size < 2 or length <= 0:
        return _FAR, -0.5 * (start + end) * (size - 1) if out_size < 2 else -start * (size - 1), 0.0
    return (out_size - 1) / length, -start * (size - 1), 0.0


# Functions that return a dimension's scale, and its input and output offsets.
_COORDINATES = {
    "half_pixel": _half_pixel,
    "pytorch_half_pixel": lambda scale, size, out_size, roi:
        _half_pixel(scale, size, out_size, roi) if out_size > 1 else (_FAR, 0.0, 0.0),
    "half_pixel_symmetric": lambda scale, size, out_size, roi:
        (scale, 0.5 - size / 2 * (1 - out_size / (scale * size)), -0.5),
    "align_corners": _align_corners,
    "asymmetric": lambda scale, size, out_size, roi: (scale, 0.0, 0.0),
    "tf_half_pixel_for_nn": lambda scale, size, out_size, roi: (scale, 0.0, -0.5),
    "tf_crop_and_resize": _crop,
}


def _check(node):
    mode = {"bilinear": "linear"}.get(node.attributes["mode"], node.attributes["mode"])
    check_choice(node, "mode", ("nearest", "linear", "bilinear", "cubic"))
    if mode == "cubic" and node.kinds[0] not in ("float16", "float"):
        refuse(node, f"of {node.kinds[0]} with mode 'cubic'", "it is a product of float16 or float")
    if mode == "linear" and node.kinds[0] not in _MEANS:
        refuse(node, f"of {node.kinds[0]} with mode 'linear'",
               "DirectML interpolates only float16, float, int8 and uint8")
    antialias = mode == "linear" and bool(node.attributes.get("antialias"))
    if antialias and node.attributes.get("exclude_outside"):
        refuse(node, "with antialias and exclude_outside", "DirectML repeats the elements at the edges")
    check_choice(node, "coordinate_transformation_mode", tuple(_COORDINATES))
    check_choice(node, "nearest_mode", tuple(_NEAREST))
    check_choice(node, "keep_aspect_ratio_policy", ("stretch", "not_larger", "not_smaller"))
    return mode, antialias


def _scales_of(scales, count):
    """Checks that there is a positive scale for each axis."""
    if len(scales) != count:
        raise ValueError(f"scales has {len(scales)} numbers, but {count} axes need one each")
    if not all(0 < scale < math.inf for scale in scales):
        raise ValueError(f"scales is {list(scales)}; expected numbers above 0")
    return scales


def _sizes_and_scales(x, axes, scales, sizes, policy):
    """Returns the sizes and scales of the axes that are resized."""
    given = [x.shape[axis] for axis in axes]
    if sizes is None:
        scales = _scales_of(scales, len(axes))
        return [math.floor(size * scale) for size, scale in zip(given, scales)], scales
    if len(sizes) != len(axes):
        raise ValueError(f"sizes has {len(sizes)} numbers, but {len(axes)} axes need one each")
    if 0 in given:
        if any(size != 0 for size, old in zip(sizes, given) if old == 0):
            raise ValueError(f"sizes is {sizes}, but the tensor has the shape {list(x.shape)}: there is nothing to "
                             "sample")
        return sizes, [1.0] * len(axes)
    if policy in (None, "stretch") or not axes:
        return sizes, [size / old for size, old in zip(sizes, given)]
    scale = (min if policy == "not_larger" else max)(size / old for size, old in zip(sizes, given))
    return [math.floor(scale * old + 0.5) for old in given], [scale] * len(axes)


def resize(node):
    mode, antialias = _check(node)
    old = node.op == "Upsample" or node.since < 11  # these have only asymmetric coordinates
    transformation = "asymmetric" if old else node.attributes["coordinate_transformation_mode"]
    find = _COORDINATES[transformation]
    direction, shift = _NEAREST["floor" if old else node.attributes["nearest_mode"]]

    def compute(x, *inputs):
        if old:
            attributes = node.attributes
            scales = inputs[0].reshape(-1).tolist() if inputs else attributes["scales"] if "scales" in attributes else [
                1.0, 1.0, attributes["height_scale"], attributes["width_scale"]]
            roi = sizes = None
        else:
            roi, scales, sizes = (None if one is None or one.size == 0 else one for one in (*inputs, *[None] * 3)[:3])
            if (scales is None) == (sizes is None):
                raise ValueError("expected either scales or sizes, but not both")
            scales = None if scales is None else scales.reshape(-1).tolist()
            sizes = None if sizes is None else sizes_of(sizes, "sizes")
        axes = node.attributes.get("axes")
        axes = list(range(x.ndim)) if axes is None else axes_of(axes, x.ndim)
        sizes, scales = _sizes_and_scales(x, axes, scales, sizes, node.attributes.get("keep_aspect_ratio_policy"))
        regions = [(0.0, 1.0)] * len(axes)
        if transformation == "tf_crop_and_resize":
            numbers = [] if roi is None else roi.reshape(-1).astype(float).tolist()
            if len(numbers) != 2 * len(axes):
                raise ValueError(f"roi has {len(numbers)} numbers, but {len(axes)} axes need {2 * len(axes)}")
            regions = list(zip(numbers[:len(axes)], numbers[len(axes):]))
            if mode != "cubic" and any(not 0 <= start <= end <= 1 for start, end in regions):
                refuse(node, "with a roi that is reversed or extends beyond the tensor",
                       "DirectML repeats the elements at the edges")
        if mode == "cubic" and x.size and 0 not in sizes:
            return cubic(node, transformation, x, axes, sizes, scales, regions)
        shape = list(x.shape)
        dimensions = [(1.0, 0.5, -0.5)] * x.ndim
        for axis, size, scale, region in zip(axes, sizes, scales, regions):
            dimensions[axis] = find(scale, shape[axis], size, region) if shape[axis] else dimensions[axis]
            shape[axis] = size
        if 0 in shape:
            return np.empty(shape, x.dtype)
        # A tensor without dimensions is resampled along no axis.
        found, before, after = zip(*dimensions) if dimensions else ((), (), ())
        moved = shift if mode == "nearest" else 0.0
        return dispatch("RESAMPLE3", x, InterpolationMode="LINEAR" if mode == "linear" else "NEAREST_NEIGHBOR",
                        RoundingDirection=direction, Scales=[float(np.float32(scale)) for scale in found],
                        InputPixelOffsets=[float(offset + moved) for offset in before],
                        OutputPixelOffsets=[float(offset) for offset in after], Antialiased=int(antialias),
                        shape=tuple(shape))

    return compute
