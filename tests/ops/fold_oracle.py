#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares FOLD and VALUE_SCALE_2D with NumPy, bit for bit: every type, one to six spatial dimensions, inputs and
outputs in any layout. docs/numerics.md defines the order of the sums.

usage: fold_oracle.py LIBANYDML [--cases N] [--torch]

--torch: also compares FOLD and UNFOLD in two spatial dimensions with PyTorch, within its rounding error.
"""
import argparse
import sys

import numpy as np

from move_oracle import Window, draw_window, lay_out, same_memory, window_attributes
from numpy_oracle import SEED, TYPES, Library, count_different, random_values

LARGE = [(2, 3, 70, 65), (1, 2, 5000), (1, 1, 4097), (3, 40, 9, 8), (1, 2, 20, 30, 17)]


def fold(x, channels, dimensions):
    """The program in docs/numerics.md: adds the elements at each position of the window, row by row."""
    given, wide = x.dtype, np.float32 if x.dtype == np.float16 else x.dtype.type
    shape = [one.size + one.start + one.end for one in dimensions]
    sums = np.full((len(x), channels, *shape), -0.0 if x.dtype.kind == "f" else 0, wide)
    covered = np.zeros(shape, bool)
    windows = [one.window for one in dimensions]
    x = x.reshape(len(x), channels, *windows, *(one.blocks for one in dimensions)).astype(wide)
    for position in np.ndindex(*windows):
        positions = tuple(slice(k * one.dilation, k * one.dilation + (one.blocks - 1) * one.stride + 1, one.stride)
                       for k, one in zip(position, dimensions))
        sums[(..., *positions)] += x[(slice(None), slice(None), *position)]
        covered[positions] = True
    kept = (..., *(slice(one.start, one.start + one.size) for one in dimensions))
    return np.where(covered[kept], sums[kept], wide(0)).astype(given)


def draw(random, dtype, shape, kind):
    """Returns an array in any layout, and its memory. The elements are random bits, or small numbers whose sums reveal
    the order of the additions."""
    array, memory = lay_out(random, shape, np.dtype(dtype), True)
    values = random_values(random, dtype, array.size).reshape(shape)
    if kind == "small" and np.dtype(dtype).kind == "f":
        values = np.where(random.random(shape) < 0.05, -0.0, random.standard_normal(shape)).astype(dtype)
    array[...] = values
    return array, memory


def compare(library, random, name, x, answer, attributes):
    out, memory = lay_out(random, answer.shape, answer.dtype, False)
    twin, expected = same_memory(out, memory)
    library.run(name, [x], out, attributes)
    found = out.copy()
    different = count_different(found, answer)
    if different.any():
        where = tuple(np.argwhere(different)[0])
        sys.exit(f"{name} of {x.dtype} {x.shape} by {x.strides} with {attributes}: {different.sum()} of {out.size} differ; "
                 f"first {where}: {found[where]!r}, expected {answer[where]!r}")
    twin[...] = found
    if not np.array_equal(memory, expected):
        sys.exit(f"{name} of {x.dtype} {x.shape}: bytes between the elements of the output changed")
    return out.size


def check_fold(library, random, dtype, shape):
    dimensions = [draw_window(random, size, 4 if len(shape) < 6 else 2) for size in shape[2:]]
    windows, blocks = (int(np.prod([getattr(one, name) for one in dimensions])) for name in ("window", "blocks"))
    x, _ = draw(random, dtype, (shape[0], shape[1] * windows, blocks), random.choice(["small", "small", "any"]))
    with np.errstate(all="ignore"):
        answer = fold(x, shape[1], dimensions)
    return compare(library, random, "FOLD", x, answer, window_attributes(dimensions))


def check_scale(library, random, dtype, shape):
    shape = (shape[0], int(random.choice([1, 3])), *shape[2:])
    wide = np.float64 if dtype == np.float64 else np.float32
    scale, *bias = (float(np.float32(number)) for number in random.standard_normal(1 + shape[1]))
    x, _ = draw(random, dtype, shape, random.choice(["small", "any"]))
    with np.errstate(all="ignore"):
        products = x.astype(wide) * wide(scale)
        answer = (products + np.array(bias, wide).reshape(1, -1, *[1] * (len(shape) - 2))).astype(dtype)
    attributes = (("Scale", scale), ("Bias", tuple(bias)))
    return compare(library, random, "VALUE_SCALE_2D", x, answer, attributes)


def check_torch(library, random, cases):
    import torch
    from torch.nn import functional
    for _ in range(cases):
        shape = [int(size) for size in random.integers(1, 20, 4)]
        dimensions = [draw_window(random, size, 4) for size in shape[2:]]
        dimensions = [one._replace(end=max(one.start, one.end), start=max(one.start, one.end)) for one in dimensions]
        options = {"kernel_size": [one.window for one in dimensions], "stride": [one.stride for one in dimensions],
                   "dilation": [one.dilation for one in dimensions], "padding": [one.start for one in dimensions]}
        x = random.standard_normal(shape)
        blocks = functional.unfold(torch.from_numpy(x), **options).numpy()
        out = np.empty_like(blocks)
        library.run("UNFOLD", [x], out, window_attributes(dimensions))
        if not np.array_equal(out, blocks):
            sys.exit(f"UNFOLD of {shape} with {options} differs from PyTorch")
        y = random.standard_normal(blocks.shape)
        summed = functional.fold(torch.from_numpy(y), shape[2:], **options).numpy()
        out = np.empty_like(summed)
        library.run("FOLD", [y], out, window_attributes(dimensions))
        if not np.allclose(out, summed, 1e-12, 1e-12):
            sys.exit(f"FOLD of {shape} with {options} differs from PyTorch")
    print(f"{cases} cases of FOLD and UNFOLD match PyTorch {torch.__version__}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=80, help="per operator and type")
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    library, random = Library(options.library), np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    # The example from the documentation: every position of a 3 x 3 window adds 1.
    ones = np.ones((1, 9, 4), np.float32)
    window = Window(4, 3, 1, 1, 0, 0)
    if fold(ones, 1, [window, window])[0, 0].tolist() != [[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]]:
        sys.exit("the program of this oracle is wrong")
    for name, check in (("FOLD", check_fold), ("VALUE_SCALE_2D", check_scale)):
        cases = elements = 0
        for number, (_, dtype) in enumerate(TYPES.values()):
            if name == "VALUE_SCALE_2D" and np.dtype(dtype).kind != "f":
                continue
            shapes = []
            for _ in range(options.cases):
                rank = int(random.integers(3, 9 if name == "FOLD" else 6))
                shapes.append(tuple(int(size) for size in random.integers(0 if random.random() < 0.03 else 1,
                                                                          7 if rank < 6 else 4, rank)))
            shapes += [shape for index, shape in enumerate(LARGE) if (index + number) % 2 == 0]
            elements += sum(check(library, random, dtype, shape) for shape in shapes)
            cases += len(shapes)
        print(f"  {name:15} {elements} elements of {cases} cases compared with NumPy, none different")
    if options.torch:
        check_torch(library, random, options.cases)


if __name__ == "__main__":
    main()
