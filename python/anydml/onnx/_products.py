# SPDX-License-Identifier: MIT
"""Nodes that are matrix products."""
import numpy as np

from .._matrices import PLAIN, multiplied
from ._rows import check_choice, dispatch, refuse


def gemm(node):
    """alpha * A * B + beta * C. A and B may be transposed, and C is broadcast to the result."""
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
    def compute(a, b):
        return multiplied(a, b, lambda left, right, shape: dispatch("GEMM", left, right, None, shape=shape, dtype=left.dtype,
                                                                     **PLAIN))

    return compute


def _for_rows(value, rows, what):
    """A scale or a zero point for A or for the output: one number, or one for each row."""
    return _for_side(value, (rows, 1), what)


def _for_columns(value, columns, what):
    return _for_side(value, (1, columns), what)


def _for_side(value, side, what):
    if value is None:
        return None
    if value.size == 1:
        return value.reshape(1, 1)
    if value.shape == (max(side),) or (value.shape[-2:] == side and value.size == max(side)):
        return value.reshape(side)
    raise ValueError(f"{what} has the shape {list(value.shape)}; expected one number, or {list(side)}")


def matmul_integer(_):
    """Sums the products of the differences from the zero points. The sums wrap in int32."""
    def compute(a, b, a_zero=None, b_zero=None):
        def multiply(left, right, shape):
            return dispatch("MATRIX_MULTIPLY_INTEGER", left, _for_rows(a_zero, shape[-2], "a_zero_point"), right,
                            _for_columns(b_zero, shape[-1], "b_zero_point"), shape=shape, dtype=np.dtype(np.int32))

        return multiplied(a, b, multiply)

    return compute


def quantized_matmul(node):
    scales = {node.kinds[i] for i in (1, 4, 6)}
    if scales != {"float"}:
        refuse(node, f"with scales of {', '.join(sorted(scales))}", "DirectML's scales are float")

    def compute(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
        def multiply(left, right, shape):
            rows, columns = shape[-2:]
            return dispatch("QUANTIZED_LINEAR_MATRIX_MULTIPLY", left, _for_rows(a_scale, rows, "a_scale"),
                            _for_rows(a_zero, rows, "a_zero_point"), right, _for_columns(b_scale, columns, "b_scale"),
                            _for_columns(b_zero, columns, "b_zero_point"), _for_rows(y_scale, rows, "y_scale"),
                            _for_rows(y_zero, rows, "y_zero_point"), shape=shape)

        return multiplied(a, b, multiply)

    return compute
