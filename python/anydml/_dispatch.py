# SPDX-License-Identifier: MIT
"""Lets arrays handle operators themselves, through NumPy's protocols.

An element-wise operator appears as a ufunc: arrays that define __array_ufunc__, such as those from Dask, pandas and
xarray, are called in NumPy's order, and subclasses of NumPy arrays, such as masked arrays, wrap the result. Other
operators use __array_function__. Masked arrays and Dask's arrays have separate rules; for Dask, an operator along axes
is a generalized ufunc.
"""
import numpy as _np

from ._arguments import MOVERS as _MOVERS, converted as _converted
from ._call import Call as _Call
from ._equivalent import equivalent as _equivalent
from ._libraries import names_of as _names_of
from ._messages import function_of as _function_of
from ._specs import SPECS as _SPECS
from ._symbols import Symbol as _Symbol

_BY_ROWS = {"ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1"}
_ALONG_AXES = {"REDUCE", "ARGMIN", "ARGMAX", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1", "CUMULATIVE_SUMMATION",
               "CUMULATIVE_PRODUCT", *_BY_ROWS}
_EACH = {"CAST", *(name for name in _SPECS if name.startswith(("ELEMENT_WISE_", "ACTIVATION_")) and
                   not name.removesuffix("1").endswith(("SOFTMAX", "HARDMAX")))}


def has_a_say(array):
    """Whether an operand's type handles calls through NumPy's protocols. Arrays with DLPack use DLPack instead."""
    kind = type(array)
    if kind is _np.ndarray or isinstance(array, (_np.generic, _Symbol)):
        return False
    return isinstance(array, _np.ndarray) or (hasattr(kind, "__array_ufunc__") and not hasattr(kind, "__dlpack__"))


class Operation:
    """An operator with fixed attributes, called with the arrays only. Other libraries treat it as a ufunc.

    Its name differs from the function's, because otherwise pandas and Dask would call their own function of that name.
    """

    nout, identity, signature, types, ntypes = 1, None, None, [], 0

    def __init__(self, function, op, fixed, inputs, options, attributes):
        self.function, self.op, self.fixed, self.options, self.attributes = function, op, fixed, options, attributes
        self.nin, self.nargs = inputs, inputs + 1
        self.__name__ = self.__qualname__ = f"anydml_{op.lower()}"

    def __call__(self, *arrays, out=None):
        arrays = iter(arrays)
        if self.nout == 1 and isinstance(out, tuple):
            out, = out
        result = self.function(self.op, *(self.fixed[i] if i in self.fixed else next(arrays)
                                          for i in range(len(self.fixed) + self.nin)), out=out, **self.options,
                               **self.attributes)
        return tuple(one for one in result if one is not None) if self.nout > 1 else result

    def __repr__(self):
        return f"<operator {self.op}>"


class Wrapping:
    """A ufunc that accepts an array and a number, and returns a precomputed result."""

    nin, nout, nargs, signature, identity, __name__ = 2, 1, 3, None, None, "anydml_result"

    def __init__(self, result):
        self.result = result

    def __call__(self, *_):
        return self.result


# Types that do not handle calls themselves; nearly all operands have one of these.
USUAL = frozenset((_np.ndarray, int, float, list, tuple, bool, type(None), _Symbol, *_np.sctypeDict.values()))


def answer(function, op, inputs, out, options, attributes):
    """Lets an operand handle the call, or returns NotImplemented. `function` runs an operator over plain arrays."""
    outs = out if isinstance(out, tuple) else (out,)
    asked = [one for one in (*inputs, *outs) if has_a_say(one)]
    if not asked or any(isinstance(one, _Symbol) for one in inputs):
        return NotImplemented
    numbers = (int, float, _np.generic) if any(map(has_a_say, inputs)) else ()  # numbers adopt the arrays' type
    fixed = {i: one for i, one in enumerate(inputs) if one is None or isinstance(one, numbers)}
    arrays = tuple(one for i, one in enumerate(inputs) if i not in fixed)
    if op in _EACH:
        return _by_ufunc(Operation(function, op, fixed, len(arrays), options, attributes), arrays, out, asked)
    if any(map(is_masked, (*inputs, *outs))):
        return _masked(function, op, inputs, out, options, attributes)
    if any("dask" in _names_of(type(one)) for one in inputs):
        return _in_blocks(function, op, inputs, out, options, attributes)
    given = {} if out is None else {"out": out}
    for one in _in_order(asked):
        by_function = getattr(type(one), "__array_function__", _np.ndarray.__array_function__)
        if by_function is not _np.ndarray.__array_function__:
            whole = Operation(function, op, fixed, len(arrays), options, attributes)
            result = by_function(one, whole, set(map(type, asked)), arrays, given)
            if result is not NotImplemented:
                return result
    if any(has_a_say(one) and not isinstance(one, _np.ndarray) for one in outs):
        raise TypeError(f"{_function_of(op)}: out is of type {type(out).__name__}; expected a NumPy array")
    result = function(op, *map(_plain, inputs), out=tuple(map(_plain, out)) if isinstance(out, tuple) else _plain(out),
                      **options, **attributes)
    return out if out is not None else _wrapped(result, [one for one in asked if not isinstance(one, _np.ndarray)])


def _plain(one):
    return _np.asarray(one) if has_a_say(one) else one


def _wrapped(result, asked):
    """Wraps the result in the operand's type, if there is only one such operand and it has the result's shape."""
    if len(asked) == 1 and isinstance(result, _np.ndarray) and result.shape == getattr(asked[0], "shape", None):
        ufunc = getattr(type(asked[0]), "__array_ufunc__", None)
        built = NotImplemented if ufunc is None else ufunc(asked[0], Wrapping(result), "__call__", asked[0], 0)
        return result if built is NotImplemented else built
    return result


def _in_order(asked):
    """Sorts operands in NumPy's order: from left to right, but a subclass comes before its base class."""
    ordered = []
    for one in asked:
        if type(one) not in map(type, ordered):
            position = next((i for i, other in enumerate(ordered) if issubclass(type(one), type(other))), len(ordered))
            ordered.insert(position, one)
    return ordered


def _by_ufunc(operation, inputs, out, asked):
    others, options = [], {} if out is None else {"out": (out,)}
    for one in _in_order(asked):
        by_ufunc = type(one).__array_ufunc__
        if by_ufunc is None:
            raise TypeError(f"operand {type(one).__name__!r} does not support ufuncs (__array_ufunc__=None)")
        if by_ufunc is not _np.ndarray.__array_ufunc__:
            others.append(type(one).__name__)
            result = by_ufunc(one, operation, "__call__", *inputs, **options)
            if result is not NotImplemented:
                return result
    if others:
        raise TypeError(f"{_function_of(operation.op)}: operands of the types {', '.join(others)} cannot be combined")
    result = operation(*map(_plain, inputs), out=_plain(out))
    library = max(asked, key=lambda one: one.__array_priority__) if out is None else out
    if type(library) is _np.ndarray:
        return out
    return library.__array_wrap__(result if out is None else out, (operation, inputs, 0))


# ---- Masked arrays --------------------------------------------------------------------------------------------------

# The values that replace masked elements in a reduction, so that they do not affect the result.
_FILLS = {"SUM": 0, "SUM_SQUARE": 0, "L1": 0, "L2": 0, "LOG_SUM": 0, "AVERAGE": 0, "MULTIPLY": 1,
          "LOG_SUM_EXP": "least", "MAX": "least", "ARGMAX": "least", "MIN": "greatest", "ARGMIN": "greatest"}


def _extreme(kind, fill):
    if kind.kind == "f":
        return -_np.inf if fill == "least" else _np.inf
    return _np.iinfo(kind).min if fill == "least" else _np.iinfo(kind).max


def _masked(function, op, inputs, out, options, attributes):
    """Makes reductions, row operators and running sums skip masked elements. Operators that move elements also move
    masks."""
    one = inputs[0]
    name = str(attributes.get("Function", op)).upper().removeprefix("DML_REDUCE_FUNCTION_")
    if out is None and op in _MOVERS:
        results = function(op, *map(_plain, inputs), **options, **attributes)
        attributes = _converted(op, inputs, attributes)
        masks = function(op, *(_np.ma.getmaskarray(one).view(_np.uint8) for one in inputs), **options, **attributes)
        several = isinstance(results, tuple)
        built = [_np.ma.array(result, mask=mask.view(bool)) for result, mask in zip(
            results if several else [results], masks if several else [masks])]
        return tuple(built) if several else built[0]
    if out is None and len(inputs) == 1 and (op in ("REDUCE", "ARGMIN", "ARGMAX") and name in _FILLS):
        fill, axes = _FILLS[name], tuple(_converted(op, inputs, attributes)["Axes"])
        data = one.filled(_extreme(one.dtype, fill) if isinstance(fill, str) else fill)
        if name == "AVERAGE":
            wide = data.astype(_np.float32) if data.dtype == _np.float16 else data  # float16 sums may overflow
            total = function(op, wide, **options, **{**attributes, "Function": "SUM"})
            count = one.count(axis=axes, keepdims=True)
            result = function("ELEMENT_WISE_DIVIDE", total, _np.maximum(count, 1).astype(total.dtype)).astype(data.dtype)
        else:
            result = function(op, data, **options, **attributes)
        return _np.ma.array(result, mask=_np.ma.getmaskarray(one).all(axis=axes, keepdims=True))
    if out is None and len(inputs) == 1 and (op in _BY_ROWS or op.startswith("CUMULATIVE_")):
        fill = -_np.inf if op in _BY_ROWS else 0 if op == "CUMULATIVE_SUMMATION" else 1
        return _np.ma.array(function(op, one.filled(fill), **options, **attributes), mask=_np.ma.getmaskarray(one))
    refuse_masks(_function_of(op), *inputs, *(out if isinstance(out, tuple) else (out,)))


def is_masked(one):
    return isinstance(one, _np.ma.MaskedArray) and bool(_np.ma.getmask(one).any())


def refuse_masks(function, *arrays):
    if any(map(is_masked, arrays)):
        raise TypeError(f"{function}: an array is masked, which is not supported here; pass x.filled(value), "
                        "or x.data to ignore the mask")


# ---- Dask -----------------------------------------------------------------------------------------------------------

def _in_blocks(function, op, inputs, out, options, attributes):
    """Returns a lazy result. Dask merges each operand into one block; shape and type are inferred from the operands."""
    if out is not None:
        raise TypeError(f"{_function_of(op)}: out is not supported with Dask's arrays, whose results are lazy")
    lazy = [i for i, one in enumerate(inputs) if "dask" in _names_of(type(one))]
    stand_ins = [_np.broadcast_to(_np.zeros((), one.dtype), one.shape) if i in lazy else one
                 for i, one in enumerate(inputs)]
    built = _equivalent(op, stand_ins, attributes, None if isinstance(options.get("shape"), list) else options.get("shape"))
    call = _Call(op, built.inputs, None, options.get("dtype"), built.shape or options.get("shape"))
    results = call.new_outs(call.arrays(built.inputs), call.outs, built.attributes,
                            make=lambda shape, kind: (built.final or shape, _np.dtype(kind)))
    results = [one for one in results if one is not None]
    # If an operand is reshaped, `function` converts the attributes to match.
    if [_np.shape(one) for one in built.inputs] == [_np.shape(one) for one in stand_ins]:
        attributes = built.attributes
    fixed = {i: one for i, one in enumerate(inputs) if i not in lazy}
    operation = Operation(function, op, fixed, len(lazy), options, attributes)
    operation.nout = len(results)
    arrays, more = [inputs[i] for i in lazy], {}
    shapes = [[f"i{i}_{k}" for k in range(one.ndim)] for i, one in enumerate(arrays)]
    built = [[f"o{i}_{k}" for k in range(len(shape))] for i, (shape, _) in enumerate(results)]
    if op in _ALONG_AXES:  # the blocks along other axes are kept
        rank = arrays[0].ndim
        axes = sorted(attributes.get("Axes", [attributes.get("Axis", rank - 1)]))
        last = range(rank - len(axes), rank)
        operation.attributes = {field: list(last) if field == "Axes" else last[0] if field == "Axis" else value
                                for field, value in attributes.items()}
        operation.options = {name: value for name, value in options.items() if name != "shape"}
        shapes, built = ([one[0][i] for i in axes] for one in (shapes, built))
        shapes, built, more = [shapes], [built], {"axes": [tuple(axes)] * 2}
    numbers = ((name, *map(int, name[1:].split("_"))) for one in built for name in one)
    sizes = {name: results[i][0][k] for name, i, k in numbers}
    operation.signature = "->".join(",".join(f"({','.join(one)})" for one in names) for names in (shapes, built))
    result = type(arrays[0]).__array_ufunc__(arrays[0], operation, "__call__", *arrays, output_sizes=sizes, **more,
                                             output_dtypes=[kind for _, kind in results], allow_rechunk=True)
    return result if not call.several or isinstance(result, tuple) else (result,)
