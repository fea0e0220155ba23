# SPDX-License-Identifier: MIT
"""Reports on a model: how its nodes run, how long they take, and how much the results differ from ONNX Runtime's."""
import os
import time
from collections import defaultdict

import numpy as np
import onnx

from ._rows import dtype_of
from ._types import kind_of


def inputs_of(prepared, sizes=(), seed=0):
    """Returns arrays for the inputs: floats from a normal distribution, and zeros for other types. sizes: by the names
    of dimensions; the default is 1."""
    random, sizes = np.random.default_rng(seed), dict(sizes)
    given = {}
    for name in prepared.required:
        declared = prepared.declared[name]
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes.get(dim.dim_param, 1)
                 for dim in declared.tensor_type.shape.dim]
        dtype = dtype_of(kind_of(declared))
        given[name] = (random.standard_normal(shape).astype(dtype) if dtype.kind == "f" else np.zeros(shape, dtype))
    return given


def explained(prepared):
    """Returns lines that describe how the nodes run, which nodes run on the host, and, after a run, the pieces."""
    return prepared.explain() if hasattr(prepared, "explain") else _program_lines(prepared.program, "")


def _program_lines(program, indent):
    hosted = [step for step in program.steps if step.on_host]
    lines = [f"{len(program.steps)} steps, {len(program.folded)} nodes computed once as constants, {len(hosted)} steps on "
             "the host"]
    by_op = defaultdict(int)
    for step in program.steps:
        by_op[step.op, f"the host: {step.on_host}" if step.on_host else step.uses] += 1
    lines += [f"  {count:5} {op:28} by {uses.replace(' ', ', ') if uses.isupper() else uses or 'a view'}"
              for (op, uses), count in sorted(by_op.items())]
    lines += [f"  on the host: {step.label}: {step.on_host}" for step in hosted]
    for begin, end, is_graph, why in program.pieces():
        reason = f"; it ends where {why}" if why and is_graph else f": {why}" if why else ""
        lines.append(f"  steps {begin} to {end - 1}: {'a graph' if is_graph else 'node by node'}{reason}")
    for step in program.steps:
        for body in step.bodies:
            if body.steps:
                lines += [f"  of {step.label}:", *_program_lines(body, "    ")]
    return [indent + line for line in lines]


def seconds(function, rounds):
    """Returns the median time of `rounds` runs."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]


def profile(prepared, given, rounds=3):
    """Returns (seconds, operator, label) for each step, the slowest first. Steps run node by node; in a graph, several
    nodes run in one pass."""
    if hasattr(prepared, "profile"):
        return prepared.profile(given, rounds)
    total = defaultdict(float)

    def timed(step, run):
        begin = time.perf_counter()
        run()
        total[step.op, step.label] += time.perf_counter() - begin

    prepared.program.node_by_node(given)
    for _ in range(rounds):
        prepared.program.node_by_node(given, timed)
    return sorted(((spent / rounds, *names) for names, spent in total.items()), reverse=True)


def threads():
    """The number of threads that anydml uses."""
    wanted = os.environ.get("ANYDML_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) else len(os.sched_getaffinity(0))


def session_of(model, optimized=True):
    """Returns an ONNX Runtime session for a path or bytes, with the same number of threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if isinstance(model, onnx.ModelProto):
        model = model.SerializeToString()
    return onnxruntime.InferenceSession(model if isinstance(model, bytes) else str(model), options, ["CPUExecutionProvider"])


def difference(actual, expected):
    """Returns the largest difference relative to the largest value; infinite if shapes or positions of NaN differ."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return float("inf")
    if not expected.size:
        return 0.0
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where(actual == expected, 0, np.abs(actual - expected))
    both = np.isnan(actual) & np.isnan(expected)
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    apart = float(np.max(np.where(both, 0, apart)))
    return float("inf") if np.isnan(apart) else apart / largest if largest else apart


def same_decision(actual, expected):
    """Whether the largest element along the last axis has the same index everywhere."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return False
    if actual.ndim == 0 or not actual.size:
        return True
    return bool((np.argmax(actual, -1) == np.argmax(expected, -1)).all())
