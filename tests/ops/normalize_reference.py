# SPDX-License-Identifier: MIT
"""Bit-exact operators in NumPy that normalize by a mean, a variance or a norm. docs/numerics.md shows them."""
import itertools

import numpy as np

from product_reference import fused
from reduce_reference import reduce_floats


def average(x, axes):
    """Keeps the axes and sums in the order of REDUCE."""
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    return reduce_floats("AVERAGE", x, axes).reshape(kept)


def mean_variance(x, axes, scale=None, bias=None, epsilon=0.0, use_mean=True, use_variance=True):
    wide = x.astype(np.float32)
    scale = np.float32(1) if scale is None else scale.astype(np.float32)
    bias = np.float32(-0.0) if bias is None else bias.astype(np.float32)
    difference = wide - average(wide, axes) if use_mean else wide
    if use_variance:
        scale = scale / np.sqrt(average(difference * difference, axes) + np.float32(epsilon))
    return fused(difference, *np.broadcast_arrays(scale, bias, difference)[:2]).astype(x.dtype)


def batch(x, mean, variance, scale, bias, epsilon):
    wide, mean, variance, scale, bias = (one.astype(np.float32) for one in (x, mean, variance, scale, bias))
    difference = wide - mean
    factor = scale / np.sqrt(variance + np.float32(epsilon))
    return fused(difference, *np.broadcast_arrays(factor, bias, difference)[:2]).astype(x.dtype)


def lp(x, axis, epsilon, p):
    wide = x.astype(np.float32)
    norm = reduce_floats(f"L{p}", wide, [axis])
    norm = np.maximum(np.expand_dims(norm, axis), np.float32(epsilon))
    return (wide / norm).astype(x.dtype)


def window_sums(x, cross_channel, before, after):
    """The window of an element extends along the channels, or along all dimensions after them."""
    total = np.full(x.shape, -0.0, np.float32)
    axes = [1] if cross_channel else range(2, x.ndim)
    for shifts in itertools.product(*(range(-min(before, x.shape[axis] - 1), min(after, x.shape[axis] - 1) + 1)
                                      for axis in axes)):
        to, start = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        for axis, shift in zip(axes, shifts):
            count = x.shape[axis]
            to[axis] = slice(max(0, -shift), min(count, count - shift))
            start[axis] = slice(max(0, shift), min(count, count + shift))
        total[tuple(to)] += x[tuple(start)]
    return total


def local_response(x, cross_channel, size, alpha, beta, bias):
    wide = x.astype(np.float32)
    sums = window_sums(wide * wide, cross_channel, (size - 1) // 2, size // 2)
    base = np.float32(alpha) / np.float32(size) * sums + np.float32(bias)
    return (wide / power(base, np.float32(beta))).astype(x.dtype)


def power(base, exponent):
    """POW is correctly rounded, and rounding a longer type's result practically always gives the same."""
    result = np.power(base.astype(np.longdouble), np.longdouble(exponent)).astype(np.float32)
    return result if exponent == np.floor(exponent) else np.where(base < 0, np.float32(np.nan), result)
