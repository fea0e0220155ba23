# SPDX-License-Identifier: MIT
"""Records numpy.sort, numpy.argsort and numpy.median as TOP_K1, and logarithms and exponentials that have no operator.

TOP_K1 sorts as NumPy does: a NaN comes last, and equal elements stay in their order.
"""
import math

import numpy as np

from . import _recorded
from ._recorded_ufuncs import (as_floats, divide, equal, is_nan, less, logical_or, multiply, operate, subtract,
                               where)
from ._symbols import FUNCTIONS, REFUSED, UFUNCS, Symbol, changed, plain


# ---- Order ----------------------------------------------------------------------------------------------------------

def _ordered(x, axis, name, order=None, kind=None, stable=None):
    """Returns the sorted elements and their indices."""
    if order is not None:
        raise TypeError(f"numpy.{name}: order cannot be given in a graph; it is for arrays with fields")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, _recorded.axis_of(axis, x.ndim))
    if x.size == 0 or x.ndim == 0:
        return x, x._recorder.known(np.zeros(x.shape, np.int64))
    result, indices = operate("TOP_K1", plain(x), Axis=axis, K=x.shape[axis], AxisDirection="INCREASING")
    return result.view(x.dtype), indices


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    """numpy.sort. Every kind is stable here."""
    return _ordered(a, axis, "sort", order)[0]


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    """numpy.argsort. Every kind is stable here: among equal elements, the one with the lower index comes first."""
    return _ordered(a, axis, "argsort", order)[1].astype(np.int64, copy=False)


def _sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """Records numpy.ndarray.sort."""
    self._own()
    changed(self, sort(self, axis, kind, order), "sort")


def _argsort(self, axis=-1, kind=None, order=None, *, stable=None):
    """Records numpy.argsort."""
    return argsort(self, axis, kind, order, stable=stable)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """numpy.median: the mean of the one or two elements in the middle, or NaN if an element is NaN."""
    if out is not None:
        raise TypeError("numpy.median: out cannot be given in a graph: a graph allocates its own results")
    axes = _recorded.axes_of(axis, a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    rows = a.transpose([*rest, *axes]).reshape(*(a.shape[i] for i in rest), -1)
    count = rows.shape[-1]
    if count == 0:
        raise ValueError("numpy.median of no elements cannot be part of a graph")
    if rows.dtype == bool:
        raise TypeError("numpy.median of bool cannot be part of a graph; convert it with astype")
    in_order = sort(rows)
    result = _recorded.mean(in_order[..., (count - 1) // 2:count // 2 + 1], -1)
    if a.dtype.kind == "f":
        last = in_order[..., -1]
        result = where(is_nan(last), last, result)
    return result.reshape([1 if i in axes else size for i, size in enumerate(a.shape)]) if keepdims else result


# ---- Logarithms and exponentials ------------------------------------------------------------------------------------

def _in_double(function, name):
    """Wraps a formula that combines correctly rounded float32 operators in float64 arithmetic, and returns float32.
    float16 is computed in float32."""
    def over(x):
        x = as_floats(f"numpy.{name}", x)
        return function(x.astype(np.float32, copy=False)).astype(x.dtype, copy=False)

    return over


def _rounded(result):
    return result.astype(np.float32)


def _log1p(x):
    """log(u) * (x / (u - 1)), where u is 1 + x rounded: the factor corrects the error of the sum."""
    sum_ = 1 + x
    log = operate("ELEMENT_WISE_LOG", sum_)
    result = _rounded(multiply(log.astype(np.float64), divide(x.astype(np.float64), subtract(sum_.astype(np.float64), 1))))
    return where(equal(sum_, 1), x, where(equal(sum_, math.inf), x, where(equal(sum_, 0), log, result)))


def _expm1(x):
    """(u - 1) * (x / log(u)), where u is exp(x) rounded: the factor corrects the error of the exponential. Below -1 the
    difference itself is accurate enough."""
    whole = operate("ELEMENT_WISE_EXP", x)
    log, less_one = operate("ELEMENT_WISE_LOG", whole), subtract(whole.astype(np.float64), 1)
    result = _rounded(multiply(less_one, divide(x.astype(np.float64), log.astype(np.float64))))
    result = where(logical_or(less(x, -1), equal(whole, math.inf)), _rounded(less_one), result)
    return where(equal(whole, 1), x, result)


def _log10(x):
    return _rounded(multiply(operate("ELEMENT_WISE_LOG", x).astype(np.float64), 1 / math.log(10)))


UFUNCS.update({getattr(np, name): _in_double(function, name) for name, function in
               (("log1p", _log1p), ("expm1", _expm1), ("log10", _log10))})
FUNCTIONS.update({np.sort: sort, np.argsort: argsort, np.median: median})
Symbol.sort = _sort_in_place
Symbol.argsort = _argsort
REFUSED.update({
    "percentile": "numpy.sort can: the elements of a sorted value are at known positions",
    "quantile": "numpy.sort can: the elements of a sorted value are at known positions",
    "nanmedian": "numpy.median can, which is NaN if an element is NaN",
    "unique": "the number of its results is not known before the graph runs: numpy.sort can",
    "nonzero": "the number of its results is not known before the graph runs: numpy.where(mask, x, 0) chooses between elements",
    "log2": "write numpy.log(x) / numpy.float32(numpy.log(2)), which is less exact at powers of two",
    "searchsorted": "write (table <= x[..., None]).sum(-1) for a sorted table",
    "nanmean": "write numpy.where(numpy.isnan(x), 0, x).sum() / (~numpy.isnan(x)).sum()",
    "nansum": "write numpy.where(numpy.isnan(x), 0, x).sum()",
    "hypot": "write numpy.sqrt(x * x + y * y), which overflows for large elements",
    "cbrt": "write numpy.copysign(numpy.abs(x) ** (1 / 3), x), which is less exact",
    "add.reduce": "write x.sum(axis)", "multiply.reduce": "write x.prod(axis)", "maximum.reduce": "write x.max(axis)",
    "minimum.reduce": "write x.min(axis)", "add.accumulate": "write numpy.cumsum(x, axis)"})
