#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators that resample with the NumPy program in docs/numerics.md, bit for bit: every type, ranks 0 to
8, all modes, inputs and outputs in any layout. The bytes between the elements of an output are compared too. If the
onnx package is installed, its reference evaluator for Resize is a second reference, within an error bound.

usage: resample_oracle.py LIBANYDML [--cases N]
"""
import sys

import numpy as np

from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, TYPES, Library, count_different, random_values
from resample_reference import resample

CASES = 25  # per operator and type
MEAN_TYPES = (np.float32, np.float16, np.int8, np.uint8)
# Input and output sizes around the edges of vectors, tiles and loads; images in both layouts.
LARGE = [((2, 3, 17, 33), (2, 3, 34, 66)), ((1, 2, 40, 64), (1, 2, 20, 32)), ((2, 9, 10, 24), (2, 18, 20, 24)),
         ((5000,), (10_000,)), ((9001,), (4500,)), ((1, 1, 5, 4100), (1, 1, 7, 4099)), ((3, 6000), (7, 6000)),
         ((40_000,), (37,)), ((4, 5, 6, 7), (7, 6, 9, 11)), ((2, 12, 5000), (2, 23, 5000))]


def draw_shapes(random):
    rank = int(random.integers(0, 9))
    most = (8 if rank < 4 else 4 if rank < 6 else 2) + 1
    sizes, out_sizes = [], []
    for _ in range(rank):
        sizes.append(int(random.integers(1, most)))
        out_sizes.append(sizes[-1] if random.random() < 0.4 else 0 if random.random() < 0.01 else int(
            random.integers(1, most + 4)))
    return sizes, out_sizes


def draw_dimension(random, size, out_size):
    """A scale and offsets, either those of one of Resize's coordinate transformation modes or random ones."""
    scale = np.float32(out_size / size) if out_size and random.random() < 0.7 else np.float32(
        random.choice([0.25, 0.5, 1, 1.5, 2, 3, 4, np.float32(random.uniform(0.05, 8)), 3.4028235e38, 1e-3]))
    offsets = random.choice(5)
    if offsets == 4:
        return float(scale), float(np.float32(random.normal())), float(np.float32(random.normal()))
    return float(scale), *[(0.5, -0.5), (0.5, -0.5), (0.0, 0.0), (0.0, -0.5)][offsets]


def elements(random, dtype, shape, kind):
    count = int(np.prod(shape, dtype=np.int64))
    if kind == "any" or np.dtype(dtype).kind != "f":
        return random_values(random, dtype, count).reshape(shape)
    return (random.standard_normal(count) * 10.0 ** random.uniform(-2, 2)).astype(dtype).reshape(shape)


class Checks:
    def __init__(self, library, random):
        self.library, self.random, self.count, self.cases = library, random, 0, 0

    def compare(self, name, x, sizes, dimensions, kind, attributes):
        expected = resample(x, sizes, dimensions, kind)
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        (placed_input, _), (array, memory) = lay_out(self.random, x.shape, unsigned, False), lay_out(
            self.random, sizes, unsigned, False)
        placed_input[...] = x.view(unsigned)
        if self.random.random() < 0.3:  # packed, like most tensors
            placed_input = np.array(placed_input, order="C")
            memory = self.random.integers(0, 256, expected.nbytes + 64, dtype=np.uint8)
            array = np.ndarray(sizes, unsigned, memory)
        twin, copied = same_memory(array, memory)
        self.library.run(name, [placed_input.view(x.dtype)], array.view(x.dtype), attributes)
        found = np.array(array).view(x.dtype)
        different = count_different(found.reshape(expected.shape), expected)
        twin[...] = array
        if different.any() or not np.array_equal(copied, memory):
            where = tuple(np.argwhere(different)[0]) if different.any() else None
            sys.exit(f"{name} {x.dtype} of {x.shape} to {sizes} with {attributes}: {different.sum()} of {expected.size} "
                     f"differ; first {where}: " + (f"{found[where]!r}, expected {expected[where]!r}" if where is not None
                                                   else "bytes between the elements were written"))
        self.count += expected.size
        self.cases += 1

    def draw(self, name, dtype, sizes=None, out_sizes=None):
        random = self.random
        linear = dtype in MEAN_TYPES and random.random() < 0.7
        mode = ("InterpolationMode", "LINEAR" if linear else "NEAREST_NEIGHBOR")
        if sizes is None:
            sizes, out_sizes = draw_shapes(random)
        x = elements(random, dtype, sizes, random.choice(["any", "everyday"]))
        if name == "UPSAMPLE_2D":
            width, height = map(int, random.integers(1, 5, 2))
            scales = ([1] * 8 + [height, width])[-x.ndim:] if x.ndim else []
            if x.ndim < 2:
                height = 1
            if x.ndim < 1:
                width = 1
            scales = ([1] * 8 + [height, width])[-x.ndim:] if x.ndim else []
            dimensions = [(scale, 0.5 if linear else 0.0, -0.5) for scale in scales]
            self.compare(name, x, [size * scale for size, scale in zip(sizes, scales)], dimensions,
                         "linear" if linear else "decreasing", (("ScaleSize", (width, height)), mode))
            return
        drawn = [draw_dimension(random, size, out_size) for size, out_size in zip(sizes, out_sizes)]
        if name == "RESAMPLE":
            drawn = [(scale, 0.5, -0.5) for scale, _, _ in drawn]
        scales, inputs, outputs = (tuple(map(float, one)) for one in zip(*drawn)) if drawn else ((), (), ())
        attributes = [mode, ("Scales", scales)]
        kind = "linear" if linear else "decreasing"
        if name != "RESAMPLE":
            attributes += [("InputPixelOffsets", inputs), ("OutputPixelOffsets", outputs)]
        if name in ("RESAMPLE2", "RESAMPLE3"):
            increases = bool(random.integers(0, 2))
            attributes.append(("RoundingDirection", "INCREASING" if increases else "DECREASING"))
            kind = kind if linear or not increases else "increasing"
        elif not linear:
            drawn = [(scale, float(np.float32(before) - np.float32(0.5)), after) for scale, before, after in drawn]
        if name == "RESAMPLE3":
            antialiased = bool(random.integers(0, 2))
            attributes.append(("Antialiased", int(antialiased)))
            kind = "antialiased" if linear and antialiased else kind
        self.compare(name, x, out_sizes, drawn, kind, tuple(attributes))


def long_dimensions(checks):
    """Indices that FLOAT32 cannot represent: a copy returns its input, and upsampling repeats each element."""
    size = 2**24 + 3
    x = (np.arange(size, dtype=np.int64) % 251).astype(np.uint8)
    out = np.zeros(size, np.uint8)
    offsets = (("InputPixelOffsets", (0.25,)), ("OutputPixelOffsets", (-0.75,)))
    checks.library.run("RESAMPLE2", [x], out, (("InterpolationMode", "NEAREST_NEIGHBOR"), ("Scales", (1.0,)),
                                              ("RoundingDirection", "DECREASING"), *offsets))
    if not np.array_equal(out, x):
        sys.exit("RESAMPLE2 changes a long dimension that it should copy")
    out = np.zeros(2 * size, np.uint8)
    checks.library.run("UPSAMPLE_2D", [x], out, (("ScaleSize", (2, 1)), ("InterpolationMode", "NEAREST_NEIGHBOR")))
    if not np.array_equal(out, np.repeat(x, 2)):
        sys.exit("UPSAMPLE_2D of a long dimension does not repeat each element")
    checks.count += 3 * size
    checks.cases += 2


def against_onnx(checks):
    """Compares with the reference evaluator's Resize in two coordinate transformation modes, as a second check of the
    formulas."""
    try:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  the onnx package is not installed: no second reference")
        return
    compared = 0
    for sizes, out_sizes in (((1, 1, 4, 5), (1, 1, 8, 10)), ((1, 2, 8, 6), (1, 2, 4, 3)), ((1, 1, 5, 7), (1, 1, 8, 3))):
        for antialias in (0, 1):
            for transformation, offsets in (("half_pixel", (0.5, -0.5)), ("asymmetric", (0.0, 0.0))):
                node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", antialias=antialias,
                                        coordinate_transformation_mode=transformation)
                graph = helper.make_graph(
                    [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes),
                                  helper.make_tensor_value_info("scales", TensorProto.FLOAT, [4])],
                    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
                x = checks.random.standard_normal(sizes).astype(np.float32)
                scales = np.array([a / b for a, b in zip(out_sizes, sizes)], np.float32)
                if [int(np.floor(a * b)) for a, b in zip(sizes, scales)] != list(out_sizes):
                    continue
                expected = ReferenceEvaluator(model).run(None, {"x": x, "scales": scales})[0]
                out = np.zeros(out_sizes, np.float32)
                checks.library.run("RESAMPLE3", [x], out, (
                    ("InterpolationMode", "LINEAR"), ("RoundingDirection", "DECREASING"),
                    ("Scales", tuple(map(float, scales))), ("InputPixelOffsets", (offsets[0],) * 4),
                    ("OutputPixelOffsets", (offsets[1],) * 4), ("Antialiased", antialias)))
                if not np.allclose(out, expected, rtol=1e-5, atol=1e-5):
                    sys.exit(f"Resize {transformation} of {sizes} to {out_sizes}, antialias {antialias}: {out} is far "
                             f"from ONNX's {expected}")
                compared += out.size
    print(f"  {compared} elements close to ONNX's reference")


def main(path, cases):
    library = Library(path)
    random = np.random.default_rng(SEED)
    np.seterr(all="ignore")
    print(f"NumPy {np.__version__}, seed {SEED}")
    total = number = 0
    for name in ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "UPSAMPLE_2D"):
        checks = Checks(library, random)
        for position, (_, dtype) in enumerate(TYPES.values()):
            for _ in range(cases if dtype in MEAN_TYPES else cases // 4):
                checks.draw(name, dtype)
        for position, (sizes, out_sizes) in enumerate(LARGE):
            checks.draw(name, MEAN_TYPES[(position + number) % 4 if position % 2 else 0], sizes, out_sizes)
        if name == "RESAMPLE3":
            long_dimensions(checks)
            against_onnx(checks)
        print(f"  {name:12} {checks.count:9} elements, none different")
        total, number = total + checks.count, number + checks.cases
    print(f"{total} elements of {number} cases compared with NumPy, none different")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--cases"):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[3]) if len(sys.argv) == 4 else CASES)
