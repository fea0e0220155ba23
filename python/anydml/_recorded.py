# SPDX-License-Identifier: MIT
"""Records NumPy's array functions over Symbols as operators. FUNCTIONS maps NumPy's own functions to the recording
functions, which have NumPy's parameters; Symbol has the methods of arrays.

_recorded_ufuncs.py describes the accepted types. Sums and means use the order that docs/numerics.md defines.
"""
import math
import operator

import numpy as np

from . import _assignments, _indices  # noqa: F401, these modules extend the table
from ._recorded_ufuncs import (absolute, add, converted, divide, equal, greater, is_finite, is_nan, is_number, less,
                               logical_or, multiply, multiply_matrices, operate, round_to_even, subtract, symbols, taken,
                               together, truths, view_as_bool, where)
from ._symbols import FUNCTIONS, Symbol, fresh, plain

_AxisError = getattr(np, "exceptions", np).AxisError


def _check_no_others(name, others):
    """Rejects NumPy parameters that graphs do not support: out, where, initial."""
    for key in others:
        raise TypeError(f"numpy.{name}: {key} cannot be given in a graph" +
                        (": a graph allocates its own results" if key == "out" else ""))


def _symbol(x, *others):
    """Converts an array to a Symbol in the same graph as a given operand."""
    if type(x) is Symbol:
        return x
    return next(one for one in others if type(one) is Symbol)._recorder.known(np.asarray(x))


def axis_of(axis, rank):
    index = operator.index(axis)
    if not -rank <= index < rank:
        raise _AxisError(index, rank)
    return index % rank


def axes_of(axis, rank):
    if axis is None:
        return list(range(rank))
    axes = [axis_of(one, rank) for one in (axis if isinstance(axis, (tuple, list)) else [axis])]
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return sorted(axes)


# ---- Reductions -----------------------------------------------------------------------------------------------------

def _reduced(x, axis, keepdims, reduce, of_nothing):
    """`reduce` reduces axes of a Symbol and keeps them with size 1; `of_nothing` is the result for an empty array."""
    axes = axes_of(axis, x.ndim)
    shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
    if any(x.shape[i] == 0 for i in axes):
        if of_nothing is None:
            raise ValueError("zero-size array to reduction operation which has no identity")
        result = x._recorder.known(np.full(shape, of_nothing, x.dtype))
    elif not axes and x.ndim:
        result = x
    else:
        result = reduce(x if x.ndim else x.reshape(1), axes or [0]).reshape(shape)
    return result if keepdims else result.reshape([size for i, size in enumerate(shape) if i not in axes])


def _by_reduce(function, of_nothing):
    def reduce(x, axis, keepdims):
        return _reduced(x, axis, keepdims, lambda one, axes: operate("REDUCE", one, Function=function, Axes=axes),
                        of_nothing)

    return reduce


_sum_of, _product_of = _by_reduce("SUM", 0), _by_reduce("MULTIPLY", 1)
_maximum_of, _minimum_of = _by_reduce("MAX", None), _by_reduce("MIN", None)
_average_of = _by_reduce("AVERAGE", np.nan)


def _summed(x, dtype):
    """Converts to the type in which NumPy adds: integers become 64-bit integers."""
    if dtype is None and x.dtype.kind in "biu":
        dtype = np.uint64 if x.dtype.kind == "u" else np.int64
    return x if dtype is None else x.astype(dtype, copy=False)


def sum(a, axis=None, dtype=None, *, keepdims=False, **others):
    _check_no_others("sum", others)
    return _sum_of(_summed(a, dtype), axis, keepdims)


def prod(a, axis=None, dtype=None, *, keepdims=False, **others):
    _check_no_others("prod", others)
    return _product_of(_summed(a, dtype), axis, keepdims)


def _averaged(x, dtype):
    """Converts to the type in which NumPy averages: integers become float64."""
    return x.astype(np.float64 if dtype is None and x.dtype.kind != "f" else x.dtype if dtype is None else dtype,
                    copy=False)


def mean(a, axis=None, dtype=None, *, keepdims=False, **others):
    _check_no_others("mean", others)
    return _average_of(_averaged(a, dtype), axis, keepdims)


def var(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None, **others):
    """The mean of the squared distances from the mean. The result of each operation is rounded."""
    _check_no_others("var", others)
    x = _averaged(a, dtype)
    distance = subtract(x, _average_of(x, axis, True))
    count = math.prod(x.shape[i] for i in axes_of(axis, x.ndim)) - (ddof if correction is None else correction)
    return divide(_sum_of(multiply(distance, distance), axis, keepdims), max(count, 0))


def std(a, axis=None, dtype=None, *, ddof=0, keepdims=False, correction=None, **others):
    _check_no_others("std", others)
    return operate("ELEMENT_WISE_SQRT", var(a, axis, dtype, ddof=ddof, keepdims=keepdims, correction=correction))


def _extreme(name, reduce):
    def function(a, axis=None, *, keepdims=False, **others):
        _check_no_others(name, others)
        return reduce(plain(a), axis, keepdims).view(a.dtype)

    return function


amax, amin = _extreme("max", _maximum_of), _extreme("min", _minimum_of)


def ptp(a, axis=None, *, keepdims=False, **others):
    return subtract(amax(a, axis, keepdims=keepdims, **others), amin(a, axis, keepdims=keepdims, **others))


def _index_of_extreme(name):
    def function(a, axis=None, *, keepdims=False, **others):
        _check_no_others(name, others)
        x = plain(a)
        shape = [1] * x.ndim
        if axis is None:
            x, axis = x.reshape(-1), 0
        else:
            axis = axis_of(axis, x.ndim)
            shape = [1 if i == axis else size for i, size in enumerate(x.shape)]
        if x.shape[axis] == 0:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        result = operate(name.upper(), x, dtype=np.int64, Axes=[axis], AxisDirection="INCREASING")
        return result.reshape(shape) if keepdims else result.reshape([n for i, n in enumerate(result.shape) if i != axis])

    return function


argmax, argmin = _index_of_extreme("argmax"), _index_of_extreme("argmin")


def _of_truths(name, function, of_nothing):
    reduce = _by_reduce(function, of_nothing)

    def over(a, axis=None, *, keepdims=False, **others):
        _check_no_others(name, others)
        return view_as_bool(reduce(plain(truths(a)), axis, keepdims))

    return over


all, any_ = _of_truths("all", "MIN", 1), _of_truths("any", "MAX", 0)


def count_nonzero(a, axis=None, *, keepdims=False):
    return sum(truths(a), axis, keepdims=keepdims)


def _cumulative(name, operator_, direction):
    def function(a, axis=None, dtype=None, **others):
        _check_no_others(name, others)
        x = _summed(a, dtype)
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))
        return operate(operator_, x, Axis=axis, AxisDirection="INCREASING", **{direction: False})

    return function


cumsum = _cumulative("cumsum", "CUMULATIVE_SUMMATION", "HasExclusiveSum")
cumprod = _cumulative("cumprod", "CUMULATIVE_PRODUCT", "HasExclusiveProduct")


# ---- Element by element ---------------------------------------------------------------------------------------------

def clip(a, a_min=None, a_max=None, *, min=None, max=None, **others):
    """Returns the bound if an element equals it, as NumPy does. This matters for -0 and +0."""
    _check_no_others("clip", others)
    low, high = (taken(one) if one is not None else None for one in (a_min if min is None else min,
                                                                     a_max if max is None else max))
    if low is None and high is None:
        return _symbol(a, low, high)
    a = _symbol(a, low, high)
    if a.dtype == bool:
        raise TypeError("numpy.clip of bool cannot be part of a graph; convert it with astype")
    kind = together(a, *(one for one in (low, high) if one is not None))[1]
    a, are_numbers = converted(a, kind), (low is None or is_number(low)) and (high is None or is_number(high))
    bounds = [one if one is None else converted(one, kind) for one in (low, high)]
    if are_numbers and (None in (low, high) or low <= high):
        is_float = kind.kind == "f"
        lowest, most = (-math.inf, math.inf) if is_float else (np.iinfo(kind).min, np.iinfo(kind).max)
        return operate("ELEMENT_WISE_CLIP1", a, Min=lowest if low is None else bounds[0].item(),
                       Max=most if high is None else bounds[1].item())
    for bound, compare in zip(bounds, (greater, less)):
        if bound is not None:
            keeps = compare(a, bound)
            a = where(logical_or(keeps, is_nan(a)) if kind.kind == "f" else keeps, a, bound)
    return a


def round_(a, decimals=0, **others):
    """Rounds to nearest, ties to even. With decimals, multiplies by a power of ten, rounds and divides, as NumPy does."""
    _check_no_others("round", others)
    decimals = operator.index(decimals)
    if a.dtype.kind in "iu":
        if decimals < 0:
            raise TypeError(f"numpy.round of {a.dtype} to {decimals} decimals cannot be part of a graph")
        return a
    if decimals == 0:
        return round_to_even(a)
    factor = float(10 ** abs(decimals))
    before, after = (multiply, divide) if decimals > 0 else (divide, multiply)
    return after(round_to_even(before(a, factor)), factor)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if x.dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    result = where(is_nan(x), nan, x)
    result = where(equal(x, math.inf), float(limits.max) if posinf is None else posinf, result)
    return where(equal(x, -math.inf), float(limits.min) if neginf is None else neginf, result)


def where_(condition, x=None, y=None):
    if x is None or y is None:
        raise TypeError("numpy.where with a condition alone has a number of results that is not known before the graph "
                        "runs; pass the values to choose between")
    return where(condition, x, y)


# ---- Arrangements ---------------------------------------------------------------------------------------------------

def concatenate(arrays, axis=0, *, dtype=None, **others):
    _check_no_others("concatenate", others)
    arrays = [_symbol(one, *arrays) for one in arrays]
    arrays = arrays if dtype is None else [one.astype(dtype) for one in arrays]
    if axis is None:
        arrays, axis = [one.reshape(-1) for one in arrays], 0
    axis = axis_of(axis, arrays[0].ndim)
    arrays = together(*arrays)[0]
    rest = {one.shape[:axis] + one.shape[axis + 1:] for one in arrays if one.ndim == arrays[0].ndim}
    if len(rest) > 1 or len({one.ndim for one in arrays}) > 1:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly: the shapes "
                         f"are {', '.join(str(one.shape) for one in arrays)}")
    full = [one for one in arrays if one.shape[axis]] or arrays[:1]
    if len(full) == 1:
        return full[0]
    return operate("JOIN", *map(plain, full), Axis=axis).view(arrays[0].dtype)


def stack(arrays, axis=0, *, dtype=None, **others):
    _check_no_others("stack", others)
    arrays = [_symbol(one, *arrays) for one in arrays]
    if len({one.shape for one in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concatenate([np.expand_dims(one, axis) for one in arrays], axis, dtype=dtype)


def hstack(tup, *, dtype=None, casting=None):
    arrays = [_at_least(one, 1, tup) for one in tup]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype=dtype)


def vstack(tup, *, dtype=None, casting=None):
    return concatenate([_at_least(one, 2, tup) for one in tup], 0, dtype=dtype)


def _at_least(x, rank, others):
    x = _symbol(x, *others)
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def roll(a, shift, axis=None):
    if axis is None:
        return roll(a.reshape(-1), shift, 0).reshape(a.shape)
    pairs = zip(np.broadcast_to(shift, np.shape(axis) or (1,)).tolist(), np.atleast_1d(axis).tolist())
    for one, position in pairs:
        position = axis_of(position, a.ndim)
        cut = a.shape[position] - one % a.shape[position] if a.shape[position] else 0
        parts = [(slice(None),) * position + (part,) for part in (slice(cut, None), slice(None, cut))]
        a = concatenate([a[parts[0]], a[parts[1]]], position)
    return a


def diff(a, n=1, axis=-1):
    axis = axis_of(axis, a.ndim)
    for _ in range(n):
        before = (slice(None),) * axis
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        a = truths(later) ^ earlier if a.dtype == bool else subtract(later, earlier)
    return a


def tile(A, reps):
    reps = [operator.index(one) for one in np.atleast_1d(reps)]
    rank = max(len(reps), A.ndim)
    x, reps = _at_least(A, rank, ()), [1] * (rank - len(reps)) + reps
    shape = [size * times for size, times in zip(x.shape, reps)]
    if 0 in shape or not rank:
        return x if not rank else x._recorder.known(np.zeros(shape, x.dtype))
    return operate("TILE", plain(x), Repeats=reps).view(x.dtype)


def repeat(a, repeats, axis=None):
    if np.ndim(repeats) != 0:
        raise TypeError("numpy.repeat with a number for each element cannot be part of a graph: pass one number, or "
                        "gather the elements by their indices")
    times = operator.index(repeats)
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axis_of(axis, a.ndim))
    rows = a.reshape(*a.shape[:axis + 1], 1, math.prod(a.shape[axis + 1:]))
    wide = np.broadcast_to(rows, (*a.shape[:axis + 1], times, rows.shape[-1]))
    return wide.reshape(*a.shape[:axis], a.shape[axis] * times, *a.shape[axis + 1:])


_PADDINGS = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "symmetric": "SYMMETRIC"}


def pad(array, pad_width, mode="constant", *, constant_values=0, **others):
    if mode not in _PADDINGS or np.ndim(constant_values) != 0:
        raise TypeError(f"numpy.pad with mode={mode!r} and constant_values={constant_values!r} cannot be part of a graph; "
                        f"expected {', '.join(_PADDINGS)} and one number")
    _check_no_others("pad", {key: one for key, one in others.items() if (key, one) != ("reflect_type", "even")})
    if isinstance(pad_width, dict):
        widths = [pad_width.get(i, pad_width.get(i - array.ndim, 0)) for i in range(array.ndim)]
        widths = [(one, one) if np.ndim(one) == 0 else one for one in widths]
    else:
        widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    short = mode == "reflect"
    for (before, after), size in zip(widths, array.shape):
        if mode in ("reflect", "symmetric") and max(before, after) > size - short:
            raise ValueError(f"numpy.pad: a width is {max(before, after)} in a dimension of size {size}; expected at most "
                             f"{size - short} for mode={mode!r} in a graph")
    value = constant_values if is_number(constant_values) else np.asarray(constant_values).item()
    x = plain(array)
    return operate("PADDING1", x, PaddingMode=_PADDINGS[mode], PaddingValue=converted(value, x.dtype).item(),
                   StartPadding=[one for one, _ in widths], EndPadding=[one for _, one in widths]).view(array.dtype)


def _triangle(of_upper):
    def function(m, k=0):
        if m.ndim < 2:
            raise TypeError(f"numpy.{'triu' if of_upper else 'tril'} of an array with {m.ndim} dimensions cannot be part of a "
                            "graph; expected two or more")
        keep = np.tri(*m.shape[-2:], k - of_upper, bool)
        return where(~keep if of_upper else keep, m, False if m.dtype == bool else 0)

    return function


# ---- Products -------------------------------------------------------------------------------------------------------

def dot(a, b, **others):
    _check_no_others("dot", others)
    a, b = (one if type(one) is Symbol else np.asarray(one) for one in (a, b))  # numbers keep their own type
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    if b.ndim > 2:
        raise TypeError(f"numpy.dot with an array of {b.ndim} dimensions on the right cannot be part of a graph; use matmul")
    return multiply_matrices(a, b)


def outer(a, b, **others):
    _check_no_others("outer", others)
    a, b = _symbol(a, a, b).reshape(-1, 1), _symbol(b, a, b).reshape(1, -1)
    return multiply(a, b)


# ---- The table ------------------------------------------------------------------------------------------------------

def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Returns a symbol, because the function may later assign values of the graph to its elements."""
    return a._recorder.known(np.full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype))


def _filled(value):
    return lambda a, dtype=None, order="K", subok=True, shape=None, *, device=None: full_like(a, value, dtype, shape=shape)


def average(a, axis=None, weights=None, **others):
    if weights is not None:
        raise TypeError("numpy.average with weights cannot be part of a graph; write (x * w).sum() / w.sum()")
    _check_no_others("average", {key: one for key, one in others.items() if key != "keepdims" and one})
    return mean(a, axis, keepdims=bool(others.get("keepdims", False)))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Evaluates NumPy's formula in the type of the operands."""
    (a, b), kind = symbols(a, b)
    if kind.kind != "f":
        raise TypeError(f"numpy.isclose of {kind} computes in float64 in NumPy; convert the operands with astype('float32')")
    near = (absolute(subtract(a, b)) <= add(multiply(absolute(b), rtol), atol)) & is_finite(b)
    near = logical_or(near, equal(a, b))
    return logical_or(near, is_nan(a) & is_nan(b)) if equal_nan else near


FUNCTIONS.update({
    np.sum: sum, np.prod: prod, np.mean: mean, np.average: average, np.var: var, np.std: std, np.max: amax,
    np.min: amin, np.amax: amax, np.amin: amin, np.ptp: ptp, np.argmax: argmax, np.argmin: argmin, np.all: all,
    np.any: any_, np.count_nonzero: count_nonzero, np.cumsum: cumsum, np.cumprod: cumprod, np.clip: clip,
    np.round: round_, np.around: round_, np.nan_to_num: nan_to_num, np.isclose: isclose, np.where: where_, np.concatenate: concatenate,
    np.stack: stack, np.hstack: hstack, np.vstack: vstack, np.roll: roll, np.diff: diff, np.tile: tile,
    np.repeat: repeat, np.pad: pad, np.triu: _triangle(True), np.tril: _triangle(False), np.dot: dot, np.outer: outer,
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis], np.copy: lambda a, *_, **__: a,
    np.zeros_like: _filled(0), np.ones_like: _filled(1), np.empty_like: _filled(0), np.full_like: full_like})
if hasattr(np, "astype"):  # since NumPy 2.1
    FUNCTIONS[np.astype] = lambda x, dtype, /, *, copy=True, device=None: x.astype(dtype)


def _method(function, name):
    def method(self, *arguments, **options):
        return fresh(function(self, *arguments, **options), (self,))

    method.__name__, method.__qualname__ = name, f"Symbol.{name}"
    method.__doc__ = f"Records numpy.{name}."
    return method


for _name in ("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "all", "any", "cumsum", "cumprod",
              "clip", "round", "repeat", "take", "dot"):
    setattr(Symbol, _name, _method(FUNCTIONS[getattr(np, _name)], _name))
