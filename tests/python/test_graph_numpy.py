# SPDX-License-Identifier: MIT
"""Tests NumPy's functions, methods and operators in graphs. If the operator is exact or rounded once, each gives
NumPy's result for arrays, bit for bit. Otherwise each gives the result of anydml's own function."""
import numpy as np
import pytest

import anydml

X = np.float32([[-2.5, -0.0, 0.0, 1.5, 3.0, -7.25], [np.inf, -np.inf, np.nan, 1e-40, 2.5, 0.5],
                [1.0, 2.0, -3.0, 4.0, 0.1, 1e30], [9.0, 8.5, -1.5, 6.0, 5.0, 100.5]])
Y = np.float32([[0.1, 3, -2, 0.5, -3.0, 2], [1, 2, 3, 4, -5, np.inf], [0.5, np.nan, 2, -4, 7, 0.1],
                [-3, 0.25, -0.0, 5, 0.0, 7]])
I = np.int32([[7, -7, 0, 2**31 - 1, -2**31, 5], [1, -1, 6, 100, -100, 3], [2, 3, 4, 5, 6, 7], [-8, 9, 10, -11, 12, 13]])
J = np.int32([[2, 2, 3, -1, -1, 0], [1, 3, 4, 31, 32, 2], [7, -7, 5, 3, 2, 1], [3, -3, 4, 4, 5, 1]])
B = X > 0
INDEX = np.array([3, 0, -1, 2])


def bits(array):
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array).tobytes()


def same(found, expected, what=""):
    expected = np.asarray(expected)
    assert type(found) is np.ndarray, what
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    assert bits(found) == bits(expected), f"{what}: {found} instead of {expected}"


def check(function, *arrays):
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    found = anydml.graph(function)(*arrays)
    if not isinstance(expected, (tuple, list)):
        found, expected = (found,), (expected,)
    assert len(found) == len(expected)
    for i, (one, other) in enumerate(zip(found, expected)):
        same(one, other, i)


def test_operators_of_floats():
    check(lambda x, y: (x ** 2, x ** 1, x ** 0, x ** 0.5, x ** -1, x ** np.float32(2), +x, -x, abs(x), x // y, 1 // x,
                        x // 0.1, x % y, divmod(x, y)[0], divmod(7.5, y)[1], x * (x > 1), (x > 0) + y, (x > 0) * 2), X, Y)
    for kind in (np.float16, np.float64):
        check(lambda x, y: (x ** 2, x ** 0.5, x ** 0, x // y, 1 // x, x % y), np.clip(X, -999, 999).astype(kind), Y.astype(kind))


def test_powers():
    positive = np.float32([0.1, 3, 7.5, 1.25, 0.0625])
    for exponent in (3, -2, 1.5, 0.25):
        same(anydml.graph(lambda x: x ** exponent)(positive), anydml.pow(positive, np.float32(exponent)))  # noqa: B023
    same(anydml.graph(lambda x: 2 ** x)(positive), anydml.pow(np.float32(2), positive))
    check(lambda x, y: (x ** 3, x ** 0, x ** 1, 3 ** (y & 7), x ** 2), I, J)
    check(lambda x: (x ** 5, x ** 0, x ** 11, x ** 2), I.astype(np.int64))


def test_operators_of_integers_and_truths():
    check(lambda x, y: (x // y, x % y, x & y, x | 5, x ^ y, ~x, x << (y & 15), x >> (y & 63), x >> 40, 1 << (y & 7),
                        -x, abs(x), +x, x * (y > 2), 7 // x, x // 2), I, J)
    check(lambda x, y: (x // y, x & y, x >> 3, x << 2, ~x, x % 7), I.astype(np.uint8), J.astype(np.uint8))
    check(lambda x, y: (x // y, x >> 3, x << 40, x % y), I.astype(np.int64) << 20, J.astype(np.int64))
    check(lambda x: (x & (x == x), x | ~x, x ^ True, ~x, x & False, x + x, x * x, x == ~x, abs(x), x + 1, x * 2.5,
                     np.maximum(x, False), x.astype(np.float32), x.sum(), x.any(), x.all(0), x.max(), x.argmax(1)), B)
    check(lambda x: ((x > 0) & (x < 2), (x < 0) | (x > 5), ~(x == x), x.astype(bool)), X)


UFUNCS = ("sqrt", "square", "reciprocal", "floor", "ceil", "trunc", "rint", "sign", "signbit", "negative", "positive",
          "absolute", "fabs", "isnan", "isinf", "isfinite", "logical_not")
OF_TWO = ("add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "fmod", "copysign", "fmax", "fmin",
          "logical_and", "logical_or", "logical_xor", "equal", "not_equal", "less", "less_equal", "greater",
          "greater_equal")


def test_ufuncs():
    for name in UFUNCS:
        check(getattr(np, name), X)
        check(getattr(np, name), X.astype(np.float64))
    for name in OF_TWO:
        check(lambda x, y: getattr(np, name)(x, y), X, Y)  # noqa: B023
        check(lambda x: (getattr(np, name)(x, Y), getattr(np, name)(1.5, x)), X)  # noqa: B023
    check(lambda x, y: (np.maximum(x, y), np.minimum(x, 2)), np.where(X == 0, 1, X), Y)
    for name in ("isnan", "isinf", "isfinite", "floor", "sign", "square", "absolute", "logical_not"):
        check(getattr(np, name), I)
    for name in ("sqrt", "fabs", "rint", "signbit"):
        for kind in (np.int8, np.uint16, np.int64):
            check(getattr(np, name), np.abs(J).astype(kind))
    check(lambda x, y: (x / y, x / 2, 1 / x, np.copysign(x, y), x / np.int32(3)), I, J)
    same(anydml.graph(np.exp)(np.int8([2, 3, -1])), anydml.exp(np.int8([2, 3, -1])))
    check(lambda x: (np.left_shift(x, 3), np.bitwise_and(x, 12), np.invert(x)), I.astype(np.uint32))
    if hasattr(np, "bitwise_count"):
        check(np.bitwise_count, I.astype(np.uint32))


def test_functions_that_are_rounded_once_are_those_of_anydml():
    names = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "sinh": "sinh",
             "cosh": "cosh", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
             "arccosh": "acosh", "arctanh": "atanh"}
    for kind in (np.float32, np.float16):
        x, y = np.clip(X, -999, 999).astype(kind), Y.astype(kind)
        with np.errstate(all="ignore"):
            for name, ours in names.items():
                same(anydml.graph(getattr(np, name))(x), getattr(anydml, ours)(x), name)
            same(anydml.graph(np.arctan2)(x, y), anydml.atan_yx(x, y))
            same(anydml.graph(np.power)(abs(x), y), anydml.pow(abs(x), y))
            same(anydml.graph(np.exp2)(y), anydml.pow(kind(2), y))


def test_reductions():
    whole = np.float32(np.arange(24).reshape(2, 3, 4) - 7)  # sums are exact in any order
    for axis in (None, 0, 1, -1, (0, 2), (1,), ()):
        for keepdims in (False, True):
            check(lambda x: (x.sum(axis, keepdims=keepdims), np.sum(x, axis=axis, keepdims=keepdims),  # noqa: B023
                             x.max(axis, keepdims=keepdims), np.min(x, axis, keepdims=keepdims),  # noqa: B023
                             x.any(axis, keepdims=keepdims), np.all(x, axis, keepdims=keepdims)), whole)  # noqa: B023
            if axis != () and type(axis) is not tuple:
                check(lambda x: (x.argmax(axis, keepdims=keepdims), np.argmin(x, axis=axis, keepdims=keepdims)),  # noqa: B023
                      whole)
    check(lambda x: (x.mean(), x.mean(1), np.mean(x, axis=(0, 2), keepdims=True), x.prod(2), np.ptp(x, 1),
                     np.count_nonzero(x), np.count_nonzero(x, axis=1), np.cumsum(x, 1), x.cumsum(), np.average(x, 0)),
          np.float32(np.arange(32).reshape(2, 4, 4)))
    check(lambda x: (x.max(1), x.min(1), x.argmax(1), x.argmin(0), np.max(x)), X)
    check(lambda x: (x.sum(), x.sum(0, dtype=np.int32), x.prod(1), np.cumsum(x, axis=0), x.cumprod(1),
                     x.mean(), x.mean(1), x.std(0), x.sum(dtype=np.float64)), I)
    check(lambda x: (x.sum(), x.cumsum(dtype=np.uint8)), I.astype(np.uint8))
    check(lambda x: (x.var(), x.std(1), np.var(x, axis=0, ddof=1)), np.float64([[1, 2, 3, 6], [4, 4, 4, 8]]))
    check(lambda x: (x.sum(0), x.prod(), x.all(1), np.any(x)), np.zeros((0, 3), np.float32))
    check(lambda x: (x.sum(), x.max(), x.argmax(), x.sum(keepdims=True)), np.array(3, np.float32))
    halves = np.float16(np.linspace(-3, 5, 40))
    same(anydml.graph(lambda x: x.mean())(halves), np.float16(halves.astype(np.float64).mean()))


def test_choices_and_bounds():
    check(lambda x, y: (np.where(x > y, x, y), np.where(x > 0, x, 0), np.where(x > 0, 1.5, y), np.where(x > 0, 1, 0),
                        np.where(x > 0, 2.5, 0), np.where(x, y, -1), np.where(x > 0, True, y > 1),
                        np.where(B, x, 0), np.where(x > 0, Y, X)), X, Y)
    check(lambda x, y: (np.clip(x, -1, 2), x.clip(0), x.clip(max=1.5), np.clip(x, y, None),
                        np.clip(x, 2, -1), np.clip(x, None, y), np.clip(x, a_min=0, a_max=5), np.clip(x, y, 3)), np.where(X == 0, 1, X), Y)
    check(lambda x: (np.clip(x, -5, 5), x.clip(2), x.clip(max=I.T.reshape(I.shape))), I)
    check(lambda x: (np.round(x), x.round(1), np.around(x, -1), np.round(x, 2), np.nan_to_num(x), np.nan_to_num(x, nan=7)),
          X)
    check(lambda x: (np.round(x), x.round(1)), I)
    check(lambda x, y: (np.isclose(x, y), np.isclose(x, x + np.float32(1e-6)), np.isclose(x, 1.5, equal_nan=True),
                        np.isclose(x, x, equal_nan=True)), X, Y)
    check(lambda x: (x.astype(np.float16, copy=False), x.astype("f8", casting="safe"), x.astype(np.float32)),
          np.clip(X, -99, 99))


def test_arrangements():
    check(lambda x, y: (np.concatenate([x, y]), np.concatenate((x, Y, y), axis=1), np.concatenate([x, y], None),
                        np.stack([x, y]), np.stack([x, y], -1), np.hstack([x, y]), np.vstack([x[0], y]),
                        np.concatenate([x[:0], y]), np.concatenate([x > 0, y > 0], 1), np.hstack([x[0], y[1]])), X, Y)
    check(lambda x: (np.tile(x, 2), np.tile(x, (2, 1, 3)), np.tile(x[0], (2, 1)), np.repeat(x, 3), x.repeat(2, 0),
                     np.repeat(x > 0, 2, axis=1), np.roll(x, 2), np.roll(x, -1, 1), np.roll(x, (1, 2), (0, 1)),
                     np.diff(x), np.diff(x, axis=0), np.diff(x > 0), np.triu(x), np.tril(x, 1), np.copy(x), x.copy()), X)
    check(lambda x: (np.pad(x, 1), np.pad(x, ((1, 2), (0, 3)), constant_values=7), np.pad(x, ((2, 1), (1, 2)), "edge"),
                     np.pad(x, 2, "reflect"), np.pad(x, ((0, 0), (3, 1)), mode="symmetric"), np.pad(x > 0, 1)), X)
    check(lambda x: (np.zeros_like(x) + x, np.ones_like(x, np.int8), np.full_like(x, 3) * x, np.zeros_like(x, dtype=bool) | (x > 0), np.size(x) * x,
                     x.reshape(np.shape(x)), x[..., np.newaxis], x.squeeze(), x.T, x.flatten(), x[::-2, ::3]), X)


def test_elements_by_indices():
    table = np.float32(np.arange(60).reshape(4, 3, 5))
    rows = np.array([[0, 1], [3, -1]])
    check(lambda x: (x[INDEX], x[[0, -1]], x[:, [2, 0]], x[..., INDEX[:2]], x[rows], x[1:, rows % 3], x[0, [1, 2]],
                     x[INDEX, 0], x[INDEX, :, 0], x[INDEX, ..., [0, 1, 2, 3]], x[rows, [0, 2], 1], x[None, INDEX],
                     np.take(x, INDEX, 0), np.take(x, [5, -5]), x.take([0, 2], axis=-1), x[[]],
                     np.take_along_axis(x, x.argmax(2, keepdims=True), 2), (x > 3)[INDEX]), table)
    check(lambda x, i: (x[i], x[:, i % 3], np.take(x, i, axis=2), x[i, i % 3], x[i.astype(np.int8)]), table, INDEX[:3])
    x = np.float32([5, 6, 7])
    same(anydml.graph(lambda x, i: x[i])(x, np.int64([7, -9, 1])), x[[2, 0, 1]])  # follows GATHER's rule
    check(lambda x, i: np.take_along_axis(x, i, axis=1), X, np.argsort(X, 1))


def test_products():
    a, b = np.float32(np.arange(12).reshape(3, 4)), np.float32(np.arange(8).reshape(4, 2))
    check(lambda x, y: (np.dot(x, y), x.dot(y), x @ y, np.dot(x, y[:, 0]), np.dot(x[0], y), np.dot(x, np.float32(2)),
                        np.outer(x[0], y[0]), np.matmul(x, y), np.dot(a, y)), a, b)


@pytest.mark.parametrize("function, array, message", [
    (np.exp, I, r"numpy.exp of int32 is float64 in NumPy, and the operator takes float16 and float32: .*astype\('float32'\)"),
    (np.exp, X.astype(np.float64), r"numpy.exp: an operand is float64; the operator takes float16 and float32"),
    (lambda x: x.mean(dtype=np.int32), I, "REDUCE.*type is INT32"),
    (lambda x: x ** 0.5, I, "float64 in NumPy; write x.astype"),
    (lambda x: x ** 3, X.astype(np.float64), "accepts the numbers 0, 0.5, 1, 2 and -1 as exponents"),
    (lambda x: x.astype(np.int64) > x.astype(np.uint64), I, "a comparison of int64 and uint64, which NumPy compares exactly"),
    (lambda x: x & 1, X, "bitwise and of float32 cannot be part of a graph"),
    (lambda x: x - (x == x), B, "use . or numpy.logical_xor"),
    (lambda x: -x, B, "use ~ or numpy.logical_not"),
    (lambda x: np.where(x > 0), X, "number of results that is not known"),
    (lambda x: x[x > 0], X, "an index is an array of bool; a mask selects .*numpy.where"),
    (lambda x: x[B], X, "an index is an array of bool; a mask"),
    (lambda x: x.sum(out=np.empty(())), X, "numpy.sum: out cannot be given in a graph"),
    (lambda x: np.sum(x, where=B), X, "numpy.sum: where cannot be given in a graph"),
    (lambda x: np.percentile(x, 5), X, "numpy.percentile cannot be part of a graph; numpy.sort can"),
    (lambda x: np.logaddexp(x, x), X, "numpy.logaddexp cannot be part of a graph: docs/python-reference.md lists"),
    (np.log1p, I, r"numpy.log1p of int32 is float64 in NumPy, .*astype\('float32'\)"),
    (lambda x: np.add(x, x, where=B), X, "numpy.add cannot be part of a graph with where"),
    (lambda x: np.add.reduce(x), X, "numpy.add.reduce cannot be part of a graph; write x.sum"),
    (lambda x: np.repeat(x, [1, 2, 3, 4], 0), X, "with a number for each element"),
    (lambda x: np.pad(x, 1, "wrap"), X, "mode='wrap'"),
])
def test_other_meanings_are_refused(function, array, message):
    with pytest.raises(TypeError, match=message):
        anydml.graph(function)(array)


def test_wrong_arguments():
    for function, array, kind, message in (
            (lambda x: x.sum(2), X, getattr(np, "exceptions", np).AxisError, "axis 2 is out of bounds"),
            (lambda x: x.sum((0, 0)), X, ValueError, "duplicate value in 'axis'"),
            (lambda x: x[[4]], X, IndexError, "index 4 is out of bounds for a dimension of size 4"),
            (lambda x: x[[0.5]], X, IndexError, "expected integers"), (lambda x: x[0, 0, [1]], X, IndexError, "too many"),
            (lambda x: x.astype("f2", casting="safe"), X, TypeError, "float32 to float16 is not 'safe'"),
            (lambda x: x ** -1, I, ValueError, "negative integer powers"),
            (lambda x: x[:0].max(), X, ValueError, "zero-size array"),
            (lambda x: np.pad(x, 4, "reflect"), X, ValueError, "expected at most 3 for mode='reflect'"),
            (lambda x: np.concatenate([x, x[:, :2]]), X, ValueError, "must match exactly")):
        with pytest.raises(kind, match=message):
            anydml.graph(function)(array)


def test_anydmls_functions_under_numpys_names_are_numpys_in_a_graph():
    x, truths = np.float32([3, 7, -1, 9]), np.array([True, False, True])
    assert anydml.graph(lambda x: np.where(~anydml.greater(x, 5), x, 0))(x).tolist() == [3, 0, -1, 0]
    with pytest.raises(TypeError, match="array of bool"):
        anydml.graph(lambda x: x[anydml.greater(x, 5)])(x)
    for function in (lambda b: anydml.maximum(b, 1), anydml.max, anydml.sum, anydml.isnan, np.square):
        result, expected = anydml.graph(function)(truths), function(truths)
        assert np.array_equal(result, expected) and result.dtype == np.asarray(expected).dtype
    assert anydml.graph(lambda x: np.sum(x, out=None))(x) == 18


@pytest.mark.parametrize("function, message", [
    (lambda x: x.astype(np.complex64), "astype: the type is complex64; expected bool"),
    (lambda x: np.reciprocal(x.astype(np.int32)), "truncated integer"),
    (lambda x: np.take_along_axis(x, np.int64([[0]]), axis=5), "axis 5 is out of bounds"),
    (lambda x: np.triu(x[0]), "expected two or more")])
def test_graphs_refuse_what_numpy_does_otherwise(function, message):
    with pytest.raises((TypeError, ValueError), match=message):
        anydml.graph(function)(np.float32([[1, 2], [3, 4]]))
