# SPDX-License-Identifier: MIT
"""The cases for moving.py: the inputs, DirectML's operator, and its equivalents in PyTorch and ONNX."""
import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Callable

Case = namedtuple("Case", "name operator make")
F32 = "float32"


@dataclass
class GeneratedInput:
    """A case and its arrays.

    views: for each input, the sizes and strides in elements that DirectML's operator uses to read it, or None.
    torch(torch, inputs, outputs): a function that writes the results to the outputs, or returns a tensor. onnx: the
    node, its attributes and its constant inputs, which follow the other inputs; None stands for an omitted input.
    bytes: the bytes that must be read and written. unsigned: whether DirectML's operator treats INT64 as UINT64. order:
    the order of the inputs for ONNX, if it differs. flops: multiplications and additions of a product. near: how far
    results may differ, relative to their size. constants: the indices of the inputs that are the same in every run of
    DirectML's operator. absent: the number of inputs and outputs that are omitted at the end.
    """
    operator: str
    inputs: list
    outputs: list
    attributes: tuple
    what: str
    bytes: int
    torch: Callable | None = None
    onnx: tuple | None = None
    views: list | None = None
    unsigned: bool = False
    order: list | None = None
    flops: int = 0
    near: float | None = None
    constants: tuple = ()
    absent: tuple = (0, 0)


def size_of(shape, itemsize=4):
    return math.prod(shape) * itemsize


def by(shape):
    return " x ".join(f"{size:,}" for size in shape)


def scaled(size, scale, lowest=1):
    return max(lowest, int(size * scale))


def transposing_slice(np, random, scale):
    rows, columns = scaled(4096, math.sqrt(scale)), scaled(4096, math.sqrt(scale))
    x = random.standard_normal((rows, columns)).astype(F32)
    zeros, sizes, ones = (0, 0), (columns, rows), (1, 1)
    return GeneratedInput("SLICE1", [x], [((columns, rows), F32)],
                (("InputWindowOffsets", zeros), ("InputWindowSizes", sizes), ("InputWindowStrides", ones)),
                f"{by((rows, columns))} seen by columns", 2 * x.nbytes,
                torch=lambda torch, xs, ys: lambda: ys[0].copy_(xs[0].t()), onnx=("Transpose", {"perm": [1, 0]}, {}),
                views=[((columns, rows), (1, columns))])


def join(np, random, scale):
    shape = (scaled(1024, scale), 4096)
    xs = [random.standard_normal(shape).astype(F32) for _ in range(4)]
    return GeneratedInput("JOIN", xs, [((shape[0], 4 * shape[1]), F32)], (("Axis", 1),), f"4 of {by(shape)} along the last axis",
                2 * 4 * xs[0].nbytes, torch=lambda torch, xs, ys: lambda: torch.cat(xs, 1, out=ys[0]),
                onnx=("Concat", {"axis": 1}, {}))


def pad(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    x = random.standard_normal((n, c, h, w)).astype(F32)
    out = (n, c, h + 2, w + 2)
    return GeneratedInput("PADDING1", [x], [(out, F32)],
                (("PaddingMode", "CONSTANT"), ("PaddingValue", 0), ("StartPadding", (0, 0, 1, 1)),
                 ("EndPadding", (0, 0, 1, 1))), f"{by((n, c, h, w))}, 1 around each image", x.nbytes + size_of(out),
                torch=lambda torch, xs, ys: lambda: torch.nn.functional.pad(xs[0], (1, 1, 1, 1)),
                onnx=("Pad", {}, {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}))


def tile(np, random, scale):
    rows, columns = scaled(1024, scale), 1024
    x = random.standard_normal((rows, columns)).astype(F32)
    return GeneratedInput("TILE", [x], [((4 * rows, 4 * columns), F32)], (("Repeats", (4, 4)),), f"{by(x.shape)}, 4 times each way",
                x.nbytes * 17, torch=lambda torch, xs, ys: lambda: ys[0].view(4, rows, 4, columns).copy_(
                    xs[0].view(1, rows, 1, columns).expand(4, rows, 4, columns)),
                onnx=("Tile", {}, {"repeats": np.array([4, 4])}))


def space_to_depth(np, random, scale):
    n, c, h, w = scaled(16, scale), 64, 112, 112
    x = random.standard_normal((n, c, h, w)).astype(F32)

    def of_torch(torch, xs, ys):
        parts = xs[0].view(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 1, 2, 4)
        target = ys[0].view(n, 2, 2, c, h // 2, w // 2)
        return lambda: target.copy_(parts)
    return GeneratedInput("SPACE_TO_DEPTH", [x], [((n, 4 * c, h // 2, w // 2), F32)], (("BlockSize", 2),),
                f"{by(x.shape)}, blocks of 2 x 2", 2 * x.nbytes, torch=of_torch, onnx=("SpaceToDepth", {"blocksize": 2}, {}))


def reversal(np, random, scale):
    batch, length, width = scaled(64, scale), 512, 256
    x = random.standard_normal((batch, length, width)).astype(F32)
    lengths = random.integers(1, length + 1, batch).astype(np.int64)

    def of_torch(torch, xs, ys):
        positions = torch.arange(length, device=xs[0].device).expand(batch, length)
        each = xs[1].view(-1, 1)
        index = torch.where(positions < each, each - 1 - positions, positions).unsqueeze(-1).expand(batch, length, width)
        return lambda: torch.gather(xs[0], 1, index, out=ys[0])
    return GeneratedInput("REVERSE_SUBSEQUENCES", [x, lengths], [(x.shape, F32)], (("Axis", 1),),
                f"{by(x.shape)}, a length for each of the first", 2 * x.nbytes, torch=of_torch,
                onnx=("ReverseSequence", {"batch_axis": 0, "time_axis": 1}, {}),
                views=[(None, None), ((batch, 1, width), (1, 0, 0))], unsigned=True)


def windows(channels, scale):
    return scaled(8, scale), channels, 56, 56


def unfold(np, random, scale):
    n, c, h, w = windows(64, scale)
    x = random.standard_normal((n, c, h, w)).astype(F32)
    out = (n, 9 * c, h * w)
    return GeneratedInput("UNFOLD", [x], [(out, F32)], window_attributes(), f"{by(x.shape)}, windows of 3 x 3",
                x.nbytes + size_of(out), torch=lambda torch, xs, ys: lambda: torch.nn.functional.unfold(xs[0], 3, 1, 1, 1))


def fold(np, random, scale):
    n, c, h, w = windows(64, scale)
    x = random.standard_normal((n, 9 * c, h * w)).astype(F32)
    return GeneratedInput("FOLD", [x], [((n, c, h, w), F32)], window_attributes(), f"{by((n, c, h, w))}, windows of 3 x 3",
                x.nbytes + size_of((n, c, h, w)),
                torch=lambda torch, xs, ys: lambda: torch.nn.functional.fold(xs[0], (h, w), 3, 1, 1, 1),
                onnx=("Col2Im", {"pads": [1, 1, 1, 1]}, {"image_shape": np.array([h, w]), "block_shape": np.array([3, 3])}))


def window_attributes():
    return (("WindowSizes", (3, 3)), ("Strides", (1, 1)), ("Dilations", (1, 1)), ("StartPadding", (1, 1)),
            ("EndPadding", (1, 1)))


def gather_rows(np, random, scale):
    rows, width, count = 50_000, 256, scaled(65_536, scale)
    x = random.standard_normal((rows, width)).astype(F32)
    indices = random.integers(0, rows, count).astype(np.int64)
    return GeneratedInput("GATHER", [x, indices], [((count, width), F32)], (("Axis", 0), ("IndexDimensions", 1)),
                f"{count:,} rows of {width} of {rows:,}", 2 * size_of((count, width)) + indices.nbytes,
                torch=lambda torch, xs, ys: lambda: torch.index_select(xs[0], 0, xs[1], out=ys[0]),
                onnx=("Gather", {"axis": 0}, {}), views=[(None, None), ((1, count), None)])


def scatter_rows(np, random, scale):
    rows, width, count = scaled(65_536, scale), 256, scaled(32_768, scale)
    x = random.standard_normal((rows, width)).astype(F32)
    indices = random.permutation(rows)[:count].astype(np.int64).reshape(count, 1)
    updates = random.standard_normal((count, width)).astype(F32)

    def of_torch(torch, xs, ys):
        def run():
            ys[0].copy_(xs[0])
            ys[0].index_copy_(0, xs[1].view(-1), xs[2])
        return run
    return GeneratedInput("SCATTER_ND", [x, indices, updates], [(x.shape, F32)],
                (("InputDimensionCount", 2), ("IndicesDimensionCount", 2)), f"{count:,} of {rows:,} rows of {width}",
                2 * x.nbytes + 2 * updates.nbytes + indices.nbytes, torch=of_torch, onnx=("ScatterND", {}, {}))


def pooling(kind, window, stride, padding):
    def make(np, random, scale):
        n, c, h, w = scaled(16, scale), 64, 112, 112
        x = random.standard_normal((n, c, h, w)).astype(F32)
        out = (n, c, *((size + 2 * padding - window) // stride + 1 for size in (h, w)))
        attributes = [("Strides", (stride, stride)), ("WindowSize", (window, window)), ("StartPadding", (padding, padding)),
                      ("EndPadding", (padding, padding))]
        if kind == "AVERAGE":
            attributes.append(("IncludePadding", 0))

        def of_torch(torch, xs, ys):
            if kind == "MAX":
                return lambda: torch.nn.functional.max_pool2d(xs[0], window, stride, padding)
            return lambda: torch.nn.functional.avg_pool2d(xs[0], window, stride, padding, count_include_pad=False)
        return GeneratedInput(f"{kind}_POOLING", [x], [(out, F32)], tuple(attributes),
                    f"{by(x.shape)}, {window} x {window}, stride {stride}", x.nbytes + size_of(out), torch=of_torch,
                    onnx=("MaxPool" if kind == "MAX" else "AveragePool",
                                      {"kernel_shape": [window] * 2, "strides": [stride] * 2, "pads": [padding] * 4}, {}))
    return make


def resize(mode):
    def make(np, random, scale):
        n, c, h, w = scaled(8, scale), 64, 56, 56
        x = random.standard_normal((n, c, h, w)).astype(F32)
        out = (n, c, 2 * h, 2 * w)
        nearest = mode == "NEAREST_NEIGHBOR"
        options = {"mode": "nearest"} if nearest else {"mode": "bilinear", "align_corners": False}
        onnx = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if nearest else {
            "mode": "linear", "coordinate_transformation_mode": "half_pixel"}
        # Pixels are at their centers: 0.5 is added for the input and subtracted for the output. At twice the size, the
        # nearest pixels are the same as in the other convention.
        return GeneratedInput("RESAMPLE1", [x], [(out, F32)],
                    (("InterpolationMode", mode), ("Scales", (1.0, 1.0, 2.0, 2.0)),
                     ("InputPixelOffsets", (0.5, 0.5, 0.5, 0.5)), ("OutputPixelOffsets", (-0.5, -0.5, -0.5, -0.5))),
                    f"{by(x.shape)}, twice as high and wide", x.nbytes + size_of(out),
                    torch=lambda torch, xs, ys: lambda: torch.nn.functional.interpolate(xs[0], scale_factor=2, **options),
                    onnx=("Resize", onnx, {"roi": None, "scales": np.array([1, 1, 2, 2], np.float32)}))
    return make


def top_k(np, random, scale):
    rows, width, k = scaled(4096, scale), 4096, 10
    x = random.standard_normal((rows, width)).astype(F32)
    return GeneratedInput("TOP_K1", [x], [((rows, k), F32), ((rows, k), "int64")],
                (("Axis", 1), ("K", k), ("AxisDirection", "DECREASING")), f"{k} of {width:,}, {rows:,} rows",
                x.nbytes + rows * k * 12, torch=lambda torch, xs, ys: lambda: torch.topk(xs[0], k, 1, out=(ys[0], ys[1])),
                onnx=("TopK", {"axis": 1}, {"k": np.array([k])}), unsigned=True)


CASES = [Case("transpose", "SLICE1", transposing_slice), Case("join", "JOIN", join), Case("pad", "PADDING1", pad),
         Case("tile", "TILE", tile), Case("space_to_depth", "SPACE_TO_DEPTH", space_to_depth),
         Case("reverse", "REVERSE_SUBSEQUENCES", reversal), Case("unfold", "UNFOLD", unfold), Case("fold", "FOLD", fold),
         Case("gather_rows", "GATHER", gather_rows), Case("scatter_rows", "SCATTER_ND", scatter_rows),
         Case("max_pool", "MAX_POOLING", pooling("MAX", 3, 2, 1)),
         Case("average_pool", "AVERAGE_POOLING", pooling("AVERAGE", 2, 2, 0)),
         Case("resize_linear", "RESAMPLE1", resize("LINEAR")),
         Case("resize_nearest", "RESAMPLE1", resize("NEAREST_NEIGHBOR")), Case("top_10", "TOP_K1", top_k)]
