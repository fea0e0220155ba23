# SPDX-License-Identifier: MIT
"""Tests arrays of four-bit integers in QUANTIZE, DEQUANTIZE and ONNX."""
import numpy as np
import pytest

import anydml

ml_dtypes = pytest.importorskip("ml_dtypes")
RANDOM = np.random.default_rng(7)
LIMITS = {"int4": (-8, 7), "uint4": (0, 15)}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("shape", [(3, 8), (5, 3), (1,), (2, 3, 4), (), (0, 4)])
def test_there_and_back(name, shape):
    lowest, most = LIMITS[name]
    dtype = np.dtype(getattr(ml_dtypes, name))
    scale = np.full([1] * len(shape), 0.5, np.float32)
    zero = np.full(scale.shape, 3).astype(dtype)
    x = RANDOM.standard_normal(shape).astype(np.float32) * 4
    built = anydml.quantize(x, [scale, zero], quantization_type="scale_zero_point")
    assert built.dtype == dtype and built.shape == shape
    np.testing.assert_array_equal(built.astype(int), np.clip(np.rint(x / np.float32(0.5)) + 3, lowest, most).astype(int))
    codes = RANDOM.integers(lowest, most + 1, shape).astype(dtype)
    back = anydml.dequantize(codes, [scale, zero], quantization_type="scale_zero_point")
    np.testing.assert_array_equal(back, (codes.astype(np.float32) - 3) * np.float32(0.5))


@pytest.mark.parametrize("kind", ["uint4", ml_dtypes.uint4, np.dtype(ml_dtypes.uint4)])
def test_types_and_arrays_for_the_result(kind):
    x, scale = np.float32([[-2, 0, 3, 99]]), np.float32([[1]])
    built = anydml.quantize(x, [scale], quantization_type="scale", dtype=kind)  # for unsigned types the zero point is 8
    assert built.dtype == ml_dtypes.uint4 and built.astype(int).tolist() == [[6, 8, 11, 15]]
    out = np.zeros((1, 8), ml_dtypes.uint4)[:, ::2]
    assert anydml.quantize(x, [scale], quantization_type="scale", out=out) is out
    assert out.astype(int).tolist() == [[6, 8, 11, 15]]


def test_blocks_of_a_matrix_that_is_not_contiguous():
    codes = RANDOM.integers(0, 16, (64, 6)).astype(ml_dtypes.uint4)
    scale = RANDOM.standard_normal((6, 2)).astype(np.float16)
    built = anydml.dequantize(codes.T, [scale], quantization_type="scale")
    assert built.dtype == np.float16
    expected = ((codes.T.astype(np.float32) - 8) * np.repeat(scale, 32, 1)).astype(np.float16)
    np.testing.assert_array_equal(built, expected)


def test_other_operators_refuse_them():
    x = np.zeros(3, ml_dtypes.int4)
    with pytest.raises(TypeError, match="int4"):
        anydml.run("ELEMENT_WISE_ADD", x, x)
    with pytest.raises(TypeError, match="int4"):
        anydml.compile("DEQUANTIZE", x, np.float32([1]), QuantizationType="SCALE")


onnx = pytest.importorskip("onnx")


def model_of(op, kinds, result, shapes, opset=21, **attributes):
    names = ["x", "scale", "zero"][:len(kinds)]
    values = [onnx.helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in zip(names, kinds, shapes)]
    graph = onnx.helper.make_graph([onnx.helper.make_node(op, names, ["y"], **attributes)], "one", values,
                                   [onnx.helper.make_tensor_value_info("y", result, shapes[0])])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("shapes, attributes", [
    ([(4, 64), (4, 2)], {"axis": 1, "block_size": 32}), ([(6, 5), (3, 5)], {"axis": 0, "block_size": 2}),
    ([(5, 6), (3, 6)], {"axis": 0, "block_size": 2}), ([(4, 6), (6,)], {"axis": 1}), ([(4, 6), ()], {})])
def test_onnx_as_its_reference(name, shapes, attributes):
    import anydml.onnx
    from onnx.reference import ReferenceEvaluator
    kind, float_ = getattr(onnx.TensorProto, name.upper()), onnx.TensorProto.FLOAT
    lowest, most = LIMITS[name]
    shapes = [*shapes, shapes[1]]
    scale = np.abs(RANDOM.standard_normal(shapes[1])).astype(np.float32) + np.float32(0.1)
    dtype = getattr(ml_dtypes, name)
    zero = RANDOM.integers(lowest, most + 1, shapes[1]).astype(dtype)
    x = (RANDOM.standard_normal(shapes[0]) * 4).astype(np.float32)
    codes = RANDOM.integers(lowest, most + 1, shapes[0]).astype(dtype)
    for op, first, kinds, result in (("QuantizeLinear", x, [float_, float_, kind], kind),
                                     ("DequantizeLinear", codes, [kind, float_, kind], float_)):
        model = model_of(op, kinds, result, shapes, **attributes)
        inputs = {"x": first, "scale": np.asarray(scale), "zero": np.asarray(zero)}
        (built,) = anydml.onnx.prepare(model).run(inputs)
        if attributes.get("block_size") and shapes[0][attributes["axis"]] % attributes["block_size"]:
            blocks = np.repeat(np.arange(shapes[1][0]), 2)[:5]  # the reference supports only whole blocks
            scale_of, zero_of = scale[blocks], zero[blocks].astype(np.float32)
            expected = (np.clip(np.rint(x / scale_of) + zero_of, lowest, most) if op == "QuantizeLinear" else
                        (codes.astype(np.float32) - zero_of) * scale_of)
        else:
            (expected,) = ReferenceEvaluator(model).run(None, inputs)
        np.testing.assert_array_equal(built.astype(np.float32), np.asarray(expected).astype(np.float32))
        assert built.dtype == onnx.helper.tensor_dtype_to_np_dtype(result)


def test_onnx_weights_are_constants_of_four_bits(tmp_path):
    """The weights are in an initializer or in a file next to the model."""
    import anydml.onnx
    codes = RANDOM.integers(-8, 8, (4, 7)).astype(ml_dtypes.int4)
    float_, int4 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT4
    model = model_of("DequantizeLinear", [int4, float_], float_, [(4, 7), ()])
    weights = onnx.helper.make_tensor("x", int4, codes.shape, codes.astype(np.int8).reshape(-1).tolist())
    model.graph.initializer.append(weights)
    del model.graph.input[0]
    expected = codes.astype(np.float32) * np.float32(0.25)
    (built,) = anydml.onnx.prepare(model).run({"scale": np.float32(0.25)})
    np.testing.assert_array_equal(built, expected)
    halves = codes.astype(np.int8).reshape(-1).view(np.uint8) & 15
    (tmp_path / "weights.bin").write_bytes(bytes(16) + (halves[::2] | halves[1::2] << 4).tobytes())
    outside = onnx.TensorProto(name="x", data_type=int4, dims=codes.shape, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "16")):
        outside.external_data.add(key=key, value=value)
    model.graph.initializer[0].CopyFrom(outside)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (built,) = anydml.onnx.prepare(path).run({"scale": np.float32(0.25)})
    np.testing.assert_array_equal(built, expected)
