# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._calls import (Compiled as Compiled, Operator as Operator, _Array, _Element, _Library, _NumPys, _Operand, _Out,
                     compile as compile, run as run)
from ._graphs import Graph as Graph, Symbol as Symbol, graph as graph
from ._operators import *
from ._operators import (abs as abs)

__version__: str
# Without the names that Python itself has. What follows the version is made by data/generate_python.py.
__all__ = ["modulus_floor", "modulus_truncate", "run", "graph", "Compiled", "Graph", "Operator", "Symbol", "adapters",
           "operators", "__version__", "activation_identity", "add", "add1", "argmax", "argmin", "bit_and", "bit_count",
           "bit_not", "bit_or", "bit_shift_left", "bit_shift_right", "bit_xor", "cast", "ceil", "clip", "clip1",
           "clip_grad", "clip_grad1", "dequantize_linear", "difference_square", "divide", "element_wise_identity",
           "element_wise_if", "element_wise_max", "element_wise_mean", "element_wise_min", "element_wise_round",
           "fill_value_constant", "fill_value_sequence", "floor", "hard_sigmoid", "hard_swish", "is_infinity", "is_nan",
           "leaky_relu", "linear", "logical_and", "logical_equals", "logical_greater_than",
           "logical_greater_than_or_equal", "logical_less_than", "logical_less_than_or_equal", "logical_not",
           "logical_or", "logical_xor", "multiply", "negate", "parameterized_relu", "quantize_linear",
           "quantized_linear_add", "recip", "reduce", "relu", "relu_grad", "shrink", "sign", "sqrt", "subtract",
           "threshold", "thresholded_relu"]

_Floating = TypeVar("_Floating", np.float16, np.float32, np.float64)
_Scalar: TypeAlias = float | np.generic
_Arrays: TypeAlias = NDArray[Any] | Sequence[Any]
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order: TypeAlias = Literal["K", "A", "C", "F"]
_Signature: TypeAlias = str | tuple[DTypeLike | None, ...] | None

class _Adapter(TypedDict):
    name: str
    description: str
    memory_bytes: int
    threads: int

class _OperatorInfo(TypedDict):
    name: str
    number: int
    feature_level: str
    formula: str
    built: bool
    inputs: int
    types: list[str]

# A function that carries a ufunc and what a ufunc has. As a ufunc it gives numbers for numbers, and types by NumPy's
# rules: those of the operands where they have one, or where the other one is a Python number that fits.
class _Modulus(Protocol):
    ufunc: np.ufunc
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: None
    signature: None
    @overload
    def __call__(self, a: _Element, b: _Element, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: None = None) -> _Element: ...
    @overload
    def __call__(self, a: _Scalar, b: _Scalar, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: None = None) -> np.number[Any]: ...
    @overload
    def __call__(self, a: NDArray[_Element], b: NDArray[_Element] | int, /, out: None = None, *,
                 where: ArrayLike = True, casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None,
                 subok: bool = True, signature: None = None, device: str | None = None) -> NDArray[_Element]: ...
    @overload
    def __call__(self, a: int, b: NDArray[_Element], /, out: None = None, *,
                 where: ArrayLike = True, casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None,
                 subok: bool = True, signature: None = None, device: str | None = None) -> NDArray[_Element]: ...
    @overload
    def __call__(self, a: NDArray[_Floating], b: float, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: str | None = None) -> NDArray[_Floating]: ...
    @overload
    def __call__(self, a: float, b: NDArray[_Floating], /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: str | None = None) -> NDArray[_Floating]: ...
    @overload
    def __call__(self, a: _Arrays, b: _NumPys, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Array: ...
    @overload
    def __call__(self, a: _NumPys, b: _Arrays, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Array: ...
    @overload
    def __call__(self, a: _Array | float, b: _Library, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Library: ...
    @overload
    def __call__(self, a: _Library, b: _Library | _Array | float, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Library: ...
    @overload
    def __call__(self, a: _Operand, b: _Operand, /, out: _Out, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: DTypeLike | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Out: ...
    @overload
    def outer(self, a: _Arrays, b: _NumPys, /, **options: Any) -> _Array: ...
    @overload
    def outer(self, a: _NumPys, b: _Arrays, /, **options: Any) -> _Array: ...
    @overload
    def outer(self, a: _Scalar, b: _Scalar, /, **options: Any) -> np.number[Any]: ...
    @overload
    def reduce(self, array: _Arrays, /, axis: int | tuple[int, ...] | None = 0, dtype: DTypeLike | None = None, *,
               out: _Out, keepdims: bool = False, initial: float = ..., where: ArrayLike = True) -> _Out: ...
    @overload
    def reduce(self, array: _Arrays, /, axis: int | tuple[int, ...] | None = 0, dtype: DTypeLike | None = None,
               out: None = None, *, keepdims: Literal[True], initial: float = ...,
               where: ArrayLike = True) -> _Array: ...
    @overload
    def reduce(self, array: _Arrays, /, axis: int | tuple[int, ...] | None = 0, dtype: DTypeLike | None = None,
               out: None = None, keepdims: bool = False, initial: float = ...,
               where: ArrayLike = True) -> np.number[Any] | _Array: ...
    @overload
    def accumulate(self, array: _Arrays, /, axis: int = 0, dtype: DTypeLike | None = None, *, out: _Out) -> _Out: ...
    @overload
    def accumulate(self, array: _Arrays, /, axis: int = 0, dtype: DTypeLike | None = None,
                   out: None = None) -> _Array: ...
    @overload
    def reduceat(self, array: _Arrays, /, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, *,
                 out: _Out) -> _Out: ...
    @overload
    def reduceat(self, array: _Arrays, /, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None,
                 out: None = None) -> _Array: ...
    def at(self, a: _Array, indices: ArrayLike | slice | tuple[ArrayLike | slice, ...], b: ArrayLike, /) -> None: ...
    def resolve_dtypes(self, dtypes: tuple[DTypeLike | None, ...], *, signature: _Signature = None,
                       casting: _Casting | None = None,
                       reduction: bool = False) -> tuple[np.dtype[Any], ...]: ...

modulus_floor: _Modulus
modulus_truncate: _Modulus

def adapters() -> list[_Adapter]: ...
def operators(built: bool | None = None) -> list[_OperatorInfo]: ...
