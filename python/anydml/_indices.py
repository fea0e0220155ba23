# SPDX-License-Identifier: MIT
"""Indexes Symbols with arrays of indices.

Indices that are known while a graph is recorded are checked as in NumPy. The values of other indices are known only
when the graph runs. An index out of range then reads the nearest element, as docs/numerics.md defines for GATHER.
"""
import math
import operator

import numpy as np

from ._symbols import FUNCTIONS, Symbol, plain, record

_NO_MASK = ("a mask selects a number of elements that is not known before the graph runs: numpy.where(mask, x, 0) chooses "
            "between elements")


def _indices(part, size):
    """Returns integers that GATHER accepts; known negative indices are converted to count from the start."""
    if isinstance(part, (bool, np.bool_)):
        raise TypeError(f"an index is of type bool; {_NO_MASK}")
    array = part if type(part) is Symbol else np.asarray(part)
    if array.dtype == bool:
        raise TypeError(f"an index is an array of bool; {_NO_MASK}")
    if type(array) is not Symbol and array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise IndexError(f"an index is an array of {array.dtype}; expected integers")
    if type(array) is Symbol:
        return array if array.dtype.itemsize >= 4 else array.astype(np.int32)
    wrong = array[(array < -size) | (array >= size)]
    if wrong.size:
        raise IndexError(f"index {wrong.flat[0]} is out of bounds for a dimension of size {size}")
    array = array.astype(np.int64)
    return np.where(array < 0, array + size, array)


def gather(x, indices, axis):
    """Gathers along an axis. In the result, the dimensions of the indices replace that axis."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])
    if math.prod(shape) == 0 or math.prod(x.shape) == 0:
        if math.prod(shape):
            raise IndexError("cannot do a non-empty take from an empty axes.")
        return x._recorder.known(np.zeros(shape, x.dtype))
    rows = plain(x).reshape(math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1:]))
    flat = indices.reshape(1, 1, -1)
    result = record("GATHER", (rows, flat), None, None, None, None, {"Axis": 1, "IndexDimensions": 1})
    return result.reshape(shape).view(x.dtype)


def _axis_of(axis, array):
    """Counts an axis from the start, or raises NumPy's error for an axis that the array does not have."""
    axis = operator.index(axis)
    if not -array.ndim <= axis < array.ndim:
        raise getattr(np, "exceptions", np).AxisError(axis, array.ndim)
    return axis % array.ndim


def take(a, indices, axis=None, out=None, mode="raise"):
    """numpy.take."""
    if out is not None or mode != "raise":
        raise TypeError("numpy.take: out and mode cannot be given in a graph")
    if type(a) is not Symbol:
        a = indices._recorder.known(np.asarray(a))
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = _axis_of(axis, a)
    return gather(a, _indices(indices, a.shape[axis]), axis)


def take_along_axis(arr, indices, axis=-1):
    """numpy.take_along_axis."""
    if type(arr) is not Symbol:
        arr = indices._recorder.known(np.asarray(arr))
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = _axis_of(axis, arr)
    indices = _indices(indices, arr.shape[axis])
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    shape = np.broadcast_shapes(*(tuple(1 if i == axis else size for i, size in enumerate(one.shape))
                                  for one in (arr, indices)))
    wide = [np.broadcast_to(one, [one.shape[axis] if i == axis else size for i, size in enumerate(shape)])
            for one in (arr, indices)]
    result = record("GATHER_ELEMENTS", (plain(wide[0]), wide[1]), None, None, None, None, {"Axis": axis})
    return result.view(arr.dtype)


def select(x, where):
    """Returns x[where] for an index that contains an array, like NumPy's advanced indexing."""
    parts = []
    for part in where:
        if part is Ellipsis:
            parts += [slice(None)] * (x.ndim - sum(one is not None and one is not Ellipsis for one in where))
        else:
            parts.append(part)
    parts += [slice(None)] * (x.ndim - sum(one is not None for one in parts))
    if sum(one is not None for one in parts) > x.ndim:
        raise IndexError(f"too many indices: the value has {x.ndim} dimensions")
    is_advanced = [part is not None and not isinstance(part, slice) for part in parts]
    positions = [i for i, one in enumerate(is_advanced) if one]
    are_together = positions[-1] - positions[0] == len(positions) - 1
    # The parts that produce views are applied first, with full slices in place of the arrays.
    x = x[tuple(slice(None) if advanced else part for part, advanced in zip(parts, is_advanced))]
    indices = [_indices(parts[i], x.shape[i]) for i in positions]
    if not are_together:  # NumPy then puts the dimensions of the indices first
        x = np.moveaxis(x, positions, range(len(positions)))
        positions = list(range(len(positions)))
    axis, sizes = positions[0], [x.shape[i] for i in positions]
    joined = indices[0] if len(indices) == 1 else _joined(indices, sizes)
    x = x.reshape(*x.shape[:axis], math.prod(sizes), *x.shape[axis + len(sizes):])
    return gather(x, joined, axis)


def _joined(indices, sizes):
    """Combines the indices for several dimensions into one index for the flattened dimensions."""
    total = None
    for index, size in zip(indices, sizes):
        if type(index) is Symbol:
            index = index.astype(np.int64)
            index = np.where(index < 0, index + size, index).clip(0, max(size - 1, 0))
        total = index if total is None else total * size + index
    return total


FUNCTIONS.update({Symbol.__getitem__: select, np.take: take, np.take_along_axis: take_along_axis})
