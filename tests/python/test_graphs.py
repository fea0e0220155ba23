# SPDX-License-Identifier: MIT
"""Tests that graphs give the same bits as the functions that they were compiled from."""
import dataclasses
import gc
import threading
import weakref
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import anydml
from anydml import _graphs

X = np.arange(-12, 12, dtype=np.float32).reshape(4, 6) / 4


def layer(x, bias):
    y = anydml.relu(anydml.add(x, bias))
    total = anydml.reduce(y, function="SUM", axes=[1])
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
    assert repr(graph) == "<graph layer, compiled 4 times>"  # negative strides and other byte orders are copied
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
    with pytest.raises(ValueError, match=r"out\[1\] has the shape \(6, 4\); expected \(4, 6\)"):
        graph(X, out=(other, other.T))
    with pytest.raises(TypeError, match=r"out\[0\] is an array of float64; expected float32"):
        graph(X, out=(X.astype(np.float64), other))
    with pytest.raises(TypeError, match=r"out\[0\] is of type list; expected an array"):
        graph(X, out=([1], other))


def test_strided_out():
    graph = anydml.graph(lambda x: (x + x, x > 0))
    memory, truths = np.zeros((8, 12), np.float32), np.zeros((6, 4), bool)
    for out in (memory[::2, ::2], memory[4:, 6:][::-1], memory.T[:6, :4].T):
        memory[...] = 7
        results = graph(X, out=(out, truths.T))
        assert results[0] is out and results[1].base is truths
        same(np.ascontiguousarray(out), X + X)
        same(np.ascontiguousarray(truths.T), X > 0)
        assert np.count_nonzero(memory == 7) >= memory.size - X.size
    over = np.zeros((4, 12), np.float32)
    over[:, ::2] = X
    graph(over[:, ::2], out=(over[:, ::2][:, ::-1], None))
    same(np.ascontiguousarray(over[:, ::2][:, ::-1]), X + X)
    shared = np.lib.stride_tricks.as_strided(memory, (4, 6), (0, 4))
    with pytest.raises(ValueError, match="put two elements at the same address"):
        graph(X, out=(shared, None))


def test_constants_are_known_by_their_bits_and_types():
    Pair = namedtuple("Pair", "a b")
    seen = []

    @anydml.graph
    def graph(x, constant):
        seen.append(constant)
        return x + 1

    @dataclasses.dataclass(frozen=True)
    class Options:
        scale: float

    nan, other_nan = np.array([0x7ff8000000000000, 0x7ff8000000000001], np.uint64).view(np.float64).tolist()
    different = [0.0, -0.0, nan, other_nan, 1, 1.0, True, None, "1", b"1", 0j, complex(0, -0.0), (1,), (1.0,), (True,), (-0.0,),
                 (0.0,), ((0.0,),), ((-0.0,),), (np.float32(1),), (np.float64(1),), (np.int8(1),), (np.float32(0),),
                 (np.float32(-0.0),), Pair(1, 2), (1, 2), slice(0, 1), slice(0, 1.0), range(0), range(1, 1),
                 frozenset([1]), frozenset([1.0]), Options(0.0), Options(-0.0), np.dtype("f4"), np.float32]
    for _ in range(2):
        for constant in different[:_graphs._MAX_KEPT]:
            graph(X, constant)
    assert len(seen) == min(len(different), _graphs._MAX_KEPT)
    for constant in different[_graphs._MAX_KEPT:] * 2:
        graph(X, constant)
    assert len(seen) == len(different)
    again = graph(X, (float("nan"), -0.0, np.float32("nan")))
    count = len(seen)
    same(graph(X, (float("nan"), -0.0, np.float32("nan"))), again)  # NaNs are not matched by identity
    assert len(seen) == count
    divide = anydml.graph(lambda x, by: x / by)
    with np.errstate(divide="ignore"):
        assert divide(np.float32([1]), 0.0) == np.inf and divide(np.float32([1]), -0.0) == -np.inf
    for mutable in ([1], {}, {1}, (1, [2]), [[2], X, {1}]):
        with pytest.raises(TypeError, match="neither an array nor a constant"):
            graph(X, mutable)


def test_a_constant_object_is_one_object():
    class Weight:
        """Compares equal to every object, as a class is allowed to."""
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    graph = anydml.graph(lambda x, weight: x * weight.value)
    two, three = Weight(2), Weight(3)
    for _ in range(2):
        same(graph(X, two), X * 2)
        same(graph(X, three), X * 3)
    assert len(graph._kept) == 2
    gone = weakref.ref(two)
    del two
    gc.collect()
    assert gone() is None  # a graph does not keep it alive


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2)])
def test_arrays_that_change_while_a_graph_is_recorded(part):
    """A constant keeps the elements that the array had when the graph used it."""
    def function(x, memory, numbers):
        bias = memory[..., part]
        first = x[..., part] + bias
        numbers[0] = x.shape[0]
        unchanged = x[..., part] * bias
        bias += 1
        second = x[..., part] + bias
        memory.view(np.uint32)[0] ^= 0x80000000
        return first, unchanged, second, x[..., part] - bias, bias

    results = []
    for make in (lambda f: f, lambda f: anydml.graph(f)):
        memory = np.float32([0, 1, 2, 3, 4, 5])
        bound = make(lambda x: function(x, memory, [0]))
        results.append(tuple(np.array(one) for one in bound(X)))
    same(*results)


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2)])
def test_a_function_that_changes_its_argument_is_refused(part):
    memory = X.copy()

    def function(x):
        first = x + 1
        memory[0, 0] += 1
        return first, x + 1

    with pytest.raises(ValueError, match="the function changed an array that is one of its arguments"):
        anydml.graph(function)(memory[:, part])
    same(anydml.graph(function)(X), (X + 1, X + 1))  # here the array is not an argument


def test_the_same_constant_is_recorded_once():
    added = []

    class Counting(_graphs.Recorder):
        def constant(self, array):
            added.append(value := super().constant(array))
            return value

    recorder = Counting()
    symbol, _ = recorder.input(X)
    array = np.ones((4, 6), np.float32)
    recorder.add("ELEMENT_WISE_ADD", (symbol, array))
    recorder.add("ELEMENT_WISE_ADD", (array, symbol))
    array[0, 0] = -0.0
    recorder.add("ELEMENT_WISE_ADD", (symbol, array))
    array[0, 0] = 0.0
    recorder.add("ELEMENT_WISE_ADD", (symbol, array))
    assert added[0] == added[1] and len(set(added)) == 3


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


class Layer:
    """A class with graphs as methods, whose objects are not hashable."""
    def __init__(self, weight):
        self.weight = weight

    def __eq__(self, other):
        return True

    @anydml.graph
    def apply(self, x, shift=0):
        return x * self.weight + shift

    @anydml.graph(device="cpu")
    def twice(self, x):
        return self.apply(self.apply(x))

    @staticmethod
    @anydml.graph
    def half(x):
        return x * 0.5

    @classmethod
    @anydml.graph
    def named(cls, x):
        return x + len(cls.__name__)


def test_methods():
    two, three = Layer(2), Layer(np.float32(3))
    for _ in range(2):
        same(two.apply(X), X * 2 + 0)
        same(three.apply(X, 1), X * 3 + 1)
        same(Layer.apply(two, X), X * 2 + 0)
        same(three.twice(X), X * 3 * 3)
        out = np.empty_like(X)
        assert two.apply(X, out=out) is out
        same(two.half(X), X / 2)
        same(Layer.named(X), X + 5)
    assert repr(Layer.apply) == "<graph apply, compiled 2 times>"
    assert two.apply.__self__ is two and two.apply.__name__ == "apply"
    gone = weakref.ref(two)
    del two
    gc.collect()
    assert gone() is None


def test_arguments_by_name():
    recorded = []

    @anydml.graph
    def function(x, y=None, *rest, scale=1, **others):
        recorded.append((scale, sorted(others)))
        result = x * scale if y is None else x * scale + y
        for one in (*rest, *others.values()):
            result = result + one
        return result

    for _ in range(2):
        same(function(X), X * 1)
        same(function(x=X), X * 1)
        same(function(X, scale=2), X * 2)
        same(function(scale=2, x=X), X * 2)
        same(function(y=X, x=X), X + X)
        same(function(X, X, X, 1, scale=3), X * 3 + X + X + 1)
        same(function(X, bias=X, more=2), X + X + 2)
        out = np.empty_like(X)
        assert function(x=X, out=out) is out
    assert recorded == [(1, []), (2, []), (1, []), (3, []), (1, ["bias", "more"])]
    layer = Layer(2)
    same(layer.apply(X, shift=3), X * 2 + 3)
    same(layer.apply(shift=3, x=X), X * 2 + 3)
    assert repr(Layer.apply).startswith("<graph apply")
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        function(X, x=X)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        function(scale=2)
    same(anydml.graph(anydml.clip)(X, min=-1, max=1), np.clip(X, -1, 1))


def test_containers_of_arrays():
    Pair = namedtuple("Pair", "first second")

    @anydml.graph
    def function(weights, pair, options=("a", 2)):
        x = weights["w"] @ weights["layers"][0].T
        return {"x": x, "both": Pair(pair.second, [pair.first + options[1]])}, x > 0

    weights = {"w": X, "layers": [X + 1, X]}
    found = function(weights, Pair(X, 2 * X))
    same(found[0]["x"], anydml.matmul(X, (X + 1).T))
    assert type(found) is tuple and type(found[0]["both"]) is Pair and type(found[0]["both"].second) is tuple
    same(found[0]["both"].first, 2 * X)
    same(found[0]["both"].second[0], X + 2)
    same(function({"w": X, "layers": [X + 1, X]}, pair=Pair(X, X), options=("a", 3))[0]["both"].second[0], X + 3)
    assert repr(function) == "<graph function, compiled 2 times>"
    same(anydml.graph(lambda x: function({"w": x, "layers": (x,)}, Pair(x, x))[0]["x"])(X), anydml.matmul(X, X.T))
    with pytest.raises(ValueError, match="out has 1 entries; expected 4"):
        function(weights, Pair(X, X), out=X)


def test_truths_are_compared():
    truths = np.array([True, False, True, False, True, False])

    def function(x):
        positive, small = x > 0, abs(x) < 1
        return (positive == small, positive != small, positive <= small, positive > small, positive == True,  # noqa: E712
                positive != truths, truths == positive, np.False_ == small, positive == np.uint8(1))

    same(anydml.graph(function)(X), tuple(map(np.asarray, function(X))))
    keep = X > 0
    same(anydml.graph(lambda x: (x == (x != x), x.astype(np.int8)))(keep), (keep == (keep != keep), keep.astype(np.int8)))


def test_reshapes_in_other_orders():
    def function(x):
        return (np.reshape(x, (6, 4), order="F"), np.reshape(x.T, (4, 6), order="F"), np.reshape(x, (3, -1), order="A"),
                np.reshape(x.T, -1, order="A"), np.ravel(x, order="F"), np.ravel(x.T, "K"), np.ravel(x, "K"),
                x.reshape(2, 12, order="F"), x.reshape([2, 2, 6], order="F"), x.T.reshape(-1), np.ravel(x.T),
                np.reshape(x > 0, (8, 3), order="F"))

    same(anydml.graph(function)(X), tuple(map(np.ascontiguousarray, function(X))))
    same(anydml.graph(lambda x: np.reshape(x, (6, 4), order="F") * 2)(X[:, ::2][:, [0, 1]].repeat(3, 1)[:, :6]),
         np.reshape(X[:, ::2][:, [0, 1]].repeat(3, 1)[:, :6], (6, 4), order="F") * 2)
    same(anydml.graph(lambda x: x.reshape(24, copy=True))(X), X.reshape(24))
    same(anydml.graph(lambda x: x.reshape(24, copy=False))(X), X.reshape(24))
    with pytest.raises(ValueError, match="copy is False"):
        anydml.graph(lambda x: x.T.reshape(24, copy=False))(X)


def test_integers_of_numpy_are_indices():
    same(anydml.graph(lambda x: x[np.int64(0), :np.int8(3), None])(X), X[0, :3, None])
    same(anydml.graph(lambda x: x[np.array(0)])(X), X[0])


def test_empty_single_and_bool():
    graph = anydml.graph(lambda x, keep: anydml.element_wise_if(keep, x, 0))
    same(graph(np.float32(3), np.True_), np.array(3, np.float32))
    same(graph(np.zeros((0, 3), np.float32), np.zeros(3, bool)), np.zeros((0, 3), np.float32))
    same(graph(np.int8([5, 6]), np.array([True, False])), np.int8([5, 0]))


def test_few_forms_are_kept():
    graph = anydml.graph(lambda x: x + 1)
    for count in range(2 * _graphs._MAX_KEPT):
        graph(np.zeros(count, np.float32))
    assert len(graph._kept) == _graphs._MAX_KEPT


def in_place(x):
    x += 1
    return x


def array_in_place(a, x):
    a += x
    return a


@pytest.mark.parametrize("function, kind, message", [
    (lambda x: x if x.reshape(24)[:1] else x, TypeError, "bool needs the elements of a value"),
    (lambda x: float(x), TypeError, "float needs the elements of a value"),
    (lambda x: np.asarray(x), TypeError, "array needs the elements of a value"),
    (lambda x: np.add(x, x, where=X > 0), TypeError, "numpy.add cannot be part of a graph"),
    (lambda x: x if x[0, 0] > 0 else -x, TypeError, "bool needs the elements of a value"),
    (lambda x: x["0"], TypeError, "an index is of type str; expected integers, slices, None, ... and arrays"),
    (lambda x: x[:, True], TypeError, "an index is of type bool"),
    (lambda x: np.ravel(x[:, ::2], order="K"), NotImplementedError, "ravel with order='K' of a strided value"),
    (lambda x: x.reshape(24, order="K"), ValueError, "order is 'K'; expected"),
    (lambda x: in_place(x), TypeError, "an argument of a graph cannot be changed in place, .* x = x.copy.., or create a new value"),
    (lambda x: array_in_place(X.copy(), x), TypeError, "an array cannot be changed by a value of a graph"),
    (lambda x: x.__setitem__(0, 1), TypeError, "an argument of a graph cannot be assigned to, .* x = x.copy.."),
    (lambda x: np.eye(4)[x.astype(np.int32)], TypeError, "an array that a value indexes, as in table.i., must be an argument"),
    (lambda x: np.array([x, x]), TypeError, "numpy.stack joins values"),
    (lambda x: anydml.graph(lambda y: y + 1)(x, out=np.empty_like(X)), TypeError, "out is given within another graph"),
    (lambda x: anydml.graph(lambda y: y + 1)(X, out=x), TypeError, "out is given within another graph"),
    (lambda x: anydml.add(x, x, out=np.empty((4, 6), np.float32)), TypeError, "out is an array; expected none"),
    (lambda x: anydml.add(x, x, device="cpu"), TypeError, "device is for operators that run immediately"),
    (lambda x: anydml.modulus_floor(x, 2, where=[True]), TypeError, "where: only for arrays, not within a graph"),
])
def test_what_cannot_be_recorded(function, kind, message):
    with pytest.raises(kind, match=message):
        anydml.graph(function)(X)


def test_wrong_use():
    with pytest.raises(TypeError, match="expected a function of arrays"):
        anydml.graph(7)
    with pytest.raises(TypeError, match="neither an array nor a constant"):
        anydml.graph(lambda x: x)([1, 2])
    with pytest.raises(TypeError, match="an input of a graph is an array of float32 with 9 dimensions; expected at most 8"):
        anydml.graph(lambda x: x)(X.reshape(4, 6, 1, 1, 1, 1, 1, 1, 1))
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


def test_a_shape_may_be_an_array():
    x = np.arange(6, dtype=np.float32)
    same(anydml.graph(lambda v: v.reshape(np.array([2, 3])) + 1)(x), x.reshape(2, 3) + 1)
    same(anydml.graph(lambda v: v.reshape(np.int64(6)) + 1)(x), x + 1)
    same(anydml.graph(lambda v: np.reshape(v, np.int32([3, 2])) + 1)(x), x.reshape(3, 2) + 1)


def test_outs_that_share_memory_are_refused_before_anything_is_written():
    graph = anydml.graph(lambda x: (x + 1, x + 2))
    x = np.arange(4, dtype=np.float32)
    memory = np.zeros(16, np.float32)
    for first, second in ((memory[:8:2], memory[2:10:2]), (memory[:4], memory[2:10:2]), (memory[:8:2], memory[4:8])):
        with pytest.raises(ValueError, match=r"out\[0\] and out\[1\] share memory"):
            graph(x, out=(first, second))
    with pytest.raises(ValueError):
        graph(x, out=(memory[:4], memory[2:6]))  # both contiguous
    with pytest.raises(ValueError, match="put two elements at the same address"):
        graph(x, out=(memory[:4], np.lib.stride_tricks.as_strided(memory[8:], (4,), (0,))))
    assert not memory.any()
    graph(x, out=(memory[:8:2], memory[1:9:2]))  # interleaved, with no byte in common
    assert memory[:8].tolist() == [1, 2, 2, 3, 3, 4, 4, 5]


def test_constants_that_are_made_anew_are_the_same():
    class Owner:
        def scale(self):
            return 2

    owner, other = Owner(), Owner()
    graph = anydml.graph(lambda x, constant: x + 1)
    for count, make in enumerate((lambda: owner.scale, lambda: other.scale, lambda: "text".upper, lambda: Fraction(1, 3),
                                  lambda: Fraction(2, 3), lambda: Decimal("1.0"), lambda: Decimal("1.00"),
                                  lambda: np.sin), 1):
        graph(X, make())
        graph(X, make())
        assert repr(graph).endswith(f"compiled {count} times>")
