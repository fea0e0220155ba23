# SPDX-License-Identifier: MIT
"""The bit-exact convolutions of 8-bit integers in NumPy. docs/numerics.md shows total_of_planes. An absent zero point
is 0."""
import numpy as np

from convolution_reference import convolution, forward_of_planes


def total(x, x_zero, w, w_zero, outputs, bias=None, wide=np.int64, **options):
    """The sums of products plus the bias, modulo 2^32. The zero point is used as padding, since its difference is 0.
    wide: a type in which all sums are exact."""
    left = x.astype(wide) - np.asarray(x_zero).astype(wide).reshape(-1)[0]
    right = w.astype(wide) - np.asarray(w_zero).astype(wide).reshape(-1, *[1] * (w.ndim - 1))
    sums = convolution(left, right, outputs, bias=bias, multiply=np.matmul, wide=wide, **options)
    return np.ascontiguousarray(sums.astype(np.int64).astype(np.uint32)).view(np.int32)


def total_of_planes(x, x_zero, w, w_zero, *geometry):
    """x: [channels, height, width]; w: [outputs, channels, height, width]; w_zero: one number for each output."""
    left, right = x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero.reshape(-1, 1, 1, 1)
    return forward_of_planes(left, right, *geometry, multiply=np.matmul).astype(np.uint32).view(np.int32)
