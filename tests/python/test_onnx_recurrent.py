# SPDX-License-Identifier: MIT
"""Tests ONNX's recurrent networks where its reference has no support: directions, lengths, layouts, activations, weights
of integers."""
import pathlib
import sys

import numpy as np
import pytest

import anydml

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

import anydml.onnx as backend  # noqa: E402
from onnx_models import node_by_node  # noqa: E402
from tensor_changes import backwards, other_shapes  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ops"))
from recurrent_reference import network  # noqa: E402

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
STEPS, ROWS, INPUTS, UNITS = 4, 3, 5, 6


def arrays_of(op, directions=1, seed=1):
    random = np.random.default_rng(seed)
    gates = GATES[op]
    shapes = {"X": (STEPS, ROWS, INPUTS), "W": (directions, gates * UNITS, INPUTS), "R": (directions, gates * UNITS, UNITS),
              "B": (directions, 2 * gates * UNITS), "initial_h": (directions, ROWS, UNITS)}
    if op == "LSTM":
        shapes |= {"initial_c": (directions, ROWS, UNITS), "P": (directions, 3 * UNITS)}
    return {name: random.standard_normal(shape).astype("f4") for name, shape in shapes.items()}


def run(op, arrays, opset=22, **options):
    order = ["X", "W", "R", "B", "sequence_lens", "initial_h"] + ["initial_c", "P"] * (op == "LSTM")
    outputs = ["Y", "Y_h", "Y_c"][:3 if op == "LSTM" else 2]
    node = helper.make_node(op, [name if name in arrays else "" for name in order], outputs, hidden_size=UNITS, **options)
    graph = helper.make_graph([node], "graph", [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
        for name, array in arrays.items()], [onnx.ValueInfoProto(name=name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return backend.Prepared(model).run(arrays)


def same(ours, theirs):
    for one, other in zip(ours, theirs):
        assert one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()


@pytest.mark.parametrize("op", GATES)
def test_directions(op):
    """Reverse equals forward over the reversed inputs, and bidirectional combines both."""
    arrays = arrays_of(op, 2)
    both = run(op, arrays, direction="bidirectional")
    for d, direction in enumerate(("forward", "reverse")):
        own = {name: one if name == "X" else one[d:d + 1] for name, one in arrays.items()}
        alone = run(op, own, direction=direction)
        same([both[0][:, d:d + 1], *(one[d:d + 1] for one in both[1:])], alone)
        if d == 1:
            turned = run(op, own | {"X": arrays["X"][::-1].copy()})
            same(alone, [turned[0][::-1], *turned[1:]])


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_lengths(op, direction):
    """Each row gives the same result as when it is run alone with its own length. Later outputs are 0."""
    arrays, lengths = arrays_of(op), [2, 4, 1]
    results = run(op, arrays | {"sequence_lens": np.int32(lengths)}, direction=direction)
    for row, length in enumerate(lengths):
        own = {name: one[:length, row:row + 1] if name == "X" else one[:, row:row + 1] if name.startswith("init") else one
               for name, one in arrays.items()}
        alone = run(op, own, direction=direction)
        same([results[0][:length, :, row:row + 1], *(one[:, row:row + 1] for one in results[1:])], alone)
        assert not results[0][length:, :, row].any()


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_the_batch_may_come_first(op, direction):
    arrays = arrays_of(op, 2 if direction == "bidirectional" else 1)
    turned = {name: one.swapaxes(0, 1).copy() if name == "X" or name.startswith("init") else one
              for name, one in arrays.items()}
    expected = run(op, arrays, direction=direction)
    results = run(op, turned, direction=direction, layout=1)
    same(results, [expected[0].transpose(2, 0, 1, 3), *(one.swapaxes(0, 1) for one in expected[1:])])


def test_activations_take_alphas_and_betas_in_order():
    arrays = arrays_of("LSTM")
    names = ["HardSigmoid", "tanh", "ScaledTanh"]
    results = run("LSTM", arrays, activations=names, activation_alpha=[0.25, 0.9], activation_beta=[0.4], clip=0.7,
                  input_forget=1)
    operators = [anydml.Operator("ACTIVATION_HARD_SIGMOID", Alpha=0.25, Beta=0.4), anydml.Operator("ACTIVATION_TANH"),
                 anydml.Operator("ACTIVATION_SCALED_TANH", Alpha=0.9, Beta=1)]
    x, w, r, b, hidden, cell, peephole = arrays.values()
    expected = anydml.lstm(x[None], w[None], r[None], b[None, None], hidden[None], cell[None], None, peephole[None, None],
                           activation_descs=operators, direction="forward", clip_threshold=0.7, use_clip_threshold=True,
                           couple_input_forget=True)
    same(results, [expected[0], *(one[0] for one in expected[1:])])


def test_without_out_all_results_are_made():
    arrays = arrays_of("GRU")
    operators = [anydml.Operator("ACTIVATION_SIGMOID"), anydml.Operator("ACTIVATION_TANH")]
    options = {"activation_descs": operators, "direction": "forward", "linear_before_reset": False}
    x, w, r = (arrays[name][None] for name in "XWR")
    sequence, single = anydml.gru(x, w, r, **options)
    assert sequence.shape == (STEPS, 1, ROWS, UNITS) and np.array_equal(sequence[-1:], single)
    assert anydml.gru(x, w, r, out=(None, True), **options)[0] is None


def test_wrong_nodes_are_named():
    arrays = arrays_of("GRU")
    with pytest.raises(ValueError, match="direction is 'up'; expected one of 'forward'"):
        run("GRU", arrays, direction="up")
    with pytest.raises(ValueError, match="activations is .*; expected 2 names"):
        run("GRU", arrays, activations=["Tanh"])
    with pytest.raises(ValueError, match="hidden_size is 6, but R has the sizes"):
        run("GRU", {**arrays, "R": arrays["R"][:, :, :5].copy()})


# ---- Weights of integers --------------------------------------------------------------------------------------------

BYTES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P", "W_scale", "W_zero_point", "R_scale",
         "R_zero_point")


def quantized_arrays(dtype, directions, for_rows, zeros, rows=ROWS, seed=5):
    """The inputs of DynamicQuantizeLSTM; its matrices are {directions, factors, 4 * units}."""
    random = np.random.default_rng(seed)
    limits, shape = np.iinfo(dtype), (directions, 4 * UNITS) if for_rows else (directions,)
    arrays = {"X": random.standard_normal((STEPS, rows, INPUTS)).astype("f4"),
              "B": random.standard_normal((directions, 8 * UNITS)).astype("f4"),
              "initial_h": random.standard_normal((directions, rows, UNITS)).astype("f4"),
              "initial_c": random.standard_normal((directions, rows, UNITS)).astype("f4"),
              "P": random.standard_normal((directions, 3 * UNITS)).astype("f4")}
    for name, depth in (("W", INPUTS), ("R", UNITS)):
        arrays[name] = random.integers(limits.min, limits.max + 1, (directions, depth, 4 * UNITS)).astype(dtype)
        arrays[f"{name}_scale"] = random.uniform(0.001, 0.006, shape).astype("f4")
        # ONNX Runtime requires the input.
        arrays[f"{name}_zero_point"] = (random.integers(limits.min, limits.max + 1, shape) if zeros else
                                        np.zeros(shape)).astype(dtype)
    return arrays


def quantized_model(arrays, outputs=("Y", "Y_h", "Y_c"), constants=(), **options):
    given = {name: one for name, one in arrays.items() if name not in constants}
    node = helper.make_node("DynamicQuantizeLSTM", [name if name in arrays else "" for name in BYTES], outputs,
                            domain="com.microsoft", hidden_size=UNITS, **options)
    graph = helper.make_graph([node], "graph", [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for name, one in given.items()], [
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None] * rank) for name, rank in zip(outputs, (4, 3, 3))],
        [onnx.numpy_helper.from_array(arrays[name], name) for name in constants])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), given


def defined(arrays, direction="forward", clip=None):
    """The definition in docs/numerics.md."""
    def activation(function):
        return lambda x: function(x.astype(np.float64)).astype(np.float32)

    directions = arrays["R"].shape[0]
    each = [activation(lambda x: 1 / (1 + np.exp(-x))), activation(np.tanh), activation(np.tanh)]

    def for_columns(name):
        one = arrays[name]
        return np.broadcast_to(one.reshape(directions, -1), (directions, 4 * UNITS))

    integers = [for_columns(name) if "scale" in name else for_columns(name).astype(np.int64) for name in BYTES[8:]]
    with np.errstate(invalid="ignore"):  # the scale of zeros is 0
        return network("LSTM", arrays["X"], arrays["W"].swapaxes(1, 2), arrays["R"].swapaxes(1, 2), each * directions,
                       bias=arrays.get("B"), hidden=arrays.get("initial_h"), cell=arrays.get("initial_c"),
                       lengths=arrays.get("sequence_lens"), peephole=arrays.get("P"),
                       direction={"forward": "FORWARD", "reverse": "BACKWARD", "bidirectional": "BIDIRECTIONAL"}[direction],
                       clip=None if clip is None else np.float32(clip), integers=integers)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8], ids=["int8", "uint8"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("constants", [(), ("W", "R", "W_scale", "W_zero_point", "R_scale", "R_zero_point")],
                         ids=["given", "constant"])
@pytest.mark.parametrize("for_rows", [False, True], ids=["one", "each"])
def test_weights_of_integers(dtype, direction, constants, for_rows):
    """DynamicQuantizeLSTM rounds the inputs and the hidden states to 8 bits, and has the bits of NumPy's integers."""
    directions = 2 if direction == "bidirectional" else 1
    arrays = quantized_arrays(dtype, directions, for_rows, zeros=for_rows)
    if for_rows:
        arrays["sequence_lens"] = np.array([4, 1, 3], np.int32)
    model, given = quantized_model(arrays, constants=constants, direction=direction, clip=0.9)
    prepared = backend.prepare(model)
    results = prepared.run(given)
    same(results, defined(arrays, direction, 0.9))
    same(node_by_node(prepared, given), results)


def test_weights_of_integers_beside_onnx_runtime():
    """With one row, ONNX Runtime rounds the same numbers to 8 bits."""
    runtime = pytest.importorskip("onnxruntime")
    for direction in ("forward", "bidirectional"):
        arrays = quantized_arrays(np.int8, 1 + (direction[0] == "b"), False, False, rows=1)
        model, given = quantized_model(arrays, direction=direction)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        theirs, ours = session.run(None, given), backend.prepare(model).run(given)
        literal = backend.prepare(model, literal=True).run(given)
        for one, other, floats in zip(ours, theirs, literal, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-6)
            assert np.abs(one - other).max() < np.abs(floats - other).max() / 100


def test_scales_that_onnx_runtime_shares():
    """The states of a row do not depend on those of other rows. ONNX Runtime's results depend on its threads."""
    runtime = pytest.importorskip("onnxruntime")
    arrays = quantized_arrays(np.int8, 1, False, False, rows=4)
    arrays["X"] *= np.float32([1, 2, 4, 8])[:, None]

    def with_threads(count):
        options = runtime.SessionOptions()
        options.intra_op_num_threads = count
        model, given = quantized_model(arrays)
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, given)[0]

    model, given = quantized_model(arrays)
    ours = backend.prepare(model).run(given)
    others = arrays | {"initial_h": arrays["initial_h"] * np.float32([1, 3, 5, 7])[:, None]}  # the inputs share a scale
    assert backend.prepare(model).run(others)[0][:, :, 0].tobytes() == ours[0][:, :, 0].tobytes()
    one, two = with_threads(1), with_threads(2)
    literal = backend.prepare(model, literal=True).run(given)[0]
    if np.abs(one - two).max() == 0:
        pytest.skip("this version of ONNX Runtime shares scales in another way")
    # Rows with scales of their own are about as far from ONNX Runtime's results as these are from each other, and no
    # farther from the model in floats than the worse of the two.
    assert np.abs(ours[0] - literal).max() <= 1.5 * max(np.abs(one - literal).max(), np.abs(two - literal).max())


def test_weights_of_integers_literally():
    """A literal model computes with dequantized weights."""
    arrays = quantized_arrays(np.uint8, 2, True, True)
    model, given = quantized_model(arrays, direction="bidirectional")
    floats = {name: one for name, one in arrays.items() if name not in BYTES[8:]}
    for name in "WR":
        whole = arrays[name].astype("f4") - arrays[f"{name}_zero_point"].astype("f4")[:, None]
        floats[name] = (whole * arrays[f"{name}_scale"][:, None]).swapaxes(1, 2)
    same(backend.prepare(model, literal=True).run(given), run("LSTM", floats, direction="bidirectional"))


@pytest.mark.parametrize("name", BYTES)
def test_each_input_of_weights_of_integers(name):
    """Each input of DynamicQuantizeLSTM as a constant, with negative strides, absent, of another shape and type."""
    arrays = quantized_arrays(np.int8, 2, True, True)
    arrays["sequence_lens"] = np.array([4, 1, 3], np.int32)
    expected = defined(arrays, "bidirectional")
    model, given = quantized_model(arrays, constants=(name,), direction="bidirectional")
    same(backend.prepare(model).run(given), expected)
    prepared = backend.prepare(quantized_model(arrays, direction="bidirectional")[0])
    for turned in backwards(arrays[name]):
        same(prepared.run(arrays | {name: turned}), expected)
    for what, other in other_shapes(arrays[name]):
        model, given = quantized_model(arrays | {name: other}, direction="bidirectional")
        prepared = backend.prepare(model)
        if name == "X" and other.ndim == 3 and other.shape[1:] == arrays["X"].shape[1:]:  # another number of time steps
            assert prepared.run(given)[0].shape[0] == other.shape[0]
            continue
        if "scale" in name or "zero" in name:
            if other.size == arrays[name].size:  # the rank of these is not checked
                same(prepared.run(given), expected)
                continue
        with pytest.raises(ValueError, match="DynamicQuantizeLSTM"):
            prepared.run(given)
    model, given = quantized_model({one: value for one, value in arrays.items() if one != name}, direction="bidirectional")
    if name in ("X", "W", "R", "W_scale", "R_scale"):
        with pytest.raises(ValueError, match=name):
            backend.prepare(model)
    else:
        same(backend.prepare(model).run(given), defined(given if "zero" not in name else
                                                        arrays | {name: 0 * arrays[name]}, "bidirectional"))
    for dtype in (np.float64, np.int64, np.int16):
        with pytest.raises((ValueError, backend.Unsupported)):
            backend.prepare(quantized_model(arrays | {name: arrays[name].astype(dtype)}, direction="bidirectional")[0]).run(
                arrays | {name: arrays[name].astype(dtype)})


def test_wrong_weights_of_integers():
    arrays = quantized_arrays(np.int8, 2, False, True)
    for name, wrong in (("R_scale", np.ones(3, "f4")), ("W_zero_point", np.zeros((2, 5), np.int8)),
                        ("W", arrays["W"][:, :, :5]), ("R", arrays["R"][0])):
        model, given = quantized_model(arrays | {name: wrong}, direction="bidirectional")
        with pytest.raises(ValueError):
            backend.prepare(model).run(given)
    model, given = quantized_model({name: one for name, one in arrays.items() if name != "R_scale"},
                                   direction="bidirectional")
    with pytest.raises(ValueError, match="R_scale"):
        backend.prepare(model)
    model, given = quantized_model(arrays | {"W": arrays["W"].astype("f4")}, direction="bidirectional")
    with pytest.raises(backend.Unsupported, match="W of float"):
        backend.prepare(model)
