# SPDX-License-Identifier: MIT
"""Bit-exact softmax and its relatives in NumPy. docs/numerics.md shows the second function."""
import numpy as np

from reduce_reference import fold, rows


def rounded(function, values):
    """EXP and LOG are correctly rounded, and rounding a longer type's result practically always gives the same."""
    return function(values.astype(np.longdouble)).astype(np.float32)


def softmax(function, x, axes):
    wide = x.astype(np.float32)
    elements = rows(wide, axes)  # the axes as one last axis, row-major
    if function == "HARDMAX":
        results = np.arange(elements.shape[-1]) == np.argmax(elements, axis=-1)[..., None]
        return unrows(results, x.shape, axes).astype(x.dtype)
    long = [axis for axis in range(x.ndim) if x.shape[axis] != 1]
    lanes = 64 if long and long[-1] in axes else 1
    differences = elements - elements.max(axis=-1, keepdims=True)
    exponentials = rounded(np.exp, differences)
    total = fold(np.add, exponentials, -0.0, lanes)[..., None]
    results = exponentials / total if function == "SOFTMAX" else differences - rounded(np.log, total)
    return unrows(results, x.shape, axes).astype(x.dtype)


def unrows(elements, shape, axes):
    """The inverse of `rows`."""
    order = [axis for axis in range(len(shape)) if axis not in axes] + sorted(axes)
    return np.transpose(elements.reshape([shape[axis] for axis in order]), np.argsort(order).astype(int))
