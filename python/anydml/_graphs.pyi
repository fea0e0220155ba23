# SPDX-License-Identifier: MIT
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, Generic, Protocol, TypeVar, overload

from numpy.typing import NDArray
from typing_extensions import Concatenate, ParamSpec

from ._symbols import Symbol

_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)
_Parameters = ParamSpec("_Parameters", default=...)
_P = ParamSpec("_P")
_Self = TypeVar("_Self")

# The graph of a function that is annotated with arrays has the same parameters and result, and also `out`. A function
# that is annotated with Symbols accepts arrays from any library, and constants.
class Graph(Generic[_Result, _Parameters]):
    def __init__(self, function: Callable[_Parameters, _Result], *, device: str | None = None) -> None: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __set_name__(self, owner: type, name: str) -> None: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Graph[_Result, _Parameters]: ...
    @overload
    def __get__(self: Graph[_Result, Concatenate[_Self, _P]], instance: _Self,
                owner: type | None = None) -> _Bound[_Result, _P]: ...
    @overload
    def __call__(self, *arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result: ...
    @overload
    def __call__(self, *arguments: Any, out: Any, **named: Any) -> _Result: ...

# A graph that is a method of an object.
class _Bound(Protocol[_Result_co, _P]):
    @overload
    def __call__(self, *arguments: _P.args, **named: _P.kwargs) -> _Result_co: ...
    @overload
    def __call__(self, *arguments: Any, out: Any, **named: Any) -> _Result_co: ...

class _OfSymbols(Graph[_Result, ...]):
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> _OfSymbols[_Result]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Bound[_Result, ...]: ...

class _Decorator(Protocol):
    @overload
    def __call__(self, decorated: Callable[..., Symbol], /) -> _OfSymbols[NDArray[Any]]: ...
    @overload
    def __call__(self, decorated: Callable[..., Sequence[Symbol]], /) -> _OfSymbols[tuple[NDArray[Any], ...]]: ...
    @overload
    def __call__(self, decorated: Callable[_P, _Result], /) -> Graph[_Result, _P]: ...

@overload
def graph(function: Callable[..., Symbol], *, device: str | None = None) -> _OfSymbols[NDArray[Any]]: ...
@overload
def graph(function: Callable[..., Sequence[Symbol]], *,
          device: str | None = None) -> _OfSymbols[tuple[NDArray[Any], ...]]: ...
@overload
def graph(function: Callable[_P, _Result], *, device: str | None = None) -> Graph[_Result, _P]: ...
@overload
def graph(function: None = None, *, device: str | None = None) -> _Decorator: ...
