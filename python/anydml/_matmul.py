# SPDX-License-Identifier: MIT
"""`matmul`: GEMM under NumPy's name."""
import numpy as _np

from . import _core
from ._dispatch import refuse_masks as _refuse_masks
from ._habits import run as _run
from ._matrices import PLAIN as _PLAIN, check_floats as _check_floats, multiplied as _multiplied
from ._messages import named as _named


def matmul(a, b, /, out=None, *, device=None):
    """The matrix product of ``a`` and ``b``, with the shapes of ``numpy.matmul``, computed by DirectML's GEMM.

    One-dimensional operands are vectors; dimensions before the last two are broadcast. The types are float32, float64,
    and float16, which is computed in float32 and rounded once. Sums use a fixed order, which docs/numerics.md defines,
    so the bits are the same on every machine. `graph` records ``x @ y`` and ``numpy.matmul`` as this function.

    >>> import numpy as np, anydml
    >>> a = np.float32([[1, 2], [3, 4]])
    >>> anydml.matmul(a, np.float32([10, 1]))
    array([12., 34.], dtype=float32)
    >>> anydml.matmul(a, np.ones((5, 2, 3), np.float32)).shape
    (5, 2, 3)
    """
    return _matmul(a, b, out, device)


@_named("matmul")
def _slow_path(a, b, out, device):
    for name, x in (("a", a), ("b", b)):
        if x is None:
            raise TypeError(f"matmul: {name} is None; expected an array")
        _refuse_masks("matmul", x)
    a, b = (x if hasattr(x, "reshape") else _np.asarray(x) for x in (a, b))
    _check_floats(a, b)
    if out is None:
        result = _multiplied(a, b, lambda left, right, shape: _run("GEMM", left, right, None, shape=shape, device=device,
                                                                 **_PLAIN))
        return result[()] if isinstance(result, _np.ndarray) and result.ndim == 0 else result  # NumPy scalars
    seen = out[..., None, :] if a.ndim == 1 and b.ndim > 1 else out[None, None] if a.ndim == 1 else out
    seen = seen[..., None] if b.ndim == 1 and a.ndim > 1 else seen

    def multiply(left, right, shape):
        if tuple(seen.shape) != tuple(shape):
            raise ValueError(f"matmul: out has the shape {list(out.shape)}, which does not fit the product")
        return _run("GEMM", left, right, None, out=seen, device=device, **_PLAIN)

    _multiplied(a, b, multiply)
    return out


# The product of two matrices is a single GEMM, so calls with a known form run immediately.
_matmul = _core.make_fast_operator("GEMM", 2, None, (), 0, ("out", "device"), [], _slow_path, _PLAIN)
