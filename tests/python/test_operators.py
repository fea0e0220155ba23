# SPDX-License-Identifier: MIT
"""Tests the functions that data/python/generate_python.py generates: their names, signatures and results."""
import builtins
import inspect
import keyword
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml
from anydml import _call, _core, _run, _specs

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "data" / "python"))
import generate_python  # noqa: E402
import python_rule  # noqa: E402

ALL = {op.name: op for op in python_rule.read_operators()}
BUILT = [op["name"] for op in anydml.operators(built=True)]
X = np.float32([-1.5, 0.25, 300, np.nan])
Y = np.float32([-1.5, 0, 300, np.nan])
BYTES = np.uint8([[1, 200], [255, 0]])
# Test cases for each operator: inputs, attributes in Python's spelling, options.
ONE, TWO = ((X,), {}, {}), ((X, Y), {}, {})
WINDOWS = {"strides": [1, 1], "window_size": [2, 2], "start_padding": [0, 1], "end_padding": [0, 0]}
DILATIONS = {"dilations": [1, 1]}
FILTERED = {"strides": [1, 1], "dilations": [1, 1], "start_padding": [1, 1], "end_padding": [0, 0], "group_count": 1}
SAMPLES = {"reduction_function": "average", "interpolation_mode": "linear", "spatial_scale_x": 1, "spatial_scale_y": 1,
           "minimum_samples_per_output": 1, "maximum_samples_per_output": 2}
OFFSETS = {"input_pixel_offset": 0.5, "output_pixel_offset": -0.5, "align_regions_to_corners": False}
SCALE, ZERO_POINT = np.float32(0.5).reshape(1, 1, 1, 1), np.uint8(1).reshape(1, 1, 1, 1)
CASES = {
    "ELEMENT_WISE_IDENTITY": ONE, "ELEMENT_WISE_ABS": ONE, "ELEMENT_WISE_NEGATE": ONE, "ELEMENT_WISE_FLOOR": ONE,
    "ELEMENT_WISE_CEIL": ONE, "ELEMENT_WISE_ADD": TWO, "ELEMENT_WISE_SUBTRACT": TWO, "ELEMENT_WISE_MULTIPLY": TWO,
    "ELEMENT_WISE_DIVIDE": TWO, "ELEMENT_WISE_MODULUS_FLOOR": TWO, "ELEMENT_WISE_MODULUS_TRUNCATE": TWO,
    "ELEMENT_WISE_LOGICAL_EQUALS": TWO, "ELEMENT_WISE_CLIP": ((X,), {"min": -1, "max": 1.5, "scale": 2, "bias": 1}, {}),
    "ELEMENT_WISE_IF": ((np.uint8([0, 1, 2, 0]), X, Y), {}, {}), "CAST": ((X,), {}, {"dtype": "int8"}),
    "FILL_VALUE_CONSTANT": ((), {"value": 7}, {"shape": (2, 3), "dtype": "float16"}),
    "FILL_VALUE_SEQUENCE": ((), {"value_start": 7, "value_delta": -2}, {"shape": (2, 3), "dtype": "int16"}),
    **dict.fromkeys(("ELEMENT_WISE_RECIP", "ELEMENT_WISE_SQRT", "ELEMENT_WISE_SIGN", "ELEMENT_WISE_IS_NAN",
                     "ELEMENT_WISE_BIT_NOT", "ELEMENT_WISE_BIT_COUNT", "ACTIVATION_IDENTITY", "ACTIVATION_RELU"), ONE),
    **dict.fromkeys(("ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN", "ELEMENT_WISE_MEAN", "ELEMENT_WISE_DIFFERENCE_SQUARE",
                     "ELEMENT_WISE_LOGICAL_GREATER_THAN", "ELEMENT_WISE_LOGICAL_LESS_THAN",
                     "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL",
                     "ELEMENT_WISE_BIT_AND", "ELEMENT_WISE_BIT_OR", "ELEMENT_WISE_BIT_XOR",
                     "ACTIVATION_PARAMETERIZED_RELU", "ACTIVATION_RELU_GRAD"), TWO),
    **dict.fromkeys(("ELEMENT_WISE_LOGICAL_AND", "ELEMENT_WISE_LOGICAL_OR", "ELEMENT_WISE_LOGICAL_XOR",
                     "ELEMENT_WISE_BIT_SHIFT_LEFT", "ELEMENT_WISE_BIT_SHIFT_RIGHT"),
                    ((np.uint8([0, 1, 2, 200]), np.uint8([0, 3, 0, 9])), {}, {})),
    "ELEMENT_WISE_LOGICAL_NOT": ((np.uint8([0, 1, 2, 200]),), {}, {}),
    "ELEMENT_WISE_ADD1": (TWO[0], {"fused_activation": anydml.Operator("ACTIVATION_RELU")}, {}),
    "ELEMENT_WISE_CLIP1": ((X,), {"min": -1, "max": 1.5}, {}),
    "ELEMENT_WISE_CLIP_GRAD": ((X, Y), {"min": -1, "max": 1.5}, {}),
    "ELEMENT_WISE_CLIP_GRAD1": ((X, Y), {"min": -1, "max": 1.5}, {}),
    "ELEMENT_WISE_THRESHOLD": ((X,), {"min": 0.5}, {}),
    "ELEMENT_WISE_ROUND": ((X,), {"rounding_mode": "toward_zero"}, {}),
    "ELEMENT_WISE_IS_INFINITY": ((X,), {"infinity_mode": "either"}, {}),
    "ELEMENT_WISE_QUANTIZE_LINEAR": ((X, Y, np.int8([1, 2, 3, 4])), {}, {}),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": ((np.int8([1, -2, 3, 4]), X, np.int8([4, 3, 2, 1])), {}, {}),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": (
        (np.int8([1, -2, 3, 4]), np.float32([0.5]), np.int8([1]), np.uint8([9, 8, 7, 6]), np.float32([0.25]), None,
         np.float32([0.3]), np.uint8([3])), {}, {}),
    "ACTIVATION_LINEAR": ((X,), {"alpha": 0.3, "beta": 0.1}, {}), "ACTIVATION_LEAKY_RELU": ((X,), {"alpha": 0.3}, {}),
    "ACTIVATION_THRESHOLDED_RELU": ((X,), {"alpha": 0.3}, {}), "ACTIVATION_SHRINK": ((X,), {"bias": 0.3, "threshold": 1}, {}),
    "ACTIVATION_HARD_SIGMOID": ((X,), {"alpha": 0.3, "beta": 0.1}, {}),
    "ACTIVATION_HARD_SWISH": ((X,), {"alpha": 0.3, "beta": 0.1}, {}),
    "ACTIVATION_SOFTPLUS": ((X,), {"steepness": 2}, {}), "ACTIVATION_SWISH": ((X,), {"sigmoid_input_scale": 0.5}, {}),
    "ACTIVATION_SCALED_ELU": ((X,), {"alpha": 0.3, "gamma": 1.5}, {}),
    "ELEMENT_WISE_CONSTANT_POW": ((X,), {"exponent": 1.5, "scale": 2, "bias": 5}, {}),
    **dict.fromkeys(("ACTIVATION_ELU", "ACTIVATION_CELU"), ((X,), {"alpha": 0.3}, {})),
    **dict.fromkeys(("ACTIVATION_PARAMETRIC_SOFTPLUS", "ACTIVATION_SCALED_TANH"), ((X,), {"alpha": 0.3, "beta": 2}, {})),
    **{name: ONE if len(ALL[name].inputs) == 1 else TWO for name in python_rule.UFUNCS},
    "REDUCE": ((X.reshape(2, 2),), {"function": "sum", "axes": [1]}, {"shape": (2, 1), "dtype": X.dtype}),
    "CONVOLUTION": ((X.reshape(1, 1, 2, 2), Y.reshape(1, 1, 2, 2), X[:1].reshape(1, 1, 1, 1)), {
        "mode": "convolution", "direction": "forward", "strides": [1, 1], "dilations": [1, 1], "start_padding": [1, 1],
        "end_padding": [1, 0], "output_padding": [0, 0], "group_count": 1,
        "fused_activation": anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.1)}, {}),
    "CONVOLUTION_INTEGER": ((BYTES.reshape(1, 1, 2, 2), ZERO_POINT, BYTES.view(np.int8).reshape(2, 1, 1, 2),
                             np.int8([3, 4]).reshape(1, 2, 1, 1)), FILTERED, {}),
    "QUANTIZED_LINEAR_CONVOLUTION": (
        (BYTES.reshape(1, 1, 2, 2), SCALE, ZERO_POINT, BYTES.view(np.int8).reshape(2, 1, 1, 2),
         np.float32([0.5, 0.25]).reshape(1, 2, 1, 1), None, np.int32([-70, 1000]).reshape(1, 2, 1, 1), 9 * SCALE,
         ZERO_POINT), FILTERED, {}),
    "GEMM": ((X.reshape(2, 2), Y.reshape(2, 2), X.reshape(2, 2)),
             {"trans_a": "none", "trans_b": "transpose", "alpha": 0.5, "beta": 2,
              "fused_activation": anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.1)}, {}),
    "RNN": ((X.reshape(1, 2, 2, 1), Y[:1].reshape(1, 1, 1, 1), X[1:2].reshape(1, 1, 1, 1), Y[:2].reshape(1, 1, 1, 2),
             None, np.uint32([1, 2]).reshape(1, 1, 1, 2)),
            {"activation_descs": [anydml.Operator("ACTIVATION_TANH")], "direction": "backward"}, {}),
    "LSTM": ((X.reshape(1, 2, 2, 1), Y.reshape(1, 1, 4, 1), X.reshape(1, 1, 4, 1), None, X[:2].reshape(1, 1, 2, 1),
              Y[:2].reshape(1, 1, 2, 1), None, X[:3].reshape(1, 1, 1, 3)),
             {"activation_descs": [anydml.Operator("ACTIVATION_HARD_SIGMOID", Alpha=0.2, Beta=0.5),
                                   *[anydml.Operator("ACTIVATION_TANH")] * 2], "direction": "forward",
              "clip_threshold": 0.5, "use_clip_threshold": True, "couple_input_forget": True}, {}),
    "GRU": ((X.reshape(1, 2, 2, 1), Y[:3].reshape(1, 1, 3, 1), X[:3].reshape(1, 1, 3, 1)),
            {"activation_descs": [anydml.Operator("ACTIVATION_SIGMOID"), anydml.Operator("ACTIVATION_TANH")],
             "direction": "forward", "linear_before_reset": True}, {}),
    "MATRIX_MULTIPLY_INTEGER": ((BYTES, np.uint8([[7], [9]]), BYTES.view(np.int8), np.int8([[3, 4]])), {}, {}),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": (
        (BYTES, np.float32([[0.5], [0.25]]), None, BYTES.view(np.int8), np.float32([[0.1]]), np.int8([[3]]),
         np.float32([[3]]), np.uint8([[7]])), {}, {}),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": (
        (BYTES, np.float32([[0.5]]), np.uint8([[7]]), BYTES.T, np.float32([[0.1, 3]]), None, X.reshape(2, 2)), {}, {}),
    **{f"MAX_POOLING{version}": ((X.reshape(1, 1, 2, 2),), {**WINDOWS, **more}, {}) for version, more in (
        ("", {}), ("1", {}), ("2", DILATIONS))},
    **{f"AVERAGE_POOLING{version}": ((X.reshape(1, 1, 2, 2),), {**WINDOWS, **more, "include_padding": True}, {})
       for version, more in (("", {}), ("1", DILATIONS))},
    **{f"LP_POOLING{version}": ((X.reshape(1, 1, 2, 2),), {**WINDOWS, **more, "p": 3}, {})
       for version, more in (("", {}), ("1", DILATIONS))},
    "AVERAGE_POOLING_GRAD": ((X[:2].reshape(1, 1, 1, 2),), {**WINDOWS, "include_padding": False}, {"shape": (1, 1, 2, 2)}),
    "MAX_POOLING_GRAD": ((Y.reshape(1, 1, 2, 2), X[:2].reshape(1, 1, 1, 2)), {**WINDOWS, **DILATIONS}, {}),
    "MAX_UNPOOLING": ((X.reshape(1, 1, 2, 2), np.uint32([1, 9, 4, 1]).reshape(1, 1, 2, 2)), {}, {"shape": (1, 1, 2, 3)}),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": ((np.uint8([1, 2, 3, 4]).reshape(1, 1, 2, 2), *[SCALE, ZERO_POINT] * 2), {
        **WINDOWS, **DILATIONS, "include_padding": False}, {}),
    "ARGMIN": ((X.reshape(2, 2),), {"axes": [1], "axis_direction": "increasing"}, {"shape": (2, 1), "dtype": "int64"}),
    "ARGMAX": ((X.reshape(2, 2),), {"axes": [0], "axis_direction": "decreasing"}, {"shape": (1, 2), "dtype": "int64"}),
    "TOP_K": ((X.reshape(2, 2),), {"axis": 1, "k": 1}, {"shape": ((2, 1), (2, 1)), "dtype": (X.dtype, "uint64")}),
    "TOP_K1": ((X,), {"axis": 0, "k": 3, "axis_direction": "increasing"}, {"shape": ((3,), (3,)), "dtype": (X.dtype, "int64")}),
    "GATHER": ((X, np.int64([3, -4])), {"axis": 0, "index_dimensions": 1}, {}),
    "GATHER_ELEMENTS": ((X, np.int64([3, -4])), {"axis": 0}, {}),
    "GATHER_ND": ((X.reshape(2, 2), np.uint32([[1, 0]])), {"input_dimension_count": 2, "indices_dimension_count": 2}, {}),
    "GATHER_ND1": ((X.reshape(2, 2), np.uint32([[1], [0]])),
                   {"input_dimension_count": 2, "indices_dimension_count": 2, "batch_dimension_count": 1}, {}),
    "SCATTER_ELEMENTS": ((X, np.int32([3, 0, 3]), X[1:]), {"axis": 0}, {}),
    "SCATTER_ND": ((X.reshape(2, 2), np.uint32([[1, 0]]), X[None, :1]),
                   {"input_dimension_count": 2, "indices_dimension_count": 2}, {}),
    "ONE_HOT": ((np.uint32([[1], [0]]), np.float32([[0, 1]])), {"axis": 1}, {"shape": (2, 3)}),
    "NONZERO_COORDINATES": ((X.reshape(2, 2),), {}, {}),
    "CUMULATIVE_SUMMATION": ((X.reshape(2, 2),),
                             {"axis": 1, "axis_direction": "decreasing", "has_exclusive_sum": False}, {}),
    "CUMULATIVE_PRODUCT": ((X.reshape(2, 2),),
                           {"axis": 0, "axis_direction": "increasing", "has_exclusive_product": True}, {}),
    "DYNAMIC_QUANTIZE_LINEAR": ((X,), {}, {"dtype": ("uint8", "float32", "uint8")}),
    "SPLIT": ((X,), {"axis": 0}, {"shape": ((1,), (3,))}),
    "JOIN": (([X, Y, X],), {"axis": 0}, {"shape": (12,)}),
    "QUANTIZE": ((X, [np.float32([0.5, 2]), np.uint8([3, 1])]), {"quantization_type": "scale_zero_point"},
                 {"dtype": "uint8"}),
    "DEQUANTIZE": ((np.uint8([1, 2, 3, 4]), [np.float32([0.5, 2]), np.uint8([3, 1])]),
                   {"quantization_type": "scale_zero_point"}, {"dtype": "float32"}),
    "SLICE": ((X,), {"offsets": [1], "sizes": [2], "strides": [2]}, {"shape": (2,)}),
    "SLICE1": ((X,), {"input_window_offsets": [1], "input_window_sizes": [3], "input_window_strides": [-1]},
               {"shape": (3,)}),
    "SLICE_GRAD": ((X[:2],), {"input_window_offsets": [1], "input_window_sizes": [4], "input_window_strides": [-3]},
                   {"shape": (7,)}),
    **dict.fromkeys(("PADDING", "PADDING1"), (
        (X,), {"padding_mode": "wrap", "padding_value": 7, "start_padding": [5], "end_padding": [2]}, {"shape": (11,)})),
    "TILE": ((X,), {"repeats": [3]}, {"shape": (12,)}),
    **{f"RESAMPLE{version}": ((X,), {
        "interpolation_mode": "linear", "scales": [1.5],
        **({"input_pixel_offsets": [0.5], "output_pixel_offsets": [-0.5]} if version else {}),
        **({"rounding_direction": "decreasing"} if version in ("2", "3") else {}),
        **({"antialiased": 1} if version == "3" else {})}, {"shape": (6,)}) for version in ("", "1", "2", "3")},
    **{f"RESAMPLE_GRAD{version}": ((X,), {
        "interpolation_mode": "linear", "scales": [1.5], "input_pixel_offsets": [0.5], "output_pixel_offsets": [-0.5],
        **({"rounding_direction": "increasing"} if version else {})}, {"shape": (3,)}) for version in ("", "1")},
    "UPSAMPLE_2D": ((X.reshape(1, 1, 2, 2),), {"scale_size": [3, 2], "interpolation_mode": "nearest_neighbor"},
                    {"shape": (1, 1, 4, 6)}),
    "ROI_POOLING": ((X.reshape(1, 1, 2, 2), np.float32([0, 0, 0, 1, 1]).reshape(1, 1, 1, 5)),
                    {"spatial_scale": 1, "pooled_size": [2, 1]}, {}),
    **{f"ROI_ALIGN{version}": ((X.reshape(1, 1, 2, 2), np.float32([[0, 0, 2, 1]]), np.uint32([0])), {
        **SAMPLES, "out_of_bounds_input_value": 7, **(OFFSETS if version else {})}, {"shape": (1, 1, 1, 2)})
       for version in ("", "1")},
    "ROI_ALIGN_GRAD": ((X.reshape(1, 1, 2, 2), Y.reshape(1, 1, 2, 2), np.float32([[0, 0.5, 2, 1]]), np.uint32([0])),
                       {**SAMPLES, **OFFSETS}, {}),
    "RANDOM_GENERATOR": ((np.arange(6, dtype=np.uint32).reshape(1, 1, 1, 6),), {"type": "philox_4x32_10"},
                         {"shape": ((1, 1, 3, 3), (1, 1, 1, 6))}),
    "SPACE_TO_DEPTH": ((X.reshape(1, 1, 2, 2),), {"block_size": 2}, {"shape": (1, 4, 1, 1)}),
    "SPACE_TO_DEPTH1": ((X.reshape(1, 1, 2, 2),), {"block_size": 2, "order": "column_row_depth"}, {"shape": (1, 4, 1, 1)}),
    "DEPTH_TO_SPACE": ((X.reshape(1, 4, 1, 1),), {"block_size": 2}, {"shape": (1, 1, 2, 2)}),
    "DEPTH_TO_SPACE1": ((X.reshape(1, 4, 1, 1),), {"block_size": 2, "order": "column_row_depth"}, {"shape": (1, 1, 2, 2)}),
    **dict.fromkeys(("UNFOLD", "FOLD"), (
        (X.reshape(1, 1, 4),), {"window_sizes": [1], "strides": [1], "dilations": [1], "start_padding": [0],
                                "end_padding": [0]}, {"shape": (1, 1, 4), "dtype": X.dtype})),
    "REVERSE_SUBSEQUENCES": ((X.reshape(2, 2), np.uint32([[2], [9]])), {"axis": 1}, {}),
    "VALUE_SCALE_2D": ((X.reshape(1, 1, 2, 2),), {"scale": 2, "bias": [3]}, {}),
    "DIAGONAL_MATRIX": ((), {"offset": -1, "value": 3}, {"shape": (3, 2), "dtype": "int16"}),
    "DIAGONAL_MATRIX1": ((X.reshape(2, 2),), {"value": 3, "diagonal_fill_begin": 1, "diagonal_fill_end": -1},
                         {"shape": (2, 2)}),
    "BATCH_NORMALIZATION": ((X.reshape(1, 2, 2), *np.float32([[1, 2], [4, 1], [0.5, 3], [1, 0]]).reshape(4, 1, 2, 1)),
                            {"spatial": True, "epsilon": 0.1, "fused_activation": anydml.Operator("ACTIVATION_RELU")}, {}),
    "MEAN_VARIANCE_NORMALIZATION": ((X.reshape(1, 1, 2, 2), Y[:1].reshape(1, 1, 1, 1), None),
                                    {"cross_channel": True, "normalize_variance": False, "epsilon": 0.1}, {}),
    "MEAN_VARIANCE_NORMALIZATION1": ((X.reshape(2, 2), None, Y[:2].reshape(1, 2)),
                                     {"axes": [1], "normalize_variance": True, "epsilon": 0.1,
                                      "fused_activation": anydml.Operator("ACTIVATION_LEAKY_RELU", Alpha=0.1)}, {}),
    "MEAN_VARIANCE_NORMALIZATION2": ((X.reshape(2, 2), Y[:2].reshape(1, 2), None),
                                     {"axes": [1], "use_mean": False, "use_variance": True, "epsilon": 0.1}, {}),
    "LOCAL_RESPONSE_NORMALIZATION": ((X.reshape(1, 2, 1, 2),), {"cross_channel": True, "local_size": 3, "alpha": 0.1,
                                                                "beta": 0.75, "bias": 1.0}, {}),
    "BATCH_NORMALIZATION_TRAINING": ((X.reshape(2, 2), *Y[:2].reshape(2, 1, 1), X.reshape(2, 2)),
                                     {"epsilon": 0.1, "fused_activation": anydml.Operator("ACTIVATION_RELU")}, {}),
    **dict.fromkeys(("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD"), (
        (X.reshape(2, 2), Y.reshape(2, 2), *np.float32([1, 2, 3, 4, 5, 6]).reshape(3, 1, 2)), {"epsilon": 0.1}, {})),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": ((X.reshape(1, 2, 1, 2), Y.reshape(1, 2, 1, 2)), {
        "cross_channel": True, "local_size": 3, "alpha": 0.1, "beta": 0.75, "bias": 1.0}, {}),
    "ADAM_OPTIMIZER": ((*np.stack([X, Y, np.abs(X), Y]).reshape(4, 1, 1, 1, 4), np.uint32([[[[2]]]])), {
        "learning_rate": 0.1, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7}, {}),
    "LP_NORMALIZATION": ((X.reshape(2, 2),), {"axis": 1, "epsilon": 1e-5, "p": 2}, {}),
    "MULTIHEAD_ATTENTION": ((X.reshape(1, 2, 2), Y.reshape(1, 2, 2), X.reshape(1, 2, 2)), {
        "scale": 0.5, "mask_filter_value": -10000, "head_count": 2, "mask_type": "none"}, {}),
    "MULTIHEAD_ATTENTION1": ((X.reshape(1, 2, 2), Y[:2].reshape(1, 2, 1), X[:2].reshape(1, 2, 1)), {
        "scale": 0.5, "mask_filter_value": 0, "query_head_count": 2, "key_value_head_count": 1, "mask_type": "none"}, {}),
    **{f"ACTIVATION_{name}{axes}": ((X.reshape(2, 2),), {"axes": [0]} if axes else {}, {})
       for name in ("SOFTMAX", "LOG_SOFTMAX", "HARDMAX") for axes in ("", "1")},
}
# Operators whose short names would clash, with the names that they have instead.
RENAMED = {
    "ELEMENT_WISE_IF": "element_wise_if", "ELEMENT_WISE_MAX": "element_wise_max", "ELEMENT_WISE_MIN": "element_wise_min",
    "ELEMENT_WISE_MEAN": "element_wise_mean", "ELEMENT_WISE_ROUND": "element_wise_round", "SLICE": "slice_",
    "ELEMENT_WISE_IDENTITY": "element_wise_identity", "ACTIVATION_IDENTITY": "activation_identity",
    "ACTIVATION_TANH": "activation_tanh",
}


def test_the_generated_files_are_current():
    script = SOURCE / "data" / "python" / "generate_python.py"
    subprocess.run([sys.executable, script, "--check"], check=True, stdout=subprocess.PIPE)


def test_names_follow_the_rule():
    for op in ALL.values():
        short = re.sub("^(element_wise|activation)_", "", op.name.lower())
        assert op.python == RENAMED.get(op.name, short) and not keyword.iskeyword(op.python), op.name
    assert ALL["JOIN"].python == "join" and ALL["ACTIVATION_SOFTMAX1"].python == "softmax1"


def test_words_of_python_and_numpy_are_judged():
    """A NumPy function or builtin with an operator's short name must be classified by its meaning."""
    short = {python_rule.short_name(name) for name in ALL}
    theirs = {name for name in short if hasattr(builtins, name) or callable(getattr(np, name, None))}
    judged = python_rule.SAME_MEANING | python_rule.OTHER_MEANING
    assert theirs <= judged, f"put these into one of the sets of data/python/python_rule.py: {theirs - judged}"
    assert judged <= short and not python_rule.SAME_MEANING & python_rule.OTHER_MEANING


def test_what_is_built_has_a_function():
    assert set(BUILT) == python_rule.built_names() == set(_specs.SPECS) <= set(CASES)
    for name in BUILT:
        function = getattr(anydml, ALL[name].python)
        assert function.__module__ == "anydml" and function.__name__ == ALL[name].python
        assert (function.__name__ in anydml.__all__) == (not hasattr(builtins, function.__name__))
    assert not [name for name in anydml.__all__ if hasattr(builtins, name)]
    assert not {op.python for op in ALL.values() if op.name not in BUILT} & set(dir(anydml))


@pytest.mark.parametrize("name", sorted(set(BUILT) - python_rule.HAND_WRITTEN - python_rule.UFUNCS))
def test_signatures(name):
    op, parameters = ALL[name], inspect.signature(getattr(anydml, ALL[name].python)).parameters
    kinds = {kind: [one.name for one in parameters.values() if one.kind == kind] for kind in inspect._ParameterKind}
    # Optional inputs after the last required one may also be given by name.
    positional = kinds[inspect.Parameter.POSITIONAL_ONLY] + kinds[inspect.Parameter.POSITIONAL_OR_KEYWORD]
    also = python_rule.POSITIONAL.get(name, ())
    assert positional == [*(one.name for one in op.inputs), *also]
    keywords = kinds[inspect.Parameter.KEYWORD_ONLY]
    assert keywords == [*(one.name for one in op.attributes if one.name not in also), *python_rule.EXTRAS.get(name, ()),
                        *python_rule.options(op)]
    for one in op.attributes:
        default = python_rule.DEFAULTS.get(name, {}).get(one.field, None if one.optional else inspect.Parameter.empty)
        default = None if isinstance(default, python_rule.By) else default  # this default depends on the arguments
        assert parameters[one.name].default == default


@pytest.mark.parametrize("name", sorted(set(BUILT) & (python_rule.HAND_WRITTEN | python_rule.UFUNCS)))
def test_signatures_of_ufuncs(name):
    function = getattr(anydml, ALL[name].python)
    assert str(inspect.signature(function)) == f"({', '.join(python_rule.ufunc_signature(ALL[name]))})"
    assert function.nin == len(ALL[name].inputs) and function.ufunc.__name__ == function.__name__


@pytest.mark.parametrize("name", BUILT)
def test_functions_give_what_run_gives(name):
    (inputs, attributes, options), function = CASES[name], getattr(anydml, ALL[name].python)
    fields = {one.name: one.field for one in ALL[name].attributes}
    flat = [array for one in inputs for array in (one if isinstance(one, list) else [one])]
    theirs = anydml.run(name, *flat, **{fields[key]: value for key, value in attributes.items()}, **options)
    several = isinstance(theirs, tuple)
    with np.errstate(all="ignore"):
        mine = function(*inputs, **attributes, **options)
        out = tuple(one if one is None else np.empty_like(one) for one in theirs) if several else np.empty_like(theirs)
        written = function(*inputs, **attributes, out=out)
    for one, two, three, four in zip(mine, theirs, out, written) if several else [(mine, theirs, out, written)]:
        assert one is two is three is four is None or one.dtype == two.dtype and one.tobytes() == two.tobytes() == three.tobytes() and four is three
    assert name in function.__doc__ or name in python_rule.HAND_WRITTEN


def everything():
    """All 177 functions and rows, generated like the implemented ones, over a `run` that records its arguments."""
    calls, operators = [], list(ALL.values())
    text = generate_python.module_text(operators)
    text = text.replace(text[text.index("from ._habits"):text.index("\n\n__all__")], "")
    rows = {}
    exec(compile(generate_python.specs_text(operators), "all rows", "exec"), rows)

    def run(*inputs, **options):
        calls.append((inputs, options))

    space = {"_ufunc": lambda op: lambda function: function, "_CASTING": "same_kind", "_ORDER": "K",
             "_over_axes": lambda body, *inputs, **options: run(*inputs, **options),
             "_function_of": lambda op, *names: _run.slow_path(run, op, rows["SPECS"][op], *names)}
    exec(compile(text, "all operators", "exec"), space)
    return space, rows["SPECS"], calls


def test_functions_of_operators_to_come():
    space, specs, calls = everything()
    assert set(specs) == set(ALL)
    relu = anydml.Operator("ACTIVATION_RELU")
    space["convolution"](1, 2, mode="cross_correlation", direction=0, strides=[1, 1], dilations=[1, 1],
                         start_padding=[0, 0], end_padding=[0, 0], output_padding=[0, 0], group_count=1,
                         fused_activation=relu, shape=(1, 1, 2, 2))
    (inputs, options) = calls.pop()
    assert inputs == ("CONVOLUTION", 1, 2, None) and options["FusedActivation"] is relu and "DimensionCount" not in options
    space["join"]([1, 2, 3], axis=0)
    assert calls.pop()[0] == ("JOIN", 1, 2, 3)
    space["multihead_attention"](1, mask=2, scale=1, mask_filter_value=0, head_count=1, mask_type="none")
    assert calls.pop()[0] == ("MULTIHEAD_ATTENTION", 1, *[None] * 6, 2, *[None] * 3)
    space["matrix_multiply_integer"](1, None, 2)
    assert calls.pop()[0] == ("MATRIX_MULTIPLY_INTEGER", 1, None, 2, None)
    assert "padding_value_data_type" not in inspect.signature(space["padding1"]).parameters


@pytest.fixture
def core_run(monkeypatch):
    """Runs all rows with a core that accepts every operator. Returns the recorded calls."""
    calls = []
    monkeypatch.setattr(_call, "SPECS", everything()[1])
    monkeypatch.setattr(_core, "run", lambda *arguments: calls.append(arguments))
    return calls


def test_several_outputs(core_run):
    values, positions = anydml.run("TOP_K", X, Axis=0, K=2, shape=((2,), (2,)))
    assert values.dtype == np.float32 and positions.dtype == np.uint32 and positions.shape == (2,)
    _, positions = anydml.run("TOP_K", X, Axis=0, K=2, shape=(2, 2), dtype=(None, "u8"))
    assert positions.dtype == np.uint64
    out = np.empty(2, "f4"), np.empty(2, "u4")
    given = anydml.run("TOP_K", X, Axis=0, K=2, out=out)
    assert given[0] is out[0] and given[1] is out[1]
    image = np.ones((1, 1, 4, 4), "f4")
    windows = {"Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    assert anydml.run("MAX_POOLING1", image, **windows)[1] is None  # this output is optional and not requested
    both = anydml.run("MAX_POOLING1", image, **windows, out=(None, True))
    assert both[1].dtype == np.uint32 and both[1].shape == (1, 1, 2, 2)
    parts = anydml.run("SPLIT", X, Axis=0, shape=[(1,), (3,)])
    assert [part.shape for part in parts] == [(1,), (3,)] and len(core_run[-1][2]) == 2
    for error, message, options in ((ValueError, "shape has 1 entries; expected 2", {"shape": (2,)}),
                                    (TypeError, "out is of type ndarray; expected a tuple", {"out": X}),
                                    (TypeError, "dtype and shape are for a new array", {"out": out, "shape": (2, 2)})):
        with pytest.raises(error, match=message):
            anydml.run("TOP_K", X, Axis=0, K=2, **options)


def test_types_and_places_of_inputs(core_run):
    joined = anydml.run("JOIN", X, Y, Axis=0, shape=8)
    assert joined.dtype == np.float32 and len(core_run[-1][1]) == 2
    with pytest.raises(TypeError, match="QUANTIZE_LINEAR: dtype is missing"):
        anydml.run("ELEMENT_WISE_QUANTIZE_LINEAR", X, np.float32(0.5), None)
    assert anydml.run("ELEMENT_WISE_QUANTIZE_LINEAR", X, np.float32(0.5), np.int8(1)).dtype == np.int8
    assert anydml.run("ELEMENT_WISE_IS_INFINITY", X, InfinityMode="either").dtype == np.uint8
    with pytest.raises(TypeError, match="ONE_HOT: shape is missing; expected one, or out: OutputTensor.Sizes"):
        anydml.run("ONE_HOT", np.uint32([[1], [0]]), np.float32([[0, 1]]), Axis=1)
    plain = {"TransA": "none", "TransB": "none", "Alpha": 1, "Beta": 0}
    for absent in ((), (None,)):
        assert anydml.run("GEMM", np.ones((2, 3), "f4"), np.ones((3, 4), "f4"), *absent, **plain).shape == (2, 4)


GEMM = {"TransA": "none", "TransB": "transpose", "Alpha": 1, "Beta": 0}
CONVOLUTION = {"Mode": "cross_correlation", "Direction": "forward", "Strides": [2], "Dilations": [1],
               "StartPadding": [1], "EndPadding": [1], "OutputPadding": [0], "GroupCount": 1}


@pytest.mark.parametrize("name, shapes, attributes, expected", [
    ("GEMM", [(5, 2, 3), (5, 4, 3)], GEMM, [(5, 2, 4)]),
    ("CONVOLUTION", [(2, 3, 9), (4, 3, 3)], CONVOLUTION, [(2, 4, 5)]),
    ("JOIN", [(2, 3), (2, 4)], {"Axis": 1}, [(2, 7)]),
    ("TILE", [(2, 3)], {"Repeats": [2, 1]}, [(4, 3)]),
    ("TOP_K", [(2, 3)], {"Axis": 1, "K": 2}, [(2, 2), (2, 2)]),
    ("PADDING1", [(4,)], {"PaddingMode": "edge", "PaddingValue": 0, "StartPadding": [1], "EndPadding": [2]}, [(7,)]),
    ("SLICE1", [(9,)], {"InputWindowOffsets": [0], "InputWindowSizes": [9], "InputWindowStrides": [-2]}, [(5,)]),
    ("SPACE_TO_DEPTH", [(1, 2, 4, 6)], {"BlockSize": 2}, [(1, 8, 2, 3)]),
    ("UNFOLD", [(2, 3, 5, 4)], {"WindowSizes": [3, 2], "Strides": [1, 2], "Dilations": [1, 1], "StartPadding": [1, 0],
                                "EndPadding": [1, 0]}, [(2, 18, 10)]),
])
def test_shapes_follow_from_the_rules(core_run, name, shapes, attributes, expected):
    found = anydml.run(name, *(np.ones(shape, "f4") for shape in shapes), **attributes)
    found = found if isinstance(found, tuple) else (found,)
    assert [one.shape for one in found] == expected and found[0].dtype == np.float32
    given = tuple(one if one is None else np.empty(one.shape, one.dtype) for one in found)
    assert anydml.run(name, *(np.ones(shape, "f4") for shape in shapes), **attributes,
                      out=given if len(given) > 1 else given[0]) is not None


def test_a_shape_that_cannot_be_is_an_error(core_run):
    windows = {"Strides": [1, 1], "WindowSize": [4, 3], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    with pytest.raises(ValueError, match=r"MAX_POOLING: OutputTensor.Sizes\[2\] would be .*, which is -1"):
        anydml.run("MAX_POOLING", np.ones((1, 1, 2, 9), "f4"), **windows)


def test_numbers_beside_arrays_take_their_type():
    assert anydml.add(np.int8([1, 2]), 3).dtype == np.int8 and anydml.add(2, X).dtype == np.float32
    assert anydml.element_wise_if([True, False, True, False], X, 0).dtype == np.float32
    assert anydml.element_wise_if(X > 0, 1.0, X).tolist()[1:3] == [1, 1]
    with pytest.raises(TypeError, match=r"add: b is 2.5 \(float\) beside arrays of int8; expected an int"):
        anydml.add(np.int8([1]), 2.5)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for uint8"):
        anydml.add(np.uint8([1]), 300)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_fill(kind):
    filled = anydml.fill_value_constant(value=7, shape=(2, 3), dtype=kind)
    assert filled.dtype == kind and filled.tolist() == [[7] * 3] * 2
    out = np.zeros((4, 6), kind)
    anydml.fill_value_constant(value=np.int64(5), out=out[::2, ::3])
    assert out.sum() == 5 * 4 and (out[::2, ::3] == 5).all()
    step = anydml.compile("FILL_VALUE_CONSTANT", Value=3, shape=4, dtype=kind)
    assert step().tolist() == [3] * 4
    assert anydml.fill_value_constant(value=1, shape=(), dtype=kind).shape == ()


def test_what_is_wrong_is_named():
    def reduced(**attributes):
        return anydml.run("REDUCE", X, shape=1, **attributes)

    def added(activation):
        return anydml.run("ELEMENT_WISE_ADD1", X, X, FusedActivation=activation)

    for error, message, call in (
            (TypeError, "missing 2 required keyword-only arguments: 'offsets' and 'sizes'", lambda: anydml.slice_(X)),
            (TypeError, "^threshold: min is None", lambda: anydml.threshold(X, min=None)),
            (TypeError, "^abs: scale is 'a' .str.; expected a number", lambda: anydml.abs(X, scale="a", bias=1)),
            (ValueError, "^abs: .*bias", lambda: anydml.abs(X, scale=2)),
            (TypeError, "^fill_value_constant: shape is missing", lambda: anydml.fill_value_constant(value=1, dtype="f4")),
            (TypeError, "^fill_value_constant: dtype is missing", lambda: anydml.fill_value_constant(value=1, shape=3)),
            (TypeError, "dtype and shape are for a new array",
             lambda: anydml.cast(X, dtype="i4", out=np.empty(4, "i4"))),
            (TypeError, "^cast: out is an array of complex64", lambda: anydml.cast(X, dtype="c8")),
            (TypeError, "^Axes is 5 .int.; expected a sequence of numbers", lambda: reduced(Axes=5)),
            (TypeError, r"^Axes\[1\] is 'a' .str.", lambda: reduced(Axes=[0, "a"])),
            (TypeError, "^Function is None .*; expected the name of a value, a str, or its number",
             lambda: reduced(Function=None)),
            (TypeError, "^FusedActivation is 'RELU' .*; expected an anydml.Operator", lambda: added("RELU")),
            (TypeError, "^ActivationDescs is .*; expected a sequence of anydml.Operator",
             lambda: added(anydml.Operator("RNN", ActivationDescs=5))),
            (TypeError, r"^ActivationDescs\[0\] is 5 ", lambda: added(anydml.Operator("RNN", ActivationDescs=[5]))),
            (TypeError, "^Alpha is 'x'", lambda: added(anydml.Operator("ACTIVATION_ELU", Alpha="x"))),
            (ValueError, "REDUCE: attribute Function is missing", lambda: reduced(Axes=[0])),
            (TypeError, "^op is 5 ", lambda: anydml.Operator(5))):
        with pytest.raises(error, match=message):
            call()


def test_help_reads_well():
    text = anydml.clip.__doc__
    assert text.startswith("DirectML's ELEMENT_WISE_CLIP: max(Min, min(input, Max)), element by element.")
    assert "``input * scale + bias``" in text and max(map(len, text.splitlines())) <= 120
