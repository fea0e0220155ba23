# SPDX-License-Identifier: MIT
"""Tests models that run in pieces: shape arithmetic, data-dependent shapes, branches, loops, constants, other
domains."""
import mmap
import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml  # noqa: E402
import anydml.onnx as backend  # noqa: E402
from onnx_models import dtype_of, explained, node_by_node, pieces  # noqa: E402

RANDOM = np.random.default_rng(3)
MAPS = pathlib.Path("/proc/self/maps")


def parsed(text, opset=18):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1]> {text}')


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def check(model, *runs, exactly=False):
    """Compares runs with named inputs with ONNX's reference evaluator, and their bits with those of the nodes run one by
    one; returns the prepared model."""
    prepared, reference = backend.prepare(model), ReferenceEvaluator(model)
    for given in runs:
        for actual, expected in zip(prepared.run(given), reference.run(None, given)):
            expected = np.asarray(expected)
            assert actual.dtype == expected.dtype and actual.shape == expected.shape
            np.testing.assert_allclose(actual, expected, rtol=0 if exactly else 1e-5, atol=0 if exactly else 1e-6)
        assert [one.tobytes() for one in prepared.run(given)] == [one.tobytes() for one in node_by_node(prepared, given)]
    return prepared


def test_shape_arithmetic_is_no_part_of_the_graph():
    model = parsed("""m (float[N, M] x) => (float[K] y) {
        s = Shape(x) zero = Constant<value_ints = [0]>() n = Gather(s, zero) size = Size(x) one = Constant<value_ints = [-1]>()
        whole = Reshape(size, one) twice = Add(n, n) left = Div(whole, n) to = Concat<axis = 0>(left, n)
        z = Reshape(x, to) r = Relu(z) filled = ConstantOfShape(twice) sum = ReduceSum<keepdims = 0>(r) y = Add(filled, sum)
    }""")
    prepared = check(model, {"x": floats(2, 3)}, {"x": floats(4, 5)}, {"x": floats(2, 3)})
    assert pieces(prepared) == [(0, explained(prepared).count)] * 2


def test_elements_of_inputs_that_become_shapes():
    """Each requested shape gets a graph of the whole model; after many shapes, the steps run on the host."""
    model = parsed("m (float[N] x, int64[K] to) => (float[A, B] y) { u = Abs(x) v = Reshape(u, to) y = Sqrt(v) }")
    runs = [{"x": floats(12), "to": np.array(to)} for to in ([3, 4], [4, 3], [2, 6], [3, 4])]
    prepared = check(model, *runs, exactly=True)
    assert pieces(prepared) == [(0, 3)] * 3
    check(model, *({"x": floats(2 * i), "to": np.array([2, i])} for i in range(1, 40)), exactly=True)


def test_elements_that_are_computed_end_a_piece():
    model = parsed("""m (float[N] x) => (float[K] y, int64[K] places) {
        c = Constant<value_float = 0.0>() big = Greater(x, c) places = NonZero(big) flat = Squeeze(places)
        taken = Gather(x, flat) root = Sqrt(taken) y = Neg(root)
    }""", 13)
    x = np.arange(-4, 16, dtype=np.float32)
    prepared = check(model, {"x": x}, {"x": x[3:]}, {"x": -x}, exactly=True)
    assert len({begin for begin, _ in pieces(prepared)}) == 3


def test_a_number_of_elements_from_data():
    """As in text to speech, a length is computed, and a range has that many elements."""
    model = parsed("""m (float[N] x) => (float[K] y) {
        axis = Constant<value_ints = [0]>() rounded = Round(x) total = ReduceSum<keepdims = 0>(rounded, axis)
        n = Cast<to = 7>(total) zero = Constant<value_int = 0>() one = Constant<value_int = 1>()
        r = Range(zero, n, one) f = Cast<to = 1>(r) y = Sqrt(f)
    }""")
    check(model, {"x": np.float32([2, 3])}, {"x": np.float32([1, 1, 1])}, {"x": np.float32([2, 3])}, exactly=True)


BRANCHES = """m (float[N] x, bool c) => (float[N] y) {
    z = Abs(x)
    w = If (c) <then_branch = t () => (float[N] a) { one = Constant<value_float = 1.0>() a = Add(z, one) },
                else_branch = e () => (float[N] b) { b = Neg(z) }>
    y = Sqrt(w)
}"""


def test_branches_are_part_of_the_graph():
    runs = [{"x": np.abs(floats(5)), "c": np.array(truth)} for truth in (True, False, True)]
    prepared = check(parsed(BRANCHES), *runs, exactly=True)
    assert pieces(prepared) == [(0, 3)] * 2


def test_a_branch_whose_condition_is_computed():
    text = BRANCHES.replace("bool c) =>", "float[N] t) =>").replace(
        "z = Abs(x)", "z = Abs(x) s = ReduceSum<keepdims = 0>(t) zero = Constant<value_float = 0.0>() c = Greater(s, zero)")
    check(parsed(text), {"x": floats(5), "t": np.ones(3, np.float32)}, {"x": floats(5), "t": -np.ones(3, np.float32)},
          {"x": floats(5), "t": np.ones(200, np.float32)}, exactly=True)


def test_branches_of_other_types_are_named():
    text = BRANCHES.replace("float[N] b) { b = Neg(z) }", "int64[1] b) { b = Shape(z) }")
    with pytest.raises((TypeError, onnx.checker.ValidationError)):
        backend.prepare(parsed(text))


LOOP = """m (int64 trips, bool go, float[N] x) => (float[N] last, float[K, N] all) {{
    half = Constant<value_float = 0.5>()
    last, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w, float[N] u) {{
        f = Cast<to = 1>(i) scaled = Mul(v, half) w = Add(scaled, f) u = Identity(w) top = ReduceMax<keepdims = 0>(w)
        end = Constant<value_float = {limit}>() d = Less(top, end) }}>
}}"""


@pytest.mark.parametrize("limit", [1000.0, 6.0])
def test_loops(limit):
    model = parsed(LOOP.format(limit=limit))
    runs = [{"go": np.array(True), "trips": np.array(trips), "x": floats(3)} for trips in (20, 1)]
    prepared = check(model, *runs, exactly=True)
    assert explained(prepared).steps == {"Loop": 1}
    (last, every) = backend.prepare(model).run({"go": np.array(True), "trips": np.array(0), "x": floats(3)})
    assert every.shape[0] == 0 and last.shape == (3,)


def test_a_tensor_that_grows_in_a_loop():
    """The body is not recompiled in every iteration, because the steps that use the tensor run on the host."""
    model = parsed("""m (int64 trips, bool go, float[N] x) => (float[K] y) {
        y = Loop (trips, go, x) <body = b (int64 i, bool c, float[K] v) => (bool d, float[L] w) {
            d = Identity(c) s = ReduceSum<keepdims = 1>(v) half = Constant<value_float = 0.25>() t = Mul(s, half)
            e = Sin(t) w = Concat<axis = 0>(v, e) }>
    }""")
    check(model, {"go": np.array(True), "trips": np.array(60), "x": floats(2)})


def test_scan():
    model = parsed("""m (float[2] first, float[N, 2] x) => (float[2] last, float[N, 2] sums) {
        last, sums = Scan<num_scan_inputs = 1, body = b (float[2] s, float[2] v) => (float[2] t, float[2] u) {
            t = Add(s, v) u = Identity(t) }> (first, x)
    }""")
    check(model, {"first": floats(2), "x": floats(5, 2)}, {"first": floats(2), "x": floats(3, 2)})


def test_constants_are_computed_once():
    """The constants are weights stored as integers, with a scale."""
    weights, scale = RANDOM.integers(-128, 127, (8, 4)).astype(np.int8), floats(4)
    model = parsed("m (float[N, 8] x) => (float[N, 4] y) { f = Cast<to = 1>(w) v = Mul(f, scale) y = MatMul(x, v) }")
    model.graph.initializer.extend([numpy_helper.from_array(weights, "w"), numpy_helper.from_array(scale, "scale")])
    prepared = check(model, {"x": floats(3, 8)}, {"x": floats(5, 8)})
    assert explained(prepared).steps == {"MatMul": 1} and explained(prepared).folded == 2


def test_initializers_that_a_run_replaces():
    model = parsed("m (float[2] x, float[2] w) => (float[2] y) { v = Neg(w) y = Add(x, v) }")
    model.graph.initializer.append(numpy_helper.from_array(np.float32([1, 2]), "w"))
    prepared = backend.prepare(model)
    assert prepared.run([np.float32([5, 5])])[0].tolist() == [4, 3]
    assert prepared.run({"x": np.float32([5, 5]), "w": np.float32([0, 1])})[0].tolist() == [5, 4]
    assert prepared.run([np.float32([5, 5])])[0].tolist() == [4, 3]


def test_paths_bytes_and_tensors_in_files(tmp_path):
    model = parsed("m (float[N, 64] x) => (float[N, 32] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(floats(64, 32), "w"))
    x = floats(2, 64)
    expected = backend.prepare(model).run([x])[0].tobytes()
    assert backend.prepare(model.SerializeToString()).run([x])[0].tobytes() == expected
    plain, beside = tmp_path / "plain.onnx", tmp_path / "beside.onnx"
    onnx.save(model, str(plain))
    onnx.save(model, str(beside), save_as_external_data=True, location="weights.bin", size_threshold=0)
    for path in (plain, beside, str(beside)):
        prepared = backend.prepare(path)
        assert prepared.run([x])[0].tobytes() == expected
    if MAPS.exists():
        assert str(tmp_path / "weights.bin") in MAPS.read_text()
    (tmp_path / "weights.bin").write_bytes(b"short")
    with pytest.raises((ValueError, onnx.checker.ValidationError)):
        backend.prepare(beside)
    with pytest.raises(ValueError, match="'w' needs 8192 bytes at offset 0 of 'weights.bin', which has 5"):
        backend.Prepared(beside)


def test_a_tensor_outside_the_folder_is_refused(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    model = parsed("m (float[4] x) => (float[4] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(floats(4), "w"))
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], "../secret.bin")
    model.graph.initializer[0].ClearField("raw_data")
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match="outside the model's folder"):
        backend.Prepared(folder / "m.onnx")


def test_empty_tensors_and_tensors_without_dimensions():
    model = parsed("""m (float[N, 3] x, float s) => (float[N, 3] y, float[3] z, int64[2] n) {
        a = Mul(x, s) y = Relu(a) axis = Constant<value_ints = [0]>() z = ReduceSum<keepdims = 0>(y, axis) n = Shape(y) }""")
    check(model, *({"x": floats(n, 3), "s": np.array(2, np.float32)} for n in (0, 2, 0, 1)))


def test_outputs_are_apart():
    """The outputs are one value returned twice, a constant, and an input."""
    model = parsed("""m (float[N] x) => (float[N] y, float[N] z, int64[1] n, float[N] x) {
        y = Abs(x) z = Identity(y) n = Shape(x) }""")
    prepared, x = backend.prepare(model), np.float32([-1, 2])
    for _ in range(2):
        outputs = prepared.run([x])
        for output in outputs:
            output[...] = 7
        assert x.tolist() == [-1, 2]
    assert prepared.run([x])["n"].tolist() == [2]


def test_bounds_and_shapes_that_are_computed():
    model = parsed("""m (float[N] x, int64[2] to) => (float[N] y, float[A, B] z) {
        axis = Constant<value_ints = [0]>() low = ReduceMin<keepdims = 0>(x, axis) half = Constant<value_float = 0.5>()
        bound = Mul(low, half) high = Neg(bound) y = Clip(x, bound, high) z = ConstantOfShape(to) }""")
    prepared = check(model, {"x": floats(300), "to": np.array([2, 3])}, exactly=True)
    assert pieces(prepared) == [(0, explained(prepared).count)]


def test_many_sizes_are_graphs_each():
    model = parsed("m (float[N] x) => (float[N] y) { c = Constant<value_float = 0.5>() a = Mul(x, c) y = Tanh(a) }")
    prepared = check(model, *({"x": floats(n)} for n in range(1, 50)))
    assert all(is_graph for _, _, is_graph, _ in explained(prepared).pieces) and len(pieces(prepared)) == 16


def test_few_steps_behind_data_of_many_sizes_are_not_compiled_each_time():
    model = parsed("""m (float[N] x) => (float[K] y) {
        c = Constant<value_float = 0.0>() big = Greater(x, c) places = NonZero(big) minus = Constant<value_ints = [-1]>()
        flat = Reshape(places, minus) taken = Gather(x, flat) y = Sqrt(taken) }""")
    runs = [np.where(np.arange(64) < n, 1, -1).astype(np.float32) for n in range(1, 60)]
    prepared = check(model, *({"x": x} for x in runs), exactly=True)
    assert len([1 for _, _, is_graph, _ in explained(prepared).pieces if is_graph]) <= 3


@pytest.mark.parametrize("kind", ["int64", "int32", "float"])
def test_few_elements_on_the_host_have_the_bits_of_the_operators(kind):
    """Sizes are computed without DirectML's operators, as constants of the model and between graphs."""
    dtype = dtype_of(kind)
    ends = np.finfo(dtype) if kind == "float" else np.iinfo(dtype)
    a = np.array([0, 1, -1, ends.min, ends.max, 3, 7, 5], dtype)
    b = np.array([-5, ends.max, ends.min, ends.min, ends.max, 2, -7, 0], dtype)
    others = ["int64", "int32", "float", "double"]
    text = "y0 = Add(a, b) y1 = Sub(a, b) y2 = Mul(a, b) y3 = Div(a, b) y4 = Max(a, b) y5 = Min(a, b) e = Equal(a, b) "
    text += "y6 = Where(e, a, b) y7 = Less(a, b) y8 = Greater(a, b) " + " ".join(
        f"y{i} = Cast<to = {onnx.TensorProto.DataType.Value(other.upper())}>(a)" for i, other in enumerate(others, 9))
    outputs = ", ".join(f"{one}[N] y{i}" for i, one in enumerate([*[kind] * 7, "bool", "bool", *others]))
    constant = parsed(f"m () => ({outputs}) {{ {text} }}")
    constant.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in (("a", a), ("b", b)))
    folded, given = backend.prepare(constant), backend.prepare(parsed(f"m ({kind}[N] a, {kind}[N] b) => ({outputs}) {{ {text} }}"))
    assert explained(folded).count == 0
    operators = ["ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "MAX", "MIN"]
    with np.errstate(all="ignore"):
        expected = [anydml.run(f"ELEMENT_WISE_{op}", a, b) for op in operators] + [np.where(a == b, a, b), a < b, a > b] + [
            anydml.run("CAST", a, dtype=dtype_of(other)) for other in others]
    for results in (folded.run([]), given.run([a, b]), node_by_node(given, [a, b]), given.run([a.repeat(9), b.repeat(9)])):
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype and result[::len(result) // 8].tobytes() == wanted.tobytes()


def test_threads_share_a_model():
    model = parsed("m (float[N, 3] x) => (float[N, 3] y) { c = Constant<value_float = 0.5>() a = Mul(x, c) y = Tanh(a) }")
    prepared = backend.prepare(model)
    with ThreadPoolExecutor(4) as pool:
        arrays = [floats(n % 7 + 1, 3) for n in range(60)]
        for x, y in zip(arrays, pool.map(lambda x: prepared.run([x])[0], arrays)):
            np.testing.assert_allclose(y, np.tanh(x * 0.5), rtol=1e-6)


def test_steps_that_nobody_needs_are_left_out():
    prepared = backend.prepare(parsed("m (float[N] x) => (float[N] y) { y = Abs(x) z = Neg(x) w = Exp(z) }"))
    assert explained(prepared).steps == {"Abs": 1}


QUANTISED = """m (float[N, 2, 5] x) => (float[N, 3, 5] y) {
    s = Constant<value_float = 0.05>() z = Constant<value = uint8 {120}>() q = QuantizeLinear(x, s, z)
    f = DequantizeLinear(q, s, z) g = DequantizeLinear%s(w, t) bias = Constant<value_floats = [1.0, 2.0, -3.0]>()
    c = Conv<pads = [1, 1], kernel_shape = [3]>(f, g, bias) h = Transpose<perm = [0, 2, 1]>(c)
    hq = QuantizeLinear(h, s, z) hf = DequantizeLinear(hq, s, z) v = DequantizeLinear%s(m, u) p = MatMul(hf, v)
    y = Transpose<perm = [0, 2, 1]>(p)
}"""


@pytest.mark.parametrize("axes", [("", ""), ("<axis = 0>", "<axis = 1>"), ("<axis = 1>", "<axis = 0>")])
def test_products_of_integers(axes):
    """Integer products are used if the scales allow it. Otherwise, or with literal=True, the model runs as written."""
    model = parsed(QUANTISED % axes)
    counts = {"": (), "<axis = 0>": (3,), "<axis = 1>": (2,) if axes[0] == "<axis = 1>" else (3,)}
    scales = [np.asarray(np.abs(floats(*counts[axis])) * 0.02 + 0.01, np.float32) for axis in axes]
    weights = [RANDOM.integers(-127, 127, shape).astype(np.int8) for shape in ((3, 2, 3), (3, 3))]
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for array, name in zip(
        (*weights, *scales), ("w", "m", "t", "u")))
    x = floats(2, 2, 5)
    literal, exact = backend.prepare(model, literal=True), backend.prepare(model)
    expected = literal.run([x])[0]
    np.testing.assert_allclose(exact.run([x])[0], expected, rtol=1e-4, atol=1e-4)
    ops = set(explained(exact).steps)
    if axes[0] == "<axis = 1>":
        assert "ConvInteger" not in ops and "MatMulInteger" not in ops
    else:
        assert {"ConvInteger", "MatMulInteger"} <= ops and "DequantizeLinear" not in ops
    assert not {"ConvInteger", "MatMulInteger"} & set(explained(literal).steps)


# ---- com.microsoft --------------------------------------------------------------------------------------------------

def contrib(op, *arrays, outputs=1, kind=np.float32, **attributes):
    """Returns the results from anydml and from ONNX Runtime."""
    runtime = pytest.importorskip("onnxruntime")
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(arrays)]
    given = {name: array for name, array in zip(names, arrays) if name}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in given.items()]
    result = [f"y{i}" if i in (0, outputs - 1) else "" for i in range(outputs)]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    infos = [helper.make_tensor_value_info("y0", kind, None)]
    if outputs == 4:  # the fourth output is the sum; with two outputs, the second is an unused mask
        infos.append(helper.make_tensor_value_info("y3", kind, None))
    graph = helper.make_graph([helper.make_node(op, names, result, domain="com.microsoft", **attributes)], "g", inputs, infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
                              ir_version=8)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    expected = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, given)
    return backend.Prepared(model).run(given), expected


SCALE, ZERO = np.float32(0.05), np.uint8(120)
BYTES = [RANDOM.integers(0, 256, (2, 3, 4)).astype(np.uint8) for _ in range(2)]
TRIPLES = [BYTES[0], SCALE, ZERO, BYTES[1], np.float32(0.03), np.uint8(130), np.float32(0.09), np.uint8(125)]
WEIGHTS = RANDOM.integers(-100, 100, (4, 5)).astype(np.int8)
PACKED = np.random.default_rng(4).integers(0, 256, (5, 2, 16)).astype(np.uint8)  # 5 x 64 nibbles in blocks of 32


@pytest.mark.parametrize("op, arrays, attributes", [
    ("Gelu", [floats(3, 4)], {}), ("BiasGelu", [floats(3, 4), floats(4)], {}), ("FastGelu", [floats(3, 4), floats(4)], {}),
    ("FastGelu", [floats(3, 4)], {}), ("QuickGelu", [floats(3, 4)], {"alpha": 1.5}),
    ("FusedConv", [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3)], {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    ("FusedConv", [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3), floats(1, 3, 3, 3)],
     {"activation": "LeakyRelu", "activation_params": [0.2]}),
    ("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], {"activation": "Tanh", "transB": 1, "alpha": 0.5}),
    ("FusedMatMul", [floats(2, 4, 3), floats(2, 4, 5)], {"transA": 1, "alpha": 2.0}),
    ("FusedMatMul", [floats(2, 3, 4), floats(5, 4)], {"transB": 1}),
    ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)], {"epsilon": 1e-5}),
    ("SkipLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"outputs": 4}),
    ("SkipSimplifiedLayerNormalization", [floats(2, 3, 8), floats(2, 3, 8), floats(8)], {"epsilon": 1e-5}),
    ("EmbedLayerNormalization", [np.int32([[1, 2, 3]]), np.int32([[0, 0, 1]]), floats(9, 8), floats(5, 8), floats(2, 8),
                                 floats(8), floats(8)], {"epsilon": 1e-5, "outputs": 2}),
    ("DynamicQuantizeMatMul", [floats(3, 4), WEIGHTS, np.float32(0.1), np.int8(0), floats(5)], {}),
    ("MatMulIntegerToFloat", [BYTES[0][0], WEIGHTS, SCALE, np.float32(0.1), ZERO, np.int8(3), floats(5)], {}),
    ("MatMulNBits", [floats(2, 3, 64), PACKED, floats(10)], {"K": 64, "N": 5, "bits": 4, "block_size": 32}),
    ("MatMulNBits", [floats(3, 64), PACKED, floats(10), PACKED[:, 0, :1].reshape(-1)],
     {"K": 64, "N": 5, "bits": 4, "block_size": 32}),
    ("MatMulNBits", [floats(3, 48), PACKED, floats(10)], {"K": 48, "N": 5, "bits": 4, "block_size": 32}),
])
def test_contributed_operators(op, arrays, attributes):
    arrays = [None if array is None else np.asarray(array) for array in arrays]
    for actual, expected in zip(*contrib(op, *arrays, **attributes)):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op, arrays, attributes", [
    ("QLinearAdd", TRIPLES, {}), ("QLinearMul", TRIPLES, {}),
    ("QLinearSigmoid", [BYTES[0], SCALE, ZERO, np.float32(1 / 256), np.uint8(0)], {}),
    ("QLinearLeakyRelu", [BYTES[0], SCALE, ZERO, np.float32(0.04), np.uint8(100)], {"alpha": 0.1}),
    ("QLinearConcat", [np.float32(0.06), np.uint8(128), *TRIPLES[:6]], {"axis": 1}),
    ("QLinearGlobalAveragePool", [BYTES[0][None], SCALE, ZERO, np.float32(0.02), np.uint8(128)], {"channels_last": 0}),
    ("QGemm", [BYTES[0][0], SCALE, ZERO, WEIGHTS, np.float32(0.1), np.int8(0), RANDOM.integers(-99, 99, 5).astype(np.int32),
               np.float32(3.0), np.uint8(128)], {}),
])
def test_contributed_operators_of_bytes(op, arrays, attributes):
    """Results must be equal within one unit, because ONNX Runtime may round once more or once less."""
    (actual,), (expected,) = contrib(op, *map(np.asarray, arrays), kind=np.uint8, **attributes)
    assert actual.dtype == expected.dtype
    assert np.abs(actual.astype(int) - expected.astype(int)).max() <= 1


def test_states_that_stay_and_steps_that_depend_on_no_turn():
    """Weights that a loop passes on are constants of its body. Their product with an outer value is computed once."""
    model = parsed("""m (int64 trips, bool go, float[2, 2] x, float[2] v) => (float[2] last, float[2, 2] same) {
        w = Constant<value = float[2, 2] {1.0, 0.5, 0.25, -1.0}>()
        last, same = Loop (trips, go, v, w) <body = b (int64 i, bool c, float[2] s, float[2, 2] u) =>
            (bool d, float[2] t, float[2, 2] u) { d = Identity(c) p = MatMul(x, u) q = MatMul(p, s) t = Tanh(q) }>
    }""")
    prepared = check(model, {"trips": np.array(5), "go": np.array(True), "x": floats(2, 2), "v": floats(2)},
                     {"trips": np.array(0), "go": np.array(True), "x": floats(2, 2), "v": floats(2)})
    assert [body.steps for body in explained(prepared).bodies] == [{"MatMul": 1}, {"Identity": 1, "MatMul": 1, "Tanh": 1}]


def test_a_counter_that_slices_does_not_recompile():
    model = parsed("""m (int64 trips, bool go, float[N, 4] x, float[4] v) => (float[4] last) {
        last = Loop (trips, go, v) <body = b (int64 i, bool c, float[4] s) => (bool d, float[4] t) {
            d = Identity(c) one = Constant<value_ints = [1]>() zero = Constant<value_ints = [0]>()
            from = Reshape(i, one) to = Add(from, one) row = Slice(x, from, to, zero) flat = Squeeze(row, zero)
            sum = Add(s, flat) t = Tanh(sum) }>
    }""")
    prepared = check(model, {"trips": np.array(30), "go": np.array(True), "x": floats(30, 4), "v": floats(4)})
    assert [len(body.pieces) for body in explained(prepared).bodies] == [1]


def resident():
    """Returns the resident memory of this process in bytes."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="the system does not report memory usage")
def test_all_shapes_share_packed_weights():
    """The weights are also shared by several batches, along which they are broadcast."""
    model = parsed("m (float[M, N, 4096] x) => (float[M, N, 4096] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((4096, 4096), np.float32), "w"))
    weights, prepared = 4 * 4096**2, backend.prepare(model)
    prepared.run([floats(1, 64, 4096)])
    before = resident()
    for batch, rows in ((1, 65), (2, 33), (3, 22)):
        prepared.run([floats(batch, rows, 4096)])
    assert resident() - before < 0.5 * weights


class Layers:
    """Draws models with layers that repeat their operators, with weights, constants and inputs that are equal or not."""

    def __init__(self, random, choice=None):
        """choice: draws the kinds of layers and small constants; random: the weights"""
        self.random, self.choice, self.nodes, self.initial, self.count = random, choice or random, [], [], 0

    def constant(self, array):
        self.count += 1
        self.initial.append(numpy_helper.from_array(array, f"c{self.count}"))
        return f"c{self.count}"

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [f"v{self.count + i + 1}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{self.count}", **attributes))
        return names if outputs > 1 else names[0]

    def layer(self, x, other, width):
        """x and other: [rows, width]"""
        r = self.choice
        integers = lambda *numbers: self.constant(np.array(numbers, np.int64))  # noqa: E731
        weights = lambda *shape: self.constant((self.random.standard_normal(shape) / 4).astype(np.float32))  # noqa: E731
        a, b = self("Split", x, outputs=2, axis=1, num_outputs=2)
        pair = [(x, other), (x, x), (other, x)][r.integers(3)]
        half = [(a, b), (b, a), (a, a)][r.integers(3)]
        rows = self("Shape", x, end=1)
        kinds = [
            lambda: self("Add", self("MatMul", x, weights(width, width)), weights(width)),
            lambda: self("Sub", *pair),
            lambda: self("Concat", *half, axis=1),
            lambda: self("Mul", x, self.constant(np.float32(r.integers(2) + 1) * np.ones(r.integers(1, 3) // 2 or 1, np.float32))),
            lambda: self("Concat", self("Slice", x, integers(r.integers(2)), integers(width - 1), integers(1)), self(
                "Slice", other, integers(0), integers(2), integers(1)), axis=1),
            lambda: self("Gather", x, self.constant(r.integers(0, width, width)), axis=1),
            lambda: self("Reshape", self("Transpose", self("Reshape", x, self("Concat", rows, integers(2, -1), axis=0)),
                                         perm=[0, 2, 1]), self("Concat", rows, integers(width), axis=0)),
            lambda: self("Add", x, self("Transpose", self("MatMul", weights(width, width), self("Transpose", other)))),
            lambda: self("Add", x, self("Gather", weights(5, width), integers(r.integers(5)), axis=0)),
            lambda: self("Softmax", x, axis=-1),
            lambda: self("LayerNormalization", x, weights(width), axis=-1),
            lambda: self("Add", self("Identity", x), self("Flatten", self("Reshape", other, self("Shape", x)))),
        ]
        y = kinds[r.integers(len(kinds))]()
        return self("Slice", y, integers(0), integers(width), integers(1))


@pytest.mark.parametrize("seed", range(30))
def test_equal_layers_are_recorded_once(seed):
    """A step like an earlier one repeats its operators, with its own weights, constants and inputs."""
    random, width = np.random.default_rng(seed), [4, 20, 160][seed % 3]
    layers = Layers(random)
    x, other = "x", "z"
    for _ in range(24):
        x, other = layers.layer(x, other, width), x
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width]) for name in "xz"]
    output = helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, ["rows", width])
    graph = helper.make_graph(layers.nodes, "layers", inputs, [output], layers.initial)
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    for rows in (1, 3, 7):
        given = {name: random.standard_normal((rows, width)).astype(np.float32) for name in "xz"}
        for actual, expected in zip(prepared.run(given), node_by_node(prepared, given)):
            assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("seed", range(30))
def test_equal_sequences_of_layers_are_recorded_once(seed):
    """The sequences have weights of their own, and some results inside of a sequence are outputs."""
    random, width = np.random.default_rng(seed), [4, 20, 160][seed % 3]
    layers, x, other, others, outputs = Layers(random), "x", "z", ["x", "z"], []
    for turn in range(5):
        layers.choice = np.random.default_rng([seed, turn == 4])  # the last sequence is another one
        if turn == 2 and seed % 2:
            other = others[random.integers(len(others))]
        begin = len(layers.nodes)
        for _ in range(4):
            x, other = layers.layer(x, other, width), x
            others.append(x)
        names = [name for node in layers.nodes[begin:] for name in node.output if node.op_type in ("Identity", "Slice")]
        outputs += [names[i] for i in random.integers(0, len(names), turn % 3)]
    inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width]) for name in "xz"]
    kept = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width]) for name in dict.fromkeys([x, *outputs])]
    graph = helper.make_graph(layers.nodes, "sequences", inputs, kept, layers.initial)
    for one in kept[1:]:
        one.type.tensor_type.ClearField("shape")
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    for rows in (1, 3, 7):
        given = {name: random.standard_normal((rows, width)).astype(np.float32) for name in "xz"}
        for actual, expected in zip(prepared.run(given), node_by_node(prepared, given), strict=True):
            assert actual.shape == expected.shape and actual.tobytes() == expected.tobytes()


def test_a_bias_inside_of_the_weights_belongs_to_one_layer():
    """The second layer's bias is equal to the first one's, which is a row of the first layer's weights."""
    first, second = floats(8, 8, 1, 1), floats(8, 8, 1, 1)
    model = parsed("""m (float[1, 8, H, W] x) => (float[1, 8, H, W] a, float[1, 8, H, W] b) {
        zero = Constant<value_int = 0>() eight = Constant<value_ints = [8]>() row = Gather(first, zero) bias = Reshape(row, eight)
        a = Conv(x, first, bias) b = Conv(x, second, other)
    }""")
    for name, array in {"first": first, "second": second, "other": first[0].reshape(8).copy()}.items():
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    check(model, {"x": floats(1, 8, 2, 2)})


@pytest.mark.parametrize("is_reversed", [False, True])
def test_weights_of_equal_layers_are_constants_or_computed_while_recording(is_reversed):
    """Both have the same strides in the graph, although only one of them stays at its address."""
    names = ["computed", "given"] if is_reversed else ["given", "computed"]
    model = parsed(f"""m (float[N, 16] x) => (float[N, 16] a, float[N, 16] b) {{
        n = Size(x) m = Cast<to = 1>(n) zero = Constant<value_float = 0.0>() one = Constant<value_float = 1.0>()
        s = Constant<value_ints = [16, 16]>() numbers = Range(zero, m, one) computed = Reshape(numbers, s)
        first = Transpose({names[0]}) second = Transpose({names[1]}) a = MatMul(x, first) b = MatMul(x, second)
    }}""")
    model.graph.initializer.append(numpy_helper.from_array(floats(16, 16), "given"))
    prepared, given = backend.prepare(model), {"x": floats(16, 16)}
    for actual, expected in zip(prepared.run(given), node_by_node(prepared, given)):
        assert actual.tobytes() == expected.tobytes()
