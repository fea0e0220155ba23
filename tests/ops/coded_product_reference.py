# SPDX-License-Identifier: MIT
"""A product with activations in codes of eight bits, in NumPy. docs/numerics.md shows the two functions."""
import numpy as np

from product_reference import fused


def activation_codes(a, block):
    """The codes and the scales of the blocks of each row of FLOAT32."""
    padded = np.zeros((a.shape[0], -(-a.shape[1] // block) * block), np.float32)
    padded[:, :a.shape[1]] = a
    blocks = padded.reshape(a.shape[0], -1, block)
    largest = np.abs(blocks).max(-1, keepdims=True)  # NaN if one of them is
    finite = largest < np.inf
    scale = np.where(finite, largest / np.float32(127), np.float32(np.nan))
    used = finite & (largest >= np.float32(2.0**-100))
    factor = np.where(used, np.float32(127) / np.where(used, largest, np.float32(1)), np.float32(0))
    return np.rint(np.where(used, blocks, np.float32(0)) * factor).astype(np.int64), scale[..., 0]


def product_of_codes(a, differences, scales, block):
    """a: FLOAT32 rows; differences: the codes of B minus their zero points, {columns, depth}; scales: {columns, blocks}."""
    codes, a_scales = activation_codes(a, block)
    total = np.zeros((a.shape[0], differences.shape[0]), np.float32)
    for i in range(scales.shape[1]):
        part = differences[:, i * block:(i + 1) * block].astype(np.int64)
        sums = (codes[:, i, :part.shape[1]] @ part.T).astype(np.float32)
        total = fused(sums, a_scales[:, i, None] * scales[None, :, i], total)
    return total
