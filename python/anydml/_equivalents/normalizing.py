# SPDX-License-Identifier: MIT
"""Reductions, softmax, normalizations, matrix products, and the training operators."""
import torch

from ._lines import in_float, sums

REDUCTIONS = ("ARGMAX", "ARGMIN", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "MULTIPLY", "SUM",
               "SUM_SQUARE")


def _multiplied(x, axes):
    for axis in axes:
        x = torch.prod(x, axis, keepdim=True)
    return x


_REDUCED = {
    "AVERAGE": lambda x, axes: x.mean(axes, keepdim=True),
    "L1": lambda x, axes: x.abs().sum(axes, keepdim=True),
    "L2": lambda x, axes: torch.linalg.vector_norm(x, 2, axes, keepdim=True),
    "LOG_SUM": lambda x, axes: x.sum(axes, keepdim=True).log(),
    "LOG_SUM_EXP": lambda x, axes: torch.logsumexp(x, axes, keepdim=True),
    "MAX": lambda x, axes: torch.amax(x, axes, keepdim=True),
    "MIN": lambda x, axes: torch.amin(x, axes, keepdim=True),
    "MULTIPLY": _multiplied,
    "SUM": lambda x, axes: x.sum(axes, keepdim=True),
    "SUM_SQUARE": lambda x, axes: (x * x).sum(axes, keepdim=True),
}


def _reduced(g, x):
    if not g.Axes:  # each element is reduced separately, but PyTorch would reduce all of them together
        return _REDUCED[g.choice("Function", *REDUCTIONS)](x.unsqueeze(-1), [x.ndim]).squeeze(-1)
    return _REDUCED[g.choice("Function", *REDUCTIONS)](x, g.Axes)


def _log_softmax(axes):
    def equivalent(g, x):
        return x - torch.logsumexp(x, axes(g), keepdim=True)

    return equivalent


def _softmax(axes):
    log = _log_softmax(axes)
    return lambda g, x: log(g, x).exp()


def _hardmax(g, x):
    return x * 0  # a step function: its derivative is 0


def _normalized(x, axes, scale, bias, epsilon, use_mean=True, use_variance=True):
    difference = x - x.mean(axes, keepdim=True) if use_mean else x
    if use_variance:
        difference = difference * torch.rsqrt((difference * difference).mean(axes, keepdim=True) + epsilon)
    difference = difference if scale is None else difference * scale
    return difference if bias is None else difference + bias


def _of_rows(g, x, scale=None, bias=None):
    return _normalized(x, list(range(1 if g.CrossChannel else 2, x.ndim)), scale, bias, g.Epsilon,
                       use_variance=g.NormalizeVariance)


def _of_axes(g, x, scale=None, bias=None):
    return _normalized(x, g.Axes, scale, bias, g.Epsilon, use_variance=g.NormalizeVariance)


def _of_axes2(g, x, scale=None, bias=None):
    return _normalized(x, g.Axes, scale, bias, g.Epsilon, g.UseMean, g.UseVariance)


def _batch(g, x, mean, variance, scale, bias):
    return (x - mean) * (scale * torch.rsqrt(variance + g.Epsilon)) + bias


def _summed(coefficients):
    return [i for i, size in enumerate(coefficients.shape) if size == 1]


def _batch_grad(g, x, gradient, mean, variance, scale):
    root, axes = torch.rsqrt(variance + g.Epsilon), _summed(scale)
    return [gradient * (scale * root), (gradient * (x - mean)).sum(axes, keepdim=True) * root,
            gradient.sum(axes, keepdim=True)]


def _batch_training(g, x, scale, bias, addend=None):
    axes = _summed(scale)
    mean = x.mean(axes, keepdim=True)
    difference = x - mean
    variance = (difference * difference).mean(axes, keepdim=True)
    result = difference * (scale * torch.rsqrt(variance + g.Epsilon)) + bias
    return [result if addend is None else result + addend, mean, variance]


def _batch_training_grad(g, x, gradient, mean, variance, scale):
    axes, square = _summed(scale), variance + g.Epsilon
    root, centered = torch.rsqrt(square), x - x.mean(axes, keepdim=True)
    shares = (gradient * centered).mean(axes, keepdim=True)
    return [scale * root * (gradient - gradient.mean(axes, keepdim=True) - centered * shares / square),
            (gradient * (x - mean)).sum(axes, keepdim=True) * root, gradient.sum(axes, keepdim=True)]


def _lp(g, x):
    norm = torch.linalg.vector_norm(x, g.P, g.Axis, keepdim=True)
    return x / norm.clamp(min=g.Epsilon)


def _window(g, x, back):
    """Sums over windows that begin `back` elements earlier, along the channels or along all dimensions after them."""
    for dim in [1] if g.CrossChannel else range(2, x.ndim):
        x = sums(x, dim, int(x.shape[dim]), g.LocalSize, before=back)
    return x


@in_float
def _local_response(g, x):
    base = g.Bias + g.Alpha / g.LocalSize * _window(g, x * x, (g.LocalSize - 1) // 2)
    return x / base**g.Beta


@in_float
def _local_response_grad(g, x, gradient):
    back, forward, share = (g.LocalSize - 1) // 2, g.LocalSize // 2, g.Alpha / g.LocalSize
    base = g.Bias + share * _window(g, x * x, back)
    of_each = gradient / base**g.Beta
    return of_each - 2 * g.Beta * share * x * _window(g, of_each * x / base, forward)


def _gemm(g, a, b, c=None):
    a = a.mT if g.choice("TransA", "NONE", "TRANSPOSE") == "TRANSPOSE" else a
    b = b.mT if g.choice("TransB", "NONE", "TRANSPOSE") == "TRANSPOSE" else b
    result = g.Alpha * (a @ b)
    return result if c is None else result + g.Beta * c


def _product_to_float(g, a, a_scale, a_zero, b, b_scale, b_zero=None, bias=None):
    a, b = a.to(a_scale.dtype), b.to(b_scale.dtype)
    a = (a if a_zero is None else a - a_zero.to(a.dtype)) * a_scale
    result = a @ ((b if b_zero is None else b - b_zero.to(b.dtype)) * b_scale)
    return result if bias is None else result + bias


def _dequantized(g, x, scale=None, zero_point=None):
    def repeated(one):
        for dim, (size, whole) in enumerate(zip(one.shape, x.shape)):
            one = one.repeat_interleave(int(whole) // int(size), dim)
        return one

    result = x.to(scale.dtype)
    result = result if zero_point is None else result - repeated(zero_point.to(scale.dtype))
    return result * repeated(scale)


def _dynamic(g, x):
    zero = x.new_zeros(())
    return [None, ((torch.maximum(x.max(), zero) - torch.minimum(x.min(), zero)) / 255).reshape((1,) * x.ndim), None]


def _scaled(g, x):
    return g.Scale * x + torch.tensor(g.Bias, dtype=x.dtype, device=x.device).reshape(-1, 1, 1)


def _adam(g, x, first, second, gradient, step):
    step = step.to(x.dtype)
    first = g.Beta1 * first + (1 - g.Beta1) * gradient
    second = g.Beta2 * second + (1 - g.Beta2) * gradient * gradient
    rate = torch.sqrt(1 - torch.pow(g.Beta2, step)) / (1 - torch.pow(g.Beta1, step))
    return [x - g.LearningRate * rate * first / (torch.sqrt(second) + g.Epsilon), first, second]


TABLE = {
    "REDUCE": _reduced,
    "ACTIVATION_SOFTMAX": _softmax(lambda g: [-1]),
    "ACTIVATION_SOFTMAX1": _softmax(lambda g: g.Axes),
    "ACTIVATION_LOG_SOFTMAX": _log_softmax(lambda g: [-1]),
    "ACTIVATION_LOG_SOFTMAX1": _log_softmax(lambda g: g.Axes),
    "ACTIVATION_HARDMAX": _hardmax,
    "ACTIVATION_HARDMAX1": _hardmax,
    "MEAN_VARIANCE_NORMALIZATION": _of_rows,
    "MEAN_VARIANCE_NORMALIZATION1": _of_axes,
    "MEAN_VARIANCE_NORMALIZATION2": _of_axes2,
    "BATCH_NORMALIZATION": _batch,
    "BATCH_NORMALIZATION_GRAD": _batch_grad,
    "BATCH_NORMALIZATION_TRAINING": _batch_training,
    "BATCH_NORMALIZATION_TRAINING_GRAD": _batch_training_grad,
    "LP_NORMALIZATION": _lp,
    "LOCAL_RESPONSE_NORMALIZATION": _local_response,
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": _local_response_grad,
    "GEMM": _gemm,
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": _product_to_float,
    "DEQUANTIZE": _dequantized,
    "DYNAMIC_QUANTIZE_LINEAR": _dynamic,
    "VALUE_SCALE_2D": _scaled,
    "ADAM_OPTIMIZER": _adam,
}
