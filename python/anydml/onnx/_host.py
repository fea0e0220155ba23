# SPDX-License-Identifier: MIT
"""Nodes, or element types of nodes, that no DirectML operator supports. NumPy computes them, in a fixed order."""
import math

import numpy as np

from .._symbols import Symbol
from ._rows import FLOATS, INTEGERS, Row, axes_of, axis_of, check_choice, dtype_of
from ._scatters import scatter_elements, scatter_nd
from ._spectra import dft, stft
from ._warps import grid_sample


def on_host(compute):
    """Wraps a function that accepts arrays, but not the values of a graph that is being recorded."""
    def hosted(*arrays):
        if any(isinstance(one, Symbol) for one in arrays):
            raise NotImplementedError("it runs on the host")
        return compute(*arrays)

    return hosted


def _error_function(x):
    return np.array([math.erf(one) for one in x.reshape(-1).tolist()], np.float64).reshape(x.shape)


def _sigmoid(x):
    small = np.exp(-np.abs(x))  # the exponent is never positive, so nothing overflows
    return np.where(x < 0, small / (1 + small), 1 / (1 + small))


def _softmax(x, axis, logarithm=False):
    moved = x - np.max(x, axis, keepdims=True)
    if logarithm:
        return moved - np.log(np.sum(np.exp(moved), axis, keepdims=True))
    exponentials = np.exp(moved)
    return exponentials / np.sum(exponentials, axis, keepdims=True)


def _along(logarithm):
    def make(node):
        def compute(x):
            axis = axis_of(node.attributes["axis"], x.ndim)
            if node.since >= 13:
                return _softmax(x, axis, logarithm)
            rows = x.reshape(math.prod(x.shape[:axis]), -1)
            return _softmax(rows, 1, logarithm).reshape(x.shape)

        return compute

    return make


def _gelu(node):
    if node.attributes["approximate"] == "tanh":
        return lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return lambda x: 0.5 * x * (1 + _error_function(x / math.sqrt(2)))


def _doubles(function):
    return Row(lambda node: lambda *arrays: np.asarray(function(*arrays)), "a function of double", kinds=("double",))


def _doubles_by(make):
    return Row(make, "a function of double", kinds=("double",))


def _parts(node, *names):
    return [node.attributes[name] for name in names]


def _celu(node):
    (alpha,) = _parts(node, "alpha")
    return lambda x: np.maximum(0, x) + np.minimum(0, alpha * np.expm1(x / alpha))


def _elu(node):
    (alpha,) = _parts(node, "alpha")
    return lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def _selu(node):
    alpha, gamma = _parts(node, "alpha", "gamma")
    return lambda x: gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _swish(node):
    (alpha,) = _parts(node, "alpha")
    return lambda x: x * _sigmoid(alpha * x)


def _power(node):
    """Integer powers wrap. An integer with a negative exponent is computed in double and truncated."""
    def compute(x, exponent):
        if x.dtype.kind == "f":
            return np.power(x, exponent.astype(x.dtype))
        if exponent.dtype.kind == "f" or (exponent < 0).any():
            return np.power(x.astype(np.float64), exponent.astype(np.float64)).astype(x.dtype)
        return np.power(x, exponent.astype(x.dtype))

    return compute


def _matmul(node):
    return np.matmul


def _gemm(node):
    options = node.attributes

    def compute(a, b, c=None):
        a, b = (one.T if options[name] else one for one, name in ((a, "transA"), (b, "transB")))
        y = a @ b
        y = y if options["alpha"] == 1 else (options["alpha"] * y).astype(a.dtype)
        return y if c is None else y + (c if options["beta"] == 1 else (options["beta"] * c).astype(a.dtype))

    return compute


def _einsum(node):
    equation = node.attributes["equation"]
    return lambda *arrays: np.einsum(equation, *arrays).astype(arrays[0].dtype)


def _det(node):
    return lambda x: np.asarray(np.linalg.det(x.astype(np.float64)), x.dtype)


def _unique(node):
    axis, is_sorted = node.attributes["axis"], node.attributes["sorted"]

    def compute(x):
        along = None if axis is None else axis_of(axis, x.ndim)
        values, first, inverse, counts = np.unique(x, True, True, True, along)
        inverse = inverse.reshape(-1)
        if not is_sorted:
            order = np.argsort(first, kind="stable")
            positions = np.argsort(order, kind="stable")
            values = np.take(values, order, 0 if along is None else along)
            first, counts, inverse = first[order], counts[order], positions[inverse]
        return (values, *(one.astype(np.int64) for one in (first, inverse, counts)))[:len(node.results)]

    return compute


def _non_max_suppression(node):
    centered = node.attributes["center_point_box"]
    check_choice(node, "center_point_box", (0, 1))

    def compute(boxes, scores, most=None, overlap=None, lowest=None):
        most = 0 if most is None else int(most.reshape(()).item())
        overlap = 0.0 if overlap is None else float(overlap.reshape(()).item())
        found = []
        for image, corners in enumerate(boxes):
            low, high = _corners(corners, centered)
            areas = np.prod(high - low, 1)
            for kind, row in enumerate(scores[image]):
                order = np.argsort(-row, kind="stable")
                order = order if lowest is None else order[row[order] > lowest.reshape(()).item()]
                kept = 0
                while len(order) and kept < most:
                    best, order = order[0], order[1:]
                    found.append((image, kind, best))
                    kept += 1
                    common = np.prod(np.maximum(0, np.minimum(high[best], high[order]) - np.maximum(low[best], low[order])), 1)
                    union = areas[best] + areas[order] - common
                    ratio = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
                    order = order[ratio <= overlap]
        return np.array(found, np.int64).reshape(-1, 3)

    return compute


def _corners(boxes, centered):
    if centered:
        middle, half = boxes[:, [1, 0]], boxes[:, [3, 2]] / 2
        return middle - half, middle + half
    return np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])


def _mel_weights(node):
    dtype = dtype_of(node.results[0])

    def compute(bins, length, rate, low, high):
        bins, length, rate, low, high = (one.reshape(()).item() for one in (bins, length, rate, low, high))
        spectrum = length // 2 + 1
        steps = np.arange(bins + 2, dtype=np.float64)
        steps = _mel(low) + steps * ((_mel(high) - _mel(low)) / (bins + 2))
        positions = np.floor((length + 1) * (700 * (10 ** (steps / 2595) - 1)) / rate).astype(np.int64)
        built = np.zeros((spectrum, bins))
        for i in range(bins):
            first, middle, last = positions[i:i + 3]
            if middle == first:
                built[middle, i] = 1
            else:
                built[first:middle + 1, i] = (np.arange(first, middle + 1) - first) / (middle - first)
            if last > middle:
                built[middle:last, i] = (last - np.arange(middle, last)) / (last - middle)
        return built.astype(dtype)

    return compute


def _mel(frequency):
    return 2595 * math.log10(1 + frequency / 700)


def _log_sums(exponentiates):
    def make(node):
        def compute(x, axes=None):
            axes = node.attributes.get("axes") if axes is None else axes.reshape(-1).tolist()
            if not axes and node.attributes.get("noop_with_empty_axes"):
                return x if exponentiates else np.log(x)
            axes = tuple(axes_of(axes, x.ndim)) if axes else None
            keeps = bool(node.attributes["keepdims"])
            if not exponentiates:
                return np.asarray(np.log(np.sum(x, axes, keepdims=keeps)))
            largest = np.max(x, axes, keepdims=True, initial=-np.inf)
            largest = np.where(np.isfinite(largest), largest, 0)
            total = np.log(np.sum(np.exp(x - largest), axes, keepdims=True)) + largest
            return np.asarray(total if keeps else np.squeeze(total, axes))

        return compute

    return make


_NUMBERS = (*FLOATS, *INTEGERS)

HOST = {
    **{op: _doubles(function) for op, function in {
        "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan,
        "Atanh": np.arctanh, "Cos": np.cos, "Cosh": np.cosh, "Erf": _error_function, "Exp": np.exp, "Log": np.log,
        "Sigmoid": _sigmoid, "Sin": np.sin, "Sinh": np.sinh, "Softplus": lambda x: np.logaddexp(0, x), "Tan": np.tan,
        "Tanh": np.tanh}.items()},
    "Celu": _doubles_by(_celu), "Elu": _doubles_by(_elu), "Selu": _doubles_by(_selu), "Swish": _doubles_by(_swish),
    "Gelu": _doubles_by(_gelu), "LogSoftmax": _doubles_by(_along(True)), "Softmax": _doubles_by(_along(False)),
    "ReduceLogSum": _doubles_by(_log_sums(False)), "ReduceLogSumExp": _doubles_by(_log_sums(True)),
    "Pow": Row(_power, "a power of double or of integers", kinds=("double", "int32", "int64")),
    "Gemm": Row(_gemm, "a product of double or of integers", kinds=("double", "int32", "int64", "uint32", "uint64")),
    "MatMul": Row(_matmul, "a product of double or of integers", kinds=("double", "int32", "int64", "uint32", "uint64")),
    "DFT": Row(dft, "a Fourier transform", kinds=FLOATS),
    "Det": Row(_det, "a determinant", kinds=FLOATS),
    "Einsum": Row(_einsum, "a sum of products", kinds=_NUMBERS),
    "GridSample": Row(grid_sample, "samples at positions given by data", kinds=FLOATS),
    "MelWeightMatrix": Row(_mel_weights, "weights of mel bands",
                           result=lambda attributes, kinds: [attributes.get("output_datatype") or "float"]),
    "NonMaxSuppression": Row(_non_max_suppression, "a selection of boxes"),
    "STFT": Row(stft, "a Fourier transform of frames", kinds=FLOATS),
    "ScatterElements": Row(scatter_elements, "a scatter with a reduction", kinds=_NUMBERS),
    "ScatterND": Row(scatter_nd, "a scatter with a reduction", kinds=_NUMBERS),
    "Unique": Row(_unique, "a set of elements", kinds=_NUMBERS),
}
