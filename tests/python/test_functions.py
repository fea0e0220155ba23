# SPDX-License-Identifier: MIT
"""Tests the correctly rounded functions that are also ufuncs: values, types, masks, warnings and errors. NumPy's
functions define the behavior of a ufunc, and its FLOAT64 results define the values (function_oracles.py)."""
import itertools
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from against_numpy import outcome

import anydml

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "data" / "python"), str(SOURCE / "tests" / "ops")]
import function_oracles  # noqa: E402
import python_rule  # noqa: E402

FUNCTIONS = {op.name: getattr(anydml, op.python) for op in python_rule.read_operators()
             if op.name in python_rule.UFUNCS & python_rule.built_names()}
# NumPy's names for the functions. NumPy has no erf and no activations.
NUMPYS = {"ELEMENT_WISE_ASIN": "arcsin", "ELEMENT_WISE_ACOS": "arccos", "ELEMENT_WISE_ATAN": "arctan",
          "ELEMENT_WISE_ASINH": "arcsinh", "ELEMENT_WISE_ACOSH": "arccosh", "ELEMENT_WISE_ATANH": "arctanh",
          "ELEMENT_WISE_ATAN_YX": "arctan2", "ELEMENT_WISE_POW": "power",
          **{f"ELEMENT_WISE_{name.upper()}": name for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")}}
each = pytest.mark.parametrize("name", sorted(FUNCTIONS))
of_numpy = pytest.mark.parametrize("name", sorted(set(FUNCTIONS) & set(NUMPYS)))
KINDS = ["f2", "f4"]


def numbers(name, kind, *shape, seed=0):
    """For each operand: small numbers with a few special values."""
    random = np.random.default_rng(seed)
    for _ in range(FUNCTIONS[name].nin):
        x = (random.integers(-40, 41, shape) / 16).astype(kind)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, np.finfo(kind).max, np.finfo(kind).tiny], kind)
        yield np.where(random.integers(4, size=shape) == 0, random.choice(special, shape), x)


def quietly(call):
    with np.errstate(all="ignore"):
        return call()


def assert_nearest(name, inputs, result):
    (_, oracle), = function_oracles.ENTRIES[name]
    answers = oracle(*np.broadcast_arrays(*inputs))
    result = np.asarray(result)
    assert result.dtype == answers[0].dtype and result.shape == answers[0].shape

    def bits(array):
        array = np.ascontiguousarray(array)
        return np.where(np.isnan(array), array.dtype.type(np.nan), array).view(f"u{array.itemsize}")

    wrong = np.logical_and.reduce([bits(result) != bits(answer) for answer in answers])
    assert not wrong.any(), [one[wrong][:5] for one in (*np.broadcast_arrays(*inputs), result, answers[0])]


@each
def test_every_float16(name):
    function = FUNCTIONS[name]
    x = np.arange(65536, dtype="u2").view("f2")
    inputs = [x, np.roll(x, 12345)][:function.nin]
    assert_nearest(name, inputs, quietly(lambda: function(*inputs)))


@each
@pytest.mark.parametrize("kind", KINDS)
def test_any_layout(name, kind):
    function = FUNCTIONS[name]
    for shape, look in (((1000,), lambda x: x), ((), lambda x: x), ((0, 3), lambda x: x), ((40, 60), lambda x: x.T),
                        ((300_000,), lambda x: x), ((3, 5, 7, 9), lambda x: x[:, ::-2].transpose(2, 0, 3, 1)),
                        ((50, 60), lambda x: x[::3, ::-1])):
        inputs = [look(x) for x in numbers(name, kind, *shape)]
        result = quietly(lambda: function(*inputs))
        assert_nearest(name, inputs, result)
        out = np.full_like(result, 7, subok=False)
        assert out.ndim == 0 or quietly(lambda: function(*inputs, out=out)) is out
        assert out.ndim == 0 or np.array_equal(out, result, equal_nan=True)
        if look(np.zeros(shape, kind)).ndim:  # in place over an operand
            copy = inputs[0].copy(order="K")
            quietly(lambda: function(copy, *inputs[1:], out=copy))
            assert np.array_equal(copy, result, equal_nan=True)


@each
def test_types_are_numpys(name):
    """Tests float16, float32 and the types that fit into them. Other types are converted only on request."""
    function = FUNCTIONS[name]
    for kind, wanted in (("f2", "f2"), ("f4", "f4"), ("i1", "f2"), ("?", "f2"), ("u1", "f2"), ("i2", "f4"), ("u2", "f4")):
        if name != "ELEMENT_WISE_POW" or kind[0] == "f":  # POW also accepts integers
            x = [np.ones(3, kind)] * function.nin
            assert quietly(lambda: function(*x)).dtype == wanted
            assert type(quietly(lambda: function(*(one[0] for one in x)))) is np.dtype(wanted).type
            assert quietly(lambda: function(*x, dtype="f4")).dtype == np.float32
    for kind in ("f8", "c8", "i8", "O"):
        if name != "ELEMENT_WISE_POW" or kind != "i8":
            with pytest.raises(TypeError, match=r"is \w+; expected .*float16, float32|no callable|did not contain a loop"):
                function(*[np.ones(3, kind)] * function.nin)
    with pytest.raises(TypeError):
        function(*[np.ones(3, "f4")] * function.nin, signature="d->d" if function.nin == 1 else "dd->d")
    swapped = [np.ones(3, "f4").astype(">f4")] * function.nin
    assert quietly(lambda: function(*swapped)).dtype == np.float32
    assert set(function.types) >= {"e" * function.nin + "->e", "f" * function.nin + "->f"}


@each
def test_options_are_numpys(name):
    function = FUNCTIONS[name]
    inputs = [x for x in numbers(name, "f4", 4, 6)]
    whole = quietly(lambda: function(*inputs))
    where = np.arange(24).reshape(4, 6) % 3 == 0
    kept = quietly(lambda: function(*inputs, out=np.full((4, 6), 7, "f4"), where=where))
    assert np.array_equal(kept, np.where(where, whole, 7), equal_nan=True)
    assert quietly(lambda: function(*inputs, order="F")).flags.f_contiguous
    assert quietly(lambda: function(*(x.astype("f8") for x in inputs), dtype="f4")).dtype == np.float32
    with pytest.raises(TypeError, match="casting"):
        function(*(x.astype("f8") for x in inputs), dtype="f4", casting="safe")
    masked = [np.ma.masked_greater(x, 1) for x in inputs]
    assert type(quietly(lambda: function(*masked))) is np.ma.MaskedArray
    assert type(quietly(lambda: function(*masked, subok=False))) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        frozen = np.empty((4, 6), "f4")
        frozen.flags.writeable = False
        function(*inputs, out=frozen)
    changed = inputs[0].copy()
    quietly(lambda: function.at(changed, (slice(1, 3),), *(x[1:3] for x in inputs[1:])))
    assert np.array_equal(changed[1:3], whole[1:3], equal_nan=True)
    assert np.array_equal(changed[[0, 3]], inputs[0][[0, 3]], equal_nan=True)
    assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(function.ufunc)) is function.ufunc
    assert quietly(lambda: function(*inputs, device="cpu")).tobytes() == whole.tobytes()


def said(call, mode):
    return outcome(call, mode)[1]


@of_numpy
@pytest.mark.parametrize("kind", KINDS)
def test_warnings_are_numpys(name, kind):
    """All warnings except underflow, which NumPy's functions report inconsistently."""
    ours, numpys = FUNCTIONS[name], getattr(np, NUMPYS[name])
    large = np.finfo(kind).max
    values = np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 3, -3, large, -large, 100, -100, np.inf, -np.inf, np.nan], kind)
    pairs = itertools.product(*[values] * ours.nin)
    for pair in pairs:
        if name == "ELEMENT_WISE_POW" and np.isneginf(pair[0]) and pair[1] != np.rint(pair[1]):
            continue  # NaN here, as for other negative bases
        if name == "ELEMENT_WISE_POW" and np.isinf(pair[1]):
            continue  # NumPy's loops for AVX-512 warn about exact results here, and its other loops do not
        inputs = [np.array([one], kind) for one in pair]
        for mode in ("warn", "raise"):
            with np.errstate(under="ignore"):
                theirs = said(lambda: quiet_underflow(numpys, *inputs, mode=mode), mode)
                for call in (lambda: ours(*inputs), lambda: ours(*(x[0] for x in inputs)),
                             lambda: ours(inputs[0].copy(), *inputs[1:], out=inputs[0].copy()),
                             lambda: in_place(ours, inputs), lambda: ours(*(np.repeat(x, 300_000) for x in inputs))):
                    mine = said(lambda: quiet_underflow(lambda: call(), mode=mode), mode)
                    assert repr(mine) == repr(theirs).replace(numpys.__name__, ours.__name__), (pair, mode)


def quiet_underflow(function, *inputs, mode):
    with np.errstate(under="ignore"):
        return function(*inputs)


def in_place(function, inputs):
    x = inputs[0].copy()
    return function(x, *inputs[1:], out=x)


@each
def test_what_is_said_of_each_fault(name):
    """Faults (NaN from numbers, infinity from finite numbers) depend only on the values, not on old memory contents."""
    function = FUNCTIONS[name]
    for kind in KINDS:
        for inputs in zip(*(x for x in numbers(name, kind, 400))):
            result = quietly(lambda: function(*inputs))
            x = np.array(inputs)
            expected = set()
            if np.isnan(result) and not np.isnan(x).any():
                expected.add("invalid value")
            if np.isinf(result) and np.isfinite(x).all():
                poles = name in ("ELEMENT_WISE_LOG", "ELEMENT_WISE_ATANH") or (name == "ELEMENT_WISE_POW" and x[0] == 0)
                expected.add("divide by zero" if poles else "overflow")
            if abs(result) < np.finfo(kind).tiny and np.isfinite(x).all() and x[0] not in (0, 1):
                expected.add("underflow")
            arrays = [np.full(5, one, kind) for one in inputs]
            for call in (lambda: function(*inputs), lambda: function(*arrays), lambda: in_place(function, arrays)):
                _, (raised, texts) = outcome(call, "warn")
                assert raised is None
                assert set(texts) == {f"{one} encountered in {function.__name__}" for one in expected}, inputs
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        function(*[np.full(10, np.nan, "f4")] * function.nin)


def test_several_faults_of_one_call_are_all_told():
    x = np.array([1000, -1000, np.nan], "f4")
    assert sorted(outcome(lambda: anydml.exp(x), "warn")[1][1]) == [
        "overflow encountered in exp", "underflow encountered in exp"]
    large = np.zeros(600_000, "f4")
    large[500_000] = 1000
    for call in (lambda: anydml.exp(large), lambda: in_place(anydml.exp, [large]),
                 lambda: anydml.exp(large.reshape(2, 300_000)[:, ::-1]), lambda: anydml.exp(large[None, ::2])):
        assert outcome(call, "warn")[1][1] == ["overflow encountered in exp"]
    assert outcome(lambda: anydml.exp(large, out=np.ones_like(large), where=large == 0), "warn")[1] == (None, [])


@each
def test_symbols_of_graphs(name):
    function = FUNCTIONS[name]
    inputs = [x for x in numbers(name, "f4", 50)]
    built = anydml.graph(lambda *symbols: function(*symbols))(*inputs)
    assert built.tobytes() == quietly(lambda: function(*inputs)).tobytes()
    with pytest.raises(TypeError, match="not within a graph"):
        anydml.graph(lambda *symbols: function(*symbols, order="F"))(*inputs)
    narrow = anydml.graph(lambda *symbols: function(*symbols, dtype="f2", casting="same_kind"))(*inputs)
    assert narrow.dtype == np.float16


@each
def test_tensors_of_pytorch(name):
    torch = pytest.importorskip("torch")
    function = FUNCTIONS[name]
    for kind in KINDS:
        inputs = [x for x in numbers(name, kind, 40, 30)]
        tensors = [torch.from_numpy(x).T for x in inputs]
        result = quietly(lambda: function(*tensors))
        expected = quietly(lambda: function(*inputs)).T
        assert isinstance(result, torch.Tensor) and np.array_equal(result.numpy(), expected, equal_nan=True)
        assert result.stride() == tensors[0].stride()
        out = torch.empty_like(result)
        assert quietly(lambda: function(*tensors, out=out)) is out and np.array_equal(out, expected, equal_nan=True)


def test_a_table_says_what_each_fault_is():
    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        assert anydml.exp(np.float32(1000)) == np.inf
    with np.errstate(over="ignore"):
        assert anydml.exp(np.float16([12, 11])).tolist() == [np.inf, 59872.0]


@pytest.mark.parametrize("kind", KINDS)
def test_minus_infinity_to_a_power_that_is_not_an_integer(kind):
    """DirectML gives NaN for negative bases, including -inf, where NumPy gives 0 or infinity. help() documents this."""
    powers = np.array([0.5, -0.5, 2.5, -1.25, 3, -3, 2, -2, 0, np.inf, -np.inf], kind)
    found = quietly(lambda: anydml.pow(np.array(-np.inf, kind), powers))
    with np.errstate(all="ignore"):
        expected = np.power(np.array(-np.inf, kind), powers)
    assert np.isnan(found[:4]).all() and np.array_equal(found[4:], expected[4:])
    assert np.array_equal(expected[:4], np.array([np.inf, 0, np.inf, 0], kind))
    assert "including minus infinity" in anydml.pow.__doc__
