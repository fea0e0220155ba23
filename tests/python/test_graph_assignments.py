# SPDX-License-Identifier: MIT
"""Tests assignments in graphs: to elements, through views and masks, and in place. NumPy itself is the reference."""
import random

import numpy as np
import pytest

import anydml

X = np.float32(np.arange(24).reshape(4, 6) - 11) / 4
I = np.arange(24, dtype=np.int32).reshape(4, 6)


def check(function, *arrays):
    before = [one.copy() for one in arrays]
    expected = function(*[one.copy() for one in arrays])
    found = anydml.graph(function)(*arrays)
    for one, other in zip(arrays, before):
        assert one.tobytes() == other.tobytes()
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for i, (one, other) in enumerate(zip(found, expected)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), i
        assert one.tobytes() == np.ascontiguousarray(other).tobytes(), (i, one, other)


INDICES = [0, -1, slice(1, 3), slice(None), ..., slice(None, None, 2), (slice(None), 2), (slice(None), slice(1, 4)), (1, 2),
           (slice(1, 3), slice(2, 5)), (..., -1), (slice(None, None, -1), slice(None, None, 3)), [0, 2], ([0, 1, 0], [5, 4, 5]),
           (slice(None), [3, 1]), (None, 1), (slice(None), X[0] > -2.5), np.array([True, False, True, True]), slice(2, 2),
           slice(3, 1)]


@pytest.mark.parametrize("where", INDICES, ids=str)
def test_elements(where):
    shape = X[where].shape

    def with_a_number(x):
        y = x.copy()
        y[where] = 7
        return y, x

    def with_a_value(x):
        y = x * 2
        values = (x.reshape(-1)[:1] + 0.5) if not shape else np.tile(x.reshape(-1), 2)[:int(np.prod(shape))].reshape(shape)
        y[where] = values.reshape(shape)
        return y

    def with_a_row(x):
        y = np.zeros_like(x)
        y[where] = x[0, 0]
        if not any(getattr(one, "dtype", None) == bool for one in (where if isinstance(where, tuple) else (where,))):
            y[where] += 1.5
        return y

    def with_an_array(x):
        y = x.astype(np.int8)
        y[where] = np.arange(np.prod(shape)).reshape(shape) % 100
        return y

    for function in (with_a_number, with_a_value, with_a_row):
        check(function, X)
    check(with_an_array, I)


def test_views_see_assignments():
    def function(x):
        y = x + 0
        row, column, flat, bits, back = y[1], y[:, 2], y.reshape(-1), y.view(np.uint32), y[::-1, ::-1]
        inner = y[1:3, 1:5]
        row[2] = 100
        first = column * 1
        flat[::5] = -1
        inner[:, ::2] *= 3
        bits[0, 0] ^= 0x80000000
        back[0] = x[0]
        back += 1
        copy = y.copy()
        copy[...] = 5
        row[...] = row[::-1]
        return y, row, column, flat, bits, back, inner, first, copy

    check(function, X)
    check(function, X[:, ::-1].T.copy().T)

    def strided(x):
        y = x.T.copy()
        y[0] = 1
        z = x[1:3].copy()
        z[0, 1:] = 2
        w = x[:, 1:3].flatten()
        w[1] = 3
        return y, z, w, x * 1

    check(strided, X)
    check(strided, np.repeat(X, 2, 1)[:, ::2])


def test_in_place():
    def function(x, i):
        z = x * 1
        other = z
        z *= 2
        z += x
        z -= 1.5
        z /= 3
        z **= 2
        z *= np.float64(1) / 3  # computed in float64, rounded to float32
        k = i + 1
        k //= 2
        k <<= 3
        k |= 1
        k %= 7
        np.add(k, 5, out=k)
        truth = x > 0
        truth &= x < 2
        truth ^= True
        return z, other, k, truth

    check(function, X, I)
    for wrong, message in ((lambda x, i: i.copy().__imul__(0.5),
                            "numpy.multiply: the result is float64 and cannot be stored in a value of int32"),
                           (lambda x, i: x[0].copy().__iadd__(x), "has the shape .4, 6. and does not fit")):
        with pytest.raises((TypeError, ValueError), match=message):
            anydml.graph(wrong)(X, I)


def test_a_result_that_is_its_operand_is_a_copy():
    def function(x, i):
        y = x + 0
        results = []
        for make in (lambda a: +a, lambda a: a ** 1, lambda a: a.astype(np.float32), np.copy, np.nan_to_num, lambda a: a.flatten(),
                     lambda a: np.concatenate([a]), lambda a: np.stack([a])):
            one = make(y)
            one[...] = 0
            results.append(one)
        u = i.astype(np.uint8)
        v = abs(u)
        v += 1
        w = i.round()
        w[0] = 1
        return y, u, v, w, i * 1, *results

    check(function, X, I)


def test_masks():
    def function(x):
        y = x.copy()
        y[y < 0] = 0
        z = x + 0
        z[~(z > 1)] = -1.5
        z[x[:, 0] > 0] = 9
        return y, z

    check(function, X)
    with pytest.raises(TypeError, match=r"takes one number, but the value has the shape \(6,\); use numpy.where"):
        anydml.graph(lambda x: x.copy().__setitem__(x > 0, x[0]))(X)
    with pytest.raises(TypeError, match="only known when the graph runs; use anydml.scatter_elements"):
        anydml.graph(lambda x, i: x.copy().__setitem__(i, 0))(X, I[0])


def test_numbers_never_change():
    def function(x):
        y = x + 1
        number, view, total = y[1, 2], y[1, 2, ...], y.sum()
        same, also = number, total
        y[1, 2] = 50
        number += 1
        total *= 0.5
        view += 3
        first = y[0, 0] + 0
        for value in y[0]:
            value += 1
        copy = view.copy()
        alias = copy
        copy += 1
        return y, number, view, total, same, also, first, copy, alias

    def arrays(x):
        return tuple(map(np.asarray, function(x)))

    for one, other in zip(anydml.graph(function)(X), arrays(X)):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def test_repeated_elements_are_refused():
    with pytest.raises(ValueError, match="a value that repeats its elements cannot be assigned to: make a copy first"):
        anydml.graph(lambda x: np.broadcast_to(x + 1, (2, 4, 6)).__setitem__(0, 1))(X)
    check(lambda x: np.broadcast_to(x + 1, (2, 4, 6)).copy().__imul__(2), X)


def test_loops_that_build_a_result():
    def smoothed(x):
        y = np.empty_like(x)
        y[:, 0] = x[:, 0]
        for t in range(1, x.shape[1]):
            y[:, t] = 0.5 * y[:, t - 1] + 0.5 * x[:, t]
        return y

    check(smoothed, X)
    with pytest.raises((TypeError, ValueError, IndexError)):
        anydml.graph(lambda x: x.copy().__setitem__(4, 0))(X)
    with pytest.raises(ValueError):
        anydml.graph(lambda x: x.copy().__setitem__(0, x[:, 0]))(X)


def random_index(choose, shape):
    parts = []
    for size in shape[:choose.randint(0, len(shape))]:
        kind, ends = choose.random(), [None, *range(-size - 1, size + 2)]
        if kind < 0.3 and size:
            parts.append(choose.randrange(-size, size))
        elif kind < 0.4 and size and not any(isinstance(one, list) for one in parts):
            parts.append([choose.randrange(-size, size) for _ in range(choose.randint(1, 3))])
        else:
            parts.append(slice(choose.choice(ends), choose.choice(ends), choose.choice([None, 1, 2, -1, -2, 3])))
    if choose.random() < 0.2:
        parts.insert(choose.randint(0, len(parts)), None)
    return tuple(parts)


def random_program(seed):
    """Creates views and copies, and assigns to some of them."""
    def program(x, y):
        choose = random.Random(seed)
        values = [x + 1, y * 2, x.copy(), np.zeros_like(y)]
        for _ in range(choose.randint(2, 10)):
            one, other, step = choose.choice(values), choose.choice(values), choose.randrange(8)
            index = random_index(choose, one.shape)
            if step == 0:
                values.append(one[index])
            elif step == 1:
                values.append(choose.choice([one.T, one.reshape(-1), one.copy()]))
            elif step == 2:
                values.append(one.view(np.int32 if one.dtype == np.float32 else np.float32))
            elif step == 3 and one.ndim:
                one[index] = choose.choice([1, 7, 2])
            elif step == 4 and one.ndim and other.size and other.dtype == one.dtype:
                one[index] = other if one[index].shape == other.shape else other.reshape(-1)[0]
            elif step == 5:
                one += 1
            elif step == 6 and other.shape == one.shape and other.dtype == one.dtype:
                one -= other
            elif one.ndim == 2 and one.dtype == np.float32:
                one[one < 0] = 0
        return tuple(map(np.asarray, values)) if isinstance(x, np.ndarray) else tuple(values)

    return program


def test_random_programs():
    x, y = np.float32(np.arange(12).reshape(3, 4)) - 5, np.float32(np.arange(20).reshape(4, 5))
    for seed in range(300):
        program = random_program(seed)
        expected, found = program(x.copy(), y.copy()), anydml.graph(program)(x, y)
        for i, (one, other) in enumerate(zip(found, expected)):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), (seed, i)
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), (seed, i, one, other)
