# SPDX-License-Identifier: MIT
"""Multiplies integers instead of dequantized floats. This is an option, because it is not what the model specifies.

A model that was quantized with QuantizeLinear and DequantizeLinear multiplies floats, each an integer times a scale.
The sums of the integers are exact and are multiplied by both scales once, so the result is closer to the exact value.
"""
import itertools
from collections import namedtuple

import numpy as np
from onnx import helper, numpy_helper

# A float that is (x - zero) * scale. axis: the axis of the scales, unless there is only one.
Quantized = namedtuple("Quantized", "x scale zero axis")
_numbers = itertools.count()


def noted(node, kinds, constants):
    """Returns the integers, scale and zero point of a DequantizeLinear, or None if integer products do not accept
    them."""
    if kinds[0] not in ("int8", "uint8") or kinds[1] != "float" or any(one.name == "block_size" for one in node.attribute):
        return None
    scale, zero = constants.get(node.input[1]), node.input[2] if len(node.input) > 2 else ""
    if scale is None or (zero and zero not in constants):
        return None
    axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
    return Quantized(node.input[0], node.input[1], zero, None if scale.size == 1 else axis)


def product_of(node, known, constants):
    """Returns the nodes that replace a MatMul or a Conv on two such floats, or None if it must stay unchanged."""
    if node.op_type not in ("MatMul", "Conv") or not all(name in known for name in node.input[:2]):
        return None
    a, b = (known[name] for name in node.input[:2])
    weights = constants.get(b.x)
    if a.axis is not None or weights is None:
        return None
    outputs = 0 if node.op_type == "Conv" else weights.ndim - 1  # the axis of the weights that remains in the result
    if b.axis is not None and (b.axis + weights.ndim if b.axis < 0 else b.axis) != outputs:
        return None
    if node.op_type == "MatMul" and weights.ndim != 2:
        return None
    return _written(node, a, b, constants, weights)


def _written(node, a, b, constants, weights):
    prefix = f"{node.name or node.output[0]}.{next(_numbers)}."
    scale = np.float32(constants[a.scale].reshape(())) * constants[b.scale]
    if node.op_type == "Conv":
        scale = scale.reshape(-1, *[1] * (weights.ndim - 2)) if scale.size > 1 else scale.reshape(())
    elif scale.size == 1:
        scale = scale.reshape(())
    nodes = [helper.make_node(f"{node.op_type}Integer", [a.x, b.x, a.zero, b.zero], [f"{prefix}sums"], node.name),
             helper.make_node("Cast", [f"{prefix}sums"], [f"{prefix}floats"], node.name, to=1),
             helper.make_node("Constant", [], [f"{prefix}scale"], value=numpy_helper.from_array(scale.astype(np.float32)))]
    nodes[0].attribute.extend(node.attribute)
    bias = node.input[2] if len(node.input) > 2 else ""
    result = f"{prefix}scaled" if bias else node.output[0]
    nodes.append(helper.make_node("Mul", [f"{prefix}floats", f"{prefix}scale"], [result], node.name))
    if bias:
        shape = np.array([1, -1, *[1] * (weights.ndim - 2)])
        nodes += [helper.make_node("Constant", [], [f"{prefix}shape"], value=numpy_helper.from_array(shape)),
                  helper.make_node("Reshape", [bias, f"{prefix}shape"], [f"{prefix}bias"], node.name),
                  helper.make_node("Add", [result, f"{prefix}bias"], [node.output[0]], node.name)]
    while nodes[0].input and not nodes[0].input[-1]:
        del nodes[0].input[-1]
    return nodes
