#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finds the polynomials of error_function.sollya: error_function_search.py erf|gelu|tail [HARD]

Each is a high-precision weighted least-squares fit. For erf and gelu, a linear program then adjusts it within its error
bound, so that it passes on the correct side of every midpoint between FLOAT32 numbers that is near a true value. HARD
contains the inputs of these values, as written by tests/functions/prove --near 40 --write-hard HARD NAME. FLOAT64
rounding can still cause wrong results: for gelu, gelu_search.cpp changes the last bits of the coefficients until all
results are correct.
Needs mpmath, numpy and scipy."""

import math
import sys

import numpy as np
from mpmath import cos, erf, erfc, exp, floor, frexp, ldexp, mp, mpf, pi, sqrt
from scipy.optimize import linprog

mp.dps = 45
UNIT = 2.0**-50


def fit(function, low, high, degree, tolerance):
    """Returns Chebyshev coefficients over [low, high]. The error in units of the tolerance is about the same
    everywhere."""
    nodes = [cos(pi * (2 * i + 1) / (8 * degree)) for i in range(4 * degree)]
    rows, values = [], []
    for u in nodes:
        t = (low + high) / 2 + (high - low) / 2 * u
        terms = [mpf(1), u]
        while len(terms) <= degree:
            terms.append(2 * u * terms[-1] - terms[-2])
        rows.append([term / tolerance(t) for term in terms])
        values.append(function(t) / tolerance(t))
    mp.dps = 70
    matrix, right = mp.matrix(rows), mp.matrix(values)
    result = mp.lu_solve(matrix.T * matrix, matrix.T * right)
    mp.dps = 45
    return list(result)


def value_of(coefficients, u):
    first = second = mpf(0)
    for c in reversed(coefficients[1:]):
        first, second = 2 * u * first - second + c, first
    return u * first - second + coefficients[0]


def powers(coefficients, low, high, center):
    """Returns the same polynomial in powers of the difference from `center`."""
    slope = 2 / (high - low)
    offset = (center - (low + high) / 2) * slope
    result = [mpf(0)] * len(coefficients)
    now, after = [mpf(1)], [offset, slope]
    for c in coefficients:
        for i, x in enumerate(now):
            result[i] += c * x
        following = [mpf(0)] * (len(after) + 1)
        for i, x in enumerate(after):
            following[i] += 2 * offset * x
            following[i + 1] += 2 * slope * x
        for i, x in enumerate(now):
            following[i] -= x
        now, after = after, following
    return result


class Erf:
    """erf(x) / x as a function of x^2. Toward the end, fewer inputs are near a midpoint, so the error may grow."""
    low, high, center, degree, weight_of_least = mpf(0), mpf("15.6"), mpf("7.5"), 23, 1000

    def function(self, s):
        return erf(sqrt(s)) / sqrt(s) if s > mpf(2) ** -60 else 2 / sqrt(pi)

    def tolerance(self, s):
        return self.function(s) * exp(mpf("0.28") * s)

    def position(self, x):
        return x * x

    def true_value(self, x):
        return erf(x)

    # effect() is the relative change of the result per change of the polynomial. limit() is how far the polynomial may
    # move where no midpoint is near.
    def effect(self, x):
        return 1

    def limit(self, s):
        return 2.0**-45.3 if s < 1 else 2.0**-41.3

    def at_zero(self):
        return -0.5, 0.5


class Gelu:
    """The fourth root of q(a) = erfc(a / sqrt(2)) / 2. For a >= 4.5, only positive x needs this function."""
    low, high, center, degree, last, weight_of_least = mpf(0), mpf("5.5"), mpf(3), 21, mpf("4.5"), 1

    def q(self, a):
        return erfc(a / sqrt(mpf(2))) / 2

    def function(self, a):
        return self.q(a) ** mpf("0.25")

    def tolerance(self, a):
        return self.function(a) * (1 + self.q(self.last) / self.q(a)) / 4

    def position(self, x):
        return abs(x)

    def true_value(self, x):
        q = self.q(abs(x))
        return abs(x) * (q if x < 0 else 1 - q)

    def effect(self, x):
        q = self.q(abs(x))
        return 4 * (1 if x < 0 else -q / (1 - q))

    def limit(self, a):
        return (2.0**-43.2 if a < 1 else 2.0**-40.2) * max(1.0, float(self.q(self.last) / self.q(a)))

    # The result may be a little too small but never too large, because of subnormals.
    def at_zero(self):
        return -1, 0


class Tail:
    """a exp(a^2 / 2) erfc(a / sqrt(2)) / 2 as a function of 1 / a^2."""
    low, high, center, degree = 1 / mpf("14.6") ** 2, 1 / mpf("3.98") ** 2, mpf(0), 15

    def function(self, v):
        a = 1 / sqrt(v)
        return a * erfc(a / sqrt(mpf(2))) / 2 * exp(a * a / 2)

    tolerance = function


def moved(kind, coefficients, hard):
    """Solves the linear program: each input near a midpoint should be up to one unit away from it. The function's
    weight_of_least is the additional weight of the smallest distance."""
    middle, half = (kind.low + kind.high) / 2, (kind.high - kind.low) / 2
    scale = getattr(kind, "q", None) and 4 or 1

    def row(t):
        u = float((t - middle) / half)
        return np.polynomial.chebyshev.chebvander(np.array([u]), kind.degree)[0] / float(kind.function(t))

    def error(t):
        return value_of(coefficients, (t - middle) / half) / kind.function(t) - 1

    rows, rights, margins = [], [], 0
    for x in hard:
        t = kind.position(mpf(float(x)))
        true = abs(kind.true_value(mpf(float(x))))
        unit = ldexp(mpf(1), int(frexp(true)[1]) - 24)
        distance = (true - (floor(true / unit) + mpf(1) / 2) * unit) / true
        side, effect = (1 if distance > 0 else -1), float(kind.effect(mpf(float(x))))
        room = float(side * (distance + effect * error(t)) / UNIT)
        rows.append((-side * effect * row(t), margins if room < 40 else -1))
        margins += room < 40
        rights.append(room)
    for i in range(500):
        t = middle + half * mpf(math.cos(math.pi * (i + 0.5) / 500))
        here, limit = scale * float(error(t)) / UNIT, kind.limit(t) / UNIT
        for side in (1, -1):
            rows.append((side * scale * row(t), None))
            rights.append(limit - side * here)
    here = scale * float(error(mpf(2) ** -70)) / UNIT
    for side, limit in zip((-1, 1), kind.at_zero()):
        rows.append((side * scale * row(mpf(2) ** -70), None))
        rights.append(side * limit - side * here)
    count = kind.degree + 1
    matrix = np.zeros((len(rows) + margins, count + margins + 1))
    for i, (values, margin) in enumerate(rows):
        matrix[i, :count] = values
        if margin is not None:
            matrix[i, count + margin if margin >= 0 else -1] = 1
    for i in range(margins):  # no distance may be less than the last unknown
        matrix[len(rows) + i, [count + i, -1]] = -1, 1
    wishes = np.concatenate([np.zeros(count), -np.ones(margins), [-kind.weight_of_least]])
    result = linprog(wishes, A_ub=matrix, b_ub=np.append(rights, np.zeros(margins)),
                     bounds=[(None, None)] * count + [(0, 1)] * (margins + 1), method="highs")
    if result.x is None:
        raise SystemExit("no polynomial of this degree passes all midpoints on the correct side")
    return [c + mpf(float(move)) * UNIT for c, move in zip(coefficients, result.x)]


def main():
    kind = {"erf": Erf, "gelu": Gelu, "tail": Tail}[sys.argv[1]]()
    coefficients = fit(kind.function, kind.low, kind.high, kind.degree, kind.tolerance)
    if len(sys.argv) > 2:
        hard = np.fromfile(sys.argv[2], dtype=np.float32)
        inside = (abs(hard) > 2.0**-33) & (kind.position(hard) < float(kind.high))
        hard = hard[inside & (hard > -float(getattr(kind, "last", 0)))]
        coefficients = moved(kind, coefficients, hard)
    for c in powers(coefficients, kind.low, kind.high, kind.center):
        print(float(c).hex())


if __name__ == "__main__":
    main()
