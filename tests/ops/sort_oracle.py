#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares TOP_K and TOP_K1 with NumPy's stable sort, bit for bit: every element and index type, ranks 1 to 8, every
axis, inputs and outputs in any layout. The bytes between the elements of an output are compared too.

usage: sort_oracle.py LIBANYDML [--cases N] [--torch]

--torch: compares PyTorch with these answers instead, on rows without ties, whose order PyTorch does not define.
"""
import argparse
import sys

import numpy as np

from move_oracle import draw_shape, lay_out, same_memory
from numpy_oracle import SEED, TYPES, Library

CASES = 90  # per type
INDEX_TYPES = (np.uint32, np.int32, np.uint64, np.int64)
# Rows around the block and chunk sizes of keys, contiguous and strided, with small and large K.
LARGE = [((3, 31), 1), ((3, 33), 1), ((5, 300), 1), ((300, 5), 0), ((2, 4096), 1), ((2, 4097), 1), ((1, 70_001), 1),
         ((4, 9000), 1), ((513, 40), 0), ((2, 600, 9), 1), ((9000, 17), 0), ((1200, 3), 1)]


def draw_elements(random, array, dtype, kind):
    """Fills the array with random bits, with a few distinct numbers and special values, or with sorted numbers."""
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    if kind == "bits":
        return  # it already has random bytes
    if kind == "ties":
        few = random.integers(0, 4, 5).astype(dtype)
        special = [0, 1, info.max, info.min]
        if dtype.kind == "f":
            special += [-0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, info.smallest_subnormal, -info.smallest_subnormal]
        elements = random.choice(np.concatenate([few, np.array(special, dtype)]), array.shape)
        if dtype.kind == "f":  # NaNs with several payloads
            bits = elements.view(f"u{dtype.itemsize}")
            nan = np.isnan(elements)
            bits[nan] ^= random.integers(0, 200, int(nan.sum())).astype(bits.dtype)
    else:
        with np.errstate(all="ignore"):
            elements = np.arange(array.size).reshape(array.shape).astype(dtype)
        elements = np.flip(elements) if kind == "falling" else elements
    array.view(dtype)[...] = elements


def answer(x, axis, k, largest):
    """The indices of the first K elements. Equal elements keep their order, and NaN counts as the largest."""
    if largest:
        turned = np.argsort(np.flip(x, axis), axis, kind="stable")
        positions = x.shape[axis] - 1 - np.flip(turned, axis)
    else:
        positions = np.argsort(x, axis, kind="stable")
    return np.take(positions, np.arange(k), axis)


def check_nan_order():
    """Checks that NumPy's stable sort treats all NaNs as equal, regardless of their bits, for every float type."""
    for dtype in (np.float16, np.float32, np.float64):
        x = np.array([np.nan, 1, -np.nan, np.inf, -0.0, 0.0, -1], dtype)
        assert answer(x, 0, 7, False).tolist() == [6, 4, 5, 1, 3, 0, 2], dtype
        assert answer(x, 0, 7, True).tolist() == [0, 2, 3, 1, 4, 5, 6], dtype


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.unsigned = np.dtype(f"u{self.dtype.itemsize}")
        self.elements = self.cases = 0

    def compare(self, shape, axis, k, plain=False):
        x, _ = lay_out(self.random, shape, self.unsigned, not plain)
        if plain:
            x = self.random.integers(0, 256, (*shape, self.unsigned.itemsize), np.uint8).view(self.unsigned)[..., 0].copy()
        if 0 not in x.strides:  # repeated elements keep their random bits
            draw_elements(self.random, x, self.dtype, self.random.choice(["bits", "ties", "rising", "falling"]))
        index = np.dtype(self.random.choice(INDEX_TYPES))
        largest = bool(self.random.integers(0, 2))
        older = largest and self.random.random() < 0.4
        positions = answer(x.view(self.dtype), axis, k, largest)
        wanted = [(np.take_along_axis(x, positions, axis), self.unsigned), (positions.astype(index), index)]
        outputs, expected = [], []
        for result, dtype in wanted:
            array, memory = lay_out(self.random, result.shape, dtype, False)
            twin, copied = same_memory(array, memory)
            twin[...] = result
            outputs.append((array, memory))
            expected.append(copied)
        attributes = (("Axis", axis), ("K", k))
        if not older:
            attributes += (("AxisDirection", int(largest)),)
        name = "TOP_K" if older else "TOP_K1"
        self.library.run(name, [x.view(self.dtype)], [outputs[0][0].view(self.dtype), outputs[1][0]], attributes)
        for number, ((array, memory), copied) in enumerate(zip(outputs, expected)):
            if not np.array_equal(memory, copied):
                sys.exit(f"{name} {self.dtype} of {x.shape} by {x.strides} with {attributes}: output {number}, "
                         f"{array.shape} by {array.strides}, differs from NumPy")
            self.elements += array.size
        self.cases += 1


def draw_k(random, size):
    return int(random.choice([1, size, random.integers(1, size + 1), random.integers(1, max(2, size // 8 + 1))]))


def compare_torch(random):
    import torch
    for dtype in (np.float32, np.float16, np.int32, np.int64):
        x = random.permutation(40_000)[:30_000].reshape(3, 10_000).astype(np.int32).astype(dtype)
        if dtype == np.float16:
            x = np.arange(1, 3001, dtype=np.uint16).view(np.float16)[random.permutation(3000)].reshape(3, 1000)
        for largest in (False, True):
            values, positions = torch.topk(torch.from_numpy(x), 100, 1, largest)
            assert np.array_equal(positions.numpy(), answer(x, 1, 100, largest)), dtype
    print("PyTorch gives the same answers")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    random = np.random.default_rng(SEED)
    check_nan_order()
    if options.torch:
        return compare_torch(random)
    library = Library(options.library)
    cases = elements = 0
    for _, dtype in TYPES.values():
        checks = Checks(library, random, dtype)
        for _ in range(options.cases):
            shape = draw_shape(random, 1)
            axis = int(random.integers(0, len(shape)))
            shape[axis] = int(random.choice([1, 2, 7, 40, 100])) if len(shape) < 5 else max(1, shape[axis])
            checks.compare(shape, axis, draw_k(random, shape[axis]))
        for shape, axis in LARGE:
            for plain in (True, False):
                checks.compare(shape, axis, draw_k(random, shape[axis]), plain)
        cases, elements = cases + checks.cases, elements + checks.elements
    print(f"TOP_K and TOP_K1: {cases} cases, {elements} elements match NumPy")


if __name__ == "__main__":
    main()
