# SPDX-License-Identifier: MIT
"""Products of models with weights in four bits, with activations in floats and in eight bits, bit for bit against the
NumPy programs in docs/numerics.md: which products round their activations, and how a user chooses."""
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper

import anydml.onnx as backend
from anydml.onnx.__main__ import main
from language_models import plain_loop, write_model
from onnx_models import node_by_node

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "ops"))
from coded_product_reference import product_of_codes  # noqa: E402
from product_reference import gemm  # noqa: E402

RANDOM = np.random.default_rng(51)
CHOICES = ("model", "float", "integer")


def floats(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def packed(codes):
    """Codes of four bits as MatMulNBits has them, two in a byte."""
    return (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)


class Weights:
    """A matrix in codes: {columns, depth}, with a scale and perhaps a zero point for each block of a column."""

    def __init__(self, columns, depth, block, dtype=np.float32, has_zeros=False):
        self.columns, self.depth, self.block = columns, depth, block
        blocks = -(-depth // block)
        self.codes = RANDOM.integers(0, 16, (columns, blocks * block))
        self.scales = (floats(columns, blocks) / 10).astype(dtype)
        self.zeros = RANDOM.integers(0, 16, (columns, blocks + blocks % 2)) if has_zeros else None

    def differences(self):
        zeros = 8 if self.zeros is None else np.repeat(self.zeros[:, :self.scales.shape[1]], self.block, 1)
        return (self.codes - zeros)[:, :self.depth]

    def tensors(self, name):
        arrays = {"codes": packed(self.codes).reshape(self.columns, -1, self.block // 2), "scales": self.scales.ravel()}
        if self.zeros is not None:
            arrays["zeros"] = packed(self.zeros).ravel()
        return [numpy_helper.from_array(array, f"{name}_{part}") for part, array in arrays.items()]

    def node(self, name, x, y, bias="", **attributes):
        zeros = "" if self.zeros is None else f"{name}_zeros"
        inputs = [x, f"{name}_codes", f"{name}_scales", zeros, "", bias]
        return helper.make_node("MatMulNBits", inputs[:6 if bias else 4 if zeros else 3], [y], domain="com.microsoft",
                                K=self.depth, N=self.columns, bits=4, block_size=self.block, **attributes)

    def product(self, x, is_integer):
        rows = x.reshape(-1, self.depth)
        if is_integer:
            wide = product_of_codes(rows.astype(np.float32), self.differences(), self.scales.astype(np.float32), self.block)
            result = wide.astype(x.dtype)
        else:
            scales = np.repeat(self.scales, self.block, 1)[:, :self.depth]
            result = gemm(rows, (self.differences().astype(np.float32) * scales.astype(np.float32)).astype(x.dtype).T)
        return result.reshape(*x.shape[:-1], self.columns)


def model_of(nodes, tensors, x, *outputs, opset=21):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    inputs = [helper.make_tensor_value_info("x", kind, [None] * x.ndim)]
    results = [helper.make_tensor_value_info(name, kind, [None] * x.ndim) for name in outputs]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, results, tensors), opset_imports=opsets, ir_version=10)


def same(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("level", [None, 0, 1, 2, 3, 4])
def test_accuracy_level_and_the_option(level, choice):
    weights, x = Weights(40, 96, 32), floats(2, 3, 96)
    model = model_of([weights.node("w", "x", "y", **({} if level is None else {"accuracy_level": level}))],
                     weights.tensors("w"), x, "y")
    prepared = backend.prepare(model, activations=choice)
    expected = weights.product(x, choice == "integer" or (choice == "model" and level == 4))
    same(prepared.run([x])[0], expected)
    if choice != "integer" or level == 4:
        same(node_by_node(prepared, [x])[0], expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("depth, block", [(31, 32), (256, 16), (257, 32), (300, 64), (1024, 128)])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_shapes_and_types(dtype, depth, block, has_zeros):
    for rows in (1, 2, 5, 6, 7, 13):
        weights, x = Weights(70, depth, block, dtype, has_zeros), floats(rows, depth, dtype=dtype)
        model = model_of([weights.node("w", "x", "y", accuracy_level=4)], weights.tensors("w"), x, "y")
        same(backend.prepare(model).run([x])[0], weights.product(x, True))


def test_each_node_has_its_own_level():
    """Equal products, of which some may use integers, alone and with an addition after them."""
    weights, x = [Weights(64, 64, 32) for _ in range(6)], floats(1, 64)
    levels = [4, 0, 4, 1, 0, 4]
    nodes, tensors = [], [numpy_helper.from_array(floats(64), "bias")]
    for i, (one, level) in enumerate(zip(weights, levels)):
        nodes.append(one.node(f"w{i}", "x", f"y{i}", "bias" if i % 3 == 2 else "", accuracy_level=level))
        tensors += one.tensors(f"w{i}")
    model = model_of(nodes, tensors, x, *(f"y{i}" for i in range(6)))
    bias = numpy_helper.to_array(tensors[0])
    for rows in (1, 7):
        x = floats(rows, 64)
        for choice in CHOICES:
            results = backend.prepare(model, activations=choice).run([x])
            for i, (one, level) in enumerate(zip(weights, levels)):
                is_integer = choice == "integer" or (choice == "model" and level == 4)
                same(results[i], one.product(x, is_integer) + (bias if i % 3 == 2 else np.float32(0)))


def test_zero_infinity_and_nan():
    weights, x = Weights(16, 64, 32), floats(5, 64)
    x[0], x[1, :32], x[2, 5], x[3, 40], x[4] = 0, 0, np.inf, np.nan, 2.0**-110
    model = model_of([weights.node("w", "x", "y", accuracy_level=4)], weights.tensors("w"), x, "y")
    with np.errstate(invalid="ignore"):
        same(backend.prepare(model).run([x])[0], weights.product(x, True))


def test_no_rows():
    weights, x = Weights(16, 64, 32), floats(0, 64)
    model = model_of([weights.node("w", "x", "y", accuracy_level=4)], weights.tensors("w"), x, "y")
    prepared = backend.prepare(model)
    assert prepared.run([x])[0].shape == node_by_node(prepared, [x])[0].shape == (0, 16)


# ---- DequantizeLinear -------------------------------------------------------------------------------------------------


def dequantized_model(kind, way, op, has_zeros, x, columns, depth=96):
    """A product with int4 or uint4 weights, and its codes, zero points and scales as NumPy arrays of {depth, columns}."""
    low = -8 if kind == TensorProto.INT4 else 0
    shape = {"blocks": (depth // 32, columns), "columns": (columns,), "one": ()}[way]
    codes, zeros = RANDOM.integers(low, low + 16, (depth, columns)), RANDOM.integers(low, low + 16, shape)
    scales = np.float32(RANDOM.standard_normal(shape) / 10)
    turned = op == "Gemm"  # of {columns, depth}
    axis = {"blocks": 0, "columns": 1, "one": 1}[way] ^ turned
    tensors = [helper.make_tensor("w", kind, codes.T.shape if turned else codes.shape, (codes.T if turned else codes).ravel()),
               numpy_helper.from_array(np.array(scales.T if turned else scales, order="C"), "s")]
    if has_zeros:
        of_zeros = zeros.T if turned else zeros
        tensors.append(helper.make_tensor("z", kind, of_zeros.shape, of_zeros.ravel()))
    attributes = {"axis": axis, **({"block_size": 32} if way == "blocks" else {})}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", *(["z"] if has_zeros else [])], ["wide"], **attributes),
             helper.make_node(op, ["x", "wide"], ["y"], **({"transB": 1} if turned else {}))]
    differences = codes - (0 if not has_zeros else np.repeat(zeros, 32, 0) if way == "blocks" else zeros)
    scales = scales if way == "blocks" else np.broadcast_to(scales, (1, columns))
    return model_of(nodes, tensors, x, "y"), differences, scales


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4], ids=("int4", "uint4"))
@pytest.mark.parametrize("way", ["blocks", "columns", "one"])
@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_dequantized_weights(kind, way, op, has_zeros):
    # Weights of 64 KiB stay codes until the product; smaller ones become floats when the model is loaded.
    for rows, columns, depth in ((1, 40, 96), (6, 2048, 96), (2, 2049, 96)):
        x = floats(rows, depth)
        model, differences, scales = dequantized_model(kind, way, op, has_zeros, x, columns, depth)
        block = 32 if way == "blocks" else depth
        weights = np.float32(differences) * np.repeat(scales, block, 0)
        same(backend.prepare(model).run([x])[0], gemm(x, weights))
        same(node_by_node(backend.prepare(model), [x])[0], gemm(x, weights))
        if columns * depth >= 1 << 17:
            actual = backend.prepare(model, activations="integer").run([x])[0]
            same(actual, product_of_codes(x, differences.T, scales.T, block))


def test_dequantized_weights_stay_in_four_bits(tmp_path):
    """They need half a byte each in the packed form, and no float is kept."""
    x = floats(3, 256)
    model, *_ = dequantized_model(TensorProto.INT4, "blocks", "MatMul", False, x, 1024, 256)
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    code = f"import anydml.onnx as backend, numpy as np\nbackend.prepare({str(path)!r}).run([np.ones((3, 256), np.float32)])"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "ANYDML_LOG": "graph"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "INT4[256, 1024]" in done.stderr and ":INT8[" not in done.stderr, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith(("initialize:", "run:"))]
    assert any("CODED_PRODUCT" in line for line in lines) and not any("DEQUANTIZE" in line for line in lines)


@pytest.mark.parametrize("other", ["output", "input"])
def test_codes_with_other_readers(other):
    """Codes that something else reads have a byte each."""
    x = floats(2, 96)
    model, differences, scales = dequantized_model(TensorProto.INT4, "blocks", "MatMul", False, x, 2048)
    graph, codes = model.graph, differences.astype(np.int8)
    given = {"x": x}
    if other == "output":
        graph.output.append(helper.make_tensor_value_info("w", TensorProto.INT4, [96, 2048]))
    else:
        graph.input.append(helper.make_tensor_value_info("w", TensorProto.INT4, [96, 2048]))
        codes = RANDOM.integers(-8, 8, codes.shape).astype(np.int8)
        given["w"] = codes.astype(pytest.importorskip("ml_dtypes").int4)
    prepared = backend.prepare(model)
    results = prepared.run(given)
    same(results[0], gemm(x, np.float32(codes) * np.repeat(scales, 32, 0)))
    if other != "input":
        np.testing.assert_array_equal(np.float32(results[1]), np.float32(codes))


# ---- Doors --------------------------------------------------------------------------------------------------------------


def test_wrong_values_are_named(tmp_path, capsys):
    weights, x = Weights(16, 64, 32), floats(1, 64)
    model = model_of([weights.node("w", "x", "y", accuracy_level=4)], weights.tensors("w"), x, "y")
    for make in (lambda: backend.prepare(model, activations="int8"), lambda: backend.Prepared(model, activations=4),
                 lambda: backend.Generator("nowhere", activations="int8")):
        with pytest.raises(ValueError, match="activations is .*; expected 'model', 'float', 'integer'"):
            make()
    with pytest.raises(SystemExit):
        main(["m.onnx", "--activations", "int8"])
    assert "--activations" in capsys.readouterr().err
    wrong = model_of([weights.node("w", "x", "y", accuracy_level=5)], weights.tensors("w"), x, "y")
    with pytest.raises(ValueError, match="accuracy_level is 5; expected 0 to 4"):
        backend.prepare(wrong)


def test_pickles_keep_the_choice():
    weights, x = Weights(16, 64, 32), floats(1, 64)
    model = model_of([weights.node("w", "x", "y", accuracy_level=4)], weights.tensors("w"), x, "y")
    for choice in CHOICES:
        prepared = backend.prepare(model, activations=choice)
        same(pickle.loads(pickle.dumps(prepared)).run([x])[0], prepared.run([x])[0])
        same(prepared.run([x])[0], weights.product(x, choice != "float"))


def in_codes(folder):
    """Replaces the products with weights in a language model by MatMulNBits with accuracy_level 4."""
    path = folder / "model.onnx"
    model = onnx.load(path)
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            depth, columns = arrays[node.input[1]].shape
            weights = Weights(columns, depth, 16)
            model.graph.initializer.extend(weights.tensors(node.output[0]))
            node.CopyFrom(weights.node(node.output[0], node.input[0], node.output[0], accuracy_level=4))
    onnx.save(model, path)
    return folder


@pytest.mark.parametrize("cache", ["fixed", "growing"])
def test_a_generator(tmp_path, cache):
    folder, prompt = in_codes(write_model(tmp_path)), [5, 17, 200, 31, 8]
    answers = {}
    for choice in CHOICES:
        generator = backend.Generator(folder, slots=40, cache=cache, activations=choice)
        result = generator.generate(prompt, 12, ignore_end=True)
        tokens, logits = plain_loop(folder, prompt, 12, activations=choice)
        assert result.tokens == tokens
        np.testing.assert_array_equal(generator.logits(), logits)
        answers[choice] = logits.tobytes()
    assert answers["model"] == answers["integer"] != answers["float"]


def test_the_commands(tmp_path, capsys):
    weights, x = Weights(16, 64, 32), floats(1, 64)
    model, path = model_of([weights.node("w", "x", "y")], weights.tensors("w"), x, "y"), tmp_path / "m.onnx"
    onnx.save(model, path)
    np.savez(tmp_path / "in.npz", x=x)
    for choice in CHOICES:
        assert main([str(path), "--inputs", str(tmp_path / "in.npz"), "--outputs", str(tmp_path / "out.npz"),
                     "--activations", choice]) == 0
        same(np.load(tmp_path / "out.npz")["y"], weights.product(x, choice == "integer"))
    capsys.readouterr()


def test_provider(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        pytest.skip("ONNX Runtime 1.23 is the first that loads providers")
    import onnxruntime_provider as provider
    if provider.library() is None:
        pytest.skip("libonnxruntime-ep-anydml.so was not built")
    weights, x = Weights(16, 64, 32), floats(3, 64)
    for level in (0, 4):
        model = model_of([weights.node("w", "x", "y", accuracy_level=level)], weights.tensors("w"), x, "y")
        for choice in CHOICES:
            session = provider.session(model, {"activations": choice}, strict=True)
            same(session.run(None, {"x": x})[0], weights.product(x, choice == "integer" or (choice == "model" and level == 4)))
        same(provider.session(model, strict=True).run(None, {"x": x})[0], weights.product(x, level == 4))
    with pytest.raises(Exception, match="activations.*expected model, float or integer"):
        provider.session(model, {"activations": "int8"})
