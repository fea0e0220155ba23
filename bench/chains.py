#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares chains of element-wise operators, run as one graph, with one pass over the same bytes.

usage: chains.py [--elements N] [--rounds N] [--json FILE]

A chain of k steps over FLOAT32 (multiply by a number, add a number, RELU, ABS, repeated in this order) runs as an
anydml graph, operator by operator, in NumPy, and in PyTorch with and without torch.compile if PyTorch is installed. The
pass is IDENTITY over the same memory. Times are the minimum over all rounds, in milliseconds. The script needs anydml
and NumPy (pip install .).
"""
import argparse
import json
import time

import numpy as np

import anydml

STEPS = (1, 2, 4, 8, 16)


def chain(x, s, k, multiply, add, relu, absolute):
    for i in range(k):
        x = (multiply(x, s), add(x, s))[i % 4] if i % 4 < 2 else (relu(x) if i % 4 == 2 else absolute(x))
    return x


def lowest(call, rounds):
    call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def columns(elements, rounds):
    """Returns {name: [ms for each number of steps]}. The pass has no steps, so it has one time."""
    x = (np.arange(elements) % 1000 - 500).astype(np.float32)
    s = np.float32([1.5])
    out = np.empty_like(x)
    ours = (anydml.multiply, anydml.add, anydml.relu, anydml.abs)
    result = {"pass": [lowest(lambda: anydml.element_wise_identity(x, out=out), rounds)], "anydml graph": [], "anydml": [], "NumPy": []}
    try:
        import torch
    except ImportError:
        torch = None
    for k in STEPS:
        graph = anydml.graph(lambda a, b: chain(a, b, k, *ours))  # noqa: B023: it is called only in this round
        result["anydml graph"].append(lowest(lambda: graph(x, s, out=out), rounds))
        result["anydml"].append(lowest(lambda: chain(x, s, k, *ours), rounds))
        numpys = (np.multiply, np.add, lambda a: np.maximum(a, 0), np.abs)
        result["NumPy"].append(lowest(lambda: chain(x, s, k, *numpys), rounds))
        same = np.array_equal(graph(x, s), chain(x, s, k, *numpys))
        if not same:
            raise SystemExit(f"k = {k}: the graph and NumPy differ")
        if torch is not None:
            tensors = (torch.from_numpy(x), torch.from_numpy(s))
            functions = (torch.mul, torch.add, torch.relu, torch.abs)
            eager = lambda a, b: chain(a, b, k, *functions)  # noqa: E731, B023
            torch._dynamo.reset()
            compiled = torch.compile(eager)
            result.setdefault("PyTorch", []).append(lowest(lambda: eager(*tensors), rounds))
            result.setdefault("torch.compile", []).append(lowest(lambda: compiled(*tensors), rounds))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    times = columns(arguments.elements, arguments.rounds)
    print(f"{arguments.elements:,} FLOAT32; one pass: {times['pass'][0]:.2f} ms")
    print("steps " + "".join(f"{name:>26}" for name in times if name != "pass"))
    for row, k in enumerate(STEPS):
        cells = (f"{column[row]:.2f} ms ({column[row] / times['pass'][0]:.1f} passes)"
                 for name, column in times.items() if name != "pass")
        print(f"{k:5} " + "".join(f"{cell:>26}" for cell in cells))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"elements": arguments.elements, "steps": STEPS, "milliseconds": times}, file)


if __name__ == "__main__":
    main()
