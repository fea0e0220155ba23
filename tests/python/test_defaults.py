# SPDX-License-Identifier: MIT
"""The default values of attributes, compared with functions in PyTorch, NumPy and ONNX that have the same defaults, in
plain calls, graphs and PyTorch's gradients. Also tests arguments that the functions accept but DirectML does not: a
bias with one dimension, indices with fewer dimensions, arrays of two types."""
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "data" / "python")]
import python_defaults  # noqa: E402
import python_rule  # noqa: E402

random = np.random.default_rng(43)


def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)


X, IMAGES, FILTERS, ROW = numbers(3, 4), numbers(2, 4, 7, 8), numbers(6, 4, 3, 3), numbers(5)
BIAS, QUERY, SAMPLES = numbers(6), numbers(2, 5, 8), numbers(1, 4, 3, 5)
WEIGHT, AGAIN = numbers(1, 1, 24, 5), numbers(1, 1, 24, 6)
PLACES = np.uint32([[0, 2], [1, 1]])


def by_torch(function):
    def call(*arrays):
        torch = pytest.importorskip("torch")
        result = function(torch, torch.nn.functional, *(torch.from_numpy(np.array(one)) for one in arrays))
        return result.numpy()

    return call


def recurrent(name):
    """PyTorch's network, with the gates in DirectML's order."""
    gates, order = {"RNN": (1, [0]), "LSTM": (4, [0, 3, 1, 2])}[name]

    def call(torch, _, x, w, r):
        def ordered(one):  # DirectML has input, output, forget, cell; PyTorch has input, forget, cell, output
            return one.reshape(gates, 6, -1)[[0, 2, 3, 1]].reshape(gates * 6, -1) if gates > 1 else one

        layer = getattr(torch.nn, name)(x.shape[-1], 6, bias=False)
        with torch.no_grad():
            layer.weight_ih_l0.copy_(ordered(w[0, 0, :gates * 6]))
            layer.weight_hh_l0.copy_(ordered(r[0, 0, :gates * 6]))
            return layer(x[0].reshape(4, 3, 5))[0][:, None]

    return by_torch(call)


def recur(name, count):
    return lambda x, w, r: getattr(anydml, name)(x.reshape(1, 4, 3, 5), w[:, :, :6 * count], r[:, :, :6 * count])[0]


# Each row has the name, the call, the other library's call, and the arrays.
SAME = [
    ("elu", anydml.elu, by_torch(lambda t, f, x: f.elu(x)), X),
    ("celu", anydml.celu, by_torch(lambda t, f, x: f.celu(x)), X),
    ("leaky_relu", anydml.leaky_relu, by_torch(lambda t, f, x: f.leaky_relu(x)), X),
    ("softplus", anydml.softplus, by_torch(lambda t, f, x: f.softplus(x)), X),
    ("swish", anydml.swish, by_torch(lambda t, f, x: f.silu(x)), X),
    ("hard_swish", anydml.hard_swish, by_torch(lambda t, f, x: f.hardswish(x)), X),
    ("hard_sigmoid", anydml.hard_sigmoid, lambda x: np.clip(x * np.float32(0.2) + np.float32(0.5), 0, 1), X),
    ("scaled_elu", anydml.scaled_elu, by_torch(lambda t, f, x: f.selu(x)), X),
    ("shrink", anydml.shrink, by_torch(lambda t, f, x: f.hardshrink(x)), X),
    ("thresholded_relu", anydml.thresholded_relu, lambda x: np.where(x > 1, x, 0), X),
    ("linear", anydml.linear, lambda x: x, X), ("scaled_tanh", anydml.scaled_tanh, np.tanh, X),
    ("parametric_softplus", anydml.parametric_softplus, by_torch(lambda t, f, x: f.softplus(x)), X),
    ("mean_variance_normalization1", anydml.mean_variance_normalization1,
     by_torch(lambda t, f, x: f.layer_norm(x, x.shape[-1:])), IMAGES),
    ("mean_variance_normalization1 with weights", anydml.mean_variance_normalization1,
     by_torch(lambda t, f, x, w, b: f.layer_norm(x, x.shape[-1:], w, b)), numbers(2, 3, 5), ROW, ROW),
    ("mean_variance_normalization2", anydml.mean_variance_normalization2,
     by_torch(lambda t, f, x: f.layer_norm(x, x.shape[-1:])), IMAGES),
    ("mean_variance_normalization", anydml.mean_variance_normalization,
     by_torch(lambda t, f, x: f.instance_norm(x)), IMAGES),
    ("batch_normalization", anydml.batch_normalization,
     by_torch(lambda t, f, x, *more: f.batch_norm(x, *(one.reshape(-1) for one in more))), IMAGES,
     numbers(1, 4, 1, 1), np.abs(numbers(1, 4, 1, 1)), numbers(1, 4, 1, 1), numbers(1, 4, 1, 1)),
    ("local_response_normalization", lambda x: anydml.local_response_normalization(x, local_size=3),
     by_torch(lambda t, f, x: f.local_response_norm(x, 3)), IMAGES),
    ("lp_normalization", anydml.lp_normalization, by_torch(lambda t, f, x: f.normalize(x, dim=-1)), X),
    ("average_pooling", lambda x: anydml.average_pooling(x, window_size=2),
     by_torch(lambda t, f, x: f.avg_pool2d(x, 2, 1)), IMAGES),
    ("lp_pooling", lambda x: anydml.lp_pooling(x, window_size=2),
     by_torch(lambda t, f, x: f.lp_pool2d(x.abs(), 2.0, 2, 1)), IMAGES),
    ("lp_pooling1", lambda x: anydml.lp_pooling1(x, window_size=[2, 2]),
     by_torch(lambda t, f, x: f.lp_pool2d(x.abs(), 2.0, 2, 1)), IMAGES),
    ("convolution", anydml.convolution, by_torch(lambda t, f, *all: f.conv2d(*all)), IMAGES, FILTERS, BIAS),
    ("rnn", recur("rnn", 1), recurrent("RNN"), SAMPLES.reshape(1, 4, 3, 5), WEIGHT, AGAIN),
    ("lstm", recur("lstm", 4), recurrent("LSTM"), SAMPLES.reshape(1, 4, 3, 5), WEIGHT, AGAIN),
    ("multihead_attention", lambda q, k, v: anydml.multihead_attention(q, k, v, head_count=2)[0],
     by_torch(lambda t, f, *all: f.scaled_dot_product_attention(
         *(one.reshape(2, 5, 2, 4).transpose(1, 2) for one in all)).transpose(1, 2).reshape(2, 5, 8)), QUERY, QUERY, QUERY),
    ("multihead_attention1", lambda q, k, v: anydml.multihead_attention1(q, k, v, query_head_count=2)[0],
     lambda *all: anydml.multihead_attention(*all, head_count=2)[0], QUERY, QUERY, QUERY),
    ("padding", lambda x: anydml.padding(x, start_padding=1), lambda x: np.pad(x, ((1, 0), (1, 0))), X),
    ("padding1", lambda x: anydml.padding1(x, start_padding=[0, 1], end_padding=2),
     lambda x: np.pad(x, ((0, 2), (1, 2))), X),
    *((name, lambda x, name=name: getattr(anydml, name)(x, scales=[1, 1, 2, 1.5]),
       by_torch(lambda t, f, x: f.interpolate(x, scale_factor=(2, 1.5), mode="bilinear")), IMAGES)
      for name in ("resample1", "resample2", "resample3")),
    ("resample3 by its shape", lambda x: anydml.resample3(x, shape=(2, 4, 14, 20)),
     by_torch(lambda t, f, x: f.interpolate(x, (14, 20), mode="bilinear")), IMAGES),
    ("upsample_2d", lambda x: anydml.upsample_2d(x, scale_size=[2, 3]),
     by_torch(lambda t, f, x: t.nn.Upsample(scale_factor=(3, 2))(x)), IMAGES),
    ("slice_", lambda x: anydml.slice_(x, offsets=[1, 0], sizes=[2, 3]), lambda x: x[1:3, :3], X),
    ("slice1", lambda x: anydml.slice1(x, input_window_offsets=[1, 0], input_window_sizes=[2, 3]), lambda x: x[1:3, :3], X),
    ("gather", anydml.gather, lambda x, i: np.take(x, i, axis=0), X, np.int64([2, 0, 2, 1])),
    ("gather of a matrix of indices", anydml.gather, lambda x, i: np.take(x, i, axis=0), X, PLACES),
    ("gather along an axis", lambda x, i: anydml.gather(x, i, axis=-2), lambda x, i: np.take(x, i, axis=2), IMAGES, PLACES),
    ("gather_elements", anydml.gather_elements, lambda x, i: np.take_along_axis(x, i.astype(int), -1), X,
     np.uint32([[0], [3], [1]])),
    ("gather_nd", anydml.gather_nd, lambda x, i: x[tuple(i.T)], IMAGES, np.uint32([[0, 2], [1, 3], [1, 1]])),
    ("gather_nd1", anydml.gather_nd1, lambda x, i: x[tuple(np.moveaxis(i, -1, 0))], X, np.uint32([[[0, 2]], [[1, 3]]])),
    ("scatter_nd", anydml.scatter_nd, lambda x, i, u: by_positions(x, tuple(i.T), u), X, PLACES, numbers(2)),
    ("scatter_elements", anydml.scatter_elements,
     by_torch(lambda t, f, x, i, u: x.scatter(-1, i.long(), u)), X, np.int64([[0], [3], [1]]), numbers(3, 1)),
    ("cumulative_summation", anydml.cumulative_summation, lambda x: np.cumsum(x, -1), X),
    ("cumulative_product", anydml.cumulative_product, lambda x: np.cumprod(x, -1), X),
    ("one_hot", lambda i, v: anydml.one_hot(i, v, shape=(*i.shape, 4)),
     by_torch(lambda t, f, i, v: f.one_hot(i.long(), 4).float()), np.uint32([2, 0, 3]), np.float32([0, 1])),
    ("depth_to_space1", lambda x: anydml.depth_to_space1(x, block_size=2),
     lambda x: anydml.depth_to_space(x, block_size=2), IMAGES),
    ("fold", lambda x: anydml.fold(x, window_sizes=2, shape=(1, 1, 4, 4)),
     by_torch(lambda t, f, x: f.fold(x, (4, 4), 2)), numbers(1, 4, 9)),
    ("unfold", lambda x: anydml.unfold(x, window_sizes=2), by_torch(lambda t, f, x: f.unfold(x, 2)), IMAGES),
    ("value_scale_2d", anydml.value_scale_2d, lambda x: x, numbers(1, 3, 2, 2)),
    ("clip_grad", lambda x, g: anydml.clip_grad(x, g, min=0), lambda x, g: np.where(x > 0, g, 0), X, numbers(3, 4)),
    ("quantize", lambda x, s: anydml.quantize(x, [s], dtype="int8"), lambda x, s: np.rint(x / s).astype(np.int8), X,
     np.full((3, 4), 0.25, np.float32)),
    ("softmax of three dimensions", anydml.softmax, by_torch(lambda t, f, x: f.softmax(x, -1)), numbers(2, 3, 4)),
    ("log_softmax of four dimensions", anydml.log_softmax, by_torch(lambda t, f, x: f.log_softmax(x, -1)), IMAGES),
    ("softmax whose last size is 1", anydml.softmax, np.ones_like, numbers(2, 3, 1)),
    ("gemm with a row", anydml.gemm, lambda a, b, c: a @ b + c, X, numbers(4, 6), BIAS),
    ("gemm with a column", anydml.gemm, lambda a, b, c: a @ b + c, X, numbers(4, 6), numbers(3, 1)),
    ("gemm turned", lambda a, b, c: anydml.gemm(a, b, c, trans_b="transpose"), lambda a, b, c: a @ b.T + c, X,
     numbers(6, 4), BIAS),
]
ids = [one[0] for one in SAME]


def by_positions(x, positions, updates):
    x = x.copy()
    x[positions] = updates
    return x


def takes_the_slow_path(call):
    """Whether the package's Python code runs between the call and its result."""
    files = set()
    sys.setprofile(lambda frame, event, _: files.add(Path(frame.f_code.co_filename).name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    return bool({"_run.py", "_habits.py", "_equivalent.py"} & files)


@pytest.mark.parametrize("name, mine, theirs, arrays", [(*one[:3], one[3:]) for one in SAME], ids=ids)
def test_as_elsewhere(name, mine, theirs, arrays):
    right = theirs(*arrays)
    results = [mine(*arrays) for _ in range(4)]  # the third and later calls use a cached form
    assert results[0].shape == right.shape
    assert np.allclose(results[0], right, rtol=2e-4, atol=2e-5)
    assert all(one.dtype == results[0].dtype and one.tobytes() == results[0].tobytes() for one in results)
    assert not takes_the_slow_path(lambda: mine(*arrays))
    assert anydml.graph(mine)(*arrays).tobytes() == results[0].tobytes()


@pytest.mark.parametrize("name, mine, arrays", [(one[0], one[1], one[3:]) for one in SAME], ids=ids)
def test_tensors(name, mine, arrays):
    torch = pytest.importorskip("torch")
    right = mine(*arrays)
    tensors = [torch.from_numpy(one.copy()) if one.dtype != np.uint32 else torch.from_numpy(one.astype(np.int64))
               for one in arrays]
    for _ in range(4):
        result = mine(*tensors)
        assert isinstance(result, torch.Tensor) and result.numpy().tobytes() == right.tobytes()
    assert not takes_the_slow_path(lambda: mine(*tensors))
    meta = mine(*(one.to("meta") for one in tensors))
    assert meta.is_meta and meta.shape == result.shape and meta.dtype == result.dtype
    if result.is_floating_point():
        first = next(i for i, one in enumerate(tensors) if one.is_floating_point())
        tensors[first].requires_grad_()
        mine(*tensors).sum().backward()
        assert tensors[first].grad.shape == tensors[first].shape


def test_roi_align_is_torchvisions():
    """ONNX's RoiAlign matches torchvision's without `aligned` for output_half_pixel, and with it for half_pixel."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    boxes, batch = np.float32([[0.5, 1, 5, 6.5], [1, 0, 7, 4]]), np.int64([1, 0])
    for function, mode in ((anydml.roi_align1, "output_half_pixel"), (anydml.roi_align, "half_pixel")):
        model = onnx.parser.parse_model(
            '<ir_version: 9, opset_import: ["": 16]> m (float[2,4,7,8] x, float[2,4] b, int64[2] i) => (float[2,4,3,2] y) '
            f'{{ y = RoiAlign<coordinate_transformation_mode="{mode}", output_height=3, output_width=2>(x, b, i) }}')
        right, = runtime.InferenceSession(model.SerializeToString()).run(None, {"x": IMAGES, "b": boxes, "i": batch})
        assert np.allclose(function(IMAGES, boxes, batch.astype(np.uint32), shape=(2, 4, 3, 2)), right, atol=1e-5)


def test_gru_is_onnxs():
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["": 16]> m (float[4,3,5] x, float[1,18,5] w, float[1,18,6] r) => '
        "(float[4,1,3,6] y) { y = GRU<hidden_size=6>(x, w, r) }")
    x, w, r = SAMPLES.reshape(-1)[:60].reshape(4, 3, 5), WEIGHT[0, :, :18], AGAIN[0, :, :18]
    right, = runtime.InferenceSession(model.SerializeToString()).run(None, {"x": x, "w": w, "r": r})
    assert np.allclose(anydml.gru(x[None], w[None], r[None])[0], right, atol=1e-5)
    both = anydml.rnn(x[None], np.repeat(w[None, :, :6], 2, 1), np.repeat(r[None, :, :6], 2, 1), direction="BIDIRECTIONAL")
    assert both[0].shape == (4, 2, 3, 6)  # with two activations


def test_adam_is_pytorchs():
    torch = pytest.importorskip("torch")
    weights, gradient = torch.tensor([[[[1.0, -2.0]]]], requires_grad=True), torch.tensor([[[[0.5, 3.0]]]])
    zero = np.zeros((1, 1, 1, 2), np.float32)
    result = anydml.adam_optimizer(weights.detach().numpy().copy(), zero, zero, gradient.numpy(), np.uint32([[[[1]]]]))[0]
    weights.grad = gradient
    torch.optim.Adam([weights]).step()
    assert np.allclose(result, weights.detach().numpy(), atol=1e-6)


def test_new_arrays():
    assert anydml.diagonal_matrix(shape=(3, 3), dtype="int8").tolist() == np.eye(3).tolist()
    assert anydml.diagonal_matrix1(shape=(3, 3), dtype="float32").tolist() == np.eye(3).tolist()
    assert anydml.fill_value_sequence(shape=4, dtype="int32").tolist() == [0, 1, 2, 3]
    assert anydml.random_generator(np.zeros((1, 1, 1, 6), np.uint32), shape=((1, 1, 1, 4), None))[0].shape == (1, 1, 1, 4)


def test_one_index_removes_the_axis():
    for index in (2, np.uint32(2), np.array(2)):
        assert np.array_equal(anydml.gather(X, index), X[2]) and np.array_equal(anydml.gather(X, index, axis=1), X[:, 2])
        out = np.empty(4, np.float32)
        assert anydml.gather(X, index, out=out) is out and np.array_equal(out, X[2])
        assert np.array_equal(anydml.graph(lambda x: anydml.gather(x, index))(X), X[2])


def test_which_functions_demand_a_keyword():
    """These attributes have no customary value. Every other attribute has a default."""
    demanded = {}
    for op in python_rule.read_operators():
        if op.name in python_rule.UFUNCS | python_rule.HAND_WRITTEN:
            continue
        parameters = inspect.signature(getattr(anydml, op.python)).parameters.values()
        names = [one.name for one in parameters if one.default is one.empty and one.kind is not one.POSITIONAL_ONLY]
        if names:
            demanded[op.python] = names
    windows = ("average_pooling average_pooling1 average_pooling_grad lp_pooling lp_pooling1 max_pooling max_pooling1 "
               "max_pooling2 max_pooling_grad quantized_linear_average_pooling").split()
    ranges = ["input_window_offsets", "input_window_sizes"]
    assert demanded == {
        **dict.fromkeys(windows, ["window_size"]), "fold": ["window_sizes"], "unfold": ["window_sizes"],
        **dict.fromkeys(("depth_to_space", "depth_to_space1", "space_to_depth", "space_to_depth1"), ["block_size"]),
        **dict.fromkeys(("top_k", "top_k1"), ["k"]), **dict.fromkeys(("slice1", "slice_grad"), ranges),
        **dict.fromkeys(("resample_grad", "resample_grad1"), ["scales"]),
        **dict.fromkeys(("local_response_normalization", "local_response_normalization_grad"), ["local_size"]),
        "constant_pow": ["exponent"], "threshold": ["min"], "reduce": ["function"], "roi_pooling": ["pooled_size"],
        "slice_": ["offsets", "sizes"], "upsample_2d": ["scale_size"], "tile": ["repeats"],
        "fill_value_constant": ["value"], "reverse_subsequences": ["axis"], "multihead_attention": ["head_count"],
        "multihead_attention1": ["query_head_count"]}


def test_rules_are_said_in_help():
    for op in python_rule.read_operators():
        for one in op.attributes:
            if one.by is not None and one.field != "Axes":
                assert f"(default: {one.by.text})" in " ".join(getattr(anydml, op.python).__doc__.split()), (op.python, one)
    assert isinstance(python_defaults.DEFAULTS["RNN"]["ActivationDescs"], python_defaults.By)


# ---- Arrays that DirectML does not accept as they are ---------------------------------------------------------------

def test_types_are_promoted_as_in_numpy():
    arrays = [np.int8([1, 2, 100]), np.int16([3, -4, 300]), np.uint8([5, 6, 200]), np.float32([1.5, 2, 3]),
              np.float64([0.1, 2, 3]), np.array([True, False, True])]
    for mine, theirs in ((anydml.add, np.add), (anydml.multiply, np.multiply), (anydml.subtract, np.subtract)):
        for a in arrays:
            for b in (*arrays, [1, 2, 3], [0.5, 1, 2], np.float64(0.1)):
                if bool not in (getattr(a, "dtype", None), getattr(b, "dtype", None)) or a.dtype.kind != getattr(
                        b, "dtype", a.dtype).kind:
                    right = theirs(a, b)
                    assert mine(a, b).dtype == right.dtype and np.array_equal(mine(a, b), right), (a, b)
    narrow, wide = arrays[3], arrays[4]
    result = anydml.graph(lambda a, b: anydml.multiply(anydml.add(a, b), np.int8([1, 2, 3])))(narrow, wide)
    assert result.dtype == np.float64 and np.array_equal(result, (narrow + wide) * [1, 2, 3])
    assert anydml.divide(np.int32([1, 2]), np.float32([2, 4])).dtype == np.float64


def test_indices_of_top_k_can_index():
    values, positions = anydml.top_k(X, k=2)
    assert positions.dtype == np.uint32 and np.array_equal(np.take_along_axis(X, positions, 1), values)
    assert anydml.top_k(X, k=2, dtype=(None, np.int64))[1].dtype == np.int64
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(X)
    for tensor in (t, t, t, t.clone().requires_grad_()):
        found = anydml.top_k(tensor, k=2)
        assert found[1].dtype == torch.int64 and torch.equal(tensor.gather(1, found[1]), found[0])
        assert anydml.top_k1(tensor, k=1, axis=0)[1].dtype == torch.int64
    assert anydml.top_k(t, k=2, dtype=(None, torch.uint32))[1].dtype == torch.uint32
    compiled = torch.compile(lambda x: anydml.top_k(x, k=2)[1], fullgraph=True, backend="eager")
    assert compiled(t).dtype == torch.int64


def test_cast_to_bool():
    x = np.float32([0, -0.0, 0.5, -3, np.nan, np.inf])
    for kind in (bool, "bool", "?", np.bool_, np.dtype(bool)):
        for _ in range(4):  # a cached CAST to UINT8 would give 0 for 0.5 and 253 for -3
            result = anydml.cast(x, dtype=kind)
            assert result.dtype == bool and result.tolist() == x.astype(bool).tolist()
    out = np.zeros(6, bool)
    for _ in range(4):
        assert anydml.cast(x, out=out) is out and out.tolist() == x.astype(bool).tolist()
        out[:] = False
    assert anydml.cast(np.int64([0, 256]), dtype=bool).tolist() == [False, True]
    assert anydml.cast(x > 0, dtype=bool).tolist() == (x > 0).tolist()
    assert anydml.graph(lambda x: anydml.cast(x, dtype=bool))(x).tolist() == x.astype(bool).tolist()
    torch = pytest.importorskip("torch")
    for kind in (bool, torch.bool):
        for _ in range(4):
            result = anydml.cast(torch.from_numpy(x), dtype=kind)
            assert result.dtype == torch.bool and result.tolist() == x.astype(bool).tolist()


def test_nonzero_of_bool():
    mask = X > 0
    for call in (anydml.nonzero_coordinates, anydml.graph(lambda x: anydml.nonzero_coordinates(x))):
        for _ in range(4):
            count, positions = call(mask)
            assert np.array_equal(positions.reshape(-1, 2)[:int(count.reshape(()))], np.argwhere(mask))


@pytest.mark.parametrize("error, message, call", [
    (ValueError, r"^gemm: c has the shape \[2, 6\]; expected one that broadcasts to \[3, 6\], the shape of the product of "
     "a and b$", lambda: anydml.gemm(X, numbers(4, 6), numbers(2, 6))),
    (ValueError, r"^gemm: b.shape\[0\] is 3; expected 4, which is a.shape\[1\]$",
     lambda: anydml.gemm(X, numbers(3, 6), numbers(3, 6))),
    (ValueError, r"^gemm: b.shape\[1\] is 5; expected 4, which is a.shape\[1\]$",
     lambda: anydml.gemm(X, numbers(3, 5), numbers(3, 3), trans_b="TRANSPOSE")),
    (ValueError, r"^convolution: bias.shape\[1\] is 5; expected output.shape\[1\], which is 6$",
     lambda: anydml.convolution(IMAGES, FILTERS, numbers(5))),
    (TypeError, "^softmax: input is int32; expected", lambda: anydml.softmax(np.zeros((2, 3, 4), np.int32))),
    (TypeError, "^resample3: scales is missing; expected scales, or shape with 4 sizes$", lambda: anydml.resample3(IMAGES)),
    (ValueError, "^resample3: scales has 2 numbers; expected 4, one for each dimension of input$",
     lambda: anydml.resample3(IMAGES, scales=[2, 2])),
    (TypeError, "^relu: input is an array of bool; expected float16/32/64, .*: convert it with astype",
     lambda: anydml.relu(X > 0)),
    (TypeError, "^relu: input is an array of object; expected float16/32/64, int8 to int64 or uint8 to uint64$",
     lambda: anydml.relu(np.array([1, "a"], object))),
    (TypeError, "^relu: input is an array of float32 with 9 dimensions; expected at most 8$",
     lambda: anydml.relu(np.ones((1,) * 9, np.float32))),
    (ValueError, "ACTIVATION_FOO", lambda: anydml.Operator("ACTIVATION_FOO")),
    (ValueError, "^fill_value_constant: value is 300; expected a whole number from 0 to 255 for uint8$",
     lambda: anydml.fill_value_constant(value=300, dtype="uint8", shape=3)),
    (ValueError, "^fill_value_sequence: value_start is -1; expected a whole number from 0 to 65535 for uint16$",
     lambda: anydml.fill_value_sequence(value_start=-1, dtype="uint16", shape=3)),
    (ValueError, "^fill_value_constant: value is 100000; expected a number of float16, from -65504 to 65504$",
     lambda: anydml.fill_value_constant(value=1e5, dtype="float16", shape=3)),
    *((ValueError, f"^{name}: padding_value is {text}; expected a whole number from 0 to 255 for uint8$",
       lambda name=name, value=value: getattr(anydml, name)(np.uint8([1]), padding_value=value, start_padding=1))
      for name in ("padding", "padding1") for value, text in ((-3, "-3"), (1.7, "1.7"), (np.inf, "inf"), (np.nan, "nan"))),
    (ValueError, "^elu: alpha is inf; expected a finite number$", lambda: anydml.elu(X, alpha=np.inf)),
    (ValueError, "^elu: alpha is nan; expected a finite number$", lambda: anydml.elu(X, alpha=np.nan)),
    (ValueError, r"^elu: alpha is 1e\+300; expected a number of float32, from -3.4028235e\+38 to 3.4028235e\+38$",
     lambda: anydml.elu(X, alpha=1e300)),
    (ValueError, r"^resample1: scales\[2\] is 1e\+300; expected a number of float32",
     lambda: anydml.resample1(IMAGES, scales=[1, 1, 1e300, 1], shape=(2, 4, 7, 8))),
    (ValueError, r"^abs: scale is 1e\+300; expected a number of float32", lambda: anydml.abs(X, scale=1e300, bias=0)),
    (ValueError, "^clip: min is 0.5; expected a whole number for int32$",
     lambda: anydml.clip(np.int32([1, 2]), 0.5, 3)),
    (ValueError, r"^Alpha is -inf; expected a finite number", lambda: anydml.run(
        "ELEMENT_WISE_ADD1", X, X, FusedActivation=anydml.Operator("ACTIVATION_ELU", Alpha=-np.inf))),
])
def test_messages(error, message, call):
    for _ in range(3):
        with pytest.raises(error, match=message):
            call()


def test_numbers_that_mean_something_are_taken():
    assert anydml.padding(np.float32([1]), padding_value=-np.inf, start_padding=1).tolist() == [-np.inf, 1]
    assert anydml.padding1(np.uint8([1]), padding_value=2.0, start_padding=1).tolist() == [2, 1]
    assert anydml.clip(np.float32([1, 9]), -np.inf, 5).tolist() == [1, 5]
    assert anydml.clip(np.uint8([1, 9]), -5, 300).tolist() == [1, 9]  # bounds outside the type's range
    assert anydml.fill_value_constant(value=2**64 - 1, dtype="uint64", shape=1).tolist() == [2**64 - 1]
    assert anydml.fill_value_constant(value=-2**63, dtype="int64", shape=1).tolist() == [-2**63]
    assert anydml.fill_value_constant(value=1e300, dtype="float64", shape=1).tolist() == [1e300]
    assert anydml.thresholded_relu(X, alpha=np.inf).max() == 0
    assert anydml.shrink(X, threshold=np.inf).any() == False  # noqa: E712
    assert np.isnan(anydml.fill_value_constant(value=np.nan, dtype="float16", shape=1)).all()


def test_dask():
    da = pytest.importorskip("dask.array")
    x = da.from_array(IMAGES, chunks=(1, 4, 7, 8))
    for call in (anydml.softmax, anydml.elu, anydml.mean_variance_normalization1, lambda x: anydml.gather(x, PLACES),
                 lambda x: anydml.convolution(x, FILTERS, BIAS), lambda x: anydml.resample3(x, scales=[1, 1, 2, 2]),
                 lambda x: anydml.max_pooling(x, window_size=2), lambda x: anydml.add(x, IMAGES.astype("f8"))):
        lazy, right = call(x), call(IMAGES)
        assert isinstance(lazy, da.Array) and lazy.shape == right.shape and lazy.dtype == right.dtype
        assert np.array_equal(lazy.compute(scheduler="sync"), right)


def test_operators_prefix():
    """An operator's name may have DirectML's prefix, even when PyTorch differentiates it."""
    assert repr(anydml.Operator("DML_OPERATOR_ACTIVATION_RELU")) == "Operator('ACTIVATION_RELU')"
    torch = pytest.importorskip("torch")
    w = torch.tensor([1.0, -1.0], requires_grad=True)
    anydml.add1(w, w, fused_activation=anydml.Operator("DML_OPERATOR_ACTIVATION_RELU")).sum().backward()
    assert w.grad.tolist() == [2, 0]
    with pytest.raises(TypeError, match=r"^gemm: b is float16; .* convert it with to\(torch.float32\)$"):
        anydml.gemm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float16))
