#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs torchvision's detection, optical flow and segmentation networks in anydml and in ONNX Runtime.

usage: detection.py FOLDER [NAME ...] [--rounds N] [--threads N]
       python3 bench/detection.py build/detection

The networks have random weights, so nothing is downloaded. PyTorch exports them to FOLDER once, with its TorchScript
exporter. The two libraries run alternately, with the same number of threads; each time is a median. The difference is the
largest one in any output, over the largest element of that output; for boxes and labels, it includes their order. The
script needs onnxruntime, and torch, torchvision and onnx to export the networks.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
SIZES = {"ssdlite320_mobilenet_v3_large": (320, 320), "fasterrcnn_mobilenet_v3_large_320_fpn": (320, 320),
         "raft_small": (128, 128), "lraspp_mobilenet_v3_large": (224, 224), "deeplabv3_mobilenet_v3_large": (224, 224)}


def network(name):
    import torch
    import torchvision
    torch.manual_seed(0)
    if name == "raft_small":
        from torchvision.models.optical_flow import raft_small

        class LastFlow(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = raft_small(weights=None)

            def forward(self, first, second):
                return self.net(first, second)[-1]
        return LastFlow().eval(), 2
    folder = torchvision.models.segmentation if name in ("lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large") else \
        torchvision.models.detection
    options = {"weights_backbone": None}
    if folder is torchvision.models.detection:  # the scores of random weights are low
        options["score_thresh" if name.startswith("ssd") else "box_score_thresh"] = 0.002
    net = getattr(folder, name)(weights=None, **options).eval()
    if folder is torchvision.models.detection:
        return net, 0

    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, image):
            return self.net(image)["out"]
    return Scores().eval(), 1


def exported(name, folder):
    path = folder / f"{name}.onnx"
    if not path.exists():
        import torch
        net, inputs = network(name)
        height, width = SIZES[name]
        image = torch.rand(3, height, width)
        given = ([image],) if inputs == 0 else tuple(image[None] for _ in range(inputs))
        names = ["image"] if inputs < 2 else ["first", "second"]
        part = path.with_suffix(".part")
        torch.onnx.export(net, given, str(part), input_names=names, opset_version=17, dynamo=False)
        part.rename(path)
    return path


def given(session, name):
    import numpy
    random = numpy.random.default_rng(1)
    sizes = SIZES[name]
    return {one.name: random.random([3, *sizes][-len(one.shape):] if len(one.shape) == 3 else [1, 3, *sizes],
                                    dtype=numpy.float32) for one in session.get_inputs()}


def difference(ours, theirs):
    import numpy
    if ours.shape != theirs.shape:
        return f"shapes {list(ours.shape)} and {list(theirs.shape)}"
    if ours.size == 0:
        return "0 (empty)"
    far = numpy.abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64)).max()
    return f"{far / max(1e-30, float(numpy.abs(theirs.astype(numpy.float64)).max())):.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    os.environ.setdefault("ANYDML_THREADS", str(options.threads))
    options.folder.mkdir(parents=True, exist_ok=True)
    import onnxruntime

    import anydml.onnx
    print("| network | anydml ms | ONNX Runtime ms | ratio | outputs' differences |\n|---|---|---|---|---|", flush=True)
    for name in options.names or SIZES:
        path = exported(name, options.folder)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = options.threads, 3
        session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        prepared, values, times = anydml.onnx.prepare(path), given(session, name), ([], [])
        answers = [list(prepared.run(values)), session.run(None, values)]
        for _ in range(options.rounds):
            for kept, run in zip(times, (lambda: prepared.run(values), lambda: session.run(None, values))):
                begin = time.perf_counter()
                run()
                kept.append(1e3 * (time.perf_counter() - begin))
        ours, theirs = (statistics.median(one) for one in times)
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | "
              f"{', '.join(difference(*pair) for pair in zip(*answers))} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
