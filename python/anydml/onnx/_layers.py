# SPDX-License-Identifier: MIT
"""Network layers: pooling."""
from functools import partial

import numpy as np

from ._rows import Row, axes_of, cast, check_choice, check_minimum, dispatch, number, refuse, sizes_of, wrong

add, subtract, multiply, divide = (partial(dispatch, f"ELEMENT_WISE_{name}")
                                   for name in ("ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"))


def reduce(x, axes, function):
    """Reduces axes, which stay with size 1."""
    return dispatch("REDUCE", x, Function=function, Axes=list(axes))


def pool(function):
    """AVERAGE, LP or MAX pooling."""
    def make(node):
        has_indices = len(node.results) > 1
        if has_indices and node.attributes.get("storage_order"):
            refuse(node, "with Indices and storage_order 1", "its indices count rows")
        power = _power(node) if function == "LP" else 0
        _check_pool(node)

        def compute(x):
            windows, counts_padding = _windows(node, x), 0
            if node.attributes.get("count_include_pad"):
                x, windows, counts_padding = _with_padding(x, windows)
            more = {"AVERAGE": {"IncludePadding": counts_padding}, "LP": {"P": power}, "MAX": {}}[function]
            kernel, dilations, strides, before, _, counts = map(list, zip(*windows))
            shape = (*x.shape[:2], *counts)
            if 0 in shape:
                empty = np.empty(shape, x.dtype)
                return (empty, np.empty(shape, np.int64)) if has_indices else empty
            dilates = any(one > 1 for one in dilations)
            name = f"{function}_POOLING" + ("" if not dilates and not has_indices else "2" if function == "MAX" else "1")
            options = {"WindowSize": kernel, "Strides": strides, "StartPadding": before, "EndPadding": _ends(x, windows),
                       **({"Dilations": dilations} if name[-1].isdigit() else {}), **more}
            if has_indices:
                return dispatch(name, x, **options, out=(None, True), dtype=(None, np.int64))
            result = dispatch(name, x, **options)
            return result[0] if isinstance(result, tuple) else result

        return compute

    versions = (f"{function}_POOLING", f"{function}_POOLING{'2' if function == 'MAX' else '1'}")
    return Row(make, " ".join((*versions, *(["PADDING1"] if function == "AVERAGE" else []))))


def _power(node):
    p = node.attributes["p"]
    if p != int(p) or not 1 <= p < 2**32:
        refuse(node, f"with p {p:g}", "p must be a positive integer")
    if p > 2 and node.kinds[0] == "double":
        refuse(node, f"of double with p {p:g}", "p must be 1 or 2")
    return int(p)


def _ends(x, windows):
    """Returns the padding that the windows reach after the last element, which is 0 if they end before it."""
    return [max(0, (count - 1) * stride + (kernel - 1) * dilation + 1 - before - size)
            for (kernel, dilation, stride, before, _, count), size in zip(windows, x.shape[2:])]


def _with_padding(x, windows):
    """Prepares averages that include padding. If a window extends beyond the padding, as with ceil_mode, the positions
    there do not count; in that case the padding is turned into elements."""
    if all(end <= window[4] for end, window in zip(_ends(x, windows), windows)):
        return x, windows, 1
    before, after = ([0, 0, *(window[i] for window in windows)] for i in (3, 4))
    padded = dispatch("PADDING1", x, PaddingMode="CONSTANT", PaddingValue=0, StartPadding=before, EndPadding=after,
                      shape=tuple(size + b + a for size, b, a in zip(x.shape, before, after)))
    return padded, [(*window[:3], 0, 0, window[5]) for window in windows], 0


def max_unpool(node):
    _check_pool(node)

    def compute(x, indices, output_shape=None):
        options, kernel = node.attributes, node.attributes["kernel_shape"]
        strides, pads = options["strides"] or [1] * len(kernel), options["pads"] or [0] * 2 * len(kernel)
        if len(kernel) != x.ndim - 2 or x.shape != indices.shape:
            raise ValueError(f"kernel_shape is {list(kernel)}, the tensor has the sizes {list(x.shape)} and the indices "
                             f"{list(indices.shape)}; expected the same sizes, and a number for each spatial axis")
        space = [(size - 1) * stride + k - before - after for size, stride, k, before, after in zip(
            x.shape[2:], strides, kernel, pads, pads[len(kernel):])]
        shape = (*x.shape[:2], *space)
        wanted = shape if output_shape is None else tuple(sizes_of(output_shape, "output_shape"))
        if min(shape) < 0 or len(wanted) != len(shape) or any(a < b for a, b in zip(wanted, shape)):
            raise ValueError(f"output_shape is {list(wanted)}; expected {len(shape)} sizes, at least {list(shape)}")
        result = dispatch("MAX_UNPOOLING", x, indices, shape=shape) if 0 not in shape else np.empty(shape, x.dtype)
        if wanted == shape:
            return result
        # Indices count the elements of the smaller tensor, which becomes the leading part of the larger tensor.
        return dispatch("PADDING1", result, PaddingMode="CONSTANT", PaddingValue=0, StartPadding=[0] * len(shape),
                        EndPadding=[a - b for a, b in zip(wanted, shape)], shape=wanted)

    return compute


def _check_pool(node):
    """Checks the attributes before anything is allocated, because sizes are computed from them."""
    if node.attributes["kernel_shape"] is None:
        wrong(node, "kernel_shape", "the window's sizes")
    for name, lowest in (("kernel_shape", 1), ("strides", 1), ("dilations", 1), ("pads", 0)):
        check_minimum(node, name, lowest)
    check_choice(node, "auto_pad", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    for name in ("ceil_mode", "count_include_pad", "storage_order"):
        check_choice(node, name, (0, 1))
    axes = len(node.attributes["kernel_shape"])
    for name, count in (("strides", axes), ("dilations", axes), ("pads", 2 * axes)):
        if len(node.attributes.get(name) or [0] * count) != count:
            wrong(node, name, f"{count} numbers, since kernel_shape has {axes}")


def _windows(node, x):
    """Returns, for each spatial axis: the window's size, its dilation and stride, the padding before and after, and the
    number of windows."""
    options, kernel, spatial = node.attributes, node.attributes["kernel_shape"], x.shape[2:]
    strides, dilations = ((options.get(name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    pads = options["pads"] or [0] * 2 * len(kernel)
    if len(kernel) != len(spatial):
        raise ValueError(f"kernel_shape is {list(kernel)}, but the tensor has {x.ndim} dimensions")
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
                                 f"has {size + before + after} including its pads")
            count = (-(-free // stride) if options.get("ceil_mode") else free // stride) + 1
            if options.get("ceil_mode") and (count - 1) * stride >= size + before:
                count -= 1  # drop a window that would begin after the tensor
        found.append((kernel[i], dilations[i], stride, before, after, max(0, count)))
    return found


def global_lp_pool(node):
    p = _power(node)

    def compute(x):
        if x.ndim < 3 or x.size == 0:
            raise ValueError(f"the tensor has the shape {list(x.shape)}, so there is nothing to pool")
        axes = x.ndim - 2
        return dispatch("LP_POOLING", x, WindowSize=list(x.shape[2:]), Strides=[1] * axes, StartPadding=[0] * axes,
                        EndPadding=[0] * axes, P=p)

    return compute


def crop_checks(node):
    """Returns the checks for CenterCropPad."""
    def check(x, shape):
        axes = node.attributes["axes"]
        axes = list(range(x.ndim)) if axes is None else axes_of(axes, x.ndim)
        sizes = sizes_of(shape, "shape")
        if len(sizes) != len(axes):
            raise ValueError(f"shape has {len(sizes)} numbers, but {len(axes)} axes need one each")

    return check
