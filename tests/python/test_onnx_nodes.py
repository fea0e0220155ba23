# SPDX-License-Identifier: MIT
"""Every node of anydml.onnx beside ONNX's own reference evaluator: each opset in which the node changed, each type that
ONNX and anydml both have, several shapes.

Bits are compared, the signs of zeros included, but where a row of TOLERANCES or ZEROS says otherwise and why.
"""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml  # noqa: E402
import anydml.onnx as backend  # noqa: E402
import onnx_counts  # noqa: E402
from anydml.onnx import _rows  # noqa: E402
from anydml.onnx._nodes import NODES  # noqa: E402
from anydml.onnx._rows import KINDS, dtype_of  # noqa: E402

pytestmark = pytest.mark.skipif(tuple(map(int, onnx.__version__.split(".")[:2])) < (1, 23),
                                reason="older evaluators have faults of their own")
NEWEST = onnx.defs.onnx_opset_version()
SHAPES = [(), (5,), (2, 3, 4)]

# In units of the last place of the type. Of float16 the reference rounds after each operation, and anydml once; NumPy's
# arange makes its step of the first two numbers. The normalizations compute in float32, as ONNX's definition of them
# and their stash_type say; the reference does so in the input's type.
IN_FLOAT32 = {"float16": 8, "float32": 64, "float64": 2.0**30}
SOME = {"float16": 16, "float32": 8, "float64": 8}  # several operations, whose order and rounding ONNX leaves open
TOLERANCES = {"AveragePool": SOME, "BatchNormalization": SOME, "GroupNormalization": IN_FLOAT32,
              "HardSigmoid": {"float16": 4}, "HardSwish": {"float16": 8},
              "InstanceNormalization": SOME, "LpNormalization": SOME, "LpPool": SOME, "MeanVarianceNormalization": SOME,
              "LayerNormalization": IN_FLOAT32, "LeakyRelu": {"float16": 2}, "RMSNormalization": IN_FLOAT32,
              "Range": {"float16": 8, "float32": 8, "float64": 8}, "ReduceL2": {"float16": 1}}
# The sign of a zero: NumPy's maximum takes either of +0 and -0, and sums of zeros start from +0 there.
ZEROS = {"AveragePool", "BatchNormalization", "InstanceNormalization", "LpNormalization", "MaxPool",
         "MeanVarianceNormalization", "Max", "Min", "Relu", "ReduceMax", "ReduceMin", "HardSwish", "LeakyRelu", "PRelu",
         "Shrink", "HardSigmoid",
         "ReduceSum", "GlobalMaxPool", "DequantizeLinear", "Sum", "Mean", "Clip", "LayerNormalization"}


def numbers(dtype, shape=(5,), seed=0, specials=True):
    """Small numbers, so that sums and products of a few are exact in every type, and the special ones."""
    dtype, random = np.dtype(dtype), np.random.default_rng(seed)
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    x = random.integers(0 if dtype.kind == "u" else -9, 10, shape)
    if dtype.kind == "f":
        x = np.asarray(x / 4, dtype)
        if specials and x.size > 5:
            x.reshape(-1)[:6] = np.inf, -np.inf, np.nan, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny
        return x
    x = np.asarray(x).astype(dtype)
    if specials and x.size > 5:
        x.reshape(-1)[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return x


def ints(*values):
    return np.array(values, np.int64)


def of_one(**attributes):
    return lambda dtype, since: [([numbers(dtype, shape)], attributes) for shape in SHAPES]


def of_two(dtype, since):
    shapes = [((), ()), ((5,), (5,)), ((2, 3, 4), (2, 3, 4))]
    if since >= 7:
        shapes += [((2, 3, 4), (4,)), ((3, 1), (2, 1, 4)), ((), (5,))]
    return [([numbers(dtype, a), numbers(dtype, b, 1)], {}) for a, b in shapes]


def of_divisor(dtype, since):
    """Without integers by 0, and the least by -1, which ONNX leaves open; test_onnx.py has them."""
    cases = of_two(dtype, since)
    if np.dtype(dtype).kind == "f":
        return cases
    return [([a, np.where((b == 0) | (b + 1 == 0), 3, b).astype(dtype)], {}) for (a, b), _ in cases]


def of_mod(dtype, since):
    is_float = np.dtype(dtype).kind == "f"
    return [(arrays, {"fmod": fmod}) for arrays, _ in of_divisor(dtype, since)
            for fmod in ([1] if is_float and since <= 13 else [0, 1])]


def of_several(dtype, since):
    shapes = [[(5,)], [(5,)] * 3, [(2, 3, 4)] * 2] + ([[(2, 3, 4), (3, 1), ()]] if since >= 8 else [])
    return [([numbers(dtype, shape, i) for i, shape in enumerate(group)], {}) for group in shapes]


def reduced(dtype, since, by_input, specials=False):
    cases = []
    shapes = [(2, 3, 4), (5,), (3, 0, 2)] if since >= 18 else [(2, 3, 4), (5,)]
    for shape in shapes:
        x = numbers(dtype, shape, 2, specials)
        for axes in (None, [0], [-1], list(range(len(shape)))[::2]):
            if since < 11 and axes and min(axes) < 0:
                continue
            for keep in (0, 1):
                options = {"keepdims": keep}
                if by_input:
                    cases.append(([x] if axes is None else [x, ints(*axes)], options))
                else:
                    cases.append(([x], options if axes is None else {**options, "axes": axes}))
    if by_input:
        cases += [([numbers(dtype, (2, 3), 2, specials), ints()], {"noop_with_empty_axes": noop}) for noop in (0, 1)]
        cases.append(([numbers(dtype, (), 2)], {}))
    return cases


def reduction(first_by_input=18, specials=False, empty=True):
    def cases(dtype, since):
        found = reduced(dtype, since, since >= first_by_input, specials)
        return found if empty else [case for case in found if case[0][0].size]
    return cases


def of_arg(dtype, since):
    options = [{"axis": axis, "keepdims": keep} for axis in (0, 2) + ((-1,) if since >= 11 else ()) for keep in (0, 1)]
    options += [{"axis": 1, "select_last_index": 1}] if since >= 12 else []
    return [([x], one) for one in options for x in (numbers(dtype, (2, 3, 4)), numbers(dtype, (3, 7, 3), 3, False))]


def of_cast(dtype, since):
    """Of floats to integers values that both hold; beyond that ONNX leaves it open."""
    cases = []
    for kind in KINDS:
        to = dtype_of(kind)
        is_open = np.dtype(dtype).kind == "f" and to.kind in "iu"
        x = np.asarray([0, 1, 2.5, 100], dtype) if is_open else numbers(dtype, (2, 3, 4))
        name = onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(to))
        cases.append(([x], {"to": helper.np_dtype_to_tensor_dtype(to) if since > 1 else name}))
    return cases


def of_cast_like(dtype, since):
    return [([x, np.zeros(2, dtype_of(kind))], {}) for kind, ((x,), _) in zip(KINDS, of_cast(dtype, since))]


def of_clip(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    x = np.where(np.isinf(x), 1, x).astype(dtype) if x.dtype.kind == "f" else x  # a missing bound makes them finite
    if since < 11:
        return [([x], options) for options in ({"min": -1.0, "max": 1.5}, {"min": 0.5}, {})[:1 if since == 1 else 3]]
    low, high = np.array(1, dtype), np.array(2, dtype)
    return [([x, low, high], {}), ([x, low], {}), ([x, None, high], {}), ([x], {})]


def of_where(dtype, since):
    return [([numbers(bool, c), numbers(dtype, a), numbers(dtype, b, 1)], {})
            for c, a, b in [((5,), (5,), (5,)), ((3, 1), (2, 1, 4), ()), ((), (2, 3), (3,))]]


def of_bit_shift(dtype, since):
    bits = np.dtype(dtype).itemsize * 8
    by = np.array([0, 1, 3, bits - 1, bits, 200 % 2**(bits - 1)] + ([-1] if np.dtype(dtype).kind == "i" else []), dtype)
    return [([numbers(dtype, (8, 1)), by], {"direction": direction}) for direction in ("LEFT", "RIGHT")]


def of_slope(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    x = np.where(np.isfinite(x), x, -1).astype(dtype)
    shapes = [(1,)] if since < 7 else [(1,), (4,), (3, 1), x.shape]
    return [([x, numbers(dtype, shape, 1, False)], {}) for shape in shapes]


def finite(cases):
    """Where the reference multiplies by a sign or subtracts, infinities become NaN there."""
    def kept(dtype, since):
        return [([np.where(np.isfinite(x), x, 1).astype(dtype)], options) for (x,), options in cases(dtype, since)]
    return kept


def of_range(dtype, since):
    rows = [(0, 5, 1), (2, 9, 3), (9, 2, -2), (3, 3, 1), (5, 1, 1)]
    rows += [(0.5, 3.25, 0.25)] if np.dtype(dtype).kind == "f" else []
    return [([np.array(one, dtype) for one in row], {}) for row in rows]


def of_reshape(dtype, since):
    x = numbers(dtype, (2, 3, 4))
    shapes = [[4, 6], [0, -1], [-1], [2, 0, 2, 2]]
    if since < 5:
        return [([x], {"shape": shape}) for shape in shapes]
    more = [([numbers(dtype, (0, 3)), ints(3, 0)], {"allowzero": 1})] if since >= 14 else []
    return [([x, ints(*shape)], {}) for shape in shapes] + more


def of_axes(shape, *choices):
    def cases(dtype, since):
        x = numbers(dtype, shape)
        wanted = [axes for axes in choices if since >= 11 or not axes or min(axes) >= 0]
        if since >= 13:
            return [([x] if axes is None else [x, ints(*axes)], {}) for axes in wanted]
        return [([x], {} if axes is None else {"axes": axes}) for axes in wanted]
    return cases


def of_slice(dtype, since):
    x = numbers(dtype, (5, 6))
    if since < 10:
        return [([x], {"starts": [1, -3], "ends": [4, 100]}), ([x], {"starts": [0], "ends": [-1], "axes": [1]})]
    return [([x, ints(1, -3), ints(4, 100)], {}), ([x, ints(0), ints(-1), ints(1)], {}),
            ([x, ints(4, -1), ints(-100, 0), ints(0, 1), ints(-2, -1)], {}), ([x, ints(5), ints(9)], {}),
            ([x, ints(3, 1), ints(0, 6), ints(0, -1), ints(-1, 2)], {})]


def of_split(dtype, since):
    x = numbers(dtype, (6, 4))
    if since == 1:
        return [([x], {"axis": 0, "split": [2, 4], "outputs": 2})]
    equal = {"num_outputs": 2} if since >= 18 else {}
    by_sizes = ([x, ints(1, 5)], {"outputs": 2}) if since >= 13 else ([x], {"split": [1, 5], "outputs": 2})
    uneven = [([numbers(dtype, (5,))], {"num_outputs": 3, "outputs": 3})] if since >= 18 else []
    return [([x], {"axis": 1, "outputs": 2, **equal}), by_sizes] + uneven


def of_concat(dtype, since):
    x, y = numbers(dtype, (2, 3)), numbers(dtype, (2, 1), 1)
    return [([x, y, x], {"axis": 1}), ([x, x], {"axis": 0}), ([x], {"axis": 1})] + (
        [([y, x], {"axis": -1})] if since >= 11 else [])


def of_pad(dtype, since):
    x = numbers(dtype, (2, 3))
    pads = [1, 0, 2, 1]
    if since < 11:
        name = "paddings" if since == 1 else "pads"
        return [([x], {name: pads, "value": 2.0}), ([x], {name: pads})]
    return [([x, ints(*pads), np.array(1, dtype)], {}), ([x, ints(*pads)], {})] + (
        [([x, ints(2, 1), np.array(1, dtype), ints(1)], {})] if since >= 18 else [])


def of_tile(dtype, since):
    x = numbers(dtype, (2, 3))
    return [([x, ints(2, 3)], {}), ([x, ints(1, 1)], {}), ([x, ints(0, 2)], {})]


def of_gather(dtype, since):
    x = numbers(dtype, (4, 3))
    last = ints(3, -1) if since >= 11 else ints(3, 1)
    return [([x, np.array(1)], {}), ([x, last], {}), ([x, ints(2, 0, 0).reshape(3, 1)], {"axis": 1}),
            ([x, ints()], {}), ([x, np.array([1], np.int32)], {"axis": 1})]


def of_quantize(dtype, since):
    if dtype == np.int32 and since in (19, 21):  # its scale must be int32 too, and anydml divides floats
        return []
    x = np.asarray([[-300, -3, 2.5, 1], [0, 0.5, 3, 1000]]).astype(dtype)
    scale_dtype = np.float16 if dtype == np.float16 else np.float32
    kinds = [np.uint8, np.int8] + ([np.uint16, np.int16] if since >= 21 else [])
    cases = [([x, np.array(0.5, scale_dtype)], {})]
    for kind in kinds:
        cases.append(([x, np.array(0.5, scale_dtype), np.array(3, kind)], {}))
        if since >= 13:
            cases.append(([x, np.array([0.5, 2], scale_dtype), np.array([0, 7], kind)], {"axis": 0}))
        if since >= 21:
            scale = np.array([[1, 2], [3, 0.25]], scale_dtype)
            cases.append(([x, scale, np.array([[0, 1], [2, 3]], kind)], {"axis": 1, "block_size": 2}))
            cases.append(([x[:, :3], scale], {"axis": 1, "block_size": 2,
                                              "output_dtype": helper.np_dtype_to_tensor_dtype(np.dtype(kind))}))
    return cases


def of_dequantize(dtype, since):
    x = numbers(dtype, (2, 4), specials=dtype != np.int32)
    cases = []
    for scale_dtype in (np.float32, np.float16)[:1 if since < 19 else 2]:
        cases.append(([x, np.array(0.3, scale_dtype)], {}))
        if dtype != np.int32:
            cases.append(([x, np.array(0.3, scale_dtype), np.array(5, dtype)], {}))
        if since >= 13:
            cases.append(([x, np.array([0.5, 3], scale_dtype)], {"axis": 0}))
        if since >= 21:
            cases.append(([x, np.array([[1, 2], [3, 0.7]], scale_dtype)], {"axis": -1, "block_size": 2}))
    return cases


def of_one_hot(dtype, since):
    values = [np.array([0, 1], kind) for kind in (np.float32, np.int8)]
    return [([np.array([[1, 3], [0, 2]], dtype), np.array(4), value], {"axis": axis}) for value in values
            for axis in (-1, 0, 1)]


def of_normalization(rows, *others):
    def cases(dtype, since):
        x = numbers(dtype, (2, 4, 3), 5, False)
        arrays = [numbers(dtype, shape(x), i + 6, False) for i, shape in enumerate(others)]
        return [([x, *arrays], rows)]
    return cases


def of_pool(dtype, since):
    return [([numbers(dtype, (2, 3, 2, 4), 5, False)], {})]


def of_windows(dtype, since, counts=False, p=False):
    x, line = numbers(dtype, (2, 3, 5, 7), 5, False), numbers(dtype, (1, 2, 9), 6, False)
    rows = [(x, {"kernel_shape": [2, 3]}), (x, {"kernel_shape": [2, 3], "strides": [2, 1]}),
            (line, {"kernel_shape": [3], "strides": [2]})]
    # The reference's LpPool divides by what is not padded, and multiplies by the whole window.
    if not p:
        rows += [(x, {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2], "strides": [2, 2]}),
                 (x, {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER", "strides": [2, 3]}),
                 (x, {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})]
    rows += [(x, {"kernel_shape": [2, 2], "strides": [3, 3], "auto_pad": "VALID"})]
    if since >= 10 and not p:
        rows += [(x, {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1})]
    if since >= (19 if counts else 18 if p else 10):
        rows += [(x, {"kernel_shape": [2, 3], "dilations": [2, 2]})]
    if counts and since >= 7:
        rows += [(x, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})]
    rows = rows if x.dtype.kind == "f" else []  # the reference takes NaN for what is outside, and fails
    return [([x], {**options, "p": 2} if p else options) for x, options in rows]


CASES = {
    "AveragePool": lambda dtype, since: of_windows(dtype, since, counts=True),
    "BatchNormalization": lambda dtype, since: [(
        [numbers(dtype, (2, 3, 4), 5, False), *(numbers(dtype, (3,), i, False) for i in (6, 7, 8)),
         np.array([0.5, 2, 1], dtype)], {"is_test": 1} if since < 7 else {})],
    "GlobalLpPool": lambda dtype, since: [],  # not in the reference
    "InstanceNormalization": of_normalization({}, *[lambda x: (4,)] * 2),
    "LpNormalization": lambda dtype, since: [([np.abs(numbers(dtype, (3, 4), 5, False))], {"p": p, "axis": axis})
                                             for p in (1, 2) for axis in (-1, 0)],  # the reference takes no absolutes
    "LpPool": lambda dtype, since: of_windows(dtype, since, p=True), "MaxPool": of_windows,
    "MeanVarianceNormalization": lambda dtype, since: [  # ONNX's definition has constants of float
        ([numbers(dtype, (2, 3, 2, 4), 5, False)], {})] if dtype == np.float32 else [],
    "ArgMax": of_arg, "ArgMin": of_arg, "BitShift": of_bit_shift, "Cast": of_cast, "CastLike": of_cast_like,
    "BitCast": lambda dtype, since: [([numbers(dtype)], {"to": helper.np_dtype_to_tensor_dtype(
        np.dtype(f"u{np.dtype(dtype).itemsize}"))})] if dtype != bool else [],
    "CenterCropPad": lambda dtype, since: [([numbers(dtype, (4, 3)), ints(2, 6)], {}),
                                           ([numbers(dtype, (4, 3)), ints(5)], {"axes": [1]})],
    "Clip": of_clip, "Concat": of_concat,
    "ConstantOfShape": lambda dtype, since: [([ints(*shape)], {"value": onnx.numpy_helper.from_array(
        numbers(dtype_of(kind), (1,)))}) for shape in ((2, 3), (0,), ()) for kind in KINDS] + [([ints(2)], {})],
    "DepthToSpace": lambda dtype, since: [([numbers(dtype, (2, 8, 2, 3))], {"blocksize": 2, **mode}) for mode in (
        [{}] if since < 11 else [{"mode": "DCR"}, {"mode": "CRD"}])],
    "DequantizeLinear": of_dequantize, "Div": of_divisor,
    "Dropout": lambda dtype, since: [([numbers(dtype)], {"is_test": 1} if since < 7 else {})],
    "DynamicQuantizeLinear": lambda dtype, since: [([numbers(dtype, (3, 4), 1, False)], {})],
    "Expand": lambda dtype, since: [([numbers(dtype, a), ints(*b)], {}) for a, b in [
        ((3, 1), (2, 1, 4)), ((5,), (1,)), ((), (2,))]],
    "EyeLike": lambda dtype, since: [([numbers(dtype, (3, 4))], options) for options in (
        {}, {"k": 1}, {"k": -1, "dtype": 1}, {"dtype": 9})],
    "Flatten": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], {"axis": axis}) for axis in (
        (0, 1, 3) if since < 11 else (0, 1, 3, -1))],
    "Gather": of_gather, "GlobalAveragePool": of_pool, "GlobalMaxPool": of_pool,
    "GroupNormalization": lambda dtype, since: of_normalization(  # a scale and a bias for each group, then channel
        {"num_groups": 2}, *[lambda x: (2 if since < 21 else 4,)] * 2)(dtype, since),
    "HardSigmoid": finite(of_one(alpha=0.3, beta=0.4)), "HardSwish": finite(of_one()),
    "Hardmax": lambda dtype, since: [([numbers(dtype, (2, 3, 4), 3, False)], {"axis": axis}) for axis in (
        (0, 1, 2) if since < 11 else (0, 1, -1))],
    "IsInf": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], {"detect_positive": p, "detect_negative": n})
                                   for p in (0, 1) for n in (0, 1)],
    "LayerNormalization": of_normalization({"axis": -1}, *[lambda x: x.shape[-1:]] * 2),
    "LeakyRelu": finite(of_one(alpha=0.25)), "Max": of_several, "Mean": of_several, "Min": of_several, "Mod": of_mod,
    "OneHot": of_one_hot, "PRelu": of_slope, "Pad": of_pad, "QuantizeLinear": of_quantize,
    "RMSNormalization": of_normalization({"axis": -1}, lambda x: x.shape[-1:]), "Range": of_range,
    "ReduceL1": reduction(), "ReduceL2": reduction(), "ReduceMax": reduction(specials=True),
    "ReduceMean": reduction(empty=False), "ReduceMin": reduction(specials=True), "ReduceProd": reduction(),
    "ReduceSum": reduction(13), "ReduceSumSquare": reduction(), "Reshape": of_reshape,
    "Shape": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], options) for options in (
        [{}] if since < 15 else [{}, {"start": 1}, {"start": -2, "end": -1}])],
    "Shrink": lambda dtype, since: finite(of_one(lambd=1.5, bias=1.0))(dtype, since) if np.dtype(
        dtype).kind == "f" else [([numbers(dtype, (3, 4), specials=False)], {"lambd": 1.5, "bias": 1.0})],
    "Slice": of_slice, "SpaceToDepth": lambda dtype, since: [([numbers(dtype, (2, 3, 4, 6))], {"blocksize": 2})],
    "Split": of_split, "Squeeze": of_axes((1, 3, 1, 2), None, [0], [0, 2], [-2]),
    "Softsign": lambda dtype, since: of_one()(dtype, since)[1:],  # the reference fails without dimensions
    "Sum": of_several,
    "ThresholdedRelu": of_one(alpha=1.5), "Tile": of_tile,
    "Transpose": lambda dtype, since: [([numbers(dtype, (2, 3, 4))], options) for options in ({}, {"perm": [2, 0, 1]})],
    "Trilu": lambda dtype, since: [([numbers(dtype, (2, 4, 3)), *k], {"upper": upper}) for upper in (0, 1)
                                   for k in ([], [np.array(1)], [np.array(-2)])],
    "Unsqueeze": of_axes((3, 2), [0], [1, 3], [-1]), "Where": of_where,
}
OF_TWO = {"Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Greater", "GreaterOrEqual", "Less",
          "LessOrEqual", "Mul", "Or", "Sub", "Xor"}
# Where ONNX's evaluator has no such opset, one with the same meaning; None where there is none, and OLD has the cases.
# Those of AveragePool 1 and BatchNormalization 7 and 9 do something else than ONNX's text says.
REFERENCES = {("AveragePool", 1): 7, ("BatchNormalization", 1): None, ("BatchNormalization", 7): 14,
              ("BatchNormalization", 9): 14, ("Cast", 1): None, ("Clip", 1): 6, ("DequantizeLinear", 10): 19,
              ("DequantizeLinear", 13): 19, ("Dropout", 1): None,
              ("Dropout", 6): None, ("Hardmax", 1): None, ("Hardmax", 11): None, ("Reshape", 1): None,
              ("Split", 1): None, ("Tile", 1): None}
X = np.float32([[1, 5, 5], [2, 0, 2]])
OLD = [
    ("Cast", 1, [X], {"to": "INT8"}, X.astype(np.int8)), ("Cast", 1, [X], {"to": "BOOL"}, X.astype(bool)),
    ("Dropout", 1, [X], {"is_test": 1}, X), ("Dropout", 6, [X], {"is_test": 1}, X),
    ("Hardmax", 1, [X], {}, np.float32([[0, 1, 0], [1, 0, 0]])),
    ("Hardmax", 1, [X], {"axis": 0}, np.float32([[0, 1, 0], [0, 0, 0]])),  # all from the axis on
    ("Hardmax", 11, [X], {"axis": -2}, np.float32([[0, 1, 0], [0, 0, 0]])),
    ("Reshape", 1, [X], {"shape": [3, -1]}, X.reshape(3, 2)), ("Reshape", 1, [X], {"shape": [0, 1, 3]}, X[:, None]),
    ("Split", 1, [X], {"axis": 1, "split": [1, 2], "outputs": 2}, (X[:, :1], X[:, 1:])),
    ("Tile", 1, [X, np.float32([2]), np.float32([1])], {}, np.tile(X, (1, 2))),
    ("GlobalLpPool", 2, [np.float32([[[3, -4], [5, 12]]])], {}, np.float32([[[5], [13]]])),
    ("MaxPool", 12, [np.int8([[[3, -4, 0, -1]]])], {"kernel_shape": [2], "strides": [2], "pads": [1, 1]},
     np.int8([[[3, 0, -1]]])),
    ("BatchNormalization", 1, [X, *np.float32([[1, 2, 3], [4, 5, 6], [1, 1, 1], [3, 3, 8]])],
     {"consumed_inputs": [0, 0, 0, 1, 1], "is_test": 1, "epsilon": 1.0}, np.float32([[4, 9, 10], [4.5, 4, 7]])),
    ("LpPool", 11, [np.float32([[[3, -4, 0, 1]]])], {"kernel_shape": [2], "strides": [2], "pads": [1, 1], "p": 1},
     np.float32([[[3, 4, 1]]])),
    ("LpNormalization", 1, [np.float32([[3, -1], [0, 0]])], {"p": 1}, np.float32([[0.75, -0.25], [0, 0]])),
    ("PRelu", 6, [-np.ones((1, 2, 3), np.float32), np.float32([2, 3])], {}, np.float32([[[-2] * 3, [-3] * 3]])),
    ("Pad", 13, [X, ints(0, -1, -1, 2)], {}, np.pad(X[:1, 1:], ((0, 0), (0, 2)))),
]


def rows():
    for op in sorted(NODES):
        for schema in onnx.defs.get_all_schemas_with_history():
            key = op, schema.since_version
            if schema.name == op and schema.domain == "" and REFERENCES.get(key, key):
                yield key


def model_of(op, arrays, options, opset):
    options = dict(options)
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    outputs = [f"y{i}" for i in range(options.pop("outputs", 1))]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
              for name, array in zip(names, arrays) if name]
    graph = helper.make_graph([helper.make_node(op, names, outputs, **options)], "graph", inputs,
                              [onnx.ValueInfoProto(name=name) for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), {
        name: array for name, array in zip(names, arrays) if name}


def compare(op, actual, expected):
    expected = np.asarray(expected)
    if op == "ReduceSumSquare":  # the reference gives int64 for int32
        expected = expected.astype(actual.dtype)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    ulps = TOLERANCES.get(op, {}).get(actual.dtype.name, 0)
    if actual.dtype.kind != "f" or not ulps:
        np.testing.assert_array_equal(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, rtol=ulps * float(np.finfo(actual.dtype).eps), atol=ulps * float(
            np.finfo(actual.dtype).smallest_normal))
    if actual.dtype.kind == "f" and op not in ZEROS:
        there = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[there], np.signbit(expected)[there])


DISPATCHED = {op: set() for op in NODES}


@pytest.fixture
def dispatched(monkeypatch):
    """The rows that a test dispatches."""
    names = set()

    class Recording:
        @staticmethod
        def run(name, *arrays, **options):
            names.add(_rows.short(name))
            return anydml.run(name, *arrays, **options)

    monkeypatch.setattr(_rows, "anydml", Recording)
    return names


@pytest.mark.parametrize("op, since", list(rows()))
def test_beside_the_reference(op, since, dispatched):
    schema = onnx.defs.get_schema(op, since)
    main = onnx_counts.MAIN.get(op, 0)
    kinds = [None] if main is None else [kind for kind in KINDS if f"tensor({kind})" in schema.inputs[main].types]
    assert kinds
    for kind in kinds:
        make = CASES.get(op, of_two if op in OF_TWO else of_one())
        for arrays, options in make(None if kind is None else dtype_of(kind), since):
            model, given = model_of(op, arrays, options, since)
            with np.errstate(all="ignore"):
                other = REFERENCES.get((op, since))
                reference = model_of(op, arrays, options, other)[0] if other else model
                expected = ReferenceEvaluator(reference).run(None, given)
            actual = backend.Prepared(model).run(given)
            assert len(actual) == len(expected)
            for one, other in zip(actual, expected):
                compare(op, one, other)
    DISPATCHED[op] |= dispatched


def test_the_table_says_what_is_dispatched():
    """Of all the tests above together, where they ran."""
    built = {_rows.short(one["name"]) for one in anydml.operators(built=True)}
    for op, row in NODES.items():
        assert set(row.uses.split()) <= built
        assert DISPATCHED[op] <= set(row.uses.split()) or row.make is None, op


@pytest.mark.parametrize("op, opset, arrays, options, expected", OLD)
def test_where_there_is_no_reference(op, opset, arrays, options, expected):
    model, given = model_of(op, arrays, options, opset)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for actual, wanted in zip(backend.Prepared(model).run(given), expected):
        np.testing.assert_array_equal(actual, wanted, strict=True)


def run(op, *arrays, opset=NEWEST, **options):
    model, given = model_of(op, arrays, options, opset)
    return backend.Prepared(model).run(given)[0]


def test_sums_of_many_floats():
    """The order of additions is ours: within what any order may be off, and closer than one after another."""
    x = np.random.default_rng(1).standard_normal((300, 1000)).astype(np.float32)
    exact = x.astype(np.float64)
    bound = np.finfo(np.float32).eps * 80 * np.abs(exact).sum(1)
    for op, wanted in (("ReduceSum", exact.sum(1)), ("ReduceMean", exact.mean(1)), ("ReduceL1", np.abs(exact).sum(1)),
                       ("ReduceL2", np.sqrt((exact**2).sum(1))), ("ReduceSumSquare", (exact**2).sum(1))):
        assert (np.abs(run(op, x, ints(1), keepdims=0) - wanted) <= bound).all()


def test_integers_where_onnx_says_little():
    x = np.int32([[-7, 0, 2], [2**31 - 1, 1, 1]])
    assert run("ReduceMean", x, ints(1), keepdims=0).tolist() == [-1, (-2**31 + 1) // 3 + 1]  # the sum wraps
    assert run("ReduceL2", x, ints(1), keepdims=0).tolist() == [7, 2**31 - 1]
    assert run("Sign", np.float32([np.nan, -0.0, -3])).tolist()[1:] == [0, -1]
    assert run("ThresholdedRelu", np.float32([np.nan, 2]), alpha=1.0).tolist() == [0, 2]
    assert run("Cast", np.float32([np.nan, 300, -1.9]), to=onnx.TensorProto.UINT8).tolist() == [0, 255, 0]


@pytest.mark.parametrize("op, arrays, options, message", [
    ("Shrink", [np.int8([1])], {"bias": 0.5}, "Shrink of int8 with bias 0.5 and lambd 0.5: for integers bias must be"),
    ("Pad", [X, ints(1, 1, 1, 1)], {"mode": "reflect"}, "Pad of mode reflect: it pads with a constant"),
    ("Dropout", [X, np.float32(0.5), np.array(True)], {}, "Dropout in training: it has no random numbers"),
    ("QuantizeLinear", [X, np.float16(1)], {}, "QuantizeLinear of float with a scale of float16: ONNX's text and its"),
    ("QuantizeLinear", [X.astype(np.int32), np.int32(1)], {}, "QuantizeLinear with a scale of int32 .*: it divides"),
    ("MaxPool", [X[None]], {"kernel_shape": [2], "outputs": 2}, "MaxPool with Indices: it gives the greatest elements"),
    ("LpPool", [X[None]], {"kernel_shape": [2], "p": 3}, "LpPool with p 3: p must be 1 or 2"),
    ("BatchNormalization", [X, *[X[0]] * 4], {"training_mode": 1}, "BatchNormalization in training: it normalizes"),
    ("Range", [np.float16(1)] * 3, {"stash_type": 10}, "Range with stash_type 10: it computes in float or double"),
])
def test_refusals_name_the_reason(op, arrays, options, message):
    with pytest.raises(backend.Unsupported, match=f"{op} that makes '.*': anydml has no {message}"):
        run(op, *arrays, **options)


@pytest.mark.parametrize("op, arrays, options, message", [
    ("ReduceSum", [X, ints(2)], {}, "an axis is 2, and the tensor has 2 dimensions"),
    ("ReduceSum", [X, ints(0, -2)], {}, "one of them comes twice"),
    ("ReduceMean", [np.zeros((0,), np.int32)], {}, "the mean of no integers"),
    ("ArgMax", [X[:, :0]], {"axis": 1}, "axis 1 has no elements"),
    ("ArgMax", [X], {"axis": 5}, "axis is 5, and the tensor has 2 dimensions"),
    ("Reshape", [X, ints(4, -1)], {}, "its -1 does not follow from"),
    ("Reshape", [X, ints(1, 6, 0)], {}, "a 0 there takes a size"),
    ("Reshape", [X, ints(7)], {}, "cannot reshape array of size 6"),
    ("Squeeze", [X, ints(0)], {}, "cannot select an axis to squeeze out"),
    ("Transpose", [X], {"perm": [0, 0]}, "perm is"),
    ("Slice", [X, ints(0), ints(1), ints(0), ints(0)], {}, "a step is 0"),
    ("Split", [X, ints(1, 1)], {"axis": 1, "outputs": 2}, "axis 1 has 3 elements for 2 outputs"),
    ("Concat", [X, X[:1]], {"axis": 1}, "must have one shape but for the axis"),
    ("Pad", [X, ints(1, 1)], {}, "pads has 2 numbers, and 2 axes need 4"),
    ("Tile", [X, ints(1)], {}, "repeats is"),
    ("Gather", [X, ints(2)], {}, "an index is not among the 2 of axis 0"),
    ("Range", [np.float32(0), np.float32(1), np.float32(0)], {}, "there is no range from 0.0 to 1.0 by 0.0"),
    ("PRelu", [X[:1], X], {}, "slope has the shape"),
    ("QuantizeLinear", [X, np.float32([1, 2])], {"axis": 1}, "the scale has the shape"),
    ("BitShift", [np.uint8([1])] * 2, {"direction": "UP"}, "direction is 'UP'"),
    ("Add", [X, None], {}, "input B is missing"), ("Add", [X], {}, "input B is missing"),
    ("DepthToSpace", [X[None, None]], {"blocksize": 0}, "modulo"),
    ("DepthToSpace", [X], {"blocksize": 2}, "must have 4"),
    ("MaxPool", [X], {"kernel_shape": [2]}, "kernel_shape is .2., and the tensor has 2 dimensions"),
    ("Max", [X, X[:1]], {"opset": 6}, "before opset 8 the inputs must have one shape"),
])
def test_wrong_arguments(op, arrays, options, message):
    with pytest.raises(ValueError, match=f"{op} that makes '.*': .*{message}"):
        run(op, *arrays, **options)


def test_views_are_not_the_callers_arrays():
    x = np.float32([1, 2])
    for op, more in (("Reshape", [ints(2, 1)]), ("Expand", [ints(2, 2)]), ("Gather", [np.array(0)]), ("Transpose", [])):
        run(op, x, *more)[...] = 0
        assert x.tolist() == [1, 2]
