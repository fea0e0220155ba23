# SPDX-License-Identifier: MIT
"""anydml.onnx: our own cases and ONNX's test suite."""
import os
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml.onnx as backend  # noqa: E402
import onnx_counts  # noqa: E402
from anydml.onnx._report import inputs_of  # noqa: E402
from onnx_models import explained, node_by_node, pieces  # noqa: E402

FLOATS = [np.float16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
NEWEST = onnx.defs.onnx_opset_version()
NEWEST_MOD = onnx.defs.get_schema("Mod").since_version
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "onnx.md"


def typed(name, dtype, shape=(None,)):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


def model_of(nodes, inputs, outputs, opset=14, initializers=(), **graph):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers), **graph)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(op, *arrays, opset=14, **attributes):
    names = [None if array is None else f"x{i}" for i, array in enumerate(arrays)]
    dtype = arrays[0].dtype
    dimensions = max(array.ndim for array in arrays if array is not None)
    model = model_of([helper.make_node(op, [name or "" for name in names], ["y"], **attributes)],
                     [typed(name, array.dtype, array.shape) for name, array in zip(names, arrays) if name],
                     [typed("y", dtype, [None] * dimensions)], opset)
    (result,) = backend.run_model(model, [array for array in arrays if array is not None])
    assert result.dtype == dtype
    return result


def same_bits(actual, expected):
    np.testing.assert_array_equal(actual, expected, strict=True)
    if actual.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual)[~np.isnan(actual)], np.signbit(expected)[~np.isnan(expected)])


def samples(dtype, count=500, zeros=True):
    random = np.random.default_rng(7)
    info = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    if info.dtype.kind == "f":
        a = (random.standard_normal(count) * 100).astype(dtype)
        a[:6] = np.inf, -np.inf, np.nan, -0.0, info.max, info.tiny
    else:
        a = random.integers(info.min, info.max, count, dtype, endpoint=True)
        a[:2] = info.min, info.max
    b = random.permutation(a)
    if not zeros:
        b[b == 0] = 1
    return a, b


def test_wrong_arguments_are_named():
    model = model_of([helper.make_node("Abs", ["x"], ["y"])], [typed("x", np.float32)], [typed("y", np.float32)])
    node, prepared, ragged = model.graph.node[0], backend.prepare(model), [[1.0], [1.0, 2.0]]
    rows = [(lambda value=value, call=call: call(value), TypeError, "inputs is a")
            for value in (5, None, "text", b"text", object()) for call in (
                prepared.run, lambda value: backend.run_node(node, value), lambda value: backend.run_model(model, value))]
    rows += [(lambda: prepared.run([ragged]), ValueError, "input 'x' is not an array"),
             (lambda: prepared.run({"x": ragged}), ValueError, "input 'x' is not an array"),
             (lambda: prepared.run({5: np.ones(1)}), ValueError, "no input 5"),
             (lambda: backend.run_node(node, [ragged]), ValueError, "input number 0 is not an array"),
             (lambda: backend.run_node(node, {"x": np.ones(1)}), TypeError, "inputs is a dict")]
    for value in (5, None, "text", [1], object(), np.ones(2)):
        if not isinstance(value, str):
            rows += [(lambda value=value: backend.prepare(value), TypeError, "the model must be"),
                     (lambda value=value: backend.Prepared(value), TypeError, "the model must be")]
        rows += [(lambda value=value: backend.run_node(value, [np.ones(1)]), TypeError, "node must be"),
                 (lambda value=value: backend.prepare(model, value), ValueError, "device .* is not supported")]
        if not isinstance(value, int):
            rows.append((lambda value=value: backend.run_node(node, [np.ones(1)], opset_version=value), TypeError,
                         "opset_version is"))
    rows += [(lambda: backend.Prepared(model, device="nope"), ValueError, "name is 'nope'; expected the name"),
             (lambda: backend.Prepared(model, device=5), TypeError, "device is 5"),
             (lambda: backend.Prepared(model, 5), TypeError, "not int")]
    for call, error, message in rows:
        with pytest.raises(error, match=message) as caught:
            call()
        assert not isinstance(caught.value, onnx.checker.ValidationError)  # the model is right


def test_names_of_files_may_be_any_bytes(tmp_path):
    model = model_of([helper.make_node("Abs", ["x"], ["y"])], [typed("x", np.float32)], [typed("y", np.float32)])
    path = tmp_path / os.fsdecode(b"\xff.onnx")
    try:
        path.write_bytes(model.SerializeToString())
    except OSError:
        pytest.skip("the file system accepts only UTF-8")
    for source in (path, str(path)):
        same_bits(backend.prepare(source).run([np.float32([-2])])[0], np.float32([2]))


@pytest.mark.parametrize("dtype", FLOATS + SIGNED + UNSIGNED)
@pytest.mark.parametrize("op, by_numpy", [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)])
def test_arithmetic(op, by_numpy, dtype):
    a, b = samples(dtype)
    with np.errstate(all="ignore"):
        same_bits(run(op, a, b), by_numpy(a, b))


@pytest.mark.parametrize("dtype", FLOATS + SIGNED + UNSIGNED)
def test_div(dtype):
    a, b = samples(dtype, zeros=False)
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind == "f":
            expected = a / b
        else:
            expected = np.array([(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)
                                 for x, y in zip(a.tolist(), b.tolist())], object)
            expected = np.array([int(x) % 2**64 for x in expected], np.uint64).astype(dtype)  # minimum / -1 wraps
    same_bits(run("Div", a, b), expected)


@pytest.mark.parametrize("op, by_numpy, types", [
    ("Abs", np.abs, FLOATS + SIGNED + UNSIGNED), ("Neg", np.negative, FLOATS + SIGNED), ("Floor", np.floor, FLOATS),
    ("Ceil", np.ceil, FLOATS), ("Identity", np.copy, FLOATS + SIGNED + UNSIGNED)])
def test_of_one_input(op, by_numpy, types):
    for dtype in types:
        a, _ = samples(dtype)
        with np.errstate(all="ignore"):
            same_bits(run(op, a), by_numpy(a))


@pytest.mark.parametrize("opset", sorted({10, 13, NEWEST_MOD, NEWEST}))
@pytest.mark.parametrize("dtype", FLOATS + SIGNED + UNSIGNED)
def test_mod(dtype, opset):
    a, b = samples(dtype)
    with np.errstate(all="ignore"):
        same_bits(run("Mod", a, b, fmod=1, opset=opset), np.fmod(a, b))
        if np.dtype(dtype).kind != "f" or onnx.defs.get_schema("Mod", opset).since_version > 13:
            same_bits(run("Mod", a, b, opset=opset), np.remainder(a, b))
        else:
            with pytest.raises(ValueError, match="floats need fmod=1 in ONNX's Mod of opset 1[03]$"):
                run("Mod", a, b, opset=opset)


def test_which_mod_takes_floats_is_what_onnx_says():
    for opset in {10, 13, NEWEST_MOD}:
        says_integers_only = re.search(r"floating point, then `fmod` attribute must|constrained to integer data types",
                                       onnx.defs.get_schema("Mod", opset).doc)
        assert bool(says_integers_only) == (opset <= 13)


def test_mod_refuses_other_fmods():
    with pytest.raises(ValueError, match="fmod is 2; expected 0 or 1"):
        run("Mod", np.int32([5]), np.int32([3]), fmod=2)


@pytest.mark.parametrize("dtype", FLOATS + SIGNED + UNSIGNED)
def test_clip(dtype):
    x, _ = samples(dtype)
    info = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    lowest, highest = dtype(info.min), dtype(info.max)
    low, high = dtype(3), dtype(90)
    for bounds in [(low, high), (low, None), (None, high), (None, None), (high, low), (lowest, highest)]:
        expected = np.clip(x, lowest if bounds[0] is None else bounds[0], highest if bounds[1] is None else bounds[1])
        given = [None if bound is None else np.array(bound) for bound in bounds]
        same_bits(run("Clip", x, *given), expected)


def test_clip_is_exact_in_64_bits():
    edges = [0, 1, 2**53 + 1, 2**62 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]
    for dtype, shift in ((np.uint64, 0), (np.int64, 2**63)):
        values = np.array([edge - shift for edge in edges], dtype)
        for low in values:
            for high in values:
                same_bits(run("Clip", values, np.array(low), np.array(high)), np.clip(values, low, high))
    fine = np.array([0.1, np.nextafter(0.1, 1), 0.2])
    same_bits(run("Clip", fine, fine[1].reshape(())), np.maximum(fine, fine[1]))


def test_clip_before_opset_11_has_attributes():
    x = np.float32([-5, 0.5, 5, np.nan])
    same_bits(run("Clip", x, opset=6, min=-1.0, max=1.0), np.clip(x, -1, 1).astype(np.float32))
    same_bits(run("Clip", x, opset=6, min=0.0), np.float32([0, 0.5, 5, np.nan]))
    same_bits(run("Clip", x, opset=6), x)


def test_clip_bounds_are_scalars():
    with pytest.raises(ValueError, match=r"Clip that computes 'y': min must be a scalar, but has the shape \[1\]"):
        run("Clip", np.float32([1]), np.float32([0]))


def node(op, *arrays, **attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    return backend.run_node(helper.make_node(op, names, ["y"], **attributes), list(arrays))[0]


@pytest.mark.parametrize("dtype", FLOATS + SIGNED + UNSIGNED)
def test_truths(dtype):
    """Cast, Equal, Where and ConstantOfShape, with bool as input or output."""
    a, b = samples(dtype)
    truths = a > b
    same_bits(node("Equal", a, b), a == b)
    same_bits(node("Where", truths, a, b), np.where(truths, a, b))
    same_bits(node("Cast", a, to=TensorProto.BOOL), a.astype(bool))
    same_bits(node("Cast", truths, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype))), truths.astype(dtype))
    filled = node("ConstantOfShape", np.int64([2, 3]), value=numpy_helper.from_array(a[7:8]))
    same_bits(filled, np.full((2, 3), a[7]))


def test_truths_of_truths():
    truths, others = np.array([True, False, True]), np.array([True, True, False])
    same_bits(node("Equal", truths, others), truths == others)
    same_bits(node("Where", others, truths, others), np.where(others, truths, others))
    same_bits(node("Cast", truths, to=TensorProto.BOOL), truths)
    same_bits(node("ConstantOfShape", np.int64([2])), np.zeros(2, np.float32))
    same_bits(node("ConstantOfShape", np.int64([]), value=numpy_helper.from_array(truths[:1])), np.array(True))
    with pytest.raises(backend.Unsupported, match="Cast of bfloat16"):
        node("Cast", np.float32([1]), to=TensorProto.BFLOAT16)
    with pytest.raises(ValueError, match=r"a list of sizes of 0 or more, but is \[-1\]"):
        node("ConstantOfShape", np.int64([-1]))


def test_broadcasting_scalars_and_empty_tensors():
    a = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for b in (np.array(5, np.int32), np.int32([[2], [3], [4]]), np.int32([1, 2, 3, 4])):
        same_bits(run("Mod", a, b), a % b)
        same_bits(run("Sub", b, a), b - a)
    same_bits(run("Add", np.array(2.5), np.array(1.0)), np.array(3.5))
    assert run("Mul", np.empty((0, 3), np.float32), np.float32([1, 2, 3])).shape == (0, 3)
    same_bits(run("Neg", a[:, ::-1, ::2]), -a[:, ::-1, ::2])
    with pytest.raises(ValueError, match="Add that computes 'y': .*BTensor: sizes are .*; expected sizes that broadcast with"):
        run("Add", np.float32([1, 2]), np.float32([1, 2, 3]))
    with pytest.raises(ValueError, match="9 dimensions; anydml supports up to 8"):
        run("Abs", np.ones((1,) * 9, np.float32))


def test_broadcasting_before_opset_7():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    b = np.float32([1, 2, 3])
    same_bits(run("Add", a, b, opset=6, broadcast=1, axis=1), a + b[:, None])
    same_bits(run("Sub", a, b[:1], opset=6, broadcast=1), a - 1)
    for options in ({}, {"broadcast": 1}):
        with pytest.raises(ValueError):
            run("Add", a, b, opset=6, **options)


def days_and_hours():
    """Two outputs, an initializer, a Constant, a value used twice: h = t mod 24, d = floor(t / 24)."""
    nodes = [helper.make_node("Constant", [], ["one"], value_float=1.0),
             helper.make_node("Mod", ["t", "day"], ["m"], fmod=1),
             helper.make_node("Add", ["m", "day"], ["s"]), helper.make_node("Mod", ["s", "day"], ["h"], fmod=1),
             helper.make_node("Sub", ["t", "h"], ["whole"]), helper.make_node("Div", ["whole", "day"], ["days"]),
             helper.make_node("Mul", ["days", "one"], ["d"])]
    return model_of(nodes, [typed("t", np.float32, ["n"]), typed("day", np.float32, [])],
                    [typed("h", np.float32), typed("d", np.float32)],
                    initializers=[numpy_helper.from_array(np.array(24, np.float32), "day")])


def test_a_model_of_several_nodes():
    model = days_and_hours()
    t = np.float32([25, -1, 240, -30.5])
    prepared = backend.prepare(model)
    outputs = prepared.run([t])
    for actual, expected in zip(outputs, ReferenceEvaluator(model).run(None, {"t": t})):
        same_bits(actual, expected)
    same_bits(outputs["h"], np.float32([1, 23, 0, 17.5]))
    same_bits(outputs["d"], np.float32([1, -1, 10, -2]))
    same_bits(prepared.run({"t": t, "day": np.array(12, np.float32)}).h, np.float32([1, 11, 0, 5.5]))
    same_bits(prepared.run([t, np.array(12, np.float32)])[0], np.float32([1, 11, 0, 5.5]))
    same_bits(prepared.run(t)[0], outputs[0])


def test_outputs_belong_to_the_caller():
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], [typed("x", np.int8)],
                     [typed(name, np.int8) for name in ("x", "y", "c")],
                     initializers=[numpy_helper.from_array(np.int8([1, 2]), "c")])
    prepared, x = backend.prepare(model), np.int8([5])
    for output in prepared.run([x]):
        output[...] = 0
    assert x == 5 and prepared.run([x])[2].tolist() == [1, 2]


@pytest.mark.parametrize("attribute", [
    {"value": numpy_helper.from_array(np.float32([1, 2]))}, {"value_floats": [1.0, 2.5]}, {"value_float": 2.0},
    {"value_int": 2}, {"value_ints": [3, 4]}])
def test_constants(attribute):
    node = helper.make_node("Constant", [], ["c"], **attribute)
    (expected,) = ReferenceEvaluator(model_of([node], [], [typed("c", np.float32)])).run(None, {})
    same_bits(backend.run_node(node, [])[0], np.asarray(expected))


def test_a_constant_without_a_value():
    with pytest.raises(ValueError, match="must have one attribute, its value, but has 0"):
        backend.run_node(helper.make_node("Constant", [], ["c"]), [])


def test_run_node():
    x = np.int64([7, -7])
    same_bits(backend.run_node(helper.make_node("Mod", ["a", "b"], ["y"]), [x, np.int64([3])])[0], np.int64([1, 2]))
    same_bits(backend.run_node(helper.make_node("Mul", ["a", "a"], ["y"]), [x, x])["y"], x * x)
    upper = helper.make_node("Clip", ["x", "", "high"], ["y"])
    same_bits(backend.run_node(upper, [x, np.array(0)])[0], np.minimum(x, 0))
    clip = helper.make_node("Clip", ["x"], ["y"], max=1.0)
    same_bits(backend.run_node(clip, [np.float32([3])], opset_version=6)[0], np.float32([1]))
    with pytest.raises(backend.Unsupported, match="DeformConv"):
        backend.run_node(helper.make_node("DeformConv", ["x", "w", "o"], ["y"]), [np.ones((1, 1, 1, 1), np.float32)] * 3)
    with pytest.raises(ValueError, match="takes 2 inputs, but 1 were given"):
        backend.run_node(helper.make_node("Mod", ["a", "b"], ["y"]), [x])


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run("Mod", np.int8([1]), np.int8([0])) == 0
        assert np.isnan(run("Mod", np.float32([1]), np.float32([0]), fmod=1))
        assert np.isinf(run("Div", np.float32([1]), np.float32([0])))
        with np.errstate(all="raise"):
            assert run("Div", np.int8([1]), np.int8([0])) == 0


def unsupported(model):
    assert not backend.is_compatible(model)
    with pytest.raises(BackendIsNotSupposedToImplementIt) as refusal:
        backend.prepare(model)
    assert isinstance(refusal.value, NotImplementedError)
    return str(refusal.value)


def test_unsupported_operators_are_named():
    """All unsupported operators and their nodes, including those in branches."""
    x = [typed("x", np.float32)]
    nodes = [helper.make_node("Bernoulli", ["x"], ["r"]), helper.make_node("Abs", ["r"], ["a"]),
             helper.make_node("RandomNormalLike", ["a"], ["y"], "noise")]
    assert unsupported(model_of(nodes, x, [typed("y", np.float32)], 15)) == (
        "not an operator that anydml runs: Bernoulli ('r'), RandomNormalLike ('noise')")
    branch = helper.make_graph([helper.make_node("Bernoulli", ["x"], ["z"])], "branch", [], [typed("z", np.float32)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    assert unsupported(model_of([node], x + [typed("c", bool)], [typed("y", np.float32)], 15)) == (
        "not an operator that anydml runs: Bernoulli ('z', 'z')")
    many = [helper.make_node("Bernoulli", ["x"], [f"r{i}"]) for i in range(7)]
    assert "('r0', 'r1', 'r2', 'r3' and 3 more)" in unsupported(model_of(many, x, [typed("r0", np.float32)], 15))


def test_all_refusals_come_at_once():
    nodes = [helper.make_node("Dropout", ["x", "", "c"], ["a"]), helper.make_node("Abs", ["a"], ["b"]),
             helper.make_node("LpNormalization", ["b"], ["n"], p=3), helper.make_node("LpNormalization", ["x"], ["y"], p=3)]
    message = unsupported(model_of(nodes, [typed("x", np.float32, [2, 2]), typed("c", bool, [])],
                                   [typed("y", np.float32)]))
    assert "Dropout in training" in message and "LpNormalization with p 3" in message


def test_functions_are_inlined_and_other_domains_named():
    pytest.importorskip("onnx.inliner")
    opsets = [helper.make_opsetid("", 14), helper.make_opsetid("mine", 1)]
    add, twice = helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Twice", ["x"], ["y"], domain="mine")
    function = helper.make_function("mine", "Twice", ["x"], ["y"], [add], opsets[:1])
    graph = helper.make_graph([twice], "graph", [typed("x", np.float32)], [typed("y", np.float32)])
    model = helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=8)
    same_bits(backend.run_model(model, [np.float32([1.5])])[0], np.float32([3]))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    assert "mine.Twice ('y')" in unsupported(model)


@pytest.mark.parametrize("op, kind, name", [
    ("Add", TensorProto.BFLOAT16, "Add of bfloat16"), ("Mod", TensorProto.BFLOAT16, "Mod of bfloat16"),
    ("GatherElements", TensorProto.STRING, "GatherElements of string"), ("Tile", TensorProto.STRING, "Tile of string")])
def test_unsupported_types_are_named(op, kind, name):
    inputs = ["x"] if op == "Identity" else ["x", "s"] if op == "Reshape" else ["x", "x"]
    value = helper.make_tensor_value_info("x", kind, [2])
    output = helper.make_tensor_value_info("y", kind, [2])
    shape = [typed("s", np.int64)] if op == "Reshape" else []
    assert name in unsupported(model_of([helper.make_node(op, inputs, ["y"])], [value, *shape], [output]))


def test_sparse_constants_are_refused():
    numbers = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
    sparse = helper.make_sparse_tensor(numbers, helper.make_tensor("i", TensorProto.INT64, [1], [0]), [3])
    node = helper.make_node("Constant", [], ["y"], sparse_value=sparse)
    assert "sparse_value" in unsupported(model_of([node], [], [typed("y", np.float32)]))


def test_sparse_and_external_initializers_are_refused():
    sparse = helper.make_sparse_tensor(helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0]),
                                       helper.make_tensor("i", TensorProto.INT64, [1], [2]), [5])
    model = model_of([helper.make_node("Abs", ["w"], ["y"])], [], [typed("y", np.float32)], sparse_initializer=[sparse])
    assert "'w' is sparse" in unsupported(model)
    tensor = numpy_helper.from_array(np.float32([1, 2]), "w")
    model = model_of([helper.make_node("Abs", ["w"], ["y"])], [], [typed("y", np.float32)], initializers=[tensor])
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "weights.bin")
    model.graph.initializer[0].ClearField("raw_data")
    with pytest.raises((ValueError, onnx.checker.ValidationError)):
        backend.prepare(model)
    with pytest.raises(ValueError, match="'w' is in a file that was not loaded"):
        backend.Prepared(model)


def test_wrong_models():
    x, y = [typed("x", np.uint8)], [typed("y", np.uint8)]
    with pytest.raises(TypeError, match="ONNX has no Neg of uint8 in opset 14"):
        backend.prepare(model_of([helper.make_node("Neg", ["x"], ["y"])], x, y))
    with pytest.raises(TypeError, match="must have one type, but have uint8, int8"):
        backend.prepare(model_of([helper.make_node("Add", ["x", "z"], ["y"])], x + [typed("z", np.int8)], y))
    with pytest.raises(FileNotFoundError, match="model.onnx"):
        backend.prepare("no/model.onnx")
    model = model_of([helper.make_node("Abs", ["x"], ["y"])], x, y)
    del model.opset_import[:]
    with pytest.raises((ValueError, onnx.checker.ValidationError)):
        backend.prepare(model)
    with pytest.raises(ValueError, match="does not declare which opset"):
        backend.Prepared(model)
    with pytest.raises(ValueError, match=r"the model uses opset 99, but anydml supports opsets up to \d\d$"):
        backend.Prepared(model_of([helper.make_node("Abs", ["x"], ["y"])], x, y, 99))


def test_wrong_inputs():
    prepared = backend.prepare(days_and_hours())
    with pytest.raises(TypeError, match="input 't' is float64, but the model declares float32"):
        prepared.run([np.array([1.0])])
    with pytest.raises(ValueError, match=r"input 't' has the shape \[1, 1\], but the model declares \[\?\]"):
        prepared.run([np.float32([[1]])])
    with pytest.raises(ValueError, match="takes 1 inputs, but 3 were given"):
        prepared.run([np.float32([1])] * 3)
    with pytest.raises(ValueError, match="no input 'u'"):
        prepared.run({"u": np.float32([1])})
    with pytest.raises(ValueError, match="input 't' is missing"):
        prepared.run({})


def test_a_declared_size_of_minus_1_is_unknown(tmp_path):
    """As some exporters write it, among them older versions of Paddle's."""
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [typed("x", np.float32, [-1, 2])],
                     [typed("y", np.float32, [-1, 2])])
    onnx.save(model, tmp_path / "m.onnx")
    for source in (model, model.SerializeToString(), tmp_path / "m.onnx"):
        prepared = backend.prepare(source)
        for rows in (3, 0, 1):
            x = np.ones((rows, 2), np.float32)
            same_bits(prepared.run([x])["y"], -x)
        with pytest.raises(ValueError, match=r"'x' has the shape \[1, 3\], but the model declares \[\?, 2\]"):
            prepared.run([np.ones((1, 3), np.float32)])
    assert inputs_of(prepared)["x"].shape == (1, 2)


def test_devices():
    assert backend.supports_device("CPU") and not backend.supports_device("TPU")
    assert not backend.is_compatible(days_and_hours(), "TPU") and backend.is_compatible(days_and_hours())
    with pytest.raises(ValueError, match="device 'TPU' is not supported; ONNX models run on 'CPU'"):
        backend.prepare(days_and_hours(), "TPU")


@pytest.mark.skipif(not backend.supports_device("CUDA"), reason="there is no GPU")
def test_a_model_on_a_gpu():
    given = [np.float32([25, -1, 240])]
    for one, other in zip(backend.prepare(days_and_hours(), "CUDA").run(given), backend.run_model(days_and_hours(), given)):
        assert one.tobytes() == other.tobytes()


def test_without_onnx():
    program = "import sys; sys.modules['onnx'] = None\ntry: import anydml.onnx\nexcept ImportError as e: print(e)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert answer == "anydml.onnx needs the onnx package: pip install onnx\n"


def test_the_whole_suite_and_the_counts_of_the_document():
    counts = onnx_counts.count()
    assert not any(counts.failed.values()), counts.failed
    node_tests = onnx_counts.suite().test_cases["OnnxBackendNodeModelTest"]
    mods = {name.removesuffix("_cpu") for name in vars(node_tests) if re.match("test_mod_.*_cpu$", name)}
    assert "test_mod_mixed_sign_float64" in mods and mods <= set(counts.passed["Node"])
    if f"onnx {onnx.__version__}, NumPy {np.__version__}:" in DOCUMENT.read_text():
        assert onnx_counts.markdown(counts) in DOCUMENT.read_text()
        for part in (onnx_counts.nodes(), onnx_counts.hosted(), onnx_counts.contributed()):
            assert part in DOCUMENT.read_text()
        for part in (onnx_counts.learned(), onnx_counts.strings()):
            assert part in DOCUMENT.with_name("onnx-ml.md").read_text()


def suite_of_rows():
    """ONNX's own tests for selected operators, each as a separate test."""
    wanted = re.compile("test_(operator_)?(mod|add|sub|mul|div|abs|neg|floor|ceil|clip|identity|cast|equal|where|"
                        "constantofshape)(_.*)?_cpu$")
    cases = onnx_counts.suite(__name__).test_cases
    for case in cases.values():
        for name in [name for name in vars(case) if name.startswith("test_") and not wanted.match(name)]:
            delattr(case, name)
    return cases


globals().update(suite_of_rows())


def test_a_model_is_one_graph_where_its_nodes_allow_it():
    """A model that cannot run as a single graph because of its nodes runs in pieces, with the same bits."""
    nodes = "z = Add(x, y)  r = Relu(z)  s = ReduceSum<keepdims = 1>(r)  t = Transpose(r)  q = Div(t, s)  b = Greater(q, t)"
    text = '<ir_version: 8, opset_import: ["": 13]> m (float[N, M] x, float[M] y{}) => (float[M, N] {}, bool[M, N] b) {{{}}}'
    whole = backend.prepare(onnx.parser.parse_model(text.format("", "q", nodes)))
    parts = backend.prepare(onnx.parser.parse_model(text.format(", int64[2] to", "p", nodes + "p = Reshape(q, to)")))
    x, y = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4), np.float32([1, 0, -1, 0.5])
    for array in (x, x[:2], x[:, ::-1], x):
        together = whole.run([array, y])
        alone = parts.run([array, y, np.array(together[0].shape)])
        assert [one.tobytes() for one in together] == [one.tobytes() for one in alone]
        assert [one.tobytes() for one in together] == [one.tobytes() for one in node_by_node(whole, [array, y])]
        assert together["b"].dtype == bool and all(one.flags.writeable for one in together)
    assert pieces(whole) == [(0, explained(whole).count)] * 2
    assert {begin for begin, _ in pieces(parts)} == {0} and len(pieces(parts)) == 2


def test_forms_that_come_again_are_looked_up():
    """A run with a single graph is looked up directly the next time, but only for the same types, shapes and
    strides."""
    model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 13]>
    g (float[N, M] x, int64[K] sizes) => (float[A, B] y, float[N, M] z) {
      two = Constant<value = float {2}>()
      z = Pow(x, two)
      y = Reshape(z, sizes)
    }''')
    prepared, x = backend.prepare(model), np.arange(6, dtype=np.float32).reshape(2, 3)
    for given, sizes in ((x, [3, 2]), (x, [3, 2]), (x, [6, 1]), (x, [3, 2]), (x.T, [2, 3]), (x.T, [2, 3]), (x[:, ::-1], [6, 1])):
        y, z = prepared.run({"x": given, "sizes": np.array(sizes)})
        assert np.array_equal(z, given * given) and np.array_equal(y, (given * given).reshape(sizes))
        z[:] = y[:] = -1  # the results belong to the caller
    with pytest.raises(TypeError, match="input 'x' is float64"):
        prepared.run({"x": x.astype(float), "sizes": np.array([3, 2])})
    with pytest.raises(ValueError, match="no input 'u'"):
        prepared.run({"x": x, "u": np.array([3, 2])})
