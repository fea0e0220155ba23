# SPDX-License-Identifier: MIT
"""anydml's provider in ONNX Runtime on a device with memory of its own: I/O binding, copies, and options. The device is
the one of the tests, in a process of its own; ONNX Runtime sees it as a virtual GPU. Skipped without ONNX Runtime 1.24 or
the provider's library."""
import ctypes
import gc
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 24):
    pytest.skip("ONNX Runtime 1.24 is the first with virtual devices", allow_module_level=True)

import onnxruntime_provider as provider  # noqa: E402
from onnxruntime_provider import PROVIDER, images, network, parsed  # noqa: E402

if provider.library() is None:
    pytest.skip("libonnxruntime-ep-anydml.so was not built", allow_module_level=True)

IS_INSIDE = os.environ.get("ANYDML_TEST_DEVICE") == "later:0"  # in the process of the last test
inside = pytest.mark.skipif(not IS_INSIDE, reason="test_on_the_device_of_the_tests runs it")
OrtValue = onnxruntime.OrtValue


def device(kind="GPU"):
    def found():
        return [one for one in onnxruntime.get_ep_devices() if one.ep_name == PROVIDER]
    if not found():
        onnxruntime.register_execution_provider_library("anydml.virtual", provider.library())
    return next(one for one in found() if one.device.type.name == kind)


def session(model, kind="GPU", options=None, strict=True):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    if strict:
        settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    settings.add_provider_for_devices([device(kind)], options or {})
    return onnxruntime.InferenceSession(model.SerializeToString(), settings, enable_fallback=0)


def moved(array):
    return OrtValue.ortvalue_from_numpy(array, "gpu", 0, 0)


def log_of(code):
    """Runs a program with the provider's log, and returns its lines."""
    begin = (f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
             "from test_onnxruntime_devices import *\n")
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "ANYDML_LOG": "onnxruntime"})
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


@inside
def test_the_device_has_a_name():
    assert device().ep_metadata["device"] == "later:0"
    assert device("CPU").ep_metadata.get("device") is None


@inside
def test_a_run_with_numpys_arrays_copies_once_in_each_direction():
    given = images(2, 3, 9, 7)
    of, other = session(network()), session(network(), "CPU", {"device": "cpu"})
    assert of.run(None, given)[0].tobytes() == other.run(None, given)[0].tobytes()


@inside
def test_bound_tensors_stay_on_the_device():
    lines = log_of("""
given = images(2, 3, 9, 7)
of, expected = session(network()), session(network(), "CPU", {"device": "cpu"}).run(None, given)[0]
x, y = moved(given["x"]), OrtValue.ortvalue_from_shape_and_type(expected.shape, np.float32, "gpu", 0, 0)
assert x.numpy().tobytes() == given["x"].tobytes()
binding = of.io_binding()
binding.bind_ortvalue_input("x", x)
binding.bind_ortvalue_output("y", y)
print("begin", file=sys.stderr, flush=True)
for _ in range(3):
    of.run_with_iobinding(binding)
print("end", file=sys.stderr, flush=True)
assert y.numpy().tobytes() == expected.tobytes()
other = of.io_binding()
other.bind_ortvalue_input("x", x)
other.bind_output("y", "gpu", 0)
of.run_with_iobinding(other)
assert other.get_outputs()[0].numpy().tobytes() == expected.tobytes()
""")
    assert not [line for line in lines[lines.index("begin") + 1:lines.index("end")] if "copied" in line]
    assert sum("bytes are copied from the CPU to later:0" in line for line in lines) == 1
    assert sum("bytes are copied from later:0 to the CPU" in line for line in lines) >= 2
    assert any(re.search(r"1 tensors were copied to a device, \d to the CPU, and 0 on a device", line) for line in lines)


@inside
def test_a_growing_cache_stays_on_the_device():
    model = parsed("present = Concat <axis = 1> (past, x)  s = Softmax (present)  y = ReduceSum <keepdims = 0> (s)",
                   "float[1, n, 64] past, float[1, 1, 64] x", "float[1, m, 64] present, float y")
    of, other = session(model), session(model, "CPU", {"device": "cpu"})
    past, expected = moved(np.ones((1, 1, 64), "f4")), np.ones((1, 1, 64), "f4")
    count = ctypes.CDLL(os.path.join(os.environ["ANYDML_PLUGINS"], "libanydml-later.so")).anydml_later_copied_bytes
    count.restype = ctypes.c_uint64
    for step in range(20):
        token = np.full((1, 1, 64), step, "f4")
        binding = of.io_binding()
        binding.bind_ortvalue_input("past", past)
        binding.bind_ortvalue_input("x", moved(token))
        binding.bind_output("present", "gpu", 0)
        binding.bind_output("y", "gpu", 0)
        before = count()
        of.run_with_iobinding(binding)
        assert count() == before
        past, y = binding.get_outputs()
        expected, sum_of = other.run(None, {"past": expected, "x": token})
        assert past.numpy().tobytes() == expected.tobytes() and y.numpy().tobytes() == sum_of.tobytes()


@inside
def test_other_nodes_run_on_the_cpu():
    model = parsed('a = Mul (x, x)  s = Cast <to = 8> (a)  c = Cast <to = 1> (s)  y = Add (c, a)', "float[3] x", "float[3] y")
    x = np.float32([1, 2, 3])
    assert session(model, strict=False).run(None, {"x": x})[0].tolist() == (2 * x * x).tolist()


@inside
def test_wrong_use_is_named():
    with pytest.raises(Exception, match='option device is "cpu", but the session was created for later:0'):
        session(network(), options={"device": "cpu"})
    session(network(), options={"device": "later:0"})


@inside
@pytest.mark.skipif(provider.VERSION < (1, 25), reason="older versions do not know providers of plugins by name")
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_the_name_among_the_providers():  # it means the first device, the CPU
    device()
    of = onnxruntime.InferenceSession(network().SerializeToString(), providers=[PROVIDER], enable_fallback=0)
    given = images(1, 3, 4, 4)
    expected = session(network(), "CPU", {"device": "cpu"}).run(None, given)
    assert of.run(None, given)[0].tobytes() == expected[0].tobytes()


@inside
def test_memory_is_used_again_and_released():
    of = session(network())
    for height in range(1, 40):
        given = images(1, 3, height, 30)
        of.run(None, given)
    del of
    gc.collect()
    values = [moved(np.ones(1 << 20, "f4")) for _ in range(8)]
    assert all(one.numpy()[-1] == 1 for one in values)


@inside
def test_the_script_for_gpus(tmp_path):
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("onnxruntime_gpu.py")), "--device", "later:0",
                           "--only", "listed,cache", "--json", str(tmp_path / "results.json")], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "results.json").read_text())["cache"]["copies"] == 0


@inside
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_fourth_test_of_onnxs_suite():
    from onnx.backend.test.loader import load_model_tests

    compared = 0
    for case in load_model_tests(kind="node")[::4]:
        try:
            other = session(case.model, "CPU", {"device": "cpu"}, strict=False)
            runs = [(given, other.run(None, given)) for given in
                    (dict(zip([one.name for one in other.get_inputs()], inputs)) for inputs, _ in case.data_sets)]
        except Exception:  # noqa: BLE001  ONNX Runtime refuses it, or its types are not NumPy's
            continue
        of = session(case.model, strict=False)
        for given, expected in runs:
            for one, another in zip(of.run(None, given), expected):
                assert str(one) == str(another) if not isinstance(one, np.ndarray) or one.dtype == object else \
                    (one.shape, one.tobytes()) == (another.shape, another.tobytes()), case.name
            compared += 1
    assert compared > 300


def test_on_the_device_of_the_tests():
    if IS_INSIDE:
        pytest.skip("already inside the process of that test")
    folder = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "tests" / "plugins"
    if not (folder / "libanydml-later.so").exists():
        pytest.skip("this build has no test plugins")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__], text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "ANYDML_PLUGINS": str(folder), "ANYDML_TEST_DEVICE": "later:0"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("10 passed, 1 skipped" if provider.VERSION >= (1, 25) else "9 passed, 2 skipped") in done.stdout, done.stdout
