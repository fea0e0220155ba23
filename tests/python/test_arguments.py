# SPDX-License-Identifier: MIT
"""Tests invalid arguments at every entry point. The error must name the argument and the given value. Also tests which
objects count as numbers."""
import decimal
import enum
import fractions

import numpy as np
import pytest

import anydml
from anydml import _core

X = np.float32([1, 2])
ABS, CLIP = "ELEMENT_WISE_ABS", "ELEMENT_WISE_CLIP"
LONE = "\udc80"  # a lone surrogate, which UTF-8 cannot encode


class Odd:
    """An object that is invalid as any argument and has no repr."""

    def __repr__(self):
        raise RuntimeError("no text")


class Failing:
    def __index__(self):
        raise ZeroDivisionError("my own fault")


def compiled(*inputs, **options):
    return anydml.compile(ABS, X)(*inputs, **options)


def table():
    """Each row has the call, the expected error, and a pattern for its message."""
    no_names = [5, None, 2.5, b"cpu", ["cpu"], object(), Odd(), X, anydml]
    calls_with_op = {"run": lambda op: anydml.run(op, X), "compile": lambda op: anydml.compile(op, X),
                     "run without inputs": anydml.run, "_core.run": lambda op: _core.run(op, [X], [X.copy()], {}, None),
                     "_core.run_on_device": lambda op: _core.run_on_device(op, [X], [None], {}, None, [], [])}
    for name, call in calls_with_op.items():
        for op in no_names:
            yield f"{name}({type(op).__name__})", call, (op,), TypeError, r"^op is "
        for op in (ABS + "\0", "\0", ABS + "\0TRUNCATED", LONE):
            yield f"{name}({op!a})", call, (op,), ValueError, r"^op is '.*(NUL|not valid Unicode)"
    calls_with_device = {
        "run": lambda device: anydml.run(ABS, X, device=device),
        "compile": lambda device: anydml.compile(ABS, X, device=device),
        "modulus": lambda device: anydml.modulus_floor(X, X, device=device),
        "modulus of lists": lambda device: anydml.modulus_truncate([1], [2], device=device),
        "_core.is_default_device": _core.is_default_device}
    for name, call in calls_with_device.items():
        for device in no_names:
            if device is not None:
                yield f"{name}(device={type(device).__name__})", call, (device,), TypeError, r"^device is "
        for device in ("cpu\0", "\0", LONE):
            yield f"{name}(device={device!a})", call, (device,), ValueError, r"^device is '.*(NUL|not valid Unicode)"
        for device in ("radeon", "é" * 3000, "xé" * 2999):  # some names are longer than a message may be
            yield f"{name}(device={device[:6]!a})", call, (device,), ValueError, "name is '"
    no_numbers = ["1", b"1", None, [1], X, np.array([1]), 1j, np.complex64(1), np.array(1j), object(), Odd(), "text"]
    for name, function in (("run", anydml.run), ("compile", anydml.compile)):
        def clip(value, function=function):
            return function(CLIP, X, Min=0, Max=value)
        for value in no_numbers:
            yield f"{name}(Max={type(value).__name__})", clip, (value,), TypeError, r"^Max is .*expected a number"
        for value in (2**64, -2**63 - 1, 10**5000):
            yield f"{name}(Max={value.bit_length()} bits)", clip, (value,), ValueError, r"^Max is .*does not fit in 64 bits"
        yield f"{name}(Max=Failing)", clip, (Failing(),), ZeroDivisionError, "my own fault"
        for attribute in ("Min\0", "\0", LONE, "Mi\0n"):
            yield (f"{name}(**{{{attribute!a}: 1}})",
                   lambda attribute, function=function: function(ABS, X, **{attribute: 1}), (attribute,), ValueError,
                   r"^an attribute's name is '.*(NUL|not valid Unicode)")
    yield ("_core.run({5: 1})", lambda: _core.run(ABS, [X], [X.copy()], {5: 1}, None), (), TypeError,
           "^an attribute's name is 5 ")
    for name, function in (("run", anydml.run), ("compile", anydml.compile)):
        for value in (object(), "text", {1: 2}, [[1], [1, 2]], [object()], 1j, X.astype(">f4"), X.astype("M8[s]"),
                      np.ones((1,) * 9, "f4"), np.ndarray((2, 2), "f4", X.data, 0, (3, 1))):
            yield (f"{name}({type(value).__name__})", lambda value, function=function: function("ELEMENT_WISE_ADD", X, value),
                   (value,), (TypeError, ValueError), r"^inputs\[1\] is ")
        yield (f"{name}(None)", lambda function=function: function("ELEMENT_WISE_ADD", X, None), (),
               (TypeError, ValueError), "BTensor")
        for out in ([1.0, 2.0], (1.0, 2.0), 5, "text", object(), X.astype(">f4"), Odd(), np.float32(1)):
            yield (f"{name}(out={type(out).__name__})", lambda out, function=function: function(ABS, X, out=out), (out,),
                   TypeError, r"^out is ")
        yield f"{name}(out=read-only)", lambda function=function: function(ABS, X, out=frozen()), (), ValueError, "read-only"
        yield f"{name}()", lambda function=function: function(ABS), (), TypeError, "no input is given"
    for value in ([1, 2], 5, None, "text", X.astype(">f4"), object()):
        yield f"compiled({type(value).__name__})", compiled, (value,), TypeError, r"^inputs\[0\] is "
        if value is not None:
            yield (f"compiled(out={type(value).__name__})", lambda value: compiled(X, out=value), (value,), TypeError,
                   r"^out is ")
    yield "compiled()", compiled, (), ValueError, "^got 0 inputs; it was compiled for 1"
    yield "compiled(X, X)", lambda: compiled(*[X] * 100), (), ValueError, "^got 100 inputs; it was compiled for 1"
    yield "compiled(other)", lambda: compiled(X[:1]), (), ValueError, r"^inputs\[0\] differs in type, shape"
    yield "compiled(out=other)", lambda: compiled(X, out=np.empty(4, "f4")[::2]), (), ValueError, r"^out differs in type"
    yield "compiled(out=read-only)", lambda: compiled(X, out=frozen()), (), ValueError, "read-only"
    yield "run of many", lambda: anydml.run(ABS, *[X] * 100), (), ValueError, "number of input tensors is 100"
    yield "compile of many", lambda: anydml.compile(ABS, *[X] * 100), (), ValueError, "number of input tensors is 100"
    for built in ("yes", 1, 0, [], X):
        yield f"operators({type(built).__name__})", anydml.operators, (built,), TypeError, "^built is "
    for op, inputs in (("ELEMENT_WISE_ABS", 2), ("ELEMENT_WISE_IF", 3), ("CONVOLUTION", 1), ("NOTHING", 1)):
        yield f"_core.make_ufunc({op})", lambda op=op, inputs=inputs: _core.make_ufunc("f", op, inputs), (), ValueError, (
            f"^{op} is not an implemented operator with {inputs} inputs")


def frozen():
    array = X.copy()
    array.flags.writeable = False
    return array


ROWS = list(table())


@pytest.mark.parametrize("call, arguments, error, pattern", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_wrong_is_named(call, arguments, error, pattern):
    with pytest.raises(error, match=pattern) as raised:
        call(*arguments)
    assert len(str(raised.value)) < 6000 and "bad_cast" not in str(raised.value)


@pytest.mark.parametrize("option", ["out", "where", "casting", "order", "dtype"])
def test_wrong_options_are_told_as_numpy_tells_them(option):
    for value in (5, "text", object(), ["a", "b"], np.array(["a", "b"]), np.ones(3), 2.5, b"K"):
        told = []
        for function in (anydml.modulus_floor, np.remainder):
            try:
                function(X, X, **{**({"out": X.copy()} if option == "where" else {}), option: value})
                told.append(None)
            except (TypeError, ValueError) as error:
                told.append((type(error), str(error).replace("remainder", "modulus_floor")))
        assert told[0] == told[1], (option, value)


class Many(enum.IntEnum):
    THREE = 3


class Index:
    def __index__(self):
        return 3


class Float:
    def __float__(self):
        return 3.0


@pytest.mark.parametrize("number", [3, 3.0, True, Many.THREE, Index(), Float(), fractions.Fraction(3), np.array(3),
                                    np.array(3.0), decimal.Decimal(3), np.float64(3)] +
                         [np.dtype(kind).type(3) for kind in ("f2", "f4", "g", "i1", "i8", "u1", "u8", "?")], ids=repr)
def test_numbers_are_numbers(number):
    for kind in ("f4", "i8", "u1"):
        x = np.array([0, 1, 2, 3, 4, 5], kind)
        expected = np.minimum(x, 1 if isinstance(number, (bool, np.bool_)) else 3)
        assert np.array_equal(anydml.run(CLIP, x, Min=0, Max=number), expected)
        assert np.array_equal(anydml.compile(CLIP, x, Min=0, Max=number)(x), expected)


def test_names_are_any_str():
    class Name(str):
        pass
    assert np.array_equal(anydml.run(Name(ABS), X, device=Name("cpu")), X)
    assert np.array_equal(anydml.run(np.str_(ABS), X, device=np.str_("cpu")), X)
    description = anydml.adapters()[0]["description"]
    assert np.array_equal(anydml.modulus_floor(X, 2, device=description, dtype="f8"), np.float64([1, 0]))


@pytest.mark.parametrize("number", [2**70, -2**70, 2**1000])
def test_large_numbers_beside_nan(number):
    with np.errstate(all="raise"):
        a = np.array([np.nan, 3.0])
        assert np.array_equal(anydml.modulus_truncate(a, number), np.fmod(a, float(number)), equal_nan=True)
        with pytest.raises(FloatingPointError):
            anydml.modulus_truncate(np.array([np.nan, np.inf]), number)
