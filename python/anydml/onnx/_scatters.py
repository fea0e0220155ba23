# SPDX-License-Identifier: MIT
"""Scatters with a reduction, on the host: the updates are applied one after another, in the order of the indices."""
import numpy as np

from ._gathers import check_coordinates, check_other_axes
from ._rows import axis_of, check_choice

_BY = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _reduction(node):
    check_choice(node, "reduction", tuple(_BY))
    return _BY[node.attributes["reduction"]]


def _scattered(x, where, updates, within, reduce):
    """Scatters into a copy. Items whose index is out of range are skipped."""
    result = np.array(x)
    if not within.all():
        where = tuple(np.broadcast_to(one, within.shape)[within] for one in where)
        updates = np.broadcast_to(updates, within.shape + updates.shape[within.ndim:])[within]
    reduce.at(result, where, updates)
    return result


def scatter_elements(node):
    reduce = _reduction(node)

    def compute(x, indices, updates):
        axis = axis_of(node.attributes["axis"], x.ndim)
        check_other_axes(x, indices, axis)
        if updates.shape != indices.shape:
            raise ValueError(f"the updates have the shape {list(updates.shape)}, but the indices have "
                             f"{list(indices.shape)}")
        size = x.shape[axis]
        line = _line(indices) if updates.ndim == x.ndim == 2 and axis == 0 else None
        if line is not None and len(line) and -size <= line.min() and line.max() < size:
            return _rows_scattered(x, np.where(line < 0, line + size, line), updates, reduce)
        within = (indices >= -size) & (indices < size)
        where = list(np.ogrid[tuple(slice(0, few) for few in indices.shape)])
        where[axis] = np.where(indices < 0, indices + size, indices)
        return _scattered(x, tuple(where), updates, within, reduce)

    return compute


def _line(indices):
    """Returns row indices if they are the same in every column, as in a sum over neighbors in a graph, or else None."""
    return indices[:, 0] if indices.shape[1] and (indices == indices[:, :1]).all() else None


def _rows_scattered(x, line, updates, reduce):
    """Scatters rows as one list of elements. NumPy does this many times faster than row by row."""
    result = np.array(x, order="C")
    columns, used = x.shape[1], updates.shape[1]
    positions = line[:, None] * columns + np.arange(used)
    reduce.at(result.reshape(-1), positions.reshape(-1), np.ascontiguousarray(updates).reshape(-1))
    return result


def scatter_nd(node):
    reduce = _reduction(node)

    def compute(x, indices, updates):
        count = check_coordinates(x, indices, 0)
        expected = (*indices.shape[:-1], *x.shape[count:])
        if tuple(updates.shape) != expected:
            raise ValueError(f"the updates have the shape {list(updates.shape)}; expected {list(expected)}")
        sizes = np.array(x.shape[:count])
        within = ((indices >= -sizes) & (indices < sizes)).all(-1)
        positions = np.where(indices < 0, indices + sizes, indices)
        return _scattered(x, tuple(np.moveaxis(positions, -1, 0)), updates, within, reduce)

    return compute
