# SPDX-License-Identifier: MIT
"""If, Loop and Scan. Their bodies are separate Programs, which can use values from the enclosing graph.

While a graph is recorded, the branch of an If whose condition is known becomes part of that graph. Loops run on the
host, and their bodies are compiled graphs that all iterations share.
"""
import numpy as np
import onnx

from .._symbols import Symbol
from ._host import on_host
from ._plans import Step
from ._rows import Unsupported, axis_of, dtype_of
from ._types import label


def _attribute(node, name, default=None):
    found = next((one for one in node.attribute if one.name == name), None)
    if found is None and default is None:
        raise ValueError(f"{label(node)}: {name} is missing")
    return default if found is None else onnx.helper.get_attribute_value(found)


def _body(node, name):
    found = _attribute(node, name)
    if not isinstance(found, onnx.GraphProto):
        raise ValueError(f"{label(node)}: {name} is not a graph")
    return found


def _has_symbols(arrays):
    return any(isinstance(one, Symbol) for one in arrays)


def _condition(array, what="the condition"):
    if array.size != 1:
        raise ValueError(f"{what} must be a single boolean, but has the shape {list(array.shape)}")
    return bool(array.reshape(()).item())


def choice(node, builder):
    if not node.input or not node.input[0]:
        raise ValueError(f"{label(node)}: input cond is missing")
    programs, taken, kinds = [], [], []
    for name in ("then_branch", "else_branch"):
        graph = _body(node, name)
        if len(graph.output) != len(node.output):
            raise ValueError(f"{label(node)}: {name} has {len(graph.output)} outputs; expected {len(node.output)}")
        program, around = builder.inner(graph)
        programs.append(program)
        taken.append(around)
        kinds.append(program.kinds)
    if kinds[0] != kinds[1]:
        raise TypeError(f"{label(node)}: its branches return {', '.join(map(str, kinds[0]))} and "
                        f"{', '.join(map(str, kinds[1]))}; expected the same types")
    around = sorted({name for names in taken for name in names})
    taken = [set(names) for names in taken]

    def compute(condition, *values):
        chosen = 0 if _condition(condition) else 1
        seen = {name: value for name, value in zip(around, values) if name in taken[chosen]}
        if _has_symbols(values):
            return tuple(programs[chosen].trace(seen))
        return tuple(programs[chosen].run(seen)[0])

    return Step(label(node), "If", compute, [node.input[0], *around], list(node.output), kinds[0], "a graph for each branch",
                bodies=tuple(programs))


def _unchanged(graph):
    """Returns, for each state of a loop's body, whether every iteration returns it unchanged."""
    same = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity"}
    names = [value.name for value in graph.output[1:]]
    return [same.get(after, after) == before.name for before, after in zip(graph.input[2:], names)]


def loop(node, builder):
    """States that never change, such as weights, are treated as constants, and steps of the body that do not depend on
    the iteration run only once."""
    graph = _body(node, "body")
    count = len(node.input) - 2
    if len(graph.input) != count + 2 or len(graph.output) != len(node.output) + 1:
        raise ValueError(f"{label(node)}: its body has {len(graph.input)} inputs and {len(graph.output)} outputs; expected "
                         f"{count + 2} and {len(node.output) + 1}")
    kinds = [builder.kinds[name] for name in node.input[2:]]
    stays = _unchanged(graph)
    names = [value.name for value in graph.input[2:]]
    fixed = {name: builder.constants[given] for name, given, is_same in zip(names, node.input[2:], stays)
             if is_same and given in builder.constants}
    body, around = builder.inner(graph, ["int64", "bool", *kinds], True, fixed)
    before, body = body.split([*around, *(name for name, is_same in zip(names, stays) if is_same)])
    kinds, declared = body.kinds[1:], [_sizes(value) for value in graph.output]
    wanted = set(body.wanted())
    changing = [position for position, is_same in enumerate(stays) if not is_same]

    def compute(trips, condition, *values):
        states, seen = list(values[:count]), dict(zip(around, values[count:]))
        seen.update((names[position], states[position]) for position in range(count) if stays[position] and names[position] not in fixed)
        seen.update(zip(before.outputs, before.run(seen)[0]))
        seen = {name: value for name, value in seen.items() if name in wanted}
        max_trips = None if trips is None else int(trips.reshape(()).item())
        goes_on = condition is None or _condition(condition)
        scanned = [[] for _ in kinds[count:]]
        turn = 0
        while goes_on and (max_trips is None or turn < max_trips):
            given = {**seen, body.inputs[0]: np.array(turn, np.int64), body.inputs[1]: np.array(True),
                     **{names[position]: states[position] for position in changing}}
            (goes_on, *results), _ = body.run(given)
            goes_on = _condition(goes_on)
            for position in changing:
                states[position] = results[position]
            for kept, result in zip(scanned, results[count:]):
                kept.append(result)
            turn += 1
        stacked = [np.stack(kept) if kept else np.empty((0, *sizes), dtype_of(kind))
                   for kept, sizes, kind in zip(scanned, declared[1 + count:], kinds[count:])]
        return (*states, *stacked)

    inputs = [*node.input[:2], *[""] * (2 - len(node.input)), *node.input[2:], *around]
    return Step(label(node), "Loop", on_host(compute), inputs, list(node.output), kinds, "a graph of the body",
                "a loop runs on the host", (before, body))


def _sizes(value):
    dims = value.type.tensor_type.shape.dim
    return [dim.dim_value if dim.HasField("dim_value") else 0 for dim in dims]


def scan(node, builder):
    if builder.opset < 9:
        what = "Scan before opset 9"
        raise Unsupported(f"{label(node)}: anydml does not support {what}: that version also scans over a "
                          "batch axis", [what])
    body, around = builder.inner(_body(node, "body"), [builder.kinds[name] for name in node.input], True)
    scans = _attribute(node, "num_scan_inputs")
    count = len(node.input) - scans
    outputs = len(node.output) - count
    backwards = list(_attribute(node, "scan_input_directions", [0] * scans))
    axes = list(_attribute(node, "scan_input_axes", [0] * scans))
    out_backwards = list(_attribute(node, "scan_output_directions", [0] * outputs))
    out_axes = list(_attribute(node, "scan_output_axes", [0] * outputs))
    declared = [_sizes(value) for value in _body(node, "body").output]
    if len(body.inputs) != len(node.input) or len(body.outputs) != len(node.output):
        raise ValueError(f"{label(node)}: its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs; expected "
                         f"{len(node.input)} and {len(node.output)}")

    def compute(*values):
        states, seen = list(values[:count]), dict(zip(around, values[count + scans:]))
        rows = [np.moveaxis(x, axis_of(axis, x.ndim), 0)[::-1 if back else 1]
                for x, axis, back in zip(values[count:count + scans], axes, backwards)]
        if len({len(x) for x in rows}) != 1:
            raise ValueError(f"the inputs have {', '.join(str(len(x)) for x in rows)} elements along their axes; "
                             "expected equal numbers")
        scanned = [[] for _ in range(outputs)]
        for parts in zip(*rows):
            results, _ = body.run({**seen, **dict(zip(body.inputs, [*states, *map(np.asarray, parts)]))})
            states = results[:count]
            for kept, result in zip(scanned, results[count:]):
                kept.append(result)
        built = []
        for kept, axis, back, sizes, kind in zip(scanned, out_axes, out_backwards, declared[count:], body.kinds[count:]):
            whole = np.stack(kept) if kept else np.empty((0, *sizes), dtype_of(kind))
            built.append(np.moveaxis(whole[::-1 if back else 1], 0, axis_of(axis, whole.ndim)))
        return (*states, *built)

    return Step(label(node), "Scan", on_host(compute), [*node.input, *around], list(node.output), body.kinds,
                "a graph of the body", "a scan runs on the host", (body,))


CONTROL = {"If": choice, "Loop": loop, "Scan": scan}
