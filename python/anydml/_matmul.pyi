# SPDX-License-Identifier: MIT
from typing import Any, overload

from numpy.typing import ArrayLike, NDArray

from ._symbols import Symbol, _DLPackArray

@overload
def matmul(a: Symbol, b: Symbol | ArrayLike, /, out: None = None, *, device: str | None = None) -> Symbol: ...
@overload
def matmul(a: ArrayLike, b: Symbol, /, out: None = None, *, device: str | None = None) -> Symbol: ...
@overload
def matmul(a: ArrayLike, b: ArrayLike, /, out: NDArray[Any] | None = None, *,
           device: str | None = None) -> NDArray[Any]: ...
@overload
def matmul(a: _DLPackArray, b: _DLPackArray, /, out: _DLPackArray | None = None, *, device: str | None = None) -> Any: ...
