# SPDX-License-Identifier: MIT
"""Measures a model's run time, and the differences between its results and ONNX Runtime's."""
import os
import time

import numpy as np
import onnx


def inputs_of(prepared, sizes=(), seed=0):
    """Returns arrays for the inputs: floats from a normal distribution, zeros for other types, and empty strings. sizes:
    the sizes of dimensions by their names; the default is 1."""
    random, sizes = np.random.default_rng(seed), dict(sizes)
    given = {}
    for name in prepared.required:
        declared = prepared.declared[name]
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes.get(dim.dim_param, 1)
                 for dim in declared.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type)
        given[name] = (random.standard_normal(shape).astype(dtype) if dtype.kind == "f" else
                       np.full(shape, "") if dtype.kind == "O" else np.zeros(shape, dtype))
    return given


def seconds(function, rounds):
    """Returns the median time of `rounds` runs."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]


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


def array_of(output):
    """Returns an output as an array. For a list of dicts, the array has a row for each dict."""
    return np.array([list(one.values()) for one in output]) if isinstance(output, list) else np.asarray(output)


def difference(actual, expected):
    """Returns the largest difference relative to the largest value; infinity if shapes or positions of NaN differ."""
    actual, expected = array_of(actual), array_of(expected)
    if actual.shape != expected.shape:
        return float("inf")
    if not expected.size:
        return 0.0
    if expected.dtype.kind not in "biufc":  # strings
        return 0.0 if (actual == expected).all() else float("inf")
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where(actual == expected, 0, np.abs(actual - expected))
    both = np.isnan(actual) & np.isnan(expected)
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    apart = float(np.max(np.where(both, 0, apart)))
    return float("inf") if np.isnan(apart) else apart / largest if largest else apart


def same_decision(actual, expected):
    """Whether the largest element along the last axis has the same index everywhere."""
    actual, expected = array_of(actual), array_of(expected)
    if actual.shape != expected.shape:
        return False
    if actual.ndim == 0 or not actual.size:
        return True
    if expected.dtype.kind not in "biufc":
        return bool((actual == expected).all())
    return bool((np.argmax(actual, -1) == np.argmax(expected, -1)).all())
