# SPDX-License-Identifier: MIT
"""scikit-learn's pipelines beside scikit-learn and ONNX Runtime; see ml_pipelines.py."""
import pytest

for module in ("onnx", "onnxruntime", "pandas", "sklearn", "skl2onnx"):
    pytest.importorskip(module)
import anydml.onnx as backend  # noqa: E402
import ml_pipelines  # noqa: E402
import onnxruntime  # noqa: E402
from onnx_models import node_by_node  # noqa: E402

LAST_PLACE = 2.0 ** -23  # of a float between 1 and 2


def check(case, most=None):
    """The distance to scikit-learn's results is at most ONNX Runtime's, or one unit in the last place of a float."""
    prepared = backend.Prepared(case.model)
    results = prepared.run(case.inputs)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, ["CPUExecutionProvider"])
    others = dict(zip([one.name for one in session.get_outputs()], session.run(None, case.inputs)))
    for name, expected in case.expected.items():
        limit = max(ml_pipelines.distance(others[name], expected), LAST_PLACE) if most is None else most
        assert ml_pipelines.distance(results[name], expected) <= limit, name
        assert type(results[name]) is type(others[name])
        if isinstance(results[name], list):
            assert [list(one) for one in results[name]] == [list(one) for one in others[name]]
    for one, other in zip(results, node_by_node(prepared, case.inputs)):
        assert one == other if isinstance(one, list) else one.tobytes() == other.tobytes() or (one == other).all()


@pytest.mark.parametrize("name", ml_pipelines.NAMES)
def test_floats(name):
    check(ml_pipelines.made(name))


@pytest.mark.parametrize("name", ml_pipelines.DOUBLE)
def test_doubles(name):
    check(ml_pipelines.made(name, double=True), most=1e-12)


def test_strings_in_columns():
    check(ml_pipelines.mixed())
