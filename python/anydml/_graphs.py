# SPDX-License-Identifier: MIT
"""Graphs: functions of arrays that are recorded once for each form of their arguments and run as one unit."""
import dataclasses
import functools
import struct
import weakref
import zlib
from collections import OrderedDict as _OrderedDict
from decimal import Decimal as _Decimal
from fractions import Fraction as _Fraction
from types import (BuiltinMethodType as _BuiltinMethodType, GenericAlias as _GenericAlias, MethodType as _MethodType,
                   ModuleType as _ModuleType)

import numpy as _np

from . import _core, _libraries
from ._call import ON_GPU as _ON_GPU
from ._dispatch import refuse_masks as _refuse_masks
from ._symbols import Recorder, Symbol, plain as _plain

_MOST_KEPT = 32  # forms of arguments that a graph stays compiled for


class Recording:
    """A function that was recorded for arrays of certain types, shapes and strides, compiled."""

    def __init__(self, function, arguments, device):
        recorder = Recorder()
        likes, symbols = [], []
        for one in arguments:
            if isinstance(one, _np.ndarray):
                symbol, like = recorder.input(one)
                likes.append(like)
            symbols.append(symbol if isinstance(one, _np.ndarray) else one)
        self._compile(recorder, likes, function(*symbols), device)

    @classmethod
    def of(cls, recorder, likes, results, device=None):
        """What a recorder holds already: the arrays that its inputs are like, and the results."""
        made = cls.__new__(cls)
        made._compile(recorder, likes, results, device)
        return made

    def _compile(self, recorder, likes, results, device):
        self._several = isinstance(results, (tuple, list))
        outputs = [recorder.output(one) for one in (results if self._several else (results,))]
        self._outs = [(like.shape, kind) for like, kind in outputs]
        self.no_outs = (None,) * len(outputs)
        outs = [_np.empty(like.shape, like.dtype) for like, _ in outputs]  # which can be written
        self.compiled = _core.Compiled(recorder.graph, likes, outs, device)

    def run(self, arrays, outs):
        """Over arrays as it was recorded for; None among the outs is a new one. Compiled graphs write packed results:
        an out that is strided gets its elements from a packed one."""
        if len(outs) != len(self._outs):
            raise ValueError(f"out has {len(outs)} entries; expected {len(self._outs)}, one for each result")
        packed, copies = [], []
        for i, (one, (shape, kind)) in enumerate(zip(outs, self._outs)):
            if one is not None:
                _check_out(one, "out" if len(outs) == 1 else f"out[{i}]", shape, kind)
            packed.append(one if one is not None and one.flags.c_contiguous else _np.empty(shape, kind))
            if one is not None and one is not packed[-1]:
                # Compiled before anything is written: that refuses an out that overlaps itself.
                made, strided = _plain(packed[-1]), _plain(one)
                copies.append((_core.Compiled("ELEMENT_WISE_IDENTITY", [made], [strided], {}, None), made, strided))
        if copies:
            _check_apart(outs)
        self.compiled.run([_plain(one) for one in arrays], [_plain(one) for one in packed])
        for copy, made, strided in copies:
            copy.run([made], [strided])
        return [made if one is None else one for one, made in zip(outs, packed)]

    def result(self, outs):
        return tuple(outs) if self._several else outs[0]


def _check_out(array, name, shape, kind):
    if not isinstance(array, _np.ndarray):
        raise TypeError(f"{name} is of type {type(array).__name__}; expected an array")
    if _plain(array).dtype != _plain(_np.empty(0, kind)).dtype:
        raise TypeError(f"{name} is an array of {array.dtype}; expected {kind}")
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")


def _check_apart(outs):
    """Packed outs are compared by the compiled graph; those that are strided it does not see."""
    for i, one in enumerate(outs):
        for j in range(i):
            if one is not None and outs[j] is not None and _share_memory(one, outs[j]):
                raise ValueError(f"out[{j}] and out[{i}] share memory; expected each result at a place of its own")


def _share_memory(a, b):
    try:
        return _np.shares_memory(a, b, max_work=1 << 20)
    except getattr(_np, "exceptions", _np).TooHardError:  # it could not be shown that they do not
        return True


def regular(array):
    """As an array that a graph can be compiled for as it lies."""
    array = _np.asarray(array)
    if not array.dtype.isnative or any(step < 0 or step % array.dtype.itemsize for step in array.strides):
        return _np.array(array, array.dtype.newbyteorder("="), order="C")
    return array


# ---- Graphs ---------------------------------------------------------------------------------------------------------

class _Identity:
    """A key for one object: equal to no other, and without keeping it alive where weak references are possible."""

    __slots__ = ("_id", "_get")

    def __init__(self, one):
        self._id = id(one)
        try:
            self._get = weakref.ref(one)
        except TypeError:
            self._get = lambda: one

    def __hash__(self):
        return hash(self._id)

    def __eq__(self, other):
        one = self._get()
        return one is not None and type(other) is _Identity and one is other._get()


def _key_of(constant):
    """The type and the bits of a constant. By equality 0.0 would be -0.0, and 1 would be 1.0 and True."""
    kind = type(constant)
    if kind in (bool, int, str, bytes, type(None), type(Ellipsis)):
        return kind, constant
    if kind is float:
        return kind, struct.pack("d", constant)
    if kind is complex:
        return kind, struct.pack("dd", constant.real, constant.imag)
    if isinstance(constant, _np.generic):
        return kind, (constant.dtype, constant.tobytes())
    if isinstance(constant, _np.dtype):
        return _np.dtype, constant
    if kind is tuple or (isinstance(constant, tuple) and hasattr(kind, "_fields")):
        return kind, tuple(map(_key_of, constant))
    if kind is frozenset:
        return kind, frozenset(map(_key_of, constant))
    if kind in (slice, range):
        return kind, tuple(map(_key_of, (constant.start, constant.stop, constant.step)))
    if dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen:
        return kind, tuple(_key_of(getattr(constant, field.name)) for field in dataclasses.fields(kind))
    if kind is _MethodType:  # a new object each time that it is looked up
        return kind, (_Identity(constant.__func__), _Identity(constant.__self__))
    if kind is _BuiltinMethodType and not isinstance(constant.__self__, (_ModuleType, type(None))):
        return kind, (constant.__name__, _Identity(constant.__self__))
    if kind is _Fraction:
        return kind, (constant.numerator, constant.denominator)
    if kind is _Decimal:
        return kind, constant.as_tuple()
    hash(constant)  # raises for containers that can change, such as lists
    return kind, _Identity(constant)


def _checksum(argument):
    """For arrays: a function that is recorded can still reach them by another name, and change them only this once."""
    if not isinstance(argument, _np.ndarray):
        return None
    return zlib.crc32(_np.ascontiguousarray(argument).reshape(-1).view(_np.uint8))


class Graph:
    """A function of arrays that runs as one piece; `graph` makes it.

    It is recorded and compiled when it is first called with arrays of these types, shapes and strides.

    >>> import numpy as np, anydml
    >>> double = anydml.graph(lambda x: x + x)
    >>> double(np.int8([1, 2, 3])), double(np.float32([0.5]))
    (array([2, 4, 6], dtype=int8), array([1.], dtype=float32))
    >>> double
    <graph <lambda>, compiled 2 times>
    """

    def __init__(self, function, *, device=None):
        if not callable(function):
            raise TypeError(f"function is {function!r}; expected a function of arrays")
        functools.update_wrapper(self, function)
        self._function, self._device = function, device
        self._kept = _OrderedDict()
        self._short = _core.ShortGraph()
        self._owner = None  # the class that it is a method of

    def __set_name__(self, owner, name):
        self._owner = owner

    def __get__(self, instance, owner=None):
        return self if instance is None else _MethodType(self, instance)

    def __call__(self, *arguments, out=None):
        """Runs it. Arguments that are not arrays (numbers, strings, None) are constants of the recorded graph."""
        result = self._short.call(arguments, out)  # of a form that was there before
        if result is not NotImplemented:
            return result
        outs = list(out) if isinstance(out, (tuple, list)) else None if out is None else [out]
        if any(type(one) is Symbol for one in (*arguments, *(outs or ()))):  # within another graph
            if outs is not None:
                raise TypeError("out is given within another graph; expected none, since that graph makes its results")
            results = self._function(*arguments)
            return tuple(results) if isinstance(results, list) else results
        if _core.place_of(*arguments) == _ON_GPU:
            raise TypeError("a graph takes arrays in the CPU's memory; with device it runs on a GPU and copies them")
        _refuse_masks("graph", *arguments)
        given, taken, give = _libraries.borrow(arguments, outs or [])
        given = [regular(one) if isinstance(one, (_np.ndarray, _np.generic)) else one for one in given]
        recording = self._recording(given)
        arrays = [one for one in given if isinstance(one, _np.ndarray)]
        results = recording.run(arrays, recording.no_outs if outs is None else taken)
        if outs is None and any(map(_libraries._is_foreign, arguments)):
            results = _libraries.borrow(arguments, [None] * len(results))[2](results)
        elif outs is not None:
            results = give(results)
        result = recording.result(results)
        self._short.keep(arguments, out, recording.compiled, result)
        return result

    def _recording(self, given):
        key = []
        for i, one in enumerate(given):
            try:
                key.append((one.dtype, one.shape, one.strides) if isinstance(one, _np.ndarray) else
                           (type(one), _Identity(one)) if i == 0 and self._is_receiver(one) else _key_of(one))
            except TypeError as error:
                raise TypeError(f"an argument is neither an array nor a constant: {error}") from error
        key = tuple(key)
        found = self._kept.get(key)
        if found is None:
            before = list(map(_checksum, given))
            found = Recording(self._function, given, self._device)
            if list(map(_checksum, given)) != before:
                raise ValueError("the function changed an array that is one of its arguments; a graph's function must leave "
                                 "its arguments as they are")
            self._kept[key] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def _is_receiver(self, one):
        """Whether it is the object that a method is called on, which may be of a class without a hash."""
        return self._owner is not None and isinstance(one, self._owner)

    __class_getitem__ = classmethod(_GenericAlias)  # Graph[...] in annotations, as in the stubs

    def __repr__(self):
        return f"<graph {getattr(self._function, '__name__', self._function)!s}, compiled {len(self._kept)} times>"


def graph(function=None, *, device=None):
    """Compiles a function of arrays into a graph: it is recorded once, compiled, and from then on runs as one unit.

    Element-wise operators in a row are one pass over memory, and intermediate results are not materialised unless they
    are needed. The results are those of the function itself, bit for bit. It is a decorator too, of functions and of
    methods. The function is called once for each form of its arguments, with a `Symbol` in place of each array. Other
    arrays that it reads are constants with the elements that they have at that moment, and so are arguments that are
    not arrays: another type or another bit is another graph. It returns an array or a tuple of arrays.

    >>> import numpy as np, anydml
    >>> @anydml.graph
    ... def step(x, bias):
    ...     y = anydml.relu(x + bias)
    ...     return y, anydml.reduce(y, function="SUM", axes=[1])
    >>> y, total = step(np.float32([[1, -2], [3, 4]]), np.float32([0.5, 1]))
    >>> y.tolist(), total.tolist()
    ([[1.5, 0.0], [3.5, 5.0]], [[1.5], [8.5]])
    """
    if function is None:
        return lambda decorated: Graph(decorated, device=device)
    return Graph(function, device=device)
