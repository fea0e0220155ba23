# SPDX-License-Identifier: MIT
"""Operators that move elements. The operator itself tells where they go: it moves their numbers."""
import torch

from .._run import run


def _moved(name, *places, fill=None):
    """The inputs `places` are moved; `fill` is the attribute with the value of elements that come from nowhere."""

    def equivalent(given, *inputs):
        which = places or range(len(inputs))
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
            # UINT64 does not index, and the number 0 is nowhere.
            index = index.to(torch.int64)
            return torch.where(index == 0, value, every[(index - 1).clamp(min=0)])

        return [taken(one) for one in moved] if several else taken(moved)

    return equivalent


# ---- Samples of images ----------------------------------------------------------------------------------------------

def _weights(name, attributes, dim, size, made, like):
    """Along one dimension the operator is a matrix: what it makes of the unit vectors, in FLOAT32."""
    one_of = {key: value[dim] for key, value in attributes.items() if isinstance(value, list)}
    whole = {"Scales": 1.0, "InputPixelOffsets": 0.5, "OutputPixelOffsets": -0.5}
    rest = {key: value for key, value in attributes.items() if not isinstance(value, list)}
    unit = torch.eye(size, device=like.device).reshape(1, 1, size, size)
    matrix = run(name, unit, shape=(1, 1, size, made), **rest,
                 **{key: [whole[key]] * 3 + [value] for key, value in one_of.items()})
    return matrix.reshape(size, made).to(like.dtype)


def _along(x, matrices):
    for dim, matrix in matrices.items():
        x = torch.movedim(torch.movedim(x, dim, -1) @ matrix, -1, dim)
    return x


def _mode(given):
    return given.choice("InterpolationMode", "NEAREST_NEIGHBOR", "LINEAR")


def _resampled(name):
    nearest = _moved(name, 0)

    def equivalent(given, x):
        if _mode(given) == "NEAREST_NEIGHBOR" and not given.get("Antialias"):
            return nearest(given, x)
        return _along(x, {dim: _weights(name, given.attributes, dim, size, made, x)
                          for dim, (size, made) in enumerate(zip(x.shape, given.sizes[0]))
                          if (size, made) != (1, 1)})

    return equivalent


def _resampled_back(name):
    def equivalent(given, x):
        return _along(x, {dim: _weights(name, given.attributes, dim, made, size, x).T
                          for dim, (size, made) in enumerate(zip(x.shape, given.sizes[0])) if (size, made) != (1, 1)})

    return equivalent


def _upsampled(given, x):
    if _mode(given) == "NEAREST_NEIGHBOR":
        return _moved("UPSAMPLE_2D", 0)(given, x)
    width, height = given.ScaleSize
    x = _along(x, {x.ndim - 1: _upsampling(given, (width, 1), x.shape[-1], x)})
    return _along(x, {x.ndim - 2: _upsampling(given, (height, 1), x.shape[-2], x)})


def _upsampling(given, scale, size, like):
    unit = torch.eye(size, device=like.device).reshape(1, 1, size, size)
    made = run("UPSAMPLE_2D", unit, ScaleSize=scale, InterpolationMode=given.InterpolationMode)
    return made.reshape(size, -1).to(like.dtype)


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
