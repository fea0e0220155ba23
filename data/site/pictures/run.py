# SPDX-License-Identifier: MIT
"""Runs operators with libanydml, so that pictures show what they compute. Needs only Python."""
from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from example_types import Tensor

ROOT = Path(__file__).resolve().parents[3]
CODES = {"FLOAT32": (1, "f"), "UINT32": (3, "I"), "UINT8": (5, "B"), "INT32": (6, "i"), "INT8": (8, "b")}
TEXT, OPERATOR, ARRAY, FLOAT64, INT64 = 0x100, 0x101, 0x8000, 9, 11


class _Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("rank", ctypes.c_int32), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


class _Value(ctypes.Union):
    _fields_ = [("f64", ctypes.c_double), ("i64", ctypes.c_int64), ("text", ctypes.c_char_p), ("pointer", ctypes.c_void_p)]


class _Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_uint32), ("count", ctypes.c_uint32), ("value", _Value)]


class _Operator(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_size_t)]


def _of_tensor(tensor: Tensor | None) -> _Tensor:
    if tensor is None:
        return _Tensor()
    code, letter = CODES[tensor.type]
    data = ctypes.create_string_buffer(struct.pack(f"={len(tensor.values)}{letter}", *tensor.values))
    sizes = (ctypes.c_int64 * len(tensor.sizes))(*tensor.sizes)
    result = _Tensor(code, len(tensor.sizes), sizes, None, ctypes.addressof(data))
    result.keep = data, sizes  # type: ignore[attr-defined]
    return result


def _of_attribute(name: str, value: Any) -> _Attribute:
    def result(kind: int, of: _Value, keep: Any = None, count: int = 0) -> _Attribute:
        attribute = _Attribute(name.encode(), kind, count, of)
        attribute.keep = keep  # type: ignore[attr-defined]
        return attribute

    many = list(value) if isinstance(value, (list, tuple)) else None
    if many is not None and many and isinstance(many[0], str) or isinstance(value, str) and value.startswith("ACTIVATION_"):
        names = many if many is not None else [value]
        operators = (_Operator * len(names))(*(_Operator(one.encode(), None, 0) for one in names))
        return result(OPERATOR | (ARRAY if many is not None else 0), _Value(pointer=ctypes.addressof(operators)), operators,
                    len(names) if many is not None else 0)
    if many is not None:
        floats = any(isinstance(one, float) for one in many)
        numbers = ((ctypes.c_double if floats else ctypes.c_int64) * max(1, len(many)))(*many)
        return result(ARRAY | (FLOAT64 if floats else INT64), _Value(pointer=ctypes.addressof(numbers)), numbers, len(many))
    if isinstance(value, str):
        return result(TEXT, _Value(text=value.encode()))
    return result(FLOAT64, _Value(f64=value)) if isinstance(value, float) else result(INT64, _Value(i64=int(value)))


class Library:
    def __init__(self, path: Path) -> None:
        self.handle = ctypes.CDLL(str(path))
        self.handle.anydml_last_error.restype = ctypes.c_char_p

    def run(self, name: str, inputs: Iterable[Any], outputs: Iterable[Tensor], attributes: dict[str, Any]) -> list[Tensor]:
        """Returns results with the types and sizes of `outputs`, whose values do not matter."""
        flat = [one for given in inputs for one in (given if isinstance(given, tuple) and not isinstance(given, Tensor)
                                                    else (given,))]
        sources, targets = [_of_tensor(one) for one in flat], [_of_tensor(one) for one in outputs]
        given = [_of_attribute(*one) for one in attributes.items()]
        status = self.handle.anydml_run(
            None, name.encode(), (_Tensor * max(1, len(sources)))(*sources), ctypes.c_size_t(len(sources)),
            (_Tensor * len(targets))(*targets), ctypes.c_size_t(len(targets)), (_Attribute * max(1, len(given)))(*given),
            ctypes.c_size_t(len(given)))
        if status != 0:
            raise ValueError(f"{name}: {self.handle.anydml_last_error().decode()}")
        results = []
        for result, tensor in zip(targets, outputs):
            letters = f"={len(tensor.values)}{CODES[tensor.type][1]}"
            data = ctypes.string_at(result.data, struct.calcsize(letters))
            results.append(Tensor(tensor.type, struct.unpack(letters, data), tensor.sizes))
        return results


def find_library() -> Library | None:
    """Returns the library in build/release or in the folder ANYDML_BUILD, or None if it is not built."""
    library = Path(os.environ.get("ANYDML_BUILD", ROOT / "build" / "release")) / "lib" / "libanydml.so"
    return Library(library) if library.exists() else None
