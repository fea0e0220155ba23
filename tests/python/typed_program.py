# SPDX-License-Identifier: MIT
# pyright: strict
"""The types that checkers infer for calls, and the actual results: test_stubs.py checks this program with mypy and
pyright, and runs it. `assert_type` fails in the checkers, `is_a` fails at run time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import anydml

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value, kind):
        return value


def is_a(kind: type[Any], value: object, dtype: type[np.generic] | None = None) -> None:
    assert isinstance(value, kind), f"{value!r} is no {kind}"
    assert dtype is None or np.asarray(value).dtype == dtype, f"{value!r} is not of {dtype}"


singles = np.array([5, -5.5, 7], np.float32)
doubles = np.array([5, -5.5, 7], np.float64)
bytes_ = np.array([5, -5, 7], np.int8)
signed, unsigned = np.array([5, 6], np.int64), np.array([5, 6], np.uint64)

# The element type is that of the arrays, and Python numbers adopt it.
is_a(np.ndarray, assert_type(anydml.add(singles, 2), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.add(2, bytes_), NDArray[np.int8]), np.int8)
is_a(np.ndarray, assert_type(anydml.add(np.float32(1), singles), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.abs(doubles), NDArray[np.float64]), np.float64)
is_a(np.ndarray, assert_type(anydml.element_wise_if(singles > 0, singles, 0), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.clip(bytes_, min=-1, max=1), NDArray[np.int8]), np.int8)
is_a(np.ndarray, assert_type(
    anydml.reduce(singles, function="SUM", axes=[0], shape=1), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.quantize_linear(singles, abs(singles), bytes_), NDArray[np.int8]), np.int8)
# For lists and numbers alone the element type is not known statically, but the result is an array.
is_a(np.ndarray, assert_type(anydml.add([1, 2], 3), NDArray[Any]))
is_a(np.ndarray, assert_type(anydml.add(1, 2), NDArray[Any]))

# The result has a fixed type or the requested one.
is_a(np.ndarray, assert_type(anydml.logical_equals(singles, 5), NDArray[np.uint8]), np.uint8)
is_a(np.ndarray, assert_type(anydml.logical_equals(singles, 5, dtype=np.uint32), NDArray[np.uint32]), np.uint32)
is_a(np.ndarray, assert_type(anydml.cast(singles, dtype=np.int16), NDArray[np.int16]), np.int16)
is_a(np.ndarray, assert_type(anydml.cast(singles, dtype="int16"), NDArray[Any]), np.int16)
is_a(np.ndarray, assert_type(anydml.fill_value_constant(value=7, shape=(2, 3), dtype=np.float16),
                             NDArray[np.float16]), np.float16)
is_a(np.ndarray, assert_type(anydml.argmax(singles, axes=[0], axis_direction="INCREASING", shape=1, dtype=np.uint32),
                             NDArray[np.uint32]), np.uint32)

# The array given as out is returned.
def twice(target: NDArray[np.float32]) -> None:
    is_a(np.ndarray, assert_type(anydml.multiply(target, 2, out=target), NDArray[np.float32]), np.float32)
    is_a(np.ndarray, assert_type(anydml.modulus_floor([7, 8, 9], 4, out=target), NDArray[np.float32]), np.float32)
    is_a(np.ndarray, assert_type(anydml.exp(singles, out=target), NDArray[np.float32]), np.float32)


twice(np.empty(3, np.float32))

# The modulus follows NumPy's rules: scalars for scalars, and type promotion.
is_a(np.ndarray, assert_type(anydml.modulus_floor(bytes_, 3), NDArray[np.int8]), np.int8)
is_a(np.ndarray, assert_type(anydml.modulus_floor(100, bytes_), NDArray[np.int8]), np.int8)
is_a(np.ndarray, assert_type(anydml.modulus_floor(singles, 0.1), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.modulus_truncate(2.5, doubles), NDArray[np.float64]), np.float64)
is_a(np.ndarray, assert_type(anydml.modulus_floor(bytes_, 2.5), NDArray[Any]), np.float64)
is_a(np.ndarray, assert_type(anydml.modulus_floor(signed, unsigned), NDArray[Any]), np.float64)
is_a(np.ndarray, assert_type(anydml.modulus_floor([7, 8], 3), NDArray[Any]))
is_a(np.number, assert_type(anydml.modulus_floor(7, 4), "np.number[Any]"))
is_a(np.int8, assert_type(anydml.modulus_floor(np.int8(7), np.int8(4)), np.int8))
is_a(np.ndarray, assert_type(anydml.modulus_floor.outer([7, 8], [3, 4]), NDArray[Any]))
is_a(np.number, assert_type(anydml.modulus_floor.outer(7, 4), "np.number[Any]"))
is_a(np.ndarray, assert_type(anydml.modulus_floor.accumulate([70, 8, 3]), NDArray[Any]))
is_a(np.ndarray, assert_type(anydml.modulus_floor.reduce([[70, 8]], keepdims=True), NDArray[Any]))
is_a(np.ufunc, assert_type(anydml.modulus_floor.ufunc, np.ufunc))
is_a(int, assert_type(anydml.modulus_floor.nin, int))

# The functions that are also ufuncs accept float16, float32, and types that NumPy converts to these.
is_a(np.ndarray, assert_type(anydml.exp(singles), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.exp(bytes_), NDArray[Any]), np.float16)
is_a(np.ndarray, assert_type(anydml.exp([1.0, 2.0], dtype="f4"), NDArray[Any]), np.float32)
is_a(np.float32, assert_type(anydml.exp(np.float32(1)), np.float32))
is_a(np.floating, assert_type(anydml.exp(1, dtype=np.float16), "np.floating[Any]"), np.float16)
is_a(np.ufunc, assert_type(anydml.exp.ufunc, np.ufunc))
is_a(np.ndarray, assert_type(anydml.pow(abs(singles), 0.5), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(anydml.atan_yx(singles, singles), NDArray[np.float32]), np.float32)

# Operators by name.
is_a(np.ndarray, assert_type(anydml.run("ELEMENT_WISE_ADD", doubles, doubles), NDArray[Any]), np.float64)
step = assert_type(anydml.compile("DML_OPERATOR_ELEMENT_WISE_ADD", doubles, doubles), "anydml.Compiled[NDArray[Any]]")
is_a(np.ndarray, assert_type(step(doubles, doubles), NDArray[Any]), np.float64)
is_a(str, assert_type(anydml.operators()[0]["name"], str))
is_a(int, assert_type(anydml.adapters()[0]["threads"], int))
kept: anydml.Compiled[NDArray[Any]] = step
is_a(anydml.Compiled, kept)


# Within a graph the operators accept and return symbols; the graph itself accepts and returns arrays.
@anydml.graph
def scaled(x: anydml.Symbol, factor: float) -> anydml.Symbol:
    return assert_type(anydml.relu(assert_type(x * factor, anydml.Symbol)), anydml.Symbol)


@anydml.graph(device="cpu")
def parts(x: anydml.Symbol) -> tuple[anydml.Symbol, anydml.Symbol]:
    return x.reshape(3, 1), assert_type(anydml.exp(assert_type(anydml.add(x, 1), anydml.Symbol)), anydml.Symbol)


class Layer:
    weight = 2.0

    @anydml.graph
    def apply(self, x: anydml.Symbol, shape: tuple[int, int]) -> anydml.Symbol:
        return x.reshape(shape, order="F") * self.weight


is_a(np.ndarray, assert_type(scaled(singles, 2.0), NDArray[Any]), np.float32)
is_a(np.ndarray, assert_type(Layer().apply(singles, (3, 1)), NDArray[Any]), np.float32)
is_a(tuple, assert_type(parts(singles), "tuple[NDArray[Any], ...]"))


# For a function annotated with arrays, the graph keeps the parameters and the result type.
@anydml.graph
def squares(x: NDArray[np.float32], k: int = 2, *, shift: float = 0.0) -> NDArray[np.float32]:
    y: NDArray[np.float32] = np.where(x > 0, x ** k, np.exp(x)) + x.mean() + np.float32(shift)
    return y


@anydml.graph(device="cpu")
def both(x: np.ndarray[Any, Any], scale: float = 1.0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return x * scale, x[::-1]


class Model:
    def __init__(self, weight: NDArray[np.float32]) -> None:
        self.weight = weight

    @anydml.graph
    def apply(self, x: NDArray[np.float32], bias: float = 0.0) -> NDArray[np.float32]:
        return x * self.weight + bias

    @anydml.graph(device="cpu")
    def named(self, parts: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
        return {name: part * 2 for name, part in parts.items()}


is_a(np.ndarray, assert_type(squares(singles, k=3, shift=1.0), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(squares(singles, out=np.empty(3, np.float32)), NDArray[np.float32]), np.float32)
is_a(tuple, assert_type(both(singles, 2.0), "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]"))
is_a(np.ndarray, assert_type(Model(singles).apply(singles, bias=1.0), NDArray[np.float32]), np.float32)
is_a(np.ndarray, assert_type(Model.apply(Model(singles), singles), NDArray[np.float32]), np.float32)
is_a(dict, assert_type(Model(singles).named({"a": singles}), "dict[str, NDArray[np.float32]]"))
doubled = anydml.graph(lambda x: x + x)  # pyright: ignore
held: anydml.Graph[NDArray[np.float32]] = squares


# Symbols have the methods and operators of arrays.
@anydml.graph
def symbols(x: anydml.Symbol, i: anydml.Symbol) -> tuple[anydml.Symbol, ...]:
    total = assert_type(x.sum(axis=0, keepdims=True), anydml.Symbol)
    exponentials: anydml.Symbol = np.exp(x)
    return (total, exponentials, x ** 2, 2 ** x, x // 2, x[i], x[[0, 1]], x.mean(), x.clip(0, 1), x.argmax(), (x > 0) & ~(x < 2),
            x.cumsum(0), x.round(1), x.astype(np.float16), x.dot(x), x.all(), x.max(), +x, x.take([0]), x.std())


is_a(tuple, assert_type(symbols(singles, np.array([0, 1])), "tuple[NDArray[Any], ...]"))
