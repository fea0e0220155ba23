# SPDX-License-Identifier: MIT
# Made by data/python/generate_python.py, as _operators.py is.
from collections.abc import Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ._run import (Operator, _Array, _DType, _DTypeOf, _Element, _Library, _Number, _NumPys, _Operand, _Out, _Shape,
                   _Typed)
from ._ufuncs import _UfuncOfOne, _UfuncOfTwo

__all__ = ["acos", "acosh", "activation_identity", "activation_tanh", "adam_optimizer", "add", "add1", "argmax",
           "argmin", "asin", "asinh", "atan", "atan_yx", "atanh", "average_pooling", "average_pooling1",
           "average_pooling_grad", "batch_normalization", "batch_normalization_grad", "batch_normalization_training",
           "batch_normalization_training_grad", "bit_and", "bit_count", "bit_not", "bit_or", "bit_shift_left",
           "bit_shift_right", "bit_xor", "cast", "ceil", "celu", "clip", "clip1", "clip_grad", "clip_grad1",
           "constant_pow", "convolution", "convolution_integer", "cos", "cosh", "cumulative_product",
           "cumulative_summation", "depth_to_space", "depth_to_space1", "dequantize", "dequantize_linear",
           "diagonal_matrix", "diagonal_matrix1", "difference_square", "divide", "dynamic_quantize_linear",
           "element_wise_identity", "element_wise_if", "element_wise_max", "element_wise_mean", "element_wise_min",
           "element_wise_round", "elu", "erf", "exp", "fill_value_constant", "fill_value_sequence", "floor", "fold",
           "gather", "gather_elements", "gather_nd", "gather_nd1", "gelu", "gemm", "gru", "hard_sigmoid", "hard_swish",
           "hardmax", "hardmax1", "is_infinity", "is_nan", "join", "leaky_relu", "linear",
           "local_response_normalization", "local_response_normalization_grad", "log", "log_softmax", "log_softmax1",
           "logical_and", "logical_equals", "logical_greater_than", "logical_greater_than_or_equal",
           "logical_less_than", "logical_less_than_or_equal", "logical_not", "logical_or", "logical_xor",
           "lp_normalization", "lp_pooling", "lp_pooling1", "lstm", "matrix_multiply_integer",
           "matrix_multiply_integer_to_float", "max_pooling", "max_pooling1", "max_pooling2", "max_pooling_grad",
           "max_unpooling", "mean_variance_normalization", "mean_variance_normalization1",
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
SHADOWING = ["abs", "pow"]

@overload
def element_wise_identity(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None,
                          out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_identity(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None,
                          out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_identity(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None,
                          out: None = None, device: str | None = None) -> _Library: ...
@overload
def element_wise_identity(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
                          device: str | None = None) -> _Out: ...

@overload
def abs(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
        device: str | None = None) -> NDArray[_Element]: ...
@overload
def abs(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
        device: str | None = None) -> _Array: ...
@overload
def abs(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
        device: str | None = None) -> _Library: ...
@overload
def abs(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
        device: str | None = None) -> _Out: ...

acos: _UfuncOfOne

@overload
def add(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def add(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
        device: str | None = None) -> NDArray[_Element]: ...
@overload
def add(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def add(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
        device: str | None = None) -> _Library: ...
@overload
def add(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

asin: _UfuncOfOne

atan: _UfuncOfOne

@overload
def ceil(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def ceil(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> _Array: ...
@overload
def ceil(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> _Library: ...
@overload
def ceil(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
         device: str | None = None) -> _Out: ...

@overload
def clip(input: _Typed[_Element], /, min: _Number | None = None, max: _Number | None = None, *,
         scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def clip(input: _NumPys, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
         bias: _Number | None = None, out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip(input: _Library, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
         bias: _Number | None = None, out: None = None, device: str | None = None) -> _Library: ...
@overload
def clip(input: _Operand, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
         bias: _Number | None = None, out: _Out, device: str | None = None) -> _Out: ...

cos: _UfuncOfOne

@overload
def divide(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def divide(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def divide(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def divide(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
           device: str | None = None) -> _Library: ...
@overload
def divide(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

exp: _UfuncOfOne

@overload
def floor(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> NDArray[_Element]: ...
@overload
def floor(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> _Array: ...
@overload
def floor(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> _Library: ...
@overload
def floor(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
          device: str | None = None) -> _Out: ...

log: _UfuncOfOne

@overload
def logical_and(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_and(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_and(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_and(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                device: str | None = None) -> _Library: ...
@overload
def logical_and(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def logical_equals(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: None = None,
                   device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def logical_equals(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
                   device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_equals(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DType,
                   device: str | None = None) -> _Array: ...
@overload
def logical_equals(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                   dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def logical_equals(a: _Operand, b: _Operand, /, *, out: _Out, dtype: None = None,
                   device: str | None = None) -> _Out: ...

@overload
def logical_greater_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: None = None,
                         device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def logical_greater_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
                         device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_greater_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DType,
                         device: str | None = None) -> _Array: ...
@overload
def logical_greater_than(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                         dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def logical_greater_than(a: _Operand, b: _Operand, /, *, out: _Out, dtype: None = None,
                         device: str | None = None) -> _Out: ...

@overload
def logical_less_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: None = None,
                      device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def logical_less_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
                      device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_less_than(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DType,
                      device: str | None = None) -> _Array: ...
@overload
def logical_less_than(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                      dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def logical_less_than(a: _Operand, b: _Operand, /, *, out: _Out, dtype: None = None,
                      device: str | None = None) -> _Out: ...

@overload
def logical_not(input: _Typed[_Element], /, *, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_not(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_not(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def logical_not(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def logical_or(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_or(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
               device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_or(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_or(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
               device: str | None = None) -> _Library: ...
@overload
def logical_or(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def logical_xor(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_xor(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_xor(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def logical_xor(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                device: str | None = None) -> _Library: ...
@overload
def logical_xor(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def element_wise_max(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_max(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_max(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_max(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                     device: str | None = None) -> _Library: ...
@overload
def element_wise_max(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def element_wise_mean(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_mean(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                      device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_mean(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_mean(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                      device: str | None = None) -> _Library: ...
@overload
def element_wise_mean(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def element_wise_min(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_min(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_min(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_min(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                     device: str | None = None) -> _Library: ...
@overload
def element_wise_min(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def multiply(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def multiply(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def multiply(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def multiply(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
             device: str | None = None) -> _Library: ...
@overload
def multiply(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

pow: _UfuncOfTwo

@overload
def constant_pow(input: _Typed[_Element], /, *, exponent: _Number, scale: _Number | None = None,
                 bias: _Number | None = None, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def constant_pow(input: _NumPys, /, *, exponent: _Number, scale: _Number | None = None, bias: _Number | None = None,
                 out: None = None, device: str | None = None) -> _Array: ...
@overload
def constant_pow(input: _Library, /, *, exponent: _Number, scale: _Number | None = None, bias: _Number | None = None,
                 out: None = None, device: str | None = None) -> _Library: ...
@overload
def constant_pow(input: _Operand, /, *, exponent: _Number, scale: _Number | None = None, bias: _Number | None = None,
                 out: _Out, device: str | None = None) -> _Out: ...

@overload
def recip(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> NDArray[_Element]: ...
@overload
def recip(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> _Array: ...
@overload
def recip(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> _Library: ...
@overload
def recip(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
          device: str | None = None) -> _Out: ...

sin: _UfuncOfOne

@overload
def sqrt(input: _Typed[_Element], /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def sqrt(input: _NumPys, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> _Array: ...
@overload
def sqrt(input: _Library, /, *, scale: _Number | None = None, bias: _Number | None = None, out: None = None,
         device: str | None = None) -> _Library: ...
@overload
def sqrt(input: _Operand, /, *, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
         device: str | None = None) -> _Out: ...

@overload
def subtract(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def subtract(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def subtract(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def subtract(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
             device: str | None = None) -> _Library: ...
@overload
def subtract(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

tan: _UfuncOfOne

@overload
def threshold(input: _Typed[_Element], /, *, min: _Number, scale: _Number | None = None, bias: _Number | None = None,
              out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def threshold(input: _NumPys, /, *, min: _Number, scale: _Number | None = None, bias: _Number | None = None,
              out: None = None, device: str | None = None) -> _Array: ...
@overload
def threshold(input: _Library, /, *, min: _Number, scale: _Number | None = None, bias: _Number | None = None,
              out: None = None, device: str | None = None) -> _Library: ...
@overload
def threshold(input: _Operand, /, *, min: _Number, scale: _Number | None = None, bias: _Number | None = None, out: _Out,
              device: str | None = None) -> _Out: ...

@overload
def quantize_linear(input: _NumPys, scale: _NumPys, /, zero_point: _Typed[_Element], *, out: None = None,
                    dtype: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantize_linear(input: _NumPys, scale: _NumPys, /, zero_point: _NumPys | None = None, *, out: None = None,
                    dtype: _DTypeOf[_Element], device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantize_linear(input: _NumPys, scale: _NumPys, /, zero_point: _NumPys | None = None, *, out: None = None,
                    dtype: _DType, device: str | None = None) -> _Array: ...
@overload
def quantize_linear(input: _Library | _Array | float, scale: _Library | _Array | float, /,
                    zero_point: _Library | _Array | float | None = None, *, out: None = None,
                    dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def quantize_linear(input: _Operand, scale: _Operand, /, zero_point: _Operand | None = None, *, out: _Out,
                    dtype: None = None, device: str | None = None) -> _Out: ...

@overload
def dequantize_linear(input: _NumPys, scale: _Typed[_Element], /, zero_point: _NumPys | None = None, *,
                      out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def dequantize_linear(input: _NumPys, scale: _NumPys, /, zero_point: _NumPys | None = None, *, out: None = None,
                      device: str | None = None) -> _Array: ...
@overload
def dequantize_linear(input: _Library | _Array | float, scale: _Library | _Array | float, /,
                      zero_point: _Library | _Array | float | None = None, *, out: None = None,
                      device: str | None = None) -> _Library: ...
@overload
def dequantize_linear(input: _Operand, scale: _Operand, /, zero_point: _Operand | None = None, *, out: _Out,
                      device: str | None = None) -> _Out: ...

@overload
def elu(input: _Typed[_Element], /, *, alpha: _Number = 1.0, out: None = None,
        device: str | None = None) -> NDArray[_Element]: ...
@overload
def elu(input: _NumPys, /, *, alpha: _Number = 1.0, out: None = None, device: str | None = None) -> _Array: ...
@overload
def elu(input: _Library, /, *, alpha: _Number = 1.0, out: None = None, device: str | None = None) -> _Library: ...
@overload
def elu(input: _Operand, /, *, alpha: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

@overload
def hardmax(input: _Typed[_Element], /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
            out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def hardmax(input: _NumPys, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            device: str | None = None) -> _Array: ...
@overload
def hardmax(input: _Library, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            device: str | None = None) -> _Library: ...
@overload
def hardmax(input: _Operand, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out,
            device: str | None = None) -> _Out: ...

@overload
def hard_sigmoid(input: _Typed[_Element], /, *, alpha: _Number = 0.2, beta: _Number = 0.5, out: None = None,
                 device: str | None = None) -> NDArray[_Element]: ...
@overload
def hard_sigmoid(input: _NumPys, /, *, alpha: _Number = 0.2, beta: _Number = 0.5, out: None = None,
                 device: str | None = None) -> _Array: ...
@overload
def hard_sigmoid(input: _Library, /, *, alpha: _Number = 0.2, beta: _Number = 0.5, out: None = None,
                 device: str | None = None) -> _Library: ...
@overload
def hard_sigmoid(input: _Operand, /, *, alpha: _Number = 0.2, beta: _Number = 0.5, out: _Out,
                 device: str | None = None) -> _Out: ...

@overload
def activation_identity(input: _Typed[_Element], /, *, out: None = None,
                        device: str | None = None) -> NDArray[_Element]: ...
@overload
def activation_identity(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def activation_identity(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def activation_identity(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def leaky_relu(input: _Typed[_Element], /, *, alpha: _Number = 0.01, out: None = None,
               device: str | None = None) -> NDArray[_Element]: ...
@overload
def leaky_relu(input: _NumPys, /, *, alpha: _Number = 0.01, out: None = None, device: str | None = None) -> _Array: ...
@overload
def leaky_relu(input: _Library, /, *, alpha: _Number = 0.01, out: None = None,
               device: str | None = None) -> _Library: ...
@overload
def leaky_relu(input: _Operand, /, *, alpha: _Number = 0.01, out: _Out, device: str | None = None) -> _Out: ...

@overload
def linear(input: _Typed[_Element], /, *, alpha: _Number = 1.0, beta: _Number = 0.0, out: None = None,
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def linear(input: _NumPys, /, *, alpha: _Number = 1.0, beta: _Number = 0.0, out: None = None,
           device: str | None = None) -> _Array: ...
@overload
def linear(input: _Library, /, *, alpha: _Number = 1.0, beta: _Number = 0.0, out: None = None,
           device: str | None = None) -> _Library: ...
@overload
def linear(input: _Operand, /, *, alpha: _Number = 1.0, beta: _Number = 0.0, out: _Out,
           device: str | None = None) -> _Out: ...

@overload
def log_softmax(input: _Typed[_Element], /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
                out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def log_softmax(input: _NumPys, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                device: str | None = None) -> _Array: ...
@overload
def log_softmax(input: _Library, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                device: str | None = None) -> _Library: ...
@overload
def log_softmax(input: _Operand, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out,
                device: str | None = None) -> _Out: ...

@overload
def parameterized_relu(input: float, slope: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def parameterized_relu(input: _Typed[_Element] | float, slope: _Typed[_Element] | float, /, *, out: None = None,
                       device: str | None = None) -> NDArray[_Element]: ...
@overload
def parameterized_relu(input: _NumPys, slope: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def parameterized_relu(input: _Library | _Array | float, slope: _Library | _Array | float, /, *, out: None = None,
                       device: str | None = None) -> _Library: ...
@overload
def parameterized_relu(input: _Operand, slope: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def parametric_softplus(input: _Typed[_Element], /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                        device: str | None = None) -> NDArray[_Element]: ...
@overload
def parametric_softplus(input: _NumPys, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                        device: str | None = None) -> _Array: ...
@overload
def parametric_softplus(input: _Library, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                        device: str | None = None) -> _Library: ...
@overload
def parametric_softplus(input: _Operand, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: _Out,
                        device: str | None = None) -> _Out: ...

@overload
def relu(input: _Typed[_Element], /, *, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def relu(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def relu(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def relu(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def scaled_elu(input: _Typed[_Element], /, *, alpha: _Number = 1.6732632423543772, gamma: _Number = 1.0507009873554805,
               out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def scaled_elu(input: _NumPys, /, *, alpha: _Number = 1.6732632423543772, gamma: _Number = 1.0507009873554805,
               out: None = None, device: str | None = None) -> _Array: ...
@overload
def scaled_elu(input: _Library, /, *, alpha: _Number = 1.6732632423543772, gamma: _Number = 1.0507009873554805,
               out: None = None, device: str | None = None) -> _Library: ...
@overload
def scaled_elu(input: _Operand, /, *, alpha: _Number = 1.6732632423543772, gamma: _Number = 1.0507009873554805,
               out: _Out, device: str | None = None) -> _Out: ...

@overload
def scaled_tanh(input: _Typed[_Element], /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                device: str | None = None) -> NDArray[_Element]: ...
@overload
def scaled_tanh(input: _NumPys, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                device: str | None = None) -> _Array: ...
@overload
def scaled_tanh(input: _Library, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: None = None,
                device: str | None = None) -> _Library: ...
@overload
def scaled_tanh(input: _Operand, /, *, alpha: _Number = 1.0, beta: _Number = 1.0, out: _Out,
                device: str | None = None) -> _Out: ...

sigmoid: _UfuncOfOne

@overload
def softmax(input: _Typed[_Element], /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
            out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def softmax(input: _NumPys, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            device: str | None = None) -> _Array: ...
@overload
def softmax(input: _Library, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            device: str | None = None) -> _Library: ...
@overload
def softmax(input: _Operand, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out,
            device: str | None = None) -> _Out: ...

@overload
def softplus(input: _Typed[_Element], /, *, steepness: _Number = 1.0, out: None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def softplus(input: _NumPys, /, *, steepness: _Number = 1.0, out: None = None, device: str | None = None) -> _Array: ...
@overload
def softplus(input: _Library, /, *, steepness: _Number = 1.0, out: None = None,
             device: str | None = None) -> _Library: ...
@overload
def softplus(input: _Operand, /, *, steepness: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

softsign: _UfuncOfOne

activation_tanh: _UfuncOfOne

@overload
def thresholded_relu(input: _Typed[_Element], /, *, alpha: _Number = 1.0, out: None = None,
                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def thresholded_relu(input: _NumPys, /, *, alpha: _Number = 1.0, out: None = None,
                     device: str | None = None) -> _Array: ...
@overload
def thresholded_relu(input: _Library, /, *, alpha: _Number = 1.0, out: None = None,
                     device: str | None = None) -> _Library: ...
@overload
def thresholded_relu(input: _Operand, /, *, alpha: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

@overload
def convolution(input: float, filter: float, /, bias: float | None = None, *,
                mode: str | SupportsIndex = 'CROSS_CORRELATION', direction: str | SupportsIndex = 'FORWARD',
                strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                output_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, group_count: SupportsIndex = 1,
                fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> _Array: ...
@overload
def convolution(input: _Typed[_Element] | float, filter: _Typed[_Element] | float, /, bias: _Typed[_Element] | float, *,
                mode: str | SupportsIndex = 'CROSS_CORRELATION', direction: str | SupportsIndex = 'FORWARD',
                strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                output_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, group_count: SupportsIndex = 1,
                fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> NDArray[_Element]: ...
@overload
def convolution(input: _NumPys, filter: _NumPys, /, bias: _NumPys | None = None, *,
                mode: str | SupportsIndex = 'CROSS_CORRELATION', direction: str | SupportsIndex = 'FORWARD',
                strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                output_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, group_count: SupportsIndex = 1,
                fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> _Array: ...
@overload
def convolution(input: _Library | _Array | float, filter: _Library | _Array | float, /,
                bias: _Library | _Array | float | None = None, *, mode: str | SupportsIndex = 'CROSS_CORRELATION',
                direction: str | SupportsIndex = 'FORWARD',
                strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                output_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, group_count: SupportsIndex = 1,
                fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> _Library: ...
@overload
def convolution(input: _Operand, filter: _Operand, /, bias: _Operand | None = None, *,
                mode: str | SupportsIndex = 'CROSS_CORRELATION', direction: str | SupportsIndex = 'FORWARD',
                strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                output_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, group_count: SupportsIndex = 1,
                fused_activation: Operator | None = None, out: _Out, shape: None = None,
                device: str | None = None) -> _Out: ...

@overload
def gemm(a: float, b: float, /, c: float | None = None, *, trans_a: str | SupportsIndex = 'NONE',
         trans_b: str | SupportsIndex = 'NONE', alpha: _Number = 1.0, beta: _Number = 1.0,
         fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> _Array: ...
@overload
def gemm(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, c: _Typed[_Element] | float, *,
         trans_a: str | SupportsIndex = 'NONE', trans_b: str | SupportsIndex = 'NONE', alpha: _Number = 1.0,
         beta: _Number = 1.0, fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def gemm(a: _NumPys, b: _NumPys, /, c: _NumPys | None = None, *, trans_a: str | SupportsIndex = 'NONE',
         trans_b: str | SupportsIndex = 'NONE', alpha: _Number = 1.0, beta: _Number = 1.0,
         fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> _Array: ...
@overload
def gemm(a: _Library | _Array | float, b: _Library | _Array | float, /, c: _Library | _Array | float | None = None, *,
         trans_a: str | SupportsIndex = 'NONE', trans_b: str | SupportsIndex = 'NONE', alpha: _Number = 1.0,
         beta: _Number = 1.0, fused_activation: Operator | None = None, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> _Library: ...
@overload
def gemm(a: _Operand, b: _Operand, /, c: _Operand | None = None, *, trans_a: str | SupportsIndex = 'NONE',
         trans_b: str | SupportsIndex = 'NONE', alpha: _Number = 1.0, beta: _Number = 1.0,
         fused_activation: Operator | None = None, out: _Out, shape: None = None,
         device: str | None = None) -> _Out: ...

@overload
def reduce(input: _Typed[_Element], /, *, function: str | SupportsIndex,
           axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def reduce(input: _NumPys, /, *, function: str | SupportsIndex,
           axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DTypeOf[_Element], shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def reduce(input: _NumPys, /, *, function: str | SupportsIndex,
           axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType | None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def reduce(input: _Library, /, *, function: str | SupportsIndex,
           axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType | None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def reduce(input: _Operand, /, *, function: str | SupportsIndex,
           axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: _Out,
           dtype: None = None, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def average_pooling(input: _Typed[_Element], /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    window_size: SupportsIndex | Sequence[SupportsIndex],
                    start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def average_pooling(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    window_size: SupportsIndex | Sequence[SupportsIndex],
                    start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def average_pooling(input: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    window_size: SupportsIndex | Sequence[SupportsIndex],
                    start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def average_pooling(input: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    window_size: SupportsIndex | Sequence[SupportsIndex],
                    start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                    end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                    out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def lp_pooling(input: _Typed[_Element], /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
               window_size: SupportsIndex | Sequence[SupportsIndex],
               start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
               end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
               out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def lp_pooling(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
               window_size: SupportsIndex | Sequence[SupportsIndex],
               start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
               end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
               out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def lp_pooling(input: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
               window_size: SupportsIndex | Sequence[SupportsIndex],
               start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
               end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
               out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def lp_pooling(input: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
               window_size: SupportsIndex | Sequence[SupportsIndex],
               start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
               end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2, out: _Out,
               shape: None = None, device: str | None = None) -> _Out: ...

@overload
def max_pooling(input: _Typed[_Element], /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def max_pooling(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def max_pooling(input: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def max_pooling(input: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, shape: None = None,
                device: str | None = None) -> _Out: ...

@overload
def roi_pooling(input: float, roi: float, /, *, spatial_scale: _Number = 1.0, pooled_size: Sequence[SupportsIndex],
                out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def roi_pooling(input: _Typed[_Element] | float, roi: _Typed[_Element] | float, /, *, spatial_scale: _Number = 1.0,
                pooled_size: Sequence[SupportsIndex], out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> NDArray[_Element]: ...
@overload
def roi_pooling(input: _NumPys, roi: _NumPys, /, *, spatial_scale: _Number = 1.0, pooled_size: Sequence[SupportsIndex],
                out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def roi_pooling(input: _Library | _Array | float, roi: _Library | _Array | float, /, *, spatial_scale: _Number = 1.0,
                pooled_size: Sequence[SupportsIndex], out: None = None, shape: _Shape | None = None,
                device: str | None = None) -> _Library: ...
@overload
def roi_pooling(input: _Operand, roi: _Operand, /, *, spatial_scale: _Number = 1.0,
                pooled_size: Sequence[SupportsIndex], out: _Out, shape: None = None,
                device: str | None = None) -> _Out: ...

@overload
def slice_(input: _Typed[_Element], /, *, offsets: Sequence[SupportsIndex], sizes: Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
           shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def slice_(input: _NumPys, /, *, offsets: Sequence[SupportsIndex], sizes: Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
           shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def slice_(input: _Library, /, *, offsets: Sequence[SupportsIndex], sizes: Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
           shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def slice_(input: _Operand, /, *, offsets: Sequence[SupportsIndex], sizes: Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, shape: None = None,
           device: str | None = None) -> _Out: ...

@overload
def cast(input: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def cast(input: _NumPys, /, *, out: None = None, dtype: _DType, device: str | None = None) -> _Array: ...
@overload
def cast(input: _Library, /, *, out: None = None, dtype: _DType, device: str | None = None) -> _Library: ...
@overload
def cast(input: _Operand, /, *, out: _Out, dtype: None = None, device: str | None = None) -> _Out: ...

@overload
def split(input: _NumPys, /, *, axis: SupportsIndex = 0, out: Sequence[_Array | bool | None] | None = None,
          shape: Sequence[_Shape | None] | None = None, device: str | None = None) -> tuple[_Array, ...]: ...
@overload
def split(input: _Library | _Array | float, /, *, axis: SupportsIndex = 0,
          out: Sequence[_Library | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
          device: str | None = None) -> tuple[_Library, ...]: ...

@overload
def join(inputs: Sequence[_Typed[_Element]], /, *, axis: SupportsIndex = 0, out: None = None,
         shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def join(inputs: Sequence[_NumPys], /, *, axis: SupportsIndex = 0, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> _Array: ...
@overload
def join(inputs: Sequence[_Library], /, *, axis: SupportsIndex = 0, out: None = None, shape: _Shape | None = None,
         device: str | None = None) -> _Library: ...
@overload
def join(inputs: Sequence[_Operand], /, *, axis: SupportsIndex = 0, out: _Out, shape: None = None,
         device: str | None = None) -> _Out: ...

@overload
def padding(input: _Typed[_Element], /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
            start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
            end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def padding(input: _NumPys, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
            start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
            end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def padding(input: _Library, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
            start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
            end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
            shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def padding(input: _Operand, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
            start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
            end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, shape: None = None,
            device: str | None = None) -> _Out: ...

@overload
def value_scale_2d(input: _Typed[_Element], /, *, scale: _Number = 1.0, bias: Sequence[_Number] | None = None,
                   out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def value_scale_2d(input: _NumPys, /, *, scale: _Number = 1.0, bias: Sequence[_Number] | None = None, out: None = None,
                   device: str | None = None) -> _Array: ...
@overload
def value_scale_2d(input: _Library, /, *, scale: _Number = 1.0, bias: Sequence[_Number] | None = None, out: None = None,
                   device: str | None = None) -> _Library: ...
@overload
def value_scale_2d(input: _Operand, /, *, scale: _Number = 1.0, bias: Sequence[_Number] | None = None, out: _Out,
                   device: str | None = None) -> _Out: ...

@overload
def upsample_2d(input: _Typed[_Element], /, *, scale_size: Sequence[SupportsIndex],
                interpolation_mode: str | SupportsIndex = 'NEAREST_NEIGHBOR', out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def upsample_2d(input: _NumPys, /, *, scale_size: Sequence[SupportsIndex],
                interpolation_mode: str | SupportsIndex = 'NEAREST_NEIGHBOR', out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def upsample_2d(input: _Library, /, *, scale_size: Sequence[SupportsIndex],
                interpolation_mode: str | SupportsIndex = 'NEAREST_NEIGHBOR', out: None = None,
                shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def upsample_2d(input: _Operand, /, *, scale_size: Sequence[SupportsIndex],
                interpolation_mode: str | SupportsIndex = 'NEAREST_NEIGHBOR', out: _Out, shape: None = None,
                device: str | None = None) -> _Out: ...

@overload
def gather(input: _Typed[_Element], indices: _NumPys, /, *, axis: SupportsIndex = 0,
           index_dimensions: SupportsIndex | None = None, out: None = None, shape: _Shape | None = None,
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def gather(input: _NumPys, indices: _NumPys, /, *, axis: SupportsIndex = 0,
           index_dimensions: SupportsIndex | None = None, out: None = None, shape: _Shape | None = None,
           device: str | None = None) -> _Array: ...
@overload
def gather(input: _Library | _Array | float, indices: _Library | _Array | float, /, *, axis: SupportsIndex = 0,
           index_dimensions: SupportsIndex | None = None, out: None = None, shape: _Shape | None = None,
           device: str | None = None) -> _Library: ...
@overload
def gather(input: _Operand, indices: _Operand, /, *, axis: SupportsIndex = 0,
           index_dimensions: SupportsIndex | None = None, out: _Out, shape: None = None,
           device: str | None = None) -> _Out: ...

@overload
def space_to_depth(input: _Typed[_Element], /, *, block_size: SupportsIndex, out: None = None,
                   shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def space_to_depth(input: _NumPys, /, *, block_size: SupportsIndex, out: None = None, shape: _Shape | None = None,
                   device: str | None = None) -> _Array: ...
@overload
def space_to_depth(input: _Library, /, *, block_size: SupportsIndex, out: None = None, shape: _Shape | None = None,
                   device: str | None = None) -> _Library: ...
@overload
def space_to_depth(input: _Operand, /, *, block_size: SupportsIndex, out: _Out, shape: None = None,
                   device: str | None = None) -> _Out: ...

@overload
def depth_to_space(input: _Typed[_Element], /, *, block_size: SupportsIndex, out: None = None,
                   shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def depth_to_space(input: _NumPys, /, *, block_size: SupportsIndex, out: None = None, shape: _Shape | None = None,
                   device: str | None = None) -> _Array: ...
@overload
def depth_to_space(input: _Library, /, *, block_size: SupportsIndex, out: None = None, shape: _Shape | None = None,
                   device: str | None = None) -> _Library: ...
@overload
def depth_to_space(input: _Operand, /, *, block_size: SupportsIndex, out: _Out, shape: None = None,
                   device: str | None = None) -> _Out: ...

@overload
def tile(input: _Typed[_Element], /, repeats: SupportsIndex | Sequence[SupportsIndex], *, out: None = None,
         shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def tile(input: _NumPys, /, repeats: SupportsIndex | Sequence[SupportsIndex], *, out: None = None,
         shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def tile(input: _Library, /, repeats: SupportsIndex | Sequence[SupportsIndex], *, out: None = None,
         shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def tile(input: _Operand, /, repeats: SupportsIndex | Sequence[SupportsIndex], *, out: _Out, shape: None = None,
         device: str | None = None) -> _Out: ...

@overload
def top_k(input: _NumPys, /, *, axis: SupportsIndex = -1, k: SupportsIndex,
          out: Sequence[_Array | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
          shape: Sequence[_Shape | None] | None = None, device: str | None = None) -> tuple[_Array, _Array]: ...
@overload
def top_k(input: _Library | _Array | float, /, *, axis: SupportsIndex = -1, k: SupportsIndex,
          out: Sequence[_Library | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
          shape: Sequence[_Shape | None] | None = None, device: str | None = None) -> tuple[_Library, _Library]: ...

@overload
def batch_normalization(input: float, mean: float, variance: float, scale: float, bias: float, /, *,
                        spatial: bool = True, epsilon: _Number = 1e-05, fused_activation: Operator | None = None,
                        out: None = None, device: str | None = None) -> _Array: ...
@overload
def batch_normalization(input: _Typed[_Element] | float, mean: _Typed[_Element] | float,
                        variance: _Typed[_Element] | float, scale: _Typed[_Element] | float,
                        bias: _Typed[_Element] | float, /, *, spatial: bool = True, epsilon: _Number = 1e-05,
                        fused_activation: Operator | None = None, out: None = None,
                        device: str | None = None) -> NDArray[_Element]: ...
@overload
def batch_normalization(input: _NumPys, mean: _NumPys, variance: _NumPys, scale: _NumPys, bias: _NumPys, /, *,
                        spatial: bool = True, epsilon: _Number = 1e-05, fused_activation: Operator | None = None,
                        out: None = None, device: str | None = None) -> _Array: ...
@overload
def batch_normalization(input: _Library | _Array | float, mean: _Library | _Array | float,
                        variance: _Library | _Array | float, scale: _Library | _Array | float,
                        bias: _Library | _Array | float, /, *, spatial: bool = True, epsilon: _Number = 1e-05,
                        fused_activation: Operator | None = None, out: None = None,
                        device: str | None = None) -> _Library: ...
@overload
def batch_normalization(input: _Operand, mean: _Operand, variance: _Operand, scale: _Operand, bias: _Operand, /, *,
                        spatial: bool = True, epsilon: _Number = 1e-05, fused_activation: Operator | None = None,
                        out: _Out, device: str | None = None) -> _Out: ...

@overload
def mean_variance_normalization(input: float, /, scale: float | None = None, bias: float | None = None, *,
                                cross_channel: bool = False, normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                fused_activation: Operator | None = None, out: None = None,
                                device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization(input: _Typed[_Element] | float, /, scale: _Typed[_Element] | float,
                                bias: _Typed[_Element] | float, *, cross_channel: bool = False,
                                normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                fused_activation: Operator | None = None, out: None = None,
                                device: str | None = None) -> NDArray[_Element]: ...
@overload
def mean_variance_normalization(input: _NumPys, /, scale: _NumPys | None = None, bias: _NumPys | None = None, *,
                                cross_channel: bool = False, normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                fused_activation: Operator | None = None, out: None = None,
                                device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization(input: _Library | _Array | float, /, scale: _Library | _Array | float | None = None,
                                bias: _Library | _Array | float | None = None, *, cross_channel: bool = False,
                                normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                fused_activation: Operator | None = None, out: None = None,
                                device: str | None = None) -> _Library: ...
@overload
def mean_variance_normalization(input: _Operand, /, scale: _Operand | None = None, bias: _Operand | None = None, *,
                                cross_channel: bool = False, normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                fused_activation: Operator | None = None, out: _Out,
                                device: str | None = None) -> _Out: ...

@overload
def local_response_normalization(input: _Typed[_Element], /, *, cross_channel: bool = True, local_size: SupportsIndex,
                                 alpha: _Number = 0.0001, beta: _Number = 0.75, bias: _Number = 1.0, out: None = None,
                                 device: str | None = None) -> NDArray[_Element]: ...
@overload
def local_response_normalization(input: _NumPys, /, *, cross_channel: bool = True, local_size: SupportsIndex,
                                 alpha: _Number = 0.0001, beta: _Number = 0.75, bias: _Number = 1.0, out: None = None,
                                 device: str | None = None) -> _Array: ...
@overload
def local_response_normalization(input: _Library, /, *, cross_channel: bool = True, local_size: SupportsIndex,
                                 alpha: _Number = 0.0001, beta: _Number = 0.75, bias: _Number = 1.0, out: None = None,
                                 device: str | None = None) -> _Library: ...
@overload
def local_response_normalization(input: _Operand, /, *, cross_channel: bool = True, local_size: SupportsIndex,
                                 alpha: _Number = 0.0001, beta: _Number = 0.75, bias: _Number = 1.0, out: _Out,
                                 device: str | None = None) -> _Out: ...

@overload
def lp_normalization(input: _Typed[_Element], /, *, axis: SupportsIndex = -1, epsilon: _Number = 1e-05,
                     p: SupportsIndex = 2, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def lp_normalization(input: _NumPys, /, *, axis: SupportsIndex = -1, epsilon: _Number = 1e-05, p: SupportsIndex = 2,
                     out: None = None, device: str | None = None) -> _Array: ...
@overload
def lp_normalization(input: _Library, /, *, axis: SupportsIndex = -1, epsilon: _Number = 1e-05, p: SupportsIndex = 2,
                     out: None = None, device: str | None = None) -> _Library: ...
@overload
def lp_normalization(input: _Operand, /, *, axis: SupportsIndex = -1, epsilon: _Number = 1e-05, p: SupportsIndex = 2,
                     out: _Out, device: str | None = None) -> _Out: ...

@overload
def rnn(input: _NumPys, weight: _NumPys, recurrence: _NumPys, /, bias: _NumPys | None = None,
        hidden_init: _NumPys | None = None, sequence_lengths: _NumPys | None = None, *,
        activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
        out: Sequence[_Array | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
        device: str | None = None) -> tuple[_Array | None, _Array | None]: ...
@overload
def rnn(input: _Library | _Array | float, weight: _Library | _Array | float, recurrence: _Library | _Array | float, /,
        bias: _Library | _Array | float | None = None, hidden_init: _Library | _Array | float | None = None,
        sequence_lengths: _Library | _Array | float | None = None, *,
        activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
        out: Sequence[_Library | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
        device: str | None = None) -> tuple[_Library | None, _Library | None]: ...

@overload
def lstm(input: _NumPys, weight: _NumPys, recurrence: _NumPys, /, bias: _NumPys | None = None,
         hidden_init: _NumPys | None = None, cell_mem_init: _NumPys | None = None,
         sequence_lengths: _NumPys | None = None, peephole: _NumPys | None = None, *,
         activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
         clip_threshold: _Number = 0.0, use_clip_threshold: bool = False, couple_input_forget: bool = False,
         out: Sequence[_Array | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
         device: str | None = None) -> tuple[_Array | None, _Array | None, _Array | None]: ...
@overload
def lstm(input: _Library | _Array | float, weight: _Library | _Array | float, recurrence: _Library | _Array | float, /,
         bias: _Library | _Array | float | None = None, hidden_init: _Library | _Array | float | None = None,
         cell_mem_init: _Library | _Array | float | None = None,
         sequence_lengths: _Library | _Array | float | None = None, peephole: _Library | _Array | float | None = None,
         *, activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
         clip_threshold: _Number = 0.0, use_clip_threshold: bool = False, couple_input_forget: bool = False,
         out: Sequence[_Library | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
         device: str | None = None) -> tuple[_Library | None, _Library | None, _Library | None]: ...

@overload
def gru(input: _NumPys, weight: _NumPys, recurrence: _NumPys, /, bias: _NumPys | None = None,
        hidden_init: _NumPys | None = None, sequence_lengths: _NumPys | None = None, *,
        activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
        linear_before_reset: bool = False, out: Sequence[_Array | bool | None] | None = None,
        shape: Sequence[_Shape | None] | None = None,
        device: str | None = None) -> tuple[_Array | None, _Array | None]: ...
@overload
def gru(input: _Library | _Array | float, weight: _Library | _Array | float, recurrence: _Library | _Array | float, /,
        bias: _Library | _Array | float | None = None, hidden_init: _Library | _Array | float | None = None,
        sequence_lengths: _Library | _Array | float | None = None, *,
        activation_descs: Sequence[Operator] | None = None, direction: str | SupportsIndex = 'FORWARD',
        linear_before_reset: bool = False, out: Sequence[_Library | bool | None] | None = None,
        shape: Sequence[_Shape | None] | None = None,
        device: str | None = None) -> tuple[_Library | None, _Library | None]: ...

@overload
def sign(input: _Typed[_Element], /, *, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def sign(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def sign(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def sign(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def is_nan(input: _NumPys, /, *, out: None = None, dtype: None = None,
           device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def is_nan(input: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def is_nan(input: _NumPys, /, *, out: None = None, dtype: _DType, device: str | None = None) -> _Array: ...
@overload
def is_nan(input: _Library, /, *, out: None = None, dtype: _DType | None = None,
           device: str | None = None) -> _Library: ...
@overload
def is_nan(input: _Operand, /, *, out: _Out, dtype: None = None, device: str | None = None) -> _Out: ...

erf: _UfuncOfOne

sinh: _UfuncOfOne

cosh: _UfuncOfOne

tanh: _UfuncOfOne

asinh: _UfuncOfOne

acosh: _UfuncOfOne

atanh: _UfuncOfOne

@overload
def element_wise_if(condition: _NumPys, a: float, b: float, /, *, out: None = None,
                    device: str | None = None) -> _Array: ...
@overload
def element_wise_if(condition: _NumPys, a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *,
                    out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_if(condition: _NumPys, a: _NumPys, b: _NumPys, /, *, out: None = None,
                    device: str | None = None) -> _Array: ...
@overload
def element_wise_if(condition: _Library | _Array | float, a: _Library | _Array | float, b: _Library | _Array | float, /,
                    *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def element_wise_if(condition: _Operand, a: _Operand, b: _Operand, /, *, out: _Out,
                    device: str | None = None) -> _Out: ...

@overload
def add1(a: float, b: float, /, *, fused_activation: Operator | None = None, out: None = None,
         device: str | None = None) -> _Array: ...
@overload
def add1(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, fused_activation: Operator | None = None,
         out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def add1(a: _NumPys, b: _NumPys, /, *, fused_activation: Operator | None = None, out: None = None,
         device: str | None = None) -> _Array: ...
@overload
def add1(a: _Library | _Array | float, b: _Library | _Array | float, /, *, fused_activation: Operator | None = None,
         out: None = None, device: str | None = None) -> _Library: ...
@overload
def add1(a: _Operand, b: _Operand, /, *, fused_activation: Operator | None = None, out: _Out,
         device: str | None = None) -> _Out: ...

@overload
def shrink(input: _Typed[_Element], /, *, bias: _Number = 0.0, threshold: _Number = 0.5, out: None = None,
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def shrink(input: _NumPys, /, *, bias: _Number = 0.0, threshold: _Number = 0.5, out: None = None,
           device: str | None = None) -> _Array: ...
@overload
def shrink(input: _Library, /, *, bias: _Number = 0.0, threshold: _Number = 0.5, out: None = None,
           device: str | None = None) -> _Library: ...
@overload
def shrink(input: _Operand, /, *, bias: _Number = 0.0, threshold: _Number = 0.5, out: _Out,
           device: str | None = None) -> _Out: ...

@overload
def max_pooling1(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 window_size: SupportsIndex | Sequence[SupportsIndex],
                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 out: Sequence[_Array | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
                 shape: Sequence[_Shape | None] | None = None,
                 device: str | None = None) -> tuple[_Array, _Array | None]: ...
@overload
def max_pooling1(input: _Library | _Array | float, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 window_size: SupportsIndex | Sequence[SupportsIndex],
                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 out: Sequence[_Library | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
                 shape: Sequence[_Shape | None] | None = None,
                 device: str | None = None) -> tuple[_Library, _Library | None]: ...

@overload
def max_unpooling(input: _Typed[_Element], indices: _NumPys, /, *, out: None = None, shape: _Shape,
                  device: str | None = None) -> NDArray[_Element]: ...
@overload
def max_unpooling(input: _NumPys, indices: _NumPys, /, *, out: None = None, shape: _Shape,
                  device: str | None = None) -> _Array: ...
@overload
def max_unpooling(input: _Library | _Array | float, indices: _Library | _Array | float, /, *, out: None = None,
                  shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def max_unpooling(input: _Operand, indices: _Operand, /, *, out: _Out, shape: None = None,
                  device: str | None = None) -> _Out: ...

@overload
def diagonal_matrix(*, offset: SupportsIndex = 0, value: _Number = 1.0, out: None = None, dtype: _DTypeOf[_Element],
                    shape: _Shape, device: str | None = None) -> NDArray[_Element]: ...
@overload
def diagonal_matrix(*, offset: SupportsIndex = 0, value: _Number = 1.0, out: None = None, dtype: _DType, shape: _Shape,
                    device: str | None = None) -> _Array: ...
@overload
def diagonal_matrix(*, offset: SupportsIndex = 0, value: _Number = 1.0, out: _Out, dtype: None = None,
                    shape: None = None, device: str | None = None) -> _Out: ...

@overload
def scatter_elements(input: float, indices: _NumPys, updates: float, /, *, axis: SupportsIndex = -1, out: None = None,
                     device: str | None = None) -> _Array: ...
@overload
def scatter_elements(input: _Typed[_Element] | float, indices: _NumPys, updates: _Typed[_Element] | float, /, *,
                     axis: SupportsIndex = -1, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def scatter_elements(input: _NumPys, indices: _NumPys, updates: _NumPys, /, *, axis: SupportsIndex = -1,
                     out: None = None, device: str | None = None) -> _Array: ...
@overload
def scatter_elements(input: _Library | _Array | float, indices: _Library | _Array | float,
                     updates: _Library | _Array | float, /, *, axis: SupportsIndex = -1, out: None = None,
                     device: str | None = None) -> _Library: ...
@overload
def scatter_elements(input: _Operand, indices: _Operand, updates: _Operand, /, *, axis: SupportsIndex = -1, out: _Out,
                     device: str | None = None) -> _Out: ...

@overload
def one_hot(indices: _NumPys, values: _Typed[_Element], /, *, axis: SupportsIndex = -1, out: None = None, shape: _Shape,
            device: str | None = None) -> NDArray[_Element]: ...
@overload
def one_hot(indices: _NumPys, values: _NumPys, /, *, axis: SupportsIndex = -1, out: None = None, shape: _Shape,
            device: str | None = None) -> _Array: ...
@overload
def one_hot(indices: _Library | _Array | float, values: _Library | _Array | float, /, *, axis: SupportsIndex = -1,
            out: None = None, shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def one_hot(indices: _Operand, values: _Operand, /, *, axis: SupportsIndex = -1, out: _Out, shape: None = None,
            device: str | None = None) -> _Out: ...

@overload
def resample(input: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
             scales: Sequence[_Number] | None = None, out: None = None, shape: _Shape | None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample(input: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
             scales: Sequence[_Number] | None = None, out: None = None, shape: _Shape | None = None,
             device: str | None = None) -> _Array: ...
@overload
def resample(input: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
             scales: Sequence[_Number] | None = None, out: None = None, shape: _Shape | None = None,
             device: str | None = None) -> _Library: ...
@overload
def resample(input: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
             scales: Sequence[_Number] | None = None, out: _Out, shape: None = None,
             device: str | None = None) -> _Out: ...

@overload
def bit_shift_left(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_shift_left(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                   device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_shift_left(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_shift_left(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                   device: str | None = None) -> _Library: ...
@overload
def bit_shift_left(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def bit_shift_right(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_shift_right(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                    device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_shift_right(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_shift_right(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                    device: str | None = None) -> _Library: ...
@overload
def bit_shift_right(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def element_wise_round(input: _Typed[_Element], /, *, rounding_mode: str | SupportsIndex = 'HALVES_TO_NEAREST_EVEN',
                       out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def element_wise_round(input: _NumPys, /, *, rounding_mode: str | SupportsIndex = 'HALVES_TO_NEAREST_EVEN',
                       out: None = None, device: str | None = None) -> _Array: ...
@overload
def element_wise_round(input: _Library, /, *, rounding_mode: str | SupportsIndex = 'HALVES_TO_NEAREST_EVEN',
                       out: None = None, device: str | None = None) -> _Library: ...
@overload
def element_wise_round(input: _Operand, /, *, rounding_mode: str | SupportsIndex = 'HALVES_TO_NEAREST_EVEN', out: _Out,
                       device: str | None = None) -> _Out: ...

@overload
def is_infinity(input: _NumPys, /, *, infinity_mode: str | SupportsIndex = 'EITHER', out: None = None,
                device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def is_infinity(input: _Library, /, *, infinity_mode: str | SupportsIndex = 'EITHER', out: None = None,
                device: str | None = None) -> _Library: ...
@overload
def is_infinity(input: _Operand, /, *, infinity_mode: str | SupportsIndex = 'EITHER', out: _Out,
                device: str | None = None) -> _Out: ...

@overload
def fill_value_constant(*, value: _Number, out: None = None, dtype: _DTypeOf[_Element], shape: _Shape,
                        device: str | None = None) -> NDArray[_Element]: ...
@overload
def fill_value_constant(*, value: _Number, out: None = None, dtype: _DType, shape: _Shape,
                        device: str | None = None) -> _Array: ...
@overload
def fill_value_constant(*, value: _Number, out: _Out, dtype: None = None, shape: None = None,
                        device: str | None = None) -> _Out: ...

@overload
def fill_value_sequence(*, value_start: _Number = 0, value_delta: _Number = 1, out: None = None,
                        dtype: _DTypeOf[_Element], shape: _Shape, device: str | None = None) -> NDArray[_Element]: ...
@overload
def fill_value_sequence(*, value_start: _Number = 0, value_delta: _Number = 1, out: None = None, dtype: _DType,
                        shape: _Shape, device: str | None = None) -> _Array: ...
@overload
def fill_value_sequence(*, value_start: _Number = 0, value_delta: _Number = 1, out: _Out, dtype: None = None,
                        shape: None = None, device: str | None = None) -> _Out: ...

@overload
def cumulative_summation(input: _Typed[_Element], /, *, axis: SupportsIndex = -1,
                         axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_sum: bool = False,
                         out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def cumulative_summation(input: _NumPys, /, *, axis: SupportsIndex = -1,
                         axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_sum: bool = False,
                         out: None = None, device: str | None = None) -> _Array: ...
@overload
def cumulative_summation(input: _Library, /, *, axis: SupportsIndex = -1,
                         axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_sum: bool = False,
                         out: None = None, device: str | None = None) -> _Library: ...
@overload
def cumulative_summation(input: _Operand, /, *, axis: SupportsIndex = -1,
                         axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_sum: bool = False, out: _Out,
                         device: str | None = None) -> _Out: ...

@overload
def reverse_subsequences(input: _Typed[_Element], sequence_lengths: _NumPys, /, *, axis: SupportsIndex,
                         out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def reverse_subsequences(input: _NumPys, sequence_lengths: _NumPys, /, *, axis: SupportsIndex, out: None = None,
                         device: str | None = None) -> _Array: ...
@overload
def reverse_subsequences(input: _Library | _Array | float, sequence_lengths: _Library | _Array | float, /, *,
                         axis: SupportsIndex, out: None = None, device: str | None = None) -> _Library: ...
@overload
def reverse_subsequences(input: _Operand, sequence_lengths: _Operand, /, *, axis: SupportsIndex, out: _Out,
                         device: str | None = None) -> _Out: ...

@overload
def gather_elements(input: _Typed[_Element], indices: _NumPys, /, *, axis: SupportsIndex = -1, out: None = None,
                    device: str | None = None) -> NDArray[_Element]: ...
@overload
def gather_elements(input: _NumPys, indices: _NumPys, /, *, axis: SupportsIndex = -1, out: None = None,
                    device: str | None = None) -> _Array: ...
@overload
def gather_elements(input: _Library | _Array | float, indices: _Library | _Array | float, /, *,
                    axis: SupportsIndex = -1, out: None = None, device: str | None = None) -> _Library: ...
@overload
def gather_elements(input: _Operand, indices: _Operand, /, *, axis: SupportsIndex = -1, out: _Out,
                    device: str | None = None) -> _Out: ...

@overload
def gather_nd(input: _Typed[_Element], indices: _NumPys, /, *, input_dimension_count: SupportsIndex | None = None,
              indices_dimension_count: SupportsIndex | None = None, out: None = None, shape: _Shape | None = None,
              device: str | None = None) -> NDArray[_Element]: ...
@overload
def gather_nd(input: _NumPys, indices: _NumPys, /, *, input_dimension_count: SupportsIndex | None = None,
              indices_dimension_count: SupportsIndex | None = None, out: None = None, shape: _Shape | None = None,
              device: str | None = None) -> _Array: ...
@overload
def gather_nd(input: _Library | _Array | float, indices: _Library | _Array | float, /, *,
              input_dimension_count: SupportsIndex | None = None, indices_dimension_count: SupportsIndex | None = None,
              out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def gather_nd(input: _Operand, indices: _Operand, /, *, input_dimension_count: SupportsIndex | None = None,
              indices_dimension_count: SupportsIndex | None = None, out: _Out, shape: None = None,
              device: str | None = None) -> _Out: ...

@overload
def scatter_nd(input: float, indices: _NumPys, updates: float, /, *, input_dimension_count: SupportsIndex | None = None,
               indices_dimension_count: SupportsIndex | None = None, out: None = None,
               device: str | None = None) -> _Array: ...
@overload
def scatter_nd(input: _Typed[_Element] | float, indices: _NumPys, updates: _Typed[_Element] | float, /, *,
               input_dimension_count: SupportsIndex | None = None, indices_dimension_count: SupportsIndex | None = None,
               out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def scatter_nd(input: _NumPys, indices: _NumPys, updates: _NumPys, /, *,
               input_dimension_count: SupportsIndex | None = None, indices_dimension_count: SupportsIndex | None = None,
               out: None = None, device: str | None = None) -> _Array: ...
@overload
def scatter_nd(input: _Library | _Array | float, indices: _Library | _Array | float, updates: _Library | _Array | float,
               /, *, input_dimension_count: SupportsIndex | None = None,
               indices_dimension_count: SupportsIndex | None = None, out: None = None,
               device: str | None = None) -> _Library: ...
@overload
def scatter_nd(input: _Operand, indices: _Operand, updates: _Operand, /, *,
               input_dimension_count: SupportsIndex | None = None, indices_dimension_count: SupportsIndex | None = None,
               out: _Out, device: str | None = None) -> _Out: ...

@overload
def max_pooling2(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 window_size: SupportsIndex | Sequence[SupportsIndex],
                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 out: Sequence[_Array | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
                 shape: Sequence[_Shape | None] | None = None,
                 device: str | None = None) -> tuple[_Array, _Array | None]: ...
@overload
def max_pooling2(input: _Library | _Array | float, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 window_size: SupportsIndex | Sequence[SupportsIndex],
                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                 out: Sequence[_Library | bool | None] | None = None, dtype: Sequence[_DType | None] | None = None,
                 shape: Sequence[_Shape | None] | None = None,
                 device: str | None = None) -> tuple[_Library, _Library | None]: ...

@overload
def slice1(input: _Typed[_Element], /, *, input_window_offsets: Sequence[SupportsIndex],
           input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
           out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def slice1(input: _NumPys, /, *, input_window_offsets: Sequence[SupportsIndex],
           input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
           out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def slice1(input: _Library, /, *, input_window_offsets: Sequence[SupportsIndex],
           input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
           out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def slice1(input: _Operand, /, *, input_window_offsets: Sequence[SupportsIndex],
           input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
           out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def top_k1(input: _NumPys, /, *, axis: SupportsIndex = -1, k: SupportsIndex,
           axis_direction: str | SupportsIndex = 'DECREASING', out: Sequence[_Array | bool | None] | None = None,
           dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
           device: str | None = None) -> tuple[_Array, _Array]: ...
@overload
def top_k1(input: _Library | _Array | float, /, *, axis: SupportsIndex = -1, k: SupportsIndex,
           axis_direction: str | SupportsIndex = 'DECREASING', out: Sequence[_Library | bool | None] | None = None,
           dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
           device: str | None = None) -> tuple[_Library, _Library]: ...

@overload
def depth_to_space1(input: _Typed[_Element], /, *, block_size: SupportsIndex,
                    order: str | SupportsIndex = 'DEPTH_COLUMN_ROW', out: None = None, shape: _Shape | None = None,
                    device: str | None = None) -> NDArray[_Element]: ...
@overload
def depth_to_space1(input: _NumPys, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def depth_to_space1(input: _Library, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def depth_to_space1(input: _Operand, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def space_to_depth1(input: _Typed[_Element], /, *, block_size: SupportsIndex,
                    order: str | SupportsIndex = 'DEPTH_COLUMN_ROW', out: None = None, shape: _Shape | None = None,
                    device: str | None = None) -> NDArray[_Element]: ...
@overload
def space_to_depth1(input: _NumPys, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def space_to_depth1(input: _Library, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def space_to_depth1(input: _Operand, /, *, block_size: SupportsIndex, order: str | SupportsIndex = 'DEPTH_COLUMN_ROW',
                    out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def mean_variance_normalization1(input: float, /, scale: float | None = None, bias: float | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, normalize_variance: bool = True,
                                 epsilon: _Number = 1e-05, fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization1(input: _Typed[_Element] | float, /, scale: _Typed[_Element] | float,
                                 bias: _Typed[_Element] | float, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1,
                                 normalize_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def mean_variance_normalization1(input: _NumPys, /, scale: _NumPys | None = None, bias: _NumPys | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, normalize_variance: bool = True,
                                 epsilon: _Number = 1e-05, fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization1(input: _Library | _Array | float, /, scale: _Library | _Array | float | None = None,
                                 bias: _Library | _Array | float | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, normalize_variance: bool = True,
                                 epsilon: _Number = 1e-05, fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def mean_variance_normalization1(input: _Operand, /, scale: _Operand | None = None, bias: _Operand | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, normalize_variance: bool = True,
                                 epsilon: _Number = 1e-05, fused_activation: Operator | None = None, out: _Out,
                                 shape: None = None, device: str | None = None) -> _Out: ...

@overload
def resample1(input: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              scales: Sequence[_Number] | None = None, input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample1(input: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              scales: Sequence[_Number] | None = None, input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def resample1(input: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              scales: Sequence[_Number] | None = None, input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def resample1(input: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              scales: Sequence[_Number] | None = None, input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: _Out, shape: None = None,
              device: str | None = None) -> _Out: ...

@overload
def matrix_multiply_integer(a: _NumPys, a_zero_point: _NumPys | None, b: _NumPys, /,
                            b_zero_point: _NumPys | None = None, *, out: None = None, shape: _Shape | None = None,
                            device: str | None = None) -> NDArray[np.int32]: ...
@overload
def matrix_multiply_integer(a: _Library | _Array | float, a_zero_point: _Library | _Array | float | None,
                            b: _Library | _Array | float, /, b_zero_point: _Library | _Array | float | None = None, *,
                            out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def matrix_multiply_integer(a: _Operand, a_zero_point: _Operand | None, b: _Operand, /,
                            b_zero_point: _Operand | None = None, *, out: _Out, shape: None = None,
                            device: str | None = None) -> _Out: ...

@overload
def quantized_linear_matrix_multiply(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys,
                                     b_scale: _NumPys, b_zero_point: _NumPys | None, output_scale: _NumPys, /,
                                     output_zero_point: _Typed[_Element], *, out: None = None, dtype: None = None,
                                     shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_matrix_multiply(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys,
                                     b_scale: _NumPys, b_zero_point: _NumPys | None, output_scale: _NumPys, /,
                                     output_zero_point: _NumPys | None = None, *, out: None = None,
                                     dtype: _DTypeOf[_Element], shape: _Shape | None = None,
                                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_matrix_multiply(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys,
                                     b_scale: _NumPys, b_zero_point: _NumPys | None, output_scale: _NumPys, /,
                                     output_zero_point: _NumPys | None = None, *, out: None = None, dtype: _DType,
                                     shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def quantized_linear_matrix_multiply(a: _Library | _Array | float, a_scale: _Library | _Array | float,
                                     a_zero_point: _Library | _Array | float | None, b: _Library | _Array | float,
                                     b_scale: _Library | _Array | float, b_zero_point: _Library | _Array | float | None,
                                     output_scale: _Library | _Array | float, /,
                                     output_zero_point: _Library | _Array | float | None = None, *, out: None = None,
                                     dtype: _DType | None = None, shape: _Shape | None = None,
                                     device: str | None = None) -> _Library: ...
@overload
def quantized_linear_matrix_multiply(a: _Operand, a_scale: _Operand, a_zero_point: _Operand | None, b: _Operand,
                                     b_scale: _Operand, b_zero_point: _Operand | None, output_scale: _Operand, /,
                                     output_zero_point: _Operand | None = None, *, out: _Out, dtype: None = None,
                                     shape: None = None, device: str | None = None) -> _Out: ...

@overload
def convolution_integer(input: _NumPys, input_zero_point: _NumPys | None, filter: _NumPys, /,
                        filter_zero_point: _NumPys | None = None, *,
                        strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        group_count: SupportsIndex = 1, out: None = None, shape: _Shape | None = None,
                        device: str | None = None) -> NDArray[np.int32]: ...
@overload
def convolution_integer(input: _Library | _Array | float, input_zero_point: _Library | _Array | float | None,
                        filter: _Library | _Array | float, /,
                        filter_zero_point: _Library | _Array | float | None = None, *,
                        strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        group_count: SupportsIndex = 1, out: None = None, shape: _Shape | None = None,
                        device: str | None = None) -> _Library: ...
@overload
def convolution_integer(input: _Operand, input_zero_point: _Operand | None, filter: _Operand, /,
                        filter_zero_point: _Operand | None = None, *,
                        strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                        group_count: SupportsIndex = 1, out: _Out, shape: None = None,
                        device: str | None = None) -> _Out: ...

@overload
def quantized_linear_convolution(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                 filter: _NumPys, filter_scale: _NumPys, filter_zero_point: _NumPys | None,
                                 bias: _NumPys | None, output_scale: _NumPys, /, output_zero_point: _Typed[_Element], *,
                                 strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 group_count: SupportsIndex = 1, out: None = None, dtype: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_convolution(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                 filter: _NumPys, filter_scale: _NumPys, filter_zero_point: _NumPys | None,
                                 bias: _NumPys | None, output_scale: _NumPys, /,
                                 output_zero_point: _NumPys | None = None, *,
                                 strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 group_count: SupportsIndex = 1, out: None = None, dtype: _DTypeOf[_Element],
                                 shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_convolution(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                 filter: _NumPys, filter_scale: _NumPys, filter_zero_point: _NumPys | None,
                                 bias: _NumPys | None, output_scale: _NumPys, /,
                                 output_zero_point: _NumPys | None = None, *,
                                 strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 group_count: SupportsIndex = 1, out: None = None, dtype: _DType,
                                 shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def quantized_linear_convolution(input: _Library | _Array | float, input_scale: _Library | _Array | float,
                                 input_zero_point: _Library | _Array | float | None, filter: _Library | _Array | float,
                                 filter_scale: _Library | _Array | float,
                                 filter_zero_point: _Library | _Array | float | None,
                                 bias: _Library | _Array | float | None, output_scale: _Library | _Array | float, /,
                                 output_zero_point: _Library | _Array | float | None = None, *,
                                 strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 group_count: SupportsIndex = 1, out: None = None, dtype: _DType | None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def quantized_linear_convolution(input: _Operand, input_scale: _Operand, input_zero_point: _Operand | None,
                                 filter: _Operand, filter_scale: _Operand, filter_zero_point: _Operand | None,
                                 bias: _Operand | None, output_scale: _Operand, /,
                                 output_zero_point: _Operand | None = None, *,
                                 strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                 group_count: SupportsIndex = 1, out: _Out, dtype: None = None, shape: None = None,
                                 device: str | None = None) -> _Out: ...

@overload
def bit_and(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_and(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
            device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_and(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_and(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
            device: str | None = None) -> _Library: ...
@overload
def bit_and(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def bit_or(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_or(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
           device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_or(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_or(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
           device: str | None = None) -> _Library: ...
@overload
def bit_or(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def bit_xor(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_xor(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
            device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_xor(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_xor(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
            device: str | None = None) -> _Library: ...
@overload
def bit_xor(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def bit_not(input: _Typed[_Element], /, *, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_not(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def bit_not(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def bit_not(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def bit_count(input: _NumPys, /, *, out: None = None, dtype: None = None,
              device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def bit_count(input: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
              device: str | None = None) -> NDArray[_Element]: ...
@overload
def bit_count(input: _NumPys, /, *, out: None = None, dtype: _DType, device: str | None = None) -> _Array: ...
@overload
def bit_count(input: _Library, /, *, out: None = None, dtype: _DType | None = None,
              device: str | None = None) -> _Library: ...
@overload
def bit_count(input: _Operand, /, *, out: _Out, dtype: None = None, device: str | None = None) -> _Out: ...

@overload
def logical_greater_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: None = None,
                                  device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def logical_greater_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
                                  device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_greater_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DType,
                                  device: str | None = None) -> _Array: ...
@overload
def logical_greater_than_or_equal(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                                  dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def logical_greater_than_or_equal(a: _Operand, b: _Operand, /, *, out: _Out, dtype: None = None,
                                  device: str | None = None) -> _Out: ...

@overload
def logical_less_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: None = None,
                               device: str | None = None) -> NDArray[np.uint8]: ...
@overload
def logical_less_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DTypeOf[_Element],
                               device: str | None = None) -> NDArray[_Element]: ...
@overload
def logical_less_than_or_equal(a: _NumPys, b: _NumPys, /, *, out: None = None, dtype: _DType,
                               device: str | None = None) -> _Array: ...
@overload
def logical_less_than_or_equal(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                               dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def logical_less_than_or_equal(a: _Operand, b: _Operand, /, *, out: _Out, dtype: None = None,
                               device: str | None = None) -> _Out: ...

@overload
def celu(input: _Typed[_Element], /, *, alpha: _Number = 1.0, out: None = None,
         device: str | None = None) -> NDArray[_Element]: ...
@overload
def celu(input: _NumPys, /, *, alpha: _Number = 1.0, out: None = None, device: str | None = None) -> _Array: ...
@overload
def celu(input: _Library, /, *, alpha: _Number = 1.0, out: None = None, device: str | None = None) -> _Library: ...
@overload
def celu(input: _Operand, /, *, alpha: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

@overload
def relu_grad(input: float, input_gradient: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def relu_grad(input: _Typed[_Element] | float, input_gradient: _Typed[_Element] | float, /, *, out: None = None,
              device: str | None = None) -> NDArray[_Element]: ...
@overload
def relu_grad(input: _NumPys, input_gradient: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def relu_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float, /, *, out: None = None,
              device: str | None = None) -> _Library: ...
@overload
def relu_grad(input: _Operand, input_gradient: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def average_pooling_grad(input_gradient: _Typed[_Element], /, *,
                         strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         window_size: SupportsIndex | Sequence[SupportsIndex],
                         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         include_padding: bool = False, out: None = None, shape: _Shape,
                         device: str | None = None) -> NDArray[_Element]: ...
@overload
def average_pooling_grad(input_gradient: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         window_size: SupportsIndex | Sequence[SupportsIndex],
                         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         include_padding: bool = False, out: None = None, shape: _Shape,
                         device: str | None = None) -> _Array: ...
@overload
def average_pooling_grad(input_gradient: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         window_size: SupportsIndex | Sequence[SupportsIndex],
                         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         include_padding: bool = False, out: None = None, shape: _Shape,
                         device: str | None = None) -> _Library: ...
@overload
def average_pooling_grad(input_gradient: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         window_size: SupportsIndex | Sequence[SupportsIndex],
                         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                         include_padding: bool = False, out: _Out, shape: None = None,
                         device: str | None = None) -> _Out: ...

@overload
def max_pooling_grad(input: float, input_gradient: float, /, *,
                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                     device: str | None = None) -> _Array: ...
@overload
def max_pooling_grad(input: _Typed[_Element] | float, input_gradient: _Typed[_Element] | float, /, *,
                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def max_pooling_grad(input: _NumPys, input_gradient: _NumPys, /, *,
                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                     device: str | None = None) -> _Array: ...
@overload
def max_pooling_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float, /, *,
                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
                     device: str | None = None) -> _Library: ...
@overload
def max_pooling_grad(input: _Operand, input_gradient: _Operand, /, *,
                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out,
                     device: str | None = None) -> _Out: ...

@overload
def random_generator(input_state: _NumPys, /, *, type: str | SupportsIndex = 'PHILOX_4X32_10',
                     out: Sequence[_Array | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                     device: str | None = None) -> tuple[_Array, _Array | None]: ...
@overload
def random_generator(input_state: _Library | _Array | float, /, *, type: str | SupportsIndex = 'PHILOX_4X32_10',
                     out: Sequence[_Library | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                     device: str | None = None) -> tuple[_Library, _Library | None]: ...

@overload
def nonzero_coordinates(input: _NumPys, /, *, out: Sequence[_Array | bool | None] | None = None,
                        shape: Sequence[_Shape | None] | None = None,
                        device: str | None = None) -> tuple[_Array, _Array]: ...
@overload
def nonzero_coordinates(input: _Library | _Array | float, /, *, out: Sequence[_Library | bool | None] | None = None,
                        shape: Sequence[_Shape | None] | None = None,
                        device: str | None = None) -> tuple[_Library, _Library]: ...

@overload
def resample_grad(input_gradient: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                  scales: Sequence[_Number], input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                  output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                  device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample_grad(input_gradient: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                  scales: Sequence[_Number], input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                  output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                  device: str | None = None) -> _Array: ...
@overload
def resample_grad(input_gradient: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                  scales: Sequence[_Number], input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                  output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                  device: str | None = None) -> _Library: ...
@overload
def resample_grad(input_gradient: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                  scales: Sequence[_Number], input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                  output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: _Out, shape: None = None,
                  device: str | None = None) -> _Out: ...

@overload
def slice_grad(input_gradient: _Typed[_Element], /, *, input_window_offsets: Sequence[SupportsIndex],
               input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
               out: None = None, shape: _Shape, device: str | None = None) -> NDArray[_Element]: ...
@overload
def slice_grad(input_gradient: _NumPys, /, *, input_window_offsets: Sequence[SupportsIndex],
               input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
               out: None = None, shape: _Shape, device: str | None = None) -> _Array: ...
@overload
def slice_grad(input_gradient: _Library, /, *, input_window_offsets: Sequence[SupportsIndex],
               input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
               out: None = None, shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def slice_grad(input_gradient: _Operand, /, *, input_window_offsets: Sequence[SupportsIndex],
               input_window_sizes: Sequence[SupportsIndex], input_window_strides: Sequence[SupportsIndex] | None = None,
               out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def adam_optimizer(input_parameters: _NumPys, input_first_moment: _NumPys, input_second_moment: _NumPys,
                   gradient: _NumPys, training_step: _NumPys, /, *, learning_rate: _Number = 0.001,
                   beta1: _Number = 0.9, beta2: _Number = 0.999, epsilon: _Number = 1e-08,
                   out: Sequence[_Array | bool | None] | None = None,
                   device: str | None = None) -> tuple[_Array, _Array, _Array]: ...
@overload
def adam_optimizer(input_parameters: _Library | _Array | float, input_first_moment: _Library | _Array | float,
                   input_second_moment: _Library | _Array | float, gradient: _Library | _Array | float,
                   training_step: _Library | _Array | float, /, *, learning_rate: _Number = 0.001, beta1: _Number = 0.9,
                   beta2: _Number = 0.999, epsilon: _Number = 1e-08,
                   out: Sequence[_Library | bool | None] | None = None,
                   device: str | None = None) -> tuple[_Library, _Library, _Library]: ...

@overload
def argmin(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[np.int64]: ...
@overload
def argmin(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DTypeOf[_Element], shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def argmin(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def argmin(input: _Library, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType | None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def argmin(input: _Operand, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: _Out,
           dtype: None = None, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def argmax(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[np.int64]: ...
@overload
def argmax(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DTypeOf[_Element], shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def argmax(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def argmax(input: _Library, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: None = None,
           dtype: _DType | None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def argmax(input: _Operand, /, *, axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
           axis_direction: str | SupportsIndex = 'INCREASING',
           axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool | None = None, out: _Out,
           dtype: None = None, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def roi_align(input: float, roi: float, batch_indices: _NumPys, /, *,
              reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
              spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, out_of_bounds_input_value: _Number = 0.0,
              minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
              out: None = None, shape: _Shape, device: str | None = None) -> _Array: ...
@overload
def roi_align(input: _Typed[_Element] | float, roi: _Typed[_Element] | float, batch_indices: _NumPys, /, *,
              reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
              spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, out_of_bounds_input_value: _Number = 0.0,
              minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
              out: None = None, shape: _Shape, device: str | None = None) -> NDArray[_Element]: ...
@overload
def roi_align(input: _NumPys, roi: _NumPys, batch_indices: _NumPys, /, *,
              reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
              spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, out_of_bounds_input_value: _Number = 0.0,
              minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
              out: None = None, shape: _Shape, device: str | None = None) -> _Array: ...
@overload
def roi_align(input: _Library | _Array | float, roi: _Library | _Array | float,
              batch_indices: _Library | _Array | float, /, *, reduction_function: str | SupportsIndex = 'AVERAGE',
              interpolation_mode: str | SupportsIndex = 'LINEAR', spatial_scale_x: _Number = 1.0,
              spatial_scale_y: _Number = 1.0, out_of_bounds_input_value: _Number = 0.0,
              minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
              out: None = None, shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def roi_align(input: _Operand, roi: _Operand, batch_indices: _Operand, /, *,
              reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
              spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, out_of_bounds_input_value: _Number = 0.0,
              minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
              out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def gather_nd1(input: _Typed[_Element], indices: _NumPys, /, *, input_dimension_count: SupportsIndex | None = None,
               indices_dimension_count: SupportsIndex | None = None, batch_dimension_count: SupportsIndex = 0,
               out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def gather_nd1(input: _NumPys, indices: _NumPys, /, *, input_dimension_count: SupportsIndex | None = None,
               indices_dimension_count: SupportsIndex | None = None, batch_dimension_count: SupportsIndex = 0,
               out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def gather_nd1(input: _Library | _Array | float, indices: _Library | _Array | float, /, *,
               input_dimension_count: SupportsIndex | None = None, indices_dimension_count: SupportsIndex | None = None,
               batch_dimension_count: SupportsIndex = 0, out: None = None, shape: _Shape | None = None,
               device: str | None = None) -> _Library: ...
@overload
def gather_nd1(input: _Operand, indices: _Operand, /, *, input_dimension_count: SupportsIndex | None = None,
               indices_dimension_count: SupportsIndex | None = None, batch_dimension_count: SupportsIndex = 0,
               out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

atan_yx: _UfuncOfTwo

@overload
def clip_grad(input: float, input_gradient: float, /, *, min: _Number | None = None, max: _Number | None = None,
              out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip_grad(input: _Typed[_Element] | float, input_gradient: _Typed[_Element] | float, /, *,
              min: _Number | None = None, max: _Number | None = None, out: None = None,
              device: str | None = None) -> NDArray[_Element]: ...
@overload
def clip_grad(input: _NumPys, input_gradient: _NumPys, /, *, min: _Number | None = None, max: _Number | None = None,
              out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float, /, *,
              min: _Number | None = None, max: _Number | None = None, out: None = None,
              device: str | None = None) -> _Library: ...
@overload
def clip_grad(input: _Operand, input_gradient: _Operand, /, *, min: _Number | None = None, max: _Number | None = None,
              out: _Out, device: str | None = None) -> _Out: ...

@overload
def difference_square(a: float, b: float, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def difference_square(a: _Typed[_Element] | float, b: _Typed[_Element] | float, /, *, out: None = None,
                      device: str | None = None) -> NDArray[_Element]: ...
@overload
def difference_square(a: _NumPys, b: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def difference_square(a: _Library | _Array | float, b: _Library | _Array | float, /, *, out: None = None,
                      device: str | None = None) -> _Library: ...
@overload
def difference_square(a: _Operand, b: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

@overload
def local_response_normalization_grad(input: float, input_gradient: float, /, *, cross_channel: bool = True,
                                      local_size: SupportsIndex, alpha: _Number = 0.0001, beta: _Number = 0.75,
                                      bias: _Number = 1.0, out: None = None, device: str | None = None) -> _Array: ...
@overload
def local_response_normalization_grad(input: _Typed[_Element] | float, input_gradient: _Typed[_Element] | float, /, *,
                                      cross_channel: bool = True, local_size: SupportsIndex, alpha: _Number = 0.0001,
                                      beta: _Number = 0.75, bias: _Number = 1.0, out: None = None,
                                      device: str | None = None) -> NDArray[_Element]: ...
@overload
def local_response_normalization_grad(input: _NumPys, input_gradient: _NumPys, /, *, cross_channel: bool = True,
                                      local_size: SupportsIndex, alpha: _Number = 0.0001, beta: _Number = 0.75,
                                      bias: _Number = 1.0, out: None = None, device: str | None = None) -> _Array: ...
@overload
def local_response_normalization_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float, /, *,
                                      cross_channel: bool = True, local_size: SupportsIndex, alpha: _Number = 0.0001,
                                      beta: _Number = 0.75, bias: _Number = 1.0, out: None = None,
                                      device: str | None = None) -> _Library: ...
@overload
def local_response_normalization_grad(input: _Operand, input_gradient: _Operand, /, *, cross_channel: bool = True,
                                      local_size: SupportsIndex, alpha: _Number = 0.0001, beta: _Number = 0.75,
                                      bias: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

@overload
def cumulative_product(input: _Typed[_Element], /, *, axis: SupportsIndex = -1,
                       axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_product: bool = False,
                       out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def cumulative_product(input: _NumPys, /, *, axis: SupportsIndex = -1,
                       axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_product: bool = False,
                       out: None = None, device: str | None = None) -> _Array: ...
@overload
def cumulative_product(input: _Library, /, *, axis: SupportsIndex = -1,
                       axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_product: bool = False,
                       out: None = None, device: str | None = None) -> _Library: ...
@overload
def cumulative_product(input: _Operand, /, *, axis: SupportsIndex = -1,
                       axis_direction: str | SupportsIndex = 'INCREASING', has_exclusive_product: bool = False,
                       out: _Out, device: str | None = None) -> _Out: ...

@overload
def batch_normalization_grad(input: _NumPys, input_gradient: _NumPys, mean: _NumPys, variance: _NumPys, scale: _NumPys,
                             /, *, epsilon: _Number = 1e-05, out: Sequence[_Array | bool | None] | None = None,
                             device: str | None = None) -> tuple[_Array, _Array, _Array]: ...
@overload
def batch_normalization_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float,
                             mean: _Library | _Array | float, variance: _Library | _Array | float,
                             scale: _Library | _Array | float, /, *, epsilon: _Number = 1e-05,
                             out: Sequence[_Library | bool | None] | None = None,
                             device: str | None = None) -> tuple[_Library, _Library, _Library]: ...

@overload
def quantized_linear_add(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys, b_scale: _NumPys,
                         b_zero_point: _NumPys | None, output_scale: _NumPys, /, output_zero_point: _Typed[_Element], *,
                         out: None = None, dtype: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_add(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys, b_scale: _NumPys,
                         b_zero_point: _NumPys | None, output_scale: _NumPys, /,
                         output_zero_point: _NumPys | None = None, *, out: None = None, dtype: _DTypeOf[_Element],
                         device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_add(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys, b_scale: _NumPys,
                         b_zero_point: _NumPys | None, output_scale: _NumPys, /,
                         output_zero_point: _NumPys | None = None, *, out: None = None, dtype: _DType,
                         device: str | None = None) -> _Array: ...
@overload
def quantized_linear_add(a: _Library | _Array | float, a_scale: _Library | _Array | float,
                         a_zero_point: _Library | _Array | float | None, b: _Library | _Array | float,
                         b_scale: _Library | _Array | float, b_zero_point: _Library | _Array | float | None,
                         output_scale: _Library | _Array | float, /,
                         output_zero_point: _Library | _Array | float | None = None, *, out: None = None,
                         dtype: _DType | None = None, device: str | None = None) -> _Library: ...
@overload
def quantized_linear_add(a: _Operand, a_scale: _Operand, a_zero_point: _Operand | None, b: _Operand, b_scale: _Operand,
                         b_zero_point: _Operand | None, output_scale: _Operand, /,
                         output_zero_point: _Operand | None = None, *, out: _Out, dtype: None = None,
                         device: str | None = None) -> _Out: ...

@overload
def dynamic_quantize_linear(input: _NumPys, /, *, out: Sequence[_Array | bool | None] | None = None,
                            dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                            device: str | None = None) -> tuple[_Array, _Array, _Array]: ...
@overload
def dynamic_quantize_linear(input: _Library | _Array | float, /, *, out: Sequence[_Library | bool | None] | None = None,
                            dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                            device: str | None = None) -> tuple[_Library, _Library, _Library]: ...

@overload
def roi_align1(input: float, roi: float, batch_indices: _NumPys, /, *,
               reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
               spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
               output_pixel_offset: _Number = -0.5, out_of_bounds_input_value: _Number = 0.0,
               minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
               align_regions_to_corners: bool = False, out: None = None, shape: _Shape,
               device: str | None = None) -> _Array: ...
@overload
def roi_align1(input: _Typed[_Element] | float, roi: _Typed[_Element] | float, batch_indices: _NumPys, /, *,
               reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
               spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
               output_pixel_offset: _Number = -0.5, out_of_bounds_input_value: _Number = 0.0,
               minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
               align_regions_to_corners: bool = False, out: None = None, shape: _Shape,
               device: str | None = None) -> NDArray[_Element]: ...
@overload
def roi_align1(input: _NumPys, roi: _NumPys, batch_indices: _NumPys, /, *,
               reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
               spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
               output_pixel_offset: _Number = -0.5, out_of_bounds_input_value: _Number = 0.0,
               minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
               align_regions_to_corners: bool = False, out: None = None, shape: _Shape,
               device: str | None = None) -> _Array: ...
@overload
def roi_align1(input: _Library | _Array | float, roi: _Library | _Array | float,
               batch_indices: _Library | _Array | float, /, *, reduction_function: str | SupportsIndex = 'AVERAGE',
               interpolation_mode: str | SupportsIndex = 'LINEAR', spatial_scale_x: _Number = 1.0,
               spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0, output_pixel_offset: _Number = -0.5,
               out_of_bounds_input_value: _Number = 0.0, minimum_samples_per_output: SupportsIndex = 1,
               maximum_samples_per_output: SupportsIndex = 4294967295, align_regions_to_corners: bool = False,
               out: None = None, shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def roi_align1(input: _Operand, roi: _Operand, batch_indices: _Operand, /, *,
               reduction_function: str | SupportsIndex = 'AVERAGE', interpolation_mode: str | SupportsIndex = 'LINEAR',
               spatial_scale_x: _Number = 1.0, spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
               output_pixel_offset: _Number = -0.5, out_of_bounds_input_value: _Number = 0.0,
               minimum_samples_per_output: SupportsIndex = 1, maximum_samples_per_output: SupportsIndex = 4294967295,
               align_regions_to_corners: bool = False, out: _Out, shape: None = None,
               device: str | None = None) -> _Out: ...

@overload
def roi_align_grad(input: _NumPys | None, input_gradient: _NumPys, roi: _NumPys, batch_indices: _NumPys, /, *,
                   reduction_function: str | SupportsIndex = 'AVERAGE',
                   interpolation_mode: str | SupportsIndex = 'LINEAR', spatial_scale_x: _Number = 1.0,
                   spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
                   output_pixel_offset: _Number = -0.5, minimum_samples_per_output: SupportsIndex = 1,
                   maximum_samples_per_output: SupportsIndex = 4294967295, align_regions_to_corners: bool = False,
                   out: Sequence[_Array | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                   device: str | None = None) -> tuple[_Array | None, _Array | None]: ...
@overload
def roi_align_grad(input: _Library | _Array | float | None, input_gradient: _Library | _Array | float,
                   roi: _Library | _Array | float, batch_indices: _Library | _Array | float, /, *,
                   reduction_function: str | SupportsIndex = 'AVERAGE',
                   interpolation_mode: str | SupportsIndex = 'LINEAR', spatial_scale_x: _Number = 1.0,
                   spatial_scale_y: _Number = 1.0, input_pixel_offset: _Number = 0.0,
                   output_pixel_offset: _Number = -0.5, minimum_samples_per_output: SupportsIndex = 1,
                   maximum_samples_per_output: SupportsIndex = 4294967295, align_regions_to_corners: bool = False,
                   out: Sequence[_Library | bool | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                   device: str | None = None) -> tuple[_Library | None, _Library | None]: ...

@overload
def batch_normalization_training(input: _NumPys, scale: _NumPys, bias: _NumPys, /, fused_add: _NumPys | None = None, *,
                                 epsilon: _Number = 1e-05, fused_activation: Operator | None = None,
                                 out: Sequence[_Array | bool | None] | None = None,
                                 device: str | None = None) -> tuple[_Array, _Array, _Array]: ...
@overload
def batch_normalization_training(input: _Library | _Array | float, scale: _Library | _Array | float,
                                 bias: _Library | _Array | float, /, fused_add: _Library | _Array | float | None = None,
                                 *, epsilon: _Number = 1e-05, fused_activation: Operator | None = None,
                                 out: Sequence[_Library | bool | None] | None = None,
                                 device: str | None = None) -> tuple[_Library, _Library, _Library]: ...

@overload
def batch_normalization_training_grad(input: _NumPys, input_gradient: _NumPys, mean: _NumPys, variance: _NumPys,
                                      scale: _NumPys, /, *, epsilon: _Number = 1e-05,
                                      out: Sequence[_Array | bool | None] | None = None,
                                      device: str | None = None) -> tuple[_Array, _Array, _Array]: ...
@overload
def batch_normalization_training_grad(input: _Library | _Array | float, input_gradient: _Library | _Array | float,
                                      mean: _Library | _Array | float, variance: _Library | _Array | float,
                                      scale: _Library | _Array | float, /, *, epsilon: _Number = 1e-05,
                                      out: Sequence[_Library | bool | None] | None = None,
                                      device: str | None = None) -> tuple[_Library, _Library, _Library]: ...

@overload
def clip1(input: _Typed[_Element], /, min: _Number | None = None, max: _Number | None = None, *,
          scale: _Number | None = None, bias: _Number | None = None, out: None = None,
          device: str | None = None) -> NDArray[_Element]: ...
@overload
def clip1(input: _NumPys, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
          bias: _Number | None = None, out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip1(input: _Library, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
          bias: _Number | None = None, out: None = None, device: str | None = None) -> _Library: ...
@overload
def clip1(input: _Operand, /, min: _Number | None = None, max: _Number | None = None, *, scale: _Number | None = None,
          bias: _Number | None = None, out: _Out, device: str | None = None) -> _Out: ...

@overload
def clip_grad1(input: float, input_gradient: float, /, *, min: _Number | None = None, max: _Number | None = None,
               out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip_grad1(input: _Typed[_Element] | float, input_gradient: _Typed[_Element] | float, /, *,
               min: _Number | None = None, max: _Number | None = None, out: None = None,
               device: str | None = None) -> NDArray[_Element]: ...
@overload
def clip_grad1(input: _NumPys, input_gradient: _NumPys, /, *, min: _Number | None = None, max: _Number | None = None,
               out: None = None, device: str | None = None) -> _Array: ...
@overload
def clip_grad1(input: _Library | _Array | float, input_gradient: _Library | _Array | float, /, *,
               min: _Number | None = None, max: _Number | None = None, out: None = None,
               device: str | None = None) -> _Library: ...
@overload
def clip_grad1(input: _Operand, input_gradient: _Operand, /, *, min: _Number | None = None, max: _Number | None = None,
               out: _Out, device: str | None = None) -> _Out: ...

@overload
def padding1(input: _Typed[_Element], /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
             start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
             end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
             shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def padding1(input: _NumPys, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
             start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
             end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
             shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def padding1(input: _Library, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
             start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
             end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
             shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def padding1(input: _Operand, /, *, padding_mode: str | SupportsIndex = 'CONSTANT', padding_value: _Number = 0,
             start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
             end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, shape: None = None,
             device: str | None = None) -> _Out: ...

@overload
def negate(input: _Typed[_Element], /, *, out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def negate(input: _NumPys, /, *, out: None = None, device: str | None = None) -> _Array: ...
@overload
def negate(input: _Library, /, *, out: None = None, device: str | None = None) -> _Library: ...
@overload
def negate(input: _Operand, /, *, out: _Out, device: str | None = None) -> _Out: ...

gelu: _UfuncOfOne

@overload
def softmax1(input: _Typed[_Element], /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def softmax1(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> _Array: ...
@overload
def softmax1(input: _Library, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> _Library: ...
@overload
def softmax1(input: _Operand, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: _Out,
             device: str | None = None) -> _Out: ...

@overload
def log_softmax1(input: _Typed[_Element], /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
                 device: str | None = None) -> NDArray[_Element]: ...
@overload
def log_softmax1(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
                 device: str | None = None) -> _Array: ...
@overload
def log_softmax1(input: _Library, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
                 device: str | None = None) -> _Library: ...
@overload
def log_softmax1(input: _Operand, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: _Out,
                 device: str | None = None) -> _Out: ...

@overload
def hardmax1(input: _Typed[_Element], /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> NDArray[_Element]: ...
@overload
def hardmax1(input: _NumPys, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> _Array: ...
@overload
def hardmax1(input: _Library, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: None = None,
             device: str | None = None) -> _Library: ...
@overload
def hardmax1(input: _Operand, /, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1, out: _Out,
             device: str | None = None) -> _Out: ...

@overload
def resample2(input: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample2(input: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def resample2(input: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None,
              shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def resample2(input: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: _Out, shape: None = None,
              device: str | None = None) -> _Out: ...

@overload
def resample_grad1(input_gradient: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                   rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number],
                   input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                   output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                   device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample_grad1(input_gradient: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                   rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number],
                   input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                   output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                   device: str | None = None) -> _Array: ...
@overload
def resample_grad1(input_gradient: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                   rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number],
                   input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                   output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: None = None, shape: _Shape,
                   device: str | None = None) -> _Library: ...
@overload
def resample_grad1(input_gradient: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
                   rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number],
                   input_pixel_offsets: _Number | Sequence[_Number] | None = None,
                   output_pixel_offsets: _Number | Sequence[_Number] | None = None, out: _Out, shape: None = None,
                   device: str | None = None) -> _Out: ...

@overload
def diagonal_matrix1(input: _Typed[_Element], *, value: _Number = 1, diagonal_fill_begin: SupportsIndex = 0,
                     diagonal_fill_end: SupportsIndex = 1, out: None = None, dtype: None = None,
                     shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def diagonal_matrix1(input: _NumPys | None = None, *, value: _Number = 1, diagonal_fill_begin: SupportsIndex = 0,
                     diagonal_fill_end: SupportsIndex = 1, out: None = None, dtype: _DTypeOf[_Element],
                     shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def diagonal_matrix1(input: _NumPys | None = None, *, value: _Number = 1, diagonal_fill_begin: SupportsIndex = 0,
                     diagonal_fill_end: SupportsIndex = 1, out: None = None, dtype: _DType, shape: _Shape | None = None,
                     device: str | None = None) -> _Array: ...
@overload
def diagonal_matrix1(input: _Library | None = None, *, value: _Number = 1, diagonal_fill_begin: SupportsIndex = 0,
                     diagonal_fill_end: SupportsIndex = 1, out: None = None, dtype: _DType | None = None,
                     shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def diagonal_matrix1(input: _Operand | None = None, *, value: _Number = 1, diagonal_fill_begin: SupportsIndex = 0,
                     diagonal_fill_end: SupportsIndex = 1, out: _Out, dtype: None = None, shape: None = None,
                     device: str | None = None) -> _Out: ...

@overload
def multihead_attention(query: _NumPys | None = None, key: _NumPys | None = None, value: _NumPys | None = None,
                        stacked_query_key: _NumPys | None = None, stacked_key_value: _NumPys | None = None,
                        stacked_query_key_value: _NumPys | None = None, bias: _NumPys | None = None,
                        mask: _NumPys | None = None, relative_position_bias: _NumPys | None = None,
                        past_key: _NumPys | None = None, past_value: _NumPys | None = None, *,
                        scale: _Number | None = None, mask_filter_value: _Number = -10000.0, head_count: SupportsIndex,
                        mask_type: str | SupportsIndex = 'NONE', out: Sequence[_Array | bool | None] | None = None,
                        dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                        device: str | None = None) -> tuple[_Array, _Array | None, _Array | None]: ...
@overload
def multihead_attention(query: _Library | _Array | float | None = None, key: _Library | _Array | float | None = None,
                        value: _Library | _Array | float | None = None,
                        stacked_query_key: _Library | _Array | float | None = None,
                        stacked_key_value: _Library | _Array | float | None = None,
                        stacked_query_key_value: _Library | _Array | float | None = None,
                        bias: _Library | _Array | float | None = None, mask: _Library | _Array | float | None = None,
                        relative_position_bias: _Library | _Array | float | None = None,
                        past_key: _Library | _Array | float | None = None,
                        past_value: _Library | _Array | float | None = None, *, scale: _Number | None = None,
                        mask_filter_value: _Number = -10000.0, head_count: SupportsIndex,
                        mask_type: str | SupportsIndex = 'NONE', out: Sequence[_Library | bool | None] | None = None,
                        dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                        device: str | None = None) -> tuple[_Library, _Library | None, _Library | None]: ...

@overload
def lp_pooling1(input: _Typed[_Element], /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
                out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def lp_pooling1(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
                out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def lp_pooling1(input: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2,
                out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def lp_pooling1(input: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                window_size: SupportsIndex | Sequence[SupportsIndex],
                start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, p: SupportsIndex = 2, out: _Out,
                shape: None = None, device: str | None = None) -> _Out: ...

@overload
def average_pooling1(input: _Typed[_Element], /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                     out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def average_pooling1(input: _NumPys, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                     out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def average_pooling1(input: _Library, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                     out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def average_pooling1(input: _Operand, /, *, strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     window_size: SupportsIndex | Sequence[SupportsIndex],
                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None, include_padding: bool = False,
                     out: _Out, shape: None = None, device: str | None = None) -> _Out: ...

@overload
def swish(input: _Typed[_Element], /, *, sigmoid_input_scale: _Number = 1.0, out: None = None,
          device: str | None = None) -> NDArray[_Element]: ...
@overload
def swish(input: _NumPys, /, *, sigmoid_input_scale: _Number = 1.0, out: None = None,
          device: str | None = None) -> _Array: ...
@overload
def swish(input: _Library, /, *, sigmoid_input_scale: _Number = 1.0, out: None = None,
          device: str | None = None) -> _Library: ...
@overload
def swish(input: _Operand, /, *, sigmoid_input_scale: _Number = 1.0, out: _Out, device: str | None = None) -> _Out: ...

@overload
def hard_swish(input: _Typed[_Element], /, *, alpha: _Number = 0.16666666666666666, beta: _Number = 0.5,
               out: None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def hard_swish(input: _NumPys, /, *, alpha: _Number = 0.16666666666666666, beta: _Number = 0.5, out: None = None,
               device: str | None = None) -> _Array: ...
@overload
def hard_swish(input: _Library, /, *, alpha: _Number = 0.16666666666666666, beta: _Number = 0.5, out: None = None,
               device: str | None = None) -> _Library: ...
@overload
def hard_swish(input: _Operand, /, *, alpha: _Number = 0.16666666666666666, beta: _Number = 0.5, out: _Out,
               device: str | None = None) -> _Out: ...

@overload
def quantized_linear_average_pooling(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                     output_scale: _NumPys, /, output_zero_point: _Typed[_Element], *,
                                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     window_size: SupportsIndex | Sequence[SupportsIndex],
                                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     include_padding: bool = False, out: None = None, dtype: None = None,
                                     shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_average_pooling(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                     output_scale: _NumPys, /, output_zero_point: _NumPys | None = None, *,
                                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     window_size: SupportsIndex | Sequence[SupportsIndex],
                                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     include_padding: bool = False, out: None = None, dtype: _DTypeOf[_Element],
                                     shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantized_linear_average_pooling(input: _NumPys, input_scale: _NumPys, input_zero_point: _NumPys | None,
                                     output_scale: _NumPys, /, output_zero_point: _NumPys | None = None, *,
                                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     window_size: SupportsIndex | Sequence[SupportsIndex],
                                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     include_padding: bool = False, out: None = None, dtype: _DType,
                                     shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def quantized_linear_average_pooling(input: _Library | _Array | float, input_scale: _Library | _Array | float,
                                     input_zero_point: _Library | _Array | float | None,
                                     output_scale: _Library | _Array | float, /,
                                     output_zero_point: _Library | _Array | float | None = None, *,
                                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     window_size: SupportsIndex | Sequence[SupportsIndex],
                                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     include_padding: bool = False, out: None = None, dtype: _DType | None = None,
                                     shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def quantized_linear_average_pooling(input: _Operand, input_scale: _Operand, input_zero_point: _Operand | None,
                                     output_scale: _Operand, /, output_zero_point: _Operand | None = None, *,
                                     strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     window_size: SupportsIndex | Sequence[SupportsIndex],
                                     start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
                                     include_padding: bool = False, out: _Out, dtype: None = None, shape: None = None,
                                     device: str | None = None) -> _Out: ...

@overload
def matrix_multiply_integer_to_float(a: _NumPys, a_scale: float, a_zero_point: _NumPys | None, b: _NumPys,
                                     b_scale: float, /, b_zero_point: _NumPys | None = None, bias: float | None = None,
                                     *, out: None = None, shape: _Shape | None = None,
                                     device: str | None = None) -> _Array: ...
@overload
def matrix_multiply_integer_to_float(a: _NumPys, a_scale: _Typed[_Element] | float, a_zero_point: _NumPys | None,
                                     b: _NumPys, b_scale: _Typed[_Element] | float, /,
                                     b_zero_point: _NumPys | None = None, bias: _Typed[_Element] | float | None = None,
                                     *, out: None = None, shape: _Shape | None = None,
                                     device: str | None = None) -> NDArray[_Element]: ...
@overload
def matrix_multiply_integer_to_float(a: _NumPys, a_scale: _NumPys, a_zero_point: _NumPys | None, b: _NumPys,
                                     b_scale: _NumPys, /, b_zero_point: _NumPys | None = None,
                                     bias: _NumPys | None = None, *, out: None = None, shape: _Shape | None = None,
                                     device: str | None = None) -> _Array: ...
@overload
def matrix_multiply_integer_to_float(a: _Library | _Array | float, a_scale: _Library | _Array | float,
                                     a_zero_point: _Library | _Array | float | None, b: _Library | _Array | float,
                                     b_scale: _Library | _Array | float, /,
                                     b_zero_point: _Library | _Array | float | None = None,
                                     bias: _Library | _Array | float | None = None, *, out: None = None,
                                     shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def matrix_multiply_integer_to_float(a: _Operand, a_scale: _Operand, a_zero_point: _Operand | None, b: _Operand,
                                     b_scale: _Operand, /, b_zero_point: _Operand | None = None,
                                     bias: _Operand | None = None, *, out: _Out, shape: None = None,
                                     device: str | None = None) -> _Out: ...

@overload
def mean_variance_normalization2(input: float, /, scale: float | None = None, bias: float | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, use_mean: bool = True,
                                 use_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization2(input: _Typed[_Element] | float, /, scale: _Typed[_Element] | float,
                                 bias: _Typed[_Element] | float, *, axes: SupportsIndex | Sequence[SupportsIndex] = -1,
                                 use_mean: bool = True, use_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def mean_variance_normalization2(input: _NumPys, /, scale: _NumPys | None = None, bias: _NumPys | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, use_mean: bool = True,
                                 use_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def mean_variance_normalization2(input: _Library | _Array | float, /, scale: _Library | _Array | float | None = None,
                                 bias: _Library | _Array | float | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, use_mean: bool = True,
                                 use_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: None = None,
                                 shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def mean_variance_normalization2(input: _Operand, /, scale: _Operand | None = None, bias: _Operand | None = None, *,
                                 axes: SupportsIndex | Sequence[SupportsIndex] = -1, use_mean: bool = True,
                                 use_variance: bool = True, epsilon: _Number = 1e-05,
                                 fused_activation: Operator | None = None, out: _Out, shape: None = None,
                                 device: str | None = None) -> _Out: ...

@overload
def multihead_attention1(query: _NumPys | None = None, key: _NumPys | None = None, value: _NumPys | None = None,
                         stacked_query_key: _NumPys | None = None, stacked_key_value: _NumPys | None = None,
                         stacked_query_key_value: _NumPys | None = None, bias: _NumPys | None = None,
                         mask: _NumPys | None = None, relative_position_bias: _NumPys | None = None,
                         past_key: _NumPys | None = None, past_value: _NumPys | None = None,
                         past_sequence_lengths: _NumPys | None = None, *, scale: _Number | None = None,
                         mask_filter_value: _Number = -10000.0, query_head_count: SupportsIndex,
                         key_value_head_count: SupportsIndex | None = None, mask_type: str | SupportsIndex = 'NONE',
                         out: Sequence[_Array | bool | None] | None = None,
                         dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                         device: str | None = None) -> tuple[_Array, _Array | None, _Array | None]: ...
@overload
def multihead_attention1(query: _Library | _Array | float | None = None, key: _Library | _Array | float | None = None,
                         value: _Library | _Array | float | None = None,
                         stacked_query_key: _Library | _Array | float | None = None,
                         stacked_key_value: _Library | _Array | float | None = None,
                         stacked_query_key_value: _Library | _Array | float | None = None,
                         bias: _Library | _Array | float | None = None, mask: _Library | _Array | float | None = None,
                         relative_position_bias: _Library | _Array | float | None = None,
                         past_key: _Library | _Array | float | None = None,
                         past_value: _Library | _Array | float | None = None,
                         past_sequence_lengths: _Library | _Array | float | None = None, *,
                         scale: _Number | None = None, mask_filter_value: _Number = -10000.0,
                         query_head_count: SupportsIndex, key_value_head_count: SupportsIndex | None = None,
                         mask_type: str | SupportsIndex = 'NONE', out: Sequence[_Library | bool | None] | None = None,
                         dtype: Sequence[_DType | None] | None = None, shape: Sequence[_Shape | None] | None = None,
                         device: str | None = None) -> tuple[_Library, _Library | None, _Library | None]: ...

@overload
def quantize(input: _NumPys, quantizations: Sequence[_NumPys], /, *,
             quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DTypeOf[_Element],
             shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def quantize(input: _NumPys, quantizations: Sequence[_NumPys], /, *,
             quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DType,
             shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def quantize(input: _Library | _Array | float, quantizations: Sequence[_Library | _Array | float], /, *,
             quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DType,
             shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def quantize(input: _Operand, quantizations: Sequence[_Operand], /, *,
             quantization_type: str | SupportsIndex | None = None, out: _Out, dtype: None = None, shape: None = None,
             device: str | None = None) -> _Out: ...

@overload
def dequantize(input: _NumPys, quantizations: Sequence[_NumPys], /, *,
               quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DTypeOf[_Element],
               shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def dequantize(input: _NumPys, quantizations: Sequence[_NumPys], /, *,
               quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DType,
               shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def dequantize(input: _Library | _Array | float, quantizations: Sequence[_Library | _Array | float], /, *,
               quantization_type: str | SupportsIndex | None = None, out: None = None, dtype: _DType,
               shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def dequantize(input: _Operand, quantizations: Sequence[_Operand], /, *,
               quantization_type: str | SupportsIndex | None = None, out: _Out, dtype: None = None, shape: None = None,
               device: str | None = None) -> _Out: ...

@overload
def resample3(input: _Typed[_Element], /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, antialiased: bool = False,
              out: None = None, shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def resample3(input: _NumPys, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, antialiased: bool = False,
              out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def resample3(input: _Library, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, antialiased: bool = False,
              out: None = None, shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def resample3(input: _Operand, /, *, interpolation_mode: str | SupportsIndex = 'LINEAR',
              rounding_direction: str | SupportsIndex = 'INCREASING', scales: Sequence[_Number] | None = None,
              input_pixel_offsets: _Number | Sequence[_Number] | None = None,
              output_pixel_offsets: _Number | Sequence[_Number] | None = None, antialiased: bool = False, out: _Out,
              shape: None = None, device: str | None = None) -> _Out: ...

@overload
def fold(input: _NumPys, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
         strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
         dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
         dtype: _DTypeOf[_Element], shape: _Shape, device: str | None = None) -> NDArray[_Element]: ...
@overload
def fold(input: _NumPys, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
         strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
         dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None, dtype: _DType,
         shape: _Shape, device: str | None = None) -> _Array: ...
@overload
def fold(input: _Library, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
         strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
         dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None, dtype: _DType,
         shape: _Shape, device: str | None = None) -> _Library: ...
@overload
def fold(input: _Operand, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
         strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
         dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
         start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
         end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, dtype: None = None,
         shape: None = None, device: str | None = None) -> _Out: ...

@overload
def unfold(input: _NumPys, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
           dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
           start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
           end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None,
           dtype: _DTypeOf[_Element], shape: _Shape | None = None, device: str | None = None) -> NDArray[_Element]: ...
@overload
def unfold(input: _NumPys, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
           dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
           start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
           end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None, dtype: _DType,
           shape: _Shape | None = None, device: str | None = None) -> _Array: ...
@overload
def unfold(input: _Library, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
           dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
           start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
           end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: None = None, dtype: _DType,
           shape: _Shape | None = None, device: str | None = None) -> _Library: ...
@overload
def unfold(input: _Operand, /, *, window_sizes: SupportsIndex | Sequence[SupportsIndex],
           strides: SupportsIndex | Sequence[SupportsIndex] | None = None,
           dilations: SupportsIndex | Sequence[SupportsIndex] | None = None,
           start_padding: SupportsIndex | Sequence[SupportsIndex] | None = None,
           end_padding: SupportsIndex | Sequence[SupportsIndex] | None = None, out: _Out, dtype: None = None,
           shape: None = None, device: str | None = None) -> _Out: ...
