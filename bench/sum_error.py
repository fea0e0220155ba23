#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the largest errors of sums: anydml's REDUCE, NumPy's and PyTorch's sums relative to exact sums.

usage: sum_error.py    needs anydml's Python package; uses PyTorch if it is installed
Errors are in units of 2^-24 (FLOAT32) or 2^-11 (FLOAT16) of the exact result: 0.5 means correctly rounded.
"""
import math

import numpy as np

import anydml

try:
    import torch
except ImportError:
    torch = None

SHAPES = {"inner axis, 2,048 of 8,192": ((2048, 8192), 1), "outer axis, 8,192 of 2,048": ((8192, 2048), 0),
          "all of 16,777,216": ((1, 1 << 24), 1)}


def data(random, kind, shape):
    if kind == "uniform":
        return random.random(shape)
    if kind == "normal, squared":
        return random.standard_normal(shape) ** 2
    return np.exp(4 * random.standard_normal(shape))  # all positive, so the condition number is 1


def largest(results, exact, bits):
    """The largest error, in units in the last place of the exact result."""
    wide = np.asarray(results, np.float64).ravel()
    with np.errstate(all="ignore"):
        return max(abs(one - true) / math.ldexp(1, math.frexp(true)[1] - bits) if math.isfinite(one) else math.inf
                   for one, true in zip(wide, exact))


def main():
    random = np.random.default_rng(1)
    names = ["anydml", f"NumPy {np.__version__}"] + ([f"PyTorch {torch.__version__.split('+')[0]}"] if torch else [])
    print(f"| | | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for dtype, bits in ((np.float32, 24), (np.float16, 11)):
        for where, (shape, axis) in SHAPES.items():
            for kind in ("uniform", "normal, squared", "exp(4 normal)"):
                x = data(random, kind, shape)
                if dtype is np.float16:  # so that sums stay in range
                    x *= 30000 / x.sum(axis=axis).max()
                x = x.astype(dtype)
                exact = [math.fsum(row) for row in (x if axis == 1 else x.T).tolist()]
                found = [anydml.reduce(x, function="SUM", axes=[axis]), x.sum(axis=axis)]
                if torch:
                    found.append(torch.from_numpy(x).sum(dim=axis).numpy())
                errors = " | ".join(f"{largest(one, exact, bits):.3g}" for one in found)
                print(f"| {np.dtype(dtype).name.upper()}, {where} | {kind} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
