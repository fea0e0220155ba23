# SPDX-License-Identifier: MIT
"""com.microsoft's Attention and MultiHeadAttention, compared with ONNX Runtime, and wrong RotaryEmbeddings."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper

import anydml.onnx as backend
from onnx_models import node_by_node

RANDOM = np.random.default_rng(11)
BATCH, QUERIES, KEYS, HEADS, ELEMENTS, PAST = 2, 5, 7, 3, 4, 6
WIDTH = HEADS * ELEMENTS


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model_of(op, arrays, outputs, attributes):
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    given = {name: array for name, array in zip(names, arrays) if name}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in given.items()]
    result = [f"y{i}" for i in range(outputs)]
    kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
    node = helper.make_node(op, names, result, domain="com.microsoft", num_heads=HEADS, **attributes)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info(name, kind, None) for name in result])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), given


def check(op, arrays, outputs=1, **attributes):
    runtime = pytest.importorskip("onnxruntime")
    model, given = model_of(op, arrays, outputs, attributes)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    expected = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, given)
    prepared = backend.Prepared(model)
    actual = prepared.run(given)
    for one, other in zip(actual, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    for one, other in zip(actual, node_by_node(prepared, given)):
        np.testing.assert_array_equal(one, other)


LENGTHS = np.int32([3, 7])
TWO = RANDOM.integers(0, 2, (BATCH, KEYS)).astype(np.int32)
TWO[:, 0] = 1
Q, K, V, BIAS = floats(BATCH, QUERIES, WIDTH), floats(BATCH, KEYS, WIDTH), floats(BATCH, KEYS, WIDTH), floats(3 * WIDTH)


@pytest.mark.parametrize("arrays, attributes", [
    ([Q, K, V], {}), ([Q, K, V], {"scale": 0.3}), ([Q, K, V, BIAS], {}), ([Q, K, V, None, LENGTHS], {}),
    ([Q, K, V, BIAS, TWO], {"mask_filter_value": -1.5}),
    ([Q, K, V, None, RANDOM.integers(0, 2, (BATCH, QUERIES, KEYS)).astype(np.int32)], {"mask_filter_value": -2.0}),
    ([Q, K, V, None, TWO, floats(BATCH, HEADS, QUERIES, KEYS)], {}), ([Q, K, V, None, None, floats(1, 1, QUERIES, KEYS)], {}),
    ([K, K, V], {"unidirectional": 1}),
    ([Q, floats(BATCH, HEADS, KEYS, ELEMENTS), floats(BATCH, HEADS, KEYS, ELEMENTS)], {}),
    ([Q, Q + 1, floats(BATCH, QUERIES, WIDTH), None, None, None, floats(BATCH, HEADS, PAST, ELEMENTS),
      floats(BATCH, HEADS, PAST, ELEMENTS)], {"outputs": 3}),
    ([Q, Q + 1, floats(BATCH, QUERIES, WIDTH), BIAS, None, None, floats(BATCH, HEADS, PAST, ELEMENTS),
      floats(BATCH, HEADS, PAST, ELEMENTS)], {"outputs": 3, "unidirectional": 1}),
])
def test_multi_head_attention(arrays, attributes):
    check("MultiHeadAttention", arrays, **attributes)


def test_stacked_tensors():
    """ONNX Runtime's CPU kernels reject stacked tensors, so the result is compared with that for separate tensors."""
    stacked = floats(BATCH, KEYS, HEADS, 3, ELEMENTS)
    parts = [np.ascontiguousarray(stacked[:, :, :, i]).reshape(BATCH, KEYS, WIDTH) for i in range(3)]
    model, given = model_of("MultiHeadAttention", [*parts, BIAS], 1, {})
    expected = backend.Prepared(model).run(given)[0]
    model, given = model_of("MultiHeadAttention", [stacked, None, None, BIAS], 1, {})
    np.testing.assert_array_equal(backend.Prepared(model).run(given)[0], expected)
    pair = np.ascontiguousarray(stacked[:, :, :, 1:])
    model, given = model_of("MultiHeadAttention", [parts[0], pair, None, BIAS], 1, {})
    np.testing.assert_array_equal(backend.Prepared(model).run(given)[0], expected)


X, WEIGHTS = floats(BATCH, QUERIES, 8), floats(8, 3 * WIDTH)


@pytest.mark.parametrize("arrays, attributes", [
    ([X, WEIGHTS, BIAS], {}), ([X, WEIGHTS, BIAS, np.int32([2, 5])], {}),
    ([X, WEIGHTS, BIAS, np.int32([4, 5, 1, 0])], {"mask_filter_value": -3.0}),
    ([X, WEIGHTS, BIAS, np.ascontiguousarray(TWO[:, :QUERIES])], {"unidirectional": 1}),
    ([X, WEIGHTS, BIAS, None, floats(2, BATCH, HEADS, PAST, ELEMENTS)], {"outputs": 2, "unidirectional": 1}),
    ([X, WEIGHTS, BIAS, None, None, floats(BATCH, HEADS, QUERIES, QUERIES)], {"scale": 0.7}),
    ([X, floats(8, 2 * WIDTH + 6), floats(2 * WIDTH + 6)], {"qkv_hidden_sizes": [WIDTH, WIDTH, 6]}),
])
def test_attention(arrays, attributes):
    check("Attention", arrays, **attributes)


def test_refusals():
    model, _ = model_of("Attention", [X, WEIGHTS, BIAS], 1, {"do_rotary": 1})
    with pytest.raises(backend.Unsupported, match="do_rotary"):
        backend.Prepared(model)
    model, given = model_of("MultiHeadAttention", [Q, K, V, None, np.int32([1, 2, 3])], 1, {})
    with pytest.raises(ValueError, match=r"the mask has the shape \[3\]"):
        backend.Prepared(model).run(given)


@pytest.mark.parametrize("options, sizes, message", [
    ({"rotary_embedding_dim": 3}, (1, 2, 3, 8), "rotary_embedding_dim is 3; expected an even number from 0 to 8"),
    ({"rotary_embedding_dim": 10}, (1, 2, 3, 8), "rotary_embedding_dim is 10; expected an even number from 0 to 8"),
    ({"rotary_embedding_dim": 4}, (1, 2, 3, 8), r"cos_cache has the shape \[1, 3, 4\]; expected 2 numbers"),
    ({"num_heads": 2}, (1, 2, 3, 8), "num_heads is 2, but the tensor has 4 dimensions"),
    ({"num_heads": 5}, (1, 3, 16), "num_heads is 5, which does not divide the last size, 16"),
    ({}, (1, 3, 16), "num_heads is 0, but the tensor has 3 dimensions")])
def test_wrong_rotary_embeddings(options, sizes, message):
    node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], **options)
    values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in "xcsy"]
    graph = helper.make_graph([node], "g", values[:3], values[3:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    angles = np.ones((1, 3, 4), np.float32)
    with pytest.raises(ValueError, match=message):
        backend.Prepared(model).run([np.ones(sizes, np.float32), angles, angles])
