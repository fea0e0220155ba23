# SPDX-License-Identifier: MIT
"""Converts arguments that DirectML does not accept directly: a single number in place of a sequence, negative axes,
default values that depend on the arguments, and bool arrays."""
import operator
import sys
from array import array

import numpy as _np

from . import _core
from ._defaults import RULES as _RULES
from ._messages import function_of as _function_of

# Operators that only move elements.
MOVERS = {"JOIN", "SPLIT", "TILE", "SLICE", "SLICE1", "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE",
          "DEPTH_TO_SPACE1"}
# Operators that treat bool arrays as UINT8. Operators in CHOOSING return bool if all arrays are bool. Operators in
# TESTING return 0 or 1, which can be written to a bool array.
_LOGICAL = {f"ELEMENT_WISE_LOGICAL_{name}" for name in ("AND", "OR", "XOR", "NOT")}
CHOOSING = {"ELEMENT_WISE_IF", "ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN", "ELEMENT_WISE_IDENTITY", *MOVERS, *_LOGICAL,
            *(f"ELEMENT_WISE_BIT_{name}" for name in ("AND", "OR", "XOR"))}
_COMPARING = {"CAST", "ARGMAX", "ARGMIN", "NONZERO_COORDINATES", *(f"ELEMENT_WISE_LOGICAL_{name}" for name in (
    "EQUALS", "GREATER_THAN", "LESS_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL"))}
TESTING = {"ELEMENT_WISE_IS_NAN", "ELEMENT_WISE_IS_INFINITY",
           *(name for name in _COMPARING if name.startswith("ELEMENT_WISE_"))}
# Fields for which a single number applies to every dimension.
_REPEATED = {"WindowSize", "WindowSizes"}


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


def converted(op, inputs, attributes, shape=None):
    """Returns the attributes in DirectML's form: sequences, nonnegative axes, and default values that depend on the
    inputs or on the result's shape. Returns the same object if nothing changed."""
    first = next((one for one in inputs if one is not None), None)
    if first is None:
        return attributes
    built, rules = dict(attributes), _RULES.get(op, {})
    rank = len(shape) if op == "FOLD" and shape is not None else ndim_of(first)  # FOLD's input has no window dimensions
    is_same = True
    for field, value in attributes.items():
        rule = rules.get(field, "")
        if value is None and rule:
            built[field] = _default(op, rule, inputs, attributes, shape, rank)
        elif field == "Axis" and _is_integer(value):
            built[field] = _axis(op, "axis", value, rank)
        elif field == "Axes" and (_is_integer(value) or isinstance(value, (list, tuple, range, _np.ndarray))):
            built[field] = axes_of(op, value, rank)
        elif field == "Repeats" and (_is_integer(value) or isinstance(value, (list, tuple, _np.ndarray))):
            sizes = [value] if _is_integer(value) else list(value)
            built[field] = [1] * (rank - len(sizes)) + sizes
        elif (field in _REPEATED or rule.startswith(("window", "each"))) and (_is_integer(value) or type(value) is float):
            built[field] = [value] * _count(rule, rank, attributes)
        else:
            continue
        is_same = False
    return attributes if is_same else built


def ndim_of(one):
    return one.ndim if hasattr(one, "ndim") else _np.ndim(one)


def _is_integer(value):
    return hasattr(value, "__index__") and not getattr(value, "shape", ())


def _count(rule, rank, attributes):
    """The number of dimensions that an attribute applies to: all, or only the spatial dimensions after the channels."""
    sizes = attributes.get("WindowSize", attributes.get("WindowSizes"))
    if rule.startswith("each"):
        return rank
    return len(sizes) if isinstance(sizes, (list, tuple, _np.ndarray)) else max(rank - 2, 0)


def _default(op, rule, inputs, attributes, shape, rank):
    """Returns the default value of an attribute. data/python/python_defaults.py names the rules."""
    first = next(one for one in inputs if one is not None)
    kind, _, more = rule.partition(":")
    if kind in ("window", "each"):
        return [float(more) if "." in more else int(more)] * _count(rule, rank, attributes)
    if kind == "channels":
        return [int(more)] * (first.shape[1] if rank > 1 else 0)
    if kind == "axes":
        return axes_of(op, None, rank)
    if kind == "ndim":
        return ndim_of(inputs[int(more)])
    if kind == "attribute":
        return attributes[more]
    if kind in ("least", "greatest"):
        number = str(getattr(first, "dtype", "float32")).removeprefix("torch.")
        if "int" in number and op.endswith("1"):  # all other attributes are FLOAT
            limits = _np.iinfo(number)
            return limits.min if kind == "least" else limits.max
        return float("-inf" if kind == "least" else "inf")
    if kind == "activations":
        both = str(attributes.get("Direction")).upper().endswith(("BIDIRECTIONAL", "2"))
        return [_core.Operator(f"ACTIVATION_{name}") for name in more.split()] * (2 if both else 1)
    if kind == "quantization":
        return "SCALE" if len(inputs) == 2 else "SCALE_ZERO_POINT"
    if kind == "scales":
        if shape is None or len(shape) != rank:
            raise TypeError(f"{_function_of(op)}: scales is missing; expected scales, or shape with {rank} sizes")
        return [size / before if before else 1.0 for size, before in zip(shape, first.shape)]
    return _attention_scale(op, inputs, attributes)


def _attention_scale(op, inputs, attributes):
    """1 / sqrt(d): the query has the shape {batch, sequence, heads * d}, and a stacked tensor {..., heads, 2 or 3, d}."""
    query, stacked = inputs[0], next((one for one in inputs[3:6] if one is not None), None)
    if query is None:
        size = stacked.shape[-1] if stacked is not None else 0
    else:
        heads = attributes.get("HeadCount", attributes.get("QueryHeadCount"))
        size = query.shape[-1] // operator.index(heads) if _is_integer(heads) and heads else 0
    if not size:
        raise ValueError(f"{_function_of(op)}: scale is missing, and the inputs do not determine the size of a head")
    return size ** -0.5


def _is_truth(one):
    """Whether an object is a bool array, or NumPy converts it to one."""
    if not hasattr(one, "dtype") and isinstance(one, (bool, list, tuple)):
        try:
            one = _np.asarray(one)
        except ValueError:
            return False
    return str(getattr(one, "dtype", "")) in ("bool", "torch.bool")


def seen_as(one, name):
    """Views a bool array as uint8, or vice versa, without a copy."""
    one = one if hasattr(one, "view") else _np.asarray(one)
    kind = getattr(sys.modules["torch"], name) if str(one.dtype).startswith("torch.") else _np.dtype(name)
    return one.view(kind)


def is_numpys(one):
    """Whether an object is a NumPy array, or a Python object that NumPy converts to one."""
    return isinstance(one, (_np.ndarray, _np.generic, int, float, list, tuple, range, memoryview, array))


def _native(one):
    """Returns an array that the library can read. It has native byte order, and its strides are whole elements."""
    if not isinstance(one, _np.ndarray) or not one.itemsize or one.dtype.kind not in "biuf":
        return one
    if one.dtype.isnative and all(step % one.itemsize == 0 for step in one.strides):
        return one
    return one.astype(one.dtype.newbyteorder("="))


def taken(op, inputs):
    """Returns the inputs in a form that the library accepts, or the same object if none changed.

    Bool arrays become byte arrays if elements are selected or compared. For logical operators, numbers become truth
    values. True and False become numbers if they are combined with other arrays.
    """
    built = [_native(one) for one in inputs]
    if {int, float} == set(map(type, inputs)):
        built = list(map(float, inputs))
    if op in _LOGICAL:
        built = [_np.asarray(one) != 0 if is_numpys(one) and _is_tested(one) else one for one in built]
    truths = [_is_truth(one) for one in built]
    if not any(truths):
        return inputs if all(one is other for one, other in zip(built, inputs)) else built
    is_byte = op in CHOOSING or op in _COMPARING
    is_beside = not is_byte or not all(truths[op == "ELEMENT_WISE_IF":])
    return [one if not truth else int(one) if is_beside and isinstance(one, (bool, _np.bool_)) else
            seen_as(one, "uint8") if is_byte else one for one, truth in zip(built, truths)]


def _is_tested(one):
    return not _is_byte(one) and _np.asarray(one).dtype.kind in "biuf"


def _is_byte(one):
    """Whether logical operators accept an input unchanged."""
    return str(getattr(one, "dtype", "")) in ("uint8", "uint32")


def as_truths(op, inputs, result):
    """Returns the result as bool if all input arrays are bool. Logical operators return bytes only for byte inputs."""
    is_truth = (not any(map(_is_byte, inputs)) if op in _LOGICAL and all(map(is_numpys, inputs)) else
                op in CHOOSING and all(map(_is_truth, inputs[op == "ELEMENT_WISE_IF":])))
    if not is_truth:
        return result
    return tuple(seen_as(one, "bool") for one in result) if isinstance(result, tuple) else seen_as(result, "bool")
