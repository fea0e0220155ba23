# SPDX-License-Identifier: MIT
"""Resize with mode 'cubic', which DirectML does not support. It is computed as a matrix product along each axis."""
import math

import numpy as np

from .._matrices import PLAIN
from ._rows import dispatch


def _positions(transformation, size, scale, out_size, region):
    """Returns the coordinates of the result's elements along an axis of the tensor, as ONNX defines them."""
    at, length = np.arange(out_size, dtype=np.float64), scale * size
    if transformation == "align_corners":
        return np.zeros(out_size) if length == 1 else at * (size - 1) / (length - 1)
    if transformation == "asymmetric":
        return at / scale
    if transformation == "tf_crop_and_resize":
        start, end = region
        span = (end - start) * (size - 1)
        return start * (size - 1) + (np.full(out_size, span / 2) if length == 1 else at * span / (length - 1))
    if transformation == "pytorch_half_pixel" and length == 1:
        return np.full(out_size, -0.5)
    moved = size / 2 * (1 - out_size / length) if transformation == "half_pixel_symmetric" else 0
    return moved + (at + 0.5) / scale - 0.5


def _kernel(x, a):
    """Keys' cubic convolution kernel."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _matrix(transformation, size, scale, out_size, region, a, antialias, exclude, extrapolation):
    """Returns, for each element of the result, the weights of the elements along an axis, and the values to add where
    a coordinate is outside the tensor."""
    positions = _positions(transformation, size, scale, out_size, region)
    narrow = min(scale, 1.0) if antialias else 1.0  # when downsampling, the kernel is stretched
    start = math.floor(-2 / narrow) + 1
    low = np.floor(positions).astype(np.int64)
    offsets = np.arange(start, 2 - start)
    shares = _kernel(narrow * (offsets - (positions - low)[:, None]), a)
    indices = low[:, None] + offsets
    if exclude:
        shares = np.where((indices < 0) | (indices >= size), 0, shares)
    if exclude or antialias:
        shares = shares / shares.sum(1, keepdims=True)
    result = np.zeros((out_size, size))
    np.add.at(result, (np.arange(out_size)[:, None], np.clip(indices, 0, size - 1)), shares)
    outside = (positions < 0) | (positions > size - 1) if transformation == "tf_crop_and_resize" else np.zeros(out_size, bool)
    result[outside] = 0
    return result, np.where(outside, extrapolation, 0.0)


def cubic(node, transformation, x, axes, sizes, scales, regions):
    """Resizes the axes whose size or coordinates change, one after another."""
    options = node.attributes
    for axis, out_size, scale, region in zip(axes, sizes, scales, regions):
        size = x.shape[axis]
        if out_size == size and scale == 1 and transformation != "tf_crop_and_resize":
            continue
        matrix, added = _matrix(transformation, size, scale, out_size, region, options["cubic_coeff_a"],
                                bool(options.get("antialias")), bool(options["exclude_outside"]),
                                options["extrapolation_value"])
        shape = list(x.shape)
        shape[axis] = out_size
        rows, columns = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1:])
        factors = np.asarray(matrix, x.dtype)
        if columns == 1:  # along the last axis, the tensor is the left factor
            result = dispatch("GEMM", x.reshape(rows, size), factors.T, None, shape=(rows, out_size), **PLAIN)
        else:
            left = np.broadcast_to(factors, (rows, out_size, size))
            result = dispatch("GEMM", left, x.reshape(rows, size, columns), None, shape=(rows, out_size, columns), **PLAIN)
        x = result.reshape(shape)
        if added.any():
            x = dispatch("ELEMENT_WISE_ADD", x, added.astype(x.dtype).reshape([-1 if i == axis else 1 for i in range(x.ndim)]))
    return dispatch("ELEMENT_WISE_IDENTITY", x)
