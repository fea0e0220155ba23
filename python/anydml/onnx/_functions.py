# SPDX-License-Identifier: MIT
"""Nodes that apply a function to each element. The operators are correctly rounded for FLOAT16 and FLOAT32."""
import math
from functools import partial

import numpy as np

from ._rows import cast, dispatch, number, row, with_old_broadcasting

ROUNDED = ("float16", "float")


def function(name, fields=None, **fixed):
    """Returns the row for a node that needs a single dispatch."""
    return row(name, fields, **fixed)._replace(kinds=ROUNDED)


def power(node):
    if "broadcast" in node.attributes:
        return partial(with_old_broadcasting, "ELEMENT_WISE_POW", node.attributes["broadcast"], node.attributes["axis"])

    def compute(x, exponent):
        """The exponent is converted to the type of x; if it may exceed float16, x and the exponent are converted to
        float32."""
        is_small = exponent.dtype in (np.float16, np.int8, np.uint8)
        wide = x.dtype if is_small else np.dtype(np.float32)
        if type(exponent) is np.ndarray and exponent.size == 1 and exponent.ndim <= x.ndim and exponent.reshape(()) == 2:
            x_wide = cast(x, wide)  # both are correctly rounded, so a square has the same bits as the power
            return cast(dispatch("ELEMENT_WISE_MULTIPLY", x_wide, x_wide), x.dtype)
        return cast(dispatch("ELEMENT_WISE_POW", cast(x, wide), cast(exponent, wide)), x.dtype)

    return compute


def gelu(node):
    approximate = node.attributes["approximate"]
    if approximate not in ("none", "tanh"):
        raise ValueError(f"{node.label}: approximate is {approximate!r}; expected 'none' or 'tanh'")
    return partial(dispatch, "ACTIVATION_GELU") if approximate == "none" else _gelu_by_tanh


def _gelu_by_tanh(x):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), each operation in FLOAT32."""
    def times(a, b):
        return dispatch("ELEMENT_WISE_MULTIPLY", a, b)

    def plus(a, b):
        return dispatch("ELEMENT_WISE_ADD", a, b)

    def constant(value):
        return number(value, np.float32)

    wide = cast(x, np.dtype(np.float32))
    cubic = times(constant(0.044715), times(wide, times(wide, wide)))
    bend = dispatch("ELEMENT_WISE_TANH", times(constant(math.sqrt(2 / math.pi)), plus(wide, cubic)))
    return cast(times(times(constant(0.5), wide), plus(constant(1), bend)), x.dtype)


def softsign(node):
    """Uses other operators for double, which ACTIVATION_SOFTSIGN does not accept."""
    return _softsign_by_others if node.kinds[0] == "double" else partial(dispatch, "ACTIVATION_SOFTSIGN")


def _softsign_by_others(x):
    return dispatch("ELEMENT_WISE_DIVIDE", x, dispatch("ELEMENT_WISE_ADD", dispatch("ELEMENT_WISE_ABS", x),
                                                       number(1, x.dtype)))


def old_softsign(_):
    return _softsign_by_others
