# SPDX-License-Identifier: MIT
"""Assignment to elements of Symbols: y[0] = x, y[mask] = 0, y += x.

Values in a graph never change. An assignment creates a new value for the whole storage, and every view of the storage
reads the new value from then on, as NumPy's views do. NumPy itself performs the assignment on an array of element
indices, so every kind of index, repeated indices and broadcasting mean the same as in NumPy.
"""
import math

import numpy as np

from ._indices import gather
from ._recorded_ufuncs import where as choose
from ._symbols import FUNCTIONS, Symbol, plain

_UNKNOWN = ("an index of an assignment is a value that is only known when the graph runs; use anydml.scatter_elements, or "
            "numpy.where for a mask")


def assign(symbol, where, value):
    """symbol[where] = value"""
    symbol._own("assigned to")
    value = value if type(value) is Symbol else symbol._recorder.known(_as_array(value, symbol.dtype))
    parts = where if isinstance(where, tuple) else (where,)
    if any(type(one) is Symbol for one in parts):
        return _assign_by_mask(symbol, parts, value)
    whole = symbol._stand_in.flags.c_contiguous and symbol._stand_in.nbytes == symbol._storage.bytes
    if whole and len(parts) == 1 and parts[0] is Ellipsis:
        value = np.broadcast_to(_without_leading(value, symbol.ndim), symbol.shape)
        return symbol._become(value.astype(symbol.dtype, copy=False))
    value = value.astype(symbol.dtype, copy=False)
    axis = _only_axis(symbol, parts) if whole else None
    return _join(symbol, axis, parts, value) if axis is not None else _merge(symbol, where, value)


def _as_array(value, kind):
    """Converts a number or an array to a type. Numbers that do not fit raise NumPy's errors."""
    result = np.empty(np.shape(value), kind)
    result[...] = value
    return result


def _without_leading(value, rank):
    """Removes leading dimensions of size 1 that the target does not have. NumPy also ignores these in an assignment."""
    while value.ndim > rank and value.shape[0] == 1:
        value = value.reshape(value.shape[1:])
    return value


def _assign_by_mask(symbol, parts, value):
    mask = parts[0]
    if len(parts) != 1 or mask.dtype != bool:
        raise TypeError(_UNKNOWN)
    if mask.shape != symbol.shape[:mask.ndim]:
        raise IndexError(f"a mask has the shape {mask.shape}, but the value has the shape {symbol.shape}")
    if value.size != 1:
        raise TypeError(f"an assignment through a mask takes one number, but the value has the shape {value.shape}; "
                        "use numpy.where(mask, a, b)")
    mask = np.broadcast_to(mask.reshape(mask.shape + (1,) * (symbol.ndim - mask.ndim)), symbol.shape)
    symbol[...] = choose(mask, value.reshape(()).astype(symbol.dtype, copy=False), symbol)


def _only_axis(symbol, parts):
    """Returns the axis if an index restricts a single axis with an integer or a slice of step 1, otherwise None."""
    found = None
    for axis, part in enumerate(parts):
        if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)) or axis >= symbol.ndim or not (
                isinstance(part, (int, np.integer, slice))):
            return None
        if isinstance(part, slice) and part.indices(symbol.shape[axis]) == (0, symbol.shape[axis], 1):
            continue
        if found is not None or (isinstance(part, slice) and part.indices(symbol.shape[axis])[2] != 1):
            return None
        found = axis
    return found


def _join(symbol, axis, parts, value):
    """Concatenates the elements before the assigned range, the new elements, and the elements after it."""
    part, size = parts[axis], symbol.shape[axis]
    target = symbol._stand_in[parts]  # raises NumPy's error for an index out of range
    first = range(size)[part].start if isinstance(part, slice) else int(part) % size
    count = len(range(size)[part]) if isinstance(part, slice) else 1
    if not target.size:
        np.broadcast_to(_without_leading(value, target.ndim), target.shape)
        return
    shape = [count if i == axis else one for i, one in enumerate(symbol.shape)]
    new = np.broadcast_to(_without_leading(value, target.ndim), target.shape).reshape(shape)
    before = (slice(None),) * axis
    parts = [symbol[(*before, slice(None, first))], new, symbol[(*before, slice(first + count, None))]]
    symbol._become(np.concatenate([one for one in parts if one.shape[axis]], axis))


def _merge(symbol, where, value):
    """Gathers each element from either the old or the new values."""
    item = symbol.dtype.itemsize
    count, size = symbol._storage.bytes // item, math.prod(value.shape)
    numbers = np.arange(count)
    offset = symbol._stand_in.__array_interface__["data"][0] - symbol._start
    seen = np.ndarray(symbol.shape, numbers.dtype, numbers, offset // item * numbers.itemsize,
                      [step // item * numbers.itemsize for step in symbol._stand_in.strides])
    seen[where] = np.arange(count, count + size).reshape(value.shape)
    recorder = symbol._recorder
    old = Symbol(recorder, symbol._storage, symbol._start, recorder.stand_in_at(symbol._start, count, plain(symbol).dtype))
    symbol._become(gather(np.concatenate([old, plain(value).reshape(-1)]), numbers, 0))


FUNCTIONS[Symbol.__setitem__] = assign
