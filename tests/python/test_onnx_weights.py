# SPDX-License-Identifier: MIT
"""Tests weights in a file that is mapped, in bytes, in a message, and as bytes with a scale."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper

import anydml.onnx as backend
from onnx_models import explained, node_by_node

RANDOM = np.random.default_rng(5)
MAPS = pathlib.Path("/proc/self/maps")


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model_of(extra=()):
    """Sums of weights of several kinds, one of them in a Constant."""
    arrays = {"large": floats(64, 64), "half": floats(64, 64).astype(np.float16), "small": floats(1, 64),
              "bytes": RANDOM.integers(-9, 9, (64, 64, 1)).astype(np.int8), "listed": floats(64, 64)}
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items() if name != "listed"]
    tensors.append(helper.make_tensor("listed", onnx.TensorProto.FLOAT, [64, 64], arrays["listed"].ravel()))
    constant = numpy_helper.from_array(floats(64, 64))
    nodes = [helper.make_node("Constant", [], ["constant"], value=constant),
             helper.make_node("Cast", ["half"], ["wide"], to=onnx.TensorProto.FLOAT),
             helper.make_node("Cast", ["bytes"], ["numbers"], to=onnx.TensorProto.FLOAT),
             helper.make_node("Reshape", ["numbers", "shape"], ["matrix"]),
             helper.make_node("Sum", ["x", "large", "wide", "matrix", "small", "listed", "constant"], ["y"])]
    tensors.append(numpy_helper.from_array(np.int64([64, 64]), "shape"))
    declared = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 64])
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 64])
    graph = helper.make_graph(nodes, "g", [declared], [result], [*tensors, *extra])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_a_file_is_the_same_model(tmp_path):
    model, x = model_of(), floats(64, 64)
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    expected, prepared = backend.prepare(model).run([x])[0], backend.prepare(path)
    np.testing.assert_array_equal(prepared.run([x])[0], expected)
    if MAPS.exists():  # the weights are used directly from the file
        assert str(path) in MAPS.read_text()
    np.testing.assert_array_equal(backend.prepare(path.read_bytes()).run([x])[0], expected)
    np.testing.assert_array_equal(backend.Prepared(path).run([x])[0], expected)
    np.testing.assert_array_equal(backend.Prepared(bytearray(path.read_bytes())).run([x])[0], expected)


def test_the_weights_of_a_message_stay_when_the_message_changes():
    model, x = model_of(), floats(64, 64)
    prepared = backend.prepare(model)
    expected = prepared.run([x])[0]
    for tensor in model.graph.initializer:
        tensor.ClearField("raw_data")
    model.Clear()
    np.testing.assert_array_equal(prepared.run([x])[0], expected)


def test_initializers_that_a_run_replaces(tmp_path):
    model = model_of()
    model.graph.input.append(helper.make_tensor_value_info("large", onnx.TensorProto.FLOAT, [64, 64]))
    path, x, other = tmp_path / "m.onnx", floats(64, 64), floats(64, 64)
    onnx.save(model, path)
    prepared, whole = backend.prepare(path), backend.prepare(model)
    for given in ({"x": x}, {"x": x, "large": other}, {"x": x}):
        np.testing.assert_array_equal(prepared.run(given)[0], whole.run(given)[0])


def test_initializers_that_no_node_uses(tmp_path):
    """Missing elements are reported. Unused initializers may have types that anydml lacks."""
    short, path, x = numpy_helper.from_array(floats(64, 64), "short"), tmp_path / "m.onnx", floats(64, 64)
    texts = helper.make_tensor("texts", onnx.TensorProto.STRING, [2000], [b"text"] * 2000)
    short.dims[0] = 65
    for given in (model_of([short]), model_of([short]).SerializeToString()):
        with pytest.raises(onnx.checker.ValidationError, match="tensor 'short': dims are .65, 64., which need 16640 bytes"):
            backend.prepare(given)
    onnx.save(model_of([texts]), path)
    assert backend.prepare(path).run([x])[0].shape == backend.prepare(model_of([texts])).run([x])[0].shape == (64, 64)


@pytest.mark.parametrize("cut", (1, 100, 5000, 30000))
def test_files_that_are_no_models(tmp_path, cut):
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of().SerializeToString()[:-cut])
    for source in (path, path.read_bytes()):
        with pytest.raises(onnx.checker.ValidationError, match="cannot parse .* as an ONNX model"):
            backend.prepare(source)


def test_an_empty_file(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"")
    with pytest.raises(onnx.checker.ValidationError, match="as an ONNX model: it has no ir_version"):
        backend.prepare(path)


def small_weights(*nodes):
    """A model with int8 weights and a scale for each column: w of 320 x 256."""
    weights = RANDOM.integers(-128, 128, (320, 256)).astype(np.int8)
    tensors = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(RANDOM.random(256).astype(np.float32), "scale"),
               numpy_helper.from_array(np.array(3, np.int8), "zero"), numpy_helper.from_array(np.array(0.1, np.float32), "one"),
               numpy_helper.from_array(np.int64([3, 1]), "rows")]
    declared = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", None])]
    graph = helper.make_graph(nodes, "g", declared, [onnx.ValueInfoProto(name=nodes[-1].output[0])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


WIDE = [helper.make_node("Cast", ["w"], ["floats"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["floats", "scale"], ["wide"])]
TURNED = helper.make_node("Transpose", ["wide"], ["turned"], perm=[1, 0])


@pytest.mark.parametrize("nodes, depth, are_bytes", [
    ([*WIDE, helper.make_node("MatMul", ["x", "wide"], ["y"])], 320, True),
    ([*WIDE, TURNED, helper.make_node("MatMul", ["x", "turned"], ["y"])], 256, True),
    ([*WIDE, helper.make_node("Gemm", ["x", "wide"], ["y"], transB=1)], 256, True),
    ([*WIDE, helper.make_node("MatMul", ["x", "wide"], ["a"]), TURNED, helper.make_node("MatMul", ["a", "turned"], ["y"])],
     320, True),
    ([*WIDE, helper.make_node("Gather", ["wide", "rows"], ["few"]), helper.make_node("MatMul", ["few", "x"], ["y"])], 256,
     False),
    ([*WIDE, helper.make_node("MatMul", ["wide", "x"], ["y"])], 256, False),
    ([*WIDE, helper.make_node("MatMul", ["x", "wide"], ["a"]), helper.make_node("Add", ["a", "scale"], ["y"])], 320, True),
    ([helper.make_node("DequantizeLinear", ["w", "one", "zero"], ["wide"]), helper.make_node("MatMul", ["x", "wide"], ["y"])],
     320, True),
    ([helper.make_node("DequantizeLinear", ["w", "scale"], ["wide"], axis=1), TURNED,
      helper.make_node("MatMul", ["x", "turned"], ["y"])], 256, True),
])
def test_weights_in_bytes(nodes, depth, are_bytes):
    """If only products use the weights, the model keeps the bytes, and graphs convert and pack them."""
    model = small_weights(*nodes)
    prepared = backend.Prepared(model)
    assert bool({"Cast", "DequantizeLinear"} & set(explained(prepared).steps)) == are_bytes  # else they are constants
    for rows in (1, 5, 40):
        shape = (256, rows) if nodes[-1].input[1] == "x" else (rows, depth)
        x = floats(*shape)
        actual = prepared.run([x])[0]
        np.testing.assert_array_equal(actual, node_by_node(prepared, {"x": x})[0])


def test_weights_in_bytes_that_are_an_output_too():
    model = small_weights(*WIDE, helper.make_node("MatMul", ["x", "wide"], ["y"]))
    model.graph.output.append(onnx.ValueInfoProto(name="wide"))
    x = floats(4, 320)
    y, wide = backend.Prepared(model).run([x])
    np.testing.assert_allclose(y, x @ wide, rtol=1e-4, atol=1e-2)


def logged_steps(folder, nodes, weights, opset):
    """Runs a model with the input x of a row of 256 floats, and returns the lines of the log about its graph."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["rows", 256])],
                              [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in nodes[-1].output], weights)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    path = str(folder / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    code = f"import sys, anydml.onnx as backend, numpy as np\nbackend.prepare({path!r}).run([np.ones((int(sys.argv[1]), 256), np.float32)])"

    def lines(rows):
        done = subprocess.run([sys.executable, "-c", code, str(rows)], env={**os.environ, "ANYDML_LOG": "graph"},
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()

    return lines


@pytest.mark.parametrize("rows", [1, 40])
def test_weights_of_bits_are_packed_once_and_stay_in_codes(tmp_path, rows):
    """A product of any number of rows reads the codes."""
    node = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=256, N=320, bits=4, block_size=32)
    weights = [numpy_helper.from_array(RANDOM.integers(0, 256, (320, 8, 16), dtype=np.uint8), "w"),
               numpy_helper.from_array(floats(320 * 8), "s")]
    lines = logged_steps(tmp_path, [node], weights, 17)(rows)
    assert any(line.startswith("initialize:") and "CODED_PACK" in line for line in lines)
    assert any(line.startswith("run:") and "CODED_PRODUCT" in line for line in lines)
    assert not any(line.startswith(("initialize:", "run:")) and "DEQUANTIZE" in line for line in lines)


def test_weights_with_another_reader_are_not_packed_in_each_run(tmp_path):
    """Tied weights: the product has one row, and the dequantized weights must exist for the other node in any case."""
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["wide"], axis=0, block_size=32),
             helper.make_node("MatMul", ["x", "wide"], ["y"]),
             helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
             helper.make_node("Cast", ["total"], ["index"], to=onnx.TensorProto.INT64),
             helper.make_node("Mod", ["index", "limit"], ["place"]),
             helper.make_node("Gather", ["wide", "place"], ["row"]),
             helper.make_node("Add", ["y", "row"], ["sum"])]
    weights = [numpy_helper.from_array(RANDOM.integers(-8, 8, (256, 320)).astype(np.int8), "w"),
               numpy_helper.from_array(floats(8, 320), "s"), numpy_helper.from_array(np.array(7), "limit")]
    lines = logged_steps(tmp_path, nodes, weights, 21)(1)
    assert any(line.startswith("run:") and "PRODUCT" in line for line in lines)
    assert not any(line.startswith("run:") and "PRODUCT_PACK" in line for line in lines)
