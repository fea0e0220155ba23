#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other libraries' modulus beside anydml's, in one run: time per element, and wrong answers.

usage: peers.py [LIBANYDML] [options]       python3 bench/peers.py --json build/peers.json

NumPy, PyTorch and ONNX Runtime are those of PyPI, in a virtual environment of its own (build/peers); with --no-venv
those of the Python that runs this. SLEEF is measured where its headers are installed (Debian: libsleef-dev), the plain
loop in C where a compiler is. What is missing is named and left out.

Times: tensors of 64 MiB, ordinary data, peers in turn, the median of the rounds. Every peer writes into memory that is
there already. NumPy has one thread always; the C loops are shared among the threads in contiguous parts.

Wrong answers: against anydml's, which is itself held against the C library's fmod and Python's integers on a sample.
Any bit that differs is wrong, NaN being one class and +0 and -0 two values. Integers: without zero divisors and without
the least number by -1, where some peers trap.
"""
import argparse
import ctypes
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "torch", "onnxruntime", "onnx", "matplotlib")  # the last for plot.py
SEED = 1
OPERATORS = ("modulus_floor", "modulus_truncate")
LAYOUTS = ("tensor", "scalar")
TENSOR_BYTES = 64 << 20


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- The environment ------------------------------------------------------------------------------------------------

def importable(python, package):
    return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0


def make_environment(folder):
    """The Python of a virtual environment with the peers in it; one that cannot be had is named."""
    python = folder / "bin" / "python"
    if not python.exists():
        say(f"making a virtual environment in {folder}")
        if subprocess.run([sys.executable, "-m", "venv", str(folder)]).returncode != 0:
            sys.exit("no virtual environment can be made (Debian: python3-venv); --no-venv goes without")
    for package in PACKAGES:
        if not importable(str(python), package):
            say(f"installing {package}")
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
            if subprocess.run(command).returncode != 0:
                say(f"{package} cannot be installed: left out")
    return str(python)


# ---- Peers ----------------------------------------------------------------------------------------------------------
# A peer has a title, and prepare(), which gives a function that computes into `out`; None if it has no such operator.
# Types by DirectML's names; arrays are NumPy's, and for layout "scalar" b has no dimensions.

class Anydml:
    key, short = "anydml", "anydml"

    def __init__(self, path, threads):
        self.handle = ctypes.CDLL(path)
        self.handle.anydml_last_error.restype = ctypes.c_char_p
        self.handle.anydml_version.restype = ctypes.c_char_p
        self.title = f"anydml {self.handle.anydml_version().decode()}"

    def prepare(self, type_name, operator, a, b, out):
        from numpy_oracle import TYPES, Tensor, to_tensor
        value = TYPES[type_name][0]
        inputs = [to_tensor(a, value), to_tensor(b, value)]
        output = to_tensor(out, value)
        compiled = ctypes.c_void_p()
        self.must(self.handle.anydml_compile(
            None, f"ELEMENT_WISE_{operator.upper()}".encode(), (Tensor * 2)(*inputs), ctypes.c_size_t(2),
            ctypes.byref(output), ctypes.c_size_t(1), None, ctypes.c_size_t(0), ctypes.byref(compiled)))
        sources = (ctypes.c_void_p * 2)(a.ctypes.data, b.ctypes.data)
        targets = (ctypes.c_void_p * 1)(out.ctypes.data)
        two, one = ctypes.c_size_t(2), ctypes.c_size_t(1)
        return lambda: self.must(self.handle.anydml_compiled_run(compiled, sources, two, targets, one))

    def must(self, code):
        if code != 0:
            sys.exit(f"anydml: {self.handle.anydml_last_error().decode()}")


class NumPy:
    key, short = "numpy", "NumPy"

    def __init__(self, threads):
        import numpy
        self.numpy = numpy
        self.title = f"NumPy {numpy.__version__}"

    def prepare(self, type_name, operator, a, b, out):
        function = self.numpy.remainder if operator == "modulus_floor" else self.numpy.fmod
        return lambda: function(a, b, out=out)


class PyTorch:
    key, short = "torch", "PyTorch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.title = f"PyTorch {torch.__version__}"

    def tensors(self, *arrays):
        return [self.torch.from_numpy(array) for array in arrays]

    def prepare(self, type_name, operator, a, b, out):
        function = self.torch.remainder if operator == "modulus_floor" else self.torch.fmod
        x, y, z = self.tensors(a, b, out)
        return lambda: function(x, y, out=z)


class PyTorchCompiled(PyTorch):
    """Floats only, as it takes seconds to compile each."""
    key, short = "torch_compiled", "compiled"

    def __init__(self, threads):
        super().__init__(threads)
        self.title += ", compiled"

        def floor(x, y, z):
            z.copy_(self.torch.remainder(x, y))

        def truncate(x, y, z):
            z.copy_(self.torch.fmod(x, y))
        self.functions = {name: self.torch.compile(function, dynamic=True)
                          for name, function in (("modulus_floor", floor), ("modulus_truncate", truncate))}

    def prepare(self, type_name, operator, a, b, out):
        if not type_name.startswith("FLOAT"):
            return None
        tensors = self.tensors(a, b, out)
        return lambda: self.functions[operator](*tensors)


class OnnxRuntime:
    key, short = "onnxruntime", "ORT"

    def __init__(self, threads):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads
        self.title = f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, type_name, operator, a, b, out):
        truncate = operator == "modulus_truncate"
        if type_name.startswith("FLOAT") and not truncate:
            return None  # of floats Mod is defined with fmod=1 alone
        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(a.dtype)
        node = helper.make_node("Mod", ["a", "b"], ["c"], fmod=int(truncate))
        graph = helper.make_graph([node], "mod", [helper.make_tensor_value_info("a", kind, list(a.shape)),
                                                  helper.make_tensor_value_info("b", kind, list(b.shape))],
                                  [helper.make_tensor_value_info("c", kind, list(out.shape))])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        session = self.runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in (("a", a), ("b", b)):
            binding.bind_input(name, "cpu", 0, array.dtype.type, list(array.shape), array.ctypes.data)
        binding.bind_output("c", "cpu", 0, out.dtype.type, list(out.shape), out.ctypes.data)
        return lambda: session.run_with_iobinding(binding)


class Formula:
    """What shaders and many kernels compute. Counted, not timed: NumPy makes four passes of it."""
    key, short = "formula", "formula"
    timed = False
    title = "a - b*floor(a/b) in floats"

    def __init__(self, threads):
        import numpy
        self.numpy = numpy

    def prepare(self, type_name, operator, a, b, out):
        if not type_name.startswith("FLOAT"):
            return None
        rounded = self.numpy.floor if operator == "modulus_floor" else self.numpy.trunc
        return lambda: self.numpy.subtract(a, b * rounded(a / b), out=out)


class CLoops:
    """A shared library of loops over (out, a, b, count), compiled here."""

    def __init__(self, threads):
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads)
        self.folder = tempfile.TemporaryDirectory()
        self.libraries = {}

    def compile(self, source, name, flags=()):
        """None where it does not compile: a C compiler may lack _Float16."""
        if name not in self.libraries:
            path = Path(self.folder.name) / f"{name}.so"
            text = path.with_suffix(".c")
            text.write_text(source)
            command = ["cc", "-std=gnu11", "-O3", "-fno-math-errno", "-shared", "-fPIC", str(text), "-o", str(path),
                       *flags, "-lm"]
            try:
                done = subprocess.run(command, capture_output=True, text=True)
                self.libraries[name] = ctypes.CDLL(str(path)) if done.returncode == 0 else None
            except OSError:
                self.libraries[name] = None
        return self.libraries[name]

    def shared(self, function, a, b, out):
        count = out.size
        ends = [count * i // self.threads // 64 * 64 for i in range(self.threads)] + [count]
        step = 0 if b.ndim == 0 else b.itemsize

        def part(begin, end):
            function(ctypes.c_void_p(out.ctypes.data + begin * out.itemsize),
                     ctypes.c_void_p(a.ctypes.data + begin * a.itemsize),
                     ctypes.c_void_p(b.ctypes.data + begin * step), ctypes.c_size_t(end - begin))
        if self.threads == 1:
            return lambda: part(0, count)
        return lambda: list(self.pool.map(part, ends[:-1], ends[1:]))


class PlainC(CLoops):
    """The loop one writes first: fmod, or %, and for floor a correction of the sign."""
    key, short = "c", "C loop"
    FLOATS = {"FLOAT32": ("float", "fmodf"), "FLOAT64": ("double", "fmod"), "FLOAT16": ("_Float16", "fmodf")}
    SUFFIX = {"FLOAT32": "f", "FLOAT64": "", "FLOAT16": "f"}

    def __init__(self, threads):
        super().__init__(threads)
        try:
            version = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        except (OSError, IndexError):
            raise ImportError("no C compiler") from None
        self.title = f"C loop ({version.split()[0]} {version.split()[-1]}, {' '.join(platform.libc_ver())})"

    def source(self, type_name):
        if type_name in self.FLOATS:
            kind, fmod = self.FLOATS[type_name]
            suffix = self.SUFFIX[type_name]
            wide = "float" if kind == "_Float16" else kind
            floor = (f"{wide} m = {fmod}(x, y); out[i] = m == 0 ? ({kind})copysign{suffix}(0, y) : "
                     f"(m < 0) != (y < 0) ? ({kind})(m + ({wide})y) : ({kind})m;")
            truncate = f"out[i] = ({kind}){fmod}(x, y);"
        else:
            unsigned = type_name.startswith("U")
            kind = type_name.lower() + "_t"
            minus_one = "" if unsigned else " || y == -1"
            correct = "m" if unsigned else "m != 0 && (m < 0) != (y < 0) ? m + y : m"
            floor = (f"if (y == 0{minus_one}) {{ out[i] = 0; }} "
                     f"else {{ {kind} m = x % y; out[i] = ({kind})({correct}); }}")
            truncate = f"out[i] = y == 0{minus_one} ? 0 : x % y;"
        loops = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        for operator, body in (("modulus_floor", floor), ("modulus_truncate", truncate)):
            for layout, divisor in (("tensor", "b[i]"), ("scalar", "*b")):
                loops += (f"void {operator}_{layout}({kind}* restrict out, const {kind}* restrict a, "
                          f"const {kind}* restrict b, size_t n) {{\n  for (size_t i = 0; i < n; ++i) {{ "
                          f"const {kind} x = a[i], y = {divisor}; {body} }}\n}}\n")
        return loops

    def prepare(self, type_name, operator, a, b, out):
        library = self.compile(self.source(type_name), type_name)
        if library is None:
            return None
        return self.shared(getattr(library, f"{operator}_{'scalar' if b.ndim == 0 else 'tensor'}"), a, b, out)


class Sleef(CLoops):
    """Its fmod on the machine's vectors; it has no floor."""
    key, short = "sleef", "SLEEF"
    # A flag of /proc/cpuinfo, the compiler's flags, the header; by type: vector, lanes, load, store, function.
    TARGETS = (
        ("avx512f", ("-mavx512f",), "immintrin.h",
         {"FLOAT32": ("__m512", 16, "_mm512_loadu_ps", "_mm512_storeu_ps", "Sleef_fmodf16_avx512f"),
          "FLOAT64": ("__m512d", 8, "_mm512_loadu_pd", "_mm512_storeu_pd", "Sleef_fmodd8_avx512f")}),
        ("avx2", ("-mavx2", "-mfma"), "immintrin.h",
         {"FLOAT32": ("__m256", 8, "_mm256_loadu_ps", "_mm256_storeu_ps", "Sleef_fmodf8_avx2"),
          "FLOAT64": ("__m256d", 4, "_mm256_loadu_pd", "_mm256_storeu_pd", "Sleef_fmodd4_avx2")}),
        ("asimd", (), "arm_neon.h",
         {"FLOAT32": ("float32x4_t", 4, "vld1q_f32", "vst1q_f32", "Sleef_fmodf4_advsimd"),
          "FLOAT64": ("float64x2_t", 2, "vld1q_f64", "vst1q_f64", "Sleef_fmodd2_advsimd")}),
    )

    def __init__(self, threads):
        super().__init__(threads)
        flags = Path("/proc/cpuinfo").read_text().split()
        self.target = next((target for target in self.TARGETS if target[0] in flags), None)
        if self.target is None or self.compile("#include <sleef.h>\nconst char version[] = {SLEEF_VERSION_MAJOR, "
                                               "SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL};\n", "version",
                                               (*self.target[1], "-lsleef")) is None:
            raise ImportError("SLEEF or a C compiler is missing (Debian: libsleef-dev)")
        numbers = (ctypes.c_char * 3).in_dll(self.libraries["version"], "version")
        self.title = f"SLEEF {'.'.join(str(number) for number in numbers.raw)}"

    def prepare(self, type_name, operator, a, b, out):
        _, flags, header, kinds = self.target
        if operator != "modulus_truncate" or type_name not in kinds:
            return None
        vector, lanes, load, store, name = kinds[type_name]
        kind = "float" if type_name == "FLOAT32" else "double"
        source = f"#include <{header}>\n#include <sleef.h>\n#include <stddef.h>\n"
        for layout in LAYOUTS:
            fixed = f"{kind} same[{lanes}]; for (int i = 0; i < {lanes}; ++i) same[i] = *b;"
            divisor = "same" if layout == "scalar" else "b + i"
            source += (f"void {layout}({kind}* out, const {kind}* a, const {kind}* b, size_t n) {{\n"
                       f"  {fixed if layout == 'scalar' else ''}\n"
                       f"  for (size_t i = 0; i + {lanes} <= n; i += {lanes})\n"
                       f"    {store}(out + i, {name}({load}(a + i), {load}({divisor})));\n"
                       "}\n")
        library = self.compile(source, f"sleef_{type_name}", (*flags, "-lsleef"))
        if library is None or out.size % lanes != 0:
            return None
        return self.shared(getattr(library, "scalar" if b.ndim == 0 else "tensor"), a, b, out)


def make_peers(options, threads):
    peers = [Anydml(options.library, threads)]
    kinds = [NumPy, PyTorch, PyTorchCompiled, OnnxRuntime, PlainC, Sleef, Formula]
    for kind in kinds:
        if kind is PyTorchCompiled and not options.compiled:
            continue
        try:
            peers.append(kind(threads))
        except Exception as error:  # whatever keeps a peer from starting, the others go on
            say(f"{kind.__name__} left out: {error}")
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
    """The right answers by arithmetic that is not anydml's: C's fmod on doubles, Python's integers."""
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

absent = {}  # why a peer has no answer


def started(peer, type_name, operator, *arrays):
    """The peer's function after a first run, or None: it has no such operator or type."""
    try:
        function = peer.prepare(type_name, operator, *arrays)
        if function is not None:
            function()
        return function
    except Exception as error:  # each library has its own way to say that it has no kernel
        absent[f"{peer.key} {type_name} {operator}"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return None


def progress(text):
    if sys.stderr.isatty():
        say(text)


def measure_times(options, np, peers, types, threads):
    random = np.random.default_rng(SEED)
    rows = []
    size = options.bytes
    for type_name in options.types:
        dtype = types[type_name][1]
        count = size // np.dtype(dtype).itemsize
        for data in options.data:
            a, many = operands(np, random, data, dtype, count)
            out = np.zeros(count, dtype)
            for operator in OPERATORS:
                for layout in LAYOUTS:
                    b = many if layout == "tensor" else single_divisor(np, dtype)
                    running = [(peer, function) for peer in peers if getattr(peer, "timed", True)
                               for function in [started(peer, type_name, operator, a, b, out)] if function is not None]
                    samples = {peer.key: [] for peer, _ in running}
                    begin = time.perf_counter()
                    for turn in range(options.rounds * 10):
                        if turn >= options.rounds and time.perf_counter() - begin >= options.min_time:
                            break
                        for peer, function in running:
                            # A run of seconds says enough the second time.
                            if turn >= 2 and sum(samples[peer.key]) > 10 * options.min_time:
                                continue
                            before = time.perf_counter()
                            function()
                            samples[peer.key].append(time.perf_counter() - before)
                    own = statistics.median(samples["anydml"])
                    for peer, _ in running:
                        median = statistics.median(samples[peer.key])
                        rows.append({"type": type_name, "operator": operator, "layout": layout, "data": data,
                                     "threads": threads, "elements": count, "peer": peer.key,
                                     "ns_per_element": median * 1e9 / count,
                                     "min_ns_per_element": min(samples[peer.key]) * 1e9 / count,
                                     "ratio": median / own})
                    progress(f"  {threads} threads: {type_name} {operator} {layout} {data}")
    return rows


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
    """In a process of its own: the number of threads is read once by some of the libraries."""
    import numpy as np
    sys.path.insert(0, str(ROOT / "tests"))
    from numpy_oracle import TYPES
    np.seterr(all="ignore")
    peers = make_peers(options, options.work)
    result = {"titles": {peer.key: peer.title for peer in peers}, "short": {peer.key: peer.short for peer in peers},
              "times": [], "wrong": []}
    if options.count_here:
        result["wrong"] = measure_wrong(options, np, peers, TYPES)
    if options.times:
        result["times"] = measure_times(options, np, peers, TYPES, options.work)
    Path(options.result).write_text(json.dumps(dict(result, absent=absent)))


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
    print(f"\nns an element by {threads} thread{'s' if threads > 1 else ''}, and how many times anydml's\n")
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
    print(f"\nwrong answers of {pairs:,} pairs (of a sample of them for anydml)\n")
    lines = [["type", "operator", "data", *(report["short"][key] for key in keys)]]
    for case in dict.fromkeys((row["type"], row["operator"], row["data"]) for row in rows):
        cells = {row["peer"]: f"{row['wrong']:,}" for row in rows
                 if (row["type"], row["operator"], row["data"]) == case}
        lines.append([*case, *(cells.get(key, "-") for key in keys)])
    table(lines)


def cpu_name():
    for line in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines():
        if line.startswith("Model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


ALL_TYPES = ("FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64")


def parse(arguments):
    cores = len(os.sched_getaffinity(0))

    def items(allowed):
        def parse_items(text):
            chosen = list(allowed) if text == "all" else text.split(",")
            if not set(chosen) <= set(allowed):
                raise argparse.ArgumentTypeError(f"of {', '.join(allowed)}")
            return chosen
        return parse_items

    def thread_counts(text):
        return sorted({cores if item == "all" else int(item) for item in text.split(",")})

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="peers.py [LIBANYDML] [options]")
    parser.add_argument("library", nargs="?", default=str(ROOT / "build" / "release" / "src" / "libanydml.so"),
                        metavar="LIBANYDML", help="build/release/lib/libanydml.so unless told")
    parser.add_argument("--types", type=items(ALL_TYPES), default=list(ALL_TYPES))
    parser.add_argument("--data", type=items(("ordinary", "hard")), default=["ordinary"], help="of the times")
    parser.add_argument("--threads", type=thread_counts, default=sorted({1, cores}), help="1,all unless told")
    parser.add_argument("--pairs", type=int, help="to count wrong answers over (4,000,000; quick: 200,000)")
    parser.add_argument("--bytes", type=int, help="of a tensor that is timed (64 MiB; quick: 1 MiB)")
    parser.add_argument("--quick", action="store_true", help="small tensors, few rounds: to see that it runs")
    parser.add_argument("--no-times", dest="times", action="store_false")
    parser.add_argument("--no-counts", dest="counts", action="store_false")
    parser.add_argument("--no-compiled", dest="compiled", action="store_false", help="without torch.compile")
    parser.add_argument("--no-venv", dest="venv", action="store_false",
                        help="the libraries of this Python, whichever there are")
    parser.add_argument("--venv-folder", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    parser.add_argument("--count-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.pairs = options.pairs or (200_000 if options.quick else 4_000_000)
    options.bytes = options.bytes or (1 << 20 if options.quick else TENSOR_BYTES)
    options.rounds, options.min_time = (2, 0.02) if options.quick else (5, 0.3)
    return options


def main():
    options = parse(sys.argv[1:])
    if options.work:
        return work(options)
    if not Path(options.library).exists():
        sys.exit(f"{options.library} is not there: ./run builds it")
    python = make_environment(options.venv_folder) if options.venv else sys.executable
    if not importable(python, "numpy"):
        sys.exit("NumPy is needed, and this Python has none")
    report = {"program": "peers.py", "schema": 1, "cpu": cpu_name(), "architecture": platform.machine(),
              "c_library": " ".join(platform.libc_ver()), "python": platform.python_version(), "titles": {},
              "short": {}, "tensor_bytes": options.bytes, "times": [], "wrong": [], "absent": {}}
    counts = options.threads if options.times else options.threads[-1:]
    for threads in counts:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [python, str(Path(__file__).resolve()), *sys.argv[1:], "--work", str(threads),
                       "--result", file.name]
            if options.counts and threads == counts[-1]:
                command.append("--count-here")
            environment = dict(os.environ, ANYDML_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
            if subprocess.run(command, env=environment).returncode != 0:
                sys.exit(f"the peers by {threads} threads failed")
            part = json.loads(Path(file.name).read_text())
        for key in ("titles", "short", "absent"):
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
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if any(row["peer"] == "anydml" and row["wrong"] for row in report["wrong"]):
        sys.exit("anydml has wrong answers")


if __name__ == "__main__":
    main()
