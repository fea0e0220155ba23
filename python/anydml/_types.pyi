# SPDX-License-Identifier: MIT
# What the stubs have in common; there is no such module.
from collections.abc import Sequence
from typing import Any, Protocol, SupportsFloat, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

class DLPackArray(Protocol):
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class Operator:
    name: str
    attributes: dict[str, Any]
    def __init__(self, name: str, /, **attributes: _Attribute) -> None: ...

_Number = SupportsIndex | SupportsFloat
_Attribute = _Number | str | Sequence[_Number] | Operator | Sequence[Operator]
_NumPys = NDArray[Any] | np.generic | int | float | Sequence[Any]
_Operand = _NumPys | DLPackArray
_Library = TypeVar("_Library", bound=DLPackArray)
_Out = TypeVar("_Out", bound=DLPackArray)
_Result = NDArray[Any]
_Shape = SupportsIndex | Sequence[SupportsIndex]
