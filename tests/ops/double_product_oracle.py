#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks, bit for bit, that FLOAT64 GEMM and CONVOLUTION sum in the order given in docs/numerics.md. NumPy has no fused
multiply-add, so the exact sum is computed as a pair of FLOAT64 numbers if it is far from overflow and from the
subnormals, and otherwise as a Python fraction.

usage: double_product_oracle.py LIBANYDML
"""
import itertools
import math
import sys
from fractions import Fraction

import numpy as np

from convolution_oracle import DIRECTIONS, MODES, Case, Checker as ConvolutionChecker
from numpy_oracle import SEED, Library, count_different, random_values
from product_oracle import laid_out, run

DEPTHS = (0, 1, 2, 3, 17, 255, 256, 257, 513, 1030)
SIZES = ((1, 1), (1, 16), (1, 37), (3, 5), (6, 8), (7, 9), (13, 33), (5, 70), (70, 5), (100, 1), (29, 31))


def _by_fractions(a, b, c):
    """Computes a * b + c for Python floats, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if not (math.isfinite(a) and math.isfinite(b)) else c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        signs = {math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c)}
        return -0.0 if signs == {-1.0} else 0.0
    sign = -1.0 if exact < 0 else 1.0
    try:
        return sign * float(abs(exact))
    except OverflowError:
        return sign * math.inf


def _two_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    product = a * b
    (high_a, low_a), (high_b, low_b) = ((high, x - high) for x in (a, b) for high in [x * 134217729.0 - (x * 134217729.0 - x)])
    return product, low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)


def _odd_sum(a, b):
    """a + b, rounded to odd: if bits were dropped, the last bit is 1."""
    total, dropped = _two_sum(a, b)
    bits = total.view(np.int64)
    moves = (dropped != 0) & (bits & 1 == 0)
    return np.where(moves, bits + np.where((dropped > 0) == (total > 0), 1, -1), bits).view(np.float64)


def fused(a, b, c):
    """Computes a * b + c in FLOAT64, rounded once. The exact sum consists of three numbers. The lower two are added with
    rounding to odd, so adding the first and rounding again gives the same result as rounding the exact sum."""
    a, b, c = np.broadcast_arrays(a, b, c)
    product, rest = _two_product(a, b)
    middle, low = _two_sum(c, rest)
    high, next_low = _two_sum(product, middle)
    result = high + _odd_sum(low, next_low)

    def far(x):  # from the limits of the exponent range
        return (np.abs(x) < 2.0**450) & (np.abs(x) > 2.0**-450)

    easy = far(a) & far(b) & (far(c) | (c == 0)) & (np.abs(result) > 2.0**-450)
    hard = np.nonzero(~easy)
    if hard[0].size:
        result[hard] = [_by_fractions(*one) for one in zip(a[hard].tolist(), b[hard].tolist(), c[hard].tolist())]
    return result


def product(a, b, block=256):
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    for first in range(0, a.shape[-1], block):
        chain = np.zeros_like(total)
        for k in range(first, min(first + block, a.shape[-1])):
            chain = fused(a[..., :, k, None], b[..., None, k, :], chain)
        total = chain if first == 0 else total + chain
    return total


def numbers(random, kind, shape):
    if kind == "any":  # infinities, NaN, all exponents
        return random_values(random, np.float64, int(np.prod(shape))).reshape(shape)
    if kind == "tiny":  # products around the smallest numbers
        return random.standard_normal(shape) * 2.0**-530
    if kind == "cancelling":
        values = random.integers(-4, 5, shape) * 2.0 ** random.integers(-12, 13, shape)
        return values * (1 + random.integers(0, 8, shape) * 2.0**-52)
    return random.standard_normal(shape)


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = 0

    def check(self, a, b, c=None, alpha=1.0, beta=1.0, transposed=(False, False), out_layout=0, totals=None):
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        out = laid_out(np.full(shape, 77.0), out_layout)
        run(self.library, a, b, c, out, transposed, alpha, beta)
        expected = alpha * (product(a, b) if totals is None else totals)
        expected = expected if c is None else expected + beta * c
        different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(expected))
        if different.any():
            where = tuple(np.argwhere(different)[0])
            sys.exit(f"GEMM of FLOAT64 {a.shape} {a.strides} by {b.shape} {b.strides}, C "
                     f"{None if c is None else c.strides}, alpha {alpha}, beta {beta}, transposed {transposed}, output "
                     f"{out.strides}: {different.sum()} of {out.size} differ; first {where}: {out[where]!r}, expected "
                     f"{expected[where]!r}")
        self.compared += out.size
        return out


def check_orders(checker, random):
    """Every depth and kind of number. Also checks the test itself: a different order must change the bits."""
    noticed = 0
    for depth, kind in itertools.product(DEPTHS, ("everyday", "any", "tiny", "cancelling")):
        for rows, columns in SIZES if depth <= 3 else SIZES[depth % 4::4] if kind in ("everyday", "cancelling") else (
                (1, 9), (7, 9)) if depth < 500 else ((1, 3),):
            a, b = numbers(random, kind, (rows, depth)), numbers(random, kind, (depth, columns))
            out = checker.check(a, b)
            if depth > 256 and kind == "everyday":
                for block in (128, 2048):
                    noticed += count_different(out, product(a, b, block)).any()
                noticed += count_different(out, product(a[:, ::-1], b[::-1])).any()
    if noticed < 10:
        sys.exit("the test does not detect a wrong summation order")


def check_forms(checker, random):
    """Transposes, scales that FLOAT32 cannot represent, C and layouts together."""
    for kind in ("everyday", "any"):
        a, b, c = (numbers(random, kind, shape) for shape in ((9, 40), (40, 21), (9, 21)))
        totals = product(a, b)
        for transposed in itertools.product((False, True), repeat=2):
            for alpha, beta in ((1, 1), (0.3, 1), (1, -1.7), (0, 0), (-0.1, 3), (np.inf, 0)):
                for one in (None, c, np.broadcast_to(c[:1], c.shape), np.broadcast_to(c[:, :1], c.shape), laid_out(c, 2)):
                    checker.check(a, b, one, alpha, beta, transposed, totals=totals)
    for rows, depth, columns in ((7, 19, 21), (20, 300, 50), (40, 30, 3), (1, 300, 37), (130, 5, 300)):
        a, b, c = (numbers(random, "everyday", shape) for shape in ((rows, depth), (depth, columns), (rows, columns)))
        totals = product(a, b)
        for layouts in itertools.product(range(5), repeat=3):
            checker.check(laid_out(a, layouts[0]), laid_out(b, layouts[1]), laid_out(c, sum(layouts) % 5), 0.7, 0.9,
                          out_layout=layouts[2], totals=totals)


def check_batches(checker, random):
    for batch in ((3,), (2, 3), (2, 1, 2, 1, 2, 2)):
        for which in range(8):  # which of A, B and C repeat
            shapes = [(*batch, 5, 20), (*batch, 20, 18), (*batch, 5, 18)]
            a, b, c = (np.broadcast_to(numbers(random, "everyday", shape[len(batch):]), shape) if which >> i & 1 else
                       numbers(random, "everyday", shape) for i, shape in enumerate(shapes))
            checker.check(a, b, c, 1.1, 0.4)
            checker.check(a, b, out_layout=2 + which % 3)
            checker.check(a, b, transposed=(True, True))


def check_empty(checker, _):
    for shape_a, shape_b in (((0, 4), (4, 3)), ((3, 4), (4, 0)), ((3, 0), (0, 4)), ((0, 3, 4), (0, 4, 2))):
        a, b = np.zeros(shape_a), np.zeros(shape_b)
        checker.check(a, b)
        checker.check(a, b, np.full((*shape_a[:-1], shape_b[-1]), np.inf), 3.0, 0.0)  # NaN


def check_activations(checker, random):
    for name, attributes in (("ACTIVATION_RELU", ()), ("ACTIVATION_LEAKY_RELU", (("Alpha", 0.3),))):
        a, b = numbers(random, "everyday", (9, 20)), numbers(random, "everyday", (20, 35))
        plain, expected, out = (np.empty((9, 35)) for _ in range(3))
        run(checker.library, a, b, None, plain)
        checker.library.run(name, [plain], expected, attributes)
        run(checker.library, a, b, None, out, fused=(name, attributes))
        if count_different(out, expected).any():
            sys.exit(f"GEMM with {name} of FLOAT64 differs from the two operators run one after the other")
        checker.compared += out.size


def check_convolutions(checker, random):
    """Every combination of mode, direction, stride, dilation and padding, groups, layouts, and long sums."""
    class Wide(Case):
        def reference(self, x, w, bias=None, **more):
            return super().reference(x, w, bias, multiply=product, wide=np.float64, **more)

    own = ConvolutionChecker(checker.library)
    spaces = (((9,), (3,)), ((6, 7), (3, 2)), ((3, 4, 5), (2, 1, 3)))
    cases = [Wide(spatial, kernel, (2, 3), 2, 1, mode, direction, strides, dilations, start, 2, more)
             for (spatial, kernel), mode, direction in itertools.product(spaces, MODES, DIRECTIONS)
             for strides, dilations, start in itertools.product((1, 2, 3), (1, 2), (0, 2))
             for more in range(min(strides, 2) if direction == "BACKWARD" else 1)]
    cases += [Wide((5, 6), (3, 3), (3, 4), 2, 4, start=1), Wide((5, 6), (3, 3), (1, 1), 1, 7, strides=2),
              Wide((4, 5), (3, 3), (90, 9), start=1), Wide((4, 5), (1, 1), (300, 100)), Wide((20, 20), (3, 3), (2, 101)),
              Wide((4, 4), (3, 3), (60, 5), 1, 2, direction="BACKWARD", strides=2, start=1),
              Wide((3, 3), (2, 2), direction="BACKWARD", strides=20, dilations=6),
              Wide((2, 3), (7, 9), start=4, end=5), Wide((5, 5), (3, 3), (0, 4)), Wide((0, 5), (3, 3), start=2, end=2)]
    for number, case in enumerate(one for one in cases if one.is_valid()):
        x, w = (numbers(random, "everyday", shape) for shape in (case.x_shape, case.w_shape))
        bias = numbers(random, "everyday", (1, case.out_shape[1], *[1] * len(case.kernel))) if number % 2 else None
        own.check(case, laid_out(x, number % 5), laid_out(w, number // 2 % 5), bias, number // 3 % 5)
    checker.compared += own.compared


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("orders", check_orders), ("forms", check_forms), ("batches", check_batches),
                       ("empty", check_empty), ("activations", check_activations), ("convolutions", check_convolutions)):
        checker.compared = 0
        part(checker, random)
        print(f"  {name:12} {checker.compared:9} elements, none different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
