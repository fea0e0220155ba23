# SPDX-License-Identifier: MIT
"""Expresses the operators of com.microsoft, ONNX Runtime's own domain, as ONNX nodes of the newest opset.

Quantized operators follow their documentation: the integers are dequantized, the result is computed in floats and then
quantized. ONNX Runtime itself may differ from such a result by one unit in the last place.
"""
import itertools

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ._rows import Unsupported
from ._types import label

DOMAIN = "com.microsoft"
_numbers = itertools.count()


class _Nodes:
    """The nodes that replace one node. A call adds a node and returns the name of its first result."""

    def __init__(self, node):
        self.node, self.nodes = node, []
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        self.prefix = f"{label(node)}.{next(_numbers)}."

    def __call__(self, op, *inputs, to=None, to_=None, **attributes):
        names = [to] if isinstance(to, str) else to or [f"{self.prefix}{len(self.nodes)}"]
        attributes = {name: value for name, value in {**attributes, "to": to_}.items() if value is not None}
        given = list(inputs)
        while given and not given[-1]:
            given.pop()
        self.nodes.append(helper.make_node(op, given, names, name=label(self.node), **attributes))
        return names[0]

    def constant(self, value, dtype=np.int64):
        return self("Constant", value=numpy_helper.from_array(np.asarray(value, dtype)))

    def input(self, position):
        return self.node.input[position] if position < len(self.node.input) else ""

    def output(self, position):
        return self.node.output[position] if position < len(self.node.output) else ""

    def get(self, name, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def end(self, value, position=0):
        """Gives a value the name of an output."""
        self("Identity", value, to=self.output(position))

    def refuse(self, what):
        name = f"{self.node.domain}.{self.node.op_type} {what}"
        raise Unsupported(f"{label(self.node)}: anydml does not support {name}", [name])


def by(write):
    """Returns a function that accepts a node and its inputs' types, and returns the nodes that replace it."""
    def expand(node, kinds):
        nodes = _Nodes(node)
        nodes.kinds = kinds
        write(nodes)
        return nodes.nodes

    return expand


_ACTIVATIONS = {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "Clip": ("min", "max"),
                "HardSigmoid": ("alpha", "beta"), "Elu": ("alpha",), "Softplus": (), "Softsign": (), "HardSwish": ()}


def _activated(n, value, name, parameters=()):
    if not name:
        return value
    if name not in _ACTIVATIONS:
        n.refuse(f"with activation {name}")
    if name == "Clip":
        return n("Clip", value, *(n.constant(one, np.float32) for one in parameters))
    return n(name, value, **dict(zip(_ACTIVATIONS[name], parameters)))


def _passed_on(n, names):
    return {name: n.attributes[name] for name in names if name in n.attributes}


_CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _fused_conv(n):
    y = n("Conv", n.input(0), n.input(1), n.input(2), **_passed_on(n, _CONV))
    y = n("Add", y, n.input(3)) if n.input(3) else y
    n.end(_activated(n, y, n.get("activation"), n.get("activation_params", ())))


def _nhwc_conv(n):
    rank = len(n.get("kernel_shape", (1, 1))) + 2
    x = n("Transpose", n.input(0), perm=[0, rank - 1, *range(1, rank - 1)])
    w = n("Transpose", n.input(1), perm=[0, rank - 1, *range(1, rank - 1)])
    n.end(n("Transpose", n("Conv", x, w, n.input(2), **_passed_on(n, _CONV)), perm=[0, *range(2, rank), 1]))


def _fused_gemm(n):
    y = n("Gemm", n.input(0), n.input(1), n.input(2), **_passed_on(n, ("alpha", "beta", "transA", "transB")))
    parameters = [n.attributes[name] for name in ("activation_alpha", "activation_beta", "activation_gamma")
                  if name in n.attributes]
    n.end(_activated(n, y, n.get("activation"), parameters))


def _fused_matmul(n):
    """Transposed inputs need `_exchanged`, because the rank is unknown here and Transpose would need all axes."""
    if n.get("transBatchA", 0) or n.get("transBatchB", 0):
        n.refuse("with transBatchA or transBatchB")
    a, b = (_exchanged(n, n.input(i)) if n.get(name, 0) else n.input(i) for i, name in enumerate(("transA", "transB")))
    y, alpha = n("MatMul", a, b), n.get("alpha", 1.0)
    n.end(y if alpha == 1.0 else n("Mul", y, _like(n, alpha, y)))


def _exchanged(n, x):
    """Exchanges the last two axes, for any rank: flattens the leading axes, transposes, and restores them."""
    shape = n("Shape", x)
    before, rows, columns = (n("Slice", shape, n.constant([begin]), n.constant([end])) for begin, end in (
        (-2**40, -2), (-2, -1), (-1, 2**40)))
    flat = n("Reshape", x, n("Concat", n.constant([-1]), rows, columns, axis=0))
    return n("Reshape", n("Transpose", flat, perm=[0, 2, 1]), n("Concat", before, columns, rows, axis=0))


def _like(n, value, x):
    return n("CastLike", n.constant(value, np.float32), x)


def _gelu(n):
    n.end(n("Gelu", n.input(0)))


def _bias_gelu(n):
    n.end(n("Gelu", n("Add", n.input(0), n.input(1))))


def _fast_gelu(n):
    x = n("Add", n.input(0), n.input(1)) if n.input(1) else n.input(0)
    n.end(n("Gelu", x, approximate="tanh"))


def _quick_gelu(n):
    n.end(n("Mul", n.input(0), n("Sigmoid", n("Mul", n.input(0), _like(n, n.get("alpha", 1.702), n.input(0))))))


def _bias_add(n):
    n.end(n("Add", n("Add", n.input(0), n.input(1)), n.input(2)))


def _skip_layer_norm(n):
    gamma, beta, bias = n.input(2), n.input(3), n.input(4)
    if n.output(1) or n.output(2):
        n.refuse("with its mean or deviation")
    total = n("Add", n.input(0), n.input(1))
    total = n("Add", total, bias) if bias else total
    n.end(n("LayerNormalization", total, gamma, beta, axis=-1, epsilon=n.get("epsilon", 1e-12)))
    if n.output(3):
        n.end(total, 3)


def _skip_rms_norm(n):
    if n.output(1) or n.output(2):
        n.refuse("with its mean or deviation")
    total = n("Add", n.input(0), n.input(1))
    total = n("Add", total, n.input(3)) if n.input(3) else total
    n.end(n("RMSNormalization", total, n.input(2), axis=-1, epsilon=n.get("epsilon", 1e-12)))
    if n.output(3):
        n.end(total, 3)


def _rms_norm(n):
    n.end(n("RMSNormalization", n.input(0), n.input(1), axis=n.get("axis", -1), epsilon=n.get("epsilon", 1e-5)))


def _embeddings(n):
    """Adds the embeddings of words, positions and segments, and normalizes the sum."""
    if n.output(1) and n.input(7):
        n.refuse("with a mask")
    ids, segments, words, positions, kinds, gamma, beta = (n.input(i) for i in range(7))
    position = n.input(8)
    if not position:
        position = n("Range", n.constant(0), n("Squeeze", n("Shape", ids, start=1, end=2), n.constant([0])), n.constant(1))
    total = n("Add", n("Gather", words, ids), n("Gather", positions, position))
    total = n("Add", total, n("Gather", kinds, segments)) if segments else total
    n.end(n("LayerNormalization", total, gamma, beta, axis=-1, epsilon=n.get("epsilon", 1e-12)))
    if n.output(1):
        n.end(n("ConstantOfShape", n("Shape", ids, start=0, end=1), value=helper.make_tensor(
            "zero", onnx.TensorProto.INT32, [1], [0])), 1)
    if n.output(2):
        n.end(total, 2)


def _group_norm(n):
    x = n.input(0)
    last = n.get("channels_last", 1)
    x = n("Transpose", x, perm=[0, 3, 1, 2]) if last else x
    gamma, beta = (n("CastLike", n.input(i), x) for i in (1, 2))
    y = n("GroupNormalization", x, gamma, beta, epsilon=n.get("epsilon", 1e-5), num_groups=n.get("groups"))
    y = n("Mul", y, n("Sigmoid", y)) if n.get("activation", 0) else y
    n.end(n("Transpose", y, perm=[0, 2, 3, 1]) if last else y)


# ---- Quantized ------------------------------------------------------------------------------------------------------

def _real(n, first):
    """Dequantizes three inputs: integers, scale and zero point."""
    return n("DequantizeLinear", n.input(first), n.input(first + 1), n.input(first + 2))


def _quantized(op, first_inputs, scale, **passed):
    """An operator over tensors that each have a scale and a zero point. first_inputs: the index of each
    tensor among the inputs, where its scale and zero point follow; scale: the index of the result's scale."""
    def write(n):
        values = [_real(n, position) for position in first_inputs]
        attributes = {ours: n.get(theirs, default) for ours, (theirs, default) in passed.items()}
        n.end(n("QuantizeLinear", n(op, *values, **attributes), n.input(scale), n.input(scale + 1)))

    return write


def _quantized_pool(op):
    def write(n):
        x, last = _real(n, 0), n.get("channels_last", 0)
        x = n("Transpose", x, perm=[0, 3, 1, 2]) if last else x
        names = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
        y = n(op, x, **(_passed_on(n, names) if op == "AveragePool" else {}))
        y = n("Transpose", y, perm=[0, 2, 3, 1]) if last else y
        n.end(n("QuantizeLinear", y, n.input(3), n.input(4)))

    return write


def _quantized_concat(n):
    parts = [n("DequantizeLinear", *n.node.input[i:i + 3]) for i in range(2, len(n.node.input), 3)]
    n.end(n("QuantizeLinear", n("Concat", *parts, axis=n.get("axis")), n.input(0), n.input(1)))


def _quantized_where(n):
    y = n("Where", n.input(0), _real(n, 1), _real(n, 4))
    n.end(n("QuantizeLinear", y, n.input(7), n.input(8)))


def _quantized_mean(n):
    axes = n.constant(n.get("axes")) if n.get("axes") is not None else ""
    y = n("ReduceMean", _real(n, 0), axes, keepdims=n.get("keepdims", 1))
    n.end(n("QuantizeLinear", y, n.input(3), n.input(4)))


def _scaled(n, product, a_scale, b_scale, bias):
    y = n("Mul", n("Cast", product, to_=1), n("Mul", a_scale, b_scale))
    n.end(n("Add", y, bias) if bias else y)


def _dynamic_matmul(n):
    x = [f"{n.prefix}x", f"{n.prefix}scale", f"{n.prefix}zero"]
    n("DynamicQuantizeLinear", n.input(0), to=x)
    _scaled(n, n("MatMulInteger", x[0], n.input(1), x[2], n.input(3)), x[1], n.input(2), n.input(4))


def _matmul_to_float(n):
    product = n("MatMulInteger", n.input(0), n.input(1), n.input(4), n.input(5))
    _scaled(n, product, n.input(2), n.input(3), n.input(6))


def _quantized_gemm(n):
    a, b = (n("Transpose", n.input(i), perm=[1, 0]) if n.get(name, 0) else n.input(i) for i, name in (
        (0, "transA"), (3, "transB")))
    total = n("MatMulInteger", a, b, n.input(2), n.input(5))
    total = n("Add", total, n.input(6)) if n.input(6) else total
    scale = n("Mul", n("Mul", n.input(1), n.input(4)), n.constant(n.get("alpha", 1.0), np.float32))
    y = n("Mul", n("Cast", total, to_=1), scale)
    n.end(n("QuantizeLinear", y, n.input(7), n.input(8)) if n.input(7) else y)


def _dynamic_lstm(n):
    """An LSTM with dequantized weights. ONNX Runtime also rounds the inputs of each step to 8 bits."""
    w, r = (n("Transpose", _weights(n, n.input(i), n.input(scale), n.input(scale + 1)), perm=[0, 2, 1])
            for i, scale in ((1, 8), (2, 10)))
    names = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")
    n("LSTM", n.input(0), w, r, *(n.input(i) for i in range(3, 8)), to=list(n.node.output), **_passed_on(n, names))


def _weights(n, x, scale, zero):
    """Dequantizes the weights of one or two directions, which have a scale for each direction or for each column."""
    difference = n("Sub", n("Cast", x, to_=1), _by_direction(n, n("Cast", zero, to_=1)))
    return n("Mul", difference, _by_direction(n, scale))


def _by_direction(n, value):
    """Reshapes [directions] or [directions, columns] so that it broadcasts to [directions, rows, columns]."""
    directions = n.constant(2 if n.get("direction", "forward") == "bidirectional" else 1)
    return n("Reshape", value, n("Concat", n("Unsqueeze", directions, n.constant([0])), n.constant([1, -1]), axis=0))


def _same(op, *names):
    return lambda n: n.end(n(op, *n.node.input, **_passed_on(n, names)))


def _unpacked(n, packed, bits, shape):
    """Unpacks unsigned integers from bytes. A byte may contain two integers, the first one in its low half."""
    if bits == 4:
        last = n.constant([-1])
        halves = (n("BitwiseAnd", packed, n.constant(15, np.uint8)),
                  n("BitShift", packed, n.constant(4, np.uint8), direction="RIGHT"))
        packed = n("Concat", *(n("Unsqueeze", one, last) for one in halves), axis=-1)
    return n("Reshape", packed, n.constant(shape))


def _matmul_of_bits(n):
    """Dequantizes the matrix block by block, and multiplies by it."""
    rows, columns, block, bits = n.get("K"), n.get("N"), n.get("block_size"), n.get("bits", 4)
    if bits not in (4, 8):
        n.refuse(f"with {bits} bits")
    if n.input(4):
        n.refuse("with g_idx")
    if n.input(3) and n.kinds[3] != "uint8":
        n.refuse(f"with zero points of {n.kinds[3]}")
    blocks = -(-rows // block)
    weights = _unpacked(n, n.input(1), bits, [columns, blocks * block])
    scale = n("Reshape", n.input(2), n.constant([columns, blocks]))
    if n.input(3):
        zero = n("Slice", _unpacked(n, n.input(3), bits, [columns, -1]), n.constant([0]), n.constant([blocks]), n.constant([1]))
    else:
        zero = n.constant(np.full([columns, blocks], 2 ** (bits - 1)), np.uint8)
    weights = n("DequantizeLinear", weights, scale, zero, axis=1, block_size=block)
    if blocks * block != rows:
        weights = n("Slice", weights, n.constant([0]), n.constant([rows]), n.constant([1]))
    y = n("MatMul", n.input(0), n("Transpose", weights, perm=[1, 0]))
    n.end(n("Add", y, n.input(5)) if n.input(5) else y)


CONTRIB = {name: by(write) for name, write in {
    "BiasAdd": _bias_add, "BiasGelu": _bias_gelu, "DequantizeLinear": _same("DequantizeLinear", "axis", "block_size"),
    "DynamicQuantizeLSTM": _dynamic_lstm, "DynamicQuantizeMatMul": _dynamic_matmul,
    "EmbedLayerNormalization": _embeddings, "FastGelu": _fast_gelu, "FusedConv": _fused_conv, "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_matmul, "Gelu": _gelu, "GroupNorm": _group_norm, "MatMulIntegerToFloat": _matmul_to_float,
    "MatMulNBits": _matmul_of_bits,
    "NhwcConv": _nhwc_conv, "QGemm": _quantized_gemm, "QLinearAdd": _quantized("Add", (0, 3), 6),
    "QLinearAveragePool": _quantized_pool("AveragePool"), "QLinearConcat": _quantized_concat,
    "QLinearGlobalAveragePool": _quantized_pool("GlobalAveragePool"),
    "QLinearLeakyRelu": _quantized("LeakyRelu", (0,), 3, alpha=("alpha", 0.01)),
    "QLinearMul": _quantized("Mul", (0, 3), 6), "QLinearReduceMean": _quantized_mean,
    "QLinearSigmoid": _quantized("Sigmoid", (0,), 3), "QLinearSoftmax": _quantized("Softmax", (0,), 3, axis=("axis", -1)),
    "QLinearWhere": _quantized_where, "QuantizeLinear": _same("QuantizeLinear", "axis", "block_size"),
    "QuickGelu": _quick_gelu, "SimplifiedLayerNormalization": _rms_norm, "SkipLayerNormalization": _skip_layer_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm, "TransposeMatMul": _fused_matmul, "Trilu": _same("Trilu", "upper"),
}.items()}
