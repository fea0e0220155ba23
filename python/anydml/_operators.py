# SPDX-License-Identifier: MIT
"""One function for each implemented operator. data/python/generate_python.py generates this file from data/facts and
the entries in src/ops; edit those instead.
"""
from ._habits import function_of as _function_of, over_axes as _over_axes
from ._ufuncs import CASTING as _CASTING, ORDER as _ORDER, ufunc as _ufunc

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
# names of Python builtins: never imported by import *
SHADOWING = ["abs", "pow"]


_element_wise_identity = _function_of("ELEMENT_WISE_IDENTITY", (), ("Scale", "Bias"), ("out", "device"))


def element_wise_identity(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_IDENTITY: input, element by element.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.element_wise_identity(x).tolist()
    [-2.5, -0.5, 1.5, 3.0]
    """
    return _element_wise_identity(input, scale, bias, out, device)


_abs = _function_of("ELEMENT_WISE_ABS", (), ("Scale", "Bias"), ("out", "device"))


def abs(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_ABS: abs(input), element by element.

    Types in DirectML: ``input`` float16, float32 and int8 to int64.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.
    Like ``numpy.abs``, it returns the smallest integer of a type unchanged, because the type cannot represent its
    absolute value.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.abs(x).tolist()
    [2.5, 0.5, 1.5, 3.0]
    """
    return _abs(input, scale, bias, out, device)


@_ufunc("ELEMENT_WISE_ACOS")
def acos(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_ACOS: acos(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ACOS', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-1, -0.5, 0.25, 1])
    >>> anydml.acos(x).tolist()
    [3.1415927410125732, 2.094395160675049, 1.3181160688400269, 0.0]
    """


_add = _function_of("ELEMENT_WISE_ADD", (), (), ("out", "device"))


def add(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_ADD: a + b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    NumPy arrays of different types are first promoted to a common type, as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.add(a, b).tolist()
    [10.0, -4.0, 4.0, -10.0]
    """
    return _add(a, b, out, device)


@_ufunc("ELEMENT_WISE_ASIN")
def asin(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_ASIN: asin(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ASIN', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-1, -0.5, 0.25, 1])
    >>> anydml.asin(x).tolist()
    [-1.5707963705062866, -0.5235987901687622, 0.252680242061615, 1.5707963705062866]
    """


@_ufunc("ELEMENT_WISE_ATAN")
def atan(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_ATAN: atan(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ATAN', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.atan(x).tolist()
    [-1.1902899742126465, -0.46364760398864746, 0.9827937483787537, 1.249045729637146]
    """


_ceil = _function_of("ELEMENT_WISE_CEIL", (), ("Scale", "Bias"), ("out", "device"))


def ceil(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CEIL: ceil(input), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.
    Unlike ``numpy.ceil``, it accepts only floats.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.ceil(x).tolist()
    [-2.0, -0.0, 2.0, 3.0]
    """
    return _ceil(input, scale, bias, out, device)


_clip = _function_of("ELEMENT_WISE_CLIP", ("Min", "Max"), ("Scale", "Bias"), ("out", "device"))


def clip(input, /, min=None, max=None, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CLIP: max(Min, min(input, Max)), element by element.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    ``min``: a number (default: no bound).
    ``max``: a number (default: no bound).
    The result has the type of ``input``.
    Unlike ``numpy.clip``, it accepts only numbers as bounds, and converts them to the type of the input, which is also
    the type of the result.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.clip(x, min=-1, max=2).tolist()
    [-1.0, -0.5, 1.5, 2.0]
    """
    return _clip(input, min, max, scale, bias, out, device)


@_ufunc("ELEMENT_WISE_COS")
def cos(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_COS: cos(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_COS', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.cos(x).tolist()
    [-0.8011435866355896, 0.8775825500488281, 0.07073719799518585, -0.9899924993515015]
    """


_divide = _function_of("ELEMENT_WISE_DIVIDE", (), (), ("out", "device"))


def divide(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_DIVIDE: a / b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    Unlike ``numpy.divide``, it returns integers for integers: the quotient is truncated, and a divisor of 0 gives 0.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 1])
    >>> b = np.float32([2, 2, -4])
    >>> anydml.divide(a, b).tolist()
    [3.5, -3.5, -0.25]
    """
    return _divide(a, b, out, device)


@_ufunc("ELEMENT_WISE_EXP")
def exp(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_EXP: exp(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_EXP', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.exp(x).tolist()
    [0.08208499848842621, 0.6065306663513184, 4.481688976287842, 20.08553695678711]
    """


_floor = _function_of("ELEMENT_WISE_FLOOR", (), ("Scale", "Bias"), ("out", "device"))


def floor(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_FLOOR: floor(input), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.
    Unlike ``numpy.floor``, it accepts only floats.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.floor(x).tolist()
    [-3.0, -1.0, 1.0, 3.0]
    """
    return _floor(input, scale, bias, out, device)


@_ufunc("ELEMENT_WISE_LOG")
def log(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_LOG: ln(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_LOG', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([0.5, 1, 2, 10])
    >>> anydml.log(x).tolist()
    [-0.6931471824645996, 0.0, 0.6931471824645996, 2.3025851249694824]
    """


_logical_and = _function_of("ELEMENT_WISE_LOGICAL_AND", (), (), ("out", "device"))


def logical_and(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_AND: (a && b), element by element.

    Types in DirectML: ``a`` and ``b`` uint8 and uint32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    For arrays of bool it returns an array of bool, as NumPy does.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 0, 1, 1])
    >>> b = np.uint8([0, 1, 0, 1])
    >>> anydml.logical_and(a, b).tolist()
    [0, 0, 0, 1]
    """
    return _logical_and(a, b, out, device)


_logical_equals = _function_of("ELEMENT_WISE_LOGICAL_EQUALS", (), (), ("out", "dtype", "device"))


def logical_equals(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_EQUALS: (a == b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([2, 2, 2])
    >>> anydml.logical_equals(a, b).tolist()
    [0, 1, 0]
    """
    return _logical_equals(a, b, out, dtype, device)


_logical_greater_than = _function_of("ELEMENT_WISE_LOGICAL_GREATER_THAN", (), (), ("out", "dtype", "device"))


def logical_greater_than(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_GREATER_THAN: (a > b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([2, 2, 2])
    >>> anydml.logical_greater_than(a, b).tolist()
    [0, 0, 1]
    """
    return _logical_greater_than(a, b, out, dtype, device)


_logical_less_than = _function_of("ELEMENT_WISE_LOGICAL_LESS_THAN", (), (), ("out", "dtype", "device"))


def logical_less_than(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_LESS_THAN: (a < b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([2, 2, 2])
    >>> anydml.logical_less_than(a, b).tolist()
    [1, 0, 0]
    """
    return _logical_less_than(a, b, out, dtype, device)


_logical_not = _function_of("ELEMENT_WISE_LOGICAL_NOT", (), (), ("out", "device"))


def logical_not(input, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_NOT: !input, element by element.

    Types in DirectML: ``input`` uint8 and uint32.
    The result has the type of ``input``.
    For arrays of bool it returns an array of bool, as NumPy does.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([0, 1, 2])
    >>> anydml.logical_not(x).tolist()
    [1, 0, 0]
    """
    return _logical_not(input, out, device)


_logical_or = _function_of("ELEMENT_WISE_LOGICAL_OR", (), (), ("out", "device"))


def logical_or(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_OR: (a || b), element by element.

    Types in DirectML: ``a`` and ``b`` uint8 and uint32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    For arrays of bool it returns an array of bool, as NumPy does.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 0, 1, 1])
    >>> b = np.uint8([0, 1, 0, 1])
    >>> anydml.logical_or(a, b).tolist()
    [0, 1, 1, 1]
    """
    return _logical_or(a, b, out, device)


_logical_xor = _function_of("ELEMENT_WISE_LOGICAL_XOR", (), (), ("out", "device"))


def logical_xor(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_XOR: (!!a) != (!!b), element by element.

    Types in DirectML: ``a`` and ``b`` uint8 and uint32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    For arrays of bool it returns an array of bool, as NumPy does.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 0, 1, 1])
    >>> b = np.uint8([0, 1, 0, 1])
    >>> anydml.logical_xor(a, b).tolist()
    [0, 1, 1, 0]
    """
    return _logical_xor(a, b, out, device)


_element_wise_max = _function_of("ELEMENT_WISE_MAX", (), (), ("out", "device"))


def element_wise_max(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MAX: max(a, b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.element_wise_max(a, b).tolist()
    [7.0, 3.0, 7.0, -3.0]
    """
    return _element_wise_max(a, b, out, device)


_element_wise_mean = _function_of("ELEMENT_WISE_MEAN", (), (), ("out", "device"))


def element_wise_mean(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MEAN: (a + b) / 2, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int32 and uint32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.element_wise_mean(a, b).tolist()
    [5.0, -2.0, 2.0, -5.0]
    """
    return _element_wise_mean(a, b, out, device)


_element_wise_min = _function_of("ELEMENT_WISE_MIN", (), (), ("out", "device"))


def element_wise_min(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MIN: min(a, b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.element_wise_min(a, b).tolist()
    [3.0, -7.0, -3.0, -7.0]
    """
    return _element_wise_min(a, b, out, device)


_multiply = _function_of("ELEMENT_WISE_MULTIPLY", (), (), ("out", "device"))


def multiply(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_MULTIPLY: a * b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    NumPy arrays of different types are first promoted to a common type, as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.multiply(a, b).tolist()
    [21.0, -21.0, -21.0, 21.0]
    """
    return _multiply(a, b, out, device)


@_ufunc("ELEMENT_WISE_POW")
def pow(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_POW: pow(a, b), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    A negative base, including minus infinity, raised to a finite power that is not an integer is NaN, as DirectML
    documents; C and NumPy return 0 or infinity for minus infinity.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_POW', a, b, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([2, 10, 1.5, 0])
    >>> exponent = np.float32([0.5, -1, 3.25, 2])
    >>> anydml.pow(x, exponent).tolist()
    [1.4142135381698608, 0.10000000149011612, 3.735051393508911, 0.0]
    """


_constant_pow = _function_of("ELEMENT_WISE_CONSTANT_POW", ("Exponent",), ("Scale", "Bias"), ("out", "device"))


def constant_pow(input, /, *, exponent, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CONSTANT_POW: pow(input, Exponent), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    ``exponent``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([0.5, 1, 2, 10])
    >>> anydml.constant_pow(x, exponent=-0.5).tolist()
    [1.4142135381698608, 1.0, 0.7071067690849304, 0.3162277638912201]
    """
    return _constant_pow(input, exponent, scale, bias, out, device)


_recip = _function_of("ELEMENT_WISE_RECIP", (), ("Scale", "Bias"), ("out", "device"))


def recip(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_RECIP: 1 / input, element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([2, 4, -0.5])
    >>> anydml.recip(x).tolist()
    [0.5, 0.25, -2.0]
    """
    return _recip(input, scale, bias, out, device)


@_ufunc("ELEMENT_WISE_SIN")
def sin(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_SIN: sin(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_SIN', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.sin(x).tolist()
    [-0.5984721183776855, -0.4794255495071411, 0.9974949955940247, 0.14112000167369843]
    """


_sqrt = _function_of("ELEMENT_WISE_SQRT", (), ("Scale", "Bias"), ("out", "device"))


def sqrt(input, /, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_SQRT: sqrt(input), element by element.

    Types in DirectML: ``input`` float16 and float32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    The result has the type of ``input``.
    Unlike ``numpy.sqrt``, it accepts only floats, and does not warn about negative numbers.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([4, 2.25, 0])
    >>> anydml.sqrt(x).tolist()
    [2.0, 1.5, 0.0]
    """
    return _sqrt(input, scale, bias, out, device)


_subtract = _function_of("ELEMENT_WISE_SUBTRACT", (), (), ("out", "device"))


def subtract(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_SUBTRACT: a - b, element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.
    NumPy arrays of different types are first promoted to a common type, as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.subtract(a, b).tolist()
    [4.0, -10.0, 10.0, -4.0]
    """
    return _subtract(a, b, out, device)


@_ufunc("ELEMENT_WISE_TAN")
def tan(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_TAN: tan(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_TAN', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.tan(x).tolist()
    [0.747022271156311, -0.5463024973869324, 14.101420402526855, -0.14254654943943024]
    """


_threshold = _function_of("ELEMENT_WISE_THRESHOLD", ("Min",), ("Scale", "Bias"), ("out", "device"))


def threshold(input, /, *, min, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_THRESHOLD: max(input, Min), element by element.

    Types in DirectML: ``input`` float16, float32, int8 to int32 and uint8 to uint32.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    ``min``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.threshold(x, min=0.5).tolist()
    [0.5, 0.5, 1.5, 3.0]
    """
    return _threshold(input, min, scale, bias, out, device)


_quantize_linear = _function_of("ELEMENT_WISE_QUANTIZE_LINEAR", (), (), ("out", "dtype", "device"))


def quantize_linear(input, scale, /, zero_point=None, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_QUANTIZE_LINEAR: clamp(round(input / scale) + zero_point, Min, Max); UINT8: Min 0 Max
    255; INT8: Min -128 Max 127, element by element.

    Types in DirectML: ``input`` float16, float32 and int32; ``scale`` float16 and float32; ``zero_point`` int8 and
    uint8.
    Shapes are broadcast according to NumPy's rules.
    The result has type ``dtype`` if given, otherwise that of ``zero_point``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-1, 0.25, 1.5, 99])
    >>> scale = np.float32([0.5, 0.5, 0.5, 0.5])
    >>> zero_point = np.uint8([10, 10, 10, 10])
    >>> anydml.quantize_linear(x, scale, zero_point).tolist()
    [8, 10, 13, 208]
    """
    return _quantize_linear(input, scale, zero_point, out, dtype, device)


_dequantize_linear = _function_of("ELEMENT_WISE_DEQUANTIZE_LINEAR", (), (), ("out", "device"))


def dequantize_linear(input, scale, /, zero_point=None, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_DEQUANTIZE_LINEAR: (input - zero_point) * scale, element by element.

    Types in DirectML: ``input`` and ``zero_point`` int8 to int32 and uint8 to uint32; ``scale`` float16 and float32.
    ``input`` and ``zero_point`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the type of ``scale``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([8, 10, 13, 208])
    >>> scale = np.float32([0.5, 0.5, 0.5, 0.5])
    >>> zero_point = np.uint8([10, 10, 10, 10])
    >>> anydml.dequantize_linear(x, scale, zero_point).tolist()
    [-1.0, 0.0, 1.5, 99.0]
    """
    return _dequantize_linear(input, scale, zero_point, out, device)


_elu = _function_of("ACTIVATION_ELU", ("Alpha",), (), ("out", "device"))


def elu(input, /, *, alpha=1.0, out=None, device=None):
    """DirectML's ACTIVATION_ELU: input >= 0 ? input : Alpha * (exp(input) - 1).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.elu(x, alpha=0.5).tolist()
    [-0.4589574933052063, -0.19673466682434082, 1.5, 3.0]
    """
    return _elu(input, alpha, out, device)


_hardmax = _function_of("ACTIVATION_HARDMAX", (), (), ("out", "device"))


def hardmax(input, /, *, axis=None, out=None, device=None):
    """DirectML's ACTIVATION_HARDMAX: 1 at the first maximum of each row, 0 elsewhere.

    Types in DirectML: ``input`` float16 and float32.
    The rows are along the last axis, or along ``axis``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.hardmax(x).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if axis is None:
        return _hardmax(input, out, device)
    return _over_axes(_hardmax, "ACTIVATION_HARDMAX", input, axis=axis, out=out, device=device)


_hard_sigmoid = _function_of("ACTIVATION_HARD_SIGMOID", ("Alpha", "Beta"), (), ("out", "device"))


def hard_sigmoid(input, /, *, alpha=0.2, beta=0.5, out=None, device=None):
    """DirectML's ACTIVATION_HARD_SIGMOID: max(0, min(Alpha * input + Beta, 1)).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``beta``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.hard_sigmoid(x, alpha=0.25).tolist()
    [0.0, 0.375, 0.875, 1.0]
    """
    return _hard_sigmoid(input, alpha, beta, out, device)


_activation_identity = _function_of("ACTIVATION_IDENTITY", (), (), ("out", "device"))


def activation_identity(input, /, *, out=None, device=None):
    """DirectML's ACTIVATION_IDENTITY: input.

    Types in DirectML: ``input`` float16 and float32.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.activation_identity(x).tolist()
    [-2.5, -0.5, 1.5, 3.0]
    """
    return _activation_identity(input, out, device)


_leaky_relu = _function_of("ACTIVATION_LEAKY_RELU", ("Alpha",), (), ("out", "device"))


def leaky_relu(input, /, *, alpha=0.01, out=None, device=None):
    """DirectML's ACTIVATION_LEAKY_RELU: input >= 0 ? input : Alpha * input.

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.leaky_relu(x, alpha=0.25).tolist()
    [-0.625, -0.125, 1.5, 3.0]
    """
    return _leaky_relu(input, alpha, out, device)


_linear = _function_of("ACTIVATION_LINEAR", ("Alpha", "Beta"), (), ("out", "device"))


def linear(input, /, *, alpha=1.0, beta=0.0, out=None, device=None):
    """DirectML's ACTIVATION_LINEAR: Alpha * input + Beta.

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``beta``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.linear(x, alpha=2, beta=1).tolist()
    [-4.0, 0.0, 4.0, 7.0]
    """
    return _linear(input, alpha, beta, out, device)


_log_softmax = _function_of("ACTIVATION_LOG_SOFTMAX", (), (), ("out", "device"))


def log_softmax(input, /, *, axis=None, out=None, device=None):
    """DirectML's ACTIVATION_LOG_SOFTMAX: ln(exp(x_i) / sum_j(exp(x_j)))   along the last dimension of the effective
    2-D tensor.

    Types in DirectML: ``input`` float16 and float32.
    The rows are along the last axis, or along ``axis``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[0.0, 0.0, 0.6931471824645996], [200.0, 0.0, 0.0]])
    >>> anydml.log_softmax(x).tolist()
    [[-1.3862943649291992, -1.3862943649291992, -0.6931471824645996], [0.0, -200.0, -200.0]]
    """
    if axis is None:
        return _log_softmax(input, out, device)
    return _over_axes(_log_softmax, "ACTIVATION_LOG_SOFTMAX", input, axis=axis, out=out, device=device)


_parameterized_relu = _function_of("ACTIVATION_PARAMETERIZED_RELU", (), (), ("out", "device"))


def parameterized_relu(input, slope, /, *, out=None, device=None):
    """DirectML's ACTIVATION_PARAMETERIZED_RELU: x >= 0 ? x : slope * x.

    Types in DirectML: ``input`` and ``slope`` float16, float32 and int8 to int32.
    ``input`` and ``slope`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``input`` and ``slope``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> slope = np.float32([0.5, 0.25, 0.5, 0.25])
    >>> anydml.parameterized_relu(x, slope).tolist()
    [-1.25, -0.125, 1.5, 3.0]
    """
    return _parameterized_relu(input, slope, out, device)


_parametric_softplus = _function_of("ACTIVATION_PARAMETRIC_SOFTPLUS", ("Alpha", "Beta"), (), ("out", "device"))


def parametric_softplus(input, /, *, alpha=1.0, beta=1.0, out=None, device=None):
    """DirectML's ACTIVATION_PARAMETRIC_SOFTPLUS: Alpha * ln(1 + exp(Beta * input)).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``beta``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.parametric_softplus(x, alpha=2, beta=0.5).tolist()
    [0.5038581490516663, 1.151878833770752, 2.2737419605255127, 3.4028265476226807]
    """
    return _parametric_softplus(input, alpha, beta, out, device)


_relu = _function_of("ACTIVATION_RELU", (), (), ("out", "device"))


def relu(input, /, *, out=None, device=None):
    """DirectML's ACTIVATION_RELU: max(0, input).

    Types in DirectML: ``input`` float16, float32 and int8 to int32.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.relu(x).tolist()
    [0.0, 0.0, 1.5, 3.0]
    """
    return _relu(input, out, device)


_scaled_elu = _function_of("ACTIVATION_SCALED_ELU", ("Alpha", "Gamma"), (), ("out", "device"))


def scaled_elu(input, /, *, alpha=1.6732632423543772, gamma=1.0507009873554805, out=None, device=None):
    """DirectML's ACTIVATION_SCALED_ELU: input > 0 ? Gamma * input : Gamma * (Alpha * exp(input) - Alpha).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``gamma``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.scaled_elu(x, alpha=1.5, gamma=2).tolist()
    [-2.7537450790405273, -1.180408000946045, 3.0, 6.0]
    """
    return _scaled_elu(input, alpha, gamma, out, device)


_scaled_tanh = _function_of("ACTIVATION_SCALED_TANH", ("Alpha", "Beta"), (), ("out", "device"))


def scaled_tanh(input, /, *, alpha=1.0, beta=1.0, out=None, device=None):
    """DirectML's ACTIVATION_SCALED_TANH: Alpha * tanh(Beta * input).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``beta``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.scaled_tanh(x, alpha=2, beta=0.5).tolist()
    [-1.6965672969818115, -0.48983731865882874, 1.270297884941101, 1.8102965354919434]
    """
    return _scaled_tanh(input, alpha, beta, out, device)


@_ufunc("ACTIVATION_SIGMOID")
def sigmoid(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
            device=None):
    """DirectML's ACTIVATION_SIGMOID: 1 / (1 + exp(-x)), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.sigmoid(x).tolist()
    [0.07585818320512772, 0.3775406777858734, 0.8175745010375977, 0.9525741338729858]
    """


_softmax = _function_of("ACTIVATION_SOFTMAX", (), (), ("out", "device"))


def softmax(input, /, *, axis=None, out=None, device=None):
    """DirectML's ACTIVATION_SOFTMAX: exp(x_i) / sum_j(exp(x_j))   along the last dimension of the effective 2-D
    tensor.

    Types in DirectML: ``input`` float16 and float32.
    The rows are along the last axis, or along ``axis``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[0.0, 0.0, 0.6931471824645996], [200.0, 0.0, 0.0]])
    >>> anydml.softmax(x).tolist()
    [[0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]
    """
    if axis is None:
        return _softmax(input, out, device)
    return _over_axes(_softmax, "ACTIVATION_SOFTMAX", input, axis=axis, out=out, device=device)


_softplus = _function_of("ACTIVATION_SOFTPLUS", ("Steepness",), (), ("out", "device"))


def softplus(input, /, *, steepness=1.0, out=None, device=None):
    """DirectML's ACTIVATION_SOFTPLUS: ln(1 + exp(Steepness * input)) / Steepness.

    Types in DirectML: ``input`` float16 and float32.
    ``steepness``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.softplus(x, steepness=2).tolist()
    [0.003357674228027463, 0.15663084387779236, 1.5242936611175537, 3.0012378692626953]
    """
    return _softplus(input, steepness, out, device)


@_ufunc("ACTIVATION_SOFTSIGN")
def softsign(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
             device=None):
    """DirectML's ACTIVATION_SOFTSIGN: x / (1 + abs(x)), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.softsign(x).tolist()
    [-0.7142857313156128, -0.3333333432674408, 0.6000000238418579, 0.75]
    """


@_ufunc("ACTIVATION_TANH")
def activation_tanh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True,
                    signature=None, device=None):
    """DirectML's ACTIVATION_TANH: (1 - exp(-2 * x)) / (1 + exp(-2 * x)), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.activation_tanh(x).tolist()
    [-0.9866142868995667, -0.46211716532707214, 0.9051482677459717, 0.9950547814369202]
    """


_thresholded_relu = _function_of("ACTIVATION_THRESHOLDED_RELU", ("Alpha",), (), ("out", "device"))


def thresholded_relu(input, /, *, alpha=1.0, out=None, device=None):
    """DirectML's ACTIVATION_THRESHOLDED_RELU: input > Alpha ? input : 0.

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.thresholded_relu(x, alpha=2).tolist()
    [0.0, 0.0, 0.0, 3.0]
    """
    return _thresholded_relu(input, alpha, out, device)


_convolution = _function_of("CONVOLUTION",
                            ("Mode", "Direction", "Strides", "Dilations", "StartPadding", "EndPadding", "OutputPadding", "GroupCount"),
                            ("FusedActivation",), ("out", "shape", "device"))


def convolution(input, filter, /, bias=None, *, mode='CROSS_CORRELATION', direction='FORWARD', strides=None,
                dilations=None, start_padding=None, end_padding=None, output_padding=None, group_count=1,
                fused_activation=None, out=None, shape=None, device=None):
    """DirectML's CONVOLUTION: FusedActivation(conv(Input, Filter) + Bias broadcast per output channel).

    Types in DirectML: ``input``, ``filter`` and ``bias`` float16 and float32.
    ``input``, ``filter`` and ``bias`` must have the same type.
    ``mode``: 'CONVOLUTION' or 'CROSS_CORRELATION'.
    ``direction``: 'FORWARD' or 'BACKWARD'.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``output_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``group_count``: a nonnegative integer.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.
    ``bias`` may have one dimension, with a number for each output channel.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> filter = np.float32([[[[1, 0], [0, -1]]]])
    >>> bias = np.float32([[[[0.5]]]])
    >>> anydml.convolution(x, filter, bias).tolist()
    [[[[-4.5, -4.5, -4.5]]]]
    """
    return _convolution(input, filter, bias, mode, direction, strides, dilations, start_padding, end_padding,
                        output_padding, group_count, fused_activation, out, shape, device)


_gemm = _function_of("GEMM", ("TransA", "TransB", "Alpha", "Beta"), ("FusedActivation",), ("out", "shape", "device"))


def gemm(a, b, /, c=None, *, trans_a='NONE', trans_b='NONE', alpha=1.0, beta=1.0, fused_activation=None, out=None,
         shape=None, device=None):
    """DirectML's GEMM: FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C).

    Types in DirectML: ``a``, ``b`` and ``c`` float16 and float32.
    ``a``, ``b`` and ``c`` must have the same type.
    ``trans_a``: 'NONE' or 'TRANSPOSE'.
    ``trans_b``: 'NONE' or 'TRANSPOSE'.
    ``alpha``: a number.
    ``beta``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.
    ``c`` is broadcast to the shape of the product according to NumPy's rules.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([[1, 2], [3, 4]])
    >>> b = np.float32([[5, 6], [7, 8]])
    >>> c = np.float32([[0.5, 0.5], [-0.5, -0.5]])
    >>> anydml.gemm(a, b, c).tolist()
    [[19.5, 22.5], [42.5, 49.5]]
    """
    return _gemm(a, b, c, trans_a, trans_b, alpha, beta, fused_activation, out, shape, device)


_reduce = _function_of("REDUCE", ("Function", "Axes"), (), ("out", "dtype", "shape", "device"))


def reduce(input, /, *, function, axes=None, axis=None, keepdims=None, out=None, dtype=None, shape=None, device=None):
    """DirectML's REDUCE: ARGMAX/ARGMIN: index; AVERAGE: sum(input)/n; L1: sum|input|; L2: sqrt(sum input^2); LOG_SUM:
    ln(sum input); LOG_SUM_EXP: ln(sum exp(input)); MAX; MIN; MULTIPLY: prod input; SUM: sum input; SUM_SQUARE: sum
    input^2 - over Axes.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``function``: 'ARGMAX', 'ARGMIN', 'AVERAGE', 'L1', 'L2', 'LOG_SUM', 'LOG_SUM_EXP', 'MAX', 'MIN', 'MULTIPLY', 'SUM'
    or 'SUM_SQUARE'.
    ``axes``: one axis or several; negative numbers count from the end. These axes are kept, with size 1. ``axis`` is
    the same, but removes the axes, as NumPy does. Without either, all axes are reduced and removed. ``keepdims``
    overrides this.
    The result has the type of ``input``. For 'ARGMAX' and 'ARGMIN' it is int64 by default; ``dtype`` may be int32,
    int64, uint32 or uint64.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.reduce(x, function="SUM", axes=[1]).tolist()
    [[9.0], [13.0]]
    """
    if axis is None and keepdims is None and axes is not None:
        return _reduce(input, function, axes, out, dtype, shape, device)
    return _over_axes(_reduce, "REDUCE", input, Function=function, Axes=axes, axis=axis, keepdims=keepdims, out=out,
                      dtype=dtype, shape=shape, device=device)


_average_pooling = _function_of("AVERAGE_POOLING",
                                ("Strides", "WindowSize", "StartPadding", "EndPadding", "IncludePadding"), (),
                                ("out", "shape", "device"))


def average_pooling(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, include_padding=False,
                    out=None, shape=None, device=None):
    """DirectML's AVERAGE_POOLING: sum(window) / n   n = window elements (IncludePadding) or non-padding window
    elements.

    Types in DirectML: ``input`` float16 and float32.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``include_padding``: true or false.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.average_pooling(x, strides=[2, 2], window_size=[2, 2]).tolist()
    [[[[3.5, 5.5]]]]
    """
    return _average_pooling(input, strides, window_size, start_padding, end_padding, include_padding, out, shape,
                            device)


_lp_pooling = _function_of("LP_POOLING", ("Strides", "WindowSize", "StartPadding", "EndPadding", "P"), (),
                           ("out", "shape", "device"))


def lp_pooling(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, p=2, out=None, shape=None,
               device=None):
    """DirectML's LP_POOLING: (X1^P + ... + Xn^P)^(1/P) over the window.

    Types in DirectML: ``input`` float16 and float32.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``p``: a nonnegative integer.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.lp_pooling(x, strides=[2, 2], window_size=[2, 2], p=1).tolist()
    [[[[14.0, 22.0]]]]
    """
    return _lp_pooling(input, strides, window_size, start_padding, end_padding, p, out, shape, device)


_max_pooling = _function_of("MAX_POOLING", ("Strides", "WindowSize", "StartPadding", "EndPadding"), (),
                            ("out", "shape", "device"))


def max_pooling(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, out=None, shape=None,
                device=None):
    """DirectML's MAX_POOLING: max(window).

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.max_pooling(x, strides=[2, 2], window_size=[2, 2]).tolist()
    [[[[6.0, 8.0]]]]
    """
    return _max_pooling(input, strides, window_size, start_padding, end_padding, out, shape, device)


_roi_pooling = _function_of("ROI_POOLING", ("SpatialScale", "PooledSize"), (), ("out", "shape", "device"))


def roi_pooling(input, roi, /, *, spatial_scale=1.0, pooled_size, out=None, shape=None, device=None):
    """DirectML's ROI_POOLING: x = round(RoiX * SpatialScale) (same for y); H = y2-y1+1; W = x2-x1+1; StartY =
    Y*H/PooledSize.Height + y1; EndY = ((Y+1)*H + PooledSize.Height-1)/PooledSize.Height + y1 (same for X); out =
    max(region).

    Types in DirectML: ``input`` and ``roi`` float16 and float32.
    ``input`` and ``roi`` must have the same type.
    ``spatial_scale``: a number.
    ``pooled_size``: a width and a height.
    The result has the same type as ``input`` and ``roi``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> roi = np.float32([[[[0, 1, 0, 3, 1]]]])
    >>> anydml.roi_pooling(x, roi, pooled_size=[2, 1]).tolist()
    [[[[7.0, 8.0]]]]
    """
    return _roi_pooling(input, roi, spatial_scale, pooled_size, out, shape, device)


_slice_ = _function_of("SLICE", ("Offsets", "Sizes", "Strides"), (), ("out", "shape", "device"))


def slice_(input, /, *, offsets, sizes, strides=None, out=None, shape=None, device=None):
    """DirectML's SLICE: out[c] = input[Offsets + Strides * c].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``offsets``: a sequence of nonnegative integers.
    ``sizes``: a sequence of nonnegative integers.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.slice_(x, offsets=[0, 0], sizes=[1, 2], strides=[1, 2]).tolist()
    [[1.0, 3.0]]
    """
    return _slice_(input, offsets, sizes, strides, out, shape, device)


_cast = _function_of("CAST", (), (), ("out", "dtype", "device"))


def cast(input, /, *, out=None, dtype=None, device=None):
    """DirectML's CAST: out = (OutputTensor.DataType) input.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    The result has type ``dtype``, which may be float16 to float64, int8 to int64, or uint8 to uint64.
    When casting to bool, nonzero elements become True, as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.cast(x, dtype="int8").tolist()
    [-2, 0, 1, 3]
    """
    return _cast(input, out, dtype, device)


_split = _function_of("SPLIT", ("Axis",), (), ("out", "shape", "device"))


def split(input, /, *, axis=0, out=None, shape=None, device=None):
    """DirectML's SPLIT: OutputTensors = consecutive pieces of InputTensor along Axis.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``axis``: an axis; negative numbers count from the end.
    The results have the shapes in ``shape`` and the type of ``input``.
    Unlike ``numpy.split``, it takes the shapes of the parts, and returns new arrays.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> [one.tolist() for one in anydml.split(x, axis=1, shape=((2, 1), (2, 2)))]
    [[[1.0], [2.0]], [[5.0, 3.0], [2.0, 9.0]]]
    """
    return _split(input, axis, out, shape, device)


_join = _function_of("JOIN", ("Axis",), (), ("out", "shape", "device"))


def join(inputs, /, *, axis=0, out=None, shape=None, device=None):
    """DirectML's JOIN: out = concatenation of InputTensors along Axis.

    Types in DirectML: ``inputs`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``axis``: an axis; negative numbers count from the end.
    The result has the type of ``inputs``.

    >>> import anydml
    >>> import numpy as np
    >>> inputs = [np.float32([[1], [2]]), np.float32([[5, 3], [2, 9]])]
    >>> anydml.join(inputs, axis=1).tolist()
    [[1.0, 5.0, 3.0], [2.0, 2.0, 9.0]]
    """
    return _join(inputs, axis, out, shape, device)


_padding = _function_of("PADDING", ("PaddingMode", "PaddingValue", "StartPadding", "EndPadding"), (),
                        ("out", "shape", "device"))


def padding(input, /, *, padding_mode='CONSTANT', padding_value=0, start_padding=None, end_padding=None, out=None,
            shape=None, device=None):
    """DirectML's PADDING: out[c] = input[c - StartPadding] inside, PaddingMode value outside.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``padding_mode``: 'CONSTANT', 'EDGE', 'REFLECTION', 'SYMMETRIC' or 'WRAP'.
    ``padding_value``: a number.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, 5, 3])
    >>> anydml.padding(x, padding_mode="REFLECTION", start_padding=[2], end_padding=[1]).tolist()
    [3.0, 5.0, 1.0, 5.0, 3.0, 5.0]
    """
    return _padding(input, padding_mode, padding_value, start_padding, end_padding, out, shape, device)


_value_scale_2d = _function_of("VALUE_SCALE_2D", ("Scale", "Bias"), (), ("out", "device"))


def value_scale_2d(input, /, *, scale=1.0, bias=None, out=None, device=None):
    """DirectML's VALUE_SCALE_2D: Scale * input + Bias[channel].

    Types in DirectML: ``input`` float16 and float32.
    ``scale``: a number.
    ``bias``: a sequence of numbers (default: 0 for each channel).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1]], [[2]], [[3]]]])
    >>> anydml.value_scale_2d(x, scale=2, bias=[0, 1, 2]).tolist()
    [[[[2.0]], [[5.0]], [[8.0]]]]
    """
    return _value_scale_2d(input, scale, bias, out, device)


_upsample_2d = _function_of("UPSAMPLE_2D", ("ScaleSize", "InterpolationMode"), (), ("out", "shape", "device"))


def upsample_2d(input, /, *, scale_size, interpolation_mode='NEAREST_NEIGHBOR', out=None, shape=None, device=None):
    """DirectML's UPSAMPLE_2D.

    Types in DirectML: ``input`` float16 and float32.
    ``scale_size``: a width and a height.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2]]]])
    >>> anydml.upsample_2d(x, scale_size=[2, 2]).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """
    return _upsample_2d(input, scale_size, interpolation_mode, out, shape, device)


_gather = _function_of("GATHER", ("Axis", "IndexDimensions"), (), ("out", "shape", "device"))


def gather(input, indices, /, *, axis=0, index_dimensions=None, out=None, shape=None, device=None):
    """DirectML's GATHER: out[lead, k..., trail] = input[lead, indices[k...], trail]   (split at Axis).

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices`` int32, int64, uint32
    and uint64.
    ``axis``: an axis; negative numbers count from the end.
    ``index_dimensions``: a nonnegative integer (default: ``indices.ndim``).
    The result has the type of ``input``.
    Without ``index_dimensions``, the dimensions of ``indices`` replace the axis, as in ``numpy.take``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.int32([[1, -2]])
    >>> anydml.gather(x, indices, index_dimensions=1).tolist()
    [[2.0, 2.0, 9.0], [1.0, 5.0, 3.0]]
    """
    return _gather(input, indices, axis, index_dimensions, out, shape, device)


_space_to_depth = _function_of("SPACE_TO_DEPTH", ("BlockSize",), (), ("out", "shape", "device"))


def space_to_depth(input, /, *, block_size, out=None, shape=None, device=None):
    """DirectML's SPACE_TO_DEPTH: order DEPTH_COLUMN_ROW: [N,C,(H,BH),(W,BW)] -> [N,(BH,BW,C),H,W].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``block_size``: a nonnegative integer.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.space_to_depth(x, block_size=2).tolist()
    [[[[1.0, 3.0]], [[2.0, 4.0]], [[5.0, 7.0]], [[6.0, 8.0]]]]
    """
    return _space_to_depth(input, block_size, out, shape, device)


_depth_to_space = _function_of("DEPTH_TO_SPACE", ("BlockSize",), (), ("out", "shape", "device"))


def depth_to_space(input, /, *, block_size, out=None, shape=None, device=None):
    """DirectML's DEPTH_TO_SPACE: order DEPTH_COLUMN_ROW: [N,(BH,BW,C),H,W] -> [N,C,(H,BH),(W,BW)].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``block_size``: a nonnegative integer.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2]], [[3, 4]], [[5, 6]], [[7, 8]]]])
    >>> anydml.depth_to_space(x, block_size=2).tolist()
    [[[[1.0, 3.0, 2.0, 4.0], [5.0, 7.0, 6.0, 8.0]]]]
    """
    return _depth_to_space(input, block_size, out, shape, device)


_tile = _function_of("TILE", ("Repeats",), (), ("out", "shape", "device"))


def tile(input, /, repeats, *, out=None, shape=None, device=None):
    """DirectML's TILE: out[c] = input[c mod InputTensor.Sizes].

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``repeats``: a sequence of nonnegative integers.
    The result has the type of ``input``.
    ``repeats`` may be one number, or fewer numbers than dimensions, as for ``numpy.tile``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 2]])
    >>> anydml.tile(x, repeats=[2, 2]).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    return _tile(input, repeats, out, shape, device)


_top_k = _function_of("TOP_K", ("Axis", "K"), (), ("out", "dtype", "shape", "device"))


def top_k(input, /, *, axis=-1, k, out=None, dtype=None, shape=None, device=None):
    """DirectML's TOP_K: K largest along Axis, sorted descending, with their indices.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``axis``: an axis; negative numbers count from the end.
    ``k``: a nonnegative integer.
    The result ``output_value`` has the type of ``input``.
    The result ``output_index`` is uint32 by default; ``dtype`` may be uint32 or uint64.
    For PyTorch tensors, the indices are int64, like PyTorch's own; for NumPy arrays, request that with ``dtype=(None,
    'int64')``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> [one.tolist() for one in anydml.top_k(x, axis=1, k=2)]
    [[[5.0, 3.0], [9.0, 2.0]], [[1, 2], [2, 0]]]
    """
    return _top_k(input, axis, k, out, dtype, shape, device)


_batch_normalization = _function_of("BATCH_NORMALIZATION", ("Spatial", "Epsilon"), ("FusedActivation",),
                                    ("out", "device"))


def batch_normalization(input, mean, variance, scale, bias, /, *, spatial=True, epsilon=1e-05, fused_activation=None,
                        out=None, device=None):
    """DirectML's BATCH_NORMALIZATION: FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias).

    Types in DirectML: ``input``, ``mean``, ``variance``, ``scale`` and ``bias`` float16 and float32.
    ``input``, ``mean``, ``variance``, ``scale`` and ``bias`` must have the same type.
    ``spatial``: true or false.
    ``epsilon``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 3]], [[1, 5]]]])
    >>> mean = np.float32([[[[1]], [[4]]]])
    >>> variance = np.float32([[[[4]], [[0.25]]]])
    >>> scale = np.float32([[[[1]], [[1]]]])
    >>> bias = np.float32([[[[0]], [[1]]]])
    >>> anydml.batch_normalization(x, mean, variance, scale, bias, epsilon=0).tolist()
    [[[[0.0, 1.0]], [[-5.0, 3.0]]]]
    """
    return _batch_normalization(input, mean, variance, scale, bias, spatial, epsilon, fused_activation, out, device)


_mean_variance_normalization = _function_of("MEAN_VARIANCE_NORMALIZATION",
                                            ("CrossChannel", "NormalizeVariance", "Epsilon"), ("FusedActivation",),
                                            ("out", "device"))


def mean_variance_normalization(input, /, scale=None, bias=None, *, cross_channel=False, normalize_variance=True,
                                epsilon=1e-05, fused_activation=None, out=None, device=None):
    """DirectML's MEAN_VARIANCE_NORMALIZATION: FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) +
    Bias); NormalizeVariance FALSE: FusedActivation(Scale * (Input - Mean) + Bias).

    Types in DirectML: ``input``, ``scale`` and ``bias`` float16 and float32.
    ``input``, ``scale`` and ``bias`` must have the same type.
    ``cross_channel``: true or false.
    ``normalize_variance``: true or false.
    ``epsilon``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 3]], [[1, 5]]]])
    >>> scale = np.float32([[[[1]], [[2]]]])
    >>> bias = np.float32([[[[0]], [[1]]]])
    >>> anydml.mean_variance_normalization(x, scale, bias, epsilon=0).tolist()
    [[[[-1.0, 1.0]], [[-1.0, 3.0]]]]
    """
    return _mean_variance_normalization(input, scale, bias, cross_channel, normalize_variance, epsilon,
                                        fused_activation, out, device)


_local_response_normalization = _function_of("LOCAL_RESPONSE_NORMALIZATION",
                                             ("CrossChannel", "LocalSize", "Alpha", "Beta", "Bias"), (),
                                             ("out", "device"))


def local_response_normalization(input, /, *, cross_channel=True, local_size, alpha=0.0001, beta=0.75, bias=1.0,
                                 out=None, device=None):
    """DirectML's LOCAL_RESPONSE_NORMALIZATION: Input / (Bias + (Alpha / LocalSize) * sum(Input^2 over the local
    region))^Beta.

    Types in DirectML: ``input`` float16 and float32.
    ``cross_channel``: true or false.
    ``local_size``: a nonnegative integer.
    ``alpha``: a number.
    ``beta``: a number.
    ``bias``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[3, 6]], [[4, 8]]]])
    >>> anydml.local_response_normalization(x, local_size=2, alpha=2, beta=0.5, bias=0).tolist()
    [[[[0.6000000238418579, 0.6000000238418579]], [[1.0, 1.0]]]]
    """
    return _local_response_normalization(input, cross_channel, local_size, alpha, beta, bias, out, device)


_lp_normalization = _function_of("LP_NORMALIZATION", ("Axis", "Epsilon", "P"), (), ("out", "device"))


def lp_normalization(input, /, *, axis=-1, epsilon=1e-05, p=2, out=None, device=None):
    """DirectML's LP_NORMALIZATION.

    Types in DirectML: ``input`` float16 and float32.
    ``axis``: an axis; negative numbers count from the end.
    ``epsilon``: a number.
    ``p``: a nonnegative integer.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[3, 4], [0, 0]])
    >>> anydml.lp_normalization(x, axis=1).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    return _lp_normalization(input, axis, epsilon, p, out, device)


_rnn = _function_of("RNN", ("ActivationDescs", "Direction"), (), ("out", "shape", "device"))


def rnn(input, weight, recurrence, /, bias=None, hidden_init=None, sequence_lengths=None, *, activation_descs=None,
        direction='FORWARD', out=None, shape=None, device=None):
    """DirectML's RNN: Ht = f(Xt*Wi^T + H(t-1)*Ri^T + Wbi + Rbi); t ascending forward, descending backward with the B
    weights.

    Types in DirectML: ``input``, ``weight``, ``recurrence``, ``bias`` and ``hidden_init`` float16 and float32;
    ``sequence_lengths`` uint32.
    ``input``, ``weight``, ``recurrence``, ``bias`` and ``hidden_init`` must have the same type.
    ``activation_descs``: a sequence of `Operator` (default: tanh).
    ``direction``: 'FORWARD', 'BACKWARD' or 'BIDIRECTIONAL'.
    The optional result ``output_sequence`` has the type of ``input``.
    The optional result ``output_single`` has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1]], [[2]]]])
    >>> weight = np.float32([[[[2]]]])
    >>> recurrence = np.float32([[[[0.5]]]])
    >>> [one.tolist() for one in anydml.rnn(x, weight, recurrence, None, None, None,
    ...                                     activation_descs=[anydml.Operator("ACTIVATION_RELU")], out=(True, True))]
    [[[[[2.0]]], [[[5.0]]]], [[[[5.0]]]]]
    """
    return _rnn(input, weight, recurrence, bias, hidden_init, sequence_lengths, activation_descs, direction, out, shape,
                device)


_lstm = _function_of("LSTM", ("ActivationDescs", "Direction", "ClipThreshold", "UseClipThreshold", "CoupleInputForget"),
                     (), ("out", "shape", "device"))


def lstm(input, weight, recurrence, /, bias=None, hidden_init=None, cell_mem_init=None, sequence_lengths=None,
         peephole=None, *, activation_descs=None, direction='FORWARD', clip_threshold=0.0, use_clip_threshold=False,
         couple_input_forget=False, out=None, shape=None, device=None):
    """DirectML's LSTM: it = f(clip(Xt*Wi^T + H(t-1)*Ri^T + Pi.C(t-1) + Wbi + Rbi)); CoupleInputForget==0: ft =
    f(clip(Xt*Wf^T + H(t-1)*Rf^T + Pf.C(t-1) + Wbf + Rbf)), else ft = 1 - it; ct = g(clip(Xt*Wc^T + H(t-1)*Rc^T +
    Wbc + Rbc)); Ct = ft.C(t-1) + it.ct; ot = f(clip(Xt*Wo^T + H(t-1)*Ro^T + Po.Ct + Wbo + Rbo)); Ht = ot.h(Ct); t
    ascending forward, descending backward with the B weights.

    Types in DirectML: ``input``, ``weight``, ``recurrence``, ``bias``, ``hidden_init``, ``cell_mem_init`` and
    ``peephole`` float16 and float32; ``sequence_lengths`` uint32.
    ``input``, ``weight``, ``recurrence``, ``bias``, ``hidden_init``, ``cell_mem_init`` and ``peephole`` must have the
    same type.
    ``activation_descs``: a sequence of `Operator` (default: sigmoid, tanh and tanh).
    ``direction``: 'FORWARD', 'BACKWARD' or 'BIDIRECTIONAL'.
    ``clip_threshold``: a number.
    ``use_clip_threshold``: true or false.
    ``couple_input_forget``: true or false.
    The optional result ``output_sequence`` has the type of ``input``.
    The optional result ``output_single`` has the type of ``input``.
    The optional result ``output_cell_single`` has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1]], [[2]]]])
    >>> weight = np.float32([[[[1], [2], [0.5], [1]]]])
    >>> recurrence = np.float32([[[[0], [0], [0], [1]]]])
    >>> [one.tolist() for one in anydml.lstm(x, weight, recurrence, None, None, None, None, None,
    ...                                      activation_descs=[anydml.Operator("ACTIVATION_RELU"), anydml.Operator("ACTIVATION_IDENTITY"), anydml.Operator("ACTIVATION_IDENTITY")],
    ...                                      out=(True, True, True))]
    [[[[[2.0]]], [[[36.0]]]], [[[[36.0]]]], [[[[9.0]]]]]
    """
    return _lstm(input, weight, recurrence, bias, hidden_init, cell_mem_init, sequence_lengths, peephole,
                 activation_descs, direction, clip_threshold, use_clip_threshold, couple_input_forget, out, shape,
                 device)


_gru = _function_of("GRU", ("ActivationDescs", "Direction", "LinearBeforeReset"), (), ("out", "shape", "device"))


def gru(input, weight, recurrence, /, bias=None, hidden_init=None, sequence_lengths=None, *, activation_descs=None,
        direction='FORWARD', linear_before_reset=False, out=None, shape=None, device=None):
    """DirectML's GRU: zt = f(Xt*Wz^T + H(t-1)*Rz^T + Wbz + Rbz); rt = f(Xt*Wr^T + H(t-1)*Rr^T + Wbr + Rbr);
    LinearBeforeReset==0: ht = g(Xt*Wh^T + (rt.H(t-1))*Rh^T + Wbh + Rbh), else ht = g(Xt*Wh^T + (rt.(H(t-1)*Rh^T +
    Rbh)) + Wbh); Ht = (1-zt).ht + zt.H(t-1); t ascending forward, descending backward with the B weights.

    Types in DirectML: ``input``, ``weight``, ``recurrence``, ``bias`` and ``hidden_init`` float16 and float32;
    ``sequence_lengths`` uint32.
    ``input``, ``weight``, ``recurrence``, ``bias`` and ``hidden_init`` must have the same type.
    ``activation_descs``: a sequence of `Operator` (default: sigmoid and tanh).
    ``direction``: 'FORWARD', 'BACKWARD' or 'BIDIRECTIONAL'.
    ``linear_before_reset``: true or false.
    The optional result ``output_sequence`` has the type of ``input``.
    The optional result ``output_single`` has the type of ``input``.
    PyTorch's GRU has ``linear_before_reset=True``; ONNX's default is False.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1]], [[1]]]])
    >>> weight = np.float32([[[[0.5], [1], [1]]]])
    >>> recurrence = np.float32([[[[0], [0], [1]]]])
    >>> [one.tolist() for one in anydml.gru(x, weight, recurrence, None, None, None,
    ...                                     activation_descs=[anydml.Operator("ACTIVATION_RELU"), anydml.Operator("ACTIVATION_IDENTITY")],
    ...                                     out=(True, True))]
    [[[[[0.5]]], [[[1.0]]]], [[[[1.0]]]]]
    """
    return _gru(input, weight, recurrence, bias, hidden_init, sequence_lengths, activation_descs, direction,
                linear_before_reset, out, shape, device)


_sign = _function_of("ELEMENT_WISE_SIGN", (), (), ("out", "device"))


def sign(input, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_SIGN: input < 0 ? -1 : (input > 0 ? 1 : 0)   (-0.0 gives 0), element by element.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    The result has the type of ``input``.
    Unlike ``numpy.sign``, it returns 0 for NaN.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.sign(x).tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """
    return _sign(input, out, device)


_is_nan = _function_of("ELEMENT_WISE_IS_NAN", (), (), ("out", "dtype", "device"))


def is_nan(input, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_IS_NAN: isnan(input) ? 1 : 0, element by element.

    Types in DirectML: ``input`` float16 and float32.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, np.nan, np.inf])
    >>> anydml.is_nan(x).tolist()
    [0, 1, 0]
    """
    return _is_nan(input, out, dtype, device)


@_ufunc("ELEMENT_WISE_ERF")
def erf(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
        device=None):
    """DirectML's ELEMENT_WISE_ERF: 2 / sqrt(pi) * integrate( i = 0 to x, exp(-(i^2)) ), element by element and
    correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ERF', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.erf(x).tolist()
    [-0.9995930194854736, -0.5204998850822449, 0.9661051630973816, 0.9999778866767883]
    """


@_ufunc("ELEMENT_WISE_SINH")
def sinh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_SINH: sinh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_SINH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.sinh(x).tolist()
    [-6.050204277038574, -0.5210952758789062, 2.129279375076294, 10.017874717712402]
    """


@_ufunc("ELEMENT_WISE_COSH")
def cosh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_COSH: cosh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_COSH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.cosh(x).tolist()
    [6.132289409637451, 1.1276259422302246, 2.352409601211548, 10.067662239074707]
    """


@_ufunc("ELEMENT_WISE_TANH")
def tanh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ELEMENT_WISE_TANH: tanh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_TANH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.tanh(x).tolist()
    [-0.9866142868995667, -0.46211716532707214, 0.9051482677459717, 0.9950547814369202]
    """


@_ufunc("ELEMENT_WISE_ASINH")
def asinh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
          device=None):
    """DirectML's ELEMENT_WISE_ASINH: asinh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ASINH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.asinh(x).tolist()
    [-1.647231101989746, -0.4812118113040924, 1.19476318359375, 1.8184465169906616]
    """


@_ufunc("ELEMENT_WISE_ACOSH")
def acosh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
          device=None):
    """DirectML's ELEMENT_WISE_ACOSH: acosh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ACOSH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, 1.5, 3, 10])
    >>> anydml.acosh(x).tolist()
    [0.0, 0.9624236226081848, 1.7627471685409546, 2.993222951889038]
    """


@_ufunc("ELEMENT_WISE_ATANH")
def atanh(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
          device=None):
    """DirectML's ELEMENT_WISE_ATANH: atanh(x), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.
    For DirectML's ScaleBias, use `run`: run('ELEMENT_WISE_ATANH', x, Scale=2, Bias=1).

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-0.75, -0.5, 0.25, 0.5])
    >>> anydml.atanh(x).tolist()
    [-0.972955048084259, -0.5493061542510986, 0.2554128170013428, 0.5493061542510986]
    """


_element_wise_if = _function_of("ELEMENT_WISE_IF", (), (), ("out", "device"))


def element_wise_if(condition, a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_IF: cond != 0 ? a : b, element by element.

    Types in DirectML: ``condition`` uint8; ``a`` and ``b`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> condition = np.uint8([1, 0, 2])
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([10, 20, 30])
    >>> anydml.element_wise_if(condition, a, b).tolist()
    [1.0, 20.0, 3.0]
    """
    return _element_wise_if(condition, a, b, out, device)


_add1 = _function_of("ELEMENT_WISE_ADD1", (), ("FusedActivation",), ("out", "device"))


def add1(a, b, /, *, fused_activation=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_ADD1: FusedActivation(a + b), element by element.

    Types in DirectML: ``a`` and ``b`` float16 and float32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    ``fused_activation``: an `Operator`, or None.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.add1(a, b, fused_activation=anydml.Operator("ACTIVATION_RELU")).tolist()
    [10.0, 0.0, 4.0, 0.0]
    """
    return _add1(a, b, fused_activation, out, device)


_shrink = _function_of("ACTIVATION_SHRINK", ("Bias", "Threshold"), (), ("out", "device"))


def shrink(input, /, *, bias=0.0, threshold=0.5, out=None, device=None):
    """DirectML's ACTIVATION_SHRINK: input > Threshold ? input - Bias : (input < -Threshold ? input + Bias : 0).

    Types in DirectML: ``input`` float16, float32, int8 to int32 and uint8 to uint32.
    ``bias``: a number.
    ``threshold``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.shrink(x, bias=0.5, threshold=1).tolist()
    [-2.0, 0.0, 1.0, 2.5]
    """
    return _shrink(input, bias, threshold, out, device)


_max_pooling1 = _function_of("MAX_POOLING1", ("Strides", "WindowSize", "StartPadding", "EndPadding"), (),
                             ("out", "dtype", "shape", "device"))


def max_pooling1(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, out=None, dtype=None,
                 shape=None, device=None):
    """DirectML's MAX_POOLING1: max(window); OutputIndices = linear index of it in InputTensor.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result ``output`` has the type of ``input``.
    The optional result ``output_indices`` is uint32 by default; ``dtype`` may be uint32 or uint64.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> [one.tolist() for one in anydml.max_pooling1(x, strides=[2, 2], window_size=[2, 2], out=(None, True))]
    [[[[[6.0, 8.0]]]], [[[[5, 7]]]]]
    """
    return _max_pooling1(input, strides, window_size, start_padding, end_padding, out, dtype, shape, device)


_max_unpooling = _function_of("MAX_UNPOOLING", (), (), ("out", "shape", "device"))


def max_unpooling(input, indices, /, *, out=None, shape=None, device=None):
    """DirectML's MAX_UNPOOLING: out = 0; out[indices[c]] = input[c]   (linear indices into OutputTensor).

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64; ``indices`` uint32 and uint64.
    The result has shape ``shape`` and the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[6, 8]]]])
    >>> indices = np.uint32([[[[5, 7]]]])
    >>> anydml.max_unpooling(x, indices, shape=(1, 1, 2, 4)).tolist()
    [[[[0.0, 0.0, 0.0, 0.0], [0.0, 6.0, 0.0, 8.0]]]]
    """
    return _max_unpooling(input, indices, out, shape, device)


_diagonal_matrix = _function_of("DIAGONAL_MATRIX", ("Offset", "Value"), (), ("out", "dtype", "shape", "device"))


def diagonal_matrix(*, offset=0, value=1.0, out=None, dtype=None, shape=None, device=None):
    """DirectML's DIAGONAL_MATRIX: out[..., y, x] = (y + Offset == x) ? Value : 0.

    ``offset``: an integer.
    ``value``: a number.
    The result has shape ``shape`` and type ``dtype``, which may be float16 to float64, int8 to int64, or uint8 to
    uint64.

    >>> import anydml
    >>> anydml.diagonal_matrix(offset=1, shape=(2, 3), dtype="float32").tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return _diagonal_matrix(offset, value, out, dtype, shape, device)


_scatter_elements = _function_of("SCATTER_ELEMENTS", ("Axis",), (), ("out", "device"))


def scatter_elements(input, indices, updates, /, *, axis=-1, out=None, device=None):
    """DirectML's SCATTER_ELEMENTS: out = input; out[c with coordinate Axis replaced by indices[c]] = updates[c].

    Types in DirectML: ``input`` and ``updates`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices``
    int32, int64, uint32 and uint64.
    ``input`` and ``updates`` must have the same type.
    ``axis``: an axis; negative numbers count from the end.
    The result has the same type as ``input`` and ``updates``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.int32([[2], [-2]])
    >>> updates = np.float32([[7], [8]])
    >>> anydml.scatter_elements(x, indices, updates, axis=1).tolist()
    [[1.0, 5.0, 7.0], [2.0, 8.0, 9.0]]
    """
    return _scatter_elements(input, indices, updates, axis, out, device)


_one_hot = _function_of("ONE_HOT", ("Axis",), (), ("out", "shape", "device"))


def one_hot(indices, values, /, *, axis=-1, out=None, shape=None, device=None):
    """DirectML's ONE_HOT: out[c] = (c[Axis] == indices[c with Axis 0]) ? OnValue : OffValue.

    Types in DirectML: ``indices`` int32, int64, uint32 and uint64; ``values`` float16 to float64, int8 to int64 and
    uint8 to uint64.
    ``axis``: an axis; negative numbers count from the end.
    The result has shape ``shape`` and the type of ``values``.
    If ``shape`` has one more dimension than ``indices``, the extra dimension is inserted at ``axis``, as in PyTorch.

    >>> import anydml
    >>> import numpy as np
    >>> indices = np.int32([[2], [-3]])
    >>> values = np.float32([[0, 1]])
    >>> anydml.one_hot(indices, values, axis=1, shape=(2, 3)).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return _one_hot(indices, values, axis, out, shape, device)


_resample = _function_of("RESAMPLE", ("InterpolationMode", "Scales"), (), ("out", "shape", "device"))


def resample(input, /, *, interpolation_mode='LINEAR', scales=None, out=None, shape=None, device=None):
    """DirectML's RESAMPLE: OutputX = (InputX + 0.5) * Scale - 0.5.

    Types in DirectML: ``input`` float16, float32, int8 and uint8.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``scales``: a sequence of numbers (default: the sizes of ``shape`` or ``out`` divided by the input's).
    The result has the type of ``input``. ``shape`` is needed only if the inputs do not determine the result's shape.
    Without ``shape`` and ``out``, each size is the input's multiplied by its scale and rounded down.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([0, 4])
    >>> anydml.resample(x, scales=[2]).tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    return _resample(input, interpolation_mode, scales, out, shape, device)


_bit_shift_left = _function_of("ELEMENT_WISE_BIT_SHIFT_LEFT", (), (), ("out", "device"))


def bit_shift_left(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_SHIFT_LEFT: (a << b), element by element.

    Types in DirectML: ``a`` and ``b`` uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([1, 5, 255, 1])
    >>> b = np.uint8([3, 1, 4, 8])
    >>> anydml.bit_shift_left(a, b).tolist()
    [8, 10, 240, 0]
    """
    return _bit_shift_left(a, b, out, device)


_bit_shift_right = _function_of("ELEMENT_WISE_BIT_SHIFT_RIGHT", (), (), ("out", "device"))


def bit_shift_right(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_SHIFT_RIGHT: (a >> b), element by element.

    Types in DirectML: ``a`` and ``b`` uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([8, 5, 255, 128])
    >>> b = np.uint8([3, 1, 4, 8])
    >>> anydml.bit_shift_right(a, b).tolist()
    [1, 2, 15, 0]
    """
    return _bit_shift_right(a, b, out, device)


_element_wise_round = _function_of("ELEMENT_WISE_ROUND", ("RoundingMode",), (), ("out", "device"))


def element_wise_round(input, /, *, rounding_mode='HALVES_TO_NEAREST_EVEN', out=None, device=None):
    """DirectML's ELEMENT_WISE_ROUND: HALVES_TO_NEAREST_EVEN: round to nearest, ties to even; TOWARD_ZERO: truncate;
    TOWARD_INFINITY: round to nearest, ties away from zero, element by element.

    Types in DirectML: ``input`` float16 and float32.
    ``rounding_mode``: 'HALVES_TO_NEAREST_EVEN', 'TOWARD_ZERO' or 'TOWARD_INFINITY'.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.element_wise_round(x).tolist()
    [-2.0, -0.0, 2.0, 3.0]
    """
    return _element_wise_round(input, rounding_mode, out, device)


_is_infinity = _function_of("ELEMENT_WISE_IS_INFINITY", ("InfinityMode",), (), ("out", "device"))


def is_infinity(input, /, *, infinity_mode='EITHER', out=None, device=None):
    """DirectML's ELEMENT_WISE_IS_INFINITY: isinf(input) && (InfinityMode == EITHER || (InfinityMode == POSITIVE &&
    input > 0) || (InfinityMode == NEGATIVE && input < 0)) ? 1 : 0, element by element.

    Types in DirectML: ``input`` float16 and float32.
    ``infinity_mode``: 'EITHER', 'POSITIVE' or 'NEGATIVE'.
    The result has type uint8.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, -np.inf, np.inf])
    >>> anydml.is_infinity(x).tolist()
    [0, 1, 1]
    """
    return _is_infinity(input, infinity_mode, out, device)


_fill_value_constant = _function_of("FILL_VALUE_CONSTANT", ("Value",), (), ("out", "dtype", "shape", "device"))


def fill_value_constant(*, value, out=None, dtype=None, shape=None, device=None):
    """DirectML's FILL_VALUE_CONSTANT: out[c] = Value.

    ``value``: a number.
    The result has shape ``shape`` and type ``dtype``, which may be float16 to float64, int8 to int64, or uint8 to
    uint64.

    >>> import anydml
    >>> anydml.fill_value_constant(value=7, shape=(2, 2), dtype="float32").tolist()
    [[7.0, 7.0], [7.0, 7.0]]
    """
    return _fill_value_constant(value, out, dtype, shape, device)


_fill_value_sequence = _function_of("FILL_VALUE_SEQUENCE", ("ValueStart", "ValueDelta"), (),
                                    ("out", "dtype", "shape", "device"))


def fill_value_sequence(*, value_start=0, value_delta=1, out=None, dtype=None, shape=None, device=None):
    """DirectML's FILL_VALUE_SEQUENCE: out[i] = ValueStart + i * ValueDelta   (i = element index).

    ``value_start``: a number.
    ``value_delta``: a number.
    The result has shape ``shape`` and type ``dtype``, which may be float16, float32, int8 to int64, or uint8 to uint64.

    >>> import anydml
    >>> anydml.fill_value_sequence(value_start=7, value_delta=-2, shape=(2, 2), dtype="int32").tolist()
    [[7, 5], [3, 1]]
    """
    return _fill_value_sequence(value_start, value_delta, out, dtype, shape, device)


_cumulative_summation = _function_of("CUMULATIVE_SUMMATION", ("Axis", "AxisDirection", "HasExclusiveSum"), (),
                                     ("out", "device"))


def cumulative_summation(input, /, *, axis=-1, axis_direction='INCREASING', has_exclusive_sum=False, out=None,
                         device=None):
    """DirectML's CUMULATIVE_SUMMATION: out[i] = sum(input[j], j <= i along Axis in AxisDirection); exclusive: j < i,
    first = 0.

    Types in DirectML: ``input`` float16, float32, int32, int64, uint32 and uint64.
    ``axis``: an axis; negative numbers count from the end.
    ``axis_direction``: 'INCREASING' or 'DECREASING'.
    ``has_exclusive_sum``: true or false.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.cumulative_summation(x, axis=1).tolist()
    [[1.0, 6.0, 9.0], [2.0, 4.0, 13.0]]
    """
    return _cumulative_summation(input, axis, axis_direction, has_exclusive_sum, out, device)


_reverse_subsequences = _function_of("REVERSE_SUBSEQUENCES", ("Axis",), (), ("out", "device"))


def reverse_subsequences(input, sequence_lengths, /, *, axis, out=None, device=None):
    """DirectML's REVERSE_SUBSEQUENCES: first len elements along Axis reversed, the rest copied.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64; ``sequence_lengths`` uint32 and
    uint64.
    ``axis``: an axis; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 2, 3, 4], [5, 6, 7, 8]])
    >>> sequence_lengths = np.uint32([[3], [2]])
    >>> anydml.reverse_subsequences(x, sequence_lengths, axis=1).tolist()
    [[3.0, 2.0, 1.0, 4.0], [6.0, 5.0, 7.0, 8.0]]
    """
    return _reverse_subsequences(input, sequence_lengths, axis, out, device)


_gather_elements = _function_of("GATHER_ELEMENTS", ("Axis",), (), ("out", "device"))


def gather_elements(input, indices, /, *, axis=-1, out=None, device=None):
    """DirectML's GATHER_ELEMENTS: out[c] = input[c with coordinate Axis replaced by indices[c]].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices`` int32, int64, uint32
    and uint64.
    ``axis``: an axis; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.int32([[2, 0], [-1, 1]])
    >>> anydml.gather_elements(x, indices, axis=1).tolist()
    [[3.0, 1.0], [9.0, 2.0]]
    """
    return _gather_elements(input, indices, axis, out, device)


_gather_nd = _function_of("GATHER_ND", ("InputDimensionCount", "IndicesDimensionCount"), (), ("out", "shape", "device"))


def gather_nd(input, indices, /, *, input_dimension_count=None, indices_dimension_count=None, out=None, shape=None,
              device=None):
    """DirectML's GATHER_ND: out[k..., trail] = input[indices[k..., :], trail].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices`` int32, int64, uint32
    and uint64.
    ``input_dimension_count``: a nonnegative integer (default: ``input.ndim``).
    ``indices_dimension_count``: a nonnegative integer (default: ``indices.ndim``).
    The result has the type of ``input``.
    The tensors may have different numbers of dimensions; the result has the shape of ONNX's GatherND.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.uint32([[1, 2], [0, 1]])
    >>> anydml.gather_nd(x, indices, input_dimension_count=2, indices_dimension_count=2).tolist()
    [[9.0, 5.0]]
    """
    return _gather_nd(input, indices, input_dimension_count, indices_dimension_count, out, shape, device)


_scatter_nd = _function_of("SCATTER_ND", ("InputDimensionCount", "IndicesDimensionCount"), (), ("out", "device"))


def scatter_nd(input, indices, updates, /, *, input_dimension_count=None, indices_dimension_count=None, out=None,
               device=None):
    """DirectML's SCATTER_ND: out = input; out[indices[k..., :], trail] = updates[k..., trail].

    Types in DirectML: ``input`` and ``updates`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices``
    int32, int64, uint32 and uint64.
    ``input`` and ``updates`` must have the same type.
    ``input_dimension_count``: a nonnegative integer (default: ``input.ndim``).
    ``indices_dimension_count``: a nonnegative integer (default: ``indices.ndim``).
    The result has the same type as ``input`` and ``updates``.
    The tensors may have different numbers of dimensions; the result has the shape of ONNX's ScatterND.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.uint32([[1, 0], [0, 2]])
    >>> updates = np.float32([[7, 8]])
    >>> anydml.scatter_nd(x, indices, updates, input_dimension_count=2, indices_dimension_count=2).tolist()
    [[1.0, 5.0, 8.0], [7.0, 2.0, 9.0]]
    """
    return _scatter_nd(input, indices, updates, input_dimension_count, indices_dimension_count, out, device)


_max_pooling2 = _function_of("MAX_POOLING2", ("Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations"), (),
                             ("out", "dtype", "shape", "device"))


def max_pooling2(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, dilations=None, out=None,
                 dtype=None, shape=None, device=None):
    """DirectML's MAX_POOLING2: max(dilated window); OutputIndices = linear index of it in InputTensor.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    The result ``output`` has the type of ``input``.
    The optional result ``output_indices`` is uint32 by default; ``dtype`` may be uint32 or uint64.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> [one.tolist() for one in anydml.max_pooling2(x, strides=[2, 2], window_size=[2, 2], out=(None, True))]
    [[[[[6.0, 8.0]]]], [[[[5, 7]]]]]
    """
    return _max_pooling2(input, strides, window_size, start_padding, end_padding, dilations, out, dtype, shape, device)


_slice1 = _function_of("SLICE1", ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"), (),
                       ("out", "shape", "device"))


def slice1(input, /, *, input_window_offsets, input_window_sizes, input_window_strides=None, out=None, shape=None,
           device=None):
    """DirectML's SLICE1: start[i] = InputWindowOffsets[i] + (InputWindowStrides[i] < 0 ? InputWindowSizes[i] - 1 : 0);
    out[c] = input[start + InputWindowStrides * c].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``input_window_offsets``: a sequence of nonnegative integers.
    ``input_window_sizes``: a sequence of nonnegative integers.
    ``input_window_strides``: a sequence of integers, or one for all dimensions (default: 1).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.slice1(x, input_window_offsets=[1, 0], input_window_sizes=[1, 3], input_window_strides=[1, -1]).tolist()
    [[9.0, 2.0, 2.0]]
    """
    return _slice1(input, input_window_offsets, input_window_sizes, input_window_strides, out, shape, device)


_top_k1 = _function_of("TOP_K1", ("Axis", "K", "AxisDirection"), (), ("out", "dtype", "shape", "device"))


def top_k1(input, /, *, axis=-1, k, axis_direction='DECREASING', out=None, dtype=None, shape=None, device=None):
    """DirectML's TOP_K1: K smallest ascending (AxisDirection INCREASING) or K largest descending (DECREASING) along
    Axis, with their indices.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``axis``: an axis; negative numbers count from the end.
    ``k``: a nonnegative integer.
    ``axis_direction``: 'INCREASING' or 'DECREASING'.
    The result ``output_value`` has the type of ``input``.
    The result ``output_index`` is uint32 by default; ``dtype`` may be uint32 or uint64.
    For PyTorch tensors, the indices are int64, like PyTorch's own; for NumPy arrays, request that with ``dtype=(None,
    'int64')``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> [one.tolist() for one in anydml.top_k1(x, axis=1, k=2, axis_direction="INCREASING")]
    [[[1.0, 3.0], [2.0, 2.0]], [[0, 2], [0, 1]]]
    """
    return _top_k1(input, axis, k, axis_direction, out, dtype, shape, device)


_depth_to_space1 = _function_of("DEPTH_TO_SPACE1", ("BlockSize", "Order"), (), ("out", "shape", "device"))


def depth_to_space1(input, /, *, block_size, order='DEPTH_COLUMN_ROW', out=None, shape=None, device=None):
    """DirectML's DEPTH_TO_SPACE1: DEPTH_COLUMN_ROW: [N,(BH,BW,C),H,W] -> [N,C,(H,BH),(W,BW)]; COLUMN_ROW_DEPTH:
    [N,(C,BH,BW),H,W] -> [N,C,(H,BH),(W,BW)].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``block_size``: a nonnegative integer.
    ``order``: 'DEPTH_COLUMN_ROW' or 'COLUMN_ROW_DEPTH'.
    The result has the type of ``input``.
    The order of PyTorch's pixel_shuffle and pixel_unshuffle is 'COLUMN_ROW_DEPTH'.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]], [[8]]]])
    >>> anydml.depth_to_space1(x, block_size=2, order="COLUMN_ROW_DEPTH").tolist()
    [[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]
    """
    return _depth_to_space1(input, block_size, order, out, shape, device)


_space_to_depth1 = _function_of("SPACE_TO_DEPTH1", ("BlockSize", "Order"), (), ("out", "shape", "device"))


def space_to_depth1(input, /, *, block_size, order='DEPTH_COLUMN_ROW', out=None, shape=None, device=None):
    """DirectML's SPACE_TO_DEPTH1: DEPTH_COLUMN_ROW: [N,C,(H,BH),(W,BW)] -> [N,(BH,BW,C),H,W]; COLUMN_ROW_DEPTH: ->
    [N,(C,BH,BW),H,W].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``block_size``: a nonnegative integer.
    ``order``: 'DEPTH_COLUMN_ROW' or 'COLUMN_ROW_DEPTH'.
    The result has the type of ``input``.
    The order of PyTorch's pixel_shuffle and pixel_unshuffle is 'COLUMN_ROW_DEPTH'.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]])
    >>> anydml.space_to_depth1(x, block_size=2).tolist()
    [[[[1.0]], [[5.0]], [[2.0]], [[6.0]], [[3.0]], [[7.0]], [[4.0]], [[8.0]]]]
    """
    return _space_to_depth1(input, block_size, order, out, shape, device)


_mean_variance_normalization1 = _function_of("MEAN_VARIANCE_NORMALIZATION1", ("Axes", "NormalizeVariance", "Epsilon"),
                                             ("FusedActivation",), ("out", "shape", "device"))


def mean_variance_normalization1(input, /, scale=None, bias=None, *, axes=-1, normalize_variance=True, epsilon=1e-05,
                                 fused_activation=None, out=None, shape=None, device=None):
    """DirectML's MEAN_VARIANCE_NORMALIZATION1: FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) +
    Bias); NormalizeVariance FALSE: FusedActivation(Scale * (Input - Mean) + Bias).

    Types in DirectML: ``input``, ``scale`` and ``bias`` float16 and float32.
    ``input``, ``scale`` and ``bias`` must have the same type.
    ``axes``: one axis or several; negative numbers count from the end.
    ``normalize_variance``: true or false.
    ``epsilon``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.
    ``scale`` and ``bias`` may have fewer dimensions than ``input``; they are broadcast as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 3]], [[1, 5]]]])
    >>> scale = np.float32([[[[1]], [[2]]]])
    >>> bias = np.float32([[[[0]], [[1]]]])
    >>> anydml.mean_variance_normalization1(x, scale, bias, axes=[2, 3], epsilon=0).tolist()
    [[[[-1.0, 1.0]], [[-1.0, 3.0]]]]
    """
    return _mean_variance_normalization1(input, scale, bias, axes, normalize_variance, epsilon, fused_activation, out,
                                         shape, device)


_resample1 = _function_of("RESAMPLE1", ("InterpolationMode", "Scales", "InputPixelOffsets", "OutputPixelOffsets"), (),
                          ("out", "shape", "device"))


def resample1(input, /, *, interpolation_mode='LINEAR', scales=None, input_pixel_offsets=None,
              output_pixel_offsets=None, out=None, shape=None, device=None):
    """DirectML's RESAMPLE1: OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset.

    Types in DirectML: ``input`` float16, float32, int8 and uint8.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``scales``: a sequence of numbers (default: the sizes of ``shape`` or ``out`` divided by the input's).
    ``input_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: 0.5, the center of a pixel).
    ``output_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: -0.5, the center of a pixel).
    The result has the type of ``input``. ``shape`` is needed only if the inputs do not determine the result's shape.
    Without ``shape`` and ``out``, each size is the input's multiplied by its scale and rounded down.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([0, 4])
    >>> anydml.resample1(x, scales=[2], input_pixel_offsets=[0], output_pixel_offsets=[0]).tolist()
    [0.0, 2.0, 4.0, 4.0]
    """
    return _resample1(input, interpolation_mode, scales, input_pixel_offsets, output_pixel_offsets, out, shape, device)


_matrix_multiply_integer = _function_of("MATRIX_MULTIPLY_INTEGER", (), (), ("out", "shape", "device"))


def matrix_multiply_integer(a, a_zero_point, b, /, b_zero_point=None, *, out=None, shape=None, device=None):
    """DirectML's MATRIX_MULTIPLY_INTEGER: (A - AZeroPoint) x (B - BZeroPoint).

    Types in DirectML: ``a``, ``a_zero_point``, ``b`` and ``b_zero_point`` int8 and uint8.
    ``b`` and ``b_zero_point`` must have the same type.
    ``a`` and ``a_zero_point`` must have the same type.
    The result has type int32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([[1, 2], [3, 4]])
    >>> a_zero_point = np.uint8([[1]])
    >>> b = np.int8([[5, 6], [7, 8]])
    >>> b_zero_point = np.int8([[4]])
    >>> anydml.matrix_multiply_integer(a, a_zero_point, b, b_zero_point).tolist()
    [[3, 4], [11, 16]]
    """
    return _matrix_multiply_integer(a, a_zero_point, b, b_zero_point, out, shape, device)


_quantized_linear_matrix_multiply = _function_of("QUANTIZED_LINEAR_MATRIX_MULTIPLY", (), (),
                                                 ("out", "dtype", "shape", "device"))


def quantized_linear_matrix_multiply(a, a_scale, a_zero_point, b, b_scale, b_zero_point, output_scale, /,
                                     output_zero_point=None, *, out=None, dtype=None, shape=None, device=None):
    """DirectML's QUANTIZED_LINEAR_MATRIX_MULTIPLY: deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) +
    ZeroPoint, Min, Max); out = q(deq(A) x deq(B)).

    Types in DirectML: ``a``, ``a_zero_point``, ``b``, ``b_zero_point`` and ``output_zero_point`` int8 and uint8;
    ``a_scale``, ``b_scale`` and ``output_scale`` float32.
    ``b`` and ``b_zero_point`` must have the same type.
    ``a`` and ``a_zero_point`` must have the same type.
    The result has type ``dtype`` if given, otherwise that of ``output_zero_point``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([[1, 2], [3, 4]])
    >>> a_scale = np.float32([[0.5]])
    >>> a_zero_point = np.uint8([[1]])
    >>> b = np.int8([[5, 6], [7, 8]])
    >>> b_scale = np.float32([[0.25]])
    >>> b_zero_point = np.int8([[4]])
    >>> output_scale = np.float32([[0.25]])
    >>> output_zero_point = np.uint8([[10]])
    >>> anydml.quantized_linear_matrix_multiply(a, a_scale, a_zero_point, b, b_scale, b_zero_point, output_scale,
    ...                                         output_zero_point).tolist()
    [[12, 12], [16, 18]]
    """
    return _quantized_linear_matrix_multiply(a, a_scale, a_zero_point, b, b_scale, b_zero_point, output_scale,
                                             output_zero_point, out, dtype, shape, device)


_convolution_integer = _function_of("CONVOLUTION_INTEGER",
                                    ("Strides", "Dilations", "StartPadding", "EndPadding", "GroupCount"), (),
                                    ("out", "shape", "device"))


def convolution_integer(input, input_zero_point, filter, /, filter_zero_point=None, *, strides=None, dilations=None,
                        start_padding=None, end_padding=None, group_count=1, out=None, shape=None, device=None):
    """DirectML's CONVOLUTION_INTEGER: conv(Input - InputZeroPoint, Filter - FilterZeroPoint), forward.

    Types in DirectML: ``input``, ``input_zero_point``, ``filter`` and ``filter_zero_point`` int8 and uint8.
    ``input`` and ``input_zero_point`` must have the same type.
    ``filter`` and ``filter_zero_point`` must have the same type.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``group_count``: a nonnegative integer.
    The result has type int32. ``shape`` is needed only if the inputs do not determine the result's shape.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> input_zero_point = np.uint8([[[[1]]]])
    >>> filter = np.int8([[[[2, 1], [1, 0]]]])
    >>> filter_zero_point = np.int8([[[[1]]]])
    >>> anydml.convolution_integer(x, input_zero_point, filter, filter_zero_point).tolist()
    [[[[-5, -5, -5]]]]
    """
    return _convolution_integer(input, input_zero_point, filter, filter_zero_point, strides, dilations, start_padding,
                                end_padding, group_count, out, shape, device)


_quantized_linear_convolution = _function_of("QUANTIZED_LINEAR_CONVOLUTION",
                                             ("Strides", "Dilations", "StartPadding", "EndPadding", "GroupCount"), (),
                                             ("out", "dtype", "shape", "device"))


def quantized_linear_convolution(input, input_scale, input_zero_point, filter, filter_scale, filter_zero_point, bias,
                                 output_scale, /, output_zero_point=None, *, strides=None, dilations=None,
                                 start_padding=None, end_padding=None, group_count=1, out=None, dtype=None, shape=None,
                                 device=None):
    """DirectML's QUANTIZED_LINEAR_CONVOLUTION: deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) +
    ZeroPoint, Min, Max); out = q(conv(deq(Input), deq(Filter)) + Bias), forward.

    Types in DirectML: ``input``, ``input_zero_point``, ``filter``, ``filter_zero_point`` and ``output_zero_point`` int8
    and uint8; ``input_scale``, ``filter_scale`` and ``output_scale`` float32; ``bias`` int32.
    ``input`` and ``input_zero_point`` must have the same type.
    ``filter`` and ``filter_zero_point`` must have the same type.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``group_count``: a nonnegative integer.
    The result has type ``dtype`` if given, otherwise that of ``output_zero_point``. ``shape`` is needed only if the
    inputs do not determine the result's shape.
    ``bias`` may have one dimension, with a number for each output channel.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> input_scale = np.float32([[[[0.5]]]])
    >>> input_zero_point = np.uint8([[[[1]]]])
    >>> filter = np.int8([[[[2, 1], [1, 0]]]])
    >>> filter_scale = np.float32([[[[0.5]]]])
    >>> filter_zero_point = np.int8([[[[1]]]])
    >>> bias = np.int32([[[[9]]]])
    >>> output_scale = np.float32([[[[0.125]]]])
    >>> output_zero_point = np.uint8([[[[2]]]])
    >>> anydml.quantized_linear_convolution(x, input_scale, input_zero_point, filter, filter_scale, filter_zero_point,
    ...                                     bias, output_scale, output_zero_point).tolist()
    [[[[10, 10, 10]]]]
    """
    return _quantized_linear_convolution(input, input_scale, input_zero_point, filter, filter_scale, filter_zero_point,
                                         bias, output_scale, output_zero_point, strides, dilations, start_padding,
                                         end_padding, group_count, out, dtype, shape, device)


_bit_and = _function_of("ELEMENT_WISE_BIT_AND", (), (), ("out", "device"))


def bit_and(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_AND: a & b, element by element.

    Types in DirectML: ``a`` and ``b`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 5, 255, 128])
    >>> b = np.uint8([1, 3, 15, 255])
    >>> anydml.bit_and(a, b).tolist()
    [0, 1, 15, 128]
    """
    return _bit_and(a, b, out, device)


_bit_or = _function_of("ELEMENT_WISE_BIT_OR", (), (), ("out", "device"))


def bit_or(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_OR: a | b, element by element.

    Types in DirectML: ``a`` and ``b`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 5, 255, 128])
    >>> b = np.uint8([1, 3, 15, 255])
    >>> anydml.bit_or(a, b).tolist()
    [1, 7, 255, 255]
    """
    return _bit_or(a, b, out, device)


_bit_xor = _function_of("ELEMENT_WISE_BIT_XOR", (), (), ("out", "device"))


def bit_xor(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_XOR: a ^ b, element by element.

    Types in DirectML: ``a`` and ``b`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([0, 5, 255, 128])
    >>> b = np.uint8([1, 3, 15, 255])
    >>> anydml.bit_xor(a, b).tolist()
    [1, 6, 240, 127]
    """
    return _bit_xor(a, b, out, device)


_bit_not = _function_of("ELEMENT_WISE_BIT_NOT", (), (), ("out", "device"))


def bit_not(input, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_NOT: ~input, element by element.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([0, 5, 255, 128])
    >>> anydml.bit_not(x).tolist()
    [255, 250, 0, 127]
    """
    return _bit_not(input, out, device)


_bit_count = _function_of("ELEMENT_WISE_BIT_COUNT", (), (), ("out", "dtype", "device"))


def bit_count(input, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_BIT_COUNT: popcount(input), element by element.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([0, 5, 255, 128])
    >>> anydml.bit_count(x).tolist()
    [0, 2, 8, 1]
    """
    return _bit_count(input, out, dtype, device)


_logical_greater_than_or_equal = _function_of("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", (), (),
                                              ("out", "dtype", "device"))


def logical_greater_than_or_equal(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL: (a >= b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([2, 2, 2])
    >>> anydml.logical_greater_than_or_equal(a, b).tolist()
    [0, 1, 1]
    """
    return _logical_greater_than_or_equal(a, b, out, dtype, device)


_logical_less_than_or_equal = _function_of("ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", (), (),
                                           ("out", "dtype", "device"))


def logical_less_than_or_equal(a, b, /, *, out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL: (a <= b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int8 to int64 and uint8 to uint64.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result is uint8 by default; ``dtype`` may be uint8 or uint32.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, 2, 3])
    >>> b = np.float32([2, 2, 2])
    >>> anydml.logical_less_than_or_equal(a, b).tolist()
    [1, 1, 0]
    """
    return _logical_less_than_or_equal(a, b, out, dtype, device)


_celu = _function_of("ACTIVATION_CELU", ("Alpha",), (), ("out", "device"))


def celu(input, /, *, alpha=1.0, out=None, device=None):
    """DirectML's ACTIVATION_CELU: max(0, input) + min(0, Alpha * (exp(input / Alpha) - 1)).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.celu(x, alpha=2).tolist()
    [-1.4269903898239136, -0.44239842891693115, 1.5, 3.0]
    """
    return _celu(input, alpha, out, device)


_relu_grad = _function_of("ACTIVATION_RELU_GRAD", (), (), ("out", "device"))


def relu_grad(input, input_gradient, /, *, out=None, device=None):
    """DirectML's ACTIVATION_RELU_GRAD: x > 0 ? dY : 0   (x = InputTensor, dY = InputGradientTensor).

    Types in DirectML: ``input`` and ``input_gradient`` float16, float32 and int8 to int32.
    ``input`` and ``input_gradient`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``input`` and ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> input_gradient = np.float32([10, 20, 30, 40])
    >>> anydml.relu_grad(x, input_gradient).tolist()
    [0.0, 0.0, 30.0, 40.0]
    """
    return _relu_grad(input, input_gradient, out, device)


_average_pooling_grad = _function_of("AVERAGE_POOLING_GRAD",
                                     ("Strides", "WindowSize", "StartPadding", "EndPadding", "IncludePadding"), (),
                                     ("out", "shape", "device"))


def average_pooling_grad(input_gradient, /, *, strides=None, window_size, start_padding=None, end_padding=None,
                         include_padding=False, out=None, shape=None, device=None):
    """DirectML's AVERAGE_POOLING_GRAD: each gradient element is divided by its window divisor and added to every input
    position of its window.

    Types in DirectML: ``input_gradient`` float16 and float32.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``include_padding``: true or false.
    The result has shape ``shape`` and the type of ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> input_gradient = np.float32([[[[4, 8]]]])
    >>> anydml.average_pooling_grad(input_gradient, strides=[2, 2], window_size=[2, 2], shape=(1, 1, 2, 4)).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """
    return _average_pooling_grad(input_gradient, strides, window_size, start_padding, end_padding, include_padding, out,
                                 shape, device)


_max_pooling_grad = _function_of("MAX_POOLING_GRAD",
                                 ("Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations"), (),
                                 ("out", "device"))


def max_pooling_grad(input, input_gradient, /, *, strides=None, window_size, start_padding=None, end_padding=None,
                     dilations=None, out=None, device=None):
    """DirectML's MAX_POOLING_GRAD: each gradient element is added at the position of its window maximum; all other
    elements 0.

    Types in DirectML: ``input`` and ``input_gradient`` float16 and float32.
    ``input`` and ``input_gradient`` must have the same type.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    The result has the same type as ``input`` and ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> input_gradient = np.float32([[[[3, 5]]]])
    >>> anydml.max_pooling_grad(x, input_gradient, strides=[2, 2], window_size=[2, 2]).tolist()
    [[[[0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 5.0]]]]
    """
    return _max_pooling_grad(input, input_gradient, strides, window_size, start_padding, end_padding, dilations, out,
                             device)


_random_generator = _function_of("RANDOM_GENERATOR", ("Type",), (), ("out", "shape", "device"))


def random_generator(input_state, /, *, type='PHILOX_4X32_10', out=None, shape=None, device=None):
    """DirectML's RANDOM_GENERATOR: Philox 4x32-10 bits from the counter and key in InputStateTensor; counter +=
    ceil(outputElements / 4).

    Types in DirectML: ``input_state`` uint32.
    ``type``: 'PHILOX_4X32_10'.
    The result ``output`` has shape ``shape`` and type uint32.
    The optional result ``output_state`` has type uint32.

    >>> import anydml
    >>> import numpy as np
    >>> input_state = np.uint32([[[[0, 0, 0, 0, 0, 0]]]])
    >>> [one.tolist() for one in anydml.random_generator(input_state, shape=((1, 1, 1, 4), (1, 1, 1, 6)),
    ...                                                  out=(None, True))]
    [[[[[1713891541, 3781805453, 3159862348, 2600524760]]]], [[[[1, 0, 0, 0, 0, 0]]]]]
    """
    return _random_generator(input_state, type, out, shape, device)


_nonzero_coordinates = _function_of("NONZERO_COORDINATES", (), (), ("out", "shape", "device"))


def nonzero_coordinates(input, /, *, out=None, shape=None, device=None):
    """DirectML's NONZERO_COORDINATES: rows of OutputCoordinates = coordinates of non-zero elements in ascending
    element order; OutputCount = their number.

    Types in DirectML: ``input`` float16, float32, int8 to int32 and uint8 to uint32.
    The result ``output_count`` has type uint32.
    The result ``output_coordinates`` has type uint32.
    It also accepts an array of bool.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[0, 5], [3, 0]])
    >>> [one.tolist() for one in anydml.nonzero_coordinates(x)]
    [[[2]], [[0, 1], [1, 0], [0, 0], [0, 0]]]
    """
    return _nonzero_coordinates(input, out, shape, device)


_resample_grad = _function_of("RESAMPLE_GRAD",
                              ("InterpolationMode", "Scales", "InputPixelOffsets", "OutputPixelOffsets"), (),
                              ("out", "shape", "device"))


def resample_grad(input_gradient, /, *, interpolation_mode='LINEAR', scales, input_pixel_offsets=None,
                  output_pixel_offsets=None, out=None, shape=None, device=None):
    """DirectML's RESAMPLE_GRAD: transpose of RESAMPLE1: each gradient element is added, weighted, to the input
    elements it was sampled from.

    Types in DirectML: ``input_gradient`` float16 and float32.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``scales``: a sequence of numbers.
    ``input_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: 0.5, the center of a pixel).
    ``output_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: -0.5, the center of a pixel).
    The result has shape ``shape`` and the type of ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> input_gradient = np.float32([1, 4, 8, 2])
    >>> anydml.resample_grad(input_gradient, scales=[2], shape=(2,)).tolist()
    [6.0, 9.0]
    """
    return _resample_grad(input_gradient, interpolation_mode, scales, input_pixel_offsets, output_pixel_offsets, out,
                          shape, device)


_slice_grad = _function_of("SLICE_GRAD", ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"), (),
                           ("out", "shape", "device"))


def slice_grad(input_gradient, /, *, input_window_offsets, input_window_sizes, input_window_strides=None, out=None,
               shape=None, device=None):
    """DirectML's SLICE_GRAD: out = 0; out[start + InputWindowStrides * c] = gradient[c], start as in SLICE1.

    Types in DirectML: ``input_gradient`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``input_window_offsets``: a sequence of nonnegative integers.
    ``input_window_sizes``: a sequence of nonnegative integers.
    ``input_window_strides``: a sequence of integers, or one for all dimensions (default: 1).
    The result has shape ``shape`` and the type of ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> input_gradient = np.float32([[7, 8]])
    >>> anydml.slice_grad(input_gradient, input_window_offsets=[0, 0], input_window_sizes=[1, 3],
    ...                   input_window_strides=[1, 2], shape=(2, 3)).tolist()
    [[7.0, 0.0, 8.0], [0.0, 0.0, 0.0]]
    """
    return _slice_grad(input_gradient, input_window_offsets, input_window_sizes, input_window_strides, out, shape,
                       device)


_adam_optimizer = _function_of("ADAM_OPTIMIZER", ("LearningRate", "Beta1", "Beta2", "Epsilon"), (), ("out", "device"))


def adam_optimizer(input_parameters, input_first_moment, input_second_moment, gradient, training_step, /, *,
                   learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, out=None, device=None):
    """DirectML's ADAM_OPTIMIZER: M' = Beta1*M + (1-Beta1)*G; V' = Beta2*V + (1-Beta2)*G*G; a = sqrt(1 - pow(Beta2,T))
    / (1 - pow(Beta1,T)); X' = X - LearningRate * a * M' / (sqrt(V') + Epsilon); outputs X', M', V'.

    Types in DirectML: ``input_parameters``, ``input_first_moment``, ``input_second_moment``, ``gradient`` and
    ``training_step`` float16 and float32.
    ``input_parameters``, ``input_first_moment``, ``input_second_moment`` and ``gradient`` must have the same type.
    ``learning_rate``: a number.
    ``beta1``: a number.
    ``beta2``: a number.
    ``epsilon``: a number.
    The result ``output_parameters`` has the type of ``input_parameters``.
    The result ``output_first_moment`` has the type of ``input_parameters``.
    The result ``output_second_moment`` has the type of ``input_parameters``.

    >>> import anydml
    >>> import numpy as np
    >>> input_parameters = np.float32([[[[1, 2]]]])
    >>> input_first_moment = np.float32([[[[0, 0]]]])
    >>> input_second_moment = np.float32([[[[0, 0]]]])
    >>> gradient = np.float32([[[[2, -4]]]])
    >>> training_step = np.uint32([[[[1]]]])
    >>> [one.tolist() for one in anydml.adam_optimizer(input_parameters, input_first_moment, input_second_moment,
    ...                                                gradient, training_step, learning_rate=0.25, beta1=0.5,
    ...                                                beta2=0.75, epsilon=0)]
    [[[[[0.75, 2.25]]]], [[[[1.0, -2.0]]]], [[[[1.0, 4.0]]]]]
    """
    return _adam_optimizer(input_parameters, input_first_moment, input_second_moment, gradient, training_step,
                           learning_rate, beta1, beta2, epsilon, out, device)


_argmin = _function_of("ARGMIN", ("Axes", "AxisDirection"), (), ("out", "dtype", "shape", "device"))


def argmin(input, /, *, axes=None, axis_direction='INCREASING', axis=None, keepdims=None, out=None, dtype=None,
           shape=None, device=None):
    """DirectML's ARGMIN: index of the minimum over Axes, counted within the reduced axes.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``axis_direction``: 'INCREASING' or 'DECREASING'.
    ``axes``: one axis or several; negative numbers count from the end. These axes are kept, with size 1. ``axis`` is
    the same, but removes the axes, as NumPy does. Without either, all axes are reduced and removed. ``keepdims``
    overrides this.
    The result is int64 by default; ``dtype`` may be int32, int64, uint32 or uint64.
    For several axes, the index counts their elements in row-major order, as ``numpy.argmax`` does for all axes.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.argmin(x, axes=[1], dtype="uint32").tolist()
    [[0], [0]]
    """
    if axis is None and keepdims is None and axes is not None and dtype is not None:
        return _argmin(input, axes, axis_direction, out, dtype, shape, device)
    return _over_axes(_argmin, "ARGMIN", input, Axes=axes, AxisDirection=axis_direction, axis=axis, keepdims=keepdims,
                      out=out, dtype=dtype, shape=shape, device=device)


_argmax = _function_of("ARGMAX", ("Axes", "AxisDirection"), (), ("out", "dtype", "shape", "device"))


def argmax(input, /, *, axes=None, axis_direction='INCREASING', axis=None, keepdims=None, out=None, dtype=None,
           shape=None, device=None):
    """DirectML's ARGMAX: index of the maximum over Axes, counted within the reduced axes.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    ``axis_direction``: 'INCREASING' or 'DECREASING'.
    ``axes``: one axis or several; negative numbers count from the end. These axes are kept, with size 1. ``axis`` is
    the same, but removes the axes, as NumPy does. Without either, all axes are reduced and removed. ``keepdims``
    overrides this.
    The result is int64 by default; ``dtype`` may be int32, int64, uint32 or uint64.
    For several axes, the index counts their elements in row-major order, as ``numpy.argmax`` does for all axes.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.argmax(x, axes=[1], dtype="uint32").tolist()
    [[1], [2]]
    """
    if axis is None and keepdims is None and axes is not None and dtype is not None:
        return _argmax(input, axes, axis_direction, out, dtype, shape, device)
    return _over_axes(_argmax, "ARGMAX", input, Axes=axes, AxisDirection=axis_direction, axis=axis, keepdims=keepdims,
                      out=out, dtype=dtype, shape=shape, device=device)


_roi_align = _function_of("ROI_ALIGN",
                          ("ReductionFunction", "InterpolationMode", "SpatialScaleX", "SpatialScaleY", "OutOfBoundsInputValue", "MinimumSamplesPerOutput", "MaximumSamplesPerOutput"),
                          (), ("out", "shape", "device"))


def roi_align(input, roi, batch_indices, /, *, reduction_function='AVERAGE', interpolation_mode='LINEAR',
              spatial_scale_x=1.0, spatial_scale_y=1.0, out_of_bounds_input_value=0.0, minimum_samples_per_output=1,
              maximum_samples_per_output=4294967295, out=None, shape=None, device=None):
    """DirectML's ROI_ALIGN.

    Types in DirectML: ``input`` and ``roi`` float16 and float32; ``batch_indices`` uint32 and uint64.
    ``input`` and ``roi`` must have the same type.
    ``reduction_function``: 'ARGMAX', 'ARGMIN', 'AVERAGE', 'L1', 'L2', 'LOG_SUM', 'LOG_SUM_EXP', 'MAX', 'MIN',
    'MULTIPLY', 'SUM' or 'SUM_SQUARE'.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``spatial_scale_x``: a number.
    ``spatial_scale_y``: a number.
    ``out_of_bounds_input_value``: a number.
    ``minimum_samples_per_output``: a nonnegative integer.
    ``maximum_samples_per_output``: a nonnegative integer.
    The result has shape ``shape`` and the same type as ``input`` and ``roi``.
    It matches torchvision's roi_align with ``aligned=True``; for ``aligned=False``, use `roi_align1`.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> roi = np.float32([[0, 0, 4, 2]])
    >>> batch_indices = np.uint32([0])
    >>> anydml.roi_align(x, roi, batch_indices, maximum_samples_per_output=2, shape=(1, 1, 1, 2)).tolist()
    [[[[3.5, 5.5]]]]
    """
    return _roi_align(input, roi, batch_indices, reduction_function, interpolation_mode, spatial_scale_x,
                      spatial_scale_y, out_of_bounds_input_value, minimum_samples_per_output,
                      maximum_samples_per_output, out, shape, device)


_gather_nd1 = _function_of("GATHER_ND1", ("InputDimensionCount", "IndicesDimensionCount", "BatchDimensionCount"), (),
                           ("out", "shape", "device"))


def gather_nd1(input, indices, /, *, input_dimension_count=None, indices_dimension_count=None, batch_dimension_count=0,
               out=None, shape=None, device=None):
    """DirectML's GATHER_ND1: out[batch, k..., trail] = input[batch, indices[batch, k..., :], trail].

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64; ``indices`` int32, int64, uint32
    and uint64.
    ``input_dimension_count``: a nonnegative integer (default: ``input.ndim``).
    ``indices_dimension_count``: a nonnegative integer (default: ``indices.ndim``).
    ``batch_dimension_count``: a nonnegative integer.
    The result has the type of ``input``.
    The tensors may have different numbers of dimensions; the result has the shape of ONNX's GatherND.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> indices = np.uint32([[2], [0]])
    >>> anydml.gather_nd1(x, indices, input_dimension_count=2, indices_dimension_count=2,
    ...                   batch_dimension_count=1).tolist()
    [[3.0, 2.0]]
    """
    return _gather_nd1(input, indices, input_dimension_count, indices_dimension_count, batch_dimension_count, out,
                       shape, device)


@_ufunc("ELEMENT_WISE_ATAN_YX")
def atan_yx(a, b, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
            device=None):
    """DirectML's ELEMENT_WISE_ATAN_YX: atan2(a, b), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([1, -1, 3, -0.5])
    >>> b = np.float32([1, 2, -1, -2])
    >>> anydml.atan_yx(a, b).tolist()
    [0.7853981852531433, -0.46364760398864746, 1.8925468921661377, -2.8966140747070312]
    """


_clip_grad = _function_of("ELEMENT_WISE_CLIP_GRAD", ("Min", "Max"), (), ("out", "device"))


def clip_grad(input, input_gradient, /, *, min=None, max=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CLIP_GRAD: (x <= Min || x >= Max) ? 0 : gradient, element by element.

    Types in DirectML: ``input`` and ``input_gradient`` float16, float32, int8 to int64 and uint8 to uint64.
    ``input`` and ``input_gradient`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    ``min``: a number (default: no bound).
    ``max``: a number (default: no bound).
    The result has the same type as ``input`` and ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> input_gradient = np.float32([10, 20, 30, 40])
    >>> anydml.clip_grad(x, input_gradient, min=-1, max=2).tolist()
    [0.0, 20.0, 30.0, 0.0]
    """
    return _clip_grad(input, input_gradient, min, max, out, device)


_difference_square = _function_of("ELEMENT_WISE_DIFFERENCE_SQUARE", (), (), ("out", "device"))


def difference_square(a, b, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_DIFFERENCE_SQUARE: (a - b) * (a - b), element by element.

    Types in DirectML: ``a`` and ``b`` float16, float32, int32 and uint32.
    ``a`` and ``b`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has the same type as ``a`` and ``b``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.float32([7, -7, 7, -7])
    >>> b = np.float32([3, 3, -3, -3])
    >>> anydml.difference_square(a, b).tolist()
    [16.0, 100.0, 100.0, 16.0]
    """
    return _difference_square(a, b, out, device)


_local_response_normalization_grad = _function_of("LOCAL_RESPONSE_NORMALIZATION_GRAD",
                                                  ("CrossChannel", "LocalSize", "Alpha", "Beta", "Bias"), (),
                                                  ("out", "device"))


def local_response_normalization_grad(input, input_gradient, /, *, cross_channel=True, local_size, alpha=0.0001,
                                      beta=0.75, bias=1.0, out=None, device=None):
    """DirectML's LOCAL_RESPONSE_NORMALIZATION_GRAD.

    Types in DirectML: ``input`` and ``input_gradient`` float16 and float32.
    ``input`` and ``input_gradient`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    ``cross_channel``: true or false.
    ``local_size``: a nonnegative integer.
    ``alpha``: a number.
    ``beta``: a number.
    ``bias``: a number.
    The result has the same type as ``input`` and ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[0, 1], [3, -1]]]])
    >>> input_gradient = np.float32([[[[7, 4], [100, 2]]]])
    >>> anydml.local_response_normalization_grad(x, input_gradient, local_size=1, alpha=1, beta=1).tolist()
    [[[[7.0, 0.0], [-8.0, 0.0]]]]
    """
    return _local_response_normalization_grad(input, input_gradient, cross_channel, local_size, alpha, beta, bias, out,
                                              device)


_cumulative_product = _function_of("CUMULATIVE_PRODUCT", ("Axis", "AxisDirection", "HasExclusiveProduct"), (),
                                   ("out", "device"))


def cumulative_product(input, /, *, axis=-1, axis_direction='INCREASING', has_exclusive_product=False, out=None,
                       device=None):
    """DirectML's CUMULATIVE_PRODUCT: out[i] = prod(input[j], j <= i along Axis in AxisDirection); exclusive: j < i,
    first = 1.

    Types in DirectML: ``input`` float16, float32, int32, int64, uint32 and uint64.
    ``axis``: an axis; negative numbers count from the end.
    ``axis_direction``: 'INCREASING' or 'DECREASING'.
    ``has_exclusive_product``: true or false.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.cumulative_product(x, axis=1, axis_direction="DECREASING", has_exclusive_product=True).tolist()
    [[15.0, 3.0, 1.0], [18.0, 9.0, 1.0]]
    """
    return _cumulative_product(input, axis, axis_direction, has_exclusive_product, out, device)


_batch_normalization_grad = _function_of("BATCH_NORMALIZATION_GRAD", ("Epsilon",), (), ("out", "device"))


def batch_normalization_grad(input, input_gradient, mean, variance, scale, /, *, epsilon=1e-05, out=None, device=None):
    """DirectML's BATCH_NORMALIZATION_GRAD: OutputGradient = InputGradient * (Scale / sqrt(Variance + Epsilon));
    OutputScaleGradient = sum(InputGradient * (Input - Mean) / sqrt(Variance + Epsilon)); OutputBiasGradient =
    sum(InputGradient).

    Types in DirectML: ``input``, ``input_gradient``, ``mean``, ``variance`` and ``scale`` float16 and float32.
    ``input``, ``input_gradient``, ``mean``, ``variance`` and ``scale`` must have the same type.
    ``epsilon``: a number.
    The result ``output_gradient`` has the inputs' common type.
    The result ``output_scale_gradient`` has the inputs' common type.
    The result ``output_bias_gradient`` has the inputs' common type.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 3]], [[1, 5]]]])
    >>> input_gradient = np.float32([[[[1, 2]], [[3, 5]]]])
    >>> mean = np.float32([[[[2]], [[3]]]])
    >>> variance = np.float32([[[[1]], [[4]]]])
    >>> scale = np.float32([[[[1]], [[2]]]])
    >>> [one.tolist() for one in anydml.batch_normalization_grad(x, input_gradient, mean, variance, scale, epsilon=0)]
    [[[[[1.0, 2.0]], [[3.0, 5.0]]]], [[[[1.0]], [[2.0]]]], [[[[3.0]], [[8.0]]]]]
    """
    return _batch_normalization_grad(input, input_gradient, mean, variance, scale, epsilon, out, device)


_quantized_linear_add = _function_of("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", (), (), ("out", "dtype", "device"))


def quantized_linear_add(a, a_scale, a_zero_point, b, b_scale, b_zero_point, output_scale, /, output_zero_point=None, *,
                         out=None, dtype=None, device=None):
    """DirectML's ELEMENT_WISE_QUANTIZED_LINEAR_ADD: v = (A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale; out =
    clamp(round(v / OutputScale) + OutputZeroPoint, Min, Max); UINT8: Min 0 Max 255; INT8: Min -128 Max 127, element
    by element.

    Types in DirectML: ``a``, ``a_zero_point``, ``b``, ``b_zero_point`` and ``output_zero_point`` int8 and uint8;
    ``a_scale``, ``b_scale`` and ``output_scale`` float32.
    ``b`` and ``b_zero_point`` must have the same type.
    ``a`` and ``a_zero_point`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    The result has type ``dtype`` if given, otherwise that of ``output_zero_point``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.uint8([12, 20])
    >>> a_scale = np.float32([0.5])
    >>> a_zero_point = np.uint8([10])
    >>> b = np.uint8([4, 40])
    >>> b_scale = np.float32([0.25])
    >>> output_scale = np.float32([0.5])
    >>> output_zero_point = np.uint8([10])
    >>> anydml.quantized_linear_add(a, a_scale, a_zero_point, b, b_scale, None, output_scale,
    ...                             output_zero_point).tolist()
    [14, 40]
    """
    return _quantized_linear_add(a, a_scale, a_zero_point, b, b_scale, b_zero_point, output_scale, output_zero_point,
                                 out, dtype, device)


_dynamic_quantize_linear = _function_of("DYNAMIC_QUANTIZE_LINEAR", (), (), ("out", "dtype", "shape", "device"))


def dynamic_quantize_linear(input, /, *, out=None, dtype=None, shape=None, device=None):
    """DirectML's DYNAMIC_QUANTIZE_LINEAR: OutputScale = (max(input) - min(input)) / (Max - Min); OutputZeroPoint = Min
    - min(input) / OutputScale; out = clamp(round(input / OutputScale) + OutputZeroPoint, Min, Max); UINT8: Min 0
    Max 255; INT8: Min -128 Max 127.

    Types in DirectML: ``input`` float16 and float32.
    The result ``output`` has type ``dtype``, which may be int8 or uint8.
    The result ``output_scale`` has type float32.
    The result ``output_zero_point`` has type ``dtype``, which may be int8 or uint8.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-1, 0, 0.5, 1.55])
    >>> [one.tolist() for one in anydml.dynamic_quantize_linear(x, dtype=('uint8', None, 'uint8'))]
    [[0, 100, 150, 255], [0.009999999776482582], [100]]
    """
    return _dynamic_quantize_linear(input, out, dtype, shape, device)


_roi_align1 = _function_of("ROI_ALIGN1",
                           ("ReductionFunction", "InterpolationMode", "SpatialScaleX", "SpatialScaleY", "InputPixelOffset", "OutputPixelOffset", "OutOfBoundsInputValue", "MinimumSamplesPerOutput", "MaximumSamplesPerOutput", "AlignRegionsToCorners"),
                           (), ("out", "shape", "device"))


def roi_align1(input, roi, batch_indices, /, *, reduction_function='AVERAGE', interpolation_mode='LINEAR',
               spatial_scale_x=1.0, spatial_scale_y=1.0, input_pixel_offset=0.0, output_pixel_offset=-0.5,
               out_of_bounds_input_value=0.0, minimum_samples_per_output=1, maximum_samples_per_output=4294967295,
               align_regions_to_corners=False, out=None, shape=None, device=None):
    """DirectML's ROI_ALIGN1: r1,r2 = ROI corners * SpatialScale; n = clamp((r2 - r1) / outSize,
    MinimumSamplesPerOutput, MaximumSamplesPerOutput); step = (r2 - r1) / (outSize * n); sample s: in = (s -
    OutputPixelOffset) * step + r1 - InputPixelOffset; out = reduce(interpolate(in)) over the n samples per axis of
    the output element.

    Types in DirectML: ``input`` and ``roi`` float16 and float32; ``batch_indices`` uint32 and uint64.
    ``input`` and ``roi`` must have the same type.
    ``reduction_function``: 'ARGMAX', 'ARGMIN', 'AVERAGE', 'L1', 'L2', 'LOG_SUM', 'LOG_SUM_EXP', 'MAX', 'MIN',
    'MULTIPLY', 'SUM' or 'SUM_SQUARE'.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``spatial_scale_x``: a number.
    ``spatial_scale_y``: a number.
    ``input_pixel_offset``: a number.
    ``output_pixel_offset``: a number.
    ``out_of_bounds_input_value``: a number.
    ``minimum_samples_per_output``: a nonnegative integer.
    ``maximum_samples_per_output``: a nonnegative integer.
    ``align_regions_to_corners``: true or false.
    The result has shape ``shape`` and the same type as ``input`` and ``roi``.
    By default it matches torchvision's roi_align; ``input_pixel_offset=0.5`` corresponds to ``aligned=True``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> roi = np.float32([[0, 0, 4, 2]])
    >>> batch_indices = np.uint32([0])
    >>> anydml.roi_align1(x, roi, batch_indices, input_pixel_offset=0.5, maximum_samples_per_output=2,
    ...                   shape=(1, 1, 1, 2)).tolist()
    [[[[3.5, 5.5]]]]
    """
    return _roi_align1(input, roi, batch_indices, reduction_function, interpolation_mode, spatial_scale_x,
                       spatial_scale_y, input_pixel_offset, output_pixel_offset, out_of_bounds_input_value,
                       minimum_samples_per_output, maximum_samples_per_output, align_regions_to_corners, out, shape,
                       device)


_roi_align_grad = _function_of("ROI_ALIGN_GRAD",
                               ("ReductionFunction", "InterpolationMode", "SpatialScaleX", "SpatialScaleY", "InputPixelOffset", "OutputPixelOffset", "MinimumSamplesPerOutput", "MaximumSamplesPerOutput", "AlignRegionsToCorners"),
                               (), ("out", "shape", "device"))


def roi_align_grad(input, input_gradient, roi, batch_indices, /, *, reduction_function='AVERAGE',
                   interpolation_mode='LINEAR', spatial_scale_x=1.0, spatial_scale_y=1.0, input_pixel_offset=0.0,
                   output_pixel_offset=-0.5, minimum_samples_per_output=1, maximum_samples_per_output=4294967295,
                   align_regions_to_corners=False, out=None, shape=None, device=None):
    """DirectML's ROI_ALIGN_GRAD: OutputGradient: transpose of ROI_ALIGN1; OutputROIGradient: bilinear image gradients
    * incoming gradient, weighted by distance to each ROI corner (see DirectML's documentation of this operator for
    the exact sums).

    Types in DirectML: ``input``, ``input_gradient`` and ``roi`` float16 and float32; ``batch_indices`` uint32.
    ``input``, ``input_gradient`` and ``roi`` must have the same type.
    ``reduction_function``: 'ARGMAX', 'ARGMIN', 'AVERAGE', 'L1', 'L2', 'LOG_SUM', 'LOG_SUM_EXP', 'MAX', 'MIN',
    'MULTIPLY', 'SUM' or 'SUM_SQUARE'.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``spatial_scale_x``: a number.
    ``spatial_scale_y``: a number.
    ``input_pixel_offset``: a number.
    ``output_pixel_offset``: a number.
    ``minimum_samples_per_output``: a nonnegative integer.
    ``maximum_samples_per_output``: a nonnegative integer.
    ``align_regions_to_corners``: true or false.
    The optional result ``output_gradient`` has the type of ``input_gradient``. ``shape`` is needed only if the inputs
    do not determine the shape of ``output_gradient``.
    The optional result ``output_roi_gradient`` has the type of ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> input_gradient = np.float32([[[[4, 8]]]])
    >>> roi = np.float32([[0.5, 0, 2.5, 1]])
    >>> batch_indices = np.uint32([0])
    >>> [one.tolist() for one in anydml.roi_align_grad(x, input_gradient, roi, batch_indices, input_pixel_offset=0.5,
    ...                                                maximum_samples_per_output=2, out=(True, True))]
    [[[[[2.0, 6.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]], [[5.0, 0.0, 7.0, 0.0]]]
    """
    return _roi_align_grad(input, input_gradient, roi, batch_indices, reduction_function, interpolation_mode,
                           spatial_scale_x, spatial_scale_y, input_pixel_offset, output_pixel_offset,
                           minimum_samples_per_output, maximum_samples_per_output, align_regions_to_corners, out, shape,
                           device)


_batch_normalization_training = _function_of("BATCH_NORMALIZATION_TRAINING", ("Epsilon",), ("FusedActivation",),
                                             ("out", "device"))


def batch_normalization_training(input, scale, bias, /, fused_add=None, *, epsilon=1e-05, fused_activation=None,
                                 out=None, device=None):
    """DirectML's BATCH_NORMALIZATION_TRAINING: FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) +
    Bias + FusedAdd).

    Types in DirectML: ``input``, ``scale``, ``bias`` and ``fused_add`` float16 and float32.
    ``input``, ``scale``, ``bias`` and ``fused_add`` must have the same type.
    ``epsilon``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result ``output`` has the inputs' common type.
    The result ``output_mean`` has the inputs' common type.
    The result ``output_variance`` has the inputs' common type.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 3]], [[1, 5]]]])
    >>> scale = np.float32([[[[1]], [[2]]]])
    >>> bias = np.float32([[[[0]], [[1]]]])
    >>> [one.tolist() for one in anydml.batch_normalization_training(x, scale, bias, None, epsilon=0)]
    [[[[[-1.0, 1.0]], [[-1.0, 3.0]]]], [[[[2.0]], [[3.0]]]], [[[[1.0]], [[4.0]]]]]
    """
    return _batch_normalization_training(input, scale, bias, fused_add, epsilon, fused_activation, out, device)


_batch_normalization_training_grad = _function_of("BATCH_NORMALIZATION_TRAINING_GRAD", ("Epsilon",), (),
                                                  ("out", "device"))


def batch_normalization_training_grad(input, input_gradient, mean, variance, scale, /, *, epsilon=1e-05, out=None,
                                      device=None):
    """DirectML's BATCH_NORMALIZATION_TRAINING_GRAD: c0 = 1/sqrt(Variance+Epsilon); c1 =
    InputGradient*(Input-mean(Input)); gc = InputGradient-mean(InputGradient); ic = Input-mean(Input);
    OutputGradient = Scale*c0*(gc - ic*mean(c1)/(Variance+Epsilon)); OutputScaleGradient =
    sum(InputGradient*(Input-Mean)/sqrt(Variance+Epsilon)); OutputBiasGradient = sum(InputGradient).

    Types in DirectML: ``input``, ``input_gradient``, ``mean``, ``variance`` and ``scale`` float16 and float32.
    ``input``, ``input_gradient``, ``mean``, ``variance`` and ``scale`` must have the same type.
    ``epsilon``: a number.
    The result ``output_gradient`` has the inputs' common type.
    The result ``output_scale_gradient`` has the inputs' common type.
    The result ``output_bias_gradient`` has the inputs' common type.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1], [1], [3], [3]])
    >>> input_gradient = np.float32([[4], [0], [0], [0]])
    >>> mean = np.float32([[2]])
    >>> variance = np.float32([[1]])
    >>> scale = np.float32([[1]])
    >>> [one.tolist() for one in anydml.batch_normalization_training_grad(x, input_gradient, mean, variance, scale,
    ...                                                                   epsilon=0)]
    [[[2.0], [-2.0], [0.0], [0.0]], [[-4.0]], [[4.0]]]
    """
    return _batch_normalization_training_grad(input, input_gradient, mean, variance, scale, epsilon, out, device)


_clip1 = _function_of("ELEMENT_WISE_CLIP1", ("Min", "Max"), ("Scale", "Bias"), ("out", "device"))


def clip1(input, /, min=None, max=None, *, scale=None, bias=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CLIP1: max(Min, min(input, Max)), element by element.

    Types in DirectML: ``input`` float16, float32, int8 to int64 and uint8 to uint64.
    With ``scale`` and ``bias``, the operator first replaces the input with ``input * scale + bias``.
    ``min``: a number (default: no bound).
    ``max``: a number (default: no bound).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.clip1(x, min=-1, max=2).tolist()
    [-1.0, -0.5, 1.5, 2.0]
    """
    return _clip1(input, min, max, scale, bias, out, device)


_clip_grad1 = _function_of("ELEMENT_WISE_CLIP_GRAD1", ("Min", "Max"), (), ("out", "device"))


def clip_grad1(input, input_gradient, /, *, min=None, max=None, out=None, device=None):
    """DirectML's ELEMENT_WISE_CLIP_GRAD1: (x <= Min || x >= Max) ? 0 : gradient, element by element.

    Types in DirectML: ``input`` and ``input_gradient`` float16, float32, int8 to int64 and uint8 to uint64.
    ``input`` and ``input_gradient`` must have the same type.
    Shapes are broadcast according to NumPy's rules.
    ``min``: a number (default: no bound).
    ``max``: a number (default: no bound).
    The result has the same type as ``input`` and ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> input_gradient = np.float32([10, 20, 30, 40])
    >>> anydml.clip_grad1(x, input_gradient, min=-1, max=2).tolist()
    [0.0, 20.0, 30.0, 0.0]
    """
    return _clip_grad1(input, input_gradient, min, max, out, device)


_padding1 = _function_of("PADDING1", ("PaddingMode", "PaddingValue", "StartPadding", "EndPadding"), (),
                         ("out", "shape", "device"))


def padding1(input, /, *, padding_mode='CONSTANT', padding_value=0, start_padding=None, end_padding=None, out=None,
             shape=None, device=None):
    """DirectML's PADDING1: out[c] = input[c - StartPadding] inside, PaddingMode value outside.

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``padding_mode``: 'CONSTANT', 'EDGE', 'REFLECTION', 'SYMMETRIC' or 'WRAP'.
    ``padding_value``: a number.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, 5, 3])
    >>> anydml.padding1(x, padding_value=7, start_padding=[2], end_padding=[1]).tolist()
    [7.0, 7.0, 1.0, 5.0, 3.0, 7.0]
    """
    return _padding1(input, padding_mode, padding_value, start_padding, end_padding, out, shape, device)


_negate = _function_of("ELEMENT_WISE_NEGATE", (), (), ("out", "device"))


def negate(input, /, *, out=None, device=None):
    """DirectML's ELEMENT_WISE_NEGATE: -input, element by element.

    Types in DirectML: ``input`` float16, float32 and int8 to int64.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.negate(x).tolist()
    [2.5, 0.5, -1.5, -3.0]
    """
    return _negate(input, out, device)


@_ufunc("ACTIVATION_GELU")
def gelu(x, /, out=None, *, where=True, casting=_CASTING, order=_ORDER, dtype=None, subok=True, signature=None,
         device=None):
    """DirectML's ACTIVATION_GELU: 0.5 * x * (1.0 + erf(x / sqrt(2))), element by element and correctly rounded.

    The types are float16 and float32; the result is the true value rounded to the nearest number of the type.
    Arguments, broadcasting, types, masks, warnings and errors are those of a NumPy ufunc; arrays from other libraries,
    GPUs and ``device`` are handled as in `modulus_floor`.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.gelu(x).tolist()
    [-0.015524162910878658, -0.1542687714099884, 1.3997892141342163, 2.995950222015381]
    """


_softmax1 = _function_of("ACTIVATION_SOFTMAX1", ("Axes",), (), ("out", "device"))


def softmax1(input, /, *, axes=-1, out=None, device=None):
    """DirectML's ACTIVATION_SOFTMAX1: exp(x_i) / sum_j(exp(x_j))   j over all elements of Axes.

    Types in DirectML: ``input`` float16 and float32.
    ``axes``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[0.0, 0.0, 0.6931471824645996], [200.0, 0.0, 0.0]])
    >>> anydml.softmax1(x, axes=[0]).tolist()
    [[0.0, 0.5, 0.6666666865348816], [1.0, 0.5, 0.3333333432674408]]
    """
    return _softmax1(input, axes, out, device)


_log_softmax1 = _function_of("ACTIVATION_LOG_SOFTMAX1", ("Axes",), (), ("out", "device"))


def log_softmax1(input, /, *, axes=-1, out=None, device=None):
    """DirectML's ACTIVATION_LOG_SOFTMAX1: ln(exp(x_i) / sum_j(exp(x_j)))   j over all elements of Axes.

    Types in DirectML: ``input`` float16 and float32.
    ``axes``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[0.0, 0.0, 0.6931471824645996], [200.0, 0.0, 0.0]])
    >>> anydml.log_softmax1(x, axes=[1]).tolist()
    [[-1.3862943649291992, -1.3862943649291992, -0.6931471824645996], [0.0, -200.0, -200.0]]
    """
    return _log_softmax1(input, axes, out, device)


_hardmax1 = _function_of("ACTIVATION_HARDMAX1", ("Axes",), (), ("out", "device"))


def hardmax1(input, /, *, axes=-1, out=None, device=None):
    """DirectML's ACTIVATION_HARDMAX1: out[c] = (argmax(input over Axes, first wins) == index of c within Axes) ? 1 :
    0.

    Types in DirectML: ``input`` float16 and float32.
    ``axes``: one axis or several; negative numbers count from the end.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.hardmax1(x, axes=[0]).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    return _hardmax1(input, axes, out, device)


_resample2 = _function_of("RESAMPLE2",
                          ("InterpolationMode", "RoundingDirection", "Scales", "InputPixelOffsets", "OutputPixelOffsets"),
                          (), ("out", "shape", "device"))


def resample2(input, /, *, interpolation_mode='LINEAR', rounding_direction='INCREASING', scales=None,
              input_pixel_offsets=None, output_pixel_offsets=None, out=None, shape=None, device=None):
    """DirectML's RESAMPLE2: OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset.

    Types in DirectML: ``input`` float16, float32, int8 and uint8.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``rounding_direction``: 'INCREASING' or 'DECREASING'.
    ``scales``: a sequence of numbers (default: the sizes of ``shape`` or ``out`` divided by the input's).
    ``input_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: 0.5, the center of a pixel).
    ``output_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: -0.5, the center of a pixel).
    The result has the type of ``input``. ``shape`` is needed only if the inputs do not determine the result's shape.
    Without ``shape`` and ``out``, each size is the input's multiplied by its scale and rounded down.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([1, 2, 3])
    >>> anydml.resample2(x, interpolation_mode="NEAREST_NEIGHBOR", scales=[2], input_pixel_offsets=[0],
    ...                  output_pixel_offsets=[0]).tolist()
    [1.0, 2.0, 2.0, 3.0, 3.0, 3.0]
    """
    return _resample2(input, interpolation_mode, rounding_direction, scales, input_pixel_offsets, output_pixel_offsets,
                      out, shape, device)


_resample_grad1 = _function_of("RESAMPLE_GRAD1",
                               ("InterpolationMode", "RoundingDirection", "Scales", "InputPixelOffsets", "OutputPixelOffsets"),
                               (), ("out", "shape", "device"))


def resample_grad1(input_gradient, /, *, interpolation_mode='LINEAR', rounding_direction='INCREASING', scales,
                   input_pixel_offsets=None, output_pixel_offsets=None, out=None, shape=None, device=None):
    """DirectML's RESAMPLE_GRAD1: transpose of RESAMPLE2: each gradient element is added, weighted, to the input
    elements it was sampled from.

    Types in DirectML: ``input_gradient`` float16 and float32.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``rounding_direction``: 'INCREASING' or 'DECREASING'.
    ``scales``: a sequence of numbers.
    ``input_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: 0.5, the center of a pixel).
    ``output_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: -0.5, the center of a pixel).
    The result has shape ``shape`` and the type of ``input_gradient``.

    >>> import anydml
    >>> import numpy as np
    >>> input_gradient = np.float32([1, 2, 3, 4])
    >>> anydml.resample_grad1(input_gradient, interpolation_mode="NEAREST_NEIGHBOR", rounding_direction="DECREASING",
    ...                       scales=[2], input_pixel_offsets=[0], output_pixel_offsets=[0], shape=(2,)).tolist()
    [3.0, 7.0]
    """
    return _resample_grad1(input_gradient, interpolation_mode, rounding_direction, scales, input_pixel_offsets,
                           output_pixel_offsets, out, shape, device)


_diagonal_matrix1 = _function_of("DIAGONAL_MATRIX1", ("Value", "DiagonalFillBegin", "DiagonalFillEnd"), (),
                                 ("out", "dtype", "shape", "device"))


def diagonal_matrix1(input=None, *, value=1, diagonal_fill_begin=0, diagonal_fill_end=1, out=None, dtype=None,
                     shape=None, device=None):
    """DirectML's DIAGONAL_MATRIX1: t = x - y; fill = (End >= Begin) ^ (t >= Begin) ^ (t < End); out[..., y, x] = fill
    ? Value : (InputTensor ? input[..., y, x] : 0).

    Types in DirectML: ``input`` float16 to float64, int8 to int64 and uint8 to uint64.
    ``value``: a number.
    ``diagonal_fill_begin``: an integer.
    ``diagonal_fill_end``: an integer.
    The result has type ``dtype`` if given, otherwise that of ``input``. ``shape`` is needed only if the inputs do not
    determine the result's shape.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[1, 5, 3], [2, 2, 9]])
    >>> anydml.diagonal_matrix1(x, value=0, diagonal_fill_end=2).tolist()
    [[0.0, 0.0, 3.0], [2.0, 0.0, 0.0]]
    """
    return _diagonal_matrix1(input, value, diagonal_fill_begin, diagonal_fill_end, out, dtype, shape, device)


_multihead_attention = _function_of("MULTIHEAD_ATTENTION", ("Scale", "MaskFilterValue", "HeadCount", "MaskType"), (),
                                    ("out", "dtype", "shape", "device"))


def multihead_attention(query=None, key=None, value=None, stacked_query_key=None, stacked_key_value=None,
                        stacked_query_key_value=None, bias=None, mask=None, relative_position_bias=None, past_key=None,
                        past_value=None, *, scale=None, mask_filter_value=-10000.0, head_count, mask_type='NONE',
                        out=None, dtype=None, shape=None, device=None):
    """DirectML's MULTIHEAD_ATTENTION: [+Bias on Q,K,V] -> Q x K^T * Scale -> [+RelativePositionBias] -> [+Mask] ->
    softmax -> x V.

    Types in DirectML: ``query``, ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``,
    ``stacked_query_key_value``, ``bias``, ``relative_position_bias``, ``past_key`` and ``past_value`` float16 and
    float32; ``mask`` int32.
    ``query``, ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value`` must have the same type.
    ``scale``: a number (default: 1 divided by the square root of a head's size).
    ``mask_filter_value``: a number.
    ``head_count``: a nonnegative integer.
    ``mask_type``: 'NONE', 'KEY_SEQUENCE_LENGTH', 'KEY_SEQUENCE_END_START', 'KEY_QUERY_SEQUENCE_LENGTH_START_END' or
    'BOOLEAN'.
    The result ``output`` has type ``dtype`` if given, otherwise the common type of ``query``, ``key``, ``value``,
    ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``, ``relative_position_bias``,
    ``past_key`` and ``past_value``.
    The optional result ``output_present_key`` has type ``dtype`` if given, otherwise the common type of ``query``,
    ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value``.
    The optional result ``output_present_value`` has type ``dtype`` if given, otherwise the common type of ``query``,
    ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value``.

    >>> import anydml
    >>> import numpy as np
    >>> query = np.float32([[[1], [2]]])
    >>> key = np.float32([[[3], [3], [5]]])
    >>> value = np.float32([[[1], [3], [100]]])
    >>> mask = np.int32([[2]])
    >>> [one.tolist() for one in anydml.multihead_attention(query, key, value, None, None, None, None, mask, None, None,
    ...                                                     None, scale=1, head_count=1,
    ...                                                     mask_type="KEY_SEQUENCE_LENGTH", out=(None, True, True))]
    [[[[2.0], [2.0]]], [[[[3.0], [3.0], [5.0]]]], [[[[1.0], [3.0], [100.0]]]]]
    """
    return _multihead_attention(query, key, value, stacked_query_key, stacked_key_value, stacked_query_key_value, bias,
                                mask, relative_position_bias, past_key, past_value, scale, mask_filter_value,
                                head_count, mask_type, out, dtype, shape, device)


_lp_pooling1 = _function_of("LP_POOLING1", ("Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations", "P"),
                            (), ("out", "shape", "device"))


def lp_pooling1(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, dilations=None, p=2,
                out=None, shape=None, device=None):
    """DirectML's LP_POOLING1: (X1^P + ... + Xn^P)^(1/P) over the dilated window.

    Types in DirectML: ``input`` float16 and float32.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``p``: a nonnegative integer.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.lp_pooling1(x, strides=[2, 2], window_size=[2, 2], p=1).tolist()
    [[[[14.0, 22.0]]]]
    """
    return _lp_pooling1(input, strides, window_size, start_padding, end_padding, dilations, p, out, shape, device)


_average_pooling1 = _function_of("AVERAGE_POOLING1",
                                 ("Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations", "IncludePadding"),
                                 (), ("out", "shape", "device"))


def average_pooling1(input, /, *, strides=None, window_size, start_padding=None, end_padding=None, dilations=None,
                     include_padding=False, out=None, shape=None, device=None):
    """DirectML's AVERAGE_POOLING1: sum(dilated window) / n   n = window elements (IncludePadding) or non-padding
    window elements.

    Types in DirectML: ``input`` float16 and float32.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``include_padding``: true or false.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    >>> anydml.average_pooling1(x, strides=[2, 2], window_size=[2, 2]).tolist()
    [[[[3.5, 5.5]]]]
    """
    return _average_pooling1(input, strides, window_size, start_padding, end_padding, dilations, include_padding, out,
                             shape, device)


_swish = _function_of("ACTIVATION_SWISH", ("SigmoidInputScale",), (), ("out", "device"))


def swish(input, /, *, sigmoid_input_scale=1.0, out=None, device=None):
    """DirectML's ACTIVATION_SWISH: input * Sigmoid(SigmoidInputScale * input).

    Types in DirectML: ``input`` float16 and float32.
    ``sigmoid_input_scale``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.swish(x, sigmoid_input_scale=2).tolist()
    [-0.016732126474380493, -0.13447071611881256, 1.428861141204834, 2.992582082748413]
    """
    return _swish(input, sigmoid_input_scale, out, device)


_hard_swish = _function_of("ACTIVATION_HARD_SWISH", ("Alpha", "Beta"), (), ("out", "device"))


def hard_swish(input, /, *, alpha=0.16666666666666666, beta=0.5, out=None, device=None):
    """DirectML's ACTIVATION_HARD_SWISH: input * HardSigmoid(input, Alpha, Beta).

    Types in DirectML: ``input`` float16 and float32.
    ``alpha``: a number.
    ``beta``: a number.
    The result has the type of ``input``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([-2.5, -0.5, 1.5, 3])
    >>> anydml.hard_swish(x, alpha=0.25).tolist()
    [-0.0, -0.1875, 1.3125, 3.0]
    """
    return _hard_swish(input, alpha, beta, out, device)


_quantized_linear_average_pooling = _function_of("QUANTIZED_LINEAR_AVERAGE_POOLING",
                                                 ("Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations", "IncludePadding"),
                                                 (), ("out", "dtype", "shape", "device"))


def quantized_linear_average_pooling(input, input_scale, input_zero_point, output_scale, /, output_zero_point=None, *,
                                     strides=None, window_size, start_padding=None, end_padding=None, dilations=None,
                                     include_padding=False, out=None, dtype=None, shape=None, device=None):
    """DirectML's QUANTIZED_LINEAR_AVERAGE_POOLING: deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) +
    ZeroPoint, Min, Max); out = q(average_pool(deq(Input))).

    Types in DirectML: ``input``, ``input_zero_point`` and ``output_zero_point`` int8 and uint8; ``input_scale`` and
    ``output_scale`` float32.
    ``input`` and ``input_zero_point`` must have the same type.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``window_size``: a sequence of nonnegative integers, or one for all dimensions.
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``include_padding``: true or false.
    The result has type ``dtype`` if given, otherwise that of ``output_zero_point``.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([[[[10, 11, 12, 13], [14, 15, 16, 17]]]])
    >>> input_scale = np.float32([[[[0.5]]]])
    >>> input_zero_point = np.uint8([[[[10]]]])
    >>> output_scale = np.float32([[[[0.25]]]])
    >>> output_zero_point = np.uint8([[[[1]]]])
    >>> anydml.quantized_linear_average_pooling(x, input_scale, input_zero_point, output_scale, output_zero_point,
    ...                                         strides=[2, 2], window_size=[2, 2]).tolist()
    [[[[6, 10]]]]
    """
    return _quantized_linear_average_pooling(input, input_scale, input_zero_point, output_scale, output_zero_point,
                                             strides, window_size, start_padding, end_padding, dilations,
                                             include_padding, out, dtype, shape, device)


_matrix_multiply_integer_to_float = _function_of("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", (), (), ("out", "shape", "device"))


def matrix_multiply_integer_to_float(a, a_scale, a_zero_point, b, b_scale, /, b_zero_point=None, bias=None, *, out=None,
                                     shape=None, device=None):
    """DirectML's MATRIX_MULTIPLY_INTEGER_TO_FLOAT: ((A - AZeroPoint) * AScale) x ((B - BZeroPoint) * BScale) + Bias.

    Types in DirectML: ``a``, ``a_zero_point``, ``b`` and ``b_zero_point`` int8 to int32 and uint8 to uint32;
    ``a_scale``, ``b_scale`` and ``bias`` float16 and float32.
    ``a``, ``a_zero_point``, ``b`` and ``b_zero_point`` must have the same type.
    ``a_scale``, ``b_scale`` and ``bias`` must have the same type.
    The result has the type of ``a_scale``.

    >>> import anydml
    >>> import numpy as np
    >>> a = np.int8([[1, 2], [3, 4]])
    >>> a_scale = np.float32([[0.5]])
    >>> a_zero_point = np.int8([[1]])
    >>> b = np.int8([[5, 6], [7, 8]])
    >>> b_scale = np.float32([[0.25]])
    >>> b_zero_point = np.int8([[4]])
    >>> bias = np.float32([[1, 1], [2, 2]])
    >>> anydml.matrix_multiply_integer_to_float(a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias).tolist()
    [[1.375, 1.5], [3.375, 4.0]]
    """
    return _matrix_multiply_integer_to_float(a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias, out, shape,
                                             device)


_mean_variance_normalization2 = _function_of("MEAN_VARIANCE_NORMALIZATION2",
                                             ("Axes", "UseMean", "UseVariance", "Epsilon"), ("FusedActivation",),
                                             ("out", "shape", "device"))


def mean_variance_normalization2(input, /, scale=None, bias=None, *, axes=-1, use_mean=True, use_variance=True,
                                 epsilon=1e-05, fused_activation=None, out=None, shape=None, device=None):
    """DirectML's MEAN_VARIANCE_NORMALIZATION2.

    Types in DirectML: ``input``, ``scale`` and ``bias`` float16 and float32.
    ``input``, ``scale`` and ``bias`` must have the same type.
    ``axes``: one axis or several; negative numbers count from the end.
    ``use_mean``: true or false.
    ``use_variance``: true or false.
    ``epsilon``: a number.
    ``fused_activation``: an `Operator`, or None.
    The result has the inputs' common type.
    ``scale`` and ``bias`` may have fewer dimensions than ``input``; they are broadcast as in NumPy.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[2, -2], [6, 6]])
    >>> anydml.mean_variance_normalization2(x, None, None, axes=[1], use_mean=False, epsilon=0).tolist()
    [[1.0, -1.0], [1.0, 1.0]]
    """
    return _mean_variance_normalization2(input, scale, bias, axes, use_mean, use_variance, epsilon, fused_activation,
                                         out, shape, device)


_multihead_attention1 = _function_of("MULTIHEAD_ATTENTION1",
                                     ("Scale", "MaskFilterValue", "QueryHeadCount", "KeyValueHeadCount", "MaskType"),
                                     (), ("out", "dtype", "shape", "device"))


def multihead_attention1(query=None, key=None, value=None, stacked_query_key=None, stacked_key_value=None,
                         stacked_query_key_value=None, bias=None, mask=None, relative_position_bias=None, past_key=None,
                         past_value=None, past_sequence_lengths=None, *, scale=None, mask_filter_value=-10000.0,
                         query_head_count, key_value_head_count=None, mask_type='NONE', out=None, dtype=None,
                         shape=None, device=None):
    """DirectML's MULTIHEAD_ATTENTION1.

    Types in DirectML: ``query``, ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``,
    ``stacked_query_key_value``, ``bias``, ``relative_position_bias``, ``past_key`` and ``past_value`` float16 and
    float32; ``mask`` int32; ``past_sequence_lengths`` float16, float32 and int32.
    ``query``, ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value`` must have the same type.
    ``scale``: a number (default: 1 divided by the square root of a head's size).
    ``mask_filter_value``: a number.
    ``query_head_count``: a nonnegative integer.
    ``key_value_head_count``: a nonnegative integer (default: ``query_head_count``).
    ``mask_type``: 'NONE', 'KEY_SEQUENCE_LENGTH', 'KEY_SEQUENCE_END_START', 'KEY_QUERY_SEQUENCE_LENGTH_START_END' or
    'BOOLEAN'.
    The result ``output`` has type ``dtype`` if given, otherwise the common type of ``query``, ``key``, ``value``,
    ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``, ``relative_position_bias``,
    ``past_key`` and ``past_value``.
    The optional result ``output_present_key`` has type ``dtype`` if given, otherwise the common type of ``query``,
    ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value``.
    The optional result ``output_present_value`` has type ``dtype`` if given, otherwise the common type of ``query``,
    ``key``, ``value``, ``stacked_query_key``, ``stacked_key_value``, ``stacked_query_key_value``, ``bias``,
    ``relative_position_bias``, ``past_key`` and ``past_value``.

    >>> import anydml
    >>> import numpy as np
    >>> query = np.float32([[[0, 1]]])
    >>> key = np.float32([[[2], [2]]])
    >>> value = np.float32([[[5], [7]]])
    >>> [one.tolist() for one in anydml.multihead_attention1(query, key, value, None, None, None, None, None, None,
    ...                                                      None, None, None, scale=1, mask_filter_value=0,
    ...                                                      query_head_count=2, key_value_head_count=1,
    ...                                                      out=(None, True, True))]
    [[[[6.0, 6.0]]], [[[[2.0], [2.0]]]], [[[[5.0], [7.0]]]]]
    """
    return _multihead_attention1(query, key, value, stacked_query_key, stacked_key_value, stacked_query_key_value, bias,
                                 mask, relative_position_bias, past_key, past_value, past_sequence_lengths, scale,
                                 mask_filter_value, query_head_count, key_value_head_count, mask_type, out, dtype,
                                 shape, device)


_quantize = _function_of("QUANTIZE", ("QuantizationType",), (), ("out", "dtype", "shape", "device"))


def quantize(input, quantizations, /, *, quantization_type=None, out=None, dtype=None, shape=None, device=None):
    """DirectML's QUANTIZE: out = clamp(round(Input / Scale) + ZeroPoint), Scale and ZeroPoint for each block.

    Types in DirectML: ``input`` float16 and float32; ``quantizations`` float16, float32, int4, int8, uint4 and uint8.
    ``quantization_type``: 'NONE', 'SCALE' or 'SCALE_ZERO_POINT' (default: chosen by the number of ``quantizations``).
    The result has type ``dtype``, which may be int4, int8, uint4 or uint8.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[-1, 0.25], [6, 1000]])
    >>> quantizations = [np.float32([[0.5], [2]]), np.uint8([[10], [10]])]
    >>> anydml.quantize(x, quantizations, quantization_type="SCALE_ZERO_POINT", dtype="uint8").tolist()
    [[8, 10], [13, 255]]
    """
    return _quantize(input, quantizations, quantization_type, out, dtype, shape, device)


_dequantize = _function_of("DEQUANTIZE", ("QuantizationType",), (), ("out", "dtype", "shape", "device"))


def dequantize(input, quantizations, /, *, quantization_type=None, out=None, dtype=None, shape=None, device=None):
    """DirectML's DEQUANTIZE: out = (Input - ZeroPoint) * Scale, Scale and ZeroPoint for each block.

    Types in DirectML: ``input`` int4, int8, uint4 and uint8; ``quantizations`` float16, float32, int4, int8, uint4 and
    uint8.
    ``quantization_type``: 'NONE', 'SCALE' or 'SCALE_ZERO_POINT' (default: chosen by the number of ``quantizations``).
    The result has type ``dtype``, which may be float16 or float32.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.uint8([[8, 10], [13, 208]])
    >>> quantizations = [np.float32([[0.5], [2]]), np.uint8([[10], [10]])]
    >>> anydml.dequantize(x, quantizations, quantization_type="SCALE_ZERO_POINT", dtype="float32").tolist()
    [[-1.0, 0.0], [6.0, 396.0]]
    """
    return _dequantize(input, quantizations, quantization_type, out, dtype, shape, device)


_resample3 = _function_of("RESAMPLE3",
                          ("InterpolationMode", "RoundingDirection", "Scales", "InputPixelOffsets", "OutputPixelOffsets", "Antialiased"),
                          (), ("out", "shape", "device"))


def resample3(input, /, *, interpolation_mode='LINEAR', rounding_direction='INCREASING', scales=None,
              input_pixel_offsets=None, output_pixel_offsets=None, antialiased=False, out=None, shape=None,
              device=None):
    """DirectML's RESAMPLE3: OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset.

    Types in DirectML: ``input`` float16, float32, int8 and uint8.
    ``interpolation_mode``: 'NEAREST_NEIGHBOR' or 'LINEAR'.
    ``rounding_direction``: 'INCREASING' or 'DECREASING'.
    ``scales``: a sequence of numbers (default: the sizes of ``shape`` or ``out`` divided by the input's).
    ``input_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: 0.5, the center of a pixel).
    ``output_pixel_offsets``: a sequence of numbers, or one for all dimensions (default: -0.5, the center of a pixel).
    ``antialiased``: true or false.
    The result has the type of ``input``. ``shape`` is needed only if the inputs do not determine the result's shape.
    Without ``shape`` and ``out``, each size is the input's multiplied by its scale and rounded down.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([0, 8, 16, 24])
    >>> anydml.resample3(x, rounding_direction="DECREASING", scales=[0.5], antialiased=1).tolist()
    [5.0, 19.0]
    """
    return _resample3(input, interpolation_mode, rounding_direction, scales, input_pixel_offsets, output_pixel_offsets,
                      antialiased, out, shape, device)


_fold = _function_of("FOLD", ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding"), (),
                     ("out", "dtype", "shape", "device"))


def fold(input, /, *, window_sizes, strides=None, dilations=None, start_padding=None, end_padding=None, out=None,
         dtype=None, shape=None, device=None):
    """DirectML's FOLD: sum overlapping blocks of a [N, C*prod(WindowSizes), BlockCount] input into [N, C, spatial...].

    ``window_sizes``: a sequence of nonnegative integers, or one for all dimensions.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result has type ``dtype`` and shape ``shape``. DirectML's documentation does not list the supported types.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[1, 5, 3], [5, 3, 2]]])
    >>> anydml.fold(x, window_sizes=[2], shape=(1, 1, 4), dtype="float32").tolist()
    [[[1.0, 10.0, 6.0, 2.0]]]
    """
    return _fold(input, window_sizes, strides, dilations, start_padding, end_padding, out, dtype, shape, device)


_unfold = _function_of("UNFOLD", ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding"), (),
                       ("out", "dtype", "shape", "device"))


def unfold(input, /, *, window_sizes, strides=None, dilations=None, start_padding=None, end_padding=None, out=None,
           dtype=None, shape=None, device=None):
    """DirectML's UNFOLD: each window of [N, C, spatial...] becomes one column of [N, C*prod(WindowSizes), BlockCount];
    padding reads 0.

    ``window_sizes``: a sequence of nonnegative integers, or one for all dimensions.
    ``strides``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``dilations``: a sequence of nonnegative integers, or one for all dimensions (default: 1).
    ``start_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    ``end_padding``: a sequence of nonnegative integers, or one for all dimensions (default: 0).
    The result has type ``dtype``. DirectML's documentation does not list the supported types.

    >>> import anydml
    >>> import numpy as np
    >>> x = np.float32([[[1, 5, 3, 2]]])
    >>> anydml.unfold(x, window_sizes=[2], dtype="float32").tolist()
    [[[1.0, 5.0, 3.0], [5.0, 3.0, 2.0]]]
    """
    return _unfold(input, window_sizes, strides, dilations, start_padding, end_padding, out, dtype, shape, device)
