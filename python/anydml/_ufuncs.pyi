# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._run import _Array, _DType, _Element, _Library, _NumPys, _Operand, _Out

_Floating = TypeVar("_Floating", np.float16, np.float32, np.float64)
_Rounded = TypeVar("_Rounded", np.float16, np.float32)
_Scalar: TypeAlias = float | np.generic
_Arrays: TypeAlias = NDArray[Any] | Sequence[Any]
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order: TypeAlias = Literal["K", "A", "C", "F"]
_Signature: TypeAlias = str | tuple[DTypeLike | None, ...] | None

# A function that contains a ufunc and has its attributes. Like a ufunc, it returns numbers for numbers.
class _Ufunc(Protocol):
    ufunc: np.ufunc
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: None
    signature: None
    def resolve_dtypes(self, dtypes: tuple[DTypeLike | None, ...], *, signature: _Signature = None,
                       casting: _Casting | None = None,
                       reduction: bool = False) -> tuple[np.dtype[Any], ...]: ...

# One operand: float16, float32, and types that fit into them.
class _UfuncOfOne(_Ufunc, Protocol):
    @overload
    def __call__(self, x: _Rounded, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: None = None) -> _Rounded: ...
    @overload
    def __call__(self, x: _Scalar, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: None = None) -> np.floating[Any]: ...
    @overload
    def __call__(self, x: NDArray[_Rounded], /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: str | None = None) -> NDArray[_Rounded]: ...
    @overload
    def __call__(self, x: _Arrays, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Array: ...
    @overload
    def __call__(self, x: _Library, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Library: ...
    @overload
    def __call__(self, x: _Operand, /, out: _Out, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Out: ...
    def at(self, a: _Array, indices: ArrayLike | slice | tuple[ArrayLike | slice, ...], /) -> None: ...

# Two operands, typed as in NumPy. The result has the operands' type if both have the same type, or if one is a Python
# number that fits.
class _UfuncOfTwo(_Ufunc, Protocol):
    @overload
    def __call__(self, a: _Element, b: _Element, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: None = None, subok: bool = True,
                 signature: None = None, device: None = None) -> _Element: ...
    @overload
    def __call__(self, a: _Scalar, b: _Scalar, /, out: None = None, *, where: Literal[True] = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
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
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Array: ...
    @overload
    def __call__(self, a: _NumPys, b: _Arrays, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Array: ...
    @overload
    def __call__(self, a: _Array | float, b: _Library, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Library: ...
    @overload
    def __call__(self, a: _Library, b: _Library | _Array | float, /, out: None = None, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
                 subok: bool = True, signature: _Signature = None, device: str | None = None) -> _Library: ...
    @overload
    def __call__(self, a: _Operand, b: _Operand, /, out: _Out, *, where: ArrayLike = True,
                 casting: _Casting = "same_kind", order: _Order = "K", dtype: _DType | None = None,
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
