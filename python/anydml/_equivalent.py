# SPDX-License-Identifier: MIT
"""Converts calls in the style of NumPy and PyTorch to equivalent calls that DirectML accepts. The original calls may
have a one-dimensional bias, indices with fewer dimensions than the input, or arrays of different types.

Where possible, arrays are only viewed with a different shape. Nothing is then copied, PyTorch can differentiate the
call, and a graph can record it.
"""
import math
from collections import namedtuple

import numpy as _np

from ._arguments import converted as _converted, is_numpys as _is_numpys, ndim_of as _ndim_of, taken as _taken
from ._messages import function_of as _function_of
from ._specs import SPECS as _SPECS
from ._symbols import Symbol as _Symbol

# shape is the result's shape in DirectML's form, if the call must specify it. final is the shape of the function's
# result.
Equivalent = namedtuple("Equivalent", "op inputs attributes shape final", defaults=(None, None))

# Row operators that accept at most two dimensions. Their newer versions accept any axes.
ROWS = frozenset(("ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_HARDMAX"))
# The indices of the inputs that have one number for each channel, and of the inputs that are broadcast as in NumPy.
_PER_CHANNEL = {"CONVOLUTION": (2,), "QUANTIZED_LINEAR_CONVOLUTION": (6,)}
_BROADCAST = {"MEAN_VARIANCE_NORMALIZATION1": (1, 2), "MEAN_VARIANCE_NORMALIZATION2": (1, 2)}
# Element-wise operators whose operands must have the same type.
PROMOTING = {name: spec.same for name, spec in _SPECS.items()
             if name.startswith("ELEMENT_WISE_") and "QUANTIZE" not in name and spec.same}


def by_rows(op, inputs, attributes):
    """Returns the operator and attributes that work along the last axis. More than two dimensions need a newer
    version."""
    if any(size != 1 for size in getattr(inputs[0], "shape", ())[:-2]):
        return op + "1", {"Axes": -1}
    return op, attributes


def equivalent(op, inputs, attributes, shape=None):
    """Returns the call in DirectML's form. Its inputs and attributes are the same objects if nothing changed."""
    before = attributes
    inputs = promoted(op, _taken(op, inputs))
    attributes = _converted(op, inputs, attributes, shape)
    for i in _PER_CHANNEL.get(op, ()):
        if i < len(inputs) and inputs[i] is not None and _ndim_of(inputs[i]) == 1:
            rank = _ndim_of(inputs[0])
            inputs = _with(inputs, i, _array(inputs[i]).reshape((1, -1) + (1,) * (rank - 2)) if rank > 1 else inputs[i])
    for i in _BROADCAST.get(op, ()):
        if i < len(inputs) and inputs[i] is not None:
            inputs = _with(inputs, i, _extended(inputs[i], _ndim_of(inputs[0])))
    built = _SPECIAL[op](op, inputs, attributes, before, shape) if op in _SPECIAL else None
    return built or Equivalent(op, inputs, attributes)


def repeated(op, inputs, attributes, result):
    """Returns the call to compile for later calls that have the same form as the one that returned this result:
    (operator, inputs, attributes, the outputs' sizes or None). Returns None if later calls also need this module's
    conversions."""
    if op == "CAST" and str(getattr(result, "dtype", "")) in ("bool", "torch.bool"):
        return None
    if op in ROWS:
        op, attributes = by_rows(op, inputs, attributes)
    shape = None if isinstance(result, tuple) else result.shape
    built = equivalent(op, inputs, attributes, shape)
    return built.op, built.inputs, built.attributes, None if built.shape is None else [built.shape]


def _array(one):
    return one if hasattr(one, "reshape") else _np.asarray(one)


def _with(inputs, i, one):
    return inputs if one is inputs[i] else [*inputs[:i], one, *inputs[i + 1:]]


def _extended(one, rank):
    """Adds dimensions of size 1 in front."""
    missing = rank - _ndim_of(one)
    return _array(one)[(None,) * missing] if missing > 0 else one


def promoted(op, inputs):
    """Converts arrays of different types to NumPy's common type. Arrays from other libraries stay unchanged."""
    for group in PROMOTING.get(op, ()):
        found = [inputs[i] for i in group if i < len(inputs)]
        if not all(type(one) is _Symbol or _is_numpys(one) for one in found):
            continue
        found = [one if type(one) in (int, float, _Symbol) else _np.asanyarray(one) for one in found]
        kinds = {one.dtype for one in found if hasattr(one, "dtype")}
        if len(kinds) < 2 or any(one.kind not in "biuf" for one in kinds):
            continue
        kind = _np.result_type(*(one.dtype if hasattr(one, "dtype") else one for one in found))
        inputs = list(inputs)
        for i, one in zip(group, found):
            inputs[i] = one.astype(kind) if hasattr(one, "dtype") and one.dtype != kind else one
    return inputs


# ---- Single operators -----------------------------------------------------------------------------------------------

def _gemm(op, inputs, attributes, before, shape):
    a, b, c = (*inputs, None)[:3]
    if c is None or a is None or b is None or min(map(_ndim_of, (a, b))) < 2:
        return None
    a, b = _array(a), _array(b)
    turned = [str(attributes.get(field)).upper().endswith(("_TRANSPOSE", "TRANSPOSE", "1")) for field in
              ("TransA", "TransB")]
    (rows, inner), (other, columns) = ((one.shape[-1], one.shape[-2]) if is_turned else one.shape[-2:]
                                       for one, is_turned in zip((a, b), turned))
    if inner != other:
        at = (len(b.shape) - 1 if turned[1] else len(b.shape) - 2, len(a.shape) - 2 if turned[0] else len(a.shape) - 1)
        raise ValueError(f"{_function_of(op)}: b.shape[{at[0]}] is {other}; expected {inner}, which is a.shape[{at[1]}]")
    try:
        product = (*_np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2])), rows, columns)
    except ValueError:
        return None  # the library reports the error
    sizes = tuple(getattr(c, "shape", None) or _np.shape(c))
    if sizes == product:
        return None
    if len(sizes) > len(product) or any(size not in (1, wanted) for size, wanted in zip(sizes[::-1], product[::-1])):
        raise ValueError(f"{_function_of(op)}: c has the shape {list(sizes)}; expected one that broadcasts to "
                         f"{list(product)}, the shape of the product of a and b")
    if type(c) in (int, float):
        c = a.new_full((), c) if hasattr(a, "new_full") else _np.asarray(c, a.dtype)
    c = c.expand(product) if hasattr(c, "expand") else _np.broadcast_to(c, product)
    return Equivalent(op, _with(inputs, 2, c), attributes)


def _gather(op, inputs, attributes, before, shape):
    """GATHER: the dimensions of the indices replace the axis, as in numpy.take."""
    x, indices = map(_array, inputs)
    count, axis = attributes["IndexDimensions"], attributes["Axis"]
    is_ready = x.ndim == indices.ndim and before["IndexDimensions"] is not None and all(
        size == 1 for size in x.shape[:count - 1])
    if is_ready:
        return None
    if not indices.ndim and x.ndim:  # one index removes the axis
        sizes = tuple(x.shape)
        return Equivalent(op, [x, indices.reshape((1,) * x.ndim)], {**attributes, "IndexDimensions": 1},
                          (*sizes[:axis], 1, *sizes[axis + 1:]), (*sizes[:axis], *sizes[axis + 1:]))
    rank = max(x.ndim, indices.ndim, x.ndim - 1 + count)
    attributes = {**attributes, "Axis": axis + rank - x.ndim}
    return Equivalent(op, [_extended(x, rank), _extended(indices, rank)], attributes)


def _by_coordinates(op, inputs, attributes, before, shape):
    """GATHER_ND, SCATTER_ND: DirectML's tensors all have the same rank, and attributes specify the used dimensions."""
    arrays = list(map(_array, inputs))
    x, indices = arrays[:2]
    if len({one.ndim for one in arrays}) == 1 and before.get("InputDimensionCount") is not None and before.get(
            "IndicesDimensionCount") is not None:
        return None
    if not indices.ndim:
        raise ValueError(f"{_function_of(op)}: indices has no dimensions; expected coordinates in its last dimension")
    final = tuple(x.shape) if op == "SCATTER_ND" else (
        *indices.shape[:-1], *x.shape[attributes.get("BatchDimensionCount", 0) + indices.shape[-1]:])
    final = final if shape is None else tuple(shape)
    rank = max(len(final), *(one.ndim for one in arrays))
    padded = (1,) * (rank - len(final)) + final
    changed = {} if padded == final else {"shape": padded, "final": final}
    return Equivalent(op, [_extended(one, rank) for one in arrays], attributes, **changed)


def _one_hot(op, inputs, attributes, before, shape):
    """The indices may lack the axis that the result adds, and the values may lack their dimensions of size 1."""
    indices, values = map(_array, inputs)
    rank = indices.ndim if shape is None else len(shape)
    if rank == indices.ndim + 1:
        axis = before["Axis"]
        axis = axis + rank if axis < 0 else axis
        indices = indices.reshape((*indices.shape[:axis], 1, *indices.shape[axis:]))
        attributes = {**attributes, "Axis": axis}
    return Equivalent(op, [indices, _extended(values, indices.ndim)], attributes)


def _resampled(op, inputs, attributes, before, shape):
    """Each size is multiplied by its scale and rounded down."""
    scales = attributes["Scales"]
    if not hasattr(scales, "__len__"):
        return None
    if len(scales) != _ndim_of(inputs[0]):
        raise ValueError(f"{_function_of(op)}: scales has {len(scales)} numbers; expected {_ndim_of(inputs[0])}, one for "
                         "each dimension of input")
    if shape is not None:
        return None
    sizes = tuple(math.floor(size * float(scale)) for size, scale in zip(_array(inputs[0]).shape, scales))
    return Equivalent(op, inputs, attributes, sizes, sizes)


_SPECIAL = {"GEMM": _gemm, "GATHER": _gather, "ONE_HOT": _one_hot,
            **dict.fromkeys(("GATHER_ND", "GATHER_ND1", "SCATTER_ND"), _by_coordinates),
            **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"), _resampled)}
