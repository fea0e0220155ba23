# SPDX-License-Identifier: MIT
"""Converts arguments that DirectML does not accept directly: one number for a sequence, negative axes, defaults that
depend on a shape, and arrays of bool."""
import operator
import sys
from array import array

import numpy as _np

from ._messages import function_of as _function_of

# Operators that only move elements.
MOVERS = {"JOIN", "SPLIT", "TILE", "SLICE", "SLICE1", "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE",
          "DEPTH_TO_SPACE1"}
# Operators that accept an array of bool as UINT8, and the ones among them whose results are bool again.
_LOGICAL = {f"ELEMENT_WISE_LOGICAL_{name}" for name in ("AND", "OR", "XOR", "NOT")}
CHOOSING = {"ELEMENT_WISE_IF", "ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN", "ELEMENT_WISE_IDENTITY", *MOVERS, *_LOGICAL,
            *(f"ELEMENT_WISE_BIT_{name}" for name in ("AND", "OR", "XOR"))}
_COMPARING = {"CAST", "ARGMAX", "ARGMIN", *(f"ELEMENT_WISE_LOGICAL_{name}" for name in (
    "EQUALS", "GREATER_THAN", "LESS_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL"))}
TESTING = _COMPARING - {"CAST", "ARGMAX", "ARGMIN"} | {"ELEMENT_WISE_IS_NAN", "ELEMENT_WISE_IS_INFINITY"}
_WINDOWS = {"Strides": 1, "Dilations": 1, "StartPadding": 0, "EndPadding": 0, "OutputPadding": 0, "WindowSize": None}


def _axis(op, what, axis, rank):
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"{_function_of(op)}: {what} has {axis!r}; expected whole numbers") from None
    if not -rank <= number < rank:
        expected = f"{-rank} to {rank - 1}, for {rank} dimensions" if rank else "an array with dimensions"
        raise ValueError(f"{_function_of(op)}: {what} is {number}; expected {expected}")
    return number % rank


def axes_of(op, axes, rank):
    if axes is None:
        return tuple(range(rank))
    if hasattr(axes, "__index__") and not getattr(axes, "shape", ()):
        return (_axis(op, "axes", axes, rank),)
    return tuple(_axis(op, "axes", one, rank) for one in axes)


def converted(op, inputs, attributes):
    """Returns the attributes in DirectML's form: sequences, and axes from 0 on; the same object if none changed."""
    first = next((one for one in inputs if one is not None), None)
    if first is None:
        return attributes
    rank, made = _np.ndim(first) if not hasattr(first, "ndim") else first.ndim, dict(attributes)
    is_same = True
    for field, value in attributes.items():
        is_number = hasattr(value, "__index__") and not getattr(value, "shape", ())
        if field == "Axis" and is_number:
            made[field] = _axis(op, "axis", value, rank)
        elif field == "Axes" and (value is None or is_number or isinstance(value, (list, tuple, range, _np.ndarray))):
            made[field] = axes_of(op, value, rank)
        elif field == "Repeats" and (is_number or isinstance(value, (list, tuple, _np.ndarray))):
            sizes = [value] if is_number else list(value)
            made[field] = [1] * (rank - len(sizes)) + sizes
        elif field in _WINDOWS and (value is None or is_number):
            count = rank if op.startswith(("PADDING", "SLICE")) else rank - 2
            if value is not None or _WINDOWS[field] is not None:
                made[field] = [_WINDOWS[field] if value is None else value] * max(count, 0)
        elif field in ("Min", "Max") and value is None and "CLIP" in op:
            kind = str(getattr(first, "dtype", "float32")).removeprefix("torch.")
            limits = _np.iinfo(kind) if op.endswith("CLIP1") and "int" in kind else None
            made[field] = (float("-inf" if field == "Min" else "inf") if limits is None else
                           limits.min if field == "Min" else limits.max)
        else:
            continue
        is_same = False
    return attributes if is_same else made


def _is_truth(one):
    """Whether an object is an array of bool, or NumPy converts it to one."""
    if not hasattr(one, "dtype") and isinstance(one, (bool, list, tuple)):
        try:
            one = _np.asarray(one)
        except ValueError:
            return False
    return str(getattr(one, "dtype", "")) in ("bool", "torch.bool")


def _seen_as(one, name):
    """Views an array of bool as uint8, or the other way round, without a copy."""
    one = one if hasattr(one, "view") else _np.asarray(one)
    kind = getattr(sys.modules["torch"], name) if str(one.dtype).startswith("torch.") else _np.dtype(name)
    return one.view(kind)


def is_numpys(one):
    """Whether an object is a NumPy array, or a Python object that NumPy converts to one."""
    return isinstance(one, (_np.ndarray, _np.generic, int, float, list, tuple, range, memoryview, array))


def _native(one):
    """Returns an array that the library can read: in the machine's byte order, with strides of whole elements."""
    if not isinstance(one, _np.ndarray) or not one.itemsize or one.dtype.kind not in "biuf":
        return one
    if one.dtype.isnative and all(step % one.itemsize == 0 for step in one.strides):
        return one
    return one.astype(one.dtype.newbyteorder("="))


def taken(op, inputs):
    """Returns the inputs in a form that the library accepts, or the same object if none changed.

    Arrays of bool become bytes if elements are chosen or compared. For logical operators, numbers become truth values.
    Beside other arrays, True and False become numbers.
    """
    made = [_native(one) for one in inputs]
    if {int, float} == set(map(type, inputs)):
        made = list(map(float, inputs))
    if op in _LOGICAL:
        made = [_np.asarray(one) != 0 if is_numpys(one) and _is_tested(one) else one for one in made]
    truths = [_is_truth(one) for one in made]
    if not any(truths):
        return inputs if all(one is other for one, other in zip(made, inputs)) else made
    is_byte = op in CHOOSING or op in _COMPARING
    is_beside = not is_byte or not all(truths[op == "ELEMENT_WISE_IF":])
    return [one if not truth else int(one) if is_beside and isinstance(one, (bool, _np.bool_)) else
            _seen_as(one, "uint8") if is_byte else one for one, truth in zip(made, truths)]


def _is_tested(one):
    return not _is_byte(one) and _np.asarray(one).dtype.kind in "biuf"


def _is_byte(one):
    """Whether logical operators accept an input unchanged."""
    return str(getattr(one, "dtype", "")) in ("uint8", "uint32")


def as_truths(op, inputs, result):
    """Returns the result as bool if all its source arrays are bool. Logical operators return bytes only for bytes."""
    is_truth = (not any(map(_is_byte, inputs)) if op in _LOGICAL and all(map(is_numpys, inputs)) else
                op in CHOOSING and all(map(_is_truth, inputs[op == "ELEMENT_WISE_IF":])))
    if not is_truth:
        return result
    return tuple(_seen_as(one, "bool") for one in result) if isinstance(result, tuple) else _seen_as(result, "bool")
