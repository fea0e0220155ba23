# SPDX-License-Identifier: MIT
"""A function for each operator that is built. Made by data/generate_python.py from the facts in data/ and the rows
in src/ops: edit those.
"""
from ._calls import SPECS as _SPECS, Output as _Output, Spec as _Spec, given as _given, run as _run

__all__ = ["add", "cast", "ceil", "clip", "divide", "element_wise_identity", "element_wise_if", "element_wise_max",
           "fill_value_constant", "fill_value_sequence", "floor", "is_nan", "logical_equals", "multiply", "negate",
           "subtract"]
SHADOWING = ["abs"]  # Python's own names: never by import *

_SPECS.update({
    "ELEMENT_WISE_IDENTITY": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
    "ELEMENT_WISE_ABS": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
    "ELEMENT_WISE_ADD": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_CEIL": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
    "ELEMENT_WISE_CLIP": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
    "ELEMENT_WISE_DIVIDE": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_FLOOR": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
    "ELEMENT_WISE_LOGICAL_EQUALS": _Spec(2, [_Output("output", dtype="uint8", sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_MAX": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_MULTIPLY": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_SUBTRACT": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "CAST": _Spec(1, [_Output("output", sizes=(0,))]),
    "ELEMENT_WISE_IS_NAN": _Spec(1, [_Output("output", dtype="uint8", sizes=(0,))]),
    "ELEMENT_WISE_IF": _Spec(3, [_Output("output", like=(1, 2), sizes=(0, 1, 2))], same=[(1, 2)], truths=(0,)),
    "ELEMENT_WISE_MODULUS_TRUNCATE": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "ELEMENT_WISE_MODULUS_FLOOR": _Spec(2, [_Output("output", like=(0, 1), sizes=(0, 1))], same=[(0, 1)]),
    "FILL_VALUE_CONSTANT": _Spec(0, [_Output("output")]),
    "FILL_VALUE_SEQUENCE": _Spec(0, [_Output("output")]),
    "ELEMENT_WISE_NEGATE": _Spec(1, [_Output("output", like=(0,), sizes=(0,))]),
})


def element_wise_identity(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_IDENTITY: input, element by element.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    With ``scale`` and ``bias`` the input is first replaced by ``input * scale + bias``.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_IDENTITY", input, **_given(Scale=scale, Bias=bias), out=out, device=device)


def abs(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_ABS: abs(input), element by element.

    Types in DirectML: ``input`` float16, float32 and int8 to int64.
    With ``scale`` and ``bias`` the input is first replaced by ``input * scale + bias``.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_ABS", input, **_given(Scale=scale, Bias=bias), out=out, device=device)


def add(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_ADD: a + b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_ADD", a, b, out=out, device=device)


def ceil(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CEIL: ceil(input), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias`` the input is first replaced by ``input * scale + bias``.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_CEIL", input, **_given(Scale=scale, Bias=bias), out=out, device=device)


def clip(input, /, *, min, max, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CLIP: max(Min, min(input, Max)), element by element.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    With ``scale`` and ``bias`` the input is first replaced by ``input * scale + bias``.
    ``min``: a number.
    ``max``: a number.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_CLIP", input, Min=min, Max=max, **_given(Scale=scale, Bias=bias), out=out, device=device)


def divide(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_DIVIDE: a / b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_DIVIDE", a, b, out=out, device=device)


def floor(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_FLOOR: floor(input), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias`` the input is first replaced by ``input * scale + bias``.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_FLOOR", input, **_given(Scale=scale, Bias=bias), out=out, device=device)


def logical_equals(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_EQUALS: (a == b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type uint8, or ``dtype``: uint8 and uint32.
    """
    return _run("ELEMENT_WISE_LOGICAL_EQUALS", a, b, out=out, dtype=dtype, device=device)


def element_wise_max(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MAX: max(a, b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_MAX", a, b, out=out, device=device)


def multiply(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MULTIPLY: a * b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_MULTIPLY", a, b, out=out, device=device)


def subtract(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_SUBTRACT: a - b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_SUBTRACT", a, b, out=out, device=device)


def cast(input, /, *, out=None, dtype=None, device=None):
    """DirectML's CAST: out = (OutputTensor.DataType) input.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    The result has the type ``dtype``: float16 to float64, int8 to int64 and uint8 to uint64.
    """
    return _run("CAST", input, out=out, dtype=dtype, device=device)


def is_nan(input, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_IS_NAN: isnan(input) ? 1 : 0, element by element.

    Types in DirectML: ``input`` float16 and float32.
    The result has the type uint8, or ``dtype``: uint8 and uint32.
    """
    return _run("ELEMENT_WISE_IS_NAN", input, out=out, dtype=dtype, device=device)


def element_wise_if(condition, a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_IF: cond != 0 ? a : b, element by element.

    Types in DirectML: ``condition`` uint8; ``a`` and ``b`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have one type.
    Shapes are broadcast by NumPy's rule.
    The result has the type of ``a`` or ``b``.
    """
    return _run("ELEMENT_WISE_IF", condition, a, b, out=out, device=device)


def fill_value_constant(*, value, out=None, dtype=None, shape=None, device=None):
    """DirectML's FILL_VALUE_CONSTANT: out[c] = Value.

    ``value``: a number.
    The result has the type ``dtype``: float16 to float64, int8 to int64 and uint8 to uint64 and the shape ``shape``.
    """
    return _run("FILL_VALUE_CONSTANT", Value=value, out=out, dtype=dtype, shape=shape, device=device)


def fill_value_sequence(*, value_start, value_delta, out=None, dtype=None, shape=None, device=None):
    """DirectML's FILL_VALUE_SEQUENCE: out[i] = ValueStart + i * ValueDelta   (i = element index).

    ``value_start``: a number.
    ``value_delta``: a number.
    The result has the type ``dtype``: float16, float32, int8 to int64 and uint8 to uint64 and the shape ``shape``.
    """
    return _run("FILL_VALUE_SEQUENCE", ValueStart=value_start, ValueDelta=value_delta, out=out, dtype=dtype,
                shape=shape, device=device)


def negate(input, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_NEGATE: -input, element by element.

    Types in DirectML: ``input`` float16, float32 and int8 to int64.
    The result has the type of ``input``.
    """
    return _run("ELEMENT_WISE_NEGATE", input, out=out, device=device)
