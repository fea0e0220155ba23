#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the times of functions in anydml and other libraries, measured alternately in one run: ns per element.

usage: function_speed.py [LIBANYDML] [options]      python3 bench/function_speed.py --json build/function_speed.json
                                                    python3 bench/function_speed.py --functions exp,sin --kinds all

The pass copies the same bytes with the same number of threads. NumPy always uses one thread. The C loop calls the C
library's function for each element, and SLEEF's loop calls its 1-ULP function for each vector; both loops are split
among the threads. SLEEF is measured if its headers are installed (Debian: libsleef-dev). PyTorch's activations allocate
new outputs for each call, as in most programs; everything else writes to preallocated memory.

Kinds of data: ordinary numbers; huge numbers; subnormals; NaN; infinities. The last four are measured only for anydml,
to show how much longer they take than ordinary numbers.

The libraries come from PyPI, in a separate virtual environment (build/peers), or with --no-venv from the Python that
runs this script. Missing libraries are reported and skipped.
"""
import ctypes
import json
import os
import platform
import sys
from pathlib import Path

from functions import FUNCTIONS, found
from peer_libraries import CLoops, Sleef
from peer_run import ROOT, about, items, make_parser, python_of, run_again, say
from peers import take_turns, time_rows

PACKAGES = ("numpy", "torch")
SEED = 1
TYPES = ("FLOAT32", "FLOAT16")
KINDS = ("ordinary", "huge", "subnormal", "nan", "infinite")
# The ranges of ordinary numbers, for functions that do not use -4 to 4.
RANGES = {"log": [(0.01, 100)], "asin": [(-1, 1)], "acos": [(-1, 1)], "acosh": [(1, 100)], "atanh": [(-0.99, 0.99)],
          "pow": [(0.1, 10), (-4, 4)], "atan2": [(-4, 4), (-4, 4)]}
# C expressions in x and y. The C names of other functions are their own names with the suffix f.
FORMULAS = {"sigmoid": "1 / (1 + expf(-x))", "silu": "x / (1 + expf(-x))", "softplus": "log1pf(expf(x))",
            "gelu": "0.5f * x * (1 + erff(x * 0.70710678f))", "elu": "x >= 0 ? x : expm1f(x)",
            "celu": "x >= 0 ? x : expm1f(x)", "selu": "1.05070102f * (x > 0 ? x : 1.67326319f * expm1f(x))",
            "softsign": "x / (1 + fabsf(x))"}


class Pass(CLoops):
    """Reads the operands and writes the same number of elements."""
    key, title = "pass", "a pass"
    SOURCE = """#include <stddef.h>
#include <stdint.h>
#include <string.h>
void one(char* restrict out, const char* restrict a, const char* restrict b, size_t n) { memcpy(out, a, n); }
void two(char* restrict out, const char* restrict a, const char* restrict b, size_t n) {
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t x, y;
    memcpy(&x, a + i, 8), memcpy(&y, b + i, 8), x += y, memcpy(out + i, &x, 8);
  }
}
"""

    def prepare(self, name, type_name, inputs, out):
        library = self.compile(self.SOURCE, "passes")
        if library is None:
            return None
        arrays = [array.view("u1") for array in inputs]
        return self.shared(getattr(library, "one" if len(inputs) == 1 else "two"), arrays[0], arrays[-1], out.view("u1"))


class Anydml:
    key = "anydml"

    def __init__(self, library, version):
        self.library, self.title = library, f"anydml {version}"

    def prepare(self, name, type_name, inputs, out):
        function = FUNCTIONS[name]
        return lambda: self.library.run(function.op, inputs, out, function.attributes)


class NumPy:
    key = "numpy"

    def __init__(self):
        import numpy
        self.numpy, self.title = numpy, f"NumPy {numpy.__version__}, one thread"

    def prepare(self, name, type_name, inputs, out):
        if not FUNCTIONS[name].numpy:
            return None
        function = found(self.numpy, FUNCTIONS[name].numpy)
        return lambda: function(*inputs, out=out)


class PyTorch:
    key = "torch"

    def __init__(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.title = torch, f"PyTorch {torch.__version__.partition('+')[0]}"

    def prepare(self, name, type_name, inputs, out):
        given = [self.torch.from_numpy(array) for array in inputs]
        function = found(self.torch, FUNCTIONS[name].torch)
        function(*given)
        if isinstance(FUNCTIONS[name].torch, str):  # the activations allocate new outputs
            to = self.torch.from_numpy(out)
            return lambda: function(*given, out=to)
        return lambda: function(*given)


class CLibrary(CLoops):
    key = "c"

    def __init__(self, threads):
        super().__init__(threads)
        self.title = f"{' '.join(platform.libc_ver())} in a loop"

    def prepare(self, name, type_name, inputs, out):
        if type_name != "FLOAT32":
            return None
        formula = FORMULAS.get(name, f"{name}f(x)" if len(inputs) == 1 else f"{name}f(x, y)")
        y = "const float y = b[i]; " if len(inputs) == 2 else ""
        library = self.compile(f"""#include <math.h>
#include <stddef.h>
void run(float* restrict out, const float* restrict a, const float* restrict b, size_t n) {{
  for (size_t i = 0; i < n; ++i) {{ const float x = a[i]; {y}out[i] = {formula}; }}
}}
""", name)
        return None if library is None else self.shared(library.run, inputs[0], inputs[-1], out)


class SleefFunctions(Sleef):
    def prepare(self, name, type_name, inputs, out):
        target, flags, header, kinds = self.target
        if type_name != "FLOAT32" or name in FORMULAS:
            return None
        vector, lanes, load, store, function = kinds[type_name]
        function = f"Sleef_{name}f{lanes}_u10{function.rpartition('_')[2]}"
        more = f", {load}(b + i)" if len(inputs) == 2 else ""
        library = self.compile(f"""#include <{header}>
#include <stddef.h>
#include <sleef.h>
void run(float* restrict out, const float* restrict a, const float* restrict b, size_t n) {{
  for (size_t i = 0; i + {lanes} <= n; i += {lanes}) {{ {store}(out + i, {function}({load}(a + i){more})); }}
}}
""", name, (*flags, "-lsleef"))
        return None if library is None else self.shared(library.run, inputs[0], inputs[-1], out)


def make_inputs(np, random, name, dtype, count, kind):
    ranges = RANGES.get(name, [(-4, 4)] * len(FUNCTIONS[name].ranges))
    arrays = [random.uniform(low, high, count).astype(np.float32).astype(dtype) for low, high in ranges]
    low = ranges[0][0]
    if kind == "huge":
        lowest, most = (9, 15) if dtype == np.float16 else (30, 127)
        arrays[0] = np.exp2(random.uniform(lowest, most, count)).astype(dtype)
    elif kind == "subnormal":
        arrays[0] = (np.finfo(dtype).smallest_subnormal * random.integers(1, 1000, count)).astype(dtype)
    elif kind == "nan":
        arrays[0] = np.full(count, np.nan, dtype)
    elif kind == "infinite":
        arrays[0] = np.full(count, np.inf, dtype)
    if kind in ("huge", "subnormal", "infinite") and low < 0:
        arrays[0] *= random.choice(np.array([-1, 1], dtype), count)
    return arrays


def work(options):
    """Runs in the Python interpreter of the virtual environment."""
    import numpy as np
    sys.path.insert(0, str(ROOT / "tests" / "ops"))
    from numpy_oracle import Library
    np.seterr(all="ignore")
    library = Library(options.library)
    library.handle.anydml_version.restype = ctypes.c_char_p
    peers = [Anydml(library, library.handle.anydml_version().decode())]
    for start in (lambda: Pass(options.threads), NumPy, lambda: PyTorch(options.threads),
                  lambda: SleefFunctions(options.threads), lambda: CLibrary(options.threads)):
        try:
            peers.append(start())
        except Exception as error:  # if a peer cannot start, the other peers continue
            say(f"skipped: {error}")
    rows = []
    for type_name in options.types:
        for name in options.functions:
            dtype = np.dtype(type_name.lower())
            for kind in options.kinds:
                inputs = make_inputs(np, np.random.default_rng(SEED), name, dtype, options.elements, kind)
                out = np.zeros(options.elements, dtype)
                running = []
                for peer in peers[:2] if kind != "ordinary" else peers:
                    try:
                        function = peer.prepare(name, type_name, inputs, out)
                        if function is not None:
                            function()
                            running.append((peer.key, function))
                    except Exception as error:  # each library reports a missing kernel differently
                        say(f"{peer.key} {name} {type_name} skipped: {str(error).splitlines()[0][:100]}")
                if not running or running[0][0] != "anydml":
                    continue
                rows += time_rows(take_turns(options, running), function=name, type=type_name, kind=kind,
                                  threads=options.threads, elements=options.elements)
            say(f"  {name} {type_name}")
    Path(options.result).write_text(json.dumps({"titles": {peer.key: peer.title for peer in peers}, "rows": rows}))


def markdown(report, type_name):
    rows = [row for row in report["rows"] if row["type"] == type_name and row["kind"] == "ordinary"]
    keys = [key for key in report["titles"] if any(row["peer"] == key for row in rows)]
    lines = [f"| {type_name}, ns per element | of the pass | " + " | ".join(report["titles"][key] for key in keys) + " |",
             "|---" * (len(keys) + 2) + "|"]
    for name in dict.fromkeys(row["function"] for row in rows):
        times = {row["peer"]: row["ns_per_element"] for row in rows if row["function"] == name}
        others = [time for key, time in times.items() if key not in ("anydml", "pass")]
        shown = {key: f"{time:.2f}" for key, time in times.items()}
        if all(times["anydml"] <= time for time in others):
            shown["anydml"] = f"**{shown['anydml']}**"
        of_pass = f"{100 * times['pass'] / times['anydml']:.0f} %" if "pass" in times else "–"
        lines.append(f"| {name} | {of_pass} | " + " | ".join(shown.get(key, "–") for key in keys) + " |")
    return "\n".join(lines) + "\n"


def markdown_kinds(report, type_name, kinds):
    rows = {(row["function"], row["kind"]): row["ns_per_element"] for row in report["rows"]
            if row["type"] == type_name and row["peer"] == "anydml"}
    lines = [f"| {type_name}, relative to ordinary numbers | " + " | ".join(kinds[1:]) + " |",
             "|---" * len(kinds) + "|"]
    for name in dict.fromkeys(name for name, _ in rows):
        lines.append(f"| {name} | " + " | ".join(f"{rows[name, kind] / rows[name, 'ordinary']:.1f}" for kind in kinds[1:])
                     + " |")
    return "\n".join(lines) + "\n"


def parse(arguments):
    parser = make_parser("function_speed.py", __doc__)
    parser.add_argument("--functions", type=items(FUNCTIONS), default=list(FUNCTIONS), help="all by default")
    parser.add_argument("--types", type=items(TYPES), default=list(TYPES))
    parser.add_argument("--kinds", type=items(KINDS), default=["ordinary"], help="kinds of data: " + ", ".join(KINDS))
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="all by default")
    parser.add_argument("--rounds", type=int, default=5, help="minimum number of rounds")
    parser.add_argument("--min-time", type=float, default=0.5, help="minimum seconds per function")
    options = parser.parse_args(arguments)
    if options.kinds[0] != "ordinary":
        options.kinds = ["ordinary", *(kind for kind in options.kinds if kind != "ordinary")]
    return options


def main():
    options = parse(sys.argv[1:])
    if options.result:
        return work(options)
    part = run_again(python_of(options, PACKAGES), environment={"ANYDML_THREADS": str(options.threads)})
    if part is None:
        sys.exit("measuring the functions failed")
    report = {**about("function_speed.py"), **part}
    print(f"{report['cpu']} ({report['architecture']}), {options.threads} threads, {options.elements:,} elements\n")
    for type_name in options.types:
        print(markdown(report, type_name))
        if len(options.kinds) > 1:
            print(markdown_kinds(report, type_name, options.kinds))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
