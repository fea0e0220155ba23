# SPDX-License-Identifier: MIT
"""The way from a function to its operator: NumPy's habits, and messages in Python's names.

The operator runs first. Only if that fails, arguments are looked at again: one number where DirectML has a sequence,
negative axes, defaults that depend on a shape, arrays of bool. So usual calls do not pay for the unusual ones.
"""
import operator
import re

import numpy as _np

from . import _dispatch
from ._run import given as _given, run as _run

_USUAL = frozenset((_np.ndarray, int, float, list, tuple, bool, type(None), *_np.sctypeDict.values()))
_ERRORS = (TypeError, ValueError, OverflowError)
# Operators that take an array of bool as one of UINT8, and those of them whose results are bool again.
_CHOOSING = {"ELEMENT_WISE_IF", "ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN", "ELEMENT_WISE_IDENTITY", *_dispatch.MOVERS,
             *(f"ELEMENT_WISE_LOGICAL_{name}" for name in ("AND", "OR", "XOR", "NOT")),
             *(f"ELEMENT_WISE_BIT_{name}" for name in ("AND", "OR", "XOR"))}
_COMPARING = {"CAST", *(f"ELEMENT_WISE_LOGICAL_{name}" for name in (
    "EQUALS", "GREATER_THAN", "LESS_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL"))}
_TESTING = _COMPARING - {"CAST"} | {"ELEMENT_WISE_IS_NAN", "ELEMENT_WISE_IS_INFINITY"}
_WINDOWS = {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0, "WindowSize": None}


def run(op, *inputs, out=None, dtype=None, shape=None, device=None, **attributes):
    """`anydml.run` for a function."""
    if not _USUAL.issuperset(map(type, (*inputs, out))):
        result = _dispatch.answer(run, op, inputs, out, _given(dtype=dtype, shape=shape, device=device), attributes)
        if result is not NotImplemented:
            return result
    try:
        return _run(op, *inputs, out=out, dtype=dtype, shape=shape, device=device, **attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    arrays, attributes = _with_truths(op, inputs), converted(op, inputs, attributes)
    is_truth = isinstance(out, _np.ndarray) and out.dtype == bool and op in _CHOOSING | _TESTING
    try:
        result = _run(op, *arrays, out=out.view(_np.uint8) if is_truth else out, dtype=dtype, shape=shape,
                      device=device, **attributes)
    except _ERRORS as error:
        if type(error) not in _ERRORS:
            raise
        failed = error
    else:
        return out if is_truth else _as_truths(op, inputs, result) if out is None else result
    raise said(failed, op, inputs, attributes) from None


def over_axes(op, input, *, axis=None, keepdims=None, out=None, dtype=None, shape=None, device=None, **attributes):
    """An operator that works along axes. NumPy's `axis` drops them, and DirectML's `axes` gives them the size 1."""
    if "Axes" not in attributes:  # softmax and its relatives, which keep the shape
        if axis is None:
            return run(op, input, out=out, device=device)
        return run(op + "1", input, Axes=axis, out=out, device=device)
    axes = attributes.pop("Axes")
    if axes is not None and axis is not None:
        raise TypeError(f"{_function(op)}: axes and axis are both given; they mean the same")
    if dtype is None and out is None and (op != "REDUCE" or str(attributes["Function"]).upper().endswith(
            ("ARGMAX", "ARGMIN"))):
        dtype = _np.int64  # NumPy's choice, where DirectML has none
    options = _given(out=out, dtype=dtype, shape=shape, device=device)
    if keepdims or (keepdims is None and axes is not None):
        return run(op, input, **attributes, Axes=axis if axes is None else axes, **options)
    if input is None:
        raise TypeError(f"{_function(op)}: input is None; expected an array")
    input = input if hasattr(input, "ndim") else _np.asarray(input)
    shape = options.pop("shape", None)
    flat = input.reshape((1,)) if input.ndim == 0 else input
    axes = _axes(op, axis if axes is None else axes, flat.ndim)
    kept = tuple(1 if i in axes else size for i, size in enumerate(flat.shape))
    left = tuple(size for i, size in enumerate(flat.shape) if i not in axes) if input.ndim else ()
    for what, sizes in (("shape", shape), ("out", None if out is None else out.shape)):
        if sizes is not None and _np.broadcast_shapes(sizes) != left:
            raise ValueError(f"{_function(op)}: {what} is {tuple(sizes)}; expected {left}")
    if out is not None:
        options["out"] = out.reshape(kept)
    result = run(op, flat, **attributes, Axes=axes, **options)
    if out is not None:
        return out
    result = result.reshape(left)
    return result[()] if isinstance(result, _np.ndarray) and not left else result


# ---- Arguments that DirectML does not take as they are --------------------------------------------------------------

def _function(op):
    from . import _words  # read only if something is wrong

    return _words.FUNCTIONS.get(op, op.lower())


def _axis(op, what, axis, rank):
    number = operator.index(axis)
    if not -rank <= number < rank:
        raise ValueError(f"{_function(op)}: {what} is {number}; expected {-rank} to {rank - 1}, for {rank} dimensions")
    return number % rank


def _axes(op, axes, rank):
    if axes is None:
        return tuple(range(rank))
    if hasattr(axes, "__index__") and not getattr(axes, "shape", ()):
        return (_axis(op, "axes", axes, rank),)
    return tuple(_axis(op, "axes", one, rank) for one in axes)


def converted(op, inputs, attributes):
    """The attributes as DirectML takes them: sequences, and axes from 0 on."""
    first = next((one for one in inputs if one is not None), None)
    if first is None:
        return attributes
    rank, made = _np.ndim(first) if not hasattr(first, "ndim") else first.ndim, dict(attributes)
    for field, value in attributes.items():
        is_number = hasattr(value, "__index__") and not getattr(value, "shape", ())
        if field == "Axis" and is_number:
            made[field] = _axis(op, "axis", value, rank)
        elif field == "Axes" and (value is None or is_number or isinstance(value, (list, tuple, range, _np.ndarray))):
            made[field] = _axes(op, value, rank)
        elif field == "Repeats":
            sizes = [value] if is_number else list(value)
            made[field] = [1] * (rank - len(sizes)) + sizes
        elif field in _WINDOWS and (value is None or is_number):
            count = rank if op.startswith(("PADDING", "SLICE")) else rank - 2
            if value is not None or _WINDOWS[field] is not None:
                made[field] = [_WINDOWS[field] if value is None else value] * max(count, 0)
        elif field in ("Min", "Max") and value is None:
            kind = _np.dtype(getattr(first, "dtype", _np.float32)) if op.endswith("CLIP1") else None
            limits = _np.iinfo(kind) if kind is not None and kind.kind in "iu" else None
            made[field] = (float("-inf" if field == "Min" else "inf") if limits is None else
                           limits.min if field == "Min" else limits.max)
    return made


def _is_truth(one):
    """Whether NumPy makes an array of bool of it."""
    kind = getattr(one, "dtype", None)
    if kind is None and isinstance(one, (bool, list, tuple)):
        try:
            kind = _np.asarray(one).dtype
        except ValueError:
            return False
    return isinstance(kind, _np.dtype) and kind == bool


def _with_truths(op, inputs):
    """Arrays of bool as bytes where elements are chosen or compared; True and False as numbers beside other arrays."""
    truths = [_is_truth(one) for one in inputs]
    if not any(truths):
        return inputs
    if op in _CHOOSING or op in _COMPARING:
        numbers = any(not one for one in truths[op == "ELEMENT_WISE_IF":])  # whether arrays of another type are beside
        return [int(one) if truth and numbers and isinstance(one, (bool, _np.bool_)) else
                _np.asarray(one).view(_np.uint8) if truth else one for one, truth in zip(inputs, truths)]
    return [int(one) if truth and isinstance(one, (bool, _np.bool_)) else one for one, truth in zip(inputs, truths)]


def _as_truths(op, inputs, result):
    chosen = inputs[1:] if op == "ELEMENT_WISE_IF" else inputs
    if op not in _CHOOSING or not all(map(_is_truth, chosen)):
        return result
    return tuple(one.view(bool) for one in result) if isinstance(result, tuple) else result.view(bool)


# ---- Messages -------------------------------------------------------------------------------------------------------

_TYPE = r"(?:float|int|uint)(?:4|8|16|32|64)"


def said(error, op, inputs, attributes):
    """The error with Python's names in place of the fields' and the operator's."""
    from . import _words

    function, names = _words.FUNCTIONS.get(op, op.lower()), _words.INPUTS.get(op, "").split()
    if len(names) == 1 and names[0] == "inputs":
        names = [f"inputs[{i}]" for i in range(len(inputs))]
    for one, name in zip(inputs, names):
        if one is None and not name.endswith("?"):
            return TypeError(f"{function}: {name} is None; expected an array")

    def parameter(match):
        word = match.group()
        is_field = word in attributes or word.endswith(("Tensor", "Tensors"))
        return _words.FIELDS.get(word, word) if is_field else word

    def choices(match):
        values = _words.CHOICES[f"{op}.{match[1]}"].split()
        other = {"'MEAN'": "; NumPy's mean is 'AVERAGE'", "'PROD'": "; NumPy's prod is 'MULTIPLY'"}.get(match[2], "")
        return (f"{match[1]} is {attributes[match[1]]!r}; expected {', '.join(map(repr, values[:-1]))} or {values[-1]!r}"
                f"{other if 'AVERAGE' in values else ''}")

    text = str(error).removeprefix(f"{op}: ").replace("attribute ", "")
    text = re.sub(r"(\w+): is ('[^']*'); expected the name of a value of \w+", choices, text)
    text = re.sub(r"\binputs\[(\d+)\]", lambda match: names[int(match[1])].rstrip("?")
                  if int(match[1]) < len(names) else match[0], text)
    text = re.sub(r"\b[A-Z]\w*", parameter, text)
    text = re.sub(r"\.(Sizes|DimensionCount|DataType)\b", lambda match: {
        "Sizes": ".shape", "DimensionCount": ".ndim", "DataType": ".dtype"}[match[1]], text)
    text = re.sub(_TYPE, lambda match: match[0].lower(), text, flags=re.IGNORECASE)
    text = re.sub(rf": type is ({_TYPE})", r" is \1", text).replace(": sizes are", " has the shape")
    match = re.search(rf"(\w+) is ({_TYPE}); expected ((?:{_TYPE}(?:, )?)+)", text)
    if match:
        wanted = match[3].rstrip(", ").split(", ")
        text += "; convert it with " + conversion(dict(zip(names, inputs)).get(match[1]), wanted)
    return type(error)(f"{function}: {text}")


def conversion(array, types):
    """The way to one of these types, of which float32 is the likeliest."""
    kind = "float32" if "float32" in types else types[0]
    return f"astype({kind!r})" if hasattr(array, "astype") else f"numpy.{kind}(...)"
