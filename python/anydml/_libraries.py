# SPDX-License-Identifier: MIT
"""Adapters for array libraries: convert CPU arrays, create GPU arrays, and report the current stream.

_core (device_arrays.h) looks up the GPU functions once for each array type.
"""
import importlib
import sys

import numpy as np

from ._device_array import DeviceArray as _DeviceArray


class Library:
    """A library that supports DLPack and, for numbers and new arrays, Python's array API standard."""

    immutable = False
    stream = None      # stream(device): the library's current stream on the device, as an address. None: not reported
    empty_like = None  # empty_like(array): a new, similar array
    empty = None       # empty(array, shape, kind): a new array on its device, of its type or kind. None: use adopt()
    written = None     # written(arrays): reports that they were changed. None: the library does not need this

    def __init__(self, name):
        self.name = name

    @staticmethod
    def capsule(array, stream):
        """Returns the array's DLPack capsule. `stream` is DLPack's number for the stream that may use the array
        (cuda_streams.h), or None for devices without streams."""
        try:
            return array.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # libraries older than DLPack 1.0 do not accept max_version
            return array.__dlpack__(stream=stream)

    def number(self, array, bits, size):
        """Returns a zero-dimensional array with an integer of `size` bytes, on the array's device."""
        space = self._space(array)
        return space.full((), bits, dtype=getattr(space, f"int{8 * size}"), device=array.device)

    def finish(self, device):
        """Waits until all work on the device is done. Only libraries that report their stream may leave work
        pending."""

    def adopt(self, array, memory):
        """Returns a new array over memory that anydml owns."""
        return self._space(array).from_dlpack(memory)

    def _space(self, array):
        if not hasattr(array, "__array_namespace__"):
            raise TypeError(f"arrays of {self.name} do not provide __array_namespace__, so new ones cannot be created: "
                            "pass out, and arrays instead of numbers")
        return array.__array_namespace__()


class Jax(Library):
    immutable = True


class Torch(Library):
    def __init__(self, name):
        import torch

        super().__init__(name)
        self._torch = torch
        self._integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        self.empty_like = torch.empty_like
        self.written = torch._C._increment_version
        try:
            self.written(())
        except TypeError:  # before PyTorch 2.6, the function accepts only a single tensor
            self.written = lambda tensors: [torch._C._increment_version(one) for one in tensors]

    def empty(self, array, shape, kind=None):
        dtype = array.dtype if kind is None else getattr(self._torch, kind)
        return self._torch.empty(shape, dtype=dtype, device=array.device)

    def stream(self, device):
        return self._torch.cuda.current_stream(device).cuda_stream

    def finish(self, device):
        self._torch.cuda.synchronize(device)

    def number(self, array, bits, size):
        return self._torch.full((), bits, dtype=self._integers[size], device=array.device)


class Cupy(Library):
    """CuPy. Its functions use the current device, which may differ from the array's."""

    def __init__(self, name):
        import cupy

        super().__init__(name)
        self._cupy = cupy
        self._current = cupy.cuda.runtime.getDevice

    def _beside(self, array, function, *arguments):
        if array.device.id == self._current():
            return function(*arguments)
        with array.device:
            return function(*arguments)

    def empty_like(self, array):
        return self._beside(array, self._cupy.empty_like, array)

    def empty(self, array, shape, kind=None):
        return self._beside(array, self._cupy.empty, shape, array.dtype if kind is None else kind)

    def stream(self, device):
        return self._cupy.cuda.get_current_stream(device).ptr

    def finish(self, device):
        self._cupy.cuda.Device(device).synchronize()

    def number(self, array, bits, size):
        return self._beside(array, self._cupy.full, (), bits, f"i{size}")


class Own(Library):
    """The library for DeviceArray. Calls wait until their work is done, so there are no streams."""

    def __init__(self, name):
        super().__init__(name)
        self._array = _DeviceArray

    @staticmethod
    def capsule(array, stream):
        return array._memory.__dlpack__()

    def empty_like(self, array):
        return self._array(array.shape, array.dtype, array.device)

    def empty(self, array, shape, kind=None):
        return self._array(shape, array.dtype if kind is None else kind, array.device)

    def number(self, array, bits, size):
        built = self._array((), f"int{8 * size}", array.device)
        built.copy_from(np.asarray(bits, built.dtype))
        return built


_KNOWN = {"torch": Torch, "cupy": Cupy, "jax": Jax, "anydml": Own}
_created = {}


def library_of(kind):
    """Returns the library that an array type belongs to, and the type's table of C functions, or None.

    A subclass does not inherit the table, because it may override __dlpack__.
    """
    name = next((name for name in names_of(kind) if name in _KNOWN), None) or next(names_of(kind))
    if name not in _created:
        _created[name] = _KNOWN.get(name, Library)(name)
    return _created[name], kind.__dict__.get("__dlpack_c_exchange_api__")


def names_of(kind):
    """Returns the names of libraries that a type may belong to, the most derived class first, since any package may
    define subclasses."""
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        yield "jax" if name == "jaxlib" else name


# ---- Arrays in CPU memory -------------------------------------------------------------------------------------------

def borrow(inputs, outs):
    """Returns NumPy arrays over other libraries' memory, and a function that converts the results for the caller."""
    library = next((array for array in inputs if _is_foreign(array)), None)

    def give(results):
        tell_written(outs)
        return [out if _is_foreign(out) else
                result if library is None or result is None or (out is not None and out is not True) else
                _to_library(library, np.asarray(result))  # NumPy may have converted the result to a scalar
                for out, result in zip(outs, results)]

    return [_to_numpy(array) for array in inputs], [_to_numpy(out, writes=True) for out in outs], give


def tell_written(outs):
    """Reports to each library which of its arrays a call has written: PyTorch counts the changes to a tensor."""
    for out in outs:
        if _is_foreign(out) and (written := library_of(type(out))[0].written) is not None:
            written((out,))


def by_torch_function(function, arrays, arguments, options):
    """Lets a subclass of PyTorch's tensors handle a call through __torch_function__, or returns NotImplemented.

    A subclass that does not override it gets a result of its own type, as with PyTorch's functions.
    """
    torch = sys.modules.get("torch")
    if torch is None or not any(isinstance(array, torch.Tensor) and type(array) is not torch.Tensor
                                for array in arrays):
        return NotImplemented
    tensors = [array for array in arrays if isinstance(array, torch.Tensor)]
    if not torch.overrides.has_torch_function(tensors):
        return NotImplemented
    return torch.overrides.handle_torch_function(function, tensors, *arguments, **options)


def _is_foreign(array):
    """Whether an operand belongs to another library and must be converted through DLPack."""
    return not isinstance(array, (np.ndarray, np.generic, int, float, list, tuple)) and hasattr(array, "__dlpack__")


def _to_numpy(array, writes=False):
    if not _is_foreign(array):
        return array
    names = list(names_of(type(array)))
    try:
        if "torch" in names:
            # This is ten times as fast as DLPack. A lazily negated tensor must be resolved, because its memory is not
            # negated yet.
            return array.resolve_neg().numpy() if not writes and array.is_neg() else array.numpy()
        view = np.from_dlpack(array)
        if writes and not view.flags.writeable and hasattr(array, "__array__"):
            # Before DLPack 1.0, every array is read-only. np.asarray may return a writable array if it does not copy.
            other = np.asarray(array)
            if other.__array_interface__["data"][0] == view.__array_interface__["data"][0]:
                return other
        return view
    except (TypeError, RuntimeError, BufferError) as error:
        if str(getattr(array, "dtype", None)) == "torch.bfloat16":
            raise TypeError("a tensor is bfloat16, which functions and anydml.run compute in float32; pass x.float() "
                            "here") from error
        known = next((name for name in names if name in _KNOWN), type(array).__module__)
        raise TypeError(f"cannot use an array of {known}: {error}") from error


def _to_library(library, result):
    """Converts the result to an array from the same library as the array `library`. Returns a NumPy array if that
    library cannot create one."""
    for name in names_of(type(library)):
        if name == "torch":
            return importlib.import_module(name).from_numpy(result)
        for module in (name, f"{name}.dlpack"):
            try:
                make = getattr(importlib.import_module(module), "from_dlpack", None)
            except ImportError:
                continue
            if make is not None:
                return make(result)
    if hasattr(library, "__array_namespace__"):
        return library.__array_namespace__().from_dlpack(result)
    return result
