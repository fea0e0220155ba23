#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the operators that normalize by a mean, a variance or a norm with the NumPy programs in docs/numerics.md,
bit for bit, and with FLOAT64 and ONNX's reference within a tolerance.

usage: normalize_oracle.py LIBANYDML [--cases N]
"""
import itertools
import math
import sys

import numpy as np

from normalize_reference import batch, local_response, lp, mean_variance
from numpy_oracle import SEED, Library, count_different
from reduce_oracle import layouts
from softmax_oracle import SHAPES as ROW_SHAPES
from softmax_oracle import numbers

TYPES = (np.float32, np.float16)
ACTIVATIONS = (("ACTIVATION_RELU", ()), ("ACTIVATION_LEAKY_RELU", (("Alpha", 0.3),)), ("ACTIVATION_TANH", ()))
KINDS = ("everyday", "special", "any")


def laid_out(x, number):
    """The elements in a different layout; one of the layouts also reverses their order."""
    return next(itertools.islice(layouts(x), number % 4, None))


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = self.cases = 0

    def check(self, name, inputs, attributes, expected, layout=0, fused=None):
        """The result also has a different layout. A fused activation must give the same result as the activation
        applied to the result."""
        x = inputs[0]
        out = laid_out(np.full(x.shape, 77, x.dtype), layout) if x.size else np.full(x.shape, 77, x.dtype)
        given = list(attributes)
        if fused is not None:
            given.append(("FusedActivation", fused))
            plain, expected = expected, np.empty(x.shape, x.dtype)
            self.library.run(fused[0], [np.ascontiguousarray(plain)], expected, fused[1])
        self.library.run(name, inputs, out, given)
        different = count_different(out, expected)
        if different.any():
            where = tuple(np.argwhere(different)[0])
            given = [None if one is None else (one.shape, one.strides) for one in inputs]
            sys.exit(f"{name} of {x.dtype} {given} to strides {out.strides} with {attributes}: {different.sum()} of "
                     f"{out.size} differ; first {where}: {out[where]!r}, expected {expected[where]!r}")
        self.compared += out.size
        self.cases += 1


def coefficients(random, shape, dtype, kind, keep):
    """A tensor that repeats along the dimensions whose bit is not set."""
    own = [size if keep >> axis & 1 else 1 for axis, size in enumerate(shape)]
    return numbers(random, dtype, own, kind)


def check_moments(checker, random):
    """Every shape, with scales and biases that repeat along any dimensions or are absent."""
    few_rows = [((70_000,), (0,)), ((3, 30_000), (0, 1)), ((2, 300, 250), (1, 2))]  # split between threads
    for number, (shape, axes) in enumerate(ROW_SHAPES + few_rows):
        for dtype, kind in itertools.product(TYPES, KINDS):
            x = numbers(random, dtype, shape, kind)
            rank = len(shape)
            for turn in range(6 if x.size < 3000 else 2):
                layout = turn if x.size < 3000 else (0, 1 + number % 3)[turn]
                kinds = [random.integers(0, 2 ** rank) for _ in range(2)]
                scale, bias = (None if random.integers(0, 4) == 0 else
                               laid_out(coefficients(random, shape, dtype, "everyday", keep), turn + position)
                               for position, keep in enumerate(kinds))
                epsilon = float(random.choice([1e-5, 0.1, 0.0]))
                uses = [bool(random.integers(0, 4)) for _ in range(2)]
                laid = laid_out(x, layout)
                attributes = [("Axes", tuple(axes)), ("UseMean", int(uses[0])), ("UseVariance", int(uses[1])),
                              ("Epsilon", epsilon)]
                expected = mean_variance(laid, axes, scale, bias, epsilon, *uses)
                checker.check("MEAN_VARIANCE_NORMALIZATION2", [laid, scale, bias], attributes, expected, number + turn)
                if turn == 0 and kind == "everyday":
                    checker.check("MEAN_VARIANCE_NORMALIZATION2", [laid, scale, bias], attributes, expected,
                                  fused=ACTIVATIONS[number % len(ACTIVATIONS)])
                    for normalizes in (0, 1):
                        checker.check("MEAN_VARIANCE_NORMALIZATION1", [laid, scale, bias],
                                      [("Axes", tuple(axes)), ("NormalizeVariance", normalizes), ("Epsilon", epsilon)],
                                      mean_variance(laid, axes, scale, bias, epsilon, True, normalizes))


def check_first_version(checker, random):
    for shape, cross, normalizes in itertools.product(((2, 3, 4, 5), (1, 6, 1, 70), (3, 4), (2, 3, 7), (2, 2, 3, 3, 3)),
                                                      (0, 1), (0, 1)):
        axes = range(1 if cross else 2, len(shape))
        for dtype in TYPES:
            x = numbers(random, dtype, shape, "everyday")
            scale = coefficients(random, shape, dtype, "everyday", 2)
            checker.check("MEAN_VARIANCE_NORMALIZATION", [x, scale, None],
                          [("CrossChannel", cross), ("NormalizeVariance", normalizes), ("Epsilon", 1e-3)],
                          mean_variance(x, axes, scale, None, 1e-3, True, normalizes),
                          fused=ACTIVATIONS[0] if cross else None)


def check_batch(checker, random):
    for shape in ((1,), (7, 5), (3, 4, 5, 6), (2, 70, 300), (1, 3, 1, 5000), (2, 1, 2, 3, 1, 2, 3, 2), (4, 40, 9, 9)):
        for number, (dtype, kind) in enumerate(itertools.product(TYPES, KINDS)):
            x = numbers(random, dtype, shape, kind)
            for turn in range(4):
                keeps = [2 if turn == 0 and len(shape) > 1 else random.integers(0, 2 ** len(shape)) for _ in range(4)]
                others = [laid_out(coefficients(random, shape, dtype, "everyday", keep), turn) for keep in keeps]
                others[1] = np.abs(others[1])
                laid = laid_out(x, turn)
                checker.check("BATCH_NORMALIZATION", [laid, *others],
                              [("Spatial", turn % 2), ("Epsilon", 1e-5)], batch(laid, *others, 1e-5), number + turn,
                              ACTIVATIONS[number % 3] if turn == 3 and kind == "everyday" else None)


def check_lp(checker, random):
    for shape in ((1,), (9000,), (3, 70), (70, 3), (4, 5, 6, 7), (2, 4097), (2, 3, 2, 2, 3, 2, 2, 3), (300, 20)):
        for dtype, kind, p in itertools.product(TYPES, KINDS, (1, 2)):
            x = numbers(random, dtype, shape, kind)
            x[..., :1] = 0
            for turn, axis in enumerate(range(len(shape))):
                epsilon = (1e-5, 0.0, 3.0)[turn % 3]
                laid = laid_out(x, turn)
                checker.check("LP_NORMALIZATION", [laid], [("Axis", axis), ("Epsilon", epsilon), ("P", p)],
                              lp(laid, axis, epsilon, p), turn + p)


def check_local_response(checker, random):
    for shape in ((1, 1, 1, 1), (2, 7, 5, 6), (1, 20, 3, 50), (3, 4), (2, 3, 1100), (2, 2, 3, 4, 5)):
        for number, (dtype, kind, cross) in enumerate(itertools.product(TYPES, KINDS, (0, 1))):
            x = numbers(random, dtype, shape, kind)
            for turn, size in enumerate((1, 2, 3, 5, 40)):
                if size == 40 and (x.size > 1000 or not cross) and len(shape) > 3:
                    continue
                values = ((1e-4, 0.75, 1.0), (0.3, 0.5, 2.0), (-0.2, 1.25, 0.1))[(number + turn) % 3]
                laid = laid_out(x, turn)
                checker.check("LOCAL_RESPONSE_NORMALIZATION", [laid],
                              [("CrossChannel", cross), ("LocalSize", size), ("Alpha", values[0]), ("Beta", values[1]),
                               ("Bias", values[2])], local_response(laid, cross, size, *values), turn)


def check_empty(checker, _):
    for shape in ((0,), (3, 0), (0, 4, 5), (2, 3, 0, 4)):
        for dtype in TYPES:
            x = np.empty(shape, dtype)
            one = np.ones([1] * len(shape), dtype)
            checker.check("MEAN_VARIANCE_NORMALIZATION1", [x, one, one],
                          [("Axes", (len(shape) - 1,)), ("NormalizeVariance", 1), ("Epsilon", 0.1)], x)
            checker.check("BATCH_NORMALIZATION", [x, one, one, one, one], [("Spatial", 1), ("Epsilon", 0.1)], x)
            checker.check("LP_NORMALIZATION", [x], [("Axis", 0), ("Epsilon", 0.1), ("P", 2)], x)


def random_cases(checker, random, count):
    for _ in range(count):
        rank = int(random.integers(1, 6))
        shape = tuple(int(random.choice([1, 2, 3, 5, 17, 64, 65])) for _ in range(rank))
        if math.prod(shape) > 20000:
            continue
        axes = [axis for axis in range(rank) if random.integers(0, 2)]
        dtype = TYPES[random.integers(0, 2)]
        x = numbers(random, dtype, shape, KINDS[random.integers(0, 3)])
        x = x.transpose(random.permutation(rank))
        axes = [axis for axis in axes if axis < rank]
        scale, bias = (coefficients(random, x.shape, dtype, "everyday", random.integers(0, 2 ** rank)) for _ in range(2))
        uses = [bool(random.integers(0, 3)) for _ in range(2)]
        checker.check("MEAN_VARIANCE_NORMALIZATION2", [x, scale, bias],
                      [("Axes", tuple(axes)), ("UseMean", int(uses[0])), ("UseVariance", int(uses[1])), ("Epsilon", 1e-4)],
                      mean_variance(x, axes, scale, bias, 1e-4, *uses), int(random.integers(0, 4)))


def beside_float64(library, random):
    """Compares with FLOAT64 and other formulas: layer, instance and batch normalization in a different order of
    operations."""
    worst = 0.0
    for shape, axes in (((50, 300), (1,)), ((4, 9000), (1,)), ((3, 50, 7, 7), (2, 3)), ((300, 50), (0,))):
        x = (random.standard_normal(shape) * 3 + 1).astype(np.float32)
        out = np.empty_like(x)
        library.run("MEAN_VARIANCE_NORMALIZATION1", [x, None, None], out,
                    (("Axes", axes), ("NormalizeVariance", 1), ("Epsilon", 1e-5)))
        wide = x.astype(np.float64)
        exact = (wide - wide.mean(axis=axes, keepdims=True)) / np.sqrt(wide.var(axis=axes, keepdims=True) + 1e-5)
        worst = max(worst, float(np.abs(out - exact).max()))
    if worst > 3e-6:
        sys.exit(f"mean and variance: {worst:.2g} away from FLOAT64")
    print(f"  mean and variance: at most {worst:.1g} away from FLOAT64, for results of about 1")


def beside_onnx(library, random):
    """Compares with ONNX's reference, if the package is installed."""
    try:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  ONNX's reference: the onnx package is not installed")
        return

    def onnx(op, arrays, **attributes):
        names = [f"x{i}" for i in range(len(arrays))]
        graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "one",
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, one.shape)
                                   for name, one in zip(names, arrays)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        return ReferenceEvaluator(model).run(None, dict(zip(names, arrays)))[0]

    x = (random.standard_normal((6, 6, 5, 4)) * 2).astype(np.float32)  # the reference's LRN confuses batch and channels
    channels = [random.uniform(0.5, 2, 6).astype(np.float32) for _ in range(4)]
    scale, bias, mean, variance = (one.reshape(1, 6, 1, 1) for one in channels)
    row = [random.standard_normal(4).astype(np.float32) for _ in range(2)]
    moments = (("NormalizeVariance", 1), ("Epsilon", 1e-5))
    cases = [
        ("BatchNormalization", [x, *channels], {"epsilon": 1e-5}, "BATCH_NORMALIZATION",
         [x, mean, variance, scale, bias], [("Spatial", 1), ("Epsilon", 1e-5)]),
        ("InstanceNormalization", [x, *channels[:2]], {"epsilon": 1e-5}, "MEAN_VARIANCE_NORMALIZATION1",
         [x, scale, bias], [("Axes", (2, 3)), *moments]),
        ("LayerNormalization", [x, *row], {"epsilon": 1e-5}, "MEAN_VARIANCE_NORMALIZATION1",
         [x, *(one.reshape(1, 1, 1, 4) for one in row)], [("Axes", (3,)), *moments]),
        ("LRN", [x], {"size": 3, "alpha": 0.1, "beta": 0.75, "bias": 1.5}, "LOCAL_RESPONSE_NORMALIZATION", [x],
         [("CrossChannel", 1), ("LocalSize", 3), ("Alpha", 0.1), ("Beta", 0.75), ("Bias", 1.5)]),
        *(("LpNormalization", [np.abs(x)], {"axis": 2, "p": p}, "LP_NORMALIZATION", [np.abs(x)],
           [("Axis", 2), ("Epsilon", 1e-12), ("P", p)]) for p in (1, 2)),  # the reference omits the absolute values
    ]
    for op, arrays, options, name, inputs, attributes in cases:
        out = np.empty_like(x)
        library.run(name, inputs, out, attributes)
        if not np.allclose(out, onnx(op, arrays, **options), rtol=1e-5, atol=1e-6):
            sys.exit(f"{name} differs from ONNX's reference for {op}")
    print(f"  {len(cases)} operators compared with ONNX's reference")


def order_shows(random):
    """A different summation order gives different results, so the bitwise comparison would detect a wrong one."""
    x = numbers(random, np.float32, (200, 5000), "everyday")
    other = np.swapaxes(mean_variance(x.T, (0,)), 0, 1)
    if not count_different(mean_variance(x, (1,)), other).any():
        sys.exit("sums along an inner and an outer axis have the same bits")


def main(path, cases):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("mean and variance", check_moments), ("first version", check_first_version),
                       ("batch", check_batch), ("Lp", check_lp), ("local response", check_local_response),
                       ("empty", check_empty), ("random", lambda *both: random_cases(*both, cases))):
        checker.compared = checker.cases = 0
        part(checker, random)
        print(f"  {name:18} {checker.compared:9} elements in {checker.cases} cases, none different")
    order_shows(random)
    beside_float64(library, random)
    beside_onnx(library, random)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or len(sys.argv) == 4 and sys.argv[2] != "--cases":
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[3]) if len(sys.argv) == 4 else 300)
