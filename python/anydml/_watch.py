# SPDX-License-Identifier: MIT
"""Detects whether objects that a function read while it was recorded have changed since.

A recorded graph treats everything that its function read as a constant, except for the arrays among its arguments. This
includes attributes of objects, global names, variables of enclosing functions, and the items of containers in them.
While the function runs, a profile function collects the code that is executed. The names in that code show which
objects it may have read, and a Watch describes these objects: numbers by their values, arrays by their elements, other
objects by their attributes or by their identity. Before each call to the graph, _core compares the description with the
current state.
"""
import collections
import dis
import functools
import operator
import os
import sys
import threading
import types
import weakref

import numpy as np

from . import _core, _libraries

# The kinds of descriptions, which watch.h compares. The comments list the entries that follow the kind.
_VALUE = 0     # value: the same object, or an object that counts as the same constant
_WEAK = 1      # weak reference: the same object
_AGAIN = 2     # number: the object that was described under that number
_SEQUENCE = 3  # type, descriptions
_MAPPING = 4   # type, keys, descriptions: exactly these items
_OBJECT = 5    # type, number of attributes in its dict or -1, names, descriptions; the same for other attributes
_NAMES = 6     # names, descriptions: these items of a dict; the description of an absent one is None
_CELL = 7      # description of its content
_ARRAY = 8     # fingerprint
_TOKEN = 9     # function, result: calling the function with the object returns this

# Packages whose own code reads nothing that affects a recording. Only code that calls them does.
_PACKAGES = frozenset(("anydml", "builtins", "cupy", "dask", "jax", "jaxlib", "numpy", "pandas", "scipy", "torch", "xarray"))
_DYNAMIC = frozenset(("getattr", "vars", "__dict__", "attrgetter", "__getattribute__"))  # read attributes by any name
PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range))
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


_standard = {}  # packages, and whether they are part of Python


def _is_standard(package):
    """Whether a package is part of Python. A user's own module may have the name of a standard module."""
    if package not in _standard:
        file = getattr(sys.modules.get(package), "__file__", None)
        _standard[package] = package in sys.builtin_module_names if file is None else (
            file.startswith(_STANDARD) and "-packages" not in file[len(_STANDARD):])
    return _standard[package]


def _is_library(module):
    package = module.partition(".")[0] if isinstance(module, str) else ""
    return package in _PACKAGES or _is_standard(package)


# ---- Names in code --------------------------------------------------------------------------------------------------

_names_of_code = weakref.WeakKeyDictionary()


def _names(code):
    """Returns the names of the attributes, of the globals and of the imports that code reads."""
    found = _names_of_code.get(code)
    if found is None:
        attributes, global_names, imported = set(), set(), set()
        for one in dis.get_instructions(code):
            if isinstance(one.argval, str):
                if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                    global_names.add(one.argval)
                elif one.opname == "IMPORT_NAME":
                    imported.add(one.argval)
                elif one.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM", "LOAD_CONST"):
                    attributes.add(one.argval)  # a constant may be a name for getattr
        found = _names_of_code[code] = attributes, global_names, imported
    return found


class Executed:
    """Collects the code that this thread executes in a `with` statement, with its dicts of global names."""

    def __init__(self, function):
        self._codes = {}
        while isinstance(function, functools.partial):
            function = function.func
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType):
            self._codes[function.__code__] = function.__globals__

    def __enter__(self):
        self._other = sys.getprofile()
        self.is_whole = self._other is None or callable(self._other)
        if self.is_whole:  # a profiler written in C stays active, and only the function's own code is known
            sys.setprofile(self._see)
        return self

    def __exit__(self, *_):
        if self.is_whole:
            sys.setprofile(self._other)

    def _see(self, frame, event, argument):
        if event == "call" and frame.f_code not in self._codes:
            self._codes[frame.f_code] = frame.f_globals
        if self._other is not None:
            self._other(frame, event, argument)

    def codes(self):
        """Returns the code that does not belong to a library."""
        return {code: its for code, its in self._codes.items() if not _is_library(its.get("__name__"))}


# ---- Descriptions ---------------------------------------------------------------------------------------------------

class _Description:
    """Describes objects. `codes`: the executed code, with its dicts of globals. `is_whole`: whether that is
    complete."""

    def __init__(self, codes, is_whole):
        self._codes, self._attributes = codes, set()
        self._seen, self._visited = {}, set()  # numbers by object id, and the ids of modules, classes and functions
        self._alive, self._waiting = [], collections.deque()
        self.fingerprints, self.roots = [], []
        for code in codes:
            self._attributes |= _names(code)[0]
        self._is_dynamic = not is_whole or any(_DYNAMIC & (_names(code)[0] | _names(code)[1]) for code in codes)

    def add(self, root, value):
        """Adds an object that can be reached through a root."""
        self.roots.append((root, self.of(value)))
        self._finish()

    def add_globals(self):
        namespaces = {}
        for code, its in self._codes.items():
            namespaces.setdefault(id(its), (its, set()))[1].update(_names(code)[1])
            for name in _names(code)[2]:
                for module in (name, f"{its.get('__package__')}.{name}"):  # the second name is for a relative import
                    if isinstance(sys.modules.get(module), types.ModuleType):
                        self.of(sys.modules[module])
        for its, names in namespaces.values():
            self._add_names(its, names)
        self._finish()

    def _finish(self):
        """Describes the objects that other descriptions refer to, one after another, in the order of the roots."""
        while self._waiting:
            root, describe = self._waiting.popleft()
            self.roots.append((root, describe()))

    def _add_names(self, its, names):
        names = tuple(sorted(one for one in names if one in its and not _is_known(its[one])))
        if names:
            self._waiting.append((its, lambda: (_NAMES, names, tuple([self.of(its[one]) for one in names]))))

    def of(self, value):
        """Returns the description of an object."""
        kind = type(value)
        if kind in PLAIN or isinstance(value, (np.generic, np.dtype)):
            return _VALUE, value
        if id(value) in self._seen:
            return _AGAIN, self._seen[id(value)]
        if isinstance(value, np.ndarray) and value.dtype != object:
            return self._of_array(value)
        if isinstance(value, tuple):  # a tuple need only be equal, not the same object
            return _SEQUENCE, kind, tuple(map(self.of, value))
        if isinstance(value, list):
            self._see(value)
            return _SEQUENCE, kind, tuple(map(self.of, list(value)))
        if isinstance(value, dict):
            self._see(value)
            items = list(value.items())
            return _MAPPING, kind, tuple([key for key, _ in items]), tuple([self.of(one) for _, one in items])
        if isinstance(value, (set, frozenset, collections.deque)):
            return _TOKEN, _members, _members(value)
        if isinstance(value, types.FunctionType):
            return self._of_function(value)
        if isinstance(value, (types.ModuleType, type)):
            return self._of_namespace(value)
        for its_kind, names in _PARTS.items():
            if isinstance(value, its_kind):
                return self._of_attributes(value, -1, (), names)
        libraries = set(_libraries.names_of(kind))
        if "torch" in libraries and hasattr(value, "data_ptr"):
            return _TOKEN, _tensor, _tensor(value)
        if libraries & {"pandas", "xarray"} and hasattr(kind, "__array__"):
            return _TOKEN, _converted, _converted(value)
        return self._of_object(value)

    def _see(self, value):
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)

    def _of_array(self, array):
        if not _can_change(array):
            return _WEAK, weakref.ref(array)
        self._see(array)
        self.fingerprints.append(_core.fingerprint(array))
        return _ARRAY, self.fingerprints[-1]

    def add_constant(self, weak):
        """Adds an array that became a constant if something else keeps it alive and it has not been described."""
        array = weak()
        if array is not None and id(array) not in self._seen and array.dtype != object and _can_change(array):
            self.roots.append((weak, self._of_array(array)))

    def _of_function(self, function):
        """Describes a function. The function itself does not change, but if it was executed, its closure variables and
        defaults may."""
        if function.__code__ in self._codes and id(function) not in self._visited:
            self._visited.add(id(function))
            self._alive.append(function)
            for cell in function.__closure__ or ():
                self._waiting.append((cell, functools.partial(self._of_cell, cell)))
            defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
            if any(type(one) not in PLAIN for one in defaults):
                self._waiting.append((function, functools.partial(self._of_attributes, function, -1, (),
                                                                  ("__defaults__", "__kwdefaults__"))))
        return _WEAK, weakref.ref(function)

    def _of_cell(self, cell):
        try:
            return _CELL, self.of(cell.cell_contents)
        except ValueError:  # the cell is empty
            return _CELL, None

    def _of_namespace(self, value):
        """Describes a module, or a class and its bases, by the names that the code mentions."""
        for one in value.__mro__ if isinstance(value, type) else (value,):
            if id(one) not in self._visited and not _is_library(one.__module__ if isinstance(value, type) else one.__name__):
                self._visited.add(id(one))
                self._alive.append(one)
                self._add_names(one.__dict__, self._attributes)
        return _WEAK, weakref.ref(value)

    def _of_object(self, value):
        kind = type(value)
        its = value.__dict__ if kind.__dictoffset__ and isinstance(getattr(value, "__dict__", None), dict) else None
        slots = [name for one in kind.__mro__ for name in one.__dict__ if
                 isinstance(one.__dict__[name], types.MemberDescriptorType)] if kind.__flags__ & _IS_HEAP_TYPE else []
        if its is None and not slots:
            return _identity(value)
        self._of_namespace(kind)
        reads_all = not _is_standard(kind.__module__.partition(".")[0]) and (
            self._is_dynamic or hasattr(kind, "__getattr__") or kind.__getattribute__ is not object.__getattribute__)
        choose = (lambda names: tuple(sorted(map(str, names)))) if reads_all else (
            lambda names: tuple(sorted(self._attributes.intersection(names))))
        return self._of_attributes(value, -1 if its is None else len(its), choose(its or ()), choose(slots))

    def _of_attributes(self, value, count, names, others):
        self._see(value)
        its = () if count < 0 else tuple([self.of(value.__dict__[name]) for name in names])
        found = [getattr(value, name, _ABSENT) for name in others]
        return (_OBJECT, type(value), count, names, its, others,
                tuple([None if one is _ABSENT else self.of(one) for one in found]))


def _is_known(value):
    """Whether the value of a name is a library's module, class or function, which is never replaced."""
    if isinstance(value, types.ModuleType):
        return _is_library(value.__name__)
    return isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) and _is_library(value.__module__)


_ABSENT, _IS_HEAP_TYPE = object(), 1 << 9
# Types whose instances refer to other objects through these attributes.
_PARTS = {types.MethodType: ("__func__", "__self__"), functools.partial: ("func", "args", "keywords"),
          property: ("fget",), staticmethod: ("__func__",), classmethod: ("__func__",)}


def register_parts(kind, names):
    """Registers the attributes through which objects of a type refer to other objects."""
    _PARTS[kind] = names


def _identity(value):
    try:
        return _WEAK, weakref.ref(value)
    except TypeError:
        return _VALUE, value


class _Only:
    """Equal only to an _Only of the same object. It does not keep the object alive if weak references are possible."""

    __slots__ = ("_get",)
    __hash__ = None

    def __init__(self, one):
        try:
            self._get = weakref.ref(one)
        except TypeError:
            self._get = lambda: one

    def __eq__(self, other):
        one = self._get()
        return one is not None and type(other) is _Only and one is other._get()


def _members(container):
    """Returns the members of a set, or of a deque in order, for comparison."""
    if isinstance(container, collections.deque):
        return [_Only(one) if type(one) not in PLAIN else one for one in container]
    return frozenset(container)


def _tensor(tensor):
    """PyTorch counts the changes to a tensor. Inference tensors have no count and are compared by their elements."""
    try:
        version = tensor._version
    except RuntimeError:
        version = _core.fingerprint(tensor.numpy()) if tensor.device.type == "cpu" else None
    return _Only(tensor), version, tensor.data_ptr()


def _converted(value):
    array = np.asarray(value)
    return _Only(value), None if array.dtype == object else _core.fingerprint(array)


def _can_change(array):
    """Whether the memory of an array may be written, which is impossible if all of its bases are read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None and not isinstance(array, bytes)


# ---- Watches --------------------------------------------------------------------------------------------------------

class Watch:
    """The objects that a recorded function read. `arguments`: the arguments of the call; `positions`: the indices of
    the arguments to watch; `constants`: weak references to arrays; `same`: whether two values are the same constant.
    `tree` is the description, or None if nothing can change."""

    def __init__(self, function, executed, arguments, positions, constants, same):
        self._function, self._codes, self._is_whole = function, executed.codes(), executed.is_whole
        self._same, self._constants = same, constants
        self._count, self._objects = len(arguments), [(i, _weak(arguments[i])) for i in positions]
        self._fingerprints = None
        self.renew(arguments)

    def renew(self, arguments):
        """Describes the current state, and returns whether the arrays are unchanged."""
        description = _Description(self._codes, self._is_whole)
        for i, _ in self._objects:
            description.add(i, arguments[i])
        description.add(self._function, self._function)
        description.add_globals()
        for one in self._constants:
            description.add_constant(one)
        before, self._fingerprints = self._fingerprints, description.fingerprints
        roots = tuple([(root, one) for root, one in description.roots if root is not self._function or one[0] != _WEAK])
        self.tree = (self._same, roots) if roots else None
        return before == description.fingerprints

    def holds(self, arguments, contents=True):
        return self.tree is None or _core.watch_holds(self.tree, arguments, contents)

    def arguments(self):
        """Returns a list of arguments with the objects at their positions, or None if one of them is gone."""
        found = [None] * self._count
        for i, get in self._objects:
            found[i] = get()
            if found[i] is None:
                return None
        return found


def _weak(one):
    try:
        return weakref.ref(one)
    except TypeError:
        return lambda: one


_watches, _lock = weakref.WeakSet(), threading.Lock()


def keep(watch):
    """Registers a watch with `Unchanged`, for as long as the watch is alive."""
    if watch.tree is not None:
        with _lock:
            _watches.add(watch)


class Unchanged:
    """Changes that a function itself makes while it is recorded, such as appending to a list of calls or incrementing a
    counter, do not invalidate earlier graphs. Otherwise two graphs would invalidate each other forever."""

    def __enter__(self):
        with _lock:
            every = list(_watches)
        self._held = [(one, arguments) for one in every if (arguments := one.arguments()) is not None and
                      one.holds(arguments, contents=False)]
        return self

    def __exit__(self, *_):
        for one, arguments in self._held:
            if not one.holds(arguments, contents=False) and not one.renew(arguments):
                one.tree = _NEVER


_NEVER = operator.is_, ((None, (_VALUE, _ABSENT)),)  # matches nothing; used if an array has also changed
