# SPDX-License-Identifier: MIT
"""Builds a Program from a model's graph: checks and types each node, computes constants, and expands ONNX's
functions."""
from collections import Counter

import numpy as np
import onnx

from ._bodies import body_of
from ._contrib import CONTRIB, DOMAIN as CONTRIB_DOMAIN
from ._contrib_attention import WHOLE
from ._control import CONTROL
from ._host import HOST, on_host
from ._inlining import nodes_of
from ._integers import noted, product_of
from ._nodes import NODES
from ._plans import Program, Step, perform
from ._rows import Unsupported
from ._training import DOMAIN as TRAINING_DOMAIN, TRAINING
from ._tensors import array_of, printable, tensor_type
from ._types import constant, kind_of, label, told

DEFAULT_DOMAIN = ("", "ai.onnx")
_OTHERS = {CONTRIB_DOMAIN: CONTRIB, TRAINING_DOMAIN: TRAINING}  # domains whose operators are replaced by ONNX nodes
_FAULTS = (ArithmeticError, AttributeError, IndexError, NotImplementedError, TypeError, ValueError)
_MAX_NAMED = 4  # the maximum number of nodes of one operator that a message lists
# Converting byte weights to floats makes them four times as large. Graphs convert and pack them in one step, unless
# other steps use them.
_MIN_WIDENED = 1 << 16  # the smallest weights, in bytes, for which this pays off
_WIDENING = ("Cast", "DequantizeLinear")
_BETWEEN = ("Add", "Mul", "Reshape", "Sub", "Transpose")  # steps that may occur between the conversion and the product
_PACKED = {**dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul"), (1,)),  # the inputs that are packed
           **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2))}


class Builder:
    """Builds the Program of a graph. kinds and constants: the types and the constants of the enclosing graph, which a
    body can use; integers: whether products of dequantized floats become integer products; is_inner: whether the graph
    is a body; device: the device of the compiled graphs."""

    def __init__(self, opset, kinds=(), constants=(), folder=None, integers=False, is_inner=False,
                 device=None):
        self.opset, self.kinds, self.constants, self.integers = opset, dict(kinds), dict(constants), integers
        self.folder, self.steps, self.refusals, self.folded = folder, [], [], []
        self.quantized, self.device = {}, device
        self.taken = set()  # the constants that steps use
        self.is_inner, self.postponed = is_inner, {}  # steps that convert byte constants to floats, by result name

    def program(self, graph, arrays=None, replaced=(), given=(), is_repeated=False, fixed=()):
        """arrays: the initializers, if they were extracted already; replaced: initializers that a run passes as inputs;
        given: the types of the inputs, which a body need not declare; is_repeated: whether this is the body of a loop;
        fixed: inputs that are among the constants."""
        for tensor in graph.initializer:
            self.kinds[tensor.name] = tensor_type(tensor.data_type)
            if tensor.name not in replaced:
                self.constants[tensor.name] = array_of(tensor, self.folder) if arrays is None else arrays.pop(tensor.name)
        initialized = {tensor.name for tensor in graph.initializer}
        for position, value in enumerate(graph.input):
            self.kinds[value.name] = given[position] if position < len(given) else kind_of(value.type)
            if value.name in replaced or not (value.name in fixed or value.name in initialized):
                self.constants.pop(value.name, None)
        left = _uses(graph)
        for node in graph.node:
            try:
                self.add(node, self.opset)
            except Unsupported as refusal:
                self.refusals.append(refusal)
                self.kinds.update((name, None) for name in node.output)
            self._forget(node, left)
        if self.refusals:
            messages = list(dict.fromkeys(str(one) for one in self.refusals))
            raise Unsupported("; ".join(messages), list(dict.fromkeys(need for one in self.refusals for need in one.needs)))
        for value in graph.output:
            if value.name not in self.kinds:
                raise ValueError(f"output {value.name!r} is neither computed by a node nor an input of the graph")
            self._compute(value.name)
        built = Program(self.steps, [value.name for value in graph.output], self.constants,
                       [value.name for value in graph.input], is_repeated, self.device)
        built.kinds = [self.kinds.get(value.name) for value in graph.output]
        built.folded = self.folded
        return built

    def _forget(self, node, left):
        """Drops constants that no later node and no step uses, such as weights that were converted.
        Constants that a body uses stay."""
        left.subtract(node.input)
        for name in node.input:
            if left[name] == 0 and name not in self.taken:
                self.constants.pop(name, None)

    def add(self, node, opset):
        if not node.output:
            raise ValueError(f"{label(node)} has no outputs; expected 1 or more")
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                raise ValueError(f"{label(node)}: attribute {attribute.name!r} refers to {attribute.ref_attr_name!r} "
                                 "of a function, but the node is not in a function")
        if node.op_type == "Constant" and node.domain in DEFAULT_DOMAIN:
            self.constants[node.output[0]], self.kinds[node.output[0]] = constant(node, self.folder)
            return
        missing = next((name for name in node.input if name and name not in self.kinds), None)
        if missing is not None:
            raise ValueError(f"{label(node)}: input {missing!r} is neither computed by an earlier node nor an input of "
                             "the graph")
        if any(name and self.kinds[name] is None for name in node.input):
            self.kinds.update((name, None) for name in node.output)  # it depends on a rejected node
            return
        if node.domain in _OTHERS:
            kinds = [self.kinds[name] if name else "" for name in node.input]
            if node.domain == CONTRIB_DOMAIN and node.op_type in WHOLE:
                self._keep(WHOLE[node.op_type](node, kinds))
                return
            nodes = _OTHERS[node.domain][node.op_type](node, kinds)
            self._add_all(nodes, onnx.defs.onnx_opset_version(), node)
            return
        if node.op_type in CONTROL:
            for name in list(self.postponed):  # the body may use their results
                self._compute(name)
            self._keep(CONTROL[node.op_type](node, self))
            return
        if self.integers and node.domain in DEFAULT_DOMAIN:
            if node.op_type == "DequantizeLinear":
                found = noted(node, [self.kinds[name] for name in node.input], self.constants)
                if found is not None:
                    self.quantized[node.output[0]] = found
                self.taken.update(node.input)  # an integer product may use these inputs
            nodes = product_of(node, self.quantized, self.constants)
            if nodes is not None:
                self._add_all(nodes, max(opset, 13), node)
                return
        self._add_by_row(node, opset)

    def _add_all(self, nodes, opset, whole):
        """Adds the nodes that replace one node, and then drops their constants."""
        for inner in nodes:
            self.add(inner, opset)
        for name in {name for inner in nodes for name in inner.output}.difference(whole.output, self.taken):
            self.constants.pop(name, None)

    def _add_by_row(self, node, opset):
        """Adds a step for a node, using its row in the table or, if no row accepts the node, running it on the host."""
        refusal = None
        for table in (NODES, HOST):
            if node.op_type in table:
                try:
                    self._add_by(table[node.op_type], node, opset, table is HOST)
                    return
                except Unsupported as error:
                    refusal = refusal or error
        raise refusal or Unsupported(f"not an operator that anydml runs: {node.op_type}", [node.op_type])

    def _add_by(self, row, node, opset, is_hosted):
        try:
            schema = onnx.defs.get_schema(node.op_type, opset, "")
        except onnx.defs.SchemaError:
            raise ValueError(f"{label(node)}: ONNX has no {node.op_type} in opset {opset}") from None
        fixed = [self.constants.get(name) for name in node.input]
        known = told(node, row, self.kinds, schema, opset, fixed)
        built = None if row.make is None else row.make(known)
        if built is None:
            if row.check is not None:
                for name in node.input:
                    self._compute(name)
                self.taken.update(node.input)
                self.steps.append(Step(known.label, node.op_type, row.check(known), list(node.input), [], []))
            self._add_all(*body_of(node, known.kinds, schema, opset), node)
            return
        self._keep(Step(known.label, node.op_type, on_host(built) if is_hosted else built, list(node.input),
                        list(node.output), known.results, row.uses, row.uses if is_hosted else ""))

    def _keep(self, step, may_postpone=True):
        """Adds a step, or computes its results as constants if all its inputs are constants."""
        self.kinds.update(zip(step.outputs, step.kinds))
        if may_postpone and self._may_postpone(step):
            self.postponed[step.outputs[0]] = step
            self.taken.update(step.inputs)
            return
        for position, name in enumerate(step.inputs):
            if position in _PACKED.get(step.op, ()):
                self._emit(name)
            else:
                self._compute(name)
        if all(name in self.constants for name in step.inputs if name):
            try:
                with np.errstate(all="ignore"):
                    results = perform(step, [self.constants[name] if name else None for name in step.inputs])
            except _FAULTS:
                pass  # the run will report the error
            else:
                for name, result in zip(step.outputs, results):
                    result = np.asarray(result).view()
                    result.flags.writeable = False
                    self.constants[name] = result
                self.folded.append(step.label)
                return
        self.taken.update(step.inputs)
        self.steps.append(step)

    def _may_postpone(self, step):
        """Whether the step converts byte weights to floats, or continues to compute with such floats."""
        if self.is_inner or not all(name in self.constants or name in self.postponed for name in step.inputs if name):
            return False
        if step.op in _BETWEEN and any(name in self.postponed for name in step.inputs):
            return True
        array = self.constants.get(step.inputs[0]) if step.op in _WIDENING else None
        return array is not None and array.itemsize == 1 and array.nbytes >= _MIN_WIDENED and (
            step.kinds[0] in ("float16", "float"))

    def _emit(self, name):
        """Adds a postponed step before the step that uses its result."""
        step = self.postponed.pop(name, None)
        if step is not None:
            for one in step.inputs:
                self._emit(one)
            self.steps.append(step._replace(is_of_weights=True))

    def _compute(self, name):
        """Computes the result of a postponed step as a constant."""
        step = self.postponed.get(name)
        if step is not None:
            for one in step.inputs:
                self._compute(one)
            del self.postponed[name]
            self._keep(step, may_postpone=False)

    def inner(self, graph, given=(), is_repeated=False, fixed=()):
        """Returns the Program of a body, and the names of the outer values that it needs when it runs. fixed: inputs
        that are constants."""
        built = Builder(self.opset, self.kinds, {**self.constants, **dict(fixed)}, self.folder, self.integers,
                       is_inner=True, device=self.device).program(graph, given=given, is_repeated=is_repeated, fixed=fixed)
        own = set(built.inputs)
        return built, [name for name in built.wanted() if name not in own]


def refuse_unknown(model):
    """Reports all unsupported operators with their nodes, so that the error lists everything that the model needs."""
    found = {}
    for node in nodes_of(model.graph.node):
        if node.domain in DEFAULT_DOMAIN:
            known = node.op_type in NODES or node.op_type in HOST or node.op_type in CONTROL or node.op_type == "Constant"
            name = printable(node.op_type)
        else:
            known = node.op_type in _OTHERS.get(node.domain, ()) or (node.domain == CONTRIB_DOMAIN and node.op_type in WHOLE)
            name = printable(f"{node.domain}.{node.op_type}")
        if not known:
            found.setdefault(name, []).append(node.name or ", ".join(node.output))
    if found:
        parts = []
        for name, nodes in sorted(found.items()):
            more = f" and {len(nodes) - _MAX_NAMED} more" if len(nodes) > _MAX_NAMED else ""
            parts.append(f"{name} ({', '.join(map(repr, nodes[:_MAX_NAMED]))}{more})")
        raise Unsupported(f"not an operator that anydml runs: {', '.join(parts)}", sorted(found))
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise Unsupported(f"initializer {name!r} is sparse; anydml supports only dense tensors", ["sparse initializer"])


def _uses(graph):
    """Counts how often nodes use each value. Uses in bodies and outputs also count, so these values are never
    dropped."""
    counts = Counter(name for node in graph.node for name in node.input)
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs):
                counts.update(name for one in nodes_of(inner.node) for name in one.input)
                counts.update(value.name for value in inner.output)
    counts.update(value.name for value in graph.output)
    return counts


def opset_of(model):
    """Returns the version of ONNX's own operators that the model uses."""
    version = next((opset.version for opset in model.opset_import if opset.domain in DEFAULT_DOMAIN), None)
    if version is None:
        if model.ir_version >= 3 and any(node.domain in DEFAULT_DOMAIN for node in nodes_of(model.graph.node)):
            raise ValueError("the model does not declare which opset of ONNX's operators it uses")
        version = 1
    if version < 1:
        raise ValueError(f"the model uses opset {version}; expected 1 or more")
    if version > onnx.defs.onnx_opset_version():
        raise ValueError(f"the model uses opset {version}, but the installed onnx {onnx.__version__} supports opsets "
                         f"up to {onnx.defs.onnx_opset_version()}")
    return version


__all__ = ["Builder", "label", "opset_of", "refuse_unknown"]
