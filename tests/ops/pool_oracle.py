#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares pooling with the NumPy program in docs/numerics.md, bit for bit: every type, windows of one to six
dimensions, with strides, dilations and paddings, and tensors in any layout.

usage: pool_oracle.py LIBANYDML [CASES]
"""
import sys
import warnings

import numpy as np

from move_oracle import lay_out
from numpy_oracle import SEED, TYPES, Library, count_different, random_values
from pool_reference import maximum, pool_or_reduce, quantized, unpool

CASES = 10  # per operator and type
# The sizes of the tensor, the window, the strides and the paddings, around the edges of vectors, tiles and pieces.
LARGE = [((2, 3, 9, 4099), (3, 3), (1, 1), (1, 1)), ((1, 2, 7, 8200), (2, 3), (2, 2), (0, 1)), ((2, 65, 12, 13), (3, 3), (2, 2), (1, 1)),
         ((1, 3, 40, 41), (9, 9), (1, 1), (4, 4)), ((1, 2, 5, 300), (5, 70), (1, 3), (0, 5)), ((1, 70, 9, 33), (1, 2), (1, 1), (0, 0)),
         ((3, 4, 33, 35), (33, 35), (1, 1), (0, 0)), ((1, 2, 30_001), (4,), (3,), (2,)), ((1, 2, 6, 7, 50), (2, 3, 3), (1, 2, 1), (1, 0, 1)),
         ((1, 2, 3, 3), (9, 9), (1, 1), (70, 300)), ((2, 3, 80, 81), (80, 80), (1, 1), (0, 0))]


def draw_windows(random, rank):
    """The spatial sizes, and windows over them."""
    most = {1: 40, 2: 12, 3: 6}.get(rank, 3)
    space = [0 if random.random() < 0.02 else int(random.integers(1, most + 1)) for _ in range(rank)]
    if random.random() < 0.1 and all(space):
        return space, space, [1] * rank, [1] * rank, [0] * rank, [0] * rank
    window = [int(random.integers(1, 5)) for _ in space]
    strides = [int(random.choice([1, 1, 2, 2, 3, 5])) for _ in space]
    dilations = [int(random.choice([1, 1, 1, 2, 3])) for _ in space]
    start = [int(random.integers(0, 4)) if random.random() < 0.5 else 0 for _ in space]
    end = [int(random.integers(0, 4)) if random.random() < 0.5 else 0 for _ in space]
    for i, size in enumerate(space):  # so that at least one window fits
        end[i] += max(0, (window[i] - 1) * dilations[i] + 1 - size - start[i] - end[i])
    return space, window, strides, dilations, start, end


def output_sizes(space, window, strides, dilations, start, end):
    return [(size + before + after - (k - 1) * dilation - 1) // stride + 1
            for size, k, stride, dilation, before, after in zip(space, window, strides, dilations, start, end)]


class Checks:
    def __init__(self, library, random, dtype):
        self.library, self.random, self.dtype = library, random, np.dtype(dtype)
        self.elements = 0

    def values(self, shape):
        """Random bits, or numbers with frequent duplicates and zeros of both signs."""
        count = int(np.prod(shape))
        if self.random.random() < 0.3:
            return random_values(self.random, self.dtype.type, count).reshape(shape)
        some = self.random.integers(-3, 4, count)
        if self.dtype.kind != "f":
            return some.astype(self.dtype).reshape(shape)
        numbers = np.where(self.random.random(count) < 0.5, some, self.random.standard_normal(count)).astype(self.dtype)
        return np.where(self.random.random(count) < 0.1, -numbers, numbers).astype(self.dtype).reshape(shape)

    def position(self, values):
        """The values in a random layout."""
        kind = self.random.random()
        if kind < 0.4:
            return values
        if kind < 0.6:  # channels innermost
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 1, -1)), -1, 1)
        laid, _ = lay_out(self.random, values.shape, np.dtype(f"u{values.dtype.itemsize}"), kind > 0.9)
        array = laid.view(values.dtype)
        array[...] = values
        return array

    def room(self, shape, dtype):
        """An output array, and the bytes around it."""
        if self.random.random() < 0.6:
            memory = np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize + 64, 77, np.uint8)
            return np.ndarray(shape, dtype, memory, 32), memory
        array, memory = lay_out(self.random, shape, np.dtype(f"u{np.dtype(dtype).itemsize}"), False)
        return array.view(dtype), memory

    def compare(self, name, inputs, answers, attributes, types):
        rooms = [(None, None) if answer is None else self.room(answer.shape, dtype) for answer, dtype in zip(answers, types)]
        before = [None if memory is None else memory.copy() for _, memory in rooms]
        self.library.run(name, inputs, [array for array, _ in rooms], attributes)
        for number, ((out, memory), answer, old) in enumerate(zip(rooms, answers, before)):
            if answer is None:
                continue
            different = count_different(out, answer.astype(out.dtype))
            if different.any():
                where = tuple(np.argwhere(different)[0])
                layouts = [one.strides for one in inputs if one is not None]
                sys.exit(f"{name} {self.dtype} of {inputs[0].shape} by {layouts} with {attributes}: output {number}, {out.shape} by "
                         f"{out.strides}: {different.sum()} differ; first {where}: {out[where]!r}, expected {answer[where]!r}")
            offset = out.__array_interface__["data"][0] - memory.ctypes.data if out.size else 0
            np.ndarray(out.shape, out.dtype, old, offset, out.strides)[...] = out
            if not np.array_equal(old, memory):
                sys.exit(f"{name} {self.dtype} with {attributes}: output {number} by {out.strides}: bytes between the elements changed")
            self.elements += out.size

    def attributes(self, windows, dilated, **more):
        _, window, strides, dilations, start, end = windows
        fields = [("Strides", tuple(strides)), ("WindowSize", tuple(window)), ("StartPadding", tuple(start)), ("EndPadding", tuple(end))]
        return tuple(fields + ([("Dilations", tuple(dilations))] if dilated else []) + list(more.items()))

    def run(self, name, shape, windows):
        """windows: as returned by draw_windows."""
        dilated = name in ("AVERAGE_POOLING1", "LP_POOLING1", "MAX_POOLING2", "QUANTIZED_LINEAR_AVERAGE_POOLING")
        if not dilated:
            windows = (*windows[:3], [1] * len(windows[0]), *windows[4:])
        space, window, strides, dilations, start, end = windows
        sizes = output_sizes(*windows)
        where = {"window": window, "strides": strides, "dilations": dilations, "start": start}
        values = self.values((*shape, *space))
        x = self.position(values)
        if name.startswith("MAX"):
            best, index = maximum(x, sizes, **where)
            kind = np.dtype(self.random.choice(["u4", "u8", "i4", "i8"]))
            wants = name != "MAX_POOLING" and self.random.random() < 0.6
            outputs = [best] + ([index if wants else None] if name != "MAX_POOLING" else [])
            self.compare(name, [x], outputs, self.attributes(windows, dilated), [self.dtype, kind])
        elif name.startswith("LP"):
            p = int(self.random.choice([1, 2, 2] if self.dtype == np.float64 else [1, 2, 2, 3, 4, 7]))
            answer = pool_or_reduce("LP", x, sizes, **where, end=end, p=p)
            self.compare(name, [x], [answer], self.attributes(windows, dilated, P=p), [self.dtype])
        elif name.startswith("AVERAGE"):
            include = bool(self.random.integers(0, 2))
            answer = pool_or_reduce("AVERAGE", x, sizes, **where, end=end, include=include)
            self.compare(name, [x], [answer], self.attributes(windows, dilated, IncludePadding=int(include)), [self.dtype])
        else:
            self.quantized(name, x, sizes, windows)

    def quantized(self, name, x, sizes, windows):
        _, window, strides, dilations, start, end = windows
        include = bool(self.random.integers(0, 2))
        out_type = np.dtype(self.random.choice(["i1", "u1"]))
        given, seen = [], []
        for dtype in (np.float32, self.dtype, np.float32, out_type):
            per_channel = self.random.random() < 0.5
            shape = [1] * x.ndim if self.random.random() < 0.6 else [1]
            shape[1 if len(shape) > 1 else 0] = x.shape[1] if per_channel else 1
            one = (np.exp(self.random.standard_normal(shape)).astype(np.float32) if dtype == np.float32
                   else self.random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype))
            optional = dtype != np.float32 and self.random.random() < 0.3
            given.append(None if optional else one)
            seen.append(np.zeros(1, np.int32) if optional else one.reshape([1, -1] + [1] * (x.ndim - 2)))
        answer = quantized(x, *seen, out_type, sizes, window=window, strides=strides, dilations=dilations, start=start, end=end,
                           include=include)
        self.compare(name, [x, *given], [answer], self.attributes(windows, True, IncludePadding=int(include)), [out_type])

    def unpooling(self):
        shape = [int(self.random.integers(1, 6)) for _ in range(4)]
        out = [shape[0], shape[1], shape[2] * 2 + int(self.random.integers(0, 2)), shape[3] * 3]
        kind = np.dtype(self.random.choice(["u4", "u8", "i4", "i8"]))
        count = int(np.prod(out))
        indices = self.random.integers(0, count + 3, shape)
        if self.random.random() < 0.2:
            indices = np.where(self.random.random(shape) < 0.3, self.random.integers(0, 2**31, shape) * 2, indices)
        x, by = self.position(self.values(shape)), self.position((indices % 2**31 if kind == "i4" else indices).astype(kind))
        if kind.kind == "i" and self.random.random() < 0.5:
            by = np.where(self.random.random(shape) < 0.2, -by, by).astype(kind)
        self.compare("MAX_UNPOOLING", [x, by], [unpool(x, by, out)], (), [self.dtype])


FLOATS = ("float32", "float16", "float64")
BYTES = ("int8", "uint8")
MEMBERS = {"AVERAGE_POOLING": FLOATS, "AVERAGE_POOLING1": FLOATS, "LP_POOLING": FLOATS, "LP_POOLING1": FLOATS,
           "MAX_POOLING": None, "MAX_POOLING1": None, "MAX_POOLING2": None, "QUANTIZED_LINEAR_AVERAGE_POOLING": BYTES}


def check_round_trip(library, random):
    """MAX_POOLING1, then MAX_UNPOOLING with its indices, large enough for several threads, and with an index out of
    range."""
    x = random.standard_normal((4, 32, 56, 58)).astype(np.float32)
    best, index = maximum(x, [28, 29], [2, 2], [2, 2], [1, 1], [0, 0])
    for stray in (None, 5, 2**31):
        index = index.copy()
        if stray is not None:
            index.ravel()[100_000] = stray
        out = np.full(x.shape, 7, np.float32)
        library.run("MAX_UNPOOLING", [best, index.astype(np.uint64)], out, ())
        if not np.array_equal(out, unpool(best, index, x.shape)):
            sys.exit("MAX_UNPOOLING with the indices of MAX_POOLING1 differs from NumPy")
    return 3 * x.size


def main(path, many=CASES):
    library = Library(path)
    random = np.random.default_rng(SEED)
    warnings.simplefilter("ignore")
    print(f"NumPy {np.__version__}, seed {SEED}")
    cases, total = 3, check_round_trip(library, random)
    for member, (name, types) in enumerate(MEMBERS.items()):
        elements = 0
        for number, (_, dtype) in enumerate(TYPES.values()):
            if types is not None and np.dtype(dtype).name not in types:
                continue
            checks = Checks(library, random, dtype)
            for _ in range(many if types is not None else many // 2):
                rank = int(random.choice([1, 2, 2, 2, 2, 3, 3, 4, 5, 6]))
                shape = [0 if random.random() < 0.02 else int(random.integers(1, 4)) for _ in range(2)]
                checks.run(name, shape, draw_windows(random, rank))
            for position, (shape, window, strides, pads) in enumerate(LARGE):
                if (position + number + member) % (4 if types is None else 3) == 0:
                    checks.run(name, shape[:2], (shape[2:], window, strides, [1] * len(window), pads, pads))
            cases += many
            elements += checks.elements
        print(f"  {name:32} {elements:9} elements, none different")
        total += elements
    elements = 0
    for _, dtype in TYPES.values():
        checks = Checks(library, random, dtype)
        for _ in range(many):
            checks.unpooling()
        elements += checks.elements
    print(f"  {'MAX_UNPOOLING':32} {elements:9} elements, none different")
    print(f"{total + elements} elements of {cases} cases compared with NumPy, none different")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
