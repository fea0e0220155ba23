# SPDX-License-Identifier: MIT
"""Nodes that are matrix products."""
import numpy as np

from ._rows import check_choice, dispatch

_PLAIN = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}


def gemm(node):
    """alpha * A * B + beta * C, of which A and B may be transposed; C is broadcast to the result."""
    for name in ("transA", "transB"):
        check_choice(node, name, (0, 1))
    options = node.attributes
    attributes = {**{f"Trans{one}": "TRANSPOSE" if options[f"trans{one}"] else "NONE" for one in "AB"},
                  "Alpha": options["alpha"], "Beta": options["beta"]}

    def compute(a, b, c=None):
        rows, depth = a.shape[::-1] if options["transA"] else a.shape
        other_depth, columns = b.shape[::-1] if options["transB"] else b.shape
        if depth != other_depth:
            raise ValueError(f"A has the sizes {list(a.shape)} and B {list(b.shape)}; expected {depth} rows of B, as "
                             "many as A has columns")
        c = None if c is None else np.broadcast_to(c, (rows, columns))
        return dispatch("GEMM", a, b, c, shape=(rows, columns), **attributes)

    return compute


def matmul(_):
    """numpy.matmul: matrices in the last two dimensions; a tensor of one dimension is a row of A or a column of B, and
    loses that dimension again."""
    def compute(a, b):
        if a.ndim == 0 or b.ndim == 0:
            raise ValueError("a tensor has no dimensions; expected a matrix or a vector")
        left = a.reshape(1, -1) if a.ndim == 1 else a
        right = b.reshape(-1, 1) if b.ndim == 1 else b
        if left.shape[-1] != right.shape[-2]:
            raise ValueError(f"A has the sizes {list(a.shape)} and B {list(b.shape)}; expected {left.shape[-1]} rows "
                             "of B, as many as A has columns")
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        left, right = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (left, right))
        made = dispatch("GEMM", left, right, None, shape=(*batch, left.shape[-2], right.shape[-1]), **_PLAIN)
        rows, columns = ([] if x.ndim == 1 else [size] for x, size in zip((a, b), made.shape[-2:]))
        return made.reshape([*batch, *rows, *columns])

    return compute
