# SPDX-License-Identifier: MIT
# pyright: strict
"""Like typed_program.py, for calls with PyTorch tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

import anydml
import anydml.torch

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value, kind):
        assert isinstance(value, kind), f"{value!r} is no {kind}"
        return value

tensor, array = torch.tensor([5.0, -5.5], dtype=torch.float64), np.array([5, -5.5], np.float64)
assert_type(anydml.modulus_floor(tensor, 2), torch.Tensor)
assert_type(anydml.modulus_floor(2.5, tensor), torch.Tensor)
assert_type(anydml.modulus_floor(tensor, tensor), torch.Tensor)
assert_type(anydml.modulus_floor(array, tensor), torch.Tensor)
assert_type(anydml.modulus_floor(array, 2, out=tensor), torch.Tensor)
assert_type(anydml.abs(tensor), torch.Tensor)
assert_type(anydml.add(tensor, 2), torch.Tensor)
assert_type(anydml.add(tensor, array), torch.Tensor)
assert_type(anydml.logical_equals(tensor, tensor), torch.Tensor)
assert_type(anydml.cast(tensor, dtype="float32"), torch.Tensor)
assert_type(anydml.cast(tensor, dtype=torch.float32), torch.Tensor)
assert_type(anydml.modulus_floor(tensor, 2, dtype=torch.float64), torch.Tensor)
assert_type(anydml.run("ELEMENT_WISE_ADD", tensor, tensor), torch.Tensor)
assert_type(anydml.compile("ELEMENT_WISE_ADD", tensor, tensor)(tensor, tensor), torch.Tensor)
assert_type(anydml.torch.modulus_floor(tensor, tensor), torch.Tensor)
