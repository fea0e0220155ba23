# SPDX-License-Identifier: MIT
"""Operators over windows of images: convolution, pooling, FOLD."""
import math

import torch
from torch.nn import functional


def _places(sizes, made, window, strides, dilations, start, device):
    """For each window its elements among those of the image, {windows, elements}, and which of them are in the image."""
    places, inside = torch.zeros(1, 1, dtype=torch.int64), torch.ones(1, 1, dtype=torch.bool)
    for size, count, width, step, gap, before in zip(sizes, made, window, strides, dilations, start):
        at = torch.arange(int(count))[:, None] * step + torch.arange(width) * gap - before
        ok = (at >= 0) & (at < int(size))
        places = (places[:, None, :, None] * int(size) + at.clamp(0, int(size) - 1)[None, :, None, :]).flatten(2)
        places = places.flatten(0, 1)
        inside = (inside[:, None, :, None] & ok[None, :, None, :]).flatten(2).flatten(0, 1)
    return places.to(device), inside.to(device)


def _of(g, image, made, window="WindowSize"):
    window = g.attributes[window]
    return _places(image[2:], made[2:], window, g.Strides, g.get("Dilations", [1] * len(window)), g.StartPadding,
                   g.device)


def _windows(g, x):
    places, inside = _of(g, x.shape, g.sizes[0])
    return x.flatten(2)[..., places], inside


def _added(values, places, inside, sizes):
    """The values of windows, added up where they lie in the image."""
    made = values.new_zeros((*values.shape[:2], math.prod(map(int, sizes[2:]))))
    return made.index_add(2, places.flatten(), (values * inside).flatten(2)).reshape(sizes)


def _divisors(g, inside, like):
    return inside.shape[1] if g.IncludePadding else inside.sum(1).clamp(min=1).to(like.dtype)


def _average(g, x):
    values, inside = _windows(g, x)
    return (torch.where(inside, values, 0).sum(-1) / _divisors(g, inside, x)).reshape(g.sizes[0])


def _average_grad(g, gradient):
    places, inside = _of(g, g.sizes[0], gradient.shape)
    shares = gradient.flatten(2) / _divisors(g, inside, gradient)
    return _added(shares[..., None].expand(*shares.shape, inside.shape[1]), places, inside, g.sizes[0])


def _lp(g, x):
    values, inside = _windows(g, x)
    values = torch.where(inside, values, 0)
    return torch.linalg.vector_norm(values, g.P, -1).reshape(g.sizes[0])


def _greatest(g, x):
    values, inside = _windows(g, x)
    return [torch.where(inside, values, -math.inf).max(-1).values.reshape(g.sizes[0]), None]


def _max_grad(g, x, gradient):
    places, inside = _of(g, x.shape, gradient.shape)
    values = torch.where(inside, x.detach().flatten(2)[..., places], -math.inf)
    chosen = functional.one_hot(values.argmax(-1), inside.shape[1]).to(gradient.dtype)
    return _added(gradient.flatten(2)[..., None] * chosen, places, inside, x.shape)


def _fold(g, x):
    made = g.sizes[0]
    window = g.WindowSizes
    counts = [(int(size) + before + after - gap * (width - 1) - 1) // step + 1 for size, before, after, gap, width, step
              in zip(made[2:], g.StartPadding, g.EndPadding, g.Dilations, window, g.Strides)]
    places, inside = _of(g, made, [0, 0, *counts], "WindowSizes")
    values = x.reshape(made[0], made[1], math.prod(window), -1).transpose(2, 3)
    return _added(values, places, inside, made)


def _padded(x, ends):
    """Zeros, or fewer elements, at the start and at the end of each dimension after the channels."""
    return functional.pad(x, [one for pair in reversed(ends) for one in pair])


def _convolution(g, x, weights, bias=None):
    dims = x.ndim - 2
    if g.choice("Mode", "CONVOLUTION", "CROSS_CORRELATION") == "CONVOLUTION":
        weights = weights.flip(list(range(2, x.ndim)))
    bias = None if bias is None else bias.reshape(-1)
    if g.choice("Direction", "FORWARD", "BACKWARD") == "FORWARD":
        of = (functional.conv1d, functional.conv2d, functional.conv3d)[dims - 1]
        x = _padded(x, list(zip(g.StartPadding, g.EndPadding)))
        return of(x, weights, bias, g.Strides, 0, g.Dilations, g.GroupCount)
    of = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[dims - 1]
    made = of(x, weights, None, g.Strides, 0, 0, g.GroupCount, g.Dilations)
    made = _padded(made, [(-before, int(size) + before - int(whole)) for before, size, whole
                          in zip(g.StartPadding, g.sizes[0][2:], made.shape[2:])])
    return made if bias is None else made + bias.reshape(-1, *[1] * dims)


TABLE = {
    "CONVOLUTION": _convolution,
    "AVERAGE_POOLING": _average,
    "AVERAGE_POOLING1": _average,
    "AVERAGE_POOLING_GRAD": _average_grad,
    "LP_POOLING": _lp,
    "LP_POOLING1": _lp,
    "MAX_POOLING": _greatest,
    "MAX_POOLING1": _greatest,
    "MAX_POOLING2": _greatest,
    "MAX_POOLING_GRAD": _max_grad,
    "FOLD": _fold,
}
