#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares softmax and its relatives with the NumPy program in docs/numerics.md, bit for bit, and with FLOAT64 within
an error bound.

usage: softmax_oracle.py LIBANYDML
"""
import math
import sys

import numpy as np

from numpy_oracle import SEED, Library, count_different, random_values
from reduce_oracle import layouts
from softmax_reference import softmax

FUNCTIONS = ("SOFTMAX", "LOG_SOFTMAX", "HARDMAX")
# Sizes around the edges of lanes, batches and blocks, inner and outer; several axes; sizes of 1; all ranks.
SHAPES = [((1,), (0,)), ((1, 1), (0,)), ((7,), ()), ((9001,), (0,)), ((3, 5, 1), (1,)), ((40, 10), (1,)),
          ((5, 63), (1,)), ((5, 64), (1,)), ((5, 65), (1,)), ((70, 3), (0,)), ((21, 300), (0,)), ((300, 40), (0,)),
          ((2, 4095), (1,)), ((2, 4096), (1,)), ((2, 4097), (1,)), ((4095, 2), (0,)), ((4096, 9), (0,)),
          ((4097, 17), (0,)), ((2, 10_000), (1,)), ((10_000, 5), (0,)), ((10_000, 8), (0,)), ((4, 5, 6, 7), (0, 2)),
          ((4, 5, 6, 7), (1, 3)), ((3, 70, 2, 90), (1, 3)), ((3, 70, 90, 2), (1, 2)), ((2, 3, 4, 2, 3), (2, 4)),
          ((2, 3, 2, 2, 3, 2), (1,)), ((3, 2, 2, 2, 2, 2, 5), (0, 6)), ((2, 3, 2, 2, 3, 2, 2, 3), (0, 3, 5, 7)),
          ((20, 30, 40), (0, 1, 2)), ((2, 100, 1, 100), (0, 1, 3)), ((17, 1100), (0,))]


def numbers(random, dtype, shape, kind):
    """Ordinary numbers; a range in which exponentials are subnormal; some special values; random bits."""
    count = math.prod(shape)
    if kind == "any":
        return random_values(random, dtype, count).reshape(shape)
    if kind == "wide":
        return random.uniform(-60, 60, count).astype(dtype).reshape(shape)
    x = (random.standard_normal(count) * 10.0 ** random.uniform(-2, 1)).astype(dtype)
    if kind == "special":
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max,
                            np.finfo(dtype).min], dtype)
        some = random.integers(0, count, 1 + count // 1000)
        x[some] = random.choice(special, len(some))
    return x.reshape(shape)


def run(library, function, x, axes):
    out = np.full(x.shape, 77, x.dtype)
    library.run(f"ACTIVATION_{function}1", [x], out, (("Axes", tuple(axes)),))
    return out


def check(library, function, x, axes):
    out = run(library, function, x, axes)
    expected = softmax(function, x, axes)
    different = count_different(out, expected)
    if different.any():
        where = tuple(np.argwhere(different)[0])
        sys.exit(f"{function} of {x.dtype} {x.shape} strides {x.strides} over {axes}: {different.sum()} of {out.size} "
                 f"differ; first {where}: {out[where]!r}, expected {expected[where]!r}")
    return x.size


def bound(function, x, exact, axes):
    """How far a result may be from the true one: the difference from the maximum, the exponential, each addition, and
    the quotient or the difference each round by at most half a unit (2^-24)."""
    wide = x.astype(np.float64)
    differences = np.abs(wide - wide.max(axis=axes, keepdims=True))
    weights = np.exp(-differences)
    in_sum = (weights * differences).sum(axis=axes, keepdims=True) / weights.sum(axis=axes, keepdims=True)
    count = math.prod(x.shape[axis] for axis in axes)
    in_block = min(count, 4096)
    additions = (in_block if x.ndim - 1 not in axes else in_block // 64 + 6) + math.ceil(math.log2(count / in_block)) + 1
    of_sum = in_sum + additions + 1
    if function == "SOFTMAX":
        error = (differences + of_sum + 2) * np.abs(exact)
    else:
        error = differences + of_sum + np.abs(np.log(weights.sum(axis=axes, keepdims=True))) + np.abs(exact)
    error = 1.01 * error * 2.0 ** -24 + 2.0 ** -149
    return error if x.dtype == np.float32 else error + np.abs(exact) * 2.0 ** -11 + 2.0 ** -25


def beside_float64(library, random):
    """Compares with FLOAT64, which is effectively exact here, computed in a different way."""
    compared = 0
    worst = dict.fromkeys(FUNCTIONS[:2], 0.0)  # FLOAT32 only: FLOAT16's error is nearly all final rounding
    for dtype in (np.float32, np.float16):
        for shape, axes in (((50, 300), (1,)), ((300, 50), (0,)), ((4, 9000), (1,)), ((9000, 4), (0,)), ((6, 20, 30), (1, 2)),
                            ((3, 50, 7, 7), (1,))):
            for scale in (0.01, 1, 20):
                x = (random.standard_normal(shape) * scale).astype(dtype)
                wide = x.astype(np.float64)
                exponentials = np.exp(wide - wide.max(axis=axes, keepdims=True))
                total = exponentials.sum(axis=axes, keepdims=True)
                for function in FUNCTIONS[:2]:
                    exact = exponentials / total if function == "SOFTMAX" else (
                        wide - wide.max(axis=axes, keepdims=True) - np.log(total))
                    error = np.abs(run(library, function, x, axes).astype(np.float64) - exact)
                    allowed = bound(function, x, exact, axes)
                    if (error > allowed).any():
                        sys.exit(f"{function} of {dtype} {shape} over {axes}: the error exceeds its bound")
                    if dtype == np.float32:
                        worst[function] = max(worst[function], float((error / allowed).max()))
                    compared += x.size
    print(f"  {compared} elements within the bound of their roundings; the largest FLOAT32 error is "
          + ", ".join(f"{100 * share:.0f} % of it ({function})" for function, share in worst.items()))


def order_shows(library, random):
    """A different order of the same additions gives different results, so the bitwise comparison would detect a wrong
    one."""
    x = numbers(random, np.float32, (200, 5000), "everyday")
    differ = count_different(run(library, "SOFTMAX", x, (1,)), np.swapaxes(softmax("SOFTMAX", x.T, (0,)), 0, 1))
    if not differ.any():
        sys.exit("sums along an inner and an outer axis have the same bits")
    print(f"  {differ.sum()} of {x.size} results depend on the order of the sum")


def without_axes(library, random):
    """The older operators work along the last dimension."""
    compared = 0
    for dtype in (np.float32, np.float16):
        for shape in ((9,), (4, 70), (1, 1, 3, 5000), (1, 1, 1, 1, 1, 1, 6, 7)):
            x = numbers(random, dtype, shape, "everyday")
            for function in FUNCTIONS:
                out = np.full(shape, 77, dtype)
                library.run(f"ACTIVATION_{function}", [x], out)
                if count_different(out, softmax(function, x, (len(shape) - 1,))).any():
                    sys.exit(f"ACTIVATION_{function} of {dtype} {shape} does not work along the last dimension")
                compared += x.size
    print(f"  {compared} elements of the operators without axes, none different")


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    for dtype in (np.float32, np.float16):
        compared = cases = 0
        for number, (shape, axes) in enumerate(SHAPES):
            for kind in ("everyday", "wide", "special", "any"):
                x = numbers(random, dtype, shape, kind)
                for position, layout in enumerate(layouts(x)):
                    # Every layout for small tensors, and two alternating ones for large tensors.
                    if x.size > 3000 and position not in (0, 1 + number % 5):
                        continue
                    for function in FUNCTIONS:
                        compared += check(library, function, layout, axes)
                        cases += 1
        print(f"  {np.dtype(dtype).name}: {compared} elements in {cases} cases, none different")
    order_shows(library, random)
    without_axes(library, random)
    beside_float64(library, random)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
