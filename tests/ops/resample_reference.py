# SPDX-License-Identifier: MIT
"""Bit-exact resampling in NumPy. docs/numerics.md shows the first two functions."""
import numpy as np


def taps(o, size, out_size, scale, input_offset, output_offset, kind):
    """The input indices of output o along a dimension, and their weights in FLOAT32."""
    real = np.float64 if max(size, out_size) > 2**21 else np.float32
    scale, last = np.float32(scale), size - 1
    x = (real(o) - real(np.float32(output_offset))) / real(scale) - real(np.float32(input_offset))
    if kind in ("decreasing", "increasing"):
        x = np.floor(x) if kind == "decreasing" else np.ceil(x)
        return [int(min(max(x, 0), last))], [np.float32(1)]
    x = min(max(x, real(0)), real(last))
    if kind == "linear" or scale >= 1:
        first = int(np.floor(x))
        second = np.float32(x - real(first))
        return ([first], [np.float32(1)]) if second == 0 else ([first, first + 1], [np.float32(1) - second, second])
    x, scale = float(x), float(scale)  # antialiased, in FLOAT64
    first, end = max(0, int(np.floor(x - 1 / scale)) + 1), min(last, int(np.ceil(x + 1 / scale)) - 1)
    weights = [max(0.0, 1 - abs(i - x) * scale) for i in range(first, end + 1)]
    for edge, distance in ((0, x), (last, last - x)):  # elements beyond an edge repeat the edge element
        beyond = np.ceil(1 / scale - distance) - 1
        if beyond > 0:
            weights[edge - first] += max(0.0, beyond * (1 - distance * scale) - scale * (beyond * (beyond + 1) * 0.5))
    kept = [(first + i, weight) for i, weight in enumerate(weights) if weight > 0]
    total = 0.0
    for _, weight in kept:
        total += weight
    return [i for i, _ in kept], [np.float32(weight / total) for _, weight in kept]


def resample(x, sizes, dimensions, kind):
    """dimensions: (scale, input_offset, output_offset) of each; kind: decreasing, increasing, linear or antialiased."""
    nearest = kind in ("decreasing", "increasing")
    y = x if nearest else x.astype(np.float32)
    for axis in reversed(range(x.ndim)):  # the last dimension first
        y = np.moveaxis(y, axis, 0)
        rows = []
        for o in range(sizes[axis]):
            indices, weights = taps(o, y.shape[0], sizes[axis], *dimensions[axis], kind)
            row = y[indices[0]] if len(indices) == 1 else y[indices[0]] * weights[0]
            for i, weight in zip(indices[1:], weights[1:]):
                row = row + y[i] * weight
            rows.append(row)
        y = np.moveaxis(np.stack(rows) if rows else y[:0], 0, axis)
    if nearest or x.dtype.kind == "f":
        return y.astype(x.dtype)
    limits = np.iinfo(x.dtype)
    return np.clip(np.rint(y), limits.min, limits.max).astype(x.dtype)
