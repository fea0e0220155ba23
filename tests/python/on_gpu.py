# SPDX-License-Identifier: MIT
"""The libraries whose GPU arrays are tested, and the CPU results to compare them with.

The libraries are PyTorch, CuPy and JAX, if they are installed and see a GPU that anydml has a device for;
ANYDML_PLUGINS names the folder with libanydml-cuda.so if it is not installed next to the package. test_device_types.py
tests the libraries in pretend.py with a plugin that calls the CPU "cuda:0" and describes it as "a device of the tests"
(tests/plugin/pretended_backend.cpp).
"""
import os

import numpy as np
import pretend
import pytest

import anydml

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the GPU is shared with the other libraries

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
OPERATORS = [anydml.modulus_floor, anydml.modulus_truncate]
both = pytest.mark.parametrize("modulus", OPERATORS, ids=["floor", "truncate"])
DEVICES = {adapter["name"]: adapter["description"] for adapter in anydml.adapters()}
IS_PRETENDED = DEVICES.get("cuda:0") == "a device of the tests"
compared = {}


class Numpylike:
    """How a test copies arrays to the GPU and back; one subclass per library."""
    writes = True

    def get(self, array):
        return np.array(self.to_host(array))

    def holds(self, array):
        return isinstance(array, self.kind)


class OnTorch(Numpylike):
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch sees no CUDA device")
        self.kind = self.torch.Tensor

    def integers(self, dtype):  # PyTorch can copy and show these types, unlike uint16 to uint64
        return getattr(self.torch, f"int{8 * np.dtype(dtype).itemsize}")

    def put(self, array):
        array = np.array(array, order="C")
        bits = self.torch.from_numpy(array.view(f"i{array.itemsize}")).cuda()
        return bits.view(getattr(self.torch, array.dtype.name))

    def to_host(self, array):
        dtype = np.dtype(str(array.dtype).partition(".")[2])
        return array.view(self.integers(dtype)).cpu().numpy().view(dtype)


class OnCupy(Numpylike):
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy sees no CUDA device")
        self.kind = self.cupy.ndarray

    def put(self, array):
        return self.cupy.asarray(array)

    def to_host(self, array):
        return self.cupy.asnumpy(array)


class OnJax(Numpylike):
    writes = False

    def __init__(self):
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        try:
            self.device = jax.devices("gpu")[0]
        except RuntimeError as error:
            pytest.skip(f"JAX sees no CUDA device: {error}")
        self.jax, self.kind = jax, jax.Array

    def put(self, array):
        return self.jax.device_put(np.asarray(array), self.device)

    def to_host(self, array):
        return np.asarray(array)


class OnPretend(Numpylike):
    kind = pretend.Array

    def put(self, array):
        return self.kind(np.array(array))

    def to_host(self, array):
        return array.memory


class OnPretendStreams(OnPretend):
    kind = pretend.StreamArray


class OnPretendExchange(OnPretend):
    kind = pretend.ExchangeArray


LIBRARIES = {"torch": OnTorch, "cupy": OnCupy, "jax": OnJax, "pretend": OnPretend, "pretend_streams": OnPretendStreams,
             "pretend_exchange": OnPretendExchange}
TRIED = ["none"]
if "cuda:0" in DEVICES:
    TRIED = [name for name in LIBRARIES if name.startswith("pretend") == IS_PRETENDED]
opened = {}


def open_library(name):
    if name not in TRIED:
        pytest.skip("anydml has no CUDA device" if "cuda:0" not in DEVICES else f"{DEVICES['cuda:0']} is not for {name}")
    if name not in opened:
        opened[name] = LIBRARIES[name]()
    return opened[name]


@pytest.fixture(params=TRIED)
def on(request):
    if request.param == "none":
        pytest.skip("anydml has no CUDA device")
    return open_library(request.param)


@pytest.fixture
def torch():
    return open_library("torch").torch


@pytest.fixture
def cupy():
    return open_library("cupy").cupy


def host(function, *arrays, **options):
    """Returns the CPU's result, without NumPy's warnings."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*arrays, **options))


def bits(array):
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def assert_same(on, mine, expected):
    assert on.holds(mine)
    mine = on.get(mine)
    assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(bits(mine), bits(expected))
    name = type(on).__name__
    compared[name] = compared.get(name, 0) + mine.size


def draw(kind, shape, seed=0):
    """Random bits that include hard cases."""
    dtype = np.dtype(kind)
    random = np.random.default_rng([seed, *kind.encode()])
    array = np.frombuffer(bytearray(random.bytes(dtype.itemsize * int(np.prod(shape)))), dtype).copy()
    if dtype.kind == "f":
        info = np.finfo(dtype)
        hard = [0.0, -0.0, 1.0, -1.0, 3.0, 0.5, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal]
    else:
        info = np.iinfo(dtype)
        hard = [0, 1, 2, 3, info.min, info.max, info.max - 1] + ([-1, -2] if dtype.kind == "i" else [])
    positions = random.integers(0, max(array.size, 1), array.size // 4)
    array[positions] = np.array(hard, dtype)[random.integers(0, len(hard), positions.size)] if array.size else array[positions]
    return array.reshape(shape)
