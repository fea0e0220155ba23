# SPDX-License-Identifier: MIT
"""One row for each operator that has a picture, and the reason for each operator that has none."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from example_types import Example, Tensor, f32, i8, i32, u8, u32

from .grids import Colors, Depends, Moves, Painted, Shades
from .kinds import Bars, Bits, Blocks, Curves, Descent, Histograms, Map, Steps
from .svg import hue

PI = math.pi


def one(x: tuple[float, float] = (-4, 4), y: tuple[float, float] | None = None, caption: str = "", **attributes: Any) -> Curves:
    return Curves([("", attributes, ())], x, y, caption=caption)


def family(attribute: str, *values: float, x: tuple[float, float] = (-4, 4), y: tuple[float, float] | None = None,
           caption: str = "", **more: Any) -> Curves:
    return Curves([(f"{attribute} {value:g}".replace("-", "−"), {**more, attribute: value}, ()) for value in values], x, y,
                  caption=caption)


def beside(label: str, *values: float, x: tuple[float, float] = (-4, 4), y: tuple[float, float] | None = None, position: int = 0,
           caption: str = "", to: str = "FLOAT32", **attributes: Any) -> Curves:
    """Curves of a function of two inputs, one of which is constant."""
    return Curves([(f"{label} {value:g}".replace("-", "−"), attributes, (("FLOAT32", value),)) for value in values], x, y,
                  position, to, caption=caption)


FUNCTIONS: dict[str, Any] = {
    "EXP": one((-4, 2.5)), "LOG": one((-2, 8), caption="LOG of 0 is −∞, and of a negative number NaN."),
    "SIN": one((-7, 7)), "COS": one((-7, 7)), "TAN": one((-5, 5), (-6, 6)),
    "ASIN": one((-1.5, 1.5), caption="Outside −1 to 1 it is NaN."),
    "ACOS": one((-1.5, 1.5), caption="Outside −1 to 1 it is NaN."),
    "ATAN": one((-8, 8)), "SINH": one((-3, 3)), "COSH": one((-3, 3)), "TANH": one(), "ASINH": one((-8, 8)),
    "ACOSH": one((-1, 8), caption="Below 1 it is NaN."), "ATANH": one((-1.5, 1.5), (-3, 3), "Outside −1 to 1 it is NaN."),
    "ERF": one((-3, 3)), "IDENTITY": one(), "ABS": one(), "NEGATE": one(), "FLOOR": one(), "CEIL": one(),
    "SIGN": one(caption="SIGN of 0 is 0."),
    "ROUND": Curves([(mode, {"RoundingMode": mode}, ()) for mode in
                     ("HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY")], (-3, 3)),
    "RECIP": one(y=(-4, 4)), "SQRT": one((-2, 8), caption="The root of a negative number is NaN."),
    "CLIP": Curves([("Min −1, Max 2", {"Min": -1.0, "Max": 2.0}, ()), ("Min −3, Max 0", {"Min": -3.0, "Max": 0.0}, ())]),
    "CLIP1": Curves([("Min −1, Max 2", {"Min": -1.0, "Max": 2.0}, ()), ("Min −3, Max 0", {"Min": -3.0, "Max": 0.0}, ())]),
    "THRESHOLD": family("Min", -2, 0, 1.5), "CONSTANT_POW": family("Exponent", -1, 0.5, 2, 3, x=(-2, 3), y=(-4, 8)),
    "POW": beside("exponent", -1, 0.5, 2, 3, x=(-2, 3), y=(-4, 8)),
    "MODULUS_FLOOR": beside("divisor", 3, -3, x=(-8, 8), y=(-3.4, 3.4), caption="The result has the sign of the divisor."),
    "MODULUS_TRUNCATE": beside("divisor", 3, -2, x=(-8, 8), y=(-3.4, 3.4), caption="The result has the sign of the dividend."),
    "ATAN_YX": beside("x", 1, -1, 0.1, y=(-3.6, 3.6),
                      caption="Plotted against the first input, for several values of the second."),
    "CLIP_GRAD": beside("gradient", 1, -0.5, Min=-1.0, Max=2.0, caption="The gradient passes between Min −1 and Max 2."),
    "CLIP_GRAD1": beside("gradient", 1, -0.5, Min=-1.0, Max=2.0, caption="The gradient passes between Min −1 and Max 2."),
    "QUANTIZE_LINEAR": Curves([(f"scale {scale:g}, zero point {zero}", {}, (("FLOAT32", scale), ("UINT8", zero)))
                               for scale, zero in ((0.5, 10), (1, 4))], (-6, 6), to="UINT8",
                              caption="A staircase of UINT8 numbers: each step is as wide as the scale."),
    "DEQUANTIZE_LINEAR": Curves([(f"scale {scale:g}, zero point {zero}", {}, (("FLOAT32", scale), ("UINT8", zero)))
                                 for scale, zero in ((0.5, 128), (0.25, 64))], (0, 255), of="UINT8"),
}
COMPARED = "Orange is 1, gray is 0."
MAPS: dict[str, Map] = {
    "ADD": Map(),
    "ADD1": Map(attributes={"FusedActivation": "ACTIVATION_RELU"}, caption="With RELU as the fused activation, negative sums become 0."),
    "SUBTRACT": Map(), "MULTIPLY": Map(), "DIVIDE": Map(most=8), "MAX": Map(), "MIN": Map(), "MEAN": Map(),
    "DIFFERENCE_SQUARE": Map(),
    **{f"LOGICAL_{name}": Map(to="UINT8", count=17, caption=COMPARED) for name in
       ("EQUALS", "GREATER_THAN", "LESS_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN_OR_EQUAL")},
    **{f"LOGICAL_{name}": Map((0, 2), (0, 2), "UINT8", "UINT8", caption=f"Anything other than 0 is true. {COMPARED}")
       for name in ("AND", "OR", "XOR")},
    **{f"BIT_{name}": Map((0, 15), (0, 15), "UINT8", "UINT8") for name in ("AND", "OR", "XOR")},
    "BIT_SHIFT_LEFT": Map((0, 9), (0, 9), "UINT8", "UINT8", caption="For UINT8: bits that are shifted out are lost."),
    "BIT_SHIFT_RIGHT": Map((0, 9), (0, 9), "UINT8", "UINT8"),
}
ACTIVATIONS: dict[str, Any] = {
    "IDENTITY": one(), "RELU": one(), "SIGMOID": one((-6, 6)), "TANH": one(), "GELU": one(), "SOFTSIGN": one((-8, 8)),
    "SOFTPLUS": family("Steepness", 1, 2, 8), "ELU": family("Alpha", 0.5, 1, 2), "CELU": family("Alpha", 0.5, 1, 2),
    "SWISH": family("SigmoidInputScale", 0.5, 1, 4), "LEAKY_RELU": family("Alpha", 0.01, 0.1, 0.3),
    "THRESHOLDED_RELU": family("Alpha", 0.5, 1, 2),
    "SCALED_ELU": Curves([("Alpha 1.67, Gamma 1.05", {"Alpha": 1.67326, "Gamma": 1.0507}, ()),
                          ("Alpha 1, Gamma 0.5", {"Alpha": 1.0, "Gamma": 0.5}, ())]),
    "SCALED_TANH": Curves([("Alpha 1, Beta 1", {"Alpha": 1.0, "Beta": 1.0}, ()),
                           ("Alpha 2, Beta 0.5", {"Alpha": 2.0, "Beta": 0.5}, ())]),
    "PARAMETRIC_SOFTPLUS": Curves([("Alpha 1, Beta 1", {"Alpha": 1.0, "Beta": 1.0}, ()),
                                   ("Alpha 2, Beta 0.5", {"Alpha": 2.0, "Beta": 0.5}, ())]),
    "LINEAR": Curves([("Alpha 2, Beta 1", {"Alpha": 2.0, "Beta": 1.0}, ()),
                      ("Alpha −0.5, Beta 0", {"Alpha": -0.5, "Beta": 0.0}, ())]),
    "HARD_SIGMOID": Curves([("Alpha 0.2, Beta 0.5", {"Alpha": 0.2, "Beta": 0.5}, ()),
                            ("Alpha 0.5, Beta 0.5", {"Alpha": 0.5, "Beta": 0.5}, ())]),
    "HARD_SWISH": Curves([("Alpha 1/6, Beta 0.5", {"Alpha": 1 / 6, "Beta": 0.5}, ()),
                          ("Alpha 0.5, Beta 0.5", {"Alpha": 0.5, "Beta": 0.5}, ())]),
    "SHRINK": Curves([("Bias 0, Threshold 1", {"Bias": 0.0, "Threshold": 1.0}, ()),
                      ("Bias 1, Threshold 1", {"Bias": 1.0, "Threshold": 1.0}, ())]),
    "PARAMETERIZED_RELU": beside("slope", 0.1, 0.5, -0.5),
    "RELU_GRAD": beside("gradient", 1, -0.5, caption="The gradient passes where the input is above 0."),
}
LOGITS = (1.0, 3.0, 0.5, 2.0, -1.0)
SOFT: dict[str, Any] = {f"ACTIVATION_{name}{version}": Bars(LOGITS, {"Axes": [1]} if version else {}, caption)
                        for name, caption in (("SOFTMAX", "The results are positive, and their sum is 1."),
                                              ("LOG_SOFTMAX", "The logarithms of softmax's results."),
                                              ("HARDMAX", "1 at the maximum, 0 elsewhere."))
                        for version in ("", "1")}

# ---- Tensors --------------------------------------------------------------------------------------------------------

WINDOWS = "The elements of each window have the color of its result."
CHOSEN = "One output element, and the input elements it is computed from."
EACH = "Each input element has the color of the result it contributes to."
LETTERS = f32(*range(1, 13)).shaped(3, 4)
IMAGE = f32(0, 2, 4, 6, 8, 6, 4, 2, 0).shaped(1, 1, 3, 3)
LARGER = f32(*[0] * 36).shaped(1, 1, 6, 6)
LINEAR = {"InterpolationMode": "LINEAR", "Scales": [1.0, 1.0, 2.0, 2.0]}
NEAREST = {**LINEAR, "InterpolationMode": "NEAREST_NEIGHBOR"}
CENTERS = {"InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4}
CORNER = {"InputPixelOffsets": [0.0] * 4, "OutputPixelOffsets": [0.0] * 4}


def resized(caption: str, attributes: dict[str, Any], given: Tensor = IMAGE, result: Tensor = LARGER) -> Shades:
    return Shades(Example((given,), result, attributes), caption)


def padded(mode: str) -> Example:
    return Example((f32(*range(1, 7)).shaped(2, 3),), f32(*[0] * 28).shaped(4, 7),
                   {"PaddingMode": mode, "PaddingValue": 0, "StartPadding": [1, 2], "EndPadding": [1, 2]})


def coordinates(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Colors:
    """Colors the nonzero elements and the rows with their coordinates."""
    positions = [k for k, value in enumerate(inputs[0].values) if value]
    colors: list[str | None] = [None] * len(inputs[0].values)
    for number, k in enumerate(positions):
        colors[k] = hue(number, len(positions))
    width = outputs[1].sizes[1]
    rows = [hue(k // width, len(positions)) if k // width < len(positions) else None for k in range(len(outputs[1].values))]
    return [colors, [None], rows]


def found(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Colors:
    colors: list[str | None] = [hue(0, 1) if value else None for value in outputs[0].values]
    return [colors, colors]


def in_turn(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Colors:
    return [[hue(k, len(outputs[0].values)) for k in range(len(outputs[0].values))]]


def same_everywhere(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Colors:
    return [[hue(0, 1)] * len(outputs[0].values)]


PIXELS = f32(*range(1, 17)).shaped(1, 1, 4, 4)
DEEP = f32(*range(1, 17)).shaped(1, 4, 2, 2)
DISTINCT = f32(7, 2, 9, 4, 1, 8, 3, 6).shaped(2, 4)
FILTERED = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0], "GroupCount": 1}
FLAT = f32(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4).shaped(1, 1, 4, 5)
KERNEL = f32(1, 0, -1, 2, 0, -2, 1, 0, -1).shaped(1, 1, 3, 3)
A, B = f32(*range(1, 13)).shaped(3, 4), f32(1, 0, 2, 1, 0, 3, 1, 1).shaped(4, 2)
BYTES, SIGNED = u8(*range(1, 13)).shaped(3, 4), i8(1, 0, 2, -1, 0, 3, 1, 1).shaped(4, 2)
ONE, ZERO, ZERO8 = f32(1).shaped(1, 1), u8(0).shaped(1, 1), i8(0).shaped(1, 1)

TENSORS: dict[str, Any] = {
    "CAST": Curves([("FLOAT32 to INT8", {}, ())], (-4, 4), to="INT8",
                   caption="Rounded toward zero; beyond the type's range it is clamped to the limit."),
    "ELEMENT_WISE_IS_NAN": Painted(found, "1 where the element is NaN."),
    "ELEMENT_WISE_IS_INFINITY": Painted(found, "1 where the element is an infinity of either sign."),
    "ELEMENT_WISE_IF": Moves((1, 2), caption="The condition chooses from which input each element comes."),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": Depends((0, 3), show=(0, 1, 3, 4), caption=EACH),
    "FILL_VALUE_CONSTANT": Painted(same_everywhere, "One value everywhere."),
    "FILL_VALUE_SEQUENCE": Painted(in_turn, "The first element is ValueStart, and each of the others is ValueDelta more than "
                                            "the one before it."),
    "REDUCE": Depends(caption=EACH), "ARGMIN": Depends(caption=EACH), "ARGMAX": Depends(caption=EACH),
    "GATHER": Moves(), "GATHER_ELEMENTS": Moves(), "GATHER_ND": Moves(), "GATHER_ND1": Moves(),
    "SCATTER_ELEMENTS": Moves((0, 2)), "SCATTER_ND": Moves((0, 2)),
    "ONE_HOT": Moves((1,), caption="The second of the two values is at the index, the first everywhere else."),
    "NONZERO_COORDINATES": Painted(coordinates, "Each row has the coordinates of the element with its color; the rows "
                                                "after them are 0."),
    "SPLIT": Moves(), "JOIN": Moves((0, 1)), "QUANTIZE": Depends(caption=EACH), "DEQUANTIZE": Depends(caption=EACH),
    "DYNAMIC_QUANTIZE_LINEAR": Depends(show=(0,), caption="The largest and smallest elements set the scale, on which "
                                                          "every result depends."),
    "SLICE": Moves(example=Example((LETTERS,), f32(0, 0, 0, 0).shaped(2, 2), {
        "Offsets": [1, 0], "Sizes": [2, 2], "Strides": [1, 2]}), caption="Rows 1 and up, every other column."),
    "SLICE1": Moves(example=Example((LETTERS,), f32(*[0] * 8).shaped(2, 4), {
        "InputWindowOffsets": [1, 0], "InputWindowSizes": [2, 4], "InputWindowStrides": [1, -1]}),
        caption="Rows 1 and up, the columns backwards: a stride may be negative."),
    "SLICE_GRAD": Moves(caption="Each gradient returns to the position of its element; all other elements are 0."),
    "PADDING": Moves(example=padded("REFLECTION"), caption="REFLECTION: mirrored at the edge, which is not repeated."),
    "PADDING1": Moves(example=padded("EDGE"), caption="EDGE: the outermost elements are repeated."),
    "TILE": Moves(example=Example((f32(1, 2, 3, 4).shaped(2, 2),), f32(*[0] * 24).shaped(4, 6), {"Repeats": [2, 3]})),
    "SPACE_TO_DEPTH": Moves(example=Example((PIXELS,), DEEP, {"BlockSize": 2})),
    "SPACE_TO_DEPTH1": Moves(example=Example((PIXELS,), DEEP, {"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH"})),
    "DEPTH_TO_SPACE": Moves(example=Example((DEEP,), PIXELS, {"BlockSize": 2})),
    "DEPTH_TO_SPACE1": Moves(example=Example((DEEP,), PIXELS, {"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH"})),
    "UNFOLD": Moves(caption="Each column of the output is a window of the input."),
    "FOLD": Depends(caption="Windows overlap: elements of the same color are added."),
    "REVERSE_SUBSEQUENCES": Moves(caption="In each row, the first elements are reversed; the row's length says how "
                                          "many."),
    "VALUE_SCALE_2D": Depends(caption=EACH),
    "DIAGONAL_MATRIX": Painted(lambda _, outputs: [[hue(0, 1) if value else None for value in outputs[0].values]],
                               "Value on a diagonal, which Offset moves, and 0 elsewhere."),
    "DIAGONAL_MATRIX1": Moves(example=Example((f32(*range(1, 17)).shaped(4, 4),), f32(*[0] * 16).shaped(4, 4), {
        "Value": 0, "DiagonalFillBegin": 1, "DiagonalFillEnd": 4}),
        caption="Diagonals from DiagonalFillBegin up to DiagonalFillEnd are filled with Value; the others stay."),
    "RESAMPLE": resized("LINEAR, twice as high and wide.", LINEAR),
    "RESAMPLE1": resized("LINEAR, with pixels at their corners: the last row and column are repeated.", {**LINEAR, **CORNER}),
    "RESAMPLE2": resized("NEAREST_NEIGHBOR: each pixel becomes four.", {"RoundingDirection": "DECREASING", **NEAREST, **CORNER}),
    "RESAMPLE3": resized("LINEAR and antialiased, half as high and wide: each pixel is a mean of its neighborhood.",
                         {"RoundingDirection": "DECREASING", **CENTERS, "InterpolationMode": "LINEAR",
                          "Scales": [1.0, 1.0, 0.5, 0.5], "Antialiased": 1},
                         f32(0, 0, 0, 0, 0, 8, 8, 0, 0, 8, 8, 0, 0, 0, 0, 0).shaped(1, 1, 4, 4),
                         f32(0, 0, 0, 0).shaped(1, 1, 2, 2)),
    "UPSAMPLE_2D": resized("NEAREST_NEIGHBOR, twice as high and wide.", {
        "ScaleSize": [2, 2], "InterpolationMode": "NEAREST_NEIGHBOR"}),
    "RESAMPLE_GRAD": Depends(caption="LINEAR: one pixel, and the gradients that it collects."),
    "RESAMPLE_GRAD1": Depends(caption="NEAREST_NEIGHBOR: gradients go to the pixel that was sampled."),
    **{name: Depends(caption=WINDOWS) for name in (
        "AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1", "MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")},
    "QUANTIZED_LINEAR_AVERAGE_POOLING": Depends(show=(0,), caption=WINDOWS),
    "AVERAGE_POOLING_GRAD": Depends(pick=0, caption="Each element of a window gets its share of the gradient of the result."),
    "MAX_POOLING_GRAD": Depends((1,), pick=5, caption="The gradient goes to the maximum of its window."),
    "MAX_UNPOOLING": Moves(caption="Each element returns to the position given by its index; all others are 0."),
    "ROI_POOLING": Depends(show=(0, 1), caption="One output, and the pixels of its part of the region; its value is "
                                                "their maximum."),
    "ROI_ALIGN": Depends(show=(0, 1), caption="Pixels have the color of the output that is interpolated from them."),
    "ROI_ALIGN1": Depends(show=(0, 1), caption="Pixels have the color of the output that is interpolated from them."),
    "ROI_ALIGN_GRAD": Depends((1,), show=(1, 2), pick=1, caption="One pixel, and the gradients that it collects."),
    "CONVOLUTION": Depends((0, 1), Example((FLAT, KERNEL, None), f32(*[0] * 6).shaped(1, 1, 2, 3), {
        "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", **FILTERED, "OutputPadding": [0, 0]}), pick=4,
        caption="One element of the output is the sum of a window times the filter. "
                "Elements multiplied by 0 are not colored."),
    "CONVOLUTION_INTEGER": Depends((0, 2), show=(0, 2), caption=CHOSEN),
    "QUANTIZED_LINEAR_CONVOLUTION": Depends((0, 3), show=(0, 3), caption=CHOSEN),
    "GEMM": Depends((0, 1, 2), Example((A, B, f32(*[1] * 6).shaped(3, 2)), f32(*[0] * 6).shaped(3, 2), {
        "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1}), pick=3,
        caption="One output element is a row of A times a column of B, plus an element of C. "
                "Elements multiplied by 0 are not colored."),
    "MATRIX_MULTIPLY_INTEGER": Depends((0, 2), Example((BYTES, ZERO, SIGNED, ZERO8), i32(*[0] * 6).shaped(3, 2)), (0, 2), 3,
                                       CHOSEN),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Depends((0, 3), Example((BYTES, ONE, ZERO, SIGNED, ONE, ZERO8, ONE, ZERO),
                                                                u8(*[0] * 6).shaped(3, 2)), (0, 3), 3, CHOSEN),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Depends((0, 3), Example((
        i8(*range(1, 13)).shaped(3, 4), ONE, ZERO8, SIGNED, ONE, ZERO8, None), f32(*[0] * 6).shaped(3, 2)), (0, 3), 3, CHOSEN),
    "TOP_K": Moves(example=Example((DISTINCT,), (f32(0, 0, 0, 0).shaped(2, 2), u32(0, 0, 0, 0).shaped(2, 2)), {"Axis": 1, "K": 2}),
                   by_value=True, caption="The two largest of each row, and their indices."),
    "TOP_K1": Moves(example=Example((DISTINCT,), (f32(0, 0, 0, 0).shaped(2, 2), u32(0, 0, 0, 0).shaped(2, 2)), {
        "Axis": 1, "K": 2, "AxisDirection": "INCREASING"}), by_value=True, caption="The two smallest of each row, and their indices."),
    "CUMULATIVE_SUMMATION": Depends(pick=4, caption="One sum, and the elements that it adds: its own and those before it."),
    "CUMULATIVE_PRODUCT": Depends(pick=0, caption="One product, backwards and exclusive: the elements after its own."),
    "BATCH_NORMALIZATION": Histograms({"Spatial": True, "Epsilon": 0}, ((-2, 3), (0.49, 2.56), (1, 1), (0, 0)),
                                      caption="The given means and variances give every channel mean 0 and deviation 1."),
    "BATCH_NORMALIZATION_TRAINING": Histograms({"Epsilon": 0}, ((1, 0.5), (0, 2), None), 3,
                                               "Means and variances come from the batch. Scale is 1 and 0.5, Bias is 0 and 2."),
    "MEAN_VARIANCE_NORMALIZATION": Histograms({"CrossChannel": False, "NormalizeVariance": True, "Epsilon": 0}, (None, None),
                                              caption="Each channel gets mean 0 and deviation 1."),
    "MEAN_VARIANCE_NORMALIZATION1": Histograms({"Axes": [1, 2, 3], "NormalizeVariance": True, "Epsilon": 0}, (None, None),
                                               caption="Axes 1, 2 and 3: both channels together."),
    "MEAN_VARIANCE_NORMALIZATION2": Histograms({"Axes": [2, 3], "UseMean": False, "UseVariance": True, "Epsilon": 0}, (None, None),
                                               caption="Without UseMean the channels are scaled, but not moved to 0."),
    "LOCAL_RESPONSE_NORMALIZATION": Depends(pick=2, caption="One output element: its scale also depends on the neighboring channels."),
    "LP_NORMALIZATION": Bars((3.0, -4.0, 1.0, 2.0), {"Axis": 1, "Epsilon": 0.0, "P": 2}, "The sum of the squares becomes 1."),
    "RANDOM_GENERATOR": Bits("The same state gives the same bits on every device."),
    "ADAM_OPTIMIZER": Descent("The parameter x on its way to the minimum of x², whose gradient is 2x."),
    "RNN": Steps("activation", ("H",), "H is the hidden state."),
    "GRU": Steps("update, reset", ("H",), "H is the hidden state."),
    "LSTM": Steps("i, o, f, c", ("H", "C"), "H is the hidden state, C the state of the cell."),
    "MULTIHEAD_ATTENTION": Blocks(
        (("Query", "S", "d", 62, 90), ("Keyᵀ", "d", "T", 110, 62), ("weights", "S", "T", 110, 90), ("Value", "T", "d", 62, 110),
         ("Output", "S", "d", 62, 90)), ("·", "→ softmax →", "·", "="),
        "Each head has S queries and T keys of d numbers. Scale and masks apply before the softmax, which runs over the T keys."),
    "MULTIHEAD_ATTENTION1": Blocks(
        (("Query", "S", "d", 62, 90), ("Keyᵀ", "d", "T", 110, 62), ("weights", "S", "T", 110, 90), ("Value", "T", "d", 62, 110),
         ("Output", "S", "d", 62, 90)), ("·", "→ softmax →", "·", "="),
        "One query head. QueryHeadCount is a multiple of KeyValueHeadCount: several heads share keys and values."),
}
OF_BITS = "a curve over integers says less than the formula and the example"
OF_GRADIENTS = "every element of the gradient depends on every input element, so all of them would be colored"
# The reasons for operators without a picture.
WITHOUT: dict[str, str] = {
    "ELEMENT_WISE_BIT_NOT": OF_BITS, "ELEMENT_WISE_BIT_COUNT": OF_BITS,
    "ELEMENT_WISE_LOGICAL_NOT": "the example already shows both values",
    "BATCH_NORMALIZATION_GRAD": OF_GRADIENTS, "BATCH_NORMALIZATION_TRAINING_GRAD": OF_GRADIENTS,
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": OF_GRADIENTS,
}
ROWS: dict[str, Any] = {**{f"ELEMENT_WISE_{name}": row for name, row in {**FUNCTIONS, **MAPS}.items()},
                        **{f"ACTIVATION_{name}": row for name, row in ACTIVATIONS.items()}, **SOFT, **TENSORS}
