# SPDX-License-Identifier: MIT
from typing import Any, Literal, TypedDict, overload

from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._operators import *
from ._types import Operator as Operator
from ._types import _Attribute, _Library, _Number, _NumPys, _Operand, _Out, _Result

__version__: str

_Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order = Literal["K", "A", "C", "F"]

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

@overload
def modulus_floor(a: _NumPys, b: _NumPys, /, out: None = ..., *, where: ArrayLike = ..., casting: _Casting = ...,
                  order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> _Result: ...
@overload
def modulus_floor(a: _Library | _Number, b: _Library | _Number, /, out: None = ..., *, where: ArrayLike = ...,
                  casting: _Casting = ..., order: _Order = ..., dtype: DTypeLike | None = ...,
                  device: str | None = ...) -> _Library: ...
@overload
def modulus_floor(a: _Operand, b: _Operand, /, out: _Out, *, where: ArrayLike = ..., casting: _Casting = ...,
                  order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> _Out: ...
@overload
def modulus_truncate(a: _NumPys, b: _NumPys, /, out: None = ..., *, where: ArrayLike = ..., casting: _Casting = ...,
                     order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> _Result: ...
@overload
def modulus_truncate(a: _Library | _Number, b: _Library | _Number, /, out: None = ..., *, where: ArrayLike = ...,
                     casting: _Casting = ..., order: _Order = ..., dtype: DTypeLike | None = ...,
                     device: str | None = ...) -> _Library: ...
@overload
def modulus_truncate(a: _Operand, b: _Operand, /, out: _Out, *, where: ArrayLike = ..., casting: _Casting = ...,
                     order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> _Out: ...

# What these give depends on the operator: an array, or a tuple of them.
def run(op: str, *inputs: _Operand | None, out: Any = ..., dtype: Any = ..., shape: Any = ...,
        device: str | None = ..., **attributes: _Attribute) -> Any: ...
def compile(op: str, *inputs: _Operand | None, out: Any = ..., dtype: Any = ..., shape: Any = ...,
            device: str | None = ..., **attributes: _Attribute) -> Compiled: ...
def adapters() -> list[Adapter]: ...
def operators(built: bool | None = ...) -> list[OperatorInfo]: ...
