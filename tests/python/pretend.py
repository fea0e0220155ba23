# SPDX-License-Identifier: MIT
"""Arrays in CPU memory that claim to be on a GPU, to test device arrays without a GPU.

There are three libraries: `pretend`, whose arrays anydml can read only through DLPack; `pretend_streams`, which reports
its stream like CuPy; and `pretend_exchange`, which also has DLPack's table of C functions, like PyTorch. `asked`
records the requests that they received. `kind` is DLPack's device type: 2 for CUDA.
"""
import ctypes
import sys

import numpy as np

from anydml import _libraries

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
asked = []


def _moved(capsule, kind, index):
    """The capsule with a different device in its DLTensor: data, device_type, device_id."""
    device = (ctypes.c_int32 * 2).from_address(_pointer(capsule, b"dltensor") + 8)
    device[:] = kind, index
    return capsule


class Array:
    def __init__(self, memory, index=0, kind=2):
        self.memory, self.index, self.kind = np.asarray(memory), index, kind

    dtype = property(lambda self: self.memory.dtype)
    device = property(lambda self: (self.index, self.kind))

    def __dlpack_device__(self):
        return self.kind, self.index

    def __dlpack__(self, stream=None):
        asked.append(("__dlpack__", stream))
        return _moved(self.memory.__dlpack__(), self.kind, self.index)

    def __array_namespace__(self):
        return sys.modules[__name__]


class StreamArray(Array):
    __module__ = "pretend_streams.arrays"


class Brain(Array):
    """An array of bfloat16, which is a type that NumPy lacks."""
    dtype = "bfloat16"

    def __dlpack__(self, stream=None):
        capsule = super().__dlpack__(stream)
        ctypes.c_uint8.from_address(_pointer(capsule, b"dltensor") + 20).value = 4  # the type code of bfloat16
        return capsule


class _OnCpu:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        return self.capsule


def from_dlpack(memory):
    kind, index = memory.__dlpack_device__()
    capsule = memory.__dlpack__(**({"stream": 1, "copy": None} if kind == 2 else {}))
    return Array(np.from_dlpack(_OnCpu(_moved(capsule, 1, 0))), index, kind)


def full(shape, value, dtype, device):
    return Array(np.full(shape, value, dtype), *device)


int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64


class Streams(_libraries.Library):
    current = 0

    def empty_like(self, array):
        return type(array)(np.empty_like(array.memory), *array.device)

    def empty(self, array, shape, kind=None):
        return type(array)(np.empty(shape, array.dtype if kind is None else kind), *array.device)

    def number(self, array, bits, size):
        asked.append(("number", bits))
        return type(array)(np.full((), bits, f"i{size}"), *array.device)

    def stream(self, device):
        asked.append(("stream", device))
        return self.current


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_View = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
_Stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Exchange(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("older", ctypes.c_void_p), ("others", ctypes.c_void_p * 3),
                ("view", _View), ("current_stream", _Stream)]


@_View
def _view(array, tensor):
    asked.append(("view", None))
    memory, many = array.memory, ctypes.c_int64 * array.memory.ndim
    array.sizes = many(*memory.shape)
    array.strides = many(*(step // memory.itemsize for step in memory.strides))
    code = {"i": 0, "u": 1, "f": 2, "b": 6}[memory.dtype.kind]
    tensor[0] = Tensor(memory.ctypes.data, (array.kind, array.index), memory.ndim, code, 8 * memory.itemsize, 1,
                       array.sizes, array.strides, 0)
    return 0


@_Stream
def _current_stream(kind, index, stream):
    asked.append(("current_stream", index))
    stream[0] = Streams.current
    return 0


_table = _Exchange((1, 3), None, (None, None, None), _view, _current_stream)
_newer = _Exchange((2, 0), ctypes.addressof(_table))  # a newer version, whose functions must not be called
_NAME = b"dlpack_exchange_api"  # capsules keep its address
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class ExchangeArray(Array):
    __module__ = "pretend_exchange"
    __dlpack_c_exchange_api__ = _capsule(ctypes.addressof(_newer), _NAME, None)


_libraries._KNOWN.update(pretend_streams=Streams, pretend_exchange=Streams)
