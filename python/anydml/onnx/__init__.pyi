# SPDX-License-Identifier: MIT
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, SupportsIndex, Union, overload

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray

__all__ = ["Backend", "Generated", "Generator", "Prepared", "Unsupported", "Value", "is_compatible", "prepare", "run_model",
           "run_node", "supports_device"]

_Model = Union[onnx.ModelProto, bytes, str, os.PathLike[str]]
_Inputs = Union[Iterable[ArrayLike], Mapping[str, ArrayLike]]

# A tuple whose items can also be accessed by the names of the outputs.
class _Outputs(tuple[NDArray[Any], ...]):
    @overload
    def __getitem__(self, key: str | SupportsIndex) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[NDArray[Any], ...]: ...
    def __getattr__(self, name: str) -> NDArray[Any]: ...

_Activations = Literal["model", "float", "integer"]

class Unsupported(NotImplementedError):
    needs: list[str]
    def __init__(self, message: str, needs: list[str]) -> None: ...

class Value(NamedTuple):
    name: str
    type: np.dtype[Any] | None
    sizes: tuple[int | str | None, ...] | None

class Prepared:
    def __init__(self, model: _Model, folder: str | os.PathLike[str] | None = ..., literal: bool = ..., *,
                 device: str | None = ..., trace: bool = ..., activations: _Activations = ...) -> None: ...
    @property
    def inputs(self) -> tuple[Value, ...]: ...
    @property
    def outputs(self) -> tuple[Value, ...]: ...
    def __copy__(self) -> Prepared: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Prepared: ...
    @overload
    def run(self, inputs: _Inputs, *, on_device: Literal[False] | None = ..., **_: Any) -> _Outputs: ...
    @overload
    def run(self, inputs: _Inputs, *, on_device: bool, **_: Any) -> Any: ...
    def explain(self) -> list[str]: ...
    def profile(self, inputs: _Inputs, rounds: int = ...) -> list[tuple[float, str, str]]: ...
    def write_trace(self, path: str | os.PathLike[str]) -> None: ...

class Backend:
    @classmethod
    def is_compatible(cls, model: _Model, device: str = ..., **_: Any) -> bool: ...
    @classmethod
    def prepare(cls, model: _Model, device: str = ..., *, literal: bool = ..., trace: bool = ...,
                activations: _Activations = ..., **_: Any) -> Prepared: ...
    @classmethod
    def run_model(cls, model: _Model, inputs: _Inputs, device: str = ..., **_: Any) -> _Outputs: ...
    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Iterable[ArrayLike], device: str = ...,
                 outputs_info: Sequence[Any] | None = ..., **kwargs: Any) -> _Outputs: ...
    @classmethod
    def supports_device(cls, device: str) -> bool: ...

_Prompt = Union[str, Sequence[Mapping[str, Any]], Sequence[SupportsIndex], NDArray[np.integer[Any]]]

class Generated:
    tokens: list[int]
    end: str
    prompt_tokens: int
    prompt_seconds: float
    seconds: float
    def __init__(self, tokens: list[int], end: str, prompt_tokens: int, prompt_seconds: float, seconds: float,
                 text: Callable[[], str]) -> None: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens_per_second(self) -> float: ...

class Generator:
    folder: str
    slots: int
    cache: str
    context_length: int
    end_tokens: list[int]
    def __init__(self, folder: str | os.PathLike[str], device: str | None = ..., slots: int = ..., *, cache: str = ...,
                 chunk: int = ..., activations: _Activations = ...) -> None: ...
    # A str is also an iterable of str, but then the first signature applies.
    @overload
    def generate(  # type: ignore[overload-overlap]
                 self, prompt: _Prompt, tokens: int = ..., *, temperature: float | None = ..., top_k: int | None = ...,
                 top_p: float | None = ..., repetition_penalty: float | None = ..., seed: int = ...,
                 stop: str | Iterable[str] = ..., ignore_end: bool = ...,
                 stream: Callable[[str], object] | None = ...) -> Generated: ...
    @overload
    def generate(self, prompt: Iterable[_Prompt], tokens: int = ..., *, temperature: float | None = ...,
                 top_k: int | None = ..., top_p: float | None = ..., repetition_penalty: float | None = ...,
                 seed: int = ..., stop: str | Iterable[str] = ..., ignore_end: bool = ...,
                 stream: None = ...) -> list[Generated]: ...
    def stream(self, prompt: _Prompt, tokens: int = ..., *, temperature: float | None = ..., top_k: int | None = ...,
               top_p: float | None = ..., repetition_penalty: float | None = ..., seed: int = ...,
               stop: str | Iterable[str] = ..., ignore_end: bool = ...) -> Iterator[str]: ...
    def logits(self, text: int = ...) -> NDArray[np.float32]: ...
    def tokens_of(self, prompt: _Prompt) -> list[int]: ...

def is_compatible(model: _Model, device: str = ..., **_: Any) -> bool: ...
def prepare(model: _Model, device: str = ..., *, literal: bool = ..., trace: bool = ..., activations: _Activations = ...,
            **_: Any) -> Prepared: ...
def run_model(model: _Model, inputs: _Inputs, device: str = ..., **_: Any) -> _Outputs: ...
def run_node(node: onnx.NodeProto, inputs: Iterable[ArrayLike], device: str = ...,
             outputs_info: Sequence[Any] | None = ..., **kwargs: Any) -> _Outputs: ...
def supports_device(device: str) -> bool: ...
