# SPDX-License-Identifier: MIT
"""Scatters with a reduction, on the host: the updates are taken one after the other, in the order of the indices."""
import numpy as np

from ._gathers import check_coordinates, check_other_axes
from ._rows import axis_of, check_choice

_BY = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _reduction(node):
    check_choice(node, "reduction", tuple(_BY))
    return _BY[node.attributes["reduction"]]


def _scattered(x, where, updates, within, reduce):
    """Into a copy; an item whose index is out of range is skipped."""
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
            raise ValueError(f"the updates have the shape {list(updates.shape)}, and the indices have {list(indices.shape)}")
        size = x.shape[axis]
        within = (indices >= -size) & (indices < size)
        places = np.where(indices < 0, indices + size, indices)
        line = _line(places, axis)
        if line is not None and within.all():  # whole rows go together, as in a sum over the neighbours of a graph
            result = np.moveaxis(np.array(x), axis, 0)
            part = tuple(slice(0, few) for place, few in enumerate(indices.shape) if place != axis)
            reduce.at(result, (line, *part), np.moveaxis(updates, axis, 0))
            return np.ascontiguousarray(np.moveaxis(result, 0, axis))
        where = list(np.ogrid[tuple(slice(0, few) for few in indices.shape)])
        where[axis] = places
        return _scattered(x, tuple(where), updates, within, reduce)

    return compute


def _line(places, axis):
    """The indices along the axis, where they are the same for all other axes, as Expand makes them."""
    if all(step == 0 or size == 1 for at, (size, step) in enumerate(zip(places.shape, places.strides)) if at != axis):
        return places[tuple(slice(None) if at == axis else 0 for at in range(places.ndim))]
    moved = np.moveaxis(places, axis, 0).reshape(places.shape[axis], -1)
    return moved[:, 0] if moved.shape[1] and (moved == moved[:, :1]).all() else None


def scatter_nd(node):
    reduce = _reduction(node)

    def compute(x, indices, updates):
        count = check_coordinates(x, indices, 0)
        expected = (*indices.shape[:-1], *x.shape[count:])
        if tuple(updates.shape) != expected:
            raise ValueError(f"the updates have the shape {list(updates.shape)}; expected {list(expected)}")
        sizes = np.array(x.shape[:count])
        within = ((indices >= -sizes) & (indices < sizes)).all(-1)
        places = np.where(indices < 0, indices + sizes, indices)
        return _scattered(x, tuple(np.moveaxis(places, -1, 0)), updates, within, reduce)

    return compute
