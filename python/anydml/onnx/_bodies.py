# SPDX-License-Identifier: MIT
"""Expands nodes that ONNX defines in terms of other nodes. The nodes of the body get unique names."""
import itertools

import onnx

_numbers = itertools.count()


def body_of(node, kinds, schema, opset):
    """Returns the nodes of ONNX's definition of a node, and their opset."""
    function = onnx.FunctionProto()
    version = max(version for version in (schema.function_opset_versions if schema.has_function else
                                          schema.context_dependent_function_opset_versions) if version <= opset)
    function.ParseFromString(_serialized(node, kinds, schema, version))
    prefix = f"{node.op_type}.{next(_numbers)}."
    names = {name: "" for name in function.input}
    names.update(zip(function.input, node.input))
    names.update((inner, outer) for inner, outer in zip(function.output, node.output) if outer)
    given = {attribute.name: attribute for attribute in node.attribute}
    nodes = [_renamed(inner, names, prefix, given, schema) for inner in function.node]
    return nodes, next((opset.version for opset in function.opset_import if opset.domain in ("", "ai.onnx")), version)


def _serialized(node, kinds, schema, version):
    if schema.has_function:
        return schema.get_function_with_opset_version(version)
    types = [onnx.helper.make_tensor_type_proto(onnx.TensorProto.DataType.Value(kind.upper()), None).SerializeToString()
             if kind else onnx.TypeProto().SerializeToString() for kind in kinds]
    return schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)


def _renamed(inner, names, prefix, given, schema):
    result = onnx.NodeProto()
    result.CopyFrom(inner)
    del result.input[:], result.output[:], result.attribute[:]
    for target, source in ((result.input, inner.input), (result.output, inner.output)):
        target.extend(names.setdefault(name, prefix + name) if name else "" for name in source)
    for attribute in inner.attribute:
        found = attribute
        if attribute.ref_attr_name:  # the function's own attribute, or ONNX's default for it
            found = given.get(attribute.ref_attr_name, schema.attributes[attribute.ref_attr_name].default_value)
        if found.type != onnx.AttributeProto.UNDEFINED:
            result.attribute.add().CopyFrom(found)
            result.attribute[-1].name = attribute.name
            if found is attribute:
                for graph in [result.attribute[-1].g] if found.HasField("g") else result.attribute[-1].graphs:
                    _rename_graph(graph, names, prefix, given, schema)
    return result


def _rename_graph(graph, names, prefix, given, schema):
    """Renames the values in a node's branch or body, which can use the function's values."""
    for tensor in graph.initializer:
        tensor.name = names.setdefault(tensor.name, prefix + tensor.name)
    for value in (*graph.input, *graph.output):
        value.name = names.setdefault(value.name, prefix + value.name)
    nodes = [_renamed(inner, names, prefix, given, schema) for inner in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
