# SPDX-License-Identifier: MIT
"""One case for every DirectML operator, for all_operators.py: input and output tensors, and attributes.

A tensor is an Array: a type, sizes and the range of its values. Element-wise operators and activations use the tensors
and attributes of data/python/examples.py, with many elements instead of a few."""
import math
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data" / "python"))
from examples import EXAMPLES  # noqa: E402

ELEMENTS = 1 << 24  # in an element-wise tensor: larger than CPU caches, but still quick on a GPU
CODES = {"FLOAT32": "f4", "FLOAT16": "f2", "UINT8": "u1", "INT8": "i1", "INT32": "i4", "UINT32": "u4"}
# The ranges for functions that are not defined for all numbers. Other functions use -4 to 4.
RANGES = {"LOG": (0.01, 100), "SQRT": (0.01, 100), "POW": (0.01, 4), "CONSTANT_POW": (0.01, 100), "ASIN": (-0.99, 0.99),
          "ACOS": (-0.99, 0.99), "ATANH": (-0.99, 0.99), "ACOSH": (1, 100), "BIT_SHIFT_LEFT": (0, 8),
          "BIT_SHIFT_RIGHT": (0, 8), "LOGICAL_AND": (0, 2), "LOGICAL_OR": (0, 2), "LOGICAL_XOR": (0, 2),
          "LOGICAL_NOT": (0, 2)}


class Array(NamedTuple):
    sizes: tuple
    code: str = "f4"
    low: float = -4
    high: float = 4

    @property
    def count(self):
        return math.prod(self.sizes)


class Row(NamedTuple):
    inputs: list
    outputs: list
    attributes: dict = {}
    reads: int = 0  # the bytes that must be read, or 0 for all inputs in full
    flops: int = 0  # multiplications and additions


def f(*sizes, low=-4, high=4):
    return Array(sizes, "f4", low, high)


def u8(*sizes, low=0, high=256):
    return Array(sizes, "u1", low, high)


def i8(*sizes, low=-128, high=128):
    return Array(sizes, "i1", low, high)


def index(limit, *sizes, code="u4"):
    return Array(sizes, code, 0, limit)


def elementwise(name, example):
    """Returns a case that is like the example but has more elements. Scales and zero points are single elements."""
    short = name.removeprefix("ELEMENT_WISE_").removeprefix("ACTIVATION_")
    quantizing = "QUANTIZE" in name
    low, high = RANGES.get(short, (-4, 4))

    def of(position, tensor):
        code = CODES[tensor.type]
        if quantizing and code == "f4" and position > 0:
            return Array((1,), code, 0.1, 0.1)
        if quantizing and position not in (0, 3):
            return Array((1,), code, 3, 4)
        if short == "IF" and position == 0:
            return Array((ELEMENTS,), code, 0, 2)
        if code == "u1" and short not in RANGES:
            return Array((ELEMENTS,), code, 0, 256)
        return Array((ELEMENTS,), code, low, high)
    inputs = [None if tensor is None else of(position, tensor) for position, tensor in enumerate(example.inputs)]
    return Row(inputs, [Array((ELEMENTS,), CODES[example.output.type])], example.attributes)


# ---- Shapes that several operators share ----------------------------------------------------------------------------

SIDE = 4096
MATRIX = f(SIDE, SIDE)
COLUMN = f(SIDE, 1)
IMAGE, HALF, CHANNELS = f(16, 64, 112, 112), f(16, 64, 56, 56), f(1, 64, 1, 1, low=0.5, high=2)
SMALL, TWICE = f(8, 64, 56, 56), f(8, 64, 112, 112)
LARGE = f(2, 64, 112, 112)
ONE = f(1, 1, 1, 1, low=0.1, high=0.1)
WINDOW = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
DILATED = {**WINDOW, "Dilations": [1, 1]}
FILTER = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1]}
FOLDS = {"WindowSizes": [3, 3], **FILTER}
PIXELS = {"InputPixelOffsets": [0.5] * 4, "OutputPixelOffsets": [-0.5] * 4}
LINEAR = {"InterpolationMode": "LINEAR", "Scales": [1.0, 1.0, 2.0, 2.0]}
NEAREST = {**LINEAR, "InterpolationMode": "NEAREST_NEIGHBOR"}
ROUNDED = {"RoundingDirection": "DECREASING"}
REGIONS, ROI_CHANNELS, ROI_SIDE = 128, 256, 56
MAP, POOLED = f(2, ROI_CHANNELS, ROI_SIDE, ROI_SIDE), f(REGIONS, ROI_CHANNELS, 7, 7)
ALIGN = {"ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "SpatialScaleX": 0.0625, "SpatialScaleY": 0.0625}
SAMPLES = {"MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2}
CORNERS = {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": 0}
SIZE = 1024  # the size of the matrices in products
PRODUCT = 2 * SIZE**3
CONVOLVED = 2 * 8 * 64 * 56 * 56 * 64 * 9
UNITS, STEPS, ROWS = 512, 16, 32
TOKENS, WIDTH, HEADS = 512, 512, 8


def boxes(np, random):
    corners = random.uniform(0, 12 * ROI_SIDE, (REGIONS, 2))
    return np.concatenate([corners, corners + random.uniform(32, 4 * ROI_SIDE, (REGIONS, 2))], 1).astype("f4")


def numbered_boxes(np, random):
    images = random.integers(0, 2, (REGIONS, 1)).astype("f4")
    return np.concatenate([images, boxes(np, random)], 1).reshape(1, 1, REGIONS, 5)


def maxima(np, random):
    """Returns the index, within its plane, of one pixel in every 2 x 2 window."""
    rows, columns = np.mgrid[0:56, 0:56]
    positions = 224 * rows + 2 * columns + random.integers(0, 2, (16, 64, 56, 56)) * 112
    return positions.astype("u4")


def scattered_rows(np, random):
    return random.permutation(SIDE)[:SIDE // 2].reshape(-1, 1).astype("u4")


def lengths(np, random):
    return random.integers(1, SIDE + 1, (SIDE, 1)).astype("u4")


def recurrent(kind, gates, activations, more, absent):
    weights = [f(1, 1, gates * UNITS, UNITS, low=-0.04, high=0.04)] * 2
    bias = f(1, 1, 1, 2 * gates * UNITS, low=-0.04, high=0.04)
    states = [f(1, 1, ROWS, UNITS)] * (2 if kind == "LSTM" else 1)
    attributes = {"ActivationDescs": [f"ACTIVATION_{name}" for name in activations], "Direction": "FORWARD", **more}
    return Row([f(1, STEPS, ROWS, UNITS, low=-1, high=1), *weights, bias, *[None] * absent],
               [f(STEPS, 1, ROWS, UNITS), *states], attributes, flops=2 * 2 * STEPS * ROWS * gates * UNITS * UNITS)


def attention(heads):
    """Attention over 512 tokens, whose keys and values have the given number of heads."""
    query, key = f(1, TOKENS, WIDTH, low=-1, high=1), f(1, TOKENS, WIDTH * heads // HEADS, low=-1, high=1)
    return Row([query, key, key, *[None] * (8 if heads == HEADS else 9)],
               [query, *[f(1, heads, TOKENS, WIDTH // HEADS)] * 2],
               {"Scale": 0.125, "MaskFilterValue": -10000.0, "MaskType": "NONE",
                **({"HeadCount": HEADS} if heads == HEADS else {"QueryHeadCount": HEADS, "KeyValueHeadCount": heads})},
               flops=2 * 2 * TOKENS * TOKENS * WIDTH)


def products():
    a, b = u8(SIZE, SIZE), i8(SIZE, SIZE)
    scale, zero, zeros = f(1, 1, low=0.1, high=0.1), u8(1, 1, low=3, high=4), i8(1, 1, low=0, high=1)
    square, image, weights = f(SIZE, SIZE), u8(8, 64, 56, 56), i8(64, 64, 3, 3)
    one, zero4, zeros4 = ONE, u8(1, 1, 1, 1, low=3, high=4), i8(1, 1, 1, 1, low=0, high=1)
    grouped = {**FILTER, "GroupCount": 1}
    return {
        "GEMM": Row([square, square, square], [square], {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0},
                    flops=PRODUCT),
        "MATRIX_MULTIPLY_INTEGER": Row([a, zero, b, zeros], [Array((SIZE, SIZE), "i4")], flops=PRODUCT),
        "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Row([a, scale, zero, b, scale, zeros, f(1, 1, low=100, high=100), zero], [a],
                                                flops=PRODUCT),
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Row([b, scale, zeros, b, scale, zeros, square], [square], flops=PRODUCT),
        "CONVOLUTION": Row([SMALL, f(64, 64, 3, 3), CHANNELS], [SMALL],
                           {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", **FILTER, "OutputPadding": [0, 0],
                            "GroupCount": 1}, flops=CONVOLVED),
        "CONVOLUTION_INTEGER": Row([image, zero4, weights, zeros4], [Array(image.sizes, "i4")], grouped, flops=CONVOLVED),
        "QUANTIZED_LINEAR_CONVOLUTION": Row(
            [image, one, zero4, weights, one, zeros4, Array((1, 64, 1, 1), "i4", -100, 100),
             f(1, 1, 1, 1, low=50, high=50), zero4], [image], grouped, flops=CONVOLVED)}


def moves():
    half = f(SIDE, SIDE // 2)
    rows = SIDE * SIDE // 2 * 4  # half of the matrix
    sliced = {"InputWindowOffsets": [0, 0], "InputWindowSizes": [SIDE, SIDE], "InputWindowStrides": [1, 2]}
    blocks, deep = {"BlockSize": 2}, f(16, 256, 56, 56)
    around = {"PaddingValue": 0.0, "StartPadding": [0, 0, 1, 1], "EndPadding": [0, 0, 1, 1]}
    padded = f(16, 64, 114, 114)
    two, mapped = {"InputDimensionCount": 2, "IndicesDimensionCount": 2}, f(8, 576, 56 * 56)
    return {
        "GATHER": Row([MATRIX, index(SIDE, 1, SIDE // 2)], [f(SIDE // 2, SIDE)], {"Axis": 0, "IndexDimensions": 1}, rows),
        "GATHER_ELEMENTS": Row([MATRIX, index(SIDE, SIDE, SIDE)], [MATRIX], {"Axis": 1}),
        "GATHER_ND": Row([MATRIX, index(SIDE, SIDE // 2, 1)], [f(SIDE // 2, SIDE)], two, rows),
        "GATHER_ND1": Row([f(64, 1024, 256), index(1024, 64, 512, 1)], [f(64, 512, 256)],
                          {"InputDimensionCount": 3, "IndicesDimensionCount": 3, "BatchDimensionCount": 1}, rows),
        "SCATTER_ELEMENTS": Row([MATRIX, index(SIDE, SIDE, SIDE // 4), f(SIDE, SIDE // 4)], [MATRIX], {"Axis": 1}),
        "SCATTER_ND": Row([MATRIX, scattered_rows, f(SIDE // 2, SIDE)], [MATRIX], two),
        "ONE_HOT": Row([index(SIDE, SIDE, 1), f(1, 2)], [MATRIX], {"Axis": 1}),
        "NONZERO_COORDINATES": Row([Array((SIDE, SIDE), "u1", 0, 2)],
                                   [Array((1, 1), "u4"), Array((SIDE * SIDE, 2), "u4")]),
        "SPLIT": Row([MATRIX], [half, half], {"Axis": 1}), "JOIN": Row([half, half], [MATRIX], {"Axis": 1}),
        "SLICE": Row([MATRIX], [half], {"Offsets": [0, 0], "Sizes": [SIDE, SIDE // 2], "Strides": [1, 2]}),
        "SLICE1": Row([MATRIX], [half], sliced), "SLICE_GRAD": Row([half], [MATRIX], sliced),
        "PADDING": Row([IMAGE], [padded], {"PaddingMode": "REFLECTION", **around}),
        "PADDING1": Row([IMAGE], [padded], {"PaddingMode": "CONSTANT", **around}),
        "TILE": Row([f(1024, 1024)], [MATRIX], {"Repeats": [4, 4]}),
        "SPACE_TO_DEPTH": Row([IMAGE], [deep], blocks), "DEPTH_TO_SPACE": Row([deep], [IMAGE], blocks),
        "SPACE_TO_DEPTH1": Row([IMAGE], [deep], {**blocks, "Order": "COLUMN_ROW_DEPTH"}),
        "DEPTH_TO_SPACE1": Row([deep], [IMAGE], {**blocks, "Order": "COLUMN_ROW_DEPTH"}),
        "UNFOLD": Row([SMALL], [mapped], FOLDS), "FOLD": Row([mapped], [SMALL], FOLDS),
        "REVERSE_SUBSEQUENCES": Row([MATRIX, lengths], [MATRIX], {"Axis": 1}),
        "DIAGONAL_MATRIX": Row([], [MATRIX], {"Offset": 0, "Value": 1.0}),
        "DIAGONAL_MATRIX1": Row([MATRIX], [MATRIX], {"Value": 0.0, "DiagonalFillBegin": 0, "DiagonalFillEnd": SIDE}),
        "VALUE_SCALE_2D": Row([f(16, 3, 512, 512)], [f(16, 3, 512, 512)], {"Scale": 2.0, "Bias": [0.5, 1.0, 2.0]})}


def resampling():
    same = {**LINEAR, **PIXELS}
    return {
        "RESAMPLE": Row([SMALL], [TWICE], LINEAR), "RESAMPLE1": Row([SMALL], [TWICE], same),
        "RESAMPLE2": Row([SMALL], [TWICE], {**ROUNDED, **NEAREST, **PIXELS}),
        "RESAMPLE3": Row([SMALL], [TWICE], {**ROUNDED, **same, "Antialiased": 0}),
        "UPSAMPLE_2D": Row([SMALL], [TWICE], {"ScaleSize": [2, 2], "InterpolationMode": "NEAREST_NEIGHBOR"}),
        "RESAMPLE_GRAD": Row([TWICE], [SMALL], same),
        "RESAMPLE_GRAD1": Row([TWICE], [SMALL], {**ROUNDED, **NEAREST, **PIXELS})}


def pooling():
    average, power, positions = {"IncludePadding": 0}, {"P": 2}, Array(HALF.sizes, "u4")
    zero, bytes_ = u8(1, 1, 1, 1, low=3, high=4), u8(16, 64, 112, 112)
    return {
        "AVERAGE_POOLING": Row([IMAGE], [HALF], {**WINDOW, **average}),
        "AVERAGE_POOLING1": Row([IMAGE], [HALF], {**DILATED, **average}),
        "LP_POOLING": Row([IMAGE], [HALF], {**WINDOW, **power}), "LP_POOLING1": Row([IMAGE], [HALF], {**DILATED, **power}),
        "MAX_POOLING": Row([IMAGE], [HALF], WINDOW), "MAX_POOLING1": Row([IMAGE], [HALF, positions], WINDOW),
        "MAX_POOLING2": Row([IMAGE], [HALF, positions], DILATED), "MAX_UNPOOLING": Row([HALF, maxima], [IMAGE]),
        "AVERAGE_POOLING_GRAD": Row([HALF], [IMAGE], {**WINDOW, **average}),
        "MAX_POOLING_GRAD": Row([IMAGE, HALF], [IMAGE], DILATED),
        "QUANTIZED_LINEAR_AVERAGE_POOLING": Row([bytes_, ONE, zero, ONE, zero], [u8(16, 64, 56, 56)],
                                                {**DILATED, **average}),
        "ROI_POOLING": Row([MAP, numbered_boxes], [POOLED], {"SpatialScale": 0.0625, "PooledSize": [7, 7]}),
        "ROI_ALIGN": Row([MAP, boxes, index(2, REGIONS)], [POOLED], {**ALIGN, **SAMPLES, "OutOfBoundsInputValue": 0.0}),
        "ROI_ALIGN1": Row([MAP, boxes, index(2, REGIONS)], [POOLED],
                          {**ALIGN, **SAMPLES, **CORNERS, "OutOfBoundsInputValue": 0.0}),
        "ROI_ALIGN_GRAD": Row([MAP, POOLED, boxes, index(2, REGIONS)], [MAP, f(REGIONS, 4)],
                              {**ALIGN, **SAMPLES, **CORNERS})}


def normalizing():
    along, epsilon, of_axes = {"AxisDirection": "INCREASING"}, {"Epsilon": 1e-5}, {"Axes": [1]}
    positions, moments = Array((SIDE, 1), "u4"), [CHANNELS] * 2
    response = {"CrossChannel": 1, "LocalSize": 5, "Alpha": 1e-4, "Beta": 0.75, "Bias": 1.0}
    best, parameters = [f(SIDE, 10), Array((SIDE, 10), "u4")], f(1, 1, 1, 1 << 22, low=0, high=1)
    sums = {name: Row([MATRIX], [MATRIX], {"Axis": 1, **along, f"HasExclusive{kind}": 0})
            for name, kind in (("CUMULATIVE_SUMMATION", "Sum"), ("CUMULATIVE_PRODUCT", "Product"))}
    soft = {f"ACTIVATION_{name}{version}": Row([MATRIX], [MATRIX], of_axes if version else {})
            for name in ("SOFTMAX", "LOG_SOFTMAX", "HARDMAX") for version in ("", "1")}
    return {
        **sums, **soft, "REDUCE": Row([MATRIX], [COLUMN], {"Function": "SUM", **of_axes}),
        "ARGMIN": Row([MATRIX], [positions], {**of_axes, **along}), "ARGMAX": Row([MATRIX], [positions], {**of_axes, **along}),
        "TOP_K": Row([MATRIX], best, {"Axis": 1, "K": 10}),
        "TOP_K1": Row([MATRIX], best, {"Axis": 1, "K": 10, "AxisDirection": "DECREASING"}),
        "BATCH_NORMALIZATION": Row([IMAGE, *[CHANNELS] * 4], [IMAGE], {"Spatial": 1, **epsilon}),
        "MEAN_VARIANCE_NORMALIZATION": Row([IMAGE, *moments], [IMAGE],
                                           {"CrossChannel": 0, "NormalizeVariance": 1, **epsilon}),
        "MEAN_VARIANCE_NORMALIZATION1": Row([IMAGE, *moments], [IMAGE],
                                            {"Axes": [2, 3], "NormalizeVariance": 1, **epsilon}),
        "MEAN_VARIANCE_NORMALIZATION2": Row([MATRIX, None, None], [MATRIX],
                                            {**of_axes, "UseMean": 1, "UseVariance": 1, **epsilon}),
        "LOCAL_RESPONSE_NORMALIZATION": Row([LARGE], [LARGE], response),
        "LOCAL_RESPONSE_NORMALIZATION_GRAD": Row([LARGE, LARGE], [LARGE], response),
        "LP_NORMALIZATION": Row([MATRIX], [MATRIX], {"Axis": 1, **epsilon, "P": 2}),
        "BATCH_NORMALIZATION_TRAINING": Row([IMAGE, *moments, None], [IMAGE, *moments], epsilon),
        "BATCH_NORMALIZATION_GRAD": Row([IMAGE, IMAGE, *[CHANNELS] * 3], [IMAGE, *moments], epsilon),
        "BATCH_NORMALIZATION_TRAINING_GRAD": Row([IMAGE, IMAGE, *[CHANNELS] * 3], [IMAGE, *moments], epsilon),
        "ADAM_OPTIMIZER": Row([*[parameters] * 4, Array((1, 1, 1, 1), "u4", 7, 8)], [parameters] * 3,
                              {"LearningRate": 1e-3, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-8})}


def rest():
    matrix, scales, zeros = u8(SIDE, SIDE), f(SIDE, 1, low=0.1, high=0.1), u8(SIDE, 1, low=3, high=4)
    number, kind = f(1 << 24), {"QuantizationType": "SCALE_ZERO_POINT"}
    state = Array((1, 1, 1, 6), "u4", 1, 100)
    return {
        "QUANTIZE": Row([MATRIX, scales, zeros], [matrix], kind), "DEQUANTIZE": Row([matrix, scales, zeros], [MATRIX], kind),
        "DYNAMIC_QUANTIZE_LINEAR": Row([number], [u8(1 << 24), f(1), u8(1)]),
        "FILL_VALUE_CONSTANT": Row([], [number], {"ValueDataType": "FLOAT32", "Value": 7.0}),
        "FILL_VALUE_SEQUENCE": Row([], [Array((1 << 24,), "i4")],
                                   {"ValueDataType": "INT32", "ValueStart": 7, "ValueDelta": -2}),
        "RANDOM_GENERATOR": Row([state], [Array((1, 1, 1, 1 << 24), "u4"), state], {"Type": "PHILOX_4X32_10"}),
        "RNN": recurrent("RNN", 1, ("TANH",), {}, 2),
        "LSTM": recurrent("LSTM", 4, ("SIGMOID", "TANH", "TANH"),
                          {"ClipThreshold": 0.0, "UseClipThreshold": 0, "CoupleInputForget": 0}, 4),
        "GRU": recurrent("GRU", 3, ("SIGMOID", "TANH"), {"LinearBeforeReset": 1}, 2),
        "MULTIHEAD_ATTENTION": attention(HEADS), "MULTIHEAD_ATTENTION1": attention(2)}


ROWS_OF = {**moves(), **resampling(), **pooling(), **normalizing(), **products(), **rest()}
CASES = {name: ROWS_OF.get(name) or elementwise(name, example) for name, example in EXAMPLES.items()}
