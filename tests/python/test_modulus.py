# SPDX-License-Identifier: MIT
"""Both modulus operators, compared with NumPy's bit for bit: values, types, shapes, masks, warnings and errors."""
import itertools
import os
import warnings

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from against_numpy import TYPES, assert_same, both, compared, quiet

import anydml

EXAMPLES = int(os.environ.get("ANYDML_EXAMPLES", "25"))  # per type and operator


def elements(kind):
    """Any value, often a hard one: zeros, infinities, extremes, neighbors."""
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        hard = [0.0, -0.0, 1.0, -1.0, 3.0, 0.5, float("inf"), float("-inf"), float("nan"), float(info.max),
                float(info.tiny), float(info.smallest_subnormal), float(info.eps)]
        return st.one_of(st.sampled_from(hard), hnp.from_dtype(dtype))
    info = np.iinfo(dtype)
    return st.one_of(st.sampled_from([0, 1, 2, 3, info.min, info.max, info.max - 1]), hnp.from_dtype(dtype))


@st.composite
def views(draw, kind, shape):
    """An array of the given shape with arbitrary strides: steps, negative strides, other orders."""
    steps = [draw(st.sampled_from([1, 1, 2, 3])) for _ in shape]
    whole = draw(hnp.arrays(kind, tuple(size * step for size, step in zip(shape, steps)), elements=elements(kind)))
    order = draw(st.permutations(range(len(shape))))
    moved = np.array(whole.transpose(order), order="C").transpose(np.argsort(order))
    return np.asarray(moved[tuple(slice(None, None, -step if draw(st.booleans()) else step) for step in steps)])


@both
@pytest.mark.parametrize("kind", TYPES)
@hypothesis.settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data())
def test_any_arrays(ours, numpys, kind, data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=5, min_side=0))
    a, b = (data.draw(views(kind, shape)) for shape in shapes.input_shapes)
    compared["examples"] += 1
    with quiet():
        assert_same(ours(a, b), numpys(a, b))
        out = np.array(data.draw(views(kind, shapes.result_shape)), order="K")
        assert ours(a, b, out=out) is out
        assert_same(out, np.asarray(numpys(a, b)))


@both
@hypothesis.settings(max_examples=8 * EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
@hypothesis.given(data=st.data())
def test_mixed_types(ours, numpys, data):
    kinds = st.sampled_from(TYPES + ["?", ">f4", ">i2"])
    operand = st.one_of(st.integers(-300, 300), st.floats(width=32), st.booleans(),
                        kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(max_dims=2, max_side=4))),
                        kinds.map(lambda kind: np.dtype(kind).type(1)))
    a, b = data.draw(operand), data.draw(operand)
    compared["examples"] += 1

    def outcome(function):
        with quiet():
            try:
                return function(a, b)
            except (TypeError, ValueError, OverflowError) as error:
                return type(error)

    mine, theirs = outcome(ours), outcome(numpys)
    if isinstance(theirs, type) or isinstance(mine, type):
        assert mine == theirs
    else:
        assert_same(mine, theirs)


@both
def test_every_pair_of_the_8_bit_types(ours, numpys):
    for kind in ("i1", "u1"):
        values = np.arange(256, dtype="u1").view(kind)
        with quiet():
            assert_same(ours(values[:, None], values), numpys(values[:, None], values))


@both
@pytest.mark.parametrize("kind", TYPES)
def test_a_million_random_pairs(ours, numpys, kind):
    random = np.random.default_rng(int.from_bytes(kind.encode(), "little"))
    a, b = (np.frombuffer(random.bytes(np.dtype(kind).itemsize << 20), kind) for _ in range(2))  # read-only arrays
    with quiet():
        assert_same(ours(a, b), numpys(a, b))
        assert_same(ours(a, b[7]), numpys(a, b[7]))
        square = a.reshape(1024, 1024)
        assert_same(np.ascontiguousarray(ours(square.T, b[:1024])), np.ascontiguousarray(numpys(square.T, b[:1024])))


@both
def test_numbers_lists_and_scalars(ours, numpys):
    for a, b in [(7, 3), (-7, 3), (7.5, -2), ([1, 2, 3], 2), (np.float32(5), 2), (np.int8(-7), np.int8(3)),
                 (np.array(5), np.array(3)), ([], 1), (np.zeros((0, 3)), 1.0), (True, True)]:
        assert_same(ours(a, b), numpys(a, b))


@both
def test_out_where_casting_dtype_and_order(ours, numpys):
    a, b = np.arange(-6, 6).reshape(3, 4), np.array([3, -2, 5, 7])
    for options in ({"where": a > 0}, {"dtype": "f4"}, {"dtype": "i2", "casting": "unsafe"}, {"order": "F"}):
        def call(function):
            out = np.full(a.shape, 99, dtype=options.get("dtype", a.dtype))
            return function(a, b, out=out, **options)
        assert_same(call(ours), call(numpys))
    assert ours(a, b, order="F").flags.f_contiguous
    assert ours(np.asfortranarray(a), 2).flags.f_contiguous
    for bad in ({"out": np.empty(3)}, {"casting": "no", "dtype": "f8"}, {"out": "text"},
                {"casting": "loose"}, {"dtype": "S3"}):
        messages = []
        for function in (ours, numpys):
            with pytest.raises(Exception) as error:
                function(a, b, **bad)
            messages.append((error.type, str(error.value).replace(numpys.__name__, ours.__name__)))
        assert messages[0] == messages[1], bad
    frozen = np.empty_like(a)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours(a, b, out=frozen)


@both
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1"])
def test_overlaps_are_as_if_copied(ours, numpys, kind):
    start = (np.arange(1, 101) * 37 % 101).astype(kind)
    for mine in (slice(0, 50), slice(1, 51), slice(50, 0, -1), slice(0, 100, 2), slice(10, 60)):
        for first, second in itertools.product((slice(0, 50), slice(49, None, -1), slice(25, 75)), repeat=2):
            results = []
            for function in (ours, numpys):
                memory = start.copy()
                function(memory[first][:50], memory[second][:50], out=memory[mine])
                results.append(memory)
            assert_same(*results)


@both
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "i8", "u4"])
def test_errstate_is_numpys(ours, numpys, kind):
    one, zero = np.ones(5, kind), np.array([1, 0, 2, 0, 3], kind)
    cases = [(one, zero), (one, one), (one[0], zero[1])]
    if kind[0] == "f":
        cases += [(np.array([np.inf, 1], kind), one[:2]), (np.array([np.nan], kind), one[:1]),
                  (np.array([np.nan, 1], kind), zero[:2])]
    for a, b in cases:
        for mode in ("ignore", "warn", "raise", "call", "print"):
            def outcome(function):
                calls = []
                with np.errstate(all=mode, call=lambda *what: calls.append(what)), \
                        warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    try:
                        function(a.copy(), b)
                        function(a.copy(), b, out=a.copy() if np.ndim(a) else None)
                        raised = None
                    except FloatingPointError as error:
                        raised = str(error)
                said = [str(one.message) for one in seen]
                return repr((raised, calls, said)).replace(numpys.__name__, ours.__name__)
            assert outcome(ours) == outcome(numpys), (kind, mode, a, b)
    # In place over an operand: its old value must not count as a fault, and no fault may be missed.
    if kind[0] == "f":
        with np.errstate(all="raise"):
            a = np.array([np.nan, 5, 7], kind)
            ours(a, np.array([2, 3, 4], kind), out=a)
            with pytest.raises(FloatingPointError):
                ours(a, np.array([2, 0, 4], kind), out=a)


@both
def test_what_a_ufunc_has(ours, numpys):
    for name in ("nin", "nout", "nargs", "identity", "signature"):
        assert getattr(ours, name) == getattr(numpys, name), name
    assert ours.ntypes == len(ours.types) and "dd->d" in ours.types
    a, b = np.array([[17, -9, 5], [4, 22, -3]]), np.array([3, 5, -4])
    assert np.array_equal(ours.outer(a, b), numpys.outer(a, b))
    assert np.array_equal(ours.accumulate(a, axis=1), numpys.accumulate(a, axis=1))
    assert np.array_equal(ours.reduce(a, axis=0, keepdims=True), numpys.reduce(a, axis=0, keepdims=True))
    assert np.array_equal(ours.reduceat(b, [0, 2, 1]), numpys.reduceat(b, [0, 2, 1]))
    changed, expected = a.copy(), a.copy()
    ours.at(changed, (0, [0, 0, 1]), 4)
    numpys.at(expected, (0, [0, 0, 1]), 4)
    assert np.array_equal(changed, expected)
    assert ours([5, 6], [3, 4], signature="dd->d").dtype == np.float64
    masked = np.ma.masked_array([5, 6, 7], [0, 1, 0])
    assert type(ours(masked, 4)) is type(numpys(masked, 4)) and type(ours(masked, 4, subok=False)) is np.ndarray
    with pytest.raises(TypeError):
        ours([5], [3], signature="gg->g")

    class Counted:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc, method, options

    assert ours(Counted(), 1) == (ours.ufunc, "__call__", {})


def test_reductions_of_the_ufuncs_are_in_order():
    values = np.array([1000.0, 300.0, 70.0, 11.0])
    assert anydml.modulus_floor.ufunc.reduce(values) == np.remainder.reduce(values)
    assert np.array_equal(anydml.modulus_truncate.ufunc.accumulate(values), np.fmod.accumulate(values))
    assert np.array_equal(anydml.modulus_floor.ufunc.outer(values, values), np.remainder.outer(values, values))


def test_zz_what_was_compared(capsys):
    with capsys.disabled():
        print(f"\n{compared['elements']:,} elements and {compared['examples']:,} hypothesis examples compared with NumPy "
              f"{np.__version__}, none different")
    assert compared["elements"] > 20_000_000
