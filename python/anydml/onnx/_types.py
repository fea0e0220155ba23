# SPDX-License-Identifier: MIT
"""Reads types, attributes and tensors from ONNX's schemas and messages."""
import numpy as np
import onnx

from ._rows import FOUR_BIT_NODES, FOUR_BITS, KINDS, Node, Unsupported
from ._tensors import array_of, printable, tensor_type

TENSOR_TYPES = {name.lower() for name in onnx.TensorProto.DataType.keys()}


def label(node):
    op = printable(node.op_type)
    return f"{op} {node.name!r}" if node.name else f"{op} that computes {', '.join(node.output)!r}" if node.output else op


def kind_of(declared):
    kind = declared.WhichOneof("value")
    if kind == "tensor_type":
        return tensor_type(declared.tensor_type.elem_type)
    return "nothing" if kind is None else kind.replace("_type", "")


def told(node, row, kinds, schema, opset, fixed):
    """Checks the types of a node's inputs, and returns the Node for its row."""
    given = [kinds[name] if name else "" for name in node.input]
    options = onnx.defs.OpSchema.FormalParameterOption
    for i, formal in enumerate(schema.inputs):
        is_missing = not (i < len(given) and given[i]) if formal.option == options.Single else (
            formal.option == options.Variadic and "" in given[i:])
        if is_missing:
            raise ValueError(f"{label(node)}: input {formal.name} is missing")
    if not schema.min_input <= len(given) <= schema.max_input:
        raise ValueError(f"{label(node)} has {len(given)} inputs; expected {schema.min_input} to {schema.max_input}")
    if len(node.output) > schema.max_output:
        raise ValueError(f"{label(node)} has {len(node.output)} outputs; expected {schema.max_output} at most")
    bound = {}  # ONNX's type variables, such as T, and their types in this node
    for i, kind in enumerate(given):
        if kind:
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            name = formal.type_str if formal.is_homogeneous else f"{formal.type_str} {i}"
            bound.setdefault(name, []).append(kind)
            _check_kind(node, kind, formal.types, opset)
    if row.kinds is not None and given[0] not in row.kinds:
        raise Unsupported(f"{label(node)}: anydml does not support {node.op_type} of {given[0]}",
                          [f"{node.op_type} of {given[0]}"])
    for several in bound.values():
        if len(set(several)) != 1:
            raise TypeError(f"{label(node)}: the inputs must have one type, but have "
                            f"{', '.join(dict.fromkeys(several))}")
    attributes, named = _attributes(node, schema)
    results = row.result(named, given)[:len(node.output)] if row.result else [] if row.make is None else [
        bound[formal.type_str][0] if formal.type_str in bound else _only(formal.types)
        for formal in _formal_outputs(node, schema)]
    for kind, formal in zip(results, schema.outputs):
        _check_kind(node, kind, formal.types, opset)
    return Node(node.op_type, label(node), attributes, given, results, schema.since_version, fixed)


def _formal_outputs(node, schema):
    return [schema.outputs[min(i, len(schema.outputs) - 1)] for i in range(len(node.output))]


def _only(types):
    (one,) = types
    return one.removeprefix("tensor(").removesuffix(")")


def _check_kind(node, kind, allowed, opset):
    if kind in TENSOR_TYPES and f"tensor({kind})" not in allowed:
        raise TypeError(f"{label(node)}: ONNX has no {node.op_type} of {kind} in opset {opset}")
    if kind not in KINDS and not (kind in FOUR_BITS and node.op_type in FOUR_BIT_NODES):
        raise Unsupported(f"{label(node)}: anydml does not support {node.op_type} of {kind}",
                          [f"{node.op_type} of {kind}"])


def _attributes(node, schema):
    """Returns a node's attributes, with ONNX's defaults, and the types that some of them name."""
    attributes, named = {}, {}
    given = {attribute.name: attribute for attribute in node.attribute}
    for name, formal in schema.attributes.items():
        if formal.required and name not in given:
            raise ValueError(f"{label(node)}: {name} is missing")
        has_default = formal.default_value.type != onnx.AttributeProto.UNDEFINED
        attributes[name] = _value_of(formal.default_value) if has_default else None
    for attribute in node.attribute:
        formal = schema.attributes.get(attribute.name)
        if formal is None:
            raise ValueError(f"{label(node)}: {printable(attribute.name)} is not an attribute of {node.op_type} in this "
                             "opset")
        if attribute.type != formal.type.value:
            raise ValueError(f"{label(node)}: {attribute.name} is of type "
                             f"{onnx.AttributeProto.AttributeType.Name(attribute.type)}; expected {formal.type.name}")
        attributes[attribute.name] = _value_of(attribute, node)
        if attribute.type == onnx.AttributeProto.TENSOR:
            named[attribute.name] = tensor_type(attribute.t.data_type)
        elif attribute.name in ("to", "dtype", "output_dtype"):  # Cast-1 gives the type as a string
            is_name = attribute.type == onnx.AttributeProto.STRING
            named[attribute.name] = attribute.s.decode().lower() if is_name else tensor_type(
                attribute.i, f"{label(node)}: {attribute.name}")
    return attributes, named


def _value_of(attribute, node=None):
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.TENSOR:
        return array_of(value, what=f"{attribute.name} of {label(node)}" if node else None)
    return value.decode() if isinstance(value, bytes) else value


def constant(node, folder=None):
    """Returns a Constant's value and ONNX's name for its type."""
    if len(node.attribute) != 1:
        raise ValueError(f"{label(node)} must have one attribute, its value, but has {len(node.attribute)}")
    attribute = node.attribute[0]
    if attribute.name == "value":
        return array_of(attribute.t, folder, f"the value of {label(node)}"), tensor_type(attribute.t.data_type)
    if attribute.name in ("value_float", "value_floats"):
        return np.array(onnx.helper.get_attribute_value(attribute), np.float32), "float"
    if attribute.name in ("value_int", "value_ints"):
        return np.array(onnx.helper.get_attribute_value(attribute), np.int64), "int64"
    raise Unsupported(f"{label(node)} has a {printable(attribute.name)}; anydml supports only dense tensors of numbers",
                      [f"Constant of {printable(attribute.name)}"])
