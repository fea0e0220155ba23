# SPDX-License-Identifier: MIT
"""Both modulus operators as operators of PyTorch, so that autograd and torch.compile take them.

>>> import torch, anydml.torch
>>> x = torch.tensor([5.0, -5.5], requires_grad=True)
>>> y = torch.tensor([3.0, 2.0], requires_grad=True)
>>> anydml.modulus_floor(x, y).sum().backward()
>>> x.grad, y.grad
(tensor([1., 1.]), tensor([-1.,  3.]))

Importing this registers ``torch.ops.anydml.modulus_floor`` and ``modulus_truncate``. From then on `anydml.modulus_floor`
and `anydml.modulus_truncate` hand over tensors that require a gradient, and those that a compiler traces. They need two
tensors of one type, or one beside a number.

The gradient of ``a mod b`` is 1 for ``a``, and minus the quotient, rounded down or towards zero, for ``b``.
"""
import sys

import torch

import anydml

__all__ = ["modulus_floor", "modulus_truncate"]


def _declare(name, compute, rounding):
    @torch.library.custom_op(f"anydml::{name}", mutates_args=())
    def operator(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return compute(a.detach(), b.detach())

    @operator.register_fake
    def _(a, b):
        if a.dtype != b.dtype:
            raise TypeError(f"{name}: the tensors are of {a.dtype} and {b.dtype}; expected one type")
        return torch.empty(torch.broadcast_shapes(a.shape, b.shape), dtype=a.dtype, device=a.device)

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def gradients(ctx, grad):
        a, b = ctx.saved_tensors
        of_a = grad.sum_to_size(a.shape) if ctx.needs_input_grad[0] else None
        of_b = None
        if ctx.needs_input_grad[1]:
            of_b = (-grad * torch.div(a, b, rounding_mode=rounding)).sum_to_size(b.shape)
        return of_a, of_b

    operator.register_autograd(gradients, setup_context=keep)
    return operator


modulus_floor = _declare("modulus_floor", anydml.modulus_floor, "floor")
modulus_truncate = _declare("modulus_truncate", anydml.modulus_truncate, "trunc")


def takes(a, b):
    """Whether a call belongs to PyTorch: something is differentiated."""
    return torch.is_grad_enabled() and ((isinstance(a, torch.Tensor) and a.requires_grad)
                                        or (isinstance(b, torch.Tensor) and b.requires_grad))


def call(operator, a, b, absent, true, casting, order):
    """The operator over tensors; a number becomes a tensor of the other's type. No other argument is taken."""
    if (any(one is not None for one in absent) or any(one is not True for one in true) or casting != "same_kind"
            or order != "K"):
        raise TypeError("tensors that require a gradient or are traced are taken without further arguments: expected "
                        "a and b alone")
    like = a if isinstance(a, torch.Tensor) else b
    a, b = (one if isinstance(one, torch.Tensor) else torch.tensor(one, dtype=like.dtype, device=like.device)
            for one in (a, b))
    return operator(a, b)


def hook():
    """From here on anydml's functions hand over what belongs to PyTorch."""
    anydml._torch, anydml._is_traced = sys.modules[__name__], torch.compiler.is_compiling


hook()
