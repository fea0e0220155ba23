# SPDX-License-Identifier: MIT
"""Compares the speed and counts the wrong answers of anydml, NumPy, PyTorch and ONNX Runtime, if they are installed.

Times are for whole tensors, with results written to memory that is already allocated. The libraries run alternately,
each with its default number of threads, and the median of the runs is reported. A library that has run for three
seconds in a case is not run again in that case.

A result is wrong if any bit differs. All NaNs count as one value, and +0 and -0 count as two. The reference answers do
not come from anydml. For floats they come from numpy.fmod, which calls the C library; floor adds the divisor if the
signs differ. For integers they are the remainders of the magnitudes with the sign restored; a sample is compared with
Python's own integers. Integer data has no zero divisors, and never divides the smallest number by -1, because some
libraries crash in these cases.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import anydml
from anydml._pipes import exit_with

TYPES = ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
OPERATORS = ("floor", "truncate")
DATA = {"ordinary": "floats: a from N(0, 100), b from N(0, 3); integers: a from the whole range, |b| from 1 to 1000",
        "bits": "random bits, including infinities, NaN and subnormals, with exponents far apart"}
SEED = 1
MAX_SECONDS = 3.0  # the time limit for one library in one case
MIN_SAMPLE = 2e-3  # in seconds; shorter runs are repeated
SMALL = 16  # the number of elements in a small call


class Unsupported(Exception):
    """Raised if the library does not have the operator for the type."""


# ---- The libraries --------------------------------------------------------------------------------------------------
# A library's prepare() returns a function that computes into `out`, or raises the library's own error.

class Anydml:
    key, name = "anydml", "anydml"

    def __init__(self):
        self.version, self.threads = anydml.__version__, anydml.adapters()[0]["threads"]

    def prepare(self, operator, a, b, out):
        function = anydml.modulus_floor if operator == "floor" else anydml.modulus_truncate
        return lambda: function(a, b, out=out)


class NumPy:
    key, name = "numpy", "NumPy"

    def __init__(self):
        self.version, self.threads = np.__version__, 1

    def prepare(self, operator, a, b, out):
        function = np.remainder if operator == "floor" else np.fmod
        return lambda: function(a, b, out=out)


class PyTorch:
    key, name = "torch", "PyTorch"

    def __init__(self):
        import torch
        self.torch, self.version, self.threads = torch, torch.__version__, torch.get_num_threads()

    def prepare(self, operator, a, b, out):
        function = self.torch.remainder if operator == "floor" else self.torch.fmod
        x, y, z = (self.torch.from_numpy(array) for array in (a, b, out))
        return lambda: function(x, y, out=z)


class OnnxRuntime:
    """The operator Mod, which supports floats only with fmod=1. The model is built by hand, so onnx need not be installed."""
    key, name = "onnxruntime", "ONNX Runtime"
    NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "float16": 10,
               "float64": 11, "uint32": 12, "uint64": 13}

    def __init__(self):
        import onnxruntime
        self.runtime, self.version, self.threads = onnxruntime, onnxruntime.__version__, None  # the library does not report it

    def model(self, dtype, fmod):
        def field(number, value):  # as in protocol buffers: a number, or a length and that many bytes
            if isinstance(value, int):
                return bytes((number << 3 & 0x7F | (0x80 if number > 15 else 0), *((1,) if number > 15 else ()), value))
            return bytes((number << 3 | 2, len(value))) + value

        def tensor(name):
            shape = field(1, field(2, b"n"))
            return field(1, name) + field(2, field(1, field(1, self.NUMBERS[dtype]) + field(2, shape)))
        attribute = field(1, b"fmod") + field(3, fmod) + field(20, 2)
        node = field(1, b"a") + field(1, b"b") + field(2, b"c") + field(4, b"Mod") + field(5, attribute)
        graph = field(1, node) + field(2, b"mod") + field(11, tensor(b"a")) + field(11, tensor(b"b"))
        return field(1, 8) + field(7, graph + field(12, tensor(b"c"))) + field(8, field(1, b"") + field(2, 13))

    def prepare(self, operator, a, b, out):
        if a.dtype.kind == "f" and operator == "floor":
            raise Unsupported("for floats, Mod is defined only with fmod=1, which truncates")
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        model = self.model(a.dtype.name, int(operator == "truncate"))
        session = self.runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in (("a", a), ("b", b)):
            binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        binding.bind_output("c", "cpu", 0, out.dtype.type, out.shape, out.ctypes.data)
        return lambda: session.run_with_iobinding(binding)


def find_libraries():
    """Returns the installed libraries, and for each missing library the reason why it is missing."""
    here, absent = [], {}
    for kind in (Anydml, NumPy, PyTorch, OnnxRuntime):
        progress(f"loading {kind.name}")
        try:
            here.append(kind())
        except Exception as error:  # a broken library must not stop the comparison
            missing = isinstance(error, ModuleNotFoundError) and error.name == kind.key
            absent[kind.name] = "not installed" if missing else f"{type(error).__name__}: {error}".splitlines()[0]
    return here, absent


# ---- Operands and reference answers ---------------------------------------------------------------------------------

def operands(random, data, dtype, count):
    dtype = np.dtype(dtype)
    if data == "bits":
        words = -(-count * dtype.itemsize // 8)
        a, b = (random.integers(0, 2 ** 64, words, dtype=np.uint64).view(dtype)[:count] for _ in range(2))
    elif dtype.kind == "f":
        return random.normal(0, 100, count).astype(dtype), random.normal(0, 3, count).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        a = random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        b = random.integers(1, min(1000, limits.max), count, dtype=dtype, endpoint=True)
        if limits.min < 0:
            np.negative(b, out=b, where=random.integers(0, 2, count, dtype=np.uint8).astype(bool))
    if dtype.kind != "f":
        trapping = b == 0
        if dtype.kind == "i":
            trapping |= (b == -1) & (a == np.iinfo(dtype).min)
        b[trapping] = 3
    return a, b


def right_answers(operator, a, b):
    """Computes the answers without anydml's arithmetic."""
    if a.dtype.kind == "f":
        r = np.fmod(a, b)
        if operator == "truncate":
            return r
        return np.where(r == 0, np.copysign(a.dtype.type(0), b), np.where(np.signbit(r) != np.signbit(b), r + b, r))
    if a.dtype.kind == "u":
        return (a.astype(np.uint64) % b.astype(np.uint64)).astype(a.dtype)
    # Magnitudes as uint64, which can also represent the magnitude of the smallest number.
    x, y = (np.where(array < 0, np.uint64(0) - array.astype(np.uint64), array.astype(np.uint64)) for array in (a, b))
    m = x % y
    if operator == "truncate":
        m = np.where(a < 0, np.uint64(0) - m, m)
    else:
        differ = (a < 0) != (b < 0)
        m = np.where(differ & (m != 0), y - m, m)  # give the result the divisor's sign
        m = np.where(b < 0, np.uint64(0) - m, m)
    return m.view(np.int64).astype(a.dtype)


def by_python(operator, a, b):
    """Computes the answers with Python's own integers."""
    def truncate(x, y):
        return -(-x % abs(y)) if x < 0 else x % abs(y)
    values = [x % y if operator == "floor" else truncate(x, y) for x, y in zip(a.tolist(), b.tolist())]
    return np.array(values, a.dtype)


def count_wrong(actual, right):
    """Counts wrong results chunk by chunk, to save memory."""
    wrong, bits = 0, np.dtype(f"u{right.itemsize}")
    for start in range(0, right.size, 1 << 20):
        x, y = actual[start:start + (1 << 20)], right[start:start + (1 << 20)]
        different = x.view(bits) != y.view(bits)
        if right.dtype.kind == "f":
            different &= ~(np.isnan(x) & np.isnan(y))
        wrong += int(np.count_nonzero(different))
    return wrong


def make_right(operator, a, b):
    """Computes the reference answers for all pairs in chunks."""
    right = np.empty_like(a)
    for start in range(0, a.size, 1 << 20):
        piece = slice(start, start + (1 << 20))
        right[piece] = right_answers(operator, a[piece], b[piece])
    sample = slice(0, 10_000)
    if a.dtype.kind != "f" and not np.array_equal(right[sample], by_python(operator, a[sample], b[sample])):
        sys.exit(f"{a.dtype} {operator}: NumPy's integer results differ from Python's here, so nothing can be counted")
    return right


# ---- Measuring ------------------------------------------------------------------------------------------------------

def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def sample(function, repeat):
    time.sleep(0.005)  # the previous library's threads may still spin for a while
    before = time.perf_counter()
    for _ in range(repeat):
        function()
    return (time.perf_counter() - before) / repeat


def take_turns(functions, rounds, title):
    """Returns times in seconds for each function. `seconds` is how long the function's first run took."""
    samples = {key: [] for key in functions}
    for turn in range(rounds):
        for key, (function, seconds) in functions.items():
            if turn == 0 or sum(samples[key]) < MAX_SECONDS:
                progress(f"{title}: run {turn + 1} of {rounds}, {key}")
                samples[key].append(sample(function, max(1, int(MIN_SAMPLE / max(seconds, 1e-7)))))
    return samples


def measure(options, libraries):
    random = np.random.default_rng(SEED)
    cases, unsupported = [], []
    for dtype in options.types:
        progress(f"{dtype}: operands")
        a, b = operands(random, options.data, dtype, options.elements)
        out = np.empty_like(a)
        for operator in OPERATORS:
            title = f"{dtype} {operator}"
            progress(f"{title}: reference answers")
            right = make_right(operator, a, b)
            ready, wrong = {}, {}
            for library in libraries:
                progress(f"{title}: {library.name}")
                out.fill(1)
                try:
                    function = library.prepare(operator, a, b, out)
                    function()
                except Exception as error:  # each library reports a missing kernel in its own way
                    unsupported.append({"library": library.key, "type": dtype, "operator": operator,
                                        "reason": f"{type(error).__name__}: {error}".splitlines()[0][:200]})
                    continue
                wrong[library.key] = count_wrong(out, right)
                before = time.perf_counter()
                function()
                ready[library.key] = function, time.perf_counter() - before
            samples = take_turns(ready, options.rounds, title)
            own = statistics.median(samples["anydml"])
            for key, seconds in samples.items():
                median = statistics.median(seconds)
                cases.append({"library": key, "type": dtype, "operator": operator, "wrong": wrong[key],
                              "ns_per_element": median * 1e9 / options.elements,
                              "min_ns_per_element": min(seconds) * 1e9 / options.elements,
                              "times_anydml": median / own, "runs": len(seconds)})
    return cases, unsupported


def measure_small(libraries):
    """Returns the time in microseconds of a call on 16 float32 elements that returns a new array."""
    a, b = operands(np.random.default_rng(SEED), "ordinary", "float32", SMALL)
    calls = {"anydml.modulus_floor": lambda: anydml.modulus_floor(a, b), "numpy.remainder": lambda: np.remainder(a, b)}
    torch = next((library.torch for library in libraries if library.key == "torch"), None)
    if torch is not None:
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        calls["torch.remainder"] = lambda: torch.remainder(x, y)
        calls["anydml.modulus_floor of torch tensors"] = lambda: anydml.modulus_floor(x, y)
    samples = {name: [] for name in calls}
    for turn in range(7):
        for name, call in calls.items():
            progress(f"{SMALL} elements: {name}")
            sample(call, 100)
            samples[name].append(sample(call, 2000))
    return [{"call": name, "microseconds": statistics.median(seconds) * 1e6} for name, seconds in samples.items()]


def machine():
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("Model name")]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": names[0] if names else platform.processor() or platform.machine(), "cores": cores,
            "python": platform.python_version(), "c_library": " ".join(platform.libc_ver())}


# ---- The report -----------------------------------------------------------------------------------------------------

def table(rows, left=2):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def print_cases(report, title, cell):
    keys = list(report["libraries"])
    cells = {(case["type"], case["operator"], case["library"]): cell(case) for case in report["cases"]}
    print(f"\n{title}\n")
    table([["", "", *(report["libraries"][key]["name"] for key in keys)],
           *([dtype if operator == "floor" else "", operator, *(cells.get((dtype, operator, key), "-") for key in keys)]
             for dtype in report["types"] for operator in OPERATORS)])


def print_head(report):
    here = report["machine"]
    print(f"{here['cpu']}, {here['cores']} cores; Python {here['python']}, {here['c_library']}")
    for library in report["libraries"].values():
        threads = library["threads"]
        threads = "default number of threads" if threads is None else f"{threads} thread{'s' if threads > 1 else ''}"
        print(f"  {library['name']} {library['version']}, {threads}")
    for name, reason in report["absent"].items():
        print(f"  {name}: absent ({reason})")
    print(f"{report['elements']:,} elements, {report['data']} data\n  {DATA[report['data']]}", flush=True)


def print_report(report):
    def time_cell(case):
        times = "" if case["library"] == "anydml" else f" ({case['times_anydml']:.1f}x)"
        return f"{case['ns_per_element']:.2f}{times}"
    print_cases(report, f"ns per element, and the ratio to anydml; median of {report['rounds']} alternating runs",
                time_cell)
    print_cases(report, f"wrong answers of {report['elements']:,}", lambda case: f"{case['wrong']:,}")
    print(f"\na call on {SMALL} float32 elements that returns a new array, µs\n")
    table([[one["call"], f"{one['microseconds']:.2f}"] for one in report["small_call"]], left=1)
    wrong = sum(case["wrong"] for case in report["cases"] if case["library"] == "anydml")
    count = sum(report["elements"] for case in report["cases"] if case["library"] == "anydml")
    print(f"\nanydml: {wrong:,} wrong of {count:,} answers")
    return 1 if wrong else 0


def plot(report, path):
    """Draws bars by type; shorter is better, and hatched bars have wrong answers."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    colors = {"anydml": "#0072b2", "numpy": "#e69f00", "torch": "#d55e00", "onnxruntime": "#009e73"}
    keys, types = list(report["libraries"]), report["types"]
    figure, both = pyplot.subplots(2, 1, figsize=(3 + 0.9 * len(types), 6.4), sharex=True)
    for axes, operator in zip(both, OPERATORS):
        for case in report["cases"]:
            if case["operator"] == operator:
                position = types.index(case["type"])
                position += (keys.index(case["library"]) - (len(keys) - 1) / 2) * 0.8 / len(keys)
                axes.bar(position, case["ns_per_element"], 0.74 / len(keys), color=colors[case["library"]],
                         edgecolor="white", linewidth=0, hatch="////" if case["wrong"] else None)
                short = f"{float(format(case['ns_per_element'], '.2g')):g}"
                axes.text(position, case["ns_per_element"] * 1.1, short, ha="center", va="bottom", fontsize=6, rotation=90,
                          color="#444444")
        axes.set_yscale("log")
        axes.set_ylim(axes.get_ylim()[0], axes.get_ylim()[1] * 2.5)
        axes.set_ylabel("ns per element (log)")
        axes.set_title(f"modulus, {operator}", loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    both[1].set_xticks(range(len(types)), types)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colors[key]) for key in keys]
    names = [f"{report['libraries'][key]['name']} {report['libraries'][key]['version']}" for key in keys]
    if any(case["wrong"] for case in report["cases"]):
        handles.append(pyplot.Rectangle((0, 0), 1, 1, facecolor="#bbbbbb", edgecolor="white", hatch="////",
                                        linewidth=0))
        names.append("hatched: has wrong answers")
    figure.legend(handles, names, ncols=3, loc="lower center", bbox_to_anchor=(0.5, -0.04), frameon=False, fontsize=9)
    figure.suptitle(f"{report['machine']['cpu']}, {report['machine']['cores']} cores: {report['elements']:,} elements, "
                    f"{report['data']} data; lower is better", fontsize=11)
    figure.savefig(path, bbox_inches="tight", dpi=130)


def parse(arguments):
    def count(text):
        if not text.isdigit() or int(text) == 0:
            raise argparse.ArgumentTypeError(f"'{text}' is not a positive integer")
        return int(text)

    def types(text):
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in TYPES]
        if unknown:
            raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not one of {', '.join(TYPES)}")
        return [name for name in TYPES if name in chosen]

    parser = argparse.ArgumentParser(prog="python -m anydml.compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=count, metavar="N", help="elements of an array (2^24; with --quick 2^18)")
    parser.add_argument("--quick", action="store_true", help="2^18 elements: seconds rather than minutes")
    parser.add_argument("--data", choices=DATA, default="ordinary",
                        help=". ".join(f"{name}: {text}" for name, text in DATA.items()))
    parser.add_argument("--types", type=types, default=list(TYPES), metavar="T,T", help="all eleven by default")
    parser.add_argument("--rounds", type=count, default=5, metavar="N", help="turns of each library (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results to this file")
    parser.add_argument("--plot", type=Path, metavar="FILE",
                        help="draw the times to this file, .svg or .png (needs matplotlib)")
    options = parser.parse_args(arguments)
    options.elements = options.elements or (1 << 18 if options.quick else 1 << 24)
    if options.plot is not None:
        if options.plot.suffix not in (".svg", ".png"):
            parser.error(f"--plot {options.plot}: the name must end in .svg or .png")
        try:
            version("matplotlib")
        except PackageNotFoundError:
            parser.error("--plot needs matplotlib, which is not installed: pip install matplotlib")
    for path in (options.json, options.plot):
        if path is not None and not path.absolute().parent.is_dir():
            parser.error(f"{path}: the folder {path.parent} does not exist")
    return options


def main(arguments=None):
    options = parse(arguments)
    libraries, absent = find_libraries()
    progress("")
    report = {"program": "anydml.compare", "machine": machine(), "elements": options.elements, "data": options.data,
              "rounds": options.rounds, "seed": SEED, "types": options.types, "absent": absent,
              "libraries": {one.key: {"name": one.name, "version": one.version, "threads": one.threads}
                            for one in libraries}}
    print_head(report)
    try:
        with np.errstate(all="ignore"):
            report["cases"], report["unsupported"] = measure(options, libraries)
            report["small_call"] = measure_small(libraries)
    except KeyboardInterrupt:
        progress("")
        return 130
    progress("")
    status = print_report(report)
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if options.plot is not None:
        plot(report, options.plot)
    return status


if __name__ == "__main__":
    exit_with(main)
