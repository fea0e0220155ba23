# SPDX-License-Identifier: MIT
"""QUANTIZE and DEQUANTIZE, as docs/numerics.md has them."""
import numpy as np


def spread(values, shape):
    """The value of each block for each element."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // values.shape[axis] if size else 0, axis)
    return values


def quantize(x, scale, zero, least, most):
    with np.errstate(all="ignore"):
        quotient = np.rint(x.astype(np.float32) / spread(scale, x.shape).astype(np.float32))
    whole = np.clip(np.where(np.isnan(quotient), 0, quotient), -1e6, 1e6).astype(np.int64)
    return np.clip(whole + spread(zero, x.shape), least, most)


def dequantize(x, scale, zero, dtype):
    difference = (x.astype(np.int64) - spread(zero, x.shape)).astype(np.float32)
    with np.errstate(all="ignore"):
        return (difference * spread(scale, x.shape).astype(np.float32)).astype(dtype)
