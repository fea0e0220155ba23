#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares INT8 products with other libraries, and with the cores' peak rate of multiply-adds in registers.

usage: integer_products.py LIBANYDML [--threads N ...] [--seconds S]

The operators are MATRIX_MULTIPLY_INTEGER, UINT8 by INT8, with a zero point for A, and QUANTIZED_LINEAR_MATRIX_MULTIPLY.
B is either constant or passed with each run. PyTorch runs torch._int_mm on INT8, without zero points, and its quantized
linear; ONNX Runtime runs MatMulInteger and QLinearMatMul with a constant B. oneDNN and XNNPACK multiply INT8 by INT8.
Libraries that are not installed are skipped. The script restarts itself for each number of threads. Each time is the
shortest of as many runs as fit into S seconds. Needs a C compiler.
"""
import time

import numpy as np

from product_peers import Peers
from products import Library, OneOperator, main, peak, times_in_turns

SHAPES = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048),
          (1, 1024, 1024), (1, 4096, 4096), (4096, 1, 4096), (8, 1024, 1024), (32, 4096, 1024), (4096, 64, 64), (64, 4096, 64),
          (100, 100, 1000))


def torch_runs(a, b, threads):
    try:
        import torch
    except ImportError:
        return {}
    torch.set_num_threads(threads)
    left, right = torch.from_numpy(a.astype(np.int8)), torch.from_numpy(b)
    runs = {"torch._int_mm": lambda: torch._int_mm(left, right) if left.numel() * right.shape[1] <= 512**3 else None}
    try:
        engine = next(one for one in ("onednn", "x86", "fbgemm", "qnnpack") if one in torch.backends.quantized.supported_engines)
        torch.backends.quantized.engine = engine
        weights = torch.quantize_per_tensor(right.t().float(), 0.02, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(weights, None)
        x = torch.quantize_per_tensor(left.float(), 0.03, 10, torch.quint8)
        runs[f"PyTorch linear, {engine}"] = lambda: torch.ops.quantized.linear(x, packed, 0.5, 7)
    except (RuntimeError, StopIteration):
        pass
    return runs


def onnx_runs(a, b, threads):
    try:
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        return {}
    scalars = {"az": np.uint8(10), "bz": np.int8(0), "as": np.float32(0.03), "bs": np.float32(0.02), "ys": np.float32(0.5),
               "yz": np.uint8(7)}
    runs = {}
    for op, names, kind in (("MatMulInteger", ["a", "b", "az", "bz"], TensorProto.INT32),
                            ("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], TensorProto.UINT8)):
        constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in (*scalars.items(), ("b", b))
                     if name in names]
        graph = helper.make_graph([helper.make_node(op, names, ["y"])], "g",
                                  [helper.make_tensor_value_info("a", TensorProto.UINT8, a.shape)],
                                  [helper.make_tensor_value_info("y", kind, (len(a), b.shape[1]))], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        # Bound once, so that a run moves only the operator's own bytes.
        binding = session.io_binding()
        binding.bind_cpu_input("a", a)
        y = onnxruntime.OrtValue.ortvalue_from_shape_and_type((len(a), b.shape[1]),
                                                              np.int32 if kind == TensorProto.INT32 else np.uint8)
        binding.bind_ortvalue_output("y", y)
        runs[f"ONNX Runtime {op}"] = lambda session=session, binding=binding: session.run_with_iobinding(binding)
    return runs


def best_times(runs, seconds):
    """Returns the best times, or infinity if PyTorch has no kernel for a shape."""
    there = {name: run for name, run in runs.items() if run() is not None or name != "torch._int_mm"}
    best = dict.fromkeys(runs, float("inf"))
    best.update(zip(there, times_in_turns(list(there.values()), seconds, time.perf_counter)))
    return best.values()


def measure(path, threads, seconds):
    library, peers = Library(path), Peers(threads)
    most = peak(threads, seconds, time.thread_time if threads == 1 else time.perf_counter, "byte_products.c")
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, {most / 1e9:.0f} GOPS in registers; GOPS of each\n")
    random = np.random.default_rng(1)
    for number, (rows, columns, depth) in enumerate(SHAPES):
        a = random.integers(0, 128, (rows, depth), np.uint8)
        b = random.integers(-128, 128, (depth, columns), np.int8)
        zero = np.full((1, 1), 10, np.uint8)
        scales = [np.full((1, 1), value, np.float32) for value in (0.03, 0.02, 0.5)]
        sums, bytes_out = np.empty((rows, columns), np.int32), np.empty((rows, columns), np.uint8)
        quantized = (a, scales[0], zero, b, scales[1], None, scales[2], zero)
        runs = {"INTEGER": OneOperator(library, "MATRIX_MULTIPLY_INTEGER", (a, zero, b, None), sums, (), (1, 2)),
                "B each time": OneOperator(library, "MATRIX_MULTIPLY_INTEGER", (a, zero, b, None), sums, ()),
                "QUANTIZED_LINEAR": OneOperator(library, "QUANTIZED_LINEAR_MATRIX_MULTIPLY", quantized, bytes_out, (),
                                                (1, 2, 3, 4, 6, 7)),
                **torch_runs(a, b, threads), **onnx_runs(a, b, threads),
                "oneDNN": peers.product("oneDNN", a.astype(np.int8), b, sums),
                "XNNPACK, INT8 results": peers.product("XNNPACK", a.astype(np.int8), b, bytes_out)}
        runs = {name: run for name, run in runs.items() if run}
        if number == 0:
            print("| M x N x K | " + " | ".join(runs) + " |\n|---" + "|---" * len(runs) + "|")
        work = 2 * rows * columns * depth
        cells = [f"{work / taken / 1e9:.1f}" if taken < float("inf") else "-" for taken in best_times(runs, seconds)]
        print(f"| {rows} x {columns} x {depth} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(measure, __file__, __doc__)
