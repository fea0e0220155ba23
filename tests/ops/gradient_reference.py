# SPDX-License-Identifier: MIT
"""The bit-exact gradients of resampling and pooling in NumPy. docs/numerics.md shows these functions."""
import numpy as np

from pool_reference import maximum
from resample_reference import taps


def add_along(y, axis, size, reached):
    """Along an axis, adds each element to the elements that it reaches: reached(o) gives (index, weight) pairs."""
    y = np.moveaxis(y, axis, 0)
    total = np.zeros((size, *y.shape[1:]), np.float32)
    for o in range(len(y)):
        for i, weight in reached(o):
            total[i] = total[i] + y[o] * np.float32(weight)
    return np.moveaxis(total, 0, axis)


def resample_gradient(gradient, sizes, dimensions, kind):
    """sizes: the sizes of the output gradient. dimensions, kind: as for resample()."""
    y = gradient.astype(np.float32)
    for axis in range(y.ndim):  # the first dimension first
        count = y.shape[axis]
        y = add_along(y, axis, sizes[axis], lambda o: zip(*taps(o, sizes[axis], count, *dimensions[axis], kind)))
    return (y + np.float32(0)).astype(gradient.dtype)


def average_gradient(gradient, sizes, window, strides, start, include):
    """sizes: the sizes of the output gradient, without the batch and the channels."""
    y = gradient.astype(np.float32)
    covered = []
    for axis, (size, k, stride, pad) in enumerate(zip(sizes, window, strides, start)):
        covered.append([range(max(0, o * stride - pad), min(size, o * stride - pad + k)) for o in range(y.shape[axis + 2])])
        counts = np.array([k if include else len(one) for one in covered[-1]], np.float64)
        divisor = counts if axis == 0 else divisor[..., None] * counts
    y = y / divisor.astype(np.float32)
    for axis, size in enumerate(sizes):  # the first dimension first
        y = add_along(y, axis + 2, size, lambda o: [(i, 1) for i in covered[axis][o]])
    return y.astype(gradient.dtype)


def max_gradient(x, gradient, window, strides, dilations, start):
    _, index = maximum(x, gradient.shape[2:], window, strides, dilations, start)
    total = np.zeros(x.size, np.float32)
    for i, element in zip(index.ravel().tolist(), gradient.astype(np.float32).ravel()):
        if i >= 0:
            total[i] = total[i] + element
    return total.reshape(x.shape).astype(x.dtype)
