# SPDX-License-Identifier: MIT
"""Bit-exact pooling in NumPy. Loops over the elements of a window, in row-major order, and handles all windows at
once."""
import numpy as np

from reduce_reference import reduce_floats, reduce_halves


def taps(x, sizes, window, strides, dilations, start):
    """For each element of a window: whether it exists, the element, and its index in x, for all windows."""
    space = x.shape[2:]
    for tap in np.ndindex(*window):
        positions = [np.arange(out) * stride + k * dilation - pad
                  for out, stride, k, dilation, pad in zip(sizes, strides, tap, dilations, start)]
        exists = np.ones(sizes, bool)
        for axis, (position, size) in enumerate(zip(positions, space)):
            exists &= ((position >= 0) & (position < size)).reshape([-1 if i == axis else 1 for i in range(len(space))])
        if not exists.any() or x.size == 0:
            continue
        near = [np.clip(position, 0, size - 1) for position, size in zip(positions, space)]
        index = np.arange(x.size).reshape(x.shape)[np.ix_(*map(range, x.shape[:2]), *near)]
        yield exists, x[np.ix_(*map(range, x.shape[:2]), *near)], index


def is_global(x, sizes, window, start, end):
    return tuple(window) == x.shape[2:] and not any(start) and not any(end) and all(size == 1 for size in sizes)


def power(x, exponent):
    """The power is correctly rounded; rounding a longer type's result practically always gives the same."""
    return np.power(x.astype(np.longdouble), np.longdouble(exponent)).astype(np.float32)


def pool(function, x, sizes, window, strides, dilations, start, include=False, p=2):
    """AVERAGE and LP: sums in FLOAT32 or FLOAT64, starting from -0; divided, or the root taken; then rounded once to
    the type."""
    wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    if function == "LP":
        wide = np.abs(wide) if p == 1 else wide * wide if p == 2 else power(np.abs(wide), p)
    total = np.full((*x.shape[:2], *sizes), -0.0, wide.dtype)
    count = np.zeros(sizes, np.int64)
    for exists, elements, _ in taps(wide, sizes, window, strides, dilations, start):
        total = np.where(exists, total + elements, total)
        count += exists
    if function == "AVERAGE":
        total = total / (wide.dtype.type(np.prod(window, dtype=np.int64)) if include else count.astype(wide.dtype))
    else:
        total = total if p == 1 else np.sqrt(total) if p == 2 else power(total, np.float32(1) / np.float32(p))
        total = np.where(count == 0, wide.dtype.type(np.nan), total)
    return total.astype(x.dtype)


def pool_or_reduce(function, x, sizes, window, strides, dilations, start, end, include=False, p=2):
    """A window that covers the whole plane is summed as by REDUCE."""
    axes = list(range(2, x.ndim))
    if not x.size or not is_global(x, sizes, window, start, end):
        return pool(function, x, sizes, window, strides, dilations, start, include, p)
    if function == "AVERAGE" or p <= 2:
        name = "AVERAGE" if function == "AVERAGE" else f"L{p}"
        by_fractions = x.dtype == np.float16 and name != "L2"
        result = (reduce_halves if by_fractions else reduce_floats)(name, x, axes)
    else:
        sums = reduce_floats("SUM", power(np.abs(x.astype(np.float32)), p), axes)
        result = power(sums, np.float32(1) / np.float32(p)).astype(x.dtype)
    return result.reshape(*x.shape[:2], *sizes)


def maximum(x, sizes, window, strides, dilations, start):
    """The maximum and its index: a NaN wins, +0 is above -0, and the first of equal elements counts."""
    shape = (*x.shape[:2], *sizes)
    is_float = x.dtype.kind == "f"
    best = np.full(shape, -np.inf if is_float else np.iinfo(x.dtype).min, x.dtype)
    index = np.full(shape, -1, np.int64)
    for exists, elements, positions in taps(x, sizes, window, strides, dilations, start):
        above = elements > best
        if is_float:
            above |= (elements == 0) & (best == 0) & ~np.signbit(elements) & np.signbit(best)
            above |= np.isnan(elements)
            above &= ~np.isnan(best)
        takes = exists & ((index < 0) | above)
        best, index = np.where(takes, elements, best), np.where(takes, positions, index)
    return best, index


def unpool(x, indices, shape):
    """Zeros, with each element at its index; of several elements with the same index the last wins."""
    out = np.zeros(int(np.prod(shape)), x.dtype)
    for value, index in zip(x.ravel(), indices.ravel().tolist()):
        if 0 <= index < out.size:
            out[index] = value
    return out.reshape(shape)


def quantized(x, scale, zero, out_scale, out_zero, out_type, sizes, **windows):
    """(x - zero) * scale, averaged, / out_scale, rounded to the nearest even integer, + out_zero, clamped."""
    wide = (x.astype(np.int32) - np.int32(zero)).astype(np.float32) * scale
    with np.errstate(all="ignore"):
        quotient = pool_or_reduce("AVERAGE", wide, sizes, **windows) / out_scale
    quotient = np.rint(np.clip(np.where(np.isnan(quotient), 0, quotient), -1024, 1024)).astype(np.int32)
    limits = np.iinfo(out_type)
    return np.clip(quotient + np.int32(out_zero), limits.min, limits.max).astype(out_type)


