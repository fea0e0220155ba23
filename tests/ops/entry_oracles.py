# SPDX-License-Identifier: MIT
"""NumPy's definitions of the element-wise operators: for each, attributes and a function in its computation type."""
import function_oracles
import numpy as np


def wide_of(dtype):
    return np.float64 if dtype == np.float64 else np.float32


def computed(function):
    """Computes in FLOAT32 for FLOAT16 and FLOAT32, rounding each operation, and finally rounds the result to the
    type."""
    def of(*inputs):
        wide = wide_of(inputs[0].dtype)
        return function(*(x.astype(wide) for x in inputs), wide).astype(inputs[0].dtype)
    return of


def is_float(x):
    return x.dtype.kind == "f"


def greater(a, b):
    """NumPy's maximum, except that +0 is above -0, which NumPy does not guarantee."""
    return np.where((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)), a.dtype.type(0), np.maximum(a, b))


def less(a, b):
    """NumPy's minimum, except that -0 is below +0."""
    zeros = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    return np.where(zeros, -a.dtype.type(0) if is_float(a) else a.dtype.type(0), np.minimum(a, b))


def in_type(value, dtype):
    """Converts an attribute to the type: floats are rounded, integers are truncated and clamped."""
    if dtype.kind == "f":
        return np.float64(value).astype(dtype)
    info = np.iinfo(dtype)
    return dtype.type(min(max(int(value), info.min), info.max))


def truncated_half(total):
    half = total // total.dtype.type(2)
    return half + ((total < 0) & (total % total.dtype.type(2) != 0)).astype(total.dtype)


def mean(a, b):
    return computed(lambda x, y, wide: (x + y) * wide(0.5))(a, b) if is_float(a) else truncated_half(a + b)


def difference_square(a, b):
    return computed(lambda x, y, _: (x - y) * (x - y))(a, b) if is_float(a) else (a - b) * (a - b)


def sign(x):
    return np.where(x > 0, 1, np.where(x < 0, -1, 0)).astype(x.dtype)


def half_away(x):
    size = np.abs(x.astype(np.float64))
    down = np.floor(size)
    return np.copysign(down + (size - down >= 0.5), x.astype(np.float64)).astype(x.dtype)


def clip_grad(x, gradient):
    low, high = in_type(-2.0, x.dtype), in_type(100.0, x.dtype)
    return np.where((x <= low) | (x >= high), x.dtype.type(0), gradient)


def bits(x):
    return x.view(f"u{x.dtype.itemsize}") if x.flags.c_contiguous else np.ascontiguousarray(x).view(
        f"u{x.dtype.itemsize}")


def by_bits(function):
    return lambda *inputs: function(*(bits(x) for x in np.broadcast_arrays(*inputs))).astype(
        f"u{inputs[0].dtype.itemsize}").view(inputs[0].dtype)


def shift(function):
    def of(a, b):
        width = 8 * a.dtype.itemsize
        return np.where(b < width, function(a, b % a.dtype.type(width)), a.dtype.type(0)).astype(a.dtype)
    return of


def hard_sigmoid(x, wide):
    y = wide(0.3) * x + wide(0.45)
    return greater(np.zeros_like(y), less(y, np.ones_like(y)))


def parameterized_relu(x, slope):
    return (computed(lambda v, s, _: np.where(v >= 0, v, s * v))(x, slope) if is_float(x)
            else np.where(x >= 0, x, slope * x))


def shrink(x):
    if is_float(x):
        return computed(lambda v, wide: np.where(v > wide(4.5), v - wide(1.3),
                                                 np.where(v < wide(-4.5), v + wide(1.3), wide(0))))(x)
    bias, above, below = (in_type(value, x.dtype) for value in (1.3, 4.5, -4.5))
    return np.where(x > above, x - bias, np.where(x < below, x + bias, x.dtype.type(0)))


ALPHA_BETA = (("Alpha", 0.3), ("Beta", 0.45))
BOUNDS = (("Min", -2.0), ("Max", 100.0))


def clipped(x):
    low, high = in_type(-2.0, x.dtype), in_type(100.0, x.dtype)
    return np.maximum(np.minimum(x, high), low)


def added(activation):
    def of(a, b):
        total = computed(lambda x, y, _: x + y)(a, b)
        return activation(total)
    return of


# For each operator one or more pairs: the attributes, and a function that returns the expected result, or a tuple if
# several results are allowed.
ENTRIES = {
    **function_oracles.ENTRIES,
    "ELEMENT_WISE_MAX": [((), greater)],
    "ELEMENT_WISE_MIN": [((), less)],
    "ELEMENT_WISE_MEAN": [((), mean)],
    "ELEMENT_WISE_DIFFERENCE_SQUARE": [((), difference_square)],
    "ELEMENT_WISE_THRESHOLD": [((("Min", -2.0),), lambda x: greater(x, np.full_like(x, in_type(-2.0, x.dtype)))),
                               ((("Min", 0.0),), lambda x: greater(x, np.zeros_like(x)))],
    "ELEMENT_WISE_RECIP": [((), computed(lambda x, wide: wide(1) / x))],
    "ELEMENT_WISE_SQRT": [((), computed(lambda x, _: np.sqrt(x)))],
    "ELEMENT_WISE_SIGN": [((), sign)],
    "ELEMENT_WISE_ROUND": [((("RoundingMode", 0),), np.rint), ((("RoundingMode", 1),), np.trunc),
                           ((("RoundingMode", 2),), half_away)],
    "ELEMENT_WISE_CLIP1": [(BOUNDS, clipped)],
    "ELEMENT_WISE_CLIP_GRAD": [(BOUNDS, clip_grad)],
    "ELEMENT_WISE_CLIP_GRAD1": [(BOUNDS, clip_grad)],
    "ELEMENT_WISE_LOGICAL_AND": [((), lambda a, b: np.logical_and(a, b).astype(a.dtype))],
    "ELEMENT_WISE_LOGICAL_OR": [((), lambda a, b: np.logical_or(a, b).astype(a.dtype))],
    "ELEMENT_WISE_LOGICAL_XOR": [((), lambda a, b: np.logical_xor(a, b).astype(a.dtype))],
    "ELEMENT_WISE_LOGICAL_NOT": [((), lambda x: np.logical_not(x).astype(x.dtype))],
    "ELEMENT_WISE_BIT_AND": [((), by_bits(np.bitwise_and))],
    "ELEMENT_WISE_BIT_OR": [((), by_bits(np.bitwise_or))],
    "ELEMENT_WISE_BIT_XOR": [((), by_bits(np.bitwise_xor))],
    "ELEMENT_WISE_BIT_NOT": [((), by_bits(np.invert))],
    "ELEMENT_WISE_BIT_SHIFT_LEFT": [((), shift(np.left_shift))],
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": [((), shift(np.right_shift))],
    "ELEMENT_WISE_ADD1": [
        ((), lambda a, b: computed(lambda x, y, _: x + y)(a, b) if is_float(a) else a + b),
        ((("FusedActivation", ("ACTIVATION_RELU", ())),), added(lambda x: greater(x, np.zeros_like(x)))),
        ((("FusedActivation", ("ACTIVATION_LINEAR", ALPHA_BETA)),),
         added(computed(lambda x, wide: wide(0.3) * x + wide(0.45))))],
    "ACTIVATION_IDENTITY": [((), np.positive)],
    "ACTIVATION_LINEAR": [(ALPHA_BETA, computed(lambda x, wide: wide(0.3) * x + wide(0.45)))],
    "ACTIVATION_RELU": [((), lambda x: greater(x, np.zeros_like(x)))],
    "ACTIVATION_LEAKY_RELU": [((("Alpha", 0.3),), computed(lambda x, wide: np.where(x >= 0, x, wide(0.3) * x)))],
    "ACTIVATION_PARAMETERIZED_RELU": [((), parameterized_relu)],
    "ACTIVATION_THRESHOLDED_RELU": [((("Alpha", 0.3),), computed(lambda x, wide: np.where(x > wide(0.3), x, wide(0))))],
    "ACTIVATION_HARD_SIGMOID": [(ALPHA_BETA, computed(hard_sigmoid))],
    "ACTIVATION_HARD_SWISH": [(ALPHA_BETA, computed(lambda x, wide: x * hard_sigmoid(x, wide)))],
    "ACTIVATION_SHRINK": [((("Bias", 1.3), ("Threshold", 4.5)), shrink)],
    "ACTIVATION_RELU_GRAD": [((), lambda x, gradient: np.where(x > 0, gradient, x.dtype.type(0)))],
}


def quantized(x, scale, zero_point, to):
    quotient = np.rint(x.astype(np.float32) / scale.astype(np.float32))
    bounded = np.where(np.isnan(quotient), 0, np.clip(quotient, -2000, 2000)).astype(np.int64)
    info = np.iinfo(to)
    return np.clip(bounded + zero_point.astype(np.int64), info.min, info.max).astype(to)


def dequantized(x, scale, zero_point):
    difference = (x.astype(np.int64) - zero_point.astype(np.int64)).astype(np.float32)
    return (difference * scale.astype(np.float32)).astype(scale.dtype)


def popcount(x):
    each = np.unpackbits(np.ascontiguousarray(x).view(np.uint8).reshape(x.size, x.dtype.itemsize), axis=1)
    return each.sum(axis=1).reshape(x.shape)


COMPARISONS = {"GREATER_THAN": np.greater, "LESS_THAN": np.less, "GREATER_THAN_OR_EQUAL": np.greater_equal,
               "LESS_THAN_OR_EQUAL": np.less_equal}


def typed_entries(draw, dtypes):
    """For operators whose tensors differ in type: the name, the inputs, the attributes and NumPy's result."""
    for inputs, answers in function_oracles.powers(draw):
        yield "ELEMENT_WISE_POW", inputs, (), answers
    for dtype in dtypes:
        a, b = draw(dtype), draw(dtype)
        a[::3] = b[::3]
        for truth in (np.uint8, np.uint32):
            for name, function in COMPARISONS.items():
                yield f"ELEMENT_WISE_LOGICAL_{name}", [a, b], (), function(a, b).astype(truth)
            yield "ELEMENT_WISE_BIT_COUNT", [a], (), popcount(a).astype(truth)
            if dtype.kind == "f":
                infinite = [np.isinf(a), np.isposinf(a), np.isneginf(a)]
                for mode, answer in enumerate(infinite):
                    yield "ELEMENT_WISE_IS_INFINITY", [a], (("InfinityMode", mode),), answer.astype(truth)
    for to in (np.dtype(np.int8), np.dtype(np.uint8)):
        zero_point = draw(to)
        none = np.zeros_like(zero_point)
        for dtype in (np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.int32)):
            x = draw(dtype)
            scale = draw(np.dtype(np.float32) if dtype.kind == "i" else dtype)
            yield "ELEMENT_WISE_QUANTIZE_LINEAR", [x, scale, zero_point], (), quantized(x, scale, zero_point, to)
            yield "ELEMENT_WISE_QUANTIZE_LINEAR", [x, scale], (), quantized(x, scale, none, to)
        for other in (np.dtype(np.int8), np.dtype(np.uint8)):
            a, b = draw(to), draw(other)
            one = [np.array([value], kind) for value, kind in ((0.37, np.float32), (9, to), (0.11, np.float32),
                                                              (3, other), (0.21, np.float32), (5, to))]
            total = dequantized(a, one[0], one[1]) + dequantized(b, one[2], one[3])
            yield ("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", [a, one[0], one[1], b, one[2], one[3], one[4], one[5]], (),
                   quantized(total, one[4], one[5], to))
            total = dequantized(a, one[0], np.zeros(1, to)) + dequantized(b, one[2], one[3])
            yield ("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", [a, one[0], None, b, one[2], one[3], one[4]], (),
                   quantized(total, one[4], np.zeros(1, to), to))
    for dtype in (np.dtype(kind) for kind in ("i4", "i2", "i1", "u4", "u2", "u1")):
        x, zero_point = draw(dtype), draw(dtype)
        for to in (np.dtype(np.float32), np.dtype(np.float16)):
            scale = draw(to)
            yield "ELEMENT_WISE_DEQUANTIZE_LINEAR", [x, scale, zero_point], (), dequantized(x, scale, zero_point)
            yield "ELEMENT_WISE_DEQUANTIZE_LINEAR", [x, scale], (), dequantized(x, scale, np.zeros_like(x))
