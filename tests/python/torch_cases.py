# SPDX-License-Identifier: MIT
"""Calls to every operator for the PyTorch tests: the examples in the functions' help, and calls with more attributes,
away from points where a derivative is discontinuous."""
import doctest
import inspect

import numpy as np

import anydml
from anydml import Operator, _operators

SMOOTH = Operator("ACTIVATION_SCALED_TANH", Alpha=1.5, Beta=0.7)


class _Recorder:
    """Stands in for anydml in an example, and records the call to one function."""

    Operator = Operator

    def __init__(self, name):
        self._name, self.call = name, None

    def __getattr__(self, name):
        function = getattr(anydml, name)

        def called(*arguments, **options):
            if name == self._name:
                self.call = name, arguments, options
            return function(*arguments, **options)

        return called


def examples():
    """Returns the function's name, its arguments and its options for each operator."""
    for name in sorted({*_operators.__all__, *_operators.SHADOWING, "modulus_floor", "modulus_truncate"}):
        recorder = _Recorder(name)
        space = {"np": np, "anydml": recorder}
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(getattr(anydml, name))):
            if not example.source.startswith("import"):
                exec(example.source, space)
            if recorder.call is not None:
                break
        yield recorder.call


def floats(*shape, low=-2.0, high=2.0):
    """Returns shuffled numbers in this range, no two of which are close together."""
    count = int(np.prod(shape))
    order = np.random.default_rng(count).permutation(count)
    return (low + (order + 0.3) * (high - low) / count).astype(np.float32).reshape(shape)


# Replacements for examples at discontinuities, or with integers.
_OWN = {
    **{name: ((floats(4, low=-0.9, high=0.9),), {}) for name in ("acos", "asin", "atanh")},
    "acosh": ((floats(4, low=1.2, high=3),), {}),
    **{name: ((np.float32([0.3, -1.7, 2.4]),), {}) for name in ("ceil", "floor", "sign", "abs")},
    "element_wise_round": ((np.float32([0.3, -1.7, 2.4]),), {"rounding_mode": "TOWARD_ZERO"}),
    "sqrt": ((floats(4, low=0.5, high=3),), {"scale": 2, "bias": 0.5}),
    "lp_normalization": ((floats(2, 3),), {"axis": 1, "epsilon": 1e-5, "p": 2}),
    "top_k": ((floats(2, 5),), {"axis": 1, "k": 3}),
    "top_k1": ((floats(5, 2),), {"axis": 0, "k": 2, "axis_direction": "INCREASING"}),
    "cast": ((floats(3),), {"dtype": "float16"}),
    **{name: ((np.float32([[7.3], [-5.1]]), np.float32([2, -3, 1.5])), {}) for name in ("modulus_floor",
                                                                                        "modulus_truncate")},
}
_BOXES = np.float32([[0.7, 0.4, 3.3, 2.1], [1.15, -0.6, 2.9, 1.7]])
_REGION = {"spatial_scale_x": 1.1, "spatial_scale_y": 0.9, "minimum_samples_per_output": 1,
           "maximum_samples_per_output": 3}
_OFFSETS = {"input_pixel_offset": 0.45, "output_pixel_offset": -0.55, "align_regions_to_corners": False}
_AVERAGE = {"reduction_function": "AVERAGE", "interpolation_mode": "LINEAR", **_REGION}
_IMAGE, _BATCHES = floats(2, 2, 3, 4), np.uint32([1, 0])
_OWN.update({
    "roi_align": ((_IMAGE, _BOXES, _BATCHES), {**_AVERAGE, "out_of_bounds_input_value": 0.5, "shape": (2, 2, 2, 2)}),
    "roi_align1": ((_IMAGE, _BOXES, _BATCHES), {**_AVERAGE, **_OFFSETS, "out_of_bounds_input_value": 0.5,
                                                "shape": (2, 2, 2, 2)}),
    "roi_align_grad": ((_IMAGE, floats(2, 2, 2, 2), _BOXES, _BATCHES), {**_AVERAGE, **_OFFSETS, "out": (True, True)}),
})


def differentiable():
    """Returns an example for each operator, or its replacement above. Includes operators that accept only integers."""
    for name, arguments, options in examples():
        arguments, options = _OWN.get(name, (arguments, options))
        yield name, arguments, options


def _convolution(x, filter, bias=None, **given):
    dims = x.ndim - 2
    options = {"mode": "CROSS_CORRELATION", "direction": "FORWARD", "strides": [1] * dims, "dilations": [1] * dims,
               "start_padding": [0] * dims, "end_padding": [0] * dims, "output_padding": [0] * dims, "group_count": 1}
    return "convolution", (x, filter, bias), {**options, **given}


def _pool(name, **given):
    options = {"strides": [1, 2], "window_size": [2, 3], "start_padding": [1, 0], "end_padding": [0, 1]}
    return name, (floats(2, 2, 3, 5),), {**options, **given}


def _recurrent(name, gates, directions, activations, direction, **given):
    x, units = floats(1, 3, 2, 2), 2
    weight, recurrence = (floats(1, directions, gates * units, 2, low=-0.7, high=0.7) for _ in range(2))
    bias, state = floats(1, 1, directions, 2 * gates * units, low=-0.5), floats(1, directions, 2, units)
    more = (state * 0.5,) if name == "lstm" else ()
    lengths = np.uint32([[[[3, 2]]]])
    peephole = (floats(1, 1, directions, 3 * units),) if name == "lstm" else ()
    return name, (x, weight, recurrence, bias, state, *more, lengths, *peephole), {
        "activation_descs": [Operator(one) for one in activations * directions], "direction": direction,
        "out": (True,) * (3 if name == "lstm" else 2), **given}


def _attention(*inputs, heads=2, **given):
    return "multihead_attention", inputs, {"scale": 0.7, "mask_filter_value": -3, "head_count": heads,
                                           "mask_type": "NONE", "out": (None, True, True), **given}


_OF_RESAMPLE = {"scales": [1, 1, 1.6, 0.7], "input_pixel_offsets": [0.5, 0.5, 0.4, 0.5],
                "output_pixel_offsets": [-0.5, -0.5, -0.5, -0.4]}
_AXIS = {"axis": 1, "axis_direction": "DECREASING"}

MORE = [
    *(("reduce", (floats(2, 3, 2, low=0.3),), {"function": one, "axes": axes}) for axes in ([0, 2], [])
      for one in ("AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE")),
    ("add1", (floats(3), floats(2, 1)), {"fused_activation": SMOOTH}),
    ("clip", (floats(5),), {"min": -1, "max": 0.5, "scale": 0.5, "bias": 0.1}),
    ("modulus_floor", (np.float32([7.3, -5.1]), 1.9), {}),
    ("gemm", (floats(2, 3, 2), floats(2, 4, 3), floats(2, 2, 4)),
     {"trans_a": "TRANSPOSE", "trans_b": 1, "alpha": 0.7, "beta": -0.5, "fused_activation": SMOOTH}),
    ("matmul", (floats(2, 3), floats(3)), {}),
    _convolution(floats(2, 2, 5), floats(3, 2, 2), floats(1, 3, 1), mode="CONVOLUTION", strides=[2], start_padding=[1]),
    _convolution(floats(1, 4, 4, 4), floats(2, 2, 2, 2), dilations=[2, 1], end_padding=[1, 2], group_count=2,
                 fused_activation=SMOOTH),
    _convolution(floats(1, 2, 3, 2), floats(2, 3, 2, 2), floats(1, 3, 1, 1), direction="BACKWARD", strides=[2, 1],
                 output_padding=[1, 0], start_padding=[1, 0], end_padding=[0, 1]),
    _convolution(floats(1, 1, 2, 2, 3), floats(1, 1, 1, 2, 2)),
    # The padding crops the whole first dimension, which then contains only the bias; the second gains a zero.
    _convolution(floats(1, 1, 2, 3), floats(1, 2, 2, 2), floats(1, 2, 1, 1), direction="BACKWARD", start_padding=[4, 0],
                 output_padding=[3, 1], fused_activation=Operator("DML_OPERATOR_ACTIVATION_SIGMOID")),
    *(_pool("average_pooling1", dilations=[2, 1], include_padding=one) for one in (True, False)),
    *(("average_pooling1", (floats(1, 2, *sizes),),
       {"strides": [2, 3, 1][:len(sizes)], "window_size": [3, 2, 1][:len(sizes)], "dilations": [2, 3, 1][:len(sizes)],
        "start_padding": [1, 2, 0][:len(sizes)], "end_padding": [2, 0, 0][:len(sizes)], "include_padding": False})
      for sizes in ([9], [7, 8], [6, 5, 2])),
    ("average_pooling_grad", (floats(1, 2, 3, 2),),
     {"strides": [1, 2], "window_size": [2, 2], "start_padding": [1, 0], "end_padding": [0, 0],
      "include_padding": False, "shape": (1, 2, 3, 4)}),
    *(_pool("lp_pooling1", dilations=[1, 1], p=p) for p in (1, 3)),
    _pool("lp_pooling1", dilations=[2, 2], p=2),
    _pool("max_pooling2", dilations=[2, 1]),
    ("max_pooling_grad", (floats(1, 2, 3, 4), floats(1, 2, 3, 2)),
     {"strides": [1, 2], "window_size": [2, 2], "start_padding": [1, 0], "end_padding": [0, 0], "dilations": [1, 1]}),
    *(("resample2", (floats(1, 2, 3, 4),), {"interpolation_mode": mode, "rounding_direction": "INCREASING",
                                            **_OF_RESAMPLE, "shape": (1, 2, 5, 3)}) for mode in ("LINEAR", 0)),
    ("resample3", (floats(1, 2, 3, 4),), {"interpolation_mode": "LINEAR", "rounding_direction": "INCREASING",
                                          **_OF_RESAMPLE, "antialiased": True, "shape": (1, 2, 5, 3)}),
    ("resample3", (floats(1, 1, 9, 7),), {"interpolation_mode": "LINEAR", "rounding_direction": "INCREASING", "scales":
                                          [1, 1, 0.3, 0.45], "input_pixel_offsets": [0.5] * 4, "output_pixel_offsets":
                                          [-0.5] * 4, "antialiased": True, "shape": (1, 1, 3, 3)}),
    *(("resample_grad1", (floats(1, 2, 5, 3),), {"interpolation_mode": mode, "rounding_direction": "INCREASING",
                                                 **_OF_RESAMPLE, "shape": (1, 2, 3, 4)}) for mode in ("LINEAR", 0)),
    *(("upsample_2d", (floats(1, 2, 2, 3),), {"scale_size": [2, 3], "interpolation_mode": mode})
      for mode in ("LINEAR", "NEAREST_NEIGHBOR")),
    *(("padding1", (floats(2, 3),), {"padding_mode": mode, "padding_value": 7, "start_padding": [1, 2],
                                     "end_padding": [0, 1]}) for mode in ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC")),
    ("slice1", (floats(4, 5),), {"input_window_offsets": [1, 0], "input_window_sizes": [3, 5],
                                 "input_window_strides": [-1, 2]}),
    ("gather", (floats(1, 3, 2), np.int32([[[2, 0, -1]]])), {"axis": 1, "index_dimensions": 2}),
    ("join", ([floats(2, 3), floats(2, 1)],), {"axis": 1}),
    ("cumulative_summation", (floats(2, 3),), {**_AXIS, "has_exclusive_sum": True}),
    ("cumulative_product", (floats(2, 3),), {**_AXIS, "has_exclusive_product": True}),
    ("softmax1", (floats(2, 3, 2),), {"axes": [0, 2]}),
    ("mean_variance_normalization", (floats(2, 2, 3), floats(1, 2, 1), floats(1, 2, 1)),
     {"cross_channel": True, "normalize_variance": False, "epsilon": 0.1, "fused_activation": SMOOTH}),
    *(("mean_variance_normalization2", (floats(2, 3), None, floats(1, 3)),
       {"axes": [1], "use_mean": mean, "use_variance": not mean, "epsilon": 0.1}) for mean in (True, False)),
    ("batch_normalization_training", (floats(2, 2, 3), floats(1, 2, 1), floats(1, 2, 1), floats(2, 2, 3)),
     {"epsilon": 0.1, "fused_activation": SMOOTH}),
    *(("local_response_normalization", (floats(1, 3, 2, 3),),
       {"cross_channel": across, "local_size": 2, "alpha": 0.5, "beta": 0.75, "bias": 1}) for across in (True, False)),
    ("local_response_normalization_grad", (floats(1, 3, 2, 2), floats(1, 3, 2, 2)),
     {"cross_channel": False, "local_size": 2, "alpha": 0.5, "beta": 0.75, "bias": 1}),
    ("roi_align1", (_IMAGE, _BOXES, _BATCHES),
     {**_AVERAGE, **_OFFSETS, "reduction_function": "MAX", "align_regions_to_corners": True,
      "out_of_bounds_input_value": 0.5, "shape": (2, 2, 2, 2)}),
    ("roi_align", (_IMAGE, _BOXES, _BATCHES), {**_AVERAGE, "interpolation_mode": "NEAREST_NEIGHBOR",
                                               "out_of_bounds_input_value": 0, "shape": (2, 2, 2, 2)}),
    # Overlapping bins, bins without an element, a region beyond the image, and a batch index that does not exist.
    ("roi_pooling", (floats(2, 2, 5, 6), np.float32(
        [[1.2, 0, 1, 4, 3], [0.3, 3, 3, 9, 9], [1.2, 9, 9, 12, 12], [7.2, 0, 0, 3, 3]])),
     {"spatial_scale": 0.9, "pooled_size": [2, 3], "shape": (4, 2, 3, 2)}),
    _recurrent("rnn", 1, 1, ["ACTIVATION_TANH"], "BACKWARD"),
    _recurrent("lstm", 4, 2, ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"], "BIDIRECTIONAL",
               clip_threshold=1.5, use_clip_threshold=True, couple_input_forget=False),
    _recurrent("lstm", 4, 1, ["ACTIVATION_SIGMOID", "ACTIVATION_TANH", "ACTIVATION_TANH"], "FORWARD",
               clip_threshold=0, use_clip_threshold=False, couple_input_forget=True),
    *(_recurrent("gru", 3, 2, ["ACTIVATION_SIGMOID", "ACTIVATION_TANH"], "BIDIRECTIONAL", linear_before_reset=one)
      for one in (True, False)),
    _attention(None, None, None, None, None, floats(1, 3, 2, 3, 2), floats(12), np.int32([[2], [1]]), floats(1, 2, 3, 3),
               mask_type="KEY_SEQUENCE_END_START"),
    _attention(floats(2, 2, 4), floats(2, 2, 4), floats(2, 2, 4), None, None, None, None,
               np.int32([[[[1, 0, 1]]], [[[1, 1, 0]]]]), None, floats(2, 2, 1, 2), floats(2, 2, 1, 2), mask_type="BOOLEAN"),
    _attention(floats(2, 2, 2), None, None, None, floats(2, 3, 1, 2, 2), None, None,
               np.int32([[2, 3, 0, 2, 4, 0, 3, 6]]), heads=1, mask_type="KEY_QUERY_SEQUENCE_LENGTH_START_END"),
]
