#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares FLOAT32 and FLOAT16 GEMM with other libraries, and with the cores' peak rate of multiply-adds in registers.

usage: products.py LIBANYDML [--threads N ...] [--seconds S]

The other libraries are NumPy's BLAS, OpenBLAS, oneDNN and XNNPACK (from Debian), PyTorch and ONNX Runtime. If a library
is not installed, or has no product of that type, its cell is empty. oneDNN, XNNPACK and ONNX Runtime get a constant B.
The script restarts itself for each number of threads, so that all libraries start with that number. Each time is
the shortest of as many runs as fit into S seconds; with one thread it is CPU time. Needs a C compiler.
"""
import argparse
import ctypes
import math
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from product_peers import Peers

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ops"))
from numpy_oracle import Attribute, Library, to_attribute, to_tensor  # noqa: E402

ATTRIBUTES = (("TransA", "NONE"), ("TransB", "NONE"), ("Alpha", 1.0), ("Beta", 1.0))
SHAPES = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048),
          (4096, 4096, 4096), (256, 2048, 512), (4096, 64, 64), (64, 4096, 64), (64, 1024, 1024), (8, 1024, 1024),
          (1, 1024, 1024), (1, 4096, 4096), (1024, 1, 1024), (4096, 1, 4096))


def rest():
    """Pauses, because a library's threads spin for a while after its last work and would compete with the next one."""
    time.sleep(0.03)


def best_time(run, seconds, clock):
    rest()
    run()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        run()
        best = min(best, clock() - start)
    return best


def times_in_turns(runs, seconds, clock):
    """Returns the best time of each library. A library runs a few times before it is timed, because its own threads are
    asleep and the previous library's threads still spin."""
    best = [float("inf")] * len(runs)
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end or math.inf in best:
        for i, run in enumerate(runs):
            rest()
            for timed in [False] * 4 + [True] * 6:
                start = clock()
                run()
                if timed:
                    best[i] = min(best[i], clock() - start)
    return best


def peak(threads, seconds, clock, source="multiply_adds.c"):
    """Returns the operations per second of all threads together."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/multiply_adds.so"
        native = "-mcpu=native" if platform.machine() == "aarch64" else "-march=native"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-ffp-contract=fast", native, "-shared", "-fPIC",
                        str(ROOT / "bench" / source), "-o", library], check=True)
        multiply_adds = ctypes.CDLL(library).multiply_adds
    multiply_adds.restype = ctypes.c_double
    done = [0.0] * threads

    def work(i):
        done[i] = multiply_adds(ctypes.c_long(2_000_000), ctypes.c_float(1e-6), ctypes.byref(ctypes.c_float()))

    def all_together():
        if threads == 1:
            work(0)
            return
        workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    taken = best_time(all_together, seconds, clock)
    return sum(done) / taken


class OneOperator:
    """A graph of one operator. `constants` has the indices of the constant inputs, which are packed once. None is an
    absent input."""

    def __init__(self, library, name, inputs, out, attributes, constants=()):
        self.handle, self.arrays = library.handle, (*inputs, out)
        graph, self.compiled = ctypes.c_void_p(), ctypes.c_void_p()
        values = (ctypes.c_uint64 * (len(inputs) + 1))()
        kept = [to_attribute(*one) for one in attributes]
        given = (Attribute * max(1, len(kept)))(*kept)
        tensors = [None if one is None else to_tensor(one) for one in self.arrays]
        self.call(self.handle.anydml_graph_create, ctypes.byref(graph))
        for i in (i for i, one in enumerate(inputs) if one is not None):
            add = self.handle.anydml_graph_add_constant if i in constants else self.handle.anydml_graph_add_input
            self.call(add, graph, ctypes.byref(tensors[i]), self.position(values, i))
        self.call(self.handle.anydml_graph_add_operator, graph, name.encode(), values, ctypes.c_size_t(len(inputs)),
                  ctypes.byref(tensors[-1]), ctypes.c_size_t(1), given, ctypes.c_size_t(len(kept)),
                  self.position(values, len(inputs)))
        self.call(self.handle.anydml_graph_add_output, graph, ctypes.c_uint64(values[len(inputs)]))
        self.call(self.handle.anydml_graph_compile, graph, None, ctypes.byref(self.compiled))
        self.handle.anydml_graph_release(graph)
        addresses = [one.ctypes.data for i, one in enumerate(inputs) if one is not None and i not in constants]
        self.inputs = (ctypes.c_void_p * len(addresses))(*addresses)
        self.count = ctypes.c_size_t(len(addresses))
        self.outputs = (ctypes.c_void_p * 1)(out.ctypes.data)

    @staticmethod
    def position(values, i):
        return ctypes.byref(values, i * ctypes.sizeof(ctypes.c_uint64))

    def call(self, function, *arguments):
        if function(*arguments) != 0:
            sys.exit(self.handle.anydml_last_error().decode())

    def __call__(self):
        self.call(self.handle.anydml_compiled_run, self.compiled, self.inputs, self.count, self.outputs,
                  ctypes.c_size_t(1))


def torch_run(a, b, threads):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    left, right = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.empty(len(a), b.shape[1], dtype=left.dtype)
    return lambda: torch.mm(left, right, out=out)


def onnx_run(a, b, threads):
    try:
        import onnxruntime
        from onnx import helper, numpy_helper
    except ImportError:
        return None
    kind = helper.np_dtype_to_tensor_dtype(a.dtype)
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["y"])], "g",
                              [helper.make_tensor_value_info("a", kind, a.shape)],
                              [helper.make_tensor_value_info("y", kind, None)], [numpy_helper.from_array(b, "b")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # the library has no such product
        return None
    return lambda: session.run(None, {"a": a})


def measure(path, threads, seconds):
    library = Library(path)
    clock = time.thread_time if threads == 1 else time.perf_counter
    most = peak(threads, seconds, clock)
    peers = Peers(threads)
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, {most / 1e9:.1f} GFLOPS in registers, NumPy {np.__version__}")
    random = np.random.default_rng(1)
    for kind in (np.float32, np.float16):
        heads = ["B constant", "B given each time", "NumPy", "OpenBLAS", "oneDNN", "XNNPACK", "PyTorch", "ONNX Runtime"]
        print(f"\n| {np.dtype(kind).name.upper()}, M x N x K | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|")
        for rows, columns, depth in SHAPES:
            a, b = (random.standard_normal(shape).astype(kind) for shape in ((rows, depth), (depth, columns)))
            out = np.empty((rows, columns), kind)
            runs = [*(OneOperator(library, "GEMM", (a, b), out, ATTRIBUTES, constants) for constants in ((1,), ())),
                    (lambda a=a, b=b, out=out: np.matmul(a, b, out=out)) if kind is np.float32 else None,
                    *(peers.product(name, a, b, out) for name in ("OpenBLAS", "oneDNN", "XNNPACK")),
                    torch_run(a, b, threads), onnx_run(a, b, threads)]
            work = 2 * rows * columns * depth
            times = [run and best_time(run, seconds, clock) for run in runs]
            cells = [f"{work / one / 1e9:.1f}, {work / one / most:.0%}" if one else "" for one in times]
            print(f"| {rows} x {columns} x {depth} | {' | '.join(cells)} |", flush=True)


def in_processes(script, given, *more):
    """Runs the script for each number of threads, so that all libraries start with that number."""
    for threads in given.threads:
        names = ("ANYDML_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, str(threads)), "ANYDML_PLUGINS": "none"}
        subprocess.run([sys.executable, script, given.library, "--child", "--threads", str(threads), "--seconds",
                        str(given.seconds), *more], env=environment, check=True)


def arguments(text):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, len(os.sched_getaffinity(0))}))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(measure, script, text):
    given = arguments(text).parse_args()
    if given.child:
        measure(given.library, given.threads[0], given.seconds)
    else:
        in_processes(script, given)


if __name__ == "__main__":
    main(measure, __file__, __doc__)
