#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CONVOLUTION at unusual sizes with plain loops in C (convolution_loops.c), to find sizes that are
disproportionately slow: huge filters, filters larger than the image, few channels, large strides and dilations.

usage: convolution_cliffs.py [--random N] [--seed S] [--all]

Uses one thread; a time is the better of two measurements of CPU time. Filters are not constant. The script prints the
sizes that take longer than the loops (with --all, every size), and the worst size. --random adds random sizes. Needs a
C compiler.
"""
import argparse
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["ANYDML_THREADS"] = "1"
import numpy as np  # noqa: E402

import anydml  # noqa: E402

FIELDS = ("groups", "ins", "outs", "height", "width", "kernel_height", "kernel_width", "out_height", "out_width", "stride",
          "dilation", "padding")
MAX_MULTIPLY_ADDS = 400e6  # the maximum for a random size

# Backward, groups, input and output channels of a group, height, width, kernel height and width, stride, dilation,
# padding.
SIZES = ((0, 1, 1, 1, 512, 512, 25, 25, 1, 1, 0), (0, 1, 1, 1, 300, 300, 101, 101, 1, 1, 0),
         (0, 1, 1, 1, 300, 300, 251, 251, 1, 1, 0), (0, 1, 1, 1, 260, 260, 251, 251, 1, 1, 0),
         (0, 1, 1, 1, 251, 251, 251, 251, 1, 1, 0), (0, 1, 2, 2, 300, 300, 275, 275, 1, 1, 0),
         (0, 1, 1, 16, 120, 120, 101, 101, 1, 1, 0), (0, 1, 64, 64, 40, 40, 31, 31, 1, 1, 0),
         (0, 1, 8, 8, 1, 1, 192, 192, 1, 1, 191), (0, 1, 8, 1, 4, 4, 64, 64, 1, 1, 63),
         (0, 1, 1, 1, 1, 100000, 1, 3000, 1, 1, 0), (0, 1, 1, 1, 100000, 1, 300, 1, 1, 1, 0),
         (0, 1, 4, 4, 200, 200, 3, 3, 1, 90, 0), (0, 1, 4, 4, 400, 400, 3, 3, 50, 1, 0),
         (0, 64, 1, 1, 60, 60, 31, 31, 1, 1, 15), (0, 1, 64, 64, 1, 1, 3, 3, 1, 1, 1),
         (1, 1, 8, 8, 1, 1, 192, 192, 1, 1, 0), (1, 1, 8, 8, 1, 1, 192, 192, 3000, 1, 0),
         (1, 1, 8, 1, 2, 2, 3, 3, 3000, 1, 0), (1, 1, 8, 1, 2, 2, 192, 192, 1500, 1, 0),
         (1, 1, 8, 8, 4, 4, 64, 64, 1, 1, 0), (1, 1, 8, 8, 16, 16, 64, 64, 1, 1, 0),
         (1, 1, 1, 1, 200, 200, 31, 31, 1, 1, 0), (1, 1, 8, 8, 20, 20, 5, 5, 7, 1, 0),
         (1, 1, 3, 3, 10, 10, 20, 20, 1, 9, 0), (1, 16, 1, 1, 30, 30, 16, 16, 16, 1, 0),
         (1, 1, 64, 64, 2, 2, 16, 16, 16, 1, 0))


def drawn(random, count):
    while count:
        backward = int(random.integers(2))
        side = int(2 ** random.uniform(0, 8.5))
        kernel = int(2 ** random.uniform(0, 8.2))
        groups, ins, outs = (int(2 ** random.uniform(0, 6)) for _ in range(3))
        groups = 1 if random.integers(3) else groups
        stride = 1 if random.integers(2) else int(2 ** random.uniform(0, 7))
        dilation = 1 if random.integers(3) else int(random.integers(1, 9))
        extent = (kernel - 1) * dilation + 1
        padding = 0 if backward else int(random.choice([0, extent // 2, extent - 1]))
        if backward or side + 2 * padding >= extent:
            result = built_of(backward, side, kernel, stride, dilation, padding)
            useful = min(kernel, side) ** 2 * groups * ins * outs * (side ** 2 if backward else result ** 2)
            if (useful < MAX_MULTIPLY_ADDS and groups * outs * result ** 2 < 3e7
                    and groups * ins * outs * kernel ** 2 < 2e7):
                yield backward, groups, ins, outs, side, side, kernel, kernel, stride, dilation, padding
                count -= 1


def built_of(backward, size, kernel, stride, dilation, padding):
    extent = (kernel - 1) * dilation + 1
    return (size - 1) * stride + extent - 2 * padding if backward else (size + 2 * padding - extent) // stride + 1


def loops():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(__file__).with_name("convolution_loops.c")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", str(source), "-o", f"{folder}/loops.so"],
                       check=True)
        return ctypes.CDLL(f"{folder}/loops.so")


def best(run):
    taken = []
    for _ in range(2):
        begin = time.thread_time()
        run()
        taken.append(time.thread_time() - begin)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    random, plain, worst = np.random.default_rng(given.seed), loops(), 0
    print("| size | anydml | plain loops | ratio |\n|---|---|---|---|")
    for size in (*SIZES, *drawn(random, given.random)):
        backward, groups, ins, outs, height, width, down, right, stride, dilation, padding = size
        if height == 1 and down == 1:
            tall = 1, 1, 1, 0  # one dimension
        else:
            tall = stride, dilation, down, padding
        result = (built_of(backward, height, down, tall[0], tall[1], tall[3]),
                built_of(backward, width, right, stride, dilation, padding))
        x = random.standard_normal((1, groups * ins, height, width)).astype(np.float32)
        w = random.standard_normal((groups * ins, outs, down, right) if backward else (groups * outs, ins, down, right))
        w = w.astype(np.float32)
        out, other = (np.empty((1, groups * outs, *result), np.float32) for _ in range(2))
        shape = (ctypes.c_long * len(FIELDS))(groups, ins, outs, height, width, down, right, *result, stride, dilation, padding)
        compiled = anydml.compile(
            "CONVOLUTION", x, w, None, out=out, Mode="CROSS_CORRELATION", Direction="BACKWARD" if backward else "FORWARD",
            Strides=[tall[0], stride], Dilations=[tall[1], dilation], StartPadding=[tall[3], padding],
            EndPadding=[tall[3], padding], OutputPadding=[0, 0], GroupCount=groups)
        ours = best(lambda: compiled(x, w, None, out=out))
        address = [one.ctypes.data_as(ctypes.c_void_p) for one in (x, w, other)]
        theirs = best(lambda: (plain.backward if backward else plain.forward)(shape, *address))
        if not np.allclose(out, other, rtol=1e-2, atol=1e-2 * np.sqrt(ins * down * right)):
            raise SystemExit(f"the loops give a different result: {size}")
        worst = max(worst, ours / theirs)
        if given.all or ours > theirs:
            name = (f"{'backward' if backward else 'forward'} {groups} x {ins}-{outs}, {height} x {width} by {down} x "
                    f"{right}, stride {stride}, dilation {dilation}, padding {padding}")
            print(f"| {name} | {ours * 1e3:.2f} ms | {theirs * 1e3:.2f} ms | {ours / theirs:.2f} |", flush=True)
    print(f"\nthe worst takes {worst:.2f} times as long as the loops")


if __name__ == "__main__":
    main()
