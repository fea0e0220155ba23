# SPDX-License-Identifier: MIT
"""Functions that are NumPy ufuncs and also accept arrays from other libraries.

Each function contains its ufunc. The fast path in _core passes whole arrays; the slow path is here.
"""
import numpy as _np

from . import _core, _libraries
from ._call import OF_NUMPY as _OF_NUMPY, ON_GPU as _ON_GPU, dtype_of as _dtype_of
from ._run import run as _run
from ._symbols import Symbol as _Symbol
from ._tensors import (call_ufunc as _call_ufunc, has_bfloats as _has_bfloats, in_float32 as _in_float32,
                       let_inline as _let_inline, modules as _modules, takes as _takes)

# The defaults of these options. Calls compare them by identity, and NumPy checks all other values.
CASTING, ORDER = "same_kind", "K"

OPERATORS = {}  # function name -> (operator, number of inputs)

# A ufunc's other attributes, which each function also has. They accept NumPy arrays and objects that NumPy converts.
_OF_EACH = ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "at", "resolve_dtypes")
_OF_TWO = ("reduce", "accumulate", "reduceat", "outer")


def ufunc(op):
    """Turns a function without a body, with one or two positional-only parameters, into an operator's ufunc."""

    def make(described):
        name, inputs = described.__name__, described.__code__.co_posonlyargcount
        core = _core.make_ufunc(name, op, inputs)
        OPERATORS[name] = op, inputs
        setattr(_core, name, core.ufunc)  # NumPy pickles a ufunc by its name, from any module that contains it
        function = (_of_one if inputs == 1 else _of_two)(core)
        function.__name__ = function.__qualname__ = name
        function.__doc__, function.__module__ = described.__doc__, "anydml"
        function.ufunc = core.ufunc
        _let_inline(function)
        for one in _OF_EACH + _OF_TWO * (inputs == 2):
            if hasattr(core.ufunc, one):
                setattr(function, one, getattr(core.ufunc, one))
        return function

    return make


def _of_one(core):
    def slow_path(x, *options):
        return _by_numpy(core, function, (x,), *options)

    def function(x, /, out=None, *, where=True, casting=CASTING, order=ORDER, dtype=None, subok=True, signature=None,
                 device=None):
        return call(x, out, where, casting, order, dtype, subok, signature, device)

    call = core.fast_function(CASTING, ORDER, slow_path)
    return function


def _of_two(core):
    def slow_path(a, b, *options):
        return _by_numpy(core, function, (a, b), *options)

    def function(a, b, /, out=None, *, where=True, casting=CASTING, order=ORDER, dtype=None, subok=True, signature=None,
                 device=None):
        return call(a, b, out, where, casting, order, dtype, subok, signature, device)

    call = core.fast_function(CASTING, ORDER, slow_path)
    return function


def _by_numpy(core, function, inputs, out, where, casting, order, dtype, subok, signature, device):
    """The slow path: arrays from other libraries, devices by name, and everything that NumPy itself handles."""
    # Only the options that were given are passed, because arrays with their own __array_ufunc__, such as Dask's, do not
    # accept all of them.
    options = {} if where is True else {"where": where}
    if not (isinstance(casting, str) and casting == CASTING):
        options["casting"] = casting
    if not (isinstance(order, str) and order == ORDER):
        options["order"] = order
    if dtype is not None:
        options["dtype"] = _dtype_of(dtype)
    if subok is not True:
        options["subok"] = subok
    if signature is not None:
        options["signature"] = signature
    give, given_out = None, out
    if _Symbol in map(type, inputs):
        kind = options.pop("dtype", None)
        if options:
            raise TypeError(f"{', '.join(options)}: only for arrays, not within a graph")
        if kind is not None:
            inputs = [(one if isinstance(one, _Symbol) else _np.asarray(one)).astype(kind, casting=casting)
                      for one in inputs]
        unfit = _unfit(core, inputs)
        if unfit is not None:
            raise unfit
        return _run(core.op, *inputs, out=out, device=device)
    found = _core.array_kind(*inputs, out)
    if "torch" in _modules and _has_bfloats(inputs):
        return _in_float32(lambda wide, outs: _by_numpy(core, function, wide, outs, where, casting, order, dtype, subok,
                                                        signature, device), core.op, inputs, out, dtype)
    if "torch" in _modules and _takes((*inputs, out)):
        try:
            return _call_ufunc(function, core.op, inputs, out, (signature, device), (where, subok), casting, order,
                               dtype, {**options, "device": device})
        except TypeError as error:
            raise ((_unfit(core, inputs) if dtype is None else None) or error) from None
    if found != _OF_NUMPY:
        given = {**options, **({} if out is None else {"out": out}), **({} if device is None else {"device": device})}
        result = _libraries.by_torch_function(function, (*inputs, out), inputs, given)
        if result is not NotImplemented:
            return result
        if found == _ON_GPU:
            if options:
                raise TypeError(f"{', '.join(options)}: only for arrays in the CPU's memory")
            every = list(range(len(inputs)))
            return _core.run_on_device(core.op, inputs, [out], {}, device, [every], [(True, "", None)])[0]
        inputs, (out,), give = _libraries.borrow(inputs, [out])
    if device is not None and not _core.is_default_device(device):
        if options:
            raise ValueError(f"{', '.join(options)}: only on the default device")
        arrays = [_np.asarray(one) for one in inputs]
        kind = _np.result_type(*arrays)
        result = _run(core.op, *(one.astype(kind, copy=False) for one in arrays), out=out, device=device)
    else:
        try:
            result = core.ufunc(*inputs, **options) if out is None else core.ufunc(*inputs, out=out, **options)
        except TypeError as error:
            raise _said(error, core, inputs) from None
        except (ArithmeticError, RuntimeWarning):  # requested by numpy.errstate or a warning filter; out was written
            _libraries.tell_written([given_out])
            raise
    return result if give is None else give([result])[0]


def _said(error, core, inputs):
    """Returns NumPy's error. If no loop accepts the types, the message lists the accepted types and suggests a conversion."""
    if "not supported for the input types" not in str(error):
        return error
    return _unfit(core, inputs) or error


def _unfit(core, inputs):
    """Returns the error about an operand whose type no loop accepts, with a suggested conversion, or None."""
    loops = dict.fromkeys(_np.dtype(letter).name for one in core.ufunc.types for letter in one.partition("->")[0])
    for name, one in zip("x" if len(inputs) == 1 else "ab", inputs):
        if one is None:
            return TypeError(f"{core.name}: {name} is None; expected an array")
        if type(one) in (int, float) and any(type(other) not in (int, float) for other in inputs):
            continue  # a number is converted to the other operand's type
        try:
            kind = _np.dtype(_dtype_of(one.dtype)) if hasattr(one, "dtype") else _np.asarray(one).dtype
        except (TypeError, ValueError):
            return None
        if not any(_np.can_cast(kind, loop) for loop in loops):
            operands = "x" if len(inputs) == 1 else "a, b"
            way = (f"; anydml.{core.name}({operands}, dtype='float32') converts it"
                   if _np.can_cast(kind, _np.float32, "same_kind") else "")
            return TypeError(f"{core.name}: {name} is {kind}; expected {', '.join(loops)}, or a type that "
                             f"NumPy converts to them safely{way}")
    return None
