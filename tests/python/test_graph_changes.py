# SPDX-License-Identifier: MIT
"""Tests that a graph notices changes to anything that its function read: attributes, global names, variables of
enclosing functions, items of containers, and the elements of arrays."""
import argparse
import collections
import cProfile
import dataclasses
import functools
import gc
import sys
import types
import weakref

import numpy as np
import pytest

import anydml

X = np.float32([1, 2, 3, 4])


def w(value):
    return np.full(4, value, np.float32)


class Layer:
    scale = 1.0

    def __init__(self, value):
        self.w = w(value)

    @anydml.graph
    def run(self, x):
        return x * self.w * self.scale


class Network:
    def __init__(self):
        self.layer, self.layers, self.table, self.name = Layer(1), [Layer(2), Layer(3)], {"w": w(4)}, "w"
        self.calls = 0

    @anydml.graph
    def nested(self, x):
        return x * self.layer.w

    @anydml.graph
    def listed(self, x):
        for one in self.layers:
            x = one.run(x)
        return x

    @anydml.graph
    def tabled(self, x):
        return x * self.table["w"]

    @anydml.graph
    def named(self, x):
        return x * getattr(self.layer, self.name)

    @property
    def both(self):
        return self.layer.w * self.layers[0].w

    @anydml.graph
    def of_a_property(self, x):
        return x * self.both

    @anydml.graph
    def of_a_shape(self, x):
        return x if hasattr(self, "bias") else -x


def check(call, expected):
    for _ in range(3):
        assert np.array_equal(call(X), expected), (call(X), expected)


def test_an_attribute_that_is_replaced():
    m = Layer(2)
    check(m.run, 2 * X)
    m.w = w(3)
    check(m.run, 3 * X)
    m.scale = 2.0
    check(m.run, 6 * X)
    del m.scale
    check(m.run, 3 * X)
    m.w = 5.0
    check(m.run, 5 * X)
    other = Layer(7)
    check(other.run, 7 * X)
    check(m.run, 5 * X)
    Layer.scale = 3.0
    try:
        check(other.run, 21 * X)
        check(m.run, 15 * X)
    finally:
        Layer.scale = 1.0
    check(m.run, 5 * X)


def test_elements_that_change_in_place():
    m = Layer(2)
    check(m.run, 2 * X)
    m.w[:] = 3
    check(m.run, 3 * X)
    m.w[2] = -3
    check(m.run, [3, 6, -9, 12])
    m.w *= -1  # changes only the signs
    check(m.run, [-3, -6, 9, -12])
    whole = np.ones((300, 300), np.float32)
    part = whole[:, ::3]
    graph = anydml.graph(lambda x: x * part.sum())
    check(graph, 30000 * X)
    whole[299, 297] = 0
    check(graph, 29999 * X)
    whole[299, 298] = 0  # a column that the graph does not use
    check(graph, 29999 * X)
    assert repr(graph).endswith("compiled 1 times>")


def test_objects_lists_and_dicts():
    m = Network()
    check(m.nested, X)
    check(m.listed, 6 * X)
    check(m.tabled, 4 * X)
    check(m.named, X)
    check(m.of_a_property, 2 * X)
    check(m.of_a_shape, -X)
    m.layer.w = w(2)
    check(m.nested, 2 * X)
    check(m.named, 2 * X)
    check(m.of_a_property, 4 * X)
    m.layers[0].w = w(5)
    check(m.listed, 15 * X)
    check(m.of_a_property, 10 * X)
    m.layers.append(Layer(10))
    check(m.listed, 150 * X)
    m.layers[:2] = []
    check(m.listed, 10 * X)
    m.table["w"] = w(-1)
    check(m.tabled, -X)
    m.layer.other, m.name = w(9), "other"
    check(m.named, 9 * X)
    m.bias = 1
    check(m.of_a_shape, X)
    m.layer = Layer(11)
    check(m.nested, 11 * X)


GLOBAL = w(2)
SETTINGS = types.SimpleNamespace(scale=2)


def helper(x, factor=w(1)):
    return x * GLOBAL * factor


def test_global_names_and_enclosing_functions():
    global GLOBAL, helper
    graph = anydml.graph(lambda x: helper(x) * SETTINGS.scale)
    before, old = GLOBAL, helper
    check(graph, 4 * X)
    try:
        GLOBAL = w(3)
        check(graph, 6 * X)
        GLOBAL[:] = 4
        check(graph, 8 * X)
        SETTINGS.scale = 1
        check(graph, 4 * X)
        helper.__defaults__[0][:] = 5
        check(graph, 20 * X)
        helper.__defaults__ = (w(1),)
        check(graph, 4 * X)
        helper = lambda x: -x  # noqa: E731
        check(graph, -X)
    finally:
        GLOBAL, helper, SETTINGS.scale = before, old, 2

    weight, sign, deeper = w(2), 1, [w(1)]

    def function(x):
        return inner(x) * sign

    def inner(x):
        return x * weight * deeper[0]

    graph = anydml.graph(function)
    check(graph, 2 * X)
    weight = w(3)
    check(graph, 3 * X)
    deeper[0] = w(2)
    check(graph, 6 * X)
    sign = -1
    check(graph, -6 * X)
    inner = abs
    check(graph, -X)


def test_a_module_is_watched_by_the_names_that_are_read():
    module = types.ModuleType("settings_of_a_test")
    module.scale, module.other = 2.0, 1
    graph = anydml.graph(lambda x: x * module.scale)
    check(graph, 2 * X)
    module.other += 1
    check(graph, 2 * X)
    assert len(graph._kept) == 1
    module.scale = 3.0
    check(graph, 3 * X)


def test_arguments_that_are_objects_and_functions():
    graph = anydml.graph(lambda x, one: x * one.w if isinstance(one, Layer) else one(x))
    m, scale = Layer(2), 3
    check(lambda x: graph(x, m), 2 * X)
    m.w = w(4)
    check(lambda x: graph(x, m), 4 * X)

    def scaled(x):
        return x * scale

    check(lambda x: graph(x, scaled), 3 * X)
    scale = 5
    check(lambda x: graph(x, scaled), 5 * X)
    part = functools.partial(np.multiply, w(2))
    check(lambda x: graph(x, part), 2 * X)
    part.args[0][:] = 7
    check(lambda x: graph(x, part), 7 * X)
    check(lambda x: graph(x, m.run), 4 * X)
    m.w[:] = 1
    check(lambda x: graph(x, m.run), X)
    options = argparse.Namespace(w=2)
    graph = anydml.graph(lambda x: x * options.w)
    check(graph, 2 * X)
    options.w = 3
    check(graph, 3 * X)


def test_other_containers():
    values = collections.deque([2])
    names = {"a"}

    @dataclasses.dataclass
    class Slots:
        __slots__ = ("w",)
        w: object

    slots = Slots(w(1))
    graph = anydml.graph(lambda x: x * values[0] * len(names) * slots.w)
    check(graph, 2 * X)
    values[0] = 3
    check(graph, 3 * X)
    names.add("b")
    check(graph, 6 * X)
    slots.w = w(2)
    check(graph, 12 * X)
    loop = [w(1)]
    loop.append(loop)
    graph = anydml.graph(lambda x: x * loop[1][1][0])
    check(graph, X)
    loop[0][0] = 2
    check(graph, [2, 2, 3, 4])


class Rows:
    """Provides its arrays through methods, a generator and a base class."""
    def __init__(self):
        self._rows = {"a": w(2), "b": w(3)}

    def __getitem__(self, name):
        return self._rows[name]

    def each(self):
        for name in self._rows:
            yield self._rows[name]


class MoreRows(Rows):
    factor = 1

    def __getattribute__(self, name):
        return object.__getattribute__(self, {"other": "factor"}.get(name, name))

    def each(self):
        for one in super().each():
            yield one * self.other


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2 * function(x)

    return wrapper


def test_indirect_reads(monkeypatch):
    for rows, factor in ((Rows(), 1), (MoreRows(), 1)):
        graph = anydml.graph(lambda x: sum(x * one for one in rows.each()) + 0 * rows["a"])  # noqa: B023
        check(graph, 5 * X * factor)
        rows._rows["b"] = w(4)
        check(graph, 6 * X)
        rows._rows["a"][:] = 3
        check(graph, 7 * X)
        rows._rows["c"] = w(1)
        check(graph, 8 * X)
        rows.factor = 2
        check(graph, (16 if type(rows) is MoreRows else 8) * X)
    weight = w(1)

    @anydml.graph
    @doubled
    def decorated(x):
        return x * weight

    check(decorated, 2 * X)
    weight = w(3)
    check(decorated, 6 * X)
    module = types.ModuleType("weights_of_a_test")
    module.WEIGHT = w(2)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    @anydml.graph
    def importing(x):
        from weights_of_a_test import WEIGHT
        import weights_of_a_test as weights
        return x * WEIGHT * weights.WEIGHT

    check(importing, 4 * X)
    module.WEIGHT = w(3)
    check(importing, 9 * X)


def test_equal_values_are_no_change():
    calls = []

    class Counted(Layer):
        @anydml.graph
        def run(self, x):
            calls.append(1)
            return x * self.w * self.scale

    m = Counted(2)
    check(m.run, 2 * X)
    m.w = w(2)
    m.scale = float("1.0")
    m.unread = 1  # hasattr might read it
    check(m.run, 2 * X)
    count = len(calls)
    for _ in range(3):
        m.unread += 1
        check(m.run, 2 * X)
    assert len(calls) == count
    m.scale = 0.0
    check(m.run, 0 * X)
    m.scale = -0.0
    assert np.signbit(m.run(X)).all()


def test_what_the_function_changes_itself_is_no_change():
    """Otherwise two graphs that count their own recordings would be recorded again at every call."""
    class Counting:
        def __init__(self):
            self.recorded, self.log, self.w = 0, [], w(2)

        @anydml.graph
        def one(self, x):
            self.recorded += 1
            self.log.append("one")
            return x * self.w

        @anydml.graph
        def two(self, x):
            self.recorded += 1
            self.log.append("two")
            return x + self.w

    m, rows = Counting(), np.stack([X, X])
    for _ in range(3):
        assert np.array_equal(m.one(X), 2 * X) and np.array_equal(m.two(X), X + 2)
        assert np.array_equal(m.one(rows), 2 * rows)
    assert (m.recorded, m.log) == (3, ["one", "two", "one"])
    m.w[:] = 3
    assert np.array_equal(m.one(X), 3 * X) and np.array_equal(m.two(X), X + 3)
    m.w[:] = 4  # one graph is recorded before the other has noticed the change
    assert np.array_equal(m.one(X), 4 * X) and np.array_equal(m.two(X), X + 4) and m.recorded == 7


def test_arrays_that_cannot_change_are_not_read():
    weight = w(2)
    weight.flags.writeable = False
    graph = anydml.graph(lambda x: x * weight)
    check(graph, 2 * X)
    (_, roots), = [one.watch.tree for one in graph._kept.values()]
    assert "(8, " not in repr(roots)  # no fingerprint
    weight = w(3)
    check(graph, 3 * X)


def test_nothing_is_kept_alive_and_pure_functions_watch_nothing():
    m = Network()
    m.layer.parent = m
    m.nested(X), m.listed(X), m.tabled(X)
    gone = weakref.ref(m)
    del m
    gc.collect()
    assert gone() is None
    graph = anydml.graph(lambda x, k=2: anydml.relu(np.exp(x) * k))
    graph(X)
    assert [one.watch.tree for one in graph._kept.values()] == [None]


def test_profilers_are_left_in_place():
    seen = []

    def profile(frame, event, argument):
        seen.append(frame.f_code.co_name)

    m, graph = Network(), anydml.graph(lambda x: helper(x) * 2)
    sys.setprofile(profile)
    try:
        m.nested(X)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert "nested" in seen
    profiler = cProfile.Profile()
    profiler.runcall(lambda: (m.tabled(X), graph(X)))
    m.table["w"] = w(-1)
    check(m.tabled, -X)
    check(graph, 4 * X)


def test_tensors_and_modules_of_pytorch():
    torch = pytest.importorskip("torch")

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.full((4,), 2.0))
            self.inner = torch.nn.Linear(4, 4)

        @anydml.graph
        def run(self, x):
            return x * self.w.detach().numpy() + self.inner.bias.detach().numpy()

    m = Module()
    with torch.no_grad():
        m.inner.bias.zero_()
        check(m.run, 2 * X)
        m.w.mul_(2)
        check(m.run, 4 * X)
        m.inner.bias.add_(1)
        check(m.run, 4 * X + 1)
        m.w.data = torch.full((4,), 3.0)
        check(m.run, 3 * X + 1)
        m.w = torch.nn.Parameter(torch.full((4,), 5.0))
        check(m.run, 5 * X + 1)
    weight = torch.ones(4)
    graph = anydml.graph(lambda x: x * weight)
    tensor = torch.from_numpy(X)
    assert graph(tensor).tolist() == X.tolist() == graph(tensor).tolist()
    weight.mul_(2)
    assert graph(tensor).tolist() == (2 * X).tolist()
    weight = torch.full((4,), 3.0)
    assert graph(tensor).tolist() == (3 * X).tolist()
