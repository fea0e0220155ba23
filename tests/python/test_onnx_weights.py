# SPDX-License-Identifier: MIT
"""Weights that are read from a model's file apart from its message."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper

import anydml.onnx as backend
from anydml.onnx import _weights

RANDOM = np.random.default_rng(5)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model_of(extra=()):
    """Sums of weights of several kinds, one of which a Constant has."""
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
    text, arrays = _weights.read(path)
    assert sorted(arrays) == ["bytes", "constant", "half", "large"] and len(text) < path.stat().st_size - 40000
    expected = backend.prepare(model).run([x])[0]
    np.testing.assert_array_equal(backend.prepare(path).run([x])[0], expected)
    np.testing.assert_array_equal(backend.prepare(path.read_bytes()).run([x])[0], expected)
    np.testing.assert_array_equal(backend.Prepared(path).run([x])[0], expected)


def test_initializers_that_a_run_replaces(tmp_path):
    model = model_of()
    model.graph.input.append(helper.make_tensor_value_info("large", onnx.TensorProto.FLOAT, [64, 64]))
    path, x, other = tmp_path / "m.onnx", floats(64, 64), floats(64, 64)
    onnx.save(model, path)
    prepared, whole = backend.prepare(path), backend.prepare(model)
    for given in ({"x": x}, {"x": x, "large": other}, {"x": x}):
        np.testing.assert_array_equal(prepared.run(given)[0], whole.run(given)[0])


def test_tensors_that_stay_in_the_message(tmp_path):
    """Elements that are missing, too many, or of types that anydml has not: ONNX says what is wrong with them."""
    short = numpy_helper.from_array(floats(64, 64), "short")
    short.dims[0] = 65
    path = tmp_path / "m.onnx"
    onnx.save(model_of([short, helper.make_tensor("texts", onnx.TensorProto.STRING, [2000], [b"text"] * 2000)]), path)
    assert sorted(_weights.read(path)[1]) == ["bytes", "constant", "half", "large"]


@pytest.mark.parametrize("cut", (1, 100, 5000, 30000))
def test_files_that_are_no_models(tmp_path, cut):
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of().SerializeToString()[:-cut])
    with pytest.raises(ValueError, match="holds no ONNX model"):
        backend.prepare(path)


def test_an_empty_file(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"")
    with pytest.raises((ValueError, onnx.checker.ValidationError)):
        backend.prepare(path)
