# SPDX-License-Identifier: MIT
"""Tests that graphs and compiled operators can be pickled and copied, also into new processes."""
import copy
import importlib.util
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import anydml

HAS = {name: importlib.util.find_spec(name) is not None for name in ("joblib", "cloudpickle")}
X = np.float32([[1, -2, 3], [-4, 5, -6]])


@anydml.graph
def decorated(x, scale=2):
    return anydml.relu(x) * scale


def _plain(x):
    return x + x


named = anydml.graph(_plain)


class Layer:
    def __init__(self, weight):
        self.weight = weight

    @anydml.graph
    def forward(self, x):
        return x * self.weight


def _worker(task):
    """Runs in a new process. Returns the result, and how often the graph was compiled there."""
    function, x = task
    return function(x), repr(function)


def in_new_process(*tasks):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(_worker, tasks, chunksize=1)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_graphs(protocol):
    for graph, expected in ((decorated, np.maximum(X, 0) * 2), (named, X + X)):
        again = pickle.loads(pickle.dumps(graph, protocol))
        assert type(again) is anydml.Graph and again(X).tolist() == expected.tolist()
    assert pickle.loads(pickle.dumps(decorated, protocol)) is decorated  # as functions are
    again = pickle.loads(pickle.dumps(named, protocol))
    assert again is not named and again._function is _plain


def test_methods():
    layer = pickle.loads(pickle.dumps(Layer(3)))
    assert layer.forward(X).tolist() == (X * 3).tolist()
    bound = pickle.loads(pickle.dumps(Layer(4).forward))
    assert bound(X).tolist() == (X * 4).tolist()
    assert pickle.loads(pickle.dumps(Layer.forward)) is Layer.forward


def test_copies():
    for one in (copy.copy, copy.deepcopy):
        again = one(decorated)
        assert again is not decorated and again(X).tolist() == decorated(X).tolist() and "compiled 1 times" in repr(again)
    graph = copy.deepcopy(anydml.graph(Layer(2).forward))
    assert graph(X).tolist() == (X * 2).tolist()
    copied = copy.deepcopy(Layer(5))
    assert copied.forward(X).tolist() == (X * 5).tolist()


def test_a_new_process():
    results = in_new_process((decorated, X), (decorated, X), (named, X), (Layer(3).forward, X))
    for (result, _), expected in zip(results, (np.maximum(X, 0) * 2,) * 2 + (X + X, X * 3)):
        assert result.tolist() == expected.tolist()
    assert results[1][1] == "<graph decorated, compiled 1 times>"  # the process kept its compiled graph


def test_what_cannot_be_pickled():
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(anydml.graph(lambda x: x))

    @anydml.graph
    def inner(x):
        return x

    with pytest.raises((AttributeError, pickle.PicklingError), match="inner"):
        pickle.dumps(inner)
    assert copy.deepcopy(inner)(X).tolist() == X.tolist()


def test_a_device_travels():
    graph = pickle.loads(pickle.dumps(anydml.graph(_plain, device="cpu")))
    assert graph._device == "cpu" and graph(X).tolist() == (X + X).tolist()


def test_compiled_operators():
    step = anydml.compile("ELEMENT_WISE_CLIP", X.T, Min=-1, Max=2)
    reversed_ = anydml.compile("ELEMENT_WISE_ADD", X[:, ::-1], X)
    top = anydml.compile("TOP_K1", X, Axis=1, K=2, AxisDirection="DECREASING")
    fused = anydml.compile("ELEMENT_WISE_ADD1", X, X, FusedActivation=anydml.Operator("ACTIVATION_RELU"))
    for make in (lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy):
        assert make(step)(X.T).tolist() == np.clip(X.T, -1, 2).tolist() and repr(make(step)) == repr(step)
        assert make(reversed_)(X[:, ::-1], X).tolist() == (X[:, ::-1] + X).tolist()
        assert [one.tolist() for one in make(top)(X)] == [one.tolist() for one in top(X)]
        assert make(fused)(X, X).tolist() == np.maximum(X + X, 0).tolist()
    result, _ = in_new_process((step, X.T))[0]
    assert result.tolist() == step(X.T).tolist()


SCRIPT = """
import numpy as np, anydml
from joblib import Parallel, delayed

@anydml.graph
def local(x):
    return x + 1

scaled = anydml.graph(lambda x: x * 3)

class Model:
    @anydml.graph
    def forward(self, x):
        return local(x) * 2

x = np.float32([1, 2])
print([one.tolist() for one in Parallel(n_jobs=2)(delayed(f)(x) for f in (local, scaled, Model().forward))])
"""


@pytest.mark.skipif(not HAS["joblib"], reason="joblib is not installed")
def test_loky(tmp_path):
    """loky passes functions of __main__ by value."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))})
    assert (done.stdout, done.returncode) == ("[[2.0, 3.0], [3.0, 6.0], [4.0, 6.0]]\n", 0), done.stderr


@pytest.mark.skipif(not HAS["cloudpickle"], reason="cloudpickle is not installed")
def test_cloudpickle():
    """Dask passes functions with cloudpickle."""
    import cloudpickle

    @anydml.graph
    def inner(x):
        return x - 1

    for graph in (inner, anydml.graph(lambda x: x - 1)):
        assert pickle.loads(cloudpickle.dumps(graph))(X).tolist() == (X - 1).tolist()
    assert pickle.loads(cloudpickle.dumps(decorated)) is decorated
