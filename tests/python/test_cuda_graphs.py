# SPDX-License-Identifier: MIT
"""Tests graphs over arrays on a GPU, if there is one. They must give the CPU's bits and run on the arrays' device and
stream."""
import gc

import numpy as np
import pretend
import pytest
from on_gpu import assert_same, bits, draw, host, on, torch  # noqa: F401, two are fixtures

import anydml


def layer(x, weight, bias=None, scale=2, *, cut=0.5):
    y = np.maximum(x @ weight, cut) ** 2 * scale
    y = y if bias is None else y + bias
    return {"y": y, "parts": (y.mean(1, keepdims=True), y > 1, y.argmax(1), np.exp(-abs(y))[:, ::2])}


def compare(on, found, expected):
    for one, other in zip((found["y"], *found["parts"]), (expected["y"], *expected["parts"])):
        assert_same(on, one, other)


def arguments(seed=1):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((33, 20), (20, 40), (40,))]


def test_results_are_those_of_the_cpu(on):
    graph = anydml.graph(layer)
    for seed in range(3):
        x, weight, bias = arguments(seed)
        mine = [on.put(one) for one in (x, weight, bias)]
        compare(on, graph(*mine), graph(x, weight, bias))
        compare(on, graph(mine[0], weight=mine[1], cut=0.25), graph(x, weight, cut=0.25))
    assert repr(graph) == "<graph layer, compiled 4 times>"


def test_kinds_and_views(on):
    graph = anydml.graph(lambda x, y: (x + y, x * y, x > y, np.where(x > y, x, y), x[1:, ::-1].T, x.sum(0)))
    for kind in ("f2", "f4", "f8", "i4", "i8", "u1"):
        a, b = draw(kind, (17, 9), 3), draw(kind, (17, 9), 4)
        if kind[0] == "f":
            a, b = np.nan_to_num(a, posinf=1, neginf=1).clip(-9, 9), np.nan_to_num(b, posinf=1, neginf=1).clip(-9, 9)
        for mine, theirs in zip(graph(on.put(a), on.put(b)), graph(a, b)):
            assert_same(on, mine, theirs)
    if isinstance(on.put(np.ones(3)), pretend.Array) or on.writes:  # these libraries support strided arrays
        x = on.put(np.arange(48, dtype=np.float32).reshape(6, 8))
        view = x.T[2:] if not isinstance(x, pretend.Array) else type(x)(x.memory.T[2:])
        assert_same(on, anydml.graph(lambda x: x + 1)(view), on.get(x).T[2:] + 1)


def test_truths_and_constants(on):
    keep, x = np.arange(12).reshape(3, 4) % 3 == 0, np.arange(12, dtype=np.float32).reshape(3, 4)
    table = np.float32([1, 10, 100, 1000])
    graph = anydml.graph(lambda keep, x, names: (np.where(keep, x * table, names[1]), ~keep, keep.sum()))
    for mine, theirs in zip(graph(on.put(keep), on.put(x), ("a", 7)), graph(keep, x, ("a", 7))):
        assert_same(on, mine, theirs)
    empty = anydml.graph(lambda x: x + 1)(on.put(np.zeros((0, 3), np.float32)))
    assert_same(on, empty, np.zeros((0, 3), np.float32))


def test_out_on_the_gpu(on):
    graph = anydml.graph(lambda x: (x + x, x > 1))
    x = on.put(np.arange(6, dtype=np.float32))
    if not on.writes:
        with pytest.raises(TypeError, match="are immutable"):
            graph(x, out=(on.put(np.zeros(6, np.float32)), None))
        return
    out, same = on.put(np.zeros(6, np.float32)), x
    results = graph(x, out=(out, None))
    assert results[0] is out
    assert_same(on, out, np.arange(6, dtype=np.float32) * 2)
    assert graph(x, out=(same, None))[0] is x  # in place over its input
    assert_same(on, x, np.arange(6, dtype=np.float32) * 2)
    with pytest.raises(TypeError, match=r"out\[0\] is of type ndarray and not on a GPU"):
        graph(x, out=(np.zeros(6, np.float32), None))
    with pytest.raises(ValueError, match=r"out\[0\] has the shape \(3,\); expected \(6,\)"):
        graph(x, out=(on.put(np.zeros(3, np.float32)), None))
    with pytest.raises(TypeError, match=r"out\[0\] is an array of int32; expected float32"):
        graph(x, out=(on.put(np.zeros(6, np.int32)), None))


def test_a_graph_that_goes_while_it_runs(on):
    x = np.linspace(-2, 2, 1 << 20, dtype=np.float32)
    mine = on.put(x)
    for count in range(8):
        weight = np.full(1 << 20, count, np.float32)  # a constant in the graph's own memory
        result = anydml.graph(lambda x: x * weight + weight)(mine)  # noqa: B023
        gc.collect()
        assert_same(on, result, x * weight + weight)


def test_a_stream_of_its_own(torch):  # noqa: F811
    x = np.linspace(-2, 2, 1 << 20, dtype=np.float32)
    graph = anydml.graph(lambda x: np.tanh(x) * 2 + x)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        t = torch.from_numpy(x).cuda(non_blocking=True)
        for _ in range(20):
            t = graph(t)
        found = t.cpu().numpy()
    expected = x
    for _ in range(20):
        expected = graph(expected)
    assert np.array_equal(bits(found), bits(expected))


def test_what_is_refused():
    graph = anydml.graph(lambda x, y: x + y)
    far, farther = pretend.Array(np.ones(3, "f4"), 62), pretend.Array(np.ones(3, "f4"), 63)
    with pytest.raises(TypeError, match="cuda:62 and cuda:63; expected one device"):
        graph(far, farther)
    for other in (np.ones(3, "f4"), np.ones((), "f4")):
        with pytest.raises(TypeError, match="nothing is moved behind your back"):
            graph(far, other)
    with pytest.raises(RuntimeError, match="no such device|cuda:62|no device"):
        graph(far, far)
    with pytest.raises(RuntimeError, match="no such device|cuda:62|no device"):
        graph(far, 2.0)
    with pytest.raises(TypeError, match="cannot use an array of.*bfloat16"):
        graph(pretend.Brain(np.ones(3, "f2"), 62), 1)


def test_a_cpu_graph_is_not_a_gpus(on):
    graph = anydml.graph(lambda x: x + 1, device="cpu")
    with pytest.raises(ValueError, match="device is 'cpu'.*and the arrays are on cuda:0; expected that device, or none"):
        graph(on.put(np.ones(3, np.float32)))
    assert np.array_equal(host(graph, np.ones(3, np.float32)), np.full(3, 2, np.float32))
