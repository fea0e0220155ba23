#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the integer matrix products with the NumPy program in docs/numerics.md, bit for bit, and with ONNX's
reference if the onnx package is installed.

usage: integer_product_oracle.py LIBANYDML [--cases N]
"""
import argparse
import itertools

import numpy as np

import integer_product_reference
from numpy_oracle import SEED, Library, count_different, random_values
from product_oracle import laid_out

BYTES = (np.int8, np.uint8)
WIDE = (np.int16, np.uint16, np.int32, np.uint32)
# Sizes around the edges of groups of k, of strips of rows and of panels of columns.
SHAPES = ((1, 1, 1), (1, 40, 9), (2, 3, 8), (3, 8, 4), (12, 16, 7), (13, 17, 65), (25, 33, 31), (40, 1, 30), (40, 3, 257),
          (5, 100, 64), (64, 64, 64), (97, 9, 130))


def total(a, a_zero, b, b_zero):
    return integer_product_reference.total(a, 0 if a_zero is None else a_zero, b, 0 if b_zero is None else b_zero)


def quantized(sums, a_scale, b_scale, y_scale, y_zero, dtype):
    return integer_product_reference.quantized(sums, a_scale, b_scale, y_scale, 0 if y_zero is None else y_zero, dtype)


def to_float(a, a_scale, a_zero, b, b_scale, b_zero, bias):
    zeros = (0 if one is None else one for one in (a_zero, b_zero))
    return integer_product_reference.to_float(a, a_scale, next(zeros), b, b_scale, next(zeros), bias)


class Checker:
    def __init__(self, library, random):
        self.library, self.random = library, random
        self.cases = self.compared = 0

    def integers(self, dtype, shape, extreme=False):
        limits = np.iinfo(dtype)
        if extreme:
            return self.random.choice(np.array([limits.min, limits.max], dtype), shape)
        return self.random.integers(limits.min, limits.max, shape, dtype, endpoint=True)

    def zero(self, dtype, how, side):
        """None, one number, or one for each row or column; shaped as rows or as columns."""
        if how == "absent":
            return None
        return self.integers(dtype, (1, 1) if how == "one" else side)

    def scale(self, dtype, how, side):
        shape = (1, 1) if how in ("absent", "one") else side
        return (self.random.random(shape) * 0.05 + 0.001).astype(dtype)

    def compare(self, name, inputs, expected, out_layout=0):
        out = laid_out(np.full(expected.shape, 77, expected.dtype), out_layout)
        self.library.run(name, inputs, out)
        different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(expected))
        self.cases += 1
        self.compared += out.size
        if different.any():
            where = tuple(np.argwhere(different)[0])
            given = ", ".join("none" if x is None else f"{x.dtype} {x.shape} {x.strides}" for x in inputs)
            raise SystemExit(f"{name} of {given} to {out.dtype} {out.strides}: {different.sum()} of {out.size} differ; "
                             f"first {where}: {out[where]!r}, expected {expected[where]!r}")

    def check(self, a, b, a_how="absent", b_how="absent", out_layout=0):
        """Checks all operators that accept A and B of these types."""
        rows, columns = (a.shape[-2], 1), (1, b.shape[-1])
        a_zero, b_zero = self.zero(a.dtype, a_how, rows), self.zero(b.dtype, b_how, columns)
        if a.dtype.itemsize == 1:
            sums = total(a, a_zero, b, b_zero)
            self.compare("MATRIX_MULTIPLY_INTEGER", [a, a_zero, b, b_zero], sums, out_layout)
            a_scale, b_scale = (self.scale(np.float32, how, side) for how, side in ((a_how, rows), (b_how, columns)))
            y_scale = self.scale(np.float32, a_how, rows) * np.float32(max(1, a.shape[-1])**0.5)
            for dtype in BYTES:
                y_zero = self.zero(dtype, a_how, rows)
                self.compare("QUANTIZED_LINEAR_MATRIX_MULTIPLY",
                             [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero],
                             quantized(sums, a_scale, b_scale, y_scale, y_zero, dtype), out_layout)
        if a.dtype == b.dtype:
            shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
            for dtype in (np.float32, np.float16):
                a_scale, b_scale = (self.scale(dtype, how, side) for how, side in ((a_how, rows), (b_how, columns)))
                for bias in (None, self.random.standard_normal(shape).astype(dtype)):
                    self.compare("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", [a, a_scale, a_zero, b, b_scale, b_zero, bias],
                                 to_float(a, a_scale, a_zero, b, b_scale, b_zero, bias), out_layout)


HOWS = ("absent", "one", "each")


def check_types(checker):
    for (a_type, b_type), (rows, columns, depth) in itertools.product(itertools.product(BYTES, repeat=2), SHAPES):
        for number, (a_how, b_how) in enumerate(itertools.product(HOWS, repeat=2)):
            checker.check(checker.integers(a_type, (rows, depth), number % 2 == 0),
                          checker.integers(b_type, (depth, columns), number % 2 == 0), a_how, b_how)
    for dtype, (rows, columns, depth) in itertools.product(WIDE, SHAPES[::3]):
        for a_how, b_how in itertools.product(HOWS, repeat=2):
            checker.check(checker.integers(dtype, (rows, depth)), checker.integers(dtype, (depth, columns)), a_how,
                          b_how)


def check_extremes(checker):
    """Sums that exceed 16, 24 and 31 bits, and sums that wrap; all numbers are as large as possible."""
    for depth in (4, 130, 260, 300, 1025, 4099, 33100, 67000):
        for a_type, b_type in itertools.product(BYTES, repeat=2):
            for a_value, b_value in itertools.product((np.iinfo(a_type).min, np.iinfo(a_type).max),
                                                      (np.iinfo(b_type).min, np.iinfo(b_type).max)):
                a, b = np.full((3, depth), a_value, a_type), np.full((depth, 9), b_value, b_type)
                a_zero = np.full((3, 1), np.iinfo(a_type).max if a_value <= 0 else np.iinfo(a_type).min, a_type)
                b_zero = np.full((1, 9), np.iinfo(b_type).max if b_value <= 0 else np.iinfo(b_type).min, b_type)
                for zeros in ((None, None), (a_zero, b_zero)):
                    checker.compare("MATRIX_MULTIPLY_INTEGER", [a, zeros[0], b, zeros[1]], total(a, zeros[0], b, zeros[1]))


def check_layouts(checker):
    for (rows, depth, columns), *layouts in itertools.product(((7, 19, 21), (20, 300, 50), (40, 30, 3)), *[range(5)] * 3):
        checker.check(laid_out(checker.integers(np.uint8, (rows, depth)), layouts[0]),
                      laid_out(checker.integers(np.uint8, (depth, columns)), layouts[1]), HOWS[layouts[0] % 3],
                      HOWS[layouts[1] % 3], layouts[2])


def check_parameters(checker):
    """Zero points and scales with other ranks and strides."""
    a, b = checker.integers(np.uint8, (6, 20)), checker.integers(np.int8, (20, 11))
    for a_zero, b_zero in (((), (1,)), ((1,), ()), ((1, 1, 6, 1), (1, 1, 1, 11)), ((6, 1), (11,)), ((1, 6, 1), (1,))):
        a_zero, b_zero = checker.integers(np.uint8, a_zero), checker.integers(np.int8, b_zero)
        flat = [x.reshape((x.shape + (1, 1))[-2:] if x.ndim < 2 and x.size == 1 else (1, -1) if x.ndim == 1 else
                          x.shape[-2:]) for x in (a_zero, b_zero)]
        checker.compare("MATRIX_MULTIPLY_INTEGER", [a, a_zero, b, b_zero], total(a, flat[0], b, flat[1]))
    for number in range(1, 5):
        a_zero, b_zero = (laid_out(checker.integers(x.dtype, shape), number) for x, shape in
                          ((a, (6, 1)), (b, (1, 11))))
        checker.compare("MATRIX_MULTIPLY_INTEGER", [a, a_zero, b, b_zero], total(a, a_zero, b, b_zero))
        scales = [laid_out(checker.scale(np.float32, "each", shape), number) for shape in ((6, 1), (1, 11), (6, 1))]
        y_zero = laid_out(checker.integers(np.int8, (6, 1)), number)
        checker.compare("QUANTIZED_LINEAR_MATRIX_MULTIPLY",
                        [a, scales[0], a_zero, b, scales[1], b_zero, scales[2], y_zero],
                        quantized(total(a, a_zero, b, b_zero), *scales, y_zero, np.int8))
    # Scales with special values; DirectML's documentation does not define the result where a scale is 0.
    special = random_values(checker.random, np.float32, 400)
    special[:6] = 0, -0.0, np.inf, -np.inf, np.nan, 1e-45
    a, b = checker.integers(np.int8, (400, 5)), checker.integers(np.int8, (5, 6))
    one = np.ones((1, 1), np.float32)
    for scales in ((special.reshape(-1, 1), one, one), (one, one, special.reshape(-1, 1))):
        checker.compare("QUANTIZED_LINEAR_MATRIX_MULTIPLY", [a, scales[0], None, b, scales[1], None, scales[2], None],
                        quantized(total(a, None, b, None), *scales, None, np.int8))
    checker.compare("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", [a, special.reshape(-1, 1), None, b, one, None, None],
                    to_float(a, special.reshape(-1, 1), None, b, one, None, None))


def check_batches(checker):
    for batch in ((3,), (2, 3), (1, 4), (2, 1, 2, 1, 2, 2)):
        for which in range(4):  # which of A and B repeat
            for rows in (1, 5, 20):
                shapes = ((*batch, rows, 20), (*batch, 20, 18))
                a, b = (np.broadcast_to(checker.integers(np.int8, shape[len(batch):]), shape) if which >> i & 1 else
                        checker.integers(np.int8, shape) for i, shape in enumerate(shapes))
                checker.check(a, b, "one", "one")
                checker.check(a, b, "each", "each", 2 + which % 3)


def check_empty(checker):
    for shape_a, shape_b in (((0, 4), (4, 3)), ((3, 4), (4, 0)), ((3, 0), (0, 4)), ((0, 0), (0, 0)), ((0, 3, 4), (0, 4, 2)),
                             ((2, 3, 0), (2, 0, 20)), ((30, 0), (0, 40))):
        for a_type, b_type in itertools.product(BYTES, repeat=2):
            for how in HOWS:
                checker.check(np.zeros(shape_a, a_type), np.zeros(shape_b, b_type), how, how)
        checker.check(np.zeros(shape_a, np.int16), np.zeros(shape_b, np.int16))


def check_random(checker, count):
    for _ in range(count):
        rows, columns, depth = (int(2 ** checker.random.uniform(0, most)) for most in (7.5, 7.5, 10))
        a_type, b_type = (BYTES[one] for one in checker.random.integers(0, 2, 2))
        a_how, b_how = (HOWS[one] for one in checker.random.integers(0, 3, 2))
        a_layout, b_layout, out_layout = checker.random.integers(0, 5, 3)
        checker.check(laid_out(checker.integers(a_type, (rows, depth)), a_layout),
                      laid_out(checker.integers(b_type, (depth, columns)), b_layout), a_how, b_how, out_layout)


def check_onnx(checker):
    """Compares with ONNX's definitions; QLinearMatMul scales in a different order, so a result may be off by one."""
    try:
        from onnx import helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  onnx is not installed")
        return
    random, beside = checker.random, 0
    for a_type, b_type, y_type in itertools.product(BYTES, repeat=3):
        a, b = checker.integers(a_type, (13, 70)), checker.integers(b_type, (70, 21))
        a_zero, b_zero = checker.integers(a_type, ()), checker.integers(b_type, ())
        node = helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["y"])
        expected, = ReferenceEvaluator(node).run(None, {"a": a, "b": b, "az": a_zero, "bz": b_zero})
        checker.compare("MATRIX_MULTIPLY_INTEGER", [a, a_zero, b, b_zero], expected.astype(np.int32))
        a_scale, b_scale, y_scale = (np.float32(one) for one in random.random(3) * (0.1, 0.1, 5) + 0.01)
        y_zero = checker.integers(y_type, ())
        names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
        node = helper.make_node("QLinearMatMul", names, ["y"])
        inputs = [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero]
        expected, = ReferenceEvaluator(node).run(None, dict(zip(names, inputs)))
        out = np.empty_like(expected)
        checker.library.run("QUANTIZED_LINEAR_MATRIX_MULTIPLY", [np.asarray(x) for x in inputs], out)
        apart = np.abs(out.astype(int) - expected.astype(int))
        if apart.max() > 1 or out.dtype != y_type:
            raise SystemExit(f"QUANTIZED_LINEAR_MATRIX_MULTIPLY is {apart.max()} away from ONNX's reference")
        beside += (apart != 0).sum()
        checker.compared += out.size
    print(f"  ONNX's reference: {beside} of the quantized results are off by one")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=40, help="random cases")
    given = parser.parse_args()
    np.seterr(all="ignore")
    checker = Checker(Library(given.library), np.random.default_rng(SEED))
    print(f"NumPy {np.__version__}, seed {SEED}")
    for name, part in (("types", check_types), ("extremes", check_extremes), ("layouts", check_layouts),
                       ("parameters", check_parameters), ("batches", check_batches), ("empty", check_empty),
                       ("random", lambda one: check_random(one, given.cases)), ("ONNX", check_onnx)):
        checker.cases = checker.compared = 0
        part(checker)
        print(f"  {name:12} {checker.cases:6} cases, {checker.compared:9} elements, none different")


if __name__ == "__main__":
    main()
