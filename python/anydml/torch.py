# SPDX-License-Identifier: MIT
"""The functions that are ufuncs as operators of PyTorch, so that autograd and torch.compile take them.

>>> import torch, anydml.torch
>>> x = torch.tensor([5.0, -5.5], requires_grad=True)
>>> y = torch.tensor([3.0, 2.0], requires_grad=True)
>>> anydml.modulus_floor(x, y).sum().backward()
>>> x.grad, y.grad
(tensor([1., 1.]), tensor([-1.,  3.]))

Importing this registers ``torch.ops.anydml.modulus_floor``, ``modulus_truncate``, ``exp`` and the others. From then on
`anydml.modulus_floor` and the others hand over tensors that require a gradient, and those that a compiler traces. Those
of two operands need two tensors of one type, or one beside a number.

The gradient of ``a mod b`` is 1 for ``a``, and minus the quotient, rounded down or towards zero, for ``b``. Those of the
other functions are computed by PyTorch, in the tensors' type.
"""
import math
import sys

import torch

import anydml
from anydml import _ufuncs

__all__ = ["modulus_floor", "modulus_truncate"]


def _quotient(rounding):
    return lambda a, b, y: -torch.div(a, b, rounding_mode=rounding)


def _of_base(a, b, y):
    return torch.where(b == 0, 0, b * torch.pow(a, b - 1))


def _of_exponent(a, b, y):
    return torch.where((a == 0) & (b >= 0), 0, y * torch.log(a))


def _over_square(x, a, b):
    """x / (a^2 + b^2) without squares, which may overflow or vanish; 0 at the origin, as PyTorch has it."""
    length = torch.hypot(a, b)
    length = torch.where(length == 0, 1, length)
    return x / length / length


# The derivatives by each operand, of the operands and the result. None is 1.
_DERIVATIVES = {
    "modulus_floor": (None, _quotient("floor")),
    "modulus_truncate": (None, _quotient("trunc")),
    "exp": (lambda x, y: y,),
    "log": (lambda x, y: 1 / x,),
    "sin": (lambda x, y: torch.cos(x),),
    "cos": (lambda x, y: -torch.sin(x),),
    "tan": (lambda x, y: 1 + y * y,),
    "asin": (lambda x, y: torch.rsqrt(1 - x * x),),
    "acos": (lambda x, y: -torch.rsqrt(1 - x * x),),
    "atan": (lambda x, y: 1 / (1 + x * x),),
    "sinh": (lambda x, y: torch.cosh(x),),
    "cosh": (lambda x, y: torch.sinh(x),),
    "tanh": (lambda x, y: 1 - y * y,),
    "activation_tanh": (lambda x, y: 1 - y * y,),
    "asinh": (lambda x, y: torch.rsqrt(1 + x * x),),
    "acosh": (lambda x, y: torch.rsqrt(x * x - 1),),
    "atanh": (lambda x, y: 1 / (1 - x * x),),
    "erf": (lambda x, y: 2 / math.sqrt(math.pi) * torch.exp(-x * x),),
    "sigmoid": (lambda x, y: y * (1 - y),),
    "gelu": (lambda x, y: (1 + torch.erf(x / math.sqrt(2))) / 2 + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi),),
    "softsign": (lambda x, y: (1 + torch.abs(x))**-2,),
    "pow": (_of_base, _of_exponent),
    "atan_yx": (lambda a, b, y: _over_square(b, a, b), lambda a, b, y: _over_square(-a, a, b)),
}


def _declare(name, derivatives):
    compute = getattr(anydml, name)
    if len(derivatives) == 1:
        def operator(x: torch.Tensor) -> torch.Tensor:
            return compute(x.detach())
    else:
        def operator(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return compute(a.detach(), b.detach())
    operator = torch.library.custom_op(f"anydml::{name}", operator, mutates_args=())

    @operator.register_fake
    def _(*inputs):
        kinds = list(dict.fromkeys(one.dtype for one in inputs))
        if len(kinds) > 1:
            raise TypeError(f"{name}: the tensors are of {kinds[0]} and {kinds[1]}; expected one type")
        return torch.empty(torch.broadcast_shapes(*(one.shape for one in inputs)), dtype=kinds[0],
                           device=inputs[0].device)

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    def gradients(ctx, grad):
        *inputs, output = ctx.saved_tensors
        found = tuple((grad if by is None else grad * by(*inputs, output)).sum_to_size(one.shape) if needed else None
                      for one, by, needed in zip(inputs, derivatives, ctx.needs_input_grad))
        return found if len(found) > 1 else found[0]

    operator.register_autograd(gradients, setup_context=keep)
    return operator


_operators = {name: _declare(name, derivatives) for name, derivatives in _DERIVATIVES.items() if hasattr(anydml, name)}
modulus_floor, modulus_truncate = _operators["modulus_floor"], _operators["modulus_truncate"]


def takes(inputs):
    """Whether a call belongs to PyTorch: something is differentiated."""
    return torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in inputs)


def call(name, inputs, absent, true, casting, order):
    """The operator over tensors; a number becomes a tensor of the other's type. No other argument is taken."""
    if (any(one is not None for one in absent) or any(one is not True for one in true) or casting != "same_kind"
            or order != "K"):
        expected = "x" if len(inputs) == 1 else "a and b"
        raise TypeError("tensors that require a gradient or are traced are taken without further arguments: expected "
                        f"{expected} alone")
    like = next(one for one in inputs if isinstance(one, torch.Tensor))
    return _operators[name](*(one if isinstance(one, torch.Tensor) else
                              torch.tensor(one, dtype=like.dtype, device=like.device) for one in inputs))


def hook():
    """From here on anydml's functions hand over what belongs to PyTorch."""
    _ufuncs.torch, _ufuncs.is_traced = sys.modules[__name__], torch.compiler.is_compiling


hook()
