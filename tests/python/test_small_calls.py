# SPDX-License-Identifier: MIT
"""Tests the fast path. Repeated calls of one form give the same results as the first, and each form is cached
separately."""
import gc
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import anydml
import test_operators
from test_operators import python_rule

X = np.float32([-2.5, -0.5, 1.5, 3])
Y = np.float32([4, 0.25, -1, 2])


def same(mine, theirs):
    if isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return mine is theirs is None or (mine.dtype == theirs.dtype and mine.shape == theirs.shape
                                      and mine.tobytes() == theirs.tobytes())


@pytest.mark.parametrize("name", test_operators.BUILT)
def test_every_function_gives_the_same_again(name):
    """The first call takes the slow path, the second is compiled, and the third runs directly."""
    (inputs, attributes, options), op = test_operators.CASES[name], test_operators.ALL[name]
    fields = {one.name: one.field for one in op.attributes}
    flat = [array for one in inputs for array in (one if isinstance(one, list) else [one])]
    expected = anydml.run(name, *flat, **{fields[key]: value for key, value in attributes.items()}, **options)
    function = getattr(anydml, op.python)
    with np.errstate(all="ignore"):
        results = [function(*inputs, **attributes, **options) for _ in range(4)]
        out = tuple(one if one is None else np.empty_like(one) for one in expected) if isinstance(expected, tuple) else (
            np.empty_like(expected))
        written = [function(*inputs, **attributes, out=out) for _ in range(4)]
    assert all(same(one, expected) for one in results + written)
    if not isinstance(out, tuple):
        assert all(one is out for one in written)
        assert len({id(one) for one in results}) == 4 and not np.shares_memory(results[2], results[3])


def repeated(function, /, *arguments, **options):
    for _ in range(3):
        result = function(*arguments, **options)
    return result


def test_changed_attributes_are_another_call():
    for bound in (1, 2, 1.0, np.float32(0.5), True, 2):
        assert repeated(anydml.clip, X, min=-1, max=bound).max() == bound
    sizes = [2]
    assert repeated(anydml.tile, X, repeats=sizes).shape == (8,)
    sizes[0] = 3
    assert repeated(anydml.tile, X, repeats=sizes).shape == (12,)
    sizes.append(1)
    with pytest.raises(ValueError):
        anydml.tile(X, repeats=sizes)
    activation = anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.5)
    assert repeated(anydml.add1, X, X, fused_activation=activation)[0] == -2.5
    activation.attributes["Alpha"] = 0.25
    assert repeated(anydml.add1, X, X, fused_activation=activation)[0] == -1.25
    assert repeated(anydml.add1, X, X)[0] == -5
    assert repeated(anydml.reduce, X, function="SUM", axes=[0]) == [1.5]
    assert repeated(anydml.reduce, X, function="max", axes=(0,)) == [3]


def test_changed_arrays_are_another_call():
    for x in (X, X[::-1], X[::2], X.reshape(2, 2), X.reshape(2, 2).T, X.astype("f8"), X.astype("i4"), X[:0], X[1],
              np.ma.array(X, mask=[0, 1, 0, 0]), X.tolist()):
        for _ in range(3):
            try:
                found = anydml.abs(x)
            except (TypeError, ValueError) as error:
                found = str(error)
            try:
                expected = anydml.run("ELEMENT_WISE_ABS", x)
            except (TypeError, ValueError) as error:
                expected = str(error)
            assert found == expected if isinstance(found, str) else same(np.asarray(found), np.asarray(expected))
    counter = np.arange(4, dtype=np.float32)
    for i in range(4):  # the elements are read each time
        counter += 1
        assert anydml.relu(counter)[0] == i + 1


def test_numbers_beside_arrays():
    for number in (1, 2.5, -3, 10**6):
        assert repeated(anydml.add, X, number).tolist() == (X + np.float32(number)).tolist()
    small = np.uint8([1, 2])
    assert repeated(anydml.add, small, 3).tolist() == [4, 5]
    for _ in range(2):
        with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
            anydml.add(small, 300)
        with pytest.raises(TypeError, match=r"\(float\) beside arrays of uint8"):
            anydml.add(small, 2.5)
        with pytest.warns(RuntimeWarning):
            anydml.add(np.float16([1]), 1e6)
    truths = np.array([True, False])
    assert repeated(anydml.element_wise_if, truths, X[:2], Y[:2]).tolist() == [-2.5, 0.25]


def test_out():
    for out in (np.empty_like(X), np.empty(8, "f4")[::2], np.empty((2, 4), "f4")[1]):
        assert repeated(anydml.add, X, Y, out=out) is out and out.tolist() == (X + Y).tolist()
    x = X.copy()
    for i in range(4):  # in place over its operand
        assert anydml.add(x, 1, out=x) is x
    assert x.tolist() == (X + 4).tolist()
    line = np.arange(8, dtype=np.float32)
    for _ in range(3):  # over a part of its operand
        line[:] = np.arange(8)
        assert anydml.negate(line[:6], out=line[2:]).tolist() == [0, -1, -2, -3, -4, -5]
    fixed = np.empty_like(X)
    repeated(anydml.relu, X, out=fixed)
    fixed.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            anydml.relu(X, out=fixed)
        with pytest.raises(TypeError):
            anydml.relu(X, out=np.empty(4, "i4"))
        with pytest.raises(ValueError):
            anydml.relu(X, out=np.empty(5, "f4"))
    pair = np.empty(2, "f4"), np.empty(2, "u4")
    values, positions = repeated(anydml.top_k, X, axis=0, k=2, out=pair)
    assert values is pair[0] and positions.tolist() == [3, 2]
    values, positions = repeated(anydml.top_k, X, axis=0, k=2, out=[None, pair[1]])
    assert values.tolist() == [3, 1.5] and values is not pair[0] and positions is pair[1]


def test_warnings_of_ufuncs_stay():
    for _ in range(4):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
            anydml.log(X)
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            anydml.modulus_floor(np.int32([1, 2]), 0)
    for _ in range(3):  # in place over its operand
        x = np.abs(X)
        assert anydml.log(x, out=x) is x and x.tolist() == anydml.log(np.abs(X)).tolist()


def test_everything_odd_takes_the_slow_path():
    class Own(np.ndarray):
        pass

    repeated(anydml.add, X, Y)
    assert anydml.add(X.view(Own), Y).tolist() == (X + Y).tolist()
    assert anydml.add(X, Y, device="cpu").tolist() == (X + Y).tolist()
    with pytest.raises(ValueError, match="device"):
        anydml.add(X, Y, device="nowhere")
    with pytest.raises(TypeError, match="inputs|complex"):
        anydml.add(X.astype(complex), Y)
    with pytest.raises(TypeError):
        anydml.threshold(X, min=None)
    graph = anydml.graph(lambda x: anydml.add(x, Y))
    assert graph(X).tolist() == (X + Y).tolist()


def test_graphs():
    calls = []

    @anydml.graph
    def step(x, factor, bias=None):
        calls.append(factor)
        return anydml.relu(x * factor), x + 1

    for factor in (2.0, 3.0, 2.0, -0.0, 0.0):
        for _ in range(3):
            first, second = step(X, factor)
            assert first.tolist() == np.maximum(X * np.float32(factor), 0).tolist() and second[0] == -1.5
    assert len(calls) == 4
    out = np.empty_like(X), np.empty(8, "f4")[::2]
    packed = np.empty_like(X), np.empty_like(X)
    for outs in (out, packed, (None, packed[1])):
        for _ in range(3):
            results = step(X, 2.0, out=outs)
            assert results[1].tolist() == (X + 1).tolist() and (outs[0] is None or results[0] is outs[0])
    assert step(X[::-1], 2.0)[1].tolist() == (X[::-1] + 1).tolist()
    single = anydml.graph(lambda x: x + x)
    assert single(X, out=packed[0]) is packed[0] and single(X, out=[packed[0]]) is packed[0]
    for _ in range(2):
        with pytest.raises(ValueError, match="out has the shape"):
            single(X, out=np.empty(3, "f4"))


def test_threads():
    """Several threads have their own forms, which are more than the cache holds."""
    def work(seed):
        for i in range(300):
            x = np.full(1 + (seed * 7 + i) % 40, seed, np.float32)
            assert anydml.add(x, x)[-1] == 2 * seed and anydml.join([x, x], axis=0).sum() == 2 * seed * len(x)
            assert anydml.exp(np.zeros(len(x), np.float32))[0] == 1
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    large, running = np.ones(1 << 20, np.float32), threading.Event()
    thread = threading.Thread(target=lambda: (running.set(), [anydml.sqrt(large) for _ in range(8)]))
    thread.start()
    running.wait()
    for size in range(1, 50):
        anydml.sqrt(large[:size])  # evicts the other thread's form while it runs
    thread.join()


def test_nothing_leaks():
    def work(count):
        for i in range(count):
            anydml.add(X, Y)
            anydml.clip(X, min=0, max=1, out=X.copy())
            anydml.top_k(X, axis=0, k=2)
            anydml.join([X, Y], axis=0)
            with pytest.raises(OverflowError):
                anydml.add(np.uint8([1]), 300)

    work(50)
    gc.collect()
    before = sys.getrefcount(X), sys.getrefcount(Y), sys.getrefcount(None)
    tracemalloc.start()
    try:
        work(400)  # until the caches of regular expressions and types are full
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        work(400)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 16384  # a few of Python's own objects
    finally:
        tracemalloc.stop()
    assert (sys.getrefcount(X), sys.getrefcount(Y)) == before[:2] and abs(sys.getrefcount(None) - before[2]) < 50


def test_tensors():
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(X.copy()), torch.from_numpy(Y.copy())
    assert repeated(anydml.add, x, y).tolist() == (X + Y).tolist()
    assert type(repeated(anydml.exp, x)) is torch.Tensor
    assert repeated(anydml.logical_equals, x, x).dtype == torch.uint8
    assert repeated(anydml.add, x, 2).tolist() == (X + 2).tolist()
    assert repeated(anydml.abs, x[::2]).tolist() == [2.5, 1.5]
    out = torch.empty(4)
    assert repeated(anydml.add, x, y, out=out) is out and out.tolist() == (X + Y).tolist()
    assert repeated(anydml.top_k, x, axis=0, k=2)[1].tolist() == [3, 2]
    first, second = repeated(anydml.relu, x), anydml.relu(x)
    assert first.data_ptr() != second.data_ptr()
    negated = torch.complex(torch.zeros(4), x).conj().imag  # its memory has the opposite sign
    for _ in range(3):
        try:
            assert anydml.relu(negated).tolist() == np.maximum(-X, 0).tolist()
        except TypeError:
            pass  # rejecting it is also correct
    for _ in range(3):
        assert anydml.add(x, Y).tolist() == anydml.add(X, y).tolist() == (X + Y).tolist()
    needed = x.clone().requires_grad_()
    for _ in range(2):
        assert anydml.relu(needed).requires_grad
    step = anydml.graph(lambda a, b: anydml.relu(a + b))
    assert type(repeated(step, x, y)) is torch.Tensor and repeated(step, x, y, out=out) is out
    assert out.tolist() == np.maximum(X + Y, 0).tolist()


def test_the_bodies_of_all_functions_are_short():
    for name in test_operators.BUILT:
        if name not in python_rule.UFUNCS | python_rule.HAND_WRITTEN:
            function = getattr(anydml, test_operators.ALL[name].python)
            assert f"_{function.__name__}" in function.__code__.co_names


def test_tensors_that_pytorch_watches_take_the_slow_path():
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    x, ways = torch.from_numpy(X.copy()), []
    own = anydml._run.run
    body = anydml._run.slow_path(lambda *inputs, **options: ways.append(inputs[0]) or own(*inputs, **options),
                                "ACTIVATION_RELU", anydml._specs.SPECS["ACTIVATION_RELU"], (), (), ("out", "device"))
    short = anydml._core.make_fast_operator("ACTIVATION_RELU", 1, None, (), 0, ("out", "device"), [], body)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    for _ in range(4):
        short(x, None, None)
    assert len(ways) == 2
    with Mode():
        short(x, None, None)
    with torch.autograd.forward_ad.dual_level():
        short(x, None, None)
    assert len(ways) == 4
    short(x, None, None)
    assert len(ways) == 4


def test_strides_that_are_not_whole_elements():
    packed = np.zeros(6, [("x", "f8"), ("n", "i4")])  # the numbers are 12 bytes apart
    packed["x"] = np.arange(6)
    step = anydml.graph(lambda x: x + x)
    for _ in range(4):
        assert anydml.add(packed["x"], packed["x"]).tolist() == step(packed["x"]).tolist() == [0, 2, 4, 6, 8, 10]
