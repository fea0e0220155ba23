# SPDX-License-Identifier: MIT
"""Shared by moving.py, normalizing.py, layers.py and recurrent.py: arrays, contenders, timing and the report. Each case
compares one DirectML operator with PyTorch and ONNX Runtime; moving_cases.py describes the form of a case."""
import ctypes
import json
import math
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from peer_libraries import Anydml
from peer_run import ROOT, about, items, make_parser, python_of, run_again, say

PACKAGES = ("numpy", "torch", "onnxruntime", "onnx")
SEED = 1
MIN_ROUNDS = 5
CONSTANT = 0x80000000  # ANYDML_CONSTANT


# ---- Arrays: NumPy's, or PyTorch's on a GPU -------------------------------------------------------------------------

class Arrays:
    """The arrays of a run: NumPy's on the CPU, PyTorch's on a GPU."""

    def __init__(self, device):
        import numpy as np
        self.np, self.device, self.torch = np, device, None
        try:
            import torch
            self.torch = torch
        except ImportError as error:
            if device == "cuda":
                sys.exit(f"PyTorch is needed for arrays on a GPU: {error}")
        if device == "cuda" and not self.torch.cuda.is_available():
            sys.exit("PyTorch finds no GPU")

    def put(self, array):
        return self.torch.from_numpy(array).cuda() if self.device == "cuda" else array

    def empty(self, shape, dtype):
        built = self.np.full(shape, 77).astype(dtype)  # filled, so that the pages exist before the first round
        return self.put(built)

    def get(self, array):
        return array.cpu().numpy() if self.device == "cuda" else array

    def tensor(self, array):
        """Returns the array as a PyTorch tensor over the same memory."""
        return array if self.device == "cuda" else self.torch.from_numpy(array)

    def address(self, array):
        return array.data_ptr() if self.device == "cuda" else array.ctypes.data

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()


# ---- Contenders: each prepares a function that computes a case, or reports why it cannot ----------------------------

class Missing(Exception):
    pass


class OfAnydml(Anydml):
    def __init__(self, path, threads, arrays):
        super().__init__(path, threads)
        self.arrays = arrays
        find = self.handle.anydml_find_device
        find.restype = ctypes.c_void_p
        self.device = find(arrays.device.encode())
        if not self.device:
            sys.exit(f"anydml: {self.handle.anydml_last_error().decode()}")
        self.device = ctypes.c_void_p(self.device)

    def compile(self, operator, inputs, outputs, attributes, unsigned=False, constants=(), absent=(0, 0)):
        """inputs and outputs are pairs: an array, and its sizes and strides in elements or None for the array's own."""
        from numpy_oracle import VALUES, Attribute, Tensor, to_attribute

        def describe(array, sizes, strides):
            if array is None:  # an omitted optional tensor
                return Tensor()
            sizes = tuple(array.shape) if sizes is None else sizes
            counts = (ctypes.c_int64 * len(sizes))(*sizes)
            steps = None if strides is None else (ctypes.c_int64 * len(sizes))(*strides)
            dtype = self.arrays.np.dtype(str(array.dtype).removeprefix("torch."))
            dtype = self.arrays.np.dtype("u8") if unsigned and dtype == "i8" else dtype
            built = Tensor(VALUES[dtype], len(sizes), counts, steps, self.arrays.address(array))
            built.keep = counts, steps, array
            return built

        kept = [[describe(*one) for one in group] for group in (inputs, outputs)]
        for i in constants:
            kept[0][i].type |= CONSTANT
        for group, count in zip(kept, absent):
            group += [Tensor() for _ in range(count)]
        sources, targets = ((Tensor * len(group))(*group) for group in kept)
        numbers = [to_attribute(*one) for one in attributes]
        given = (Attribute * max(1, len(numbers)))(*numbers)
        compiled, counts = ctypes.c_void_p(), [ctypes.c_size_t(len(group)) for group in kept]
        if self.handle.anydml_compile(self.device, operator.encode(), sources, counts[0], targets, counts[1], given,
                                      ctypes.c_size_t(len(numbers)), ctypes.byref(compiled)) != 0:
            raise Missing(self.handle.anydml_last_error().decode())
        addresses = [(ctypes.c_void_p * len(group))(*(one.data for one in group)) for group in kept]
        addresses[0].keep = kept
        if self.arrays.device == "cuda":  # on PyTorch's stream, without waiting
            return lambda: self.must(self.handle.anydml_compiled_run_on_stream(
                compiled, None, addresses[0], counts[0], addresses[1], counts[1]))
        return lambda: self.must(self.handle.anydml_compiled_run(compiled, addresses[0], counts[0], addresses[1],
                                                                 counts[1]))

    def prepare(self, case, inputs, outputs):
        views = case.views or [(None, None)] * len(inputs)
        return self.compile(case.operator, [(array, *view) for array, view in zip(inputs, views)],
                            [(array, None, None) for array in outputs], case.attributes, case.unsigned, case.constants,
                            case.absent)


class OfPyTorch:
    key = "PyTorch"

    def __init__(self, threads, arrays):
        if arrays.torch is None:
            raise Missing("torch cannot be imported")
        self.arrays, self.torch = arrays, arrays.torch
        self.torch.set_num_threads(threads)
        self.title = f"PyTorch {self.torch.__version__}"

    def prepare(self, case, inputs, outputs):
        if case.torch is None:
            raise Missing("PyTorch has no such operator")
        run = case.torch(self.torch, *([self.arrays.tensor(array) for array in group] for group in (inputs, outputs)))

        def without_gradients():
            with self.torch.inference_mode():
                return run()
        built = without_gradients()
        if isinstance(built, self.torch.Tensor) and built.data_ptr() != self.arrays.address(outputs[0]):
            self.arrays.tensor(outputs[0]).copy_(built)
        return without_gradients


class OfOnnxRuntime:
    key = "ONNX Runtime"

    def __init__(self, threads, arrays):
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Missing(str(error)) from error
        self.onnx, self.runtime, self.threads, self.arrays = onnx, onnxruntime, threads, arrays
        self.provider = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}[arrays.device]
        if self.provider not in onnxruntime.get_available_providers():
            raise Missing(f"onnxruntime has no {self.provider}")
        self.title = f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, case, inputs, outputs):
        if case.onnx is None:
            raise Missing("ONNX has no such operator")
        node, attributes, constants = case.onnx
        helper, kinds = self.onnx.helper, []
        infos = []
        for prefix, arrays in (("x", inputs), ("y", outputs)):
            dtypes = [self.arrays.np.dtype(str(array.dtype).removeprefix("torch.")) for array in arrays]
            kinds.append(dtypes)
            infos.append([helper.make_tensor_value_info(f"{prefix}{i}", helper.np_dtype_to_tensor_dtype(dtype),
                                                        list(array.shape))
                          for i, (array, dtype) in enumerate(zip(arrays, dtypes))])
        # The constants come after the inputs, in the same order. "" is an omitted input.
        names = [f"x{i}" for i in case.order or range(len(inputs))] + list(constants)
        initializers = [self.onnx.numpy_helper.from_array(value, name) for name, value in constants.items() if
                        value is not None]
        names = ["" if name in constants and constants[name] is None else name for name in names]
        graph = helper.make_graph([helper.make_node(node, names, [f"y{i}" for i in range(len(outputs))], **attributes)],
                                  node, infos[0], infos[1], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18),
                                                                 helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 9
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        session = self.runtime.InferenceSession(model.SerializeToString(), options, [self.provider])
        binding = session.io_binding()
        for bind, prefix, arrays, dtypes in ((binding.bind_input, "x", inputs, kinds[0]),
                                             (binding.bind_output, "y", outputs, kinds[1])):
            for i, (array, dtype) in enumerate(zip(arrays, dtypes)):
                bind(f"{prefix}{i}", self.arrays.device, 0, dtype.type, list(array.shape), self.arrays.address(array))
        return lambda: session.run_with_iobinding(binding)


def make_passes(anydml, arrays, threads, count):
    """Returns functions that copy `count` bytes, by name."""
    source, target = (arrays.empty(count // 4, "int32") for _ in range(2))
    passes = {"IDENTITY": anydml.compile("ELEMENT_WISE_IDENTITY", [(source, None, None)], [(target, None, None)], ())}
    if arrays.torch is not None:
        x, y = arrays.tensor(source), arrays.tensor(target)
        passes["copy_"] = lambda: y.copy_(x)
    if arrays.device == "cpu":
        pool, bytes_ = ThreadPoolExecutor(threads), source.nbytes
        ends = [bytes_ * i // threads // 64 * 64 for i in range(threads)] + [bytes_]

        def part(begin, end):
            ctypes.memmove(target.ctypes.data + begin, source.ctypes.data + begin, end - begin)
        passes["memmove"] = lambda: list(pool.map(part, ends[:-1], ends[1:]))
    return passes


# A library's threads spin for a while after their last task and would compete with the next library's threads.
PAUSE = 0.03
RUNS_IN_TURN = 8
LAUNCHES_IN_ROW = 50


# ---- Times ----------------------------------------------------------------------------------------------------------

def on_cpu(run):
    times = []
    for _ in range(RUNS_IN_TURN):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def on_gpu(run, torch):
    """Uses the GPU's clock. Work is launched without waiting, so that the CPU time of a launch does not count."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(LAUNCHES_IN_ROW):
        run()
    end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) / 1e3 / LAUNCHES_IN_ROW]


def measure(contenders, arrays, seconds):
    """Returns the median time of each contender, by name. They alternate, so that a busy moment affects all of them."""
    times = {name: [] for name in contenders}
    for run in contenders.values():
        run()
        arrays.wait()
    end = time.perf_counter() + seconds * len(contenders)
    while time.perf_counter() < end or len(next(iter(times.values()))) < MIN_ROUNDS:
        for name, run in contenders.items():
            if arrays.device == "cpu":
                time.sleep(PAUSE)
            for _ in range(RUNS_IN_TURN):  # so that the library's own threads are awake
                run()
                arrays.wait()
            times[name] += on_gpu(run, arrays.torch) if arrays.device == "cuda" else on_cpu(run)
    return {name: statistics.median(all_times) for name, all_times in times.items()}


def run_case(case, anydml, peers, arrays, threads, seconds, scale):
    np = arrays.np
    built = case.make(np, np.random.default_rng(SEED), scale)
    inputs = [arrays.put(np.ascontiguousarray(array)) for array in built.inputs]
    report = {"case": case.name, "operator": case.operator, "what": built.what, "bytes": built.bytes, "missing": {}}
    if built.flops:
        report["flops"] = built.flops
    contenders, results = {}, {}
    for name, contender in (("anydml", anydml), *((peer.key, peer) for peer in peers)):
        outputs = [arrays.empty(shape, dtype) for shape, dtype in built.outputs]
        try:
            contenders[name] = contender.prepare(built, inputs, outputs)
            contenders[name]()
            arrays.wait()
        except Missing as missing:
            contenders.pop(name, None)
            report["missing"][name] = str(missing)
            continue
        except Exception as error:  # a peer that fails is skipped, and the other peers continue
            contenders.pop(name, None)
            report["missing"][name] = (str(error).strip().splitlines() or [type(error).__name__])[0]
            continue
        results[name] = outputs
    if "anydml" not in contenders:
        return report
    for name, outputs in results.items():
        # Only the first outputs are compared, because indices of equal elements may differ. Sums in a different order
        # differ slightly.
        near = built.near or (1e-3 if built.outputs[0][1] == "float16" else 1e-5)
        if not np.allclose(arrays.get(results["anydml"][0]), arrays.get(outputs[0]), near, near):
            report.setdefault("different", []).append(name)
    passes = make_passes(anydml, arrays, threads, built.bytes // 2)
    times = measure({**contenders, **passes}, arrays, seconds)
    fastest = min(passes, key=times.get)
    report["times"] = {name: times[name] for name in contenders}
    report["pass"] = {"way": fastest, "time": times[fastest], "gb_per_second": built.bytes / times[fastest] * 1e-9}
    report["fraction"] = times[fastest] / times["anydml"]
    beside = {name: times[name] for name in contenders if name != "anydml"}
    if beside:
        best = min(beside, key=beside.get)
        report["peer"] = {"name": best, "ratio": beside[best] / times["anydml"]}
    return report


# ---- The report -----------------------------------------------------------------------------------------------------

def span(seconds, flops=0):
    text = f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"
    return f"{text}, {flops / seconds * 1e-12:.2f} TFLOP/s" if flops else text


def print_table(report):
    names = [peer["name"] for peer in report["peers"]]
    print(f"\n{report['cpu'] if report['device'] == 'cpu' else report['gpu']}, {report['threads']} threads, "
          + ", ".join([report["library"], *(peer["title"] for peer in report["peers"])]))
    if report["allow_half"]:
        print("anydml's FLOAT16 products may have other bits (ANYDML_ALLOW_HALF_PRECISION=1)")
    for name, why in report["missing_peers"].items():
        print(f"{name} is missing: {why}")
    rows = [["case", "what", "anydml", "of the pass", *names, "faster than the best peer"]]
    notes = []
    for case in report["cases"]:
        if "times" not in case:
            rows.append([case["case"], case["what"], "missing", *[""] * (len(names) + 2)])
            notes.append(f"{case['case']}: {case['missing'].get('anydml', 'missing')}")
            continue
        ratio = f"{case['peer']['ratio']:.2f} x" if "peer" in case else ""
        times = {name: span(one, case.get("flops", 0)) for name, one in case["times"].items()}
        rows.append([case["case"], case["what"], times["anydml"], f"{case['fraction']:.0%}",
                     *(times.get(name, "-") for name in names), ratio])
        notes += [f"{case['case']}: {name}: {why}" for name, why in case["missing"].items() if name in names]
        notes += [f"{case['case']}: the result of {name} differs" for name in case.get("different", [])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print()
    for number, row in enumerate(rows):
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths)]
        print("| " + " | ".join(left + [cell.rjust(width) for cell, width in zip(row[2:], widths[2:])]) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2 if i < 2 else width + 1) + ("" if i < 2 else ":")
                                 for i, width in enumerate(widths)) + "|")
    done = [case for case in report["cases"] if "times" in case]
    ahead = [case for case in done if case.get("peer", {}).get("ratio", 0) >= 1]
    print(f"\n{len(done)} of {len(report['cases'])} cases ran; anydml is ahead of every peer in {len(ahead)} of "
          f"{sum('peer' in case for case in done)}.")
    for note in notes:
        print(f"  {note}")


def work(program, cases, options):
    sys.path.insert(0, str(ROOT / "tests" / "ops"))
    arrays = Arrays(options.device)
    anydml = OfAnydml(options.library, options.threads, arrays)
    report = {**about(program), "device": options.device, "threads": options.threads, "library": anydml.title,
              "allow_half": options.allow_half,
              "numpy": arrays.np.__version__, "peers": [], "missing_peers": {}, "cases": []}
    if options.device == "cuda":
        report["gpu"] = arrays.torch.cuda.get_device_name()
    peers = []
    for kind in (OfPyTorch, OfOnnxRuntime):
        try:
            peers.append(kind(options.threads, arrays))
            report["peers"].append({"name": peers[-1].key, "title": peers[-1].title})
        except Missing as missing:
            report["missing_peers"][kind.key] = str(missing)
    seconds, scale = (0.05, 1 / 16) if options.quick else (options.seconds, 1.0)
    for case in cases:
        if case.name in options.cases:
            built = run_case(case, anydml, peers, arrays, options.threads, seconds, scale)
            report["cases"].append(built)
            times = ", ".join(f"{name} {span(one)}" for name, one in built.get("times", {}).items())
            say(f"{case.name}: {times or 'missing'}")
    return report


def run_program(program, description, cases):
    parser = make_parser(program, description)
    names = [case.name for case in cases]
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="all by default")
    parser.add_argument("--seconds", type=float, default=0.5, help="seconds per contender and case")
    parser.add_argument("--cases", type=items(names), default=names, help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="a sixteenth of the elements, and little time for each")
    parser.add_argument("--allow-half", action="store_true",
                        help="anydml may use tensor cores for products of FLOAT16 (ANYDML_ALLOW_HALF_PRECISION=1)")
    options = parser.parse_args()
    if options.result:
        report = work(program, cases, options)
        with open(options.result, "w", encoding="utf-8") as file:
            json.dump(report, file)
        return
    if not (math.isfinite(options.seconds) and options.seconds > 0) or options.threads < 1:
        parser.error("--threads must be at least 1, and --seconds a positive number")
    # All libraries start with this number of threads.
    environment = {name: str(options.threads) for name in ("ANYDML_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    environment["ANYDML_ALLOW_HALF_PRECISION"] = str(int(options.allow_half))
    report = run_again(python_of(options, PACKAGES), environment=environment)
    if report is None:
        sys.exit(1)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print_table(report)
