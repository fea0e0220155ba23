# SPDX-License-Identifier: MIT
"""GridSample on the host: reads elements, or weighted means of neighboring elements, at the positions in the grid."""
import itertools

import numpy as np

from ._rows import check_choice

_CUBIC = -0.75  # the coefficient of Keys' kernel in ONNX


def grid_sample(node):
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(node.attributes["mode"], node.attributes["mode"])
    check_choice(node, "mode", ("linear", "nearest", "cubic", "bilinear", "bicubic"))
    check_choice(node, "padding_mode", ("zeros", "border", "reflection"))
    padding, aligned = node.attributes["padding_mode"], bool(node.attributes["align_corners"])

    def compute(x, grid):
        axes = x.ndim - 2
        if grid.ndim != x.ndim or grid.shape[-1] != axes or grid.shape[0] != x.shape[0]:
            raise ValueError(f"X has the shape {list(x.shape)} and grid {list(grid.shape)}; expected equally many "
                             f"images, and {axes} coordinates")
        kind = np.float64 if x.dtype == np.float64 else np.float32
        sizes = x.shape[2:]
        positions = []
        for axis, size in enumerate(sizes):  # the last coordinate of the grid belongs to the first axis
            at = grid[..., axes - 1 - axis].reshape(grid.shape[0], -1).astype(kind)
            at = (at + 1) / 2 * (size - 1) if aligned else ((at + 1) * size - 1) / 2
            if mode == "cubic":  # a position near the edge stays; its neighbors are clamped to the image
                low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
                is_far = ((at < low) | (at > high)) & (padding == "border")
                positions.append(np.where(is_far, np.clip(at, 0, size - 1), at))
            else:
                positions.append(_inside(at, size, padding, aligned))
        result = np.stack([_sampled(one.reshape(one.shape[0], -1).astype(kind), [at[i] for at in positions], sizes, mode, padding,
                                  aligned) for i, one in enumerate(x)])
        return result.reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype)

    return compute


def _inside(at, size, padding, aligned):
    """Moves a coordinate into the image, unless the padding is zeros."""
    if padding == "border":
        return np.clip(at, 0, size - 1)
    if padding == "reflection":
        low, high = (0, size - 1) if aligned else (-0.5, size - 0.5)
        span = high - low
        if span == 0:
            return np.zeros_like(at)
        turned = np.abs(np.mod(at - low + span, 2 * span) - span)
        return np.clip(turned + low, 0, size - 1)
    return at


def _weights(at, mode):
    """Returns the index and the weight of each neighbor along an axis."""
    if mode == "nearest":
        return [(np.rint(at), None)]
    low = np.floor(at)
    part = at - low
    if mode == "linear":
        return [(low, 1 - part), (low + 1, part)]
    a = at.dtype.type(_CUBIC)
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (part, 1 - part)]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (part + 1, 2 - part)]
    return [(low - 1, far[0]), (low, near[0]), (low + 1, near[1]), (low + 2, far[1])]


def _sampled(rows, positions, sizes, mode, padding, aligned):
    """Samples rows, which contain all elements of a channel. The neighbors are added in the order of their indices."""
    total = None
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    for corner in itertools.product(*(_weights(at, mode) for at in positions)):
        index, weight, outside = 0, None, None
        for (position, share), size, stride in zip(corner, sizes, strides):
            if mode == "cubic":
                position = _inside(position, size, padding, aligned)
            whole = np.nan_to_num(position, nan=-1).astype(np.int64)
            beyond = (position < 0) | (position > size - 1) | np.isnan(position)
            outside = beyond if outside is None else outside | beyond
            index = index + np.clip(whole, 0, size - 1) * int(stride)
            weight = share if weight is None else weight if share is None else weight * share
        taken = np.take(rows, index, 1)
        if padding == "zeros":
            weight = np.where(outside, rows.dtype.type(0), rows.dtype.type(1) if weight is None else weight)
        taken = taken if weight is None else taken * weight
        total = taken if total is None else total + taken
    return total
