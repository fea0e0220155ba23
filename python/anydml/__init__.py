# SPDX-License-Identifier: MIT
"""Exact modulus over NumPy arrays, and DirectML's elementwise operators by name.

>>> import numpy as np, anydml
>>> anydml.modulus_floor(np.array([7, -7]), 3)         # Python's %: the divisor's sign
array([1, 2])
>>> anydml.modulus_truncate(np.array([7, -7]), 3)      # C's % and fmod: the dividend's sign
array([ 1, -1])
"""
import numpy as _np

from . import _core

__version__ = _core.__version__
# NumPy pickles a ufunc by its name, in whichever module has it: Dask sends them to its workers.
_core.modulus_floor, _core.modulus_truncate = _core.floor_ufunc, _core.truncate_ufunc
__all__ = ["modulus_floor", "modulus_truncate", "run", "compile", "Compiled", "adapters", "operators", "__version__"]


def modulus_floor(a, b, /, out=None, *, where=True, casting="same_kind", order="K", dtype=None, device=None):
    """a mod b, element by element; a result that is not 0 has the sign of b, as Python's ``%`` and ``numpy.remainder``.

    Exact for every input: float16, float32, float64, int8 to int64 and uint8 to uint64. Arguments, broadcasting, types,
    masks, warnings and errors are those of a NumPy ufunc. Zero divisors give 0 for integers and NaN for floats, with
    NumPy's warnings. PyTorch's tensors and others' arrays that speak DLPack come and go; those on a GPU stay there, and
    the operator runs on it, on the library's stream, without NumPy's warnings, masks and conversions. ``device`` is the
    name of one of `adapters`.

    >>> modulus_floor(np.float32([5, -5.5]), np.float32(0.1)).tolist()
    [0.09999992698431015, 8.195638656616211e-08]
    >>> a = np.arange(6).reshape(2, 3)
    >>> modulus_floor(a, [[2], [4]])
    array([[0, 1, 0],
           [3, 0, 1]])
    >>> modulus_floor(a, 2, out=a) is a
    True
    """
    if device is None and where is True and casting == "same_kind" and order == "K" and dtype is None:
        result = _core.try_modulus(0, a, b, out)
        if result is not NotImplemented:
            return result if type(result) is not tuple else _warn(_core.floor_ufunc, a, b, result[0])
    return _by_numpy("ELEMENT_WISE_MODULUS_FLOOR", _core.floor_ufunc, a, b, out, where, casting, order, dtype, device)


def modulus_truncate(a, b, /, out=None, *, where=True, casting="same_kind", order="K", dtype=None, device=None):
    """a mod b, element by element; a result that is not 0 has the sign of a, as C's ``%`` and ``numpy.fmod``.

    In all else as `modulus_floor`.

    >>> modulus_truncate(np.int8([7, -7, -128]), np.int8(-3))
    array([ 1, -1, -2], dtype=int8)
    """
    if device is None and where is True and casting == "same_kind" and order == "K" and dtype is None:
        result = _core.try_modulus(1, a, b, out)
        if result is not NotImplemented:
            return result if type(result) is not tuple else _warn(_core.truncate_ufunc, a, b, result[0])
    return _by_numpy("ELEMENT_WISE_MODULUS_TRUNCATE", _core.truncate_ufunc, a, b, out, where, casting, order, dtype,
                     device)


def run(op, *inputs, out=None, device=None, **attributes):
    """Runs any operator that is built, by DirectML's name; attributes under the names of its fields.

    The inputs must have one type; they are broadcast by NumPy's rule. Arrays on a GPU stay there.

    >>> run("ELEMENT_WISE_CLIP", np.float32([-3, 0.5, 9]), Min=-1, Max=1)
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    if _core.any_on_device(*inputs, out):
        return _core.run_on_device(op, inputs, out, attributes, device)
    arrays = [_np.asarray(array) for array in inputs]
    if out is None:
        out = _like(op, arrays)
    _core.run(op, arrays, out, attributes, device)
    return out


class Compiled:
    """An operator over arrays of fixed types, shapes and strides, to be run many times without being checked anew."""

    def __init__(self, op, inputs, out, device, attributes):
        self.op = op
        self._compiled = _core.Compiled(op, inputs, out, attributes, device)
        self._like = out

    def __call__(self, *inputs, out=None):
        if out is None:
            out = _np.empty_like(self._like)
        self._compiled.run(inputs, out)
        return out

    def __repr__(self):
        return f"<compiled {self.op} over {self._like.dtype}{list(self._like.shape)}>"


def compile(op, *inputs, out=None, device=None, **attributes):
    """Compiles an operator for arrays like these: the same types, shapes and strides. Their contents do not matter.

    >>> step = compile("ELEMENT_WISE_MODULUS_FLOOR", np.empty(3), np.empty(3))
    >>> step(np.array([5., 6., 7.]), np.array([3., 4., 5.]))
    array([2., 2., 2.])
    """
    if _core.any_on_device(*inputs, out):
        raise TypeError("compile takes arrays in the CPU's memory; what runs on a GPU stays compiled by itself: "
                        "call run")
    arrays = [_np.asarray(array) for array in inputs]
    if out is None:
        out = _like(op, arrays)
    return Compiled(op, arrays, out, device, attributes)


def adapters():
    """The devices that operators run on, the default first.

    >>> adapters()[0]["name"]
    'cpu'
    """
    return _core.adapters()


def operators(built=None):
    """DirectML's 177 operators: names, feature levels, formulas, and which are built here.

    >>> [op["name"] for op in operators(built=True)][:3]
    ['ELEMENT_WISE_IDENTITY', 'ELEMENT_WISE_ABS', 'ELEMENT_WISE_ADD']
    """
    return [op for op in _core.operators() if built is None or op["built"] == built]


def _like(op, arrays):
    if not arrays:
        raise TypeError(f"{op}: no input is given")
    return _np.empty(_np.broadcast_shapes(*(array.shape for array in arrays)), arrays[0].dtype)


def _warn(ufunc, a, b, result):
    """Operands without an answer were among them: NumPy warns, raises or keeps quiet as np.errstate says."""
    if result.dtype.kind == "f":
        if _np.geterr()["invalid"] == "ignore":
            return result
        faulty = _np.isnan(result) & ~_np.isnan(a) & ~_np.isnan(b)
        if not faulty.any():
            return result  # the NaNs were there before
        index = _np.unravel_index(_np.argmax(faulty), faulty.shape)
        a = _np.broadcast_to(a, result.shape)[index]
        b = _np.broadcast_to(b, result.shape)[index]
        ufunc(result.dtype.type(a), result.dtype.type(b))
    else:
        ufunc(result.dtype.type(1), result.dtype.type(0))
    return result


def _foreign(array):
    """Whether an operand belongs to another library, and has to come by DLPack."""
    return not isinstance(array, (_np.ndarray, _np.generic, int, float, list, tuple)) and hasattr(array, "__dlpack__")


def _to_numpy(array):
    if not _foreign(array):
        return array
    try:
        if type(array).__module__ == "torch":
            return array.numpy()  # the same memory, for a tenth of what DLPack takes
        return _np.from_dlpack(array)
    except (TypeError, RuntimeError, BufferError) as error:
        raise TypeError(f"an array of {type(array).__module__} cannot be taken: {error}") from error


def _by_numpy(op, ufunc, a, b, out, where, casting, order, dtype, device):
    """The long way: arrays of other libraries, devices by name, and all that NumPy itself sees to."""
    if _core.any_on_device(a, b, out):
        if where is not True or casting != "same_kind" or order != "K" or dtype is not None:
            raise TypeError("where, casting, order and dtype are for arrays in the CPU's memory alone")
        return _core.run_on_device(op, (a, b), out, {}, device)
    home = next((type(array).__module__.partition(".")[0] for array in (a, b) if _foreign(array)), None)
    foreign_out = out if _foreign(out) else None
    a, b = _to_numpy(a), _to_numpy(b)
    if foreign_out is not None:
        out = _np.asarray(foreign_out)
    if device is not None and device != adapters()[0]["name"]:
        if where is not True or casting != "same_kind" or dtype is not None:
            raise ValueError("where, casting and dtype are taken on the default device alone")
        a, b = _np.asarray(a), _np.asarray(b)
        kind = _np.result_type(a, b)
        result = run(op, a.astype(kind, copy=False), b.astype(kind, copy=False), out=out, device=device)
    else:
        # Only what was given: arrays with an __array_ufunc__ of their own, such as Dask's, do not take every option.
        given = {} if out is None else {"out": out}
        if where is not True:
            given["where"] = where
        if casting != "same_kind":
            given["casting"] = casting
        if order != "K":
            given["order"] = order
        if dtype is not None:
            given["dtype"] = dtype
        result = ufunc(a, b, **given)
    if foreign_out is not None:
        return foreign_out
    if home is None or out is not None:
        return result
    return _to_library(home, _np.asarray(result))  # NumPy makes a scalar of a result without dimensions


def _to_library(home, result):
    import importlib

    home = "jax" if home == "jaxlib" else home  # where its arrays' type is
    library = importlib.import_module(home)
    if home == "torch":
        return library.from_numpy(result)
    if hasattr(library, "from_dlpack"):
        return library.from_dlpack(result)
    return importlib.import_module(f"{home}.dlpack").from_dlpack(result)
