# SPDX-License-Identifier: MIT
"""Tests that python -m anydml.compare runs with any set of libraries, and counts errors against independent
arithmetic."""
import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

from anydml import compare


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "anydml.compare", *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("data", ["ordinary", "bits"])
def test_quick_run_has_no_wrong_answers(data, tmp_path):
    file = tmp_path / "figures.json"
    done = run("--quick", "--elements", "1000", "--rounds", "1", "--data", data, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # progress is shown only on terminals
    report = json.loads(file.read_text())
    assert report["program"] == "anydml.compare" and report["elements"] == 1000 and report["data"] == data
    own = [case for case in report["cases"] if case["library"] == "anydml"]
    assert {(case["type"], case["operator"]) for case in own} == {(t, o) for t in compare.TYPES
                                                                  for o in compare.OPERATORS}
    assert [case["wrong"] for case in own] == [0] * 22
    assert "anydml: 0 wrong of 22,000 answers" in done.stdout
    assert all(case["ns_per_element"] > 0 and case["runs"] == 1 for case in report["cases"])
    assert {one["call"] for one in report["small_call"]} >= {"anydml.modulus_floor", "numpy.remainder"}
    for name, module in (("PyTorch", "torch"), ("ONNX Runtime", "onnxruntime")):
        if importlib.util.find_spec(module) is None:
            assert report["absent"][name] == "not installed" and f"{name}: absent (not installed)" in done.stdout
        else:
            assert module in report["libraries"]


def test_unsupported_is_a_dash(tmp_path):
    pytest.importorskip("onnxruntime")
    file = tmp_path / "figures.json"
    done = run("--elements", "100", "--rounds", "1", "--types", "float32,int64", "--json", str(file))
    assert done.returncode == 0, done.stderr
    report = json.loads(file.read_text())
    assert [(one["library"], one["type"], one["operator"]) for one in report["unsupported"]] == [
        ("onnxruntime", "float32", "floor")]
    assert next(line for line in done.stdout.splitlines() if line.startswith("float32  floor")).endswith(" -")


def test_wrong_answers_are_noticed():
    right = np.float32([0.0, 1.0, np.nan, np.inf])
    assert compare.count_wrong(right.copy(), right) == 0
    assert compare.count_wrong(np.float32([-0.0, 1.0, -np.nan, np.inf]), right) == 1  # NaNs are equal, zeros are not
    assert compare.count_wrong(np.float32([0.0, np.nextafter(np.float32(1), np.float32(2)), 2.0, np.inf]), right) == 2


def test_right_answers_are_pythons():
    """Every int8 pair, and the float pairs that Python can compute."""
    a, b = (array.ravel() for array in np.meshgrid(np.arange(-128, 128, dtype=np.int8),
                                                   np.arange(-128, 128, dtype=np.int8)))
    a, b = a[b != 0], b[b != 0]
    for operator in compare.OPERATORS:
        assert np.array_equal(compare.right_answers(operator, a, b), compare.by_python(operator, a, b))
    ends = np.array([-2 ** 63, -2 ** 63 + 1, -1, 1, 7, 2 ** 63 - 1], np.int64)
    a, b = (array.ravel() for array in np.meshgrid(ends, ends))
    for operator in compare.OPERATORS:
        assert np.array_equal(compare.right_answers(operator, a, b), compare.by_python(operator, a, b))
    a, b = compare.operands(np.random.default_rng(3), "bits", "float64", 2000)
    with np.errstate(all="ignore"):
        right = compare.right_answers("floor", a, b)
    for x, y, r in zip(a.tolist(), b.tolist(), right):
        if np.isfinite(x) and y == y and y != 0:
            assert compare.count_wrong(np.float64([x % y]), np.float64([r])) == 0, (x, y)


def test_operands_do_not_trap():
    for data in compare.DATA:
        for dtype in compare.TYPES:
            a, b = compare.operands(np.random.default_rng(1), data, dtype, 5001)
            assert a.dtype == b.dtype == dtype and a.size == b.size == 5001 and a.flags.writeable
            if a.dtype.kind != "f":
                assert b.all()
            if a.dtype.kind == "i":
                assert not ((b == -1) & (a == np.iinfo(dtype).min)).any()


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "times.svg"
    done = run("--elements", "100", "--rounds", "1", "--types", "float32", "--plot", str(file))
    assert done.returncode == 0, done.stderr
    assert "<svg" in file.read_text()


@pytest.mark.parametrize("arguments, sentence", [
    (["--elements", "0"], "'0' is not a positive integer"),
    (["--types", "float31"], "'float31' is not one of float32, float16"),
    (["--data", "odd"], "invalid choice: 'odd'"),
    (["--json", "/no/such/folder/x.json"], "the folder /no/such/folder does not exist"),
    (["--plot", "x.pdf"], "the name must end in .svg or .png"),
])
def test_wrong_use(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        compare.parse(arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_plot_without_matplotlib(monkeypatch, capsys):
    def missing(name):
        raise compare.PackageNotFoundError(name)
    monkeypatch.setattr(compare, "version", missing)
    with pytest.raises(SystemExit):
        compare.parse(["--plot", "x.svg"])
    assert "--plot needs matplotlib, which is not installed: pip install matplotlib" in capsys.readouterr().err
