# SPDX-License-Identifier: MIT
"""Tests arrays in the memory of any device (anydml.DeviceArray). They are on the CPU in this process, and in a separate
process on the test device, whose memory cannot be read by mistake."""
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

HERE = Path(__file__).resolve().parent
DEVICE = os.environ.get("ANYDML_TEST_DEVICE", "cpu")  # test_on_the_device_of_the_tests sets it


def on_device(array):
    return anydml.to_device(array, DEVICE)


def test_elements_go_there_and_come_back():
    rng = np.random.default_rng(1)
    for dtype in "? e f d b h i q B H I Q".split():
        for shape in ((), (0,), (5,), (2, 3), (2, 0, 3), (3, 1, 4, 2)):
            values = rng.integers(0, 100, shape).astype(dtype)
            array = on_device(values)
            assert (array.shape, array.dtype, array.device) == (shape, values.dtype, DEVICE)
            assert (array.ndim, array.size, array.nbytes) == (values.ndim, values.size, values.nbytes)
            assert array.numpy().tobytes() == values.tobytes()
            assert np.asarray(array, dtype="f8").tolist() == values.astype("f8").tolist()


def test_strided_values_are_packed_there():
    values = np.arange(24, dtype="i4").reshape(4, 6)[::-1, ::2].T
    assert on_device(values).numpy().tolist() == values.tolist()


def test_functions_take_and_return_them():
    x, y = np.float32([[5, -5.5, 7.25], [1, 2, 3]]), np.float32([2, 3, -2])
    a, b = on_device(x), on_device(y)
    for found, expected in ((anydml.modulus_floor(a, b), np.mod(x, y)), (anydml.add(a, b), x + y),
                            (anydml.add(a, 2), x + 2), (anydml.relu(a), np.maximum(x, 0)),
                            (anydml.reduce(a, function="MAX", axes=[1]), x.max(1, keepdims=True)),
                            (anydml.matmul(a, on_device(x.T.copy())), x @ x.T)):
        assert isinstance(found, anydml.DeviceArray) and found.device == DEVICE
        assert found.numpy().tolist() == expected.tolist()
    out = on_device(np.zeros((2, 3), "f4"))
    assert anydml.add(a, a, out=out) is out
    assert out.numpy().tolist() == (x + x).tolist()
    assert anydml.add(out, out, out=out).numpy().tolist() == (4 * x).tolist()


def test_graphs_take_and_return_them():
    x = np.float32([[5, -5.5, 7.25], [1, 2, 3]])
    twice = anydml.graph(lambda x: x * 2 + 1)
    for _ in range(2):
        found = twice(on_device(x))
        assert isinstance(found, anydml.DeviceArray)
        assert found.numpy().tolist() == (x * 2 + 1).tolist()


def test_operators_with_indices_and_weights():
    rng = np.random.default_rng(2)
    image, filters = rng.standard_normal((1, 3, 8, 8), "f4"), rng.standard_normal((4, 3, 3, 3), "f4")
    expected = anydml.convolution(image, filters, device="cpu")
    assert anydml.convolution(on_device(image), on_device(filters)).numpy().tobytes() == expected.tobytes()
    values, indices = anydml.top_k(on_device(image), k=2, axis=3)
    expected = anydml.top_k(image, k=2, axis=3, device="cpu")
    assert values.numpy().tobytes() == expected[0].tobytes()
    assert indices.numpy().tolist() == expected[1].tolist()


def test_reshape():
    x = np.arange(12, dtype="f4").reshape(3, 4)
    array = on_device(x)
    for shape in ((12,), (2, -1), (1, 3, 4, 1), (3, 4)):
        assert array.reshape(shape).numpy().tolist() == array.reshape(*shape).numpy().tolist() == x.reshape(shape).tolist()
    array.reshape(-1).copy_from(2 * x.reshape(-1))
    assert array.numpy().tolist() == (2 * x).tolist()
    with pytest.raises(ValueError, match="cannot reshape array of size 12 into shape"):
        array.reshape(5, 2)


def test_copy_from():
    array = anydml.DeviceArray(3, "i8", DEVICE)
    array.copy_from([1, 2, 3])
    assert array.numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"array has shape \(2,\); expected \(3,\)"):
        array.copy_from([1, 2])
    with pytest.raises(TypeError, match="array is float64; expected int64"):
        array.copy_from([1., 2, 3])


def test_wrong_use_is_named():
    with pytest.raises(TypeError, match="dtype is complex64; expected one of bool, float16"):
        anydml.DeviceArray(3, "c8")
    with pytest.raises(ValueError, match=r"shape is \(-1,\); expected sizes of 0 or more"):
        anydml.DeviceArray(-1, "f4")
    with pytest.raises(ValueError, match="name is 'nowhere'; expected the name or a part of the description of a device"):
        anydml.DeviceArray(3, "f4", "nowhere")
    with pytest.raises(ValueError, match="which needs more bytes than can be addressed"):
        anydml.DeviceArray((2 ** 32 + 1, 2 ** 32), "f4", DEVICE)
    array = on_device(np.ones(3, "f4"))
    with pytest.raises(AttributeError):
        array.shape = (1, 3)
    with pytest.raises(TypeError, match="an array is on .* and another operand, a numpy.ndarray, is not"):
        anydml.add(array, np.ones(3, "f4"))
    with pytest.raises(ValueError, match="NumPy can only receive a copy"):
        array.__array__(copy=False)
    if not DEVICE.startswith("cuda"):
        with pytest.raises(BufferError, match="whose memory DLPack cannot describe"):
            np.from_dlpack(array)
    with pytest.raises(TypeError, match="without dimensions"):
        len(on_device(np.float32(1)))
    with pytest.raises(TypeError):
        pickle.dumps(array)
    assert repr(array) == f"DeviceArray(shape=(3,), dtype=float32, device='{DEVICE}')"
    assert len(array) == 3


def test_on_the_device_of_the_tests():
    if DEVICE != "cpu":
        pytest.skip("already inside the subprocess of that test")
    folders = [HERE.parents[1] / "build" / preset / "tests" / "plugins" for preset in ("release", "dev")]
    folder = next((one for one in folders if one.is_dir()), None)
    if folder is None:
        pytest.skip("this build has no test plugins")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__], text=True,
                          capture_output=True, timeout=600,
                          env={**os.environ, "ANYDML_PLUGINS": str(folder), "ANYDML_TEST_DEVICE": "later:0"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed, 1 skipped" in done.stdout, done.stdout
