# SPDX-License-Identifier: MIT
"""The operators over regions of interest, as defined in docs/numerics.md. Every number is a FLOAT32."""
from typing import NamedTuple

import numpy as np


class Axis(NamedTuple):
    """One axis (rows or columns) of an image and of its bins, with the attributes of that axis."""
    size: int
    bins: int
    scale: float
    before: float  # InputPixelOffset
    after: float  # OutputPixelOffset
    lowest: int
    highest: int
    to_corners: bool
    nearest: bool


def region_samples(low, high, axis):
    """For each bin, the samples within the image by ascending coordinate, as (first, second, share): element `first` has
    the weight 1 - second, and the next one has `second`. Then the total number of samples per bin."""
    start = low * np.float32(axis.scale)
    length = high * np.float32(axis.scale) - start
    highest = max(1, min(axis.highest, 65536))
    lowest = max(1, min(axis.lowest, highest))
    wanted = np.ceil(length / np.float32(axis.bins))
    count = lowest if not wanted > lowest else int(min(wanted, highest))
    spaces, offset = axis.bins * count, np.float32(axis.after)
    if axis.to_corners:
        spaces, offset = (1, np.float32(-0.5)) if spaces == 1 else (spaces - 1, offset)
    step = length / np.float32(spaces)
    position = np.arange(axis.bins * count).astype(np.float32) - offset
    x = position * step + start - np.float32(axis.before)
    margin = np.float32(0 if axis.to_corners else 1)
    inside = (x >= -margin) & (x <= np.float32(axis.size - 1) + margin) & bool(np.isfinite(start) and np.isfinite(step))
    x = np.maximum(np.ceil(x - np.float32(0.5)) if axis.nearest else x, np.float32(0))
    bins = []
    for b in range(axis.bins):
        bins.append([])
        for s in np.flatnonzero(inside[b * count:(b + 1) * count])[::-1 if step < 0 else 1] + b * count:
            first = min(int(x[s]), axis.size - 1)
            second = x[s] - np.floor(x[s]) if first < axis.size - 1 else np.float32(0)
            bins[-1].append((first, second, position[s] / np.float32(spaces)))
    return bins, count


def weights_of(samples):
    """The elements from which a bin's samples are interpolated, in ascending order, with the total weight of each."""
    weights = {}
    for first, second, _ in samples:
        weights[first] = weights.get(first, np.float32(0)) + (np.float32(1) - second)
        if second != 0:
            weights[first + 1] = weights.get(first + 1, np.float32(0)) + second
    return sorted(weights.items())


def mean(first, second, weight):
    return first * (np.float32(1) - weight) + second * weight


def value_of(plane, y, x):
    """A sample of a plane, or of all channels at once."""
    def along(row):
        return plane[..., row, x[0]] if x[1] == 0 else mean(plane[..., row, x[0]], plane[..., row, x[0] + 1], x[1])
    return along(y[0]) if y[1] == 0 else mean(along(y[0]), along(y[0] + 1), y[1])


def greater(a, b):
    return np.where(np.isnan(a) | (a > b) | ((a == b) & ~np.signbit(a)), a, b)


def roi_align(image, boxes, batches, rows, columns, is_max, outside):
    image, boxes, outside = image.astype(np.float32), boxes.astype(np.float32), np.float32(outside)
    out = np.full((len(boxes), image.shape[1], rows.bins, columns.bins), outside, np.float32)
    for r, (x1, y1, x2, y2) in enumerate(boxes):
        if not 0 <= batches[r] < len(image):
            continue
        plane = image[batches[r]]
        (ys, y_count), (xs, x_count) = region_samples(y1, y2, rows), region_samples(x1, x2, columns)
        for i, j in np.ndindex(rows.bins, columns.bins):
            inside = len(ys[i]) * len(xs[j])
            if inside == 0:
                continue
            missing = y_count * x_count - inside
            if is_max:
                result = np.full(len(plane), -np.inf, np.float32)
                for y in ys[i]:
                    for x in xs[j]:
                        result = greater(result, value_of(plane, y, x))
                out[r, :, i, j] = greater(result, outside) if missing else result
                continue
            result = None
            for row, row_weight in weights_of(ys[i]):
                along = None
                for column, weight in weights_of(xs[j]):
                    product = plane[:, row, column] * weight
                    along = product if along is None else along + product
                result = along * row_weight if result is None else result + along * row_weight
            if missing:
                result = result + np.float32(missing) * outside
            out[r, :, i, j] = result / np.float32(y_count * x_count)
    return out


def peak_of(plane, ys, xs, missing):
    """The first of the largest samples of a bin, or the first NaN; samples outside the image count as 0."""
    best = None
    for y in ys:
        for x in xs:
            value = value_of(plane, y, x)
            if best is None or value > best[0] or (np.isnan(value) and not np.isnan(best[0])):
                best = value, y, x
    return None if best is None or (missing and best[0] < 0) else best[1:]


def slope(plane, y, x):
    """The derivative of a sample along the columns."""
    def along(row):
        return plane[row, x[0] + 1] - plane[row, x[0]]
    return along(y[0]) if y[1] == 0 else mean(along(y[0]), along(y[0] + 1), y[1])


def roi_align_grad(image, gradient, boxes, batches, shape, rows, columns, is_max):
    """The gradients of the image (of this shape) and of the boxes. image: None if neither MAX nor the boxes need it."""
    gradient, boxes = gradient.astype(np.float32), boxes.astype(np.float32)
    image = None if image is None else image.astype(np.float32)
    out = np.zeros(shape, np.float32)
    lanes = np.zeros((len(boxes), 32, 4), np.float32)
    for r, (x1, y1, x2, y2) in enumerate(boxes):
        if not 0 <= batches[r] < shape[0]:
            continue
        (ys, y_count), (xs, x_count) = region_samples(y1, y2, rows), region_samples(x1, x2, columns)
        for c, i, j in np.ndindex(shape[1], rows.bins, columns.bins):
            g, samples = gradient[r, c, i, j], [(y, x) for y in ys[i] for x in xs[j]]
            y_weights, x_weights = weights_of(ys[i]), weights_of(xs[j])
            if is_max:
                peak = peak_of(image[batches[r], c], ys[i], xs[j], len(samples) != y_count * x_count)
                samples = [] if peak is None else [peak]
                y_weights, x_weights = (weights_of([one]) for one in peak) if peak else ([], [])
            else:
                g = g / np.float32(y_count * x_count)
            for row, row_weight in y_weights:
                for column, weight in x_weights:
                    out[batches[r], c, row, column] += g * row_weight * weight
            for y, x in samples if image is not None else []:
                plane, lane = image[batches[r], c], lanes[r, c % 32]
                for position, step in ((0, x[1] != 0 and (slope(plane, y, x), x[2])),
                                    (1, y[1] != 0 and (slope(plane.T, x, y), y[2]))):
                    if step:
                        lane[position] += step[0] * g * (np.float32(1) - step[1])
                        lane[position + 2] += step[0] * g * step[1]
    for half in (16, 8, 4, 2, 1):
        lanes = lanes[:, :half] + lanes[:, half:]
    return out, lanes[:, 0] * np.float32([columns.scale, rows.scale] * 2)


def roi_pooling(image, regions, scale, rows, columns):
    """rows, columns: the numbers of bins."""
    image, regions = image.astype(np.float32), regions.astype(np.float32)
    out = np.zeros((len(regions), image.shape[1], rows, columns), np.float32)
    for r, (batch, *corners) in enumerate(regions):
        if not (-1 < batch < len(image)):
            continue
        far = np.float32(2**40)
        scaled = [corner * np.float32(scale) for corner in corners]
        away = [np.copysign(np.floor(np.abs(x)) + np.float32(np.abs(x) - np.floor(np.abs(x)) >= 0.5), x) for x in scaled]
        x1, y1, x2, y2 = (int(-far if np.isnan(x) else np.clip(x, -far, far)) for x in away)

        def bins(low, high, count, size):
            length = max(1, high - low + 1)
            limits = [(low + b * length // count, low + -(-(b + 1) * length // count)) for b in range(count)]
            return [(min(max(0, first), size), min(max(0, end), size)) for first, end in limits]
        for i, (top, bottom) in enumerate(bins(y1, y2, rows, image.shape[2])):
            for j, (left, right) in enumerate(bins(x1, x2, columns, image.shape[3])):
                if top < bottom and left < right:
                    result = image[int(batch), :, top, left]
                    for row, column in np.ndindex(bottom - top, right - left):
                        result = greater(result, image[int(batch), :, top + row, left + column])
                    out[r, :, i, j] = result
    return out
