# SPDX-License-Identifier: MIT
"""Graphs: functions of arrays that are recorded once for each form of their arguments and run as one piece.

While a function is recorded its arguments are Symbols: values without elements. A Symbol has an array of its shape,
type and strides that stands for it, over memory that nobody looks at; what NumPy makes of that array, a transposed one
say, is what becomes of the Symbol.
"""
import functools
import mmap
import operator
from collections import OrderedDict as _OrderedDict
from types import GenericAlias as _GenericAlias

import numpy as _np

from . import _calls, _core, _libraries

_MOST_KEPT = 32  # forms of arguments that a graph stays compiled for
# What gives a view of its argument, or a copy where there is none.
_VIEWS = frozenset((_np.reshape, _np.ravel, _np.transpose, _np.expand_dims, _np.squeeze, _np.broadcast_to, _np.moveaxis,
                    _np.swapaxes, _np.lib.stride_tricks.sliding_window_view))


class ElementsNeeded(TypeError):
    """Something asked for the elements of a Symbol, which are not there before the graph runs."""


def _needs_elements(what):
    def refuse(self, *_, **__):
        raise ElementsNeeded(f"{what} needs the elements of a value, which a graph has only when it runs")

    return refuse


class Symbol:
    """A value of a graph that is being recorded: it has a type and a shape, and no elements yet.

    Operators take it as they take an array, and so do ``+``, ``-``, ``*``, ``/`` of floats, ``%`` and comparisons. It can
    be reshaped, transposed, seen as another type, and repeated by ``numpy.broadcast_to``.

    >>> import numpy as np, anydml
    >>> def double(x):
    ...     print(x, x.T)
    ...     return x + x
    >>> anydml.graph(double)(np.int8([[1, 2, 3]]))
    <symbol int8[1, 3]> <symbol int8[3, 1]>
    array([[2, 4, 6]], dtype=int8)
    """

    __slots__ = ("_recorder", "_source", "_start", "_stand_in", "_value")
    __array_ufunc__ = None  # NumPy's arrays beside it leave the operation to it

    def __init__(self, recorder, source, start, stand_in, value=None):
        self._recorder, self._source, self._start = recorder, source, start
        self._stand_in, self._value = stand_in, value

    shape = property(lambda self: self._stand_in.shape, doc="As of an array.")
    dtype = property(lambda self: self._stand_in.dtype, doc="As of an array.")
    ndim = property(lambda self: self._stand_in.ndim, doc="As of an array.")
    size = property(lambda self: self._stand_in.size, doc="As of an array.")
    T = property(lambda self: self.transpose(), doc="With its dimensions in reverse.")

    def __repr__(self):
        return f"<symbol {self.dtype}{list(self.shape)}>"

    def reshape(self, *shape):
        """The same elements in another shape."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._seen(lambda array: array.reshape(shape))

    def transpose(self, *axes):
        """With its dimensions in another order."""
        return self._seen(lambda array: array.transpose(*axes))

    def squeeze(self, axis=None):
        """Without dimensions of size 1."""
        return self._seen(lambda array: array.squeeze(axis))

    def view(self, dtype):
        """Its bits as another type."""
        return self._seen(lambda array: array.view(dtype))

    def astype(self, dtype):
        """Converted, as CAST does."""
        return self if self.dtype == dtype else _calls.run("CAST", self, dtype=dtype)

    def __getitem__(self, where):
        return self._seen(lambda array: _as_array(array[where]))

    def __len__(self):
        return len(self._stand_in)

    def __array_function__(self, function, types, args, kwargs):
        """Functions of NumPy that only look at an array otherwise."""
        if function not in _VIEWS or not args or args[0] is not self:
            return NotImplemented
        return self._seen(lambda array: function(array, *args[1:], **kwargs))

    def _seen(self, look):
        """What becomes of it. Where NumPy would have to copy, the graph copies."""
        seen = look(self._stand_in)
        if not self._recorder.is_within(seen):
            packed = _calls.run("ELEMENT_WISE_IDENTITY", self._plain())
            return packed.view(self.dtype)._seen(look) if packed.dtype != self.dtype else packed._seen(look)
        return Symbol(self._recorder, self._source, self._start, seen)

    def _plain(self):
        return self.view(_np.uint8) if self.dtype == bool else self

    def _id(self):
        """Its number in the graph."""
        if self._value is None:
            array = self._stand_in
            if array.size and (_address(array) != self._start or min(array.strides, default=0) < 0):
                raise NotImplementedError("a part of a value that does not begin with its first element cannot be an "
                                          "operand within a graph")
            self._value = self._recorder.graph.view(self._source, array)
        return self._value

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    item = tolist = __array__ = __bool__ = __int__ = __float__ = __index__ = __complex__ = None  # see below


for _name in ("item", "tolist", "__array__", "__bool__", "__int__", "__float__", "__index__", "__complex__"):
    setattr(Symbol, _name, _needs_elements(_name.strip("_")))


def _binary(name):
    return (lambda self, other: _calls.run(name, self, other)), (lambda self, other: _calls.run(name, other, self))


def _divide(a, b):
    kinds = {one.dtype.kind for one in (a, b) if hasattr(one, "dtype")}
    if kinds != {"f"}:
        raise TypeError("/ is for floats; anydml.divide divides integers")
    return _calls.run("ELEMENT_WISE_DIVIDE", a, b)


def _compare(name, a, b):
    return _calls.run(f"ELEMENT_WISE_LOGICAL_{name}", a, b).view(bool)


Symbol.__add__, Symbol.__radd__ = _binary("ELEMENT_WISE_ADD")
Symbol.__sub__, Symbol.__rsub__ = _binary("ELEMENT_WISE_SUBTRACT")
Symbol.__mul__, Symbol.__rmul__ = _binary("ELEMENT_WISE_MULTIPLY")
Symbol.__mod__, Symbol.__rmod__ = _binary("ELEMENT_WISE_MODULUS_FLOOR")
Symbol.__truediv__, Symbol.__rtruediv__ = _divide, lambda self, other: _divide(other, self)
Symbol.__eq__ = lambda self, other: _compare("EQUALS", self, other)
Symbol.__ne__ = lambda self, other: _calls.run("ELEMENT_WISE_LOGICAL_NOT", (self == other).view(_np.uint8)).view(bool)
Symbol.__lt__ = lambda self, other: _compare("LESS_THAN", self, other)
Symbol.__le__ = lambda self, other: _compare("LESS_THAN_OR_EQUAL", self, other)
Symbol.__gt__ = lambda self, other: _compare("GREATER_THAN", self, other)
Symbol.__ge__ = lambda self, other: _compare("GREATER_THAN_OR_EQUAL", self, other)
Symbol.__hash__ = object.__hash__
Symbol.__neg__ = lambda self: _calls.run("ELEMENT_WISE_NEGATE", self)
Symbol.__abs__ = lambda self: _calls.run("ELEMENT_WISE_ABS", self)


def _address(array):
    return array.__array_interface__["data"][0]


def _as_array(found):
    """NumPy makes a number of a single element, which has no memory of the array's any more."""
    if not isinstance(found, _np.ndarray):
        raise ElementsNeeded("a single element needs the elements of a value; end the index by ... for an array of it")
    return found


class Recorder:
    """A graph while it grows."""

    def __init__(self):
        self.graph = _core.Graph()
        self._memories = []  # (address, bytes, mapping): each larger than those before
        self._constants = {}  # by the array's id, which is kept

    def stand_in(self, shape, dtype, strides=None):
        """An array over memory that nobody looks at."""
        dtype = _np.dtype(dtype)
        shape = _np.broadcast_shapes(shape)
        steps = strides or ()
        bytes_ = dtype.itemsize * (1 + sum((size - 1) * (step // dtype.itemsize) for size, step in zip(shape, steps))
                                   if strides else functools.reduce(operator.mul, shape, 1))
        if not self._memories or self._memories[-1][1] < bytes_:
            memory = mmap.mmap(-1, max(bytes_, mmap.PAGESIZE), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
            self._memories.append((_address(_np.frombuffer(memory, _np.uint8)), len(memory), memory))
        return _np.ndarray(shape, dtype, self._memories[-1][2], strides=strides)

    def is_within(self, array):
        address = _address(array)
        return array.size == 0 or any(start <= address < start + count for start, count, _ in self._memories)

    def symbol(self, source, stand_in):
        return Symbol(self, source, _address(stand_in), stand_in, source)

    def input(self, array):
        """A Symbol for arrays like this one, and what stands for them."""
        plain = array.view(_np.uint8) if array.dtype == bool else array
        stand_in = self.stand_in(plain.shape, plain.dtype, plain.strides if array.size else None)
        symbol = self.symbol(self.graph.input(stand_in), stand_in)
        return (symbol.view(bool) if array.dtype == bool else symbol), stand_in

    def constant(self, array):
        if id(array) not in self._constants:
            kept = array if array.flags.c_contiguous else _np.array(array, order="C")
            self._constants[id(array)] = (array, self.graph.constant(kept))
        return self._constants[id(array)][1]

    def add(self, name, inputs, out, dtype, shape, attributes):
        """Records an operator; as `run`."""
        call = _calls._Call(name, inputs, out, dtype, shape)
        if any(one is not None and one is not True for one in call.outs):
            raise TypeError(f"{call.name}: out is an array; expected none, since a graph makes its results itself")
        arrays = call.arrays([one._stand_in if type(one) is Symbol else one for one in inputs])
        outs = call.new_outs(arrays, call.outs, self.stand_in)
        values = []
        for given, array in zip(inputs, arrays):
            if type(given) is not Symbol:
                values.append(0 if array is None else self.constant(array))
                continue
            if given._recorder is not self:
                raise ValueError(f"{call.name}: an operand is a value of another graph")
            values.append((given if array is given._stand_in else given.view(array.dtype))._id())
        results = self.graph.add(call.name, values, outs, attributes)
        return call.result([None if one is None else self.symbol(value, one) for value, one in zip(results, outs)])

    def output(self, value):
        """Makes it an output, packed: what stands for arrays of it, and its type."""
        if type(value) is not Symbol:
            array = _np.asarray(value)
            plain = array.view(_np.uint8) if array.dtype == bool else array
            stand_in = self.stand_in(plain.shape, plain.dtype)
            value = Symbol(self, self.constant(plain), _address(stand_in), stand_in)
            self.graph.output(value._id())
            return stand_in, array.dtype
        kind = value.dtype
        value = value._plain()
        if not value._stand_in.flags.c_contiguous:
            value = self.add("ELEMENT_WISE_IDENTITY", (value,), None, None, None, {})
        self.graph.output(value._id())
        return value._stand_in, kind


def record(op, inputs, out, dtype, shape, device, attributes):
    """An operator of which an input is a Symbol."""
    if device is not None:
        raise TypeError("device is for operators that run at once; a graph has its own")
    recorder = next(one for one in inputs if type(one) is Symbol)._recorder
    return recorder.add(_core.operator_name(op), inputs, out, dtype, shape, attributes)


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
        results = function(*symbols)
        self._several = isinstance(results, (tuple, list))
        outputs = [recorder.output(one) for one in (results if self._several else (results,))]
        self._outs = [(like.shape, kind) for like, kind in outputs]
        self.no_outs = (None,) * len(outputs)
        outs = [_np.empty(like.shape, like.dtype) for like, _ in outputs]  # which can be written
        self._compiled = _core.Compiled(recorder.graph, likes, outs, device)

    def run(self, arrays, outs):
        """Over arrays as it was recorded for; None among the outs is a new one."""
        if len(outs) != len(self._outs):
            raise ValueError(f"out has {len(outs)} entries; expected {len(self._outs)}, one for each result")
        outs = [_np.empty(shape, kind) if one is None else one for one, (shape, kind) in zip(outs, self._outs)]
        self._compiled.run([_plain(one) for one in arrays], [_plain(one) for one in outs])
        return outs

    def result(self, outs):
        return tuple(outs) if self._several else outs[0]


def _plain(array):
    return array.view(_np.uint8) if getattr(array, "dtype", None) == bool else array


def regular(array):
    """As an array that a graph can be compiled for as it lies."""
    array = _np.asarray(array)
    if not array.dtype.isnative or any(step < 0 or step % array.dtype.itemsize for step in array.strides):
        return _np.array(array, array.dtype.newbyteorder("="), order="C")
    return array


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

    def __call__(self, *arguments, out=None):
        """Runs it. Arguments that are no arrays (numbers, strings, None) are part of what was recorded."""
        if out is None and all(type(one) is _np.ndarray for one in arguments):
            known = self._kept.get(tuple([(one.dtype, one.shape, one.strides) for one in arguments]))
            if known is not None:
                return known.result(known.run(arguments, known.no_outs))
        if any(type(one) is Symbol for one in arguments):  # within another graph
            return self._function(*arguments)
        if _core.place_of(*arguments) == _calls.ON_GPU:
            raise TypeError("a graph takes arrays in the CPU's memory; with device it runs on a GPU and copies them")
        outs = list(out) if isinstance(out, (tuple, list)) else None if out is None else [out]
        given, taken, give = _libraries.borrow(arguments, outs or [])
        given = [regular(one) if isinstance(one, (_np.ndarray, _np.generic)) else one for one in given]
        recording = self._recording(given)
        arrays = [one for one in given if isinstance(one, _np.ndarray)]
        results = recording.run(arrays, recording.no_outs if outs is None else taken)
        if outs is None and any(map(_libraries._is_foreign, arguments)):
            results = _libraries.borrow(arguments, [None] * len(results))[2](results)
        elif outs is not None:
            results = give(results)
        return recording.result(results)

    def _recording(self, given):
        key = tuple((one.dtype, one.shape, one.strides) if isinstance(one, _np.ndarray) else (type(one), one)
                    for one in given)
        try:
            found = self._kept.get(key)
        except TypeError as error:
            raise TypeError(f"an argument is neither an array nor a constant: {error}") from error
        if found is None:
            found = self._kept[key] = Recording(self._function, given, self._device)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    __class_getitem__ = classmethod(_GenericAlias)  # Graph[...] in annotations, as in the stubs

    def __repr__(self):
        return f"<graph {getattr(self._function, '__name__', self._function)!s}, compiled {len(self._kept)} times>"


def graph(function=None, *, device=None):
    """Makes of a function of arrays one that runs as a graph: recorded once, compiled, and from then on one piece.

    Element-wise operators in a row are one pass over memory, and results in between are never whole arrays if nobody
    needs them. The results are those of the function itself, bit for bit. It is a decorator too. The function is called
    once for each form of its arguments, with `Symbol` in place of arrays; arrays that it uses besides are constants,
    and so are arguments that are no arrays. It gives an array, or a tuple of them.

    >>> import numpy as np, anydml
    >>> @anydml.graph
    ... def step(x, bias):
    ...     y = anydml.relu(x + bias)
    ...     return y, anydml.reduce(y, function="SUM", axes=[1], shape=(y.shape[0], 1))
    >>> y, total = step(np.float32([[1, -2], [3, 4]]), np.float32([0.5, 1]))
    >>> y.tolist(), total.tolist()
    ([[1.5, 0.0], [3.5, 5.0]], [[1.5], [8.5]])
    """
    if function is None:
        return lambda decorated: Graph(decorated, device=device)
    return Graph(function, device=device)
