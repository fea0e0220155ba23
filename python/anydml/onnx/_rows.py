# SPDX-License-Identifier: MIT
"""Code that the node modules share: the form in which a row of the table receives a node, and dispatching."""
import math
from collections import namedtuple
from functools import partial

import numpy as np
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import anydml
from .._symbols import Symbol

MAX_DIMENSIONS = 8
FLOATS = ("float16", "float", "double")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
KINDS = (*FLOATS, *INTEGERS, "bool")  # bool is UINT8 for DirectML, 1 or 0
# Four-bit integers use a byte each while a model runs. Only the nodes below accept and return them.
FOUR_BITS = {"int4": "int8", "uint4": "uint8"}
FOUR_BIT_NODES = ("DequantizeLinear", "QuantizeLinear")

# A node in the form that its row receives. attributes: with ONNX's defaults, or None without a default. kinds: ONNX's
# names of the input types, "" for an absent input. results: the same for the outputs. since: the opset of its schema.
# fixed: the inputs that no run changes; None for other inputs.
Node = namedtuple("Node", "op label attributes kinds results since fixed")

# make: a function of a Node that returns the function of its arrays; None, or a function that returns None for this
# node, if ONNX's own definition is used, which consists of other nodes. uses: the operators that it may dispatch,
# without ELEMENT_WISE_ and ACTIVATION_. result: a function of the types that attributes name and of the kinds; it
# returns the types of the outputs if ONNX's schema does not determine them. is_view: whether the results may share the
# inputs' memory. kinds: the accepted types of the first input; by default all types that both ONNX and anydml support.
# check: if ONNX's definition is or may be used, a function of a Node that returns a function of its arrays, which
# raises an error if an attribute or a shape is wrong. Otherwise the nodes of ONNX's definition would report names that
# are not in the model, or compute something else.
Row = namedtuple("Row", "make uses result is_view kinds check", defaults=("", None, False, None, None))


class Unsupported(BackendIsNotSupposedToImplementIt, NotImplementedError):
    """The model needs something that anydml does not support; the message names it, and ``needs`` lists it.

    ONNX's own test suite treats such a model as one that the backend is not supposed to run.
    """

    def __init__(self, message, needs):
        super().__init__(message)
        self.needs = needs


def refuse(node, what, why):
    """Raises Unsupported with the node's name, the unsupported feature and the reason."""
    raise Unsupported(f"{node.label}: anydml does not support {node.op} {what}: {why}", [f"{node.op} {what}"])


def wrong(node, attribute, expected):
    """Raises an error about an attribute that is wrong for any inputs."""
    value = node.attributes[attribute]
    value = list(value) if isinstance(value, (tuple, list)) else value
    raise ValueError(f"{node.label}: {attribute} is {value!r}; expected {expected}")


def check_minimum(node, attribute, lowest):
    """Checks that a number, or each number of a list, is not too small. An absent attribute is valid."""
    value = node.attributes.get(attribute)
    values = value if isinstance(value, (tuple, list)) else [] if value is None else [value]
    if any(one < lowest for one in values):
        wrong(node, attribute, f"{'numbers' if values is value else 'a number'} of {lowest} or more")


def check_choice(node, attribute, choices):
    if node.attributes.get(attribute, choices[0]) not in choices:
        wrong(node, attribute, f"one of {', '.join(map(repr, choices))}")


def dtype_of(kind):
    return np.dtype({"float": "float32", "double": "float64", **FOUR_BITS}.get(kind, kind))


def plain(array):
    """Views bool as uint8, because DirectML has no bool."""
    return array.view(np.uint8) if array.dtype.num == _TRUTH else array


_TRUTH = np.dtype(bool).num
# Shape arithmetic outside graphs: for a few elements, NumPy computes the same bits ten times as fast as a dispatch.
FEW = 64
_EXACT = {"ELEMENT_WISE_ADD": np.add, "ELEMENT_WISE_SUBTRACT": np.subtract, "ELEMENT_WISE_MULTIPLY": np.multiply}


def _quotient(a, b):
    """Divides nonnegative by positive numbers; the library handles all other numbers."""
    return a // b if (a >= 0).all() and (b > 0).all() else None


_OF_INTEGERS = {**_EXACT, "ELEMENT_WISE_DIVIDE": _quotient, "ELEMENT_WISE_MAX": np.maximum, "ELEMENT_WISE_MIN": np.minimum,
                "ELEMENT_WISE_LOGICAL_EQUALS": lambda a, b: np.asarray(np.equal(a, b)).view(np.uint8)}
_BY_NUMPY = {*_OF_INTEGERS, "ELEMENT_WISE_IF"}


def _by_numpy(operator, arrays, options):
    """Returns the result for a few elements, or None if the operator must be dispatched."""
    if options or not all(type(one) is np.ndarray and one.size <= FEW for one in arrays):
        return None
    if operator == "ELEMENT_WISE_IF":
        condition, *arrays = arrays
        function = partial(np.where, condition)
        kind = arrays[0].dtype if condition.dtype == bool and condition.ndim <= MAX_DIMENSIONS else None
    else:
        kind = arrays[0].dtype
        is_integer = kind.kind == "i" and kind.itemsize >= 4
        function = (_OF_INTEGERS if is_integer else _EXACT if kind == np.float32 else {}).get(operator)
    if function is None or kind is None or any(one.dtype != kind or one.ndim > MAX_DIMENSIONS for one in arrays):
        return None
    if kind == np.float32 and not all(math.isfinite(one.item()) if one.size == 1 else np.isfinite(one).all() for one in arrays):
        return None
    try:
        built = function(*arrays)
        return None if built is None else np.asarray(built)
    except ValueError:
        return None  # the library reports wrong shapes


def dispatch(operator, *arrays, **options):
    """Runs one operator over arrays. The options are its attributes and the options of `run`."""
    if operator in _BY_NUMPY and type(arrays[0]) is not Symbol and (built := _by_numpy(operator, arrays, options)) is not None:
        return built
    given, recorder, dimensions = [], None, 0 if arrays else len(options.get("shape", ()))
    for array in arrays:
        if array is not None:
            array = plain(array)
            if type(array) is Symbol:
                recorder = array._recorder
            if array.ndim > dimensions:
                dimensions = array.ndim
        given.append(array)
    if dimensions > MAX_DIMENSIONS:
        raise ValueError(f"a tensor has {dimensions} dimensions; anydml supports up to {MAX_DIMENSIONS}")
    if recorder is not None:
        return recorder.add(operator, given, options.pop("out", None), options.pop("dtype", None),
                            options.pop("shape", None), options)
    return anydml.run(operator, *given, **options)


def fill(value, shape, dtype):
    """Returns an array filled with one value."""
    if math.prod(shape) <= FEW:
        return np.full(tuple(shape), value, dtype)
    result = dispatch("FILL_VALUE_CONSTANT", Value=value, shape=tuple(shape), dtype=plain(np.empty(0, dtype)).dtype)
    return result.view(dtype)


def sequence(start, delta, count, dtype):
    if count <= FEW and np.dtype(dtype) == np.int64 and max(abs(start), abs(start + count * delta)) < 2**62:
        return np.array(range(start, start + count * delta, delta), dtype)
    return dispatch("FILL_VALUE_SEQUENCE", ValueStart=start, ValueDelta=delta, shape=(count,), dtype=dtype)


def cast(x, dtype):
    return x if x.dtype == dtype else converted(x, np.dtype(dtype))


def converted(x, dtype):
    """Converts as CAST does. If there are only a few numbers and they all fit, NumPy converts them on the host."""
    kinds = x.dtype.kind + dtype.kind
    if type(x) is np.ndarray and x.size <= FEW and kinds in ("ii", "if", "fi") and dtype.itemsize >= 4 <= x.itemsize and (
            kinds == "if" or ((x > -2**31) & (x < 2**31)).all()):
        return x.astype(dtype)
    return dispatch("CAST", x, dtype=dtype)


def number(value, dtype):
    """Returns a tensor without dimensions."""
    return np.asarray(value, dtype)


def row(name, fields=None, **fixed):
    """The row for a node that needs a single dispatch. Fields come from the node's attributes or have fixed values."""

    def make(node):
        options = {**fixed, **{field: node.attributes[attribute] for field, attribute in (fields or {}).items()}}
        if "broadcast" in node.attributes:
            return partial(with_old_broadcasting, name, node.attributes["broadcast"], node.attributes["axis"])
        return partial(dispatch, name, **options)

    return Row(make, short(name))


def short(name):
    return name.removeprefix("ELEMENT_WISE_").removeprefix("ACTIVATION_")


def with_old_broadcasting(name, broadcast, axis, a, b):
    """Before opset 7, nothing was broadcast unless requested. In that case, b was broadcast to the dimensions of a,
    starting at an axis."""
    aligned = b
    if broadcast and axis is not None:
        axis = axis_of(axis, a.ndim)
        aligned = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
    if (aligned.shape != a.shape) if not broadcast else (np.broadcast_shapes(a.shape, aligned.shape) != a.shape):
        raise ValueError(f"shape {list(b.shape)} does not match {list(a.shape)} by the rules before opset 7")
    return dispatch(name, a, aligned)


def axis_of(axis, dimensions, what="axis"):
    """Counts an axis from the front."""
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"{what} is {axis}, but the tensor has {dimensions} dimensions")
    return axis + dimensions if axis < 0 else axis


def axes_of(axes, dimensions):
    axes = list(axes)
    found = [axis_of(axis, dimensions, f"axes is {axes}: an axis") for axis in axes]
    if len(set(found)) != len(found):
        raise ValueError(f"axes is {axes}, but one of them occurs twice")
    return found


def sizes_of(array, what):
    """Returns the numbers of a small integer tensor, and checks that they are sizes."""
    sizes = listed(array, what)
    if any(size < 0 for size in sizes):
        raise ValueError(f"{what} is {sizes}; expected sizes of 0 or more")
    return sizes


def listed(array, what):
    """Returns the numbers of a small integer tensor; a tensor without dimensions counts as a list of one."""
    if array.ndim > 1:
        raise ValueError(f"{what} must be a list, but has the shape {list(array.shape)}")
    return array.reshape(-1).tolist()
