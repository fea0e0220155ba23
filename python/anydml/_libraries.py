# SPDX-License-Identifier: MIT
"""The libraries that arrays are of: how arrays in the CPU's memory come and go, and, for those on a GPU, memory for
another one and the stream it works on.

The latter is read by _core (device_arrays.h), which asks once for each type of arrays and calls the functions it gets.
"""
import importlib
import sys

import numpy as np


class Library:
    """For libraries of which nothing is known but DLPack and, for numbers and new arrays, Python's array standard."""

    immutable = False
    stream = None      # stream(device): its current stream there, an address as an int. None: it does not tell
    empty_like = None  # empty_like(array): a new one like it
    empty = None       # empty(array, shape, kind): beside it, of its type or that of this name. None: adopt() has to do

    def __init__(self, name):
        self.name = name

    @staticmethod
    def capsule(array, stream):
        """The array by DLPack, ready on the stream: 1 is the default one, -1 asks for no order, None is the CPU's."""
        try:
            return array.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # libraries from before DLPack 1.0 do not know max_version
            return array.__dlpack__(stream=stream)

    def number(self, array, bits, size):
        """An array without dimensions of integers of `size` bytes, beside the array."""
        space = self._space(array)
        return space.full((), bits, dtype=getattr(space, f"int{8 * size}"), device=array.device)

    def finish(self, device):
        """Waits until all work on the device is done. Only libraries that tell their stream have work there later."""

    def adopt(self, array, memory):
        """A new array over memory of ours."""
        return self._space(array).from_dlpack(memory)

    def _space(self, array):
        if not hasattr(array, "__array_namespace__"):
            raise TypeError(f"arrays of {self.name} do not name their functions (__array_namespace__), so that none "
                            "can be made: give out, and arrays instead of numbers")
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
    """Its functions work on the current device, which need not be the array's."""

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


_KNOWN = {"torch": Torch, "cupy": Cupy, "jax": Jax}
_made = {}


def library_of(kind):
    """The library that arrays of this type are of, and its table of C functions for them, or None.

    The table is the type's own alone: what a subclass has changed is known to its __dlpack__.
    """
    name = next((name for name in _names_of(kind) if name in _KNOWN), None) or next(_names_of(kind))
    if name not in _made:
        _made[name] = _KNOWN.get(name, Library)(name)
    return _made[name], kind.__dict__.get("__dlpack_c_exchange_api__")


def _names_of(kind):
    """The names of libraries that this type may be of, the nearest first: a subclass may be anyone's."""
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        yield "jax" if name == "jaxlib" else name


# ---- Arrays in the CPU's memory -------------------------------------------------------------------------------------

def borrow(inputs, outs):
    """NumPy's arrays over the memory of other libraries', and the function that makes of results what is returned."""
    home = next((array for array in inputs if _is_foreign(array)), None)

    def give(results):
        return [out if _is_foreign(out) else
                result if home is None or result is None or (out is not None and out is not True) else
                _to_library(home, np.asarray(result))  # NumPy may have made a scalar of it
                for out, result in zip(outs, results)]

    return [_to_numpy(array) for array in inputs], [_to_numpy(out, writes=True) for out in outs], give


def by_torch_function(function, arrays, arguments, options):
    """What a subclass of PyTorch's tensors makes of a call, by __torch_function__; NotImplemented where none has a say.

    A subclass that has none of its own gets a result of its type, as from PyTorch's functions.
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
    """Whether an operand belongs to another library, and has to come by DLPack."""
    return not isinstance(array, (np.ndarray, np.generic, int, float, list, tuple)) and hasattr(array, "__dlpack__")


def _to_numpy(array, writes=False):
    if not _is_foreign(array):
        return array
    names = list(_names_of(type(array)))
    try:
        if "torch" in names:
            return array.numpy()  # the same memory, for a tenth of what DLPack takes
        view = np.from_dlpack(array)
        if writes and not view.flags.writeable and hasattr(array, "__array__"):
            # By DLPack from before 1.0 all is read-only; by this it need not be, if it is no copy.
            other = np.asarray(array)
            if other.__array_interface__["data"][0] == view.__array_interface__["data"][0]:
                return other
        return view
    except (TypeError, RuntimeError, BufferError) as error:
        known = next((name for name in names if name in _KNOWN), type(array).__module__)
        raise TypeError(f"an array of {known} cannot be taken: {error}") from error


def _to_library(home, result):
    """The result as an array of the library that home is of; NumPy's where that library offers no way."""
    for name in _names_of(type(home)):
        if name == "torch":
            return importlib.import_module(name).from_numpy(result)
        for module in (name, f"{name}.dlpack"):
            try:
                make = getattr(importlib.import_module(module), "from_dlpack", None)
            except ImportError:
                continue
            if make is not None:
                return make(result)
    if hasattr(home, "__array_namespace__"):
        return home.__array_namespace__().from_dlpack(result)
    return result
