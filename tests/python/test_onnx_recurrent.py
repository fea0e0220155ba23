# SPDX-License-Identifier: MIT
"""Tests ONNX's recurrent networks where its reference has no support: directions, lengths, layouts, activations."""
import numpy as np
import pytest

import anydml

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

import anydml.onnx as backend  # noqa: E402

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
