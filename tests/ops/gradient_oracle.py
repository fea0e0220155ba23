#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the gradients of resampling and pooling with the NumPy programs in docs/numerics.md, bit for bit: FLOAT32
and FLOAT16, all modes, tensors in any layout. The bytes between the elements of an output are compared too. If PyTorch
is installed, its autograd in FLOAT64 is a second reference, within an error bound.

usage: gradient_oracle.py LIBANYDML [--cases N]
"""
import argparse
import sys

import numpy as np

from gradient_reference import average_gradient, max_gradient, resample_gradient
from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, Library, count_different, random_values
from pool_oracle import draw_windows, output_sizes
from resample_oracle import draw_dimension, draw_shapes

CASES = 60  # per operator and type
# Sizes of the output gradient and of the input gradient, around the edges of vectors, tiles and chunks.
RESAMPLED = [((2, 3, 17, 33), (2, 3, 34, 66)), ((1, 2, 40, 64), (1, 2, 20, 32)), ((2, 9, 10, 24), (2, 18, 20, 24)),
             ((5000,), (10_000,)), ((9001,), (4500,)), ((1, 1, 5, 4100), (1, 1, 7, 4099)), ((3, 6000), (7, 6000)),
             ((37,), (40_000,)), ((4, 5, 6, 7), (7, 6, 9, 11)), ((1, 3, 1, 1), (1, 3, 130, 170)), ((3,), (70_000,)),
             ((2, 4, 20, 40), (2, 4, 60, 120)), ((1, 2, 11, 70), (1, 2, 44, 280)), ((1, 30, 70), (1, 30, 560))]
# The sizes of the output gradient, the window, the strides and the paddings, as in pool_oracle.LARGE.
POOLED = [((2, 3, 9, 4099), (3, 3), (1, 1), (1, 1)), ((1, 2, 7, 8200), (2, 3), (2, 2), (0, 1)),
          ((2, 65, 12, 13), (3, 3), (2, 2), (1, 1)), ((1, 3, 40, 41), (9, 9), (1, 1), (4, 4)),
          ((1, 2, 5, 300), (5, 70), (1, 3), (0, 5)), ((1, 70, 9, 33), (1, 2), (1, 1), (0, 0)),
          ((3, 4, 33, 35), (33, 35), (1, 1), (0, 0)), ((1, 2, 30_001), (4,), (3,), (2,)),
          ((1, 2, 6, 7, 50), (2, 3, 3), (1, 2, 1), (1, 0, 1)), ((2, 3, 32, 64), (2, 2), (2, 2), (0, 0))]


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.elements = self.cases = 0

    def values(self, shape):
        """Random bits, or numbers with frequent duplicates and zeros of both signs."""
        count = int(np.prod(shape, dtype=np.int64))
        if self.random.random() < 0.2:
            return random_values(self.random, self.dtype.type, count).reshape(shape)
        some = self.random.standard_normal(count) * 10.0 ** self.random.uniform(-2, 2)
        some = np.where(self.random.random(count) < 0.3, self.random.integers(-2, 3, count), some)
        return np.where(self.random.random(count) < 0.1, -some, some).astype(self.dtype).reshape(shape)

    def position(self, values):
        kind = self.random.random()
        if kind < 0.4 or values.ndim < 2:
            return values
        if kind < 0.6:  # channels innermost
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 1, -1)), -1, 1)
        laid, _ = lay_out(self.random, values.shape, np.dtype(f"u{values.dtype.itemsize}"), kind > 0.9)
        array = laid.view(values.dtype)
        array[...] = values
        return array

    def compare(self, name, inputs, expected, attributes):
        unsigned = np.dtype(f"u{self.dtype.itemsize}")
        array, memory = lay_out(self.random, expected.shape, unsigned, False)
        if self.random.random() < 0.5:  # packed, like most tensors
            memory = self.random.integers(0, 256, expected.nbytes + 64, dtype=np.uint8)
            array = np.ndarray(expected.shape, unsigned, memory)
        twin, copied = same_memory(array, memory)
        self.library.run(name, inputs, array.view(self.dtype), attributes)
        found = np.array(array).view(self.dtype)
        different = count_different(found.reshape(expected.shape), expected)
        twin[...] = array
        if different.any() or not np.array_equal(copied, memory):
            where = tuple(np.argwhere(different)[0]) if different.any() else None
            sys.exit(f"{name} {self.dtype} of {[one.shape for one in inputs]} by {[one.strides for one in inputs]} to "
                     f"{expected.shape} by {array.strides} with {attributes}: {different.sum()} of {expected.size} differ; "
                     f"first {where}: " + (f"{found[where]!r}, expected {expected[where]!r}" if where is not None else
                                           "bytes between the elements were written"))
        self.elements += expected.size
        self.cases += 1

    def resample(self, name, sizes=None, from_sizes=None):
        random = self.random
        linear = random.random() < 0.7
        if sizes is None:
            sizes, from_sizes = draw_shapes(random)
        drawn = [draw_dimension(random, size, out_size) for size, out_size in zip(sizes, from_sizes)]
        scales, inputs, outputs = (tuple(map(float, one)) for one in zip(*drawn)) if drawn else ((), (), ())
        attributes = [("InterpolationMode", "LINEAR" if linear else "NEAREST_NEIGHBOR"), ("Scales", scales),
                      ("InputPixelOffsets", inputs), ("OutputPixelOffsets", outputs)]
        kind = "linear" if linear else "decreasing"
        if name == "RESAMPLE_GRAD1":
            increases = bool(random.integers(0, 2))
            attributes.append(("RoundingDirection", "INCREASING" if increases else "DECREASING"))
            kind = kind if linear or not increases else "increasing"
        elif not linear:
            drawn = [(scale, float(np.float32(before) - np.float32(0.5)), after) for scale, before, after in drawn]
        gradient = self.position(self.values(from_sizes))
        self.compare(name, [gradient], resample_gradient(gradient, sizes, drawn, kind), tuple(attributes))

    def pool(self, name, shape, windows):
        """windows: as returned by draw_windows."""
        is_max = name.startswith("MAX")
        if not is_max:
            windows = (*windows[:3], [1] * len(windows[0]), *windows[4:])
        space, window, strides, dilations, start, end = windows
        gradient = self.position(self.values((*shape, *output_sizes(*windows))))
        attributes = [("Strides", tuple(strides)), ("WindowSize", tuple(window)), ("StartPadding", tuple(start)),
                      ("EndPadding", tuple(end))]
        if is_max:
            x = self.position(self.values((*shape, *space)))
            expected = max_gradient(x, gradient, window, strides, dilations, start)
            self.compare(name, [x, gradient], expected,
                         (*attributes, ("Dilations", tuple(dilations))))
        else:
            include = int(self.random.integers(0, 2))
            expected = average_gradient(gradient, space, window, strides, start, include)
            self.compare(name, [gradient], expected, (*attributes, ("IncludePadding", include)))


def against_torch(library, random):
    """Compares with PyTorch's autograd in FLOAT64 on the same numbers."""
    try:
        import torch
        from torch.nn import functional
    except ImportError:
        print("  PyTorch is not installed: no second reference")
        return
    compared = 0

    def hold(name, inputs, x, y, attributes):
        """x: the forward input in FLOAT64, y: the forward output; inputs[-1]: the input gradient."""
        nonlocal compared
        y.backward(torch.tensor(inputs[-1].astype(np.float64)))
        out = np.zeros(tuple(x.shape), np.float32)
        library.run(name, inputs, out, attributes)
        if not np.allclose(out, x.grad.numpy(), rtol=1e-5, atol=1e-5):
            sys.exit(f"{name} with {attributes}: {out} is far from PyTorch's {x.grad.numpy()}")
        compared += out.size

    def draw(*shape):
        return random.standard_normal(shape).astype(np.float32)

    for sizes, scale in (((7, 9), (2, 2)), ((12, 8), (0.5, 0.25)), ((5, 6), (3, 1)), ((1, 4), (5, 2)), ((9, 10), (1.5, 0.7))):
        outputs = [int(size * by) for size, by in zip(sizes, scale)]
        scales = (1.0, 1.0, *(float(np.float32(out / size)) for out, size in zip(outputs, sizes)))
        for mode in ("bilinear", "nearest-exact"):
            x = torch.tensor(draw(2, 3, *sizes).astype(np.float64), requires_grad=True)
            y = functional.interpolate(x, size=outputs, mode=mode)
            attributes = (("InterpolationMode", "LINEAR" if mode == "bilinear" else "NEAREST_NEIGHBOR"), ("Scales", scales),
                          ("InputPixelOffsets", (0.5,) * 4), ("OutputPixelOffsets", (-0.5,) * 4))
            hold("RESAMPLE_GRAD", [draw(*y.shape)], x, y, attributes)
    for window, stride, pad in ((2, 2, 0), (3, 1, 1), (3, 2, 1), (5, 3, 2), (4, 1, 0)):
        windows = (("Strides", (stride, stride)), ("WindowSize", (window, window)), ("StartPadding", (pad, pad)),
                   ("EndPadding", (pad, pad)))
        for include in (0, 1):
            x = torch.tensor(draw(2, 3, 13, 14).astype(np.float64), requires_grad=True)
            y = functional.avg_pool2d(x, window, stride, pad, count_include_pad=bool(include))
            hold("AVERAGE_POOLING_GRAD", [draw(*y.shape)], x, y, (*windows, ("IncludePadding", include)))
        for dilation in (1, 2):
            data = draw(2, 3, 13, 14)
            data[0, 0] = np.round(data[0, 0]) + 0.0  # equal elements, of which the first counts; no -0
            x = torch.tensor(data.astype(np.float64), requires_grad=True)
            y = functional.max_pool2d(x, window, stride, pad, dilation)
            hold("MAX_POOLING_GRAD", [data, draw(*y.shape)], x, y, (*windows, ("Dilations", (dilation, dilation))))
    print(f"  {compared} elements close to PyTorch's autograd")


def main(path, cases):
    library = Library(path)
    random = np.random.default_rng(SEED)
    np.seterr(all="ignore")
    print(f"NumPy {np.__version__}, seed {SEED}")
    total = number = 0
    for position, name in enumerate(("RESAMPLE_GRAD", "RESAMPLE_GRAD1", "AVERAGE_POOLING_GRAD", "MAX_POOLING_GRAD")):
        elements = 0
        for dtype in (np.float32, np.float16):
            checks = Checks(library, random, dtype)
            for case in range(cases):
                if name.startswith("RESAMPLE"):
                    checks.resample(name)
                else:
                    shape = [0 if random.random() < 0.02 else int(random.integers(1, 4)) for _ in range(2)]
                    checks.pool(name, shape, draw_windows(random, int(random.choice([1, 2, 2, 2, 3, 4, 5]))))
            if name.startswith("RESAMPLE"):
                for sizes, from_sizes in RESAMPLED[(dtype == np.float16) ^ (position % 2)::2]:
                    checks.resample(name, sizes, from_sizes)
            else:
                for shape, window, strides, pads in POOLED[(dtype == np.float16)::2]:
                    checks.pool(name, shape[:2], (shape[2:], window, strides, [1] * len(window), pads, pads))
            elements += checks.elements
            number += checks.cases
        print(f"  {name:20} {elements:9} elements, none different")
        total += elements
    against_torch(library, random)
    print(f"{total} elements of {number} cases compared with NumPy, none different")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=CASES)
    options = parser.parse_args()
    main(options.library, options.cases)
