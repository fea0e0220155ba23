# SPDX-License-Identifier: MIT
"""Tests arrays on a GPU: errors that need no GPU and, with a GPU, every result, bit for bit against the CPU's."""
import itertools
import threading

import numpy as np
import pretend
import pytest
import test_operators
from on_gpu import (OPERATORS, TYPES, OnCupy, OnJax, OnPretend, OnTorch, assert_same, both, draw, host,
                    on)  # noqa: F401, a fixture

import anydml
from anydml import _core


# ---- Without a GPU --------------------------------------------------------------------------------------------------

def test_a_device_that_is_not_there_is_explained():
    far = pretend.Array(np.ones(3), index=63)
    for call in (lambda: anydml.modulus_floor(far, far), lambda: anydml.modulus_truncate(far, 2.0),
                 lambda: anydml.run("ELEMENT_WISE_ABS", far)):
        with pytest.raises(RuntimeError, match=r"cuda:63, and anydml has no such device.*libanydml-cuda\.so.*cuda:63"):
            call()


@pytest.mark.parametrize("kind", [2, 13], ids=["device", "managed"])
def test_what_is_not_on_the_same_gpu_is_refused(kind):
    here, there = pretend.Array(np.ones(3), 62, kind), pretend.Array(np.ones(3), 63, kind)
    with pytest.raises(TypeError, match="cuda:62 and cuda:63; expected one device"):
        anydml.modulus_floor(here, there)
    for a, b, out in ((here, np.ones(3), None), (np.ones(3), here, None), (here, [1.0, 1, 1], None),
                      (here, here, np.ones(3)), (np.ones(3), np.ones(3), here), (here, "text", None),
                      (here, (1.0, 2.0, 3.0), None), (here, None, None)):
        with pytest.raises(TypeError, match="nothing is moved behind your back|on cuda:62, and no input is"):
            anydml.modulus_floor(a, b, out=out)
        if b is not None:  # None is an absent tensor for run
            with pytest.raises(TypeError, match="nothing is moved behind your back|on cuda:62, and no input is"):
                anydml.run("ELEMENT_WISE_MODULUS_FLOOR", a, b, out=out)
    with pytest.raises(TypeError, match="out is on cuda:62, and no input is"):
        anydml.modulus_floor(7.0, 3.0, out=here)


BAND = {"value": 2.0, "diagonal_fill_begin": 0, "diagonal_fill_end": 2}  # for DIAGONAL_MATRIX1, whose input is optional


def test_out_alone_says_where_the_work_runs():
    far = pretend.Array(np.ones((3, 4), "f4"), index=63)
    for call in (lambda: anydml.diagonal_matrix1(out=far, **BAND), lambda: anydml.diagonal_matrix1(None, out=far, **BAND),
                 lambda: anydml.fill_value_constant(value=7, out=far)):
        with pytest.raises(RuntimeError, match="cuda:63, and anydml has no such device"):  # not about missing inputs
            call()


def test_types_are_not_converted_on_a_gpu():
    a = pretend.Array(np.ones(3, "f4"))
    with pytest.raises(TypeError, match="float32 and int32; expected one type"):
        anydml.modulus_floor(a, pretend.Array(np.ones(3, "i4")))
    with pytest.raises(TypeError, match="float32 and float64; expected one type"):
        anydml.modulus_floor(a, a, out=pretend.Array(np.ones(3, "f8")))
    for array, what in ((pretend.Brain(np.ones(3, "f2")), "bfloat16"), (pretend.Array(np.ones(3, "?")), "bool"),
                        (pretend.Array(np.ones(3, "c8")), "complex64"),
                        (pretend.Array(np.ones((1,) * 9)), "9 dimensions")):
        with pytest.raises(TypeError, match=f"cannot use an array of pretend.*{what}; expected float16/32/64"):
            anydml.modulus_floor(array, array)


def test_what_is_numpys_alone_is_refused():
    a = pretend.Array(np.ones(3))
    for option in ({"where": np.array([True, False, True])}, {"dtype": "f4"}, {"order": "F"}, {"casting": "unsafe"}):
        with pytest.raises(TypeError, match="only for arrays in the CPU's memory"):
            anydml.modulus_floor(a, a, **option)
    with pytest.raises(TypeError, match="stay compiled automatically"):
        anydml.compile("ELEMENT_WISE_ABS", a)


def test_pinned_memory_by_itself_is_the_cpus():
    pinned = pretend.Array(np.arange(5.0), kind=3)
    assert _core.array_kind(pinned) == 1
    assert np.array_equal(anydml.modulus_floor(pinned, 3.0).memory, np.arange(5) % 3)
    assert _core.array_kind(1, None, [2], pinned, pretend.Array(np.ones(3))) == 2


def test_the_library_that_an_array_is_of():
    from anydml._libraries import library_of
    assert library_of(pretend.Array)[0] is library_of(pretend.Brain)[0]
    assert library_of(pretend.Array)[0] is not library_of(pretend.StreamArray)[0]
    assert library_of(pretend.Array)[0].name == "pretend" and library_of(pretend.Array)[1] is None

    class FromJax:
        pass
    FromJax.__module__ = "jaxlib._jax"
    found = library_of(FromJax)[0]
    assert found.name == "jax" and found.immutable and found.empty is None


def test_arrays_that_fail_to_say_where_they_are():
    class Lost(pretend.Array):
        def __dlpack_device__(self):
            raise BufferError("somewhere")
    with pytest.raises(TypeError, match="cannot use an array of"):
        anydml.modulus_floor(Lost(np.ones(3)), 2.0)


def test_torch_on_the_cpu_is_as_before():
    torch = pytest.importorskip("torch")
    assert _core.array_kind(torch.ones(3)) == 1
    assert torch.equal(anydml.modulus_floor(torch.tensor([5, -5]), 3), torch.tensor([2, 1]))
    assert anydml.modulus_floor(torch.ones(2, requires_grad=True), 2).requires_grad


# ---- With a GPU: results --------------------------------------------------------------------------------------------

@both
@pytest.mark.parametrize("kind", TYPES)
def test_every_type(on, modulus, kind):
    a, b = draw(kind, (1 << 16,), 1), draw(kind, (1 << 16,), 2)
    assert_same(on, modulus(on.put(a), on.put(b)), host(modulus, a, b))
    for size in (1, 3, 31, 1025):
        assert_same(on, modulus(on.put(a[:size]), on.put(b[:size])), host(modulus, a[:size], b[:size]))


@both
@pytest.mark.parametrize("kind", ["i1", "u1"])
def test_every_pair_of_the_8_bit_types(on, modulus, kind):
    values = np.arange(256, dtype="u1").view(kind)
    mine = modulus(on.put(values.reshape(256, 1)), on.put(values))
    assert_same(on, mine, host(modulus, values.reshape(256, 1), values))


@both
@pytest.mark.parametrize("kind", ["f2", "f4", "i8", "u2"])
def test_broadcasting(on, modulus, kind):
    shapes = [((3, 1, 5), (4, 1)), ((7,), ()), ((), (7,)), ((), ()), ((2, 3), (3,)), ((1, 1), (5, 6)), ((0, 3), (3,)),
              ((2, 1, 3, 1, 2, 1, 3, 1), (2, 1, 3, 1, 2, 1, 3))]
    for first, second in shapes:
        a, b = draw(kind, first, 3), draw(kind, second, 4)
        assert_same(on, modulus(on.put(a), on.put(b)), host(modulus, a, b))
    with pytest.raises(ValueError, match="broadcast.*(3).*(4)"):
        modulus(on.put(draw(kind, (3,))), on.put(draw(kind, (4,))))


@both
@pytest.mark.parametrize("kind", ["f4", "i2", "u8"])
def test_numbers_beside_arrays(on, modulus, kind):
    a = draw(kind, (100,), 5)
    dtype = a.dtype
    numbers = [3, True, 0, dtype.type(7), np.array(9, dtype)]
    numbers += [0.1, -2.5, float("inf"), float("nan"), -0.0, 1e300, 2**70] if dtype.kind == "f" else []
    numbers += [-7, -1] if dtype.kind == "i" else []
    numbers += [2**64 - 1] if kind == "u8" else []
    for number in numbers:
        with np.errstate(over="ignore"):
            same = np.array(float(number) if dtype.kind == "f" else number).astype(dtype)
        for _ in range(2):  # the second time it may be cached
            assert_same(on, modulus(on.put(a), number), host(modulus, a, same))
            assert_same(on, modulus(number, on.put(a)), host(modulus, same, a))
    for number in [np.float64(1.5), np.int64(3)] if kind != "i8" else []:
        with pytest.raises(TypeError, match="a number of .* is used with arrays of"):
            modulus(on.put(a), number)
    if dtype.kind != "f":
        with pytest.raises(TypeError, match="a float is used with arrays of"):
            modulus(on.put(a), 1.5)
        with pytest.raises(OverflowError, match="out of bounds for"):
            modulus(on.put(a), 2**64)
        with pytest.raises(OverflowError, match="out of bounds for"):
            modulus(on.put(a), np.iinfo(dtype).min - 1)


def test_strides(on):
    if type(on) is OnJax:
        pytest.skip("JAX has no views")
    a, b = draw("f4", (12, 10), 6), draw("f4", (12, 10), 7)
    views = [lambda x: x[::2], lambda x: x[:, 1::3], lambda x: x.T, lambda x: x[3:, :7].T, lambda x: x[5],
             lambda x: x[:, 4]]
    if type(on) is not OnTorch:
        views += [lambda x: x[::-1], lambda x: x[::-2, ::-1]]
    inside = (lambda x, view: on.kind(view(x.memory))) if isinstance(on, OnPretend) else lambda x, view: view(x)
    for view, modulus in itertools.product(views, OPERATORS):
        expected = host(modulus, view(a), view(b))
        assert_same(on, modulus(inside(on.put(a), view), inside(on.put(b), view)), expected)
        whole = on.put(np.full_like(a, 99))
        out = inside(whole, view)
        assert modulus(inside(on.put(a), view), on.put(np.ascontiguousarray(view(b))), out=out) is out
        assert_same(on, out, expected)
        around = np.full_like(a, 99)
        view(around)[...] = expected
        assert_same(on, whole, around)
    if type(on) is OnTorch:
        x = on.put(a)
        assert_same(on, anydml.modulus_floor(x[:1].expand(12, 10), x), host(anydml.modulus_floor, a[:1], a))
        assert anydml.modulus_floor(x.t(), x.t()).stride() == x.t().stride()
        with pytest.raises(ValueError, match="same address"):
            anydml.modulus_floor(x, x, out=x[:1].expand(12, 10))
    elif type(on) is OnCupy:
        assert anydml.modulus_floor(on.put(a).T, on.put(b).T).flags.f_contiguous


@both
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1"])
def test_out_and_in_place(on, modulus, kind):
    a, b = draw(kind, (1000,), 8), draw(kind, (1000,), 9)
    expected = host(modulus, a, b)
    if not on.writes:
        with pytest.raises(TypeError, match="are immutable"):
            modulus(on.put(a), on.put(b), out=on.put(a))
        return
    out = on.put(np.zeros_like(a))
    assert modulus(on.put(a), on.put(b), out=out) is out
    assert_same(on, out, expected)
    x = on.put(a)
    assert modulus(x, on.put(b), out=x) is x
    assert_same(on, x, expected)
    x = on.put(b)
    assert modulus(on.put(a), x, x) is x
    assert_same(on, x, expected)
    x = on.put(a)
    modulus(x, x, out=x)
    assert_same(on, x, host(modulus, a, a))
    if not isinstance(on, OnPretend):  # out overlaps the input, as if the input had been copied first
        x = on.put(a)
        modulus(x[1:], on.put(b[1:]), out=x[:-1])
        assert_same(on, x, np.concatenate([host(modulus, a[1:], b[1:]), a[-1:]]))
    with pytest.raises(ValueError):
        modulus(on.put(a), on.put(b), out=on.put(a[:10]))


def test_every_operator_by_name(on):
    for op in anydml.operators(built=True):
        inputs, attributes, options = test_operators.CASES[op["name"]]
        inputs = [array for one in inputs for array in (one if isinstance(one, (list, tuple)) else [one])]
        fields = {one.name: one.field for one in test_operators.ALL[op["name"]].attributes}
        attributes = {fields[name]: value for name, value in attributes.items()}
        with np.errstate(all="ignore"):
            expected = anydml.run(op["name"], *inputs, **attributes, **options)
        if inputs:
            put = [array if array is None else on.put(array) for array in inputs]
            for device in (None, "cuda:0"):
                results = anydml.run(op["name"], *put, device=device, **attributes, **options)
                pairs = zip(results, expected) if isinstance(expected, tuple) else [(results, expected)]
                for mine, theirs in pairs:
                    assert (mine is None) == (theirs is None), op["name"]
                    if mine is not None:
                        assert_same(on, mine, theirs)
        elif on.writes:
            out = on.put(np.zeros_like(expected))
            assert_same(on, anydml.run(op["name"], out=out, **attributes), expected)
    x = on.put(np.float32([-3, 0.5, 9]))
    assert_same(on, anydml.run("ELEMENT_WISE_CLIP", x, Min=-1, Max=2), np.float32([-1, 0.5, 2]))  # not a cached result
    for error, message, call in (
            (ValueError, "number of input tensors is 1; expected 2", lambda: anydml.run("ELEMENT_WISE_ADD", x)),
            (ValueError, "Max is missing", lambda: anydml.run("ELEMENT_WISE_CLIP", x, Min=0)),
            (ValueError, "the arrays are on cuda:0", lambda: anydml.run("ELEMENT_WISE_ABS", x, device="cpu")),
            (ValueError, "the arrays are on cuda:0", lambda: anydml.modulus_floor(x, x, device="cpu"))):
        with pytest.raises(error, match=message):
            call()


def test_operators_without_inputs_run_where_out_is(on):
    if not on.writes:
        pytest.skip("the library's arrays are never written")
    expected = anydml.diagonal_matrix1(shape=(3, 4), dtype="f4", **BAND)
    assert expected.any() and not expected.all()
    for inputs in ((), (None,)):
        for device in (None, "cuda:0"):
            out = on.put(np.full((3, 4), 9, "f4"))
            assert anydml.diagonal_matrix1(*inputs, out=out, device=device, **BAND) is out
            assert_same(on, out, expected)


def test_what_was_compiled_is_kept_and_bounded(on):
    a, b = on.put(draw("f4", (64,), 12)), on.put(draw("f4", (64,), 13))
    anydml.modulus_floor(a, b)
    before = _core.cached_device_calls()
    for _ in range(10):
        anydml.modulus_floor(a, b)
    assert _core.cached_device_calls() == before
    for size in range(1, 400):
        x = draw("i4", (size,), 14)
        mine = anydml.modulus_floor(on.put(x), 7)
        if size % 50 == 0:
            assert_same(on, mine, x % 7)
    assert _core.cached_device_calls() <= 256


def test_the_result_outlives_everything(on):
    a = draw("f8", (5000,), 15)
    results = [anydml.modulus_floor(on.put(a), float(divisor)) for divisor in range(1, 100)]
    for divisor, result in enumerate(results, 1):
        assert_same(on, result, host(anydml.modulus_floor, a, float(divisor)))


def test_threads_at_once(on):
    a = draw("i4", (10_000,), 16)
    wrong = []

    def work(divisor):
        x = on.put(a)
        for _ in range(20):
            if not np.array_equal(on.get(anydml.modulus_floor(x, divisor)), a % divisor):
                wrong.append(divisor)

    threads = [threading.Thread(target=work, args=(divisor,)) for divisor in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
