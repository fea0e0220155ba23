# SPDX-License-Identifier: MIT
"""Tests quantized models: the patterns of QuantizeLinear and DequantizeLinear that compute with integers have the bits of
NumPy's integers, and those of moves have the bits of the literal model."""
import itertools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper

import anydml.onnx as backend
from onnx_models import explained, node_by_node

RANDOM = np.random.default_rng(48)
F = np.float32


# ---- The definition -------------------------------------------------------------------------------------------------

def quantize(x, scale, zero):
    """Halves are rounded to even numbers; NaN counts as 0."""
    whole = np.rint((x / F(scale)).astype(F))
    limits = np.iinfo(zero.dtype)
    codes = np.where(np.isnan(whole), 0, np.clip(whole, -2.0**20, 2.0**20)).astype(np.int64) + int(zero)
    return np.clip(codes, limits.min, limits.max).astype(zero.dtype)


def dequantize(codes, scale, zero):
    return (codes.astype(np.int64) - zero).astype(F) * np.asarray(scale, F)


def rounded(total, a_scale, b_scale, y_scale, zero):
    """Multiplies sums of integers by one factor."""
    factor = (F(a_scale) * np.asarray(b_scale, F)) / F(y_scale)
    return quantize(total.astype(np.int32).astype(F) * factor, 1, zero)


def convolve(x, w, pad):
    """Sums of int64 products of an image and a filter, both without zero points."""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    height, width = x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1
    return sum(np.einsum("nchw,oc->nohw", x[:, :, i:i + height, j:j + width], w[:, :, i, j].astype(np.int64))
               for i, j in np.ndindex(w.shape[2:]))


# ---- Models ---------------------------------------------------------------------------------------------------------

class Nodes:
    """Writes a model. Arrays are initializers."""

    def __init__(self, opset=17):
        self.opset, self.nodes, self.arrays, self.declared = opset, [], [], []

    def array(self, value):
        self.arrays.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.arrays)}"))
        return self.arrays[-1].name

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [one if isinstance(one, str) else self.array(one) for one in inputs]
        given = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, given, **attributes))
        return given[0] if outputs == 1 else given

    def input(self, name, like):
        self.declared.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(like.dtype), like.shape))
        return name

    def quantized(self, x, scale, zero, **attributes):
        return self.add("QuantizeLinear", x, np.asarray(scale, F), zero, **attributes)

    def dequantized(self, x, scale, zero, **attributes):
        return self.add("DequantizeLinear", x, np.asarray(scale, F), zero, **attributes)

    def model(self, *outputs):
        graph = helper.make_graph(self.nodes, "g", self.declared, [onnx.ValueInfoProto(name=name) for name in outputs],
                                  self.arrays)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)  # completes the outputs


def codes(dtype, *shape):
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


def run_both(model, *inputs):
    """Returns the results with integers, which graphs and single nodes agree on, and those of the literal model."""
    prepared, literal = backend.prepare(model), backend.prepare(model, literal=True)
    results = prepared.run(list(inputs))
    for one, other in zip(results, node_by_node(prepared, list(inputs)), strict=True):
        np.testing.assert_array_equal(one, other)
    return results, literal.run(list(inputs)), set(explained(prepared).steps), set(explained(literal).steps)


def apart(a, b):
    return np.abs(a.astype(np.int64) - b.astype(np.int64)).max()


def beside_runtime(model, *inputs):
    """Returns ONNX Runtime's first result, which its optimizer computes with integers too."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, {one.name: array for one, array in zip(session.get_inputs(), inputs)})[0]


KINDS = (np.uint8, np.int8)
CLIP = ("Clip", F(-1.5), F(2.0))


@pytest.mark.parametrize("activation", [None, ("Relu",), CLIP, ("Clip", F(0)), ("Clip", "", F(6))],
                         ids=["none", "relu", "clip", "min", "max"])
@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=3)), ids=lambda kinds: "-".join(
    np.dtype(kind).name for kind in kinds))
@pytest.mark.parametrize("per_channel, has_bias", [(False, True), (True, True), (True, False)])
def test_convolutions(kinds, per_channel, has_bias, activation):
    x, w = codes(kinds[0], 2, 3, 6, 5), codes(kinds[1], 4, 3, 3, 3)
    a_scale, a_zero, y_zero = F(0.021), kinds[0](7), kinds[2](100)
    w_scale = (RANDOM.random(4 if per_channel else ()) * 0.01 + 0.004).astype(F)
    w_zero = np.zeros(w_scale.shape, kinds[1]) if per_channel else kinds[1](3)
    bias = RANDOM.integers(-9999, 9999, 4).astype(np.int32)
    y_scale = F(0.05)
    nodes = Nodes()
    g = nodes.dequantized(w, w_scale, w_zero, **({"axis": 0} if per_channel else {}))
    inputs = [nodes.dequantized(nodes.input("x", x), a_scale, a_zero), g]
    if has_bias:
        inputs.append(nodes.dequantized(bias, a_scale * w_scale, np.zeros(w_scale.shape, np.int32),
                                        **({"axis": 0} if per_channel else {})))
    y = nodes.add("Conv", *inputs, pads=[1, 1, 1, 1])
    if activation is not None:
        y = nodes.add(activation[0], y, *activation[1:])
    model = nodes.model(nodes.quantized(y, y_scale, y_zero))
    (result,), (literal,), steps, literal_steps = run_both(model, x)

    zeros = w_zero.astype(np.int64).reshape(-1, 1, 1, 1)
    total = convolve(x.astype(np.int64) - a_zero, w - zeros, 1)
    if has_bias:
        total += bias[:, None, None]
    expected = rounded(total, a_scale, w_scale.reshape(-1, 1, 1), y_scale, y_zero)
    if activation is not None:
        low = 0 if activation[0] == "Relu" else activation[1] if not isinstance(activation[1], str) else -np.inf
        high = activation[2] if len(activation) > 2 else np.inf
        expected = np.clip(expected, quantize(F(low), y_scale, y_zero), quantize(F(high), y_scale, y_zero))
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == kinds[2] and apart(result, literal) <= 1
    assert "QLinearConv" in steps and not steps & {"Conv", "Relu", "DequantizeLinear"}
    assert "Conv" in literal_steps and "QLinearConv" not in literal_steps


@pytest.mark.parametrize("y_kind", KINDS)
@pytest.mark.parametrize("form", ["per tensor", "columns", "activations", "transposed", "bias", "columns and bias"])
def test_products(form, y_kind):
    """MatMul with weights or with another activation, and Gemm with and without a bias."""
    x, w = codes(np.uint8, 5, 7), codes(np.int8, 7, 4)
    columns = form.startswith("columns")
    a_scale, a_zero, y_scale, y_zero = F(0.02), np.uint8(120), F(0.3), y_kind(9)
    w_scale = (RANDOM.random(4 if columns else ()) * 0.02 + 0.01).astype(F)
    w_zero = np.zeros(w_scale.shape, np.int8)
    is_gemm, has_bias = form in ("transposed", "bias", "columns and bias"), form.endswith("bias")
    bias = RANDOM.integers(-9999, 9999, 4).astype(np.int32)
    nodes = Nodes()
    inputs = [nodes.dequantized(nodes.input("x", x), a_scale, a_zero)]
    if form == "activations":
        inputs.append(nodes.dequantized(nodes.input("w", w), w_scale, w_zero))
    else:
        axis = {"axis": 0 if is_gemm else 1} if columns else {}
        inputs.append(nodes.dequantized(w.T.copy() if is_gemm else w, w_scale, w_zero, **axis))
    if has_bias:
        inputs.append(nodes.dequantized(bias, a_scale * w_scale, np.zeros(w_scale.shape, np.int32),
                                        **({"axis": 0} if columns else {})))
    y = nodes.add("Gemm", *inputs, transB=1) if is_gemm else nodes.add("MatMul", *inputs)
    model = nodes.model(nodes.quantized(nodes.add("Relu", y), y_scale, y_zero))
    given = [x, w] if form == "activations" else [x]
    (result,), (literal,), steps, _ = run_both(model, *given)
    total = (x.astype(np.int64) - a_zero) @ w.astype(np.int64) + (bias if has_bias else 0)
    expected = np.maximum(rounded(total, a_scale, w_scale, y_scale, y_zero), y_zero)
    np.testing.assert_array_equal(result, expected)
    assert apart(result, literal) <= 1
    assert ("MatMulInteger" if has_bias else "QLinearMatMul") in steps
    assert not steps & {"Gemm", "MatMul", "DequantizeLinear", "Relu"}


@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5, "beta": 2.0}, {"transA": 1, "transB": 1}])
def test_products_that_are_not_quantized(attributes):
    """The sum is converted to float, multiplied by one factor and added to the bias."""
    x, w = codes(np.uint8, 5, 7), codes(np.int8, 7, 4)
    scale, w_scale, bias = F(0.02), (RANDOM.random(4) * 0.02).astype(F), RANDOM.standard_normal(4).astype(F)
    nodes = Nodes()
    turned = bool(attributes.get("transA"))
    a = nodes.dequantized(nodes.input("x", x.T.copy() if turned else x), scale, np.uint8(120))
    b = nodes.dequantized(w.T.copy() if turned else w, w_scale, np.zeros(4, np.int8), axis=0 if turned else 1)
    model = nodes.model(nodes.add("Gemm", a, b, bias, **attributes))
    (result,), (literal,), steps, _ = run_both(model, x.T.copy() if turned else x)
    factor = (scale * w_scale) * F(attributes.get("alpha", 1))
    total = (x.astype(np.int64) - 120) @ w.astype(np.int64)
    np.testing.assert_array_equal(result, total.astype(F) * factor + bias * F(attributes.get("beta", 1)))
    np.testing.assert_allclose(result, literal, rtol=1e-5, atol=1e-5)
    assert "MatMulInteger" in steps and "Gemm" not in steps


MOVES = [
    ("Reshape", [np.int64([3, -1])], {}), ("Flatten", [], {}), ("Transpose", [], {"perm": [2, 0, 1, 3]}),
    ("Squeeze", [np.int64([0])], {}), ("Unsqueeze", [np.int64([1])], {}), ("Identity", [], {}),
    ("Slice", [np.int64([1]), np.int64([3]), np.int64([2])], {}), ("Expand", [np.int64([2, 4, 4, 6])], {}),
    ("Tile", [np.int64([1, 1, 2, 1])], {}), ("Gather", [np.int64([2, 0])], {"axis": 1}),
    ("GatherElements", [np.zeros((1, 4, 4, 6), np.int64)], {}), ("GatherND", [np.int64([[0, 1]])], {}),
    ("DepthToSpace", [], {"blocksize": 2}), ("SpaceToDepth", [], {"blocksize": 2}),
    ("MaxPool", [], {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1], "strides": [1, 2]}),
    ("Resize", ["", F([1, 1, 2, 1.5])], {"mode": "nearest"}),
    ("Pad", [np.int64([0, 0, 1, 2, 0, 0, 1, 0])], {}), ("Pad", [np.int64([0, 0, 1, 2, 0, 0, 1, 0]), F(0)], {}),
    ("Pad", [np.int64([0, 0, 1, 2, 0, 0, 1, 0])], {"mode": "reflect"}), ("Relu", [], {}),
]


@pytest.mark.parametrize("opset", (13, 18))
@pytest.mark.parametrize("is_signed", (False, True))
@pytest.mark.parametrize("op, inputs, attributes", MOVES)
def test_moves(op, inputs, attributes, is_signed, opset):
    """Nodes that move or choose elements get the integers; no bit of a result changes."""
    x = codes(np.int8 if is_signed else np.uint8, 1, 4, 4, 6)
    zero = x.dtype.type(-20 if is_signed else 120)
    nodes = Nodes(opset)
    value = nodes.add(op, nodes.dequantized(nodes.input("x", x), 0.037, zero), *inputs, **attributes)
    model = nodes.model(nodes.quantized(value, 0.037, zero), nodes.add("Neg", value))
    results, literals, steps, literal_steps = run_both(model, x)
    for result, literal in zip(results, literals, strict=True):
        assert result.dtype == literal.dtype and result.tobytes() == literal.tobytes()
    assert "QuantizeLinear" not in steps and "QuantizeLinear" in literal_steps


@pytest.mark.parametrize("is_same", (False, True))
def test_parts(is_same):
    """Split, Where and Concat; parts with other scales are quantized before they are joined."""
    x, y = codes(np.uint8, 2, 6), codes(np.uint8, 2, 6)
    scales = (0.04, 0.04 if is_same else 0.07)
    nodes = Nodes(13)
    a = nodes.dequantized(nodes.input("x", x), scales[0], np.uint8(120))
    b = nodes.dequantized(nodes.input("y", y), scales[1], np.uint8(120))
    chosen = nodes.add("Where", np.bool_([[True, False] * 3]), a, b)
    first, second = nodes.add("Split", a, np.int64([2, 4]), outputs=2, axis=1)
    joined = nodes.quantized(nodes.add("Concat", first, b, second, axis=1), 0.04, np.uint8(120))
    model = nodes.model(joined, nodes.quantized(chosen, 0.05, np.uint8(100)), nodes.add("ArgMax", b, axis=1))
    results, literals, steps, _ = run_both(model, x, y)
    for result, literal in zip(results, literals, strict=True):
        assert result.dtype == literal.dtype and result.tobytes() == literal.tobytes()


def test_every_integer_that_is_quantized_again_is_the_same():
    """The reason why QuantizeLinear after DequantizeLinear may be left out: all integers, and scales of all sizes."""
    numbers = np.concatenate([RANDOM.random(300).astype(F) * F(2.0)**k for k in (-149, -140, -126, -20, 0, 20, 110)])
    for scale in numbers[numbers > 0]:
        for zero in (np.uint8(0), np.uint8(120), np.int8(-128), np.int8(127)):
            limits = np.iinfo(zero.dtype)
            every = np.arange(limits.min, limits.max + 1).astype(zero.dtype)
            np.testing.assert_array_equal(quantize(dequantize(every, scale, zero), scale, zero), every)


def conv_model(bias_scale=None, twice=False, quantize_attributes=None, y_scale=0.05, clip=None):
    x, w = codes(np.uint8, 1, 3, 6, 5), codes(np.int8, 4, 3, 3, 3)
    nodes = Nodes(19)
    inputs = [nodes.dequantized(nodes.input("x", x), 0.02, np.uint8(7)), nodes.dequantized(w, 0.01, np.int8(0))]
    if bias_scale is not None:
        inputs.append(nodes.dequantized(np.int32([5, 6, 7, 8]), bias_scale, np.int32(0)))
    y = nodes.add("Conv", *inputs)
    outputs = [y] if twice else []
    y = y if clip is None else nodes.add("Clip", y, *clip)
    return nodes.model(*outputs, nodes.quantized(y, y_scale, np.uint8(3), **(quantize_attributes or {}))), x


@pytest.mark.parametrize("options", [
    {"bias_scale": 0.5}, {"twice": True}, {"y_scale": 0.0}, {"y_scale": np.inf}, {"clip": (F(np.nan),)}])
def test_patterns_that_are_not_an_integer_operator(options):
    """A bias with another scale, a result that is used elsewhere, and scales or bounds without an order."""
    model, x = conv_model(**options)
    results, literals, steps, _ = run_both(model, x)
    assert "QLinearConv" not in steps and "ConvInteger" in steps
    assert apart(results[-1], literals[-1]) <= 1


def test_a_scale_that_a_run_replaces():
    """An initializer that is also an input is a constant only in runs that do not pass it."""
    model, x = conv_model()
    name = model.graph.node[-1].input[1]
    model.graph.input.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, []))
    prepared, literal = backend.prepare(model), backend.prepare(model, literal=True)
    for given in ({"x": x}, {"x": x, name: np.asarray(F(0.11))}):
        assert apart(prepared.run(given)[0], literal.run(given)[0]) <= 1


def test_scales_of_a_bias_that_were_multiplied_in_double():
    model, x = conv_model(bias_scale=np.nextafter(F(0.02) * F(0.01), F(1)))
    assert "QLinearConv" in run_both(model, x)[2]


def test_wrong_attributes_are_errors_in_a_pattern_too():
    model, _ = conv_model(quantize_attributes={"saturate": 1.5})
    with pytest.raises(Exception) as literal:
        backend.Prepared(model, literal=True)
    with pytest.raises(type(literal.value)) as replaced:
        backend.Prepared(model)
    assert str(replaced.value) == str(literal.value)


def test_explain_names_the_patterns():
    model, x = conv_model(clip=(F(0), F(2)))
    lines = backend.prepare(model).explain()
    assert "  with integers: 1 Conv, Clip, QuantizeLinear by QLinearConv" in lines
    assert not any("with integers" in line for line in backend.prepare(model, literal=True).explain())


def test_convolutions_have_the_bits_of_onnx_runtime():
    model, x = conv_model(bias_scale=F(0.02) * F(0.01))
    np.testing.assert_array_equal(backend.run_model(model, [x])[0], beside_runtime(model, x))


def test_the_option_of_earlier_versions_is_an_error():
    with pytest.raises(TypeError, match="prepare has no option integers.*unless literal is True"):
        backend.prepare(b"", integers=False)


@pytest.mark.parametrize("alpha", [0.25, 0.0, 1.0, -2.0])
def test_a_gemm_without_a_bias_keeps_its_alpha(alpha):
    build = Nodes()
    x = codes(np.int8, 3, 5)
    a = build.dequantized(build.input("x", x), 0.5, np.int8(0))
    y = build.add("Gemm", a, build.dequantized(codes(np.int8, 5, 4), 0.25, np.int8(0)), alpha=alpha)
    [integers], [literal], *_ = run_both(build.model(build.quantized(y, 4.0, np.int8(0))), x)
    assert apart(integers, literal) <= 1


@pytest.mark.parametrize("count", [33025, 33026])
def test_sums_of_integers_do_not_overflow(count):
    build = Nodes()
    x = np.full((1, count), 255, np.uint8)
    a = build.dequantized(build.input("x", x), 1.0, np.uint8(0))
    y = build.add("MatMul", a, build.dequantized(np.full((count, 1), 255, np.uint8), 1.0, np.uint8(0)))
    [integers], [literal], *_ = run_both(build.model(y), x)
    np.testing.assert_allclose(integers, literal, rtol=1e-6)
    assert integers[0, 0] > 0


@pytest.mark.parametrize("attributes", [
    {"kernel_shape": [1, 1], "pads": [1, 1, 1, 1]}, {"kernel_shape": [2, 2], "dilations": [4, 4], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1]}])
def test_pools_of_nothing_but_padding(attributes):
    build = Nodes()
    x = codes(np.int8, 1, 1, 3, 3)
    y = build.add("MaxPool", build.dequantized(build.input("x", x), 0.02, np.int8(3)), **attributes)
    [integers], [literal], *_ = run_both(build.model(y), x)
    np.testing.assert_array_equal(integers, literal)
