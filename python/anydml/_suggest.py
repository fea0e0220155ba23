# SPDX-License-Identifier: MIT
"""Suggests an existing name for a name that the package does not have."""
import difflib
import sys

from . import _core
from ._messages import function_of as _function_of

# Maps NumPy's and PyTorch's names to the name or a description of the equivalent here.
OTHERS = {
    "MultiheadAttention": "multihead_attention", "absolute": "abs", "adam": "adam_optimizer", "amax": "max",
    "amin": "min", "arange": "fill_value_sequence", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan_yx", "arctanh": "atanh",
    "argsort": "top_k1(x, k=x.shape[-1], axis_direction='INCREASING')[1]", "argwhere": "nonzero_coordinates",
    "astype": "cast", "atan2": "atan_yx", "avg_pool2d": "average_pooling", "batch_norm": "batch_normalization",
    "bitwise_and": "bit_and", "bitwise_count": "bit_count", "bitwise_invert": "bit_not",
    "bitwise_left_shift": "bit_shift_left", "bitwise_not": "bit_not", "bitwise_or": "bit_or",
    "bitwise_right_shift": "bit_shift_right", "bitwise_xor": "bit_xor", "bmm": "matmul", "cat": "concat",
    "clamp": "clip", "conv1d": "convolution", "conv2d": "convolution", "conv3d": "convolution",
    "convolve": "convolution", "diag": "diagonal_matrix", "div": "divide", "dot": "matmul", "eq": "equal",
    "eye": "diagonal_matrix", "fix": "element_wise_round",
    "fmod": "modulus_truncate", "full": "fill_value_constant", "ge": "greater_equal",
    "group_norm": "mean_variance_normalization1", "gt": "greater", "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish", "hstack": "concat", "identity": "element_wise_identity", "inner": "matmul",
    "instance_norm": "mean_variance_normalization1", "interpolate": "resample3", "invert": "bit_not",
    "isfinite": "isnan and anydml.isinf", "jit": "graph",
    "layer_norm": "mean_variance_normalization1", "le": "less_equal", "left_shift": "bit_shift_left",
    "local_response_norm": "local_response_normalization", "logsumexp": "reduce(x, function='LOG_SUM_EXP')",
    "lp_pool2d": "lp_pooling1", "lt": "less", "max_pool2d": "max_pooling2", "max_unpool2d": "max_unpooling",
    "mm": "matmul", "mod": "modulus_floor", "mul": "multiply", "ne": "not_equal", "neg": "negate",
    "negative": "negate", "nonzero": "nonzero_coordinates", "norm": "reduce(x, function='L2')",
    "normalize": "lp_normalization", "ones": "fill_value_constant", "pad": "padding1",
    "pixel_shuffle": "depth_to_space1(x, block_size=r, order='COLUMN_ROW_DEPTH')",
    "pixel_unshuffle": "space_to_depth1(x, block_size=r, order='COLUMN_ROW_DEPTH')", "power": "pow",
    "prelu": "parameterized_relu", "rand": "random_generator", "random": "random_generator", "reciprocal": "recip",
    "relu6": "clip(x, 0, 6)", "remainder": "modulus_floor", "right_shift": "bit_shift_right",
    "rint": "element_wise_round", "round": "element_wise_round",
    "scaled_dot_product_attention": "multihead_attention", "scatter": "scatter_elements", "selu": "scaled_elu",
    "silu": "swish", "slice": "slice_",
    "sort": "top_k1(x, k=x.shape[-1], axis_direction='INCREASING')[0]", "square": "constant_pow(x, exponent=2)", "sub": "subtract", "take": "gather",
    "take_along_axis": "gather_elements", "topk": "top_k", "true_divide": "divide", "trunc": "element_wise_round",
    "vstack": "concat", "zeros": "fill_value_constant",
}
MODULES = ("onnx", "torch", "compare")


def message(name, names):
    """Returns the error message. `names` are the existing names."""
    text = f"module 'anydml' has no attribute {name!r}"
    if name in MODULES:
        return f"{text} before it is imported: import anydml.{name}"
    built = {op["name"]: op["built"] for op in _core.operators()}
    operator = name.upper().removeprefix("DML_OPERATOR_")
    names_of_it = (operator, f"ELEMENT_WISE_{operator}", f"ACTIVATION_{operator}")
    known = next((one for one in names_of_it if one in built), None)
    if name in OTHERS:
        return f"{text}; it has anydml.{OTHERS[name]}"
    if known is not None:
        return (f"{text}; DirectML's {known} is anydml.{_function_of(known)}" if built[known] else
                f"{text}; DirectML's {known} is not built yet")
    other = _library_of(name)
    if other is not None:  # the name is spelled correctly, so a similar name would mislead
        return (f"{text}, and no function does what {other}.{name} does; docs/python-operators.md and dir(anydml) list its "
                "functions")
    near = difflib.get_close_matches(name.lower(), [*names, *OTHERS], 3, 0.7)
    near = list(dict.fromkeys(OTHERS.get(one, one) for one in near))
    if near:
        return f"{text}; did you mean {' or '.join(f'anydml.{one}' for one in near)}?"
    return f"{text}; docs/python-operators.md and dir(anydml) list its functions"


def _library_of(name):
    """Returns the loaded NumPy or PyTorch module that has a function with this name, if there is one."""
    for module in ("numpy", "numpy.linalg", "torch", "torch.nn.functional"):
        if callable(getattr(sys.modules.get(module), name, None)):
            return module
    return None
