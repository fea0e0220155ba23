# SPDX-License-Identifier: MIT
"""Tests that graphs follow NumPy in types, ordering, sums of products, norms, and functions without an operator."""
import itertools

import numpy as np
import pytest

import anydml

X = np.float32([[3, 1, -2, 0.5], [np.nan, 5, -0.0, 0.0], [7, 7, np.inf, -np.inf]])
WHOLE = np.float32(np.arange(24).reshape(2, 3, 4) - 7)
KINDS = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32,
         np.float64]


def same(found, expected, what=""):
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    both = [np.where(np.isnan(one), np.nan, one) if one.dtype.kind == "f" else one for one in (found, expected)]
    assert both[0].tobytes() == np.ascontiguousarray(both[1]).tobytes(), f"{what}: {found} instead of {expected}"


def check_values(function, *arrays):
    """-0 counts as +0, because NumPy adds products to +0."""
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    found = anydml.graph(function)(*arrays)
    for one, other in zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]:
        assert (one.dtype, one.shape) == (other.dtype, other.shape) and np.array_equal(one, other)


def check(function, *arrays):
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    found = anydml.graph(function)(*arrays)
    if not isinstance(expected, (tuple, list)):
        found, expected = (found,), (expected,)
    for i, (one, other) in enumerate(zip(found, expected)):
        same(one, other, i)


@pytest.mark.parametrize("first, second", list(itertools.product(KINDS, KINDS)))
def test_two_types_are_promoted_as_in_numpy(first, second):
    a, b = np.array([1, 0, 5, 1]).astype(first), np.array([1, 1, 3, 0]).astype(second)
    check(lambda x, y: (x + y, x * y, x / (y + y.dtype.type(1)), np.where(x > 0, x, y), np.concatenate([x, y]),
                        np.maximum(x, y), np.stack([x, y])), a, b)
    check(lambda x: (x + b, b * x, x * second(1)), a)
    if {first, second} not in ({np.int64, np.uint64},) and np.result_type(first, second).kind != "f" or first == second:
        check(lambda x, y: (x == y, x < y, x >= y), a, b)


def test_numbers_and_constants_of_other_types():
    u8, i32, z = np.uint8([[0, 10, 255]]), np.int32([1, -2, 3]), np.float32([[1, 2, 3]])
    mean, deviation = np.array([0.485, 0.456, 0.406]), [0.229, 0.224, 0.225]
    check(lambda x: (x / 255.0, x * 0.5, x + 1.5, x - 0.1, x > 9.5, x / 255, np.clip(x, 0.5, 9.5), x == 10.0), u8)
    check(lambda x: (x * 0.5, 0.5 - x, x // 2.0, x % 2.5, x < 1.5, x * np.float64(2), np.where(x > 0, 0.5, x)), i32)
    check(lambda x: (np.sqrt(2) * x, x * np.sqrt(2), x - mean, mean - x, (x - mean) / deviation, x * np.array(2.0),
                     x * np.arange(3), np.linspace(0, 1, 3) + x, np.pi * x, x * np.float16(2)), z)
    check(lambda x: (x / 255.0).astype(np.float32) - mean.astype(np.float32), u8)
    check(lambda x, y: (x @ y, y.T @ x.astype(np.float32).T), u8.astype(np.uint8), z.T)
    assert anydml.graph(lambda x: mean @ x.astype(np.float64))(z.T).dtype == np.float64
    with pytest.raises(TypeError, match="an operand is of type NoneType; expected a number, or an array"):
        anydml.graph(lambda x: x + None)(z)


def test_order():
    bits = np.float32([np.nan, 1, -0.0, 0.0, -1, np.inf, 1, np.nan, -np.inf, 0.5])
    for x in (X, X.T, X.astype(np.float16), X.astype(np.float64), np.int8([[3, -1], [2, 3]]), np.array([True, False, True])):
        check(lambda x: (np.sort(x, kind="stable"), np.argsort(x, kind="stable"), np.sort(x, 0, "stable"), np.sort(x, None, "stable"),
                         np.argsort(x, axis=0, kind="stable"), x.argsort(-1, "stable"), np.sort(x[:0], kind="stable")), x)
    check(lambda x: (np.sort(x, stable=True), np.argsort(x, stable=True)) if hasattr(np, "astype") else x, bits)

    def in_place(x):
        y = x.copy()
        y.sort(0)
        return y

    check(in_place, X)
    check(lambda x: (np.median(x), np.median(x, 0), np.median(x, 1, keepdims=True), np.median(x[1:], axis=-1)), np.where(X == 0, 1, X))
    check(lambda x: (np.median(x), np.median(x, 0), np.median(x, (0, 2)), np.median(x, -1), np.median(x, (0, 1, 2), keepdims=True)),
          WHOLE)
    check(lambda x: (np.median(x), np.median(x, 0)), np.int32([[3, 1], [9, 4], [2, 2]]))
    check(lambda x, i: np.take_along_axis(x, np.argsort(i, 1, "stable"), 1), X, np.int32(np.arange(12).reshape(3, 4)) % 5)


EINSUMS = ["ij,jk->ik", "ij,kj->ik", "ij,ij->", "ij,ij->ij", "ij,ij->i", "ij->ji", "ij->", "ij->j", "ij,jl", "ij,jl->il", "ij,kl->ijkl",
           "ij,kl->", "ab,cb->ca", "ij,jk", "ji,jk->ki", "ij,ij->j", "...j,kj->...k", "ij,...j->i..."]


@pytest.mark.parametrize("text", EINSUMS)
def test_einsum(text):
    for kind in (np.float32, np.float16, np.float64, np.int32):
        a, b = (np.arange(9).reshape(3, 3) - 4).astype(kind), (np.arange(9).reshape(3, 3) % 5).astype(kind)
        operands = (a, b)[:text.count(",") + 1]
        check_values(lambda *given: np.einsum(text, *given), *operands)


def test_einsum_of_more_dimensions():
    a, b, c = WHOLE, np.float32(np.arange(2 * 4 * 5).reshape(2, 4, 5) % 7), np.float32(np.arange(15).reshape(5, 3) % 4)
    for text, given in (("bij,bjk->bik", (a, b)), ("bij,bjk->bki", (a, b)), ("bij,bjk,kl->bil", (a, b, c)), ("bij,bjk,ki->b", (a, b, c)),
                        ("...ij,...jk->...ik", (a, b)), ("bij->bji", (a,)), ("bij,b->j", (a, c[:2, 0])), ("ij,j", (c, c[0])),
                        ("i,j->ij", (c[0], c[1])), ("i,i", (c[0], c[1])),
                        ("abc,dbc->ad", (a, a)), ("ii->i", (c[:3],)), ("ii", (c[:3],)), ("iij->j", (np.stack([c[:3]] * 3, 2),)),
                        ("bij,cij->bc", (a, a)), ("i...,i...->...", (a, a)), ("ij,jk->ik", (c[:, :1], c[:3]))):
        check_values(lambda *x: np.einsum(text, *x), *given)  # noqa: B023
    check_values(lambda x: (np.einsum("bij,bjk", x, b), np.einsum(x, [0, 1, 2], [2, 0, 1]), np.einsum(x, [0, 1, 2], b, [0, 2, 3])), a)
    check_values(lambda x, y: (np.tensordot(x, y, ((0, 2), (0, 1))), np.tensordot(x, y, 0), np.inner(x, x), np.vdot(x, x), np.trace(x),
                        x.trace(1, 1, 2), np.inner(x[0], y[0, :, 0])), a, b)
    for wrong, message in (("ij,jk->ik", "names 2 operands"), ("ij->ij", "does not fit"), ("bij->z", "has an unknown one")):
        with pytest.raises(ValueError, match=message):
            anydml.graph(lambda x: np.einsum(wrong, x))(a)  # noqa: B023
    with pytest.raises(ValueError, match="the sizes 4 and 3"):
        anydml.graph(lambda x: np.einsum("bij,bji->b", x, x))(a)


def test_norms():
    x = np.float32([[3, 4, 0], [0, 5, 12]])
    check(lambda x: (np.linalg.norm(x[0]), np.linalg.norm(x, axis=1), np.linalg.norm(x, axis=-1, keepdims=True),
                     np.linalg.norm(x, 1, 0), np.linalg.norm(x, np.inf, 1), np.linalg.norm(x, -np.inf, 1),
                     np.linalg.norm(x, 0, 1), np.linalg.norm(x, 1), np.linalg.norm(x, -1), np.linalg.norm(x, np.inf),
                     np.linalg.norm(x, -np.inf, keepdims=True), np.linalg.norm(x[:, :2], "fro", (0, 1)), np.linalg.norm(x[:1])), x)
    check(lambda x: np.linalg.norm(x, axis=1), x.astype(np.int32))
    found = anydml.graph(lambda x: np.linalg.norm(x, 3, axis=1))(x)
    assert np.allclose(found, np.linalg.norm(x, 3, axis=1), 1e-6)
    with pytest.raises(TypeError, match="with ord=2 needs singular values and cannot be part of a graph"):
        anydml.graph(lambda x: np.linalg.norm(x, 2))(x)


@pytest.mark.parametrize("function", [np.log1p, np.expm1, np.log10])
def test_logarithms_and_exponentials_are_within_one_and_a_half_units(function):
    every = np.arange(0, 2**32, 39119, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([every, np.float32(np.linspace(-0.999, 3, 30001)), np.float32([-0.0, 0, -1, 1, np.inf, -np.inf, 1e-45, -200])])
    with np.errstate(all="ignore"):
        found, exact = anydml.graph(function)(x), function(x.astype(np.float64))
        near = exact.astype(np.float32)
    is_number = np.isfinite(near) & (near != 0)
    error = np.abs(found[is_number] - exact[is_number]) / np.spacing(np.abs(near[is_number]))
    assert error.max() < 1.5
    same(found[~is_number], near[~is_number])
    half = np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        found, near = anydml.graph(function)(half), function(half.astype(np.float64)).astype(np.float16)
    assert np.sum(~((found == near) | np.isnan(near))) < 10 and np.array_equal(np.isnan(found), np.isnan(near))
    if function is np.log10:
        powers = np.float32(10) ** np.arange(-5, 11)
        assert anydml.graph(np.log10)(np.float32([float(f"1e{k}") for k in range(-5, 11)])).tolist() == list(range(-5, 11)), powers


def test_arguments_of_other_libraries_are_refused():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    graph = anydml.graph(lambda x: x * 2)
    array = np.float32([[1, 2], [3, 4]])
    for one in (pandas.DataFrame(array), pandas.Series(array[0]), xarray.DataArray(array)):
        with pytest.raises(TypeError, match=f"of type {type(one).__name__} and neither an array nor a constant: pass its elements, "
                                            r"x.to_numpy\(\)"):
            graph(one)
        same(graph(one.to_numpy()), one.to_numpy() * 2)
    with pytest.raises(TypeError, match=r"of type list and neither .*: pass an array, numpy.asarray\(x\), or a tuple for a constant"):
        graph([1.0, 2.0])
    series = pandas.Series(array[0])
    same(anydml.graph(lambda x: x * series + series * x)(array), array * array[0] * 2)
    same(anydml.graph(lambda x: x * xarray.DataArray(array))(array), array * array)
