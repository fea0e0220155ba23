# SPDX-License-Identifier: MIT
"""Arrays of four-bit elements. ml_dtypes' int4 and uint4 use one byte for each element; the library packs two elements
into a byte. QUANTIZE and DEQUANTIZE accept such arrays."""
import numpy as _np

from . import _core

OPERATORS = ("QUANTIZE", "DEQUANTIZE")
NAMES = ("int4", "uint4")


class Packed:
    """An array in the form that `_core` accepts: the name of its type, its shape, and its bytes."""

    __slots__ = ("name", "shape", "bytes")

    def __init__(self, array, bytes_):
        self.name, self.shape, self.bytes = name_of(array.dtype), array.shape, bytes_


_core.Packed = Packed  # the type that _core expects


def name_of(kind):
    """Returns "int4" or "uint4" for such a dtype, class from ml_dtypes or name, and None for any other type."""
    name = kind if isinstance(kind, str) else getattr(kind, "name", None) or getattr(kind, "__name__", None)
    return name if name in NAMES else None


def dtype_of(kind):
    """Returns the dtype for `kind`. Four-bit dtypes come from ml_dtypes."""
    if name_of(kind) is None:
        return kind
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError(f"arrays of {name_of(kind)} need the package ml_dtypes, which is not installed") from error
    return _np.dtype(getattr(ml_dtypes, name_of(kind)))


def _is_array(one):
    return isinstance(one, _np.ndarray) and name_of(one.dtype) is not None


def pack(array):
    """Packs an array of four-bit elements into a Packed; returns other arrays unchanged."""
    if not _is_array(array):
        return array
    halves = _np.ascontiguousarray(array).reshape(-1).view(_np.uint8) & 15
    halves = _np.concatenate([halves, _np.zeros(halves.size % 2, _np.uint8)])
    return Packed(array, halves[::2] | halves[1::2] << 4)


def room_for(array):
    """Returns a Packed of the same type and shape with new bytes for results; returns other arrays unchanged."""
    return Packed(array, _np.empty((array.size + 1) // 2, _np.uint8)) if _is_array(array) else array


def unpack(packed, array):
    """Unpacks the elements into the array that was passed to room_for."""
    if packed is not array:
        values = _np.stack([packed.bytes & 15, packed.bytes >> 4], -1).reshape(-1)[:array.size].view(_np.int8)
        if packed.name == "int4":
            values = (values ^ 8) - 8
        array[...] = values.reshape(array.shape).astype(array.dtype)
