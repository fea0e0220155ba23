# SPDX-License-Identifier: MIT
"""Bit-exact attention with capped scores, windows and sinks in NumPy. docs/numerics.md shows it."""
import numpy as np

from product_reference import product
from reduce_reference import fold
from softmax_reference import rounded


def scored_attention(q, k, v, scale, softcap=0.0, bias=None, seen=None, sink=None):
    """Attention of queries {..., S, D}, keys {..., L, D} and values {..., L, Dv}. seen: the keys that each query sees.
    sink: a score for each head, {..., 1, 1}."""
    wide = np.float32
    scores = product(q.astype(wide), np.swapaxes(k, -1, -2).astype(wide)) * wide(scale)
    if softcap != 0:
        scores = rounded(np.tanh, scores / wide(softcap)) * wide(softcap)
    if bias is not None:
        scores = scores + bias.astype(wide)
    if seen is not None:
        scores = np.where(seen, scores, wide(-np.inf))
    highest = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        sink = sink.astype(wide)
        highest = np.maximum(highest, sink)
    exponentials = rounded(np.exp, scores - highest)
    totals = fold(np.add, exponentials, -0.0, 64)[..., None]
    if sink is not None:
        totals = totals + rounded(np.exp, sink - highest)
    return (product(exponentials, v.astype(wide)) / totals).astype(q.dtype)
