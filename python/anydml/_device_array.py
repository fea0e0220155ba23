# SPDX-License-Identifier: MIT
"""Arrays in the memory of any device, including devices that no other library supports."""
import math
import operator

import numpy as np

from . import _core

# NumPy dtypes by the names that _core uses.
_TYPES = {name: np.dtype(name) for name in ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
                                            "uint8", "uint16", "uint32", "uint64")}


class DeviceArray:
    """An array in the memory of a device, packed in C order. `to_device` creates one from a NumPy array.

    This package's functions accept it like any other array, compute on its device, and leave their results there.
    `numpy()` copies it to the CPU. If DLPack has a type for the device, and the device shares its addresses with other
    libraries, `torch.from_dlpack` and similar functions use the same memory.

    >>> import numpy as np, anydml
    >>> x = anydml.to_device(np.float32([[1, 2], [3, 4]]), "cpu")
    >>> anydml.add(x, 0.5).numpy()
    array([[1.5, 2.5],
           [3.5, 4.5]], dtype=float32)
    >>> x.reshape(4)
    DeviceArray(shape=(4,), dtype=float32, device='cpu')
    """

    __slots__ = ("_shape", "_dtype", "_device", "_memory")

    def __init__(self, shape, dtype, device=None):
        """Creates an uninitialized array. `dtype` is a NumPy type or its name. `device` is a device's name; None is the
        default."""
        self._dtype = np.dtype(dtype)
        if self.dtype.name not in _TYPES:
            raise TypeError(f"dtype is {self.dtype.name}; expected one of {', '.join(_TYPES)}")
        try:
            shape = (operator.index(shape),)
        except TypeError:
            shape = tuple(operator.index(size) for size in shape)
        if any(size < 0 for size in shape):
            raise ValueError(f"shape is {shape}; expected sizes of 0 or more")
        if math.prod(shape) * self.dtype.itemsize >= 2 ** 63:
            raise ValueError(f"shape is {shape}, which needs more bytes than can be addressed")
        self._shape = shape
        self._device = _core.device_name(device)
        self._memory = _core.DeviceMemory(self._device, self.dtype.name, shape)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def device(self):
        """The name of the device, as `adapters` lists it."""
        return self._device

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def reshape(self, *shape):
        """Returns an array with a different shape over the same memory. One size may be -1, as in NumPy."""
        sizes = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        result = object.__new__(type(self))
        result._dtype, result._device = self._dtype, self._device
        result._shape = np.broadcast_to(np.False_, self.shape).reshape(sizes).shape  # applies NumPy's rules
        result._memory = self._memory.reshaped(result.shape)
        return result

    def numpy(self):
        """Returns a copy in the CPU's memory."""
        copied = np.empty(self.shape, self.dtype)
        self._memory.read(copied)
        return copied

    def copy_from(self, array):
        """Copies a NumPy array of the same shape and type, or anything that NumPy converts to one, into this array."""
        given = np.ascontiguousarray(array)
        if given.shape != self.shape and np.shape(array) != self.shape:
            raise ValueError(f"array has shape {np.shape(array)}; expected {self.shape}")
        if given.dtype != self.dtype:
            raise TypeError(f"array is {given.dtype.name}; expected {self.dtype.name}")
        self._memory.write(given)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(f"the array is on {self._device}; NumPy can only receive a copy")
        copied = self.numpy()
        return copied if dtype is None else copied.astype(dtype, copy=False)

    def __dlpack_device__(self):
        return self._memory.__dlpack_device__()

    def __dlpack__(self, **_):
        if not self._memory.is_shareable():
            raise BufferError(f"the array is on {self._device}, whose memory DLPack cannot describe; numpy() copies it")
        return self._memory.__dlpack__()

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self):
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype.name}, device={self._device!r})"


def to_device(array, device=None):
    """Returns a copy of a NumPy array, or of anything that NumPy converts to one, in the memory of a device.

    device: a name that `adapters` lists; None is the default.

    >>> import numpy as np, anydml
    >>> x = anydml.to_device(np.float32([1, 2, 3]), "cpu")
    >>> x
    DeviceArray(shape=(3,), dtype=float32, device='cpu')
    >>> x.numpy()
    array([1., 2., 3.], dtype=float32)
    """
    given = np.asarray(array)
    result = DeviceArray(given.shape, given.dtype, device)
    result.copy_from(given)
    return result
