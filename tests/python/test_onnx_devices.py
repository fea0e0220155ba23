# SPDX-License-Identifier: MIT
"""Tests ONNX models over arrays in the memory of their device: on the CPU in this process, and in separate processes on
the test device, whose memory cannot be read by mistake and which counts copies, and on the CPU under the name of CUDA,
for arrays of other libraries."""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")  # ONNX's newest tests have opsets that are not released yet
import numpy as np
import onnx.parser
import pytest

import anydml
import anydml.onnx as backend

HERE = Path(__file__).resolve().parent
DEVICE = os.environ.get("ANYDML_TEST_DEVICE", "cpu")  # test_on_the_device_of_the_tests sets it

CACHE = '''<ir_version: 8, opset_import: ["": 17]>
step (float[1, n, 64] past, float[1, 1, 64] token) => (float[1, m, 64] present, float[1, m, 64] y) {
  present = Concat <axis = 1> (past, token)
  y = Softmax <axis = -1> (present)
}'''
SHAPES = '''<ir_version: 8, opset_import: ["": 17]>
shapes (float[n, m] x, int64[2] sizes) => (float[p, q] y, int64[2, k] where, bool[p, q] signs) {
  r = Reshape (x, sizes)
  y = Add (r, r)
  where = NonZero (y)
  zero = Constant <value = float {0}> ()
  signs = Less (y, zero)
}'''


def prepared(text):
    return backend.prepare(onnx.parser.parse_model(text), DEVICE)


def on_device(array):
    return anydml.to_device(array, DEVICE)


def copied_bytes():
    """The number of bytes that the test device has copied from the CPU's memory and to it."""
    if not DEVICE.startswith("later"):
        return 0
    count = ctypes.CDLL(os.path.join(os.environ["ANYDML_PLUGINS"], "libanydml-later.so")).anydml_later_copied_bytes
    count.restype = ctypes.c_uint64
    return count()


def test_a_cache_stays_on_the_device():
    model, rng = prepared(CACHE), np.random.default_rng(1)
    expected = np.empty((1, 0, 64), "f4")
    past = on_device(expected)
    for step in range(5):
        token = rng.standard_normal((1, 1, 64), "f4")
        given = on_device(token)
        before = copied_bytes()
        past, y = model.run({"past": past, "token": given})
        assert copied_bytes() == before
        assert isinstance(past, anydml.DeviceArray) and past.device == DEVICE and past.shape == (1, step + 1, 64)
        expected, on_cpu = model.run([expected, token])
        assert isinstance(expected, np.ndarray) and isinstance(on_cpu, np.ndarray)
        assert past.numpy().tobytes() == expected.tobytes()
        assert y.numpy().tobytes() == on_cpu.tobytes()


def test_outputs_may_be_asked_for():
    model = prepared(CACHE)
    past, token = np.ones((1, 2, 64), "f4"), np.zeros((1, 1, 64), "f4")
    expected = model.run([past, token])
    for given, chosen, kind in (([past, token], True, anydml.DeviceArray), ([on_device(past), token], False, np.ndarray),
                                ([past, on_device(token)], None, anydml.DeviceArray), ([past, token], None, np.ndarray)):
        found = model.run(given, on_device=chosen)
        for one, other in zip(found, expected):
            assert type(one) is kind
            assert (one.numpy() if kind is anydml.DeviceArray else one).tobytes() == other.tobytes()
    assert type(model.run([past, token], on_device=True)["y"]) is anydml.DeviceArray


def test_shapes_and_host_nodes():
    model = prepared(SHAPES)
    x = np.arange(-100, 156, dtype="f4").reshape(16, 16)
    for sizes in ((8, 32), (4, -1), (256, 1)):
        sizes = np.int64(sizes)
        expected = model.run([x, sizes])
        found = model.run([on_device(x), on_device(sizes)])
        for one, other in zip(found, expected):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.numpy().tobytes() == other.tobytes()
    empty = model.run([on_device(x[:0]), on_device(np.int64([0, 16]))])
    assert [one.shape for one in empty] == [(0, 16), (2, 0), (0, 16)]


def test_single_arrays_and_types():
    model = prepared('''<ir_version: 8, opset_import: ["": 17]> negate (bool[n] x) => (bool[n] y) { y = Not (x) }''')
    truths = np.array([True, False, True])
    found = model.run(on_device(truths))["y"]
    assert found.dtype == bool and found.numpy().tolist() == [False, True, False]
    assert len(model.profile([on_device(truths)], rounds=1)) == 1


def test_wrong_use_is_named():
    model = prepared(CACHE)
    past, token = np.ones((1, 2, 64), "f4"), np.zeros((1, 1, 64), "f4")
    with pytest.raises(TypeError, match="input 'token' is float16, but the model declares float"):
        model.run([past, on_device(token.astype("f2"))])
    with pytest.raises(ValueError, match=r"input 'token' has the shape \[1, 1, 63\], but the model declares"):
        model.run([past, on_device(token[:, :, 1:])])
    if DEVICE != "cpu":
        with pytest.raises(ValueError, match=f"input 'token' is on cpu, and the model on {DEVICE}; expected that device, "
                                             "or a NumPy array"):
            model.run([past, anydml.to_device(token, "cpu")])


def is_same(found, expected):
    if not isinstance(expected, np.ndarray):
        return found == expected
    if expected.dtype == object:
        return found.tolist() == expected.tolist()
    found = found.numpy() if isinstance(found, anydml.DeviceArray) else found
    return (found.dtype, found.shape) == (expected.dtype, expected.shape) and found.tobytes() == expected.tobytes()


def moved(array):
    try:
        return on_device(array)
    except TypeError:  # the type is not one of numbers
        return array


@pytest.mark.skipif(not DEVICE.startswith("later"), reason="on other devices, tensors there are the CPU's")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_onnxs_suite_over_tensors_on_the_device():
    from onnx.backend.test.loader import load_model_tests

    compared = 0
    for case in load_model_tests(kind="node"):
        try:
            model, on_cpu = backend.prepare(case.model, DEVICE), backend.prepare(case.model, "CPU")
            runs = [(inputs, on_cpu.run(inputs)) for inputs, _ in case.data_sets]
        except (NotImplementedError, TypeError, ValueError):  # test_onnx.py counts what is refused
            continue
        for inputs, expected in runs:
            found = model.run([moved(one) for one in inputs], on_device=True)
            assert all(map(is_same, found, expected)), case.name
            compared += 1
    assert compared > 1400


@pytest.mark.skipif(DEVICE != "cuda:0", reason="test_arrays_of_other_libraries runs it")
def test_arrays_of_pretended_libraries():
    import pretend

    model = backend.prepare(onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
        two (float[n] x, bool[n] b) => (float[n] y, bool[n] c) { y = Add (x, x)  c = Not (b) }'''), "CUDA")
    x, b = np.float32([1, 2, 3]), np.array([True, False, True])
    for kind in (pretend.Array, pretend.StreamArray, pretend.ExchangeArray):
        pretend.asked.clear()
        y, c = model.run([kind(x), kind(b)])
        assert type(y) is kind and type(c) is kind
        assert y.memory.tolist() == [2, 4, 6] and c.memory.tolist() == [False, True, False]
        # The default stream, on which the run is, waits for the work that is pending on each of the inputs.
        assert pretend.asked.count(("__dlpack__", 1)) >= 2
    y, c = model.run([x, pretend.StreamArray(b)])
    assert type(y) is pretend.StreamArray and y.memory.tolist() == [2, 4, 6]
    assert type(model.run([pretend.Array(x), b], on_device=False)["y"]) is np.ndarray


def plugins(name):
    """Returns a folder with plugins for the tests, or skips the test."""
    if DEVICE != "cpu":
        pytest.skip("already inside the subprocess of that test")
    folders = [HERE.parents[1] / "build" / preset / "tests" / name for preset in ("release", "dev")]
    return next((one for one in folders if one.is_dir() and any(one.glob("*.so"))), None) or pytest.skip(
        "this build has no test plugins")


def in_a_process(folder_name, device, passes):
    """Runs this file's tests on a device of the tests, in a separate process."""
    folder = plugins(folder_name)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__], text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "ANYDML_PLUGINS": str(folder), "ANYDML_TEST_DEVICE": device})
    assert done.returncode == 0, done.stdout + done.stderr
    assert passes in done.stdout, done.stdout


def test_a_model_on_the_cpu_loads_no_plugin():
    code = ("import numpy as np, onnx.parser, anydml.onnx as backend\n"
            f"backend.prepare(onnx.parser.parse_model({CACHE!r})).run([np.ones((1, 2, 64), 'f4'), np.ones((1, 1, 64), 'f4')])")
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=100,
                          env={**os.environ, "ANYDML_PLUGINS": str(plugins("plugins")), "ANYDML_LOG": "info"})
    assert done.returncode == 0, done.stderr
    assert "device cpu" in done.stderr and "later" not in done.stderr


def test_on_the_device_of_the_tests():
    in_a_process("plugins", "later:0", "6 passed, 4 skipped")


def test_arrays_of_other_libraries():
    in_a_process("pretended_cuda", "cuda:0", "6 passed, 4 skipped")
