#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the library with NumPy, bit for bit: every implemented operator, and every type for which NumPy defines the
result.

usage: numpy_oracle.py LIBANYDML
"""
import ctypes
import json
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "data" / "facts"))
from entries import read_entries  # noqa: E402
from entry_oracles import ENTRIES, typed_entries  # noqa: E402

TYPES = {
    "FLOAT32": (1, np.float32), "FLOAT16": (2, np.float16), "UINT32": (3, np.uint32), "UINT16": (4, np.uint16),
    "UINT8": (5, np.uint8), "INT32": (6, np.int32), "INT16": (7, np.int16), "INT8": (8, np.int8),
    "FLOAT64": (9, np.float64), "UINT64": (10, np.uint64), "INT64": (11, np.int64),
}
ELEMENTS = 400_000
SEED = 20240611


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("rank", ctypes.c_int32), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


class Value(ctypes.Union):
    _fields_ = [("f64", ctypes.c_double), ("i64", ctypes.c_int64), ("u64", ctypes.c_uint64), ("text", ctypes.c_char_p),
                ("u64s", ctypes.POINTER(ctypes.c_uint64)), ("f64s", ctypes.POINTER(ctypes.c_double)),
                ("operators", ctypes.c_void_p)]


class Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_uint32), ("count", ctypes.c_uint32), ("value", Value)]


class Operator(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_size_t)]


class OperatorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("directml_value", ctypes.c_uint32), ("feature_level", ctypes.c_char_p),
                ("formula", ctypes.c_char_p), ("directml_types", ctypes.c_uint32), ("is_built", ctypes.c_int32),
                ("input_count", ctypes.c_uint32), ("types", ctypes.c_uint32)]


VALUES = {np.dtype(dtype): value for value, dtype in TYPES.values()}


def to_tensor(array):
    if isinstance(array, Tensor):  # of a type that NumPy lacks
        return array
    sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
    tensor = Tensor(VALUES[array.dtype], array.ndim, sizes, strides, array.ctypes.data)
    tensor.keep = (sizes, strides, array)
    return tensor


def to_attribute(key, value):
    is_array = isinstance(value, list)
    if is_array or isinstance(value, tuple) and value and isinstance(value[0], str):  # nested operators
        nested, keep = (Operator * max(1, len(value)))(), []
        for i, (name, attributes) in enumerate(value if is_array else [value]):
            keep.append((Attribute * max(1, len(attributes)))(*(to_attribute(*one) for one in attributes)))
            nested[i] = Operator(name.encode(), keep[-1], len(attributes))
        attribute = Attribute(key.encode(), 0x8101 if is_array else 0x101, len(value) if is_array else 0,
                              Value(operators=ctypes.addressof(nested)))
        attribute.keep = (keep, nested)
        return attribute
    if isinstance(value, str):
        return Attribute(key.encode(), 0x100, 0, Value(text=value.encode()))
    if isinstance(value, tuple) and any(isinstance(one, float) for one in value):
        return Attribute(key.encode(), 0x8000 | 9, len(value), Value(f64s=(ctypes.c_double * len(value))(*value)))
    if isinstance(value, tuple):
        numbers = (ctypes.c_uint64 * max(1, len(value)))(*(one % 2**64 for one in value))
        is_signed = any(one < 0 for one in value)
        return Attribute(key.encode(), 0x8000 | (11 if is_signed else 10), len(value), Value(u64s=numbers))
    if isinstance(value, int):
        return Attribute(key.encode(), 11, 0, Value(i64=value)) if value < 2**63 else Attribute(
            key.encode(), 10, 0, Value(u64=value))
    return Attribute(key.encode(), 9, 0, Value(f64=value))


class Library:
    def __init__(self, path):
        self.handle = ctypes.CDLL(path)
        self.handle.anydml_last_error.restype = ctypes.c_char_p
        self.handle.anydml_operator_count.restype = ctypes.c_size_t
        self.handle.anydml_operator_at.restype = ctypes.POINTER(OperatorInfo)

    def built_operators(self):
        for index in range(self.handle.anydml_operator_count()):
            info = self.handle.anydml_operator_at(ctypes.c_size_t(index)).contents
            if info.is_built:
                yield info.name.decode(), info.input_count, info.types

    def run(self, name, inputs, out, attributes=()):
        """out: an array, or a list of arrays."""
        message = self.refusal(name, inputs, out, attributes)
        if message is not None:
            sys.exit(message)

    def refusal(self, name, inputs, out, attributes=()):
        """Runs an operator; returns the message of its error, or None."""
        keep = [Tensor() if array is None else to_tensor(array) for array in inputs]  # ctypes copies only the structs
        tensors = (Tensor * len(inputs))(*keep)
        kept = [to_attribute(key, value) for key, value in attributes]
        given = (Attribute * max(1, len(attributes)))(*kept)
        result = [Tensor() if array is None else to_tensor(array) for array in (out if isinstance(out, list) else [out])]
        outputs = (Tensor * len(result))(*result)
        code = self.handle.anydml_run(None, name.encode(), tensors, ctypes.c_size_t(len(inputs)), outputs,
                                      ctypes.c_size_t(len(result)), given, ctypes.c_size_t(len(attributes)))
        return f"{name}: {self.handle.anydml_last_error().decode()}" if code != 0 else None


def integer_divide(a, b):
    """Truncates; division by zero gives 0; MIN by -1 wraps to MIN. NumPy lacks this division, so it is composed of
    other operations."""
    zero = b == 0
    if a.dtype.kind == "u":
        return np.where(zero, 0, a // np.where(zero, 1, b)).astype(a.dtype)
    safe = np.where(zero, 1, b)
    minus_one = safe == -1
    quotient = (a - np.fmod(a, np.where(minus_one, 1, safe))) // np.where(minus_one, 1, safe)
    return np.where(zero, 0, np.where(minus_one, np.negative(a), quotient)).astype(a.dtype)


def divide(a, b):
    return np.divide(a, b) if a.dtype.kind == "f" else integer_divide(a, b)


def remainder(a, b, function):
    if a.dtype.kind == "f":
        return function(a, b)
    if a.dtype.kind == "u":
        return function(a, b)
    # MIN and -1: some NumPy versions leave this to the processor, which may trap. Any a modulo -1 is 0.
    return np.where(b == -1, 0, function(a, np.where(b == -1, 1, b))).astype(a.dtype)


CLIP = (("Min", -2.0), ("Max", 100.0))


def clip(x):
    low, high = (np.array(bound).astype(x.dtype) if x.dtype.kind == "f" else
                 x.dtype.type(max(np.iinfo(x.dtype).min, int(bound))) for _, bound in CLIP)
    return np.maximum(np.minimum(x, high), low)


# NumPy's name for each operator.
ORACLES = {
    "ELEMENT_WISE_MODULUS_FLOOR": lambda a, b: remainder(a, b, np.remainder),
    "ELEMENT_WISE_MODULUS_TRUNCATE": lambda a, b: remainder(a, b, np.fmod),
    "ELEMENT_WISE_IDENTITY": np.positive,
    "ELEMENT_WISE_ADD": np.add,
    "ELEMENT_WISE_SUBTRACT": np.subtract,
    "ELEMENT_WISE_MULTIPLY": np.multiply,
    "ELEMENT_WISE_DIVIDE": divide,
    "ELEMENT_WISE_ABS": np.abs,
    "ELEMENT_WISE_NEGATE": np.negative,
    "ELEMENT_WISE_FLOOR": np.floor,
    "ELEMENT_WISE_CEIL": np.ceil,
    "ELEMENT_WISE_CLIP": clip,
}
ATTRIBUTES = {"ELEMENT_WISE_CLIP": CLIP}


def cast(x, dtype):
    """NumPy's own cast where it is defined; floats outside the range of an integer are clamped, and NaN gives 0."""
    if x.dtype.kind != "f" or dtype.kind == "f":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    wide = np.trunc(x.astype(np.longdouble))
    fits = (wide >= info.min) & (wide <= info.max)
    return np.where(np.isnan(x), 0, np.where(fits, np.where(fits, wide, 0).astype(dtype), np.where(
        wide < info.min, np.array(info.min, dtype), np.array(info.max, dtype)))).astype(dtype)


def typed_cases(draw):
    """For operators whose tensors differ in type: the name, inputs, attributes and NumPy's result for each
    combination."""
    dtypes = [np.dtype(dtype) for _, dtype in TYPES.values()]
    for dtype in dtypes:
        for to in dtypes:
            x = draw(dtype)
            yield "CAST", [x], (), cast(x, to)
        a, b = draw(dtype), draw(dtype)
        a[::3] = b[::3]
        for truth in (np.uint8, np.uint32):
            yield "ELEMENT_WISE_LOGICAL_EQUALS", [a, b], (), np.equal(a, b).astype(truth)
            if dtype.kind == "f":
                yield "ELEMENT_WISE_IS_NAN", [a], (), np.isnan(a).astype(truth)
        condition = draw(np.dtype(np.uint8)) % 3
        yield "ELEMENT_WISE_IF", [condition, a, b], (), np.where(condition != 0, a, b)
    yield from typed_entries(draw, dtypes)


def is_of_type(value, dtype):
    """Whether the type can represent a number near the value; tests/capi/bad_input_test.cpp checks that other values
    are rejected."""
    if np.dtype(dtype).kind == "f":
        return not math.isfinite(value) or abs(value) <= float(np.finfo(dtype).max)
    return math.isfinite(value) and value == int(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def fill_cases():
    """For FILL_VALUE_CONSTANT: the number, the tensor to fill and the array that contains it."""
    for _, dtype in TYPES.values():
        for value in (0, 1, -1, 255, 2**31, -2**63, 2**64 - 1, 0.0, -0.0, 1.5, -2.75, 1e300, float("inf"), float("nan")):
            if not is_of_type(value, dtype):
                continue
            for size in (1, 7, 4096, 100_003):
                base = np.zeros(size, dtype)
                yield value, base, base
            base = np.zeros((40, 50, 6), dtype)
            for part in (base[3:30, ::7, 1:4], base[::-1].transpose(2, 0, 1), base[5, 6, 4:5], base[:, 9, :]):
                yield value, part, base


def check_fills(library):
    compared = 0
    for value, part, base in fill_cases():
        expected = np.zeros_like(base)
        at = [(address - base.ctypes.data) // base.itemsize for address in (part.ctypes.data,)][0]
        strides = [stride // base.itemsize for stride in part.strides]
        wanted = cast(np.array([value], np.float64), base.dtype)[0] if isinstance(value, float) else (
            np.array(value).astype(base.dtype) if base.dtype.kind == "f" else
            base.dtype.type(min(max(value, np.iinfo(base.dtype).min), np.iinfo(base.dtype).max)))
        np.lib.stride_tricks.as_strided(expected.reshape(-1)[at:], part.shape,
                                        [stride * base.itemsize for stride in strides])[...] = wanted
        library.run("FILL_VALUE_CONSTANT", [], part, (("Value", value),))
        if count_different(base, expected).any():
            sys.exit(f"FILL_VALUE_CONSTANT {base.dtype} {part.shape} with {value}: differs from NumPy's fill")
        compared += base.size
        base[...] = 0
    return compared


def sequence(dtype, count, start, delta):
    """The value of element i, with each step rounded in the computation type."""
    if dtype.kind != "f":
        bits = 8 * dtype.itemsize
        wide = (int(start) + np.arange(count, dtype=object) * int(delta)) % 2**bits
        return wide.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    wide = np.float64 if dtype == np.float64 else np.float32
    return (wide(dtype.type(start)) + np.arange(count).astype(wide) * wide(dtype.type(delta))).astype(dtype)


def check_sequences(library):
    compared = 0
    for _, dtype in TYPES.values():
        for start, delta in ((0, 1), (5, 3), (100, 0)) + (((-0.1, 0.3), (1e4, -0.77)) if np.dtype(dtype).kind == "f" else
                                                          ((1, -1),) if np.dtype(dtype).kind == "i" else ()):
            for shape, axes in (((1,), (0,)), ((100_003,), (0,)), ((30, 40, 50), (2, 0, 1)), ((7, 9), (1, 0))):
                base = np.zeros([shape[axis] for axis in axes] + [2], dtype)
                part = base[..., 0].transpose(np.argsort(axes))
                expected = sequence(np.dtype(dtype), part.size, start, delta).reshape(part.shape)
                library.run("FILL_VALUE_SEQUENCE", [], part, (("ValueStart", start), ("ValueDelta", delta)))
                if count_different(np.ascontiguousarray(part), expected).any() or base[..., 1].any():
                    sys.exit(f"FILL_VALUE_SEQUENCE {base.dtype} {part.shape} from {start} by {delta}: differs from NumPy")
                compared += part.size
    return compared


FILLS = {"FILL_VALUE_CONSTANT": check_fills, "FILL_VALUE_SEQUENCE": check_sequences}
# Operators with axes, sums or indices have their own oracles.
ELSEWHERE = {entry.operator: "softmax_oracle.py" if "MAX" in entry.operator and entry.family == "normalize" else
             f"{entry.family}_oracle.py"
             for entry in read_entries() if entry.family not in ("elementwise", "fill")}
ELSEWHERE["BATCH_NORMALIZATION"] = "normalize_oracle.py"
ELSEWHERE |= dict.fromkeys(("BATCH_NORMALIZATION_TRAINING", "BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD",
                            "LOCAL_RESPONSE_NORMALIZATION_GRAD", "ADAM_OPTIMIZER"), "training_oracle.py")
for one in ("RESAMPLE_GRAD", "RESAMPLE_GRAD1", "AVERAGE_POOLING_GRAD", "MAX_POOLING_GRAD"):
    ELSEWHERE[one] = "gradient_oracle.py"
# Operators whose tensors differ in type: the facts do not require the same type for all of them.
TYPED = set()
SCALE_BIAS = (("Scale", -1.7), ("Bias", 3.1))
FACTS = json.loads((Path(__file__).resolve().parents[2] / "data" / "facts" / "operators.json").read_text())
for operator in FACTS["operators"]:
    tensors = {tensor["field"] for tensor in operator["tensors"]}
    groups = [set(one.split(": ")[1].split()) for one in operator["constraints"] if one.startswith("same_datatype: ")]
    if len(tensors) > 1 and not any(tensors <= group for group in groups):
        TYPED.add(operator["name"].removeprefix("DML_OPERATOR_"))
TYPED -= set(ELSEWHERE)
TAKES_SCALE_BIAS = {operator["name"].removeprefix("DML_OPERATOR_") for operator in FACTS["operators"]
                    if any(attribute["field"] == "ScaleBias" for attribute in operator["attributes"])}


def scale_bias(x):
    wide = np.float64 if x.dtype == np.float64 else np.float32
    scale, bias = (wide(value) for _, value in SCALE_BIAS)
    return (x.astype(wide) * scale + bias).astype(x.dtype)


def random_values(random, dtype, count):
    """Random bits, mixed with small numbers and special values."""
    bits = random.integers(0, 256, count * dtype().itemsize, dtype=np.uint8).view(dtype).copy()
    small = random.integers(-20, 21, count)
    small = (small / 4).astype(dtype) if np.issubdtype(dtype, np.floating) else small.astype(dtype)
    if np.issubdtype(dtype, np.floating):
        info = np.finfo(dtype)
        specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, info.max, -info.max, 1, -1,
                             np.nextafter(dtype(0), dtype(1))], dtype=dtype)
    else:
        info = np.iinfo(dtype)
        specials = np.array([0, 1, info.min, info.max, info.max - 1, info.min + 1], dtype=dtype)
    kind = random.integers(0, 4, count)
    return np.where(kind == 0, small, np.where(kind == 1, random.choice(specials, count), bits)).astype(dtype)


def count_different(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, (actual.dtype, expected.dtype)
    unsigned = np.dtype(f"u{actual.dtype.itemsize}")
    different = np.ascontiguousarray(actual).view(unsigned) != np.ascontiguousarray(expected).view(unsigned)
    if actual.dtype.kind == "f":
        different &= ~(np.isnan(actual) & np.isnan(expected))
    return different


def check(library, name, inputs, attributes, expected):
    """expected is an array, or a tuple of arrays if any of several results is allowed."""
    given = [array for array in inputs if array is not None]
    answers = expected if isinstance(expected, tuple) else (expected,)
    expected = answers[0]
    out = np.empty(np.broadcast_shapes(*(array.shape for array in given)), dtype=expected.dtype)
    library.run(name, inputs, out, attributes)
    different = np.logical_and.reduce([count_different(out, answer) for answer in answers])
    if different.any():
        position = tuple(np.argwhere(different)[0])
        operands = [np.broadcast_to(array, out.shape)[position] for array in given]
        sys.exit(f"{name} {out.dtype}: {different.sum()} of {out.size} differ; first {operands}: {out[position]!r}, "
                 f"NumPy {expected[position]!r}")
    return out.size


def main(path):
    library = Library(path)
    typed = {name for name, _, _ in library.built_operators() if name in TYPED}
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    total = 0
    np.seterr(all="ignore")
    for name, input_count, types in library.built_operators():
        if name in typed:
            continue
        if name in ELSEWHERE:
            print(f"  {name:32} in {ELSEWHERE[name]}")
            continue
        if name in FILLS:
            compared = FILLS[name](library)
            total += compared
            print(f"  {name:32} {compared:9} elements of {len(TYPES):2} types, none different")
            continue
        if name not in ORACLES and name not in ENTRIES:
            sys.exit(f"{name} is implemented, but this test does not know NumPy's name for it")
        compared = 0
        names = [key for key, (value, _) in TYPES.items() if types >> value & 1]
        for type_name in names:
            _, dtype = TYPES[type_name]
            for attributes, oracle in ENTRIES.get(name, [(ATTRIBUTES.get(name, ()), ORACLES.get(name))]):
                if "FusedActivation" in dict(attributes) and type_name not in ("FLOAT32", "FLOAT16"):
                    continue
                inputs = [random_values(random, dtype, ELEMENTS) for _ in range(input_count)]
                compared += check(library, name, inputs, attributes, oracle(*inputs))
                # Every kind of stride, and broadcasting.
                shaped = [array[:ELEMENTS // 8 * 8].reshape(-1, 4, 2)[::-1].transpose(1, 0, 2)[:, ::3]
                          for array in inputs]
                if input_count == 2:
                    shaped[1] = shaped[1][1:2, :, ::-1]
                compared += check(library, name, shaped, attributes, oracle(*shaped))
                if name in TAKES_SCALE_BIAS and np.issubdtype(dtype, np.floating):
                    compared += check(library, name, inputs, attributes + SCALE_BIAS,
                                      oracle(scale_bias(inputs[0]), *inputs[1:]))
        total += compared
        print(f"  {name:32} {compared:9} elements of {len(names):2} types, none different")
    compared, variants = {}, {}
    def shaped(x):
        if isinstance(x, tuple):
            return tuple(map(shaped, x))
        return x if x is None or x.size == 1 else x[:ELEMENTS // 8 // 8 * 8].reshape(-1, 4, 2)[::-1].transpose(
            1, 0, 2)[:, ::3]

    for name, inputs, attributes, expected in typed_cases(lambda kind: random_values(random, kind.type, ELEMENTS // 8)):
        if name not in typed:  # results for operators that are not implemented yet
            continue
        count = check(library, name, inputs, attributes, expected)
        count += check(library, name, [shaped(x) for x in inputs], attributes, shaped(expected))
        compared[name] = compared.get(name, 0) + count
        variants[name] = variants.get(name, 0) + 1
    for name in sorted(typed - set(compared)):
        sys.exit(f"{name} is implemented, but this test does not know NumPy's name for it")
    for name, count in compared.items():
        print(f"  {name:32} {count:9} elements of {variants[name]:3} combinations of types, none different")
        total += count
    print(f"{total} elements compared with NumPy, none different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
