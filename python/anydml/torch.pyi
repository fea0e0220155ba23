# SPDX-License-Identifier: MIT
from typing import Protocol

import torch

__all__ = ["modulus_floor", "modulus_truncate"]

class _OfTwo(Protocol):
    def __call__(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor: ...

modulus_floor: _OfTwo
modulus_truncate: _OfTwo
