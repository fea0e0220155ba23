# SPDX-License-Identifier: MIT
"""The table of the ONNX operators that anydml runs. docs/onnx.md shows it, and a test compares the two."""
import anydml

from . import _convolutions as convolutions, _elements as elements, _functions as functions, _gathers as gathers
from . import _images as images, _layers as layers, _normalizations as normalizations, _products as products
from . import _attention as attention, _recurrent as recurrent, _reductions as reductions, _regions as regions
from . import _shapes as shapes
from ._einsum import einsum
from ._functions import function
from ._rows import FLOATS, INTEGERS, Row, row, short


def _kind_of(attribute, default):
    """Gets the type of the only output from an attribute."""
    return lambda attributes, kinds: [attributes.get(attribute) or default or kinds[0]]


def _view(make):
    return Row(make, is_view=True)


_BUILT = {short(one["name"]) for one in anydml.operators(built=True)}


def _is_built(candidate):
    return set(candidate.uses.split()) <= _BUILT


def _first_built(*candidates):
    return next(filter(_is_built, candidates))


_NODES = {
    # Element-wise: one operator.
    "Abs": row("ELEMENT_WISE_ABS"),
    "Add": row("ELEMENT_WISE_ADD"),
    "And": row("ELEMENT_WISE_LOGICAL_AND"),
    "BitwiseAnd": row("ELEMENT_WISE_BIT_AND"),
    "BitwiseNot": row("ELEMENT_WISE_BIT_NOT"),
    "BitwiseOr": row("ELEMENT_WISE_BIT_OR"),
    "BitwiseXor": row("ELEMENT_WISE_BIT_XOR"),
    "Ceil": row("ELEMENT_WISE_CEIL"),
    "Div": row("ELEMENT_WISE_DIVIDE"),
    "Equal": row("ELEMENT_WISE_LOGICAL_EQUALS"),
    "Floor": row("ELEMENT_WISE_FLOOR"),
    "Greater": row("ELEMENT_WISE_LOGICAL_GREATER_THAN"),
    "GreaterOrEqual": row("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL"),
    "HardSigmoid": row("ACTIVATION_HARD_SIGMOID", {"Alpha": "alpha", "Beta": "beta"}),
    "HardSwish": row("ACTIVATION_HARD_SWISH", Alpha=0.1666666716337204, Beta=0.5),
    "Identity": row("ELEMENT_WISE_IDENTITY"),
    "IsNaN": row("ELEMENT_WISE_IS_NAN"),
    "LeakyRelu": row("ACTIVATION_LEAKY_RELU", {"Alpha": "alpha"}),
    "Less": row("ELEMENT_WISE_LOGICAL_LESS_THAN"),
    "LessOrEqual": row("ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL"),
    "Mul": row("ELEMENT_WISE_MULTIPLY"),
    "Neg": row("ELEMENT_WISE_NEGATE"),
    "Not": row("ELEMENT_WISE_LOGICAL_NOT"),
    "Or": row("ELEMENT_WISE_LOGICAL_OR"),
    "Reciprocal": row("ELEMENT_WISE_RECIP"),
    "Relu": row("ACTIVATION_RELU"),
    "Round": row("ELEMENT_WISE_ROUND", RoundingMode="HALVES_TO_NEAREST_EVEN"),
    "Sqrt": row("ELEMENT_WISE_SQRT"),
    "Sub": row("ELEMENT_WISE_SUBTRACT"),
    "ThresholdedRelu": row("ACTIVATION_THRESHOLDED_RELU", {"Alpha": "alpha"}),
    "Where": row("ELEMENT_WISE_IF"),
    "Xor": row("ELEMENT_WISE_LOGICAL_XOR"),
    # Element-wise: the node determines which operators are used.
    "BitShift": Row(elements.bit_shift, "BIT_SHIFT_LEFT BIT_SHIFT_RIGHT BIT_XOR IF LOGICAL_LESS_THAN"),
    "Cast": Row(elements.casting, "CAST LOGICAL_EQUALS LOGICAL_NOT", result=_kind_of("to", "nothing")),
    "CastLike": Row(elements.casting, "CAST LOGICAL_EQUALS LOGICAL_NOT"),
    "Clip": Row(elements.clip, "CLIP ADD SUBTRACT MAX MIN"),
    "DequantizeLinear": Row(elements.dequantize, "DEQUANTIZE_LINEAR DEQUANTIZE CAST",
                            result=elements.dequantized_kind),
    "IsInf": Row(elements.is_infinite, "IS_INFINITY FILL_VALUE_CONSTANT"),
    "Max": elements.several("ELEMENT_WISE_MAX"),
    "Mean": elements.several("ELEMENT_WISE_ADD", mean=True),
    "Min": elements.several("ELEMENT_WISE_MIN"),
    "Mod": Row(elements.mod, "MODULUS_FLOOR MODULUS_TRUNCATE"),
    "PRelu": Row(elements.sloped, "PARAMETERIZED_RELU IDENTITY"),
    "QuantizeLinear": Row(elements.quantize, "QUANTIZE_LINEAR QUANTIZE CAST DIVIDE ROUND CLIP ADD",
                          result=elements.quantized_kind),
    "Shrink": Row(elements.shrink, "SHRINK"),
    "Sign": Row(elements.sign, "SIGN IS_NAN IF"),
    "Sum": elements.several("ELEMENT_WISE_ADD"),
    # Functions of an element.
    "Acos": function("ELEMENT_WISE_ACOS"),
    "Acosh": function("ELEMENT_WISE_ACOSH"),
    "Asin": function("ELEMENT_WISE_ASIN"),
    "Asinh": function("ELEMENT_WISE_ASINH"),
    "Atan": function("ELEMENT_WISE_ATAN"),
    "Atanh": function("ELEMENT_WISE_ATANH"),
    "Celu": function("ACTIVATION_CELU", {"Alpha": "alpha"}),
    "Cos": function("ELEMENT_WISE_COS"),
    "Cosh": function("ELEMENT_WISE_COSH"),
    "Elu": function("ACTIVATION_ELU", {"Alpha": "alpha"}),
    "Erf": function("ELEMENT_WISE_ERF"),
    "Exp": function("ELEMENT_WISE_EXP"),
    "Gelu": Row(functions.gelu, "GELU TANH MULTIPLY ADD CAST", kinds=functions.ROUNDED),
    "Log": function("ELEMENT_WISE_LOG"),
    "Pow": Row(functions.power, "POW MULTIPLY CAST", kinds=functions.ROUNDED),
    "Selu": function("ACTIVATION_SCALED_ELU", {"Alpha": "alpha", "Gamma": "gamma"}),
    "Sigmoid": function("ACTIVATION_SIGMOID"),
    "Sin": function("ELEMENT_WISE_SIN"),
    "Sinh": function("ELEMENT_WISE_SINH"),
    "Softplus": function("ACTIVATION_SOFTPLUS", Steepness=1),
    "Softsign": _first_built(Row(functions.softsign, "SOFTSIGN ABS ADD DIVIDE"),
                             Row(functions.old_softsign, "ABS ADD DIVIDE")),
    "Swish": function("ACTIVATION_SWISH", {"SigmoidInputScale": "alpha"}),
    "Tan": function("ELEMENT_WISE_TAN"),
    "Tanh": function("ELEMENT_WISE_TANH"),
    # Over axes.
    "ArgMax": reductions.extreme_index("ARGMAX"),
    "ArgMin": reductions.extreme_index("ARGMIN"),
    "CumProd": reductions.scan("CUMULATIVE_PRODUCT", "HasExclusiveProduct"),
    "CumSum": reductions.scan("CUMULATIVE_SUMMATION", "HasExclusiveSum"),
    "DynamicQuantizeLinear": Row(reductions.dynamic_quantize, "DYNAMIC_QUANTIZE_LINEAR"),
    "GlobalAveragePool": reductions.global_pool("AVERAGE"),
    "GlobalMaxPool": reductions.global_pool("MAX"),
    "Hardmax": Row(reductions.along_rows("ACTIVATION_HARDMAX", reductions.hardmax_by_index),
                   "HARDMAX HARDMAX1 ARGMAX FILL_VALUE_SEQUENCE LOGICAL_EQUALS CAST"),
    "LogSoftmax": Row(reductions.along_rows("ACTIVATION_LOG_SOFTMAX"), "LOG_SOFTMAX LOG_SOFTMAX1",
                      kinds=functions.ROUNDED),
    "ReduceL1": reductions.reduction("L1"),
    "ReduceL2": reductions.reduction("L2", "REDUCE CAST SQRT FILL_VALUE_CONSTANT"),
    "ReduceLogSum": reductions.reduction("LOG_SUM", "REDUCE FILL_VALUE_CONSTANT", functions.ROUNDED),
    "ReduceLogSumExp": reductions.reduction("LOG_SUM_EXP", "REDUCE FILL_VALUE_CONSTANT", functions.ROUNDED),
    "ReduceMax": reductions.reduction("MAX"),
    "ReduceMean": reductions.reduction("AVERAGE", "REDUCE DIVIDE FILL_VALUE_CONSTANT"),
    "ReduceMin": reductions.reduction("MIN"),
    "ReduceProd": reductions.reduction("MULTIPLY"),
    "ReduceSum": reductions.reduction("SUM"),
    "ReduceSumSquare": reductions.reduction("SUM_SQUARE"),
    "TopK": Row(reductions.top_k, "TOP_K1"),
    # Matrix products.
    "Einsum": Row(einsum, "GEMM REDUCE IDENTITY", kinds=functions.ROUNDED),
    "Gemm": Row(products.gemm, "GEMM", kinds=functions.ROUNDED),
    "MatMul": Row(products.matmul, "GEMM", kinds=functions.ROUNDED),
    "MatMulInteger": Row(products.matmul_integer, "MATRIX_MULTIPLY_INTEGER", kinds=("int8", "uint8")),
    "QLinearMatMul": Row(products.quantized_matmul, "QUANTIZED_LINEAR_MATRIX_MULTIPLY", kinds=("int8", "uint8")),
    "Softmax": Row(reductions.along_rows("ACTIVATION_SOFTMAX"), "SOFTMAX SOFTMAX1", kinds=functions.ROUNDED),
    # Network layers.
    "Attention": Row(attention.attention, "MULTIHEAD_ATTENTION1 ADD CAST FILL_VALUE_SEQUENCE IDENTITY IF "
                     "LOGICAL_GREATER_THAN LOGICAL_GREATER_THAN_OR_EQUAL PADDING1 REDUCE", kinds=functions.ROUNDED),
    "AveragePool": layers.pool("AVERAGE"),
    "BatchNormalization": Row(normalizations.batch_normalization,
                              "BATCH_NORMALIZATION BATCH_NORMALIZATION_TRAINING REDUCE DIFFERENCE_SQUARE ADD SUBTRACT "
                              "MULTIPLY DIVIDE SQRT CAST"),
    "Conv": Row(convolutions.conv, "CONVOLUTION", kinds=functions.ROUNDED),
    "ConvInteger": Row(convolutions.conv_integer, "CONVOLUTION_INTEGER", kinds=("int8", "uint8")),
    "ConvTranspose": Row(convolutions.conv_transpose, "CONVOLUTION", kinds=functions.ROUNDED),
    "QLinearConv": Row(convolutions.quantized_conv, "QUANTIZED_LINEAR_CONVOLUTION", kinds=("int8", "uint8")),
    "GRU": recurrent.network("GRU"),
    "GlobalLpPool": Row(layers.global_lp_pool, "LP_POOLING"),
    "GroupNormalization": Row(normalizations.group_normalization, "MEAN_VARIANCE_NORMALIZATION1",
                              check=normalizations.group_checks),
    "InstanceNormalization": Row(normalizations.instance_normalization, "MEAN_VARIANCE_NORMALIZATION1 REDUCE "
                                 "DIFFERENCE_SQUARE ADD SUBTRACT MULTIPLY DIVIDE SQRT"),
    "LRN": Row(normalizations.local_response_normalization, "LOCAL_RESPONSE_NORMALIZATION", kinds=functions.ROUNDED),
    "LSTM": recurrent.network("LSTM"),
    "LayerNormalization": Row(normalizations.layer_normalization, "MEAN_VARIANCE_NORMALIZATION1 CAST",
                              result=lambda attributes, kinds: [kinds[0], "float", "float"],  # with mean and deviation
                              check=normalizations.axis_checks),
    "LpNormalization": Row(normalizations.lp_normalization, "LP_NORMALIZATION REDUCE DIVIDE LOGICAL_EQUALS IF"),
    "LpPool": layers.pool("LP"),
    "MaxPool": layers.pool("MAX"),
    "MaxRoiPool": Row(regions.max_roi_pool, "ROI_POOLING", kinds=functions.ROUNDED),
    "MaxUnpool": Row(layers.max_unpool, "MAX_UNPOOLING PADDING1"),
    "MeanVarianceNormalization": Row(normalizations.mean_variance_normalization,
                                     "MEAN_VARIANCE_NORMALIZATION1 REDUCE ADD SUBTRACT MULTIPLY DIVIDE SQRT"),
    "RMSNormalization": Row(normalizations.rms_normalization, "MEAN_VARIANCE_NORMALIZATION2 CAST",
                            check=normalizations.axis_checks),
    "RNN": recurrent.network("RNN"),
    "RoiAlign": Row(regions.roi_align, "ROI_ALIGN1 MULTIPLY SUBTRACT MAX ADD JOIN", kinds=functions.ROUNDED),
    "Resize": Row(images.resize, "RESAMPLE3 GEMM ADD IDENTITY"),
    "Upsample": Row(images.resize, "RESAMPLE3"),
    # Tensors from numbers and indices.
    "ConstantOfShape": Row(shapes.constant_of_shape, "FILL_VALUE_CONSTANT", result=_kind_of("value", "float")),
    "EyeLike": Row(shapes.eye_like, "FILL_VALUE_SEQUENCE ADD LOGICAL_EQUALS CAST",
                   result=_kind_of("dtype", None)),
    "OneHot": Row(gathers.one_hot, "ONE_HOT CAST"),
    "Range": Row(shapes.ranged, "FILL_VALUE_SEQUENCE CAST"),
    "Trilu": Row(shapes.trilu, "FILL_VALUE_SEQUENCE ADD LOGICAL_GREATER_THAN_OR_EQUAL LOGICAL_LESS_THAN_OR_EQUAL IF"),
    # Indices that come from data.
    "Compress": Row(gathers.compress, "NONZERO_COORDINATES GATHER"),
    "Gather": Row(gathers.gather, "GATHER", is_view=True),
    "GatherElements": Row(gathers.gather_elements, "GATHER_ELEMENTS"),
    "GatherND": Row(gathers.gather_nd, "GATHER_ND1"),
    "NonZero": Row(gathers.nonzero, "NONZERO_COORDINATES CAST"),
    "Scatter": Row(gathers.scatter_elements, "SCATTER_ELEMENTS IDENTITY"),
    "ScatterElements": Row(gathers.scatter_elements, "SCATTER_ELEMENTS IDENTITY"),
    "ScatterND": Row(gathers.scatter_nd, "SCATTER_ND IDENTITY"),
    # Rearrangements.
    "BitCast": Row(shapes.bit_cast, result=_kind_of("to", "nothing"), is_view=True),
    "Col2Im": Row(shapes.col2im, "FOLD", kinds=(*FLOATS, *INTEGERS)),
    "Concat": Row(shapes.concat, "JOIN"),
    "DepthToSpace": Row(shapes.depth_to_space, "DEPTH_TO_SPACE1"),
    "Dropout": Row(shapes.dropout, "IDENTITY FILL_VALUE_CONSTANT"),
    "Expand": _view(shapes.expand),
    "Flatten": _view(shapes.flatten),
    "Pad": Row(shapes.pad, "PADDING1"),
    "Reshape": _view(shapes.reshape),
    "ReverseSequence": Row(shapes.reverse_sequence, "REVERSE_SUBSEQUENCES CAST"),
    "Shape": _view(shapes.shape_of),
    "Size": _view(shapes.size_of),
    "Slice": _view(shapes.sliced),
    "SpaceToDepth": Row(shapes.space_to_depth, "SPACE_TO_DEPTH1"),
    "Split": _view(shapes.split),
    "Squeeze": _view(shapes.squeeze),
    "Tile": Row(shapes.tile, "TILE"),
    "Transpose": _view(shapes.transpose),
    "Unsqueeze": _view(shapes.unsqueeze),
    # Expanded, as ONNX defines, into other nodes of this table.
    "AffineGrid": Row(None, kinds=("float16", "float")),
    "BlackmanWindow": Row(None),
    "CenterCropPad": Row(None, check=layers.crop_checks),
    "HammingWindow": Row(None),
    "HannWindow": Row(None),
    "Mish": Row(None, "SOFTPLUS TANH MULTIPLY", kinds=functions.ROUNDED),
    "NegativeLogLikelihoodLoss": Row(None),
    "SoftmaxCrossEntropyLoss": Row(None),
    "SwiGLU": Row(None, kinds=functions.ROUNDED),
}
# Nodes that need an operator that is not built are rejected like other unsupported nodes.
NODES = {op: row for op, row in _NODES.items() if _is_built(row)}
