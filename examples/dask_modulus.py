# SPDX-License-Identifier: MIT
"""Computes a modulus over a Dask array on several worker processes; each worker compares its blocks with NumPy.

    pip install ".[dask]"          # in a clone
    python examples/dask_modulus.py --workers 2 --elements 16777216

Prints the workers and the results of their comparisons. The exit status is 1 if any bit differs (all NaNs are equal).
"""
import argparse
import os
import statistics
import sys
import time
from collections import Counter

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import anydml


def about_worker():
    """Returns this worker's process id, and the number of threads that the library uses in the worker."""
    return os.getpid(), anydml.adapters()[0]["threads"]


def compare(a, b, result):
    """One row per block: its size, how many elements differ from NumPy's, and the id of the process that compared
    them."""
    with np.errstate(invalid="ignore"):
        right = np.remainder(a, b)
    bits = f"u{right.itemsize}"
    differ = result.view(bits) != right.view(bits)
    if right.dtype.kind == "f":
        differ &= ~(np.isnan(result) & np.isnan(right))
    return np.array([[right.size, np.count_nonzero(differ), os.getpid()]])


def nothing(a, b):
    """Does nothing, to measure Dask's own time for the same number of blocks."""
    return a


def timed(function, a, b, turn):
    """Runs the function over arrays in the workers' memory. Returns the result, which also stays there, and the ms."""
    begin = time.perf_counter()
    result = da.map_blocks(function, a, b, dtype=a.dtype, name=f"{function.__name__}-{turn}").persist()
    wait(result)
    return result, (time.perf_counter() - begin) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="anydml's threads in each (1)")
    parser.add_argument("--elements", type=int, default=1 << 24, metavar="N", help="elements of each operand (2^24)")
    parser.add_argument("--chunk", type=int, default=1 << 21, metavar="N", help="elements of a block (2^21)")
    parser.add_argument("--type", choices=("float16", "float32", "float64"), default="float32")
    options = parser.parse_args()

    # The library reads ANYDML_THREADS once, at its first use, so the workers must start with it.
    with LocalCluster(n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address=None,
                      env={"ANYDML_THREADS": str(options.threads)}) as cluster, Client(cluster) as client:
        workers = dict(client.run(about_worker).values())
        for process, threads in workers.items():
            print(f"worker process {process}: {threads} thread{'s' if threads > 1 else ''} of anydml")
        random = da.random.default_rng(1)
        a = random.normal(0, 100, options.elements, chunks=options.chunk).astype(options.type).persist()
        b = random.normal(0, 3, options.elements, chunks=options.chunk).astype(options.type).persist()
        wait([a, b])
        times = {anydml.modulus_floor: [], np.remainder: [], nothing: []}
        for turn in range(6):  # the first turn also moves the operands of a block to one worker
            for function, taken in times.items():
                built, ms = timed(function, a, b, turn)
                taken.append(ms)
                if function is anydml.modulus_floor:
                    result = built
        own, numpy, empty = (statistics.median(taken[1:]) for taken in times.values())
        print(f"{options.elements:,} {options.type} elements in {a.npartitions} blocks of up to {options.chunk:,}: "
              f"anydml {own:.0f} ms, NumPy {numpy:.0f} ms, Dask alone {empty:.0f} ms")
        table = da.map_blocks(compare, a, b, result, dtype=np.int64, new_axis=1,
                              chunks=((1,) * a.npartitions, (3,))).compute()
    for process, blocks in sorted(Counter(table[:, 2].tolist()).items()):
        print(f"process {process} compared {blocks} blocks")
    compared, different = table[:, 0].sum(), table[:, 1].sum()
    print(f"{compared:,} elements compared with NumPy bit for bit, {different or 'none'} different")
    if compared != options.elements or set(workers.values()) != {options.threads}:
        print("not every element was compared, or a worker has the wrong number of threads", file=sys.stderr)
        return 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
