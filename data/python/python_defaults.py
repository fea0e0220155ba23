# SPDX-License-Identifier: MIT
"""The default values of attributes. Only Python has defaults, because DirectML and the C API require every attribute.
The values are those that NumPy, PyTorch or ONNX use. generate_python.py puts them into the signatures, the help, the
stubs and docs/python-operators.md. An attribute without a common default is required.
"""
import collections

# A default value that depends on the arguments. In the signature it is None. rule: its name in
# python/anydml/_arguments.py; some rules add a colon and a number. text: the description in help().
By = collections.namedtuple("By", "rule text")

_WINDOWS = {"Strides": By("window:1", "1"), "Dilations": By("window:1", "1"), "StartPadding": By("window:0", "0"),
            "EndPadding": By("window:0", "0")}
_FILTERS = {**_WINDOWS, "GroupCount": 1}
_EXTREME = {"Axes": By("axes", "all axes"), "AxisDirection": "INCREASING"}
_BOUNDS = {"Min": By("least", "no bound"), "Max": By("greatest", "no bound")}
_PADDING = {"PaddingMode": "CONSTANT", "PaddingValue": 0, "StartPadding": By("each:0", "0"),
            "EndPadding": By("each:0", "0")}
_SLICE1 = {"InputWindowStrides": By("each:1", "1")}
_NORMAL = {"Axes": -1, "Epsilon": 1e-05}  # layer normalization
_RESPONSE = {"CrossChannel": True, "Alpha": 0.0001, "Beta": 0.75, "Bias": 1.0}  # PyTorch's defaults
_RECURRENT = {"Direction": "FORWARD"}
_GATHER_ND = {"InputDimensionCount": By("ndim:0", "``input.ndim``"),
              "IndicesDimensionCount": By("ndim:1", "``indices.ndim``")}
_RESAMPLE = {"InterpolationMode": "LINEAR", "Scales": By("scales", "the sizes of ``shape`` or ``out`` divided by the "
                                                                     "input's")}
# The centers of pixels correspond, as in PyTorch and ONNX.
_HALF_PIXELS = {"InputPixelOffsets": By("each:0.5", "0.5, the center of a pixel"),
                "OutputPixelOffsets": By("each:-0.5", "-0.5, the center of a pixel")}
_RESAMPLE1 = {**_RESAMPLE, **_HALF_PIXELS}
_RESAMPLE2 = {**_RESAMPLE1, "RoundingDirection": "INCREASING"}
_BACK = {"InterpolationMode": "LINEAR", **_HALF_PIXELS}
# Like torchvision's roi_align, a bin has as many samples as pixels.
_SAMPLES = {"ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "SpatialScaleX": 1.0, "SpatialScaleY": 1.0,
            "MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 4294967295}
_ALIGNED = {**_SAMPLES, "InputPixelOffset": 0.0, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}
_ATTENTION = {"Scale": By("attention", "1 divided by the square root of a head's size"), "MaskFilterValue": -10000.0,
              "MaskType": "NONE"}

DEFAULTS = {
    "REDUCE": {"Axes": By("axes", "all axes")}, "ARGMIN": _EXTREME, "ARGMAX": _EXTREME,
    "ACTIVATION_SOFTMAX1": {"Axes": -1}, "ACTIVATION_LOG_SOFTMAX1": {"Axes": -1}, "ACTIVATION_HARDMAX1": {"Axes": -1},
    "ACTIVATION_ELU": {"Alpha": 1.0}, "ACTIVATION_CELU": {"Alpha": 1.0}, "ACTIVATION_LEAKY_RELU": {"Alpha": 0.01},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 1.0}, "ACTIVATION_SOFTPLUS": {"Steepness": 1.0},
    "ACTIVATION_SWISH": {"SigmoidInputScale": 1.0}, "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
    "ACTIVATION_HARD_SWISH": {"Alpha": 1 / 6, "Beta": 0.5},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.6732632423543772, "Gamma": 1.0507009873554805},
    "ACTIVATION_SHRINK": {"Bias": 0.0, "Threshold": 0.5}, "ACTIVATION_LINEAR": {"Alpha": 1.0, "Beta": 0.0},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"Alpha": 1.0, "Beta": 1.0},
    "ACTIVATION_SCALED_TANH": {"Alpha": 1.0, "Beta": 1.0},
    "ELEMENT_WISE_CLIP": _BOUNDS, "ELEMENT_WISE_CLIP1": _BOUNDS, "ELEMENT_WISE_CLIP_GRAD": _BOUNDS,
    "ELEMENT_WISE_CLIP_GRAD1": _BOUNDS, "ELEMENT_WISE_ROUND": {"RoundingMode": "HALVES_TO_NEAREST_EVEN"},
    "ELEMENT_WISE_IS_INFINITY": {"InfinityMode": "EITHER"},
    "JOIN": {"Axis": 0}, "SPLIT": {"Axis": 0}, "TOP_K": {"Axis": -1},
    "TOP_K1": {"Axis": -1, "AxisDirection": "DECREASING"},
    "CUMULATIVE_SUMMATION": {"Axis": -1, "AxisDirection": "INCREASING", "HasExclusiveSum": False},
    "CUMULATIVE_PRODUCT": {"Axis": -1, "AxisDirection": "INCREASING", "HasExclusiveProduct": False},
    "GEMM": {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0},
    "CONVOLUTION": {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", **_FILTERS,
                    "OutputPadding": By("window:0", "0")},
    "CONVOLUTION_INTEGER": _FILTERS, "QUANTIZED_LINEAR_CONVOLUTION": _FILTERS,
    **dict.fromkeys(("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2", "MAX_POOLING_GRAD", "FOLD", "UNFOLD"), _WINDOWS),
    **dict.fromkeys(("AVERAGE_POOLING", "AVERAGE_POOLING1", "AVERAGE_POOLING_GRAD", "QUANTIZED_LINEAR_AVERAGE_POOLING"),
                    {**_WINDOWS, "IncludePadding": False}),
    **dict.fromkeys(("LP_POOLING", "LP_POOLING1"), {**_WINDOWS, "P": 2}),
    "BATCH_NORMALIZATION": {"Spatial": True, "Epsilon": 1e-05},
    **dict.fromkeys(("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING", "BATCH_NORMALIZATION_TRAINING_GRAD"),
                    {"Epsilon": 1e-05}),
    "MEAN_VARIANCE_NORMALIZATION": {"CrossChannel": False, "NormalizeVariance": True, "Epsilon": 1e-05},
    "MEAN_VARIANCE_NORMALIZATION1": {**_NORMAL, "NormalizeVariance": True},
    "MEAN_VARIANCE_NORMALIZATION2": {**_NORMAL, "UseMean": True, "UseVariance": True},
    "LOCAL_RESPONSE_NORMALIZATION": _RESPONSE, "LOCAL_RESPONSE_NORMALIZATION_GRAD": _RESPONSE,
    "LP_NORMALIZATION": {"Axis": -1, "Epsilon": 1e-05, "P": 2},
    "RNN": {**_RECURRENT, "ActivationDescs": By("activations:TANH", "tanh")},
    "LSTM": {**_RECURRENT, "ActivationDescs": By("activations:SIGMOID TANH TANH", "sigmoid, tanh and tanh"),
             "ClipThreshold": 0.0, "UseClipThreshold": False, "CoupleInputForget": False},
    "GRU": {**_RECURRENT, "ActivationDescs": By("activations:SIGMOID TANH", "sigmoid and tanh"),
            "LinearBeforeReset": False},
    "MULTIHEAD_ATTENTION": _ATTENTION,
    "MULTIHEAD_ATTENTION1": {**_ATTENTION, "KeyValueHeadCount": By("attribute:QueryHeadCount", "``query_head_count``")},
    "PADDING": _PADDING, "PADDING1": _PADDING, "SLICE": {"Strides": By("each:1", "1")}, "SLICE1": _SLICE1,
    "SLICE_GRAD": _SLICE1, "GATHER": {"Axis": 0, "IndexDimensions": By("ndim:1", "``indices.ndim``")},
    "GATHER_ELEMENTS": {"Axis": -1}, "SCATTER_ELEMENTS": {"Axis": -1}, "ONE_HOT": {"Axis": -1},
    "GATHER_ND": _GATHER_ND, "SCATTER_ND": _GATHER_ND, "GATHER_ND1": {**_GATHER_ND, "BatchDimensionCount": 0},
    "DEPTH_TO_SPACE1": {"Order": "DEPTH_COLUMN_ROW"}, "SPACE_TO_DEPTH1": {"Order": "DEPTH_COLUMN_ROW"},
    "RESAMPLE": _RESAMPLE, "RESAMPLE1": _RESAMPLE1, "RESAMPLE2": _RESAMPLE2,
    "RESAMPLE3": {**_RESAMPLE2, "Antialiased": False}, "RESAMPLE_GRAD": _BACK,
    "RESAMPLE_GRAD1": {**_BACK, "RoundingDirection": "INCREASING"},
    "UPSAMPLE_2D": {"InterpolationMode": "NEAREST_NEIGHBOR"},
    "VALUE_SCALE_2D": {"Scale": 1.0, "Bias": By("channels:0", "0 for each channel")},
    "ROI_POOLING": {"SpatialScale": 1.0}, "ROI_ALIGN": {**_SAMPLES, "OutOfBoundsInputValue": 0.0},
    "ROI_ALIGN1": {**_ALIGNED, "OutOfBoundsInputValue": 0.0}, "ROI_ALIGN_GRAD": _ALIGNED,
    "DIAGONAL_MATRIX": {"Offset": 0, "Value": 1.0},
    "DIAGONAL_MATRIX1": {"Value": 1, "DiagonalFillBegin": 0, "DiagonalFillEnd": 1},
    "FILL_VALUE_SEQUENCE": {"ValueStart": 0, "ValueDelta": 1}, "RANDOM_GENERATOR": {"Type": "PHILOX_4X32_10"},
    "QUANTIZE": {"QuantizationType": By("quantization", "chosen by the number of ``quantizations``")},
    "DEQUANTIZE": {"QuantizationType": By("quantization", "chosen by the number of ``quantizations``")},
    "ADAM_OPTIMIZER": {"LearningRate": 0.001, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-08},
}
# Operators for which DirectML does not define the result's shape. Python's functions compute it from the scales.
SHAPED = {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"}
