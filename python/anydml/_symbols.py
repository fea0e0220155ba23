# SPDX-License-Identifier: MIT
"""Symbols, which are values without elements, and the Recorder for the operators that are called with them.

While a function is recorded as a graph, its arguments are Symbols. A Symbol has a stand-in: an array with the same
shape, type and strides, over memory that is never read. NumPy rearranges the stand-in, for example transposes it, and
the Symbol is rearranged in the same way.
"""
import math
import mmap
import operator
import weakref

import numpy as _np

from . import _core
from ._call import Call as _Call
from ._specs import SPECS as _SPECS

# NumPy's functions that return a view of their first argument, and functions that return a list of views.
_VIEWS = frozenset((_np.transpose, _np.expand_dims, _np.squeeze, _np.broadcast_to, _np.moveaxis, _np.swapaxes, _np.flip,
                    _np.fliplr, _np.flipud, _np.rot90, _np.diagonal, _np.lib.stride_tricks.sliding_window_view))
_LISTS_OF_VIEWS = frozenset((_np.split, _np.array_split, _np.hsplit, _np.vsplit, _np.dsplit))
# Maps NumPy's other functions and ufuncs to the functions that record them. _recorded.py fills these tables.
FUNCTIONS, UFUNCS = {}, {}


REFUSED = {}  # function name -> a suggested alternative


_INSTEAD = ": docs/python-reference.md lists the functions that can be, and the operators of anydml can be too"


_CODES = "?efdbhilqBHILQ"  # NumPy's codes for the types that CAST supports, and for bool


class ElementsNeeded(TypeError):
    """Raised if code needs the elements of a Symbol, which do not exist before the graph runs."""


_WAYS_OUT = {"array": "; numpy.stack joins values, elements of numpy.zeros_like(x) can be assigned, and an array that a value "
                      "indexes, as in table[i], must be an argument of the function"}


def _needs_elements(what):
    def refuse(*_, **__):
        raise ElementsNeeded(f"{what} needs the elements of a value, which a graph has only when it runs"
                             f"{_WAYS_OUT.get(what, '')}")

    return refuse


class _Storage:
    """The memory that several symbols share, like views in NumPy. It refers to a value of the graph; an assignment
    makes it refer to a new value."""

    __slots__ = ("source", "version", "bytes", "is_array")

    def __init__(self, source, bytes_=None):
        self.source, self.version = source, 0
        self.bytes = bytes_  # None for an argument, whose elements belong to the caller
        self.is_array = False  # whether a zero-dimensional value is an array instead of a number


class Symbol:
    """A value of a graph that is being recorded: it has a type and a shape, but no elements yet.

    It can be used like an array with anydml's operators, Python's own operators, NumPy's ufuncs such as ``numpy.exp``,
    and NumPy's functions such as ``numpy.where``. It has the methods of an array, for example ``x.mean(axis=0)``. It
    can be sliced, reversed, reshaped, transposed, viewed as a different type, and repeated with ``numpy.broadcast_to``.
    Where NumPy returns a view of an array, the graph reads the value itself: nothing is copied.

    >>> import numpy as np, anydml
    >>> def double(x):
    ...     print(x, x.T)
    ...     return x + x
    >>> anydml.graph(double)(np.int8([[1, 2, 3]]))
    <symbol int8[1, 3]> <symbol int8[3, 1]>
    array([[2, 4, 6]], dtype=int8)
    """

    __slots__ = ("_recorder", "_storage", "_start", "_stand_in", "_value", "_version")
    __pandas_priority__ = 10000  # makes pandas leave arithmetic with a symbol to the symbol

    def __init__(self, recorder, storage, start, stand_in, value=None):
        self._recorder, self._storage, self._start = recorder, storage, start
        self._stand_in, self._value, self._version = stand_in, value, storage.version

    _source = property(lambda self: self._storage.source)

    shape = property(lambda self: self._stand_in.shape, doc="As in a NumPy array.")
    dtype = property(lambda self: self._stand_in.dtype, doc="As in a NumPy array.")
    ndim = property(lambda self: self._stand_in.ndim, doc="As in a NumPy array.")
    size = property(lambda self: self._stand_in.size, doc="As in a NumPy array.")
    T = property(lambda self: self.transpose(), doc="The symbol with its dimensions in reverse order.")

    def __repr__(self):
        return f"<symbol {self.dtype}{list(self.shape)}>"

    def reshape(self, *shape, order="C", copy=None):
        """Returns the same elements in a different shape. Values never change, so the graph copies only if needed."""
        if order not in ("C", "F", "A"):
            raise ValueError(f"order is {order!r}; expected 'C', 'F' or 'A'")
        shape = _sizes(shape[0]) if len(shape) == 1 else shape
        if order == "F" or (order == "A" and self._stand_in.flags.fnc):
            return self.T.reshape(shape[::-1], copy=copy).T
        return self._seen(lambda array: _reshaped_in_place(array, shape), copy is not False)

    def transpose(self, *axes):
        """Returns the symbol with its dimensions in a different order."""
        return self._seen(lambda array: array.transpose(*axes))

    def swapaxes(self, axis1, axis2):
        """Returns the symbol with two of its dimensions exchanged."""
        return self._seen(lambda array: array.swapaxes(axis1, axis2))

    def ravel(self, order="C"):
        """Returns the same elements in one dimension."""
        return _raveled(self, order)

    def flatten(self, order="C"):
        """Returns a copy of the elements in one dimension."""
        return _raveled(self, order).copy()

    def copy(self, order="C"):
        """Returns the same elements. Assigning to elements of the copy does not change the original."""
        if self._stand_in.flags.c_contiguous:  # values never change, so both symbols share one value
            bits = self if self.dtype != bool else Symbol(self._recorder, self._storage, self._start,
                                                          self._stand_in.view(_np.uint8))
            built = self._recorder.symbol(bits._id(), self._stand_in)
            built._storage.is_array = not self._is_number()
            return built
        return self._recorder.add("ELEMENT_WISE_IDENTITY", (plain(self),)).view(self.dtype)

    def _is_number(self):
        """Whether NumPy would return an immutable number here instead of an array without dimensions."""
        return self.ndim == 0 and not self._storage.is_array and self._storage.bytes == self.dtype.itemsize

    def _own(self, what="changed in place"):
        """Raises an error if the symbol is an argument or repeats its elements: neither can be changed in place."""
        if self._storage.bytes is None:
            raise TypeError(f"an argument of a graph cannot be {what}, because that would change the caller's array: make a "
                            "copy first, x = x.copy(), or create a new value, x = x + 1 in place of x += 1")
        if any(step == 0 and size > 1 for size, step in zip(self.shape, self._stand_in.strides)):
            raise ValueError(f"a value that repeats its elements cannot be {what}: make a copy first, x = x.copy()")

    def _become(self, value):
        """Replaces all elements of the storage, which changes all of its views."""
        self._storage.source = plain(value).copy()._id()
        self._storage.version += 1

    def squeeze(self, axis=None):
        """Returns the symbol without dimensions of size 1."""
        return self._seen(lambda array: array.squeeze(axis))

    def view(self, dtype):
        """Reinterprets the same bits as a different type."""
        return self._seen(lambda array: array.view(dtype))

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """Converts as CAST does. When converting to bool, nonzero elements become True."""
        dtype = _np.dtype(dtype)
        if self.dtype == dtype:
            return self.copy() if copy else self
        if dtype.char not in _CODES:
            raise TypeError(f"astype: the type is {dtype}; expected bool, float16/32/64, int8 to int64 or uint8 to uint64")
        if not _np.can_cast(self.dtype, dtype, casting):
            raise TypeError(f"astype: a conversion of {self.dtype} to {dtype} is not {casting!r}")
        return self != 0 if dtype == bool else self._recorder.add("CAST", (plain(self),), dtype=dtype)

    def __getitem__(self, where):
        where = where if isinstance(where, tuple) else (where,)
        if any(type(one) not in _PLAIN_INDICES and _is_array(one) for one in where):
            return FUNCTIONS[Symbol.__getitem__](self, where)
        where = tuple(map(_index, where))
        if Ellipsis in where:
            return self._seen(lambda array: array[where])
        # With ... NumPy returns a view even for a single element, instead of a number.
        found = self._seen(lambda array: array[(*where, Ellipsis)])
        if found.ndim:
            return found
        found = found.copy()
        found._storage.is_array = False  # it is a number, which later assignments must not change
        return found

    def __len__(self):
        return len(self._stand_in)

    def __array_function__(self, function, types, args, kwargs):
        """Records NumPy's array functions."""
        if function in FUNCTIONS:
            if kwargs.get("out", self) is None:  # the same as without out
                kwargs = {name: value for name, value in kwargs.items() if name != "out"}
            return fresh(FUNCTIONS[function](*args, **kwargs), args)
        if args and type(args[0]) is Symbol:
            return args[0]._arranged(function, *args[1:], **kwargs)
        raise TypeError(_refused(function.__name__))

    def _arranged(self, function, *args, **kwargs):
        """Returns the result of a NumPy function that rearranges an array."""
        if function is _np.reshape:
            return _reshaped(self, *args, **kwargs)
        if function is _np.ravel:
            return _raveled(self, *args, **kwargs)
        if function in _LISTS_OF_VIEWS:
            return [Symbol(self._recorder, self._storage, self._start, part)
                    for part in function(self._stand_in, *args, **kwargs)]
        if function in _VIEWS:
            return self._seen(lambda array: function(array, *args, **kwargs))
        raise TypeError(_refused(function.__name__))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """Records NumPy's ufuncs, and arithmetic with an array, such as ``array + symbol``."""
        out = options.pop("out", (None,))
        if any(one is not None and type(one) is not Symbol for one in out):
            raise TypeError("an array cannot be changed by a value of a graph: write a = a + x in place of a += x")
        if ufunc not in UFUNCS or method != "__call__" or options:
            what = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
            by = f" with {', '.join(options)}" if options and method == "__call__" and ufunc in UFUNCS else ""
            raise TypeError(_refused(what, by))
        built = UFUNCS[ufunc](*inputs)
        if all(one is None for one in out):
            return fresh(built, inputs)
        if len(out) > 1:
            raise TypeError(_refused(ufunc.__name__, " with out"))
        return changed(out[0], built, f"numpy.{ufunc.__name__}")

    def _seen(self, look, may_copy=True):
        """Returns the same elements, rearranged by NumPy's function `look`. Where NumPy copies, the graph copies."""
        if self._is_number():  # a number becomes an array with its own memory
            self = self.copy()
        seen = look(self._stand_in)
        if seen is not None and self._is_view(seen):
            return Symbol(self._recorder, self._storage, self._start, seen)
        if not may_copy:
            raise ValueError("copy is False, but the elements cannot be rearranged without a copy")
        packed = self._recorder.add("ELEMENT_WISE_IDENTITY", (plain(self),)).view(self.dtype)
        seen = look(packed._stand_in)
        if not packed._is_view(seen):
            raise NotImplementedError("a graph cannot rearrange the elements of a value like this; it supports "
                                      "reshapes, permutations of axes and slices")
        return Symbol(packed._recorder, packed._storage, packed._start, seen)

    def _is_view(self, seen):
        """Whether an array is a view of the stand-in that a graph can read, rather than a copy. The graph counts
        offsets and strides in elements of the view's type; NumPy counts bytes, so a NumPy view may start between two
        elements."""
        own = self._stand_in
        if seen.size == 0 or (seen.itemsize == own.itemsize and (seen.base is own or seen.base is own.base)):
            return True
        address, item = _address(seen), seen.itemsize
        return self._recorder.is_within(address) and (address - self._start) % item == 0 and all(
            step % item == 0 or size == 1 for size, step in zip(seen.shape, seen.strides))

    def _id(self):
        """The symbol's number in the graph."""
        if self._value is None or self._version != self._storage.version:
            array = self._stand_in
            offset = (_address(array) - self._start) // array.itemsize if array.size else 0
            self._value = self._recorder.graph.view(self._storage.source, array, offset)
            self._version = self._storage.version
        return self._value

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __setitem__(self, where, value):
        FUNCTIONS[Symbol.__setitem__](self, where, value)

    item = tolist = __array__ = __bool__ = __int__ = __float__ = __index__ = __complex__ = None  # defined below


for _name in ("item", "tolist", "__array__", "__bool__", "__int__", "__float__", "__index__", "__complex__"):
    setattr(Symbol, _name, _needs_elements(_name.strip("_")))


def fresh(result, operands):
    """Copies a result that is one of the operands. NumPy's result is a new array, which can change independently."""
    if type(result) is not Symbol:
        return result
    for one in operands:
        if type(one) in (list, tuple):
            result = fresh(result, one)
        elif type(one) is Symbol and one._storage is result._storage:
            return result.copy()
    return result


def changed(symbol, value, what):
    """Changes all elements of a symbol in place, and returns it."""
    symbol._own()
    if not _np.can_cast(value.dtype, symbol.dtype, "same_kind"):
        raise TypeError(f"{what}: the result is {value.dtype} and cannot be stored in a value of {symbol.dtype}: "
                        "write x = x * y in place of x *= y, or convert it with astype")
    if value.shape != symbol.shape:
        raise ValueError(f"{what}: the result has the shape {value.shape} and does not fit into a value of the shape "
                         f"{symbol.shape}")
    symbol[...] = value
    return symbol


def _refused(name, by=""):
    instead = REFUSED.get(name) if not by else None
    return f"numpy.{name} cannot be part of a graph{by}" + (_INSTEAD if instead is None else f"; {instead}")


def _reshaped_in_place(array, shape):
    """Returns a view, or None where NumPy would copy the stand-in's elements, which may be many and are never read."""
    if array.flags.c_contiguous:
        return array.reshape(shape)
    seen = array[...]
    try:
        if _HAS_COPY:
            return seen.reshape(shape, copy=False)
        seen.shape = shape
        return seen
    except (AttributeError, ValueError):
        return None  # if the sizes are wrong, reshaping the copy raises the error


_HAS_COPY = _np.lib.NumpyVersion(_np.__version__) >= "2.1.0"


def _sizes(shape):
    """Returns sizes from one number, or from a tuple, a list or an array of numbers."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(shape)


def _reshaped(symbol, shape=None, order="C", *, newshape=None, copy=None):
    """numpy.reshape; the shape was called newshape before NumPy 2.1."""
    return symbol.reshape(newshape if shape is None else shape, order=order, copy=copy)


def _raveled(symbol, order="C"):
    """numpy.ravel; the order K is the order of the elements in memory."""
    if order == "K":
        flags = symbol._stand_in.flags
        if not flags.forc:
            raise NotImplementedError("ravel with order='K' of a strided value cannot be part of a graph; use 'C', "
                                      "'F' or 'A'")
        order = "C" if flags.c_contiguous else "F"
    return symbol.reshape(-1, order=order)


def _index(part):
    """Converts a part of an index that produces a view."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if not isinstance(part, (bool, _np.bool_, Symbol)):
        try:
            return operator.index(part)
        except TypeError:
            pass
    raise TypeError(f"an index is of type {type(part).__name__}; expected integers, slices, None, ... and arrays of "
                    "integers")


def _is_array(part):
    """Whether a part of an index is an array of indices, and not an integer, a slice, None or ..."""
    if isinstance(part, (list, tuple)):
        return True
    return isinstance(part, (_np.ndarray, Symbol)) and (part.ndim > 0 or type(part) is Symbol or part.dtype == bool)


_PLAIN_INDICES = frozenset((int, slice, type(None), type(Ellipsis)))


_address = _core.address_of


# ---- Recording ------------------------------------------------------------------------------------------------------

class Recorder:
    """A graph under construction."""

    def __init__(self):
        self.graph = _core.Graph()
        self._memories = []  # (address, bytes, mapping), each larger than the previous one
        self._constants = {}  # (array, a copy of its elements, value) by the array's id; the array is kept alive

    def stand_in(self, shape, dtype, strides=None):
        """Returns an array over memory that is never read."""
        dtype = _np.dtype(dtype)
        shape = shape if type(shape) is tuple else _np.broadcast_shapes(shape)
        bytes_ = dtype.itemsize * (1 + sum((size - 1) * (step // dtype.itemsize) for size, step in zip(shape, strides))
                                   if strides else math.prod(shape))
        if not self._memories or self._memories[-1][1] < bytes_:
            try:
                memory = mmap.mmap(-1, max(bytes_, mmap.PAGESIZE), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
            except (OSError, OverflowError, ValueError):  # the array is larger than the address space
                raise MemoryError(f"a value of shape {list(shape)} and type {dtype} has {bytes_} bytes, which is more "
                                  "than can be addressed") from None
            self._memories.append((_address(_np.frombuffer(memory, _np.uint8)), len(memory), memory))
        return _np.ndarray(shape, dtype, self._memories[-1][2], strides=strides)

    def stand_in_at(self, address, count, dtype):
        """Returns a one-dimensional array over the memory of stand-ins, starting at an address."""
        start, _, memory = next(one for one in self._memories if one[0] <= address < one[0] + one[1])
        return _np.ndarray((count,), dtype, memory, address - start)

    def is_within(self, address):
        """Whether an address is in the memory of stand-ins."""
        return any(start <= address < start + count for start, count, _ in self._memories)

    def symbol(self, source, stand_in, is_argument=False):
        address, _, memory = self._memories[-1]
        return Symbol(self, _Storage(source, None if is_argument else stand_in.nbytes),
                      address if stand_in.base is memory else _address(stand_in), stand_in, source)

    def input(self, array):
        """Returns a Symbol for an argument with the form of this array, and the Symbol's stand-in."""
        like = plain(array)
        stand_in = self.stand_in(like.shape, like.dtype, like.strides if array.size else None)
        symbol = self.symbol(self.graph.input(stand_in), stand_in, is_argument=True)
        return (symbol.view(bool) if array.dtype == bool else symbol), stand_in

    def known(self, array):
        """Returns a Symbol for a constant, so that values computed from it become part of the graph."""
        like = _np.asarray(plain(array), order="C")
        stand_in = self.stand_in(like.shape, like.dtype, like.strides if array.size else None)
        symbol = self.symbol(self.constant(like), stand_in)
        symbol._storage.is_array = True
        return symbol.view(bool) if array.dtype == bool else symbol

    def constant(self, array):
        """Adds a constant with the array's current elements, which the recorded function may change later."""
        _, before, value = self._constants.get(id(array), (None, None, None))
        if before is None or (before is not array and not _have_same_bits(before, array)):
            kept = _np.array(array, order="C")
            value = self.graph.constant(kept)
            self._constants[id(array)] = (array, kept, value)
        return value

    def owners_of_constants(self):
        """Returns weak references to the arrays from which the constants were copied."""
        owners = {}
        for array, _, _ in self._constants.values():
            while isinstance(array.base, _np.ndarray):
                array = array.base
            owners[id(array)] = weakref.ref(array)
        return list(owners.values())

    def add(self, name, inputs, out=None, dtype=None, shape=None, attributes={}):
        """Records an operator, with the same arguments as `run`."""
        if out is None and all(map(_is_plain, inputs)):
            if name in _PLAIN_OPERATORS:
                return self._add_plain(name, inputs, dtype, shape, attributes)
            if name in _PLAIN_WITH_SEVERAL and shape is None and (dtype is None or len(dtype) == _PLAIN_WITH_SEVERAL[name]):
                return self._add_several(name, inputs, dtype, attributes)
        call = _Call(name, inputs, out, dtype, shape)
        if any(one is not None and one is not True for one in call.outs):
            raise TypeError(f"{call.name}: out is an array; expected none, since a graph allocates its results")
        arrays = call.arrays([one._stand_in if type(one) is Symbol else one for one in inputs])
        outs = call.new_outs(arrays, call.outs, attributes, self.stand_in)
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

    def _add_plain(self, name, inputs, dtype, shape, attributes):
        """Like `add`, but three times as fast, for operators with one output and operands that need no conversion."""
        arrays = [one._stand_in if type(one) is Symbol else one for one in inputs]
        if dtype is None or shape is None:
            shape = shape if shape is None or type(shape) is tuple else _np.broadcast_shapes(shape)
            dtype = None if dtype is None else _np.dtype(dtype)
            ((shape, dtype),) = _core.infer_outputs(name, arrays, (True,), (dtype,), (shape,), attributes)
        out = self.stand_in(shape, dtype)
        (value,) = self.graph.add(name, self._values(name, inputs), [out], attributes)
        return self.symbol(value, out)

    def _add_several(self, name, inputs, dtypes, attributes):
        """Like `_add_plain`, for operators with several outputs."""
        arrays = [one._stand_in if type(one) is Symbol else one for one in inputs]
        none = (None,) * _PLAIN_WITH_SEVERAL[name]
        dtypes = none if dtypes is None else [None if one is None else _np.dtype(one) for one in dtypes]
        inferred = _core.infer_outputs(name, arrays, (True,) * len(none), dtypes, none, attributes)
        outs = [self.stand_in(*one) for one in inferred]
        values = self.graph.add(name, self._values(name, inputs), outs, attributes)
        return tuple([self.symbol(value, one) for value, one in zip(values, outs)])

    def _values(self, name, inputs):
        values = []
        for one in inputs:
            if type(one) is not Symbol:
                values.append(0 if one is None else self.constant(one))
                continue
            if one._recorder is not self:
                raise ValueError(f"{name}: an operand is a value of another graph")
            values.append(one._id())
        return values

    def output(self, value):
        """Makes a value an output of the graph, in packed form. Returns a stand-in for the output, and its type."""
        if type(value) is not Symbol:
            array = _np.asarray(value)
            stand_in = self.stand_in(array.shape, plain(array).dtype)
            source = self.constant(_np.asarray(plain(array), order="C"))
            value = Symbol(self, _Storage(source), _address(stand_in), stand_in)
            self.graph.output(value._id())
            return stand_in, array.dtype
        kind = value.dtype
        value = plain(value)
        if not value._stand_in.flags.c_contiguous:
            value = self.add("ELEMENT_WISE_IDENTITY", (value,))
        self.graph.output(value._id())
        return value._stand_in, kind


# Operators whose outputs are always present, with the number of their outputs.
_PLAIN_WITH_SEVERAL = {name: len(spec.outputs) for name, spec in _SPECS.items() if spec.inputs and not any(
    one.array or one.optional for one in spec.outputs)}
_PLAIN_OPERATORS = frozenset(name for name, count in _PLAIN_WITH_SEVERAL.items() if count == 1)


def _is_plain(operand):
    kind = type(operand)
    return operand is None or ((kind is Symbol or kind is _np.ndarray) and operand.dtype.num != _TRUTH)


_TRUTH = _np.dtype(bool).num


def _have_same_bits(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    bits = f"u{a.dtype.itemsize}"
    return _np.array_equal(a.view(bits), b.view(bits))


def record(op, inputs, out, dtype, shape, device, attributes):
    """Records an operator that has a Symbol as an input."""
    if device is not None:
        raise TypeError("device is for operators that run immediately; a graph has its own")
    recorder = next(one for one in inputs if type(one) is Symbol)._recorder
    return recorder.add(_core.operator_name(op), inputs, out, dtype, shape, attributes)


def plain(value):
    """Converts a bool array or Symbol to UINT8."""
    return value.view(_np.uint8) if getattr(value, "dtype", None) == bool else value
