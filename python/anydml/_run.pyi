# SPDX-License-Identifier: MIT
# In addition to the names of _run.py, this defines the types that all stubs share.
from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import Any, Generic, Protocol, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._specs import _OneResult
from ._symbols import Symbol, _DLPackArray

# The type variable is constrained rather than bound, so that checkers do not treat arrays of two types as arrays of a
# common base type.
_Element = TypeVar("_Element", np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8,
                   np.uint16, np.uint32, np.uint64)
_Library = TypeVar("_Library", bound=_DLPackArray | Symbol)  # arrays from one library, or values of a graph
_Out = TypeVar("_Out", bound=_DLPackArray)
_Result = TypeVar("_Result")

_Array: TypeAlias = NDArray[Any]
_Typed: TypeAlias = NDArray[_Element] | _Element
_DTypeOf: TypeAlias = type[_Element] | np.dtype[_Element]
_DType: TypeAlias = DTypeLike | _TorchDType
_Number: TypeAlias = SupportsIndex | SupportsFloat
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_NumPys: TypeAlias = NDArray[Any] | np.generic | float | Sequence[Any]
_Operand: TypeAlias = _NumPys | _DLPackArray
_Attribute: TypeAlias = _Number | str | Sequence[_Number] | Operator | Sequence[Operator]

class _TorchDType(Protocol):
    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...

class Operator:
    name: str
    attributes: dict[str, Any]
    def __init__(self, name: str, /, **attributes: _Attribute) -> None: ...

class Compiled(Generic[_Result]):
    op: str
    def __init__(self, op: str, inputs: Sequence[_Array | None], outs: Sequence[_Array | None], device: str | None,
                 attributes: Mapping[str, _Attribute], several: bool = False, is_array: bool = False) -> None: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __call__(self, *inputs: _Operand | None, out: _Result | None = None) -> _Result: ...

@overload
def run(op: _OneResult, *inputs: _NumPys | None, out: None = None, dtype: _DType | None = None,
        shape: _Shape | None = None, device: str | None = None, **attributes: _Attribute) -> _Array: ...
@overload  # NumPy's arrays also match the DLPack overload, but the overload above is chosen for them.
def run(  # type: ignore[overload-overlap]
        op: _OneResult, *inputs: _Library | _Array | float | None, out: None = None, dtype: _DType | None = None,
        shape: _Shape | None = None, device: str | None = None, **attributes: _Attribute) -> _Library: ...
@overload
def run(op: _OneResult, *inputs: _Operand | None, out: _Out, dtype: None = None, shape: None = None,
        device: str | None = None, **attributes: _Attribute) -> _Out: ...
# Operators with several results, and names that are not literals.
@overload
def run(op: str, *inputs: _NumPys | None, out: Any = None, dtype: Any = None, shape: Any = None,
        device: str | None = None, **attributes: _Attribute) -> _Array | tuple[_Array | None, ...]: ...
@overload
def run(op: str, *inputs: _Operand | None, out: Any = None, dtype: Any = None, shape: Any = None,
        device: str | None = None, **attributes: _Attribute) -> _DLPackArray | tuple[_DLPackArray | None, ...]: ...
@overload
def compile(op: _OneResult, *inputs: _NumPys | None, out: _NumPys | None = None, dtype: _DType | None = None,
            shape: _Shape | None = None, device: str | None = None, **attributes: _Attribute) -> Compiled[_Array]: ...
@overload
def compile(op: _OneResult, *inputs: _Library | _Array | float | None, out: _Operand | None = None,
            dtype: _DType | None = None, shape: _Shape | None = None, device: str | None = None,
            **attributes: _Attribute) -> Compiled[_Library]: ...
@overload
def compile(op: str, *inputs: _Operand | None, out: Any = None, dtype: Any = None, shape: Any = None,
            device: str | None = None,
            **attributes: _Attribute) -> Compiled[Any]: ...
