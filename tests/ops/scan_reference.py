# SPDX-License-Identifier: MIT
"""Bit-exact CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT in NumPy. docs/numerics.md shows the first function."""
import numpy as np


def scan(op, x, identity):
    """The running results along the last axis: in order within blocks of 4,096 that start with the carry."""
    result = np.empty_like(x)
    carry = np.full(x.shape[:-1] + (1,), identity, x.dtype)
    for first in range(0, x.shape[-1], 4096):
        local = op.accumulate(x[..., first:first + 4096], axis=-1, dtype=x.dtype)
        result[..., first:first + 4096] = op(carry, local)
        carry = op(carry, local[..., -1:])
    return result


def cumulative(function, x, axis, decreasing=False, exclusive=False):
    """function: "SUMMATION" or "PRODUCT"."""
    op, identity = (np.add, -0.0) if function == "SUMMATION" else (np.multiply, 1)
    if x.dtype.kind != "f":
        identity = int(identity)
    rows = np.moveaxis(x, axis, -1)
    rows = rows[..., ::-1] if decreasing else rows
    result = scan(op, rows.astype(np.float32) if x.dtype == np.float16 else rows, identity)
    if exclusive:
        first = np.full(result.shape[:-1] + (1,), 0 if function == "SUMMATION" else 1, result.dtype)
        result = np.concatenate([first, result], axis=-1)[..., :result.shape[-1]]
    result = result[..., ::-1] if decreasing else result
    return np.moveaxis(result.astype(x.dtype), -1, axis)
