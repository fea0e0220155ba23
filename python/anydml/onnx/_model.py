# SPDX-License-Identifier: MIT
"""A model that is checked once and run many times: which nodes it has, of which types, and one after the other."""
from collections import OrderedDict, namedtuple
from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.base import BackendRep, namedtupledict

from .._graphs import Recording, regular
from ._bodies import body_of
from ._nodes import NODES
from ._rows import KINDS, Node, Unsupported, dtype_of

TENSOR_TYPES = {name.lower() for name in onnx.TensorProto.DataType.keys()}
DEFAULT_DOMAIN = ("", "ai.onnx")

Step = namedtuple("Step", "label compute inputs outputs kinds last_uses")


_MOST_KEPT = 16  # forms of inputs that a model stays compiled for


class Prepared(BackendRep):
    """A model that was checked, to be run many times: as one graph, or one node after the other.

    For inputs of new types and shapes the nodes are recorded. Where one of them needs elements to go on, or is something
    that graphs do not have, the model runs node by node for inputs of that form.
    """

    def __init__(self, model):
        if not isinstance(model, onnx.ModelProto):
            raise TypeError(f"the model must be an onnx.ModelProto, as onnx.load gives it, and not a {type(model)}")
        graph = model.graph
        _refuse_what_is_not_here(model)
        self._values = {tensor.name: _array_of(tensor) for tensor in graph.initializer}
        kinds = {tensor.name: _tensor_type(tensor.data_type) for tensor in graph.initializer}
        kinds.update((value.name, _kind_of(value.type)) for value in graph.input)
        self._declared = {value.name: value.type for value in graph.input}
        self._required = [name for name in self._declared if name not in self._values]
        self._output_names = [value.name for value in graph.output]
        self._outputs = namedtupledict("Outputs", self._output_names)
        self._shared = {*self._values, *self._declared}  # what is not a caller's own if it is an output
        opset = _opset(model)
        self._steps = []
        self._recordings = OrderedDict()
        for node in graph.node:
            self._add(node, kinds, opset)
        self._note_last_uses()

    def _add(self, node, kinds, opset):
        if node.op_type == "Constant":
            self._values[node.output[0]], kinds[node.output[0]] = _constant(node)
            self._shared.add(node.output[0])
            return
        if node.op_type not in NODES:  # of a body
            raise Unsupported(f"not an operator that anydml runs: {node.op_type}", [node.op_type])
        row = NODES[node.op_type]
        schema = onnx.defs.get_schema(node.op_type, opset, "")
        fixed = [None if name in self._declared else self._values.get(name) for name in node.input]
        told = _told(node, row, kinds, schema, opset, fixed)
        made = None if row.make is None else row.make(told)
        if made is None:
            if row.check is not None:
                self._steps.append(Step(told.label, row.check(told), list(node.input), [], [], []))
            nodes, opset = body_of(node, told.kinds, schema, opset)
            for inner in nodes:
                self._add(inner, kinds, opset)
            return
        kinds.update(zip(node.output, told.results))
        if row.is_view:
            self._shared.update(node.output)
        self._steps.append(Step(told.label, made, list(node.input), list(node.output), told.results, []))

    def _note_last_uses(self):
        """So that a run keeps no tensor longer than it is needed."""
        seen = set(self._output_names)
        for step in reversed(self._steps):
            new = {name for name in (*step.inputs, *step.outputs) if name} - seen
            step.last_uses.extend(new)
            seen |= new

    def run(self, inputs, **_):
        """The outputs, as a tuple that can be asked by name too: ``outputs[0]``, ``outputs["y"]``.

        The inputs are arrays in the order of the graph's inputs without initializers, or a dict by name, which may
        replace initializers that the graph lists as inputs.
        """
        given = {name: regular(array) for name, array in self._take(inputs).items()}
        recording = self._recording(given)
        if recording is not None:
            return self._outputs(*recording.run(given.values(), recording.no_outs))
        results = self._compute(given)
        return self._outputs(*(result.copy() if name in self._shared else result
                               for name, result in zip(self._output_names, results)))

    def _recording(self, given):
        """The model as a graph for inputs like these, or None."""
        key = tuple((name, array.dtype, array.shape, array.strides) for name, array in given.items())
        if key not in self._recordings:
            names = list(given)
            try:
                found = Recording(lambda *symbols: tuple(self._compute(dict(zip(names, symbols)))),
                                  list(given.values()), None, self._values.values())
            except (ArithmeticError, AttributeError, IndexError, NotImplementedError, TypeError, ValueError):
                found = None  # if a node is wrong, it says so when it runs by itself
            self._recordings[key] = found
            while len(self._recordings) > _MOST_KEPT:
                self._recordings.popitem(last=False)
        return self._recordings[key]

    def _compute(self, given):
        """The outputs, node by node, of arrays or symbols."""
        values = {**self._values, **given}
        with np.errstate(all="ignore"):
            for step in self._steps:
                arrays = [values[name] if name else None for name in step.inputs]
                try:
                    results = step.compute(*arrays)
                except (ArithmeticError, IndexError, TypeError, ValueError) as error:
                    kind = TypeError if isinstance(error, TypeError) else ValueError
                    raise kind(f"{step.label}: {error}") from error
                results = results if isinstance(results, tuple) else () if results is None else (results,)
                for name, result, kind in zip(step.outputs, results, step.kinds):
                    values[name] = result.view(bool) if kind == "bool" else result
                for name in step.last_uses:
                    del values[name]
        return [values[name] for name in self._output_names]

    def _take(self, inputs):
        if isinstance(inputs, Mapping):
            given = dict(inputs)
            unknown = [name for name in given if name not in self._declared]
            missing = [name for name in self._required if name not in given]
            if unknown or missing:
                raise ValueError(f"the model has no input {unknown[0]!r}" if unknown else
                                 f"input {missing[0]!r} is missing")
        else:
            arrays = listed(inputs, " or a dict by name")
            names = list(self._declared) if len(arrays) == len(self._declared) else self._required
            if len(arrays) != len(names):
                raise ValueError(f"the model takes {len(names)} inputs, and {len(arrays)} were given")
            given = dict(zip(names, arrays))
        return {name: _checked_input(name, value, self._declared[name]) for name, value in given.items()}


def listed(inputs, or_what=""):
    """Inputs in their order; one array may stand alone."""
    if isinstance(inputs, (np.ndarray, np.generic)):
        return [inputs]
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Iterable):
        raise TypeError(f"inputs is a {type(inputs).__name__}; expected a list of arrays{or_what}")
    return list(inputs)


def as_array(name, value):
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"input {name} is no array: {error}") from error


def label(node):
    return f"{node.op_type} {node.name!r}" if node.name else f"{node.op_type} that makes {', '.join(node.output)!r}"


def _refuse_what_is_not_here(model):
    """Operators first, all of them by name: what is asked about a model that cannot run is what it would take."""
    functions = {(function.domain, function.name) for function in model.functions}
    needs = set()
    for node in model.graph.node:
        known = node.domain in DEFAULT_DOMAIN and (node.op_type in NODES or node.op_type == "Constant")
        if not known or (node.domain, node.op_type) in functions:
            needs.add(node.op_type if node.domain in DEFAULT_DOMAIN else f"{node.domain}.{node.op_type}")
    if needs:
        raise Unsupported(f"not an operator that anydml runs: {', '.join(sorted(needs))}", sorted(needs))
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise Unsupported(f"initializer {name!r} is sparse, and anydml has dense tensors only", ["sparse initializer"])


def _opset(model):
    """The version of ONNX's own operators that the model is written in."""
    version = next((opset.version for opset in model.opset_import if opset.domain in DEFAULT_DOMAIN), None)
    if version is None:
        if model.graph.node and model.ir_version >= 3:
            raise ValueError("the model does not say which opset of ONNX's operators it uses")
        version = 1
    if version > onnx.defs.onnx_opset_version():
        raise ValueError(f"the model uses opset {version}, and the installed onnx {onnx.__version__} knows them up to "
                         f"{onnx.defs.onnx_opset_version()}")
    return version


def _tensor_type(number):
    """ONNX's name of an element type: float, double, int8, bfloat16, string..."""
    return onnx.TensorProto.DataType.Name(number).lower()


def _kind_of(declared):
    kind = declared.WhichOneof("value")
    if kind == "tensor_type":
        return _tensor_type(declared.tensor_type.elem_type)
    return "nothing" if kind is None else kind.replace("_type", "")


def _array_of(tensor):
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise ValueError(f"tensor {tensor.name!r} lies in a file that was not loaded; onnx.load does that")
    array = numpy_helper.to_array(tensor)
    array.flags.writeable = False
    return array


def _constant(node):
    """The value of a Constant and ONNX's name of its type."""
    if len(node.attribute) != 1:
        raise ValueError(f"{label(node)} must have one attribute, its value, and has {len(node.attribute)}")
    attribute = node.attribute[0]
    if attribute.name == "value":
        return _array_of(attribute.t), _tensor_type(attribute.t.data_type)
    if attribute.name in ("value_float", "value_floats"):
        return np.array(onnx.helper.get_attribute_value(attribute), np.float32), "float"
    if attribute.name in ("value_int", "value_ints"):
        return np.array(onnx.helper.get_attribute_value(attribute), np.int64), "int64"
    raise Unsupported(f"{label(node)} has a {attribute.name}, and anydml has dense tensors of numbers only",
                      [f"Constant of {attribute.name}"])


def _told(node, row, kinds, schema, opset, fixed):
    """What a node's row is told of it, once the types of its inputs are found right."""
    given = [kinds[name] if name else "" for name in node.input]
    required = onnx.defs.OpSchema.FormalParameterOption.Single
    for i, formal in enumerate(schema.inputs):
        if formal.option == required and not (i < len(given) and given[i]):
            raise ValueError(f"{label(node)}: input {formal.name} is missing")
    if not schema.min_input <= len(given) <= schema.max_input:
        raise ValueError(f"{label(node)} has {len(given)} inputs; expected {schema.min_input} to {schema.max_input}")
    bound = {}  # ONNX's names of types, T and so on, and what each of them stands for here
    for i, kind in enumerate(given):
        if kind:
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            name = formal.type_str if formal.is_homogeneous else f"{formal.type_str} {i}"
            bound.setdefault(name, []).append(kind)
            _check_kind(node, kind, formal.types, opset)
    if row.kinds is not None and given[0] not in row.kinds:
        raise Unsupported(f"{label(node)}: anydml has no {node.op_type} of {given[0]}",
                          [f"{node.op_type} of {given[0]}"])
    for several in bound.values():
        if len(set(several)) != 1:
            raise TypeError(f"{label(node)}: the inputs must have one type, and have "
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
    if kind not in KINDS:
        raise Unsupported(f"{label(node)}: anydml has no {node.op_type} of {kind}", [f"{node.op_type} of {kind}"])


def _attributes(node, schema):
    """A node's attributes, with ONNX's defaults, and the types that some of them name."""
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
            raise ValueError(f"{label(node)}: {attribute.name} is not an attribute of {node.op_type} in this opset")
        if attribute.type != formal.type.value:
            raise ValueError(f"{label(node)}: {attribute.name} is of type "
                             f"{onnx.AttributeProto.AttributeType.Name(attribute.type)}; expected {formal.type.name}")
        attributes[attribute.name] = _value_of(attribute)
        if attribute.type == onnx.AttributeProto.TENSOR:
            named[attribute.name] = _tensor_type(attribute.t.data_type)
        elif attribute.name in ("to", "dtype", "output_dtype"):  # the first Cast has the name itself
            is_name = attribute.type == onnx.AttributeProto.STRING
            named[attribute.name] = attribute.s.decode().lower() if is_name else _tensor_type(attribute.i)
    return attributes, named


def _value_of(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.TENSOR:
        return _array_of(value)
    return value.decode() if isinstance(value, bytes) else value


def _checked_input(name, value, declared):
    array = as_array(repr(name), value)
    kind = _kind_of(declared)
    if array.dtype != onnx.helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type):
        raise TypeError(f"input {name!r} is {array.dtype}, and the model declares {dtype_of(kind)}")
    if declared.tensor_type.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.tensor_type.shape.dim]
        if len(sizes) != array.ndim or any(size not in (None, given) for size, given in zip(sizes, array.shape)):
            shape = ", ".join("?" if size is None else str(size) for size in sizes)
            raise ValueError(f"input {name!r} has the shape {list(array.shape)}, and the model declares [{shape}]")
    return array
