# SPDX-License-Identifier: MIT
"""Element-wise operators."""
import torch
from torch.nn import functional


def _clip(g, x):
    return torch.clamp(x, g.Min, g.Max)


def _passed(g, x, gradient):
    return torch.where((x <= g.Min) | (x >= g.Max), 0, gradient)


def _atan_yx(g, a, b):
    # The inputs are scaled, because PyTorch's gradient computes squares, which may overflow or underflow.
    with torch.no_grad():
        size = torch.maximum(a.abs(), b.abs())
        size = torch.where((size == 0) | ~size.isfinite(), 1, size)
    return torch.atan2(a / size, b / size)


def _shrink(g, x):
    return torch.where(x > g.Threshold, x - g.Bias, torch.where(x < -g.Threshold, x + g.Bias, 0))


def _hard_sigmoid(g, x):
    return torch.clamp(g.Alpha * x + g.Beta, 0, 1)


def _rounded(g, x):
    return torch.round(x)  # any mode works here, because the gradient is 0


def _scaled_back(g, x, scale, zero_point=None):
    return (x.to(scale.dtype) - (0 if zero_point is None else zero_point.to(scale.dtype))) * scale


# Activations and other operators with one input. For them, vmap's batch is just one more dimension.
OF_ONE = {
    "ACTIVATION_ELU": lambda g, x: functional.elu(x, g.Alpha),
    "ACTIVATION_CELU": lambda g, x: functional.celu(x, g.Alpha),
    "ACTIVATION_HARD_SIGMOID": _hard_sigmoid,
    "ACTIVATION_HARD_SWISH": lambda g, x: x * _hard_sigmoid(g, x),
    "ACTIVATION_IDENTITY": lambda g, x: x.clone(),
    "ACTIVATION_LEAKY_RELU": lambda g, x: functional.leaky_relu(x, g.Alpha),
    "ACTIVATION_LINEAR": lambda g, x: g.Alpha * x + g.Beta,
    "ACTIVATION_PARAMETRIC_SOFTPLUS": lambda g, x: g.Alpha * torch.logaddexp(g.Beta * x, torch.zeros_like(x)),
    "ACTIVATION_RELU": lambda g, x: torch.relu(x),
    "ACTIVATION_SCALED_ELU": lambda g, x: g.Gamma * functional.elu(x, g.Alpha),
    "ACTIVATION_SCALED_TANH": lambda g, x: g.Alpha * torch.tanh(g.Beta * x),
    "ACTIVATION_SIGMOID": lambda g, x: torch.sigmoid(x),
    "ACTIVATION_SOFTPLUS": lambda g, x: torch.logaddexp(g.Steepness * x, torch.zeros_like(x)) / g.Steepness,
    "ACTIVATION_SOFTSIGN": lambda g, x: functional.softsign(x),
    "ACTIVATION_TANH": lambda g, x: torch.tanh(x),
    "ACTIVATION_THRESHOLDED_RELU": lambda g, x: torch.where(x > g.Alpha, x, 0),
    "ACTIVATION_SHRINK": _shrink,
    "ACTIVATION_GELU": lambda g, x: functional.gelu(x),
    "ACTIVATION_SWISH": lambda g, x: x * torch.sigmoid(g.SigmoidInputScale * x),
}

TABLE = {
    **OF_ONE,
    "ELEMENT_WISE_IDENTITY": lambda g, x: x.clone(),
    "ELEMENT_WISE_ABS": lambda g, x: torch.abs(x),
    "ELEMENT_WISE_ACOS": lambda g, x: torch.acos(x),
    "ELEMENT_WISE_ADD": lambda g, a, b: a + b,
    "ELEMENT_WISE_ADD1": lambda g, a, b: a + b,
    "ELEMENT_WISE_ASIN": lambda g, x: torch.asin(x),
    "ELEMENT_WISE_ATAN": lambda g, x: torch.atan(x),
    "ELEMENT_WISE_CEIL": lambda g, x: torch.ceil(x),
    "ELEMENT_WISE_CLIP": _clip,
    "ELEMENT_WISE_CLIP1": _clip,
    "ELEMENT_WISE_CLIP_GRAD": _passed,
    "ELEMENT_WISE_CLIP_GRAD1": _passed,
    "ELEMENT_WISE_COS": lambda g, x: torch.cos(x),
    "ELEMENT_WISE_DIVIDE": lambda g, a, b: a / b,
    "ELEMENT_WISE_EXP": lambda g, x: torch.exp(x),
    "ELEMENT_WISE_FLOOR": lambda g, x: torch.floor(x),
    "ELEMENT_WISE_LOG": lambda g, x: torch.log(x),
    "ELEMENT_WISE_MAX": lambda g, a, b: torch.maximum(a, b),
    "ELEMENT_WISE_MEAN": lambda g, a, b: (a + b) / 2,
    "ELEMENT_WISE_MIN": lambda g, a, b: torch.minimum(a, b),
    "ELEMENT_WISE_MULTIPLY": lambda g, a, b: a * b,
    "ELEMENT_WISE_POW": lambda g, a, b: torch.pow(a, b),
    "ELEMENT_WISE_CONSTANT_POW": lambda g, x: torch.pow(x, g.Exponent),
    "ELEMENT_WISE_RECIP": lambda g, x: torch.reciprocal(x),
    "ELEMENT_WISE_SIN": lambda g, x: torch.sin(x),
    "ELEMENT_WISE_SQRT": lambda g, x: torch.sqrt(x),
    "ELEMENT_WISE_SUBTRACT": lambda g, a, b: a - b,
    "ELEMENT_WISE_TAN": lambda g, x: torch.tan(x),
    "ELEMENT_WISE_THRESHOLD": lambda g, x: torch.clamp(x, min=g.Min),
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": _scaled_back,
    "ELEMENT_WISE_SIGN": lambda g, x: torch.sign(x),
    "ELEMENT_WISE_ERF": lambda g, x: torch.erf(x),
    "ELEMENT_WISE_SINH": lambda g, x: torch.sinh(x),
    "ELEMENT_WISE_COSH": lambda g, x: torch.cosh(x),
    "ELEMENT_WISE_TANH": lambda g, x: torch.tanh(x),
    "ELEMENT_WISE_ASINH": lambda g, x: torch.asinh(x),
    "ELEMENT_WISE_ACOSH": lambda g, x: torch.acosh(x),
    "ELEMENT_WISE_ATANH": lambda g, x: torch.atanh(x),
    "ELEMENT_WISE_IF": lambda g, condition, a, b: torch.where(condition != 0, a, b),
    "ELEMENT_WISE_ROUND": _rounded,
    "ELEMENT_WISE_MODULUS_TRUNCATE": lambda g, a, b: torch.fmod(a, b),
    "ELEMENT_WISE_MODULUS_FLOOR": lambda g, a, b: torch.remainder(a, b),
    "ELEMENT_WISE_ATAN_YX": _atan_yx,
    "ELEMENT_WISE_DIFFERENCE_SQUARE": lambda g, a, b: (a - b)**2,
    "ELEMENT_WISE_NEGATE": lambda g, x: -x,
    "ACTIVATION_PARAMETERIZED_RELU": lambda g, x, slope: torch.where(x > 0, x, slope * x),
    "ACTIVATION_RELU_GRAD": lambda g, x, gradient: torch.where(x > 0, gradient, 0),
}
