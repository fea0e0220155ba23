# SPDX-License-Identifier: MIT
"""Nodes that rearrange elements without computing. They return views if strides can express the result, and otherwise
use operators that move elements. Nodes that create tensors from indices are also here.
"""
import math

import numpy as np

from ._rows import (axes_of, axis_of, cast, check_choice, check_minimum, dispatch, dtype_of, fill, listed, number, plain,
                    refuse, sequence, sizes_of, wrong)


def copied(part, x):
    """Copies x into a part of a new tensor."""
    if x.size:
        dispatch("ELEMENT_WISE_IDENTITY", x, out=plain(part))


def reshape(node):
    def compute(x, shape=None):
        shape = node.attributes.get("shape") if shape is None else listed(shape, "shape")
        if shape is None:
            raise ValueError("shape is missing")
        shape = list(shape)
        if any(size < -1 for size in shape):
            raise ValueError(f"shape is {shape}; expected sizes of 0 or more, and at most one -1")
        if not node.attributes.get("allowzero"):
            if any(size == 0 and axis >= x.ndim for axis, size in enumerate(shape)):
                raise ValueError(f"shape is {shape}, but a 0 in it refers to a size that {list(x.shape)} does not have")
            shape = [x.shape[axis] if size == 0 else size for axis, size in enumerate(shape)]
        if -1 in shape:
            known = math.prod(size for size in shape if size != -1)
            if shape.count(-1) > 1 or known == 0 or x.size % known:
                raise ValueError(f"shape is {shape}, but its -1 cannot be inferred from {list(x.shape)}")
            shape = [x.size // known if size == -1 else size for size in shape]
        if math.prod(shape) != x.size:
            raise ValueError(f"shape is {shape}, but the tensor has the shape {list(x.shape)} and {x.size} elements")
        return x.reshape(shape)

    return compute


def squeeze(node):
    def compute(x, axes=None):
        axes = node.attributes.get("axes") if axes is None else listed(axes, "axes")
        axes = [axis for axis in range(x.ndim) if x.shape[axis] == 1] if axes is None else axes_of(axes, x.ndim)
        if any(x.shape[axis] != 1 for axis in axes):
            raise ValueError(f"axes is {axes}, but the tensor has the shape {list(x.shape)}; expected axes of size 1")
        return x.squeeze(tuple(axes))

    return compute


def unsqueeze(node):
    def compute(x, axes=None):
        axes = node.attributes["axes"] if axes is None else listed(axes, "axes")
        shape = list(x.shape)
        for axis in sorted(axes_of(axes, x.ndim + len(axes))):
            shape.insert(axis, 1)
        return x.reshape(shape)

    return compute


def flatten(node):
    def compute(x):
        axis = axis_of(node.attributes["axis"], x.ndim + 1) if node.attributes["axis"] >= 0 else axis_of(
            node.attributes["axis"], x.ndim)
        return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))

    return compute


def transpose(node):
    order = node.attributes["perm"]
    if order is not None and sorted(order) != list(range(len(order))):
        wrong(node, "perm", "each axis exactly once, counted from 0")

    def compute(x):
        if order is not None and len(order) != x.ndim:
            raise ValueError(f"perm is {list(order)}, but the tensor has {x.ndim} dimensions")
        return x.transpose(order)

    return compute


def shape_of(node):
    start, end = node.attributes.get("start") or 0, node.attributes.get("end")
    return lambda x: np.array(x.shape, np.int64)[start:end]


def size_of(_):
    return lambda x: number(x.size, np.int64)


def expand(_):
    def compute(x, shape):
        shape = tuple(sizes_of(shape, "shape"))
        if shape == x.shape:
            return x
        return np.broadcast_to(x, np.broadcast_shapes(x.shape, shape))

    return compute


def sliced(node):
    def compute(x, starts=None, ends=None, axes=None, steps=None):
        given = [node.attributes.get(name) if value is None else listed(value, name) for name, value in (
            ("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps))]
        starts, ends = given[:2]
        if starts is None or ends is None:
            raise ValueError("starts or ends is missing; expected both")
        axes = axes_of(range(len(starts)) if given[2] is None else given[2], x.ndim)
        steps = [1] * len(starts) if given[3] is None else given[3]
        if not len(starts) == len(ends) == len(axes) == len(steps):
            raise ValueError("starts, ends, axes and steps must have the same length")
        if 0 in steps:
            raise ValueError(f"steps is {list(steps)}; expected no step of 0")
        where = [slice(None)] * x.ndim
        for start, end, axis, step in zip(starts, ends, axes, steps):
            lowest = -x.shape[axis] - 1  # below this, a slice with a negative step has no end
            where[axis] = slice(start, end if step > 0 or end >= lowest else None, step)
        return x[tuple(where)]

    return compute


def split(node):
    count = len(node.results)
    if node.attributes.get("num_outputs") not in (None, count):
        wrong(node, "num_outputs", f"{count}, the number of the node's outputs")
    check_minimum(node, "split", 0)

    def compute(x, sizes=None):
        axis = axis_of(node.attributes["axis"] or 0, x.ndim)
        sizes = node.attributes.get("split") if sizes is None else sizes_of(sizes, "split")
        if sizes is None:
            if "num_outputs" not in node.attributes and x.shape[axis] % count:
                raise ValueError(f"axis {axis} has {x.shape[axis]} elements; expected a multiple of {count}")
            part = -(-x.shape[axis] // count)
            sizes = [min(part, max(0, x.shape[axis] - i * part)) for i in range(count)]
        if len(sizes) != count or sum(sizes) != x.shape[axis]:
            raise ValueError(f"split is {list(sizes)}: axis {axis} has {x.shape[axis]} elements for {count} outputs")
        return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))

    return compute


def concat(node):
    def compute(*parts):
        axis = node.attributes["axis"]
        axis = axis_of(1 if axis is None else axis, parts[0].ndim)
        others = {part.shape[:axis] + part.shape[axis + 1:] for part in parts}
        if len(others) != 1 or any(part.ndim != parts[0].ndim for part in parts):
            raise ValueError("the inputs must have the same shape except along the axis, but have "
                             + ", ".join(str(list(part.shape)) for part in parts))
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        if all(type(part) is np.ndarray for part in parts):
            return np.concatenate(parts, axis)
        return dispatch("JOIN", *parts, Axis=axis, shape=tuple(shape), dtype=plain(parts[0]).dtype)

    return compute


_PADDING_MODES = {"constant": "CONSTANT", "reflect": "REFLECTION", "edge": "EDGE", "wrap": "WRAP"}


def pad(node):
    check_choice(node, "mode", tuple(_PADDING_MODES))
    mode = _PADDING_MODES[node.attributes["mode"]]

    def compute(x, pads=None, value=None, axes=None):
        pads = node.attributes.get("pads", node.attributes.get("paddings")) if pads is None else listed(pads, "pads")
        axes = list(range(x.ndim)) if axes is None else axes_of(listed(axes, "axes"), x.ndim)
        if len(pads) != 2 * len(axes):
            raise ValueError(f"pads has {len(pads)} numbers, but {len(axes)} axes need {2 * len(axes)}")
        if value is not None and value.size != 1:
            raise ValueError(f"the value must be one number, but has the shape {list(value.shape)}")
        filler = node.attributes.get("value", 0) if value is None else value.item()
        filler = int(filler) if x.dtype == bool else filler
        before, after = np.zeros((2, x.ndim), int)
        before[axes], after[axes] = pads[:len(axes)], pads[len(axes):]
        if any(size + min(b, 0) + min(a, 0) < 0 for size, b, a in zip(x.shape, before.tolist(), after.tolist())):
            raise ValueError(f"pads is {list(pads)}, which removes more than the tensor of shape {list(x.shape)} has")
        shape = [int(size) for size in x.shape + before + after]
        if 0 in shape:
            return np.empty(shape, x.dtype)
        taken = tuple(slice(max(-b, 0), size + min(a, 0)) for b, a, size in zip(before, after, x.shape))
        return dispatch("PADDING1", x[taken], PaddingMode=mode, PaddingValue=filler, shape=tuple(shape),
                        StartPadding=np.maximum(before, 0).tolist(), EndPadding=np.maximum(after, 0).tolist())

    return compute


def tile(node):
    def compute(x, repeats, axis=None):
        if node.since < 6:  # two numbers: the repeats and the axis
            counts = [1] * x.ndim
            counts[axis_of(int(axis.item()), x.ndim)] = int(repeats.item())
        else:
            counts = listed(repeats, "repeats")
        if len(counts) != x.ndim or min(counts, default=0) < 0:
            raise ValueError(f"repeats is {counts}, but the tensor has {x.ndim} dimensions")
        shape = tuple(size * count for size, count in zip(x.shape, counts))
        return np.empty(shape, x.dtype) if 0 in shape else dispatch("TILE", x, Repeats=counts, shape=shape)

    return compute


def depth_to_space(node):
    block, order = _block(node)

    def compute(x):
        n, c, h, w = _four(x)
        if c % block**2:
            raise ValueError(f"blocksize is {block}, but {c} channels are not a multiple of {block}^2")
        return dispatch("DEPTH_TO_SPACE1", x, BlockSize=block, Order=order,
                        shape=(n, c // block**2, h * block, w * block))

    return compute


def space_to_depth(node):
    block, order = _block(node)

    def compute(x):
        n, c, h, w = _four(x)
        if h % block or w % block:
            raise ValueError(f"blocksize is {block}, but {h} by {w} is not a multiple of it")
        return dispatch("SPACE_TO_DEPTH1", x, BlockSize=block, Order=order,
                        shape=(n, c * block**2, h // block, w // block))

    return compute


def reverse_sequence(node):
    """Reverses the first elements of each sequence of the batch. A length that exceeds the time axis means the whole
    axis."""
    def compute(x, lengths):
        time, batch = (axis_of(node.attributes[name], x.ndim, name) for name in ("time_axis", "batch_axis"))
        if time == batch:
            raise ValueError(f"time_axis and batch_axis are both {time}; expected two axes")
        if lengths.shape != (x.shape[batch],):
            raise ValueError(f"sequence_lens has the shape {list(lengths.shape)}; expected [{x.shape[batch]}], the batch")
        along = cast(lengths, np.dtype("u8")).reshape([-1 if axis == batch else 1 for axis in range(x.ndim)])
        each = np.broadcast_to(along, [1 if axis == time else size for axis, size in enumerate(x.shape)])
        return dispatch("REVERSE_SUBSEQUENCES", x, each, Axis=time, shape=x.shape)

    return compute


def col2im(node):
    check_minimum(node, "dilations", 1)
    check_minimum(node, "strides", 1)
    check_minimum(node, "pads", 0)

    def compute(x, image, block):
        image, block = sizes_of(image, "image_shape"), sizes_of(block, "block_shape")
        count = len(image)
        given = {name: node.attributes[name] for name in ("dilations", "strides", "pads")}
        dilations, strides, pads = (given[name] or [default] * length for name, default, length in (
            ("dilations", 1, count), ("strides", 1, count), ("pads", 0, 2 * count)))
        if not len(block) == len(dilations) == len(strides) == count or len(pads) != 2 * count:
            raise ValueError(f"block_shape, dilations and strides must have {count} numbers, like image_shape, and "
                             f"pads must have {2 * count}")
        if x.ndim != 3 or 0 in block or x.shape[1] % math.prod(block):
            raise ValueError(f"the tensor has the shape {list(x.shape)}; expected three dimensions, with the second "
                             f"a multiple of the block's {math.prod(block)} elements")
        shape = (x.shape[0], x.shape[1] // math.prod(block), *image)
        return dispatch("FOLD", x, WindowSizes=block, Strides=list(strides), Dilations=list(dilations),
                        StartPadding=list(pads[:count]), EndPadding=list(pads[count:]), shape=shape)

    return compute


def _block(node):
    check_minimum(node, "blocksize", 1)
    check_choice(node, "mode", ("DCR", "CRD"))
    order = {"DCR": "DEPTH_COLUMN_ROW", "CRD": "COLUMN_ROW_DEPTH"}[node.attributes.get("mode", "DCR")]
    return node.attributes["blocksize"], order


def _four(x):
    if x.ndim != 4:
        raise ValueError(f"the tensor has {x.ndim} dimensions; expected 4")
    return x.shape


def constant_of_shape(node):
    value = node.attributes["value"]
    value = np.zeros(1, np.float32) if value is None else value
    if value.size != 1:
        raise ValueError(f"{node.label}: value must have one element, but has {value.size}")

    def compute(shape):
        sizes = shape.tolist()
        if shape.ndim != 1 or any(size < 0 for size in sizes):
            raise ValueError(f"the shape must be a list of sizes of 0 or more, but is {sizes}")
        return fill(value.item(), sizes, value.dtype)

    return compute


def ranged(node):
    """start + i * delta. The product and the sum are rounded; float16 is computed in FLOAT32."""
    dtype = dtype_of(node.kinds[0])
    stash = {None: 1}.get(node.attributes.get("stash_type"), node.attributes.get("stash_type"))
    inner = {1: np.dtype("f4"), 11: np.dtype("f8")}.get(stash) if dtype == np.float16 else dtype
    if inner is None:
        refuse(node, f"with stash_type {stash}", "it computes in float or double")

    def compute(start, limit, delta):
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if value.size != 1:
                raise ValueError(f"{name} must be one number, but has the shape {list(value.shape)}")
        start, limit, delta = (value.item() for value in (start, limit, delta))
        if delta == 0 or not all(map(math.isfinite, (start, limit, delta, (limit - start) / delta))):
            raise ValueError(f"a range from {start} to {limit} by {delta} has no end")
        count = -((start - limit) // delta) if dtype.kind == "i" else math.ceil((limit - start) / delta)
        return cast(sequence(start, delta, max(0, count), inner), dtype)

    return compute


def _indices(shape, axis):
    """Returns the indices along an axis, as a tensor that broadcasts to the shape."""
    return sequence(0, 1, shape[axis], np.dtype("i8")).reshape((-1,) + (1,) * (-axis - 1))


def trilu(node):
    name = "ELEMENT_WISE_LOGICAL_" + ("GREATER" if node.attributes["upper"] else "LESS") + "_THAN_OR_EQUAL"

    def compute(x, k=None):
        if x.ndim < 2:
            raise ValueError(f"the tensor has {x.ndim} dimensions; expected 2 or more")
        offset = 0 if k is None else int(k.item())
        diagonal = dispatch("ELEMENT_WISE_ADD", _indices(x.shape, -2), number(offset, np.int64))
        keeps = dispatch(name, _indices(x.shape, -1), diagonal)
        return dispatch("ELEMENT_WISE_IF", keeps, x, number(0, plain(x).dtype))

    return compute


def eye_like(node):
    dtype = dtype_of(node.results[0])

    def compute(x):
        if x.ndim != 2:
            raise ValueError(f"the tensor has {x.ndim} dimensions; expected 2")
        diagonal = dispatch("ELEMENT_WISE_ADD", _indices(x.shape, -2), number(node.attributes["k"], np.int64))
        ones = dispatch("ELEMENT_WISE_LOGICAL_EQUALS", _indices(x.shape, -1), diagonal)
        return ones if dtype == bool else cast(ones, dtype)

    return compute


def bit_cast(node):
    dtype = dtype_of(node.results[0])
    if dtype_of(node.kinds[0]).itemsize != dtype.itemsize:
        raise TypeError(f"{node.label}: {node.kinds[0]} and {node.results[0]} have different sizes")
    return lambda x: np.ascontiguousarray(x).view(dtype).reshape(x.shape)


def dropout(node):
    """Dropout in inference: returns the input unchanged, and a mask that keeps everything."""
    trains = node.attributes.get("is_test", 1) == 0
    if len(node.kinds) > 2 and node.kinds[2]:
        trains = node.fixed[2] is None or bool(node.fixed[2])
    if trains:
        refuse(node, "in training", "anydml has no random numbers")
    masks = [dtype_of(kind) for kind in node.results[1:]]

    def compute(x, *_):
        same = dispatch("ELEMENT_WISE_IDENTITY", x)
        return (same, fill(1, x.shape, masks[0])) if masks else same

    return compute
