# SPDX-License-Identifier: MIT
"""QUANTIZE and DEQUANTIZE, as defined in docs/numerics.md."""
import numpy as np


def spread(values, shape):
    """Repeats the value of each block for all of its elements."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // values.shape[axis] if size else 0, axis)
    return values


def quantize(x, scale, zero, lowest, highest):
    with np.errstate(all="ignore"):
        quotient = np.rint(x.astype(np.float32) / spread(scale, x.shape).astype(np.float32))
    whole = np.clip(np.where(np.isnan(quotient), 0, quotient), -1e6, 1e6).astype(np.int64)
    return np.clip(whole + spread(zero, x.shape), lowest, highest)


def dequantize(x, scale, zero, dtype):
    difference = (x.astype(np.int64) - spread(zero, x.shape)).astype(np.float32)
    with np.errstate(all="ignore"):
        return (difference * spread(scale, x.shape).astype(np.float32)).astype(dtype)
