#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CONVOLUTION with the NumPy program in docs/numerics.md, bit for bit, and large convolutions with FLOAT64.

usage: convolution_oracle.py LIBANYDML [--cases N] [--torch]

--torch: also compares with PyTorch's FLOAT64 convolutions. ONNX's reference evaluator is used if onnx is installed.
"""
import argparse
import itertools
import sys

import numpy as np

from convolution_reference import convolution, exact, forward_of_planes
from numpy_oracle import SEED, Library, count_different
from product_oracle import ACTIVATIONS, laid_out, numbers
from product_reference import product

MODES = ("CROSS_CORRELATION", "CONVOLUTION")
DIRECTIONS = ("FORWARD", "BACKWARD")


class Case:
    """One convolution. A scalar option applies to all dimensions. `more`: output elements beyond the smallest size that
    fits."""

    def __init__(self, spatial, kernel, channels=(2, 3), images=1, groups=1, mode=MODES[0], direction=DIRECTIONS[0],
                 strides=1, dilations=1, start=0, end=0, more=0):
        rank = len(spatial)
        def each(x):
            return list(x) if isinstance(x, (list, tuple)) else [x] * rank
        self.mode, self.direction, self.groups = mode, direction, groups
        self.kernel, self.strides, self.dilations = list(kernel), each(strides), each(dilations)
        self.start, self.end, self.more = each(start), each(end), each(more)
        ins, outs = channels  # per group
        self.x_shape = (images, ins * groups, *spatial)
        backward = direction == "BACKWARD"
        self.w_shape = (ins * groups, outs, *kernel) if backward else (outs * groups, ins, *kernel)
        extents = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]
        if backward:
            self.outputs = [(size - 1) * s + e - a - b + m for size, s, e, a, b, m in zip(
                spatial, self.strides, extents, self.start, self.end, self.more)]
        else:
            self.outputs = [(size + a + b - e) // s + 1 + m for size, s, e, a, b, m in zip(
                spatial, self.strides, extents, self.start, self.end, self.more)]
        self.out_shape = (images, outs * groups, *self.outputs)

    def is_valid(self):
        return all(size > 0 for size in self.outputs)

    def attributes(self, padding=None):
        named = [("Mode", self.mode), ("Direction", self.direction)]
        named += [(name, tuple(values)) for name, values in (
            ("Strides", self.strides), ("Dilations", self.dilations), ("StartPadding", self.start),
            ("EndPadding", self.end), ("OutputPadding", self.more if padding is None else padding))]
        return [*named, ("GroupCount", self.groups)]

    def options(self):
        return {"mode": self.mode, "direction": self.direction, "strides": self.strides, "dilations": self.dilations,
                "start": self.start, "groups": self.groups}

    def reference(self, x, w, bias=None, **more):
        return convolution(x, w, self.outputs, **self.options(), bias=bias, **more)

    def __str__(self):
        return f"{self.x_shape} by {self.w_shape} to {self.out_shape}, {self.attributes()}"


class Checker:
    def __init__(self, library):
        self.library = library
        self.cases = self.compared = 0

    def run(self, case, x, w, bias, out, fused=None, padding=None):
        attributes = case.attributes(padding) + ([("FusedActivation", fused)] if fused else [])
        self.library.run("CONVOLUTION", [x, w, bias], out, attributes)
        self.cases += 1
        self.compared += out.size
        return out

    def check(self, case, x, w, bias=None, layout=0, padding=None):
        out = laid_out(np.full(case.out_shape, 77, x.dtype), layout)
        self.run(case, x, w, bias, out, padding=padding)
        expected = case.reference(x, w, bias)
        different = count_different(np.ascontiguousarray(out), np.ascontiguousarray(expected))
        if different.any():
            where = tuple(np.argwhere(different)[0])
            sys.exit(f"CONVOLUTION of {x.dtype} {case}, strides {x.strides} {w.strides} {out.strides}, bias "
                     f"{bias is not None}: {different.sum()} of {out.size} differ; first {where}: {out[where]!r}, "
                     f"expected {expected[where]!r}")
        return out


def draw(random, case, kind="everyday", dtype=np.float32):
    x, w = (numbers(random, kind, shape).astype(dtype) for shape in (case.x_shape, case.w_shape))
    bias = numbers(random, kind, (1, case.out_shape[1], *[1] * len(case.kernel))).astype(dtype)
    return x, w, bias


def check_forms(checker, random, _):
    """Every combination of mode, direction, stride, dilation and padding, in one to three dimensions."""
    spaces = (((9,), (3,)), ((6, 7), (3, 2)), ((1, 8), (1, 4)), ((8, 1), (3, 1)), ((3, 4, 5), (2, 1, 3)))
    for (spatial, kernel), mode, direction in itertools.product(spaces, MODES, DIRECTIONS):
        for strides, dilations, start, end in itertools.product((1, 2, 3), (1, 2), (0, 1, 2), (0, 2)):
            for more in range(min(strides, 2)) if direction == "BACKWARD" else (0,):
                case = Case(spatial, kernel, (2, 3), 2, 1, mode, direction, strides, dilations, start, end, more)
                if case.is_valid():
                    x, w, bias = draw(random, case, "any" if dilations == 2 else "everyday")
                    checker.check(case, x, w, bias if start else None)


def check_sizes(checker, random, _):
    """Outputs as large as a stride allows, with and without OutputPadding; filters larger than the input."""
    for strides, more in ((2, 1), (3, 2), (3, 1), (5, 4)):
        case = Case((4, 5), (3, 3), direction="BACKWARD", strides=strides, start=1, end=1, more=more)
        x, w, bias = draw(random, case)
        checker.check(case, x, w, bias)
        checker.check(case, x, w, bias, padding=[0, 0])
    for more in (1, 4):  # beyond the reach of any tap
        for direction in DIRECTIONS:
            case = Case((4, 5), (3, 3), direction=direction, more=more)
            checker.check(case, *draw(random, case))
    case = Case((2, 3), (7, 9), start=4, end=5)
    checker.check(case, *draw(random, case))
    case = Case((2, 3), (2, 2), dilations=20, start=15, end=15)
    checker.check(case, *draw(random, case))
    case = Case((2, 3), (2, 2), strides=40, start=50, end=50)
    checker.check(case, *draw(random, case))
    case = Case((3, 3), (2, 2), direction="BACKWARD", strides=20, dilations=6)
    checker.check(case, *draw(random, case))
    case = Case((5, 5), (3, 3), (0, 4))  # no channels
    checker.check(case, *draw(random, case))
    case = Case((0, 5), (3, 3), start=2, end=2)  # no elements
    checker.check(case, *draw(random, case))


def check_depths(checker, random, _):
    """Sizes around the ends of blocks; a different order or a missing tap must change the bits."""
    noticed = 0
    for channels, kernel in ((1, (1, 1)), (255, (1, 1)), (256, (1, 1)), (257, (1, 1)), (28, (3, 3)), (29, (3, 3)),
                             (57, (3, 3)), (64, (2, 4)), (65, (2, 4)), (40, (5, 5))):
        for kind, rows, direction in itertools.product(("everyday", "cancelling", "tiny"), (2, 9), DIRECTIONS):
            case = Case((4, 5), kernel, (channels, rows), direction=direction, start=1 if kernel[0] > 1 else 0)
            x, w, bias = draw(random, case, kind)
            out = checker.check(case, x, w)
            if kind == "everyday" and channels * int(np.prod(kernel)) > 256:
                for block in (128, 2048):
                    other = case.reference(x, w, multiply=lambda a, b, block=block: product(a, b, block))
                    noticed += count_different(out, other).any()
                turned = case.reference(x[:, ::-1], w[:, ::-1] if direction == "FORWARD" else w[::-1])
                noticed += count_different(out, turned).any()
    if noticed < 20:
        sys.exit("the test does not detect a wrong summation order")


def check_infinite(checker, random, _):
    """A tap outside the input multiplies by +0, so an infinite weight gives NaN at the borders."""
    for direction, mode, groups in itertools.product(DIRECTIONS, MODES, (1, 4)):
        case = Case((6, 6), (3, 3), (1, 1) if groups > 1 else (3, 8), 1, groups, mode, direction, 1, 1, 1, 1)
        x, w, bias = draw(random, case)
        w[..., 0, 2] = np.inf
        out = checker.check(case, x, w, bias)
        if not np.isnan(out).any() or np.isnan(out).all():
            sys.exit("the test produces no NaN at the borders")


def check_large_filters(checker, random, _):
    """Channels with more taps than a block: rows, slices and channels that end in the middle of a block."""
    for spatial, kernel, channels in (((1, 600), (1, 570), (1, 1)), ((24, 300), (20, 270), (1, 1)),
                                      ((30, 40), (20, 20), (3, 2)), ((30, 40), (20, 20), (3, 9)),
                                      ((5, 12, 14), (4, 9, 9), (2, 2)), ((5, 12, 14), (4, 9, 9), (2, 8)),
                                      ((6, 4, 300), (3, 2, 280), (2, 1)), ((259, 9), (259, 7), (1, 2))):
        for direction, dilations in itertools.product(DIRECTIONS, (1, 2)):
            if direction == "BACKWARD" or dilations == 1:
                small = [max(1, size - k + 1) for size, k in zip(spatial, kernel)]
                case = Case(small if direction == "BACKWARD" else spatial, kernel, channels, direction=direction,
                            dilations=dilations, mode=MODES[dilations - 1])
                checker.check(case, *draw(random, case))


def check_padding(checker, random, _):
    """Most taps read only padding, or most outputs have no tap. Sums that underflow to -0 must become +0 there, and
    infinite weights must give NaN."""
    zeros = 0
    for kind, weights, direction, mode in itertools.product(("everyday", "any", "tiny"), ("finite", "infinite"),
                                                            DIRECTIONS, MODES):
        for spatial, kernel, channels, strides in (((1, 1), (20, 33), (3, 8), 1), ((2, 3), (25, 40), (2, 2), 1),
                                                   ((3,), (400,), (2, 7), 1), ((2, 2, 2), (9, 10, 8), (2, 3), 1),
                                                   ((2, 40), (30, 3), (2, 2), 1), ((2, 3), (9, 12), (3, 7), 50),
                                                   ((2, 3), (3, 2), (2, 2), 50), ((4, 5), (24, 30), (2, 2), 2)):
            start = 0 if direction == "BACKWARD" else [k - 1 for k in kernel]
            case = Case(spatial, kernel, channels, 1, 2, mode, direction, strides, 1, start, start)
            x, w, bias = draw(random, case, kind)
            if kind == "tiny":
                x, w = np.abs(x) * np.float32(2**-60), -np.abs(w) * np.float32(2**-60)
                w.reshape(-1)[::3] *= -1
            if weights == "infinite":
                w.reshape(-1)[w.size // 3] = np.inf
            out = checker.check(case, x, w, bias if kind == "everyday" else None)
            zeros += (out == 0).any()
    if zeros < 20:
        sys.exit("the test produces no zeros")


def check_groups(checker, random, _):
    """Groups down to one channel each, and every number of output channels around the strip sizes."""
    for groups, channels in ((2, (3, 4)), (4, (1, 1)), (3, (1, 2)), (5, (2, 1)), (2, (1, 7)), (3, (4, 13))):
        for direction, strides, width in itertools.product(DIRECTIONS, (1, 2), (7, 16, 37)):
            case = Case((5, width), (3, 3), channels, 2, groups, MODES[strides - 1], direction, strides, 1, 1, 1)
            checker.check(case, *draw(random, case))
    for rows in range(1, 20):
        case = Case((3, 19), (2, 3), (3, rows), start=1)
        checker.check(case, *draw(random, case))
    case = Case((4, 150), (3, 3), (1, 1), groups=3, start=1, end=1)  # every remainder of vectors
    for width in range(1, 40):
        case = Case((2, width), (3, 3), (1, 1), groups=2, start=1, end=1)
        checker.check(case, *draw(random, case))
    case = Case((9, 40), (9, 9), (6, 3), start=4, end=4)  # several blocks of few rows
    checker.check(case, *draw(random, case))


def channels_last(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)).swapaxes(0, 0).transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def check_layouts(checker, random, _):
    for kernel, strides, direction in itertools.product(((1, 1), (3, 2)), (1, 2), DIRECTIONS):
        case = Case((6, 9), kernel, (5, 8), 2, 2, MODES[0], direction, strides, 1, 0 if kernel == (1, 1) else 1)
        x, w, bias = draw(random, case)
        for layouts in itertools.product(range(5), repeat=2):
            checker.check(case, laid_out(x, layouts[0]), laid_out(w, layouts[1]), laid_out(bias, layouts[0]),
                          sum(layouts) % 5)
        checker.check(case, channels_last(x), channels_last(w), bias)
        out = channels_last(np.full(case.out_shape, 77, np.float32))
        checker.run(case, channels_last(x), w, bias, out)
        if count_different(np.ascontiguousarray(out), case.reference(x, w, bias)).any():
            sys.exit(f"CONVOLUTION with channels last differs: {case}")
        one = np.broadcast_to(x[:1, :1], x.shape)
        checker.check(case, one, w, np.broadcast_to(bias[:, :1], bias.shape))


def check_document(checker, random, _):
    """The short program in docs/numerics.md."""
    for strides, dilations, start in itertools.product((1, 2), (1, 2), (0, 2)):
        case = Case((8, 9), (3, 2), (4, 5), strides=strides, dilations=dilations, start=start, end=start)
        x, w, _ = draw(random, case)
        out = checker.check(case, x, w)
        if count_different(out[0], forward_of_planes(x[0], w, strides, dilations, start, case.outputs)).any():
            sys.exit(f"the program of docs/numerics.md differs from CONVOLUTION: {case}")


def check_halves(checker, random, _):
    for direction, channels, kernel in itertools.product(DIRECTIONS, ((3, 4), (40, 7)), ((1, 1), (3, 3))):
        case = Case((5, 6), kernel, channels, 2, 1, MODES[0], direction, 2 if kernel[0] > 1 else 1, 1, 0)
        x, w, bias = draw(random, case, dtype=np.float16)
        checker.check(case, x, w, bias)
        checker.check(case, x, w)


def check_activations(checker, random, _):
    """Convolving first and applying the activation separately gives the same result; FLOAT16 is rounded in between."""
    types = (np.float32, np.float16)
    for (fused, name, attributes), dtype, direction in itertools.product(ACTIVATIONS, types, DIRECTIONS):
        for kernel, channels in (((1, 1), (5, 9)), ((3, 3), (4, 8)), ((3, 3), (2, 1))):
            case = Case((9, 10), kernel, channels, 2, 1, MODES[0], direction, 2 if kernel[0] > 1 else 1)
            x, w, bias = draw(random, case, dtype=dtype)
            plain, expected, out = (np.empty(case.out_shape, dtype) for _ in range(3))
            checker.run(case, x, w, bias, plain)
            checker.library.run(name, [plain], expected, attributes)
            checker.run(case, x, w, bias, out, fused)
            if count_different(out, expected).any():
                sys.exit(f"CONVOLUTION with {name} of {np.dtype(dtype)} differs from running the two "
                         "operators one after the other")


def check_random(checker, random, count):
    done = 0
    while done < count:
        rank = int(random.integers(1, 4))
        def some(low, high, rank=rank):
            return [int(one) for one in random.integers(low, high, rank)]
        strides = some(1, 4)
        direction = DIRECTIONS[random.integers(2)]
        case = Case(some(1, 24 // rank), some(1, 6 - rank), tuple(some(1, 9, 2)), int(random.integers(1, 3)),
                    int(random.integers(1, 4)), MODES[random.integers(2)], direction, strides, some(1, 3), some(0, 3),
                    some(0, 3), [int(random.integers(0, s)) for s in strides] if direction == "BACKWARD" else 0)
        if case.is_valid() and int(np.prod(case.out_shape)) < 40_000:
            x, w, bias = draw(random, case)
            checker.check(case, laid_out(x, int(random.integers(5))), w, bias if random.integers(2) else None,
                          int(random.integers(5)))
            done += 1


LARGE = (Case((56, 56), (3, 3), (32, 48), start=1, end=1),
         Case((112, 112), (3, 3), (1, 1), groups=24, start=1, end=1, strides=2),
         Case((64, 64), (9, 9), (8, 3), start=4, end=4),
         Case((60, 61), (4, 4), (24, 16), direction="BACKWARD", strides=2, start=1, end=1),
         Case((14, 14), (1, 1), (200, 300)), Case((7, 7), (3, 3), (128, 200), start=1, end=1, images=2),
         Case((2000,), (15,), (20, 16), strides=3, start=7), Case((10, 20, 20), (3, 3, 3), (6, 12), start=1, end=1))


def check_large(checker, random, _):
    for case, kind in itertools.product(LARGE, ("everyday", "cancelling")):
        x, w, _ = draw(random, case, kind)
        out = checker.run(case, x, w, None, np.empty(case.out_shape, np.float32))
        sums, bound = exact(x, w, case.outputs, **case.options())
        if (np.abs(out - sums) > bound).any():
            sys.exit(f"CONVOLUTION {case}: the error exceeds the bound of the summation order")


def check_onnx(checker, random):
    """Compares with ONNX's Conv and ConvTranspose."""
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        return "the onnx package is not installed"
    for direction, strides, groups in itertools.product(DIRECTIONS, (1, 2), (1, 2)):
        if direction == "BACKWARD" and groups > 1:
            continue  # the reference does not support groups there
        case = Case((6, 7), (3, 3), (3, 2), 2, groups, MODES[0], direction, strides, 1, 1, 1)
        x, w, bias = draw(random, case)
        name = "Conv" if direction == "FORWARD" else "ConvTranspose"
        node = onnx.helper.make_node(name, ["x", "w", "b"], ["y"], strides=case.strides, pads=case.start + case.end,
                                     group=groups, kernel_shape=case.kernel)
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph([node], "g", [value(one, 1, None) for one in "xwb"], [value("y", 1, None)])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 11)])
        expected, = ReferenceEvaluator(model).run(None, {"x": x, "w": w, "b": bias.reshape(-1)})
        out = checker.run(case, x, w, bias, np.empty(case.out_shape, np.float32))
        if out.shape != expected.shape or not np.allclose(out, expected, rtol=1e-4, atol=1e-5):
            sys.exit(f"ONNX's {name} differs from CONVOLUTION: {case}")
    return "ONNX's reference agrees"


def check_torch(checker, random):
    import torch
    for case in LARGE:
        x, w, bias = draw(random, case)
        rank = len(case.kernel)
        given = [torch.from_numpy(one.astype(np.float64)) for one in (x, w, bias.reshape(-1))]
        names = {"stride": case.strides, "padding": case.start, "dilation": case.dilations, "groups": case.groups}
        kind = f"conv{'_transpose' if case.direction == 'BACKWARD' else ''}{rank}d"
        expected = getattr(torch.nn.functional, kind)(*given, **names).numpy()
        cut = tuple(slice(0, size) for size in np.minimum(expected.shape, case.out_shape))
        out = checker.run(case, x, w, bias, np.empty(case.out_shape, np.float32))
        if not np.allclose(out[cut], expected[cut], rtol=1e-4, atol=1e-3):
            sys.exit(f"PyTorch's {kind} differs from CONVOLUTION: {case}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--torch", action="store_true")
    given = parser.parse_args()
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(Library(given.library))
    for name, part in (("forms", check_forms), ("sizes", check_sizes), ("depths", check_depths),
                       ("infinities", check_infinite), ("large filters", check_large_filters), ("padding", check_padding),
                       ("groups", check_groups), ("layouts", check_layouts),
                       ("document", check_document), ("FLOAT16", check_halves), ("activations", check_activations),
                       ("random", check_random),
                       ("large", check_large)):
        checker.cases = checker.compared = 0
        part(checker, random, given.cases)
        print(f"  {name:12} {checker.cases:5} cases, {checker.compared:9} elements, none different", flush=True)
    print(f"  {check_onnx(checker, random)}")
    if given.torch:
        check_torch(checker, random)
        print("  PyTorch agrees")


if __name__ == "__main__":
    main()
