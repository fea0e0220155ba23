# SPDX-License-Identifier: MIT
"""What arrays on a GPU need of the library that they are of: memory for another one, and the stream it works on.

Read by _core (device_arrays.h), which asks once for each type of arrays and calls the functions that it gets.
"""


class Library:
    """For libraries of which nothing is known but DLPack and, for numbers and new arrays, Python's array standard."""

    immutable = False
    stream = None      # stream(device): its current stream there, an address as an int. None: it does not tell
    empty_like = None  # empty_like(array): a new one like it
    empty = None       # empty(array, shape): one of its type, beside it. None: adopt() has to do

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

    def empty(self, array, shape):
        return self._torch.empty(shape, dtype=array.dtype, device=array.device)

    def stream(self, device):
        return self._torch.cuda.current_stream(device).cuda_stream

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

    def empty(self, array, shape):
        return self._beside(array, self._cupy.empty, shape, array.dtype)

    def stream(self, device):
        return self._cupy.cuda.get_current_stream(device).ptr

    def number(self, array, bits, size):
        return self._beside(array, self._cupy.full, (), bits, f"i{size}")


_KNOWN = {"torch": Torch, "cupy": Cupy, "jax": Jax}
_made = {}


def library_of(kind):
    """The library that arrays of this type are of, and its table of C functions for them, or None.

    The table is the type's own alone: what a subclass has changed is known to its __dlpack__.
    """
    for base in kind.__mro__:  # a subclass may be anyone's
        name = base.__module__.partition(".")[0]
        name = "jax" if name == "jaxlib" else name
        if name in _KNOWN:
            break
    else:
        name = kind.__module__.partition(".")[0]
    if name not in _made:
        _made[name] = _KNOWN.get(name, Library)(name)
    return _made[name], kind.__dict__.get("__dlpack_c_exchange_api__")
