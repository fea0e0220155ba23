# SPDX-License-Identifier: MIT
"""Bit-exact operators in NumPy that train a network. docs/numerics.md shows them."""
import numpy as np

from normalize_reference import average, power, window_sums
from product_reference import fused
from reduce_reference import reduce_floats


def wide(*tensors):
    return tuple(one.astype(np.float32) for one in tensors)


def summed_axes(coefficients):
    return [axis for axis, size in enumerate(coefficients.shape) if size == 1]


def total(x, axes):
    """Keeps the axes and sums in the order of REDUCE."""
    return reduce_floats("SUM", x, axes).reshape([1 if axis in axes else size for axis, size in enumerate(x.shape)])


def batch_training(x, scale, bias, addend, epsilon):
    dtype, axes = x.dtype, summed_axes(scale)
    x, scale, bias = wide(x, scale, bias)
    mean = average(x, axes)
    difference = x - mean
    variance = average(difference * difference, axes)
    factor = scale / np.sqrt(variance + np.float32(epsilon))
    result = fused(difference, *np.broadcast_arrays(factor, bias, difference)[:2])
    if addend is not None:
        result = result + addend.astype(np.float32)
    return result.astype(dtype), mean.astype(dtype), variance.astype(dtype)


def batch_gradient(x, gradient, mean, variance, scale, epsilon):
    dtype, axes = x.dtype, summed_axes(mean)
    x, gradient, mean, variance, scale = wide(x, gradient, mean, variance, scale)
    root = np.sqrt(variance + np.float32(epsilon))
    of_scale = total(gradient * (x - mean), axes) / root
    return (gradient * (scale / root)).astype(dtype), of_scale.astype(dtype), total(gradient, axes).astype(dtype)


def batch_training_gradient(x, gradient, mean, variance, scale, epsilon):
    dtype, axes = x.dtype, summed_axes(mean)
    x, gradient, mean, variance, scale = wide(x, gradient, mean, variance, scale)
    count = np.float32(x.size // mean.size)
    spread = variance + np.float32(epsilon)
    root, factor = np.sqrt(spread), scale / np.sqrt(spread)
    own_mean, gradients = average(x, axes), total(gradient, axes)
    products = total(gradient * (x - own_mean), axes)
    slope = products / count / spread
    result = ((gradient - gradients / count) - (x - own_mean) * slope) * factor
    of_scale = (products + (own_mean - mean) * gradients) / root
    return result.astype(dtype), of_scale.astype(dtype), gradients.astype(dtype)


def local_response_gradient(x, gradient, cross_channel, size, alpha, beta, bias):
    dtype = x.dtype
    x, gradient = wide(x, gradient)
    before, after = (size - 1) // 2, size // 2
    factor, beta = np.float32(alpha) / np.float32(size), np.float32(beta)
    base = factor * window_sums(x * x, cross_channel, before, after) + np.float32(bias)
    quotient = gradient / power(base, beta)
    shares = window_sums(quotient * x / base, cross_channel, after, before)
    return (quotient - factor * (np.float32(2) * beta) * (x * shares)).astype(dtype)


def adam(parameters, first, second, gradient, step, rate, beta1, beta2, epsilon):
    dtype = parameters.dtype
    parameters, first, second, gradient = wide(parameters, first, second, gradient)
    rate, beta1, beta2, epsilon, one = np.float32([rate, beta1, beta2, epsilon, 1])
    rate = rate * (np.sqrt(one - power(beta2, step)) / (one - power(beta1, step)))
    first = beta1 * first + (one - beta1) * gradient
    second = beta2 * second + (one - beta2) * gradient * gradient
    parameters = parameters - first * rate / (np.sqrt(second) + epsilon)
    return parameters.astype(dtype), first.astype(dtype), second.astype(dtype)
