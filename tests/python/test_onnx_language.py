# SPDX-License-Identifier: MIT
"""The operators of language models, as onnxruntime-genai's builder writes them, compared with NumPy in float64 and, where
it is installed, with ONNX Runtime."""
import json
import math
import pathlib
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper

import anydml.onnx as backend
from onnx_models import node_by_node

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ops"))
from scored_attention_reference import scored_attention

RANDOM = np.random.default_rng(50)


def floats(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def model_of(op, arrays, outputs=1, domain="com.microsoft", constants=(), opset=22, **attributes):
    """Returns a model of one node, and its inputs. Absent inputs are None."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    while not names[-1]:
        names.pop()
    given = {name: array for name, array in zip(names, arrays) if name}
    fixed = {names[i]: given.pop(names[i]) for i in constants if i < len(names) and names[i]}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
              for name, array in given.items()]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(attributes.pop("result", arrays[0].dtype)))
    results = [helper.make_tensor_value_info(f"y{i}", kind, None) for i in range(outputs)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)
    graph = helper.make_graph([node], "g", inputs, results,
                              [numpy_helper.from_array(array, name) for name, array in fixed.items()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), given


def run(op, arrays, outputs=1, **attributes):
    """Returns the outputs, which have the same bits with and without graphs."""
    model, given = model_of(op, arrays, outputs, **attributes)
    prepared = backend.Prepared(model)
    results = [np.asarray(one) for one in prepared.run(given)]
    for one, other in zip(results, node_by_node(prepared, given)):
        np.testing.assert_array_equal(one, other)
    return results


def run_onnxruntime(op, arrays, outputs=1, **attributes):
    runtime = pytest.importorskip("onnxruntime")
    model, given = model_of(op, arrays, outputs, **attributes)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, given)


def close(actual, expected, factor=1.0):
    """Compares with float64: the error is small beside the largest number."""
    limit = factor * {2: 2e-3, 4: 2e-6}[actual.dtype.itemsize]
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=0, atol=limit * max(1, np.abs(expected).max()))


# ---- Rotations ------------------------------------------------------------------------------------------------------


def rotated(x, cosines, sines, positions, is_interleaved=False):
    """Returns x {batch, rows, heads, elements}, rotated in float64."""
    half = cosines.shape[1]
    cosine, sine = (np.float64(table)[positions][:, :, None] for table in (cosines, sines))
    result = np.array(x, np.float64)
    first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if is_interleaved else (
        slice(0, half), slice(half, 2 * half))
    result[..., first] = x[..., first] * cosine - x[..., second] * sine
    result[..., second] = x[..., first] * sine + x[..., second] * cosine
    return result


ANGLES = np.outer(np.arange(64), 1 / 3.0 ** np.arange(8))
COSINES, SINES = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)


@pytest.mark.parametrize("is_interleaved", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("sizes, options", [
    ((2, 5, 3, 16), {}), ((2, 5, 3, 16), {"num_heads": 3}),
    ((2, 5, 3, 20), {"num_heads": 3, "rotary_embedding_dim": 16})])
def test_rotary_embedding(sizes, options, dtype, is_interleaved):
    x = floats(*sizes, dtype=dtype)
    cosines, sines = COSINES.astype(dtype), SINES.astype(dtype)
    tokens = x.reshape(*sizes[:2], -1)
    for positions in (RANDOM.integers(0, 64, sizes[:2]), np.array([7])):
        own = positions if positions.ndim == 2 else np.tile(positions + np.arange(sizes[1]), (sizes[0], 1))
        expected = rotated(x, cosines, sines, own, is_interleaved)
        given = [tokens, positions, cosines, sines]
        actual, = run("RotaryEmbedding", given, interleaved=is_interleaved, **options)
        close(actual, expected.reshape(tokens.shape))
        if dtype == np.float32:
            np.testing.assert_allclose(actual, run_onnxruntime("RotaryEmbedding", given, interleaved=is_interleaved, **options)[0],
                                       rtol=1e-5, atol=1e-6)
        if not options:
            by_heads = np.ascontiguousarray(x.swapaxes(1, 2))
            actual, = run("RotaryEmbedding", [by_heads, positions, cosines, sines], interleaved=is_interleaved)
            close(actual, expected.swapaxes(1, 2))


def test_rotation_rounds_every_operation():
    x = floats(1, 3, 16)
    cosine, sine = COSINES[2:5], SINES[2:5]
    expected = np.concatenate([x[..., :8] * cosine - x[..., 8:] * sine, x[..., :8] * sine + x[..., 8:] * cosine], axis=-1)
    actual, = run("RotaryEmbedding", [x, np.array([2]), COSINES, SINES], num_heads=1, rotary_embedding_dim=16)
    np.testing.assert_array_equal(actual, expected)


# ---- GroupQueryAttention --------------------------------------------------------------------------------------------

HEADS, SHARED, SIZE = 6, 2, 16


def attention(q, keys, values, seen, scale, softcap=0.0, bias=None, sink=None):
    """Attention in float64 of queries {heads, rows, size}, and keys and values {shared heads, rows, size}."""
    keys, values = (np.repeat(np.float64(one), HEADS // SHARED, axis=0) for one in (keys, values))
    scores = np.float64(q) @ keys.swapaxes(1, 2) * scale
    scores = softcap * np.tanh(scores / softcap) if softcap else scores
    scores = scores if bias is None else scores + np.float64(bias)
    scores = np.where(seen, scores, -np.inf)
    sink = np.full((HEADS, 1, 1), -np.inf) if sink is None else np.float64(sink).reshape(HEADS, 1, 1)
    highest = np.maximum(scores.max(-1, keepdims=True), sink)
    e = np.exp(scores - highest)
    return e @ values / (e.sum(-1, keepdims=True) + np.exp(sink - highest))


class Text:
    """Queries, keys and values of some tokens, and what GroupQueryAttention returns for them in float64."""

    def __init__(self, tokens, batch=1, dtype=np.float32, is_packed=False, norms=False, sinks=False, **options):
        self.batch, self.dtype, self.is_packed, self.options = batch, dtype, is_packed, options
        self.q, self.k, self.v = (floats(batch, tokens, heads, SIZE, dtype=dtype) for heads in (HEADS, SHARED, SHARED))
        self.weights = [1 + floats(SIZE, dtype=dtype) / 4 for _ in "qk"] if norms else None
        self.sinks = floats(HEADS, dtype=dtype) if sinks else None

    def expected(self, begin, end, of=0, bias=None):
        """The result of tokens of a text, {rows, heads * size}, and their keys and values {shared heads, rows, size}."""
        q, k, v = (np.float64(one[of, :end]) for one in (self.q, self.k, self.v))
        if self.weights:
            q, k = (one / np.sqrt((one**2).mean(-1, keepdims=True) + 1e-6) * np.float64(w) for one, w in zip((q, k), self.weights))
        if self.options.get("do_rotary"):
            q, k = (rotated(one[None], COSINES.astype(self.dtype), SINES.astype(self.dtype), np.arange(end)[None],
                            self.options.get("rotary_interleaved", 0))[0] for one in (q, k))
        q, k, v = (one.swapaxes(0, 1) for one in (q[begin:], k, v))
        distance = np.arange(begin, end)[:, None] - np.arange(end)
        window = self.options.get("local_window_size", -1)
        seen = (distance >= 0 if self.options.get("causal", 1) else distance == distance) & ((distance < window) | (window < 0))
        scale = self.options.get("scale", 1 / math.sqrt(SIZE))
        y = attention(q, k, v, seen, scale, self.options.get("softcap", 0), bias, self.sinks)
        return y.swapaxes(0, 1).reshape(end - begin, -1), k, v

    def arrays(self, begin, end, past, total=None, lengths=None):
        tokens = [one[:, begin:end].reshape(self.batch, end - begin, -1) for one in (self.q, self.k, self.v)]
        if self.is_packed:
            tokens = [np.concatenate(tokens, axis=-1), None, None]
        angles = [COSINES.astype(self.dtype), SINES.astype(self.dtype)] if self.options.get("do_rotary") else [None, None]
        last = np.int32(lengths) - 1 if lengths is not None else np.full(self.batch, end - 1, np.int32)
        return [*tokens, *past, last, np.array(end if total is None else total, np.int32), *angles, None, None,
                self.sinks, None, None, *(self.weights or [])]

    def attributes(self):
        return {"num_heads": HEADS, "kv_num_heads": SHARED, **self.options}

    def cache(self, rows, value=0):
        return [np.full((self.batch, SHARED, rows, SIZE), value, self.dtype) for _ in "kv"]


OPTIONS = [
    {}, {"is_packed": True}, {"do_rotary": 1}, {"do_rotary": 1, "is_packed": True, "rotary_interleaved": 1},
    {"scale": 0.2}, {"softcap": 2.0}, {"local_window_size": 3}, {"local_window_size": 3, "softcap": 1.5, "do_rotary": 1},
    {"sinks": True}, {"sinks": True, "local_window_size": 4, "do_rotary": 1, "is_packed": True}]
OWN_OPTIONS = [{"norms": True, "do_rotary": 1}, {"causal": 0}]  # ONNX Runtime's CPU kernels do not have these
CALLS = ((0, 6), (6, 7), (7, 8), (8, 11))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("options", OPTIONS + OWN_OPTIONS, ids=json.dumps)
def test_growing_cache(options, dtype):
    """A prompt, two tokens, and a part of a prompt."""
    text = Text(11, dtype=dtype, **options)
    past = other = text.cache(0)
    for begin, end in CALLS:
        y, *past = run("GroupQueryAttention", text.arrays(begin, end, past), 3, **text.attributes())
        expected, keys, values = text.expected(begin, end)
        close(y[0], expected)
        close(past[0][0], keys)
        close(past[1][0], values)
        if options in OPTIONS and dtype == np.float32:
            theirs, *other = run_onnxruntime("GroupQueryAttention", text.arrays(begin, end, other), 3, **text.attributes())
            np.testing.assert_allclose(y, theirs, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(past[0], other[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [{"do_rotary": 1, "is_packed": True}, {"local_window_size": 3},
                                     {"sinks": True, "softcap": 2.0, "do_rotary": 1}], ids=json.dumps)
def test_shared_cache(options):
    """A cache with more rows than there are tokens gives the same bits as a growing one, whatever its free rows contain."""
    text, slots = Text(11, **options), 16
    growing, shared = text.cache(0), text.cache(slots, np.nan)
    for begin, end in CALLS:
        expected, *growing = run("GroupQueryAttention", text.arrays(begin, end, growing), 3, **text.attributes())
        actual, *shared = run("GroupQueryAttention", text.arrays(begin, end, shared, slots), 3, **text.attributes())
        np.testing.assert_array_equal(actual, expected)
        for one, other in zip(shared, growing):
            assert one.shape[2] == slots
            np.testing.assert_array_equal(one[:, :, :end], other)
            one[:, :, end:] = np.nan


def test_one_graph_serves_all_tokens(tmp_path):
    """The number of tokens in a shared cache is data: no new graph is compiled."""
    text, slots = Text(11, do_rotary=1, local_window_size=5, sinks=True), 16
    model, given = model_of("GroupQueryAttention", text.arrays(0, 1, text.cache(slots), slots), 3, constants=[6],
                            **text.attributes())
    prepared = backend.Prepared(model, trace=True)
    past = text.cache(slots)
    for end in range(1, 11):
        arrays = text.arrays(end - 1, end, past, slots)
        y, *past = map(np.asarray, prepared.run({name: arrays[int(name[1:])] for name in given}))
        close(y[0], text.expected(end - 1, end)[0])
    prepared.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())
    assert len([one for one in events if one["cat"] == "Compile"]) == 1


@pytest.mark.parametrize("options", [{"do_rotary": 1}, {"sinks": True, "local_window_size": 3}], ids=json.dumps)
def test_sequences_of_different_lengths(options):
    """Shorter sequences have padding behind their tokens, which the next calls replace."""
    text, lengths = Text(9, batch=3, **options), np.array([6, 2, 4])
    past = text.cache(0)
    y, *past = run("GroupQueryAttention", text.arrays(0, 6, past, lengths=lengths), 3, **text.attributes())
    theirs = run_onnxruntime("GroupQueryAttention", text.arrays(0, 6, text.cache(0), lengths=lengths), 3, **text.attributes())
    for i, length in enumerate(lengths):
        close(y[i, :length], text.expected(0, length, i)[0])
        np.testing.assert_allclose(y[i, :length], theirs[0][i, :length], rtol=1e-4, atol=1e-5)
    for step in range(3):
        lengths = lengths + 1
        # Each sequence continues with its own next token.
        arrays = text.arrays(0, 1, past, int(lengths.max()), lengths)
        for i, tokens in enumerate((text.q, text.k, text.v)):
            arrays[i] = np.stack([tokens[b, length - 1] for b, length in enumerate(lengths)]).reshape(3, 1, -1)
        y, *past = run("GroupQueryAttention", arrays, 3, **text.attributes())
        for i, length in enumerate(lengths):
            expected, keys, _ = text.expected(length - 1, length, i)
            close(y[i], expected)
            close(past[0][i, :, :length], keys)


@pytest.mark.parametrize("capacity", [4, 7])
@pytest.mark.parametrize("options", [{"do_rotary": 1}, {"sinks": True, "is_packed": True}], ids=json.dumps)
def test_sliding_cache(options, capacity):
    """The cache drops the oldest rows: what stays depends only on the number of tokens."""
    text = Text(20, local_window_size=4, sliding_window_cache=1, **options)
    past, other = text.cache(capacity), text.cache(capacity)
    drop = capacity - 4 + 1
    for begin, end in ((0, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 17), (17, 18)):
        y, *past = run("GroupQueryAttention", text.arrays(begin, end, past), 3, **text.attributes())
        expected, keys, values = text.expected(begin, end)
        close(y[0], expected)
        stays = end if end <= capacity else end - drop * math.ceil((end - capacity) / drop)
        assert past[0].shape[2] == capacity
        close(past[0][0, :, :stays], keys[:, end - stays:])
        close(past[1][0, :, :stays], values[:, end - stays:])
        theirs, *other = run_onnxruntime("GroupQueryAttention", text.arrays(begin, end, other), 3, **text.attributes())
        np.testing.assert_allclose(y, theirs, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(past[0][:, :, :stays], other[0][:, :, :stays], rtol=1e-5, atol=1e-6)


def test_bias_and_positions():
    text = Text(6, do_rotary=1)
    bias = floats(1, HEADS, 6, 6)
    arrays = text.arrays(0, 6, text.cache(0))
    arrays[9:11] = [np.arange(6)[None], bias]
    y, *_ = run("GroupQueryAttention", arrays, 3, **text.attributes())
    close(y[0], text.expected(0, 6, bias=bias[0])[0])
    arrays = text.arrays(3, 6, [one[None].astype(np.float32) for one in text.expected(0, 3)[1:]], 9)
    arrays[9:11] = [np.arange(3, 6)[None], np.ascontiguousarray(bias[:, :, 3:])]
    y, *_ = run("GroupQueryAttention", arrays, 3, **text.attributes())
    close(y[0], text.expected(3, 6, bias=bias[0, :, 3:])[0])


def test_smooth_softmax():
    text = Text(6, smooth_softmax=1)
    y, *_ = run("GroupQueryAttention", text.arrays(0, 6, text.cache(0)), 3, **text.attributes())
    text.sinks = np.zeros(HEADS, np.float32)
    close(y[0], text.expected(0, 6)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("options", [{"softcap": 2.0}, {"sinks": True}, {"local_window_size": 5},
                                     {"softcap": 3.0, "sinks": True, "local_window_size": 70, "scale": 0.3}], ids=json.dumps)
def test_program_of_the_documentation(options, dtype):
    """The NumPy program in docs/numerics.md gives the same bits."""
    tokens = 300
    text = Text(tokens, dtype=dtype, **options)
    begin = tokens - 3
    past = [np.ascontiguousarray(one[:, :begin].swapaxes(1, 2)) for one in (text.k, text.v)]
    y, *_ = run("GroupQueryAttention", text.arrays(begin, tokens, past), 3, **text.attributes())
    q = text.q[0, begin:].swapaxes(0, 1)
    k, v = (np.repeat(one[0].swapaxes(0, 1), HEADS // SHARED, axis=0) for one in (text.k, text.v))
    distance = np.arange(begin, tokens)[:, None] - np.arange(tokens)
    expected = scored_attention(q, k, v, options.get("scale", 1 / math.sqrt(SIZE)), options.get("softcap", 0),
                                seen=(distance >= 0) & (distance < options.get("local_window_size", tokens)),
                                sink=None if text.sinks is None else text.sinks.reshape(-1, 1, 1))
    np.testing.assert_array_equal(y[0], expected.swapaxes(0, 1).reshape(3, -1))


def test_sinks_without_weight_change_no_bit():
    """The products and element-wise operators for sinks compute what MULTIHEAD_ATTENTION1 computes."""
    text = Text(40, do_rotary=1)
    expected = run("GroupQueryAttention", text.arrays(0, 40, text.cache(0)), 3, **text.attributes())
    text.sinks = np.full(HEADS, -np.inf, np.float32)
    for one, other in zip(run("GroupQueryAttention", text.arrays(0, 40, text.cache(0)), 3, **text.attributes()), expected):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("change, options, error, message", [
    ({}, {"k_quant_type": "PER_TENSOR"}, backend.Unsupported, "k_quant_type"),
    ({}, {"qk_output": 1}, backend.Unsupported, "qk_output"),
    ({}, {"num_heads": 5}, ValueError, "num_heads is 5 and kv_num_heads is 2"),
    ({}, {"num_heads": 2**40, "kv_num_heads": 2**40}, ValueError, "expected a multiple of kv_num_heads, up to 2147483647"),
    ({}, {"local_window_size": 0}, ValueError, "local_window_size is 0"),
    ({}, {"sliding_window_cache": 1}, ValueError, "local_window_size is -1"),
    ({6: np.array(1, np.int32)}, {}, ValueError, "total_sequence_length is 1"),
    ({6: np.array(2**31 - 1, np.int32)}, {}, ValueError, "total_sequence_length is 2147483647"),
    ({5: np.zeros(2, np.int32)}, {}, ValueError, r"seqlens_k has the shape \[2\]"),
    ({2: None}, {}, ValueError, "value is missing"),
    ({3: np.zeros((1, SHARED, 3, 4), np.float32)}, {}, ValueError, "past_key has the shape"),
    ({11: np.zeros(3, np.float32)}, {}, ValueError, r"head_sink has the shape \[3\]"),
    ({14: np.ones(SIZE, np.float32)}, {}, ValueError, "k_norm_weight is missing"),
    ({}, {"do_rotary": 1}, ValueError, "the input .cos_cache. is missing"),
    ({0: np.zeros((1, 2, 7), np.float32)}, {}, ValueError, "query has 7 elements")])
def test_wrong_attention(change, options, error, message):
    text = Text(2)
    arrays = text.arrays(0, 2, text.cache(3))
    arrays += [None] * (16 - len(arrays))
    for position, array in change.items():
        arrays[position] = array
    model, given = model_of("GroupQueryAttention", arrays, 3, **{**text.attributes(), **options})
    with pytest.raises(error, match=message):
        backend.Prepared(model).run(given)


# ---- Norms ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_simplified_layer_normalization(domain, dtype):
    x, skip, scale, bias = floats(2, 3, 16, dtype=dtype), floats(2, 3, 16, dtype=dtype), floats(16, dtype=dtype), floats(16, dtype=dtype)

    def norm(x):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * np.float64(scale)

    options = {"epsilon": 1e-6, "domain": domain}
    close(run("SimplifiedLayerNormalization", [x, scale], **options)[0], norm(np.float64(x)))
    total = np.float64(x) + np.float64(skip) + np.float64(bias)
    model, given = model_of("SkipSimplifiedLayerNormalization", [x, skip, scale, bias], 4, **options)
    for i in (1, 2):
        model.graph.node[0].output[i] = ""
    del model.graph.output[1:3]
    y, added = backend.Prepared(model).run(given)
    close(added, total)
    close(y, norm(total), 2)


# ---- GatherBlockQuantized -------------------------------------------------------------------------------------------


def blocks_of(array, axis, block):
    return np.repeat(array, block, axis)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_gather_block_quantized(bits, dtype, has_zeros):
    rows, columns, block = 6, 48, 16
    numbers = RANDOM.integers(0, 2**bits, (rows, columns)).astype(np.uint8)
    zeros = RANDOM.integers(0, 2**bits, (rows, columns // block)).astype(np.uint8)
    scales = floats(rows, columns // block, dtype=dtype)

    def packed(array):
        parts = 8 // bits
        array = np.pad(array, [(0, 0), (0, -array.shape[1] % parts)]).reshape(rows, -1, parts)
        return sum(array[..., i] << bits * i for i in range(parts)).astype(np.uint8)

    indices = np.array([[1, 5, -1], [0, 0, 3]])
    given = [packed(numbers), indices, scales, packed(zeros) if has_zeros else None]
    options = {"bits": bits, "block_size": block, "result": dtype, "constants": (0, 2, 3) if has_zeros else (0, 2)}
    middle = zeros if has_zeros else np.full_like(zeros, 2**(bits - 1))
    difference = numbers.astype(dtype) - blocks_of(middle, 1, block).astype(dtype)
    expected = (difference * blocks_of(scales, 1, block))[indices]
    actual, = run("GatherBlockQuantized", given, **options)
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_allclose(actual, run_onnxruntime("GatherBlockQuantized", given, **options)[0], rtol=2e-3 if dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("kind", [onnx.TensorProto.INT4, onnx.TensorProto.UINT4])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("has_zeros", [False, True])
@pytest.mark.parametrize("columns", [48, 64])  # 3 scales in a row, and 4, which fill whole bytes
def test_gather_block_quantized_of_four_bits(kind, axes, has_zeros, columns):
    low, high = (-8, 8) if kind == onnx.TensorProto.INT4 else (0, 16)
    gather_axis, quantize_axis = axes
    numbers = RANDOM.integers(low, high, (32, columns))
    scales = floats(*(size // 16 if axis == quantize_axis else size for axis, size in enumerate(numbers.shape)))
    zeros = RANDOM.integers(low, high, scales.shape) if has_zeros else np.zeros(scales.shape, int)
    indices = np.array([[3, 17], [0, -1]])
    byte = np.zeros((1, 1), np.uint8)
    model, given = model_of("GatherBlockQuantized", [byte, indices, scales] + [byte] * has_zeros, constants=(0, 2, 3)[:2 + has_zeros],
                            result=np.float32, gather_axis=gather_axis, quantize_axis=quantize_axis, block_size=16)
    for i, (name, array) in enumerate((("x0", numbers), ("x2", None), ("x3", zeros))[:2 + has_zeros]):
        if array is not None:
            model.graph.initializer[i].CopyFrom(helper.make_tensor(name, kind, array.shape, array.ravel()))
    floats_of = (numbers - blocks_of(zeros, quantize_axis, 16)).astype(np.float32) * blocks_of(scales, quantize_axis, 16)
    np.testing.assert_array_equal(backend.Prepared(model).run(given)[0], np.take(floats_of, indices, gather_axis))


# ---- TensorScatter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("mode, axis, sizes, first", [
    ("linear", -2, (2, 3, 5, 4), [1, 2]), ("circular", -2, (2, 3, 5, 4), [4, 2]), ("linear", 1, (2, 5, 4), None),
    ("circular", 1, (2, 5, 4), [3, 9])])
def test_tensor_scatter(mode, axis, sizes, first, dtype):
    cache = (10 * floats(*sizes)).astype(dtype)
    own = axis % len(sizes)
    update = (10 * floats(*(3 if i == own else size for i, size in enumerate(sizes)))).astype(dtype)
    expected = cache.copy()
    for batch in range(sizes[0]):
        for i in range(3):
            place = (0 if first is None else first[batch]) + i
            expected[batch].swapaxes(0, own - 1)[place % sizes[own] if mode == "circular" else place] = update[batch].swapaxes(0, own - 1)[i]
    given = [cache, update] + ([] if first is None else [np.array(first)])
    actual, = run("TensorScatter", given, domain="", opset=24, mode=mode, axis=axis)
    np.testing.assert_array_equal(actual, expected)


# ---- MoE and QMoE ---------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def experts(x, router, first, second, third=None, biases=(None, None, None), k=1, activation_type="relu", swiglu_fusion=0,
            activation_alpha=1.0, activation_beta=0.0, swiglu_limit=np.inf, normalize_routing_weights=0):
    """The mixture of experts in float64."""
    functions = {"relu": lambda h: np.maximum(h, 0), "silu": lambda h: h * sigmoid(h), "identity": lambda h: h,
                 "gelu": lambda h: 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))}

    def product(expert, which, weights, row):
        result = np.float64(weights[expert]) @ row
        return result if biases[which] is None else result + biases[which][expert]

    results = np.zeros(x.shape)
    for token, row in enumerate(np.float64(x)):
        scores = np.float64(router[token])
        chosen = np.argsort(-scores, kind="stable")[:k]
        shares = np.exp(scores - scores.max())
        shares /= shares[chosen].sum() if normalize_routing_weights else shares.sum()
        for expert in chosen:
            hidden = product(expert, 0, first, row)
            other = None if third is None else product(expert, 2, third, row)
            if activation_type == "swiglu":
                gate, linear = (hidden, other) if swiglu_fusion == 0 else (
                    hidden[::2], hidden[1::2]) if swiglu_fusion == 1 else np.split(hidden, 2)
                gate, linear = np.minimum(gate, swiglu_limit), np.clip(linear, -swiglu_limit, swiglu_limit)
                hidden = gate * sigmoid(activation_alpha * gate) * (linear + activation_beta)
            else:
                hidden = functions[activation_type](hidden) * (1 if other is None else other)
            results[token] += shares[expert] * product(expert, 1, second, hidden)
    return results


EXPERTS, ELEMENTS, INNER = 5, 32, 16


@pytest.mark.parametrize("tokens", [1, 7])
@pytest.mark.parametrize("options, has_third, in_onnxruntime", [
    ({"activation_type": "relu"}, False, True), ({"activation_type": "gelu", "k": 2}, False, True),
    ({"activation_type": "identity", "k": 2, "normalize_routing_weights": 1}, False, True),
    ({"activation_type": "silu", "k": 2, "normalize_routing_weights": 1}, True, False),
    ({"activation_type": "swiglu", "k": 3, "swiglu_fusion": 1, "normalize_routing_weights": 1, "activation_alpha": 1.5,
      "activation_beta": 1.0, "swiglu_limit": 1.5}, False, True),
    ({"activation_type": "swiglu", "k": 2, "swiglu_fusion": 2}, False, False),
    ({"activation_type": "swiglu", "k": 2}, True, False)], ids=str)
def test_experts(options, has_third, in_onnxruntime, tokens):
    """One token gathers the weights of its experts; seven tokens use those of all. Both give the same bits."""
    wide = INNER * (2 if options.get("swiglu_fusion") else 1)
    x, router = floats(tokens, ELEMENTS), floats(tokens, EXPERTS)
    first, second = floats(EXPERTS, wide, ELEMENTS), floats(EXPERTS, ELEMENTS, INNER)
    third = floats(EXPERTS, INNER, ELEMENTS) if has_third else None
    biases = [floats(EXPERTS, wide), floats(EXPERTS, ELEMENTS), floats(EXPERTS, INNER) if has_third else None]
    given = [x, router, first, biases[0], second, biases[1], third, biases[2]]
    actual, = run("MoE", given, **options)
    close(actual, experts(x, router, first, second, third, biases, **options), 2)
    if in_onnxruntime:
        np.testing.assert_allclose(actual, run_onnxruntime("MoE", given, **options)[0], rtol=1e-4, atol=1e-3)
    for token in range(tokens):
        alone, = run("MoE", [x[token:token + 1], router[token:token + 1], *given[2:]], **options)
        np.testing.assert_array_equal(alone[0], actual[token])


@pytest.mark.parametrize("bits, block", [(2, 16), (4, 0), (4, 16), (8, 0), (8, 16)])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_quantized_experts(bits, block, has_zeros):
    x, router = floats(1, 3, ELEMENTS), floats(3, EXPERTS)
    given, wide = [x, router] + [None] * 12, []
    for place, sizes in ((2, (EXPERTS, 2 * INNER, ELEMENTS)), (5, (EXPERTS, ELEMENTS, INNER))):
        numbers = RANDOM.integers(0, 2**bits, sizes).astype(np.uint8)
        scales = floats(*sizes[:2], sizes[2] // block) if block else floats(*sizes[:2])
        zeros = RANDOM.integers(0, 2**bits, scales.shape).astype(np.uint8)

        def packed(array):
            parts = 8 // bits
            array = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, -array.shape[-1] % parts)])
            array = array.reshape(*array.shape[:-1], -1, parts)
            return sum(array[..., i] << bits * i for i in range(parts)).astype(np.uint8)

        given[place:place + 2] = packed(numbers), scales
        if has_zeros:
            given[11 if place == 2 else 12] = packed(zeros)
        else:
            zeros = np.full_like(zeros, 2**(bits - 1))
        middle, scale = (np.repeat(one, block or sizes[2], -1) if block else one[..., None] for one in (zeros, scales))
        wide.append((numbers.astype(np.float32) - middle.astype(np.float32)) * scale)
    options = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "normalize_routing_weights": 1}
    stored = {"expert_weight_bits": bits, "constants": (2, 3, 5, 6, 11, 12), **({"block_size": block} if block else {})}
    actual, = run("QMoE", given, weights_prepacked=0, **options, **stored)
    expected, = run("MoE", [x, router, wide[0], None, wide[1]], **options)
    np.testing.assert_array_equal(actual, expected)
    if bits == 4:
        theirs, = run_onnxruntime("QMoE", given, weights_prepacked=0, **options, **stored)
        np.testing.assert_allclose(actual, theirs, rtol=1e-4, atol=1e-5 * np.abs(theirs).max())


def test_activations():
    """FastGelu and QuickGelu, with a bias and with another factor."""
    x, bias = floats(3, 8), floats(8)
    total = np.float64(x) + bias
    expected = 0.5 * total * (1 + np.tanh(np.sqrt(2 / np.pi) * (total + 0.044715 * total**3)))
    close(run("FastGelu", [x, bias])[0], expected)
    close(run("QuickGelu", [x])[0], x * sigmoid(1.702 * np.float64(x)))
    close(run("QuickGelu", [x], alpha=0.5)[0], x * sigmoid(0.5 * np.float64(x)))


def test_products_of_bits_without_zero_points():
    """The middle of the numbers is the zero point."""
    numbers, scales, x = RANDOM.integers(0, 16, (6, 32)).astype(np.uint8), floats(6, 2), floats(3, 32)
    packed = (numbers[:, ::2] | numbers[:, 1::2] << 4).reshape(6, 2, 8)
    weights = (np.float64(numbers) - 8) * np.repeat(scales, 16, 1)
    given = [x, packed, scales.ravel()]
    actual, = run("MatMulNBits", given, K=32, N=6, bits=4, block_size=16, constants=(1, 2))
    close(actual, np.float64(x) @ weights.T, 4)


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_codes_are_bytes(kind):
    model, given = model_of("MatMulNBits", [floats(3, 32), np.zeros((6, 2, 8), kind), floats(12)], K=32, N=6, bits=4, block_size=16)
    with pytest.raises(backend.Unsupported, match="with codes in"):
        backend.Prepared(model).run(given)
