# SPDX-License-Identifier: MIT
"""Nodes that run on the host, and cubic Resize, compared with ONNX's reference evaluator."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml.onnx as backend  # noqa: E402
from onnx_models import HOSTED, explained  # noqa: E402

pytestmark = pytest.mark.skipif(tuple(map(int, onnx.__version__.split(".")[:2])) < (1, 23),
                                reason="older reference evaluators have bugs")
RANDOM = np.random.default_rng(5)
NEWEST = onnx.defs.onnx_opset_version()


def doubles(*shape):
    return RANDOM.standard_normal(shape)


def model_of(op, arrays, outputs, opset, attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
              for name, array in zip(names, arrays)]
    results = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph([helper.make_node(op, names, results, **attributes)], "g", inputs,
                              [onnx.ValueInfoProto(name=name) for name in results])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def check(op, *arrays, outputs=1, opset=NEWEST, tolerance=1e-12, **attributes):
    arrays = [np.asarray(array) for array in arrays]
    model = model_of(op, arrays, outputs, opset, attributes)
    given = {f"x{i}": array for i, array in enumerate(arrays)}
    prepared = backend.Prepared(model)
    assert explained(prepared).hosted == 1
    for actual, expected in zip(prepared.run(given), ReferenceEvaluator(model).run(None, given)):
        expected = np.asarray(expected)
        assert actual.dtype == expected.dtype and actual.shape == expected.shape
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


POSITIVE = {"Acosh": 1.5, "Log": 0.1}
WITHIN = {"Acos", "Asin", "Atanh"}


@pytest.mark.parametrize("op", sorted(op for op, row in HOSTED.items() if row.uses == "a function of double"))
def test_functions_of_double(op):
    x = doubles(3, 4)
    x = np.abs(x) + POSITIVE[op] if op in POSITIVE else np.tanh(x) if op in WITHIN else x
    if op in ("ReduceLogSum", "ReduceLogSumExp"):
        check(op, np.abs(x), np.array([1]), keepdims=0)
        check(op, np.abs(x), np.array([-1]), keepdims=1)
    else:
        check(op, x, tolerance=1e-6)  # some of the reference's functions compute in float32


def test_products_and_powers():
    check("MatMul", doubles(2, 3, 4), doubles(4, 5))
    check("MatMul", RANDOM.integers(-9, 9, (3, 4)), RANDOM.integers(-9, 9, (4, 5)))
    check("Gemm", doubles(3, 4), doubles(5, 4), doubles(5), transB=1, alpha=0.5, beta=2.0)
    check("Pow", np.abs(doubles(5)), doubles(5))
    check("Pow", np.array([2, -3, 5]), np.array([10, 3, 0]))
    check("Einsum", doubles(2, 3, 4), doubles(2, 4, 5), equation="bij, bjk -> bik")
    check("Det", doubles(2, 3, 3), tolerance=1e-9)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_scatters_that_reduce(reduction, kind):
    x, updates = (RANDOM.integers(-5, 5, shape).astype(kind) for shape in ((4, 3), (6, 3)))
    indices = RANDOM.integers(-4, 4, (6, 3))
    check("ScatterElements", x, indices, updates, reduction=reduction, axis=0)
    check("ScatterElements", x, np.repeat(indices[:, :1], 3, 1), updates, reduction=reduction, axis=0)
    check("ScatterElements", x, indices[:3] % 3, updates[:3], reduction=reduction, axis=1)
    check("ScatterND", x, indices[:, :1] % 4, updates, reduction=reduction)


def test_a_scatter_skips_what_is_out_of_range():
    model = model_of("ScatterElements", [np.zeros(3), np.array([0]), np.zeros(1)], 1, 18, {"reduction": "add"})
    result = backend.Prepared(model).run([np.zeros(3), np.array([0, 7, -9, 0, -1]), np.arange(1.0, 6)])[0]
    assert result.tolist() == [5, 0, 5]


def test_transforms():
    x = doubles(2, 8, 1).astype(np.float32)
    for inverse, onesided in ((0, 0), (0, 1), (1, 0)):
        check("DFT", x, np.array(8), np.array(1), inverse=inverse, onesided=onesided, tolerance=1e-5)
    check("DFT", doubles(2, 8, 2), np.array(5), np.array(1))
    check("STFT", doubles(1, 64, 1), np.array(8), doubles(16), np.array(16))


@pytest.mark.parametrize("equation, shapes", [
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bhqd,bkhd->bhqk", [(2, 2, 3, 4), (2, 5, 2, 4)]), ("ij->ji", [(3, 4)]),
    ("ij->i", [(3, 4)]), ("ij->", [(3, 4)]), ("i,i", [(4,), (4,)]), ("i,j->ij", [(4,), (3,)]), ("ij,jk", [(3, 4), (4, 2)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]), ("ijk,il,jl->kl", [(2, 3, 4), (2, 5), (3, 5)]),
    ("ij,ij->ij", [(3, 4), (3, 4)]), ("ab , cd -> abcd", [(2, 3), (4, 5)]), ("abc,cd->ad", [(2, 3, 4), (4, 5)])])
def test_einsum(equation, shapes):
    """Runs in a graph, as reductions and matrix products."""
    arrays = [doubles(*shape).astype(np.float32) for shape in shapes]
    model = model_of("Einsum", arrays, 1, NEWEST, {"equation": equation})
    prepared = backend.Prepared(model)
    actual = prepared.run(arrays)[0]
    expected = np.einsum(equation, *arrays)
    assert actual.shape == expected.shape and explained(prepared).pieces[0][2]
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_einsums_that_are_wrong_or_on_the_host():
    check("Einsum", doubles(3, 3), equation="ii->i")
    for equation, message in (("ij,jk->ik", "2 inputs|has 1 inputs"), ("ij->k", "'k' is not in any operand"), ("i->i", "dimensions"),
                              ("i1->i", "expected letters")):
        with pytest.raises(ValueError, match=message):
            backend.Prepared(model_of("Einsum", [np.ones((2, 2), np.float32)], 1, NEWEST, {"equation": equation})).run(
                [np.ones((2, 2), np.float32)])


@pytest.mark.parametrize("options", [
    {}, {"antialias": 1}, {"exclude_outside": 1}, {"antialias": 1, "exclude_outside": 1}, {"cubic_coeff_a": -0.5},
    {"coordinate_transformation_mode": "align_corners"}, {"coordinate_transformation_mode": "asymmetric"},
    {"coordinate_transformation_mode": "pytorch_half_pixel"}, {"coordinate_transformation_mode": "half_pixel_symmetric"},
    {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}], ids=str)
@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 0.5, 0.7), (1, 1, 1, 1.4)])
def test_cubic_resize(options, scales):
    """Runs in a graph, as matrix products."""
    x, roi = doubles(1, 2, 6, 7).astype(np.float32), np.float32([0, 0, -0.1, 0.2, 1, 1, 0.9, 0.8])
    arrays = [x, roi, np.float32(scales)]
    model = model_of("Resize", arrays, 1, NEWEST, {"mode": "cubic", **options})
    given = {f"x{i}": array for i, array in enumerate(arrays)}
    prepared = backend.Prepared(model)
    (actual,), (expected,) = prepared.run(given), ReferenceEvaluator(model).run(None, given)
    assert actual.shape == expected.shape and actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    assert [piece[:3] for piece in explained(prepared).pieces] == [(0, 1, True)]


def test_sets_and_mel_bands():
    x = RANDOM.integers(0, 5, (4, 3))
    check("Unique", x, outputs=4)
    check("Unique", x, outputs=4, axis=0)
    check("Unique", x.reshape(-1), outputs=4, sorted=0)  # the reference fails for more dimensions
    check("MelWeightMatrix", np.array(8), np.array(64), np.array(8000), np.float32(0), np.float32(4000), tolerance=1e-6)
