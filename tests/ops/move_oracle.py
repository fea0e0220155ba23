#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators that move elements with NumPy, byte for byte: every type, ranks 0 to 8, inputs and outputs in
any layout. The bytes between the elements of an output are compared too.

usage: move_oracle.py LIBANYDML
"""
import sys
from functools import partial
from typing import NamedTuple

import numpy as np

from numpy_oracle import SEED, TYPES, Library

CASES = 60  # per operator and type
# Sizes around the edges of vectors, lines and tiles, for which all layouts are tried; other shapes are small.
LARGE = [(70_001,), (263, 257), (64, 65, 66), (5, 300, 129), (3000, 7), (7, 3000), (2, 3, 4, 1000), (20_000, 3, 2)]


def draw_shape(random, low_rank):
    """A random shape with few elements, of any rank, occasionally with a size of 0."""
    rank = int(random.integers(low_rank, 9))
    most = 6 if rank < 5 else 4
    return [0 if random.random() < 0.02 else int(random.integers(1, most + 1)) for _ in range(rank)]


def lay_out(random, shape, unsigned, repeats):
    """Returns an array of this shape over random bytes, and the bytes: dimensions in any order, with gaps, reversed, at
    any address. repeats: a dimension may repeat one element."""
    size = unsigned.itemsize
    strides, stride = [0] * len(shape), size
    first, last = 0, size
    for axis in random.permutation(len(shape)):
        if random.random() < 0.3:
            stride += size * int(random.integers(1, 4))
        if repeats and random.random() < 0.1:
            continue
        strides[axis] = -stride if random.random() < 0.25 else stride
        reach = max(0, shape[axis] - 1) * strides[axis]
        first, last = first + min(0, reach), last + max(0, reach)
        stride *= max(1, shape[axis])
    offset = int(random.integers(0, 9)) if random.random() < 0.5 else 64
    memory = random.integers(0, 256, last - first + offset + 16, dtype=np.uint8)
    array = np.ndarray(shape, unsigned, memory, offset - first, strides)
    return array, memory


def same_memory(array, memory):
    """Returns a copy of the memory, and the array within the copy."""
    copied = memory.copy()
    offset = array.__array_interface__["data"][0] - memory.ctypes.data if array.size else 0
    return np.ndarray(array.shape, array.dtype, copied, offset, array.strides), copied


class Window(NamedTuple):
    """The sliding window along one dimension, for FOLD and UNFOLD."""
    size: int
    window: int
    stride: int
    dilation: int
    start: int
    end: int

    @property
    def blocks(self):
        return (self.size + self.start + self.end - self.dilation * (self.window - 1) - 1) // self.stride + 1


def draw_window(random, size, most):
    """A window that fits, with padding that may be larger than it."""
    window, dilation = (int(random.integers(1, most + 1)) for _ in range(2))
    start, end = (int(random.integers(0, most) * (random.random() < 0.5)) for _ in range(2))
    end += max(0, dilation * (window - 1) + 1 - size - start - end)
    return Window(size, window, int(random.integers(1, most + 1)), dilation, start, end)


def window_attributes(dimensions):
    fields = (("WindowSizes", "window"), ("Strides", "stride"), ("Dilations", "dilation"), ("StartPadding", "start"),
              ("EndPadding", "end"))
    return tuple((name, tuple(getattr(one, field) for one in dimensions)) for name, field in fields)


def pieces_of(random, size, most):
    """Splits a size into parts, some of them 0."""
    cuts = sorted(int(random.integers(0, size + 1)) for _ in range(int(random.integers(0, most))))
    return [end - begin for begin, end in zip([0, *cuts], [*cuts, size])]


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.unsigned = np.dtype(f"u{self.dtype.itemsize}")
        self.elements = 0

    def draw(self, shape, is_output=False):
        return lay_out(self.random, shape, self.unsigned, not is_output)

    def compare(self, name, inputs, answers, attributes, numbers=()):
        """answers: NumPy's result for each output. numbers: further inputs with other types, after `inputs`."""
        placed = [self.draw(answer.shape, True) for answer in answers]
        expected = []
        for (array, memory), answer in zip(placed, answers):
            twin, copied = same_memory(array, memory)
            twin[...] = answer
            expected.append(copied)
        self.library.run(name, [*(None if array is None else array.view(self.dtype) for array in inputs), *numbers],
                         [array.view(self.dtype) for array, _ in placed], attributes)
        for number, ((array, memory), wanted) in enumerate(zip(placed, expected)):
            if not np.array_equal(memory, wanted):
                shapes = [None if one is None else one.shape for one in inputs]
                sys.exit(f"{name} {self.dtype} of {shapes} with {attributes}: output {number}, {array.shape} by "
                         f"{array.strides}, differs from NumPy")
            self.elements += array.size

    def split(self, shape):
        x, _ = self.draw(shape)
        axis = int(self.random.integers(0, len(shape)))
        sizes = pieces_of(self.random, shape[axis], 6)
        self.compare("SPLIT", [x], np.split(x, np.cumsum(sizes)[:-1], axis), (("Axis", axis),))

    def join(self, shape):
        axis = int(self.random.integers(0, len(shape)))
        inputs = [self.draw([*shape[:axis], size, *shape[axis + 1:]])[0]
                  for size in pieces_of(self.random, shape[axis], 6)]
        self.compare("JOIN", inputs, [np.concatenate(inputs, axis)], (("Axis", axis),))

    def slice(self, shape):
        x, _ = self.draw(shape)
        window = []
        for size in shape:
            step = int(self.random.choice([0, 1, 1, 1, 2, 3, 5])) if size else 1
            offset = int(self.random.integers(0, max(1, size)))
            count = 0 if size == 0 else int(self.random.integers(1, 5)) if step == 0 else int(
                self.random.integers(0 if self.random.random() < 0.1 else 1, (size - 1 - offset) // step + 2))
            window.append((offset, count, step))
        positions = np.ix_(*(offset + step * np.arange(count) for offset, count, step in window))
        offsets, sizes, strides = zip(*window) if window else ((), (), ())
        self.compare("SLICE", [x], [x[positions] if window else x.copy()],
                     (("Offsets", offsets), ("Sizes", sizes), ("Strides", strides)))

    def slice1(self, shape, name="SLICE1"):
        """SLICE_GRAD: the elements of the slice are random and surrounded by zeros."""
        shape = [max(1, size) for size in shape]
        x, _ = self.draw(shape)
        slices, window = [], []
        for size in shape:
            offset = int(self.random.integers(0, size))
            length = int(self.random.integers(1, size - offset + 1))
            step = int(self.random.choice([1, 1, 1, 2, 3, -1, -1, -2, -3]))
            most = 1 + (length - 1) // abs(step)
            count = most if self.random.random() < 0.8 else int(self.random.integers(1, most + 1))
            ends = slice(offset, offset + length)
            slices.append((ends, slice(None, None, step), slice(0, count)))
            window.append((offset, length, step))
        answer = x
        for part in range(3):
            answer = answer[tuple(one[part] for one in slices)]
        offsets, sizes, strides = zip(*window) if window else ((), (), ())
        attributes = (("InputWindowOffsets", offsets), ("InputWindowSizes", sizes), ("InputWindowStrides", strides))
        if name == "SLICE1":
            self.compare(name, [x], [answer], attributes)
            return
        gradient, _ = self.draw(list(answer.shape))
        whole = np.zeros(shape, x.dtype)
        part = whole
        for position in range(3):
            part = part[(..., *(one[position] for one in slices))]
        part[...] = gradient
        self.compare(name, [gradient], [whole], attributes)

    def number(self):
        """A number that fits every type, as an attribute and as an array of this type."""
        value = int(self.random.integers(0, 100))
        return value, np.full((), value, self.dtype).view(self.unsigned)

    def padding(self, shape, name="PADDING"):
        mode = str(self.random.choice(list(INDICES) + ["CONSTANT"]))
        if mode != "CONSTANT":
            shape = [max(1, size) for size in shape]
        x, _ = self.draw(shape)
        most = 3 if x.ndim > 4 or x.size > 10_000 else 15  # beyond the sizes, so that reflections repeat
        pads = [tuple(map(int, self.random.integers(0, most, 2) * (self.random.random(2) < 0.6))) for _ in shape]
        if mode == "CONSTANT":
            value, filler = self.number()
            answer = np.pad(x, pads, constant_values=filler) if pads else x
        else:
            value, answer = 7, x
            for axis, (size, (before, after)) in enumerate(zip(shape, pads)):
                answer = np.take(answer, INDICES[mode](np.arange(-before, size + after), size), axis)
        starts, ends = zip(*pads) if pads else ((), ())
        self.compare(name, [x], [answer], (("PaddingMode", mode), ("PaddingValue", value), ("StartPadding", starts),
                                           ("EndPadding", ends)))

    def padding1(self, shape):
        self.padding(shape, "PADDING1")

    def tile(self, shape):
        x, _ = self.draw(shape)
        repeats = tuple(int(self.random.integers(1, 4 if x.size < 10_000 else 2)) for _ in shape)
        self.compare("TILE", [x], [np.tile(x, repeats)], (("Repeats", repeats),))

    def blocks(self, shape, name="SPACE_TO_DEPTH"):
        """Uses four sizes; further ones are ignored."""
        n, c, h, w = (shape + [1, 2, 3, 2])[:4]
        block = int(self.random.integers(1, 5))
        attributes, is_first = [("BlockSize", block)], False
        if name.endswith("1"):
            is_first = bool(self.random.integers(0, 2))
            attributes.append(("Order", "COLUMN_ROW_DEPTH" if is_first else "DEPTH_COLUMN_ROW"))
        if name.startswith("SPACE"):
            x, _ = self.draw([n, c, h * block, w * block])
            parts = x.reshape(n, c, h, block, w, block)
            moved = parts.transpose(0, 1, 3, 5, 2, 4) if is_first else parts.transpose(0, 3, 5, 1, 2, 4)
            answer = moved.reshape(n, c * block**2, h, w)
        else:
            x, _ = self.draw([n, c * block**2, h, w])
            parts = x.reshape((n, c, block, block, h, w) if is_first else (n, block, block, c, h, w))
            moved = parts.transpose(0, 1, 4, 2, 5, 3) if is_first else parts.transpose(0, 3, 4, 1, 5, 2)
            answer = moved.reshape(n, c, h * block, w * block)
        self.compare(name, [x], [answer], attributes)

    def unfold(self, shape):
        """Up to six spatial dimensions after the first two sizes."""
        shape = [min(size, 300) for size in (shape + [1, 2, 5])[:max(3, len(shape))]]
        while np.prod(shape, dtype=float) > 30_000:
            shape[int(np.argmax(shape))] //= 2
        dimensions = [draw_window(self.random, size, 4 if len(shape) < 6 else 2) for size in shape[2:]]
        x, _ = self.draw(shape)
        padded = np.pad(x, [(0, 0), (0, 0), *((one.start, one.end) for one in dimensions)])
        positions = np.ix_(*(np.arange(size) for size in shape[:2]), *(np.arange(one.window * one.blocks)
                                                                    for one in dimensions))
        positions = positions[:2] + tuple((position // one.blocks * one.dilation + position % one.blocks * one.stride)
                                    for position, one in zip(positions[2:], dimensions))
        d = len(dimensions)
        windows = padded[positions].reshape(*shape[:2], *(size for one in dimensions for size in (one.window, one.blocks)))
        order = [0, 1, *(2 + 2 * i for i in range(d)), *(3 + 2 * i for i in range(d))]
        answer = windows.transpose(order).reshape(shape[0], shape[1] * np.prod([one.window for one in dimensions]),
                                                  np.prod([one.blocks for one in dimensions]))
        self.compare("UNFOLD", [x], [answer], window_attributes(dimensions))

    def reversal(self, shape):
        axis = int(self.random.integers(0, len(shape)))
        x, _ = self.draw(shape)
        counts = [1 if position == axis else size for position, size in enumerate(shape)]
        wide = np.dtype(self.random.choice(["u4", "u8"]))
        lengths, _ = lay_out(self.random, counts, wide, True)
        lengths[...] = self.random.integers(0, 2 * max(shape[axis], 1), counts)
        if lengths.size and self.random.random() < 0.3:
            lengths.flat[0] = np.iinfo(wide).max  # far beyond the axis, and negative when read as signed
        position = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
        most = np.minimum(lengths, shape[axis]).astype(np.int64)
        answer = np.take_along_axis(x, np.where(position < most, most - 1 - position, position), axis)
        self.compare("REVERSE_SUBSEQUENCES", [x], [answer], (("Axis", axis),), [lengths])

    def diagonal(self, shape, name="DIAGONAL_MATRIX"):
        value, bits = self.number()
        t = np.arange(shape[-1]) - np.arange(shape[-2])[:, None]
        low, high = sorted(map(int, self.random.integers(-shape[-2] - 1, shape[-1] + 2, 2)))
        if name.endswith("1"):
            begin, end = (low, high) if self.random.random() < 0.6 else (high, low)
            x = self.draw(shape)[0] if self.random.random() < 0.6 else None
            fills = np.logical_xor(np.logical_xor(end >= begin, t >= begin), t < end)
            base, inputs = (np.zeros(shape, self.unsigned) if x is None else x), [x]
            attributes = (("Value", value), ("DiagonalFillBegin", begin), ("DiagonalFillEnd", end))
        else:
            fills, base, inputs = t == low, np.zeros(shape, self.unsigned), []
            attributes = (("Offset", low), ("Value", value))
        self.compare(name, inputs, [np.where(fills, bits, base)], attributes)


# For each mode, the index that replaces index i if it is outside a dimension of `size` elements.
INDICES = {"EDGE": lambda i, size: np.clip(i, 0, size - 1),
           "REFLECTION": lambda i, size: size - 1 - np.abs(size - 1 - i % max(1, 2 * (size - 1))),
           "SYMMETRIC": lambda i, size: np.minimum(i % (2 * size), 2 * size - 1 - i % (2 * size)),
           "WRAP": lambda i, size: i % size}
# The check for each operator, and the lowest rank that it accepts.
MEMBERS = {"SPLIT": (Checks.split, 1), "JOIN": (Checks.join, 1), "SLICE": (Checks.slice, 0), "SLICE1": (Checks.slice1, 0),
           "SLICE_GRAD": (partial(Checks.slice1, name="SLICE_GRAD"), 0),
           "PADDING": (Checks.padding, 0), "PADDING1": (Checks.padding1, 0), "TILE": (Checks.tile, 0),
           "UNFOLD": (Checks.unfold, 0), "REVERSE_SUBSEQUENCES": (Checks.reversal, 1),
           **{name: (partial(Checks.blocks, name=name), 0) for name in (
               "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")},
           **{name: (partial(Checks.diagonal, name=name), 2) for name in ("DIAGONAL_MATRIX", "DIAGONAL_MATRIX1")}}


def many(library):
    """More inputs and outputs than a step has operands."""
    x = np.arange(3000 * 5, dtype=np.uint16).reshape(5, 3000)
    parts = [np.zeros((5, 1), np.uint16) for _ in range(3000)]
    library.run("SPLIT", [x], parts, (("Axis", 1),))
    joined = np.zeros((3000, 5), np.uint16)
    library.run("JOIN", [part.reshape(1, 5) for part in parts], joined, (("Axis", 0),))
    if not np.array_equal(joined, x.T):
        sys.exit("a SPLIT into 3,000 tensors and their JOIN differ from NumPy")
    return 2 * x.size


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    cases, total = 2, many(library)
    for name, (run, low_rank) in MEMBERS.items():
        elements = 0
        for number, (_, dtype) in enumerate(TYPES.values()):
            checks = Checks(library, random, dtype)
            shapes = [draw_shape(random, low_rank) for _ in range(CASES)]
            shapes += [shape for position, shape in enumerate(LARGE) if (position + number) % 3 == 0 and len(shape) >= low_rank]
            for shape in shapes:
                run(checks, list(shape))
            cases += len(shapes)
            elements += checks.elements
        print(f"  {name:20} {elements:9} elements, none different")
        total += elements
    print(f"{total} elements of {cases} cases compared with NumPy, none different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
