# SPDX-License-Identifier: MIT
"""NumPy's FLOAT64 results for the correctly rounded functions, and the FLOAT32 or FLOAT16 numbers that may be nearest
to them. If a FLOAT64 result is within its own error of the midpoint of two such numbers, both are accepted.
"""
import math

import numpy as np

# The relative error that the FLOAT64 result may have. For activations with attributes, the library only promises 0.5001
# units in the last place.
ERROR, ERROR_WITH_ATTRIBUTES = 2.0**-45, 2.0**-36

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def nearest(value, dtype, error):
    """The candidates for the nearest number of the type; the expected one comes first."""
    off = np.where(np.isfinite(value), np.abs(value) * error, 0)
    return tuple(one.astype(dtype) for one in (value, value - off, value + off))


def gelu(x):
    """Corrects, to first order, for the rounding of x / sqrt(2), which matters in the tail."""
    precise = x.astype(np.longdouble) / np.sqrt(np.longdouble(2))
    t = precise.astype(np.float64)
    off = np.where(np.isfinite(t), precise - t, 0).astype(np.float64)
    return x / 2 * (_erfc(-t) + 2 / math.sqrt(math.pi) * np.exp(-t * t) * off)


def elu(x, alpha):
    return np.where(x >= 0, x, alpha * np.expm1(x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softplus(x):
    return np.logaddexp(0, x)


def power(x, y):
    """NumPy's power, except that -infinity, like other negative numbers, only has integer powers, and that 1 is
    returned for a base of 1 and any NaN, even one that the C library considers signaling."""
    return np.where((y == 0) | (x == 1), 1.0, np.where(np.isneginf(x) & (y != np.rint(y)), np.nan, np.power(x, y)))


def power_of_integers(x, y):
    """Wraps; for negative exponents the fraction is dropped."""
    wrapped = np.power(x.astype(np.uint32), y.astype(np.uint32)).astype(x.dtype)
    if y.dtype.kind == "u":
        return wrapped
    odd = y % y.dtype.type(2) != 0
    units = np.where(x == 1, 1, np.where((x.dtype.kind == "i") & (x == -1), np.where(odd, -1, 1), 0))
    return np.where(y < 0, units, wrapped).astype(x.dtype)


def power_to_integers(x, y):
    """An integer base raised to a float exponent. The result is converted back to the integer type: fractions are
    truncated, out-of-range values are clamped, and NaN becomes 0."""
    limits = np.iinfo(x.dtype)
    with np.errstate(all="ignore"):
        value = power(x.astype(np.float64), y.astype(np.float64))
        off = np.where(np.isfinite(value), np.abs(value) * ERROR, 0)
        return tuple(np.where(np.isnan(one), 0, np.clip(np.trunc(one), limits.min, limits.max)).astype(x.dtype)
                     for one in (value, value - off, value + off))


def powers(draw):
    """Inputs for POW, whose base and exponent may differ in type, and the accepted results."""
    kinds = [np.dtype(kind) for kind in ("f4", "f2", "i4", "i2", "i1", "u4", "u2", "u1")]
    for base in kinds:
        for exponent in kinds:
            x, y = draw(base), draw(exponent)
            if base.kind == "f":
                with np.errstate(all="ignore"):
                    yield [x, y], nearest(power(x.astype(np.float64), y.astype(np.float64)), base, ERROR)
            else:
                yield [x, y], (power_to_integers if exponent.kind == "f" else power_of_integers)(x, y)


# For each operator one or more pairs: the attributes, and a function of a FLOAT64 and the values of the attributes.
FUNCTIONS = {
    "ELEMENT_WISE_EXP": [((), np.exp)],
    "ELEMENT_WISE_LOG": [((), np.log)],
    "ELEMENT_WISE_SIN": [((), np.sin)],
    "ELEMENT_WISE_COS": [((), np.cos)],
    "ELEMENT_WISE_TAN": [((), np.tan)],
    "ELEMENT_WISE_ASIN": [((), np.arcsin)],
    "ELEMENT_WISE_ACOS": [((), np.arccos)],
    "ELEMENT_WISE_ATAN": [((), np.arctan)],
    "ELEMENT_WISE_SINH": [((), np.sinh)],
    "ELEMENT_WISE_COSH": [((), np.cosh)],
    "ELEMENT_WISE_TANH": [((), np.tanh)],
    "ELEMENT_WISE_ASINH": [((), np.arcsinh)],
    "ELEMENT_WISE_ACOSH": [((), np.arccosh)],
    "ELEMENT_WISE_ATANH": [((), np.arctanh)],
    "ELEMENT_WISE_ERF": [((), _erf)],
    "ELEMENT_WISE_POW": [((), power)],
    "ELEMENT_WISE_CONSTANT_POW": [((("Exponent", value),), power) for value in (0.3, -0.5, 3.0, 0.0)],
    "ELEMENT_WISE_ATAN_YX": [((), np.arctan2)],
    "ACTIVATION_SIGMOID": [((), sigmoid)],
    "ACTIVATION_TANH": [((), np.tanh)],
    "ACTIVATION_GELU": [((), gelu)],
    "ACTIVATION_SOFTSIGN": [((), lambda x: x / (1 + np.abs(x)))],
    "ACTIVATION_SOFTPLUS": [((("Steepness", value),), lambda x, steepness: _softplus(steepness * x) / steepness)
                            for value in (1.0, 2.3)],
    "ACTIVATION_ELU": [((("Alpha", value),), elu) for value in (1.0, 0.3)],
    "ACTIVATION_CELU": [((("Alpha", value),), lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(x / alpha)))
                        for value in (1.0, 0.3)],
    "ACTIVATION_SWISH": [((("SigmoidInputScale", value),), lambda x, scale: x / (1 + np.exp(-scale * x)))
                         for value in (2.0**-125, 1.0, 1.7)],
    "ACTIVATION_SCALED_ELU": [((("Alpha", 1.6732632), ("Gamma", 1.050701)), lambda x, alpha, gamma: np.where(
        x > 0, gamma * x, gamma * alpha * np.expm1(x)))],
    "ACTIVATION_PARAMETRIC_SOFTPLUS": [((("Alpha", 0.3), ("Beta", 1.7)),
                                        lambda x, alpha, beta: alpha * _softplus(beta * x))],
    "ACTIVATION_SCALED_TANH": [((("Alpha", 0.3), ("Beta", 1.7)), lambda x, alpha, beta: alpha * np.tanh(beta * x))],
}


def oracle(attributes, function):
    """The accepted results for arrays, as nearest() returns them. Attributes are FLOAT32, as in DirectML."""
    values = [np.float64(np.float32(value)) for _, value in attributes]
    error = ERROR_WITH_ATTRIBUTES if values else ERROR

    def of(*inputs):
        with np.errstate(all="ignore"):
            return nearest(function(*(x.astype(np.float64) for x in inputs), *values), inputs[0].dtype, error)
    return of


ENTRIES = {name: [(attributes, oracle(attributes, function)) for attributes, function in rows]
        for name, rows in FUNCTIONS.items()}
