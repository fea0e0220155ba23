# SPDX-License-Identifier: MIT
"""Tests Dask arrays: block by block, passed directly, and on worker processes."""
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

da = pytest.importorskip("dask.array")

OPERATORS = [(anydml.modulus_floor, np.remainder), (anydml.modulus_truncate, np.fmod)]


def same_bits(actual, right):
    assert actual.dtype == right.dtype and actual.shape == right.shape
    bits = f"u{right.itemsize}"
    differ = np.ascontiguousarray(actual).view(bits) != np.ascontiguousarray(right).view(bits)
    if right.dtype.kind == "f":
        differ &= ~(np.isnan(actual) & np.isnan(right))
    assert not differ.any()


def operands(dtype, shape, seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.normal(0, 100, shape).astype(dtype), random.normal(0, 3, shape).astype(dtype)
    return random.integers(0, 100, shape).astype(dtype), random.integers(1, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "uint16", "int64"])
@pytest.mark.parametrize("ours, numpy", OPERATORS, ids=["floor", "truncate"])
def test_map_blocks(ours, numpy, dtype):
    a, b = operands(dtype, (300, 70))
    x, y = da.from_array(a, chunks=(128, 32)), da.from_array(b, chunks=(128, 32))
    result = da.map_blocks(ours, x, y, dtype=dtype)
    assert result.numblocks == (3, 3)
    same_bits(result.compute(), numpy(a, b))
    assert da.map_blocks(ours, x, y).dtype == dtype  # also without dtype=


@pytest.mark.parametrize("ours, numpy", OPERATORS, ids=["floor", "truncate"])
def test_dask_arrays_go_straight_in(ours, numpy):
    a, b = operands("float32", (50, 40))
    x = da.from_array(a, chunks=(20, 40))
    lazy = ours(x, 0.7)
    assert isinstance(lazy, da.Array) and lazy.dtype == np.float32
    same_bits(lazy.compute(), numpy(a, np.float32(0.7)))
    same_bits(ours(x, da.from_array(b[0], chunks=40)).compute(), numpy(a, b[0]))
    same_bits(ours(b, x).compute(), numpy(b, a))


def test_pickle():
    import cloudpickle
    for thing in (anydml.modulus_floor, anydml.modulus_truncate, anydml.run, anydml.modulus_floor.ufunc,
                  anydml.modulus_truncate.ufunc):
        for module in (pickle, cloudpickle):
            assert module.loads(module.dumps(thing)) is thing


def test_pickled_is_found_by_another_process():
    text = pickle.dumps((anydml.modulus_floor, anydml.modulus_truncate.ufunc)).hex()
    code = f"import pickle; f, t = pickle.loads(bytes.fromhex('{text}')); print(int(f(-7, 3)), int(t(-7, 3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "2 -1\n", done.stderr


def about_worker():
    return os.getpid(), anydml.adapters()[0]["threads"]


def test_two_processes():
    distributed = pytest.importorskip("distributed")
    a, b = operands("float32", 40_000)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  env={"ANYDML_THREADS": "1"}) as cluster, distributed.Client(cluster) as client:
        workers = list(client.run(about_worker).values())
        assert len({process for process, _ in workers} - {os.getpid()}) == 2
        assert [threads for _, threads in workers] == [1, 1]
        x, y = da.from_array(a, chunks=10_000), da.from_array(b, chunks=10_000)
        same_bits(da.map_blocks(anydml.modulus_floor, x, y, dtype="float32").compute(), np.remainder(a, b))
        same_bits(anydml.modulus_truncate(x, y).compute(), np.fmod(a, b))


def test_example():
    pytest.importorskip("distributed")
    example = Path(__file__).resolve().parents[2] / "examples" / "dask_modulus.py"
    done = subprocess.run([sys.executable, str(example), "--elements", "70000", "--chunk", "20000", "--threads", "3"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": 3 threads of anydml") == 2
    assert "in 4 blocks" in done.stdout
    assert done.stdout.endswith("70,000 elements compared with NumPy bit for bit, none different\n")
