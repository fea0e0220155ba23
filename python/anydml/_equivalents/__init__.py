# SPDX-License-Identifier: MIT
"""Expresses each differentiable operator with PyTorch's own functions, so that PyTorch can compute its derivatives.

An equivalent accepts a `Given` and the operator's inputs, with None for absent inputs. It returns the output or a list
of outputs, with None for outputs without derivatives, such as indices. Its values need not match the operator's bits,
because only its derivatives are used. Operators that are not in the table have only integer outputs, or no gradient.
"""
from ._base import Given, activated, is_pointwise
from . import elementwise, moves, normalizing, regions, sequences, windows

__all__ = ["Given", "find", "is_pointwise"]

_TABLE = {**elementwise.TABLE, **moves.TABLE, **normalizing.TABLE, **regions.TABLE,
          **sequences.TABLE, **windows.TABLE}


def find(name):
    """Returns the equivalent of an operator, or None."""
    function = _TABLE.get(name)
    if function is None:
        return None
    if name.startswith("ELEMENT_WISE_"):
        return lambda given, x, *others: activated(given, function(given, _scaled(given, x), *others))
    return lambda given, *inputs: activated(given, function(given, *inputs))


def _scaled(given, x):
    """Applies DirectML's ScaleBias, which element-wise operators apply to their first input."""
    scale, bias = given.get("Scale"), given.get("Bias")
    return x if scale is None and bias is None else x * (1 if scale is None else scale) + (bias or 0)
