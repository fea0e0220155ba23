# SPDX-License-Identifier: MIT
"""Connects a function with its operator: NumPy's habits, and messages with Python's names.

The operator runs first. Only if it fails are the arguments converted: one number for a sequence, negative axes, defaults
that depend on a shape, arrays of bool. Ordinary calls therefore do not pay for these conversions.
"""
import numpy as _np

from . import _dispatch
from ._arguments import (CHOOSING as _CHOOSING, TESTING as _TESTING, as_truths as _as_truths, axes_of as _axes_of,
                         converted as _converted, taken as _taken)
from ._messages import function_of as _function_of, said as _said
from ._run import function_of as _body_of, given as _given, run as _run

_ERRORS = (TypeError, ValueError, OverflowError)


def run(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """`anydml.run` for a function."""
    if not _dispatch.USUAL.issuperset(map(type, (*inputs, out))):
        result = _dispatch.answer(run, op, inputs, out, _given(dtype=dtype, shape=shape, device=device), attributes)
        if result is not NotImplemented:
            return result
    try:
        return _run(op, *inputs, out=out, dtype=dtype, shape=shape, device=device, **attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    given, arrays, attributes = attributes, _taken(op, inputs), _converted(op, inputs, attributes)
    is_truth = isinstance(out, _np.ndarray) and out.dtype == bool and op in _CHOOSING | _TESTING
    if dtype is None and out is None and op == "REDUCE" and str(attributes.get("Function")).upper().endswith(
            ("ARGMAX", "ARGMIN")):
        dtype = _np.int64  # NumPy's choice; DirectML has none
    elif arrays is inputs and attributes is given and not is_truth:
        raise _said(failed, op, inputs, attributes) from None
    try:
        result = _run(op, *arrays, out=out.view(_np.uint8) if is_truth else out, dtype=dtype, shape=shape,
                      device=device, **attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    else:
        return out if is_truth else _as_truths(op, inputs, result) if out is None else result
    raise _said(failed, op, inputs, attributes) from None


def function_of(op, required, optional, options):
    """Returns the body of a function, which goes the short way or calls `run`."""
    return _body_of(run, op, required, optional, options)


def over_axes(body, op, input, *, axis=None, keepdims=None, out=None, dtype=None, shape=None, device=None, **attributes):
    """Returns the function of an operator along axes. NumPy's `axis` removes them; DirectML's `axes` keeps them with size 1.

    `body` is the operator's plain function, which accepts the input, the attributes and the options.
    """
    if "Axes" not in attributes:  # softmax and related operators keep the shape
        return body(input, out, device) if axis is None else run(op + "1", input, Axes=axis, out=out, device=device)
    axes = attributes["Axes"]
    if axes is not None and axis is not None:
        raise TypeError(f"{_function_of(op)}: axes and axis are both given; they mean the same")
    if dtype is None and out is None and op != "REDUCE":
        dtype = _np.int64  # NumPy's choice; DirectML has none
    if keepdims or (keepdims is None and axes is not None):
        attributes["Axes"] = axis if axes is None else axes
        return body(input, *attributes.values(), out, dtype, shape, device)
    if input is None:
        raise TypeError(f"{_function_of(op)}: input is None; expected an array")
    input = input if hasattr(input, "ndim") else _np.asarray(input)
    flat = input.reshape((1,)) if input.ndim == 0 else input
    axes = attributes["Axes"] = _axes_of(op, axis if axes is None else axes, flat.ndim)
    kept = tuple(1 if i in axes else size for i, size in enumerate(flat.shape))
    left = tuple(size for i, size in enumerate(flat.shape) if i not in axes) if input.ndim else ()
    for what, sizes in (("shape", shape), ("out", None if out is None else out.shape)):
        if sizes is not None and _np.broadcast_shapes(sizes) != left:
            raise ValueError(f"{_function_of(op)}: {what} is {tuple(sizes)}; expected {left}")
    result = body(flat, *attributes.values(), None if out is None else out.reshape(kept), dtype, None, device)
    return result[tuple(0 if i in axes else slice(None) for i in range(flat.ndim))] if out is None else out
