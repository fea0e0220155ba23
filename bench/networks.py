#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the networks in examples/networks with PyTorch: results and times.

usage: networks.py [PROGRAM] [options]      python3 bench/networks.py --threads 2
                                            python3 bench/networks.py --device cuda --json build/networks.json
                                            python3 bench/networks.py build/release/examples/networks/network --check

PROGRAM is the program that ./run network builds. PyTorch builds the same networks with the same weights from the same
seed (networks_torch.py), once in FLOAT64, as the reference, and once in FLOAT32, without TF32, which is timed. The
difference reported is the largest absolute difference divided by the largest absolute element of the output. The
libraries run alternately with the same number of threads, and each time is the median of all runs. --cpu uses one
thread and measures CPU time, for machines that are not idle. --check compares results at small sizes without timing,
and exits with status 1 if a network differs from FLOAT64 by more than 1e-5 and more than four times as much as
PyTorch's FLOAT32, or predicts a different class. Without PyTorch the exit status is 77.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = {"mobilenet": (64, 1), "squeezenet": (64, 1), "style": (40, 2), "superresolution": (33, 1), "lstm": (17, 1),
         "transformer": (19, 2)}
USUAL = {"mobilenet": (224, 1), "squeezenet": (224, 1), "style": (224, 5), "superresolution": (224, 1), "lstm": (100, 1),
         "transformer": (128, 4)}
MAX_DIFFERENCE = 1e-5


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", metavar="PROGRAM", nargs="?", default=str(ROOT / "build/release/examples/networks/network"),
                        help="the program that ./run network builds")
    parser.add_argument("--networks", default=",".join(USUAL), help="names, separated by commas")
    parser.add_argument("--batches", default="1,8", help="batch sizes (1,8)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"),
                        help="device for both libraries (default: cpu)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)),
                        help="threads for each library (default: all cores)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each library (5)")
    parser.add_argument("--runs", type=int, default=10, help="timed runs in a turn (10)")
    parser.add_argument("--cpu", action="store_true", help="use one thread and measure CPU time")
    parser.add_argument("--check", action="store_true", help="compare results at small sizes, without timing")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    options.threads = 1 if options.cpu else options.threads
    options.networks, options.batches = options.networks.split(","), [int(one) for one in options.batches.split(",")]
    if unknown := set(options.networks) - set(USUAL):
        parser.error(f"no such network: {', '.join(sorted(unknown))}")
    if not pathlib.Path(options.program).exists():
        sys.exit(f"{options.program} does not exist: ./run network builds it")
    return options


class OfAnydml:
    def __init__(self, options, name, scale, folder):
        self.file = pathlib.Path(folder) / "output"
        batch, size, depth = scale
        self.command = [options.program, name, "--batch", str(batch), "--size", str(size), "--depth", str(depth), "--json",
                        "--save", str(self.file)]
        self.environment = {**os.environ, "ANYDML_THREADS": str(options.threads), "ANYDML_ADAPTER": options.device}

    def turn(self, runs):
        """Runs the program and returns its report."""
        done = subprocess.run([*self.command, "--runs", str(runs)], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def processor_turn(self, runs):
        """The CPU time per run in ms: the difference between a process with several runs and one with a single run."""
        spent = []
        for count in (1, 1 + runs):
            before, _, after = (resource.getrusage(resource.RUSAGE_CHILDREN), self.turn(count),
                                resource.getrusage(resource.RUSAGE_CHILDREN))
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return 1e3 * (spent[1] - spent[0]) / runs

    def output(self, np):
        return np.fromfile(self.file, np.float32)


class OfPyTorch:
    def __init__(self, torch, build, scale, dtype, device, clock=time.perf_counter):
        from networks_torch import Layers
        self.torch, self.device, self.clock = torch, device, clock
        self.x, self.run = build(Layers(dtype, device), *scale)

    def output(self):
        with self.torch.inference_mode():
            return self.run(self.x).cpu().numpy()

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def turn(self, runs):
        """Runs the network and returns the times of the runs."""
        times = []
        with self.torch.inference_mode():
            for i in range(runs + 2):  # the first runs prepare kernels and memory
                self.wait()
                start = self.clock()
                self.run(self.x)
                self.wait()
                times.append(self.clock() - start)
        return [1e3 * one for one in times[2:]]


def measure(options, torch, np, name, batch, folder):
    from networks_torch import NETWORKS
    scale = (batch, *(SMALL if options.check else USUAL)[name])
    ours = OfAnydml(options, name, scale, folder)
    theirs = OfPyTorch(torch, NETWORKS[name], scale, torch.float32, options.device,
                       time.process_time if options.cpu else time.perf_counter)
    reports, ours_ms, theirs_ms = [ours.turn(1)], [], []
    for _ in range(0 if options.check else options.rounds):
        if options.cpu:
            ours_ms.append(ours.processor_turn(options.runs))
        else:
            reports.append(ours.turn(options.runs))
            ours_ms.append(reports[-1]["run_ms"])
        theirs_ms += theirs.turn(options.runs)
    right = OfPyTorch(torch, NETWORKS[name], scale, torch.float64, options.device).output()
    single = theirs.output()
    result = ours.output(np).reshape(right.shape)
    largest = abs(right).max()
    row = {"network": name, "batch": batch, "size": scale[1], "depth": scale[2], "nodes": reports[0]["nodes"],
           "weights": reports[0]["weights"], "difference": float(abs(result - right).max() / largest),
           "difference_of_pytorch": float(abs(single - right).max() / largest)}
    if right.ndim == 2:
        row["same_class"] = bool((result.argmax(1) == right.argmax(1)).all())
    if theirs_ms:
        row["first_ms"] = min(report["first_ms"] for report in reports)
        row["anydml_ms"], row["pytorch_ms"] = statistics.median(ours_ms), statistics.median(theirs_ms)
    return row


def show(row):
    same = {True: "same", False: "OTHER", None: "-"}[row.get("same_class")]
    times = "- | - | -"
    if "anydml_ms" in row:
        times = f"{row['anydml_ms']:.2f} | {row['pytorch_ms']:.2f} | {row['pytorch_ms'] / row['anydml_ms']:.2f} x"
    return (f"| {row['network']} | {row['batch']} | {times} | {row['difference']:.1e} | {row['difference_of_pytorch']:.1e} | "
            f"{same} |")


def is_wrong(row):
    bound = max(MAX_DIFFERENCE, 4 * row["difference_of_pytorch"])
    return not row["difference"] <= bound or row.get("same_class") is False


def main():
    options = arguments_of()
    try:
        import numpy as np
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch found no GPU")
    device = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} threads"
    print(f"{device}, PyTorch {torch.__version__}; times in ms; ratio: PyTorch's time divided by anydml's\n")
    print("| network | batch | anydml | PyTorch | ratio | difference | PyTorch's own | class |\n|---|---|---|---|---|---|---|---|",
          flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks:
            for batch in options.batches if not options.check else (1, 2):
                rows.append(measure(options, torch, np, name, batch, folder))
                print(show(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"device": device, "pytorch": torch.__version__, "rows": rows}, indent=1) + "\n")
    return 1 if any(map(is_wrong, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
