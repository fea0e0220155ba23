#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares REDUCE, ARGMAX, ARGMIN and DYNAMIC_QUANTIZE_LINEAR with the NumPy programs in docs/numerics.md, bit for bit.

usage: reduce_oracle.py LIBANYDML
"""
import math
import sys

import numpy as np

from numpy_oracle import SEED, TYPES, Library, count_different, random_values
from reduce_reference import reduce

FUNCTIONS = ("SUM", "AVERAGE", "L1", "L2", "SUM_SQUARE", "MULTIPLY", "MAX", "MIN", "ARGMAX", "ARGMIN",
             "LOG_SUM", "LOG_SUM_EXP")
INDEX_TYPES = (np.uint32, np.int32, np.uint64, np.int64)
# Sizes around the edges of lanes and blocks, inner and outer; several axes; sizes of 1; short and long rows.
SHAPES = [((1,), (0,)), ((1, 1), (0,)), ((7,), ()), ((9001,), (0,)), ((3, 5, 1), (1,)), ((5, 63), (1,)), ((5, 64), (1,)),
          ((5, 65), (1,)), ((70, 3), (0,)), ((2, 4095), (1,)), ((2, 4096), (1,)), ((2, 4097), (1,)), ((4095, 2), (0,)),
          ((4097, 3), (0,)), ((8193, 17), (0,)), ((2, 21_000), (1,)), ((12_300, 5), (0,)), ((65, 300), (0,)),
          ((300, 3), (1,)), ((4, 5, 6, 7), (0, 2)), ((4, 5, 6, 7), (1, 3)), ((3, 70, 2, 90), (1, 3)),
          ((3, 70, 90, 2), (1, 2)), ((2, 3, 2, 2, 3, 2, 2, 3), (0, 3, 5, 7)), ((20, 30, 40), (0, 1, 2)),
          ((2, 100, 1, 100), (0, 1, 3)), ((17, 1100), (0,))]


def layouts(x):
    """The array in several layouts; some of them reverse or repeat its elements."""
    yield x
    yield np.asfortranarray(x)
    yield x[tuple(slice(None, None, -1) for _ in x.shape)]
    spread = np.zeros([2 * size + 1 for size in x.shape], x.dtype)[tuple(slice(1, None, 2) for _ in x.shape)]
    spread[...] = x
    yield spread
    yield np.broadcast_to(x[..., :1], x.shape)
    yield np.broadcast_to(x[:1], x.shape)


def numbers(random, dtype, shape, kind):
    """Ordinary numbers, or random bits with special values."""
    count = math.prod(shape)
    if kind == "any":
        return random_values(random, dtype, count).reshape(shape)
    if np.issubdtype(dtype, np.floating):
        return (random.standard_normal(count) * 10.0 ** random.uniform(-2, 2)).astype(dtype).reshape(shape)
    low, high = (0, 100) if np.dtype(dtype).kind == "u" else (-50, 50)
    return random.integers(low, high, count).astype(dtype).reshape(shape)


def run(library, function, x, axes, out_type, last=None):
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    out = np.full(shape, 77, out_type)
    if last is None:
        library.run("REDUCE", [x], out, (("Function", function), ("Axes", tuple(axes))))
    else:
        direction = "DECREASING" if last else "INCREASING"
        library.run(function, [x], out, (("Axes", tuple(axes)), ("AxisDirection", direction)))
    return out


def check(library, function, x, axes, out_type, last=None):
    out = run(library, function, x, axes, out_type, last)
    expected = reduce(function, x, axes, bool(last)).astype(out_type).reshape(out.shape)
    different = count_different(out, expected)
    if different.any():
        where = tuple(np.argwhere(different)[0])
        sys.exit(f"{function} of {x.dtype} {x.shape} strides {x.strides} over {axes}, last {last}: {different.sum()} of "
                 f"{out.size} differ; first {where}: {out[where]!r}, expected {expected[where]!r}")
    return x.size


def dynamic_quantize(x, dtype):
    """Follows ONNX's definition, with each step rounded; a NaN converted to an integer is 0."""
    x = x.astype(np.float32)
    lowest, most = np.float32(np.iinfo(dtype).min), np.float32(np.iinfo(dtype).max)
    low, high = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = (high - low) / (most - lowest)
    zero = np.rint(np.clip(lowest - low / scale, lowest, most))
    zero = np.float32(0) if np.isnan(zero) else zero
    quotient = np.rint(x / scale)
    quotient = np.clip(np.where(np.isnan(quotient), np.float32(0), quotient), -1024, 1024)
    return np.clip(quotient + zero, lowest, most).astype(dtype), scale, zero.astype(dtype)


def check_dynamic(library, random):
    compared = 0
    for dtype in (np.float32, np.float16):
        for to in (np.uint8, np.int8):
            for shape in ((1,), (7,), (3, 5, 1), (4, 5, 6, 7), (2, 3, 2, 2, 3, 2, 2, 3), (300, 65), (9001,)):
                for kind in ("everyday", "any", "above", "below", "zeros", "small"):
                    x = numbers(random, dtype, shape, "any" if kind == "any" else "everyday")
                    x = {"above": np.abs(x) + dtype(3), "below": -np.abs(x) - dtype(3), "zeros": x * 0,
                         "small": x * np.finfo(dtype).tiny}.get(kind, x)
                    for layout in list(layouts(x))[:4 if x.size < 2000 else 2]:
                        single = [1] * x.ndim
                        out = [np.full(shape, 77, to), np.full(single, 77, np.float32), np.full(single, 77, to)]
                        library.run("DYNAMIC_QUANTIZE_LINEAR", [layout], out)
                        for result, wanted in zip(out, dynamic_quantize(layout, to)):
                            if count_different(result, np.asarray(wanted, result.dtype).reshape(result.shape)).any():
                                sys.exit(f"DYNAMIC_QUANTIZE_LINEAR of {x.dtype} {shape}, {kind}, to {np.dtype(to)}: "
                                         f"{result.reshape(-1)[:5]}, expected {np.asarray(wanted).reshape(-1)[:5]}")
                        compared += x.size
    return compared


def errors(library, random):
    """Prints how far FLOAT32 sums are from exact ones, next to NumPy's, and checks them against a bound."""
    print("  the largest error of a sum, in units of eps * sum|x|:")
    for shape, axes in (((200, 1000), (1,)), ((20, 100_000), (1,)), ((1000, 200), (0,)), ((100_000, 20), (0,))):
        x = random.standard_normal(shape).astype(np.float32)
        ours = run(library, "SUM", x, axes, np.float32).reshape(-1)
        columns = np.moveaxis(x, axes[0], -1).reshape(len(ours), -1)
        exact = np.array([math.fsum(row) for row in columns.astype(np.float64)])
        scale = np.abs(columns).astype(np.float64).sum(axis=-1) * np.finfo(np.float32).eps
        ours, numpys = (float((np.abs(sums.astype(np.float64) - exact) / scale).max())
                        for sums in (ours, x.sum(axis=axes[0])))
        print(f"    {str(shape):15} over {axes[0]}: {ours:.4f}, NumPy {numpys:.4f}")
        # Each addition of a number rounds by at most half an eps.
        count = columns.shape[-1]
        in_block = min(count, 4096)
        additions = (in_block if axes[0] == 0 else in_block // 64 + 6) + math.log2(count / in_block) + 1
        if ours > additions / 2:
            sys.exit("the error of a sum exceeds the bound of its order")


def main(path):
    library = Library(path)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    for name, (_, dtype) in TYPES.items():
        compared = 0
        for number, (shape, axes) in enumerate(SHAPES):
            for kind in ("everyday", "any") if np.dtype(dtype).kind == "f" else ("any",):
                x = numbers(random, dtype, shape, kind)
                for position, layout in enumerate(layouts(x)):
                    # Every layout for small tensors, and two alternating ones for large tensors.
                    if x.size > 3000 and position not in (0, 1 + number % 5):
                        continue
                    for function in FUNCTIONS:
                        if function in ("AVERAGE", "L2") and np.dtype(dtype).kind != "f":
                            continue
                        if function.startswith("LOG") and dtype not in (np.float32, np.float16):
                            continue
                        if function in ("ARGMAX", "ARGMIN"):
                            for last in (None, False, True):
                                out_type = INDEX_TYPES[(number + position) % 4]
                                compared += check(library, function, layout, axes, out_type, last)
                        else:
                            compared += check(library, function, layout, axes, dtype)
        print(f"  {name:8} {compared:9} elements reduced, none different")
    print(f"  {check_dynamic(library, random)} elements quantized, none different")
    errors(library, random)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
