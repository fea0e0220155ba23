#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares GEMM with the NumPy program in docs/numerics.md, bit for bit, and large products with FLOAT64.

usage: product_oracle.py LIBANYDML
"""
import itertools
import sys

import numpy as np

from numpy_oracle import SEED, Library, count_different, random_values
from product_reference import error_bound, gemm

# Sizes around the edges of blocks, strips and panels.
DEPTHS = (0, 1, 2, 3, 17, 255, 256, 257, 511, 512, 513, 1030)
SIZES = ((1, 1), (1, 16), (3, 5), (6, 16), (7, 17), (13, 33), (5, 70), (70, 5), (100, 3), (29, 31))
ACTIVATIONS = ((("ACTIVATION_RELU", ()), "ACTIVATION_RELU", ()),
               (("ACTIVATION_LEAKY_RELU", (("Alpha", 0.3),)), "ACTIVATION_LEAKY_RELU", (("Alpha", 0.3),)),
               (("ACTIVATION_TANH", ()), "ACTIVATION_TANH", ()),
               (("ELEMENT_WISE_CLIP", (("Min", -0.5), ("Max", 0.75))), "ELEMENT_WISE_CLIP",
                (("Min", -0.5), ("Max", 0.75))))


def numbers(random, kind, shape):
    if kind == "any":  # infinities, NaN, all exponents
        return random_values(random, np.float32, int(np.prod(shape))).reshape(shape)
    if kind == "tiny":  # products around the smallest numbers
        return (random.standard_normal(shape) * 2.0**-73).astype(np.float32)
    if kind == "cancelling":
        values = random.integers(-4, 5, shape) * 2.0 ** random.integers(-12, 13, shape)
        return (values * (1 + random.integers(0, 8, shape) * 2.0**-23)).astype(np.float32)
    return random.standard_normal(shape).astype(np.float32)


def laid_out(x, number):
    """The same elements in a different layout: transposed, spread out, reversed, at an odd address."""
    if number == 0:
        return x
    if number == 1:
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if number == 2:
        spread = np.zeros([2 * size + 1 for size in x.shape], x.dtype)[tuple(slice(1, None, 2) for _ in x.shape)]
    elif number == 3:
        spread = np.zeros(x.shape, x.dtype)[tuple(slice(None, None, -1) for _ in x.shape)]
    else:
        spread = np.frombuffer(bytearray(x.nbytes + 1), x.dtype, x.size, offset=1).reshape(x.shape)
    spread[...] = x
    return spread


def run(library, a, b, c, out, transposed=(False, False), alpha=1.0, beta=1.0, fused=None):
    names = ["TRANSPOSE" if one else "NONE" for one in transposed]
    a, b = (x.swapaxes(-1, -2) if turned else x for x, turned in zip((a, b), transposed))
    attributes = [("TransA", names[0]), ("TransB", names[1]), ("Alpha", float(alpha)), ("Beta", float(beta))]
    library.run("GEMM", [a, b, c], out, attributes + ([("FusedActivation", fused)] if fused else []))


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = 0

    def check(self, a, b, c=None, alpha=1.0, beta=1.0, transposed=(False, False), out_layout=0, expected=None):
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        out = laid_out(np.full(shape, 77, a.dtype), out_layout)
        run(self.library, a, b, c, out, transposed, alpha, beta)
        expected = gemm(a, b, c, alpha, beta) if expected is None else expected
        different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(expected))
        if different.any():
            where = tuple(np.argwhere(different)[0])
            sys.exit(f"GEMM of {a.dtype} {a.shape} {a.strides} by {b.shape} {b.strides}, C "
                     f"{None if c is None else c.strides}, alpha {alpha}, beta {beta}, transposed {transposed}, output "
                     f"{out.strides}: {different.sum()} of {out.size} differ; first {where}: {out[where]!r}, expected "
                     f"{expected[where]!r}")
        self.compared += out.size
        return out


def check_orders(checker, random):
    """Every depth and kind of number. Also checks the test itself: a different order must change the bits."""
    noticed = 0
    for depth, kind in itertools.product(DEPTHS, ("everyday", "any", "tiny", "cancelling")):
        for rows, columns in SIZES if depth <= 17 else SIZES[depth % 3::3]:
            a, b = numbers(random, kind, (rows, depth)), numbers(random, kind, (depth, columns))
            out = checker.check(a, b)
            if depth > 256 and kind == "everyday":
                for block in (128, 2048):
                    noticed += count_different(out, gemm(a, b, block=block)).any()
                noticed += count_different(out, gemm(a[:, ::-1], b[::-1])).any()
    if noticed < 20:
        sys.exit("the test does not detect a wrong summation order")


def check_forms(checker, random):
    """Transposes, scales, C and layouts together."""
    for transposed in itertools.product((False, True), repeat=2):
        for alpha, beta in ((1, 1), (0.3, 1), (1, -1.7), (0, 0), (-0.1, 3), (np.inf, 0)):
            for kind in ("everyday", "any"):
                a, b = numbers(random, kind, (9, 40)), numbers(random, kind, (40, 37))
                c = numbers(random, kind, (9, 37))
                checker.check(a, b, None, alpha, beta, transposed)
                for one in (c, np.broadcast_to(c[:1], c.shape), np.broadcast_to(c[:, :1], c.shape),
                            np.broadcast_to(c[:1, :1], c.shape), laid_out(c, 2)):
                    checker.check(a, b, one, alpha, beta, transposed)
    shapes = ((7, 19, 21), (20, 300, 50), (40, 30, 3))
    for (rows, depth, columns), *layouts in itertools.product(shapes, *[range(5)] * 3):
        a, b, c = (numbers(random, "everyday", shape) for shape in ((rows, depth), (depth, columns), (rows, columns)))
        checker.check(laid_out(a, layouts[0]), laid_out(b, layouts[1]), laid_out(c, sum(layouts) % 5), 0.7, 0.9,
                      out_layout=layouts[2])


def check_batches(checker, random):
    for batch in ((3,), (2, 3), (1, 4), (2, 1, 2, 1, 2, 2)):
        for which in range(8):  # which of A, B and C repeat
            shapes = [(*batch, 5, 20), (*batch, 20, 18), (*batch, 5, 18)]
            a, b, c = (np.broadcast_to(numbers(random, "everyday", shape[len(batch):]), shape) if which >> i & 1 else
                       numbers(random, "everyday", shape) for i, shape in enumerate(shapes))
            checker.check(a, b, c, 1.1, 0.4)
            checker.check(a, b, out_layout=2 + which % 3)
            checker.check(a, b, transposed=(True, True))
    a, b = numbers(random, "everyday", (3, 2, 5, 300)), numbers(random, "everyday", (3, 1, 300, 40))
    checker.check(a, np.broadcast_to(b, (3, 2, 300, 40)))  # some repeat
    checker.check(a.swapaxes(0, 1), np.broadcast_to(b, (3, 2, 300, 40)).swapaxes(0, 1))


def check_empty(checker, _):
    for shape_a, shape_b in (((0, 4), (4, 3)), ((3, 4), (4, 0)), ((3, 0), (0, 4)), ((0, 0), (0, 0)),
                             ((0, 3, 4), (0, 4, 2)), ((2, 3, 0), (2, 0, 20))):
        a, b = np.zeros(shape_a, np.float32), np.zeros(shape_b, np.float32)
        checker.check(a, b)
        shape = (*shape_a[:-1], shape_b[-1])
        checker.check(a, b, np.full(shape, -0.0, np.float32), -1.0, 2.0)
        checker.check(a, b, np.full(shape, np.inf, np.float32), 3.0, 0.0)  # NaN


def check_halves(checker, random):
    for shape in ((7, 300, 33), (1, 5, 40), (40, 30, 2), (1, 300, 70), (70, 600, 1), (20, 300, 50)):
        a, b, c = (random.standard_normal(size).astype(np.float16) for size in
                   ((shape[0], shape[1]), (shape[1], shape[2]), (shape[0], shape[2])))
        checker.check(a, b)
        checker.check(a, b, c, 0.5, 3.1, (True, False))
        checker.check(a, b, c, 0.5, 3.1, (False, True))


def check_activations(checker, random):
    """Multiplying first and applying the activation separately gives the same result; FLOAT16 is rounded in between."""
    for (fused, name, attributes), dtype in itertools.product(ACTIVATIONS, (np.float32, np.float16)):
        for rows, depth, columns in ((9, 20, 35), (3, 4, 5), (60, 300, 4)):
            a, b, c = (random.standard_normal(size).astype(dtype) for size in
                       ((rows, depth), (depth, columns), (rows, columns)))
            plain, expected, out = (np.empty((rows, columns), dtype) for _ in range(3))
            run(checker.library, a, b, c, plain, alpha=0.4)
            checker.library.run(name, [plain], expected, attributes)
            run(checker.library, a, b, c, out, alpha=0.4, fused=fused)
            if count_different(out, expected).any():
                sys.exit(f"GEMM with {name} of {np.dtype(dtype)} differs from the two operators run in sequence")
            checker.compared += out.size


def check_large(library, random):
    for rows, depth, columns in ((300, 1000, 700), (1, 5000, 3000), (2000, 700, 1), (64, 9000, 64), (130, 64, 2000)):
        for kind in ("everyday", "cancelling"):
            a, b = numbers(random, kind, (rows, depth)), numbers(random, kind, (depth, columns))
            out = np.empty((rows, columns), np.float32)
            run(library, a, b, None, out)
            bound, exact = error_bound(a, b)
            if (np.abs(out - exact) > bound).any():
                sys.exit(f"GEMM {rows} x {depth} x {columns}: the error exceeds the bound of the summation order")


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("orders", check_orders), ("forms", check_forms), ("batches", check_batches),
                       ("empty", check_empty), ("FLOAT16", check_halves), ("activations", check_activations)):
        checker.compared = 0
        part(checker, random)
        print(f"  {name:12} {checker.compared:9} elements, none different")
    check_large(library, random)
    print("  large products are within the error bound of their order")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
