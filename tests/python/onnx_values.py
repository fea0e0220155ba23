# SPDX-License-Identifier: MIT
"""Arrays for the ONNX node tests."""
import numpy as np

SHAPES = [(), (5,), (2, 3, 4)]


def numbers(dtype, shape=(5,), seed=0, specials=True):
    """Returns small numbers, whose sums and products are exact in every type, and the special values."""
    dtype, random = np.dtype(dtype), np.random.default_rng(seed)
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    x = random.integers(0 if dtype.kind == "u" else -9, 10, shape)
    if dtype.kind == "f":
        x = np.asarray(x / 4, dtype)
        if specials and x.size > 5:
            x.reshape(-1)[:6] = np.inf, -np.inf, np.nan, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny
        return x
    x = np.asarray(x).astype(dtype)
    if specials and x.size > 5:
        x.reshape(-1)[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return x


def ints(*values):
    return np.array(values, np.int64)
