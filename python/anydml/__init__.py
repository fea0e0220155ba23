# SPDX-License-Identifier: MIT
"""Exact modulus over NumPy arrays, and a function for each of DirectML's operators that is built.

>>> import numpy as np, anydml
>>> anydml.modulus_floor(np.array([7, -7]), 3)         # Python's %: the divisor's sign
array([1, 2])
>>> anydml.modulus_truncate(np.array([7, -7]), 3)      # C's % and fmod: the dividend's sign
array([ 1, -1])
"""
import numpy as _np

from . import _core, _libraries, _operators
from ._calls import ON_GPU as _ON_GPU, OF_NUMPY as _OF_NUMPY, Compiled, Operator, compile, run
from ._graphs import Graph, Symbol, graph

__version__ = _core.__version__
# NumPy pickles a ufunc by its name, in whichever module has it: Dask sends them to its workers.
_core.modulus_floor, _core.modulus_truncate = _core.floor_ufunc, _core.truncate_ufunc
# Without the names that Python itself has, abs among them: those are attributes of this module alone.
__all__ = ["modulus_floor", "modulus_truncate", "run", "graph", "Compiled", "Graph", "Operator", "Symbol", "adapters", "operators", "__version__",
           *_operators.__all__]
for _name in (*_operators.__all__, *_operators.SHADOWING):
    globals()[_name] = getattr(_operators, _name)
for _public in (run, compile, graph, Compiled, Graph, Operator, Symbol, *(globals()[_name] for _name in _operators.__all__),
                *(globals()[_name] for _name in _operators.SHADOWING)):
    _public.__module__ = "anydml"  # as help and pickle show it


_torch = None      # anydml.torch, once it is imported: it takes tensors that are differentiated or traced
_is_traced = None  # then: whether a compiler is looking
# What these are unless told otherwise, known by identity: whatever else is given is NumPy's to judge.
_CASTING, _ORDER = "same_kind", "K"


def modulus_floor(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True,
                  signature=None, device=None):
    """a mod b, element by element; a result that is not 0 has the sign of b, as Python's ``%`` and ``numpy.remainder``.

    Exact for every input: float16, float32, float64, int8 to int64 and uint8 to uint64. Arguments, broadcasting, types,
    masks, warnings and errors are those of a NumPy ufunc. Zero divisors give 0 for integers and NaN for floats, with
    NumPy's warnings. PyTorch's tensors and others' arrays that speak DLPack come and go; those on a GPU stay there, and
    the operator runs on it, on the library's stream, without NumPy's warnings, masks and conversions. ``device`` is the
    name of one of `adapters`.

    >>> import numpy as np, anydml
    >>> anydml.modulus_floor(np.float32([5, -5.5]), np.float32(0.1)).tolist()
    [0.09999992698431015, 8.195638656616211e-08]
    >>> a = np.arange(6).reshape(2, 3)
    >>> anydml.modulus_floor(a, [[2], [4]])
    array([[0, 1, 0],
           [3, 0, 1]])
    >>> anydml.modulus_floor(a, 2, out=a) is a
    True
    """
    if _is_traced is not None and _is_traced():
        return _torch.call(_torch.modulus_floor, a, b, (out, dtype, signature, device), (where, subok), casting, order)
    if (device is None and where is True and casting is _CASTING and order is _ORDER and dtype is None
            and subok is True and signature is None):
        result = _core.try_modulus(0, a, b, out)
        if result is not NotImplemented:
            return result if type(result) is not tuple else _warn(_core.floor_ufunc, a, b, result[0])
    return _by_numpy("ELEMENT_WISE_MODULUS_FLOOR", _core.floor_ufunc, a, b, out, where, casting, order, dtype,
                     subok, signature, device)


def modulus_truncate(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True,
                     signature=None, device=None):
    """a mod b, element by element; a result that is not 0 has the sign of a, as C's ``%`` and ``numpy.fmod``.

    In all else as `modulus_floor`.

    >>> import numpy as np, anydml
    >>> anydml.modulus_truncate(np.int8([7, -7, -128]), np.int8(-3))
    array([ 1, -1, -2], dtype=int8)
    """
    if _is_traced is not None and _is_traced():
        return _torch.call(_torch.modulus_truncate, a, b, (out, dtype, signature, device), (where, subok), casting, order)
    if (device is None and where is True and casting is _CASTING and order is _ORDER and dtype is None
            and subok is True and signature is None):
        result = _core.try_modulus(1, a, b, out)
        if result is not NotImplemented:
            return result if type(result) is not tuple else _warn(_core.truncate_ufunc, a, b, result[0])
    return _by_numpy("ELEMENT_WISE_MODULUS_TRUNCATE", _core.truncate_ufunc, a, b, out, where, casting, order, dtype,
                     subok, signature, device)


def adapters():
    """The devices that operators run on, the default first.

    >>> import anydml
    >>> anydml.adapters()[0]["name"]
    'cpu'
    """
    return _core.adapters()


def operators(built=None):
    """DirectML's 177 operators: names, feature levels, formulas, and which are built here.

    >>> import anydml
    >>> [op["name"] for op in anydml.operators(built=True)][:3]
    ['ELEMENT_WISE_IDENTITY', 'ELEMENT_WISE_ABS', 'ELEMENT_WISE_ADD']
    """
    if built is not None and not isinstance(built, (bool, _np.bool_)):
        raise TypeError(f"built is {built!r}; expected True, False or None")
    return [op for op in _core.operators() if built is None or op["built"] == built]


def _warn(ufunc, a, b, result):
    """Operands without an answer were among them: NumPy warns, raises or keeps quiet as np.errstate says."""
    if not isinstance(result, _np.ndarray):  # PyTorch's
        (a, b), (view,), _ = _libraries.borrow((a, b), [result])
        _warn(ufunc, a, b, view)
    elif result.dtype.kind == "f":
        if _np.geterr()["invalid"] == "ignore":
            return result
        pair = _faulty_pair(_np.asarray(a, result.dtype), _np.asarray(b, result.dtype), result)
        if pair is not None:  # otherwise the NaNs were there before
            ufunc(*pair)
    else:
        ufunc(result.dtype.type(1), result.dtype.type(0))
    return result


_BLOCK = 1 << 19  # elements that are looked through at a time, so that not much memory is taken


def _faulty_pair(a, b, result):
    """A pair of floats without an answer, or None: the result is NaN where neither operand is."""
    if result.size > _BLOCK:
        a, b = _np.broadcast_to(a, result.shape), _np.broadcast_to(b, result.shape)
        axis = result.shape.index(max(result.shape))
        step = max(1, result.shape[axis] * _BLOCK // result.size)
        blocks = ((slice(None),) * axis + (slice(start, start + step),) for start in range(0, result.shape[axis], step))
        pairs = (_faulty_pair(a[block], b[block], result[block]) for block in blocks)
        return next((pair for pair in pairs if pair is not None), None)
    faulty = _np.isnan(result) & ~_np.isnan(a) & ~_np.isnan(b)
    if not faulty.any():
        return None
    index = _np.unravel_index(_np.argmax(faulty), faulty.shape)
    return _np.broadcast_to(a, faulty.shape)[index], _np.broadcast_to(b, faulty.shape)[index]


def _by_numpy(op, ufunc, a, b, out, where, casting, order, dtype, subok, signature, device):
    """The long way: arrays of other libraries, devices by name, and all that NumPy itself sees to."""
    # Only what was given: arrays with an __array_ufunc__ of their own, such as Dask's, do not take every option.
    options = {} if where is True else {"where": where}
    if not (isinstance(casting, str) and casting == _CASTING):
        options["casting"] = casting
    if not (isinstance(order, str) and order == _ORDER):
        options["order"] = order
    if dtype is not None:
        options["dtype"] = dtype
    if subok is not True:
        options["subok"] = subok
    if signature is not None:
        options["signature"] = signature
    give = None
    if type(a) is Symbol or type(b) is Symbol:
        if options:
            raise TypeError(f"{', '.join(options)}: for arrays, and not within a graph")
        return run(op, a, b, out=out, device=device)
    place = _core.place_of(a, b, out)
    if _torch is not None and _torch.takes(a, b):
        return _torch.call(getattr(_torch, ufunc.__name__), a, b, (out, dtype, signature, device), (where, subok),
                           casting, order)
    if place != _OF_NUMPY:
        given = {**options, **({} if out is None else {"out": out}), **({} if device is None else {"device": device})}
        result = _libraries.by_torch_function(globals()[ufunc.__name__], (a, b, out), (a, b), given)
        if result is not NotImplemented:
            return result
        if place == _ON_GPU:
            if options:
                raise TypeError(f"{', '.join(options)}: for arrays in the CPU's memory alone")
            return _core.run_on_device(op, (a, b), [out], {}, device, [[0, 1]], [(True, [0, 1], "", None)])[0]
        (a, b), (out,), give = _libraries.borrow((a, b), [out])
    if device is not None and not _core.is_default_device(device):
        if options:
            raise ValueError(f"{', '.join(options)}: taken on the default device alone")
        a, b = _np.asarray(a), _np.asarray(b)
        kind = _np.result_type(a, b)
        result = run(op, a.astype(kind, copy=False), b.astype(kind, copy=False), out=out, device=device)
    else:
        result = ufunc(a, b, **options) if out is None else ufunc(a, b, out=out, **options)
    return result if give is None else give([result])[0]


# What else a ufunc has: each function carries its own. They take NumPy's arrays, and what NumPy makes arrays of.
_UFUNC_ATTRIBUTES = ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "reduce", "accumulate",
                    "reduceat", "outer", "at", "resolve_dtypes")
for _function, _ufunc in ((modulus_floor, _core.floor_ufunc), (modulus_truncate, _core.truncate_ufunc)):
    _function.ufunc = _ufunc
    for _name in _UFUNC_ATTRIBUTES:
        if hasattr(_ufunc, _name):
            setattr(_function, _name, getattr(_ufunc, _name))
