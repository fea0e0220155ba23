# SPDX-License-Identifier: MIT
"""Graphs: functions of arrays that are recorded once for each form of their arguments and run as one unit."""
import copy
import dataclasses
import functools
import inspect
import math
import operator
import struct
import sys
import weakref
import zlib
from collections import OrderedDict as _OrderedDict
from decimal import Decimal as _Decimal
from fractions import Fraction as _Fraction
from types import (BuiltinMethodType as _BuiltinMethodType, FunctionType as _FunctionType, GenericAlias as _GenericAlias, MethodType as _MethodType,
                   ModuleType as _ModuleType)

import numpy as _np

from . import _core, _libraries, _recorded_order, _recorded_products, _watch  # noqa: F401, needed by Symbols
from ._call import ON_GPU as _ON_GPU
from ._dispatch import refuse_masks as _refuse_masks
from ._symbols import Recorder, Symbol, plain as _plain
from ._trees import put_together as _put_together, taken_apart as _taken_apart

_MAX_KEPT = 32  # the maximum number of argument forms for which a graph stays compiled


class Recording:
    """A function that was recorded and compiled for arrays of certain types, shapes and strides."""

    def __init__(self, function, arguments, device):
        """`function` accepts a list with a Symbol in place of each array."""
        recorder = Recorder()
        likes, symbols = [], []
        for one in arguments:
            if isinstance(one, _np.ndarray):
                symbol, like = recorder.input(one)
                likes.append(like)
            symbols.append(symbol if isinstance(one, _np.ndarray) else one)
        self._compile(recorder, likes, function(symbols), device)
        self.constants = recorder.owners_of_constants()

    watch = None  # a Watch on the objects that the function read

    def _compile(self, recorder, likes, results, device):
        leaves = []
        self._form = _taken_apart(results, leaves)
        self._is_tuple = self._form in ((kind, None, (None,) * len(leaves)) for kind in (tuple, list))
        outputs = [recorder.output(one) for one in leaves]
        self._outs = [(like.shape, kind) for like, kind in outputs]
        self.no_outs, self._guard = (None,) * len(outputs), None
        outs = [_np.empty(like.shape, like.dtype) for like, _ in outputs]  # writable
        self.compiled = _core.Compiled(recorder.graph, likes, outs, device)

    def run(self, arrays, outs):
        """Runs over arrays of the recorded form. None in `outs` requests a new array. Compiled graphs write packed
        results, so a strided out is copied from a packed array."""
        if len(outs) != len(self._outs):
            raise ValueError(f"out has {len(outs)} entries; expected {len(self._outs)}, one for each result")
        packed, copies = [], []
        for i, (one, (shape, kind)) in enumerate(zip(outs, self._outs)):
            if one is not None:
                _check_out(one, "out" if len(outs) == 1 else f"out[{i}]", shape, kind)
            if one is not None and one.flags.c_contiguous:
                packed.append(one)
            elif not self.compiled.keeps_elements(i):
                packed.append(_np.empty(shape, kind))
            else:
                packed.append(_np.zeros(shape, kind) if one is None else _np.ascontiguousarray(one))
            if one is not None and one is not packed[-1]:
                # Compile before anything is written, because compiling reports an out that overlaps itself.
                packed_out, strided = _plain(packed[-1]), _plain(one)
                copies.append((_core.Compiled("ELEMENT_WISE_IDENTITY", [packed_out], [strided], {}, None), packed_out,
                               strided))
        if copies:
            _check_apart(outs)
        self.compiled.run([_plain(one) for one in arrays], [_plain(one) for one in packed])
        for copy, packed_out, strided in copies:
            copy.run([packed_out], [strided])
        return [packed_out if one is None else one for one, packed_out in zip(outs, packed)]

    def run_on_device(self, arrays, outs, device):
        """Runs on arrays from other libraries, on the GPU it was compiled for."""
        if len(outs) != len(self._outs):
            raise ValueError(f"out has {len(outs)} entries; expected {len(self._outs)}, one for each result")
        if self._guard is None:  # the work continues after the call and reads the compiled graph
            library = _libraries.library_of(type(arrays[0]))[0]
            self._guard = weakref.finalize(self, _release_later, library, _core.device_layouts(arrays[:1])[1],
                                           self.compiled)
            self._guard.atexit = False
        targets = [one if one is None or _is_packed_on_device(one, f"out[{i}]", *like) else None
                   for i, (one, like) in enumerate(zip(outs, self._outs))]
        results = self.compiled.run_on_device(arrays, targets, [kind == bool for _, kind in self._outs], device)
        for one, target, packed_out in zip(outs, targets, results):
            if one is not target:
                _core.run_on_device("ELEMENT_WISE_IDENTITY", [packed_out], [one], {}, None, [[0]], [(True, "", None)])
        return [packed_out if one is None else one for one, packed_out in zip(outs, results)]

    def result(self, outs):
        if self._form is None:
            return outs[0]
        return tuple(outs) if self._is_tuple else _put_together(self._form, iter(outs), tuple)


def _release_later(library, device, compiled):
    """Waits for work that may still read the compiled graph, which is released together with this call's arguments.
    `device` is the library's device number, or None for a device without streams, where calls wait for their work."""
    if device is not None:
        library.finish(device)


def _is_packed_on_device(array, name, shape, kind):
    if _core.array_kind(array) != _ON_GPU:
        raise TypeError(f"{name} is of type {type(array).__name__} and not on a GPU; expected an array like the inputs")
    found, its_shape, strides = _core.device_layouts([array])[2][0]
    if _np.dtype(found) != kind:
        raise TypeError(f"{name} is an array of {found}; expected {kind}")
    if its_shape != shape:
        raise ValueError(f"{name} has the shape {its_shape}; expected {shape}")
    packed = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return all(size == 1 or one == other for size, one, other in zip(shape, strides, packed)) or 0 in shape


def _check_out(array, name, shape, kind):
    if not isinstance(array, _np.ndarray):
        raise TypeError(f"{name} is of type {type(array).__name__}; expected an array")
    if _plain(array).dtype != _plain(_np.empty(0, kind)).dtype:
        raise TypeError(f"{name} is an array of {array.dtype}; expected {kind}")
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")


def _check_apart(outs):
    """Checks that strided outs do not overlap. The compiled graph checks only packed outs."""
    for i, one in enumerate(outs):
        for j in range(i):
            if one is not None and outs[j] is not None and _share_memory(one, outs[j]):
                raise ValueError(f"out[{j}] and out[{i}] share memory; expected separate memory for each result")


def _share_memory(a, b):
    try:
        return _np.shares_memory(a, b, max_work=1 << 20)
    except getattr(_np, "exceptions", _np).TooHardError:  # NumPy could not determine whether they overlap
        return True


def regular(array):
    """Returns the array, copied if necessary into a layout that graphs support."""
    array = _np.asarray(array)
    if not array.dtype.isnative or any(step < 0 or step % array.dtype.itemsize for step in array.strides):
        return _np.array(array, array.dtype.newbyteorder("="), order="C")
    return array


# ---- Graphs ---------------------------------------------------------------------------------------------------------

class _Identity:
    """A unique key for one object. It does not keep the object alive if weak references are possible."""

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
    """Returns the type and the bits of a constant. Under ==, 0.0 would equal -0.0, and 1 would equal 1.0 and True."""
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
    if kind is _MethodType:  # each attribute lookup creates a new method object
        return kind, (_Identity(constant.__func__), _Identity(constant.__self__))
    if kind is _BuiltinMethodType and not isinstance(constant.__self__, (_ModuleType, type(None))):
        return kind, (constant.__name__, _Identity(constant.__self__))
    if kind is _Fraction:
        return kind, (constant.numerator, constant.denominator)
    if kind is _Decimal:
        return kind, constant.as_tuple()
    hash(constant)  # raises an error for mutable containers, such as lists
    return kind, _Identity(constant)


def _is_same(a, b):
    """Whether two values count as the same constant."""
    return _key_of(a) == _key_of(b)


def _checksum(argument):
    """A checksum of an array, to detect whether the function modifies it during recording, even through an alias."""
    if not isinstance(argument, _np.ndarray):
        return None
    return zlib.crc32(_np.ascontiguousarray(argument).reshape(-1).view(_np.uint8))


def _holds_array(container):
    """Whether a tuple, a list or a dict among the arguments contains an array."""
    leaves = []
    _taken_apart(container, leaves)
    return any(isinstance(one, (_np.ndarray, Symbol)) or _libraries._is_foreign(one) for one in leaves)


def _way_out(argument):
    """Suggests how to turn an argument into an array or a constant, if that is possible."""
    kind = type(argument)
    if hasattr(kind, "to_numpy"):
        return "pass its elements, x.to_numpy()"
    if kind is list:
        return "pass an array, numpy.asarray(x), or a tuple for a constant"
    if hasattr(kind, "__array__") or hasattr(kind, "__array_interface__"):
        return "pass an array, numpy.asarray(x)"
    return None


def _like(kind, shape, strides):
    """Returns a CPU array that has the form of an array on a GPU but no memory of its own."""
    dtype = _np.dtype(kind)
    is_empty = 0 in shape
    return _np.lib.stride_tricks.as_strided(_np.empty(1, dtype), shape, None if is_empty else
                                            [dtype.itemsize * step for step in strides], writeable=False)


def _without_reversal(array, strides):
    if all(step >= 0 for step in strides):
        return array
    return _core.run_on_device("ELEMENT_WISE_IDENTITY", [array], [None], {}, None, [[0]], [(True, "", None)])[0]


class Graph:
    """A function of arrays that runs as one unit; `graph` creates it.

    The function is recorded and compiled when it is first called with arrays of certain types, shapes and strides. A
    graph can be pickled if its function can be; a copy or an unpickled graph compiles again.

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
        self._fast = _core.FastGraph()
        self._owner = None  # the class that defines the function, if it is a method
        self._signature = None  # the function's signature, computed when it is first needed
        self._twin = None  # the function under another name

    def __set_name__(self, owner, name):
        self._owner = owner

    def __get__(self, instance, owner=None):
        return self if instance is None else _MethodType(self, instance)

    def __call__(self, *arguments, out=None, **named):
        """Runs the graph. Non-array arguments (numbers, strings, None) are constants in the recorded graph."""
        result = NotImplemented if named else self._fast.call(arguments, out)  # this succeeds if the form is known
        if result is not NotImplemented:
            return result
        outs = list(out) if isinstance(out, (tuple, list)) else None if out is None else [out]
        arguments, named = self._by_position(arguments, named) if named else (arguments, named)
        leaves = []
        form = (tuple([_taken_apart(one, leaves, _holds_array) for one in arguments]),
                tuple([(name, _taken_apart(one, leaves, _holds_array)) for name, one in named.items()]))
        if any(type(one) is Symbol for one in (*leaves, *(outs or ()))):  # the call is inside another graph
            if outs is not None:
                raise TypeError("out is given within another graph; expected none, since that graph allocates results")
            results = []
            return _put_together(_taken_apart(self._function(*arguments, **named), results), iter(results), tuple)
        if _core.array_kind(*leaves) == _ON_GPU:
            return self._on_gpu(leaves, form, outs)
        _refuse_masks("graph", *leaves)
        given, taken, give = _libraries.borrow(leaves, outs or [])
        given = [regular(one) if isinstance(one, (_np.ndarray, _np.generic)) else one for one in given]
        recording = self._recording(given, form)
        arrays = [one for one in given if isinstance(one, _np.ndarray)]
        results = recording.run(arrays, recording.no_outs if outs is None else taken)
        if outs is None and any(map(_libraries._is_foreign, leaves)):
            results = _libraries.borrow(leaves, [None] * len(results))[2](results)
        elif outs is not None:
            results = give(results)
        result = recording.result(results)
        if not named:
            watch = recording.watch
            self._fast.add(arguments, out, recording.compiled, result,
                             None if watch.tree is None else weakref.ref(watch))
        return result

    def _by_position(self, arguments, named):
        """Moves named arguments to their positions, if they have one: f(x, k=2) becomes f(x, 2)."""
        if self._signature is None:
            try:
                self._signature = inspect.signature(self._function)
            except (TypeError, ValueError):  # the function has no signature
                return arguments, named
        bound = self._signature.bind(*arguments, **named)
        return bound.args, bound.kwargs

    def _on_gpu(self, leaves, form, outs):
        """Compiles the function for the GPU where the arrays are, and runs it on the library's stream."""
        is_array = [isinstance(one, _np.ndarray) or _libraries._is_foreign(one) for one in leaves]
        arrays = [one for one, is_one in zip(leaves, is_array) if is_one]
        device, _, layouts = _core.device_layouts(arrays)
        if any(step < 0 for _, _, strides in layouts for step in strides):
            arrays = [_without_reversal(one, layout[2]) for one, layout in zip(arrays, layouts)]
            device, _, layouts = _core.device_layouts(arrays)
        likes = iter([_like(*layout) for layout in layouts])
        recording = self._recording([next(likes) if is_one else one for one, is_one in zip(leaves, is_array)], form, device)
        return recording.result(recording.run_on_device(arrays, recording.no_outs if outs is None else outs, self._device))

    def _recording(self, given, form, gpu=None):
        """`gpu` is the name of the device where the arrays are; `given` then contains CPU arrays of the same form."""
        key = []
        for i, one in enumerate(given):
            try:
                key.append((one.dtype, one.shape, one.strides) if isinstance(one, _np.ndarray) else
                           (type(one), _Identity(one)) if i == 0 and self._is_receiver(one) else _key_of(one))
            except TypeError as error:
                raise TypeError(f"an argument is of type {type(one).__name__} and neither an array nor a constant: "
                                f"{_way_out(one) or error}") from error
        if gpu is not None or form != ((None,) * len(given), ()):  # otherwise the number of arguments is enough
            key.append((gpu, form))
        key = tuple(key)
        found = self._kept.get(key)
        if found is None or not found.watch.holds(given):
            found = self._record(given, form, gpu)
            self._kept[key] = found
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        return found

    def _record(self, given, form, gpu):
        before = list(map(_checksum, given)) if gpu is None else None
        with _watch.Unchanged(), _watch.Executed(self._function) as executed:
            recording = Recording(functools.partial(self._call, form), given, self._device if gpu is None else gpu)
        if gpu is None and list(map(_checksum, given)) != before:
            raise ValueError("the function changed an array that is one of its arguments; a graph's function must "
                             "not modify its arguments")
        objects = [i for i, one in enumerate(given) if not isinstance(one, (_np.ndarray, _np.generic, *_watch.PLAIN))]
        recording.watch = _watch.Watch(self._function, executed, given, objects, recording.constants, _is_same)
        _watch.keep(recording.watch)
        return recording

    def _call(self, form, leaves):
        values = iter(leaves)
        arguments = [_put_together(one, values) for one in form[0]]
        return self._function(*arguments, **{name: _put_together(one, values) for name, one in form[1]})

    def _is_receiver(self, one):
        """Whether an argument is the object that a method is called on. Its class need not be hashable."""
        return self._owner is not None and isinstance(one, self._owner)

    __class_getitem__ = classmethod(_GenericAlias)  # Graph[...] in annotations, as in the stubs

    @property
    def _apart(self):
        """The function under a name of its own, this attribute, so that pickle finds it: where `graph` is a decorator, the
        function's name belongs to the graph."""
        if self._twin is None:
            own = self._function
            self._twin = _FunctionType(own.__code__, own.__globals__, own.__name__, own.__defaults__, own.__closure__)
            self._twin.__kwdefaults__, self._twin.__module__ = own.__kwdefaults__, own.__module__
            self._twin.__qualname__ = own.__qualname__ + _APART
        return self._twin

    def __reduce_ex__(self, protocol):
        function = self._function
        if isinstance(function, _FunctionType) and _named(function.__module__, function.__qualname__) is self:
            if protocol < 4:  # these protocols pickle an attribute by pickling its object, which is this graph
                return function.__qualname__
            function = self._apart
        return _graph_again, (type(self), function, self._device), self._owner

    def __setstate__(self, owner):
        self._owner = owner

    def __copy__(self):
        copied = type(self)(self._function, device=self._device)
        copied._owner = self._owner
        return copied

    def __deepcopy__(self, memo):
        copied = type(self)(copy.deepcopy(self._function, memo), device=self._device)
        copied._owner = self._owner
        return copied

    def __repr__(self):
        return f"<graph {getattr(self._function, '__name__', self._function)!s}, compiled {len(self._kept)} times>"


_watch.register_parts(Graph, ("_function",))
_APART = "._apart"


def _named(module, name):
    """Returns what a module has under a name, such as a method of a class; None if there is nothing."""
    try:
        return operator.attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None


def _graph_again(kind, function, device):
    """Returns a graph that was pickled: the module's own one, which may have compiled graphs, or a new one."""
    name = getattr(function, "__qualname__", "")
    found = _named(function.__module__, name.removesuffix(_APART)) if name.endswith(_APART) else None
    return found if type(found) is kind and found._twin is function else kind(function, device=device)


def graph(function=None, *, device=None):
    """Compiles a function of arrays into a graph: it is recorded once, compiled, and then runs as one unit.

    A chain of element-wise operators runs in one pass over memory, and intermediate results are materialized only if
    they are needed. The results equal those of the function itself, bit for bit. `graph` also works as a decorator for
    functions and methods. The function is called once for each form of its arguments, with a `Symbol` in place of each
    array. Operators, NumPy's functions and Python's arithmetic accept symbols. Other arrays that the function reads
    become constants with their current elements. Arguments that are not arrays are also constants: a value with a
    different type or different bits leads to a new graph. If anything that the function read has changed, such as an
    attribute or the elements of an array, the next call records the function again. The function returns an array, or a
    tuple or a dict of arrays. Arrays on a GPU stay there.

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
