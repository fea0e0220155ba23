#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION with ONNX Runtime and the peak rate in registers.

usage: integer_convolutions.py LIBANYDML [--threads N ...] [--seconds S] [--only TEXT]

The layers are the forward layers of convolutions.py, UINT8 by INT8, with a zero point for the input and a scale for
each output channel. Filters are constant. ONNX Runtime runs ConvInteger and QLinearConv; without ONNX Runtime, these
are skipped. The script restarts itself for each number of threads. Needs a C compiler.
"""
import os
import time

import numpy as np

from convolutions import LAYERS
from products import OneOperator, arguments, in_processes, peak, times_in_turns
from numpy_oracle import Library

ZERO = np.uint8(10)
SCALES = np.float32(0.03), np.float32(0.5)  # the scales of the input and of the output


def onnx_run(op, names, constants, x, kind, stride, padding, groups):
    try:
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        return None
    node = helper.make_node(op, names, ["y"], strides=[stride] * 2, pads=[padding] * 4, group=groups)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)],
                              [helper.make_tensor_value_info("y", getattr(TensorProto, kind), None)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})


def measure(path, threads, seconds, only):
    library = Library(path)
    clock = time.thread_time if threads == 1 else time.perf_counter
    most = peak(threads, seconds, clock, "byte_products.c")
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, {most / 1e9:.0f} GOPS in registers\n")
    print("| layer | CONVOLUTION_INTEGER | QUANTIZED_LINEAR | ConvInteger | QLinearConv |")
    print("|---|---|---|---|---|")
    random = np.random.default_rng(1)
    for name, ins, outs, side, kernel, stride, padding, groups in LAYERS:
        if only not in name or " T " in name:
            continue
        x = random.integers(0, 256, (1, ins, side, side), np.uint8)
        w = random.integers(-128, 128, (outs, ins // groups, kernel, kernel), np.int8)
        w_scale = random.random(outs).astype(np.float32) * 0.01
        result = (side + 2 * padding - kernel) // stride + 1
        shape = (1, outs, result, result)
        attributes = [("Strides", (stride, stride)), ("Dilations", (1, 1)), ("StartPadding", (padding, padding)),
                      ("EndPadding", (padding, padding)), ("GroupCount", groups)]
        zero, x_scale, y_scale = ZERO.reshape(1), *(one.reshape(1) for one in SCALES)
        constants = {"w": w, "xz": ZERO, "wz": np.int8(0)}
        scaled = {**constants, "xs": SCALES[0], "ws": w_scale, "wz": np.zeros(outs, np.int8), "ys": SCALES[1], "yz": ZERO}
        runs = [OneOperator(library, "CONVOLUTION_INTEGER", (x, zero, w, None), np.empty(shape, np.int32), attributes,
                            (1, 2)),
                OneOperator(library, "QUANTIZED_LINEAR_CONVOLUTION",
                            (x, x_scale, zero, w, w_scale, None, None, y_scale, zero), np.empty(shape, np.uint8), attributes,
                            (1, 2, 3, 4, 7, 8)),
                onnx_run("ConvInteger", ["x", "w", "xz", "wz"], constants, x, "INT32", stride, padding, groups),
                onnx_run("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], scaled, x, "UINT8", stride, padding,
                         groups)]
        times = times_in_turns([run for run in runs if run], seconds, clock)
        times = [times.pop(0) if run else None for run in runs]
        work = 2 * w.size * result * result
        cells = [f"{one * 1e6:.0f} µs, {work / one / 1e9:.1f} GOPS, {work / one / most:.0%}" if one else "" for one in times]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.child:
        measure(given.library, given.threads[0], given.seconds, given.only)
    else:
        in_processes(__file__, given, "--only", given.only)


if __name__ == "__main__":
    main()
