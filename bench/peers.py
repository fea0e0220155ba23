#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares other libraries with anydml in a single run: time per element, and wrong answers from their modulus.

usage: peers.py [LIBANYDML] [options]       python3 bench/peers.py --json build/peers.json
                                            python3 bench/peers.py --operators all --no-counts --threads all

--operators: modulus by default; names of `dmlrun bench` (add, relu, reduce_sum, cast_int8), reduce, cast, or all. For
operators other than the modulus, NumPy and PyTorch are measured, if they implement the operator in a single pass.

NumPy, PyTorch and ONNX Runtime come from PyPI, in a separate virtual environment (build/peers), or with --no-venv from
the Python that runs this script. SLEEF is measured if its headers are installed (Debian: libsleef-dev), and the plain C
loop if a compiler is installed. Missing libraries are reported and skipped.

Times: the median over all rounds, for tensors of 64 MiB with ordinary data. The peers alternate and write to existing
memory. NumPy always uses one thread; the C loops are split among the threads in contiguous parts.

Wrong answers are found by comparison with anydml's, a sample of which is checked against the C library's fmod and
Python's integers. A result is wrong if any bit differs; all NaNs are equal, and +0 differs from -0. Integer divisors
are never zero, and the smallest number is never divided by -1, because some peers trap there.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

from peer_libraries import LAYOUTS, Anydml, Formula, NumPy, OnnxRuntime, PlainC, PyTorch, PyTorchCompiled, Sleef
from peer_operators import ROWS, make_inputs, make_output
from peer_run import ROOT, about, items, make_parser, python_of, run_again, say

PACKAGES = ("numpy", "torch", "onnxruntime", "onnx")
SEED = 1
OPERATORS = ("modulus_floor", "modulus_truncate")
TENSOR_BYTES = 64 << 20


def make_peers(options, threads):
    peers = [Anydml(options.library, threads)]
    kinds = [NumPy, PyTorch, PyTorchCompiled, OnnxRuntime, PlainC, Sleef, Formula]
    for kind in kinds:
        if kind is PyTorchCompiled and not options.compiled:
            continue
        try:
            peers.append(kind(threads))
        except Exception as error:  # if a peer cannot start, the other peers continue
            say(f"{kind.__name__} skipped: {error}")
    return peers


# ---- Operands -------------------------------------------------------------------------------------------------------

def operands(np, random, data, dtype, count):
    if data == "hard":
        size = count * np.dtype(dtype).itemsize
        arrays = [random.integers(0, 256, size, dtype=np.uint8).view(dtype) for _ in range(2)]
    elif np.issubdtype(dtype, np.floating):
        return random.normal(0, 100, count).astype(dtype), random.normal(0, 3, count).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        a = random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        b = random.integers(1, min(1000, limits.max), count, dtype=dtype, endpoint=True)
        if limits.min < 0:
            np.negative(b, out=b, where=random.integers(0, 2, count, dtype=np.uint8).astype(bool))
        arrays = [a, b]
    a, b = arrays
    if not np.issubdtype(dtype, np.floating):
        trapping = b == 0
        if np.iinfo(dtype).min < 0:
            trapping |= (b == -1) & (a == np.iinfo(dtype).min)
        b[trapping] = 3
    return a, b


def single_divisor(np, dtype):
    return np.array(math.e if np.issubdtype(dtype, np.floating) else 97, dtype=dtype)


def differ(np, actual, right):
    bits = np.dtype(f"u{right.itemsize}")
    different = actual.view(bits) != right.view(bits)
    if np.issubdtype(right.dtype, np.floating):
        different &= ~(np.isnan(actual) & np.isnan(right))
    return different


def independent(np, operator, a, b):
    """Computes the right answers independently of anydml, with C's fmod on doubles and with Python's integers."""
    floor = operator == "modulus_floor"
    if np.issubdtype(a.dtype, np.floating):
        x, y = a.astype(np.float64), b.astype(np.float64)
        m = np.fmod(x, y)
        if floor:
            m = np.where(m == 0, np.copysign(0.0, y), np.where(np.signbit(m) != np.signbit(y), m + y, m))
        return m.astype(a.dtype)
    results = []
    for x, y in zip(a.tolist(), b.tolist()):
        m = abs(x) % abs(y)
        results.append(x % y if floor else -m if x < 0 else m)
    return np.array(results, dtype=a.dtype)


# ---- Measuring ------------------------------------------------------------------------------------------------------

absent = {}  # the reasons why peers have no answer


def started(peer, type_name, operator, *arrays):
    """Returns the peer's function after a first run, or None if the peer lacks the operator or the type."""
    try:
        function = peer.prepare(type_name, operator, *arrays)
        if function is not None:
            function()
        return function
    except Exception as error:  # each library reports a missing kernel differently
        absent[f"{peer.key} {type_name} {operator}"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return None


def progress(text):
    if sys.stderr.isatty():
        say(text)


def measure_times(options, np, peers, types, threads):
    random = np.random.default_rng(SEED)
    rows = []
    size = options.bytes
    for type_name in options.types if set(OPERATORS) & set(options.operators) else ():
        dtype = types[type_name][1]
        count = size // np.dtype(dtype).itemsize
        for data in options.data:
            a, many = operands(np, random, data, dtype, count)
            out = np.zeros(count, dtype)
            for operator in (name for name in OPERATORS if name in options.operators):
                for layout in LAYOUTS:
                    b = many if layout == "tensor" else single_divisor(np, dtype)
                    running = [(peer, function) for peer in peers if getattr(peer, "timed", True)
                               for function in [started(peer, type_name, operator, a, b, out)] if function is not None]
                    samples = take_turns(options, [(peer.key, function) for peer, function in running])
                    rows += time_rows(samples, type=type_name, operator=operator, layout=layout, data=data,
                                      threads=threads, elements=count)
                    progress(f"  {threads} threads: {type_name} {operator} {layout} {data}")
    return rows


def take_turns(options, running):
    """Returns the seconds of each function, by key. The functions alternate until they have run for enough rounds and
    long enough."""
    samples = {key: [] for key, _ in running}
    begin = time.perf_counter()
    for turn in range(options.rounds * 10):
        if turn >= options.rounds and time.perf_counter() - begin >= options.min_time:
            break
        for key, function in running:
            # Two runs are enough if one run takes seconds.
            if turn >= 2 and sum(samples[key]) > 10 * options.min_time:
                continue
            before = time.perf_counter()
            function()
            samples[key].append(time.perf_counter() - before)
    return samples


def time_rows(samples, **about):
    own = statistics.median(samples["anydml"])
    count = about["elements"]
    return [dict(about, peer=key, ns_per_element=statistics.median(times) * 1e9 / count,
                 min_ns_per_element=min(times) * 1e9 / count, ratio=statistics.median(times) / own)
            for key, times in samples.items()]


def measure_rows(options, np, peers, types, threads):
    """Measures operators other than the modulus, in the libraries that have them."""
    rows = []
    able = [peer for peer in peers if getattr(peer, "prepare_row", None)]
    names = [name for name in options.operators if name in ROWS]
    for type_name in options.types if names else ():
        dtype = types[type_name][1]
        random = np.random.default_rng(SEED)
        built = {}  # inputs, keyed by the kind of values
        for name in names:
            row = ROWS[name]
            widest = max(np.dtype(dtype).itemsize, np.dtype(row.output or dtype).itemsize if name[:4] == "cast" else 1)
            count = options.bytes // widest // 4096 * 4096
            inputs = make_inputs(np, random, row, dtype, count, operands, built)
            for layout in row.layouts:
                running, own = [], None
                for peer in able:
                    out = make_output(np, row, dtype, count, layout)
                    function = started_row(peer, row, type_name, layout, inputs, out)
                    if function is not None:
                        running.append((peer.key, function))
                        own = out if own is None else own
                        if not alike(np, out, own):
                            differing[f"{peer.key} {type_name} {name} {layout}"] = differing_text(np, out, own)
                    elif peer.key == "anydml":
                        break
                if running:
                    rows += time_rows(take_turns(options, running), type=type_name, operator=name, layout=layout,
                                      data="ordinary", threads=threads, elements=count)
                    progress(f"  {threads} threads: {type_name} {name} {layout}")
    return rows


differing = {}  # peers whose results clearly differ from anydml's: they may compute something different


def alike(np, out, own):
    """Whether results are about the same, since libraries sum in different orders. Unwritten outputs are not
    compared."""
    if not out.any():
        return True
    with np.errstate(all="ignore"):
        return np.isclose(out.astype(np.float64), own.astype(np.float64), rtol=0.02, atol=0.02,
                          equal_nan=True).mean() > 0.99


def differing_text(np, out, own):
    position = int(np.argmax(out.ravel() != own.ravel()))
    return f"element {position}: {out.ravel()[position]}, anydml {own.ravel()[position]}"


def started_row(peer, row, type_name, layout, inputs, out):
    try:
        function = peer.prepare_row(row, layout, inputs, out)
        if function is not None:
            function()
        return function
    except Exception as error:  # each library reports a missing kernel differently
        absent[f"{peer.key} {type_name} {row.name}"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return None


def measure_wrong(options, np, peers, types):
    random = np.random.default_rng(SEED)
    rows = []
    for type_name in options.types:
        dtype = types[type_name][1]
        for data in ("ordinary", "hard"):
            a, b = operands(np, random, data, dtype, options.pairs)
            for operator in OPERATORS:
                right = np.zeros_like(a)
                peers[0].prepare(type_name, operator, a, b, right)()
                sample = slice(0, min(options.pairs, 400_000 if np.issubdtype(dtype, np.floating) else 100_000))
                own = int(differ(np, right[sample], independent(np, operator, a[sample], b[sample])).sum())
                rows.append({"type": type_name, "operator": operator, "data": data, "pairs": sample.stop,
                             "peer": "anydml", "wrong": own})
                for peer in peers[1:]:
                    out = np.zeros_like(a)
                    if started(peer, type_name, operator, a, b, out) is not None:
                        rows.append({"type": type_name, "operator": operator, "data": data, "pairs": options.pairs,
                                     "peer": peer.key, "wrong": int(differ(np, out, right).sum())})
            progress(f"  counted {type_name} {data}")
    return rows


def work(options):
    """Runs in a separate process, because some libraries read the number of threads only once."""
    import numpy as np
    sys.path.insert(0, str(ROOT / "tests" / "ops"))
    from numpy_oracle import TYPES
    np.seterr(all="ignore")
    peers = make_peers(options, options.work)
    result = {"titles": {peer.key: peer.title for peer in peers}, "short": {peer.key: peer.short for peer in peers},
              "times": [], "wrong": []}
    if options.count_here:
        result["wrong"] = measure_wrong(options, np, peers, TYPES)
    if options.times:
        result["times"] = measure_times(options, np, peers, TYPES, options.work)
        result["times"] += measure_rows(options, np, peers, TYPES, options.work)
    Path(options.result).write_text(json.dumps(dict(result, absent=absent, differing=differing)))


# ---- The report -----------------------------------------------------------------------------------------------------

def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for index, row in enumerate(rows):
        cells = [cell.ljust(width) if i < 3 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))


def print_times(report, threads):
    rows = [row for row in report["times"] if row["threads"] == threads]
    keys = [key for key in report["titles"] if any(row["peer"] == key for row in rows)]
    print(f"\nns per element with {threads} thread{'s' if threads > 1 else ''}, and the ratio to anydml\n")
    lines = [["type", "operator", "layout, data", *(report["short"][key] for key in keys)]]
    cases = dict.fromkeys((row["type"], row["operator"], row["layout"], row["data"]) for row in rows)
    for case in cases:
        cells = {row["peer"]: row for row in rows
                 if (row["type"], row["operator"], row["layout"], row["data"]) == case}
        line = [case[0], case[1], f"{case[2]}, {case[3]}"]
        for key in keys:
            if key not in cells:
                line.append("-")
            else:
                ratio = "" if key == "anydml" else f" ({cells[key]['ratio']:.1f})"
                line.append(f"{cells[key]['ns_per_element']:.3f}{ratio}")
        lines.append(line)
    table(lines)


def print_wrong(report):
    rows = report["wrong"]
    keys = [key for key in report["titles"] if any(row["peer"] == key for row in rows)]
    pairs = max(row["pairs"] for row in rows)
    print(f"\nwrong answers in {pairs:,} pairs (in a sample of them for anydml)\n")
    lines = [["type", "operator", "data", *(report["short"][key] for key in keys)]]
    for case in dict.fromkeys((row["type"], row["operator"], row["data"]) for row in rows):
        cells = {row["peer"]: f"{row['wrong']:,}" for row in rows
                 if (row["type"], row["operator"], row["data"]) == case}
        lines.append([*case, *(cells.get(key, "-") for key in keys)])
    table(lines)


ALL_TYPES = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")


def parse(arguments):
    cores = len(os.sched_getaffinity(0))

    def parse_operators(text):
        chosen = []
        for item in text.lower().split(","):
            groups = {"modulus": OPERATORS, "all": (*OPERATORS, *ROWS)}
            found = groups.get(item) or [name for name in (*OPERATORS, *ROWS) if name == item or
                                         (item in ("reduce", "cast") and name.startswith(item))]
            if not found:
                raise argparse.ArgumentTypeError(f"'{item}' is not one of modulus, reduce, cast, all, {', '.join(ROWS)}")
            chosen += found
        return chosen

    def thread_counts(text):
        return sorted({cores if item == "all" else int(item) for item in text.split(",")})

    parser = make_parser("peers.py", __doc__)
    parser.add_argument("--types", type=items(ALL_TYPES), default=list(ALL_TYPES))
    parser.add_argument("--operators", type=parse_operators, default=list(OPERATORS), help="modulus by default")
    parser.add_argument("--data", type=items(("ordinary", "hard")), default=["ordinary"], help="data for timing the modulus")
    parser.add_argument("--threads", type=thread_counts, default=sorted({1, cores}), help="1,all by default")
    parser.add_argument("--pairs", type=int, help="pairs to count wrong answers in (4,000,000; quick: 200,000)")
    parser.add_argument("--bytes", type=int, help="size of a timed tensor (64 MiB; quick: 1 MiB)")
    parser.add_argument("--min-time", type=float, help="minimum seconds per case (0.3; quick: 0.02)")
    parser.add_argument("--quick", action="store_true", help="small tensors and few rounds, as a smoke test")
    parser.add_argument("--no-times", dest="times", action="store_false")
    parser.add_argument("--no-counts", dest="counts", action="store_false")
    parser.add_argument("--no-compiled", dest="compiled", action="store_false", help="without torch.compile")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--count-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.pairs = options.pairs or (200_000 if options.quick else 4_000_000)
    options.bytes = options.bytes or (1 << 20 if options.quick else TENSOR_BYTES)
    options.rounds = 2 if options.quick else 5
    options.min_time = options.min_time or (0.02 if options.quick else 0.3)
    options.counts = options.counts and bool(set(OPERATORS) & set(options.operators))
    options.compiled = options.compiled and bool(set(OPERATORS) & set(options.operators))
    return options


def main():
    options = parse(sys.argv[1:])
    if options.work:
        return work(options)
    python = python_of(options, PACKAGES)
    report = {**about("peers.py"), "titles": {}, "short": {}, "tensor_bytes": options.bytes, "times": [], "wrong": [],
              "absent": {}, "differing": {}}
    counts = options.threads if options.times else options.threads[-1:]
    for threads in counts:
        arguments = ["--work", str(threads)] + (["--count-here"] if options.counts and threads == counts[-1] else [])
        part = run_again(python, arguments, {"ANYDML_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)})
        if part is None:
            sys.exit(f"measuring the peers with {threads} threads failed")
        for key in ("titles", "short", "absent", "differing"):
            report[key].update(part[key])
        report["times"] += part["times"]
        report["wrong"] += part["wrong"]

    print(f"{report['cpu']} ({report['architecture']}), {report['c_library']}, Python {report['python']}")
    for key, title in report["titles"].items():
        print(f"  {report['short'][key]:10} {title}")
    if options.times:
        for threads in counts:
            print_times(report, threads)
    if options.counts:
        print_wrong(report)
    for key, text in report["differing"].items():
        print(f"differs from anydml: {key}: {text}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if any(row["peer"] == "anydml" and row["wrong"] for row in report["wrong"]):
        sys.exit("anydml has wrong answers")


if __name__ == "__main__":
    main()
