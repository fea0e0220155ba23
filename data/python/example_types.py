# SPDX-License-Identifier: MIT
"""The types that make up an operator's example."""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tensor:
    type: str
    values: tuple[float, ...]
    sizes: tuple[int, ...]

    def shaped(self, *sizes: int) -> Tensor:
        return Tensor(self.type, self.values, sizes)


@dataclass(frozen=True)
class Example:
    """The inputs and attributes are in the order of DirectML's fields. None stands for an omitted optional input, and a
    tuple stands for an array of tensors. An operator with several outputs, or with an array of outputs, has a tuple of
    results."""
    inputs: tuple[Tensor | None | tuple[Tensor, ...], ...]
    output: Tensor | tuple[Tensor, ...]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return self.output if isinstance(self.output, tuple) else (self.output,)


def of_type(name: str):
    return lambda *values: Tensor(name, values, (len(values),))


f32, i32, i8, u8, u32 = map(of_type, ("FLOAT32", "INT32", "INT8", "UINT8", "UINT32"))


def single(*values: float) -> Tensor:
    """Rounds to FLOAT32, so that values are as short as NumPy prints them."""
    return f32(*struct.unpack(f"{len(values)}f", struct.pack(f"{len(values)}f", *values)))
