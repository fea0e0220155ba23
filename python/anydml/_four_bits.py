# SPDX-License-Identifier: MIT
"""Arrays of four-bit elements. ml_dtypes has them as int4 and uint4, with a byte for each element, and the library packs two
elements into a byte. QUANTIZE and DEQUANTIZE take such arrays; `_core` takes them as (type, shape, packed bytes)."""
import numpy as _np

OPERATORS = ("QUANTIZE", "DEQUANTIZE")
NAMES = ("int4", "uint4")


def name_of(kind):
    """"int4" or "uint4" of a dtype, a class of ml_dtypes or a name; None of any other type."""
    name = kind if isinstance(kind, str) else getattr(kind, "name", None) or getattr(kind, "__name__", None)
    return name if name in NAMES else None


def dtype_of(kind):
    """The dtype of a type; of four bits one of ml_dtypes."""
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
    """As `_core` takes it; other arrays as they are."""
    if not _is_array(array):
        return array
    halves = _np.ascontiguousarray(array).reshape(-1).view(_np.uint8) & 15
    halves = _np.concatenate([halves, _np.zeros(halves.size % 2, _np.uint8)])
    return name_of(array.dtype), array.shape, halves[::2] | halves[1::2] << 4


def room_for(array):
    """The same with bytes that are to be written."""
    return (name_of(array.dtype), array.shape, _np.empty((array.size + 1) // 2, _np.uint8)) if _is_array(array) else array


def unpack(packed, array):
    """Writes the elements into the array for which room_for made room."""
    if packed is not array:
        name, _, halves = packed
        values = _np.stack([halves & 15, halves >> 4], -1).reshape(-1)[:array.size].view(_np.int8)
        if name == "int4":
            values = (values ^ 8) - 8
        array[...] = values.reshape(array.shape).astype(array.dtype)
