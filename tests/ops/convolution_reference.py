# SPDX-License-Identifier: MIT
"""A bit-exact CONVOLUTION in NumPy, without fused multiply-add. docs/numerics.md explains the algorithm."""
import itertools

import numpy as np

from product_reference import product


def taps_of(o, kernel, backward, flipped, stride, dilation, start):
    """The taps that count for output o along one dimension, in the filter's order, and the input index of each."""
    for tap in range(kernel):
        k = kernel - 1 - tap if flipped else tap
        if not backward:
            yield tap, o * stride + k * dilation - start
        elif (o + start - k * dilation) % stride == 0:
            yield tap, (o + start - k * dilation) // stride


def windows(x, outputs, kernel, options):
    """Groups pixels that have the same taps. For each group, yields the pixels, the taps, and the input elements they
    read, shaped [..., taps..., pixels...]. Elements outside the input are +0."""
    along = []  # per dimension: maps taps to a list of (output index, input indices)
    for axis, size in enumerate(outputs):
        found = {}
        for o in range(size):
            taps = list(taps_of(o, kernel[axis], *(one[axis] for one in options)))
            found.setdefault(tuple(tap for tap, _ in taps), []).append((o, [position for _, position in taps]))
        along.append(found)
    for taps in itertools.product(*along):
        pixels = [[o for o, _ in found[one]] for found, one in zip(along, taps)]
        elements, exists = x, np.ones((), bool)
        rank = len(taps)
        for axis, (found, one) in enumerate(zip(along, taps)):
            positions = np.array([position for _, position in found[one]], np.int64).reshape(len(pixels[axis]), len(one)).T
            inside = (positions >= 0) & (positions < x.shape[axis - rank])
            shape = [1] * 2 * rank
            shape[axis], shape[rank + axis] = positions.shape
            exists = exists & inside.reshape(shape)
            near = np.where(inside, positions, 0).reshape(-1)
            if x.shape[axis - rank]:
                elements = np.take(elements, near, axis=axis - rank)
            else:
                before, after = elements.shape[:axis - rank], elements.shape[axis - rank:][1:]
                elements = np.zeros((*before, near.size, *after), x.dtype)
        lead = elements.shape[:-rank]
        pairs = [size for one, outs in zip(taps, pixels) for size in (len(one), len(outs))]
        order = [len(lead) + 2 * i for i in range(rank)] + [len(lead) + 2 * i + 1 for i in range(rank)]
        elements = elements.reshape(*lead, *pairs).transpose(*range(len(lead)), *order)
        yield pixels, taps, np.where(exists, elements, x.dtype.type(0))


def convolution(x, w, outputs, mode="CROSS_CORRELATION", direction="FORWARD", strides=None, dilations=None, start=None,
                groups=1, bias=None, multiply=product, wide=np.float32):
    """outputs: how many pixels the output has along each dimension."""
    rank, backward = x.ndim - 2, direction == "BACKWARD"
    ones = [1] * rank
    options = ([backward] * rank, [mode == "CONVOLUTION"] * rank, strides or ones, dilations or ones,
               start or [0] * rank)
    kernel = w.shape[2:]
    wide_x = x.astype(wide).reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    # [groups, output channels of a group, input channels of a group, taps...]
    wide_w = w.astype(wide).reshape(groups, w.shape[0] // groups, *w.shape[1:])
    wide_w = wide_w.swapaxes(1, 2) if backward else wide_w
    rows = wide_w.shape[1]
    result = np.zeros((x.shape[0], groups, rows, *outputs), wide)
    for pixels, taps, elements in windows(wide_x, outputs, kernel, options):
        count = wide_w.shape[2] * int(np.prod([len(one) for one in taps]))
        weights = wide_w
        for axis, one in enumerate(taps):
            weights = np.take(weights, one, axis=3 + axis) if one else weights[(..., *[slice(0, 0)] * (rank - axis))]
        sums = multiply(weights.reshape(1, groups, rows, count),
                        elements.reshape(*elements.shape[:2], count, int(np.prod([len(one) for one in pixels]))))
        result[np.ix_(*map(range, result.shape[:3]), *pixels)] = sums.reshape(
            *sums.shape[:3], *(len(one) for one in pixels))
    result = result.reshape(x.shape[0], groups * rows, *outputs)
    if bias is not None:
        result = result + bias.astype(wide).reshape(1, -1, *ones)
    return result.astype(x.dtype if wide == np.float32 else wide)


def forward_of_planes(x, w, stride, dilation, start, outputs, multiply=product):
    """x: [channels, height, width]; w: [outputs, channels, height, width]."""
    rows, columns = (np.add.outer(np.arange(taps) * dilation, np.arange(count) * stride) - start
                     for taps, count in zip(w.shape[2:], outputs))
    inside = (((rows >= 0) & (rows < x.shape[1]))[:, None, :, None] &
              ((columns >= 0) & (columns < x.shape[2]))[None, :, None, :])
    elements = x[:, rows[:, None, :, None] % x.shape[1], columns[None, :, None, :] % x.shape[2]]
    factors = np.where(inside, elements, x.dtype.type(0)).reshape(w[0].size, -1)
    return multiply(w.reshape(w.shape[0], -1), factors).reshape(w.shape[0], *outputs)


def exact(x, w, outputs, **options):
    """The FLOAT64 sums, and a bound on the error of FLOAT32 sums in this order. Excludes the bias."""
    def find(a, b):
        return convolution(a, b, outputs, **options, multiply=np.matmul, wide=np.float64)
    count = (x.shape[1] // options.get("groups", 1)) * int(np.prod(w.shape[2:]))
    roundings = min(count, 256) + -(-count // 256) + 3
    return find(x, w), roundings * 2.0**-24 * find(np.abs(x), np.abs(w)) + count * 2.0**-150
