# SPDX-License-Identifier: MIT
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ._symbols import Symbol, _DLPackArray

_Result = TypeVar("_Result")

class Graph(Generic[_Result]):
    def __init__(self, function: Callable[..., Any], *, device: str | None = None) -> None: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __set_name__(self, owner: type, name: str) -> None: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Graph[_Result]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., _Result]: ...
    # An argument that is not an array is a constant of the graph.
    def __call__(self, *arguments: NDArray[Any] | np.generic | _DLPackArray | float | str | None,
                 out: Any = None) -> _Result: ...

class _Decorator(Protocol):
    @overload
    def __call__(self, decorated: Callable[..., Symbol], /) -> Graph[NDArray[Any]]: ...
    @overload
    def __call__(self, decorated: Callable[..., Sequence[Symbol]], /) -> Graph[tuple[NDArray[Any], ...]]: ...

@overload
def graph(function: Callable[..., Symbol], *, device: str | None = None) -> Graph[NDArray[Any]]: ...
@overload
def graph(function: Callable[..., Sequence[Symbol]], *,
          device: str | None = None) -> Graph[tuple[NDArray[Any], ...]]: ...
@overload
def graph(function: None = None, *, device: str | None = None) -> _Decorator: ...
