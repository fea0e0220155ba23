# SPDX-License-Identifier: MIT
"""DirectML's operators, graphs of them, and ONNX models, with the same bits on every machine.

>>> import numpy as np, anydml
>>> anydml.softmax(np.float32([[1, 2, 3]])).argmax(-1)     # a function for each of DirectML's operators
array([2])
>>> @anydml.graph                                          # a function of arrays, compiled into one unit
... def layer(x, w):
...     return np.maximum(x @ w, 0)
>>> layer(np.float32([[1, -2]]), np.float32([[3, 0], [1, 4]]))
array([[1., 0.]], dtype=float32)

`anydml.onnx` runs ONNX models and generates text. help() of each function shows an example.
"""
import numpy as _np

from . import _core, _numpy, _operators, _suggest, _tensors
from ._device_array import DeviceArray, to_device
from ._graphs import Graph, graph
from ._matmul import matmul
from ._run import Compiled, Operator, compile, run
from ._symbols import Symbol
from ._ufuncs import CASTING as _CASTING, ORDER as _ORDER, ufunc as _ufunc

__version__ = _core.__version__
numerics_version = _core.numerics_version  # while it is the same, so are the bits of every result
# Names of Python builtins, such as abs, are left out: they are only attributes of this module.
__all__ = ["modulus_floor", "modulus_truncate", "run", "graph", "Compiled", "Graph", "Operator", "Symbol", "adapters",
           "matmul", "operators", "DeviceArray", "to_device", "numerics_version", *_numpy.NAMES, "__version__", *_operators.__all__]
for _public in (run, compile, graph, matmul, Compiled, DeviceArray, Graph, Operator, Symbol, to_device,
                *(getattr(_numpy, _name) for _name in (*_numpy.NAMES, *_numpy.SHADOWING)),
                *(getattr(_operators, _name) for _name in (*_operators.__all__, *_operators.SHADOWING))):
    globals()[_public.__name__] = _public
    _public.__module__ = "anydml"  # the name that help() and pickle use
    if _public not in (run, compile, graph, to_device) and not isinstance(_public, type):
        _tensors.let_inline(_public)
del _public


def _load_torch():
    from . import torch  # deferred, because importing PyTorch takes a second

    return torch


_tensors.load = _load_torch


def __getattr__(name):
    """Raises an error for an unknown name and suggests a similar one."""
    if name.startswith("_"):
        raise AttributeError(f"module 'anydml' has no attribute {name!r}")
    raise AttributeError(_suggest.message(name, [one for one in globals() if not one.startswith("_")]))


@_ufunc("ELEMENT_WISE_MODULUS_FLOOR")
def modulus_floor(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True,
                  signature=None, device=None):
    """a mod b, element by element; a nonzero result has the sign of b, as with Python's ``%`` and ``numpy.remainder``.

    The result is exact for every input: float16, float32, float64, int8 to int64 and uint8 to uint64. Arguments,
    broadcasting, types, masks, warnings and errors are those of a NumPy ufunc. Zero divisors give 0 for integers and
    NaN for floats, with NumPy's warnings. PyTorch tensors, and other libraries' arrays that support DLPack, are accepted
    and returned. Arrays on a GPU stay there: the operator runs on the GPU, on the library's stream, without NumPy's
    warnings, masks and conversions. ``device`` is the name of one of the `adapters`.

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


@_ufunc("ELEMENT_WISE_MODULUS_TRUNCATE")
def modulus_truncate(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True,
                     signature=None, device=None):
    """a mod b, element by element; a nonzero result has the sign of a, as with C's ``%`` and ``numpy.fmod``.

    Everything else is as in `modulus_floor`.

    >>> import numpy as np, anydml
    >>> anydml.modulus_truncate(np.int8([7, -7, -128]), np.int8(-3))
    array([ 1, -1, -2], dtype=int8)
    """


def adapters():
    """Returns the devices that operators can run on, the default first.

    >>> import anydml
    >>> anydml.adapters()[0]["name"]
    'cpu'
    """
    return _core.adapters()


def operators(built=None):
    """Returns DirectML's 177 operators: their names, feature levels and formulas, and whether they are built here.

    >>> import anydml
    >>> [op["name"] for op in anydml.operators(built=True)][:3]
    ['ELEMENT_WISE_IDENTITY', 'ELEMENT_WISE_ABS', 'ELEMENT_WISE_ACOS']
    """
    if built is not None and not isinstance(built, (bool, _np.bool_)):
        raise TypeError(f"built is {built!r}; expected True, False or None")
    return [op for op in _core.operators() if built is None or op["built"] == built]
