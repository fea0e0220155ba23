# SPDX-License-Identifier: MIT
"""Malicious models end in a clear error, or run, within a little memory and time. Each model has a process of its own, with
limits of the system.

usage: python3 tests/python/test_onnx_bounds.py   prints the memory, the time and the answer for each model
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

import anydml.onnx as backend

ADDRESSES, SECONDS = 8 << 30, 60  # limits of the system
MAX_BYTES, MAX_SECONDS, MAX_TEXT = 200 << 20, 10, 1000  # what a model may need; we measured up to 27 MiB and 0.2 s
STATUS, RESET = pathlib.Path("/proc/self/status"), pathlib.Path("/proc/self/clear_refs")


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs=(), initializers=(), functions=(), outputs=("y",)):
    graph = helper.make_graph(nodes, "g", list(inputs), [value(name, None) for name in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)],
                             functions=list(functions), ir_version=8).SerializeToString()


X = np.float32([1, 2])
RUNS = "it runs"


# ---- Huge shapes --------------------------------------------------------------------------------------------------------

def huge(op, *sizes):
    """A value with these sizes, which are constants or inputs of the model."""
    inputs = [value("n", [len(sizes)], TensorProto.INT64)]
    if op == "Expand":
        return model_of([helper.make_node("Expand", ["x", "n"], ["z"]), helper.make_node("Exp", ["z"], ["y"])],
                        [*inputs, value("x", [1])]), {"n": np.int64(sizes), "x": X[:1]}
    return model_of([helper.make_node(op, ["n"], ["y"])], inputs), {"n": np.int64(sizes)}


def huge_constant():
    """A fold while the model is prepared."""
    return model_of([helper.make_node("ConstantOfShape", ["n"], ["y"])],
                    initializers=[numpy_helper.from_array(np.int64([1 << 20, 1 << 22]), "n")]), {}


def huge_weight():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40], raw_data=bytes(16))
    return model_of([helper.make_node("Neg", ["w"], ["y"])], initializers=[tensor]), {}


def huge_range():
    return model_of([helper.make_node("Range", ["a", "n", "d"], ["y"])],
                    [value(name, [], TensorProto.INT64) for name in "and"]), {
                        "a": np.int64(0), "n": np.int64(1 << 60), "d": np.int64(1)}


def huge_tile():
    return model_of([helper.make_node("Tile", ["x", "n"], ["y"])], [value("x", [2]), value("n", [1], TensorProto.INT64)]), {
        "x": X, "n": np.int64([1 << 44])}


def huge_padding():
    return model_of([helper.make_node("Pad", ["x", "n"], ["y"])], [value("x", [2]), value("n", [2], TensorProto.INT64)]), {
        "x": X, "n": np.int64([1 << 43, 1 << 43])}


# ---- Deep nesting -------------------------------------------------------------------------------------------------------

def field(number, content):
    """A field of a message in protobuf's encoding; the library for Python refuses to write such depths."""
    size, left = b"", len(content)
    while left >= 128:
        size, left = size + bytes([left % 128 | 128]), left // 128
    return bytes([number << 3 | 2]) + size + bytes([left]) + content


def nested(levels):
    """A model of Ifs in the branches of Ifs."""
    graph = field(12, field(1, b"y"))
    for _ in range(levels):
        branch = field(5, field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05")
        graph = field(1, field(1, b"c") + field(2, b"y") + field(4, b"If") + branch) + field(12, field(1, b"y"))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"), {}


def nested_types(levels):
    kind = field(1, b"\x08\x01")
    for _ in range(levels):
        kind = field(4, field(1, kind))
    return b"\x08\x08" + field(7, field(11, field(1, b"x") + field(2, kind))) + field(8, b"\x10\x11"), {}


# ---- Functions ----------------------------------------------------------------------------------------------------------

def calls(functions, times=2):
    """Functions that each call the previous one `times` times."""
    result = []
    for i in range(functions):
        names = ["a", *(f"t{k}" for k in range(times - 1)), "b"] if i else ["a", "b"]
        nodes = [helper.make_node(f"f{i - 1}" if i else "Neg", [x], [y], domain="mine" if i else "")
                 for x, y in zip(names, names[1:])]
        result.append(helper.make_function("mine", f"f{i}", ["a"], ["b"], nodes,
                                           [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]))
    return model_of([helper.make_node(f"f{functions - 1}", ["x"], ["y"], domain="mine")], [value("x", [2])],
                    functions=result), {"x": X}


# ---- Many values --------------------------------------------------------------------------------------------------------

def many(op, count=10_000, **attributes):
    """A node with this many inputs, all of which are alive at the same time."""
    names = [f"v{i}" for i in range(count)]
    return model_of([*(helper.make_node("Neg", ["x"], [name]) for name in names), helper.make_node(op, names, ["y"], **attributes)],
                    [value("x", [2])]), {"x": X}


def many_outputs(count=10_000):
    return model_of([helper.make_node("Split", ["x"], [f"v{i}" for i in range(count)], num_outputs=count, axis=0)],
                    [value("x", [count])], outputs=[f"v{i}" for i in range(count)]), {"x": np.zeros(count, np.float32)}


def many_readers(count=10_000):
    """A chain in which every node also reads the first value."""
    nodes = [helper.make_node("Add", ["x" if i == 0 else f"v{i - 1}", "x"], [f"v{i}"]) for i in range(count)]
    return model_of(nodes, [value("x", [2])], outputs=[f"v{count - 1}"]), {"x": X}


# ---- Elements in other files ------------------------------------------------------------------------------------------

def outside(location, dims=(4,), **entries):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=text)
    return model_of([helper.make_node("ReduceMax", ["w"], ["y"])], initializers=[tensor]), {}


MODELS = {
    "a shape of 2^45 elements": (lambda: huge("ConstantOfShape", 1 << 45), "ConstantOfShape that computes 'y': .* bytes"),
    "a shape whose bytes overflow": (lambda: huge("ConstantOfShape", 1 << 31, 1 << 31), "'y'"),
    "an Expand to 2^45 elements": (lambda: huge("Expand", 1 << 45), "Exp that computes 'y': .* bytes"),
    "a constant of 2^42 elements": (huge_constant, "'y': .* bytes"),
    "a weight of 2^40 elements in 16 bytes": (huge_weight, "tensor 'w': dims are .* the model has 16"),
    "a Range of 2^60 numbers": (huge_range, "Range that computes 'y'"),
    "a Tile of 2^45 elements": (huge_tile, "Tile that computes 'y'"),
    "a Pad of 2^44 elements": (huge_padding, "Pad that computes 'y'"),
    "101 graphs in graphs": (lambda: nested(101), "nested more than 100 levels deep"),
    "10,000 graphs in graphs": (lambda: nested(10_000), "nested more than 100 levels deep"),
    "10,000 types in types": (lambda: nested_types(10_000), "input 'x' is missing"),
    "64 functions that call one twice": (lambda: calls(64), "expands to 1048576 nodes .* expected 1000000 at most"),
    "5 functions that call one 1,000 times": (lambda: calls(5, 1000), "expands to .* expected 1000000 at most"),
    "9,000 functions in a chain": (lambda: calls(9_000, 1), RUNS),
    "10,000 values into one Concat": (lambda: many("Concat", axis=0), RUNS),
    "10,000 values into one Sum": (lambda: many("Sum"), RUNS),
    "10,000 outputs of one Split": (many_outputs, "Split that computes 'v0, .*' and 9992 more"),
    "10,000 readers of one value": (many_readers, RUNS),
    "elements in /dev/zero": (lambda: outside("/dev/zero"), "is in '/dev/zero', which is outside the model's folder"),
    "elements in ../w.bin": (lambda: outside("../w.bin"), "is in '../w.bin', which is outside the model's folder"),
    "elements behind a link": (lambda: outside("link"), "is in 'link', which is outside the model's folder"),
    "elements of a pipe": (lambda: outside("pipe"), "location is 'pipe'"),
    "2^40 elements of a short file": (lambda: outside("short", (1 << 40,)), "needs 4398046511104 bytes at offset 0 of 'short'"),
    "elements at offset 2^63": (lambda: outside("short", offset=str(1 << 63)), "needs 16 bytes at offset 9223372036854775808"),
}


def used(key):
    """VmRSS or VmHWM, the current or the largest resident memory of this process in bytes."""
    return 1024 * next(int(line.split()[1]) for line in STATUS.read_text().splitlines() if line.startswith(key))


def measure(name):
    """Prints what the library says about a model, the bytes that it needed, and the processor's time."""
    backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [X])  # creates what all models share
    with tempfile.TemporaryDirectory() as folder:
        inner = pathlib.Path(folder) / "m"
        inner.mkdir()
        (inner / "short").write_bytes(bytes(64))
        (inner.parent / "w.bin").write_bytes(bytes(64))
        (inner / "link").symlink_to("../w.bin")
        os.mkfifo(inner / "pipe")
        text, given = MODELS[name][0]()
        (inner / "m.onnx").write_bytes(text)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        RESET.write_text("5")  # the current use is the largest from now on
        before, begin, answer = used("VmRSS"), time.process_time(), RUNS
        try:
            backend.prepare(inner / "m.onnx").run(given)
        except (onnx.checker.ValidationError, backend.Unsupported, MemoryError, ValueError) as error:
            answer = str(error)
        print(json.dumps({"answer": answer, "bytes": used("VmHWM") - before, "seconds": time.process_time() - begin}))


def measured(name):
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not RESET.exists(), reason="the system does not measure memory use")
@pytest.mark.parametrize("name", MODELS)
def test_memory_and_time_are_bounded(name):
    found = measured(name)
    assert re.search(MODELS[name][1], found["answer"]), found["answer"]
    assert found["bytes"] < MAX_BYTES and found["seconds"] < MAX_SECONDS and len(found["answer"]) < MAX_TEXT


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for name in MODELS:
            found = measured(name)
            print(f"| {name} | {found['bytes'] / 2**20:.0f} MiB | {found['seconds']:.2f} s | {found['answer'][:100]} |", flush=True)
