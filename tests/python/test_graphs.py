# SPDX-License-Identifier: MIT
"""Graphs give what the function gives that they were made of, bit for bit."""
import threading

import numpy as np
import pytest

import anydml
from anydml import _graphs

X = np.arange(-12, 12, dtype=np.float32).reshape(4, 6) / 4


def layer(x, bias):
    y = anydml.relu(anydml.add(x, bias))
    total = anydml.reduce(y, function="SUM", axes=[1], shape=(x.shape[0], 1))
    return anydml.divide(y, anydml.add(total, 1)), total


def same(found, expected):
    assert type(found) is type(expected)
    for one, other in zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]:
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()


def test_a_graph_is_its_function():
    graph = anydml.graph(layer)
    bias = np.linspace(-1, 1, 6, dtype=np.float32)
    for x in (X, X[:2], X.T.copy().T, X[:, ::-1], X[::2], X.astype(">f4")):
        same(graph(x, bias), layer(np.array(x, np.float32), bias))
    assert repr(graph) == "<graph layer, compiled 4 times>"  # of strides below 0 and other byte orders it makes a copy
    assert graph.__name__ == "layer"


def test_it_is_recorded_once_for_each_form():
    calls = []

    @anydml.graph(device="cpu")
    def twice(x, factor):
        calls.append((x.dtype, x.shape, factor))
        return x * factor

    for _ in range(3):
        same(twice(X, 2), X * 2)
        same(twice(X, 3), X * 3)
        same(twice(X.astype(np.int32), 3), X.astype(np.int32) * 3)
    assert calls == [(np.float32, (4, 6), 2), (np.float32, (4, 6), 3), (np.int32, (4, 6), 3)]


def test_operators_and_views():
    def function(x):
        return (x + 1, 1 - x, x * x, x / 3, x % np.float32(2), -x, abs(x), x.T + x.reshape(6, 4), x.view(np.uint32),
                np.broadcast_to(x, (2, 4, 6)), np.expand_dims(x, 1), x.T.reshape(24), x > 0, x == x, 0 <= x, x != x,
                np.moveaxis(x, 0, 1), x.reshape(2, 2, 6)[:1], np.float32([1, 2, 3, 4, 5, 6]) * x, x.astype(np.int8),
                X, anydml.element_wise_if(x > 0, x, 0), anydml.modulus_truncate(x, 2), x)

    found, expected = anydml.graph(function)(X), list(function(X))
    expected[19] = anydml.cast(X, dtype=np.int8)
    for i, (one, other) in enumerate(zip(found, expected)):
        assert one.flags.c_contiguous and one.flags.writeable and not np.shares_memory(one, X), i
        same(one, other)


def test_out_and_overlap():
    graph = anydml.graph(lambda x: (x + x, x * x))
    memory = X.copy()
    other = np.empty_like(X)
    results = graph(memory, out=(memory, other))
    assert results[0] is memory and results[1] is other
    same(memory, X + X)
    same(other, X * X)
    with pytest.raises(ValueError, match="out has 1 entries; expected 2"):
        graph(X, out=other)
    with pytest.raises(ValueError, match="another type, shape or strides"):
        graph(X, out=(other, other.T))


def test_graphs_within_graphs_and_threads():
    inner = anydml.graph(lambda x: anydml.relu(x - 1))
    outer = anydml.graph(lambda x: inner(x) + inner(-x))
    expected = anydml.add(anydml.relu(X - 1), anydml.relu(-X - 1))
    wrong = []

    def work():
        for _ in range(50):
            if outer(X).tobytes() != expected.tobytes():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_empty_single_and_bool():
    graph = anydml.graph(lambda x, keep: anydml.element_wise_if(keep, x, 0))
    same(graph(np.float32(3), np.True_), np.array(3, np.float32))
    same(graph(np.zeros((0, 3), np.float32), np.zeros(3, bool)), np.zeros((0, 3), np.float32))
    same(graph(np.int8([5, 6]), np.array([True, False])), np.int8([5, 0]))


def test_few_forms_are_kept():
    graph = anydml.graph(lambda x: x + 1)
    for count in range(2 * _graphs._MOST_KEPT):
        graph(np.zeros(count, np.float32))
    assert len(graph._kept) == _graphs._MOST_KEPT


@pytest.mark.parametrize("function, kind, message", [
    (lambda x: x[1:] + 1, NotImplementedError, "does not begin with its first element"),
    (lambda x: x if x.reshape(24)[:1] else x, TypeError, "bool needs the elements of a value"),
    (lambda x: float(x), TypeError, "float needs the elements of a value"),
    (lambda x: x[0, 0], TypeError, "a single element needs the elements"),
    (lambda x: np.asarray(x), TypeError, "array needs the elements of a value"),
    (lambda x: np.sum(x), TypeError, "numpy.sum"),
    (lambda x: x + np.zeros(6), TypeError, "node 0: ELEMENT_WISE_ADD: BTensor: type is FLOAT64; expected FLOAT32"),
    (lambda x: x.astype(np.int32) / 2, TypeError, "/ is for floats"),
    (lambda x: anydml.add(x, x, out=np.empty((4, 6), np.float32)), TypeError, "out is an array; expected none"),
    (lambda x: anydml.add(x, x, device="cpu"), TypeError, "device is for operators that run at once"),
    (lambda x: anydml.modulus_floor(x, 2, where=[True]), TypeError, "where: for arrays, and not within a graph"),
])
def test_what_cannot_be_recorded(function, kind, message):
    with pytest.raises(kind, match=message):
        anydml.graph(function)(X)


def test_wrong_use():
    with pytest.raises(TypeError, match="expected a function of arrays"):
        anydml.graph(7)
    with pytest.raises(TypeError, match="neither an array nor a constant"):
        anydml.graph(lambda x: x)([1, 2])
    escaped = []
    anydml.graph(lambda x: escaped.append(x) or x + 1)(X)
    with pytest.raises(ValueError, match="of another graph"):
        anydml.graph(lambda x: x + escaped[0])(X)
    with pytest.raises(ValueError, match="abacus"):
        anydml.graph(lambda x: x, device="abacus")(X)


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch")
    result = anydml.graph(lambda x: x + 1)(torch.from_numpy(X))
    assert isinstance(result, torch.Tensor) and result.numpy().tobytes() == (X + 1).tobytes()
