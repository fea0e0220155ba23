# SPDX-License-Identifier: MIT
"""Reads weights separately from the message of a model.

Parsing a whole file would keep its bytes, the message and the arrays in memory: three copies of the weights. Instead,
large weights are located in the file and read directly into arrays, and only the rest is parsed. Constant nodes with
large values become initializers.
"""
import mmap

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from ._rows import KINDS

_LARGE = 4096  # the smallest tensor, in bytes, that is read separately
_NUMBER, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # protobuf's wire types
# The field numbers of ONNX's messages.
_GRAPH = 7  # in ModelProto
_NODE, _INITIALIZER = 1, 5  # in GraphProto
_OUTPUT, _OP_TYPE, _ATTRIBUTE, _DOMAIN = 2, 4, 5, 7  # in NodeProto
_TENSOR = 5  # in AttributeProto
_RAW_DATA = 9  # in TensorProto


_KNOWN = {number for name, number in onnx.TensorProto.DataType.items() if name.lower() in KINDS}


class _Unusual(Exception):
    """The bytes have an unexpected form; ONNX's own parser reports the error or accepts them."""


def read(path):
    """Returns the message without its large weights, and the large weights by name."""
    with open(path, "rb") as file:
        if file.seek(0, 2) == 0:
            return b"", {}
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            found = {}
            try:
                text = _without_weights(mapped, found)
            except _Unusual:
                return mapped[:], {}
        arrays = {}
        for name, (tensor, begin) in found.items():
            count, dtype = int(np.prod(tensor.dims, dtype=np.int64)), onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            file.seek(begin)
            array = np.fromfile(file, dtype, count)
            if array.size != count:
                raise ValueError(f"{path} became shorter while it was read")
            arrays[name] = array.reshape(tuple(tensor.dims))
            arrays[name].flags.writeable = False
        return text, arrays


def _number_at(data, at, end):
    """Returns a varint and the offset after it."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise _Unusual


def _fields(data, begin, end):
    """Yields (number, kind, start of the field, start of its value, end) for each field of a message."""
    while begin < end:
        tag, at = _number_at(data, begin, end)
        number, kind = tag >> 3, tag & 7
        if kind == _NUMBER:
            after = _number_at(data, at, end)[1]
        elif kind == _BYTES:
            length, at = _number_at(data, at, end)
            after = at + length
        elif kind in (_FIXED64, _FIXED32):
            after = at + (8 if kind == _FIXED64 else 4)
        else:
            raise _Unusual
        if after > end:
            raise _Unusual
        yield number, kind, begin, at, after
        begin = after


def _field(number, value):
    """Encodes a bytes field."""
    text, length = bytearray([number << 3 | _BYTES]), len(value)
    while length >= 128:
        text.append(length & 127 | 128)
        length >>= 7
    text.append(length)
    return bytes(text) + value


def _without_weights(data, found):
    text, graphs = [], 0
    for number, kind, begin, at, after in _fields(data, 0, len(data)):
        if number == _GRAPH and kind == _BYTES:
            graphs += 1
            text.append(_field(_GRAPH, _light_graph(data, at, after, found)))
        else:
            text.append(data[begin:after])
    if graphs > 1:  # protobuf would merge them
        raise _Unusual
    return b"".join(text)


def _light_graph(data, begin, end, found):
    text = []
    for number, kind, first, at, after in _fields(data, begin, end):
        tensor = None
        if after - at >= _LARGE and kind == _BYTES:
            if number == _INITIALIZER:
                tensor = _apart(data, at, after)
            elif number == _NODE:
                tensor = _of_constant(data, at, after)
        if tensor is None or not tensor[0].name or tensor[0].name in found:
            text.append(data[first:after])
        else:
            found[tensor[0].name] = tensor
            text.append(_field(_INITIALIZER, tensor[0].SerializeToString()))
    return b"".join(text)


def _apart(data, begin, end):
    """Returns a tensor without its elements, and their offset, or None if the file does not store them as in memory."""
    rest, raw = [], None
    for number, kind, first, at, after in _fields(data, begin, end):
        if number == _RAW_DATA and kind == _BYTES and raw is None:
            raw = at, after
        elif after - first >= _LARGE or number == _RAW_DATA:
            return None
        else:
            rest.append(data[first:after])
    if raw is None or raw[1] - raw[0] < _LARGE:
        return None
    try:
        tensor = onnx.TensorProto.FromString(b"".join(rest))
    except DecodeError:
        raise _Unusual from None
    if tensor.data_location == onnx.TensorProto.EXTERNAL or any(size < 0 for size in tensor.dims) or (
            tensor.data_type not in _KNOWN):
        return None
    needed = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    for size in tensor.dims:
        needed *= size
    return (tensor, raw[0]) if needed == raw[1] - raw[0] else None


def _of_constant(data, begin, end):
    """Returns the tensor of a Constant, named after its output."""
    outputs, op, domain, attributes = [], b"", b"", []
    for number, kind, _, at, after in _fields(data, begin, end):
        if kind != _BYTES:
            continue
        if number == _OUTPUT:
            outputs.append(data[at:after])
        elif number == _OP_TYPE:
            op = data[at:after]
        elif number == _DOMAIN:
            domain = data[at:after]
        elif number == _ATTRIBUTE:
            attributes.append((at, after))
    if op != b"Constant" or domain not in (b"", b"ai.onnx") or len(outputs) != 1 or len(attributes) != 1:
        return None
    for number, kind, _, at, after in _fields(data, *attributes[0]):
        if number == _TENSOR and kind == _BYTES:
            found = _apart(data, at, after)
            if found is not None:
                try:
                    found[0].name = outputs[0].decode()
                except UnicodeDecodeError:
                    raise _Unusual from None
            return found
    return None
