# SPDX-License-Identifier: MIT
"""Nodes that reduce axes."""
import math
from functools import partial

import numpy as np

from ._rows import Row, axes_of, axis_of, cast, check_choice, dispatch, fill, listed, number, sequence

# The results of reducing no elements, as ONNX defines them. ONNX leaves the mean undefined; it is NaN, as in NumPy.
EMPTY = {"SUM": 0, "L1": 0, "L2": 0, "SUM_SQUARE": 0, "MULTIPLY": 1, "AVERAGE": math.nan, "LOG_SUM": -math.inf,
         "LOG_SUM_EXP": -math.inf}


def reduction(function, uses="REDUCE FILL_VALUE_CONSTANT", kinds=None):
    """A Reduce node. Its axes are an attribute or an input, depending on the opset."""

    def make(node):
        keeps = node.attributes["keepdims"] != 0
        by_attribute = node.attributes.get("axes")
        keeps_all = node.attributes.get("noop_with_empty_axes", 0) != 0

        def compute(x, axes=None):
            axes = by_attribute if axes is None else listed(axes, "axes")
            axes = axes_of(axes, x.ndim) if axes else [] if keeps_all else list(range(x.ndim))
            kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
            final = kept if keeps else [size for axis, size in enumerate(x.shape) if axis not in axes]
            if not axes:  # reduce each element separately
                return _reduce(function, x.reshape(-1, 1), [1], [x.size, 1]).reshape(x.shape)
            return _reduce(function, x, axes, kept).reshape(final)

        return compute

    return Row(make, uses, kinds=kinds)


def _reduce(function, x, axes, shape):
    if math.prod(shape) == 0:
        return np.empty(shape, x.dtype)
    if x.size == 0:
        return fill(_of_nothing(function, x.dtype), shape, x.dtype)
    run = partial(dispatch, "REDUCE", Axes=axes)
    if x.dtype.kind != "f" and function == "AVERAGE":  # the wrapped sum, divided with truncation
        count = x.size // math.prod(shape)
        return dispatch("ELEMENT_WISE_DIVIDE", run(x, Function="SUM"), number(count, x.dtype))
    if x.dtype.kind != "f" and function == "L2":  # the root of the sum modulo 2^64, truncated
        total = run(cast(x, np.dtype("u8")), Function="SUM_SQUARE")
        return cast(dispatch("ELEMENT_WISE_SQRT", cast(total, np.dtype("f8"))), x.dtype)
    return run(x, Function=function)


def _of_nothing(function, dtype):
    if function in EMPTY:
        if dtype.kind != "f" and function == "AVERAGE":
            raise ValueError("the mean of no integers is undefined")
        return EMPTY[function]
    is_max = function == "MAX"
    if dtype.kind == "b":
        return not is_max
    if dtype.kind == "f":
        return -math.inf if is_max else math.inf
    return int(np.iinfo(dtype).min if is_max else np.iinfo(dtype).max)


def extreme_index(name):
    """ArgMax or ArgMin."""

    def make(node):
        keeps = node.attributes["keepdims"] != 0
        direction = "DECREASING" if node.attributes.get("select_last_index") else "INCREASING"

        def compute(x):
            axis = axis_of(node.attributes["axis"], x.ndim)
            if x.shape[axis] == 0:
                raise ValueError(f"axis {axis} has no elements")
            result = dispatch(name, x, Axes=[axis], AxisDirection=direction, dtype=np.int64)
            return result if keeps else result.reshape(*x.shape[:axis], *x.shape[axis + 1:])

        return compute

    return Row(make, name)


def top_k(node):
    """The largest or smallest elements along an axis and their indices, sorted. K is an attribute before opset 10, and
    an input since then. Unsorted results may have any order, so they are also sorted."""
    by_attribute = node.attributes.get("k")
    direction = "DECREASING" if node.attributes.get("largest", 1) else "INCREASING"

    def compute(x, k=None):
        counts = [by_attribute] if k is None else listed(k, "K")
        axis = axis_of(node.attributes["axis"], x.ndim)
        if len(counts) != 1 or not 0 <= counts[0] <= x.shape[axis]:
            raise ValueError(f"K is {counts}, but axis {axis} has {x.shape[axis]} elements")
        shape = (*x.shape[:axis], counts[0], *x.shape[axis + 1:])
        if 0 in shape:
            return np.empty(shape, x.dtype), np.empty(shape, np.int64)
        return dispatch("TOP_K1", x, Axis=axis, K=counts[0], AxisDirection=direction, dtype=(None, np.int64))

    return compute


def global_pool(function):
    """Pools over all axes except the batch and channel axes."""

    def make(_):
        def compute(x):
            if x.ndim < 2:
                raise ValueError(f"the tensor has {x.ndim} dimensions; expected at least a batch and channels")
            shape = [*x.shape[:2], *[1] * (x.ndim - 2)]
            return _reduce(function, x, list(range(2, x.ndim)), shape) if x.ndim > 2 else dispatch(
                "ELEMENT_WISE_IDENTITY", x)

        return compute

    return Row(make, "REDUCE FILL_VALUE_CONSTANT IDENTITY")


def along_rows(name, make_others=None):
    """Softmax, LogSoftmax or Hardmax along an axis or, before opset 13, along that axis and all later axes.
    make_others: used for types that the operator does not accept."""
    def make(node):
        if make_others is not None and node.kinds[0] == "double":
            return make_others(node)

        def compute(x):
            axis = axis_of(node.attributes["axis"], x.ndim)
            if x.size == 0:
                return np.empty_like(x)
            if node.since >= 13:
                return dispatch(f"{name}1", x, Axes=[axis])
            return dispatch(name, x.reshape(math.prod(x.shape[:axis]), -1)).reshape(x.shape)

        return compute

    return make


def scan(name, exclusive):
    """CumSum or CumProd. `exclusive` is the name of the operator's field for that attribute. The axis is an input."""
    def make(node):
        check_choice(node, "exclusive", (0, 1))
        check_choice(node, "reverse", (0, 1))
        options = {exclusive: bool(node.attributes["exclusive"]),
                   "AxisDirection": "DECREASING" if node.attributes["reverse"] else "INCREASING"}

        def compute(x, axis):
            given = listed(axis, "axis")
            if len(given) != 1:
                raise ValueError(f"axis is {given}; expected one number")
            return dispatch(name, x, Axis=axis_of(given[0], x.ndim), **options)

        return compute

    return Row(make, name)


def dynamic_quantize(node):
    def compute(x):
        if x.size == 0:
            raise ValueError(f"x has the shape {list(x.shape)}; expected an element to quantize")
        y, scale, zero_point = dispatch("DYNAMIC_QUANTIZE_LINEAR", x.reshape(-1), dtype=(np.uint8, np.float32, np.uint8))
        return y.reshape(x.shape), scale.reshape(()), zero_point.reshape(())

    return compute


def hardmax_by_index(node):
    """1 at the first maximum along an axis or, before opset 13, along that axis and all later axes; 0 elsewhere."""
    def compute(x):
        axis = axis_of(node.attributes["axis"], x.ndim)
        if x.size == 0:
            return np.empty_like(x)
        rows = x if node.since >= 13 else x.reshape(math.prod(x.shape[:axis]), -1)
        axis = axis if node.since >= 13 else 1
        first = dispatch("ARGMAX", rows, Axes=[axis], AxisDirection="INCREASING", dtype=np.int64)
        positions = sequence(0, 1, rows.shape[axis], np.int64).reshape((-1,) + (1,) * (rows.ndim - axis - 1))
        return cast(dispatch("ELEMENT_WISE_LOGICAL_EQUALS", first, positions), x.dtype).reshape(x.shape)

    return compute
