# SPDX-License-Identifier: MIT
"""Reads the elements of ONNX's tensors, from the message or from a file next to the model.

Models may be untrusted. Everything that a tensor declares about its size and location is checked before memory is
allocated or a file is opened.
"""
import contextlib
import math
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

from ._rows import FOUR_BITS, KINDS, Unsupported

_WRONG = (IndexError, KeyError, OverflowError, TypeError, ValueError)
_MAX_DIMENSIONS = 64  # NumPy's limit
_MAX_DIGITS = 100


def printable(text):
    """Returns an untrusted name or message on one line, without characters that would move a terminal's cursor or
    change its colors."""
    text = str(text)
    return text if text.isprintable() else "".join(
        one if one.isprintable() else repr(one)[1:-1] for one in " ".join(filter(None, text.split("\n"))))


@contextlib.contextmanager
def in_words():
    """Reports decoding errors as errors in the model. Names in a message are decoded only when they are read."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"a name or text in the model is not UTF-8: {printable(error)}") from None


def tensor_type(number, what="elem_type"):
    """Returns ONNX's name for an element type: float, double, int8, bfloat16, string..."""
    try:
        return onnx.TensorProto.DataType.Name(number).lower()
    except ValueError:
        raise ValueError(f"{what} is {number}; expected the number of one of ONNX's data types, 1 to "
                         f"{max(onnx.TensorProto.DataType.values())}") from None


def array_of(tensor, folder=None, what=None):
    """Returns a tensor's elements. Elements in a file next to the model are mapped, and read when they are used. what:
    a description of a tensor without a name."""
    what = what or f"tensor {tensor.name!r}"
    kind, shape = tensor_type(tensor.data_type, f"{what}: data_type"), tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise ValueError(f"{what}: dims are {list(shape)}; expected 0 or more")
    if len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"{what}: dims are {len(shape)} numbers; expected {_MAX_DIMENSIONS} at most")
    try:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            array = _mapped(tensor, kind, shape, folder, what)
        else:
            _check_elements(tensor, kind, shape, what)
            array = widened(numpy_helper.to_array(tensor), kind)
    except _Wrong as error:
        raise ValueError(str(error)) from None
    except _WRONG as error:
        raise ValueError(f"{what}: {printable(error)}") from error
    array.flags.writeable = False
    return array


class _Wrong(Exception):
    """A complete message about a wrong tensor."""


def widened(array, kind):
    """Converts four-bit integers to one byte each; returns other arrays unchanged."""
    return array.astype(FOUR_BITS[kind]) if kind in FOUR_BITS else array


def narrowed(array, kind):
    """The inverse of `widened`: converts to ONNX's own types."""
    if kind not in FOUR_BITS:
        return array
    return array.astype(onnx.helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, kind.upper())))


def _bytes_of(kind, count):
    dtype = None if kind in FOUR_BITS else onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(kind.upper()))
    return (count + 1) // 2 if dtype is None else count * dtype.itemsize


def _check_elements(tensor, kind, shape, what):
    """Checks that the message has as many elements as the sizes require."""
    if kind not in KINDS and kind not in FOUR_BITS:
        return
    count = math.prod(shape)
    if tensor.HasField("raw_data"):
        needed, present, of = _bytes_of(kind, count), len(tensor.raw_data), "bytes of raw_data"
    elif kind in FOUR_BITS:
        return  # the onnx package handles their packing
    else:
        field = onnx.helper.tensor_dtype_to_field(tensor.data_type)
        needed, present, of = count, len(getattr(tensor, field)), f"elements of {field}"
    if needed != present:
        raise _Wrong(f"{what}: dims are {list(shape)}, which need {needed} {of}; the model has {present}")


def _mapped(tensor, kind, shape, folder, what):
    if kind not in KINDS and kind not in FOUR_BITS:
        raise Unsupported(f"{what} has a type that anydml does not support", ["external tensor"])
    if folder is None:
        raise _Wrong(f"{what} is in a file that was not loaded; pass the path of the model")
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if not location:
        raise _Wrong(f"{what}: its external_data has no location; expected the name of a file next to the model")
    offset, count = _number(entries, "offset", what) or 0, math.prod(shape)
    needed, length = _bytes_of(kind, count), _number(entries, "length", what)
    if length is not None and length != needed:
        raise _Wrong(f"{what}: length is {length} in its external_data; expected {needed}, since dims are {list(shape)}")
    path, there = _file_of(folder, location, what)
    if offset + needed > there:
        raise _Wrong(f"{what} needs {needed} bytes at offset {offset} of {location!r}, which has {there}")
    if count == 0:
        return np.empty(shape, FOUR_BITS.get(kind) or onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    if kind in FOUR_BITS:
        packed = np.memmap(path, np.uint8, "r", offset, (needed,))
        values = np.stack([packed & 15, packed >> 4], -1).reshape(-1)[:count].reshape(shape)
        return values if kind == "uint4" else (values.view(np.int8) ^ 8) - 8
    # The format is little-endian, like every machine that anydml supports.
    array = np.memmap(path, onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type), "r", offset, shape or (1,)).reshape(shape)
    return array if array.flags.aligned else np.array(array)


def _number(entries, key, what):
    """Returns a number of bytes, or None if the entry is absent."""
    text = entries.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise _Wrong(f"{what}: {key} is {text[:_MAX_DIGITS]!r} in its external_data; expected a number of bytes, 0 or more")
    return int(text)


def _file_of(folder, location, what):
    """Returns the path and the size of a file in the model's folder or one of its subfolders."""
    root = pathlib.Path(folder).resolve()
    try:
        path = (root / location).resolve()
        is_file = path.is_file()
        size = path.stat().st_size if is_file else 0
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, or a null character
        raise _Wrong(f"{what}: location is {location[:200]!r}, which is not a valid file name: "
                     f"{printable(getattr(error, 'strerror', None) or error)}") from None
    if not path.is_relative_to(root):
        raise _Wrong(f"{what} is in {location!r}, which is outside the model's folder")
    if not is_file:
        raise _Wrong(f"{what}: location is {location!r}, but there is no such file next to the model")
    return path, size
