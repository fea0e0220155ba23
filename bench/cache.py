#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures attention with a cache: a token and a prompt at the same length, over caches with few and with many slots.

usage: cache.py LIBANYDML [--before LIBANYDML] [--device cpu|cuda] [--threads N] [--rounds N]

Each row is the median of one call in microseconds, from rounds in which all cases take turns. "floor" copies as many
bytes as the keys and values of that length have. --before measures another build of the library in the same rounds.
"""
import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ops"))

import numpy as np  # noqa: E402
from beside import Arrays, Missing, OfAnydml  # noqa: E402

# The name, heads, heads of keys and values, elements, new tokens, length with them, slots, whether the past is replaced.
# Without slots, the attention has no cache.
CASES = [(f"{model}: {name}", *sizes, *rest)
         for model, sizes in (("16 heads, 4 shared, of 64", (16, 4, 64)), ("32 heads, 8 shared, of 128", (32, 8, 128)))
         for name, *rest in (("token at 128 of 128 slots", 1, 128, 128, True), ("token at 128 of 4,096 slots", 1, 128, 4096, True),
                             ("token at 128 of 4,096 slots, copied", 1, 128, 4096, False),
                             ("token at 4,096 of 4,096 slots", 1, 4096, 4096, True),
                             ("prompt of 128 in 128 slots", 128, 128, 128, True),
                             ("prompt of 128 in 4,096 slots", 128, 128, 4096, True),
                             ("prompt of 512 in 512 slots", 512, 512, 512, True),
                             ("prompt of 512 in 4,096 slots", 512, 512, 4096, True),
                             ("64 tokens at 512 of 4,096 slots", 64, 512, 4096, True),
                             ("512 tokens without a cache", 512, 512, None, False))]


def attention(library, arrays, dtype, heads, shared, elements, tokens, length, slots, replaces):
    """A function that runs the case."""
    random = np.random.default_rng(1)
    q, k, v = (arrays.put(random.standard_normal((1, tokens, n * elements)).astype(dtype)) for n in (heads, shared, shared))
    outputs = [arrays.empty(q.shape, dtype)] + [None, None]
    inputs = [q, k, v] + [None] * 9
    if slots is not None:
        past = [arrays.put(random.standard_normal((1, shared, slots, elements)).astype(dtype)) for _ in range(2)]
        inputs[9:12] = [*past, arrays.put(np.array([length - tokens], np.int32))]
        outputs[1:] = past if replaces else [arrays.empty(x.shape, dtype) for x in past]
    return library.compile("MULTIHEAD_ATTENTION1", [(x, None, None) for x in inputs], [(x, None, None) for x in outputs],
                           (("Scale", elements ** -0.5), ("MaskFilterValue", -10000.0), ("QueryHeadCount", heads),
                            ("KeyValueHeadCount", shared), ("MaskType", "NONE")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--before")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose names contain this text")
    parser.add_argument("--least", action="store_true", help="the shortest time instead of the median")
    parser.add_argument("--half", action="store_true", help="FLOAT16 instead of FLOAT32")
    given = parser.parse_args()
    arrays = Arrays(given.device)
    libraries = {"now": OfAnydml(given.library, given.threads, arrays)}
    if given.before:
        libraries["before"] = OfAnydml(given.before, given.threads, arrays)
    dtype = "float16" if given.half else "float32"
    contenders = {}
    cases = [case for case in CASES if given.only in case[0]]
    for name, *sizes in cases:
        for which, library in libraries.items():
            try:
                contenders[name, which] = attention(library, arrays, dtype, *sizes)
            except Missing as error:
                print(f"{name}, {which}: {error}")
        _, shared, elements, _, length, _, _ = sizes
        count = 2 * shared * elements * length * (2 if given.half else 4)
        source, target = (arrays.empty(count // 4, "int32") for _ in range(2))
        contenders[name, "floor"] = libraries["now"].compile("ELEMENT_WISE_IDENTITY", [(source, None, None)],
                                                             [(target, None, None)], ())
    times = {key: [] for key in contenders}
    for _ in range(given.rounds):
        for key, run in contenders.items():
            run()
            arrays.wait()
            begin = time.perf_counter()
            run()
            run()
            arrays.wait()
            times[key].append((time.perf_counter() - begin) / 2)
    columns = [*libraries, "floor"]
    print(f"{'us, ' + dtype:<66}" + "".join(f"{column:>10}" for column in columns))
    middle = min if given.least else statistics.median
    for name, *_ in cases:
        print(f"{name:<66}" + "".join(f"{middle(times[name, column]) * 1e6:>10.1f}" if (name, column) in times else
                                      f"{'-':>10}" for column in columns))


if __name__ == "__main__":
    main()
