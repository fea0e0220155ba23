# SPDX-License-Identifier: MIT
"""Sums and samples along one dimension of a tensor, using no more memory than the operators themselves."""
import functools
import math

import torch
from torch.nn import functional


def in_float(equivalent):
    """Computes the equivalent in FLOAT32 or wider, because FLOAT16 sums may overflow."""
    @functools.wraps(equivalent)
    def widened(g, *inputs):
        kind = inputs[0].dtype
        return equivalent(g, *(one.to(torch.promote_types(kind, torch.float32)) for one in inputs)).to(kind)

    return widened


def cut(x, dim, first, count):
    """Returns `count` elements along a dimension, starting at `first`, with zeros outside the tensor."""
    size = int(x.shape[dim])
    low, high = (min(max(one, 0), size) for one in (first, first + count))
    ends = [0, 0] * x.ndim
    ends[2 * (x.ndim - 1 - dim)] = min(max(-first, 0), count) if low < high else count
    ends[2 * (x.ndim - 1 - dim) + 1] = max(first + count - size, 0) if low < high else 0
    x = x.narrow(dim, low, max(high - low, 0))
    return functional.pad(x, ends) if any(ends) else x


def sums(x, dim, count, width, step=1, gap=1, before=0):
    """Sums over windows along a dimension: window i starts at i * step - before, with `width` elements `gap` apart."""
    if x.numel() == 0 or count == 0:
        return cut(x, dim, 0, count)  # there are no elements to add
    reach = (count - 1) * step + (width - 1) * gap + 1
    x = cut(x, dim, -before, math.ceil(reach / gap) * gap)
    sizes = x.shape
    # PyTorch's pooling needs no memory for the windows. It has no dilations, so elements `gap` apart become rows.
    x = x.reshape(math.prod(sizes[:dim]), 1, sizes[dim] // gap, gap * math.prod(sizes[dim + 1:]))
    x = functional.avg_pool2d(x, (width, 1), (step if gap == 1 else 1, 1), divisor_override=1)
    x = x.reshape(*sizes[:dim], -1, *sizes[dim + 1:])
    return x if gap == 1 else x[(slice(None),) * dim + (slice(0, (count - 1) * step + 1, step),)]


def spread(x, dim, size, width, step=1, gap=1, before=0):
    """The transpose of `sums`: adds each element to all elements of its window; the result has `size` elements."""
    count = int(x.shape[dim])
    if step > 1 and count > 0:  # insert zeros between the elements
        sizes = x.shape
        x = cut(x.unsqueeze(dim + 1), dim + 1, 0, step).reshape(*sizes[:dim], count * step, *sizes[dim + 1:])
        x = x.narrow(dim, 0, (count - 1) * step + 1)
    return sums(x, dim, size, width, gap=gap, before=(width - 1) * gap - before)


def sampled(x, dim, index, weights):
    """Weighted sums of elements along a dimension; index and weights have the shape {terms, results}."""
    sizes = (*x.shape[:dim], index.shape[1], *x.shape[dim + 1:])
    return sum(x.gather(dim, _along(one, dim, sizes)) * _along(weight, dim, sizes) for one, weight in zip(index, weights))


def unsampled(x, dim, size, index, weights):
    """The transpose of `sampled`; the result has `size` elements."""
    result = x.new_zeros((*x.shape[:dim], size, *x.shape[dim + 1:]))
    for one, weight in zip(index, weights):
        result = result.scatter_add(dim, _along(one, dim, x.shape), x * _along(weight, dim, x.shape))
    return result


def _along(values, dim, sizes):
    return values.reshape([-1 if i == dim else 1 for i in range(len(sizes))]).expand(sizes)
