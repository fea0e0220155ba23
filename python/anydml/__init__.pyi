# SPDX-License-Identifier: MIT
from typing import TypedDict

from ._device_array import DeviceArray as DeviceArray, to_device as to_device
from ._graphs import Graph as Graph, graph as graph
from ._matmul import matmul as matmul
from ._numpy import (concat as concat, concatenate as concatenate, cumprod as cumprod, cumsum as cumsum, equal as
                     equal, greater as greater, greater_equal as greater_equal, isinf as isinf, isnan as isnan, less
                     as less, less_equal as less_equal, maximum as maximum, mean as mean, minimum as minimum,
                     not_equal as not_equal, prod as prod, where as where, max as max, min as min, sum as sum)
from ._operators import *
from ._operators import (abs as abs, pow as pow)
from ._run import Compiled as Compiled, Operator as Operator, compile as compile, run as run
from ._symbols import Symbol as Symbol
from ._ufuncs import _UfuncOfTwo

__version__: str
numerics_version: int
# Names of Python builtins are left out. data/python/generate_python.py generates everything after the version.
__all__ = ["modulus_floor", "modulus_truncate", "run", "graph", "Compiled", "Graph", "Operator", "Symbol", "adapters",
           "matmul", "operators", "DeviceArray", "to_device", "numerics_version", "concat", "concatenate", "cumprod",
           "cumsum", "equal", "greater", "greater_equal", "isinf", "isnan", "less", "less_equal", "maximum", "mean",
           "minimum", "not_equal", "prod", "where", "__version__", "acos", "acosh", "activation_identity",
           "activation_tanh", "adam_optimizer", "add", "add1", "argmax", "argmin", "asin", "asinh", "atan", "atan_yx",
           "atanh", "average_pooling", "average_pooling1", "average_pooling_grad", "batch_normalization",
           "batch_normalization_grad", "batch_normalization_training", "batch_normalization_training_grad", "bit_and",
           "bit_count", "bit_not", "bit_or", "bit_shift_left", "bit_shift_right", "bit_xor", "cast", "ceil", "celu",
           "clip", "clip1", "clip_grad", "clip_grad1", "constant_pow", "convolution", "convolution_integer", "cos",
           "cosh", "cumulative_product", "cumulative_summation", "depth_to_space", "depth_to_space1", "dequantize",
           "dequantize_linear", "diagonal_matrix", "diagonal_matrix1", "difference_square", "divide",
           "dynamic_quantize_linear", "element_wise_identity", "element_wise_if", "element_wise_max",
           "element_wise_mean", "element_wise_min", "element_wise_round", "elu", "erf", "exp", "fill_value_constant",
           "fill_value_sequence", "floor", "fold", "gather", "gather_elements", "gather_nd", "gather_nd1", "gelu",
           "gemm", "gru", "hard_sigmoid", "hard_swish", "hardmax", "hardmax1", "is_infinity", "is_nan", "join",
           "leaky_relu", "linear", "local_response_normalization", "local_response_normalization_grad", "log",
           "log_softmax", "log_softmax1", "logical_and", "logical_equals", "logical_greater_than",
           "logical_greater_than_or_equal", "logical_less_than", "logical_less_than_or_equal", "logical_not",
           "logical_or", "logical_xor", "lp_normalization", "lp_pooling", "lp_pooling1", "lstm",
           "matrix_multiply_integer", "matrix_multiply_integer_to_float", "max_pooling", "max_pooling1", "max_pooling2",
           "max_pooling_grad", "max_unpooling", "mean_variance_normalization", "mean_variance_normalization1",
           "mean_variance_normalization2", "multihead_attention", "multihead_attention1", "multiply", "negate",
           "nonzero_coordinates", "one_hot", "padding", "padding1", "parameterized_relu", "parametric_softplus",
           "quantize", "quantize_linear", "quantized_linear_add", "quantized_linear_average_pooling",
           "quantized_linear_convolution", "quantized_linear_matrix_multiply", "random_generator", "recip", "reduce",
           "relu", "relu_grad", "resample", "resample1", "resample2", "resample3", "resample_grad", "resample_grad1",
           "reverse_subsequences", "rnn", "roi_align", "roi_align1", "roi_align_grad", "roi_pooling", "scaled_elu",
           "scaled_tanh", "scatter_elements", "scatter_nd", "shrink", "sigmoid", "sign", "sin", "sinh", "slice1",
           "slice_", "slice_grad", "softmax", "softmax1", "softplus", "softsign", "space_to_depth", "space_to_depth1",
           "split", "sqrt", "subtract", "swish", "tan", "tanh", "threshold", "thresholded_relu", "tile", "top_k",
           "top_k1", "unfold", "upsample_2d", "value_scale_2d"]

class _Adapter(TypedDict):
    name: str
    description: str
    memory_bytes: int
    threads: int

class _OperatorInfo(TypedDict):
    name: str
    number: int
    feature_level: str
    formula: str
    built: bool
    inputs: int
    types: list[str]

modulus_floor: _UfuncOfTwo
modulus_truncate: _UfuncOfTwo

def adapters() -> list[_Adapter]: ...
def operators(built: bool | None = None) -> list[_OperatorInfo]: ...
