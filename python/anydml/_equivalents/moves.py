# SPDX-License-Identifier: MIT
"""Operators that move elements. To find the source of each element, the operator itself is run on element indices."""
import math

import numpy as _np
import torch

from .._run import run
from ._base import Given
from ._lines import sampled, unsampled


def _moved(name, *positions, fill=None):
    """`positions` are the inputs that the operator moves. `fill` is the attribute with the value for missing
    sources."""

    def equivalent(given, *inputs):
        which = positions or range(len(inputs))
        which = [i for i in which if inputs[i] is not None]
        numbers, start = list(inputs), 1
        for i in which:
            count = inputs[i].numel()
            numbers[i] = torch.arange(start, start + count, device=inputs[i].device).reshape(inputs[i].shape)
            start += count
        every = torch.cat([inputs[i].reshape(-1) for i in which])
        attributes = dict(given.attributes)
        value = 0
        if fill is not None:
            value, attributes[fill] = attributes[fill], 0
        several = name == "SPLIT"
        options = {"dtype": "int64"} if name == "UNFOLD" else {}
        moved = run(name, *numbers, shape=given.sizes if several else given.sizes[0], **options, **attributes)

        def taken(index):
            # UINT64 cannot be used as an index, and 0 means that the element has no source.
            index = index.to(torch.int64)
            return torch.where(index == 0, value, every[(index - 1).clamp(min=0)])

        return [taken(one) for one in moved] if several else taken(moved)

    return equivalent


# ---- Samples of images ----------------------------------------------------------------------------------------------

class _Samples:
    """The input elements that each output reads along one dimension, and their weights. Both have the shape {terms,
    outputs}. docs/numerics.md defines them."""

    def __init__(self, size, out_size, scale, offsets, antialiased, like):
        real = _np.float64 if max(size, out_size) > 2**21 else _np.float32
        scale, (of_input, of_output) = _np.float32(scale), _np.float32(offsets)
        x = (_np.arange(out_size).astype(real) - real(of_output)) / real(scale) - real(of_input)
        x = _np.clip(x, 0, size - 1)
        if antialiased and scale < 1:
            x, reach = x.astype(_np.float64), 1 / float(scale)
            index = _np.floor(x - reach) + 1 + _np.arange(math.floor(2 * reach) + 1)[:, None]
            weights = _np.maximum(0, 1 - abs(index - x) / reach)
            weights = weights / weights.sum(0)
        else:
            index = _np.floor(x) + _np.arange(2)[:, None]
            weights = _np.stack([1 - (x - index[0]), x - index[0]])
        # Elements beyond an edge are copies of the edge element.
        index = _np.clip(index, 0, size - 1).astype(_np.int64)
        self.is_identity = size == out_size and bool((weights[0] == 1).all() and (index[0] == _np.arange(size)).all())
        self.index = torch.from_numpy(index).to(like.device)
        self.weights = torch.from_numpy(weights).to(like.device, like.dtype)


def _samples(given, sizes, out_sizes, like):
    """Yields each dimension that the operator changes, and its samples."""
    rank = len(sizes)
    scales, antialiased = given.Scales, given.get("Antialiased", False)
    offsets = zip(given.get("InputPixelOffsets", [0.5] * rank), given.get("OutputPixelOffsets", [-0.5] * rank))
    for dim, (size, count, scale, pair) in enumerate(zip(sizes, out_sizes, scales, offsets)):
        samples = _Samples(int(size), int(count), scale, pair, antialiased, like)
        if not samples.is_identity:
            yield dim, samples


def _mode(given):
    return given.choice("InterpolationMode", "NEAREST_NEIGHBOR", "LINEAR")


def _resampled(name):
    nearest = _moved(name, 0)

    def equivalent(given, x):
        if _mode(given) == "NEAREST_NEIGHBOR":
            return nearest(given, x)
        for dim, samples in _samples(given, x.shape, given.sizes[0], x):
            x = sampled(x, dim, samples.index, samples.weights)
        return x

    return equivalent


def _resampled_back(name):
    def equivalent(given, x):
        size_of = given.sizes[0]
        if _mode(given) == "NEAREST_NEIGHBOR":
            return _nearest_back(name, given, x)
        for dim, samples in _samples(given, size_of, x.shape, x):
            x = unsampled(x, dim, int(size_of[dim]), samples.index, samples.weights)
        return x

    return equivalent


def _nearest_back(name, given, x):
    """Adds each element to the input position that the operator would read it from."""
    sizes = [int(one) for one in given.sizes[0]]
    numbers = torch.arange(math.prod(sizes), device=x.device).reshape(sizes)
    positions = run(name, numbers, shape=tuple(x.shape), **given.attributes)
    return x.new_zeros(math.prod(sizes)).scatter_add(0, positions.reshape(-1), x.reshape(-1)).reshape(sizes)


def _upsampled(given, x):
    if _mode(given) == "NEAREST_NEIGHBOR":
        return _moved("UPSAMPLE_2D", 0)(given, x)
    width, height = given.ScaleSize
    scales = Given({"Scales": [1] * (x.ndim - 2) + [height, width], "InterpolationMode": "LINEAR"}, sizes=given.sizes)
    return _resampled("RESAMPLE")(scales, x)


# ---- Along an axis --------------------------------------------------------------------------------------------------

def _accumulated(given, x, exclusive, accumulate, first):
    falling = given.choice("AxisDirection", "INCREASING", "DECREASING") == "DECREASING"
    x = x.flip(given.Axis) if falling else x
    if exclusive:
        x = torch.cat([torch.full_like(x.narrow(given.Axis, 0, 1), first),
                       x.narrow(given.Axis, 0, x.shape[given.Axis] - 1)], given.Axis)
    x = accumulate(x, given.Axis)
    return x.flip(given.Axis) if falling else x


def _sum(given, x):
    return _accumulated(given, x, given.HasExclusiveSum, torch.cumsum, 0)


def _product(given, x):
    return _accumulated(given, x, given.HasExclusiveProduct, torch.cumprod, 1)


def _top(name):
    def equivalent(given, x):
        index = run(name, x.detach(), **given.attributes)[1]
        return [x.gather(given.Axis, index.to(torch.int64)), None]

    return equivalent


def _converted(given, x):
    return x.to(given.types[0])


_FROM_FIRST = ("SLICE", "SLICE1", "GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1", "SPACE_TO_DEPTH",
               "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1", "TILE", "REVERSE_SUBSEQUENCES", "MAX_UNPOOLING",
               "SLICE_GRAD", "UNFOLD", "SPLIT")

TABLE = {
    **{name: _moved(name, 0) for name in _FROM_FIRST},
    "JOIN": _moved("JOIN"),
    "ONE_HOT": _moved("ONE_HOT", 1),
    "PADDING": _moved("PADDING", 0, fill="PaddingValue"),
    "PADDING1": _moved("PADDING1", 0, fill="PaddingValue"),
    "DIAGONAL_MATRIX1": _moved("DIAGONAL_MATRIX1", 0, fill="Value"),
    "SCATTER_ELEMENTS": _moved("SCATTER_ELEMENTS", 0, 2),
    "SCATTER_ND": _moved("SCATTER_ND", 0, 2),
    **{name: _resampled(name) for name in ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")},
    "RESAMPLE_GRAD": _resampled_back("RESAMPLE1"),
    "RESAMPLE_GRAD1": _resampled_back("RESAMPLE2"),
    "UPSAMPLE_2D": _upsampled,
    "CUMULATIVE_SUMMATION": _sum,
    "CUMULATIVE_PRODUCT": _product,
    "TOP_K": _top("TOP_K"),
    "TOP_K1": _top("TOP_K1"),
    "CAST": _converted,
}
