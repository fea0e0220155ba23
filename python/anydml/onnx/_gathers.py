# SPDX-License-Identifier: MIT
"""Nodes whose indices come from data: gathers, scatters, OneHot, NonZero and Compress."""
import numpy as np

from ._rows import FEW, MAX_DIMENSIONS, axis_of, cast, check_minimum, dispatch, refuse


def _lead(array, dimensions):
    """Adds leading dimensions of size 1, because DirectML requires all tensors of an operator to have the same rank."""
    return array.reshape((1,) * (dimensions - array.ndim) + tuple(array.shape))


def _check_fixed(node, position, sizes):
    """Checks that constant indices are in range. sizes: the size of the indexed dimension, or the sizes of all
    dimensions that have coordinates."""
    indices = node.fixed[position]
    if indices is not None and np.any((indices >= sizes) | (indices < -np.asarray(sizes))):
        raise ValueError(f"an index is out of range for {' by '.join(map(str, np.atleast_1d(sizes)))} elements")


def _taken(x, indices, axis):
    """Returns the slices of x along an axis that the indices select."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])
    if 0 in shape:
        return np.empty(shape, x.dtype)
    if x.shape[axis] == 0:
        raise ValueError(f"axis {axis} has no elements, but the indices have the shape {list(indices.shape)}")
    if type(x) is np.ndarray and type(indices) is np.ndarray and max(x.size, indices.size) <= FEW and x.ndim <= MAX_DIMENSIONS:
        size = x.shape[axis]
        positions = [min(max(position + size if position < 0 else position, 0), size - 1) for position in indices.reshape(-1).tolist()]
        return x.take(positions, axis).reshape(shape)
    dimensions = max(len(shape), x.ndim)
    return dispatch("GATHER", _lead(x, dimensions), _lead(indices, dimensions), Axis=axis + dimensions - x.ndim,
                    IndexDimensions=indices.ndim, shape=(1,) * (dimensions - len(shape)) + shape).reshape(shape)


def gather(node):
    """Returns a view if there is a single index and its value is known."""
    checked = set()  # sizes for which all fixed indices are in range

    def compute(x, indices):
        axis = axis_of(node.attributes["axis"], x.ndim)
        size = x.shape[axis]
        if size not in checked:
            _check_fixed(node, 1, size)
            checked.add(size)
        if indices.ndim == 0 and isinstance(indices, np.ndarray) and size:
            index = int(indices)
            return x[(*(slice(None),) * axis, min(max(index + size if index < 0 else index, 0), size - 1), ...)]
        return _taken(x, indices, axis)

    return compute


def check_other_axes(x, indices, axis):
    if indices.ndim != x.ndim or any(few > size for position, (few, size) in enumerate(zip(indices.shape, x.shape))
                                     if position != axis):
        raise ValueError(f"the indices have the shape {list(indices.shape)}, but the tensor has {list(x.shape)}; "
                         "expected no larger sizes except along the axis")


def _beside(shape, axis):
    """Returns an index that selects the elements that indices of this shape can address."""
    return tuple(slice(None) if position == axis else slice(0, size) for position, size in enumerate(shape))


def gather_elements(node):
    def compute(x, indices):
        axis = axis_of(node.attributes["axis"], x.ndim)
        check_other_axes(x, indices, axis)
        _check_fixed(node, 1, x.shape[axis])
        if indices.size == 0:
            return np.empty(indices.shape, x.dtype)
        return dispatch("GATHER_ELEMENTS", x[_beside(indices.shape, axis)], indices, Axis=axis, shape=tuple(indices.shape))

    return compute


def check_coordinates(x, indices, batch):
    """Checks the shapes, and returns how many coordinates each item has."""
    if indices.ndim == 0 or not batch < min(x.ndim, indices.ndim) or x.shape[:batch] != indices.shape[:batch]:
        raise ValueError(f"the indices have the shape {list(indices.shape)}, but the tensor has {list(x.shape)}; "
                         f"expected {batch} equal batch sizes, followed by coordinates")
    count = indices.shape[-1]
    if not 1 <= count <= x.ndim - batch:
        raise ValueError(f"the indices have the shape {list(indices.shape)}, but the tensor has {list(x.shape)}; "
                         f"expected 1 to {x.ndim - batch} coordinates")
    return count


def gather_nd(node):
    check_minimum(node, "batch_dims", 0)
    batch = node.attributes.get("batch_dims") or 0

    def compute(x, indices):
        count = check_coordinates(x, indices, batch)
        _check_fixed(node, 1, x.shape[batch:batch + count])
        shape = (*indices.shape[:-1], *x.shape[batch + count:])
        if 0 in shape:
            return np.empty(shape, x.dtype)
        dimensions = max(x.ndim, indices.ndim, len(shape))
        return dispatch("GATHER_ND1", _lead(x, dimensions), _lead(indices, dimensions), InputDimensionCount=x.ndim,
                        IndicesDimensionCount=indices.ndim, BatchDimensionCount=batch,
                        shape=(1,) * (dimensions - len(shape)) + shape).reshape(shape)

    return compute


def _refuse_reduction(node):
    reduction = node.attributes.get("reduction")
    if reduction not in (None, "none"):
        refuse(node, f"with reduction {reduction}", "DirectML's scatters replace elements")


def scatter_elements(node):
    _refuse_reduction(node)

    def compute(x, indices, updates):
        axis = axis_of(node.attributes["axis"], x.ndim)
        check_other_axes(x, indices, axis)
        _check_fixed(node, 1, x.shape[axis])
        if updates.shape != indices.shape:
            raise ValueError(f"the updates have the shape {list(updates.shape)}, but the indices have "
                             f"{list(indices.shape)}")
        if indices.size == 0:
            return dispatch("ELEMENT_WISE_IDENTITY", x) if x.size else x
        part = _beside(indices.shape, axis)
        if all(few == size for position, (few, size) in enumerate(zip(indices.shape, x.shape)) if position != axis):
            return dispatch("SCATTER_ELEMENTS", x, indices, updates, Axis=axis)
        result = dispatch("ELEMENT_WISE_IDENTITY", x)
        dispatch("SCATTER_ELEMENTS", x[part], indices, updates, Axis=axis, out=result[part])
        return result

    return compute


def scatter_nd(node):
    _refuse_reduction(node)

    def compute(x, indices, updates):
        count = check_coordinates(x, indices, 0)
        _check_fixed(node, 1, x.shape[:count])
        expected = (*indices.shape[:-1], *x.shape[count:])
        if tuple(updates.shape) != expected:
            raise ValueError(f"the updates have the shape {list(updates.shape)}; expected {list(expected)}")
        if updates.size == 0 or x.size == 0:
            return dispatch("ELEMENT_WISE_IDENTITY", x) if x.size else x
        dimensions = max(x.ndim, indices.ndim, updates.ndim)
        tensors = (_lead(one, dimensions) for one in (x, indices, updates))
        return dispatch("SCATTER_ND", *tensors, InputDimensionCount=x.ndim,
                        IndicesDimensionCount=indices.ndim).reshape(x.shape)

    return compute


def one_hot(node):
    """The result is the second value where the position along the new axis equals the index, and the first elsewhere. A
    negative index counts from the end. An index out of range matches no position."""
    def compute(indices, depth, values):
        if depth.size != 1 or values.shape != (2,):
            raise ValueError("depth must be one number, and values must be two")
        if not 1 <= depth.item() < 2**63:
            raise ValueError(f"depth is {depth.item()}; expected a number of 1 or more")
        axis = axis_of(node.attributes["axis"], indices.ndim + 1)
        whole = indices if indices.dtype.name in ("int32", "int64", "uint32", "uint64") else cast(indices, np.dtype("i8"))
        shape = (*indices.shape[:axis], int(depth.item()), *indices.shape[axis:])
        if 0 in shape:
            return np.empty(shape, values.dtype)
        return dispatch("ONE_HOT", whole.reshape((*shape[:axis], 1, *shape[axis + 1:])), _lead(values, len(shape)),
                        Axis=axis, shape=shape)

    return compute


def _found(x):
    """Returns the coordinates of the nonzero elements, one row each. Their number is unknown until they are
    computed."""
    if x.size == 0:
        return np.empty((0, x.ndim), np.uint32)
    count, rows = dispatch("NONZERO_COORDINATES", x)
    return rows.reshape((x.size, x.ndim))[:int(count.item())]


def nonzero(_):
    def compute(x):
        if x.ndim == 0:
            return np.empty((0, len(_found(x.reshape(1)))), np.int64)
        return cast(_found(x).transpose(), np.dtype("i8"))

    return compute


def compress(node):
    def compute(x, condition):
        if condition.ndim != 1:
            raise ValueError(f"the condition must be a list, but has the shape {list(condition.shape)}")
        axis = node.attributes.get("axis")
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))
        return _taken(x, _found(condition[:x.shape[axis]]).reshape(-1), axis)

    return compute
