# SPDX-License-Identifier: MIT
"""Models with many nodes, inputs, outputs or live values: memory grows linearly with their number."""
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

import anydml.onnx as backend

COUNT = 8000
MAX_BYTES_EACH = 9000  # the process's peak memory use per node; we measured up to 6000
MAX_BYTES_IN_TURNS = 4000  # we measured 2000
RESET = pathlib.Path("/proc/self/clear_refs")  # writing 5 to it makes the current memory use the peak


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def model_of(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def many(letter):
    return [f"{letter}{i}" for i in range(COUNT)]


X = np.float32([[1, -2], [3, 4]])


def joined():
    return model_of([*(node("Neg", ["x"], name) for name in many("v")), node("Concat", many("v"), "y", axis=0)],
                    [value("x", [2, 2])], [value("y", [2 * COUNT, 2])]), {"x": X}, np.tile(-X, (COUNT, 1))


def fan():
    sums = [node("Add", ["x" if i == 0 else f"s{i - 1}", f"v{i}"], f"s{i}") for i in range(COUNT)]
    return model_of([*(node("Neg", ["x"], name) for name in many("v")), *sums], [value("x", [2, 2])],
                    [value(f"s{COUNT - 1}", [2, 2])]), {"x": X}, X * np.float32(1 - COUNT)


def inputs():
    sums = [node("Add", ["x0" if i == 1 else f"s{i - 1}", f"x{i}"], f"s{i}") for i in range(1, COUNT)]
    return model_of(sums, [value(name, [2, 2]) for name in many("x")], [value(f"s{COUNT - 1}", [2, 2])]), dict.fromkeys(
        many("x"), X), X * np.float32(COUNT)


def rows():
    """Inputs so small that a graph could be recorded for their elements."""
    sums = [node("Add", ["x0" if i == 1 else f"s{i - 1}", f"x{i}"], f"s{i}") for i in range(1, COUNT)]
    return model_of(sums, [value(name, [2]) for name in many("x")], [value(f"s{COUNT - 1}", [2])]), dict.fromkeys(
        many("x"), X[0]), X[0] * np.float32(COUNT)


def weights():
    sums = [node("Add", ["x" if i == 0 else f"s{i - 1}", f"w{i}"], f"s{i}") for i in range(COUNT)]
    return model_of(sums, [value("x", [2, 2])], [value(f"s{COUNT - 1}", [2, 2])],
                    [numpy_helper.from_array(X, name) for name in many("w")]), {"x": X}, X * np.float32(COUNT + 1)


def outputs():
    return model_of([node("Neg", ["x"], name) for name in many("v")], [value("x", [2, 2])],
                    [value(name, [2, 2]) for name in many("v")]), {"x": X}, -X


def hosted():
    """Steps on the host, which are not part of any graph."""
    return model_of([*(node("Det", ["x"], name) for name in many("v")), node("Sum", many("v"), "y")], [value("x", [2, 2])],
                    [value("y", [])]), {"x": X}, np.float32(10 * COUNT)


def in_turns():
    """Alternating graphs and host steps, while all results stay alive."""
    pairs = [one for i in range(COUNT // 4) for one in (node("Det", ["x"], f"d{i}"), node("Neg", [f"d{i}"], f"v{i}"))]
    return model_of([*pairs, node("Sum", [f"v{i}" for i in range(COUNT // 4)], "y")], [value("x", [2, 2])],
                    [value("y", [])]), {"x": X}, np.float32(-10 * (COUNT // 4))


MODELS = (joined, fan, inputs, rows, weights, outputs, hosted, in_turns)


def used(key):
    """VmRSS or VmHWM, the current and the largest memory use of this process in bytes."""
    return 1024 * int(re.search(rf"{key}:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def measure(make):
    """Prints by how many bytes the model increased the memory use of this process."""
    model, given, expected = make()
    backend.run_node(node("Neg", ["x"], "y"), [X])  # creates what all models share
    RESET.write_text("5")
    before = used("VmRSS")
    results = backend.prepare(model).run(given)
    print(used("VmHWM") - before)
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-4)


@pytest.mark.skipif(not RESET.exists(), reason="the system does not measure memory use")
@pytest.mark.parametrize("make", MODELS)
def test_memory_grows_with_the_number_of_nodes(make):
    """Runs each model in its own process, so that no earlier model has left free memory."""
    done = subprocess.run([sys.executable, __file__, make.__name__], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A graph accepts only the value that it reads, and not all live values.
    assert int(done.stdout) < (MAX_BYTES_IN_TURNS if make is in_turns else MAX_BYTES_EACH) * COUNT


if __name__ == "__main__":
    measure(dict((make.__name__, make) for make in MODELS)[sys.argv[1]])
