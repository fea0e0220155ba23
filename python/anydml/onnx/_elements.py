# SPDX-License-Identifier: MIT
"""Element-wise nodes that need more than one dispatch of an operator."""
from functools import partial, reduce

import numpy as np

from .._symbols import Symbol
from ._rows import (FLOATS, FOUR_BITS, Row, axis_of, cast, check_minimum, converted, dispatch, dtype_of, fill, number, plain, refuse,
                    short)

LAST_MOD_OF_INTEGERS = 13  # all versions of Mod accept the same types, but 10 and 13 require fmod=1 for floats
FIRST_BROADCAST_OF_SEVERAL = 8  # in earlier opsets, Max, Min, Sum and Mean required equal shapes
FIRST_BROADCAST_OF_SLOPES = 7  # in earlier opsets, PRelu's slope was one number, or one for each channel


def mod(node):
    fmod = node.attributes["fmod"]
    if fmod not in (0, 1):
        raise ValueError(f"{node.label}: fmod is {fmod}; expected 0 or 1")
    if not fmod and node.kinds[0] in FLOATS and node.since <= LAST_MOD_OF_INTEGERS:
        raise ValueError(f"{node.label}: floats need fmod=1 in ONNX's Mod of opset {node.since}")
    return partial(dispatch, "ELEMENT_WISE_MODULUS_" + ("TRUNCATE" if fmod else "FLOOR"))


def casting(node):
    return partial(_cast, dtype_of(node.results[0]))


def _cast(dtype, x, _=None):
    if dtype != bool:
        return converted(x, dtype)
    return dispatch("ELEMENT_WISE_LOGICAL_NOT", equals_zero(x))  # anything other than 0 is true


def equals_zero(x):
    return dispatch("ELEMENT_WISE_LOGICAL_EQUALS", x, number(0, plain(x).dtype))


def clip(node):
    if "min" in node.attributes:
        return partial(_clip, low=node.attributes["min"], high=node.attributes["max"])
    return _clip_by_inputs


def _clip_by_inputs(x, low=None, high=None):
    for name, bound in (("min", low), ("max", high)):
        if bound is not None and bound.ndim != 0:
            raise ValueError(f"{name} must be a scalar, but has the shape {list(bound.shape)}")
    if any(isinstance(bound, Symbol) for bound in (low, high)):  # a Symbol has no elements while a graph is recorded
        limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        low, high = (number(end, x.dtype) if bound is None else bound for bound, end in (
            (low, limits.min), (high, limits.max)))
        return dispatch("ELEMENT_WISE_MIN", dispatch("ELEMENT_WISE_MAX", x, low), high)
    return _clip(x, *(None if bound is None else bound.item() for bound in (low, high)))


def _clip(x, low, high):
    """Missing bounds default to the type's smallest and largest numbers. If low > high, the result is high."""
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    kind = float if x.dtype.kind == "f" else int
    low = kind(limits.min) if low is None else low
    high = kind(limits.max) if high is None else high
    low = high if low > high else low
    if x.dtype == np.uint64 and high >= 2**63:  # attributes are int64, so shift everything down by half the range
        half = number(2**63, np.uint64)
        moved = dispatch("ELEMENT_WISE_SUBTRACT", x, half).view(np.int64)
        clipped = dispatch("ELEMENT_WISE_CLIP", moved, Min=low - 2**63, Max=high - 2**63).view(np.uint64)
        return dispatch("ELEMENT_WISE_ADD", clipped, half)
    return dispatch("ELEMENT_WISE_CLIP", x, Min=low, Max=high)


def sign(node):
    return _sign_or_nan if node.kinds[0] in FLOATS else partial(dispatch, "ELEMENT_WISE_SIGN")


def _sign_or_nan(x):
    """DirectML's sign of a NaN is 0, but ONNX's reference returns NaN."""
    return dispatch("ELEMENT_WISE_IF", dispatch("ELEMENT_WISE_IS_NAN", x), x, dispatch("ELEMENT_WISE_SIGN", x))


def is_infinite(node):
    modes = {(1, 1): "EITHER", (0, 1): "NEGATIVE", (1, 0): "POSITIVE"}
    mode = modes.get(tuple(int(node.attributes[f"detect_{which}"] != 0) for which in ("positive", "negative")))
    if mode is None:
        return lambda x: fill(False, x.shape, bool)
    return partial(dispatch, "ELEMENT_WISE_IS_INFINITY", InfinityMode=mode)


def sloped(node):
    def compute(x, slope):
        aligned = slope
        if node.since < FIRST_BROADCAST_OF_SLOPES and slope.ndim == 1 and x.ndim > 1:
            aligned = slope.reshape(slope.shape + (1,) * (x.ndim - 2))
        if np.broadcast_shapes(x.shape, aligned.shape) != x.shape:
            raise ValueError(f"slope has the shape {list(slope.shape)}, which does not broadcast to {list(x.shape)}")
        if x.dtype.kind == "u":  # unsigned elements are never below 0
            return dispatch("ELEMENT_WISE_IDENTITY", x)
        return dispatch("ACTIVATION_PARAMETERIZED_RELU", x, aligned)

    return compute


def shrink(node):
    bias, threshold = node.attributes["bias"], node.attributes["lambd"]
    if node.kinds[0] not in FLOATS:
        limits = np.iinfo(dtype_of(node.kinds[0]))
        if not (float(bias).is_integer() and limits.min <= bias <= limits.max and threshold >= 0):
            refuse(node, f"of {node.kinds[0]} with bias {bias:g} and lambd {threshold:g}",
                   "for integers, bias must be a value of the type, and lambd must be 0 or more")
    return partial(dispatch, "ACTIVATION_SHRINK", Bias=bias, Threshold=threshold)


def bit_shift(node):
    direction = node.attributes["direction"]
    if direction not in ("LEFT", "RIGHT"):
        raise ValueError(f"{node.label}: direction is {direction!r}; expected 'LEFT' or 'RIGHT'")
    shift = partial(dispatch, f"ELEMENT_WISE_BIT_SHIFT_{direction}")
    if node.kinds[0].startswith("uint"):
        return shift

    def compute(x, by):
        """Signed integers are shifted as unsigned integers. For a shift to the right, the bits of a negative number are
        inverted before and after, so that ones are shifted in."""
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        bits, by = x.view(unsigned), by.view(unsigned)  # a negative shift becomes larger than any width
        if direction == "LEFT":
            return shift(bits, by).view(x.dtype)
        ones = dispatch("ELEMENT_WISE_IF", dispatch("ELEMENT_WISE_LOGICAL_LESS_THAN", x, number(0, x.dtype)),
                        number(np.iinfo(unsigned).max, unsigned), number(0, unsigned))
        turned = shift(dispatch("ELEMENT_WISE_BIT_XOR", bits, ones), by)
        return dispatch("ELEMENT_WISE_BIT_XOR", turned, ones).view(x.dtype)

    return compute


def several(name, mean=False):
    """Combines any number of inputs from left to right with a binary operator."""

    def make(node):
        def compute(first, *others):
            if node.since < FIRST_BROADCAST_OF_SEVERAL and {first.shape} != {first.shape, *(x.shape for x in others)}:
                raise ValueError("before opset 8 the inputs must have one shape, but have "
                                 + ", ".join(str(list(x.shape)) for x in (first, *others)))
            if not others:
                return dispatch("ELEMENT_WISE_IDENTITY", first)
            result = reduce(partial(dispatch, name), others, first)
            return dispatch("ELEMENT_WISE_DIVIDE", result, number(1 + len(others), first.dtype)) if mean else result

        return compute

    return Row(make, f"{short(name)} IDENTITY" + (" DIVIDE" if mean else ""))


def _aligned(node, value, x, what):
    """Returns a scale or zero point in a form that broadcasts to x: one number, one for each index of the axis, or one
    for each block."""
    axis, block = node.attributes.get("axis", 1), node.attributes.get("block_size", 0)
    if value.size == 1 and value.ndim <= 1:
        return value.reshape(())
    if not block and value.ndim == 1 and "axis" in node.attributes:
        axis = axis_of(axis, x.ndim)
        if len(value) == x.shape[axis]:
            return value.reshape((-1,) + (1,) * (x.ndim - axis - 1))
    elif block and value.ndim == x.ndim:
        axis = axis_of(axis, x.ndim)
        blocks = -(-x.shape[axis] // block)
        if value.shape == (*x.shape[:axis], blocks, *x.shape[axis + 1:]):
            return np.repeat(value, min(block, x.shape[axis]), axis)[tuple(slice(size) for size in x.shape)]
        raise ValueError(f"block_size is {block}, but {what} has the shape {list(value.shape)}, which does not match "
                         f"{list(x.shape)}")
    raise ValueError(f"{what} has the shape {list(value.shape)}, which does not match {list(x.shape)}")


def _has_whole_blocks(node, x, scale, zero):
    """Whether QUANTIZE and DEQUANTIZE accept the blocks directly: blocks must divide the axis evenly."""
    axis, block = node.attributes.get("axis", 1), node.attributes.get("block_size", 0)
    if not block or scale.ndim != x.ndim or (zero is not None and zero.shape != scale.shape):
        return False
    axis = axis_of(axis, x.ndim)
    return (x.size > 0 and x.shape[axis] % block == 0
            and scale.shape == (*x.shape[:axis], x.shape[axis] // block, *x.shape[axis + 1:]))


def quantize(node):
    """QUANTIZE_LINEAR and, for blocks, QUANTIZE divide in FLOAT32 and return 8-bit results. Other precisions and
    16-bit results need more operators. Four-bit results are eight-bit results that are clamped further."""
    precision = node.attributes.get("precision") or 0
    divide_in = {0: dtype_of(node.kinds[1]), 1: np.dtype("f4"), 10: np.dtype("f2"), 11: np.dtype("f8")}.get(precision)
    if divide_in is None or divide_in.kind != "f":
        refuse(node, f"with a scale of {node.kinds[1]} and precision {precision}", "it divides floats")
    if not precision and node.kinds[0] != node.kinds[1] == "float16":
        refuse(node, f"of {node.kinds[0]} with a scale of float16",
               "ONNX's text and its reference divide differently here, unless precision is given")
    check_minimum(node, "block_size", 0)
    kind, dtype = node.results[0], dtype_of(node.results[0])

    def bounded(codes):
        if kind not in FOUR_BITS:
            return codes
        return dispatch("ELEMENT_WISE_CLIP", codes, Min=-8 if kind == "int4" else 0, Max=7 if kind == "int4" else 15)

    def compute(x, scale, zero=None):
        if divide_in == np.float32 and dtype.itemsize == 1 and _has_whole_blocks(node, x, scale, zero):
            zero = np.zeros(scale.shape, dtype) if zero is None else zero
            return bounded(dispatch("QUANTIZE", cast(x, divide_in), cast(scale, divide_in), zero,
                                    QuantizationType="SCALE_ZERO_POINT"))
        scale, zero = (None if one is None else _aligned(node, one, x, what)
                       for one, what in ((scale, "the scale"), (zero, "the zero point")))
        scale = cast(scale, divide_in)
        if divide_in == np.float32 and dtype.itemsize == 1:
            zero = number(0, dtype) if zero is None else zero
            return bounded(dispatch("ELEMENT_WISE_QUANTIZE_LINEAR", cast(x, divide_in), scale, zero))
        quotient = dispatch("ELEMENT_WISE_DIVIDE", cast(x, divide_in), scale)
        nearest = dispatch("ELEMENT_WISE_ROUND", quotient, RoundingMode="HALVES_TO_NEAREST_EVEN")
        near = dispatch("ELEMENT_WISE_CLIP", cast(nearest, np.dtype("f8")), Min=-2.0**20, Max=2.0**20)
        whole = cast(near, np.dtype("i4"))
        if zero is not None:
            whole = dispatch("ELEMENT_WISE_ADD", whole, cast(zero, np.dtype("i4")))
        limits = np.iinfo(dtype)
        return bounded(cast(dispatch("ELEMENT_WISE_CLIP", whole, Min=int(limits.min), Max=int(limits.max)), dtype))

    return compute


def quantized_kind(attributes, kinds):
    """Returns the zero point's type, or output_dtype, or uint8."""
    zero = kinds[2] if len(kinds) > 2 else ""
    asked = attributes.get("output_dtype")
    if zero and asked and asked != zero:
        raise TypeError(f"output_dtype is {asked}, but the zero point is {zero}")
    return [zero or asked or "uint8"]


def dequantize(node):
    check_minimum(node, "block_size", 0)
    given, result = dtype_of(node.kinds[1]), dtype_of(node.results[0])
    multiply_in = max(given, result, key=lambda dtype: dtype.itemsize)

    def compute(x, scale, zero=None):
        if x.dtype.itemsize == 1 and multiply_in.itemsize < 8 and _has_whole_blocks(node, x, scale, zero):
            zero = np.zeros(scale.shape, x.dtype) if zero is None else zero
            return dispatch("DEQUANTIZE", x, scale, zero, QuantizationType="SCALE_ZERO_POINT", dtype=result)
        scale, zero = (None if one is None else _aligned(node, one, x, what)
                       for one, what in ((scale, "the scale"), (zero, "the zero point")))
        return cast(dispatch("ELEMENT_WISE_DEQUANTIZE_LINEAR", x, cast(scale, multiply_in), zero), result)

    return compute


def dequantized_kind(attributes, kinds):
    return [attributes.get("output_dtype") or kinds[1]]
