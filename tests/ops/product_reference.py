# SPDX-License-Identifier: MIT
"""A bit-exact GEMM in NumPy, without fused multiply-add. docs/numerics.md shows the first two functions."""
import numpy as np


def fused(a, b, c):
    """a * b + c of FLOAT32, rounded once. The product is exact in FLOAT64. The sum is rounded to odd there: if digits
    are dropped, the last digit becomes 1, so that rounding again gives the same result as rounding the exact sum."""
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + c
    part = total - product
    dropped = (product - (total - part)) + (c - part)
    bits = total.view(np.int64)
    moves = np.isfinite(total) & (dropped != 0) & (bits & 1 == 0)
    away = (dropped > 0) == (total > 0)
    return np.where(moves, bits + np.where(away, 1, -1), bits).view(np.float64).astype(np.float32)


def product(a, b, block=256):
    """The matrix product of FLOAT32: chains of at most 256, whose sums are added in order."""
    total = np.zeros(np.broadcast_shapes((*a.shape[:-1], 1), (*b.shape[:-2], 1, b.shape[-1])), np.float32)
    for first in range(0, a.shape[-1], block):
        chain = np.zeros_like(total)
        for k in range(first, min(first + block, a.shape[-1])):
            chain = fused(a[..., :, k, None], b[..., None, k, :], chain)
        total = chain if first == 0 else total + chain
    return total


def gemm(a, b, c=None, alpha=1.0, beta=1.0, block=256):
    """GEMM of FLOAT32 or FLOAT16 matrices, with any transposes already applied."""
    wide = np.float32
    result = wide(alpha) * product(a.astype(wide), b.astype(wide), block)
    if c is not None:
        result = result + wide(beta) * c.astype(wide)
    return result.astype(a.dtype)


def error_bound(a, b):
    """The exact sums, as FLOAT64 computes them, and how far from them a FLOAT32 product may be in this order."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    count = a.shape[-1]
    roundings = min(count, 256) + -(-count // 256) + 3
    return roundings * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b)) + count * 2.0**-150, wide_a @ wide_b
