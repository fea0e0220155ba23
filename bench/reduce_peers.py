#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reductions by NumPy, and by PyTorch where it is installed, over the tensors of bench_reduce, in GB/s.

usage: reduce_peers.py [MiB [cpu]]    cpu: by the processor's time, of one thread
"""
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

COLUMNS = 4096
FUNCTIONS = {"SUM": "sum", "MAX": "max", "ARGMAX": "argmax", "AVERAGE": "mean"}


def best(clock, body):
    times = []
    for _ in range(3):
        start = clock()
        body()
        times.append(clock() - start)
    return min(times)


def main(mebibytes=128, by="clock"):
    clock = time.process_time if by == "cpu" else time.perf_counter
    size = int(mebibytes) << 20
    random = np.random.default_rng(7)
    print(f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch else "") + f", {mebibytes} MiB, GB/s")
    if torch and by == "cpu":
        torch.set_num_threads(1)
    for dtype in (np.float32, np.float16, np.int8, np.int32):
        x = random.integers(0, 256, size, dtype=np.uint8).view(dtype).reshape(-1, COLUMNS)
        if np.issubdtype(dtype, np.floating):
            x = random.uniform(-1, 1, (1024, COLUMNS)).astype(dtype).repeat(x.shape[0] // 1024, axis=0)
        for name, function in FUNCTIONS.items():
            if name == "AVERAGE" and x.dtype.kind != "f":
                continue
            line = f"{x.dtype.name:8} {name:8}"
            for label, axis in (("inner", 1), ("outer", 0), ("all", None)):
                sum_type = {"dtype": x.dtype} if name == "SUM" else {}
                seconds = best(clock, lambda: getattr(np, function)(x, axis=axis, **sum_type))
                line += f"   {label} NumPy {x.nbytes / seconds / 1e9:6.2f}"
                if torch:
                    tensor = torch.from_numpy(x)
                    arguments = () if axis is None else (axis,)
                    method = getattr(torch, {"max": "amax"}.get(function, function))
                    try:
                        seconds = best(clock, lambda: method(tensor, *arguments, **(
                            {"dtype": tensor.dtype} if name == "SUM" else {})))
                        line += f" PyTorch {x.nbytes / seconds / 1e9:6.2f}"
                    except (RuntimeError, TypeError):
                        line += " PyTorch      -"
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
