# SPDX-License-Identifier: MIT
"""Records numpy.einsum and the other sums of products over Symbols, and norms.

A sum of products of two float16 or float32 operands is a matrix product, computed in the order that docs/numerics.md
defines. For other types it is an element-wise product followed by a sum.
"""
import math

import numpy as np

from . import _recorded
from ._recorded_ufuncs import absolute, differ, multiply, multiply_matrices, operate, power, symbols
from ._symbols import FUNCTIONS, Symbol

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


# ---- Sums of products -----------------------------------------------------------------------------------------------

def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """numpy.einsum. Operands are multiplied from left to right."""
    if out is not None:
        raise TypeError("numpy.einsum: out cannot be given in a graph: a graph allocates its own results")
    inputs, result, arrays = _parsed(operands)
    if dtype is not None:
        arrays = [one.astype(dtype) for one in arrays]
    arrays, kind = symbols(*arrays)
    if kind == bool:
        raise TypeError("numpy.einsum of bool cannot be part of a graph; convert the operands with astype")
    total, names = _diagonal(arrays[0], inputs[0])
    for i in range(1, len(arrays)):
        other, its = _diagonal(arrays[i], inputs[i])
        later = set(result).union(*inputs[i + 1:])
        _check_sizes(total, names, other, its)
        total, names = _pair(total, names, other, its, later)
    total, names = _summed_over(total, names, set(result))
    return total.transpose([names.index(one) for one in result])


def _parsed(operands):
    """Returns the names of the dimensions of each operand and of the result, and the operands. Dimensions that "..."
    stands for have numbers as names."""
    if not isinstance(operands[0], str):  # operands alternate with lists of numbers
        lists = operands[1::2] if len(operands) % 2 == 0 else (*operands[1:-1:2], operands[-1])
        words = ["".join("..." if one is Ellipsis else _LETTERS[one] for one in numbers) for numbers in lists]
        arrays = operands[:-1:2] if len(operands) % 2 else operands[::2]
        text = ",".join(words[:len(arrays)]) + ("->" + words[-1] if len(words) > len(arrays) else "")
    else:
        text, arrays = operands[0].replace(" ", ""), operands[1:]
    arrays = [one if type(one) is Symbol else np.asarray(one) for one in arrays]
    given, arrow, result = text.partition("->")
    words = given.split(",")
    if len(words) != len(arrays):
        raise ValueError(f"numpy.einsum: {text!r} names {len(words)} operands; expected {len(arrays)}")
    inputs = []
    for word, array in zip(words, arrays):
        before, dots, behind = word.partition("...")
        more = array.ndim - len(before) - len(behind)
        if more < 0 or (more > 0 and not dots) or not set(before + behind) <= set(_LETTERS):
            raise ValueError(f"numpy.einsum: {word!r} does not fit an operand of the shape {array.shape}")
        inputs.append([*before, *range(-more, 0), *behind])
    shared = sorted({one for names in inputs for one in names if isinstance(one, int)})
    if arrow:
        before, dots, behind = result.partition("...")
        names = [*before, *(shared if dots else []), *behind]
    else:
        letters = "".join(words).replace(".", "")
        names = [*shared, *sorted(one for one in set(letters) if letters.count(one) == 1)]
    known = {one for names in inputs for one in names}
    if len(set(names)) != len(names) or not set(names) <= known or (arrow and not dots and shared):
        raise ValueError(f"numpy.einsum: the result of {text!r} repeats a name, has an unknown one, or lacks '...'")
    return inputs, names, arrays


def _check_sizes(a, names, b, others):
    sizes = dict(zip(names, a.shape))
    for name, size in zip(others, b.shape):
        if name in sizes and sizes[name] != size and 1 not in (sizes[name], size):
            raise ValueError(f"numpy.einsum: the operands have the sizes {sizes[name]} and {size} in the dimension {name!r}")


def _diagonal(x, names):
    """Replaces dimensions that have the same name with their diagonal."""
    names = list(names)
    while len(set(names)) < len(names):
        name = next(one for one in names if names.count(one) > 1)
        first = names.index(name)
        second = names.index(name, first + 1)
        if x.shape[first] != x.shape[second]:
            raise ValueError(f"numpy.einsum: an operand has the sizes {x.shape[first]} and {x.shape[second]} in the dimension "
                             f"{name!r}")
        x = np.diagonal(x, axis1=first, axis2=second)
        names = [one for i, one in enumerate(names) if i not in (first, second)] + [name]
    return x, names


def _summed_over(x, names, kept):
    """Sums over the dimensions that are no longer needed. The sum has the type of the elements, as in numpy.einsum."""
    axes = tuple(i for i, one in enumerate(names) if one not in kept)
    return (_recorded.sum(x, axes, dtype=x.dtype) if axes else x), [one for one in names if one in kept]


def _pair(a, names, b, others, kept):
    """Multiplies two operands, and sums over the dimensions that are not kept."""
    a, names = _summed_over(a, names, kept | set(others))
    b, others = _summed_over(b, others, kept | set(names))
    sizes = {**dict(zip(names, a.shape)), **{name: size for name, size in zip(others, b.shape) if size != 1}}
    both = [one for one in names if one in others]
    batch, gone = [one for one in both if one in kept], [one for one in both if one not in kept]
    left, right = [one for one in names if one not in both], [one for one in others if one not in both]
    for name, size in zip(others, b.shape):
        sizes.setdefault(name, size)
    order = [*batch, *left, *right]
    if not gone or a.dtype.char not in "ef" or 0 in sizes.values():
        every = [*order, *gone]
        wide = [x.transpose(sorted(range(x.ndim), key=lambda i: every.index(its[i]))).reshape(
            [x.shape[its.index(one)] if one in its else 1 for one in every]) for x, its in ((a, names), (b, others))]
        return _summed_over(multiply(*wide), every, set(order))

    def matrices(x, its, rows, columns):
        wide = np.broadcast_to(x, [sizes[one] if one in both else size for one, size in zip(its, x.shape)])
        moved = wide.transpose([its.index(one) for one in (*batch, *rows, *columns)])
        return moved.reshape(math.prod(sizes[one] for one in batch), *(math.prod(sizes[one] for one in part)
                                                                       for part in (rows, columns)))

    built = multiply_matrices(matrices(a, names, left, gone), matrices(b, others, gone, right))
    return built.reshape([sizes[one] for one in order]), order


def tensordot(a, b, axes=2):
    """numpy.tensordot."""
    a, b = symbols(*(one if type(one) is Symbol else np.asarray(one) for one in (a, b)))[0]
    if np.ndim(axes) == 0:
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    first, second = ([axis % x.ndim for axis in np.atleast_1d(list(one) if isinstance(one, range) else one).tolist()]
                     for x, one in zip((a, b), axes))
    if len(first) != len(second) or [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ValueError("shape-mismatch for sum")
    names = list(range(a.ndim))
    others = [first[second.index(i)] if i in second else a.ndim + i for i in range(b.ndim)]
    return einsum(a, names, b, others, [one for one in names if one not in first] + [one for one in others if one >= a.ndim])


def inner(a, b):
    """numpy.inner."""
    a, b = symbols(*(one if type(one) is Symbol else np.asarray(one) for one in (a, b)))[0]
    return multiply(a, b) if 0 in (a.ndim, b.ndim) else tensordot(a, b, (-1, -1))


def vdot(a, b):
    """numpy.vdot for real numbers."""
    a, b = symbols(*(one if type(one) is Symbol else np.asarray(one) for one in (a, b)))[0]
    return inner(a.reshape(-1), b.reshape(-1))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, **others):
    """numpy.trace."""
    return np.diagonal(a, offset, axis1, axis2).sum(-1, dtype=dtype, **others)


def _trace(self, offset=0, axis1=0, axis2=1, dtype=None):
    """Records numpy.trace."""
    return trace(self, offset, axis1, axis2, dtype)


# ---- Norms ----------------------------------------------------------------------------------------------------------

def norm(x, ord=None, axis=None, keepdims=False):
    """numpy.linalg.norm for vectors, and for those matrix norms that need no singular values."""
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    if axis is None and ord is None:
        axes = tuple(range(x.ndim))
    else:
        axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        if len(axes) not in (1, 2):
            raise ValueError("Improper number of dimensions to norm.")
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return operate("ELEMENT_WISE_SQRT", _recorded.sum(multiply(x, x), axes, keepdims=keepdims))
    sizes = absolute(x)
    extremes = {math.inf: _recorded.amax, -math.inf: _recorded.amin}
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order '{ord}' for vectors")
        if ord in extremes:
            return extremes[ord](sizes, axes, keepdims=keepdims)
        if ord == 0:
            return _recorded.sum(differ(x, 0), axes, dtype=x.dtype, keepdims=keepdims)
        if ord == 1:
            return _recorded.sum(sizes, axes, keepdims=keepdims)
        return power(_recorded.sum(power(sizes, float(ord)), axes, keepdims=keepdims), 1 / float(ord))
    if ord not in (1, -1, math.inf, -math.inf):
        raise TypeError(f"numpy.linalg.norm of matrices with ord={ord!r} needs singular values and cannot be part of a graph; "
                        "expected None, 'fro', 1, -1, inf or -inf")
    rows, columns = (one % x.ndim for one in axes)
    along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    built = extremes[math.copysign(math.inf, ord)](_recorded.sum(sizes, along, keepdims=True), over, keepdims=True)
    return built if keepdims else built.reshape([n for i, n in enumerate(built.shape) if i not in (rows, columns)])


FUNCTIONS.update({np.einsum: einsum, np.tensordot: tensordot, np.inner: inner, np.vdot: vdot, np.trace: trace,
                  np.linalg.norm: norm})
Symbol.trace = _trace
