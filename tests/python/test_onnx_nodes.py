# SPDX-License-Identifier: MIT
"""Every node of anydml.onnx compared with ONNX's reference evaluator: each opset that changed the node, each type that
both ONNX and anydml support, several shapes.

Bits are compared, including the signs of zeros, unless a row of TOLERANCES or ZEROS gives a reason not to.
"""
import itertools
import re

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml  # noqa: E402
import anydml.onnx as backend  # noqa: E402
import onnx_counts  # noqa: E402
from onnx_cases import cases_of  # noqa: E402
from onnx_models import KINDS, NODES, ROWS, dispatched, dtype_of, node_by_node, rows_of  # noqa: E402
from onnx_values import ints  # noqa: E402

pytestmark = pytest.mark.skipif(tuple(map(int, onnx.__version__.split(".")[:2])) < (1, 23),
                                reason="older reference evaluators have bugs")
NEWEST = onnx.defs.onnx_opset_version()
# Tolerances in units in the last place. For float16, the reference's HardSwish rounds after each operation, and
# anydml's rounds once. The normalizations compute in float32, as ONNX's definition and their stash_type require, but
# the reference computes in the input's type. LpPool, LRN and the other normalizations use different operations.
IN_FLOAT32 = {"float16": 8, "float32": 64, "float64": 2.0**30}
SOME = {"float16": 16, "float32": 8, "float64": 8}
# Our functions are correctly rounded, and NumPy's are not; in activations the reference rounds each operation. For
# RoiAlign and Resize the reference computes coordinates and weights in float64.
CLOSE = {"float16": 2, "float32": 4}
ROUGH = {"float16": 32, "float32": 32}
TOLERANCES = {**dict.fromkeys(("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp", "Log",
                               "Pow", "Sin", "Sinh", "Tan", "Tanh"), CLOSE),
              **dict.fromkeys(("Celu", "Elu", "Gelu", "LogSoftmax", "Mish", "ReduceLogSum", "ReduceLogSumExp", "Selu",
                               "Sigmoid", "Softmax", "Softplus", "Swish"), ROUGH), "Attention": {"float16": 64, "float32": 64},
              "Softsign": {"float16": 2, "float32": 2},
              **dict.fromkeys(("BatchNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization"), SOME),
              "GroupNormalization": IN_FLOAT32, "HardSwish": {"float16": 8}, "InstanceNormalization": SOME,
              "LayerNormalization": IN_FLOAT32, "LpPool": SOME, "RMSNormalization": IN_FLOAT32,
              **dict.fromkeys(("GRU", "LSTM", "RNN"), {"float32": 64}),
              "RoiAlign": {"float16": 16, "float32": 512}, "Resize": {"float16": 2, "float32": 8}}
# The sign of a zero is not compared: NumPy's maximum may return either +0 or -0, Python's sum starts with +0, and the
# reference's PRelu also multiplies zeros.
ZEROS = {"PRelu", "Relu", "Sum"}
# For opsets that ONNX's evaluator lacks: an opset in which the node has the same meaning. If there is none, the entry
# is None and OLD has the cases. The evaluator's AveragePool 1 and BatchNormalization 7 and 9 differ from ONNX's text.
REFERENCES = {("AveragePool", 1): 7, ("BatchNormalization", 1): None, ("BatchNormalization", 7): 14,
              ("BatchNormalization", 9): 14, ("Cast", 1): None, ("Clip", 1): 6, ("DequantizeLinear", 10): 19,
              ("DequantizeLinear", 13): 19, ("Dropout", 1): None,
              ("Dropout", 6): None, ("GRU", 1): 7, ("GRU", 3): 7, ("Gemm", 1): 6, ("LSTM", 1): 7, ("RNN", 1): 7, ("Hardmax", 1): None, ("Hardmax", 11): None,
              ("LogSoftmax", 1): None, ("LogSoftmax", 11): None, ("Reshape", 1): None, ("Resize", 10): None, ("RoiAlign", 10): None, ("Softmax", 1): None,
              ("Softmax", 11): None, ("Split", 1): None, ("Tile", 1): None, ("Upsample", 1): None,
              ("Upsample", 7): None, ("Upsample", 9): None}
X = np.float32([[1, 5, 5], [2, 0, 2]])
ZERO = np.zeros((2, 4), "f4")
BYTES = np.uint8([[[1, 200, 3]]])
OLD = [
    ("Cast", 1, [X], {"to": "INT8"}, X.astype(np.int8)), ("Cast", 1, [X], {"to": "BOOL"}, X.astype(bool)),
    ("Resize", 10, [X, np.float32([2, 0.5])], {}, np.repeat(X, 2, 0)[:, ::2][:, :1]),
    ("Resize", 10, [X, np.float32([1, 2])], {"mode": "linear"}, np.float32([[1, 3, 5, 5, 5, 5], [2, 1, 0, 1, 2, 2]])),
    ("Upsample", 9, [X, np.float32([1, 2])], {"mode": "linear"}, np.float32([[1, 3, 5, 5, 5, 5], [2, 1, 0, 1, 2, 2]])),
    ("Upsample", 9, [X, np.float32([2, 3])], {}, np.repeat(np.repeat(X, 2, 0), 3, 1)),
    ("Upsample", 7, [X], {"scales": [2.0, 3.0]}, np.repeat(np.repeat(X, 2, 0), 3, 1)),
    ("Upsample", 1, [X[None, None]], {"height_scale": 2.0, "width_scale": 1.0}, np.repeat(X, 2, 0)[None, None]),
    ("Dropout", 1, [X], {"is_test": 1}, X), ("Dropout", 6, [X], {"is_test": 1}, X),
    ("Hardmax", 1, [X], {}, np.float32([[0, 1, 0], [1, 0, 0]])),
    ("Hardmax", 1, [X], {"axis": 0}, np.float32([[0, 1, 0], [0, 0, 0]])),  # over all dimensions from the axis on
    ("Hardmax", 11, [X], {"axis": -2}, np.float32([[0, 1, 0], [0, 0, 0]])),
    ("Softmax", 1, [ZERO], {}, np.full((2, 4), 0.25, "f4")),
    ("Softmax", 1, [ZERO], {"axis": 0}, np.full((2, 4), 0.125, "f4")),  # over all dimensions from the axis on
    ("Softmax", 11, [ZERO], {"axis": -2}, np.full((2, 4), 0.125, "f4")),
    ("LogSoftmax", 1, [ZERO], {}, np.full((2, 4), np.log(4), "f4") * -1),
    ("LogSoftmax", 11, [ZERO], {"axis": -2}, np.full((2, 4), np.log(8), "f4") * -1),
    ("Reshape", 1, [X], {"shape": [3, -1]}, X.reshape(3, 2)), ("Reshape", 1, [X], {"shape": [0, 1, 3]}, X[:, None]),
    ("Split", 1, [X], {"axis": 1, "split": [1, 2], "outputs": 2}, (X[:, :1], X[:, 1:])),
    ("Tile", 1, [X, np.float32([2]), np.float32([1])], {}, np.tile(X, (1, 2))),
    ("GlobalLpPool", 2, [np.float32([[[3, -4], [5, 12]]])], {}, np.float32([[[5], [13]]])),
    ("MaxPool", 12, [np.int8([[[3, -4, 0, -1]]])], {"kernel_shape": [2], "strides": [2], "pads": [1, 1]},
     np.int8([[[3, 0, -1]]])),
    ("BatchNormalization", 1, [X, *np.float32([[1, 2, 3], [4, 5, 6], [1, 1, 1], [3, 3, 8]])],
     {"consumed_inputs": [0, 0, 0, 1, 1], "is_test": 1, "epsilon": 1.0}, np.float32([[4, 9, 10], [4.5, 4, 7]])),
    ("MaxPool", 12, [np.float32([[[3, -4, 5, 5], [1, 2, 2, 0]]])], {"kernel_shape": [2], "outputs": 2},
     (np.float32([[[3, 5, 5], [2, 2, 2]]]), np.array([[[0, 2, 2], [5, 5, 6]]]))),
    ("MaxPool", 12, [np.int8([[[3, -4, 5, 5]]])], {"kernel_shape": [2], "dilations": [2], "outputs": 2},
     (np.int8([[[5, 5]]]), np.array([[[2, 3]]]))),
    ("AveragePool", 19, [np.float32([[[2, 4, 6, 9]]])],  # elements beyond the padding do not count
     {"kernel_shape": [3], "strides": [2], "pads": [1, 0], "ceil_mode": 1, "count_include_pad": 1},
     np.float32([[[2, 19 / 3]]])),
    ("AveragePool", 19, [np.float32([[[2, 4, 6]]])],
     {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "count_include_pad": 1}, np.float32([[[3, 6]]])),
    ("RoiAlign", 10, [X[None, None], np.float32([[0, 0, 2, 2]]), ints(0)], {"sampling_ratio": 2}, np.float32([[[[1.75]]]])),
    ("MaxRoiPool", 1, [X[None, None], np.float32([[0, 0, 0, 2, 1], [0, 1, 1, 2, 1]])], {"pooled_shape": [1, 2]},
     np.float32([[[[5, 5]]], [[[0, 2]]]])),
    ("MaxUnpool", 11, [np.float32([[[5, 6]]]), np.array([[[1, 3]]])], {"kernel_shape": [2], "strides": [2]},
     np.float32([[[0, 5, 0, 6]]])),
    ("MaxUnpool", 11, [np.float32([[[5, 6]]]), np.array([[[1, 3]]]), ints(1, 1, 5)],
     {"kernel_shape": [2], "strides": [2]}, np.float32([[[0, 5, 0, 6, 0]]])),
    ("ConvTranspose", 11, [np.float32([[[1, 2]]]), np.float32([[[1, 10, 100]]])], {"strides": [2], "output_shape": [6]},
     np.float32([[[1, 10, 102, 20, 200, 0]]])),
    ("ConvTranspose", 11, [np.float32([[[1, 2]]]), np.float32([[[1, 10, 100]]])], {"strides": [2], "output_shape": [4]},
     np.float32([[[10, 102, 20, 200]]])),
    ("ConvTranspose", 1, [np.float32([[[1, 2]]]), np.float32([[[1, 10, 100]]])],
     {"strides": [2], "auto_pad": "SAME_UPPER"}, np.float32([[[1, 10, 102, 20]]])),
    ("ConvTranspose", 11, [np.float32([[[1, 2], [3, 4]]]), np.float32([[[1, 10]], [[2, 3]]]), np.float32([100, 200])],
     {"group": 2, "pads": [0, 1]}, np.float32([[[101, 112], [206, 217]]])),
    ("ConvInteger", 10, [np.uint8([[[5, 6, 7]]]), np.int8([[[1, 10]]]), np.uint8(4), np.int8([1])],
     {"auto_pad": "SAME_LOWER"}, np.int32([[[9, 18, 27]]])),
    ("QLinearConv", 10, [np.uint8([[[5, 6, 7]]]), np.float32(0.5), np.uint8(4), np.int8([[[1, 10]]]), np.float32([1]),
                         np.int8(1), np.float32(1), np.int8(-3), np.int32([1])],
     {"auto_pad": "SAME_LOWER"}, np.int8([[[2, 7, 11]]])),
    ("Conv", 11, [np.float32([[[1, 2, 3]]]), np.float32([[[1, 10]]]), np.float32([100])], {"auto_pad": "SAME_LOWER"},
     np.float32([[[110, 121, 132]]])),
    ("GlobalLpPool", 2, [np.float32([[[0, -3]]])], {"p": 4}, np.float32([[[3]]])),
    ("LpPool", 18, [np.float32([[[0, -3, 0, 1]]])], {"kernel_shape": [2], "p": 4}, np.float32([[[3, 3, 1]]])),
    ("LpPool", 11, [np.float32([[[3, -4, 0, 1]]])], {"kernel_shape": [2], "strides": [2], "pads": [1, 1], "p": 1},
     np.float32([[[3, 4, 1]]])),
    ("LpNormalization", 1, [np.float32([[3, -1], [0, 0]])], {"p": 1}, np.float32([[0.75, -0.25], [0, 0]])),
    ("PRelu", 6, [-np.ones((1, 2, 3), np.float32), np.float32([2, 3])], {}, np.float32([[[-2] * 3, [-3] * 3]])),
    ("Pad", 13, [X, ints(0, -1, -1, 2)], {}, np.pad(X[:1, 1:], ((0, 0), (0, 2)))),
    ("Pad", 13, [X, ints(1, -1, 0, 1)], {"mode": "reflect"}, np.pad(X[:, 1:], ((1, 0), (0, 1)), "reflect")),
    ("Pad", 13, [X, ints(2, 0, 1, 4)], {"mode": "edge"}, np.pad(X, ((2, 1), (0, 4)), "edge")),
    ("Pad", 19, [X > 1, ints(1, 0, 1, 3)], {"mode": "wrap"}, np.pad(X > 1, ((1, 1), (0, 3)), "wrap")),
]


# Defined only by other nodes and tested by ONNX's suite; test_onnx_host.py tests Einsum, test_onnx_samples.py GridSample.
BY_SUITE = {"AffineGrid", "BlackmanWindow", "Einsum", "GridSample", "HammingWindow", "HannWindow",
            "NegativeLogLikelihoodLoss", "RotaryEmbedding", "SoftmaxCrossEntropyLoss", "SwiGLU"}


def rows():
    for op in sorted(set(NODES) - BY_SUITE):
        for schema in onnx.defs.get_all_schemas_with_history():
            key = op, schema.since_version
            if schema.name == op and schema.domain == "" and REFERENCES.get(key, key):
                yield key


def model_of(op, arrays, options, opset):
    options = dict(options)
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    outputs = [f"y{i}" for i in range(options.pop("outputs", 1))]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
              for name, array in zip(names, arrays) if name]
    graph = helper.make_graph([helper.make_node(op, names, outputs, **options)], "graph", inputs,
                              [onnx.ValueInfoProto(name=name) for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), {
        name: array for name, array in zip(names, arrays) if name}


def compare(op, actual, expected):
    expected = np.asarray(expected)
    if op in ("Gemm", "ReduceSumSquare"):  # the reference widens float16 (before opset 7) and int32
        expected = expected.astype(actual.dtype)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    ulps = TOLERANCES.get(op, {}).get(actual.dtype.name, 0)
    if actual.dtype.kind != "f" or not ulps:
        np.testing.assert_array_equal(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, rtol=ulps * float(np.finfo(actual.dtype).eps), atol=ulps * float(
            np.finfo(actual.dtype).smallest_normal))
    if actual.dtype.kind == "f" and op not in ZEROS:
        there = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[there], np.signbit(expected)[there])


DISPATCHED = {}  # by the operator and its opset


@pytest.mark.parametrize("op, since", list(rows()))
def test_beside_the_reference(op, since):
    schema = onnx.defs.get_schema(op, since)
    main = onnx_counts.MAIN.get(op, 0)
    kinds = [None] if main is None else [kind for kind in KINDS if f"tensor({kind})" in schema.inputs[main].types]
    assert kinds
    for kind in kinds:
        for arrays, options in cases_of(op, None if kind is None else dtype_of(kind), since):
            model, given = model_of(op, arrays, options, since)
            with np.errstate(all="ignore"):
                other = REFERENCES.get((op, since))
                reference = model_of(op, arrays, options, other)[0] if other else model
                expected = ReferenceEvaluator(reference).run(None, given)
            with dispatched() as names:
                prepared = backend.Prepared(model)
                actual, alone = prepared.run(given), node_by_node(prepared, given)
            DISPATCHED.setdefault((op, since), set()).update(names)
            assert len(actual) == len(expected) == len(alone)
            for one, other, same in zip(actual, expected, alone):
                compare(op, one, other)
                assert one.dtype == same.dtype and one.tobytes() == same.tobytes()


# Nodes that ONNX's definition replaces in some of their forms.
ALSO_DEFINED = {"GroupNormalization", "LayerNormalization", "RMSNormalization"}


def test_the_table_says_what_is_dispatched():
    """Checks the operators that all tests above dispatched, as far as these tests ran."""
    built = {re.sub("^(ELEMENT_WISE|ACTIVATION)_", "", one["name"]) for one in anydml.operators(built=True)}
    for row in ROWS:
        assert row.how == "host" or set(row.uses.split()) <= built
    for (op, since), names in DISPATCHED.items():
        found = rows_of(op, since)
        uses = {name for row in found for name in row.uses.split()}
        # IDENTITY also copies where no strides describe a view.
        assert names - {"IDENTITY"} <= uses or op in ALSO_DEFINED or any(row.how == "definition" for row in found), op


@pytest.mark.parametrize("op, opset, arrays, options, expected", OLD)
def test_where_there_is_no_reference(op, opset, arrays, options, expected):
    model, given = model_of(op, arrays, options, opset)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for actual, wanted in zip(backend.Prepared(model).run(given), expected):
        np.testing.assert_array_equal(actual, wanted, strict=True)


def run(op, *arrays, opset=NEWEST, **options):
    model, given = model_of(op, arrays, options, opset)
    return backend.Prepared(model).run(given)[0]


@pytest.mark.parametrize("dtype, bound", [("f2", 2e-3), ("f4", 1e-5), ("f8", 1e-12)])
@pytest.mark.parametrize("opset", [14, 15, NEWEST])
def test_batches_in_training(dtype, bound, opset):
    """Compared in FLOAT64, because the reference computes in the type of the tensors."""
    random = np.random.default_rng(2)
    x = (random.standard_normal((6, 3, 5, 4)) * 2 + 1).astype(dtype)
    others = [random.uniform(0.5, 2, 3).astype(dtype) for _ in range(4)]
    options = {"training_mode": 1, "momentum": 0.75, "epsilon": 1e-3}
    for outputs in (1, 3):
        result, given = model_of("BatchNormalization", [x, *others], {**options, "outputs": outputs}, opset)
        actual = backend.Prepared(result).run(given)
        wide = {name: one.astype("f8") for name, one in given.items()}
        exact = ReferenceEvaluator(model_of("BatchNormalization", list(wide.values()), {
            **options, "outputs": outputs}, opset)[0]).run(None, wide)
        for one, other in zip(actual, exact, strict=True):
            assert one.dtype == x.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=bound, atol=bound)


def adam_model(several, **attributes):
    names = ["r", "t", *(f"{name}{i}" for name in "xgvh" for i in range(several))]
    results = [f"{name}{i}" for name in "abc" for i in range(several)]
    node = helper.make_node("Adam", names, results, domain="ai.onnx.preview.training", **attributes)
    inputs = [helper.make_tensor_value_info(name, {"t": onnx.TensorProto.INT64}.get(name, onnx.TensorProto.FLOAT), None)
              for name in names]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.preview.training", 1)]
    graph = helper.make_graph([node], "adam", inputs, [onnx.ValueInfoProto(name=name) for name in results])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), names


@pytest.mark.parametrize("step", [0, 1, 7])
@pytest.mark.parametrize("several, norm", [(1, 0.0), (2, 0.25)])
def test_adam(step, several, norm):
    random = np.random.default_rng(3)
    tensors = [np.abs(random.standard_normal((2, 3))).astype("f4") for _ in range(4 * several)]
    model, names = adam_model(several, alpha=0.95, beta=0.85, epsilon=1e-2, norm_coefficient=norm,
                              norm_coefficient_post=norm / 2)
    given = dict(zip(names, [np.float32(0.1), np.int64(step), *tensors]))
    expected = ReferenceEvaluator(model).run(None, given)
    actual = backend.Prepared(model).run(given)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    if step and not norm:  # DirectML's operator gives the same bits
        x, gradient, first, second = (one.reshape(1, 1, 2, 3) for one in tensors)
        direct = anydml.adam_optimizer(x, first, second, gradient, np.uint32([[[[step]]]]), learning_rate=0.1, beta1=0.95,
                                       beta2=0.85, epsilon=1e-2)
        for one, other in zip(actual, direct):
            np.testing.assert_array_equal(one, other[0, 0])


def test_sums_of_many_floats():
    """Our order of additions: within the error bound of any order, and closer than sequential addition."""
    x = np.random.default_rng(1).standard_normal((300, 1000)).astype(np.float32)
    exact = x.astype(np.float64)
    bound = np.finfo(np.float32).eps * 80 * np.abs(exact).sum(1)
    for op, wanted in (("ReduceSum", exact.sum(1)), ("ReduceMean", exact.mean(1)), ("ReduceL1", np.abs(exact).sum(1)),
                       ("ReduceL2", np.sqrt((exact**2).sum(1))), ("ReduceSumSquare", (exact**2).sum(1))):
        assert (np.abs(run(op, x, ints(1), keepdims=0) - wanted) <= bound).all()


def test_integers_where_onnx_says_little():
    x = np.int32([[-7, 0, 2], [2**31 - 1, 1, 1]])
    assert run("ReduceMean", x, ints(1), keepdims=0).tolist() == [-1, (-2**31 + 1) // 3 + 1]  # the sum wraps
    assert run("ReduceL2", x, ints(1), keepdims=0).tolist() == [7, 2**31 - 1]
    assert run("Sign", np.float32([np.nan, -0.0, -3])).tolist()[1:] == [0, -1]
    assert run("ThresholdedRelu", np.float32([np.nan, 2]), alpha=1.0).tolist() == [0, 2]
    assert run("Cast", np.float32([np.nan, 300, -1.9]), to=onnx.TensorProto.UINT8).tolist() == [0, 255, 0]


@pytest.mark.parametrize("op, arrays, options, message", [
    ("Shrink", [np.int8([1])], {"bias": 0.5}, "Shrink of int8 with bias 0.5 and lambd 0.5: for integers, bias must be"),
    ("Dropout", [X, np.float32(0.5), np.array(True)], {}, "Dropout in training: anydml has no random numbers"),
    ("QuantizeLinear", [X, np.float16(1)], {}, "QuantizeLinear of float with a scale of float16: ONNX's text and its"),
    ("QuantizeLinear", [X.astype(np.int32), np.int32(1)], {}, "QuantizeLinear with a scale of int32 .*: it divides"),
    ("MaxPool", [X[None]], {"kernel_shape": [2], "outputs": 2, "storage_order": 1},
     "MaxPool with Indices and storage_order 1: its indices count rows"),
    ("LpPool", [X[None]], {"kernel_shape": [2], "p": 0}, "LpPool with p 0: p must be a positive integer"),
    ("GRU", [X[None], X[None, :, :], X[None, :, :2]], {"clip": 1.0}, "GRU with clip: DirectML's GRU does not clip"),
    ("RNN", [X[None], X[None], X[None, :, :2]], {"activations": ["Sine"]}, "RNN with the activation Sine: ONNX has no"),
    ("BatchNormalization", [X, *[X[0]] * 4], {"outputs": 2}, "BatchNormalization with further results and training_mode 0"),
    ("Range", [np.float16(1)] * 3, {"stash_type": 10}, "Range with stash_type 10: it computes in float or double"),
])
def test_refusals_name_the_reason(op, arrays, options, message):
    with pytest.raises(backend.Unsupported, match=f"{op} that computes '.*': anydml does not support {message}"):
        run(op, *arrays, **options)


@pytest.mark.parametrize("op, arrays, options, message", [
    ("ReduceSum", [X, ints(2)], {}, r"axes is \[2\]: an axis is 2, but the tensor has 2 dimensions"),
    ("ReduceSum", [X, ints(0, -2)], {}, "one of them occurs twice"),
    ("ReduceMean", [np.zeros((0,), np.int32)], {}, "the mean of no integers"),
    ("ArgMax", [X[:, :0]], {"axis": 1}, "axis 1 has no elements"),
    ("ArgMax", [X], {"axis": 5}, "axis is 5, but the tensor has 2 dimensions"),
    ("Reshape", [X, ints(4, -1)], {}, "its -1 cannot be inferred from"),
    ("Reshape", [X, ints(1, 6, 0)], {}, "a 0 in it refers to a size"),
    ("Reshape", [X, ints(7)], {}, r"shape is \[7\], but the tensor has the shape \[2, 3\] and 6 elements"),
    ("Reshape", [X, ints(3, -2)], {}, r"shape is \[3, -2\]; expected sizes of 0 or more, and at most one -1"),
    ("Reshape", [X, ints(-1, -1)], {}, "its -1 cannot be inferred from"),
    ("Reshape", [X], {"opset": 1}, "shape is missing"),
    ("Squeeze", [X, ints(0)], {}, r"axes is \[0\], but the tensor has the shape \[2, 3\]; expected axes of size 1"),
    ("Unsqueeze", [X, ints(3)], {}, r"axes is \[3\]: an axis is 3, but the tensor has 3 dimensions"),
    ("Unsqueeze", [X, ints(0, 0)], {}, "one of them occurs twice"),
    ("Flatten", [X], {"axis": 3}, "axis is 3"),
    ("Transpose", [X], {"perm": [0, 0]}, r"perm is \[0, 0\]; expected each axis exactly once"),
    ("Transpose", [X], {"perm": [1, -2]}, r"perm is \[1, -2\]; expected each axis exactly once"),
    ("Transpose", [X], {"perm": [0, 2, 1]}, r"perm is \[0, 2, 1\], but the tensor has 2 dimensions"),
    ("Expand", [X, ints(2, -1)], {}, r"shape is \[2, -1\]; expected sizes of 0 or more"),
    ("Slice", [X, ints(0), ints(1), ints(0), ints(0)], {}, r"steps is \[0\]; expected no step of 0"),
    ("Slice", [X, ints(0), ints(1), ints(2)], {}, "an axis is 2, but the tensor has 2 dimensions"),
    ("TopK", [X, ints(4)], {"outputs": 2}, r"K is \[4\], but axis 1 has 3 elements"),
    ("TopK", [X, ints(-1)], {"axis": 0, "outputs": 2}, r"K is \[-1\], but axis 0 has 2 elements"),
    ("Split", [X], {"axis": 5, "num_outputs": 1}, "axis is 5"),
    ("Split", [X], {"num_outputs": 0}, "num_outputs is 0; expected 1"),
    ("Split", [X, ints(3, -1)], {"outputs": 2}, r"split is \[3, -1\]; expected sizes of 0 or more"),
    ("Split", [X], {"split": [3, -1], "outputs": 2, "opset": 2}, r"split is \[3, -1\]; expected numbers of 0 or more"),
    ("Concat", [X], {"axis": 2}, "axis is 2"),
    ("Concat", [X], {}, "axis is missing"),
    ("Pad", [X, ints(1, 1, 1, 1)], {"mode": "mirror"}, "mode is 'mirror'; expected one of 'constant', 'reflect'"),
    ("Gather", [X, ints(0)], {"axis": -3}, "axis is -3"),
    ("Pad", [X, ints(-1, 0, -2, 0)], {}, r"pads is \[-1, 0, -2, 0\], which removes more than the tensor"),
    ("Pad", [X, ints(-3, 0, 9, 0)], {}, "removes more than the tensor of shape"),
    ("Tile", [X, ints(1, -1)], {}, "repeats is"),
    ("OneHot", [ints(1), ints(-1), np.float32([0, 1])], {}, "depth is -1; expected a number of 1 or more"),
    ("OneHot", [ints(1), np.float32(np.nan), np.float32([0, 1])], {}, "depth is nan; expected"),
    ("OneHot", [ints(1), ints(2), np.float32([0, 1])], {"axis": 3}, "axis is 3"),
    ("ConstantOfShape", [ints(-1)], {}, "the shape must be a list of sizes of 0 or more"),
    ("Range", [np.float64(0), np.float64(1e308), np.float64(1e-308)], {}, "has no end"),
    ("Hardmax", [X], {"axis": 2}, "axis is 2"),
    ("CumSum", [X, ints(2)], {}, "axis is 2, but the tensor has 2 dimensions"),
    ("CumSum", [X, ints(0, 1)], {}, r"axis is \[0, 1\]; expected one number"),
    ("CumSum", [X, ints(0)], {"exclusive": 2}, "exclusive is 2; expected one of 0, 1"),
    ("CumProd", [X, ints(-3)], {}, "axis is -3"),
    ("DynamicQuantizeLinear", [X[:0]], {}, r"x has the shape \[0, 3\]; expected an element to quantize"),
    ("LpNormalization", [X], {"axis": 2}, "axis is 2"),
    ("MeanVarianceNormalization", [X], {"axes": [0, 2]}, r"axes is \[0, 2\]: an axis is 2"),
    ("Add", [X, X[0]], {"broadcast": 1, "axis": 4, "opset": 6}, "axis is 4, but the tensor has 2 dimensions"),
    ("QuantizeLinear", [X, np.float32([1, 2, 3])], {"axis": 2}, "axis is 2, but the tensor has 2 dimensions"),
    ("QuantizeLinear", [X, X], {"block_size": -1}, "block_size is -1; expected a number of 0 or more"),
    ("QuantizeLinear", [X, X], {"block_size": 2**40, "axis": 1}, "block_size is 1099511627776, but the scale has the sh"),
    ("DequantizeLinear", [np.int8([[1, 2]]), np.float32([[1]])], {"block_size": 2, "axis": 2}, "axis is 2"),
    ("CenterCropPad", [X, ints(2, -1)], {}, r"shape is \[2, -1\]; expected sizes"),
    ("CenterCropPad", [X, ints(2)], {"axes": [2]}, "an axis is 2"),
    ("CenterCropPad", [X, ints(2)], {}, "shape has 1 numbers, but 2 axes need one each"),
    ("GroupNormalization", [X, X[0], X[0]], {"num_groups": 0}, "num_groups is 0; expected a number of 1 or more"),
    ("GroupNormalization", [X, X[0], X[0]], {"num_groups": 2}, r"num_groups is 2, but the tensor has the shape \[2, 3\]"),
    ("GroupNormalization", [X, X[0], X[0]], {}, "num_groups is missing"),
    ("LayerNormalization", [X, X[0]], {"axis": 2}, "axis is 2, but the tensor has 2 dimensions"),
    ("RMSNormalization", [X, X[0]], {"axis": -3}, "axis is -3, but the tensor has 2 dimensions"),
    ("Abs", [X], {"alpha": 1.0}, "alpha is not an attribute of Abs"),
    ("ArgMax", [X], {"axis": 1.0}, "axis is of type FLOAT; expected INT"),
    ("Abs", [X, X], {}, "Abs that computes 'y0' has 2 inputs; expected 1 to 1"),
    ("Split", [X, ints(1, 1)], {"axis": 1, "outputs": 2}, "axis 1 has 3 elements for 2 outputs"),
    ("Concat", [X, X[:1]], {"axis": 1}, "must have the same shape except along the axis"),
    ("Pad", [X, ints(1, 1)], {}, "pads has 2 numbers, but 2 axes need 4"),
    ("Tile", [X, ints(1)], {}, "repeats is"),
    ("GatherElements", [X, ints(0, 0, 0)], {}, r"the indices have the shape \[3\], but the tensor has \[2, 3\]"),
    ("GatherND", [X, ints(0, 0, 0)], {}, "expected 1 to 2 coordinates"),
    ("GatherND", [X, ints(0)], {"batch_dims": 1}, "expected 1 equal batch sizes"),
    ("ScatterElements", [X, ints(0, 0, 0).reshape(1, 3), X], {}, r"the updates have the shape \[2, 3\], but the indices"),
    ("ScatterND", [X, ints(0, 0), X], {}, r"the updates have the shape \[2, 3\]; expected \[\]"),
    ("Compress", [X, np.zeros((1, 2), bool)], {}, r"the condition must be a list"),
    ("Range", [np.float32(0), np.float32(1), np.float32(0)], {}, "a range from 0.0 to 1.0 by 0.0 has no end"),
    ("PRelu", [X[:1], X], {}, "slope has the shape"),
    ("QuantizeLinear", [X, np.float32([1, 2])], {"axis": 1}, "the scale has the shape"),
    ("BitShift", [np.uint8([1])] * 2, {"direction": "UP"}, "direction is 'UP'"),
    ("Add", [X, None], {}, "input B is missing"), ("Add", [X], {}, "input B is missing"),
    ("DepthToSpace", [X[None, None]], {"blocksize": 0}, "blocksize is 0; expected a number of 1 or more"),
    ("DepthToSpace", [X[None, None]], {"blocksize": 1, "mode": "RCD"}, "mode is 'RCD'; expected one of 'DCR', 'CRD'"),
    ("SpaceToDepth", [X[None, None]], {"blocksize": -1}, "blocksize is -1; expected a number of 1 or more"),
    ("SpaceToDepth", [X[None, None]], {"blocksize": 2}, "blocksize is 2, but 2 by 3 is not a multiple of it"),
    ("DepthToSpace", [X], {"blocksize": 2}, "expected 4"),
    ("Conv", [X[None], X[None]], {"group": 2}, "expected 4 channels of X and a multiple of 2 of W, since group is 2"),
    ("Conv", [X, X], {}, "expected the same number of dimensions, with 1 to 3 spatial ones"),
    ("Conv", [X[None], X[None]], {"strides": [1, 1]}, "strides is .1, 1.; expected 1 numbers"),
    ("Conv", [X[None], X[None]], {"dilations": [2]}, "W spans 5 elements of axis 2, which has 3 including its pads"),
    ("ConvInteger", [BYTES, BYTES, np.uint8([1, 2])], {}, r"x_zero_point has the shape \[2\]; expected one number"),
    ("ConvInteger", [BYTES, BYTES, None, np.uint8([1, 2])], {}, r"w_zero_point has the shape \[2\]; expected one number"),
    ("ConvInteger", [BYTES, BYTES], {"group": 2}, "expected 2 channels of X and a multiple of 2 of W"),
    ("QLinearConv", [BYTES, np.float32(1), np.uint8(0), BYTES, *[np.float32(1), np.uint8(0)] * 2, np.int32([1, 2])], {},
     r"B has the shape \[2\]; expected \[1\]"),
    ("ConvTranspose", [X[None], X[None]], {}, "expected the channels of X to equal W's first size"),
    ("ConvTranspose", [X[None], X[:, None]], {"pads": [5, 5]}, "the output would have the sizes .-5.; expected smaller"),
    ("MaxPool", [X], {"kernel_shape": [2]}, "kernel_shape is .2., but the tensor has 2 dimensions"),
    ("Max", [X, X[:1]], {"opset": 6}, "before opset 8 the inputs must have one shape"),
])
def test_wrong_arguments(op, arrays, options, message):
    message = message if message.startswith(f"{op} that computes") else f"{op} that computes '.*': .*{message}"
    with pytest.raises(ValueError, match=message):
        run(op, *arrays, **options)


@pytest.mark.parametrize("op", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("options, message", [
    ({"kernel_shape": [0]}, r"kernel_shape is \[0\]; expected numbers of 1 or more"),
    ({"kernel_shape": [-2]}, r"kernel_shape is \[-2\]; expected"),
    ({"kernel_shape": [2], "strides": [0]}, r"strides is \[0\]; expected numbers of 1 or more"),
    ({"kernel_shape": [2], "strides": [-1]}, r"strides is \[-1\]; expected"),
    ({"kernel_shape": [2], "dilations": [-1]}, r"dilations is \[-1\]; expected numbers of 1 or more"),
    ({"kernel_shape": [2], "dilations": [0]}, r"dilations is \[0\]; expected"),
    ({"kernel_shape": [2], "pads": [-1, 1]}, r"pads is \[-1, 1\]; expected numbers of 0 or more"),
    ({"kernel_shape": [2], "pads": [1]}, r"pads is \[1\]; expected 2 numbers, since kernel_shape has 1"),
    ({"kernel_shape": [2], "strides": [1, 1]}, r"strides is \[1, 1\]; expected 1 numbers"),
    ({"kernel_shape": [2], "auto_pad": "SAME"}, "auto_pad is 'SAME'; expected one of 'NOTSET', 'SAME_UPPER'"),
    ({"kernel_shape": [2], "ceil_mode": 2}, "ceil_mode is 2; expected one of 0, 1"),
    ({"kernel_shape": [4]}, r"kernel_shape is \[4\]: a window spans 4 elements of axis 2, which has 3 including its pads"),
    ({"kernel_shape": [2], "dilations": [3]}, "a window spans 4 elements of axis 2, which has 3 including its pads"),
    ({"kernel_shape": [6], "pads": [1, 1]}, "a window spans 6 elements of axis 2, which has 5 including its pads"),
    ({"kernel_shape": [4], "auto_pad": "VALID"}, "a window spans 4 elements"),
    ({}, "kernel_shape is missing"),
])
def test_windows_are_checked(op, options, message):
    with pytest.raises(ValueError, match=f"{op} that computes 'y0': .*{message}"):
        run(op, X[None], **options)


def test_a_window_may_be_as_large_as_the_tensor_with_its_pads():
    assert run("MaxPool", X[None], kernel_shape=[5], pads=[1, 1]).tolist() == [[[5], [2]]]
    assert run("MaxPool", X[None], kernel_shape=[9], auto_pad="SAME_UPPER").shape == (1, 2, 3)
    assert run("LpPool", X[None], kernel_shape=[3], p=1).tolist() == [[[11], [4]]]
    assert run("Pad", X, ints(-1, 0, -1, 0)).shape == (0, 3)


def test_indices_that_are_out_of_range():
    """Gather reads the nearest element, and scatter writes nothing; constant indices out of range are rejected."""
    assert run("Gather", X, ints(2, -5)).tolist() == X[[1, 0]].tolist()
    assert run("Gather", X, np.array(7)).tolist() == X[1].tolist()
    assert run("GatherElements", X, np.full((2, 3), 9)).tolist() == X[[1, 1]].tolist()
    assert run("ScatterElements", X, np.full((1, 3), 2), X[:1] + 1).tolist() == X.tolist()
    assert run("ScatterND", X, ints(-3).reshape(1, 1), X[:1] + 1).tolist() == X.tolist()


def test_elements_of_a_part():
    """Indices may have smaller sizes than the tensor; the reference supports that only for scatters."""
    assert run("GatherElements", X, ints(1, 0).reshape(1, 2)).tolist() == [[X[1, 0], X[0, 1]]]


def test_the_old_scatter():
    updates = [ints(1, 0, 1).reshape(1, 3), X[:1] + 1]
    for opset in (9, 10):
        assert run("Scatter", X, *updates, opset=opset).tolist() == run("ScatterElements", X, *updates).tolist()


def test_slices_beyond_the_ends():
    """ONNX's text limits the start of a negative step to the elements, so there is a first element where NumPy has none."""
    x, ends = np.arange(5, dtype=np.float32), [-2**63, -100, -6, -5, -4, -1, 0, 2, 4, 5, 100, 2**63 - 1]
    for start, end, step in itertools.product(ends, ends, [1, 2, 2**62, -1, -3, -2**63]):
        first, last = (place + 5 if place < 0 else place for place in (start, end))
        if step > 0:
            first, last = np.clip([first, last], 0, 5).tolist()
            assert x[start:end:step].tolist() == x[first:last:step].tolist()
        else:
            first, last = min(max(first, 0), 4), min(max(last, -1), 4)
        taken = run("Slice", x, ints(start), ints(end), ints(0), ints(step))
        assert taken.tolist() == x[list(range(first, last, step))].tolist(), (start, end, step)
    assert run("Slice", x, ints(-100), ints(-200), ints(0), ints(-1)).tolist() == [0] and x[-100:-200:-1].size == 0
    assert run("Slice", x[:0], ints(-100), ints(-200), ints(0), ints(-1)).size == 0


def test_views_are_not_the_callers_arrays():
    x = np.float32([1, 2])
    for op, more in (("Reshape", [ints(2, 1)]), ("Expand", [ints(2, 2)]), ("Gather", [np.array(0)]), ("Transpose", [])):
        run(op, x, *more)[...] = 0
        assert x.tolist() == [1, 2]
