#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the time of calls that compute almost nothing, and compares it with NumPy's and PyTorch's own functions.
Every function of the package runs on 16 elements, or on the arrays of its example if its inputs have special forms.

usage: small_calls.py [--seconds S] [--only NAME,...] [--json FILE]

Each function is called with NumPy arrays, with PyTorch tensors and with `out`. All contenders for a function alternate
in one process; a time is the minimum over all turns, in microseconds. It needs anydml and NumPy (pip install .), and
also measures PyTorch if it is installed.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

import anydml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data" / "python"))
import python_rule  # noqa: E402
from examples import EXAMPLES  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

ELEMENTS = 16
# The NumPy and PyTorch functions that compute the same results from the same inputs, by their Python name in anydml.
SAME_NAME = ("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "divide", "exp",
             "floor", "log", "logical_and", "logical_or", "logical_xor", "logical_not", "multiply", "pow", "sign", "sin",
             "sinh", "sqrt", "subtract", "tan", "tanh")
NUMPY = {
    **{name: getattr(np, name) for name in SAME_NAME if hasattr(np, name)},
    "element_wise_max": np.maximum, "element_wise_min": np.minimum, "negate": np.negative, "recip": np.reciprocal,
    "modulus_floor": np.remainder, "modulus_truncate": np.fmod, "atan_yx": np.arctan2, "is_nan": np.isnan,
    "is_infinity": lambda x, **_: np.isinf(x), "bit_and": np.bitwise_and, "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor, "bit_not": np.invert, "bit_shift_left": np.left_shift, "bit_shift_right": np.right_shift,
    "logical_equals": np.equal, "logical_greater_than": np.greater, "logical_less_than": np.less,
    "logical_greater_than_or_equal": np.greater_equal, "logical_less_than_or_equal": np.less_equal,
    "element_wise_round": lambda x, **_: np.rint(x), "element_wise_identity": np.copy, "activation_identity": np.copy,
    "activation_tanh": np.tanh, "element_wise_if": np.where, "clip": lambda x, min, max: np.clip(x, min, max),
    "clip1": lambda x, min, max: np.clip(x, min, max), "threshold": lambda x, min: np.maximum(x, min),
    "relu": lambda x: np.maximum(x, 0), "constant_pow": lambda x, exponent: np.power(x, exponent),
    "reduce": lambda x, function, axes: np.sum(x, axes[0], keepdims=True),
    "cumulative_summation": lambda x, axis, **_: np.cumsum(x, axis),
    "cumulative_product": lambda x, axis, **_: np.cumprod(x, axis), "gemm": lambda a, b, *_, **__: np.matmul(a, b),
    "join": lambda inputs, axis: np.concatenate(inputs, axis), "tile": lambda x, repeats: np.tile(x, repeats),
    "argmax": lambda x, axes, **_: np.argmax(x, axes[0]), "argmin": lambda x, axes, **_: np.argmin(x, axes[0]),
    "cast": lambda x, dtype, **_: x.astype(dtype), "nonzero_coordinates": np.nonzero,
    "gather_elements": lambda x, i, axis: np.take_along_axis(x, i, axis),
    "fill_value_constant": lambda value, shape, dtype, **_: np.full(shape, value, dtype),
    "diagonal_matrix": lambda offset, value, shape, dtype, **_: np.eye(*shape[-2:], offset, dtype),
}


def torch_functions():
    functional = torch.nn.functional
    return {
        **{name: getattr(torch, name) for name in SAME_NAME if hasattr(torch, name)},
        "element_wise_max": torch.maximum, "element_wise_min": torch.minimum, "negate": torch.neg,
        "recip": torch.reciprocal, "modulus_floor": torch.remainder, "modulus_truncate": torch.fmod, "erf": torch.erf,
        "atan_yx": torch.atan2, "is_nan": torch.isnan, "is_infinity": lambda x, **_: torch.isinf(x),
        "bit_and": torch.bitwise_and, "bit_or": torch.bitwise_or, "bit_xor": torch.bitwise_xor,
        "bit_not": torch.bitwise_not, "bit_shift_left": torch.bitwise_left_shift,
        "bit_shift_right": torch.bitwise_right_shift, "logical_equals": torch.eq, "logical_greater_than": torch.gt,
        "logical_less_than": torch.lt, "logical_greater_than_or_equal": torch.ge,
        "logical_less_than_or_equal": torch.le, "element_wise_round": lambda x, **_: torch.round(x),
        "element_wise_identity": torch.clone, "activation_identity": torch.clone, "activation_tanh": torch.tanh,
        "element_wise_if": lambda c, a, b: torch.where(c.view(torch.bool), a, b),
        "clip": lambda x, min, max: torch.clamp(x, min, max), "clip1": lambda x, min, max: torch.clamp(x, min, max),
        "threshold": lambda x, min: torch.clamp_min(x, min), "relu": torch.relu, "sigmoid": torch.sigmoid,
        "gelu": functional.gelu, "softsign": functional.softsign, "constant_pow": lambda x, exponent: torch.pow(x, exponent),
        "leaky_relu": lambda x, alpha: functional.leaky_relu(x, alpha), "elu": lambda x, alpha: functional.elu(x, alpha),
        "celu": lambda x, alpha: functional.celu(x, alpha), "softplus": lambda x, steepness: functional.softplus(x, steepness),
        "parameterized_relu": lambda x, slope: functional.prelu(x, slope[:1]),
        "softmax": lambda x: torch.softmax(x, -1), "log_softmax": lambda x: torch.log_softmax(x, -1),
        "softmax1": lambda x, axes: torch.softmax(x, axes[0]),
        "log_softmax1": lambda x, axes: torch.log_softmax(x, axes[0]),
        "reduce": lambda x, function, axes: torch.sum(x, axes[0], keepdim=True),
        "cumulative_summation": lambda x, axis, **_: torch.cumsum(x, axis),
        "cumulative_product": lambda x, axis, **_: torch.cumprod(x, axis),
        "gemm": lambda a, b, *_, **__: torch.matmul(a, b), "join": lambda inputs, axis: torch.cat(inputs, axis),
        "tile": lambda x, repeats: torch.tile(x, repeats), "argmax": lambda x, axes, **_: torch.argmax(x, axes[0]),
        "argmin": lambda x, axes, **_: torch.argmin(x, axes[0]), "nonzero_coordinates": torch.nonzero,
        "top_k": lambda x, axis, k: torch.topk(x, k, axis), "max_pooling": lambda x, window_size, strides, **_:
            functional.max_pool2d(x, window_size, strides), "average_pooling": lambda x, window_size, strides, **_:
            functional.avg_pool2d(x, window_size, strides),
        "convolution": lambda x, w, b=None, **_: functional.conv2d(x, w),
    }


def array_of(tensor, elements):
    """Returns an example's tensor. A one-dimensional tensor is repeated until it has the given number of elements."""
    if tensor is None:
        return None
    if isinstance(tensor, tuple):
        return [array_of(one, 0) for one in tensor]
    array = np.array(tensor.values).astype(tensor.type.lower()).reshape(tensor.sizes)
    return np.resize(array, elements) if elements else array


def arguments_of(op):
    """Returns the inputs and the named arguments of the operator's example."""
    example = EXAMPLES[op.name]
    simple = op.name.startswith(("ELEMENT_WISE_", "ACTIVATION_")) and all(
        isinstance(one, type(example.outputs[0])) and len(one.sizes) == 1 and len(one.values) > 1
        for one in (*example.inputs, *example.outputs))
    inputs = [array_of(one, ELEMENTS if simple else 0) for one in example.inputs]
    given = {}
    for one in op.attributes:
        value = example.attributes.get(one.field)
        if value is not None:
            given[one.name] = (anydml.Operator(value) if one.kind == "operators" else
                               [anydml.Operator(each) for each in value] if one.kind == "operator_list" else value)
    several = isinstance(example.output, tuple)
    if "shape" in python_rule.options(op) and not simple:
        shapes = tuple(one.sizes for one in example.outputs)
        given["shape"] = shapes if several else shapes[0]
    if "dtype" in python_rule.options(op):
        kinds = tuple(one.type.lower() for one in example.outputs)
        given["dtype"] = kinds if several else kinds[0]
    return inputs, given


def to_torch(one):
    return [to_torch(each) for each in one] if isinstance(one, list) else one if one is None else torch.from_numpy(one)


def call_of(function, inputs, given):
    """Returns a call as programs write it: with keyword arguments, not with a dict of arguments."""
    names = {f"input_{i}": one for i, one in enumerate(inputs)} | {f"its_{name}": value for name, value in given.items()}
    text = ", ".join([*(f"input_{i}" for i in range(len(inputs))), *(f"{name}=its_{name}" for name in given)])
    return eval(f"lambda: function({text})", {"function": function, **names})


def contenders_of(op, others):
    """Returns the calls to compare for a function, by kind, starting with anydml's."""
    function, (inputs, given) = getattr(anydml, op.python), arguments_of(op)
    if op.name in python_rule.UFUNCS | python_rule.HAND_WRITTEN:
        given = {}
    calls = {"NumPy": call_of(function, inputs, given)}
    result = calls["NumPy"]()
    rest = {name: value for name, value in given.items() if name not in ("dtype", "shape")}
    calls["out"] = call_of(function, inputs, {**rest, "out": result})
    plain = {name: value for name, value in given.items() if name not in ("dtype", "shape") or not inputs or op.python == "cast"}
    if op.python in NUMPY:
        calls["numpy's own"] = call_of(NUMPY[op.python], inputs, plain)
    if torch is not None and inputs:
        tensors = [to_torch(one) for one in inputs]
        calls["PyTorch"] = call_of(function, tensors, given)
        if op.python in others:
            calls["torch's own"] = call_of(others[op.python], tensors, plain)
    return calls


def works(call):
    try:
        with np.errstate(all="ignore"):
            call()
        return True
    except (TypeError, ValueError, RuntimeError):
        return False


def lowest(calls, seconds):
    """Returns the microseconds per call for each contender: the minimum of all turns."""
    calls = {name: call for name, call in calls.items() if works(call)}
    times, counts = {name: float("inf") for name in calls}, {}
    for name, call in calls.items():
        begin = time.perf_counter()
        for _ in range(20):
            call()
        counts[name] = max(1, int(0.002 / max(1e-7, (time.perf_counter() - begin) / 20)))
    end = time.perf_counter() + seconds * len(calls)
    turns = 0
    while turns < 3 or time.perf_counter() < end:
        turns += 1
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name] = min(times[name], (time.perf_counter() - begin) / counts[name] * 1e6)
    return times


def matmul_calls():
    x = np.linspace(-4, 4, ELEMENTS, dtype=np.float32).reshape(4, 4)
    out = np.empty_like(x)
    calls = {"NumPy": lambda: anydml.matmul(x, x), "out": lambda: anydml.matmul(x, x, out),
             "numpy's own": lambda: np.matmul(x, x)}
    if torch is not None:
        t = torch.from_numpy(x)
        calls |= {"PyTorch": lambda: anydml.matmul(t, t), "torch's own": lambda: torch.matmul(t, t)}
    return calls


def graph_calls():
    x = np.linspace(-4, 4, ELEMENTS, dtype=np.float32)
    out, network = np.empty_like(x), anydml.graph(lambda a, b: anydml.relu(a + b) * b)
    calls = {"NumPy": lambda: network(x, x), "out": lambda: network(x, x, out=out),
             "numpy's own": lambda: np.maximum(x + x, 0) * x}
    if torch is not None:
        t = torch.from_numpy(x)
        into = torch.empty_like(t)
        calls |= {"PyTorch": lambda: network(t, t), "PyTorch, out": lambda: network(t, t, out=into),
                  "torch's own": lambda: torch.relu(t + t) * t}
    return calls


def spread(rows, column, beside=None):
    """Returns the distribution of a column, or of its ratio to another column, and the names of the worst functions."""
    values = sorted((row[column] / (row[beside] if beside else 1), name) for name, row in rows.items()
                    if column in row and (beside is None or beside in row))
    if not values:
        return None
    at = [value for value, _ in values]
    return {"count": len(at), "median": at[len(at) // 2], "p90": at[len(at) * 9 // 10], "worst": at[-1],
            "worst_five": [[name, round(value, 2)] for value, name in values[:-6:-1]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.05, help="seconds for each call")
    parser.add_argument("--only", default="", help="functions, by their Python names")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    others = {} if torch is None else torch_functions()
    only, rows = set(filter(None, options.only.split(","))), {}
    np.seterr(all="ignore")
    columns = ("NumPy", "out", "numpy's own", "PyTorch", "torch's own")
    print(f"{'microseconds per call':34}" + "".join(f"{name:>13}" for name in columns))
    for op in python_rule.read_operators():
        if op.name in EXAMPLES and (not only or op.python in only):
            rows[op.python] = lowest(contenders_of(op, others), options.seconds)
    if not only or "matmul" in only:
        rows["matmul"] = lowest(matmul_calls(), options.seconds)
    if not only or "graph" in only:
        rows["graph"] = lowest(graph_calls(), options.seconds)
    for name, row in rows.items():
        print(f"{name:34}" + "".join(f"{row[one]:13.2f}" if one in row else f"{'-':>13}" for one in columns))
    functions = {name: row for name, row in rows.items() if name != "graph"}
    summary = {title: found for title, column, beside in (
        ("NumPy's arrays", "NumPy", None), ("NumPy's arrays, out", "out", None), ("numpy's own", "numpy's own", None),
        ("PyTorch's tensors", "PyTorch", None), ("torch's own", "torch's own", None),
        ("tensors : torch's own", "PyTorch", "torch's own"), ("arrays : numpy's own", "NumPy", "numpy's own"))
        if (found := spread(functions, column, beside)) is not None}
    print(f"\n{'':24}{'count':>6}{'median':>8}{'p90':>8}{'worst':>8}")
    for title, found in summary.items():
        worst = ", ".join(f"{name} {value:.2f}" for name, value in found["worst_five"])
        print(f"{title:24}{found['count']:6}{found['median']:8.2f}{found['p90']:8.2f}{found['worst']:8.2f}  {worst}")
    if options.json:
        options.json.write_text(json.dumps({"versions": {"numpy": np.__version__, "anydml": anydml.__version__,
                                                         "torch": None if torch is None else torch.__version__},
                                            "summary": summary, "microseconds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
