# SPDX-License-Identifier: MIT
"""From a model's graph to a Program: each node checked and typed, constants computed, functions of ONNX expanded."""
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
_OTHERS = {CONTRIB_DOMAIN: CONTRIB, TRAINING_DOMAIN: TRAINING}  # domains whose operators are replaced by nodes of ONNX
_FAULTS = (ArithmeticError, AttributeError, IndexError, NotImplementedError, TypeError, ValueError)
_MOST_NAMED = 4  # nodes of one operator that a message names
# Weights in bytes become floats of four times their size. Graphs convert and pack them in one go, if nothing else takes them.
_LEAST_WIDENED = 1 << 16  # bytes that are worth it
_WIDENING = ("Cast", "DequantizeLinear")
_BETWEEN = ("Add", "Mul", "Reshape", "Sub", "Transpose")  # steps between that and the product
_PACKED = {**dict.fromkeys(("Conv", "ConvTranspose", "Gemm", "MatMul"), (1,)),  # the inputs that are packed
           **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2))}


class Builder:
    """Makes the Program of a graph. kinds and constants: of the values that a body sees around it; integers: whether
    products of dequantised floats become products of integers; is_inner: of a body; device: of the graphs."""

    def __init__(self, opset, kinds=(), constants=(), folder=None, integers=False, is_inner=False,
                 device=None):
        self.opset, self.kinds, self.constants, self.integers = opset, dict(kinds), dict(constants), integers
        self.folder, self.steps, self.refusals, self.folded = folder, [], [], []
        self.quantised, self.device = {}, device
        self.taken = set()  # the constants that steps take
        self.is_inner, self.postponed = is_inner, {}  # steps that make floats of constants in bytes, by the names of their results

    def program(self, graph, arrays=None, replaced=(), given=(), is_repeated=False, fixed=()):
        """arrays: of the initializers, if they were taken out already; replaced: initializers that a run gives; given: the
        types of the inputs, which a body need not declare; is_repeated: of a loop; fixed: inputs that are among the
        constants."""
        for tensor in graph.initializer:
            self.kinds[tensor.name] = tensor_type(tensor.data_type)
            if tensor.name not in replaced:
                self.constants[tensor.name] = array_of(tensor, self.folder) if arrays is None else arrays.pop(tensor.name)
        initialised = {tensor.name for tensor in graph.initializer}
        for place, value in enumerate(graph.input):
            self.kinds[value.name] = given[place] if place < len(given) else kind_of(value.type)
            if value.name in replaced or not (value.name in fixed or value.name in initialised):
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
                raise ValueError(f"output {value.name!r} is made by no node, and is no input of the graph")
            self._compute(value.name)
        made = Program(self.steps, [value.name for value in graph.output], self.constants,
                       [value.name for value in graph.input], is_repeated, self.device)
        made.kinds = [self.kinds.get(value.name) for value in graph.output]
        made.folded = self.folded
        return made

    def _forget(self, node, left):
        """Constants that no later node takes, and no step: weights from which others were computed. Those of a body stay."""
        left.subtract(node.input)
        for name in node.input:
            if left[name] == 0 and name not in self.taken:
                self.constants.pop(name, None)

    def add(self, node, opset):
        if not node.output:
            raise ValueError(f"{label(node)} has no outputs; expected 1 or more")
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                raise ValueError(f"{label(node)}: attribute {attribute.name!r} stands for {attribute.ref_attr_name!r} of a "
                                 "function, and the node is in no function")
        if node.op_type == "Constant" and node.domain in DEFAULT_DOMAIN:
            self.constants[node.output[0]], self.kinds[node.output[0]] = constant(node, self.folder)
            return
        missing = next((name for name in node.input if name and name not in self.kinds), None)
        if missing is not None:
            raise ValueError(f"{label(node)}: input {missing!r} is made by no node before it, and is no input of the graph")
        if any(name and self.kinds[name] is None for name in node.input):
            self.kinds.update((name, None) for name in node.output)  # of a node that is refused
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
            for name in list(self.postponed):  # which a body may take
                self._compute(name)
            self._keep(CONTROL[node.op_type](node, self))
            return
        if self.integers and node.domain in DEFAULT_DOMAIN:
            if node.op_type == "DequantizeLinear":
                found = noted(node, [self.kinds[name] for name in node.input], self.constants)
                if found is not None:
                    self.quantised[node.output[0]] = found
                self.taken.update(node.input)  # a product may take them
            nodes = product_of(node, self.quantised, self.constants)
            if nodes is not None:
                self._add_all(nodes, max(opset, 13), node)
                return
        self._add_by_row(node, opset)

    def _add_all(self, nodes, opset, whole):
        """The nodes that stand for one; their constants go with it."""
        for inner in nodes:
            self.add(inner, opset)
        for name in {name for inner in nodes for name in inner.output}.difference(whole.output, self.taken):
            self.constants.pop(name, None)

    def _add_by_row(self, node, opset):
        """By the table, or on the host where the table has no row or its row refuses the node."""
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
        made = None if row.make is None else row.make(known)
        if made is None:
            if row.check is not None:
                for name in node.input:
                    self._compute(name)
                self.taken.update(node.input)
                self.steps.append(Step(known.label, node.op_type, row.check(known), list(node.input), [], []))
            self._add_all(*body_of(node, known.kinds, schema, opset), node)
            return
        self._keep(Step(known.label, node.op_type, on_host(made) if is_hosted else made, list(node.input),
                        list(node.output), known.results, row.uses, row.uses if is_hosted else ""))

    def _keep(self, step, may_postpone=True):
        """As a step, or as constants where all that it takes are constants."""
        self.kinds.update(zip(step.outputs, step.kinds))
        if may_postpone and self._may_postpone(step):
            self.postponed[step.outputs[0]] = step
            self.taken.update(step.inputs)
            return
        for place, name in enumerate(step.inputs):
            if place in _PACKED.get(step.op, ()):
                self._emit(name)
            else:
                self._compute(name)
        if all(name in self.constants for name in step.inputs if name):
            try:
                with np.errstate(all="ignore"):
                    results = perform(step, [self.constants[name] if name else None for name in step.inputs])
            except _FAULTS:
                pass  # the run says what is wrong
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
        """Whether the step makes floats of weights that are smaller, or goes on with such floats."""
        if self.is_inner or not all(name in self.constants or name in self.postponed for name in step.inputs if name):
            return False
        if step.op in _BETWEEN and any(name in self.postponed for name in step.inputs):
            return True
        array = self.constants.get(step.inputs[0]) if step.op in _WIDENING else None
        return array is not None and array.itemsize == 1 and array.nbytes >= _LEAST_WIDENED and (
            step.kinds[0] in ("float16", "float"))

    def _emit(self, name):
        """A step that was postponed, in front of the one that takes its result."""
        step = self.postponed.pop(name, None)
        if step is not None:
            for one in step.inputs:
                self._emit(one)
            self.steps.append(step._replace(is_of_weights=True))

    def _compute(self, name):
        """The result of a step that was postponed, as a constant."""
        step = self.postponed.get(name)
        if step is not None:
            for one in step.inputs:
                self._compute(one)
            del self.postponed[name]
            self._keep(step, may_postpone=False)

    def inner(self, graph, given=(), is_repeated=False, fixed=()):
        """The Program of a body, and the names of the values around it that it takes when it runs. fixed: inputs that are
        constants."""
        made = Builder(self.opset, self.kinds, {**self.constants, **dict(fixed)}, self.folder, self.integers,
                       is_inner=True, device=self.device).program(graph, given=given, is_repeated=is_repeated, fixed=fixed)
        own = set(made.inputs)
        return made, [name for name in made.wanted() if name not in own]


def refuse_unknown(model):
    """All operators that are not here, with their nodes: what is asked about a model that cannot run is what it would take."""
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
            more = f" and {len(nodes) - _MOST_NAMED} more" if len(nodes) > _MOST_NAMED else ""
            parts.append(f"{name} ({', '.join(map(repr, nodes[:_MOST_NAMED]))}{more})")
        raise Unsupported(f"not an operator that anydml runs: {', '.join(parts)}", sorted(found))
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise Unsupported(f"initializer {name!r} is sparse, and anydml has dense tensors only", ["sparse initializer"])


def _uses(graph):
    """How often nodes take each value; what a body may take, and an output, is never used up."""
    counts = Counter(name for node in graph.node for name in node.input)
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs):
                counts.update(name for one in nodes_of(inner.node) for name in one.input)
                counts.update(value.name for value in inner.output)
    counts.update(value.name for value in graph.output)
    return counts


def opset_of(model):
    """The version of ONNX's own operators that the model is written in."""
    version = next((opset.version for opset in model.opset_import if opset.domain in DEFAULT_DOMAIN), None)
    if version is None:
        if model.ir_version >= 3 and any(node.domain in DEFAULT_DOMAIN for node in nodes_of(model.graph.node)):
            raise ValueError("the model does not say which opset of ONNX's operators it uses")
        version = 1
    if version < 1:
        raise ValueError(f"the model uses opset {version}; expected 1 or more")
    if version > onnx.defs.onnx_opset_version():
        raise ValueError(f"the model uses opset {version}, and the installed onnx {onnx.__version__} knows them up to "
                         f"{onnx.defs.onnx_opset_version()}")
    return version


__all__ = ["Builder", "label", "opset_of", "refuse_unknown"]
