# SPDX-License-Identifier: MIT
"""Operators on regions of interest. docs/numerics.md defines their samples."""
import math

import torch
from torch.nn import functional

from .._run import run
from .normalizing import REDUCTIONS

_MAX_SAMPLES = 65536    # the maximum number of samples in a bin
_AT_ONCE = 2**21  # image elements that are copied at a time
_WITHOUT = 32    # up to this many samples, box values are not read, because PyTorch's compiler does not have them


class _Axis:
    """The samples of the boxes along the rows or the columns, {boxes, bins, samples}; bins may use fewer samples.

    weights {boxes, bins, samples, size}: the weights of the image's elements in each sample. starts and ends: the
    derivatives of the weights with respect to the corners of the box.
    """

    def __init__(self, g, low, high, size, bins, scale):
        nearest = g.choice("InterpolationMode", "NEAREST_NEIGHBOR", "LINEAR") == "NEAREST_NEIGHBOR"
        corners = g.get("AlignRegionsToCorners", False)
        start = low * scale
        length = high * scale - start
        max_samples = max(1, min(g.MaximumSamplesPerOutput, _MAX_SAMPLES))
        min_samples = max(1, min(g.MinimumSamplesPerOutput, max_samples))
        with torch.no_grad():
            wanted = torch.ceil(length / bins)
            self.counts = torch.where(wanted > min_samples, wanted.clamp(max=max_samples), min_samples)
        samples = max_samples if max_samples <= _WITHOUT or min_samples == max_samples else int(self.counts.max())
        spaces, offset = self.counts * bins, torch.full_like(start, g.get("OutputPixelOffset", -0.5))
        if corners:
            offset = torch.where(spaces == 1, -0.5, offset)
            spaces = torch.where(spaces == 1, 1, spaces - 1)
        counts, spaces, offset = (one[:, None, None] for one in (self.counts, spaces, offset))
        number = torch.arange(samples, device=low.device)
        share = (torch.arange(bins, device=low.device)[:, None] * counts + number - offset) / spaces
        x = share * length[:, None, None] + start[:, None, None] - g.get("InputPixelOffset", 0.5)
        margin = 0 if corners else 1
        self.there = (number < counts).expand(x.shape)
        self.inside = self.there & (x >= -margin) & (x <= size - 1 + margin)
        x = (torch.ceil(x - 0.5) if nearest else x).clamp(0, size - 1)
        first = torch.floor(x.detach())
        second = torch.where(x > first, x - first, 0)  # the slope exactly at an element is 0
        position = torch.arange(size, device=low.device)
        one, next_one = (((first + i)[..., None] == position) & self.inside[..., None] for i in (0, 1))
        self.weights = torch.where(one, 1 - second[..., None], 0) + torch.where(next_one, second[..., None], 0)
        slope = torch.where((second != 0)[..., None], next_one.to(x.dtype) - one.to(x.dtype), 0)
        self.ends = share[..., None] * scale * slope
        self.starts = (1 - share[..., None]) * scale * slope


def _axes(g, image, boxes, bins):
    boxes = boxes.reshape(-1, 4)
    rows = _Axis(g, boxes[:, 1], boxes[:, 3], image[-2], bins[-2], g.SpatialScaleY)
    return rows, _Axis(g, boxes[:, 0], boxes[:, 2], image[-1], bins[-1], g.SpatialScaleX)


def _images(image, batches):
    """The image of each box, and whether its batch index is valid."""
    known = (batches >= 0) & (batches < image.shape[0])
    return image.index_select(0, batches.clamp(0, image.shape[0] - 1)), known[:, None, None, None], batches


def _samples(images, rows, columns):
    """Returns the samples, {boxes, channels, rows' bins, columns' bins, samples of the bin}, and which samples are used
    and lie inside the image."""
    values = torch.einsum("rchw,rimh,rjnw->rcijmn", images, rows.weights, columns.weights)
    there, inside = (a[:, None, :, None, :, None] & b[:, None, None, :, None, :] for a, b
                     in ((rows.there, columns.there), (rows.inside, columns.inside)))
    return values.flatten(4), there.flatten(4), inside.flatten(4)


def _is_max(g):
    return g.choice("ReductionFunction", *REDUCTIONS) == "MAX"


def _parts(image, count):
    """Splits the boxes into groups, because each box needs a copy of its image."""
    step = max(1, _AT_ONCE // max(1, math.prod(image[1:])))
    return [slice(first, first + step) for first in range(0, max(count, 1), step)]


def _align(g, image, boxes, batches):
    boxes, batches = boxes.reshape(-1, 4), batches.reshape(-1).to(torch.int64)
    return torch.cat([_align_part(g, image, boxes[one], batches[one]) for one in _parts(image.shape, len(boxes))])


def _align_part(g, image, boxes, batches):
    rows, columns = _axes(g, image.shape, boxes, g.sizes[0])
    images, known, _ = _images(image, batches)
    outside = g.OutOfBoundsInputValue
    if _is_max(g):
        values, there, inside = _samples(images, rows, columns)
        values = torch.where(there, torch.where(inside, values, outside), -math.inf)
        return torch.where(known, values.max(-1).values, outside)
    result = torch.einsum("rchw,rih,rjw->rcij", images, rows.weights.sum(2), columns.weights.sum(2))
    inside = rows.inside.sum(2)[:, None, :, None] * columns.inside.sum(2)[:, None, None, :]
    counts = (rows.counts * columns.counts)[:, None, None, None]
    return torch.where(known, (result + (counts - inside) * outside) / counts, outside)


def _align_grad(g, image, gradient, boxes, batches):
    corners, batches = boxes.reshape(-1, 4), batches.reshape(-1).to(torch.int64)
    sizes = image.shape if image is not None else g.sizes[0]
    result = [_align_grad_part(g, image, gradient[one], corners[one], batches[one], sizes)
            for one in _parts(sizes, len(corners))]
    images, of_boxes = zip(*result)
    return g.outputs(sum(images), torch.cat(of_boxes).reshape(boxes.shape))


def _align_grad_part(g, image, gradient, boxes, batches, sizes):
    rows, columns = _axes(g, sizes, boxes, gradient.shape)
    images, known, batches = _images(gradient.new_zeros(tuple(sizes)) if image is None else image, batches)
    gradient = torch.where(known, gradient, 0)
    samples = rows.there.shape[-1], columns.there.shape[-1]
    if _is_max(g):  # only the first of the largest samples gets the gradient
        values, there, inside = _samples(images.detach(), rows, columns)
        values = torch.where(there, torch.where(inside, values, 0), -math.inf)
        share = functional.one_hot(values.argmax(-1), values.shape[-1]).to(gradient.dtype) * gradient[..., None]
        share = share.unflatten(-1, samples)
    else:
        share = gradient / (rows.counts * columns.counts)[:, None, None, None]
        share = share[..., None, None].expand(*share.shape, *samples)
    of_images = torch.einsum("rcijmn,rimh,rjnw->rchw", share, rows.weights, columns.weights)
    result = gradient.new_zeros(tuple(sizes)).index_add(0, batches.clamp(0, sizes[0] - 1), of_images)

    def of_corner(of_rows, of_columns):
        return torch.einsum("rchw,rcijmn,rimh,rjnw->r", images, share, of_rows, of_columns)

    of_boxes = torch.stack([of_corner(rows.weights, columns.starts), of_corner(rows.starts, columns.weights),
                            of_corner(rows.weights, columns.ends), of_corner(rows.ends, columns.weights)], -1)
    return result, of_boxes


_MIN_NORMAL_BITS = 2**23  # the bits of the smallest normal float


def _pool(g, image, boxes):
    """Finds the largest element of each bin by running the operator itself on the ranks of the elements."""
    batches, channels, count = image.shape[0], image.shape[1], math.prod(image.shape[2:])
    # The first of equal elements has the highest rank. Positive floats are ordered like their bits.
    order = torch.sort(image.detach().flatten(2), stable=True, descending=True).indices
    ranks = torch.arange(_MIN_NORMAL_BITS + count, _MIN_NORMAL_BITS, -1, dtype=torch.int32,
                         device=image.device).expand(order.shape)
    ranks = torch.zeros_like(order, dtype=torch.int32).scatter(2, order, ranks).view(torch.float32)
    found = run("ROI_POOLING", ranks.reshape(image.shape), boxes.detach().to(torch.float32), shape=tuple(g.sizes[0]),
                **g.attributes)
    batch = torch.trunc(boxes.detach().reshape(-1, 5)[:, 0]).nan_to_num().clamp(0, batches - 1).to(torch.int64)
    plane = (batch[:, None] * channels + torch.arange(channels, device=image.device))[..., None, None] * count
    is_empty = found == 0
    position = torch.where(is_empty, 0, _MIN_NORMAL_BITS + count - found.view(torch.int32))  # an index into `order`
    position = order.reshape(-1).gather(0, (plane + position).reshape(-1)).reshape(found.shape)
    return torch.where(is_empty, 0, image.reshape(-1).gather(0, (plane + position).reshape(-1)).reshape(found.shape))


TABLE = {"ROI_ALIGN": _align, "ROI_ALIGN1": _align, "ROI_ALIGN_GRAD": _align_grad, "ROI_POOLING": _pool}
