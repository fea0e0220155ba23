# SPDX-License-Identifier: MIT
"""Connects a function with its operator: supports NumPy's conventions, and puts Python's names into messages.

The operator runs first. Only if it fails are the arguments converted: a single number in place of a sequence, negative
axes, defaults that depend on the arguments, bool arrays, a one-dimensional bias (_arguments.py, _equivalent.py).
Ordinary calls therefore do not pay for these conversions.
"""
import numpy as _np

from . import _dispatch
from ._arguments import (CHOOSING as _CHOOSING, TESTING as _TESTING, as_truths as _as_truths, axes_of as _axes_of,
                         seen_as as _seen_as)
from ._equivalent import (PROMOTING as _PROMOTING, ROWS as _ROWS, by_rows as _by_rows, equivalent as _equivalent,
                          promoted as _promoted, repeated as _repeated)
from ._messages import function_of as _function_of, said as _said
from ._run import function_of as _body_of, given as _given, run as _run
from ._specs import SPECS as _SPECS
from ._symbols import Symbol as _Symbol

_ERRORS = (TypeError, ValueError, OverflowError)
_PLACES = {"TOP_K", "TOP_K1"}  # operators whose second result is an array of indices


def run(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """Like `anydml.run`, but for functions that run a single operator."""
    own, failed, is_usual = op, None, True
    if op in _ROWS:
        op, attributes = _by_rows(op, inputs, attributes)
    if not _dispatch.USUAL.issuperset(map(type, (*inputs, out))):
        result = _dispatch.answer(run, op, inputs, out, _given(dtype=dtype, shape=shape, device=device), attributes)
        if result is not NotImplemented:
            return result
        if op in _PLACES and dtype is None and out is None and type(inputs[0]).__module__.startswith("torch"):
            dtype = (None, _np.int64)  # the type that PyTorch accepts as indices
        is_usual = False  # tensors may be traced, and tracing does not detect wrong arguments immediately
    if op == "CAST" and _is_bool(dtype if out is None else getattr(out, "dtype", None)):
        return _as_bool(*inputs, out, device)
    try:
        if is_usual:
            return _run(op, *inputs, out=out, dtype=dtype, shape=shape, device=device, **attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    call = _equivalent(op, inputs, attributes, _wanted_shape(op, shape, out))
    is_truth = isinstance(out, _np.ndarray) and out.dtype == bool and op in _CHOOSING | _TESTING
    if dtype is None and out is None and op == "REDUCE" and str(attributes.get("Function")).upper().endswith(
            ("ARGMAX", "ARGMIN")):
        dtype = _np.int64  # NumPy's default; DirectML has none
    elif (failed is not None and call.inputs is inputs and call.attributes is attributes and call.shape is None
          and not is_truth):
        raise _said(failed, op, inputs, attributes, own) from None
    given = out if call.shape is None or out is None else out.reshape(call.shape)
    try:
        result = _run(op, *call.inputs, out=given.view(_np.uint8) if is_truth else given, dtype=dtype,
                      shape=shape if call.shape is None or out is not None else call.shape, device=device,
                      **call.attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    else:
        if out is not None:
            return out if is_truth or given is not out else result
        result = _as_truths(op, inputs, result)
        return result if call.shape == call.final else result.reshape(call.final)
    raise _said(failed, op, inputs, call.attributes, own) from None


def _wanted_shape(op, shape, out):
    """Returns the result's shape, if the caller specifies it and there is only one result."""
    if len(_SPECS[op].outputs) > 1 or _SPECS[op].outputs[0].array:
        return None
    return getattr(out, "shape", None) if shape is None else _np.broadcast_shapes(shape)


def _is_bool(kind):
    return kind is bool or str(kind) in ("bool", "?", "torch.bool") or kind is _np.bool_


def _as_bool(x, out, device):
    """Whether each element differs from 0. DirectML's CAST would round 0.5 to 0 first."""
    if isinstance(x, _Symbol):
        return x.astype(bool)
    truths = run("ELEMENT_WISE_LOGICAL_NOT", run("ELEMENT_WISE_LOGICAL_EQUALS", x, 0, device=device), device=device)
    if out is None:
        return _seen_as(truths, "bool")
    return run("ELEMENT_WISE_IDENTITY", _seen_as(truths, "bool"), out=out, device=device)


def function_of(op, required, optional, options):
    """Returns the body of a function, which takes the fast path or calls `run`."""
    if op not in _PROMOTING:
        return _body_of(run, op, required, optional, options, _repeated)

    def promote(_, *inputs, **given):
        """Converts arrays to a common type first, so that calls with different types also take the fast path."""
        built = _promoted(op, inputs)
        if built is inputs:
            return run(op, *inputs, **given)
        return body(*built, *(given.get(name) for name in (*required, *optional, *options)))

    body = _body_of(promote, op, required, optional, options, _repeated)
    return body


_ALONG_AXES = {op: function_of(op + "1", ("Axes",), (), ("out", "device")) for op in _ROWS}


def over_axes(body, op, input, *, axis=None, keepdims=None, out=None, dtype=None, shape=None, device=None, **attributes):
    """Runs an operator along axes. NumPy's `axis` removes the axes; DirectML's `axes` keeps them with size 1.

    `body` is the operator's plain function, which accepts the input, the attributes and the options.
    """
    if "Axes" not in attributes:  # softmax and related operators keep the shape
        return body(input, out, device) if axis is None else _ALONG_AXES[op](input, axis, out, device)
    axes = attributes["Axes"]
    if axes is not None and axis is not None:
        raise TypeError(f"{_function_of(op)}: axes and axis are both given, but mean the same")
    if dtype is None and out is None and op != "REDUCE":
        dtype = _np.int64  # NumPy's default; DirectML has none
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
