# SPDX-License-Identifier: MIT
"""Tests how the device of a DLPack array is found. Its type and number name a device in the table, for any backend.

If the build contains them, plugins that call the CPU "vulkan:0" and "cuda:0" (tests/plugin/pretended_backend.cpp) also
run calls on the arrays from pretend.py.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pretend
import pytest

import anydml

CUDA, PINNED, VULKAN, ROCM, ROCM_PINNED, MANAGED = 2, 3, 7, 10, 11, 13
HERE = Path(__file__).resolve().parent


def array(kind, index=63):
    return pretend.Array(np.ones(3, "f4"), index, kind)


@pytest.mark.parametrize("kind, backend", [(CUDA, "cuda"), (MANAGED, "cuda"), (VULKAN, "vulkan"), (ROCM, "rocm")])
def test_a_device_that_is_not_there_has_its_own_name(kind, backend):
    x = array(kind)
    for call in (lambda: anydml.modulus_floor(x, x), lambda: anydml.relu(x), lambda: anydml.graph(lambda x: x + 1)(x)):
        with pytest.raises(RuntimeError, match=rf"an array is on {backend}:63, and anydml has no such device: the plugin "
                                               rf"libanydml-{backend}\.so is missing"):
            call()


def test_arrays_of_two_devices_are_refused_by_their_names():
    for first, second, names in ((array(VULKAN), array(CUDA), "vulkan:63 and cuda:63"),
                                 (array(ROCM, 1), array(ROCM, 2), "rocm:1 and rocm:2"),
                                 (array(MANAGED, 1), array(VULKAN, 1), "cuda:1 and vulkan:1")):
        with pytest.raises(TypeError, match=f"arrays are on {names}; expected one device: move them yourself"):
            anydml.modulus_floor(first, second)
    with pytest.raises(TypeError, match="an array is on vulkan:63 and another operand, a numpy.ndarray, is not; nothing is"):
        anydml.modulus_floor(array(VULKAN), np.ones(3, "f4"))
    with pytest.raises(TypeError, match="out is on vulkan:63, and no input is"):
        anydml.modulus_floor(7.0, 3.0, out=array(VULKAN))


@pytest.mark.parametrize("device, pinned, is_reached", [(CUDA, PINNED, True), (MANAGED, PINNED, True),
                                                        (VULKAN, PINNED, False), (CUDA, ROCM_PINNED, False),
                                                        (ROCM, ROCM_PINNED, True)])
def test_pinned_memory_belongs_to_its_own_backend(device, pinned, is_reached):
    with pytest.raises(RuntimeError if is_reached else TypeError,
                       match="has no such device" if is_reached else "nothing is moved behind your back"):
        anydml.modulus_floor(array(device), array(pinned, 0))


def test_pinned_memory_alone_is_the_cpus():
    assert anydml.run("ELEMENT_WISE_ABS", pretend.Array(-np.ones(3, "f4"), 0, PINNED)).memory.tolist() == [1, 1, 1]


# ---- On test devices ------------------------------------------------------------------------------------------------

def on_pretended(backend, *arguments):
    """Runs Python with a plugin that gives the CPU this backend's name."""
    folders = [HERE.parents[1] / "build" / preset / "tests" / f"pretended_{backend}" for preset in ("release", "dev")]
    folder = next((one for one in folders if one.is_dir()), None)
    if folder is None:
        pytest.skip("this build has no test plugins")
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=HERE, timeout=600,
                          env={**os.environ, "ANYDML_PLUGINS": str(folder), "PYTHONPATH": os.pathsep.join(paths)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ON_VULKAN = """
import numpy as np, pretend, anydml

assert [one["name"] for one in anydml.adapters()] == ["cpu", "vulkan:0"], anydml.adapters()

def check(found, expected, kind=pretend.Array):
    assert type(found) is kind and found.__dlpack_device__() == (7, 0), (type(found), found.__dlpack_device__())
    assert found.memory.tobytes() == np.asarray(expected).tobytes(), found.memory

x, y = np.float32([5, -5.5, 7.25]), np.float32([2, 3, -2])
a, b = pretend.Array(x, 0, 7), pretend.Array(y, 0, 7)
check(anydml.modulus_floor(a, b), np.mod(x, y))
check(anydml.modulus_floor(a, 2), np.mod(x, np.float32(2)))
check(anydml.relu(a), np.maximum(x, 0))
out = pretend.Array(np.zeros(3, "f4"), 0, 7)
assert anydml.modulus_floor(a, b, out=out) is out
check(out, np.mod(x, y))
twice = anydml.graph(lambda x: x * 2 + 1)
for _ in range(2):
    check(twice(a), x * 2 + 1)
# CUDA streams do not apply here, so no library is asked for its stream.
s, t = pretend.StreamArray(x, 0, 7), pretend.StreamArray(y, 0, 7)
e = pretend.ExchangeArray(x, 0, 7)
pretend.asked.clear()
check(anydml.modulus_floor(s, t), np.mod(x, y), pretend.StreamArray)
check(anydml.modulus_floor(e, e), np.mod(x, x), pretend.ExchangeArray)
check(twice(s), x * 2 + 1, pretend.StreamArray)
assert {what for what in pretend.asked if what[0] != "view"} == {("__dlpack__", None)}, pretend.asked
for call, message in ((lambda: anydml.run("ELEMENT_WISE_ABS", a, device="cpu"),
                       "device is 'cpu' (str), and the arrays are on vulkan:0; expected that device, or none"),
                      (lambda: anydml.modulus_floor(a, pretend.Array(y, 0, 2)),
                       "arrays are on vulkan:0 and cuda:0; expected one device: move them yourself")):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert str(error) == message, error
    else:
        raise AssertionError(message)
print("good")
"""


def test_arrays_of_another_backend_run_on_its_device():
    assert on_pretended("vulkan", "-c", ON_VULKAN) == "good\n"


def test_arrays_on_cuda_run_on_the_device_of_that_name():
    tests = ["test_cuda.py", "test_cuda_graphs.py", "test_cuda_streams.py"]
    told = on_pretended("cuda", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert "elements of PretendStreams compared with the CPU's, none different" in told, told
