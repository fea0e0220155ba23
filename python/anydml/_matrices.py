# SPDX-License-Identifier: MIT
"""Matrix products with the shapes of numpy.matmul, for NumPy arrays, symbols and arrays from other libraries."""
import numpy as _np

PLAIN = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}  # the attributes of a plain product


def _repeated(array, shape):
    if tuple(array.shape) == shape:
        return array
    if shape[:len(shape) - array.ndim] == (1,) * (len(shape) - array.ndim) and tuple(array.shape) == shape[-array.ndim:]:
        return array.reshape(shape)  # this is much faster than broadcasting
    own = getattr(array, "broadcast_to", None)  # PyTorch tensors have this method
    return own(shape) if own else _np.broadcast_to(array, shape)


def multiplied(a, b, multiply):
    """Multiplies the matrices in the last two dimensions. A vector is treated as a row of A or a column of B, and the
    result does not have the added dimension. `multiply` accepts matrices with equal leading dimensions, and the
    shape."""
    if a.ndim == b.ndim > 1 and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2]:
        return multiply(a, b, (*a.shape[:-1], b.shape[-1]))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(f"matmul: {'a' if a.ndim == 0 else 'b'} has no dimensions; expected a matrix or a vector")
    left = a.reshape(1, -1) if a.ndim == 1 else a
    right = b.reshape(-1, 1) if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"matmul: a has the shape {tuple(a.shape)} and b {tuple(b.shape)}; expected {left.shape[-1]} "
                         "rows of b, as many as a has columns")
    batch = _np.broadcast_shapes(tuple(left.shape[:-2]), tuple(right.shape[:-2]))
    left, right = (_repeated(x, (*batch, *x.shape[-2:])) for x in (left, right))
    result = multiply(left, right, (*batch, left.shape[-2], right.shape[-1]))
    if a.ndim > 1 and b.ndim > 1:
        return result
    rows, columns = ([] if x.ndim == 1 else [size] for x, size in zip((a, b), result.shape[-2:]))
    return result.reshape([*batch, *rows, *columns])


def check_floats(*arrays):
    """Checks that the types are floats, because GEMM supports only floats. The error suggests an alternative."""
    for name, array in zip("ab", arrays):
        kind = str(array.dtype).removeprefix("torch.")
        if kind not in ("float16", "float32", "float64", "bfloat16"):
            instead = ("; anydml.matrix_multiply_integer accepts int8 and uint8 and returns int32" if "int" in kind else
                       "; convert it with astype('float32')")
            raise TypeError(f"matmul: {name} is {kind}; expected float16, float32 or float64{instead}")
