# SPDX-License-Identifier: MIT
"""The bit-exact integer matrix products in NumPy. docs/numerics.md shows the first two functions. An absent zero point
is 0."""
import numpy as np

from product_reference import product


def total(a, a_zero, b, b_zero):
    """The sums of products of 8-bit integers, modulo 2^32."""
    left, right = a.astype(np.int64) - a_zero, b.astype(np.int64) - b_zero
    return (left @ right).astype(np.uint32).view(np.int32)


def quantized(sums, a_scale, b_scale, y_scale, y_zero, dtype):
    scaled = sums.astype(np.float32) * ((a_scale * b_scale) / y_scale)
    whole = np.where(np.isnan(scaled), 0, np.clip(np.rint(scaled), -2.0**20, 2.0**20)).astype(np.int64)
    return np.clip(whole + y_zero, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def to_float(a, a_scale, a_zero, b, b_scale, b_zero, bias):
    wide = np.float32
    if a.dtype.itemsize == 1:
        sums = total(a, a_zero, b, b_zero).astype(wide)
    else:
        sums = product(*((x.astype(np.int64) - zero).astype(wide) for x, zero in ((a, a_zero), (b, b_zero))))
    result = sums * (a_scale.astype(wide) * b_scale.astype(wide))
    if bias is not None:
        result = result + bias.astype(wide)
    return result.astype(a_scale.dtype)
