# SPDX-License-Identifier: MIT
from typing import Any, Literal, Protocol, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._operators import *
from ._types import Operator as Operator
from ._types import _Attribute, _Library, _Number, _NumPys, _Operand, _Out, _Result

__version__: str

_Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order = Literal["K", "A", "C", "F"]
_Signature = str | tuple[DTypeLike | None, ...] | None

class Adapter(TypedDict):
    name: str
    description: str
    memory_bytes: int
    threads: int

class OperatorInfo(TypedDict):
    name: str
    number: int
    feature_level: str
    formula: str
    built: bool
    inputs: int
    types: list[str]

class Compiled:
    op: str
    def __call__(self, *inputs: NDArray[Any] | None, out: Any = ...) -> Any: ...

# A function that carries a ufunc and what a ufunc has.
class _Modulus(Protocol):
    ufunc: np.ufunc
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str | None
    @overload
    def __call__(self, a: _NumPys, b: _NumPys, /, out: None = ..., *, where: ArrayLike = ..., casting: _Casting = ...,
                 order: _Order = ..., dtype: DTypeLike | None = ..., subok: bool = ..., signature: _Signature = ...,
                 device: str | None = ...) -> _Result: ...
    @overload
    def __call__(self, a: _Library | _Number, b: _Library | _Number, /, out: None = ..., *, where: ArrayLike = ...,
                 casting: _Casting = ..., order: _Order = ..., dtype: DTypeLike | None = ..., subok: bool = ...,
                 signature: _Signature = ..., device: str | None = ...) -> _Library: ...
    @overload
    def __call__(self, a: _Operand, b: _Operand, /, out: _Out, *, where: ArrayLike = ..., casting: _Casting = ...,
                 order: _Order = ..., dtype: DTypeLike | None = ..., subok: bool = ..., signature: _Signature = ...,
                 device: str | None = ...) -> _Out: ...
    def outer(self, a: ArrayLike, b: ArrayLike, /, **options: Any) -> _Result: ...
    def reduce(self, array: ArrayLike, /, axis: Any = ..., dtype: DTypeLike | None = ..., out: Any = ...,
               keepdims: bool = ..., initial: Any = ..., where: ArrayLike = ...) -> Any: ...
    def accumulate(self, array: ArrayLike, /, axis: int = ..., dtype: DTypeLike | None = ...,
                   out: Any = ...) -> _Result: ...
    def reduceat(self, array: ArrayLike, /, indices: ArrayLike, axis: int = ..., dtype: DTypeLike | None = ...,
                 out: Any = ...) -> _Result: ...
    def at(self, a: NDArray[Any], indices: Any, b: ArrayLike, /) -> None: ...

modulus_floor: _Modulus
modulus_truncate: _Modulus

# What these give depends on the operator: an array, or a tuple of them.
def run(op: str, *inputs: _Operand | None, out: Any = ..., dtype: Any = ..., shape: Any = ...,
        device: str | None = ..., **attributes: _Attribute) -> Any: ...
def compile(op: str, *inputs: _Operand | None, out: Any = ..., dtype: Any = ..., shape: Any = ...,
            device: str | None = ..., **attributes: _Attribute) -> Compiled: ...
def adapters() -> list[Adapter]: ...
def operators(built: bool | None = ...) -> list[OperatorInfo]: ...
