# SPDX-License-Identifier: MIT
"""GridSample, compared with ONNX's reference evaluator and with ONNX Runtime."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml.onnx as backend  # noqa: E402
from onnx_models import explained, node_by_node  # noqa: E402
from tensor_changes import backwards, other_shapes  # noqa: E402

pytestmark = pytest.mark.skipif(tuple(map(int, onnx.__version__.split(".")[:2])) < (1, 23),
                                reason="older reference evaluators have bugs")
RANDOM = np.random.default_rng(6)
MODES, PADDINGS = ("linear", "nearest", "cubic"), ("zeros", "border", "reflection")


def model_of(x, grid, opset=20, **attributes):
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
             for name, array in (("x", x), ("grid", grid), ("y", x))]
    graph = helper.make_graph([helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)], "g", infos[:2], infos[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def sampled(x, grid, hosted=0, **attributes):
    """The result of a graph, whose bits are those of the nodes run one by one."""
    prepared = backend.Prepared(model_of(x, grid, **attributes))
    result = prepared.run([x, grid])[0]
    assert explained(prepared).hosted == hosted and result.dtype == x.dtype
    assert result.tobytes() == node_by_node(prepared, [x, grid])[0].tobytes()
    return result


def inputs(kind, axes, images=2, channels=3):
    sizes = (5, 4, 6)[:axes]
    x = RANDOM.standard_normal((images, channels, *sizes)).astype(kind)
    return x, (RANDOM.random((images, *(7, 3, 2)[:axes], axes)) * 3 - 1.5).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", MODES)
def test_grid_sample(mode, padding, aligned, kind):
    options = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    for axes in (1, 2, 3):
        if (mode, padding) == ("cubic", "border"):
            continue  # the reference moves the position instead of its neighbors
        x, grid = inputs(kind, axes)
        actual = sampled(x, grid, kind == np.float64, **options)
        single = x.astype(np.float32), grid.astype(np.float32)  # the reference rounds float16 after each operation
        expected = ReferenceEvaluator(model_of(*single, **options)).run(None, dict(zip(("x", "grid"), single)))[0]
        tolerance = 2e-3 if kind == np.float16 else 2e-5
        np.testing.assert_allclose(actual, expected.astype(kind), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("opset, names", [(16, ("bilinear", "nearest", "bicubic")), (20, MODES)])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("aligned", [0, 1])
def test_grid_sample_beside_onnx_runtime(opset, names, padding, aligned):
    """Also cubic samples with border padding, for which ONNX Runtime and PyTorch differ from ONNX's reference."""
    runtime = pytest.importorskip("onnxruntime")
    x, grid = inputs(np.float32, 2)
    for mode in names:
        options = {"mode": mode, "padding_mode": padding, "align_corners": aligned, "opset": opset}
        session = runtime.InferenceSession(model_of(x, grid, **options).SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, {"x": x, "grid": grid})[0]
        np.testing.assert_allclose(sampled(x, grid, **options), expected, rtol=1e-5, atol=1e-5)
        doubles = x.astype(np.float64), grid.astype(np.float64)
        np.testing.assert_allclose(sampled(*doubles, 1, **options), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_positions_without_a_place(kind):
    """No index of a grid leads outside the image, and what is outside counts as 0 beside infinite edges."""
    x = np.full((1, 1, 2, 2), np.inf, kind)
    far = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 9, -9], kind)
    grid = np.stack(np.meshgrid(far, far), -1)[None]
    for mode in MODES:
        for padding in PADDINGS:
            for aligned in (0, 1):
                options = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
                result = sampled(x, grid, kind == np.float64, **options)
                assert result.shape == (1, 1, 7, 7)
                if padding == "zeros":
                    assert not np.asarray(result).any()
    edge = np.array([[[[-1.25, -0.25]]]], kind)
    assert sampled(x, edge, kind == np.float64)[0, 0, 0, 0] == np.inf
    finite = np.ones((1, 1, 1, 1), kind)
    for mode in MODES:
        result = sampled(finite, np.zeros((1, 1, 1, 2), kind), kind == np.float64, mode=mode, padding_mode="reflection", align_corners=1)
        assert result.item() == 1


def test_more_elements_than_floats_count():
    """Offsets beyond 2^24 are computed in integers."""
    side = 4100
    x = np.zeros((1, 1, side, side), np.float32)
    x[0, 0, -2:, -2:] = [[1, 2], [3, 4]]
    grid = np.float32([[[[1, 1], [1 - 1 / (side - 1), 1]]]])
    for mode in ("linear", "nearest"):
        assert np.round(sampled(x, grid, mode=mode, align_corners=1), 1).ravel()[0] == 4
    assert abs(sampled(x, grid, align_corners=1).ravel()[1] - 3.5) < 0.01


def test_samples_of_many_terms_run_on_the_host():
    x, grid = RANDOM.standard_normal((1, 2, 3, 4, 5)), RANDOM.random((1, 2, 2, 2, 3)) * 2 - 1
    expected = sampled(x, grid, 1, mode="cubic")
    single = x.astype(np.float32), grid.astype(np.float32)
    np.testing.assert_allclose(sampled(*single, mode="cubic"), expected, rtol=1e-4, atol=1e-4)


def test_shapes_of_grids():
    def run(x, grid):
        x, grid = np.zeros(x, np.float32), np.zeros(grid, np.float32)
        return backend.Prepared(model_of(x, grid)).run([x, grid])[0].shape

    assert run((0, 1, 2, 2), (0, 3, 4, 2)) == (0, 1, 3, 4)
    assert run((1, 2, 2, 2), (1, 0, 4, 2)) == (1, 2, 0, 4)
    assert run((1, 0, 2, 2), (1, 3, 4, 2)) == (1, 0, 3, 4)
    for shapes in (((1, 1, 2, 2), (1, 3, 4, 3)), ((1, 1, 2, 2), (2, 3, 4, 2)), ((1, 1, 2, 2), (1, 3, 2)), ((1, 1), (1, 0))):
        with pytest.raises(ValueError, match="expected equally many images"):
            run(*shapes)
    with pytest.raises(ValueError, match="nothing to sample"):
        run((1, 1, 0, 2), (1, 3, 4, 2))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_each_tensor(axes, kind):
    """The image and the grid with negative strides, as constants, of other sizes, ranks and types."""
    x, grid = inputs(kind, axes)
    prepared = backend.Prepared(model_of(x, grid))
    expected = prepared.run([x, grid])[0]
    for turned in backwards(x):
        assert prepared.run([turned, grid])[0].tobytes() == expected.tobytes()
    for turned in backwards(grid):
        assert prepared.run([x, turned])[0].tobytes() == expected.tobytes()
    for names in (["x"], ["grid"], ["x", "grid"]):
        model, given = model_of(x, grid), {"x": x, "grid": grid}
        for name in names:
            model.graph.initializer.append(onnx.numpy_helper.from_array(given.pop(name), name))
            del model.graph.input[[one.name for one in model.graph.input].index(name)]
        assert backend.Prepared(model).run(given)[0].tobytes() == expected.tobytes()
    for number, valid in ((0, (1, 2, 3, 4)), (1, (1, 2, 3))):  # dimensions that may have any size
        original = (x, grid)[number]
        for what, other in other_shapes(original):
            given = [x, grid]
            given[number] = other
            differ = [i for i in range(other.ndim) if other.shape[i] != original.shape[i]] if other.ndim == original.ndim else []
            model = model_of(*given)
            if other.ndim == original.ndim and differ[0] in valid[:axes + 1 - number]:
                wanted = ReferenceEvaluator(model).run(None, dict(zip(("x", "grid"), given)))[0]
                np.testing.assert_allclose(backend.Prepared(model).run(given)[0], wanted, atol=1e-5)
                continue
            with pytest.raises((ValueError, backend.Unsupported), match="GridSample"):
                backend.Prepared(model).run(given)
    for number in (0, 1):
        node = helper.make_node("GridSample", ["x" if number else "", "" if number else "grid"], ["y"])
        model = model_of(x, grid)
        model.graph.node[0].CopyFrom(node)
        with pytest.raises(ValueError, match="GridSample"):
            backend.Prepared(model)
    for number, dtype in ((1, np.int32), (1, np.int8)):
        given = [x, grid]
        given[number] = given[number].astype(dtype)
        with pytest.raises((TypeError, ValueError, backend.Unsupported), match="GridSample"):
            backend.Prepared(model_of(*given)).run(given)
