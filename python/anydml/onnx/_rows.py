# SPDX-License-Identifier: MIT
"""What the modules of the nodes share: how a node is told to its row of the table, and how it is dispatched."""
import math
from collections import namedtuple
from functools import partial

import numpy as np
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import anydml
from .._symbols import Symbol

MOST_DIMENSIONS = 8
FLOATS = ("float16", "float", "double")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
KINDS = (*FLOATS, *INTEGERS, "bool")  # bool is UINT8 for DirectML, 1 or 0
# Integers of four bits have a byte each while a model runs. The nodes that take and give them:
FOUR_BITS = {"int4": "int8", "uint4": "uint8"}
FOUR_BIT_NODES = ("DequantizeLinear", "QuantizeLinear")

# A node as its row sees it: its attributes have ONNX's defaults, None where there is none; kinds are ONNX's names of
# its inputs' types, "" for one that is absent, and results those of its outputs; since is the opset of its schema;
# fixed are the inputs that no run changes, None for the others.
Node = namedtuple("Node", "op label attributes kinds results since fixed")

# make: a function of a Node that gives the function of its arrays; None, or a function that gives None for this node,
# where ONNX's own definition by other nodes is taken. uses: the operators that it may dispatch, without ELEMENT_WISE_ and
# ACTIVATION_. result: a function of the types that attributes name and of the kinds, which gives the types of the outputs
# where ONNX's schema leaves them open. is_view: the results may lie in the inputs. kinds: the types of the first input that
# it takes, if that is not all of ONNX's and ours. check: where ONNX's definition is taken, or may be, a function of a Node
# that gives a function of its arrays, which raises if an attribute or a shape is wrong: the nodes of ONNX's definition would
# say so under names that the model does not have, or compute something else.
Row = namedtuple("Row", "make uses result is_view kinds check", defaults=("", None, False, None, None))


class Unsupported(BackendIsNotSupposedToImplementIt, NotImplementedError):
    """The model needs what anydml does not have; the message names it, and ``needs`` lists it.

    ONNX's own test suite counts such a model as one that the backend is not supposed to run.
    """

    def __init__(self, message, needs):
        super().__init__(message)
        self.needs = needs


def refuse(node, what, why):
    """Unsupported, by a node's name, what of it is not here, and the reason."""
    raise Unsupported(f"{node.label}: anydml has no {node.op} {what}: {why}", [f"{node.op} {what}"])


def wrong(node, attribute, expected):
    """An attribute that no input could make right."""
    value = node.attributes[attribute]
    value = list(value) if isinstance(value, (tuple, list)) else value
    raise ValueError(f"{node.label}: {attribute} is {value!r}; expected {expected}")


def check_least(node, attribute, least):
    """That a number, or each of a list, is not too small; an attribute that is absent is right."""
    value = node.attributes.get(attribute)
    values = value if isinstance(value, (tuple, list)) else [] if value is None else [value]
    if any(one < least for one in values):
        wrong(node, attribute, f"{'numbers' if values is value else 'a number'} of {least} or more")


def check_choice(node, attribute, choices):
    if node.attributes.get(attribute, choices[0]) not in choices:
        wrong(node, attribute, f"one of {', '.join(map(repr, choices))}")


def dtype_of(kind):
    return np.dtype({"float": "float32", "double": "float64", **FOUR_BITS}.get(kind, kind))


def plain(array):
    """DirectML has no bool: it is a uint8, 1 or 0."""
    return array.view(np.uint8) if array.dtype.num == _TRUTH else array


_TRUTH = np.dtype(bool).num
# Shape arithmetic outside of graphs: NumPy gives the same bits of a few elements in a tenth of the time that a dispatch takes.
FEW = 64
_EXACT = {"ELEMENT_WISE_ADD": np.add, "ELEMENT_WISE_SUBTRACT": np.subtract, "ELEMENT_WISE_MULTIPLY": np.multiply}


def _quotient(a, b):
    """Of numbers above 0; what others give is the library's."""
    return a // b if (a >= 0).all() and (b > 0).all() else None


_OF_INTEGERS = {**_EXACT, "ELEMENT_WISE_DIVIDE": _quotient, "ELEMENT_WISE_MAX": np.maximum, "ELEMENT_WISE_MIN": np.minimum,
                "ELEMENT_WISE_LOGICAL_EQUALS": lambda a, b: np.asarray(np.equal(a, b)).view(np.uint8)}
_BY_NUMPY = {*_OF_INTEGERS, "ELEMENT_WISE_IF"}


def _by_numpy(operator, arrays, options):
    """The result of a few elements, or None where the operator has to be dispatched."""
    if options or not all(type(one) is np.ndarray and one.size <= FEW for one in arrays):
        return None
    if operator == "ELEMENT_WISE_IF":
        condition, *arrays = arrays
        function = partial(np.where, condition)
        kind = arrays[0].dtype if condition.dtype == bool and condition.ndim <= MOST_DIMENSIONS else None
    else:
        kind = arrays[0].dtype
        is_integer = kind.kind == "i" and kind.itemsize >= 4
        function = (_OF_INTEGERS if is_integer else _EXACT if kind == np.float32 else {}).get(operator)
    if function is None or kind is None or any(one.dtype != kind or one.ndim > MOST_DIMENSIONS for one in arrays):
        return None
    if kind == np.float32 and not all(math.isfinite(one.item()) if one.size == 1 else np.isfinite(one).all() for one in arrays):
        return None
    try:
        made = function(*arrays)
        return None if made is None else np.asarray(made)
    except ValueError:
        return None  # the library says what is wrong with the shapes


def dispatch(operator, *arrays, **options):
    """One operator over arrays; the options are its attributes, and run's own."""
    if operator in _BY_NUMPY and type(arrays[0]) is not Symbol and (made := _by_numpy(operator, arrays, options)) is not None:
        return made
    given, recorder, dimensions = [], None, 0 if arrays else len(options.get("shape", ()))
    for array in arrays:
        if array is not None:
            array = plain(array)
            if type(array) is Symbol:
                recorder = array._recorder
            if array.ndim > dimensions:
                dimensions = array.ndim
        given.append(array)
    if dimensions > MOST_DIMENSIONS:
        raise ValueError(f"a tensor has {dimensions} dimensions, and anydml takes up to {MOST_DIMENSIONS}")
    if recorder is not None:
        return recorder.add(operator, given, options.pop("out", None), options.pop("dtype", None),
                            options.pop("shape", None), options)
    return anydml.run(operator, *given, **options)


def fill(value, shape, dtype):
    """An array of one value."""
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
    """CAST; of a few numbers that fit, on the host, by NumPy."""
    kinds = x.dtype.kind + dtype.kind
    if type(x) is np.ndarray and x.size <= FEW and kinds in ("ii", "if", "fi") and dtype.itemsize >= 4 <= x.itemsize and (
            kinds == "if" or ((x > -2**31) & (x < 2**31)).all()):
        return x.astype(dtype)
    return dispatch("CAST", x, dtype=dtype)


def number(value, dtype):
    """A tensor without dimensions."""
    return np.asarray(value, dtype)


def row(name, fields=None, **fixed):
    """A node that is one dispatch: the operator's fields from the node's attributes, and those that are fixed."""

    def make(node):
        options = {**fixed, **{field: node.attributes[attribute] for field, attribute in (fields or {}).items()}}
        if "broadcast" in node.attributes:
            return partial(with_old_broadcasting, name, node.attributes["broadcast"], node.attributes["axis"])
        return partial(dispatch, name, **options)

    return Row(make, short(name))


def short(name):
    return name.removeprefix("ELEMENT_WISE_").removeprefix("ACTIVATION_")


def with_old_broadcasting(name, broadcast, axis, a, b):
    """Before opset 7 nothing was broadcast unless asked for, and then b alone, against dimensions of a from axis on."""
    aligned = b
    if broadcast and axis is not None:
        axis = axis_of(axis, a.ndim)
        aligned = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
    if (aligned.shape != a.shape) if not broadcast else (np.broadcast_shapes(a.shape, aligned.shape) != a.shape):
        raise ValueError(f"shape {list(b.shape)} does not go with {list(a.shape)} by the rules before opset 7")
    return dispatch(name, a, aligned)


def axis_of(axis, dimensions, what="axis"):
    """An axis counted from the front."""
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"{what} is {axis}, and the tensor has {dimensions} dimensions")
    return axis + dimensions if axis < 0 else axis


def axes_of(axes, dimensions):
    axes = list(axes)
    found = [axis_of(axis, dimensions, f"axes is {axes}: an axis") for axis in axes]
    if len(set(found)) != len(found):
        raise ValueError(f"axes is {axes}, and one of them comes twice")
    return found


def sizes_of(array, what):
    """The numbers of a small tensor of integers that are sizes."""
    sizes = listed(array, what)
    if any(size < 0 for size in sizes):
        raise ValueError(f"{what} is {sizes}; expected sizes of 0 or more")
    return sizes


def listed(array, what):
    """The numbers of a small tensor of integers; one without dimensions counts as a list of one."""
    if array.ndim > 1:
        raise ValueError(f"{what} must be a list, and has the shape {list(array.shape)}")
    return array.reshape(-1).tolist()
