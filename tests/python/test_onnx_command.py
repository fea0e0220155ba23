# SPDX-License-Identifier: MIT
"""Tests `python -m anydml.onnx`."""
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from anydml.onnx import _report, prepare  # noqa: E402
from anydml.onnx.__main__ import main  # noqa: E402

TEXT = """<ir_version: 8, opset_import: ["": 18]> m (float[batch, 3] x) => (float[batch, 2] y, int64[1, K] places) {
    axis = Constant<value_ints = [1]>() s = ReduceSum(x, axis) flat = Reshape(s, minus) places = NonZero(flat)
    wide = Concat<axis = 1>(s, s) y = Sqrt(wide) minus = Constant<value_ints = [-1]>() }"""


@pytest.fixture
def path(tmp_path):
    model = onnx.parser.parse_model(TEXT.replace(" minus = Constant<value_ints = [-1]>()", "").replace(
        "axis = Constant", "minus = Constant<value_ints = [-1]>() axis = Constant"))
    onnx.save(model, str(tmp_path / "m.onnx"))
    np.savez(tmp_path / "x.npz", x=np.float32([[1, 2, 1], [0, 0, 0]]))
    return tmp_path / "m.onnx"


def said(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_it_runs_a_model(path, capsys):
    code, out, _ = said(capsys, path, "--size", "batch=4")
    assert code == 0 and "input x: float32[4, 3]" in out and "output y: float32[4, 2]" in out and "first run in" in out


def test_inputs_and_outputs_in_files(path, capsys):
    code, out, _ = said(capsys, path, "--inputs", path.parent / "x.npz", "--outputs", path.parent / "y.npz", "--time", "2")
    assert code == 0 and "a run takes" in out
    result = np.load(path.parent / "y.npz")
    assert result["y"].tolist() == [[2, 2], [0, 0]] and result["places"].tolist() == [[0]]


def test_it_explains_and_profiles(path, capsys):
    code, out, _ = said(capsys, path, "--size", "batch=40", "--explain", "--profile")
    assert code == 0 and "NonZero" in out and "needs the elements of a value" in out and " ms " in out
    assert "by REDUCE, FILL_VALUE_CONSTANT" in out and "a graph" in out


def test_it_compares(path, capsys):
    pytest.importorskip("onnxruntime")
    code, out, _ = said(capsys, path, "--inputs", path.parent / "x.npz", "--compare", "--time", "2")
    assert code == 0 and "output y: largest difference" in out and "the same decision" in out and "ONNX Runtime takes" in out


def test_what_does_not_run_is_said(path, capsys):
    code, _, error = said(capsys, path.parent / "none.onnx")
    assert code == 1 and "none.onnx" in error
    (path.parent / "broken.onnx").write_bytes(b"no model")
    code, _, error = said(capsys, path.parent / "broken.onnx")
    assert code == 1 and "broken.onnx" in error
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> m (float[2] x) => (float[2] y) { y = Bernoulli(x) }')
    onnx.save(model, str(path.parent / "b.onnx"))
    code, _, error = said(capsys, path.parent / "b.onnx")
    assert code == 1 and "not an operator that anydml runs: Bernoulli ('y')" in error
    with pytest.raises(SystemExit):
        main([str(path), "--size", "batch"])
    assert "expected NAME=NUMBER" in capsys.readouterr().err


def test_beside_onnx_runtime(path, capsys, monkeypatch):
    onnxruntime = pytest.importorskip("onnxruntime")
    monkeypatch.setitem(sys.modules, "onnxruntime_ep_anydml", None)
    # Another test may have registered the provider in this process.
    monkeypatch.setattr(onnxruntime, "get_ep_devices", lambda: [], raising=False)
    code, _, said_why = said(capsys, path, "--beside")
    assert code == 1 and ("needs the package onnxruntime-ep-anydml" in said_why or "needs ONNX Runtime 1.23" in said_why)
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        pytest.skip("ONNX Runtime 1.23 is the first that loads providers")
    code, _, said_why = said(capsys, path, "--beside", path.parent / "nothing.so")
    assert code == 1 and "ONNX Runtime does not load it" in said_why
    monkeypatch.undo()
    import onnxruntime_provider
    if onnxruntime_provider.library() is None:
        pytest.skip("libonnxruntime-ep-anydml.so was not built")
    code, out, _ = said(capsys, path, "--size", "batch=4", "--beside", onnxruntime_provider.library(), "--time", "2")
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith("| ")]
    assert code == 0 and [row[0] for row in rows] == ["|", "| anydml", "| ONNX Runtime with anydml", "| ONNX Runtime"]


def test_differences():
    one = np.float32([1, 2, np.nan, np.inf])
    assert _report.difference(one, one) == 0 and _report.difference(one, one[:2]) == np.inf
    assert _report.difference(np.float32([1, 2.5]), np.float32([1, 2])) == 0.25
    assert _report.difference(np.float32([np.nan]), np.float32([1])) == np.inf
    assert _report.same_decision(np.array([[1, 2]]), np.array([[0, 9]])) and not _report.same_decision(
        np.array([[1, 2]]), np.array([[9, 0]]))


def test_profiles_name_steps(path):
    prepared = prepare(path)
    rows = prepared.profile({"x": np.ones((2, 3), np.float32)}, 1)
    assert {op for _, op, _ in rows} >= {"ReduceSum", "Sqrt"} and all(spent >= 0 for spent, _, _ in rows)
    assert [spent for spent, _, _ in rows] == sorted((spent for spent, _, _ in rows), reverse=True)
    with pytest.raises(ValueError, match="rounds is 0; expected 1 or more"):
        prepared.profile({"x": np.ones((2, 3), np.float32)}, 0)
