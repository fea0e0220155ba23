# SPDX-License-Identifier: MIT
"""Recurrent networks: RNN, LSTM and GRU. ONNX's weights, biases and peepholes have the same order as DirectML's."""
import numpy as np

import anydml

from ._functions import ROUNDED
from ._rows import Row, cast, check_choice, dispatch, refuse, wrong

DIRECTIONS = {"forward": "FORWARD", "reverse": "BACKWARD", "bidirectional": "BIDIRECTIONAL"}
MISSPELT = "foward"  # GRU's default in opset 1
DEFAULTS = {"RNN": ("Tanh",), "LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh")}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
# ONNX's activations: DirectML's operator, and its attributes with the defaults of alpha and beta, or fixed numbers.
ACTIVATIONS = {
    "affine": ("LINEAR", {"Alpha": ("alpha", 1.0), "Beta": ("beta", 0.0)}),
    "elu": ("ELU", {"Alpha": ("alpha", 1.0)}),
    "hardsigmoid": ("HARD_SIGMOID", {"Alpha": ("alpha", 0.2), "Beta": ("beta", 0.5)}),
    "leakyrelu": ("LEAKY_RELU", {"Alpha": ("alpha", 0.01)}),
    "relu": ("RELU", {}),
    "scaledtanh": ("SCALED_TANH", {"Alpha": ("alpha", 1.0), "Beta": ("beta", 1.0)}),
    "sigmoid": ("SIGMOID", {}),
    "softplus": ("SOFTPLUS", {"Steepness": 1.0}),
    "softsign": ("SOFTSIGN", {}),
    "tanh": ("TANH", {}),
    "thresholdedrelu": ("THRESHOLDED_RELU", {"Alpha": ("alpha", 1.0)}),
}


def _activations(node, directions):
    """Returns the activations for each direction. An activation with an alpha or a beta uses the node's next value, or
    its default if no value is left."""
    count = len(DEFAULTS[node.op]) * directions
    names = [name.decode() if isinstance(name, bytes) else name for name in node.attributes.get("activations") or ()]
    if node.op == "RNN" and len(names) > count:  # ONNX's default lists activations for two directions
        names = names[:count]
    names = names or DEFAULTS[node.op] * directions
    if len(names) != count:
        wrong(node, "activations", f"{count} names")
    left = {which: list(node.attributes.get(f"activation_{which}") or ()) for which in ("alpha", "beta")}
    result = []
    for name in names:
        if name.lower() not in ACTIVATIONS:
            refuse(node, f"with the activation {name}", "ONNX has no such activation")
        operator, fields = ACTIVATIONS[name.lower()]
        numbers = {field: value if isinstance(value, float) else left[value[0]].pop(0) if left[value[0]] else value[1]
                   for field, value in fields.items()}
        result.append(anydml.Operator(f"ACTIVATION_{operator}", **numbers))
    return result


def _with_ones(array, count):
    """Adds leading dimensions of size 1."""
    return None if array is None else array.reshape((1,) * count + array.shape)


def recurrent(node):
    if node.attributes["direction"] == MISSPELT:
        node.attributes["direction"] = "forward"
    check_choice(node, "direction", tuple(DIRECTIONS))
    check_choice(node, "layout", (0, 1))
    direction = DIRECTIONS[node.attributes["direction"]]
    directions = 2 if direction == "BIDIRECTIONAL" else 1
    by_rows = node.attributes.get("layout", 0) == 1
    clip = node.attributes.get("clip")
    options = {"ActivationDescs": _activations(node, directions), "Direction": direction}
    if node.op == "LSTM":
        options.update(ClipThreshold=clip or 0.0, UseClipThreshold=clip is not None,
                       CoupleInputForget=bool(node.attributes["input_forget"]))
    elif clip is not None:
        refuse(node, "with clip", f"DirectML's {node.op} does not clip")
    if node.op == "GRU":
        options["LinearBeforeReset"] = bool(node.attributes.get("linear_before_reset", 0))
    count = 3 if node.op == "LSTM" else 2

    def state(array):
        """Returns an initial state {directions, batch, units}; with layout 1, the input has the batch first."""
        array = _with_ones(array, 1)
        return array.transpose(0, 2, 1, 3) if by_rows and array is not None else array

    def compute(x, w, r, b=None, lengths=None, hidden=None, cell=None, peephole=None):
        units, expected = r.shape[-1], node.attributes.get("hidden_size")
        if expected is not None and expected != units:
            raise ValueError(f"hidden_size is {expected}, but R has the sizes {list(r.shape)}")
        x = _with_ones(x, 1)
        x = x.transpose(0, 2, 1, 3) if by_rows else x
        lengths = None if lengths is None else cast(_with_ones(lengths, 3), np.uint32)
        inputs = [x, _with_ones(w, 1), _with_ones(r, 1), _with_ones(b, 2), state(hidden)]
        inputs += [state(cell), lengths, _with_ones(peephole, 2)] if node.op == "LSTM" else [lengths]
        wanted = tuple(i < len(node.results) or None for i in range(count))
        result = dispatch(node.op, *inputs, out=wanted, **options)
        sequence, *states = result[:len(node.results)]
        if by_rows:  # {batch, steps, directions, units} and {batch, directions, units}
            return sequence.transpose(2, 0, 1, 3), *(one.transpose(2, 1, 0, 3)[:, :, 0] for one in states)
        return sequence, *(one.reshape(one.shape[1:]) for one in states)

    return compute


def network(op):
    return Row(recurrent, f"{op} CAST", kinds=ROUNDED)
