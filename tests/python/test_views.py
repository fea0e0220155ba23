# SPDX-License-Identifier: MIT
"""Compares views of any layout with NumPy: values, the surrounding memory, and warnings.

Every view is surrounded by zeros and NaN, which would cause warnings if they were read. A dimension of size 1 has an
arbitrary stride, so a step along it would end anywhere.
"""
import itertools
import os

import numpy as np
import pytest
from against_numpy import TYPES, assert_same_outcome, both

import anydml

SEED = int(os.environ.get("ANYDML_SEED", "0"))
LONG = 4 * 65536  # several threads scan a row that has at least this many elements
STRIDES_OF_ONE_PLACE = [0, 1, -1, 3, -3, 8, -8, 1 << 20, -(1 << 20), 1 << 40, -(1 << 40), (1 << 62), -(1 << 62)]


class Layout:
    """The layout of an array: dimensions in any order in memory, with gaps and in either direction."""

    def __init__(self, random, dtype, shape):
        self.dtype, self.shape = np.dtype(dtype), shape
        strides, reach, self.offset = [0] * len(shape), self.dtype.itemsize, 0
        for i in random.permutation(len(shape)):
            if shape[i] == 1 or 0 in shape:
                strides[i] = int(random.choice(STRIDES_OF_ONE_PLACE))
                continue
            step = reach * int(random.choice([1, 1, 2, 3]))
            reach = step * shape[i]
            if random.integers(2):
                self.offset += step * (shape[i] - 1)
                step = -step
            strides[i] = step
        self.strides = tuple(strides)
        self.length = reach + 2 * self.dtype.itemsize
        self.offset += self.dtype.itemsize

    def memory(self, values):
        """Memory with these values at their offsets, and everywhere else values that NumPy warns about."""
        memory = np.zeros(self.length // self.dtype.itemsize, self.dtype)
        if self.dtype.kind == "f":
            memory[::2] = np.nan
        self.view(memory)[...] = values
        return memory

    def view(self, memory, stride_of_one_element=None):
        strides = self.strides
        if stride_of_one_element is not None:
            strides = [stride_of_one_element if size == 1 or 0 in self.shape else stride
                       for size, stride in zip(self.shape, strides)]
        return np.ndarray(self.shape, self.dtype, memory.data, self.offset, strides)


def draw_values(random, dtype, shape, faulty):
    """Valid divisors. If `faulty` is true, one element at a random position is invalid."""
    values = random.integers(1, 100, shape).astype(dtype)
    if np.dtype(dtype).kind != "u":
        values *= random.choice(np.array([1, -1], dtype), shape)
    if faulty and values.size:
        values.flat[random.integers(values.size)] = 0
    return values


def draw_shapes(random, sizes):
    """Two shapes that broadcast, and the resulting shape."""
    shape = [int(size) for size in random.choice(sizes, random.integers(1, 5))]
    first, second = ([1 if random.integers(3) == 0 else size for size in shape][random.integers(2) * (i == 1):]
                     for i in range(2))
    return tuple(first), tuple(second), np.broadcast_shapes(tuple(first), tuple(second))


def compare(ours, numpys, random, dtype, first, second, shape):
    layouts = [Layout(random, dtype, first), Layout(random, dtype, second), Layout(random, dtype, shape)]
    memories = [layout.memory(draw_values(random, dtype, layout.shape, random.integers(2))) for layout in layouts]
    of = [(layout.shape, layout.strides, str(layout.dtype)) for layout in layouts]

    def views():
        fresh = [memory.copy() for memory in memories]
        return fresh, [layout.view(memory) for layout, memory in zip(layouts, fresh)]

    def new(function):
        _, (a, b, _) = views()
        return np.ascontiguousarray(function(a, b))

    def into(function):
        fresh, (a, b, out) = views()
        assert function(a, b, out=out) is out
        return fresh[2]

    def in_place(operand):
        def call(function):
            fresh, arrays = views()
            assert function(*arrays[:2], out=arrays[operand]) is arrays[operand]
            return fresh[operand]
        return call

    calls = [new, into] + [in_place(i) for i in range(2) if layouts[i].shape == shape]
    for call, mode in itertools.product(calls, ("warn", "raise")):
        assert_same_outcome(ours, numpys, call, mode, of)


@both
@pytest.mark.parametrize("kind", TYPES)
def test_small_views(ours, numpys, kind):
    random = np.random.default_rng([1, SEED, *kind.encode()])
    for turn in range(40):
        sizes = [1, 1, 2, 3, 0] if turn % 8 == 0 else [1, 1, 2, 3, 7]
        compare(ours, numpys, random, kind, *draw_shapes(random, sizes))


@both
@pytest.mark.parametrize("kind", TYPES)
def test_large_views(ours, numpys, kind):
    random = np.random.default_rng([2, SEED, *kind.encode()])
    many = LONG + 3
    shapes = [(many,), (many, 1), (1, many), (1, many, 1), (513, 1, 512), (1, 3, 1, many // 3 + 1)]
    for shape in random.permutation(np.array(shapes, object))[:2]:
        divisor = tuple(1 if random.integers(3) == 0 else size for size in shape)
        compare(ours, numpys, random, kind, shape, divisor, shape)


@pytest.mark.parametrize("kind", TYPES)
def test_operators_by_name_take_such_views(kind):
    random = np.random.default_rng([3, SEED, *kind.encode()])
    for _ in range(20):
        first, second, shape = draw_shapes(random, [1, 1, 2, 3, 0])
        layouts = [Layout(random, kind, one) for one in (first, second, shape)]
        memories = [layout.memory(draw_values(random, kind, layout.shape, False)) for layout in layouts]
        a, b, out = (layout.view(memory) for layout, memory in zip(layouts, memories))
        expected = layouts[2].memory(a * b)
        assert anydml.run("ELEMENT_WISE_MULTIPLY", a, b, out=out) is out
        assert np.array_equal(memories[2], expected, equal_nan=a.dtype.kind == "f")
        step = anydml.compile("ELEMENT_WISE_MULTIPLY", a, b, out=out)
        out[...] = 1
        # The stride of a dimension of size 1 is not part of the layout.
        step(*(layout.view(memory, 77) for layout, memory in zip(layouts[:2], memories)), out=out)
        assert np.array_equal(memories[2], expected, equal_nan=a.dtype.kind == "f")
