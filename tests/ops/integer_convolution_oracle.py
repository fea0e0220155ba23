#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION with an INT64 NumPy program, modulo 2^32, bit for bit,
and with ONNX's reference if the onnx package is installed.

usage: integer_convolution_oracle.py LIBANYDML [--cases N]
"""
import argparse
import itertools

import numpy as np

from convolution_oracle import Case, channels_last
from integer_convolution_reference import total, total_of_planes
from integer_product_reference import quantized
from numpy_oracle import SEED, Library, count_different, random_values
from product_oracle import laid_out

BYTES = (np.int8, np.uint8)
HOWS = ("absent", "one", "each")
FIELDS = ("Strides", "Dilations", "StartPadding", "EndPadding", "GroupCount")


class Checker:
    def __init__(self, library, random):
        self.library, self.random = library, random
        self.cases = self.compared = 0

    def integers(self, dtype, shape, extreme=False):
        limits = np.iinfo(dtype)
        if extreme:
            return self.random.choice(np.array([limits.min, limits.max], dtype), shape)
        return self.random.integers(limits.min, limits.max, shape, dtype, endpoint=True)

    def compare(self, name, case, inputs, expected, out_layout=0):
        out = laid_out(np.full(expected.shape, 77, expected.dtype), out_layout) if isinstance(
            out_layout, int) else out_layout(np.full(expected.shape, 77, expected.dtype))
        attributes = [one for one in case.attributes() if one[0] in FIELDS]
        self.library.run(name, inputs, out, attributes)
        different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(expected))
        self.cases += 1
        self.compared += out.size
        if different.any():
            where = tuple(np.argwhere(different)[0])
            given = ", ".join("none" if x is None else f"{x.dtype} {x.shape} {x.strides}" for x in inputs)
            raise SystemExit(f"{name} of {given} to {out.dtype} {out.strides}, {case}: {different.sum()} of {out.size} "
                             f"differ; first {where}: {out[where]!r}, expected {expected[where]!r}")

    def check(self, case, x, w, x_how="absent", w_how="absent", out_layout=0, has_bias=True, y_types=BYTES, **more):
        """Checks both operators with the given zero points and scales."""
        ones = (1,) * x.ndim
        channels = (1, case.out_shape[1], *ones[2:])
        x_zero = None if x_how == "absent" else self.integers(x.dtype, ones)
        w_zero = None if w_how == "absent" else self.integers(w.dtype, channels if w_how == "each" else ones)
        zeros = [np.zeros(1, np.int64) if one is None else one for one in (x_zero, w_zero)]
        sums = total(x, zeros[0], w, zeros[1], case.outputs, **case.options(), **more)
        self.compare("CONVOLUTION_INTEGER", case, [x, x_zero, w, w_zero], sums, out_layout)
        bias = self.integers(np.int32, channels) >> 8 if has_bias else None
        x_scale, w_scale = (self.random.random(shape).astype(np.float32) * 0.05 + np.float32(0.001) for shape in (
            ones, channels if w_how == "each" else ones))
        depth = max(1, int(np.prod(case.w_shape[1:])))
        y_scale = np.full(ones, self.random.random() * 0.05 * depth**0.5 + 0.01, np.float32)
        added = sums if bias is None else (sums.astype(np.int64) + bias).astype(np.uint32).view(np.int32)
        for dtype in y_types:
            y_zero = None if x_how == "absent" else self.integers(dtype, ones)
            self.compare("QUANTIZED_LINEAR_CONVOLUTION", case,
                         [x, x_scale, x_zero, w, w_scale, w_zero, bias, y_scale, y_zero],
                         quantized(added, x_scale, w_scale, y_scale, 0 if y_zero is None else y_zero, dtype), out_layout)

    def draw(self, case, x_type=np.uint8, w_type=np.int8, extreme=False):
        return self.integers(x_type, case.x_shape, extreme), self.integers(w_type, case.w_shape, extreme)


def check_forms(checker, _):
    """Every combination of stride, dilation and padding, in one to three dimensions."""
    spaces = (((9,), (3,)), ((6, 7), (3, 2)), ((1, 8), (1, 4)), ((8, 1), (3, 1)), ((3, 4, 5), (2, 1, 3)))
    for number, ((spatial, kernel), strides, dilations, start, end) in enumerate(itertools.product(
            spaces, (1, 2, 3), (1, 2), (0, 1, 2), (0, 2))):
        for outs in (1, 5):
            case = Case(spatial, kernel, (2, outs), 2, 1, strides=strides, dilations=dilations, start=start, end=end)
            if case.is_valid():
                x, w = checker.draw(case, BYTES[number % 2], BYTES[number // 2 % 2])
                checker.check(case, x, w, HOWS[number % 3], HOWS[number // 3 % 3], has_bias=outs == 5)


def check_types(checker, _):
    """Every sign and zero point, for few rows, for strips of rows, and without windows."""
    for (x_type, w_type), x_how, w_how in itertools.product(itertools.product(BYTES, repeat=2), HOWS, HOWS):
        for case in (Case((5, 7), (3, 3), (3, 1), start=1, end=1), Case((5, 7), (3, 3), (1, 2), groups=3, start=1, end=1),
                     Case((5, 7), (3, 3), (3, 13), 2, start=1, end=1), Case((4, 9), (1, 1), (37, 14)),
                     Case((3, 4), (1, 1), (6, 5), groups=2)):
            for extreme in (False, True):
                checker.check(case, *checker.draw(case, x_type, w_type, extreme), x_how, w_how)


def check_edges(checker, _):
    """Sizes around the edges of groups of k, of strips of rows, of panels of columns and of blocks of k."""
    for rows in range(1, 30):
        case = Case((3, 19), (2, 3), (3, rows), start=1)
        checker.check(case, *checker.draw(case), "one", "each")
    for width in range(1, 40):
        for case in (Case((2, width), (3, 3), (1, 1), groups=2, start=1, end=1), Case((3, width), (1, 1), (9, 7)),
                     Case((3, width), (3, 3), (2, 5), start=1, end=1)):
            checker.check(case, *checker.draw(case), "one", "one", y_types=BYTES[:1])
    for channels, kernel in ((1, (1, 1)), (3, (1, 1)), (4, (1, 1)), (7, (1, 1)), (8, (1, 1)), (9, (1, 1)), (511, (1, 1)),
                             (512, (1, 1)), (513, (1, 1)), (1030, (1, 1)), (56, (3, 3)), (57, (3, 3)), (114, (3, 3)),
                             (64, (2, 4)), (65, (2, 4)), (20, (9, 6))):
        for rows, strides in itertools.product((1, 2, 9), (1, 2)):
            case = Case((9, 11), kernel, (channels, rows), strides=strides, start=1 if kernel[0] > 1 else 0)
            checker.check(case, *checker.draw(case), "one", "each", y_types=BYTES[1:])


def check_groups(checker, _):
    for groups, channels in ((2, (3, 4)), (4, (1, 1)), (3, (1, 2)), (5, (2, 1)), (2, (1, 7)), (3, (4, 13))):
        for strides, width, how in itertools.product((1, 2), (7, 16, 37), HOWS[1:]):
            case = Case((5, width), (3, 3), channels, 2, groups, strides=strides, start=1, end=1)
            checker.check(case, *checker.draw(case, np.uint8, np.uint8), "one", how)


def check_extremes(checker, _):
    """Sums that exceed 31 bits and wrap, with all numbers as large as possible."""
    for channels, rows in itertools.product((260, 3700), (1, 5)):
        case = Case((3, 4), (3, 3), (channels, rows))
        for x_type, w_type in itertools.product(BYTES, repeat=2):
            for x_value, w_value in itertools.product((np.iinfo(x_type).min, np.iinfo(x_type).max),
                                                      (np.iinfo(w_type).min, np.iinfo(w_type).max)):
                x, w = np.full(case.x_shape, x_value, x_type), np.full(case.w_shape, w_value, w_type)
                x_zero, w_zero = (np.full((1,) * 4, limits.max if value <= 0 else limits.min, limits.dtype)
                                  for limits, value in ((np.iinfo(x_type), x_value), (np.iinfo(w_type), w_value)))
                for zeros in ((None, None), (x_zero, w_zero)):
                    checker.compare("CONVOLUTION_INTEGER", case, [x, zeros[0], w, zeros[1]], total(
                        x, 0 if zeros[0] is None else zeros[0], w, 0 if zeros[1] is None else zeros[1], case.outputs,
                        wide=np.float64, **case.options()))
    # A bias that makes the total wrap.
    case = Case((3, 3), (1, 1), (1, 4))
    x, w, one = np.full(case.x_shape, 2, np.uint8), np.full(case.w_shape, 3, np.int8), np.ones((1,) * 4, np.float32)
    bias = np.int32([2**31 - 6, 2**31 - 7, -2**31, 0]).reshape(1, 4, 1, 1)
    sums = np.int32([-2**31, 2**31 - 1, -2**31 + 6, 6]).reshape(1, 4, 1, 1)
    checker.compare("QUANTIZED_LINEAR_CONVOLUTION", case, [x, one, None, w, one, None, bias, one, None],
                    np.broadcast_to(quantized(sums, one, one, one, 0, np.int8), case.out_shape))


def check_layouts(checker, _):
    for kernel, strides, channels in itertools.product(((1, 1), (3, 2)), (1, 2), ((5, 8), (3, 1))):
        case = Case((6, 9), kernel, channels, 2, 2, strides=strides, start=0 if kernel == (1, 1) else 1)
        x, w = checker.draw(case)
        for layouts in itertools.product(range(5), repeat=2):
            checker.check(case, laid_out(x, layouts[0]), laid_out(w, layouts[1]), "one", "each", sum(layouts) % 5,
                          y_types=BYTES[sum(layouts) % 2:][:1])
        checker.check(case, channels_last(x), channels_last(w), "one", "each", channels_last)
        checker.check(case, np.broadcast_to(x[:1, :1], x.shape), np.broadcast_to(w[:1], w.shape), "one", "each")


def check_parameters(checker, _):
    """Zero points and scales with other ranks and strides, and scales with special values."""
    case = Case((5, 6), (3, 3), (4, 6), start=1)
    x, w = checker.draw(case)
    for x_shape, w_shape in (((), ()), ((1,), (6,)), ((1, 1), (1, 6)), ((1, 1, 1), (6, 1, 1)), ((1, 1, 1, 1), (1, 6, 1, 1)),
                             ((1,), (1,))):
        x_zero, w_zero = checker.integers(np.uint8, x_shape), checker.integers(np.int8, w_shape)
        sums = total(x, x_zero, w, w_zero, case.outputs, **case.options())
        checker.compare("CONVOLUTION_INTEGER", case, [x, x_zero, w, w_zero], sums)
        x_scale, y_scale = np.full(x_shape, 0.02, np.float32), np.full(x_shape, 0.3, np.float32)
        w_scale = checker.random.random(w_shape).astype(np.float32)
        y_zero = np.full(x_shape, 9, np.uint8)
        checker.compare("QUANTIZED_LINEAR_CONVOLUTION", case,
                        [x, x_scale, x_zero, w, w_scale, w_zero, None, y_scale, y_zero],
                        quantized(sums, np.float32(0.02), w_scale.reshape(1, -1, 1, 1), np.float32(0.3), 9, np.uint8))
    for number in range(1, 5):
        w_zero, w_scale, bias = (laid_out(values.astype(dtype), number) for values, dtype in (
            (checker.integers(np.int8, (1, 6, 1, 1)), np.int8), (checker.random.random((1, 6, 1, 1)), np.float32),
            (checker.integers(np.int32, (1, 6, 1, 1)) >> 12, np.int32)))
        one = np.full((1,) * 4, 0.25, np.float32)
        sums = total(x, 0, w, w_zero, case.outputs, bias, **case.options())
        checker.compare("QUANTIZED_LINEAR_CONVOLUTION", case, [x, one, None, w, w_scale, w_zero, bias, one, None],
                        quantized(sums, one, w_scale, one, 0, np.int8))
    special = random_values(checker.random, np.float32, 400)
    special[:6] = 0, -0.0, np.inf, -np.inf, np.nan, 1e-45
    case = Case((2, 9), (1, 2), (3, 400))
    x, w = checker.draw(case, np.int8)
    sums, one, each = total(x, 0, w, 0, case.outputs), np.ones((1,) * 4, np.float32), special.reshape(1, -1, 1, 1)
    checker.compare("QUANTIZED_LINEAR_CONVOLUTION", case, [x, one, None, w, each, None, None, one, None],
                    quantized(sums, one, each, one, 0, np.int8))
    for value in special[:12]:
        y_scale = np.full((1,) * 4, value, np.float32)
        checker.compare("QUANTIZED_LINEAR_CONVOLUTION", case, [x, one, None, w, one, None, None, y_scale, None],
                        quantized(sums, one, one, y_scale, 0, np.int8))


def check_empty(checker, _):
    for case in (Case((5, 5), (3, 3), (0, 4)), Case((5, 5), (3, 3), (0, 1)), Case((0, 5), (3, 3), start=2, end=2),
                 Case((5, 5), (3, 3), images=0), Case((5, 5), (1, 1), (0, 3)), Case((2, 3), (7, 9), start=4, end=5),
                 Case((2, 3), (2, 2), (2, 1), dilations=20, start=15, end=15), Case((2, 3), (2, 2), strides=40, start=50, end=50)):
        for x_how, w_how in itertools.product(HOWS, HOWS):
            checker.check(case, *checker.draw(case), x_how, w_how)


def check_document(checker, _):
    """The short program in docs/numerics.md."""
    for strides, dilations, start in itertools.product((1, 2), (1, 2), (0, 2)):
        case = Case((8, 9), (3, 2), (4, 5), strides=strides, dilations=dilations, start=start, end=start)
        x, w = checker.draw(case)
        x_zero, w_zero = checker.integers(np.uint8, ()), checker.integers(np.int8, (5,))
        expected = total_of_planes(x[0], int(x_zero), w, w_zero.astype(np.int64), strides, dilations, start, case.outputs)
        checker.compare("CONVOLUTION_INTEGER", case, [x, x_zero.reshape(1), w, w_zero], expected[None])


def check_random(checker, count):
    done = 0
    while done < count:
        rank = int(checker.random.integers(1, 4))
        def some(low, high, rank=rank):
            return [int(one) for one in checker.random.integers(low, high, rank)]
        case = Case(some(1, 24 // rank), some(1, 6 - rank), tuple(some(1, 20, 2)), int(checker.random.integers(1, 3)),
                    int(checker.random.integers(1, 4)), strides=some(1, 4), dilations=some(1, 3), start=some(0, 3),
                    end=some(0, 3))
        if case.is_valid() and int(np.prod(case.out_shape)) < 40_000:
            x_type, w_type = (BYTES[one] for one in checker.random.integers(0, 2, 2))
            x, w = checker.draw(case, x_type, w_type)
            layouts = [int(one) for one in checker.random.integers(0, 5, 3)]
            checker.check(case, laid_out(x, layouts[0]), laid_out(w, layouts[1]), *(
                HOWS[one] for one in checker.random.integers(0, 3, 2)), layouts[2], bool(checker.random.integers(2)))
            done += 1


LARGE = (Case((56, 56), (3, 3), (32, 48), start=1, end=1),
         Case((112, 112), (3, 3), (1, 1), groups=24, start=1, end=1, strides=2),
         Case((14, 14), (3, 3), (1, 1), groups=60, start=1, end=1), Case((64, 64), (9, 9), (8, 3), start=4, end=4),
         Case((14, 14), (1, 1), (200, 300)), Case((7, 7), (3, 3), (128, 200), start=1, end=1, images=2),
         Case((2000,), (15,), (20, 16), strides=3, start=7), Case((3, 700), (3, 3), (20, 40), start=1, end=1))


def check_large(checker, _):
    """FLOAT64 represents all of these sums exactly."""
    for case in LARGE:
        checker.check(case, *checker.draw(case), "one", "each", y_types=BYTES[1:], wide=np.float64)
        checker.check(case, *checker.draw(case), "one", "absent", y_types=BYTES[:1], wide=np.float64)


def check_onnx(checker, _):
    """Compares with ONNX's definitions; QLinearConv scales in a different order, so a result may be off by one."""
    try:
        from onnx import helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  onnx is not installed")
        return
    beside = 0
    for x_type, w_type, y_type in itertools.product(BYTES, repeat=3):
        case = Case((9, 12), (3, 3), (7, 10), 2, 2, strides=2, start=1, end=2)
        x, w = checker.draw(case, x_type, w_type)
        x_zero, w_zero, y_zero = checker.integers(x_type, ()), checker.integers(w_type, (20,)), checker.integers(y_type, ())
        options = {"group": 2, "strides": case.strides, "pads": case.start + case.end}
        node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **options)
        expected, = ReferenceEvaluator(node).run(None, {"x": x, "w": w, "xz": x_zero, "wz": w_zero})
        checker.compare("CONVOLUTION_INTEGER", case, [x, x_zero.reshape(1), w, w_zero], expected)
        x_scale, y_scale = np.float32(0.03), np.float32(0.9)
        w_scale = (checker.random.random(20) * 0.05 + 0.01).astype(np.float32)
        bias = checker.integers(np.int32, (20,)) >> 14
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
        node = helper.make_node("QLinearConv", names, ["y"], **options)
        expected, = ReferenceEvaluator(node).run(None, dict(zip(names, [
            x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias])))
        out = np.empty_like(expected)
        attributes = [one for one in case.attributes() if one[0] in FIELDS]
        checker.library.run("QUANTIZED_LINEAR_CONVOLUTION", [
            x, x_scale.reshape(1), x_zero.reshape(1), w, w_scale, w_zero, bias.reshape(1, -1, 1, 1), y_scale.reshape(1),
            y_zero.reshape(1)], out, attributes)
        apart = np.abs(out.astype(int) - expected.astype(int))
        if apart.max() > 1 or out.dtype != y_type:
            raise SystemExit(f"QUANTIZED_LINEAR_CONVOLUTION is {apart.max()} away from ONNX's reference")
        beside += (apart != 0).sum()
        checker.compared += out.size
    print(f"  ONNX's reference: {beside} of the quantized results are off by one")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=60, help="random cases")
    given = parser.parse_args()
    np.seterr(all="ignore")
    checker = Checker(Library(given.library), np.random.default_rng(SEED))
    print(f"NumPy {np.__version__}, seed {SEED}")
    for name, part in (("forms", check_forms), ("types", check_types), ("edges", check_edges), ("groups", check_groups),
                       ("extremes", check_extremes), ("layouts", check_layouts), ("parameters", check_parameters),
                       ("empty", check_empty), ("document", check_document), ("random", check_random),
                       ("large", check_large), ("ONNX", check_onnx)):
        checker.cases = checker.compared = 0
        part(checker, given.cases)
        print(f"  {name:12} {checker.cases:6} cases, {checker.compared:9} elements, none different", flush=True)


if __name__ == "__main__":
    main()
