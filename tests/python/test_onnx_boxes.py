# SPDX-License-Identifier: MIT
"""NonMaxSuppression, compared with its definition in NumPy, and with ONNX's reference and ONNX Runtime."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml.onnx as backend  # noqa: E402

RANDOM = np.random.default_rng(8)
NAMES = ("boxes", "scores", "count", "overlap", "score")
KINDS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT)


def model_of(arguments, centered):
    infos = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(NAMES[:arguments], KINDS)]
    graph = helper.make_graph([helper.make_node("NonMaxSuppression", NAMES[:arguments], ["y"], center_point_box=centered)], "g",
                              infos, [helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def arrays_of(boxes, scores, count, overlap, score=None):
    given = [boxes, scores, np.array([count], np.int64), np.array([overlap], np.float32)]
    return given if score is None else [*given, np.array([score], np.float32)]


def defined(boxes, scores, count, overlap, score=None, centered=0):
    """Compares every box with every kept box, in float32."""
    overlap, found = np.float32(overlap), []
    with np.errstate(all="ignore"):
        for image, (corners, by_class) in enumerate(zip(boxes, scores)):
            if centered:
                half = corners[:, 2:] / np.float32(2)
                low, high = (corners[:, :2] - half)[:, ::-1], (corners[:, :2] + half)[:, ::-1]
            else:
                low, high = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])
            area = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
            for kind, row in enumerate(by_class):
                order = np.argsort(-row, kind="stable")  # NaN last
                kept = []
                for one in order[row[order] > np.float32(score)] if score is not None else order:
                    if len(kept) >= count:
                        break
                    sides = np.maximum(np.float32(0), np.minimum(high[kept], high[one]) - np.maximum(low[kept], low[one]))
                    common = sides[:, 0] * sides[:, 1]
                    covered = area[kept] + area[one] - common
                    if np.all(np.where(covered > 0, common / covered, np.float32(0)) <= overlap):
                        kept.append(one)
                found += [(image, kind, one) for one in kept]
    return np.array(found, np.int64).reshape(-1, 3)


def check(*arguments, centered=0):
    given = arrays_of(*arguments)
    result = backend.Prepared(model_of(len(given), centered)).run(given)[0]
    assert result.dtype == np.int64
    assert np.array_equal(result, defined(*arguments, centered=centered))
    return result


def random_boxes(count, size, classes=1, images=1, spread=1.0):
    middles, sizes = RANDOM.random((images, count, 2)) * spread, RANDOM.random((images, count, 2)) * size
    boxes = np.concatenate([middles - sizes / 2, middles + sizes / 2], -1)
    return boxes.astype(np.float32), RANDOM.random((images, classes, count)).astype(np.float32)


@pytest.mark.parametrize("centered", [0, 1])
def test_boxes_beside_the_reference_and_onnx_runtime(centered):
    runtime = pytest.importorskip("onnxruntime")
    boxes, scores = RANDOM.random((2, 300, 4)).astype(np.float32), RANDOM.random((2, 3, 300)).astype(np.float32)
    result = check(boxes, scores, 50, 0.3, 0.2, centered=centered)
    model, given = model_of(5, centered), arrays_of(boxes, scores, 50, 0.3, 0.2)
    for peer in (ReferenceEvaluator(model), runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])):
        assert np.array_equal(result, peer.run(None, dict(zip(NAMES, given)))[0])


@pytest.mark.parametrize("count, size, spread", [(1, 1, 1), (2, 1, 1), (300, 1, 1), (450, 0.02, 1), (450, 0.3, 1), (450, 0.5, 40),
                                                 (300, 1e-30, 1), (300, 1e15, 1e17)])
def test_many_boxes(count, size, spread):
    """Few or many boxes that are near each other, whatever their size."""
    boxes, scores = random_boxes(count, size, classes=2, images=2, spread=spread)
    for overlap in (0.0, 0.5, 0.999):
        check(boxes, scores, 10**9, overlap)
    check(boxes, scores, 7, 0.4, 0.5)
    check(boxes, scores, 10**9, 0.4, 2.0)
    check(boxes, scores, 0, 0.4)


def test_large_boxes_among_small_ones():
    boxes, scores = random_boxes(500, 0.01)
    boxes[0, ::9] = [0, 0, 1, 1]
    boxes[0, 1::9] = [0.2, 0, 0.21, 1]
    boxes[0, 2::9] = boxes[0, 3::9]
    for overlap in (0.0, 0.3, 0.9):
        check(boxes, scores, 10**9, overlap)


def test_equal_scores_and_reversed_corners():
    boxes, scores = random_boxes(500, 0.2)
    boxes[0, ::2] = boxes[0, ::2][:, [2, 3, 0, 1]]
    scores = np.round(scores * 4) / 4 - np.float32(0.5)
    scores[0, 0, ::5] = -0.0
    check(boxes, scores, 10**9, 0.3)
    check(boxes, scores, 10**9, 0.3, 0.0)
    check(boxes - np.float32(0.3), scores, 10**9, 0.3, -0.25, centered=1)  # some widths are below 0


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e19, 1e-45])
def test_boxes_and_scores_of_any_numbers(number):
    boxes, scores = random_boxes(400, 0.3)
    for position in range(4):
        boxes[0, position::17, position] = number
    scores[0, 0, ::11] = number
    for centered in (0, 1):
        check(boxes, scores, 10**9, 0.3, centered=centered)
        check(boxes, scores, 10**9, 0.3, 0.1, centered=centered)


@pytest.mark.parametrize("limit", [np.nan, np.inf, -np.inf, -1.0, -0.0, 1.0, 1e30])
def test_limits_of_any_numbers(limit):
    boxes, scores = random_boxes(300, 0.3)
    check(boxes, scores, 10**9, limit)
    check(boxes, scores, 10**9, 0.3, limit)
    check(boxes, scores, -5, 0.3)


def test_shapes_of_boxes():
    model = model_of(4, 0)
    for shapes in (((1, 5, 3), (1, 1, 5)), ((1, 5, 4), (1, 1, 4)), ((2, 5, 4), (1, 1, 5)), ((5, 4), (1, 5))):
        with pytest.raises(ValueError, match="expected 4 numbers for each box"):
            backend.Prepared(model).run(arrays_of(*(np.zeros(shape, np.float32) for shape in shapes), 1, 0.5))
    for shapes in (((1, 0, 4), (1, 2, 0)), ((0, 5, 4), (0, 1, 5)), ((1, 5, 4), (1, 0, 5))):
        assert backend.Prepared(model).run(arrays_of(*(np.zeros(shape, np.float32) for shape in shapes), 1, 0.5))[0].shape == (0, 3)
