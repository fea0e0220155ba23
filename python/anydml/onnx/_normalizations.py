# SPDX-License-Identifier: MIT
"""Normalizations. DirectML's operators accept float16 and float; for double, nodes use arithmetic and reductions."""
import math

import numpy as np

from ._functions import ROUNDED
from ._layers import add, divide, multiply, reduce, subtract
from ._rows import axes_of, axis_of, cast, check_minimum, dispatch, number, refuse


# The smallest number above 0: Lp normalization divides by it if the norm is 0.
_MIN_FLOAT = 2.0 ** -149


def _by_channel(value, x, what):
    if value.shape != x.shape[1:2]:
        raise ValueError(f"{what} has the shape {list(value.shape)}, but x has {list(x.shape[1:2])} channels")
    return value.reshape((-1,) + (1,) * (x.ndim - 2))


def _as_dimensions(value, x):
    """Adds leading dimensions of size 1, up to the rank of x."""
    return value.reshape((1,) * (x.ndim - value.ndim) + value.shape)


def _moments(x, axes, scale, bias, epsilon):
    return dispatch("MEAN_VARIANCE_NORMALIZATION1", x, scale, bias, Axes=list(axes), NormalizeVariance=1, Epsilon=epsilon,
                    shape=x.shape, dtype=x.dtype)


def _normalized(x, mean, variance, scale, bias, epsilon):
    """scale * (x - mean) / sqrt(variance + epsilon) + bias, one operation at a time."""
    root = dispatch("ELEMENT_WISE_SQRT", add(variance, number(epsilon, variance.dtype)))
    return add(divide(multiply(scale, subtract(x, mean)), root), bias)


def batch_normalization(node):
    options = node.attributes
    if options.get("training_mode"):
        return _batch_training(node)
    trains = options.get("is_test", 1) == 0 or len(node.results) > 1
    if trains or options.get("spatial", 1) != 1:
        refuse(node, "with spatial 0" if not trains else "in training before opset 14" if node.since < 14 else
               "with further results and training_mode 0", "it normalizes channels by the given mean")

    def compute(x, *others):
        scale, bias, mean, variance = (_as_dimensions(_by_channel(value, x, what), x) for value, what in zip(
            others, ("the scale", "the bias", "the mean", "the variance")))
        wide = max((one.dtype for one in (x, *others)), key=lambda dtype: dtype.itemsize)
        y, scale, bias, mean, variance = (cast(one, wide) for one in (x, scale, bias, mean, variance))
        if wide == np.float64:
            y = _normalized(y, mean, variance, scale, bias, options["epsilon"])
        else:
            y = dispatch("BATCH_NORMALIZATION", y, mean, variance, scale, bias, Spatial=1, Epsilon=options["epsilon"])
        return cast(y, x.dtype)

    return compute


def _batch_training(node):
    """Normalizes by the mean and the variance of the batch, and updates the running mean and variance with them."""
    epsilon, momentum = node.attributes["epsilon"], node.attributes["momentum"]

    def moved(given, own):
        parts = (multiply(one, number(weight, one.dtype)) for one, weight in ((given, momentum), (own, 1 - momentum)))
        return add(*parts)

    def compute(x, *others):
        if x.ndim < 2 or x.size == 0:
            raise ValueError(f"the tensor has the shape {list(x.shape)}, so there is nothing to average")
        wide = max((one.dtype for one in (x, *others)), key=lambda dtype: dtype.itemsize)
        y, *coefficients = (cast(one, wide) for one in (x, *others))
        scale, bias, mean, variance = (_as_dimensions(_by_channel(value, x, what), x) for value, what in zip(
            coefficients, ("the scale", "the bias", "the mean", "the variance")))
        if wide == np.float64:
            axes = [axis for axis in range(x.ndim) if axis != 1]
            own_mean = reduce(y, axes, "AVERAGE")
            own_variance = reduce(dispatch("ELEMENT_WISE_DIFFERENCE_SQUARE", y, own_mean), axes, "AVERAGE")
            y = _normalized(y, own_mean, own_variance, scale, bias, epsilon)
        else:
            y, own_mean, own_variance = dispatch("BATCH_NORMALIZATION_TRAINING", y, scale, bias, None, Epsilon=epsilon)
        results = [cast(y, x.dtype)]
        for given, own, old in zip((mean, variance), (own_mean, own_variance), others[2:]):
            results.append(cast(moved(given, own).reshape(-1), old.dtype))
        return tuple(results[:len(node.results)]) if len(node.results) > 1 else results[0]

    return compute


def instance_normalization(node):
    def compute(x, scale, bias):
        if x.ndim < 3 or x.size == 0:
            raise ValueError(f"the tensor has the shape {list(x.shape)}, so there is nothing to average")
        scale, bias = (_as_dimensions(_by_channel(value, x, what), x) for value, what in (
            (scale, "the scale"), (bias, "the bias")))
        axes, epsilon = range(2, x.ndim), node.attributes["epsilon"]
        if x.dtype != np.float64:
            return _moments(x, axes, scale, bias, epsilon)
        mean = reduce(x, axes, "AVERAGE")
        variance = reduce(dispatch("ELEMENT_WISE_DIFFERENCE_SQUARE", x, mean), axes, "AVERAGE")
        return _normalized(x, mean, variance, scale, bias, epsilon)

    return compute


def mean_variance_normalization(node):
    """(x - mean) / (sqrt(mean of squares - square of the mean) + 1e-9), as ONNX defines it."""
    def compute(x):
        axes = axes_of(node.attributes["axes"], x.ndim)
        if x.dtype != np.float64:
            return _moments(x, axes, None, None, 1e-18)
        mean = reduce(x, axes, "AVERAGE")
        variance = subtract(reduce(multiply(x, x), axes, "AVERAGE"), multiply(mean, mean))
        root = add(dispatch("ELEMENT_WISE_SQRT", variance), number(1e-9, x.dtype))
        return divide(subtract(x, mean), root)

    return compute


def lp_normalization(node):
    p = node.attributes["p"]
    if p not in (1, 2):
        refuse(node, f"with p {p}", "p must be 1 or 2")

    def compute(x):
        axis = axis_of(node.attributes["axis"], x.ndim)
        if x.size == 0:
            return np.empty_like(x)
        if x.dtype != np.float64:
            return dispatch("LP_NORMALIZATION", x, Axis=axis, Epsilon=_MIN_FLOAT, P=p)
        norm, zero = reduce(x, [axis], f"L{p}"), number(0, x.dtype)
        return dispatch("ELEMENT_WISE_IF", dispatch("ELEMENT_WISE_LOGICAL_EQUALS", norm, zero), zero, divide(x, norm))

    return compute


def local_response_normalization(node):
    check_minimum(node, "size", 1)
    options = node.attributes

    def compute(x):
        if x.ndim < 2:
            raise ValueError(f"the tensor has the shape {list(x.shape)}; expected a batch and channels")
        return dispatch("LOCAL_RESPONSE_NORMALIZATION", x, CrossChannel=1, LocalSize=options["size"],
                        Alpha=options["alpha"], Beta=options["beta"], Bias=options["bias"])

    return compute


def _takes(node):
    """Whether DirectML's operators can compute the node. ONNX's definition allows more results and other types."""
    return node.kinds[0] in ROUNDED and len(node.results) == 1 and node.attributes.get("stash_type", 1) == 1


def _along_last(node, x, *others):
    """Returns the axes starting at the node's axis, and the other tensors reshaped to the rank of x."""
    axis = axis_of(node.attributes["axis"], x.ndim)
    for other in others:
        if other is not None and other.shape != x.shape[x.ndim - other.ndim:] and np.broadcast_shapes(other.shape, x.shape) != x.shape:
            raise ValueError(f"a scale or bias has the shape {list(other.shape)}, which does not match {list(x.shape)}")
    return range(axis, x.ndim), *(None if other is None else _as_dimensions(cast(other, x.dtype), x) for other in others)


def layer_normalization(node):
    if not _takes(node):
        return None

    def compute(x, scale, bias=None):
        return _moments(x, *_along_last(node, x, scale, bias), node.attributes["epsilon"])

    return compute


def rms_normalization(node):
    """Normalizes by the root of the mean of the squares."""
    if not _takes(node):
        return None

    def compute(x, scale):
        axes, scale = _along_last(node, x, scale)
        return dispatch("MEAN_VARIANCE_NORMALIZATION2", x, scale, None, Axes=list(axes), UseMean=0, UseVariance=1,
                        Epsilon=node.attributes["epsilon"])

    return compute


def group_normalization(node):
    """Normalizes groups of channels. There is a scale and a bias for each group before opset 21, and for each channel
    since then."""
    if not _takes(node):
        return None
    check = group_checks(node)

    def compute(x, scale, bias):
        check(x)
        groups = node.attributes["num_groups"]
        of_group = x.shape[1] // groups
        seen = x.reshape(x.shape[0], groups, of_group, math.prod(x.shape[2:]))
        expected = groups if node.since < 21 else x.shape[1]
        for value, what in ((scale, "the scale"), (bias, "the bias")):
            if value.shape != (expected,):
                raise ValueError(f"{what} has the shape {list(value.shape)}; expected [{expected}]")
        scale, bias = (value.reshape(1, groups, expected // groups, 1) for value in (scale, bias))
        return _moments(seen, (2, 3), scale, bias, node.attributes["epsilon"]).reshape(x.shape)

    return compute


def group_checks(node):
    """The checks for GroupNormalization. ONNX's definition accepts any number of groups that divides the elements."""
    check_minimum(node, "num_groups", 1)
    groups = node.attributes["num_groups"]

    def check(x, *_):
        if x.ndim < 2 or x.shape[1] % groups:
            raise ValueError(f"num_groups is {groups}, but the tensor has the shape {list(x.shape)}; expected the "
                             "number of channels, the second axis, to be a multiple of it")

    return check


def axis_checks(node):
    """The checks for LayerNormalization and RMSNormalization."""
    def check(x, *_):
        axis_of(node.attributes["axis"], x.ndim)

    return check
