# SPDX-License-Identifier: MIT
"""Tests that NumPy's floating-point warnings appear wherever the fault is, even when NumPy splits a call into many
loops because of its buffers, masks, or the dimensions of the arrays."""
import itertools

import numpy as np
import pytest
from against_numpy import assert_same_outcome, both

import anydml

BUFFER = 8192  # the number of elements per loop when NumPy must convert them
SIZES = [1, 2, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 3 * BUFFER + 5]
UFUNCS = [(anydml.modulus_floor.ufunc, np.remainder), (anydml.modulus_truncate.ufunc, np.fmod)]
ufuncs = pytest.mark.parametrize("ours, numpys", UFUNCS, ids=["floor", "truncate"])


def positions(size):
    """Returns None, the start, the middle and the end, and both sides of the end of a buffer."""
    inside = {0, size // 2, size - 1, BUFFER - 1, BUFFER}
    return [None] + sorted(position for position in inside if position < size)


def operands(first, second, size, position):
    """Arrays of two types, in which only the given element has no valid result."""
    a, b = np.full(size, 7, first), np.full(size, 3, second)
    if position is not None:
        b[position] = 0
    return a, b


def misaligned(array):
    memory = np.empty(array.nbytes + 1, "u1")[1:]
    moved = memory.view(array.dtype)
    moved[...] = array
    assert not moved.flags.aligned or array.itemsize == 1
    return moved


def compare(ours, numpys, call, of):
    for mode in ("warn", "raise"):
        assert_same_outcome(ours, numpys, call, mode, of)


MIXED = [("i4", "i8"), ("i8", "i4"), ("f4", "f8"), ("i2", "f4"), ("u1", "i1"), ("f2", "f4"), ("u4", "i4"), ("?", "i2")]


@both
@pytest.mark.parametrize("first, second", MIXED)
def test_mixed_types(ours, numpys, first, second):
    for size in SIZES:
        for position in positions(size):
            a, b = operands(first, second, size, position)
            compare(ours, numpys, lambda function: function(a, b), (size, position))


@both
@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i8", "u4"])
def test_arrays_that_are_converted(ours, numpys, kind):
    """Byte order, alignment, requested types, and outputs of other types."""
    for size in SIZES[2:]:
        for position in positions(size):
            a, b = operands(kind, kind, size, position)
            swapped, odd = b.astype(b.dtype.newbyteorder()), misaligned(b)
            out = np.empty(size, "f8")
            calls = [lambda function: function(a, swapped), lambda function: function(a, odd),
                     lambda function: function(misaligned(a), b), lambda function: function(a, b, dtype="f8"),
                     lambda function: function(a, b, out=out),
                     lambda function: function(a, b, casting="unsafe", dtype="i4")]
            for number, call in enumerate(calls):
                compare(ours, numpys, call, (size, position, number))


@both
@pytest.mark.parametrize("kind", ["f2", "f8", "i1", "i4"])
def test_masks(ours, numpys, kind):
    """A fault counts only where the mask is true."""
    random = np.random.default_rng(5)
    for size in SIZES:
        for position, hidden in itertools.product(positions(size), (False, True)):
            a, b = operands(kind, kind, size, position)
            where = random.integers(2, size=size) == 1
            if position is not None:
                where[position] = not hidden
            compare(ours, numpys, lambda function: function(a, b, out=np.zeros(size, kind), where=where),
                    (size, position, hidden))


@both
@pytest.mark.parametrize("kind", ["f4", "i4"])
def test_many_loops_of_one_call(ours, numpys, kind):
    """Nine dimensions, more than the core supports, and layouts that NumPy processes row by row, with one loop per
    row."""
    for position in positions(2 * BUFFER):
        whole = operands(kind, kind, 2 * BUFFER, position)
        a, b = (array.reshape((2,) * 7 + (2, 64))[..., ::-1, :63] for array in whole)
        compare(ours, numpys, lambda function: function(a, b), position)

        def in_place(function):
            mine = whole[0].reshape(256, 64).copy()
            function(mine[:, :63], whole[1].reshape(256, 64)[:, :63], out=mine[:, :63])
            return mine
        compare(ours, numpys, in_place, position)


def test_what_a_conversion_said_stays():
    """NumPy reports overflow in a conversion to a smaller type, with or without a fault in another buffer."""
    for ours, numpys in UFUNCS:
        for large, position in itertools.product((None, 0, BUFFER, 3 * BUFFER), (None, 0, BUFFER, 3 * BUFFER)):
            a, b = operands("f8", "f8", 3 * BUFFER + 1, position)
            if large is not None:
                a[large] = 1e300
            compare(ours, numpys, lambda function: function(a, b, dtype="f4", casting="same_kind"), (large, position))


@ufuncs
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u8"])
def test_methods_of_the_ufuncs(ours, numpys, kind):
    for size in (2, 5, 300, BUFFER + 1):
        for position in positions(size):
            a, b = operands(kind, kind, size, position)
            short = b[:64].copy()
            indices = np.arange(size)[::-1]

            def at(function):
                mine = a.copy()
                function.at(mine, indices, b)
                return mine

            compare(ours, numpys, lambda function: function.reduce(b), (size, position))
            compare(ours, numpys, lambda function: function.accumulate(b), (size, position))
            compare(ours, numpys, lambda function: function.reduceat(b, [0, size // 2]), (size, position))
            compare(ours, numpys, lambda function: function.reduce(np.stack([a, b, b]), axis=0), (size, position))
            compare(ours, numpys, lambda function: function.outer(a[:32], short), (size, position))
            compare(ours, numpys, at, (size, position))


@ufuncs
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i4"])
def test_operands_that_are_results(ours, numpys, kind):
    """Faults depend on the result that is read, not on the previous contents of its memory."""
    random = np.random.default_rng(6)
    hard = np.array([0, 1, 3, 7] if kind[0] == "i" else [0, 1, 3, 7, np.nan, np.inf, -np.inf], kind)
    before = hard if kind[0] == "i" else hard[[0, 1, 4, 5]]
    for _ in range(60):
        values = random.choice(hard, (3, random.integers(2, 7)))
        for lay in before:
            compare(ours, numpys, lambda function: function.accumulate(values, 1, out=np.full_like(values, lay)),
                    (values, lay))
            compare(ours, numpys, lambda function: function.accumulate(values, 0, out=np.full_like(values, lay)),
                    (values, lay))
        for axis in (0, 1):
            compare(ours, numpys, lambda function: function.reduce(values, axis), values)
            compare(ours, numpys, lambda function: function.reduceat(values, [0, 1, 0], axis), values)
        indices = random.integers(0, 3, 6)

        def at(function):
            mine = values.copy()
            function.at(mine, indices, values[[0, 1, 2, 0, 1, 2]])
            return mine
        compare(ours, numpys, at, (values, indices))
