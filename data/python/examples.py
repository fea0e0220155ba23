# SPDX-License-Identifier: MIT
"""One example with inputs and outputs for each implemented operator. generate_python.py puts it into the function's
help(), and generate_site.py writes it in Python, in C and as a dmlrun model. Tests run all examples and compare their
output."""
from __future__ import annotations

import ast
import json
import math
import struct
from collections.abc import Iterable
from typing import Any

import python_rule as python
from example_types import Example, Tensor, f32, i8, i32, single, u8, u32
from normalizing_examples import NORMALIZING
from recurrent_examples import RECURRENT
from region_examples import REGIONS

_X, _A, _B = f32(-2.5, -0.5, 1.5, 3), f32(7, -7, 7, -7), f32(3, 3, -3, -3)
_BITS, _MASK = u8(0, 5, 255, 128), u8(1, 3, 15, 255)
_TRUTHS, _OTHERS = u8(0, 0, 1, 1), u8(0, 1, 0, 1)
_SQUARE = f32(1, 5, 3, 2, 2, 9).shaped(2, 3)
_PIXELS = f32(*range(1, 9))
_WINDOWS = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
_DILATED = {**_WINDOWS, "Dilations": [1, 1]}
_FILTERED = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1}
_PLANE = _PIXELS.shaped(1, 1, 2, 4)



def _pooled(*results: float) -> Tensor:
    return f32(*results).shaped(1, 1, 1, 2)


def _unary(*results: float, x: Tensor = _X, to=f32, **attributes: Any) -> Example:
    return Example((x,), to(*results), attributes)


def _binary(a: Tensor, b: Tensor, output: Tensor, **attributes: Any) -> Example:
    return Example((a, b), output, attributes)


def _compare(*results: int) -> Example:
    return _binary(f32(1, 2, 3), f32(2, 2, 2), u8(*results))


def _function(*results: float, x: Tensor = _X, **attributes: Any) -> Example:
    return Example((x,), single(*results), attributes)


# The exponentials of these numbers differ by a factor of 2 or by much more.
_ROWS = single(0, 0, 0.6931472, 200, 0, 0).shaped(2, 3)
_LOGARITHMS = single(-1.3862944, -1.3862944, -0.6931472, 0, -200, -200)

# The results of correctly rounded functions, computed with 300 bits and rounded once.
_UNIT, _POSITIVE, _FROM_ONE = f32(-1, -0.5, 0.25, 1), f32(0.5, 1, 2, 10), f32(1, 1.5, 3, 10)
_FUNCTIONS: dict[str, Example] = {
    "ELEMENT_WISE_EXP": _function(0.082085, 0.60653067, 4.481689, 20.085537),
    "ELEMENT_WISE_LOG": _function(-0.6931472, 0, 0.6931472, 2.3025851, x=_POSITIVE),
    "ELEMENT_WISE_SIN": _function(-0.5984721, -0.47942555, 0.997495, 0.14112),
    "ELEMENT_WISE_COS": _function(-0.8011436, 0.87758255, 0.0707372, -0.9899925),
    "ELEMENT_WISE_TAN": _function(0.7470223, -0.5463025, 14.10142, -0.14254655),
    "ELEMENT_WISE_ASIN": _function(-1.5707964, -0.5235988, 0.25268024, 1.5707964, x=_UNIT),
    "ELEMENT_WISE_ACOS": _function(3.1415927, 2.0943952, 1.3181161, 0, x=_UNIT),
    "ELEMENT_WISE_ATAN": _function(-1.19029, -0.4636476, 0.98279375, 1.2490457),
    "ELEMENT_WISE_SINH": _function(-6.0502043, -0.5210953, 2.1292794, 10.017875),
    "ELEMENT_WISE_COSH": _function(6.1322894, 1.127626, 2.3524096, 10.067662),
    "ELEMENT_WISE_TANH": _function(-0.9866143, -0.46211717, 0.90514827, 0.9950548),
    "ELEMENT_WISE_ASINH": _function(-1.6472311, -0.4812118, 1.1947632, 1.8184465),
    "ELEMENT_WISE_ACOSH": _function(0, 0.9624236, 1.7627472, 2.993223, x=_FROM_ONE),
    "ELEMENT_WISE_ATANH": _function(-0.97295505, -0.54930615, 0.25541282, 0.54930615, x=f32(-0.75, -0.5, 0.25, 0.5)),
    "ELEMENT_WISE_ERF": _function(-0.999593, -0.5204999, 0.96610516, 0.9999779),
    "ELEMENT_WISE_POW": _binary(f32(2, 10, 1.5, 0), f32(0.5, -1, 3.25, 2), single(1.4142135, 0.1, 3.7350514, 0)),
    "ELEMENT_WISE_CONSTANT_POW": _function(1.4142135, 1, 0.70710677, 0.31622776, x=_POSITIVE, Exponent=-0.5),
    "ELEMENT_WISE_ATAN_YX": _binary(f32(1, -1, 3, -0.5), f32(1, 2, -1, -2),
                                    single(0.7853982, -0.4636476, 1.8925469, -2.896614)),
    "ACTIVATION_SIGMOID": _function(0.07585818, 0.37754068, 0.8175745, 0.95257413),
    "ACTIVATION_TANH": _function(-0.9866143, -0.46211717, 0.90514827, 0.9950548),
    "ACTIVATION_GELU": _function(-0.015524163, -0.15426877, 1.3997892, 2.9959502),
    "ACTIVATION_SOFTSIGN": _function(-0.71428573, -0.33333334, 0.6, 0.75),
    "ACTIVATION_SOFTPLUS": _function(0.0033576742, 0.15663084, 1.5242937, 3.0012379, Steepness=2),
    "ACTIVATION_ELU": _function(-0.4589575, -0.19673467, 1.5, 3, Alpha=0.5),
    "ACTIVATION_CELU": _function(-1.4269904, -0.44239843, 1.5, 3, Alpha=2),
    "ACTIVATION_SWISH": _function(-0.016732126, -0.13447072, 1.4288611, 2.992582, SigmoidInputScale=2),
    "ACTIVATION_SCALED_ELU": _function(-2.753745, -1.180408, 3, 6, Alpha=1.5, Gamma=2),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": _function(0.50385815, 1.1518788, 2.273742, 3.4028265, Alpha=2, Beta=0.5),
    "ACTIVATION_SCALED_TANH": _function(-1.6965673, -0.48983732, 1.2702979, 1.8102965, Alpha=2, Beta=0.5),
}

EXAMPLES: dict[str, Example] = {
    **{name: example for name, example in _FUNCTIONS.items() if name in python.built_names()},
    "ELEMENT_WISE_IDENTITY": _unary(-2.5, -0.5, 1.5, 3),
    "ELEMENT_WISE_ABS": _unary(2.5, 0.5, 1.5, 3),
    "ELEMENT_WISE_NEGATE": _unary(2.5, 0.5, -1.5, -3),
    "ELEMENT_WISE_FLOOR": _unary(-3, -1, 1, 3),
    "ELEMENT_WISE_CEIL": _unary(-2, -0.0, 2, 3),
    "ELEMENT_WISE_ROUND": _unary(-2, -0.0, 2, 3, RoundingMode="HALVES_TO_NEAREST_EVEN"),
    "ELEMENT_WISE_SIGN": _unary(-1, -1, 1, 1),
    "ELEMENT_WISE_RECIP": _unary(0.5, 0.25, -2, x=f32(2, 4, -0.5)),
    "ELEMENT_WISE_SQRT": _unary(2, 1.5, 0, x=f32(4, 2.25, 0)),
    "ELEMENT_WISE_CLIP": _unary(-1, -0.5, 1.5, 2, Min=-1, Max=2),
    "ELEMENT_WISE_CLIP1": _unary(-1, -0.5, 1.5, 2, Min=-1, Max=2),
    "ELEMENT_WISE_THRESHOLD": _unary(0.5, 0.5, 1.5, 3, Min=0.5),
    "ELEMENT_WISE_IS_NAN": _unary(0, 1, 0, x=f32(1, math.nan, math.inf), to=u8),
    "ELEMENT_WISE_IS_INFINITY": _unary(0, 1, 1, x=f32(1, -math.inf, math.inf), to=u8, InfinityMode="EITHER"),
    "ELEMENT_WISE_BIT_NOT": _unary(255, 250, 0, 127, x=_BITS, to=u8),
    "ELEMENT_WISE_BIT_COUNT": _unary(0, 2, 8, 1, x=_BITS, to=u8),
    "ELEMENT_WISE_LOGICAL_NOT": _unary(1, 0, 0, x=u8(0, 1, 2), to=u8),
    "ELEMENT_WISE_ADD": _binary(_A, _B, f32(10, -4, 4, -10)),
    "ELEMENT_WISE_ADD1": _binary(_A, _B, f32(10, 0, 4, 0), FusedActivation="ACTIVATION_RELU"),
    "ELEMENT_WISE_SUBTRACT": _binary(_A, _B, f32(4, -10, 10, -4)),
    "ELEMENT_WISE_MULTIPLY": _binary(_A, _B, f32(21, -21, -21, 21)),
    "ELEMENT_WISE_DIVIDE": _binary(f32(7, -7, 1), f32(2, 2, -4), f32(3.5, -3.5, -0.25)),
    "ELEMENT_WISE_MODULUS_FLOOR": _binary(_A, _B, f32(1, 2, -2, -1)),
    "ELEMENT_WISE_MODULUS_TRUNCATE": _binary(_A, _B, f32(1, -1, 1, -1)),
    "ELEMENT_WISE_MAX": _binary(_A, _B, f32(7, 3, 7, -3)),
    "ELEMENT_WISE_MIN": _binary(_A, _B, f32(3, -7, -3, -7)),
    "ELEMENT_WISE_MEAN": _binary(_A, _B, f32(5, -2, 2, -5)),
    "ELEMENT_WISE_DIFFERENCE_SQUARE": _binary(_A, _B, f32(16, 100, 100, 16)),
    "ELEMENT_WISE_CLIP_GRAD": _binary(_X, f32(10, 20, 30, 40), f32(0, 20, 30, 0), Min=-1, Max=2),
    "ELEMENT_WISE_CLIP_GRAD1": _binary(_X, f32(10, 20, 30, 40), f32(0, 20, 30, 0), Min=-1, Max=2),
    "ELEMENT_WISE_LOGICAL_EQUALS": _compare(0, 1, 0),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": _compare(0, 0, 1),
    "ELEMENT_WISE_LOGICAL_LESS_THAN": _compare(1, 0, 0),
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": _compare(0, 1, 1),
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": _compare(1, 1, 0),
    "ELEMENT_WISE_LOGICAL_AND": _binary(_TRUTHS, _OTHERS, u8(0, 0, 0, 1)),
    "ELEMENT_WISE_LOGICAL_OR": _binary(_TRUTHS, _OTHERS, u8(0, 1, 1, 1)),
    "ELEMENT_WISE_LOGICAL_XOR": _binary(_TRUTHS, _OTHERS, u8(0, 1, 1, 0)),
    "ELEMENT_WISE_BIT_AND": _binary(_BITS, _MASK, u8(0, 1, 15, 128)),
    "ELEMENT_WISE_BIT_OR": _binary(_BITS, _MASK, u8(1, 7, 255, 255)),
    "ELEMENT_WISE_BIT_XOR": _binary(_BITS, _MASK, u8(1, 6, 240, 127)),
    "ELEMENT_WISE_BIT_SHIFT_LEFT": _binary(u8(1, 5, 255, 1), u8(3, 1, 4, 8), u8(8, 10, 240, 0)),
    "ELEMENT_WISE_BIT_SHIFT_RIGHT": _binary(u8(8, 5, 255, 128), u8(3, 1, 4, 8), u8(1, 2, 15, 0)),
    "ELEMENT_WISE_IF": Example((u8(1, 0, 2), f32(1, 2, 3), f32(10, 20, 30)), f32(1, 20, 3)),
    "ELEMENT_WISE_QUANTIZE_LINEAR": Example((f32(-1, 0.25, 1.5, 99), f32(0.5, 0.5, 0.5, 0.5), u8(10, 10, 10, 10)),
                                            u8(8, 10, 13, 208)),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": Example((u8(8, 10, 13, 208), f32(0.5, 0.5, 0.5, 0.5), u8(10, 10, 10, 10)),
                                              f32(-1, 0, 1.5, 99)),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": Example(
        (u8(12, 20), f32(0.5), u8(10), u8(4, 40), f32(0.25), None, f32(0.5), u8(10)), u8(14, 40)),
    "ACTIVATION_IDENTITY": _unary(-2.5, -0.5, 1.5, 3),
    "ACTIVATION_RELU": _unary(0, 0, 1.5, 3),
    "ACTIVATION_LINEAR": _unary(-4, 0, 4, 7, Alpha=2, Beta=1),
    "ACTIVATION_LEAKY_RELU": _unary(-0.625, -0.125, 1.5, 3, Alpha=0.25),
    "ACTIVATION_THRESHOLDED_RELU": _unary(0, 0, 0, 3, Alpha=2),
    "ACTIVATION_HARD_SIGMOID": _unary(0, 0.375, 0.875, 1, Alpha=0.25, Beta=0.5),
    "ACTIVATION_HARD_SWISH": _unary(-0.0, -0.1875, 1.3125, 3, Alpha=0.25, Beta=0.5),
    "ACTIVATION_SHRINK": _unary(-2, 0, 1, 2.5, Bias=0.5, Threshold=1),
    "ACTIVATION_PARAMETERIZED_RELU": _binary(_X, f32(0.5, 0.25, 0.5, 0.25), f32(-1.25, -0.125, 1.5, 3)),
    "ACTIVATION_RELU_GRAD": _binary(_X, f32(10, 20, 30, 40), f32(0, 0, 30, 40)),
    "CAST": _unary(-2, 0, 1, 3, to=i8),
    "FILL_VALUE_CONSTANT": Example((), f32(7, 7, 7, 7).shaped(2, 2), {"Value": 7}),
    "FILL_VALUE_SEQUENCE": Example((), i32(7, 5, 3, 1).shaped(2, 2), {"ValueStart": 7, "ValueDelta": -2}),
    "REDUCE": Example((_SQUARE,), f32(9, 13).shaped(2, 1), {"Function": "SUM", "Axes": [1]}),
    "ARGMIN": Example((_SQUARE,), u32(0, 0).shaped(2, 1), {"Axes": [1], "AxisDirection": "INCREASING"}),
    "GATHER": Example((_SQUARE, i32(1, -2).shaped(1, 2)), f32(2, 2, 9, 1, 5, 3).shaped(2, 3),
                      {"Axis": 0, "IndexDimensions": 1}),
    "GATHER_ELEMENTS": Example((_SQUARE, i32(2, 0, -1, 1).shaped(2, 2)), f32(3, 1, 9, 2).shaped(2, 2), {"Axis": 1}),
    "GATHER_ND": Example((_SQUARE, u32(1, 2, 0, 1).shaped(2, 2)), f32(9, 5).shaped(1, 2),
                         {"InputDimensionCount": 2, "IndicesDimensionCount": 2}),
    "GATHER_ND1": Example((_SQUARE, u32(2, 0).shaped(2, 1)), f32(3, 2).shaped(1, 2),
                          {"InputDimensionCount": 2, "IndicesDimensionCount": 2, "BatchDimensionCount": 1}),
    "SCATTER_ELEMENTS": Example((_SQUARE, i32(2, -2).shaped(2, 1), f32(7, 8).shaped(2, 1)),
                                f32(1, 5, 7, 2, 8, 9).shaped(2, 3), {"Axis": 1}),
    "SCATTER_ND": Example((_SQUARE, u32(1, 0, 0, 2).shaped(2, 2), f32(7, 8).shaped(1, 2)),
                          f32(1, 5, 8, 7, 2, 9).shaped(2, 3), {"InputDimensionCount": 2, "IndicesDimensionCount": 2}),
    "ONE_HOT": Example((i32(2, -3).shaped(2, 1), f32(0, 1).shaped(1, 2)), f32(0, 0, 1, 1, 0, 0).shaped(2, 3),
                       {"Axis": 1}),
    "NONZERO_COORDINATES": Example((f32(0, 5, 3, 0).shaped(2, 2),),
                                   (u32(2).shaped(1, 1), u32(0, 1, 1, 0, 0, 0, 0, 0).shaped(4, 2))),
    "SPLIT": Example((_SQUARE,), (f32(1, 2).shaped(2, 1), f32(5, 3, 2, 9).shaped(2, 2)), {"Axis": 1}),
    "JOIN": Example(((f32(1, 2).shaped(2, 1), f32(5, 3, 2, 9).shaped(2, 2)),), _SQUARE, {"Axis": 1}),
    "QUANTIZE": Example((f32(-1, 0.25, 6, 1000).shaped(2, 2), (f32(0.5, 2).shaped(2, 1), u8(10, 10).shaped(2, 1))),
                        u8(8, 10, 13, 255).shaped(2, 2), {"QuantizationType": "SCALE_ZERO_POINT"}),
    "DEQUANTIZE": Example((u8(8, 10, 13, 208).shaped(2, 2), (f32(0.5, 2).shaped(2, 1), u8(10, 10).shaped(2, 1))),
                          f32(-1, 0, 6, 396).shaped(2, 2), {"QuantizationType": "SCALE_ZERO_POINT"}),
    "SLICE": Example((_SQUARE,), f32(1, 3).shaped(1, 2), {"Offsets": [0, 0], "Sizes": [1, 2], "Strides": [1, 2]}),
    "SLICE1": Example((_SQUARE,), f32(9, 2, 2).shaped(1, 3), {
        "InputWindowOffsets": [1, 0], "InputWindowSizes": [1, 3], "InputWindowStrides": [1, -1]}),
    "SLICE_GRAD": Example((f32(7, 8).shaped(1, 2),), f32(7, 0, 8, 0, 0, 0).shaped(2, 3), {
        "InputWindowOffsets": [0, 0], "InputWindowSizes": [1, 3], "InputWindowStrides": [1, 2]}),
    "PADDING": Example((f32(1, 5, 3),), f32(3, 5, 1, 5, 3, 5), {
        "PaddingMode": "REFLECTION", "PaddingValue": 0, "StartPadding": [2], "EndPadding": [1]}),
    "PADDING1": Example((f32(1, 5, 3),), f32(7, 7, 1, 5, 3, 7), {
        "PaddingMode": "CONSTANT", "PaddingValue": 7, "StartPadding": [2], "EndPadding": [1]}),
    "TILE": Example((f32(1, 2).shaped(1, 2),), f32(1, 2, 1, 2, 1, 2, 1, 2).shaped(2, 4), {"Repeats": [2, 2]}),
    "SPACE_TO_DEPTH": Example((_PIXELS.shaped(1, 1, 2, 4),), f32(1, 3, 2, 4, 5, 7, 6, 8).shaped(1, 4, 1, 2),
                              {"BlockSize": 2}),
    "SPACE_TO_DEPTH1": Example((_PIXELS.shaped(1, 2, 2, 2),), f32(1, 5, 2, 6, 3, 7, 4, 8).shaped(1, 8, 1, 1),
                               {"BlockSize": 2, "Order": "DEPTH_COLUMN_ROW"}),
    "DEPTH_TO_SPACE": Example((_PIXELS.shaped(1, 4, 1, 2),), f32(1, 3, 2, 4, 5, 7, 6, 8).shaped(1, 1, 2, 4),
                              {"BlockSize": 2}),
    "DEPTH_TO_SPACE1": Example((_PIXELS.shaped(1, 8, 1, 1),), _PIXELS.shaped(1, 2, 2, 2),
                               {"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH"}),
    "UNFOLD": Example((f32(1, 5, 3, 2).shaped(1, 1, 4),), f32(1, 5, 3, 5, 3, 2).shaped(1, 2, 3), {
        "WindowSizes": [2], "Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [0]}),
    "FOLD": Example((f32(1, 5, 3, 5, 3, 2).shaped(1, 2, 3),), f32(1, 10, 6, 2).shaped(1, 1, 4), {
        "WindowSizes": [2], "Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [0]}),
    "REVERSE_SUBSEQUENCES": Example((_PIXELS.shaped(2, 4), u32(3, 2).shaped(2, 1)),
                                    f32(3, 2, 1, 4, 6, 5, 7, 8).shaped(2, 4), {"Axis": 1}),
    "VALUE_SCALE_2D": Example((f32(1, 2, 3).shaped(1, 3, 1, 1),), f32(2, 5, 8).shaped(1, 3, 1, 1),
                              {"Scale": 2, "Bias": [0, 1, 2]}),
    "DIAGONAL_MATRIX": Example((), f32(0, 1, 0, 0, 0, 1).shaped(2, 3), {"Offset": 1, "Value": 1}),
    "DIAGONAL_MATRIX1": Example((_SQUARE,), f32(0, 0, 3, 2, 0, 0).shaped(2, 3),
                                {"Value": 0, "DiagonalFillBegin": 0, "DiagonalFillEnd": 2}),
    "RESAMPLE": Example((f32(0, 4),), f32(0, 1, 3, 4), {"InterpolationMode": "LINEAR", "Scales": [2]}),
    "RESAMPLE1": Example((f32(0, 4),), f32(0, 2, 4, 4), {
        "InterpolationMode": "LINEAR", "Scales": [2], "InputPixelOffsets": [0], "OutputPixelOffsets": [0]}),
    "RESAMPLE2": Example((f32(1, 2, 3),), f32(1, 2, 2, 3, 3, 3), {
        "InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "INCREASING", "Scales": [2],
        "InputPixelOffsets": [0], "OutputPixelOffsets": [0]}),
    "RESAMPLE3": Example((f32(0, 8, 16, 24),), f32(5, 19), {
        "InterpolationMode": "LINEAR", "RoundingDirection": "DECREASING", "Scales": [0.5], "InputPixelOffsets": [0.5],
        "OutputPixelOffsets": [-0.5], "Antialiased": 1}),
    "UPSAMPLE_2D": Example((f32(1, 2).shaped(1, 1, 1, 2),), f32(1, 1, 2, 2, 1, 1, 2, 2).shaped(1, 1, 2, 4),
                           {"ScaleSize": [2, 2], "InterpolationMode": "NEAREST_NEIGHBOR"}),
    "RESAMPLE_GRAD": Example((f32(1, 4, 8, 2),), f32(6, 9), {
        "InterpolationMode": "LINEAR", "Scales": [2], "InputPixelOffsets": [0.5], "OutputPixelOffsets": [-0.5]}),
    "RESAMPLE_GRAD1": Example((f32(1, 2, 3, 4),), f32(3, 7), {
        "InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": "DECREASING", "Scales": [2],
        "InputPixelOffsets": [0], "OutputPixelOffsets": [0]}),
    "AVERAGE_POOLING_GRAD": Example((_pooled(4, 8),), f32(1, 1, 2, 2, 1, 1, 2, 2).shaped(1, 1, 2, 4),
                                    {**_WINDOWS, "IncludePadding": 0}),
    "MAX_POOLING_GRAD": Example((_PLANE, _pooled(3, 5)), f32(0, 0, 0, 0, 0, 3, 0, 5).shaped(1, 1, 2, 4), _DILATED),
    "AVERAGE_POOLING": Example((_PLANE,), _pooled(3.5, 5.5), {**_WINDOWS, "IncludePadding": 0}),
    "AVERAGE_POOLING1": Example((_PLANE,), _pooled(3.5, 5.5), {**_DILATED, "IncludePadding": 0}),
    "LP_POOLING": Example((_PLANE,), _pooled(14, 22), {**_WINDOWS, "P": 1}),
    "LP_POOLING1": Example((_PLANE,), _pooled(14, 22), {**_DILATED, "P": 1}),
    "MAX_POOLING": Example((_PLANE,), _pooled(6, 8), _WINDOWS),
    "MAX_POOLING1": Example((_PLANE,), (_pooled(6, 8), u32(5, 7).shaped(1, 1, 1, 2)), _WINDOWS),
    "MAX_POOLING2": Example((_PLANE,), (_pooled(6, 8), u32(5, 7).shaped(1, 1, 1, 2)), _DILATED),
    "MAX_UNPOOLING": Example((_pooled(6, 8), u32(5, 7).shaped(1, 1, 1, 2)), f32(0, 0, 0, 0, 0, 6, 0, 8).shaped(1, 1, 2, 4)),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": Example(
        (u8(*range(10, 18)).shaped(1, 1, 2, 4), f32(0.5).shaped(1, 1, 1, 1), u8(10).shaped(1, 1, 1, 1),
         f32(0.25).shaped(1, 1, 1, 1), u8(1).shaped(1, 1, 1, 1)), u8(6, 10).shaped(1, 1, 1, 2),
        {**_DILATED, "IncludePadding": 0}),
    "CONVOLUTION": Example((_PLANE, f32(1, 0, 0, -1).shaped(1, 1, 2, 2), f32(0.5).shaped(1, 1, 1, 1)),
                           f32(-4.5, -4.5, -4.5).shaped(1, 1, 1, 3),
                           {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1],
                            "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 1}),
    # (x - 1) convolved with (w - 1), where x = 1 2 3 4 / 5 6 7 8 and w = 2 1 / 1 0
    "CONVOLUTION_INTEGER": Example((u8(*range(1, 9)).shaped(1, 1, 2, 4), u8(1).shaped(1, 1, 1, 1),
                                    i8(2, 1, 1, 0).shaped(1, 1, 2, 2), i8(1).shaped(1, 1, 1, 1)),
                                   i32(-5, -5, -5).shaped(1, 1, 1, 3), _FILTERED),
    "QUANTIZED_LINEAR_CONVOLUTION": Example(
        (u8(*range(1, 9)).shaped(1, 1, 2, 4), f32(0.5).shaped(1, 1, 1, 1), u8(1).shaped(1, 1, 1, 1),
         i8(2, 1, 1, 0).shaped(1, 1, 2, 2), f32(0.5).shaped(1, 1, 1, 1), i8(1).shaped(1, 1, 1, 1),
         i32(9).shaped(1, 1, 1, 1), f32(0.125).shaped(1, 1, 1, 1), u8(2).shaped(1, 1, 1, 1)),
        u8(10, 10, 10).shaped(1, 1, 1, 3), _FILTERED),
    "GEMM": Example((f32(1, 2, 3, 4).shaped(2, 2), f32(5, 6, 7, 8).shaped(2, 2), f32(0.5, 0.5, -0.5, -0.5).shaped(2, 2)),
                    f32(19.5, 22.5, 42.5, 49.5).shaped(2, 2),
                    {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1}),
    **RECURRENT, **REGIONS,
    "MATRIX_MULTIPLY_INTEGER": Example((u8(1, 2, 3, 4).shaped(2, 2), u8(1).shaped(1, 1), i8(5, 6, 7, 8).shaped(2, 2),
                                        i8(4).shaped(1, 1)), i32(3, 4, 11, 16).shaped(2, 2)),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Example(
        (u8(1, 2, 3, 4).shaped(2, 2), f32(0.5).shaped(1, 1), u8(1).shaped(1, 1), i8(5, 6, 7, 8).shaped(2, 2),
         f32(0.25).shaped(1, 1), i8(4).shaped(1, 1), f32(0.25).shaped(1, 1), u8(10).shaped(1, 1)),
        u8(12, 12, 16, 18).shaped(2, 2)),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Example(
        (i8(1, 2, 3, 4).shaped(2, 2), f32(0.5).shaped(1, 1), i8(1).shaped(1, 1), i8(5, 6, 7, 8).shaped(2, 2),
         f32(0.25).shaped(1, 1), i8(4).shaped(1, 1), f32(1, 1, 2, 2).shaped(2, 2)),
        f32(1.375, 1.5, 3.375, 4).shaped(2, 2)),
    "TOP_K": Example((_SQUARE,), (f32(5, 3, 9, 2).shaped(2, 2), u32(1, 2, 2, 0).shaped(2, 2)), {"Axis": 1, "K": 2}),
    "TOP_K1": Example((_SQUARE,), (f32(1, 3, 2, 2).shaped(2, 2), u32(0, 2, 0, 1).shaped(2, 2)),
                      {"Axis": 1, "K": 2, "AxisDirection": "INCREASING"}),
    "ARGMAX": Example((_SQUARE,), u32(1, 2).shaped(2, 1), {"Axes": [1], "AxisDirection": "INCREASING"}),
    "CUMULATIVE_SUMMATION": Example((_SQUARE,), f32(1, 6, 9, 2, 4, 13).shaped(2, 3),
                                    {"Axis": 1, "AxisDirection": "INCREASING", "HasExclusiveSum": False}),
    "CUMULATIVE_PRODUCT": Example((_SQUARE,), f32(15, 3, 1, 18, 9, 1).shaped(2, 3),
                                  {"Axis": 1, "AxisDirection": "DECREASING", "HasExclusiveProduct": True}),
    "DYNAMIC_QUANTIZE_LINEAR": Example((f32(-1, 0, 0.5, 1.55),), (u8(0, 100, 150, 255), single(0.01), u8(100))),
    "ACTIVATION_SOFTMAX": Example((_ROWS,), single(0.25, 0.25, 0.5, 1, 0, 0).shaped(2, 3)),
    "ACTIVATION_SOFTMAX1": Example((_ROWS,), single(0, 0.5, 0.6666667, 1, 0.5, 0.33333334).shaped(2, 3), {"Axes": [0]}),
    "ACTIVATION_LOG_SOFTMAX": Example((_ROWS,), _LOGARITHMS.shaped(2, 3)),
    "ACTIVATION_LOG_SOFTMAX1": Example((_ROWS,), _LOGARITHMS.shaped(2, 3), {"Axes": [1]}),
    **NORMALIZING,
    "MULTIHEAD_ATTENTION": Example(  # the third key is padding, and the other two keys are equal
        (f32(1, 2).shaped(1, 2, 1), f32(3, 3, 5).shaped(1, 3, 1), f32(1, 3, 100).shaped(1, 3, 1), None, None, None, None,
         i32(2).shaped(1, 1), None, None, None),
        (f32(2, 2).shaped(1, 2, 1), f32(3, 3, 5).shaped(1, 1, 3, 1), f32(1, 3, 100).shaped(1, 1, 3, 1)),
        {"Scale": 1, "MaskFilterValue": -10000, "HeadCount": 1, "MaskType": "KEY_SEQUENCE_LENGTH"}),
    "MULTIHEAD_ATTENTION1": Example(  # two query heads share the keys and values
        (f32(0, 1).shaped(1, 1, 2), f32(2, 2).shaped(1, 2, 1), f32(5, 7).shaped(1, 2, 1), *[None] * 9),
        (f32(6, 6).shaped(1, 1, 2), f32(2, 2).shaped(1, 1, 2, 1), f32(5, 7).shaped(1, 1, 2, 1)),
        {"Scale": 1, "MaskFilterValue": 0, "QueryHeadCount": 2, "KeyValueHeadCount": 1, "MaskType": "NONE"}),
    "ACTIVATION_HARDMAX": Example((_SQUARE,), f32(0, 1, 0, 0, 0, 1).shaped(2, 3)),
    "ACTIVATION_HARDMAX1": Example((_SQUARE,), f32(0, 1, 0, 1, 0, 1).shaped(2, 3), {"Axes": [0]}),
}


# ---- In Python ------------------------------------------------------------------------------------------------------

def nested(values: list[Any], sizes: Iterable[int]) -> list[Any]:
    """Returns the flat values as nested lists."""
    for size in reversed(list(sizes)[1:]):
        values = [values[i:i + size] for i in range(0, len(values), size)]
    return values


def variable(name: str) -> str:
    """Renames `input`, which is a Python builtin."""
    return {"input": "x"}.get(name, name)


def _numpy(tensor: Tensor) -> str:
    text = repr(nested(list(tensor.values), tensor.sizes))
    for word in ("nan", "inf"):
        text = text.replace(word, f"np.{word}")
    return f"np.{tensor.type.lower()}({text})"


def _has_several(example: Example) -> bool:
    return isinstance(example.output, tuple)


_NESTED = ("operators", "operator_list")


def _python_operators(value: str | list[str]) -> str:
    """Writes a nested operator, or a list of nested operators."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_python_operators, value)) + "]"
    return f'anydml.Operator("{value}")'


def _is_default(one: python.Attribute, value: Any) -> bool:
    """Whether this value is the default in the Python function."""
    if one.by is not None:
        kind, _, number = one.by.rule.partition(":")
        return kind in ("window", "each") and isinstance(value, list) and all(each == float(number) for each in value)
    return one.default is not None and ast.literal_eval(one.default) == value


def _python_call(op: python.Operator, example: Example) -> tuple[list[str], str, list[str]]:
    """Returns the assignments before the call, the function, and its arguments."""
    given = [(variable(one.name), tensor) for one, tensor in zip(op.inputs, example.inputs)]
    before = [f"{name} = {_numpy(tensor)}" if isinstance(tensor, Tensor) else
              python.wrapped(f"{name} = [", list(map(_numpy, tensor)), "]", len(name) + 4)
              for name, tensor in given if tensor]
    arguments = [name if tensor else "None" for name, tensor in given]
    for one in op.attributes:
        if one.field in example.attributes and not _is_default(one, example.attributes[one.field]):
            value = example.attributes[one.field]
            text = (_python_operators(value) if one.kind in _NESTED else
                    repr(value) if isinstance(value, bool) else json.dumps(value))
            arguments.append(f"{one.name}={text}")
    if any(output.shaped == "no" for output in op.outputs):
        sizes = tuple(tensor.sizes for tensor in example.outputs)
        arguments.append(f"shape={sizes if _has_several(example) else sizes[0]}")
    types = [None if output.like or output.dtype == tensor.type.lower() else tensor.type.lower()
             for output, tensor in zip(op.outputs, example.outputs)]
    if any(types):
        arguments.append(f"dtype={tuple(types) if _has_several(example) else json.dumps(types[0])}")
    wanted = [True if output.tensor.optional else None for output in op.outputs]
    if any(wanted):  # optional outputs that are not requested are absent
        arguments.append(f"out={tuple(wanted)}")
    return before, f"anydml.{op.python}(", arguments


def _imports(before: list[str]) -> list[str]:
    return ["import anydml", *(["import numpy as np"] if before else [])]


def python_code(op: python.Operator, example: Example) -> str:
    before, call, arguments = _python_call(op, example)
    head = f"y = {call}"
    return "\n".join([*_imports(before), "", *before, python.wrapped(head, arguments, ")", len(head)),
                      "print([one.tolist() for one in y])" if _has_several(example) else "print(y.tolist())"]) + "\n"


def python_prints(example: Example) -> str:
    def listed(tensor: Tensor) -> list[Any]:
        number = float if tensor.type.startswith("FLOAT") else int
        return nested([number(value) for value in tensor.values], tensor.sizes)

    results = list(map(listed, example.outputs))
    return f"{results if _has_several(example) else results[0]}\n"


def python_session(op: python.Operator, example: Example) -> list[str]:
    """Returns the call as an interactive session, with Python's output."""
    before, call, arguments = _python_call(op, example)
    room = 8  # the docstring's indentation and Python's prompt
    end = ").tolist()"
    if _has_several(example):
        call, end = f"[one.tolist() for one in {call}", ")]"
    text = python.wrapped(" " * room + call, arguments, end, room + len(call))
    lines = [*_imports(before), *before, "\n".join(line[room:] for line in text.splitlines())]
    return [*(prompt + part for line in lines for prompt, part in zip(
        [">>> "] + ["... "] * line.count("\n"), line.splitlines())), python_prints(example).rstrip()]


# ---- In C -----------------------------------------------------------------------------------------------------------

def _c_type(name: str) -> str:
    return {"FLOAT32": "float", "FLOAT64": "double"}.get(name) or f"{name.lower()}_t"


def _c_number(value: float) -> str:
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value!r}f" if isinstance(value, float) else str(value)


def _c_list(values: Iterable[Any]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _c_attribute(one: python.Attribute, value: Any) -> tuple[str | None, str]:
    """Returns the declaration that the attribute needs, and the attribute itself."""
    name = {"sizes": "slice_sizes"}.get(one.name, one.name)  # the tensors already use `sizes`
    if one.kind == "enumeration":
        return None, f'{{"{one.field}", ANYDML_TEXT, 0, {{.text = "{value}"}}}}'
    if one.kind == "operator_list":
        return (f"const anydml_operator {name}[] = " + _c_list(f'{{"{each}", NULL, 0}}' for each in value) + ";",
                f'{{"{one.field}", ANYDML_OPERATOR | ANYDML_ARRAY, {len(value)}, {{.operators = {name}}}}}')
    if one.kind == "operators":
        return (f'const anydml_operator {name} = {{"{value}", NULL, 0}};',
                f'{{"{one.field}", ANYDML_OPERATOR, 0, {{.operators = &{name}}}}}')
    if isinstance(value, list) and any(isinstance(number, float) for number in value):
        return (f"const double {name}[] = {_c_list(value)};",
                f'{{"{one.field}", ANYDML_FLOAT64 | ANYDML_ARRAY, {len(value)}, {{.f64s = {name}}}}}')
    if isinstance(value, list):
        return (f"const int64_t {name}[] = {_c_list(value)};",
                f'{{"{one.field}", ANYDML_INT64 | ANYDML_ARRAY, {len(value)}, {{.i64s = {name}}}}}')
    number = int(value) if isinstance(value, bool) else value
    return None, f'{{"{one.field}", ANYDML_FLOAT64, 0, {{.f64 = {number}}}}}'


def _each(name: str, tensors: Tensor | None | tuple[Tensor, ...]) -> list[tuple[str, Tensor | None]]:
    """Returns the tensors of a field, each with its own name."""
    if not isinstance(tensors, tuple):
        return [(name, tensors)]
    return [(f"{name.removesuffix('s')}{i}", tensor) for i, tensor in enumerate(tensors)]


def c_code(op: python.Operator, example: Example) -> str:
    tensors = [pair for one, given in zip(op.inputs, example.inputs) for pair in _each(variable(one.name), given)]
    results = _each("y", example.output)
    names: dict[tuple[int, ...], str] = {}
    for sizes in [tensor.sizes for _, tensor in tensors + results if tensor]:
        names.setdefault(sizes, ("sizes", "other_sizes")[len(names)] if len(names) < 2 else f"sizes{len(names)}")
    body = [f"const int64_t {name}[] = {_c_list(sizes)};" for sizes, name in names.items()]
    body += [f"{_c_type(tensor.type)} {name}[] = {_c_list(map(_c_number, tensor.values))};"
             for name, tensor in tensors if tensor]
    body += [f"{_c_type(tensor.type)} {name}[{len(tensor.values)}];" for name, tensor in results if tensor]

    def tensor_text(name: str, tensor: Tensor | None) -> str:
        if not tensor:
            return "{ANYDML_NONE, 0, NULL, NULL, NULL}"
        return f"{{ANYDML_{tensor.type}, {len(tensor.sizes)}, {names[tensor.sizes]}, NULL, {name}}}"

    def array(kind: str, name: str, items: list[str]) -> None:
        head = f"const {kind} {name}[] = {{"
        body.append(head + items[0] + "};" if len(items) == 1 else
                    head + "\n" + "".join(f"      {item},\n" for item in items) + "  };")

    if tensors:
        array("anydml_tensor", "inputs", [tensor_text(name, tensor) for name, tensor in tensors])
    array("anydml_tensor", "outputs", [tensor_text(name, tensor) for name, tensor in results])
    attributes = [_c_attribute(one, example.attributes[one.field]) for one in op.attributes
                  if one.field in example.attributes]
    body += [declared for declared, _ in attributes if declared]
    if attributes:
        array("anydml_attribute", "attributes", [text for _, text in attributes])
    given = f"inputs, {len(tensors)}" if tensors else "NULL, 0"
    call = (f'  if (anydml_run(NULL, "{op.name}", {given}, outputs, {len(results)},\n'
            f"                 {f'attributes, {len(attributes)}' if attributes else 'NULL, 0'}) != ANYDML_OK)\n"
            "    return puts(anydml_last_error()), 1;\n")
    values = [value for _, tensor in tensors if tensor for value in tensor.values]
    includes = ["<anydml/anydml.h>", *([] if all(map(math.isfinite, values)) else ["<math.h>"]), "<stdio.h>"]
    prints = "".join(f'  for (int i = 0; i < {len(tensor.values)}; ++i) printf("%g ", (double){name}[i]);\n  puts("");\n'
                     for name, tensor in results if tensor)
    return ("".join(f"#include {name}\n" for name in includes) + "\nint main(void) {\n" +
            "".join(f"  {line}\n" for line in body) + call + prints + "  return 0;\n}\n")


def c_prints(example: Example) -> str:
    return "".join("".join(f"{value:g} " for value in tensor.values) + "\n" for tensor in example.outputs)


# ---- For dmlrun -----------------------------------------------------------------------------------------------------

def _json_number(value: float) -> Any:
    return value if math.isfinite(value) else {"nan": "nan", "inf": "inf", "-inf": "-inf"}[str(value)]


def _json_list(values: Iterable[Any]) -> str:
    return json.dumps(list(map(_json_number, values)))


def _resources(field: str, tensors: Tensor | tuple[Tensor, ...]) -> list[tuple[str, Tensor]]:
    """Returns the tensors of a field, each with the name of its resource."""
    name = field.removesuffix("s").removesuffix("Tensor")
    return [(name, tensors)] if isinstance(tensors, Tensor) else [(f"{name}{i}", one) for i, one in enumerate(tensors)]


def _results(op: python.Operator, example: Example) -> list[tuple[str, Tensor | tuple[Tensor, ...]]]:
    """Returns the output fields with their tensors."""
    fields = [output.tensor for output in op.outputs]
    if fields[0].array:
        return [(fields[0].field, example.outputs)]
    return [(one.field, tensor) for one, tensor in zip(fields, example.outputs)]


_PAIRS = ("ScaleSize", "PooledSize")  # each field is a DML_SIZE_2D, which models write as an object


def _json_operators(value: str | list[str]) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_operators, value)) + "]"
    return f'{{ "Type": "{value}" }}'


def model(op: python.Operator, example: Example, type_field: str | None = None) -> str:
    """`type_field` is the member that specifies the type of a DML_SCALAR_UNION."""
    results = _results(op, example)
    given = [(one.field, tensors) for one, tensors in zip(op.inputs, example.inputs) if tensors]
    resources, members, bindings, printed = [], [], [], []
    for one, tensors in [*given, *results]:
        is_output = one in dict(results)
        described, bound = [], []
        for name, tensor in _resources(one, tensors):
            values = (f'{{ "valueCount": {len(tensor.values)}, "value": 0 }}' if is_output
                      else _json_list(tensor.values))
            resources.append(f'"{name}": {{ "initialValuesDataType": "{tensor.type}", "initialValues": {values} }}')
            described.append(f'{{ "DataType": "{tensor.type}", "Sizes": {json.dumps(list(tensor.sizes))} }}')
            bound.append(f'"{name}"')
            printed += [f'{{ "type": "print", "resource": "{name}" }}'] if is_output else []
        is_array = isinstance(tensors, tuple)
        text = ",\n".join([described[0], *(" " * (len(one) + 13) + more for more in described[1:])])
        members.append(f'"{one}": [{text}]' if is_array else f'"{one}": {text}')
        bindings.append(f'"{one}": [{", ".join(bound)}]' if is_array else f'"{one}": {bound[0]}')
    if type_field:
        members.append(f'"{type_field}": "{example.outputs[0].type}"')
    for one in op.attributes:
        if one.field in example.attributes:
            value = example.attributes[one.field]
            if one.field in _PAIRS:
                value = dict(zip(("Width", "Height"), value))
            text = _json_operators(value) if one.kind in _NESTED else json.dumps(value)
            members.append(f'"{one.field}": {text}')

    def lines(items: list[str], indent: int) -> str:
        return ",\n".join(" " * indent + item for item in items)

    return f"""{{
  "resources": {{
{lines(resources, 4)}
  }},
  "dispatchables": {{
    "{op.python}": {{
      "type": "DML_OPERATOR_{op.name}",
      "desc": {{
{lines(members, 8)}
      }}
    }}
  }},
  "commands": [
    {{ "type": "dispatch", "dispatchable": "{op.python}",
      "bindings": {{ {", ".join(bindings)} }} }},
{lines(printed, 4)}
  ]
}}
"""


def _shortest(value: float, kind: str) -> str:
    """Formats a number as dmlrun does: a FLOAT32 with the fewest digits that distinguish it from its neighbors."""
    if kind != "FLOAT32":
        return str(value) if isinstance(value, int) else f"{value:g}"
    rounded = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return f"{next(one for one in rounded if struct.pack('f', one) == struct.pack('f', value)):.9g}"


def model_prints(op: python.Operator, example: Example) -> str:
    return "".join(
        f"Resource '{name}': {', '.join(_shortest(value, tensor.type) for value in tensor.values)}\n"
        for one, tensors in _results(op, example) for name, tensor in _resources(one, tensors))
