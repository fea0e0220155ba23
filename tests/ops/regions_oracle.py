#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators over regions of interest with the NumPy program in docs/numerics.md, bit for bit: both types,
all modes, tensors in any layout, boxes that are tiny, huge, inverted, far away or NaN. If they are installed, ONNX's
reference evaluator, torchvision, and PyTorch's derivatives in FLOAT64 are second references, within an error bound.

usage: regions_oracle.py LIBANYDML [--cases N]
"""
import sys

import numpy as np

from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, Library, count_different, random_values
from regions_reference import Axis, region_samples, roi_align, roi_align_grad, roi_pooling

CASES = 40  # per operator and type
HUGE = [3e38, -3e38, np.inf, -np.inf, np.nan, 1e9, -1e9, 6e4, 0.0, -0.0, 1e-40]


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype, self.count = library, random, np.dtype(dtype), 0

    def placed(self, values):
        """The values in a random layout."""
        if self.random.random() < 0.3:
            return np.array(values, order="C")
        unsigned = np.dtype(f"u{values.dtype.itemsize}")
        array, _ = lay_out(self.random, values.shape, unsigned, False)
        array[...] = values.view(unsigned)
        return array.view(values.dtype)

    def image(self, shape):
        count = int(np.prod(shape))
        if self.random.random() < 0.15:
            return random_values(self.random, self.dtype.type, count).reshape(shape)
        return self.random.standard_normal(count).astype(self.dtype).reshape(shape)

    def boxes(self, regions, sizes, scales):
        """Corners over an image of {height, width}, before scaling."""
        center = self.random.random((regions, 2)) * 1.2 - 0.1
        extent = self.random.choice([0.01, 0.2, 0.5, 0.9], (regions, 1)) * self.random.random((regions, 2))
        factors = np.array([sizes[1] / (scales[0] or 1), sizes[0] / (scales[1] or 1)])
        boxes = np.concatenate([(center - extent / 2) * factors, (center + extent / 2) * factors], 1)
        whole = self.random.random((regions, 1)) < 0.3
        boxes = np.where(whole, np.rint(boxes), boxes)
        inverted = self.random.random(regions) < 0.15
        boxes[inverted] = boxes[inverted][:, [2, 3, 0, 1]]
        strange = self.random.random((regions, 4)) < 0.04
        return np.where(strange, self.random.choice(HUGE, (regions, 4)), boxes).astype(self.dtype)

    def compare(self, name, inputs, answers, attributes):
        """answers: None for an output that is not requested."""
        outputs, memories = [], []
        for answer in answers:
            if answer is None:
                outputs.append(None)
                continue
            unsigned = np.dtype(f"u{answer.dtype.itemsize}")
            array, memory = lay_out(self.random, answer.shape, unsigned, False)
            memories.append((array, memory, *same_memory(array, memory)))
            outputs.append(array.view(answer.dtype))
        self.library.run(name, inputs, outputs, attributes)
        for found, expected in zip([one for one in outputs if one is not None], [one for one in answers if one is not None]):
            different = count_different(np.array(found), expected)
            if different.any():
                where = tuple(np.argwhere(different)[0])
                sys.exit(f"{name} {self.dtype} with {attributes}: {different.sum()} of {expected.size} differ; first {where}: "
                         f"{found[where]!r}, expected {expected[where]!r}; boxes {np.array(inputs[1]).tolist()}")
            self.count += expected.size
        for array, memory, twin, copied in memories:
            twin[...] = array
            if not np.array_equal(copied, memory):
                sys.exit(f"{name}: bytes between the elements were written")

    def draw_axes(self, sizes, bins, older=False):
        """Attributes, and the axes that they define."""
        random = self.random
        scales = [float(np.float32(random.choice([1, 1, 0.25, 0.125, 3.3, sizes[1 - i]]))) for i in range(2)]
        if random.random() < 0.1:
            scales[0] = -scales[0]
        before, after = [(0.5, -0.5), (0.0, -0.5), (0.0, 0.0), (0.3, 0.7)][int(random.choice([0, 0, 0, 1, 2, 3]))]
        before, after = (0.5, -0.5) if older else (float(np.float32(before)), float(np.float32(after)))
        lowest, highest = [(1, 2**32 - 1), (2, 2), (1, 1), (0, 3), (3, 5), (4, 2), (0, 0)][int(random.integers(0, 7))]
        corners, nearest = (not older and random.random() < 0.3), random.random() < 0.3
        attributes = [("InterpolationMode", "NEAREST_NEIGHBOR" if nearest else "LINEAR"), ("SpatialScaleX", scales[0]),
                      ("SpatialScaleY", scales[1]), ("MinimumSamplesPerOutput", lowest), ("MaximumSamplesPerOutput", highest)]
        if not older:
            attributes += [("InputPixelOffset", before), ("OutputPixelOffset", after), ("AlignRegionsToCorners", int(corners))]
        rows, columns = (Axis(sizes[i], bins[i], scales[1 - i], before, after, lowest, highest, corners, nearest) for i in (0, 1))
        return attributes, rows, columns, scales

    def draw_region_tensors(self, older=False):
        random = self.random
        batches, channels = int(random.integers(1, 4)), int(random.choice([1, 2, 3, 7, 8, 9, 17, 33, 40]))
        sizes = [int(size) for size in random.choice([1, 2, 3, 9, 14, 31, 70], 2)]
        bins = [int(count) for count in random.choice([1, 2, 3, 7], 2)]
        regions = int(random.choice([1, 2, 5, 9]))
        attributes, rows, columns, scales = self.draw_axes(sizes, bins, older)
        indices = random.integers(0, batches, regions).astype(random.choice(["u4", "u8", "i4", "i8"]))
        if random.random() < 0.2:
            indices[0] = np.array([2**31 - 1, 2**32 - 1, batches])[random.integers(0, 3)].astype(np.uint32).astype(indices.dtype)
        return (batches, channels, *sizes), bins, self.boxes(regions, sizes, scales), indices, attributes, rows, columns

    def align(self, name):
        shape, bins, boxes, indices, attributes, rows, columns = self.draw_region_tensors(name == "ROI_ALIGN")
        image, is_max = self.image(shape), self.random.random() < 0.4
        outside = float(np.float32(self.random.choice([0, 0, 1.5, -2, np.inf])))
        answer = roi_align(image, boxes, indices, rows, columns, is_max, outside).astype(self.dtype)
        ones = (1,) * int(self.random.integers(0, 3))
        self.compare(name, [self.placed(image), self.placed(boxes.reshape(*ones, *boxes.shape)),
                            self.placed(indices.reshape(*ones, -1))], [answer],
                     [*attributes, ("OutOfBoundsInputValue", outside), ("ReductionFunction", "MAX" if is_max else "AVERAGE")])

    def grad(self, name):
        random = self.random
        shape, bins, boxes, indices, attributes, rows, columns = self.draw_region_tensors()
        is_max, wanted = random.random() < 0.4, int(random.integers(1, 4))
        image = self.image(shape) if is_max or wanted & 2 else None
        gradient = self.image((len(boxes), shape[1], *bins))
        answers = roi_align_grad(image, gradient, boxes, indices, shape, rows, columns, is_max)
        answers = [answers[i].astype(self.dtype) if wanted >> i & 1 else None for i in range(2)]
        self.compare(name, [None if image is None else self.placed(image), self.placed(gradient), self.placed(boxes),
                            self.placed(indices.astype(np.uint32))], answers,
                     [*attributes, ("ReductionFunction", "MAX" if is_max else "AVERAGE")])

    def pooling(self, name):
        random = self.random
        shape = tuple(int(size) for size in random.choice([1, 2, 3, 8, 30], 4))
        bins, regions = [int(count) for count in random.choice([1, 2, 3, 6], 2)], int(random.integers(1, 9))
        scale = float(np.float32(random.choice([1, 0.5, 0.0625, 2.7, -1])))
        boxes = np.concatenate([random.integers(0, shape[0], (regions, 1)).astype(self.dtype),
                                self.boxes(regions, shape[2:], (scale, scale))], 1)
        if random.random() < 0.3:
            boxes[0, 0] = self.dtype.type(random.choice([-1, -0.5, shape[0], 0.75, np.nan, np.inf, 6e4]))
        image = self.image(shape)
        answer = roi_pooling(image, boxes, scale, *bins).astype(self.dtype)
        self.compare(name, [self.placed(image), self.placed(boxes.reshape(1, 1, -1, 5))], [answer],
                     [("SpatialScale", scale), ("PooledSize", (bins[1], bins[0]))])


def close(what, found, expected, bound):
    error = np.max(np.abs(found.astype(np.float64) - expected), initial=0) / max(1, np.max(np.abs(expected), initial=0))
    if not error <= bound:
        sys.exit(f"{what}: off by {error}")
    return found.size


def regions_in(random, count, height, width, inside=False):
    """Boxes of more than a pixel. inside: no sample is outside the image."""
    first = random.random((count, 2)) * (0.5 if inside else 0.8) + (0.1 if inside else -0.05)
    second = first + 0.1 + random.random((count, 2)) * (0.2 if inside else 0.6)
    return (np.concatenate([first, second], 1) * [width, height, width, height]).astype(np.float32)


def aligned(library, x, boxes, indices, shape, ratio, scale, half, reduction="AVERAGE"):
    out = np.empty((len(boxes), x.shape[1], *shape), np.float32)
    library.run("ROI_ALIGN1", [x, boxes, indices], out, (
        ("ReductionFunction", reduction), ("InterpolationMode", "LINEAR"), ("SpatialScaleX", scale), ("SpatialScaleY", scale),
        ("InputPixelOffset", 0.5 if half else 0.0), ("OutputPixelOffset", -0.5), ("OutOfBoundsInputValue", 0.0),
        ("MinimumSamplesPerOutput", ratio or 1), ("MaximumSamplesPerOutput", ratio or 2**32 - 1), ("AlignRegionsToCorners", 0)))
    return out


def against_onnx(library, random):
    try:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        return "onnx is not installed"
    compared = 0
    for ratio, half, scale in ((0, True, 1.0), (2, True, 0.5), (0, False, 0.5), (3, False, 1.0)):
        x = random.standard_normal((2, 3, 11, 13)).astype(np.float32)
        boxes = (regions_in(random, 4, 11, 13) / np.float32(scale)).astype(np.float32)
        indices = np.array([0, 1, 1, 0], np.int64)
        node = helper.make_node("RoiAlign", ["x", "rois", "batches"], ["y"], output_height=3, output_width=4,
                                sampling_ratio=ratio, spatial_scale=scale, mode="avg",
                                coordinate_transformation_mode="half_pixel" if half else "output_half_pixel")
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
                                                helper.make_tensor_value_info("rois", TensorProto.FLOAT, boxes.shape),
                                                helper.make_tensor_value_info("batches", TensorProto.INT64, [4])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)])
        expected = ReferenceEvaluator(model).run(None, {"x": x, "rois": boxes, "batches": indices})[0]
        compared += close("ROI_ALIGN1 and ONNX", aligned(library, x, boxes, indices, (3, 4), ratio, scale, half), expected, 1e-4)
    return f"{compared} elements"


def against_torchvision(library, random):
    try:
        import torch
        import torchvision.ops
    except ImportError:
        return "torchvision is not installed"
    x = random.standard_normal((2, 5, 20, 30)).astype(np.float32)
    boxes, indices = regions_in(random, 8, 20, 30), random.integers(0, 2, 8)
    rows = torch.from_numpy(np.concatenate([indices[:, None].astype(np.float32), boxes], 1))
    compared = 0
    for ratio in (0, 2):
        expected = torchvision.ops.roi_align(torch.from_numpy(x), rows, (7, 7), 1.0, ratio, True).numpy()
        compared += close("ROI_ALIGN1 and torchvision", aligned(library, x, boxes, indices.astype(np.uint32), (7, 7), ratio, 1.0,
                                                                True), expected, 1e-5)
    out = np.empty((8, 5, 3, 4), np.float32)
    whole = np.rint(rows.numpy())
    library.run("ROI_POOLING", [x, whole.reshape(1, 1, 8, 5)], out, (("SpatialScale", 1.0), ("PooledSize", (4, 3))))
    compared += close("ROI_POOLING and torchvision", out, torchvision.ops.roi_pool(
        torch.from_numpy(x), torch.from_numpy(whole), (3, 4), 1.0).numpy(), 0)
    return f"{compared} elements"


def against_derivatives(library, random):
    """Compares with PyTorch's derivatives of averaged samples, using its own bilinear sampling in FLOAT64."""
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed"
    height, width, ratio, shape = 12, 15, 2, (3, 4)
    x = random.standard_normal((1, 2, height, width)).astype(np.float32)
    boxes = regions_in(random, 5, height, width, True)
    gradient = random.standard_normal((5, 2, *shape)).astype(np.float32)
    image = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    corners = torch.tensor(boxes, dtype=torch.float64, requires_grad=True)

    def along(low, high, bins, size):
        position = (torch.arange(bins * ratio, dtype=torch.float64) + 0.5) / (bins * ratio)
        return (2 * (low[:, None] + (high - low)[:, None] * position) / size) - 1  # grid_sample uses half pixels
    ys, xs = along(corners[:, 1], corners[:, 3], shape[0], height), along(corners[:, 0], corners[:, 2], shape[1], width)
    grid = torch.stack([xs[:, None, :].expand(-1, ys.shape[1], -1), ys[:, :, None].expand(-1, -1, xs.shape[1])], -1)
    samples = torch.nn.functional.grid_sample(image.expand(5, -1, -1, -1), grid, align_corners=False)
    torch.nn.functional.avg_pool2d(samples, ratio).backward(torch.tensor(gradient, dtype=torch.float64))
    image_gradient, box_gradient = np.empty_like(x), np.empty_like(boxes)
    library.run("ROI_ALIGN_GRAD", [x, gradient, boxes, np.zeros(5, np.uint32)], [image_gradient, box_gradient], (
        ("ReductionFunction", "AVERAGE"), ("InterpolationMode", "LINEAR"), ("SpatialScaleX", 1.0), ("SpatialScaleY", 1.0),
        ("InputPixelOffset", 0.5), ("OutputPixelOffset", -0.5), ("MinimumSamplesPerOutput", ratio),
        ("MaximumSamplesPerOutput", ratio), ("AlignRegionsToCorners", 0)))
    return "{} elements".format(close("gradient of the image", image_gradient, image.grad.numpy(), 1e-5) +
                                close("gradient of the boxes", box_gradient, corners.grad.numpy(), 1e-4))


def documented(library):
    """The example on ROI_ALIGN_GRAD's page, and the samples of huge boxes, whose number is bounded."""
    boxes = np.float32([[0, 0, 2, 2], [2, 0, 4, 2], [0, 2, 2, 4], [2, 2, 4, 4]])
    sampled = (("ReductionFunction", "AVERAGE"), ("InterpolationMode", "NEAREST_NEIGHBOR"), ("SpatialScaleX", 1.0),
               ("SpatialScaleY", 1.0), ("MinimumSamplesPerOutput", 1), ("MaximumSamplesPerOutput", 1))
    out = np.empty((4, 1, 1, 3), np.float32)
    library.run("ROI_ALIGN", [np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4), boxes, np.zeros(4, np.uint32)], out,
                (*sampled, ("OutOfBoundsInputValue", 0.0)))
    gradient = np.empty((1, 1, 4, 4), np.float32)
    library.run("ROI_ALIGN_GRAD", [None, np.arange(1, 13, dtype=np.float32).reshape(4, 1, 1, 3), boxes, np.zeros(4, np.uint32)],
                [gradient, None], (*sampled, ("InputPixelOffset", 0.5), ("OutputPixelOffset", -0.5), ("AlignRegionsToCorners", 0)))
    if out.ravel().tolist() != [1, 1, 2, 3, 3, 4, 9, 9, 10, 11, 11, 12] or gradient.ravel().tolist() != [
            3, 3, 9, 6, 0, 0, 0, 0, 15, 9, 21, 12, 0, 0, 0, 0]:
        sys.exit(f"the documented example: {out.ravel().tolist()}, {gradient.ravel().tolist()}")
    assert region_samples(np.float32(-3e38), np.float32(3e38), Axis(4, 2, 1, 0.5, -0.5, 1, 2**32 - 1, False, False))[1] == 65536


def main(path, cases):
    library, total = Library(path), 0
    with np.errstate(all="ignore"):
        documented(library)
    for name, check in (("ROI_ALIGN", Checks.align), ("ROI_ALIGN1", Checks.align), ("ROI_ALIGN_GRAD", Checks.grad),
                        ("ROI_POOLING", Checks.pooling)):
        for dtype in (np.float32, np.float16):
            random = np.random.default_rng([SEED, len(name), dtype().itemsize])
            checks = Checks(library, random, dtype)
            with np.errstate(all="ignore"):
                for _ in range(cases):
                    check(checks, name)
            total += checks.count
        print(f"  {name}: none different")
    random = np.random.default_rng(SEED)
    for other in (against_onnx, against_torchvision, against_derivatives):
        print(f"  {other.__name__.replace('_', ' ')}: {other(library, random)}")
    print(f"{total} elements compared with NumPy, none different")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--cases"):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[3]) if len(sys.argv) == 4 else CASES)
