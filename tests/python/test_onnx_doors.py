# SPDX-License-Identifier: MIT
"""Tests of prepared ONNX models: their inputs and outputs, pickles and copies, and traces."""
import copy
import importlib.util
import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
import onnx.parser  # noqa: E402

import anydml.onnx as backend  # noqa: E402
import trace_events  # noqa: E402
from anydml.onnx.__main__ import main  # noqa: E402

TEXT = """<ir_version: 8, opset_import: ["": 13]>
m (float[batch, 3] x, bool flag, float w, float[3] bias) => (float[batch, 3] y, int64[2, K] "0")
<float[3] bias = {1, 2, 3}> { a = Add(x, bias) b = Mul(a, w) y = Relu(b) "0" = NonZero(y) }"""
TEXT = TEXT.replace('"0"', "places")
X = np.float32([[1, -2, 3], [-4, 5, -6]])
GIVEN = {"x": X, "flag": np.array(True), "w": np.array(2, np.float32)}
Y = np.maximum((X + np.float32([1, 2, 3])) * 2, 0)


@pytest.fixture(scope="module")
def model():
    return onnx.parser.parse_model(TEXT)


@pytest.fixture
def path(model, tmp_path):
    onnx.save(model, str(tmp_path / "m.onnx"))
    return tmp_path / "m.onnx"


# ---- Inputs and outputs ---------------------------------------------------------------------------------------------

def test_inputs_and_outputs(model):
    prepared = backend.prepare(model)
    assert prepared.inputs == (("x", np.dtype("float32"), ("batch", 3)), ("flag", np.dtype(bool), ()),
                               ("w", np.dtype("float32"), ()))  # without bias, which has a value in the model
    assert prepared.outputs == (("y", np.dtype("float32"), ("batch", 3)), ("places", np.dtype("int64"), (2, "K")))
    one = prepared.inputs[0]
    assert isinstance(one, backend.Value) and (one.name, one.type, one.sizes) == ("x", np.dtype("float32"), ("batch", 3))
    assert repr(prepared) == ("<prepared x float32[batch, 3], flag bool[], w float32[] -> y float32[batch, 3], "
                              "places int64[2, K]>")


def test_undeclared_shapes():
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, [None, 2])],
        [onnx.ValueInfoProto(name="y")])
    prepared = backend.Prepared(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    assert prepared.inputs[0].sizes == (None, 2) and prepared.outputs == (("y", np.dtype("float32"), None),)
    assert repr(prepared) == "<prepared x float32[?, 2] -> y float32>"


def test_names_cannot_control_a_terminal():
    helper = onnx.helper
    graph = helper.make_graph([helper.make_node("Neg", ["x\x1b[31m"], ["y"])], "g",
                              [helper.make_tensor_value_info("x\x1b[31m", 1, ["a\nb"])],
                              [helper.make_tensor_value_info("y", 1, None)])
    prepared = backend.Prepared(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    assert repr(prepared).isprintable() and prepared.inputs[0].name == "x\x1b[31m"


# ---- Pickles and copies ---------------------------------------------------------------------------------------------

def _worker(task):
    prepared, given = task
    return prepared.run(given)


def test_pickles(model, path):
    for source in (model, model.SerializeToString(), path, str(path)):
        again = pickle.loads(pickle.dumps(backend.prepare(source)))
        outputs = again.run(GIVEN)
        assert outputs["y"].tolist() == Y.tolist() and repr(again) == repr(backend.prepare(source))
        assert again.inputs == backend.prepare(source).inputs


def test_large_weights_and_options(tmp_path):
    weights = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)  # passed apart from the message
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, ["n", 64])],
        [helper.make_tensor_value_info("y", 1, ["n", 64])], [onnx.numpy_helper.from_array(weights, "w")])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), literal=True,
                               trace=True)
    again = pickle.loads(pickle.dumps(prepared))
    x = np.ones((2, 64), np.float32)
    assert again._arguments == prepared._arguments and again._arguments[3:] == (True, None, True, 0)
    assert again.run([x])[0].tobytes() == prepared.run([x])[0].tobytes()


def test_a_path_is_kept_and_not_the_model(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(backend.prepare("m.onnx"))
    assert len(pickled) < 500 + len(str(path))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(pickled).run(GIVEN)["y"].tolist() == Y.tolist()
    path.unlink()
    with pytest.raises(FileNotFoundError, match="m.onnx"):
        pickle.loads(pickled)


def test_a_changed_file_is_read_again(path):
    pickled = pickle.dumps(backend.prepare(path))
    first = pickle.loads(pickled)
    assert pickle.loads(pickled)._model is first._model  # a process keeps it
    path.unlink()
    onnx.save(onnx.parser.parse_model(TEXT.replace("{1, 2, 3}", "{0, 0, 0}")), str(path))
    assert pickle.loads(pickled).run(GIVEN)["y"].tolist() == np.maximum(X * 2, 0).tolist()


def test_copies_share_the_model(model):
    prepared = backend.prepare(model)
    for one in (copy.copy(prepared), copy.deepcopy(prepared), copy.deepcopy({"model": prepared})["model"]):
        assert one is not prepared and one._model is prepared._model
        assert one.run(GIVEN)["y"].tolist() == Y.tolist()


def test_outputs_and_errors_travel(model):
    outputs = pickle.loads(pickle.dumps(backend.prepare(model).run(GIVEN)))
    assert outputs["y"].tolist() == outputs[0].tolist() == Y.tolist() and repr(outputs).startswith("Outputs(y=array(")
    error = pickle.loads(pickle.dumps(backend.Unsupported("no Foo", ["Foo"])))
    assert isinstance(error, backend.Unsupported) and str(error) == "no Foo" and error.needs == ["Foo"]


def test_a_new_process(model, path):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.map(_worker, [(backend.prepare(path), GIVEN), (backend.prepare(model), GIVEN)])
    assert [one["y"].tolist() for one in results] == [Y.tolist()] * 2


SCRIPT = """
import sys
import numpy as np, anydml.onnx as backend
prepared = backend.prepare("m.onnx")
arrays = [np.full((n, 3), n, np.float32) for n in (1, 2)]
def run(x):
    return prepared.run([x, np.array(True), np.array(2, np.float32)])["y"].tolist()
if __name__ == "__main__":
    if sys.argv[1] == "loky":
        from joblib import Parallel, delayed
        print(Parallel(n_jobs=2)(delayed(run)(x) for x in arrays))
    else:
        import dask
        print(list(dask.compute(*[dask.delayed(run)(x) for x in arrays], scheduler="processes", num_workers=1)))
"""


@pytest.mark.parametrize("way", ["loky", "dask"])
def test_libraries(path, way):
    if importlib.util.find_spec({"loky": "joblib"}.get(way, way)) is None:
        pytest.skip(f"{way} is not installed")
    (path.parent / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py", way], cwd=path.parent, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})
    assert done.stdout == "[[[4.0, 6.0, 8.0]], [[6.0, 8.0, 10.0], [6.0, 8.0, 10.0]]]\n", done.stderr


# ---- Traces ---------------------------------------------------------------------------------------------------------

def test_a_trace(path, tmp_path):
    prepared = backend.prepare(path, trace=True)
    prepared.run(GIVEN)
    prepared.run(GIVEN)
    prepared.profile(GIVEN, 1)
    prepared.write_trace(tmp_path / "t.json")
    events = trace_events.checked(json.loads((tmp_path / "t.json").read_text()))
    names = [(one["cat"], one["name"]) for one in events]
    assert names.count(("Session", "read")) == names.count(("Session", "prepare")) == 1
    assert names.count(("Session", "run")) == 2 and names.count(("Compile", "compile steps 0 to 2")) == 1
    assert names.count(("Graph", "steps 0 to 2")) == 2  # compiled once, run twice
    graph = next(one for one in events if one["cat"] == "Graph")["args"]
    assert graph["input_type_shape"] == [{"float": [2, 3]}, {"float": []}] and len(graph["nodes"]) == 3
    whole = next(one for one in events if one["name"] == "run node by node")
    nodes = [one for one in events if one["cat"] == "Node" and one["ts"] >= whole["ts"]]
    assert [one["args"]["op_name"] for one in nodes] == ["Add", "Mul", "Relu", "NonZero"]
    assert nodes[0]["args"]["input_type_shape"] == [{"float": [2, 3]}, {"float": [3]}]
    assert nodes[3]["args"]["output_type_shape"] == [{"int64": [2, int(np.count_nonzero(Y))]}]
    assert sum(one["dur"] for one in nodes) <= whole["dur"]


def test_names_in_a_trace():
    helper = onnx.helper
    name = 'a "quoted" \\ name\nin Ελληνικά \x01'
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"], name)], "g",
                              [helper.make_tensor_value_info("x", 1, [2])], [helper.make_tensor_value_info("y", 7, None)])
    prepared = backend.Prepared(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), trace=True)
    prepared.profile([np.ones(2, np.float32)], 1)
    events = trace_events.checked(json.loads("".join(prepared._model.trace())))
    assert any("Ελληνικά" in one["name"] for one in events if one["cat"] == "Node")


def test_models_without_a_trace(model):
    with pytest.raises(ValueError, match="the model is not traced; prepare it with trace=True"):
        backend.prepare(model).write_trace("t.json")


def test_the_command_writes_a_trace(path, capsys):
    file = path.parent / "t.json"
    assert main([str(path), "--size", "batch=4", "--trace", str(file)]) == 0
    assert f"trace written to {file}" in capsys.readouterr().out
    events = trace_events.checked(json.loads(file.read_text()))
    assert {one["cat"] for one in events} == {"Session", "Record", "Compile", "Graph", "Node"}
    assert main([str(path), "--trace", str(path.parent / "none" / "t.json")]) == 1
    assert "No such file" in capsys.readouterr().err


# ---- Sizes ----------------------------------------------------------------------------------------------------------

def test_unknown_sizes(path, capsys):
    assert main([str(path), "--size", "bach=4"]) == 1
    assert "--size bach: the model has no dimension 'bach'; the inputs have 'batch'" in capsys.readouterr().err
    fixed = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> m (float[2] x) => (float[2] y) { y = Neg(x) }')
    onnx.save(fixed, str(path))
    assert main([str(path), "--size", "batch=4"]) == 1
    assert "no size of the inputs has a name" in capsys.readouterr().err
