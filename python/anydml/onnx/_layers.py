# SPDX-License-Identifier: MIT
"""Layers of networks that reductions and arithmetic can make: pools, which reduce windows."""
import math
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ._rows import (Row, axes_of, cast, check_choice, check_least, dispatch, fill, number, refuse, sizes_of,
                    wrong)
from ._shapes import copied

add, subtract, multiply, divide = (partial(dispatch, f"ELEMENT_WISE_{name}")
                                   for name in ("ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"))


def reduce(x, axes, function):
    """With the axes kept."""
    return dispatch("REDUCE", x, Function=function, Axes=list(axes))


def pool(function, empty, uses):
    def make(node):
        if node.results[1:]:
            refuse(node, "with Indices", "it gives the greatest elements alone")
        if function == "LP" and node.attributes["p"] not in (1, 2):
            refuse(node, f"with p {node.attributes['p']:g}", "p must be 1 or 2")
        _check_pool(node)

        def compute(x):
            windows = _windows(node, x)
            view, kernel = _view(x, windows, empty(x.dtype)), len(windows)
            if 0 in view.shape:
                return np.empty(view.shape[:-kernel], x.dtype)
            axes = range(view.ndim - kernel, view.ndim)
            if function == "AVERAGE":
                result = _average(node, view, axes, windows, x.shape[2:])
            else:
                result = reduce(view, axes, f"L{int(node.attributes['p'])}" if function == "LP" else function)
            return result.reshape(view.shape[:-kernel])

        return compute

    return Row(make, f"REDUCE FILL_VALUE_CONSTANT IDENTITY{uses}")


def _check_pool(node):
    """Before anything is allocated: what follows computes sizes from these."""
    if node.attributes["kernel_shape"] is None:
        wrong(node, "kernel_shape", "the window's sizes")
    for name, least in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 0)):
        check_least(node, name, least)
    check_choice(node, "auto_pad", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    for name in ("ceil_mode", "count_include_pad", "storage_order"):
        check_choice(node, name, (0, 1))
    axes = len(node.attributes["kernel_shape"])
    for name, count in (("strides", axes), ("dilations", axes), ("pads", 2 * axes)):
        if len(node.attributes.get(name) or [0] * count) != count:
            wrong(node, name, f"{count} numbers, since kernel_shape has {axes}")


def _windows(node, x):
    """For each axis of space: the window's size, its step between elements and between windows, the elements that are
    added before and after, and how many windows there are."""
    options, kernel, spatial = node.attributes, node.attributes["kernel_shape"], x.shape[2:]
    strides, dilations = ((options.get(name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    pads = options["pads"] or [0] * 2 * len(kernel)
    if len(kernel) != len(spatial):
        raise ValueError(f"kernel_shape is {list(kernel)}, and the tensor has {x.ndim} dimensions")
    found = []
    for i, size in enumerate(spatial):
        extent, stride = (kernel[i] - 1) * dilations[i] + 1, strides[i]
        before, after = pads[i], pads[i + len(kernel)]
        if options["auto_pad"] in ("SAME_UPPER", "SAME_LOWER"):
            count = -(-size // stride)
            missing = max(0, (count - 1) * stride + extent - size)
            before = missing // 2 if options["auto_pad"] == "SAME_UPPER" else missing - missing // 2
            after = missing - before
        else:
            before, after = (0, 0) if options["auto_pad"] == "VALID" else (before, after)
            free = size + before + after - extent
            if free < 0:
                raise ValueError(f"kernel_shape is {list(kernel)}: a window spans {extent} elements of axis {i + 2}, which "
                                 f"has {size + before + after} with its pads")
            count = (-(-free // stride) if options.get("ceil_mode") else free // stride) + 1
            if options.get("ceil_mode") and (count - 1) * stride >= size + before:
                count -= 1  # one that would begin after the tensor
        found.append((kernel[i], dilations[i], stride, before, after, max(0, count)))
    return found


def _view(x, windows, empty):
    """The windows of each axis, as axes of their own at the end."""
    view = x
    for axis, (kernel, dilation, stride, before, after, count) in enumerate(windows, 2):
        extent = (kernel - 1) * dilation + 1
        end = max(0, (count - 1) * stride + extent - before - view.shape[axis])  # past the last element
        if before or end:
            shape = list(view.shape)
            shape[axis] += before + end
            padded = fill(empty, shape, x.dtype)
            copied(np.moveaxis(padded, axis, 0)[before:shape[axis] - end], np.moveaxis(view, axis, 0))
            view = padded
    for axis, (kernel, dilation, stride, _, _, count) in enumerate(windows, 2):
        extent = (kernel - 1) * dilation + 1
        if not count:
            counts, kernels = ([window[i] for window in windows] for i in (-1, 0))
            return np.empty((*x.shape[:2], *counts, *kernels), x.dtype)
        view = sliding_window_view(view, extent, axis)[..., ::dilation]
        view = np.moveaxis(np.moveaxis(view, axis, 0)[:(count - 1) * stride + 1:stride], 0, axis)
    return view


def _average(node, view, axes, windows, spatial):
    counts = np.ones((), np.int64)  # of elements that count, for each window
    for (kernel, dilation, stride, before, after, count), size in zip(windows, spatial):
        places = np.arange(count)[:, None] * stride + np.arange(kernel) * dilation - before
        includes = node.attributes.get("count_include_pad")
        counts = counts[..., None] * ((places >= (-before if includes else 0)) & (
            places < size + (after if includes else 0))).sum(1)
    if (counts == view.size // math.prod(view.shape[:-len(windows)])).all():
        return reduce(view, axes, "AVERAGE")
    wide = np.dtype("f4") if view.dtype == np.float16 else view.dtype  # so that no sum is too large
    counts = cast(counts.reshape(counts.shape + (1,) * len(windows)), wide)
    return cast(divide(reduce(cast(view, wide), axes, "SUM"), counts), view.dtype)


def least(dtype):
    return -math.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def global_lp_pool(node):
    if node.attributes["p"] not in (1, 2):
        refuse(node, f"with p {node.attributes['p']:g}", "p must be 1 or 2")

    def compute(x):
        if x.ndim < 3 or x.size == 0:
            raise ValueError(f"the tensor has the shape {list(x.shape)}, and nothing to pool")
        return reduce(x, range(2, x.ndim), f"L{int(node.attributes['p'])}")

    return compute


def crop_checks(node):
    """Of CenterCropPad."""
    def check(x, shape):
        axes = node.attributes["axes"]
        axes = list(range(x.ndim)) if axes is None else axes_of(axes, x.ndim)
        sizes = sizes_of(shape, "shape")
        if len(sizes) != len(axes):
            raise ValueError(f"shape has {len(sizes)} numbers, and {len(axes)} axes need one each")

    return check
