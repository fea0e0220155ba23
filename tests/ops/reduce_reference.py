# SPDX-License-Identifier: MIT
"""Bit-exact REDUCE, ARGMAX and ARGMIN in NumPy. docs/numerics.md shows the first two functions."""
from fractions import Fraction

import numpy as np


def fold(op, values, neutral, lanes):
    """Reduces the last axis to one value: blocks of 4,096 by lanes, in order; lanes by halves; blocks by pairs."""
    def pad(values, count):
        return np.concatenate([values, np.full((*values.shape[:-1], count), neutral, values.dtype)], axis=-1)

    values = pad(values, -values.shape[-1] % 4096)
    values = values.reshape(*values.shape[:-1], -1, 4096 // lanes, lanes)
    values = op.accumulate(values, axis=-2)[..., -1, :]
    while lanes > 1:
        lanes //= 2
        values = op(values[..., :lanes], values[..., lanes:])
    values = values[..., 0]
    while values.shape[-1] > 1:
        values = pad(values, values.shape[-1] % 2)
        values = op(values[..., ::2], values[..., 1::2])
    return values[..., 0]


def reduce_floats(function, x, axes):
    """SUM, AVERAGE, L1, L2, SUM_SQUARE and MULTIPLY of FLOAT32 and FLOAT64; L2, SUM_SQUARE and MULTIPLY of FLOAT16."""
    wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    elements = rows(wide, axes)
    long = [axis for axis in range(x.ndim) if x.shape[axis] != 1]
    lanes = 64 if long and long[-1] in axes else 1
    if function == "MULTIPLY":
        result = fold(np.multiply, elements, 1, lanes)
    elif function in ("L2", "SUM_SQUARE"):
        result = fold(np.add, elements * elements, -0.0, lanes)
    else:
        result = fold(np.add, np.abs(elements) if function == "L1" else elements, -0.0, lanes)
    if function == "AVERAGE":
        result = result / wide.dtype.type(elements.shape[-1])
    return (np.sqrt(result) if function == "L2" else result).astype(x.dtype)


def reduce_logarithms(function, x, axes):
    """LOG_SUM and LOG_SUM_EXP. exp and log are correctly rounded; rounding a longer type's result practically always
    gives the same."""
    def rounded(ufunc, values):
        return ufunc(values.astype(np.longdouble)).astype(np.float32)

    wide = x.astype(np.float32)
    if function == "LOG_SUM":
        return rounded(np.log, reduce_floats("SUM", wide, axes)).astype(x.dtype)
    highest = wide.max(axis=tuple(axes), keepdims=True) if axes else wide
    most = np.finfo(np.float32).max
    shift = np.where(np.isnan(highest), highest, np.clip(highest, -most, most))
    total = reduce_floats("SUM", rounded(np.exp, wide - shift), axes)
    return (rounded(np.log, total) + shift.reshape(total.shape)).astype(x.dtype)


def rows(x, axes):
    """Moves the reduced elements into one last axis, row-major."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return np.transpose(x, kept + sorted(axes)).reshape([x.shape[axis] for axis in kept] + [-1])


def nearest_half(value):
    """A fraction rounded once to FLOAT16."""
    if abs(value) >= 65520:
        return np.float16(np.copysign(np.inf, float(value)))
    near = np.float16(float(value))  # possibly rounded twice: a neighbor may be nearer
    around = [near, np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf))]
    finite = [one for one in around if np.isfinite(one)]
    return min(finite, key=lambda one: (abs(Fraction(float(one)) - value), int(one.view(np.uint16)) & 1))


def reduce_halves(function, x, axes):
    """SUM, AVERAGE and L1 of FLOAT16: exact, then rounded once."""
    elements = rows(np.abs(x) if function == "L1" else x, axes)
    count = elements.shape[-1]
    results = np.empty(elements.shape[:-1], np.float16)
    for position in np.ndindex(results.shape):
        row = elements[position].astype(np.float64)
        if not np.isfinite(row).all():
            results[position] = np.float16(np.sum(row[~np.isfinite(row)]))
            continue
        total = Fraction(int(np.sum((row * 2.0**24).astype(np.int64).astype(object))), 2**24)
        if total == 0:
            results[position] = np.float16(-0.0 if np.signbit(row).all() and not row.any() else 0.0)
        else:
            results[position] = nearest_half(total / count if function == "AVERAGE" else total)
    return results


def reduce_integers(function, x, axes):
    elements = rows(x, axes)
    if function == "MULTIPLY":
        return np.multiply.reduce(elements, axis=-1, dtype=x.dtype)
    if function == "SUM_SQUARE":
        elements = elements * elements
    elif function == "L1" and x.dtype.kind == "i":
        elements = np.abs(elements)  # the minimum wraps to itself
    return np.add.reduce(elements, axis=-1, dtype=x.dtype)


def extreme(function, x, axes):
    """MAX and MIN: a NaN wins, and +0 is above -0, which NumPy does not guarantee."""
    elements = rows(x, axes)
    best = (np.max if function == "MAX" else np.min)(elements, axis=-1)
    if x.dtype.kind == "f":
        zero = best == 0
        positive = (~np.signbit(elements) & (elements == 0)).any(axis=-1)
        negative = (np.signbit(elements) & (elements == 0)).any(axis=-1)
        has_positive = positive if function == "MAX" else ~negative
        best = np.where(zero, np.where(has_positive, x.dtype.type(0.0), x.dtype.type(-0.0)), best)
    return best.astype(x.dtype)


def position(function, x, axes, last=False):
    """ARGMAX and ARGMIN: NumPy's, which return the first NaN or the first of equal elements; or the last."""
    elements = rows(x, axes)
    find = np.argmax if function == "ARGMAX" else np.argmin
    return elements.shape[-1] - 1 - find(elements[..., ::-1], axis=-1) if last else find(elements, axis=-1)


def reduce(function, x, axes, last=False):
    """Removes the reduced axes."""
    if function in ("ARGMAX", "ARGMIN"):
        return position(function, x, axes, last)
    if function in ("MAX", "MIN"):
        return extreme(function, x, axes)
    if x.dtype.kind != "f":
        return reduce_integers(function, x, axes)
    if function in ("LOG_SUM", "LOG_SUM_EXP"):
        return reduce_logarithms(function, x, axes)
    if x.dtype == np.float16 and function in ("SUM", "AVERAGE", "L1"):
        return reduce_halves(function, x, axes)
    return reduce_floats(function, x, axes)
