# SPDX-License-Identifier: MIT
"""NumPy's functions, implemented with DirectML's operators, with NumPy's names, parameters, types and shapes."""
import numpy as _np

from . import _operators as _ops
from ._arguments import is_numpys as _is_numpys
from ._call import dtype_of as _dtype_of
from ._messages import named as _named
from ._symbols import Symbol as _Symbol

NAMES = ["concat", "concatenate", "cumprod", "cumsum", "equal", "greater", "greater_equal", "isinf", "isnan", "less",
         "less_equal", "maximum", "mean", "minimum", "not_equal", "prod", "where"]
SHADOWING = ["max", "min", "sum"]  # names of Python builtins: never imported by import *


# In a graph, NumPy's own functions on Symbols record these functions, so that a function means the same either way.
_OF_SYMBOLS = {"SUM": _np.sum, "MULTIPLY": _np.prod, "AVERAGE": _np.mean, "MAX": _np.max, "MIN": _np.min}


def _number(result):
    """Returns a scalar for a result without dimensions, as NumPy does."""
    return result[()] if isinstance(result, _np.ndarray) and result.ndim == 0 else result


def _promoted(*operands):
    """Promotes arrays to NumPy's common type. Arrays from other libraries stay unchanged."""
    if not all(map(_is_numpys, operands)):
        return operands
    arrays = [one if type(one) in (int, float) else _np.asanyarray(one) for one in operands]
    kind = _np.result_type(*arrays)
    return [one if isinstance(one, _np.ndarray) and one.dtype == kind else _np.asanyarray(one, kind) for one in arrays]


def _truths(result):
    """Converts to bool: comparisons return UINT8 in DirectML, and bool in NumPy."""
    if isinstance(result, _np.ndarray):
        return _number(result.view(bool))
    if isinstance(result, _Symbol):
        return result.view(bool)
    return result.astype(bool) if hasattr(result, "astype") else result.bool() if hasattr(result, "bool") else result


def _reduced(a, function, axis, kind, out, keepdims):
    if isinstance(a, _Symbol) and out is None:
        return _OF_SYMBOLS[function](a, axis=axis, keepdims=keepdims, **({} if kind is None else {"dtype": kind}))
    a = _np.asanyarray(a) if _is_numpys(a) or isinstance(a, str) else a
    if isinstance(a, _np.ndarray) and a.size == 0 and function in ("SUM", "MULTIPLY", "AVERAGE"):
        # REDUCE does not accept axes of size 0.
        return _OF_SYMBOLS[function](a, axis=axis, dtype=kind, out=out, keepdims=keepdims)
    is_truth = a is not None and _type_of(a) == bool
    if is_truth:
        a = a.view(_np.uint8) if isinstance(a, _np.ndarray) else a.byte() if hasattr(a, "byte") else a
    if kind is not None and a is not None and _type_of(a) != kind:
        a = _ops.cast(a, dtype=kind)
    result = _ops.reduce(a, function=function, axis=axis, keepdims=bool(keepdims), out=out)
    return _truths(result) if is_truth and kind is None and out is None else result


def _type_of(a):
    """Returns NumPy's type for the elements, including those of PyTorch's tensors, or None if NumPy lacks the type."""
    kind = _np.asarray(a).dtype if _is_numpys(a) else getattr(a, "dtype", None)
    try:
        kind = _dtype_of(kind)
    except TypeError:
        return None
    return kind if isinstance(kind, _np.dtype) else None


def _wide(a, dtype):
    """Converts to the type in which NumPy adds and multiplies: integers become 64-bit integers."""
    kind = _type_of(a)
    if dtype is not None or kind is None or kind.kind not in "biu" or kind.itemsize == 8:
        return dtype
    return _np.uint64 if kind.kind == "u" else _np.int64


@_named
def sum(a, axis=None, dtype=None, out=None, keepdims=False):
    """The sum over axes, like ``numpy.sum``, computed by DirectML's REDUCE.

    Integers are added as 64-bit integers. Sums of floats are correctly rounded or use a fixed order, as
    docs/numerics.md defines for REDUCE, so they may differ from NumPy's in the last bits. ``initial`` and ``where`` are
    not supported.

    >>> import numpy as np, anydml
    >>> anydml.sum(np.float32([[1, 2], [3, 4]]), axis=-1)
    array([3., 7.], dtype=float32)
    """
    return _reduced(a, "SUM", axis, _wide(a, dtype), out, keepdims)


@_named
def prod(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes, like ``numpy.prod``, computed by DirectML's REDUCE. Everything else is as in `sum`.

    >>> import numpy as np, anydml
    >>> anydml.prod(np.float32([[1, 2], [3, 4]]), axis=0)
    array([3., 8.], dtype=float32)
    """
    return _reduced(a, "MULTIPLY", axis, _wide(a, dtype), out, keepdims)


@_named
def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean over axes, like ``numpy.mean``, computed by DirectML's REDUCE. Integers are first converted to float64.

    >>> import numpy as np, anydml
    >>> anydml.mean(np.float32([[1, 2], [3, 4]]), axis=(0, 1), keepdims=True)
    array([[2.5]], dtype=float32)
    """
    kind = _type_of(a)
    if dtype is None and kind is not None and kind.kind in "biu":
        dtype = _np.float64
    return _reduced(a, "AVERAGE", axis, dtype, out, keepdims)


@_named
def max(a, axis=None, out=None, keepdims=False):
    """The maximum over axes, like ``numpy.max``, computed by DirectML's REDUCE; NaN wins. See also `maximum`.

    >>> import numpy as np, anydml
    >>> anydml.max(np.float32([[1, 2], [3, 4]]), axis=1)
    array([2., 4.], dtype=float32)
    """
    return _reduced(a, "MAX", axis, None, out, keepdims)


@_named
def min(a, axis=None, out=None, keepdims=False):
    """The minimum over axes, like ``numpy.min``, computed by DirectML's REDUCE; NaN wins. See also `minimum`.

    >>> import numpy as np, anydml
    >>> anydml.min(np.float32([[1, 2], [3, 4]]), axis=1)
    array([1., 3.], dtype=float32)
    """
    return _reduced(a, "MIN", axis, None, out, keepdims)


def _running(operator, a, axis, dtype, out):
    a = _np.asanyarray(a) if _is_numpys(a) or isinstance(a, str) else a
    if isinstance(a, _Symbol) and out is None:
        theirs = _np.cumsum if operator is _ops.cumulative_summation else _np.cumprod
        return theirs(a, axis=axis, **({} if dtype is None else {"dtype": dtype}))
    kind = _wide(a, dtype)
    if kind is not None and _type_of(a) == bool and hasattr(a, "byte"):
        a = a.byte()
    if kind is not None and _type_of(a) != kind:
        a = _ops.cast(a, dtype=kind)
    if a is not None and a.ndim == 0 and axis not in (None, 0, -1):
        raise getattr(_np, "exceptions", _np).AxisError(axis, 0)
    if a is not None and (axis is None or a.ndim == 0):
        a, axis = (a if hasattr(a, "reshape") else _np.asarray(a)).reshape(-1), 0
    return operator(a, axis=0 if axis is None else axis, out=out)


@_named
def cumsum(a, axis=None, dtype=None, out=None):
    """The running sum along an axis, like ``numpy.cumsum``, computed by DirectML's CUMULATIVE_SUMMATION.

    Without an axis, the array is flattened first.

    >>> import numpy as np, anydml
    >>> anydml.cumsum(np.float32([[1, 2], [3, 4]]))
    array([ 1.,  3.,  6., 10.], dtype=float32)
    """
    return _running(_ops.cumulative_summation, a, axis, dtype, out)


@_named
def cumprod(a, axis=None, dtype=None, out=None):
    """The running product along an axis, like ``numpy.cumprod``, computed by DirectML's CUMULATIVE_PRODUCT.

    Without an axis, the array is flattened first.

    >>> import numpy as np, anydml
    >>> anydml.cumprod(np.float32([[1, 2], [3, 4]]), axis=1)
    array([[ 1.,  2.],
           [ 3., 12.]], dtype=float32)
    """
    return _running(_ops.cumulative_product, a, axis, dtype, out)


@_named
def maximum(a, b, /, out=None):
    """The larger of two elements, like ``numpy.maximum``, computed by DirectML's ELEMENT_WISE_MAX; a NaN wins.

    >>> import numpy as np, anydml
    >>> anydml.maximum(np.float32([-1, 2]), 0)
    array([0., 2.], dtype=float32)
    """
    if _Symbol in (type(a), type(b)) and out is None:
        return _np.maximum(a, b)
    return _number(_ops.element_wise_max(*_promoted(a, b), out=out))


@_named
def minimum(a, b, /, out=None):
    """The smaller of two elements, like ``numpy.minimum``, computed by DirectML's ELEMENT_WISE_MIN; a NaN wins.

    >>> import numpy as np, anydml
    >>> anydml.minimum(np.float32([-1, 2]), 0)
    array([-1.,  0.], dtype=float32)
    """
    if _Symbol in (type(a), type(b)) and out is None:
        return _np.minimum(a, b)
    return _number(_ops.element_wise_min(*_promoted(a, b), out=out))


@_named
def where(condition, x, y, /):
    """The elements of x where the condition is true, and of y elsewhere, like ``numpy.where``, computed by DirectML's
    ELEMENT_WISE_IF. With only a condition, use `nonzero_coordinates`.

    >>> import numpy as np, anydml
    >>> a = np.float32([-1, 2])
    >>> anydml.where(a > 0, a, 0)
    array([0., 2.], dtype=float32)
    """
    if _Symbol in (type(condition), type(x), type(y)):
        return _np.where(condition, x, y)
    if _is_numpys(condition):
        condition = _np.asanyarray(condition)
        condition = condition if condition.dtype in (bool, _np.uint8) else condition != 0
    return _ops.element_wise_if(condition, *_promoted(x, y))


def _joined(arrays, axis, out):
    arrays = _promoted(*arrays)
    if axis is None:
        arrays, axis = [(one if hasattr(one, "reshape") else _np.asarray(one)).reshape(-1) for one in arrays], 0
    return _ops.join(arrays, axis=axis, out=out)


@_named
def concat(arrays, /, axis=0, out=None):
    """Joins arrays along an axis, like ``numpy.concat``, with DirectML's JOIN. If the axis is None, arrays are flattened first.

    >>> import numpy as np, anydml
    >>> anydml.concat([np.float32([[1], [2]]), np.float32([[3], [4]])], axis=-1)
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    return _joined(arrays, axis, out)


@_named
def concatenate(arrays, /, axis=0, out=None):
    """The same as `concat`.

    >>> import numpy as np, anydml
    >>> anydml.concatenate([np.int8([1]), np.int8([2, 3])])
    array([1, 2, 3], dtype=int8)
    """
    return _joined(arrays, axis, out)


def _compared(a, b, operator, out):
    result = operator(*_promoted(a, b), out=out)
    return result if out is not None else _truths(result)


@_named
def equal(a, b, /, out=None):
    """a == b, element by element, as bool, like ``numpy.equal``, computed by DirectML's ELEMENT_WISE_LOGICAL_EQUALS.

    >>> import numpy as np, anydml
    >>> anydml.equal(np.float32([1, 2]), 2)
    array([False,  True])
    """
    return _compared(a, b, _ops.logical_equals, out)


@_named
def not_equal(a, b, /, out=None):
    """a != b, element by element, as bool, like ``numpy.not_equal``, computed by ELEMENT_WISE_LOGICAL_EQUALS and _NOT.

    >>> import numpy as np, anydml
    >>> anydml.not_equal(np.float32([1, 2]), 2)
    array([ True, False])
    """
    result = _ops.logical_not(_ops.logical_equals(*_promoted(a, b)), out=out)
    return result if out is not None else _truths(result)


@_named
def greater(a, b, /, out=None):
    """a > b, element by element, as bool, like ``numpy.greater``, computed by ELEMENT_WISE_LOGICAL_GREATER_THAN.

    >>> import numpy as np, anydml
    >>> anydml.greater(np.float32([1, 2]), 1)
    array([False,  True])
    """
    return _compared(a, b, _ops.logical_greater_than, out)


@_named
def greater_equal(a, b, /, out=None):
    """a >= b, element by element, as bool, like ``numpy.greater_equal``, from ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL.

    >>> import numpy as np, anydml
    >>> anydml.greater_equal(np.float32([1, 2]), 2)
    array([False,  True])
    """
    return _compared(a, b, _ops.logical_greater_than_or_equal, out)


@_named
def less(a, b, /, out=None):
    """a < b, element by element, as bool, like ``numpy.less``, computed by DirectML's ELEMENT_WISE_LOGICAL_LESS_THAN.

    >>> import numpy as np, anydml
    >>> anydml.less(np.float32([1, 2]), 2)
    array([ True, False])
    """
    return _compared(a, b, _ops.logical_less_than, out)


@_named
def less_equal(a, b, /, out=None):
    """a <= b, element by element, as bool, like ``numpy.less_equal``, from ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL.

    >>> import numpy as np, anydml
    >>> anydml.less_equal(np.float32([1, 2]), 1)
    array([ True, False])
    """
    return _compared(a, b, _ops.logical_less_than_or_equal, out)


def _tested(x, operator, out):
    if isinstance(x, _Symbol) and out is None:
        return (_np.isnan if operator is _ops.is_nan else _np.isinf)(x)
    kind = _type_of(x)
    if kind is not None and kind.kind in "biu" and _is_numpys(x):  # no integer is NaN or infinite
        if out is not None:
            return _ops.logical_xor(x, x, out=out)
        none = _np.zeros(_np.shape(x), bool)
        return _np.ma.array(none, mask=_np.ma.getmask(x)) if isinstance(x, _np.ma.MaskedArray) else _number(none)
    return _truths(operator(x)) if out is None else operator(x, out=out)


@_named
def isnan(x, /, out=None):
    """Tells whether elements are NaN, as bool, like ``numpy.isnan``, computed by DirectML's ELEMENT_WISE_IS_NAN.

    >>> import numpy as np, anydml
    >>> anydml.isnan(np.float32([1, np.nan]))
    array([False,  True])
    """
    return _tested(x, _ops.is_nan, out)


@_named
def isinf(x, /, out=None):
    """Tells whether elements are infinite, as bool, like ``numpy.isinf``, computed by DirectML's
    ELEMENT_WISE_IS_INFINITY.

    >>> import numpy as np, anydml
    >>> anydml.isinf(np.float32([1, -np.inf]))
    array([False,  True])
    """
    return _tested(x, _ops.is_infinity, out)
