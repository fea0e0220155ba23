# SPDX-License-Identifier: MIT
"""Tests how types and shapes of results are inferred from inputs and attributes, in calls, compiled operators and
graphs."""
import numpy as np
import pytest

import anydml

X = np.arange(24, dtype="f4").reshape(2, 3, 4)


def test_reductions_need_no_shape():
    total = anydml.reduce(X, function="SUM", axes=[0, 2])
    assert total.shape == (1, 3, 1) and total.dtype == np.float32 and total.ravel().tolist() == [60, 92, 124]
    assert anydml.run("REDUCE", X, Function="MAX", Axes=[1]).shape == (2, 1, 4)
    first = anydml.argmax(X, axes=[2], axis_direction="increasing", dtype="u4")
    assert first.shape == (2, 3, 1) and first.dtype == np.uint32
    assert anydml.reduce(X, function="ARGMAX", axes=[2], dtype=np.int64).dtype == np.int64
    assert anydml.reduce(np.ones((0, 3), "f4"), function="SUM", axes=[1]).shape == (0, 1)


def test_a_shape_that_is_given_must_be_the_one_that_follows():
    assert anydml.reduce(X, function="SUM", axes=[0], shape=(1, 3, 4)).shape == (1, 3, 4)
    with pytest.raises(ValueError, match=r"output.shape\[0\] is 2; expected 1, since axes holds 0"):
        anydml.reduce(X, function="SUM", axes=[0], shape=(2, 3, 4))
    with pytest.raises(ValueError, match="reduce: axes is 7; expected -3 to 2, for 3 dimensions"):
        anydml.reduce(X, function="SUM", axes=[7])


def test_the_error_says_what_to_pass():
    for message, call in (
            ("cast: dtype is missing; expected one, or out: output.dtype is not determined", lambda: anydml.cast(X)),
            ("ARGMIN: dtype is missing.*UINT32, INT32, UINT64, INT64",
             lambda: anydml.run("ARGMIN", X, Axes=[0], AxisDirection=0)),
            ("fill_value_constant: shape is missing", lambda: anydml.fill_value_constant(value=1, dtype="f4")),
            ("fill_value_constant: dtype is missing", lambda: anydml.fill_value_constant(value=1, shape=3))):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match=r"add: b has the shape \[5\]; expected sizes that broadcast with \[2, 3, 4\]"):
        anydml.add(X, np.ones(5, "f4"))


def test_types_and_shapes_of_element_wise_operators():
    assert anydml.add(np.ones((3, 1), "i2"), np.ones(4, "i2")).shape == (3, 4)
    assert anydml.add(np.float32(1), np.float32(2)).shape == ()
    assert anydml.logical_equals(X, X).dtype == np.uint8
    assert anydml.run("ELEMENT_WISE_LOGICAL_EQUALS", X, X, dtype="u4").dtype == np.uint32
    assert anydml.cast(X, dtype="i8").shape == X.shape


def test_repeated_calls_tell_forms_apart():
    """Inferred results are cached only for calls of the same form."""
    for _ in range(2):
        for axes in ([0], [1], [2], [0, 1]):
            expected = tuple(1 if i in axes else size for i, size in enumerate(X.shape))
            assert anydml.reduce(X, function="SUM", axes=axes).shape == expected
        assert anydml.reduce(X.astype("i4"), function="SUM", axes=[0]).dtype == np.int32
        assert anydml.reduce(X.reshape(6, 4), function="SUM", axes=[0]).shape == (1, 4)
        assert anydml.add(np.ones((1, 2), "f4"), np.ones(2, "f4")).shape == (1, 2)
        assert anydml.add(np.ones(1, "f4"), np.ones((2, 2), "f4")).shape == (2, 2)


def test_compiled_operators_and_graphs():
    step = anydml.compile("REDUCE", X, Function="SUM", Axes=[1])
    assert step(X).shape == (2, 1, 4)

    @anydml.graph
    def scaled(x):
        return x / anydml.reduce(x, function="MAX", axes=[1, 2])

    assert scaled(X).tobytes() == (X / X.max(axis=(1, 2), keepdims=True)).tobytes()
