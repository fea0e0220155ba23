# SPDX-License-Identifier: MIT
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

__version__: str

_Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_Order = Literal["K", "A", "C", "F"]
_Number = SupportsIndex | SupportsFloat

class Adapter(TypedDict):
    name: str
    description: str
    memory_bytes: int
    threads: int

class Operator(TypedDict):
    name: str
    number: int
    feature_level: str
    formula: str
    built: bool
    inputs: int
    types: list[str]

class Compiled:
    op: str
    def __call__(self, *inputs: np.ndarray, out: np.ndarray | None = ...) -> np.ndarray: ...

def modulus_floor(a: Any, b: Any, /, out: Any = ..., *, where: ArrayLike = ..., casting: _Casting = ...,
                  order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> Any: ...
def modulus_truncate(a: Any, b: Any, /, out: Any = ..., *, where: ArrayLike = ..., casting: _Casting = ...,
                     order: _Order = ..., dtype: DTypeLike | None = ..., device: str | None = ...) -> Any: ...
def run(op: str, *inputs: Any, out: Any = ..., device: str | None = ..., **attributes: _Number) -> Any: ...
def compile(op: str, *inputs: Any, out: Any = ..., device: str | None = ...,
            **attributes: _Number) -> Compiled: ...
def adapters() -> list[Adapter]: ...
def operators(built: bool | None = ...) -> list[Operator]: ...
