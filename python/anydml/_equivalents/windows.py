# SPDX-License-Identifier: MIT
"""Operators over windows of images: convolution, pooling, FOLD."""
import math

import torch
from torch.nn import functional

from .._run import run
from ._lines import cut, in_float, spread, sums


class _Windows:
    """The windows along each dimension after the channels: (dimension, elements, windows, width, stride, dilation,
    padding at the start)."""

    def __init__(self, g, image, out_sizes):
        window = g.WindowSize
        self.dims = [(dim, int(size), int(count), width, step, gap, before) for dim, (size, count, width, step, gap, before)
                     in enumerate(zip(image[2:], out_sizes[2:], window, g.Strides, g.get("Dilations", [1] * len(window)),
                                      g.StartPadding), 2)]

    def sums(self, x):
        for dim, _, count, width, step, gap, before in reversed(self.dims):
            x = sums(x, dim, count, width, step, gap, before)
        return x

    def spread(self, x):
        for dim, size, _, width, step, gap, before in self.dims:
            x = spread(x, dim, size, width, step, gap, before)
        return x

    def counts(self, like):
        """Returns the number of elements in each window."""
        result = like.new_ones(())
        for dim, size, count, width, step, gap, before in self.dims:
            at = torch.arange(count, device=like.device)[:, None] * step + torch.arange(width, device=like.device) * gap
            inside = ((at >= before) & (at < size + before)).sum(1).to(like.dtype)
            result = result[..., None] * inside
        return result

    def divisors(self, g, like):
        return math.prod(one[3] for one in self.dims) if g.IncludePadding else self.counts(like).clamp(min=1)


@in_float
def _average(g, x):
    windows = _Windows(g, x.shape, g.sizes[0])
    return windows.sums(x) / windows.divisors(g, x)


@in_float
def _average_grad(g, gradient):
    windows = _Windows(g, g.sizes[0], gradient.shape)
    return windows.spread(gradient / windows.divisors(g, gradient))


@in_float
def _lp(g, x):
    total = _Windows(g, x.shape, g.sizes[0]).sums(x.abs() if g.P == 1 else x * x if g.P == 2 else x.abs()**g.P)
    # The root is not differentiable at 0, where the derivative of PyTorch's norms is 0.
    return total if g.P == 1 else torch.where(total > 0, torch.where(total > 0, total, 1)**(1 / g.P), 0)


def _positions(g, x, sizes):
    """Returns the index into all of x of each window's largest element, or -1 for an empty window."""
    attributes = {name: g.attributes[name] for name in ("Strides", "WindowSize", "StartPadding", "EndPadding")}
    index = run("MAX_POOLING2", x.detach(), out=(None, True), dtype=(None, "uint64"), shape=(sizes, sizes),
                Dilations=g.get("Dilations", [1] * len(g.WindowSize)), **attributes)[1]
    return index.to(torch.int64).reshape(-1)


def _max(g, x):
    positions = _positions(g, x, g.sizes[0])
    result = torch.where(positions < 0, -math.inf, x.reshape(-1).gather(0, positions.clamp(min=0)))
    return [result.reshape(g.sizes[0]), None]


def _max_grad(g, x, gradient):
    positions, gradient = _positions(g, x, tuple(gradient.shape)), gradient.reshape(-1)
    result = gradient.new_zeros(math.prod(x.shape))
    return result.scatter_add(0, positions.clamp(min=0), torch.where(positions < 0, 0, gradient)).reshape(x.shape)


def _fold(g, x):
    """Adds each window to the image at its position. Each element of x belongs to a window."""
    sizes, window = [int(one) for one in g.sizes[0]], g.WindowSizes
    positions, inside = torch.zeros(1, 1, dtype=torch.int64, device=x.device), torch.ones(1, 1, dtype=torch.bool, device=x.device)
    for size, width, step, gap, before, after in zip(sizes[2:], window, g.Strides, g.Dilations, g.StartPadding, g.EndPadding):
        count = (size + before + after - gap * (width - 1) - 1) // step + 1
        at = (torch.arange(count, device=x.device) * step - before) + torch.arange(width, device=x.device)[:, None] * gap
        positions = (positions[:, None, :, None] * size + at.clamp(0, size - 1)[None, :, None, :]).flatten(2).flatten(0, 1)
        inside = (inside[:, None, :, None] & ((at >= 0) & (at < size))[None, :, None, :]).flatten(2).flatten(0, 1)
    values = x.reshape(*sizes[:2], -1) * inside.reshape(-1)
    return values.new_zeros((*sizes[:2], math.prod(sizes[2:]))).index_add(2, positions.reshape(-1), values).reshape(sizes)


def _convolution(g, x, weights, bias=None):
    dims = x.ndim - 2
    if g.choice("Mode", "CONVOLUTION", "CROSS_CORRELATION") == "CONVOLUTION":
        weights = weights.flip(list(range(2, x.ndim)))
    bias = None if bias is None else bias.reshape(-1)
    if g.choice("Direction", "FORWARD", "BACKWARD") == "FORWARD":
        of = (functional.conv1d, functional.conv2d, functional.conv3d)[dims - 1]
        x = functional.pad(x, [one for pair in reversed(list(zip(g.StartPadding, g.EndPadding))) for one in pair])
        return of(x, weights, bias, g.Strides, 0, g.Dilations, g.GroupCount)
    of = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[dims - 1]
    result = of(x, weights, None, g.Strides, 0, 0, g.GroupCount, g.Dilations)
    for dim, (before, size) in enumerate(zip(g.StartPadding, g.sizes[0][2:]), 2):
        result = cut(result, dim, before, int(size))
    return result if bias is None else result + bias.reshape(-1, *[1] * dims)


TABLE = {
    "CONVOLUTION": _convolution,
    "AVERAGE_POOLING": _average,
    "AVERAGE_POOLING1": _average,
    "AVERAGE_POOLING_GRAD": _average_grad,
    "LP_POOLING": _lp,
    "LP_POOLING1": _lp,
    "MAX_POOLING": _max,
    "MAX_POOLING1": _max,
    "MAX_POOLING2": _max,
    "MAX_POOLING_GRAD": _max_grad,
    "FOLD": _fold,
}
