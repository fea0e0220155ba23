#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times every DirectML operator in a single run, as a fraction of a pass over memory that moves the same bytes.

usage: all_operators.py [LIBANYDML] [options]     python3 bench/all_operators.py --json build/all-operators.json
                                                  python3 bench/all_operators.py --device cuda --json build/all-h200.json
                                                  python3 bench/all_operators.py --operators GEMM,TOP_K

A run takes less than two minutes. The tensors of each case are in all_operators_cases.py. The pass reads and writes as
many bytes as the operator. It is the faster of anydml's BIT_XOR, IDENTITY, FILL_VALUE_CONSTANT and REDUCE and, on the
CPU, memmove, memset and memchr with the same number of threads. The pass and the operator alternate, and each time is
the minimum over all rounds. The JSON is rewritten after each case. On a GPU the arrays are PyTorch's, and work is
launched without waiting for the previous launch. Products, recurrent networks and attention compute more than they
move, so their FLOP/s are reported too.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from all_operators_cases import CASES, Array
from peer_run import ROOT, about, items, say

PASS_BYTES = 256 << 20  # the size of each array of the pass
MAX_LAUNCHES, LAUNCHED_SECONDS = 20, 0.05  # limits on consecutive launches on a GPU
MIN_ROUNDS, MAX_ROUNDS = 3, 200
SEED = 1


def to_attributes(attributes):
    """Converts to anydml's form: arrays of numbers become tuples, operators become pairs of a name and attributes."""
    def one(value):
        if isinstance(value, list):
            return [(name, ()) for name in value] if value and isinstance(value[0], str) else tuple(value)
        if isinstance(value, str) and value.startswith("ACTIVATION_"):
            return value, ()
        return int(value) if isinstance(value, bool) else value
    return tuple((name, one(value)) for name, value in attributes.items())


class Values:
    """Arrays of random values. Cases share them, since no case writes to its inputs; arrays within a case differ."""

    def __init__(self, arrays):
        self.arrays, self.np, self.result = arrays, arrays.np, {}
        self.random = self.np.random.default_rng(SEED)

    def inputs(self, row):
        return [self.input(array, position) for position, array in enumerate(row.inputs)]

    def input(self, array, position):
        if array is None:
            return None, None, None
        if not isinstance(array, Array):  # a function that creates the array
            return self.arrays.put(array(self.np, self.random)), None, None
        key = array.code, array.low, array.high, position
        if key not in self.result or len(self.result[key]) < array.count:
            self.result.pop(key, None)
            self.result[key] = self.arrays.put(self.draw(array, max(array.count, 1 << 16)))
        return self.result[key][:array.count].reshape(array.sizes), None, None

    def draw(self, array, count):
        if array.code[0] != "f":
            return self.random.integers(array.low, array.high, count).astype(array.code)
        result = self.random.random(count, "f4")
        result *= array.high - array.low
        result += array.low
        return result

    def output(self, array):
        return self.arrays.empty(array.sizes, array.code), None, None


class Pass:
    """Reads and writes a given number of bytes, and computes almost nothing."""

    def __init__(self, anydml, arrays, threads):
        self.anydml, self.arrays, self.threads = anydml, arrays, threads
        self.first, self.second, self.target = (arrays.empty(PASS_BYTES // 4, "int32") for _ in range(3))
        self.pool, self.c = ThreadPoolExecutor(threads), ctypes.CDLL(None)

    def ways(self, reads, writes):
        """Yields ways to read and write exactly this many bytes: a copy, and a read or a fill for the remaining
        bytes."""
        yield self.by_operators(reads // 4, writes // 4)
        if self.arrays.device == "cpu":
            yield self.by_c(reads, writes)

    def by_operators(self, reads, writes):
        both = min(max(reads - writes, 0), writes)  # elements with two inputs and one output
        copied = min(reads, writes) - both
        steps = [("ELEMENT_WISE_BIT_XOR", [self.first[:both], self.second[:both]], [self.target[:both]], ()),
                 ("ELEMENT_WISE_IDENTITY", [self.first[both:both + copied]], [self.target[both:both + copied]], ())]
        filled, read = self.target[reads:writes], self.first[:max(reads - 2 * writes, 0) // 4096 * 4096]
        steps.append(("FILL_VALUE_CONSTANT", [], [filled], (("ValueDataType", "INT32"), ("Value", 7))))
        found = self.target[:len(read) // 4096]
        steps.append(("REDUCE", [read.reshape(-1, 4096)], [found.reshape(-1, 1)], (("Function", "MAX"), ("Axes", (1,)))))
        runs = [self.anydml.compile(name, [(one, None, None) for one in inputs], [(one, None, None) for one in outputs],
                                    attributes) for name, inputs, outputs, attributes in steps if len(outputs[0])]

        def run():
            for one in runs:
                one()
        return run

    def by_c(self, reads, writes):
        source, target = self.first.ctypes.data, self.target.ctypes.data
        copied = min(reads, writes)

        def part(number):
            def share(count):
                begin = count * number // self.threads // 64 * 64
                return begin, (count if number == self.threads - 1 else count * (number + 1) // self.threads // 64 * 64) - begin
            begin, count = share(copied)
            ctypes.memmove(target + begin, source + begin, count)
            begin, count = share(max(writes - copied, 0))
            ctypes.memset(target + copied + begin, 0, count)
            begin, count = share(max(reads - copied, 0))
            self.c.memchr(ctypes.c_void_p(source + copied + begin), 255, ctypes.c_size_t(count))  # not found
        return lambda: list(self.pool.map(part, range(self.threads)))


def timed(run, arrays, launches):
    if arrays.device == "cuda":
        begin, end = (arrays.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            run()
        end.record()
        arrays.torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3 / launches
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def measure(runs, arrays, seconds):
    """Returns the minimum and the median time of each function. The calls alternate between the functions."""
    launches = []
    for run in runs:
        run()
        arrays.wait()
        begin = time.perf_counter()
        run()
        arrays.wait()
        launches.append(max(1, min(MAX_LAUNCHES, int(LAUNCHED_SECONDS / (time.perf_counter() - begin)))))
    times, end = [[] for _ in runs], time.perf_counter() + seconds
    while len(times[0]) < MIN_ROUNDS or (time.perf_counter() < end and len(times[0]) < MAX_ROUNDS):
        for run, count, of in zip(runs, launches, times):
            of.append(timed(run, arrays, count))
    return [(min(of), statistics.median(of)) for of in times]


def shapes_of(row):
    """Returns the sizes of the first tensor and of the first output."""
    inputs = [array for array in row.inputs if isinstance(array, Array)]
    shown = inputs[:1] + [array for array in row.outputs[:1] if not inputs or array.sizes != inputs[0].sizes]
    return " to ".join(" x ".join(f"{size:,}" for size in array.sizes) for array in shown)


def run_case(name, anydml, values, passes, seconds):
    from beside import Missing
    row = CASES[name]
    report = {"operator": name, "what": shapes_of(row)}
    inputs = values.inputs(row)
    outputs = [values.output(array) for array in row.outputs]
    while inputs and inputs[-1][0] is None:
        inputs.pop()
    try:
        run = anydml.compile(name, inputs, outputs, to_attributes(row.attributes))
    except Missing as missing:
        return {**report, "missing": str(missing)}
    reads = row.reads or sum(array.nbytes for array, *_ in inputs if array is not None)
    writes = sum(array.nbytes for array, *_ in outputs)
    (own, median), *others = measure([run, *passes.ways(reads, writes)], anydml.arrays, seconds)
    best, _ = min(others)
    elements = max(len(array.reshape(-1)) for array, *_ in (*inputs, *outputs) if array is not None)
    report |= {"elements": elements, "bytes": reads + writes, "seconds": own, "median_seconds": median, "pass_seconds": best,
               "fraction": best / own, "ns_per_element": own * 1e9 / elements}
    if row.flops:
        report["gflops"] = row.flops / own * 1e-9
    return report


def busy_share(begin):
    """Returns how many processors other processes kept busy on average since `begin`, an earlier result of times()."""
    total, own, clock = times()
    return max(0.0, (total - begin[0] - own + begin[1]) / (clock - begin[2]))


def times():
    ticks = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(one) for one in file.readline().split()[1:]]
    return (sum(numbers[:3]) + sum(numbers[5:8])) / ticks, time.process_time(), time.monotonic()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="all_operators.py [LIBANYDML] [options]")
    parser.add_argument("library", nargs="?", default=str(ROOT / "build" / "release" / "lib" / "libanydml.so"),
                        metavar="LIBANYDML", help="build/release/lib/libanydml.so by default")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="all by default")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds per case")
    parser.add_argument("--operators", type=items(CASES), default=list(CASES), help="DirectML's names, all by default")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not Path(options.library).exists():
        sys.exit(f"{options.library} does not exist: ./run builds it")
    os.environ["ANYDML_THREADS"] = str(options.threads)
    sys.path.insert(0, str(ROOT / "tests" / "ops"))
    from beside import Arrays, OfAnydml
    arrays = Arrays(options.device)
    anydml = OfAnydml(options.library, options.threads, arrays)
    values, passes, began = Values(arrays), Pass(anydml, arrays, options.threads), times()
    report = {**about("all_operators.py"), "device": options.device, "threads": options.threads, "library": anydml.title,
              "cases": []}
    if options.device == "cuda":
        report["gpu"] = arrays.torch.cuda.get_device_name()
    for name in options.operators:
        result = run_case(name, anydml, values, passes, options.seconds)
        report["cases"].append(result)
        report["others_busy_cores"] = round(busy_share(began), 2)
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        say(f"{name}: missing: {result['missing']}" if "missing" in result else
            f"{name}: {result['seconds'] * 1e3:.3f} ms, {result['fraction']:.0%} of the pass, {result['what']}")
    missing = [case["operator"] for case in report["cases"] if "missing" in case]
    print(f"{len(report['cases']) - len(missing)} of {len(report['cases'])} operators ran in "
          f"{time.monotonic() - began[2]:.0f} s; other processes used {report['others_busy_cores']} processors"
          + (f". Missing: {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
