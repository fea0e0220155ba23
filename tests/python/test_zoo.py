# SPDX-License-Identifier: MIT
"""Compares pretrained models with ONNX Runtime. This downloads 400 MB of packages, so it runs only on demand:
ANYDML_ZOO=FOLDER names the folder for the models."""
import os

import numpy as np
import pytest

pytest.importorskip("onnx")
FOLDER = os.environ.get("ANYDML_ZOO")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ANYDML_ZOO is not set to a folder for the models")

import anydml.onnx as backend  # noqa: E402
from anydml.onnx import _report  # noqa: E402
from onnx_models import node_by_node  # noqa: E402
from zoo_models import DECISIONS, MODELS, fetch  # noqa: E402

# The largest difference relative to the largest value. When a sum is rounded to 8 bits, its last bit may change the
# rounding, and the next layers see a different integer; in float16 the last bit is 5e-4 of the value.
BOUNDS = {"style-transform-int8": 0.5, "hibari-tts-int8": 0.1, "smart-turn-int8": 0.05, "temporalfix-fp16": 5e-3,
          "ddddocr-crnn-int8": 0.1}
BOUND = 1e-4


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("literal", (True, False), ids=("literal", "integers"))
def test_a_model_beside_onnx_runtime(model, literal):
    pytest.importorskip("onnxruntime")
    path, given = fetch(model, FOLDER), model.given()
    prepared = backend.prepare(path, literal=literal)
    actual = prepared.run(given)
    again = prepared.run(given)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(actual, again))
    # ONNX Runtime computes with integers where the model specifies floats, unless its optimizations are off. They also
    # change the sums of floats, so they are on only where integers are compared.
    has_integers = any("with integers" in line for line in prepared.explain())
    expected = _report.session_of(path, optimized=has_integers).run(None, given)
    for one, other in zip(actual, expected):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert _report.difference(one, other) <= BOUNDS.get(model.name, BOUND)
    decide = DECISIONS[model.decision]
    if decide is not None and model.name not in BOUNDS:
        others = np.mean(decide(actual[0]) != decide(expected[0]))
        assert others <= (1e-3 if model.decision == "mask" else 0)  # an element of a mask may be at the threshold


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_graph_gives_the_bits_of_its_nodes(model):
    prepared, given = backend.prepare(fetch(model, FOLDER)), model.given()
    for one, other in zip(prepared.run(given), node_by_node(prepared, given)):
        assert one.tobytes() == other.tobytes()
