#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares FLOAT32 CONVOLUTION with PyTorch, ONNX Runtime and the cores' peak rate of multiply-adds in registers.

usage: convolutions.py LIBANYDML [--threads N ...] [--seconds S] [--only TEXT]

The layers are from ResNet-50, MobileNet v2 and a style transfer network, for one image. Filters are constant. The
script restarts itself for each number of threads. Each time is the shortest of as many runs as fit into S seconds;
with one thread it is CPU time. The libraries run alternately. Needs a C compiler; PyTorch and ONNX Runtime are skipped
if they are missing.
"""
import os
import sys
import time

import numpy as np

from products import OneOperator, arguments, in_processes, peak, times_in_turns
from numpy_oracle import Library

# Name, channels in, channels out, pixels along a side, kernel, stride, padding, groups; "T": transposed.
LAYERS = (("ResNet-50 stem 7x7/2", 3, 64, 224, 7, 2, 3, 1), ("ResNet-50 1x1 64-64", 64, 64, 56, 1, 1, 0, 1),
          ("ResNet-50 3x3 64", 64, 64, 56, 3, 1, 1, 1), ("ResNet-50 1x1 64-256", 64, 256, 56, 1, 1, 0, 1),
          ("ResNet-50 1x1 256-64", 256, 64, 56, 1, 1, 0, 1), ("ResNet-50 3x3/2 128", 128, 128, 56, 3, 2, 1, 1),
          ("ResNet-50 3x3 128", 128, 128, 28, 3, 1, 1, 1), ("ResNet-50 1x1/2 256-512", 256, 512, 56, 1, 2, 0, 1),
          ("ResNet-50 3x3 256", 256, 256, 14, 3, 1, 1, 1), ("ResNet-50 1x1 1024-256", 1024, 256, 14, 1, 1, 0, 1),
          ("ResNet-50 3x3 512", 512, 512, 7, 3, 1, 1, 1), ("ResNet-50 1x1 512-2048", 512, 2048, 7, 1, 1, 0, 1),
          ("MobileNet v2 stem 3x3/2", 3, 32, 224, 3, 2, 1, 1), ("MobileNet v2 depthwise 32", 32, 32, 112, 3, 1, 1, 32),
          ("MobileNet v2 1x1 16-96", 16, 96, 112, 1, 1, 0, 1), ("MobileNet v2 depthwise 96", 96, 96, 112, 3, 1, 1, 96),
          ("MobileNet v2 depthwise/2 96", 96, 96, 112, 3, 2, 1, 96),
          ("MobileNet v2 depthwise 144", 144, 144, 56, 3, 1, 1, 144),
          ("MobileNet v2 depthwise 384", 384, 384, 14, 3, 1, 1, 384),
          ("MobileNet v2 depthwise 960", 960, 960, 7, 3, 1, 1, 960),
          ("MobileNet v2 1x1 160-960", 160, 960, 7, 1, 1, 0, 1),
          ("MobileNet v2 1x1 320-1280", 320, 1280, 7, 1, 1, 0, 1),
          ("style 9x9 3-32", 3, 32, 224, 9, 1, 4, 1), ("style 3x3/2 32-64", 32, 64, 224, 3, 2, 1, 1),
          ("style 3x3 128", 128, 128, 56, 3, 1, 1, 1), ("style T 3x3/2 128-64", 128, 64, 56, 3, 2, 1, 1),
          ("style T 3x3/2 64-32", 64, 32, 112, 3, 2, 1, 1), ("style 9x9 32-3", 32, 3, 224, 9, 1, 4, 1))


def torch_run(x, w, stride, padding, groups, transposed):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    function = torch.nn.functional.conv_transpose2d if transposed else torch.nn.functional.conv2d
    a, b = torch.from_numpy(x), torch.from_numpy(w)

    def run():
        with torch.inference_mode():
            function(a, b, None, stride=stride, padding=padding, groups=groups)
    return run


def onnx_run(x, w, stride, padding, groups, transposed):
    try:
        import onnx
        import onnxruntime
    except ImportError:
        return None
    node = onnx.helper.make_node("ConvTranspose" if transposed else "Conv", ["x", "w"], ["y"], strides=[stride] * 2,
                                 pads=[padding] * 4, group=groups)
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node], "g", [value("x", 1, x.shape)], [value("y", 1, None)],
                                   [onnx.numpy_helper.from_array(w, "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 11)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})


def measure(path, threads, seconds, only):
    library = Library(path)
    clock = time.thread_time if threads == 1 else time.perf_counter
    most = peak(threads, seconds, clock)
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, {most / 1e9:.1f} GFLOPS in registers\n")
    print("| layer | anydml | PyTorch | ONNX Runtime | speed vs. PyTorch | vs. ONNX Runtime |")
    print("|---|---|---|---|---|---|")
    random = np.random.default_rng(1)
    for name, ins, outs, side, kernel, stride, padding, groups in LAYERS:
        if only not in name:
            continue
        transposed = " T " in name
        x = random.standard_normal((1, ins, side, side)).astype(np.float32)
        shape = (ins, outs // groups, kernel, kernel) if transposed else (outs, ins // groups, kernel, kernel)
        w = random.standard_normal(shape).astype(np.float32)
        result = (side - 1) * stride + kernel - 2 * padding if transposed else (side + 2 * padding - kernel) // stride + 1
        out = np.empty((1, outs, result, result), np.float32)
        attributes = [("Mode", "CROSS_CORRELATION"), ("Direction", "BACKWARD" if transposed else "FORWARD"),
                      ("Strides", (stride, stride)), ("Dilations", (1, 1)), ("StartPadding", (padding, padding)),
                      ("EndPadding", (padding, padding)), ("OutputPadding", (0, 0)), ("GroupCount", groups)]
        peers = [make(x, w, stride, padding, groups, transposed) for make in (torch_run, onnx_run)]
        runs = [OneOperator(library, "CONVOLUTION", (x, w), out, attributes, (1,)), *peers]
        times = times_in_turns([run for run in runs if run], seconds, clock)
        times = [times.pop(0) if run else None for run in runs]
        work = 2 * w.size * (side * side if transposed else result * result)
        cells = [f"{one * 1e6:.0f} µs, {work / one / 1e9:.1f} GFLOPS, {work / one / most:.0%}" if one else ""
                 for one in times]
        cells += [f"{other / times[0]:.2f}" if other else "" for other in times[1:]]
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
