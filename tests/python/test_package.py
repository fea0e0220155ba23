# SPDX-License-Identifier: MIT
"""Tests other features of the package: operators by name, compiled operators, DLPack, threads, no leaks."""
import pickle
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import anydml


def test_operators_of_several_types():
    x = np.float32([-1.5, 0.25, 300, np.nan])
    y = np.float32([-1.5, 0, 300, np.nan])
    equal = anydml.run("ELEMENT_WISE_LOGICAL_EQUALS", x, y)
    assert equal.dtype == np.uint8 and equal.tolist() == [1, 0, 1, 0]
    wide = anydml.run("ELEMENT_WISE_LOGICAL_EQUALS", x, y, out=np.empty(4, np.uint32))
    assert wide.dtype == np.uint32 and wide.tolist() == [1, 0, 1, 0]
    chosen = anydml.run("ELEMENT_WISE_IF", np.uint8([0, 1, 2, 0]), x, np.float32(7))
    assert chosen.dtype == np.float32 and chosen.tolist() == [7, 0.25, 300, 7]
    assert anydml.run("CAST", x, out=np.empty(4, np.int8)).tolist() == [-1, 0, 127, 0]
    assert anydml.run("DML_OPERATOR_CAST", x[:3], out=np.empty(3, np.float16)).tolist() == [-1.5, 0.25, 300]
    assert anydml.run("CAST", x, dtype="i1").tolist() == [-1, 0, 127, 0]
    with pytest.raises(TypeError, match="CAST: dtype is missing; expected one, or out"):
        anydml.run("CAST", x)
    with pytest.raises((TypeError, ValueError), match="ConditionTensor: type is FLOAT32; expected UINT8"):
        anydml.run("ELEMENT_WISE_IF", x, x, x)


def test_every_built_operator_runs_by_name():
    x = np.float32([-1.5, 0.25, 2.5])
    expected = {
        "ELEMENT_WISE_IDENTITY": x, "ELEMENT_WISE_ABS": abs(x), "ELEMENT_WISE_NEGATE": -x, "ELEMENT_WISE_FLOOR": np.floor(x),
        "ELEMENT_WISE_CEIL": np.ceil(x), "ELEMENT_WISE_ADD": x + 2, "ELEMENT_WISE_SUBTRACT": x - 2,
        "ELEMENT_WISE_MULTIPLY": x * 2, "ELEMENT_WISE_DIVIDE": x / 2, "ELEMENT_WISE_MODULUS_FLOOR": np.remainder(x, 2),
        "ELEMENT_WISE_MODULUS_TRUNCATE": np.fmod(x, 2), "ELEMENT_WISE_CLIP": np.clip(x, -1, 1)}
    # The other operators are in test_operators.py.
    assert set(expected) <= {op["name"] for op in anydml.operators(built=True)} and len(anydml.operators()) == 177
    for op in anydml.operators(built=True):
        if op["name"] not in expected:
            continue
        inputs = [x] + [np.float32(2)] * (op["inputs"] - 1)
        attributes = {"Min": -1, "Max": 1.0} if "CLIP" in op["name"] else {}
        assert np.array_equal(anydml.run(op["name"], *inputs, **attributes), expected[op["name"]]), op["name"]
        assert np.array_equal(anydml.run("DML_OPERATOR_" + op["name"], *inputs, **attributes), expected[op["name"]])


def test_errors_carry_the_runtimes_message():
    x = np.float32([1, 2])
    for error, message, call in (
            (ValueError, "did you mean ELEMENT_WISE_ADD|ELEMENT_WISE_ADD", lambda: anydml.run("ELEMENT_WISE_AD", x, x)),
            (TypeError, "type is INT32; expected FLOAT32", lambda: anydml.run("ELEMENT_WISE_ADD", x, np.int32([1, 2]))),
            (ValueError, "broadcast", lambda: anydml.run("ELEMENT_WISE_ADD", x, x, out=np.empty(3, "f4"))),
            (ValueError, "number of input tensors is 1; expected 2", lambda: anydml.run("ELEMENT_WISE_ADD", x)),
            (ValueError, "Max is missing", lambda: anydml.run("ELEMENT_WISE_CLIP", x, Min=0)),
            (ValueError, "is unknown; this operator takes", lambda: anydml.run("ELEMENT_WISE_ABS", x, Min=0)),
            (ValueError, "radeon", lambda: anydml.run("ELEMENT_WISE_ABS", x, device="radeon")),
            (ValueError, "radeon", lambda: anydml.modulus_floor(x, x, device="radeon")),
            (TypeError, "native byte order", lambda: anydml.run("ELEMENT_WISE_ABS", x.astype(">f4"))),
            (TypeError, "array of <U1; expected float16", lambda: anydml.run("ELEMENT_WISE_ABS", np.array(["a"])))):
        with pytest.raises(error, match=message):
            call()


def test_compiled_operators():
    a, b, out = np.arange(12.0).reshape(3, 4), np.full(4, 5.0), np.empty((3, 4))
    step = anydml.compile("ELEMENT_WISE_MODULUS_FLOOR", a, b)
    for _ in range(3):
        assert step(a, b, out=out) is out
        assert np.array_equal(out, a % b)
        a += 1
    assert np.array_equal(step(a, b), a % b)
    assert "float64[3, 4]" in repr(step)
    for bad in ((a.T.copy(), b), (a,), (a.astype("f4"), b), (a[::-1], b)):
        with pytest.raises(ValueError):
            step(*bad)


def test_devices():
    cpu = anydml.adapters()[0]
    assert cpu["name"] == "cpu" and cpu["threads"] >= 1
    assert np.array_equal(anydml.modulus_floor(np.arange(5), 3, device="cpu"), np.arange(5) % 3)


class Foreign:
    """An array from another library that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack(monkeypatch):
    module = type(sys)("foreign_library")
    module.from_dlpack = lambda array: Foreign(np.from_dlpack(array))
    monkeypatch.setitem(sys.modules, "foreign_library", module)
    monkeypatch.setattr(Foreign, "__module__", "foreign_library.arrays")
    result = anydml.modulus_floor(Foreign(np.arange(6.0)), Foreign(np.full(6, 4.0)))
    assert isinstance(result, Foreign) and np.array_equal(result.array, np.arange(6) % 4)
    assert isinstance(anydml.modulus_truncate(np.arange(6.0), Foreign(np.full(6, 4.0))), Foreign)

    class Elsewhere(Foreign):
        def __dlpack__(self, **options):
            raise BufferError("the memory is on another device")

    with pytest.raises(TypeError, match="another device"):
        anydml.modulus_floor(Elsewhere(np.arange(3.0)), 2.0)


def test_pytorch():
    torch = pytest.importorskip("torch")
    a, b = torch.arange(-6, 6, dtype=torch.float32), torch.tensor(4.0)
    result = anydml.modulus_floor(a, b)
    assert isinstance(result, torch.Tensor) and torch.equal(result, torch.remainder(a, b))
    out = torch.empty(12)
    assert anydml.modulus_truncate(a, b, out=out) is out and torch.equal(out, torch.fmod(a, b))


def test_jax():
    jax = pytest.importorskip("jax")
    with jax.default_device(jax.devices("cpu")[0]):
        a = jax.numpy.arange(-6, 6, dtype="float32")
        result = anydml.modulus_floor(a, 4)
    assert isinstance(result, jax.Array) and np.array_equal(result, np.arange(-6, 6) % 4)


def test_pickles():
    for function in (anydml.modulus_floor, anydml.modulus_truncate):
        assert pickle.loads(pickle.dumps(function)) is function


def test_threads_at_once():
    a = np.arange(1, 100001, dtype=np.int32)
    expected = [a % (divisor + 2) for divisor in range(8)]
    wrong = []

    def work(divisor):
        for _ in range(50):
            if not np.array_equal(anydml.modulus_floor(a, np.int32(divisor + 2)), expected[divisor]):
                wrong.append(divisor)

    threads = [threading.Thread(target=work, args=(divisor,)) for divisor in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_meanwhile():
    a = np.full(1 << 22, 1e300)
    b = np.full(1 << 22, 3.1e-300)  # the slowest case
    done = threading.Event()

    def work():
        for _ in range(10):
            anydml.modulus_floor(a, b)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    turns = 0
    while not done.is_set():
        turns += 1
        done.wait(0.001)
    worker.join()
    assert turns > 10  # holding the GIL would allow only one turn between two calls


def test_a_million_calls_leak_nothing():
    a, b, out = np.arange(16.0), np.full(16, 3.0), np.empty(16)

    def calls(count):
        for _ in range(count // 4):
            anydml.modulus_floor(a, b)
            anydml.modulus_truncate(a, 3.0)
            anydml.modulus_floor(a, b, out)
            anydml.modulus_floor([5], 3)  # this takes the slow path

    calls(50_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(1_000_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4096, f"{grown} KiB"


def test_python_m_anydml():
    done = subprocess.run([sys.executable, "-m", "anydml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"anydml \S+, numerics \d+, NumPy \S+, Python 3", done.stdout)
    assert "self-check: 130560 results, 0 wrong" in done.stdout


def test_the_package_brings_no_library_under_a_systems_name():
    files = [path.name for path in Path(anydml.__file__).parent.iterdir()]
    assert not [name for name in files if ".so" in name and not name.startswith(("_core", "libanydml-"))]
    assert "py.typed" in files and "__init__.pyi" in files


def test_the_numerics_version_is_the_headers():
    header = (Path(__file__).resolve().parents[2] / "include" / "anydml" / "anydml.h").read_text(encoding="utf-8")
    assert f"#define ANYDML_NUMERICS_VERSION {anydml.numerics_version}\n" in header
